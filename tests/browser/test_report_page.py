"""The report in a real browser: no network, no console error, every level as Python has it, nothing
cut, light, dark and on paper.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import truthing as tr
from truthing.render.summary import LEVELS
from truthing.render.words import metric_title, number

EXAMPLE = Path(tr.__file__).parent / "examples" / "spam"


@pytest.fixture(scope="module")
def report() -> tr.Report:
    return tr.grade(
        EXAMPLE / "predictions.csv", EXAMPLE / "labels.csv", gold=EXAMPLE / "gold.csv", draws=1000
    )


@pytest.fixture(scope="module")
def address(report: tr.Report, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("report") / "report.html"
    report.to_html(path, sensitivity=True)
    return path.as_uri()


def requests(page: Any) -> list[str]:
    events = (json.loads(entry["message"])["message"] for entry in page.get_log("performance"))
    return [
        e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"
    ]


def choose(page: Any, level: float) -> None:
    page.execute_script(f"document.querySelector('input[name=level][value=\"{level}\"]').click()")


def metric_rows(page: Any) -> dict[str, list[str]]:
    rows = page.find_elements("css selector", "#metrics tbody tr")
    return {
        row.find_element("css selector", "th").text: [
            c.text for c in row.find_elements("css selector", "td")
        ]
        for row in rows
    }


def test_opens_from_disk_without_network_or_errors(page: Any, address: str) -> None:
    page.get(address)
    assert page.find_element("css selector", "h1").text.startswith("Accuracy ")
    outside = [url for url in requests(page) if not url.startswith(("file:", "data:"))]
    assert outside == []
    assert [
        entry for entry in page.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")
    ] == []


@pytest.mark.parametrize("level", LEVELS)
def test_levels_give_the_numbers_of_python(
    page: Any, address: str, report: tr.Report, level: float
) -> None:
    page.get(address)
    choose(page, level)
    shown = metric_rows(page)
    for name in report.metrics:
        low, high = report[name].interval(level)
        mean, limits, *_ = shown[metric_title(report, name)]
        assert (mean, limits) == (number(report[name].mean), f"{number(low)} – {number(high)}")
    assert page.find_element("css selector", "h1").text == report.verdict(level)
    low, high = (limit[0, 0] for limit in report.confusion.interval(level))
    assert page.find_element("css selector", ".heat td small").text == f"{low:.0f} – {high:.0f}"


def test_threshold_moves_numbers_and_rings(page: Any, address: str, report: tr.Report) -> None:
    page.get(address)
    choose(page, 0.8)
    slider = page.find_element("css selector", "#threshold")
    ring = page.find_element("css selector", "[data-kind=roc] .moving")
    before = ring.get_attribute("cx")
    page.execute_script(
        "arguments[0].value = 20; arguments[0].dispatchEvent(new Event('input', {bubbles: true}))",
        slider,
    )
    assert ring.get_attribute("cx") != before
    threshold = float(page.find_element("css selector", "#threshold-value").text)
    roc = report.roc()
    k = int(abs(roc.thresholds - threshold).argmin())
    assert page.find_element("css selector", "[data-mean=recall]").text == f"{roc.y[k]:.3f}"
    low, high = roc.band(0.8)
    limits = page.find_element("css selector", "[data-limits=recall].at-0").text
    assert [float(v) for v in limits.split(" – ")] == pytest.approx([low[k], high[k]], abs=6e-4)


@pytest.mark.parametrize("width", [360, 768, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_overflows_or_is_cut(
    page: Any,
    address: str,
    resize: Callable[[int], None],
    media: Callable[..., None],
    width: int,
    scheme: str,
) -> None:
    resize(width)
    media(scheme=scheme)
    page.get(address)
    assert page.execute_script("return document.documentElement.scrollWidth") <= width
    cut = page.execute_script(
        """const what = 'h1, h2, h3, p, li, th, td, dt, dd, legend, label, figcaption';
        const outside = r => r.left < -1 || r.right > innerWidth + 1;
        const clipped = e => e.scrollWidth > e.clientWidth + 1
            && getComputedStyle(e).overflow != 'visible';
        return [...document.querySelectorAll(what)]
        .filter(e => e.offsetWidth && !e.closest('.scroll'))
        .filter(e => outside(e.getBoundingClientRect()) || clipped(e))
        .map(e => e.textContent.slice(0, 60))"""
    )
    assert cut == []


def test_dark_is_dark_and_words_stand_out(
    page: Any, address: str, media: Callable[..., None]
) -> None:
    found = {}
    for scheme in ("light", "dark"):
        media(scheme=scheme)
        page.get(address)
        found[scheme] = page.execute_script(
            """const numbers = text => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
            const colour = (e, what) => numbers(getComputedStyle(e)[what]);
            const words = [...document.querySelectorAll('h1, .lead, .faced, .facts, a')];
            return [colour(document.body, 'backgroundColor'),
                    ...words.map(e => colour(e, 'color'))]"""
        )
    assert luminance(found["dark"][0]) < 0.05 < 0.9 < luminance(found["light"][0])
    for paper, *inks in found.values():
        for ink in inks:
            light, dark = sorted((luminance(paper), luminance(ink)), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 4.5  # WCAG AA


def luminance(colour: list[float]) -> float:
    parts = [
        v / 255 / 12.92 if v / 255 <= 0.04045 else ((v / 255 + 0.055) / 1.055) ** 2.4
        for v in colour
    ]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def test_paper_shows_all_sections(page: Any, address: str, media: Callable[..., None]) -> None:
    media(kind="print")
    page.get(address)
    sections = page.find_elements("css selector", "main section")
    assert len(sections) == 7
    assert all(section.is_displayed() for section in sections)
    assert not page.find_element("css selector", ".levels").is_displayed()
    printed = page.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"]
    assert len(printed) > 20_000


def test_keyboard_reaches_the_level(page: Any, address: str) -> None:
    from selenium.webdriver.common.keys import Keys

    page.get(address)
    page.find_element("css selector", "input[name=level]:checked").send_keys(Keys.ARROW_RIGHT)
    assert "99% interval" in page.find_element("css selector", "h1").text


def test_hostile_names_run_nothing(
    page: Any, resize: Callable[[int], None], tmp_path: Path
) -> None:
    names = [
        "<script>window.owned = 1</script>",
        "\"'><img src=x onerror='window.owned = 1'>",
        "</script><script>owned=1</script>",
        "x" * 10_000,
        "\u202eright to left שלום",
        "👩‍⚕️",
    ]
    data = tr.simulate(
        120, len(names), prior=[0.4, 0.3, 0.3], fallibility=0.2, classes=tuple(names[:3]), seed=2
    )
    given = data.labels
    renamed = tr.Labels.from_long(
        given.item, [names[t] for t in given.labeler], [given.classes[c] for c in given.label]
    )
    path = tmp_path / "hostile.html"
    tr.grade(dict(enumerate(data.truth)), renamed, draws=300).to_html(path)
    for width in (360, 1440):
        resize(width)
        page.get(path.as_uri())
        assert page.execute_script("return document.documentElement.scrollWidth") <= width
    assert page.execute_script("return window.owned") is None
    assert names[0] in page.find_element("css selector", "#confusion").text
    assert page.find_elements("css selector", "img") == []
    assert [entry for entry in page.get_log("browser") if entry["level"] == "SEVERE"] == []
