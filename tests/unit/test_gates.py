"""Requirements: their grammar, their probabilities, and how the command ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from typer.testing import CliRunner

import truthing as tr
from truthing.cli.gates import Gate, write_junit
from truthing.cli.main import app
from truthing.metrics.estimate import Estimate
from truthing.requirements import RequirementError, Verdict, judge, parse

EXAMPLE = Path(tr.__file__).parent / "examples" / "spam"
FILES = [str(EXAMPLE / "predictions.csv"), str(EXAMPLE / "labels.csv")]
KNOWN = ["--noise", "0.15", "--draws", "400", "--panel-error", "0"]
RUN = CliRunner()


def grade(*more: str) -> tuple[int, str]:
    done = RUN.invoke(app, ["grade", *FILES, *KNOWN, *more])
    return done.exit_code, done.output


@pytest.mark.parametrize(
    ("text", "kind", "metric", "sign", "number", "names"),
    [
        ("accuracy >= 0.8", "grade", "accuracy", ">=", 0.8, ("", "")),
        ("  recall[very good]<.5", "grade", "recall[very good]", "<", 0.5, ("", "")),
        ("f_beta(2) > 80 %", "grade", "f_beta(2)", ">", 0.8, ("", "")),
        ("mcc >= -0.1", "grade", "mcc", ">=", -0.1, ("", "")),
        ("accuracy ≥ 0.8", "grade", "accuracy", ">=", 0.8, ("", "")),
        ("'very good' <= 1e-1", "rate", "very good", "<=", 0.1, ("", "")),
        ("accuracy: new - old >= -0.01", "compare", "accuracy", ">=", -0.01, ("new", "old")),
        ("f1: 'v-2' - \"my old\" > 0", "compare", "f1", ">", 0.0, ("v-2", "my old")),
        ("recall[a:b]: x-y >= 0", "compare", "recall[a:b]", ">=", 0.0, ("x", "y")),
    ],
)
def test_what_people_write(
    text: str, kind: str, metric: str, sign: str, number: float, names: tuple[str, str]
) -> None:
    found = parse(text, kind)
    assert (found.metric, found.sign, (found.first, found.second)) == (metric, sign, names)
    assert found.number == pytest.approx(number)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("accuracy", "grade"),
        ("accuracy = 0.8", "grade"),
        ("accuracy >= high", "grade"),
        (">= 0.8", "grade"),
        ("accuracy >= 80", "grade"),
        ("accuracy >= -0.1", "grade"),
        ("accuracy >= 0.8 and f1 > 0", "grade"),
        ("accuracy >= 0.8", "compare"),
        ("accuracy: v-2 - v-1 > 0", "compare"),
        ("accuracy: a > 0", "compare"),
        ("", "rate"),
        ("pass >= nan", "rate"),
    ],
)
def test_what_is_not_understood(text: str, kind: str) -> None:
    with pytest.raises(RequirementError, match="requirement"):
        parse(text, kind)


def test_met_missed_and_undecided_are_probabilities() -> None:
    values = Estimate.from_draws(np.arange(100) / 100)
    asked = {n: judge(parse(f"accuracy >= {n}"), values) for n in (0.05, 0.04, 0.06, 0.95, 0.96)}
    assert [asked[n].outcome for n in asked] == ["met", "met", "undecided", "missed", "missed"]
    assert asked[0.05].probability == pytest.approx(0.95)
    assert judge(parse("accuracy > 0.05"), values).outcome == "undecided"
    assert judge(parse("accuracy <= 0.94"), values, 0.9).met
    assert "would decide" in asked[0.06].advice


def test_where_a_metric_is_undefined_nothing_is_sure() -> None:
    half = Estimate.from_draws([0.9] * 50 + [float("nan")] * 50)
    assert judge(parse("accuracy >= 0.8"), half).outcome == "undecided"
    assert judge(parse("accuracy >= 0.95"), half).outcome == "undecided"
    assert judge(parse("accuracy >= 0.8"), Estimate.from_draws([float("nan")])).probability == 0


def test_no_uncertainty_is_no_probability() -> None:
    with pytest.raises(RequirementError, match="no uncertainty"):
        judge(parse("accuracy >= 0.8"), Estimate.exactly(0.9))
    assert grade("--method", "majority", "--require", "accuracy >= 0.1")[0] == 2


@pytest.mark.parametrize(
    ("requirements", "more", "code"),
    [
        (["accuracy >= 0.3"], [], 0),
        (["accuracy >= 0.99"], [], 3),
        (["accuracy >= 0.3", "recall >= 0.99"], [], 3),
        (["accuracy >= {mean}"], [], 4),
        (["accuracy >= {mean}", "error >= 0.9"], [], 3),
        (["accuracy >= {mean}"], ["--undecided", "pass"], 0),
        (["accuracy >= {mean}"], ["--undecided", "fail"], 3),
    ],
)
def test_how_the_command_ends(requirements: list[str], more: list[str], code: int) -> None:
    _, printed = grade("--json")
    mean = f"{json.loads(printed)['metrics']['accuracy']['mean']:.6f}"
    asked = [word for r in requirements for word in ("--require", r.format(mean=mean))]
    assert grade(*asked, *more)[0] == code


@pytest.mark.parametrize(
    "wrong",
    [
        ["--require", "accuracy ~ 0.8"],
        ["--require", "acuracy >= 0.8"],
        ["--require", "recall[cat] >= 0.8"],
        ["--require", "accuracy >= 0.8", "--with-probability", "0.4"],
        ["--require", "accuracy >= 0.8", "--undecided", "skip"],
        ["--junit", "out.xml"],
    ],
)
def test_what_is_wrong_is_found_before_anything_is_computed(
    wrong: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("something was computed")

    monkeypatch.setattr("truthing.grading.grade", never)
    code, printed = grade(*wrong)
    assert code == 2, printed


def test_a_real_process_ends_with_the_code() -> None:
    command = [
        sys.executable,
        "-c",
        "from truthing.cli import main; main()",
        "grade",
        *FILES,
        *KNOWN,
    ]
    done = subprocess.run(
        [*command, "--require", "accuracy >= 0.99"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 3
    assert "missed" in done.stdout
    assert "Traceback" not in done.stderr


def test_every_form_has_the_verdict(tmp_path: Path) -> None:
    asked = ["--require", "accuracy >= 0.99"]
    code, printed = grade("--json", *asked)
    found = json.loads(printed)["requirements"]
    assert code == 3
    assert (found[0]["outcome"], found[0]["needed_probability"]) == ("missed", 0.95)
    page, junit = tmp_path / "page.html", tmp_path / "junit.xml"
    _, printed = grade("--markdown", "--html", str(page), "--junit", str(junit), *asked)
    assert "accuracy &gt;= 0.99: missed" in printed
    assert "accuracy &gt;= 0.99: missed" in page.read_text()
    suite = ElementTree.parse(junit).getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")


def test_junit_says_passed_failure_and_skipped(tmp_path: Path) -> None:
    verdicts = [
        Verdict(parse("accuracy >= 0.8"), p, 0.95, outcome, "why")
        for p, outcome in ((0.99, "met"), (0.01, "missed"), (0.5, "undecided"))
    ]
    for strict, counts in ((False, ("1", "1")), (True, ("2", "0"))):
        write_junit(str(tmp_path / "j.xml"), verdicts, "grade", fail_undecided=strict)
        suite = ElementTree.parse(tmp_path / "j.xml").getroot()[0]
        assert (suite.get("failures"), suite.get("skipped")) == counts
        assert len(suite[0]) == 0
        assert "why" in str(suite[2][0].get("message"))


def test_rate_asks_for_classes_and_compare_for_models(tmp_path: Path) -> None:
    labels = FILES[1]
    share = ["rate", labels, "--noise", "0.15", "--panel-error", "0"]
    assert RUN.invoke(app, [*share, "--require", "spam <= 0.6"]).exit_code == 0
    assert RUN.invoke(app, [*share, "--require", "sapm <= 0.6"]).exit_code == 2
    pair = ["compare", labels, f"new={FILES[0]}", f"always={tmp_path / 'ham.csv'}", *KNOWN]
    items = [line.split(",")[0] for line in Path(FILES[0]).read_text().splitlines()[1:]]
    rows = "\n".join(f"{item},{'spam' if n % 2 else 'ham'}" for n, item in enumerate(items))
    (tmp_path / "ham.csv").write_text(f"item,prediction\n{rows}\n")
    asked = "accuracy: new - always >= 0.05"
    assert RUN.invoke(app, [*pair, "--require", asked]).exit_code == 0
    assert RUN.invoke(app, [*pair, "--require", "accuracy: always - new >= 0.05"]).exit_code == 3
    assert RUN.invoke(app, [*pair, "--require", "accuracy: new - old >= 0"]).exit_code == 2
    assert RUN.invoke(app, [*pair, "--require", "auc: new - always >= 0"]).exit_code == 2


def test_python_asks_the_same() -> None:
    data = tr.simulate(
        300, 4, prior=[0.5, 0.5], operating_point=(0.9, 0.1), fallibility=0.2, seed=3
    )
    report = tr.grade(data.predictions, data.labels, noise=0.1, draws=400)
    assert report.require("accuracy >= 0.6").met
    assert report.require("accuracy >= 0.99").outcome == "missed"
    assert Gate(require=["accuracy >= 0.6"]).asked("grade") == [parse("accuracy >= 0.6")]


@pytest.mark.parametrize(
    ("required", "undecided", "code", "word"),
    [(0.5, "", 0, "met"), (0.99, "", 3, "missed"), (0.75, "", 4, "undecided"),
     (0.75, "pass", 0, "undecided")],
)  # fmt: skip
def test_the_action_as_a_runner_would_run_it(
    tmp_path: Path, required: float, undecided: str, code: int, word: str
) -> None:
    """Its shell step, with the variables of a GitHub runner and its way to start bash."""
    text = (Path(__file__).resolve().parents[2] / "action.yml").read_text("utf-8")
    (tmp_path / "step.sh").write_text(textwrap.dedent(text.rpartition("run: |\n")[2]))
    files = " ".join(f"'{name}'" for name in FILES)
    (tmp_path / "truthing").write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -c "from truthing.cli import main; main()" "$@"\n'
    )
    (tmp_path / "truthing").chmod(0o755)
    gold = f"--gold '{EXAMPLE / 'gold.csv'}'" if required != 0.75 else ""
    variables = {
        **os.environ,
        "PATH": f"{tmp_path}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "ARGUMENTS": f'grade {files} {gold} --draws 500 --require "accuracy >= {required}"',
        "UNDECIDED": undecided,
        "JUNIT": str(tmp_path / "junit.xml"),
    }
    bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "step.sh"]
    done = subprocess.run(bash, cwd=tmp_path, env=variables, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    summary = (tmp_path / "summary.md").read_text("utf-8")
    assert f": {word}." in summary
    assert summary.splitlines()[0] in done.stdout
    assert all(line.startswith("| ") for line in done.stdout.splitlines())
    assert "<testcase" in (tmp_path / "junit.xml").read_text("utf-8")
