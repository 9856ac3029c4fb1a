"""Errors speak the language of the place: parameters in Python, options on the command line, and
plain names on the web page.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

import truthing as tr
from truthing.app.words import plain
from truthing.errors import in_options

HOUSE = Path(tr.__file__).parent
ERRORS = {"InputError", "NotIdentified", "NotConverged"}


def words(node: ast.AST) -> str:
    return "".join(
        part.value
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    )


def messages() -> list[tuple[str, str]]:
    """Every message of an error outside the command line and the web page."""
    return [
        (f"{path.relative_to(HOUSE)}:{call.lineno}", words(call))
        for path in sorted(HOUSE.rglob("*.py"))
        if path.relative_to(HOUSE).parts[0] not in ("cli", "app")
        for call in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") in ERRORS
    ]


def test_no_message_of_the_library_names_an_option() -> None:
    found = messages()
    assert len(found) > 300
    wrong = [where for where, text in found if re.search(r"(?<![\w-])--[a-z]", text)]
    assert not wrong, f"write `name=value` in backquotes: {wrong}"


# their sentences are about commands, or are said beside the command that they belong to
OF_COMMANDS = ("cli", "app", "reproduce", "doctor", "planning", "people", "__init__.py")


def test_no_sentence_for_everybody_names_an_option() -> None:
    """Assumptions, warnings and advice reach Python and the page too."""
    wrong = []
    for path in sorted(HOUSE.rglob("*.py")):
        if path.relative_to(HOUSE).parts[0] in OF_COMMANDS or path.name == "plan.py":
            continue
        tree = ast.parse(path.read_text("utf-8"))
        said = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}  # docstrings
        wrong += [
            f"{path.relative_to(HOUSE)}:{node.lineno}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
            if id(node) not in said and re.search(r"(?<![\w-])--[a-z]", node.value)
        ]
    assert not wrong, f"write `name=value` in backquotes: {wrong}"


LONG = "item,labeler,label\n1,a,yes\n2,a,no\n1,b,yes\n2,b,no\n"
CASES: dict[str, tuple[dict[str, str], dict[str, Any], str, str, str]] = {
    "two labels of one labeler": (
        {"labels": LONG + "2,b,yes\n"}, {}, "`repeats='first'`", "--repeats first",
        "“When a labeler contradicts itself on an item: first”",
    ),
    "no class in both": (
        {"labels": LONG, "predictions": "item,prediction\n1,ham\n2,spam\n"}, {},
        "`map={'ham': ...", "--map ham=…", "“What names mean: ham=…",
    ),
    "one labeler": (
        {"labels": "item,labeler,label\n1,a,yes\n2,a,no\n"}, {}, "`noise=0.05`", "--noise 0.05",
        "“noise: 0.05”",
    ),
    "no such column": (
        {"labels": LONG}, {"item_column": "task"}, "no column 'task'", "no column 'task'",
        "no column 'task'",
    ),
    "scores alone": (
        {"labels": LONG, "predictions": "item,score\n1,0.9\n2,0.2\n"}, {}, "`threshold=...`",
        "--threshold …", "“threshold: …”",
    ),
    "a word that may be missing": (
        {"labels": LONG, "predictions": "item,prediction\n1,yes\n2,NA\n"}, {}, "`missing='NA'`",
        "--missing NA", "“Words that mean no label: NA”",
    ),
    "a column called model": (
        {"labels": "item,model,label\n1,a,yes\n2,b,no\n"}, {}, "`labeler_column='model'`",
        "--labeler-column model", "“labeler column: model”",
    ),
    "a typing error": (
        {"labels": LONG * 1 + "".join(f"{n},a,spam\n" for n in range(9, 40)) + "50,a,spamm\n"},
        {}, "`map={'spamm': 'spam'}`", "--map spamm=spam", "“What names mean: spamm=spam”",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_three_places_three_languages(name: str, tmp_path: Path) -> None:
    files, options, python, option, page = CASES[name]
    for role, content in files.items():
        (tmp_path / f"{role}.csv").write_text(content)
    predictions = tmp_path / "predictions.csv" if "predictions" in files else {1: "yes", 2: "no"}
    labels = tmp_path / "labels.csv"
    with pytest.raises(tr.TruthingError) as problem:
        tr.grade(predictions, tr.read_labels(labels, **options))
    said = str(problem.value)
    assert python in said
    assert option in in_options(said)
    assert page in plain(said)
    assert not re.search(r"`|--[a-z]|\b[a-z_]+=(?=['{\[.])", plain(said)), plain(said)
