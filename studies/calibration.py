"""Simulation-based calibration: truth drawn from the prior, so the rank of each true value among
its posterior draws is uniform.

Checks the sampler with everything unknown (labelers, classifier, class prior, pool), for two and
for four classes.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.stats import chi2

from truthing.truth.consensus import CONCENTRATIONS, Entries
from truthing.truth.labelers import PER_ROW
from truthing.truth.samplers.labelers import POOL_WEIGHT, RowModel, pool_base, sample_crowd

BINS = 10


def draw_data(
    n_items: int, n_labelers: int, n_classes: int, rng: np.random.Generator
) -> tuple[Entries, np.ndarray, np.ndarray]:
    """A data set whose every unknown comes from the prior of the sampler; a fifth of the labels is
    missing.
    """
    weight = np.exp(-0.5 * np.log(CONCENTRATIONS / 8) ** 2)
    concentration = rng.choice(CONCENTRATIONS, p=weight / weight.sum())
    base = pool_base(n_classes)
    assert np.allclose(base.sum(axis=1), POOL_WEIGHT)
    pool = np.stack([rng.dirichlet(row) for row in base])
    rows = np.stack(
        [
            [_dirichlet(concentration * pool[c], rng) for c in range(n_classes)]
            for _ in range(n_labelers)
        ]
    )
    classifier = np.stack(
        [_dirichlet(np.full(n_classes, PER_ROW / n_classes), rng) for _ in range(n_classes)]
    )
    truth = rng.choice(n_classes, size=n_items, p=rng.dirichlet(np.ones(n_classes)))
    predicted = np.array([rng.choice(n_classes, p=classifier[y]) for y in truth])
    item, rater = (
        a.ravel() for a in np.meshgrid(np.arange(n_items), np.arange(n_labelers), indexing="ij")
    )
    seen = rng.random(len(item)) < 0.8
    item, rater = item[seen], rater[seen]
    label = np.array(
        [rng.choice(n_classes, p=rows[t, truth[i]]) for i, t in zip(item, rater)], dtype=np.int64
    )
    return (
        Entries(item, rater, label, np.ones(len(item)), n_items, n_labelers, n_classes),
        predicted,
        truth,
    )


def _dirichlet(alpha: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    gamma = rng.gamma(np.maximum(alpha, 1e-9)) + 1e-300
    return gamma / gamma.sum()


def ranks(
    trials: int, n_items: int, n_labelers: int, n_classes: int, seed: int = 0
) -> dict[str, np.ndarray]:
    """Rank (0 to 1, ties broken at random) of the true accuracy, share of the last class and recall
    of class 0 in each trial.
    """
    rng = np.random.default_rng(seed)
    found: dict[str, list[float]] = {"accuracy": [], "prevalence": [], "cell": []}
    for trial in range(trials):
        entries, predicted, truth = draw_data(n_items, n_labelers, n_classes, rng)
        samples = sample_crowd(
            entries,
            predicted,
            n_classes,
            np.full(n_items, -1),
            RowModel.learned(n_labelers, n_classes),
            prior=None,
            row_weight=PER_ROW / n_classes,
            n_draws=2000,
            burn=400,
            seed=trial,
            n_chains=2,
        )
        draws = samples.counts[::20]
        actual = np.zeros((n_classes, n_classes))
        np.add.at(actual, (truth, predicted), 1)
        for name, value in (("accuracy", _right), ("prevalence", _last), ("cell", _first)):
            drawn, true = value(draws), float(value(actual[None])[0])
            below, same = (drawn < true).sum(), (drawn == true).sum()
            found[name].append(
                (below + rng.integers(0, same + 1)) / (len(drawn) + 1)
                + rng.random() / (len(drawn) + 1)
            )
    return {name: np.array(values) for name, values in found.items()}


def _right(counts: np.ndarray) -> np.ndarray:
    return np.trace(counts, axis1=1, axis2=2)


def _last(counts: np.ndarray) -> np.ndarray:
    return counts[:, -1].sum(axis=1)


def _first(counts: np.ndarray) -> np.ndarray:
    return counts[:, 0, 0]


def uniformity(rank: np.ndarray) -> tuple[np.ndarray, float]:
    """Histogram of ranks and the p value of its being flat."""
    counts = np.histogram(rank, bins=BINS, range=(0, 1))[0]
    expected = len(rank) / BINS
    return counts, float(chi2.sf(((counts - expected) ** 2 / expected).sum(), BINS - 1))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--trials", type=int, default=1000)
    trials = parser.parse_args().trials
    print(
        f"{'classes':>7}  {'of':<12}{'histogram of ranks':<60}{'p':>8}   ({trials} data "
        f"sets; each bin {trials / BINS:.0f} ± {np.sqrt(trials * 0.09):.0f})"
    )
    for n_items, n_labelers, n_classes in ((40, 4, 2), (60, 4, 4)):
        for name, rank in ranks(trials, n_items, n_labelers, n_classes).items():
            counts, p = uniformity(rank)
            print(f"{n_classes:>7}  {name:<12}{counts!s:<60}{p:>8.3f}")


if __name__ == "__main__":
    main()
