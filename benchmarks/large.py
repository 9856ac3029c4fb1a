"""Default grades of labels in Parquet, each engine in a process of its own on the same files: time,
peak memory, bytes per label above the interpreter's own with its compiled code, and the ratio of
processor time to the first engine. crowd-kit's majority vote may stand beside them.

    python benchmarks/large.py --labels 5000000 --engines memory stream crowd-kit
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
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

CHUNK = 500_000  # items written at a time


def write_panel(
    folder: Path, n_labels: int, n_labelers: int, n_classes: int, heavy: bool = False
) -> None:
    """Labels in no order of items and predictions, as folders of Parquet files; five labels per
    item, or about 80 by raters with a heavy tail, all of them known by numbers (as Community Notes
    has it)."""
    rng = np.random.default_rng(0)
    per_item = 80 if heavy else 5
    n_items = n_labels // per_item
    error = rng.uniform(0.05, 0.4, n_labelers)
    shape = rng.pareto(1.2, n_labelers) if heavy else np.ones(n_labelers)
    tickets = np.ceil(4 * n_labelers * shape / shape.sum()).astype(np.int64)
    ticket = np.repeat(np.arange(n_labelers), tickets)
    classes = pl.Series([f"c{c}" for c in range(n_classes)])
    for name in ("labels", "predictions"):
        (folder / name).mkdir(parents=True)
    step = CHUNK if not heavy else CHUNK // 16
    for number, first in enumerate(range(0, n_items, step)):
        items = np.arange(first, min(first + step, n_items))
        truth = (items * 2654435761 >> 7) % n_classes
        item = rng.permutation(np.repeat(np.arange(len(items)), per_item))
        who = ticket[rng.integers(0, len(ticket), len(item))]
        place = np.unique(item * n_labelers + who, return_index=True)[1]
        place.sort()  # nobody labels an item twice, and rows stand in no order
        item, who = item[place], who[place]
        wrong = rng.random(len(item)) < error[who]
        said = np.where(wrong, rng.integers(0, n_classes, len(item)), truth[item])
        guess = np.where(
            rng.random(len(items)) < 0.1, rng.integers(0, n_classes, len(items)), truth
        )
        names = pl.Series(items) if heavy else pl.Series([f"item-{i:09d}" for i in items])
        raters = pl.Series(who) if heavy else "r" + pl.Series(who).cast(pl.String)
        labels = {"item": names.gather(item), "labeler": raters, "label": classes.gather(said)}
        predictions = {"item": names, "prediction": classes.gather(guess)}
        for name, columns in (("labels", labels), ("predictions", predictions)):
            pl.DataFrame(columns).write_parquet(folder / name / f"{number:05d}.parquet")


def write_files(place: Path, *size: Any, single: bool) -> None:
    """Labels and predictions as folders, and as ``single`` files where labels in memory are asked
    for."""
    write_panel(place, *size)
    for name in ("labels", "predictions") if single else ():
        pl.scan_parquet(place / name).sink_parquet(place / f"{name}.parquet")


def measure(engine: str, folder: Path) -> None:
    """One grade (or a majority vote by crowd-kit), in this process; prints what it took."""
    start = time.perf_counter()
    if engine == "own":
        found = _grade(*_few())
    elif engine == "crowd-kit":
        found = _majority_vote(folder)
    else:
        end = ".parquet" if engine == "memory" else ""
        found = _grade(folder / f"predictions{end}", folder / f"labels{end}", engine)
    found["seconds"] = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_SELF)
    found |= {"cpu": used.ru_utime + used.ru_stime, "peak_mb": used.ru_maxrss / 1e3}
    print(json.dumps(found))


def _few() -> tuple[object, object]:
    """So few labels that they take no room, but enough for compiled code."""
    import truthing as tr

    data = tr.simulate(60_000, 5, prior=[0.6, 0.4], operating_point=(0.8, 0.1), seed=1)
    return data.predictions, data.labels


def _grade(predictions: object, labels: object, engine: str = "memory") -> dict[str, float]:
    import truthing as tr

    report = tr.grade(predictions, labels, engine=engine)
    low, high = report["accuracy"].interval()
    sizes = {"labels": report.sizes["labels"], "items": report.sizes["items"]}
    return {"accuracy": report["accuracy"].mean, "low": low, "high": high, **sizes}


def _majority_vote(folder: Path) -> dict[str, float]:
    """Agreement of the predictions with crowd-kit's majority vote, which has no interval."""
    from crowdkit.aggregation import MajorityVote

    rows = pl.read_parquet(folder / "labels/*.parquet").to_pandas()
    rows.columns = ["task", "worker", "label"]
    vote = MajorityVote().fit_predict(rows)
    guess = pl.read_parquet(folder / "predictions/*.parquet").to_pandas().set_index("item")
    agreed = float((guess["prediction"] == vote.reindex(guess.index)).mean())
    sizes = {"labels": len(rows), "items": len(guess)}
    return {"accuracy": agreed, "low": float("nan"), "high": float("nan"), **sizes}


def in_own_process(engine: str, folder: Path) -> dict[str, float]:
    command = [sys.executable, __file__, "--measure", engine, "--folder", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def plot(rows: list[dict[str, float]], path: Path) -> None:
    """Processor time and peak memory against the number of labels, one line for each engine."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.ticker import LogLocator

    matplotlib.rcParams["svg.hashsalt"] = "large"
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for name in dict.fromkeys(row["engine"] for row in rows):
        mine = [row for row in rows if row["engine"] == name]
        for ax, what in zip(axes, ("cpu", "peak_mb")):
            ax.loglog([r["labels"] for r in mine], [r[what] for r in mine], "o-", label=name)
    for ax, words in zip(axes, ("processor seconds", "peak memory, MB")):
        ax.set(xlabel="labels", ylabel=words)
        sizes = sorted({int(row["labels"]) for row in rows})
        ax.set_xticks(sizes, [f"{n:,}" for n in sizes])
        ax.minorticks_off()
        ax.yaxis.set_major_locator(LogLocator(10, subs=(1, 2, 5)))
        ax.yaxis.set_major_formatter("{x:,.0f}")
        ax.grid(alpha=0.3)
    axes[0].legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})


NAMES = {
    "memory": "grade in memory",
    "stream": "grade streamed",
    "stream again": "streamed again",
    "dask": "grade with Dask",
    "dask again": "with Dask again",
    "crowd-kit": "crowd-kit's majority vote",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--labels", type=int, nargs="+", default=[1_000_000, 5_000_000])
    parser.add_argument("--labelers", type=int, default=20_000)
    parser.add_argument("--classes", type=int, default=2)
    parser.add_argument("--heavy", action="store_true", help="80 labels per item, heavy tail")
    parser.add_argument("--engines", nargs="+", default=["memory", "stream"])
    parser.add_argument("--once", action="store_true", help="no second time from kept shards")
    parser.add_argument("--plot", type=Path, help="an SVG file, such as docs/images/large.svg")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--measure")
    asked = parser.parse_args()
    if asked.measure:
        measure(asked.measure, asked.folder)
        return
    own = in_own_process("own", Path())["peak_mb"]
    print(f"interpreter and compiled code: {own:.0f} MB")
    heads = ("labels", "engine", "seconds", "CPU s", "of first", "peak MB", "bytes/label")
    print("".join(f"{name:>13}" for name in (*heads, "accuracy", "low", "high")))
    rows: list[dict[str, float]] = []
    for n_labels in asked.labels:
        place = Path(tempfile.mkdtemp(dir=asked.folder)) / "panel"
        # in a process of its own: a child's peak is never below its parent's when it began
        writer = get_context("spawn").Process(
            target=write_files,
            args=(place, n_labels, asked.labelers, asked.classes, asked.heavy),
            kwargs={"single": "memory" in asked.engines},
        )
        writer.start()
        writer.join()
        os.environ["TRUTHING_CACHE"] = str(place / "cache")
        base = None
        for engine in asked.engines:
            twice = engine not in ("memory", "crowd-kit") and not asked.once
            for again in ("", " again") if twice else ("",):
                took = in_own_process(engine, place)
                base = base or took
                above = 1e6 * (took["peak_mb"] - own) / took["labels"]
                rows.append({**took, "engine": NAMES[engine + again]})  # type: ignore[dict-item]
                print(
                    f"{int(took['labels']):>13,}{engine + again:>13}{took['seconds']:>13.1f}"
                    f"{took['cpu']:>13.1f}{took['cpu'] / base['cpu']:>13.2f}"
                    f"{took['peak_mb']:>13.0f}{above:>13.0f}"
                    + "".join(f"{took[k]:>13.6f}" for k in ("accuracy", "low", "high")),
                    flush=True,
                )
        shutil.rmtree(place.parent)
    if asked.plot:
        plot(rows, asked.plot)


if __name__ == "__main__":
    main()
