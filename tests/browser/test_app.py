"""The web page in a real browser: from files to a report and its downloads, errors, cancelling, two
runs, every width."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import truthing as tr
from truthing.tables.write import labels_frame, predictions_frame, write_frame

TRUTHING = [sys.executable, "-c", "from truthing.cli import main; main()"]
EXAMPLE = Path(tr.__file__).parent / "examples" / "spam"
LABELS = (EXAMPLE / "labels.csv").read_text().replace("item,annotator,label", "ref,who,verdict")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page as people start it."""
    environment = {**os.environ, "TMPDIR": str(tmp_path_factory.mktemp("served"))}
    server = subprocess.Popen(
        [*TRUTHING, "serve", "--port", "0", "--no-browser", "--max-upload", "1"],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert server.stdout is not None
    with server.stdout:
        found = re.search(r"http://\S+/", server.stdout.readline())
        assert found is not None
        yield found[0]
        server.terminate()
        server.wait()


def one(page: Any, selector: str) -> Any:
    return page.find_element("css selector", selector)


def press(page: Any, selector: str) -> None:
    """Press what leads to another page, and be there."""
    from selenium.webdriver.support.expected_conditions import staleness_of

    pressed = one(page, selector)
    pressed.click()
    patiently(page).until(staleness_of(pressed))


def send(page: Any, address: str, *files: Path) -> None:
    page.get(address)
    one(page, "#files").send_keys("\n".join(map(str, files)))
    press(page, ".drop button")


def choose(page: Any, selector: str, value: str) -> None:
    from selenium.webdriver.support.select import Select

    Select(one(page, selector)).select_by_value(value)


def patiently(page: Any) -> Any:
    """Far longer than anything takes: a busy machine is no failure."""
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(page, 600, poll_frequency=0.05)


def until(page: Any, selector: str) -> Any:
    return patiently(page).until(lambda _: page.find_elements("css selector", selector))[0]


def example(page: Any, address: str) -> str:
    page.get(address)
    press(page, ".example button")
    return str(page.current_url)


def quick_run(page: Any, case: str) -> str:
    """With a known error rate nothing has to be learned."""
    page.get(f"{case}/grade")
    one(page, "#noise-as-rate").click()
    one(page, "[name=noise-rate]").send_keys("15")
    press(page, ".ask > button")
    return str(page.current_url)


def complaints(page: Any) -> list[str]:
    return [
        entry["message"]
        for entry in page.get_log("browser")
        if entry["level"] in ("SEVERE", "WARNING")
    ]


def test_from_files_to_report_and_downloads(page: Any, address: str, tmp_path: Path) -> None:
    (tmp_path / "odd.csv").write_text(LABELS)
    send(page, address, tmp_path / "odd.csv", EXAMPLE / "predictions.csv", EXAMPLE / "gold.csv")
    assert "odd.csv has no column of items of a known name" in one(page, ".alert").text
    for role, column in (("item", "ref"), ("labeler", "who"), ("label", "verdict")):
        choose(page, f"#file-0-{role}_column", column)
    press(page, ".file details button")
    assert "ref → item, who → labeler, verdict → label" in one(page, ".file").text
    press(page, ".jobs a[href$=grade]")
    press(page, ".ask > button")
    assert until(page, "progress, iframe").accessible_name
    until(page, "iframe")
    run = page.current_url
    page.refresh()
    frame = until(page, "iframe")
    page.execute_script("document.querySelectorAll('details').forEach(e => { e.open = true })")
    command = one(page, "#command").text
    assert command == (
        "truthing grade predictions.csv odd.csv --gold gold.csv --item-column item,ref "
        "--labeler-column who --label-column verdict"
    )
    page.switch_to.frame(frame)
    headline = until(page, "h1").text
    shown = re.match(r"Accuracy (\d+)% \(95% interval \d+–\d+%\) on these 600 items", headline)
    assert shown is not None
    page.execute_script("document.querySelector('input[name=level][value=\"0.8\"]').click()")
    assert "80% interval" in one(page, "h1").text
    assert page.execute_script("return self.origin") == "null"
    page.switch_to.default_content()
    page.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path / "got")}
    )
    page.find_element("link text", "Download the report").click()
    page.find_element("partial link text", "JSON").click()
    both = {"grade-report.html", "grade-result.json"}
    patiently(page).until(lambda _: {f.name for f in (tmp_path / "got").glob("*")} == both)
    numbers = json.loads((tmp_path / "got" / "grade-result.json").read_text())
    assert 100 * numbers["metrics"]["accuracy"]["mean"] == pytest.approx(int(shown[1]), abs=0.51)
    assert headline in (tmp_path / "got" / "grade-report.html").read_text()
    assert page.current_url == run
    assert complaints(page) == []


def test_a_bad_file_gets_the_line_of_the_command_line(
    page: Any, address: str, tmp_path: Path
) -> None:
    bad = tmp_path / "labels.csv"
    bad.write_text("item,labeler,label\n1,a,x\n2,b,y,z\n")
    done = subprocess.run([*TRUTHING, "doctor", str(bad)], capture_output=True, text=True)
    send(page, address, bad)
    assert f"truthing: {one(page, '[role=alert]').text}\n" == done.stderr
    send(page, address, EXAMPLE / "labels.csv", EXAMPLE / "predictions.csv")
    page.get(f"{page.current_url}/grade")
    one(page, "#noise-right").click()
    press(page, ".ask > button")
    shown = until(page, "[role=alert]").text
    line = ["grade", str(EXAMPLE / "predictions.csv"), str(EXAMPLE / "labels.csv"), "--noise", "0"]
    done = subprocess.run([*TRUTHING, *line], capture_output=True, text=True)
    assert f"truthing: {shown}\n" == done.stderr


def test_too_large_is_said_before_and_after_sending(
    page: Any, address: str, tmp_path: Path
) -> None:
    large = tmp_path / "large.csv"
    large.write_text("item,labeler,label\n" + "1,a,x\n" * 300_000)
    page.get(address)
    one(page, "#files").send_keys(str(large))
    one(page, ".drop button").click()
    assert "larger than 1 MB" in one(page, "[data-alert]").text
    page.execute_script(
        "document.querySelector('[data-drop]').submit()"
    )  # past the check of the page
    assert "larger than 1 MB" in until(page, "[role=alert]:not([data-alert])").text


def test_dropped_files_are_taken(page: Any, address: str) -> None:
    page.get(address)
    for name in ("labels.csv", "predictions.csv"):
        page.execute_script(
            """const all = new DataTransfer();
            all.items.add(new File([arguments[1]], arguments[0]));
            const how = {dataTransfer: all, bubbles: true, cancelable: true};
            document.querySelector('.drop').dispatchEvent(new DragEvent('drop', how))""",
            name,
            (EXAMPLE / name).read_text(),
        )
    assert one(page, "[data-chosen]").text.split() == ["labels.csv", "predictions.csv"]
    press(page, ".drop button")
    assert [e.text for e in page.find_elements("css selector", ".file h2")] == [
        "labels.csv",
        "predictions.csv",
    ]


def test_cancel(page: Any, address: str, tmp_path: Path) -> None:
    """Of a run too long to end before the button is pressed."""
    data = tr.simulate(4000, 6, prior=[0.4, 0.3, 0.3], fallibility=0.3, seed=1)
    write_frame(labels_frame(data.labels), tmp_path / "labels.csv")
    write_frame(predictions_frame(data.as_predictions()), tmp_path / "predictions.csv")
    send(page, address, tmp_path / "labels.csv", tmp_path / "predictions.csv")
    page.get(f"{page.current_url}/grade")
    press(page, ".ask > button")
    press(page, "main form button")
    assert "cancelled" in one(page, "h1").text
    assert page.find_elements("css selector", "iframe") == []
    page.refresh()
    assert "cancelled" in one(page, "h1").text


@pytest.fixture(scope="module")
def graded(browser: Any, address: str) -> tuple[str, list[str]]:
    """A case and its two runs."""
    case = example(browser, address)
    return case, [quick_run(browser, case) for _ in range(2)]


def test_two_runs(graded: tuple[str, list[str]], page: Any) -> None:
    """The second is started while the first may be under way."""
    case, runs = graded
    for run in runs:
        page.get(run)
        until(page, "iframe")
    page.get(case)
    assert [e.text for e in page.find_elements("css selector", ".rows small")] == ["done", "done"]


@pytest.fixture(scope="module")
def every_page(
    browser: Any,
    address: str,
    graded: tuple[str, list[str]],
    tmp_path_factory: pytest.TempPathFactory,
) -> list[str]:
    """One address of each kind, with a file's name and a column as long as they get."""
    long = tmp_path_factory.mktemp("long") / f"{'long' * 30}.csv"
    long.write_text(f"{'n' * 90},who\n1,2\n")
    send(browser, address, long)
    odd = browser.current_url
    case, (run, _) = graded
    browser.get(run)
    until(browser, "iframe")
    browser.get(f"{case}/ceiling")
    press(browser, ".ask > button")
    until(browser, "iframe")
    again = f"{case}/grade?like={run.rsplit('/', 1)[1]}"
    return [
        address,
        odd,
        case,
        f"{case}/grade",
        again,
        f"{case}/ceiling",
        run,
        f"{run}/report",
        str(browser.current_url),
    ]


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (768, "light"), (1440, "dark")])
def test_nothing_overflows_or_is_cut(
    every_page: list[str],
    page: Any,
    resize: Callable[[int], None],
    media: Callable[..., None],
    width: int,
    scheme: str,
) -> None:
    resize(width)
    media(scheme=scheme)
    for url in every_page:
        page.get(url)
        page.execute_script("document.querySelectorAll('details').forEach(e => { e.open = true })")
        assert page.execute_script("return document.documentElement.scrollWidth") <= width, url
        cut = page.execute_script(
            """const what = 'h1, h2, p, li, label, legend, select, input, button, a, dd, dt, code';
            const outside = r => r.left < -1 || r.right > innerWidth + 1;
            return [...document.querySelectorAll(what + ', td, th')]
            .filter(e => e.offsetWidth && !e.matches('.skip') && !e.closest('.scroll'))
            .filter(e => outside(e.getBoundingClientRect()))
            .map(e => e.outerHTML.slice(0, 80))"""
        )
        assert cut == [], url
    assert complaints(page) == []


def test_everything_has_a_name_and_comes_from_here(
    every_page: list[str], page: Any, address: str
) -> None:
    for url in every_page:
        page.get(url)
        nameless = page.execute_script(
            """const what = 'input:not([type=hidden]), select, progress, iframe, button, a';
            const labeled = e => e.labels && e.labels.length;
            return [...document.querySelectorAll(what)]
            .filter(e => !(labeled(e) || e.ariaLabel || e.title || e.textContent.trim()))
            .map(e => e.outerHTML)"""
        )
        assert nameless == [], url
    events = (json.loads(entry["message"])["message"] for entry in page.get_log("performance"))
    asked = {
        e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"
    }
    assert asked
    assert {url for url in asked if not url.startswith((address, "data:", "about:"))} == set()


def test_keyboard_alone(page: Any, address: str) -> None:
    """Skip link first; Enter on a focused button acts; focus is drawn."""
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    page.get(address)
    ActionChains(page).send_keys(Keys.TAB).perform()
    assert page.switch_to.active_element.text == "Skip to the content"
    button = one(page, ".example button")
    for _ in range(16):
        if page.switch_to.active_element == button:
            break
        ActionChains(page).send_keys(Keys.TAB).perform()
    assert page.switch_to.active_element == button
    assert (
        page.execute_script("return getComputedStyle(arguments[0]).outlineStyle", button) == "solid"
    )
    ActionChains(page).send_keys(Keys.ENTER).perform()
    assert until(page, ".file h2").text == "labels.csv"
