"""Degenerate data: an answer that is finite and in range, or a refusal in one line."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def study() -> Any:
    spec = importlib.util.spec_from_file_location("degenerate", ROOT / "studies/degenerate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["degenerate"] = module
    spec.loader.exec_module(module)
    return module


def test_the_committed_table_is_what_happens(study: Any, monkeypatch: Any) -> None:
    # what labels tell is simulated more roughly: the page shows no number of it
    monkeypatch.setattr("truthing.people.label_bits.WORK", 100_000)
    found = study.page()
    for word in ("BROKEN", "NOT SENSIBLE", "NOT ONE LINE"):
        assert word not in found
    # a perfect label is worth infinitely many noisy ones, where no mistake is left to see
    assert found.count("| infinite |") == 1
    assert found == (ROOT / "docs" / "degenerate.md").read_text(encoding="utf-8")
