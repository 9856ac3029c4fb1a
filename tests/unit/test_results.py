"""Every result in every form, and every command with every flag."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import truthing as tr
from truthing.cli.main import app
from truthing.doctor import examine
from truthing.papers.closed_forms import ClosedForms
from truthing.results import Result
from truthing.truth.link.counts import MOST_DENSE

FOLDER = Path(tr.__file__).parent
EXAMPLE = FOLDER / "examples" / "spam"
PREFER = FOLDER / "examples" / "prefer"
SCHEMA = json.loads((FOLDER / "render" / "schema.json").read_text())
RUN = CliRunner()
LABELS, PREDICTIONS, GOLD = (str(EXAMPLE / f"{n}.csv") for n in ("labels", "predictions", "gold"))


def validate(value: Any, schema: dict[str, Any], where: str = "$") -> None:
    """The part of JSON Schema that ours uses."""
    known = {
        "type",
        "required",
        "properties",
        "additionalProperties",
        "items",
        "enum",
        "const",
        "minimum",
        "maximum",
        "$ref",
        "anyOf",
        "oneOf",
        "$defs",
        "$schema",
        "title",
        "description",
    }
    assert set(schema) <= known, f"{where}: the schema uses {set(schema) - known}"
    if "$ref" in schema:
        return validate(value, SCHEMA["$defs"][schema["$ref"].removeprefix("#/$defs/")], where)
    for several in ("anyOf", "oneOf"):
        if several in schema:
            fitting = [each for each in schema[several] if _fits(value, each)]
            assert len(fitting) >= 1 if several == "anyOf" else len(fitting) == 1, where
    types = {
        "object": dict,
        "array": list,
        "string": str,
        "boolean": bool,
        "null": type(None),
        "number": (int, float),
        "integer": int,
    }
    if "type" in schema:
        wanted = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        fits = any(
            isinstance(value, types[t]) and (t == "boolean" or not isinstance(value, bool))
            for t in wanted
        )
        assert fits, f"{where}: {value!r} is not {wanted}"
    assert "const" not in schema or value == schema["const"], where
    assert "enum" not in schema or value in schema["enum"], f"{where}: {value!r}"
    if isinstance(value, int | float):
        assert schema.get("minimum", value) <= value <= schema.get("maximum", value), where
    if isinstance(value, dict):
        absent = set(schema.get("required", ())) - set(value)
        assert not absent, f"{where} lacks {absent}"
        for key, each in value.items():
            inside = schema.get("properties", {}).get(key, schema.get("additionalProperties", {}))
            validate(each, inside, f"{where}.{key}")
    if isinstance(value, list):
        for n, each in enumerate(value):
            validate(each, schema.get("items", {}), f"{where}[{n}]")
    return None


def _fits(value: Any, schema: dict[str, Any]) -> bool:
    try:
        validate(value, schema)
    except AssertionError:
        return False
    return True


def _data() -> Any:
    return tr.simulate(
        150, 4, prior=[0.6, 0.4], operating_point=(0.9, 0.2), fallibility=0.3, seed=2
    )


def _graded() -> Result:
    data = _data()
    scores = dict(zip(data.labels.items, data.scores))
    predictions = dict(zip(data.labels.items, data.predictions))
    return tr.grade(predictions, data.labels, scores=scores, noise=0.15, draws=300)


def _compared() -> Result:
    data = _data()
    other = np.where(np.arange(150) % 4 == 0, 1 - data.truth, data.truth)
    return tr.compare({"a": data.predictions, "b": other}, data.labels, noise=0.15, draws=300)


def _reads() -> list[dict[str, Any]]:
    return [
        {"case": c, "reader": r, "score": (c * 7 + r * 3) % 10 + 4 * (c % 2), "truth": c % 2}
        for c in range(40)
        for r in range(5)
    ]


def _tagged() -> Result:
    said = [["a", "b"], ["b"], ["a"], []] * 20
    return tr.grade(said, [[s, s[:1], s] for s in said], tags="auto", noise=0.1, draws=300)


RESULTS: dict[str, Callable[[], Result]] = {
    "grade": _graded,
    "rate": lambda: tr.prevalence(_data().labels, noise=0.15, draws=300),
    "compare": _compared,
    "tags": _tagged,
    "monitor": lambda: tr.monitor([1] * 40 + [0] * 20),
    "readers": lambda: tr.readers(_reads()),
    "prefer": lambda: tr.prefer(PREFER / "verdicts.csv", gold=PREFER / "gold.csv", draws=300),
    "labelers": lambda: tr.labelers(_data().labels, draws=300),
    "plan": lambda: tr.plan(
        width=0.2, noise="known", labelers=0.1, items=100, costs={"label": 1}, sets=2
    ),
    "ceiling": lambda: tr.bayes_error(soft=[0.1, 0.4, 0.9, 0.2] * 20),
    "doctor": lambda: examine([LABELS, PREDICTIONS]),
    "error": lambda: ClosedForms("true error 0.1", {"true_error": {"value": 0.1}}, ("assumed",)),
}


class Outside(HTMLParser):
    """Addresses that a page would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.found += [str(named[k]) for k in ("src", "href") if named.get(k)]


@pytest.mark.parametrize("kind", RESULTS)
def test_every_form(kind: str, tmp_path: Path) -> None:
    result = RESULTS[kind]()
    assert result.kind == kind
    frame = result.to_frame()
    assert frame.height > 0
    assert list(result.to_pandas().columns) == frame.columns
    found = json.loads(result.to_json())
    validate(found, SCHEMA)
    assert not _fits({**found, "kind": "poem"}, SCHEMA)
    text = result.to_markdown()
    assert text.startswith("**")
    page = result.to_html(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text("utf-8") == page
    looked = Outside()
    looked.feed(page)
    assert all(address.startswith(("#", "data:")) for address in looked.found)
    assert "<iframe" in result._repr_html_()
    if kind not in ("doctor", "error"):
        written = result.save_figures(tmp_path / "figures")
        assert {path.suffix for path in written} == {".png", ".svg", ".pdf", ".md"}
        assert all(path.stat().st_size > 40 for path in written)


def test_a_grade_of_very_many_classes_has_a_mean_table_and_no_limits() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, MOST_DENSE + 5, 1000)
    grid = np.where(rng.random((1000, 3)) < 0.8, truth[:, None], truth[::-1, None])
    report = tr.grade(grid[:, 0].tolist(), tr.Labels.from_matrix(grid[:, 1:]), draws=100)
    found = json.loads(report.to_json())
    validate(found, SCHEMA)
    assert found["confusion"]["low"] is None
    assert found["confusion"]["high"] is None
    assert np.sum(found["confusion"]["mean"]) == pytest.approx(1000)


def test_the_schema_refuses_what_is_wrong() -> None:
    found = json.loads(RESULTS["rate"]().to_json())
    for change in ({"schema": 2}, {"items": -1}, {"target": "all"}, {"warnings": [1]}):
        assert not _fits({**found, **change}, SCHEMA), change
    del found["version"]
    assert not _fits(found, SCHEMA)


COMMANDS = {
    "grade": [PREDICTIONS, LABELS, "--noise", "0.15", "--draws", "300"],
    "rate": [LABELS, "--noise", "0.15"],
    "compare": [LABELS, PREDICTIONS, f"again={PREDICTIONS}", "--noise", "0.15", "--draws", "300"],
    "monitor": [str(FOLDER / "examples" / "judges" / "gold.csv")],
    "prefer": [str(PREFER / "verdicts.csv"), "--gold", str(PREFER / "gold.csv")],
    "labelers": [LABELS, "--noise", "0.15"],
    "plan": [
        "--width",
        ".2",
        "--items",
        "100",
        "--label-cost",
        "1",
        "--labeler-error",
        ".1",
        "--known-noise",
        "--sets",
        "2",
    ],
    "ceiling": [LABELS],
    "doctor": [LABELS, PREDICTIONS],
    "error": ["--apparent", ".17", "--mislabeling", ".08", "--n", "500"],
}


@pytest.mark.parametrize("command", [*COMMANDS, "simulate"])
def test_every_command_has_the_flags(command: str, tmp_path: Path) -> None:
    arguments = [command, *COMMANDS.get(command, [str(tmp_path / "simulated"), "--items", "50"])]

    def run(*more: str) -> str:
        done = RUN.invoke(app, [*arguments, *more])
        assert done.exit_code == 0, done.output
        return str(done.stdout)

    validate(json.loads(run("--json")), SCHEMA)
    rows = list(csv.DictReader(io.StringIO(run("--csv"))))
    assert rows
    assert run("--markdown").startswith("**")
    assert RUN.invoke(app, [*arguments, "--json", "--csv"]).exit_code != 0
    if command != "simulate":
        page, table = tmp_path / "page.html", tmp_path / "table.csv"
        run("--html", str(page), "--table", str(table), "--json")
        assert page.read_text("utf-8").startswith("<!doctype html>")
        assert len(list(csv.DictReader(io.StringIO(table.read_text())))) == len(rows)
        missing = str(tmp_path / "nowhere" / "page.html")
        assert "Create it first" in str(RUN.invoke(app, [*arguments, "--html", missing]).exception)


def test_figures_from_the_command_line(tmp_path: Path) -> None:
    done = RUN.invoke(app, ["rate", *COMMANDS["rate"], "--figures", str(tmp_path / "f")])
    assert done.exit_code == 0
    assert (tmp_path / "f" / "shares.pdf").is_file()
    assert "intervals" in (tmp_path / "f" / "captions.md").read_text()


def test_old_names_work_with_a_notice(tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    for arguments in ([LABELS, "--csv", str(target)], ["--csv", str(target), LABELS]):
        done = RUN.invoke(app, ["labelers", "--noise", "0.15", *arguments])
        assert done.exit_code == 0, done.output
        assert "--table FILE" in done.stderr
        assert target.read_text().startswith("labeler,")
        target.unlink()
    done = RUN.invoke(app, ["labelers", "--noise", "0.15", "--csv", LABELS])
    assert done.stdout.startswith("labeler,")
    done = RUN.invoke(app, ["labelers", *COMMANDS["labelers"], "--plot", str(tmp_path / "p.png")])
    assert "--figures FOLDER" in done.stderr
    assert (tmp_path / "p.png").is_file()
    report = tr.labelers(_data().labels, noise=0.15)
    with pytest.warns(FutureWarning, match="to_frame"):
        assert report.frame().equals(report.to_frame())


def test_help_shows_no_hidden_option() -> None:
    shown = RUN.invoke(app, ["grade", "--help"]).stdout
    assert "--require" in shown
    assert not re.search(r"--plot\b", shown)
