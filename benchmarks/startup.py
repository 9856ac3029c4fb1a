"""`truthing --help` and `truthing doctor` on a small file against `python -c "import numpy, polars"`: at most 3 times as long.

And `truthing grade` on the bundled example, against importing what it must import: the first table is to be there in 2 seconds."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[1] / "src" / "truthing" / "examples" / "spam"
TRUTHING = [sys.executable, "-c", "from truthing.cli import main; main()"]


def seconds(command: list[str], times: int = 7) -> float:
    """Best of several, wall time."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        subprocess.run(command, capture_output=True, check=True)
        found.append(time.perf_counter() - start)
    return min(found)


def main() -> None:
    base = seconds([sys.executable, "-c", "import numpy, polars"])
    print(f"{'command':<34}{'seconds':>9}{'ratio':>8}   (limit 3)")
    print(f"{'import numpy, polars':<34}{base:>9.3f}{1:>8.2f}")
    for name, command in (
        ("truthing --help", [*TRUTHING, "--help"]),
        ("truthing doctor labels.csv", [*TRUTHING, "doctor", str(EXAMPLE / "labels.csv")]),
    ):
        taken = seconds(command)
        print(f"{name:<34}{taken:>9.3f}{taken / base:>8.2f}")
    base = seconds([sys.executable, "-c", "import polars, numba, scipy.linalg, rich.table"])
    taken = seconds(
        [*TRUTHING, "grade", str(EXAMPLE / "predictions.csv"), str(EXAMPLE / "labels.csv")]
    )
    print(f"\n{'import polars, numba, scipy, rich':<34}{base:>9.3f}{1:>8.2f}")
    print(
        f"{'truthing grade, compiled before':<34}{taken:>9.3f}{taken / base:>8.2f}   (limit 2 seconds)"
    )


if __name__ == "__main__":
    main()
