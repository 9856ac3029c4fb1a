"""What people see, with names that mean harm: shown as text on the page, the terminal, in Markdown,
spreadsheets and pictures."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

import truthing as tr
from truthing.errors import InputError
from truthing.render.figures import PICTURES
from truthing.render.methods import methods
from truthing.render.page import operating_points
from truthing.render.rate import show as show_rate
from truthing.render.sheet import as_csv
from truthing.render.summary import LEVELS
from truthing.render.terminal import show
from truthing.render.words import number
from truthing.tables.write import write_frame

EXAMPLE = Path(tr.__file__).parent / "examples" / "spam"
HOSTILE = [
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "=cmd|' /C calc'!A0",
    "x" * 10_000,
    "שלום \u202etxt.exe",
    "👩‍⚕️ doctor",
    "two\nlines\rthree",
    "\x1b]0;owned\x07\x1b[31mred",
    "</script><svg/onload=alert(1)>",
    "$x^{",
    "[bold]markup[/bold]",
    "{{ 7 * 7 }}",
    "javascript:alert(1)",
    "a|b `c` *d*",
]


@pytest.fixture(scope="module")
def spam() -> tr.Report:
    return tr.grade(
        EXAMPLE / "predictions.csv", EXAMPLE / "labels.csv", gold=EXAMPLE / "gold.csv", draws=500
    )


@pytest.fixture(scope="module")
def hostile() -> tr.Report:
    rng = np.random.default_rng(0)
    classes = HOSTILE[:6]
    truth = rng.integers(len(classes), size=200)
    wrong = rng.random((200, len(HOSTILE))) < 0.2
    given = np.where(wrong, rng.integers(len(classes), size=wrong.shape), truth[:, None])
    items = [f"{HOSTILE[i % len(HOSTILE)]} {i}" for i in range(200)]
    labels = tr.Labels.from_long(
        np.repeat(items, len(HOSTILE)).tolist(), HOSTILE * 200, [classes[c] for c in given.ravel()]
    )
    return tr.grade({item: classes[c] for item, c in zip(items, truth)}, labels, draws=300)


class Elements(HTMLParser):
    """Names of elements, their attributes, and all text outside of script and style."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self.text: list[str] = []
        self.inside = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]
        self.inside = tag

    def handle_data(self, data: str) -> None:
        if self.inside not in ("script", "style"):
            self.text.append(data)


def test_page_shows_hostile_names_as_text(hostile: tr.Report) -> None:
    page = hostile.to_html()
    found = Elements(page)
    assert found.tags.count("script") == 2  # the data and the threshold's, both ours
    assert not any(name.startswith("on") for name in found.attributes)
    assert "img" not in found.tags
    words = "".join(found.text)
    for name in ("<script>alert(1)</script>", "=cmd|' /C calc'!A0", "👩‍⚕️ doctor", "{{ 7 * 7 }}"):
        assert name in words
    assert "x" * 100 not in page
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e]", page)
    assert "default-src 'none'" in page


def test_page_is_one_small_file() -> None:
    """Many classes, labelers and items: summarised, said, and under 2 MB."""
    rng = np.random.default_rng(4)
    truth, item, labeler = (
        rng.integers(70, size=3000),
        np.repeat(np.arange(3000), 4),
        rng.integers(400, size=12_000),
    )
    given = np.where(rng.random(12_000) < 0.25, rng.integers(70, size=12_000), truth[item])
    labels = tr.Labels.from_long(item, labeler, given)
    report = tr.grade(dict(enumerate(truth)), labels, noise=0.25, repeats="first", draws=200)
    page = report.to_html()
    assert len(page.encode()) < 2_000_000
    assert "Of 400 labelers the 15 best and the 15 worst are shown." in page
    assert "With 70 classes the confusion matrix is shown by its" in page
    assert not re.search(r"(src|href)=[\"']?(https?:)?//", page)


def test_page_shows_95_percent_without_a_script(spam: tr.Report) -> None:
    page = spam.to_html()
    low, high = spam["f1"].interval(0.95)
    assert f'<span class="at at-2">{number(low)} – {number(high)}</span>' in page
    assert 'id="level-2" value="0.95" checked' in page


def test_methods_paragraph_says_what_was_done() -> None:
    data = tr.simulate(80, 3, prior=[0.6, 0.4], operating_point=(0.9, 0.2), fallibility=0.2, seed=1)
    learned, references = methods(tr.grade(data.predictions, data.labels, draws=200))
    assert "80 items with 240 noisy labels from 3 labelers" in learned
    assert "learned from public crowd-labelled data sets" in learned
    assert any("Dawid" in line for line in references)
    stated, _ = methods(tr.grade(data.predictions, data.labels, draws=200, panel_error=0.02), 0.9)
    assert "stated in advance (panel error 0.02)" in stated
    assert "90% credible intervals" in stated
    book, references = methods(tr.grade(data.predictions, data.labels, noise=0.1, method="exact"))
    assert "Su’s method “exact”" in book
    assert any(line.startswith("Su,") for line in references)


def test_notebooks_get_a_frame(spam: tr.Report) -> None:
    frame = spam._repr_html_()
    assert frame.startswith('<iframe srcdoc="')
    assert frame.count("<") == 2  # everything of the page is escaped


def test_page_without_uncertainty() -> None:
    data = tr.simulate(60, 3, prior=[0.6, 0.4], operating_point=(0.9, 0.2), fallibility=0.2, seed=1)
    for method in ("majority", "labeler-mean", "exact"):
        page = tr.grade(data.predictions, data.labels, method=method, noise=0.1).to_html()
        assert "nan" not in "".join(Elements(page).text).split()


def test_curves_leave_out_draws_without_positives() -> None:
    labels = tr.Labels.from_matrix([[0, 1], [0, 0]] * 20)
    report = tr.grade(
        None,
        labels,
        scores=np.linspace(0, 1, 40),
        threshold=0.5,
        noise=0.1,
        prior=[0.97, 0.03],
        draws=300,
    )
    assert (report.curves.truth.sum(axis=1) == 0).any()
    assert not np.isnan(report.roc().y).any()
    assert 'data-kind="roc"' in report.to_html()


def test_page_with_one_score_for_all() -> None:
    labels = tr.Labels.from_matrix([[0, 1], [0, 0]] * 20)
    report = tr.grade(None, labels, scores=[0.5] * 40, threshold=0.4, noise=0.1, draws=200)
    assert "How good is the classifier" in report.to_html()


def test_bits_are_mutual_information(spam: tr.Report) -> None:
    noise = spam.noise
    for t in range(len(noise.labelers)):
        joint = noise.prior[:, None] * noise.confusion[t]
        entropy = [
            -(p[p > 0] * np.log2(p[p > 0])).sum()
            for p in (joint.sum(axis=1), joint.sum(axis=0), joint.ravel())
        ]
        assert noise.bits[t] == pytest.approx(entropy[0] + entropy[1] - entropy[2])


def test_operating_points_are_those_of_the_curves(spam: tr.Report) -> None:
    points = operating_points(spam, LEVELS)
    roc = spam.roc()
    k = int(np.argmin(np.abs(roc.thresholds - points["thresholds"][40])))
    assert points["recall"]["mean"][40] == pytest.approx(roc.y[k], abs=1e-4)
    low, high = roc.band_x(0.9)
    assert [limit[40] for limit in points["false_alarm"]["limits"][1]] == pytest.approx(
        [low[k], high[k]], abs=1e-4
    )


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_terminal_keeps_to_its_width_and_strips_control_codes(
    spam: tr.Report, hostile: tr.Report, width: int
) -> None:
    for report in (spam, hostile):
        screen = io.StringIO()
        show(report, Console(file=screen, width=width, highlight=False, markup=False, emoji=False))
        shown = screen.getvalue()
        assert max(cell_len(line) for line in shown.splitlines()) <= width
        assert "\x1b" not in shown
        assert "\x07" not in shown
    assert "[bold]" in shown or width < 60
    assert number(hostile["accuracy"].mean) in shown


def test_rate_on_a_narrow_terminal() -> None:
    result = tr.prevalence(EXAMPLE / "labels.csv", draws=300)
    screen = io.StringIO()
    show_rate(result, Console(file=screen, width=40, highlight=False))
    assert max(map(len, screen.getvalue().splitlines())) <= 40
    assert as_csv(result.to_frame()).startswith(
        "class,estimate,low,high,at_face_value,level\nham,0."
    )


def test_csv_and_markdown_disarm_names(hostile: tr.Report, tmp_path: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(hostile.to_frame()))))
    assert [row["metric"] for row in rows[:2]] == ["accuracy", "error"]
    rude = tr.prevalence([["\x1b[31mred", "blue"], ["blue", "blue"]] * 10, noise=0.1, draws=200)
    assert "\x1b" not in as_csv(rude.to_frame())
    assert float(rows[0]["low"]) == pytest.approx(hostile["accuracy"].interval(0.95)[0])
    write_frame(hostile.truth_frame(), tmp_path / "truth.csv")
    cells = [
        cell
        for row in csv.reader(io.StringIO((tmp_path / "truth.csv").read_text(), newline=""))
        for cell in row
    ]
    assert not [cell for cell in cells if cell.strip()[:1] in ("=", "@", "+", "|")]
    assert "'=cmd|' /C calc'!A0 2" in cells
    table = hostile.to_markdown()
    assert "<script>" not in table
    assert "\x1b" not in table
    body = [line for line in table.splitlines() if line.startswith("| ")]
    # the metrics have four columns, the confusion matrix one per class and one for the truth
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in body} == {5, 8}


@pytest.mark.parametrize("kind", PICTURES)
def test_pictures_draw_on_given_axes(spam: tr.Report, kind: str) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    figure, ax = pyplot.subplots()
    assert spam.plot(kind, ax, level=0.8) is ax
    figure.canvas.draw()
    pyplot.close(figure)


@pytest.mark.filterwarnings("ignore:Glyph:UserWarning", "ignore:.*Hebrew:UserWarning")
def test_pictures_of_hostile_names(hostile: tr.Report) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    for kind in ("metrics", "confusion", "labelers"):
        ax = hostile.plot(kind)
        ax.figure.canvas.draw()
        pyplot.close(ax.figure)
    with pytest.raises(InputError, match="Did you mean 'metrics'"):
        hostile.plot("metric")


def test_picture_shows_the_numbers(spam: tr.Report) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    ax = spam.plot()
    drawn = [tuple(line.get_xdata()) for line in ax.lines if len(line.get_xdata()) == 2]
    recall = pytest.approx(spam["recall"].interval(0.95))
    assert any(ends == recall for ends in drawn)
    pyplot.close(ax.figure)


def test_command_line_forms_and_provenance(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch
) -> None:
    from truthing.cli.main import app

    files = [str(EXAMPLE / "predictions.csv"), str(EXAMPLE / "labels.csv")]
    page = tmp_path / "report.html"

    def run(*more: str) -> str:
        arguments = ["grade", *files, "--draws", "300", *more]
        monkeypatch.setattr("sys.argv", ["truthing", *arguments])
        app(arguments, standalone_mode=False)
        return capsys.readouterr().out

    assert json.loads(run("--json", "--html", str(page)))["metrics"]["accuracy"]["level"] == 0.95
    text = page.read_text()
    for file in files:
        assert hashlib.sha256(Path(file).read_bytes()).hexdigest() in text
    assert "truthing grade" in text
    assert run("--csv").startswith("metric,estimate")
    assert run("--markdown", "--level", "0.8").count("80% interval") == 2
    with pytest.raises(InputError, match="--json and --csv cannot be printed together"):
        run("--json", "--csv")
