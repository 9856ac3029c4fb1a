"""Default grades of labels in Parquet, each engine in a process of its own on the same files: time,
peak memory, and the ratio to the engine in memory. Also the cost of a pass, label for label.

    python benchmarks/large.py --labels 5000000 --engines memory stream
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

CHUNK = 500_000  # items written at a time


def write_panel(
    folder: Path, n_labels: int, n_labelers: int, n_classes: int, heavy: bool = False
) -> None:
    """Labels in no order of items and predictions, as folders of Parquet files; five labels per
    item, or about 80 by raters with a heavy tail (as Community Notes has)."""
    rng = np.random.default_rng(0)
    per_item = 80 if heavy else 5
    n_items = n_labels // per_item
    error = rng.uniform(0.05, 0.4, n_labelers)
    shape = rng.pareto(1.2, n_labelers) if heavy else np.ones(n_labelers)
    cumulative = np.cumsum(shape / shape.sum())
    for name in ("labels", "predictions"):
        (folder / name).mkdir(parents=True)
    step = CHUNK if not heavy else CHUNK // 16
    for number, first in enumerate(range(0, n_items, step)):
        items = np.arange(first, min(first + step, n_items))
        truth = (items * 2654435761 >> 7) % n_classes
        item = np.repeat(np.arange(len(items)), per_item)
        who = np.minimum(np.searchsorted(cumulative, rng.random(len(item))), n_labelers - 1)
        key = np.unique(item * n_labelers + who)
        item, who = key // n_labelers, key % n_labelers
        wrong = rng.random(len(item)) < error[who]
        said = np.where(wrong, rng.integers(0, n_classes, len(item)), truth[item])
        order = rng.permutation(len(item))
        names = pl.Series([f"item-{i:09d}" for i in items])
        classes = pl.Series([f"c{c}" for c in range(n_classes)])
        pl.DataFrame(
            {
                "item": names.gather(item[order]),
                "labeler": ("r" + pl.Series(who[order]).cast(pl.String)),
                "label": classes.gather(said[order]),
            }
        ).write_parquet(folder / "labels" / f"{number:05d}.parquet")
        guess = np.where(
            rng.random(len(items)) < 0.1, rng.integers(0, n_classes, len(items)), truth
        )
        pl.DataFrame({"item": names, "prediction": classes.gather(guess)}).write_parquet(
            folder / "predictions" / f"{number:05d}.parquet"
        )


def measure(engine: str, folder: Path) -> None:
    """One grade, in this process; prints what it took."""
    import truthing as tr

    labels: object = folder / "labels"
    predictions: object = folder / "predictions"
    start = time.perf_counter()
    if engine == "memory":
        labels = pl.read_parquet(folder / "labels/*.parquet")
        predictions = pl.read_parquet(folder / "predictions/*.parquet")
    report = tr.grade(predictions, labels, engine=engine)
    low, high = report["accuracy"].interval()
    took = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_SELF)
    found = {"seconds": took, "cpu": used.ru_utime + used.ru_stime, "peak_mb": used.ru_maxrss / 1e3}
    found["accuracy"] = report["accuracy"].mean
    print(json.dumps({**found, "low": low, "high": high, "labels": report.sizes["labels"]}))


def in_own_process(engine: str, folder: Path) -> dict[str, float]:
    command = [sys.executable, __file__, "--measure", engine, "--folder", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--labels", type=int, nargs="+", default=[1_000_000, 5_000_000])
    parser.add_argument("--labelers", type=int, default=20_000)
    parser.add_argument("--classes", type=int, default=2)
    parser.add_argument("--heavy", action="store_true", help="80 labels per item, heavy tail")
    parser.add_argument("--engines", nargs="+", default=["memory", "stream"])
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--measure")
    asked = parser.parse_args()
    if asked.measure:
        measure(asked.measure, asked.folder)
        return
    heads = ("labels", "engine", "seconds", "of memory", "CPU s", "of memory", "peak MB")
    print("".join(f"{name:>13}" for name in (*heads, "accuracy", "low", "high")))
    for n_labels in asked.labels:
        place = Path(tempfile.mkdtemp(dir=asked.folder)) / "panel"
        write_panel(place, n_labels, asked.labelers, asked.classes, asked.heavy)
        os.environ["TRUTHING_CACHE"] = str(place / "cache")
        base = None
        for engine in asked.engines:
            for again in ("", " again") if engine != "memory" else ("",):
                took = in_own_process(engine, place)
                base = base or took
                ratios = took["seconds"] / base["seconds"], took["cpu"] / base["cpu"]
                print(
                    f"{int(took['labels']):>13,}{engine + again:>13}{took['seconds']:>13.1f}"
                    f"{ratios[0]:>13.2f}{took['cpu']:>13.1f}{ratios[1]:>13.2f}"
                    f"{took['peak_mb']:>13.0f}"
                    + "".join(f"{took[k]:>13.6f}" for k in ("accuracy", "low", "high")),
                    flush=True,
                )
        shutil.rmtree(place.parent)


if __name__ == "__main__":
    main()
