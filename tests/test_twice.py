"""What is compiled, in two processes: the second takes the compiled code from disk.

`make lowest` runs this on the oldest versions of the libraries that pyproject.toml allows.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import truthing

EXAMPLE = Path(truthing.__file__).parent / "examples" / "spam"
READ = """
import truthing as tr
labels, gold = tr.read_labels("labels.csv"), tr.read_gold("gold.csv")
predictions = tr.read_predictions("predictions.csv")
"""
ASKED = {
    "graded": "print(tr.grade(predictions, labels, gold=gold, draws=200))",
    "rated": "print(tr.prevalence(labels, draws=200))",
    "compared": """
print(tr.compare({"a": predictions, "b": dict.fromkeys(labels.items, "ham")}, labels, draws=200))
""",
}


@pytest.mark.parametrize("asked", ASKED)
def test_compiled_code_serves_twice(asked: str) -> None:
    first, second = (
        subprocess.run(
            [sys.executable, "-c", READ + ASKED[asked]], cwd=EXAMPLE, capture_output=True, text=True
        )
        for _ in range(2)
    )
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert len(first.stdout) > 100
    assert first.stdout == second.stdout


def test_every_command_starts() -> None:
    for command in ("doctor", "grade", "compare", "rate", "ceiling", "labelers", "error", "plan"):
        done = subprocess.run(
            [sys.executable, "-c", "from truthing.cli import main; main()", command, "--help"],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        assert "Usage:" in done.stdout
