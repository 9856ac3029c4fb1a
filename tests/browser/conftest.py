"""A real headless Chromium; where there is none, tests skip with the reason, and fail under CI."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import skip_or_fail

CHROMIUM, DRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One Chromium for the whole session, with its console and network logs kept."""
    if importlib.util.find_spec("selenium") is None:
        skip_or_fail("needs selenium: pip install 'truthing[dev]'")
    if not (Path(CHROMIUM).exists() and Path(DRIVER).exists()):
        found = shutil.which("chromium"), shutil.which("chromedriver")
        skip_or_fail(
            f"needs {CHROMIUM} and {DRIVER}; found {found}: apt-get install chromium "
            "chromium-driver"
        )
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """The browser with yesterday's logs, emulated media and sizes forgotten."""
    for log in ("browser", "performance"):
        browser.get_log(log)
    yield browser
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.get("about:blank")


@pytest.fixture
def resize(page: Any) -> Callable[[int], None]:
    """A viewport of that many CSS pixels; windows cannot be made as narrow as a phone."""

    def to(width: int, height: int = 900) -> None:
        page.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )

    return to


@pytest.fixture
def media(page: Any) -> Callable[..., None]:
    """Light or dark, screen or print."""

    def use(*, scheme: str = "light", kind: str = "") -> None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": kind, "features": features})

    return use
