"""The oldest versions allowed are those that `make lowest` tests; SECURITY.md says why."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PINNED = [
    Requirement(line)
    for line in (ROOT / ".ci" / "lowest.txt").read_text().splitlines()
    if line and not line.startswith("#")
]


def bound(requirement: Requirement, operator: str) -> Version:
    """The one version that a requirement names."""
    (only,) = requirement.specifier
    assert only.operator == operator, requirement
    return Version(only.version)


def test_the_lowest_versions_are_tested() -> None:
    extras = PROJECT["optional-dependencies"]
    frames = [r for r in extras["dev"] if r.startswith(("pandas", "pyarrow"))]
    needed = [*PROJECT["dependencies"], *extras["app"], *frames]
    allowed = {r.name: bound(r, ">=") for r in map(Requirement, needed)}
    assert {r.name: bound(r, "==") for r in PINNED} == allowed


def test_every_supported_python_is_named() -> None:
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    oldest = bound(Requirement(f"python{PROJECT['requires-python']}"), ">=")
    assert Version(named[0]) == oldest
    assert [Version(n).minor for n in named] == list(range(oldest.minor, oldest.minor + len(named)))


def test_security_names_the_bounds_that_advisories_raised() -> None:
    said = (ROOT / "SECURITY.md").read_text()
    lowest = {r.name: str(bound(r, "==")) for r in PINNED}
    for name in ("jinja2", "starlette", "python-multipart"):
        assert f"{name} {lowest[name]}" in said
