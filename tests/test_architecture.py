"""The house plan: a module imports only from floors below its own."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

LONGEST = 80  # lines of a function, without its docstring
ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "truthing"
FLOORS = [
    {
        *{"errors", "notes", "progress", "threads", "version", "display", "lazy", "randomness"},
        "compiled",
    },
    {"arguments", "panel_kind"},
    {"hashed", "sorting"},
    {"names"},
    {"class_codes"},
    {"spelling", "repeats"},
    {"vocabulary", "score_meaning"},
    {"labels", "predictions"},
    {"matching"},
    {"tables"},
    {"results", "per_item"},
    {"case", "predicted"},
    {"scale", "unsure"},
    {"noise"},
    {"engine"},
    {"metrics"},
    {"survey"},
    {"requirements"},
    {"truth"},
    {"papers", "simulation", "ordering"},
    {"second_reads", "labeler_kinds"},
    {"kinds"},
    {"asking"},
    {"report", "shares"},
    {"by_the_book"},
    {"streaming"},
    {"multi_label", "by_items"},
    {"grading"},
    {"rate"},
    {"ceiling"},
    {"people"},
    {"comparison", "planning", "preference", "monitoring", "mrmc"},
    {"doctor"},
    {"train"},
    {"render"},
    {"reproduce"},
    {"app"},
    {"cli"},
]


def rooms() -> list[tuple[str, Path]]:
    return [
        (path.relative_to(SOURCE).parts[0].removesuffix(".py"), path)
        for path in sorted(SOURCE.rglob("*.py"))
        if path != SOURCE / "__init__.py" and "examples" not in path.parts
    ]


def floor_of(room: str) -> int:
    return next(n for n, names in enumerate(FLOORS) if room in names)


def module_name(path: Path) -> str:
    parts = ("truthing", *path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for _, path in rooms()}


def imported_modules(path: Path) -> set[str]:
    """Everything of the package that a file imports: on top, inside functions, for types only, or
    by a string."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in MODULES else node.module for name in inner}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Call) and "import" in ast.unparse(node.func):
            text = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
            found |= {part.rstrip(".") for part in text if isinstance(part, str)}
    return {name for name in found if name == "truthing" or name.startswith("truthing.")}


def imported_rooms(path: Path) -> set[str]:
    return {name.split(".")[1] for name in imported_modules(path) - {"truthing"}}


def test_no_two_modules_need_each_other() -> None:
    """Also not inside functions or for types: what needs each other is one idea, or wants a third
    place."""
    needs = {name: imported_modules(path) - {name} for name, path in MODULES.items()}
    while needs:
        free = {name for name, others in needs.items() if not others & needs.keys()}
        assert free, f"these import each other, or are imported by such: {sorted(needs)}"
        needs = {name: others for name, others in needs.items() if name not in free}


def test_a_string_cannot_hide_an_import(tmp_path: Path) -> None:
    hidden = tmp_path / "hidden.py"
    hidden.write_text('import importlib\nimportlib.import_module(f"truthing.render.{1}")\n')
    assert imported_rooms(hidden) == {"render"}


@pytest.mark.parametrize(
    ("room", "path"), rooms(), ids=lambda v: str(v) if isinstance(v, str) else v.name
)
def test_imports_go_down(room: str, path: Path) -> None:
    upward = {
        other
        for other in imported_rooms(path)
        if other != room and floor_of(other) >= floor_of(room)
    }
    assert not upward, f"{path.relative_to(ROOT)} imports upward or sideways: {sorted(upward)}"


def test_every_room_has_a_floor() -> None:
    known = set().union(*FLOORS)
    assert {room for room, _ in rooms()} <= known


def test_heavy_libraries_are_imported_only_where_used() -> None:
    """--help and doctor must start fast: no scipy, numba, sklearn, matplotlib or torch at the top
    of what they load."""
    code = (
        "import sys; from truthing.cli.main import app; import truthing.doctor, "
        "truthing.render.doctor; "
        "print([m for m in ('scipy', 'numba', 'sklearn', 'matplotlib', 'torch', 'pandas') if m in "
        "sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_files_are_short() -> None:
    for _, path in rooms():
        lines = path.read_text().count("\n")
        assert lines <= 400, f"{path.name} is long: which idea wants a file of its own?"


def functions() -> list[tuple[str, int]]:
    """Every function of the source and how many lines its body has, without its docstring."""
    found = []
    for _, path in rooms():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) and node.body[1:] else node.body
                lines = (node.body[-1].end_lineno or 0) - body[0].lineno + 1
                found.append((f"{path.relative_to(SOURCE)}:{node.name}", lines))
    return found


def test_functions_are_short() -> None:
    long = [(name, lines) for name, lines in functions() if lines > LONGEST]
    assert not long, f"longer than {LONGEST} lines: {long}"
    assert len(functions()) > 1000  # the check looks at something


def test_no_two_classes_have_one_name() -> None:
    places: dict[str, list[str]] = {}
    for _, path in rooms():
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(str(path.relative_to(SOURCE)))
    twice = {name: found for name, found in places.items() if len(found) > 1}
    assert not twice, f"one name, two classes: {twice}"
    assert len(places) > 200  # the check looks at something


def test_public_names_survive_an_import_of_every_module() -> None:
    """A module must not bear the name of a public function: importing it would replace the
    function."""
    code = """
import importlib, sys, types
import truthing as tr
for name in sys.argv[1:]:
    importlib.import_module(name)
for name in tr.__all__:
    value = getattr(tr, name)
    if name in ("noise", "train"):
        assert isinstance(value, types.ModuleType), name
    else:
        assert callable(value), f"{name} is a {type(value).__name__}"
        assert value.__name__ == name
data = tr.simulate(30, 3, prior=[0.5, 0.5], operating_point=(0.9, 0.1), fallibility=0.2, seed=0)
assert len(tr.grade(data.predictions, data.labels, noise=0.1, method="majority").items) == 30
assert tr.true_error(0.1, 0.01).value > 0.09
assert 0 < tr.prevalence(data.labels, noise=0.1)["1"].mean < 1
assert len(tr.train.__all__) > 10
"""
    optional = ("truthing.app", "truthing.train", "truthing.render.figures", "truthing.reproduce")
    names = [name for name in MODULES if not name.startswith(optional) and "__main__" not in name]
    done = subprocess.run(
        [sys.executable, "-c", code, *names], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_every_planted_bug_can_be_planted(monkeypatch: pytest.MonkeyPatch) -> None:
    """studies/mutants.py replaces one piece of text in one file: it must still be there."""
    monkeypatch.syspath_prepend(ROOT / "studies")
    from mutants import MUTANTS

    lost = [m.name for m in MUTANTS if (SOURCE / m.file).read_text().count(m.old) != 1]
    assert lost == []
    assert len(MUTANTS) >= 30
    assert all((ROOT / test).exists() for m in MUTANTS for test in m.tests)
