"""Gibbs sampling with the labels' evidence known: the truth, the classifier's rows and the class prior.

The classifier is one more rater whose outcome is its prediction or its score bin. One sweep draws the truths of each
group of equal items (a multinomial), then the rows and the prior (Dirichlet). Every chain seeds itself, so the answer does not depend on threads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np

from truthing.class_codes import Array
from truthing.progress import Progress, silent, stretches

CHAINS = 4


@dataclass(frozen=True, eq=False)
class Samples:
    """Draws in chain order: classifier rows (draws × C × B), prior (draws × C), counts of truth × outcome (draws × C × B)."""

    rows: Array
    prior: Array
    counts: Array
    truth: Array
    n_chains: int = CHAINS


@numba.njit(cache=True)
def _dirichlet(alpha: Array, out: Array) -> None:
    total = 0.0
    for k in range(len(alpha)):
        out[k] = np.random.gamma(alpha[k], 1.0) if alpha[k] > 0 else 0.0
        total += out[k]
    for k in range(len(alpha)):
        out[k] /= total


@numba.njit(cache=True)
def draw_index(weights, total):  # type: ignore[no-untyped-def]
    """One index, drawn in proportion to the weights."""
    u, k = np.random.random() * total, 0
    while k < len(weights) - 1 and u >= weights[k]:
        u -= weights[k]
        k += 1
    return k


@numba.njit(cache=True)
def _chain(  # type: ignore[no-untyped-def]
    weight, outcome, size, row_prior, prior_prior, prior, row, first, last, burn, seed, rows, priors, counts, truth,
):  # fmt: skip
    """Sweeps first to last; ``prior`` and ``row`` are all that the next stretch has to know."""
    np.random.seed(seed)
    n_groups, n_classes = weight.shape
    tally = np.empty_like(row_prior)
    p = np.empty(n_classes)
    if first == 0:
        for c in range(
            n_classes
        ):  # starts are spread out, so that chains which agree have forgotten them
            _dirichlet(row_prior[c] + 2.0 * np.random.random(), row[c])
    for sweep in range(first, last):
        tally[:] = 0.0
        for g in range(n_groups):
            total = 0.0
            for c in range(n_classes):
                p[c] = weight[g, c] * prior[c] * row[c, outcome[g]]
                total += p[c]
            if total <= 0.0:
                for c in range(n_classes):
                    p[c] = weight[g, c] * prior[c]
                    total += p[c]
            if sweep >= burn:
                for c in range(n_classes):
                    truth[g, c] += p[c] / total
            left = size[g]
            if left == 1:
                tally[draw_index(p, total), outcome[g]] += 1
            else:
                for c in range(n_classes - 1):
                    if left <= 0 or total <= 0.0:
                        break
                    drawn = np.random.binomial(left, min(1.0, max(0.0, p[c] / total)))
                    tally[c, outcome[g]] += drawn
                    left -= drawn
                    total -= p[c]
                tally[n_classes - 1, outcome[g]] += left
        for c in range(n_classes):
            _dirichlet(row_prior[c] + tally[c], row[c])
        if prior_prior[0] > 0:
            _dirichlet(prior_prior + tally.sum(axis=1), prior)
        if sweep >= burn:
            k = sweep - burn
            rows[k] = row
            priors[k] = prior
            counts[k] = tally


@numba.njit(parallel=True, cache=True)
def _chains(  # type: ignore[no-untyped-def]
    weight, outcome, size, row_prior, prior_prior, prior, row, first, last, burn, seeds, rows, priors, counts, truth,
):  # fmt: skip
    for m in numba.prange(len(seeds)):
        _chain(
            weight, outcome, size, row_prior, prior_prior, prior[m], row[m], first, last, burn, seeds[m],
            rows[m], priors[m], counts[m], truth[m],
        )  # fmt: skip


def sample_known(
    evidence: Array,
    outcome: Array,
    size: Array,
    *,
    n_outcomes: int,
    row_prior: Array,
    prior: Array | None,
    n_draws: int,
    seed: int,
    burn: int = 200,
    n_chains: int = CHAINS,
    progress: Progress = silent,
) -> Samples:
    """Posterior draws; ``prior`` None is learned under a flat Dirichlet. ``evidence`` is log p(labels | truth) by group."""
    n_classes = evidence.shape[1]
    keep = -(-n_draws // n_chains)
    weight = np.exp(evidence)
    learned = np.ones(n_classes) if prior is None else np.zeros(n_classes)
    fixed = np.full(n_classes, 1 / n_classes) if prior is None else np.asarray(prior, dtype=float)
    sequence = np.random.SeedSequence(seed)
    rows = np.empty((n_chains, keep, n_classes, n_outcomes))
    priors = np.empty((n_chains, keep, n_classes))
    counts = np.empty((n_chains, keep, n_classes, n_outcomes))
    truth = np.zeros((n_chains, *evidence.shape))
    prior_now = np.repeat(fixed[None], n_chains, axis=0)
    row_now = np.empty((n_chains, n_classes, n_outcomes))
    for first, last in stretches(burn + keep, n_chains * evidence.size):
        progress(first / (burn + keep), "drawing truths")
        seeds = (
            (sequence if first == 0 else sequence.spawn(1)[0])
            .generate_state(n_chains)
            .astype(np.int64)
        )
        _chains(
            weight, outcome.astype(np.int64), size.astype(np.int64), np.asarray(row_prior, dtype=float), learned, prior_now, row_now,
            first, last, burn, seeds, rows, priors, counts, truth,
        )  # fmt: skip
    flat = (-1, n_classes, n_outcomes)
    return Samples(
        rows.reshape(flat),
        priors.reshape(-1, n_classes),
        counts.reshape(flat),
        truth.sum(axis=0) / (n_chains * keep),
        n_chains,
    )
