"""Shared fixtures; real data are looked for beside the checkout or where TRUTHING_DATA points."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# as the command has it; two workers with two threads each would wait for each other
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
if "TRUTHING_DATA" not in os.environ and BESIDE.is_dir():
    os.environ["TRUTHING_DATA"] = str(BESIDE)


def skip_or_fail(reason: str) -> None:
    """Absent data or browsers skip a test at home and fail it in CI, where they must be present."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"under CI this must not be skipped: {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def real_data() -> Path:
    folder = os.environ.get("TRUTHING_DATA")
    if not folder or not Path(folder).is_dir():
        skip_or_fail("needs the public data sets: set TRUTHING_DATA to their folder")
    return Path(str(folder))


# parallel runners set it, and so does readline behind Python's back; a pipe has no width
os.environ.pop("COLUMNS", None)
os.unsetenv("COLUMNS")
