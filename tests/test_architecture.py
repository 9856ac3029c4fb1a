"""The house plan: a module imports only from floors below its own."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "truthing"
FLOORS = [
    {"errors", "progress", "notes"},
    {"class_codes"},
    {"spelling"},
    {"vocabulary", "score_meaning"},
    {"labels", "predictions"},
    {"matching"},
    {"tables"},
    {"case", "predicted"},
    {"noise"},
    {"metrics"},
    {"truth"},
    {"papers", "simulation"},
    {"report"},
    {"grading"},
    {"rate"},
    {"doctor"},
    {"ceiling"},
    {"people"},
    {"comparison", "planning"},
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


def imported_rooms(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("truthing."):
            found.add(node.module.split(".")[1])
        elif isinstance(node, ast.ImportFrom) and node.module == "truthing":
            found |= {alias.name for alias in node.names if not alias.name.startswith("__")}
        elif isinstance(node, ast.Import):
            found |= {
                alias.name.split(".")[1]
                for alias in node.names
                if alias.name.startswith("truthing.")
            }
    return found


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
    """--help and doctor must start fast: no scipy, numba, sklearn, matplotlib or torch at the top of what they load."""
    import subprocess
    import sys

    code = (
        "import sys; from truthing.cli.main import app; import truthing.doctor, truthing.render.doctor; "
        "print([m for m in ('scipy', 'numba', 'sklearn', 'matplotlib', 'torch', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_files_and_functions_are_short() -> None:
    for _, path in rooms():
        text = path.read_text()
        assert text.count("\n") <= 400, f"{path.name} is long: which idea wants a file of its own?"
