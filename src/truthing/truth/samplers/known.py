"""Gibbs sampling with the labels' evidence known: the truth, the classifier's rows and the class
prior.

The classifier is one more rater whose outcome is its prediction or its score bin. One sweep draws
the truths of each group of equal items (a multinomial), then the rows and the prior (Dirichlet).
Every chain seeds itself, so the answer does not depend on threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from truthing.class_codes import Array
from truthing.compiled import njit
from truthing.progress import Progress, silent, stretches
from truthing.randomness import Seed, compiled_seeds
from truthing.threads import in_threads
from truthing.truth.samplers.draws import CHAINS as CHAINS
from truthing.truth.samplers.draws import dirichlet, draw_index


@dataclass(frozen=True, eq=False)
class Samples:
    """Draws in chain order: classifier rows (draws × C × B), prior (draws × C), counts of truth ×
    outcome (draws × C × B).
    """

    rows: Array
    prior: Array
    counts: Array
    truth: Array
    n_chains: int = CHAINS


class _Groups(NamedTuple):
    """What all chains are given: groups of equal items, and the Dirichlet weights of rows and prior
    (zeros: it is fixed).
    """

    weight: Array
    outcome: Array
    size: Array
    row_weight: Array
    prior_weight: Array


class _Chain(NamedTuple):
    """Where one chain is (``row``, ``prior``), and what it has drawn."""

    row: Array
    prior: Array
    rows: Array
    priors: Array
    counts: Array
    truth: Array


@njit
def _draw_truths(chances, total, left, outcome, tally):  # type: ignore[no-untyped-def]
    """The truths of ``left`` equal items."""
    last = len(chances) - 1
    if left == 1:
        tally[draw_index(chances, total), outcome] += 1
        return
    for c in range(last):
        if left <= 0 or total <= 0.0:
            break
        drawn = np.random.binomial(left, min(1.0, max(0.0, chances[c] / total)))
        tally[c, outcome] += drawn
        left -= drawn
        total -= chances[c]
    tally[last, outcome] += left


@njit(nogil=True)
def _sweeps(groups, chain, first, last, burn, seed):  # type: ignore[no-untyped-def]
    """Sweeps first to last; ``chain.row`` and ``chain.prior`` are all that the next stretch has to
    know.
    """
    np.random.seed(seed)
    weight, outcome, size, row_weight, prior_weight = groups
    row, prior, rows, priors, counts, truth = chain
    n_groups, n_classes = weight.shape
    n_outcomes = row.shape[1]
    tally = np.empty((n_classes, n_outcomes))
    p, alpha, prior_alpha = np.empty(n_classes), np.empty(n_outcomes), np.empty(n_classes)
    if first == 0:  # starts are spread out, so that chains which agree have forgotten them
        for c in range(n_classes):
            more = 2.0 * np.random.random()
            for b in range(n_outcomes):
                alpha[b] = row_weight[c, b] + more
            dirichlet(alpha, row[c])
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
            _draw_truths(p, total, size[g], outcome[g], tally)
        for c in range(n_classes):
            prior_alpha[c] = prior_weight[c]
            for b in range(n_outcomes):
                alpha[b] = row_weight[c, b] + tally[c, b]
                prior_alpha[c] += tally[c, b]
            dirichlet(alpha, row[c])
        if prior_weight[0] > 0:
            dirichlet(prior_alpha, prior)
        if sweep >= burn:
            for c in range(n_classes):
                priors[sweep - burn, c] = prior[c]
                for b in range(n_outcomes):
                    rows[sweep - burn, c, b] = row[c, b]
                    counts[sweep - burn, c, b] = tally[c, b]


def sample_known(
    evidence: Array,
    outcome: Array,
    size: Array,
    *,
    n_outcomes: int,
    row_prior: Array,
    prior: Array | None,
    n_draws: int,
    seed: Seed,
    burn: int = 200,
    n_chains: int = CHAINS,
    progress: Progress = silent,
) -> Samples:
    """Posterior draws; ``prior`` None is learned under a flat Dirichlet. ``evidence`` is log
    p(labels | truth) by group.
    """
    n_classes = evidence.shape[1]
    keep = -(-n_draws // n_chains)
    groups = _Groups(
        np.ascontiguousarray(np.exp(evidence)),
        np.array(outcome, dtype=np.int64),
        np.array(size, dtype=np.int64),
        np.array(row_prior, dtype=float, order="C"),
        np.ones(n_classes) if prior is None else np.zeros(n_classes),
    )
    fixed = np.full(n_classes, 1 / n_classes) if prior is None else np.asarray(prior, dtype=float)
    chains = [
        _Chain(
            row=np.empty((n_classes, n_outcomes)),
            prior=fixed.copy(),
            rows=np.empty((keep, n_classes, n_outcomes)),
            priors=np.empty((keep, n_classes)),
            counts=np.empty((keep, n_classes, n_outcomes)),
            truth=np.zeros(evidence.shape),
        )
        for _ in range(n_chains)
    ]
    for first, last in stretches(burn + keep, n_chains * evidence.size):
        progress(first / (burn + keep), "drawing truths")
        seeds = compiled_seeds(seed, n_chains, "known noise", first)
        in_threads(_sweeps, [(groups, c, first, last, burn, s) for c, s in zip(chains, seeds)])
    return Samples(
        np.concatenate([chain.rows for chain in chains]),
        np.concatenate([chain.priors for chain in chains]),
        np.concatenate([chain.counts for chain in chains]),
        np.sum([chain.truth for chain in chains], axis=0) / (n_chains * keep),
        n_chains,
    )
