"""Time to the first answer: help and doctor, and the first table of the bundled example, cold
(nothing compiled yet) and warm.

Processor time, as a ratio to importing what must be imported. Targets: help and doctor 3 times
numpy and polars; the first table
12 times numpy, polars and numba when cold, and 1.5 seconds when warm.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[1] / "src" / "truthing" / "examples" / "spam"
TRUTHING = [sys.executable, "-c", "from truthing.cli import main; main()"]
GRADE = [*TRUTHING, "grade", str(EXAMPLE / "predictions.csv"), str(EXAMPLE / "labels.csv")]


def seconds(command: list[str], times: int = 5, cache: str | None = None) -> float:
    """Processor time, best of several; with ``cache`` as the folder for compiled code."""
    # what is installed was compiled to byte code once; a machine that forbids that is no yardstick
    variables = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    variables |= {} if cache is None else {"NUMBA_CACHE_DIR": cache}
    found = []
    for _ in range(times):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, capture_output=True, check=True, env=variables)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


def line(name: str, taken: float, base: float, target: str) -> None:
    print(f"{name:<38}{taken:>9.2f}{taken / base:>8.1f}   {target}", flush=True)


def main() -> None:
    print(f"{'':<38}{'seconds':>9}{'ratio':>8}   target")
    small = seconds([sys.executable, "-c", "import numpy, polars"])
    line("import numpy, polars", small, small, "")
    line("truthing --help", seconds([*TRUTHING, "--help"]), small, "ratio 3")
    doctor = seconds([*TRUTHING, "doctor", str(EXAMPLE / "labels.csv")])
    line("truthing doctor labels.csv", doctor, small, "ratio 3")
    large = seconds([sys.executable, "-c", "import numpy, polars, numba"])
    line("import numpy, polars, numba", large, large, "")
    with tempfile.TemporaryDirectory() as cache:
        line("first table, cold", seconds(GRADE, 1, cache), large, "ratio 12, 10 seconds")
        line("first table, warm", seconds(GRADE, 3, cache), large, "1.5 seconds")


if __name__ == "__main__":
    main()
