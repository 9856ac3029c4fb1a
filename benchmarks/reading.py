"""Reading 5 million labels: our time against polars alone reading the same file and factorising its
columns; peak memory.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

OURS = (
    "import sys, truthing as tr; labels = tr.read_labels(sys.argv[1]); assert labels.n_labels == "
    "int(sys.argv[2])"
)
POLARS = """
import sys, polars as pl
path = sys.argv[1]
frame = pl.read_csv(path) if path.endswith("csv") else pl.read_parquet(path)
codes = [frame[c].cast(pl.String).cast(pl.Categorical).to_physical() for c in frame.columns]
"""


def measure(code: str, path: Path, n: int) -> tuple[float, float]:
    """Seconds inside the process after imports, and its peak memory in GB."""
    timed = (
        "import sys, time, resource, numpy, polars, truthing.tables\n"
        f"start = time.perf_counter()\n{code}\n"
        "print(time.perf_counter() - start, "
        "resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)"
    )
    return min(
        tuple(
            map(
                float,
                subprocess.run(
                    [sys.executable, "-c", timed, str(path), str(n)],
                    capture_output=True,
                    text=True,
                    check=True,
                ).stdout.split(),
            )
        )
        for _ in range(3)
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--labels", type=int, default=5_000_000)
    n = parser.parse_args().labels
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(0)
    item = np.repeat(np.arange(n // 5), 5)
    text = pl.DataFrame(
        {
            "item": [f"img-{i}" for i in item],
            "labeler": [f"w{t}" for t in rng.integers(0, 5000, len(item))],
            "label": np.array(["cat", "dog"])[rng.integers(0, 2, len(item))],
        }
    ).unique(["item", "labeler"], maintain_order=True)
    numbers = pl.DataFrame(
        {
            "item": item,
            "labeler": rng.integers(0, 5000, len(item)),
            "label": rng.integers(0, 2, len(item)),
        }
    )
    numbers = numbers.unique(["item", "labeler"], maintain_order=True)
    print(
        f"{'file':<22}{'ours s':>9}{'polars s':>10}{'ratio':>8}{'peak GB':>9}   (limit: "
        "ratio 3, 2 GB)"
    )
    with tempfile.TemporaryDirectory() as folder:
        for name, frame in (("text", text), ("numbers", numbers)):
            for ending in ("csv", "parquet"):
                path = Path(folder) / f"{name}.{ending}"
                frame.write_csv(path) if ending == "csv" else frame.write_parquet(path)
                ours, memory = measure(OURS, path, len(frame))
                theirs, _ = measure(POLARS, path, len(frame))
                print(
                    f"{path.name:<22}{ours:>9.2f}{theirs:>10.2f}{ours / theirs:>8.2f}{memory:>9.2f}"
                )


if __name__ == "__main__":
    main()
