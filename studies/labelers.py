"""Do the intervals of `truthing labelers` hold what they promise where labelers err independently,
and does the order hold on real crowds?

Part 1 simulates panels (confusion matrices drawn anew for each data set) and counts how often the
intervals of error, bits in a label, bits added and the panel's bits hold the true ones. Part 2
compares learned with true error on public crowds, where labelers do not err independently.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

import truthing as tr
from truthing.people.channel import label_bits
from truthing.people.label_bits import collected_bits

DESIGNS = {
    "5 labelers, 300 items, 2 classes": (5, 300, (0.6, 0.4), None),
    "5 labelers, 300 items, 60% of the grid": (5, 300, (0.7, 0.3), 0.6),
    "8 labelers, 200 items, 3 classes": (8, 200, (0.5, 0.3, 0.2), None),
}
LEVEL = 0.95


def one(
    design: tuple[int, int, tuple[float, ...], float | None], seed: int
) -> dict[str, np.ndarray]:
    """Which intervals held, for one simulated panel."""
    n_labelers, n_items, prior, availability = design
    rng = np.random.default_rng([seed, 1])
    n_classes, share = len(prior), np.array(prior)
    right = rng.uniform(0.6, 0.95, (n_labelers, n_classes))
    tables = np.repeat(((1 - right) / (n_classes - 1))[:, :, None], n_classes, axis=2)
    tables[:, np.arange(n_classes), np.arange(n_classes)] = right
    data = tr.simulate(
        n_items, n_labelers, prior=prior, confusion=tables, availability=availability, seed=seed
    )
    report = tr.labelers(data.labels, seed=seed)
    exact = collected_bits(
        data.labels.indptr, data.labels.labeler, tables[None], share[None], repeats=400
    )
    actual = {
        "error": 1 - (share * right).sum(axis=1),
        "bits": label_bits(tables, share),
        "adds": exact.added[0],
        "panel_bits": exact.panel,
    }
    held = {}
    for what, value in actual.items():
        draws = getattr(report, what).reshape(len(getattr(report, what)), -1)
        low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
        held[what] = (low <= value) & (value <= high)
    return held | {"suspected": np.array([bool(report.pairs)])}


def simulated(n_sets: int) -> None:
    for name, design in DESIGNS.items():
        found = [one(design, seed) for seed in range(n_sets)]
        cells = []
        for what in found[0]:
            share = np.array([f[what].mean() for f in found])
            cells.append(f"{what} {share.mean():.3f}±{share.std(ddof=1) / np.sqrt(n_sets):.3f}")
        print(f"{name:<42}", "   ".join(cells), flush=True)


def crowds(folder: Path, fewest: int = 20) -> None:
    for path in sorted(folder.iterdir()):
        labels = tr.read_labels(next(path.glob("labels.csv*"))).resolve_repeats("first")
        truth = tr.read_gold(path / "truth.csv").as_dict()
        known = np.array(
            [
                labels.classes.index(truth[i]) if truth.get(i) in labels.classes else -1
                for i in labels.items
            ]
        )
        checked = known[labels.item] >= 0
        n = np.bincount(labels.labeler[checked], minlength=labels.n_labelers)
        wrong = np.bincount(
            labels.labeler[checked & (known[labels.item] != labels.label)],
            minlength=labels.n_labelers,
        )
        report = tr.labelers(labels)
        used = n >= fewest
        actual, learned = (wrong / np.maximum(n, 1))[used], report.error[:, used]
        low, high = np.quantile(learned, [0.025, 0.975], axis=0)
        rank = spearmanr(actual, learned.mean(axis=0))[0]
        judged = [k for k in np.flatnonzero(used) if labels.labelers[k] in report.graded]
        limits = np.array(
            [np.quantile(report.graded[labels.labelers[k]], [0.025, 0.975]) for k in judged]
        )
        own = (wrong / np.maximum(n, 1))[judged]
        print(
            f"{path.name:<18} {used.sum():>4} labelers   rank correlation {rank:.2f}   mean "
            f"gap {np.mean(learned.mean(axis=0) - actual):+.3f}   "
            f"held {np.mean((low <= actual) & (actual <= high)):.2f}   consensus error "
            f"{np.mean(truth_gap(labels, known)):.3f} in "
            f"{report.consensus_error.interval(0.95)[0]:.3f}-{report.consensus_error.interval(0.95)[1]:.3f}",
            flush=True,
        )
        print(
            f"{'':<18} {len(judged):>4} graded by the others: held "
            f"{np.mean((limits[:, 0] <= own) & (own <= limits[:, 1])):.2f} "
            f"at width {np.mean(limits[:, 1] - limits[:, 0]):.3f}"
        )


def truth_gap(labels: tr.Labels, known: np.ndarray) -> np.ndarray:
    """Where the panel's consensus and the truth part company."""
    from truthing.truth.consensus import Entries
    from truthing.truth.link.views import read_consensus

    consensus = read_consensus(Entries.of(labels)).predicted
    return (consensus != known)[known >= 0]


if __name__ == "__main__":
    simulated(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
    if "TRUTHING_DATA" in os.environ:
        crowds(Path(os.environ["TRUTHING_DATA"]) / "crowd")
    else:
        print("real crowds: set TRUTHING_DATA to the folder of the public data sets")
