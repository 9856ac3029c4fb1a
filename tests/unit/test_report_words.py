"""What a grade says first, and that its pictures and words agree with each other."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import truthing as tr
from truthing.metrics.estimate import Estimate
from truthing.render.methods import methods
from truthing.render.page import _densities
from truthing.render.summary import Summary, sensitivity_lines
from truthing.render.terminal import sensitivity_table, show
from truthing.truth.sensitivity import Row, Sensitivity


@pytest.fixture(scope="module")
def report() -> tr.Report:
    data = tr.simulate(
        300, 4, prior=[0.7, 0.3], operating_point=(0.85, 0.1), fallibility=0.3, seed=4
    )
    items = data.labels.items
    return tr.grade(
        dict(zip(items, data.predictions)),
        data.labels,
        scores=dict(zip(items, data.scores)),
        noise=0.15,
        draws=400,
    )


def printed(report: tr.Report, **options: str) -> str:
    screen = io.StringIO()
    show(report, Console(file=screen, width=100, highlight=False), **options)  # type: ignore[arg-type]
    return screen.getvalue()


def test_the_headline_is_plain(report: tr.Report) -> None:
    shape = r"Accuracy \d+% \(95% interval \d+–\d+%\) on these 300 items\."
    assert re.match(shape, report.verdict())
    assert re.search(r"\(80% interval", report.verdict(0.8))


def test_what_changes_the_meaning_stands_under_the_headline(report: tr.Report) -> None:
    doubted = replace(
        report,
        outcome=replace(report.outcome, warnings=["Chains disagree: the interval is too narrow."]),
    )
    text = printed(doubted)
    assert text.index("Chains disagree") < text.index("estimate")
    page = doubted.to_html()
    assert page.index("Chains disagree") < page.index('id="metrics"')
    markdown = doubted.to_markdown()
    assert markdown.index("Chains disagree") < markdown.index("| accuracy")


def test_methods_are_everywhere_and_true_to_the_warnings(report: tr.Report) -> None:
    doubted = replace(
        report,
        outcome=replace(
            report.outcome,
            warnings=["Chains disagree."],
            diagnostics={"rhat": 1.3, "effective_sample_size": 9},
        ),
    )
    paragraph, _ = methods(doubted)
    assert "did not fully agree" in paragraph
    assert "“Chains disagree.”" in paragraph
    assert "Methods" in printed(doubted)
    assert paragraph[:60] in doubted.to_markdown()
    assert "warned" not in methods(replace(report, outcome=replace(report.outcome, warnings=[])))[0]


def test_densities_share_one_axis(report: tr.Report) -> None:
    found = _densities(Summary(report))
    assert len(found) > 3
    assert len({(hill["low"], hill["high"]) for hill in found}) == 1


def test_the_operating_point_sits_on_its_curve(report: tr.Report) -> None:
    assert report.cut is not None
    for curve in (report.roc(), report.pr()):
        x, y = report.operating_point(curve)
        on = np.isclose(curve.x, x) & np.isclose(curve.y, y)
        assert on.any()
        assert np.abs(curve.thresholds[on] - report.cut).min() < 0.02
    beside = replace(report, cut=None)
    assert beside.operating_point(report.roc()) == pytest.approx(
        (report["false_alarm"].mean, report["recall"].mean)
    )


def test_medical_terms(report: tr.Report) -> None:
    text = printed(report, terms="medical")
    assert "sensitivity (1)" in text
    assert "positive predictive value" in text
    assert not re.search(r"^recall", text, re.MULTILINE)
    assert "sensitivity" in report.to_html(terms="medical")
    assert "sensitivity (1)" in report.to_markdown(terms="medical")
    with pytest.raises(tr.InputError, match="choose usual"):
        report.to_markdown(terms="legal")


def test_no_nan_and_no_width_of_zero_without_a_reason() -> None:
    rows = (
        Row(
            "panel wrong together as public panels are",
            float("nan"),
            Estimate.from_draws(np.linspace(0.7, 0.9, 50)),
            0.95,
        ),
        Row("consensus mistakes that the classifier repeats", 0.5, Estimate.exactly(0.8), 0.95),
    )
    found = Sensitivity(rows, (0.6, 0.9))
    screen = io.StringIO()
    console = Console(file=screen, width=110, highlight=False)
    console.print(sensitivity_table(found, 0.95, console))
    text = screen.getvalue()
    assert "nan" not in text
    assert "0.800 – 0.800" not in text
    assert "0.5 (by a formula)" in text
    assert "no interval" in text
    assert [line.limits for line in sensitivity_lines(found, (0.95,))[rows[1].assumption]] == [[]]


def test_sensitivity_is_run_once(report: tr.Report) -> None:
    calls = []

    def rule(level: float, progress: object) -> Sensitivity:
        calls.append(level)
        return Sensitivity((Row("a", 0.1, Estimate.from_draws([0.5, 0.6]), level),), (0.4, 0.9))

    asked = replace(report, outcome=replace(report.outcome, sensitivity=rule))
    asked.plot("sensitivity", progress=True).figure.clear()
    asked.plot("sensitivity", level=0.8).figure.clear()
    assert "sensitivity" in asked.to_html(sensitivity=True)
    assert len(calls) == 1


def test_every_picture_has_a_caption(report: tr.Report, tmp_path: Path) -> None:
    report.save_figures(tmp_path)
    captions = (tmp_path / "captions.md").read_text("utf-8")
    for path in tmp_path.glob("*.svg"):
        assert f"**{path.stem}**" in captions
    assert "300 items" in captions


def test_a_notebook_gets_one_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys
    import types

    from truthing.progress import listener

    shown: list[str] = []

    class Handle:
        def update(self, html: str) -> None:
            shown.append(html)

    display = types.SimpleNamespace(HTML=str, display=lambda html, display_id: Handle())
    monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
    monkeypatch.setitem(sys.modules, "IPython.display", display)  # type: ignore[arg-type]
    say = listener(True)
    say(0.5, "drawing <b>")
    say(1.0, "done")
    assert "50%" in shown[0]
    assert "s left" in shown[0]
    assert "<b>" not in shown[0]
    assert shown[-1] == ""


def test_lam_stork_without_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from truthing.reproduce import run

    monkeypatch.setenv("TRUTHING_DATA", str(tmp_path / "none"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "none"))
    run("lam-stork", figures=str(tmp_path / "figures"))
    out, err = capsys.readouterr()
    for what in ("Table 1", "Table 2", "lam-stork-figure-2.png", "Table 3, a stand-in"):
        assert what in out
    assert "optdigits.tra is needed" in err
    assert "UCI Machine Learning Repository" in err.replace("\n", " ")
