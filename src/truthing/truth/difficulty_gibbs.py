"""Gibbs sampling of Su's difficulty × fallibility (59-60) with both unknown: items have a difficulty, labelers a fallibility.

A label is informed when neither the item (chance δ_i) nor the labeler (chance φ_t) leads to a guess, and a guess is uniform over the classes; that
is the paper's ε = (δ - δφ + φ)(C - 1)/C. Drawing for each label which of the two led to a guess makes δ and φ Beta given the rest.
"""

from __future__ import annotations

import math

import numba
import numpy as np

from truthing.coding import Array
from truthing.progress import Progress, silent
from truthing.truth.consensus import Entries
from truthing.truth.crowd_gibbs import CrowdSamples, _start, beta_limits
from truthing.truth.gibbs import CHAINS, _dirichlet

FALLIBILITY = (2.0, 4.0)  # Beta prior of a labeler's fallibility: better than chance on average
WEIGHTS = np.array([1.0, 2.0, 4.0, 8.0, 16.0])  # how many pseudo-labels hold an item's difficulty to the common mean
MEANS = np.array([0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5])


@numba.njit(cache=True)
def _guesses(start_of, rater, label, votes, truth, delta, phi, n_classes, item_bad, item_all, rater_bad, rater_all):  # type: ignore[no-untyped-def]
    """Which labels were guesses, and because of whom."""
    item_bad[:], item_all[:], rater_bad[:], rater_all[:] = 0, 0, 0, 0
    for i in range(len(truth)):
        d = delta[i]
        for n in range(start_of[i], start_of[i + 1]):
            f = phi[rater[n]]
            for _ in range(int(votes[n])):
                informed = (1 - d) * (1 - f) * n_classes if label[n] == truth[i] else 0.0
                both, item_only, rater_only = d * f, d * (1 - f), (1 - d) * f
                u = np.random.random() * (informed + both + item_only + rater_only)
                item_all[i] += 1
                rater_all[rater[n]] += 1
                if u < informed:
                    continue
                if u < informed + both:
                    item_bad[i] += 1
                    rater_bad[rater[n]] += 1
                elif u < informed + both + item_only:
                    item_bad[i] += 1
                else:
                    rater_bad[rater[n]] += 1


@numba.njit(cache=True)
def _difficulty_prior(bad, everything):  # type: ignore[no-untyped-def]
    """Mean and weight of the items' Beta prior, drawn from a grid by their beta-binomial likelihood."""
    most = int(everything.max()) + 1
    alike = np.zeros((most, most))  # items with the same counts are scored once
    for i in range(len(bad)):
        alike[int(everything[i]), int(bad[i])] += 1
    scores = np.zeros(len(MEANS) * len(WEIGHTS))
    for k in range(len(scores)):
        mean, weight = MEANS[k // len(WEIGHTS)], WEIGHTS[k % len(WEIGHTS)]
        a, b = mean * weight, (1 - mean) * weight
        base = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
        for n in range(1, most):
            for x in range(n + 1):
                if alike[n, x] > 0:
                    scores[k] += alike[n, x] * (
                        base + math.lgamma(a + x) + math.lgamma(b + n - x) - math.lgamma(a + b + n)
                    )
    total = np.cumsum(np.exp(scores - scores.max()))
    k = min(np.searchsorted(total, np.random.random() * total[-1]), len(scores) - 1)
    return MEANS[k // len(WEIGHTS)], WEIGHTS[k % len(WEIGHTS)]


@numba.njit(cache=True)
def _draw_truth(start_of, rater, label, votes, outcome, gold, prior, own, delta, phi, truth, chances):  # type: ignore[no-untyped-def]
    """Each item's class given everything else; returns the log-likelihood."""
    n_classes = len(prior)
    p, total_log = np.empty(n_classes), 0.0
    for i in range(len(truth)):
        for c in range(n_classes):
            p[c] = -1e300
            if (gold[i] < 0 or gold[i] == c) and prior[c] > 0:
                p[c] = math.log(prior[c]) + math.log(max(own[c, outcome[i]], 1e-300))
        for n in range(start_of[i], start_of[i + 1]):
            wrong = (delta[i] + phi[rater[n]] - delta[i] * phi[rater[n]]) / n_classes
            right = 1 - wrong * (n_classes - 1)
            p[label[n]] += votes[n] * (math.log(max(right, 1e-300)) - math.log(max(wrong, 1e-300)))
            total_log += votes[n] * math.log(max(wrong, 1e-300))
        top, total = p.max(), 0.0
        for c in range(n_classes):
            p[c] = math.exp(p[c] - top)
            total += p[c]
        total_log += top + math.log(total)
        u, c = np.random.random() * total, 0
        while c < n_classes - 1 and u >= p[c]:
            u -= p[c]
            c += 1
        truth[i] = c
        for k in range(n_classes):
            chances[i, k] += p[k] / total
    return total_log


@numba.njit(cache=True)
def _chain(  # type: ignore[no-untyped-def]
    start_of, rater, label, votes, outcome, n_outcomes, gold, row_weight, prior_fixed, start, n_raters, burn, keep, seed, out
):  # fmt: skip
    counts, classifier, prior_out, fallibility, mean_delta, chances, log_likelihood = out
    np.random.seed(seed)
    n_items, n_classes = len(outcome), counts.shape[1]
    truth, delta, phi = start.copy(), np.full(n_items, 0.1), np.full(n_raters, 0.3)
    item_bad, item_all, rater_bad, rater_all = (
        np.zeros(n_items),
        np.zeros(n_items),
        np.zeros(n_raters),
        np.zeros(n_raters),
    )
    own, prior, scratch = np.empty((n_classes, n_outcomes)), prior_fixed.copy(), np.empty_like(chances)
    for sweep in range(burn + keep):
        _guesses(start_of, rater, label, votes, truth, delta, phi, n_classes, item_bad, item_all, rater_bad, rater_all)
        mean, weight = _difficulty_prior(item_bad, item_all)
        for i in range(n_items):
            delta[i] = np.random.beta(mean * weight + item_bad[i], (1 - mean) * weight + item_all[i] - item_bad[i])
        for t in range(n_raters):
            phi[t] = np.random.beta(FALLIBILITY[0] + rater_bad[t], FALLIBILITY[1] + rater_all[t] - rater_bad[t])
        answers = np.zeros((n_classes, n_outcomes))
        for i in range(n_items):
            answers[truth[i], outcome[i]] += 1
        for c in range(n_classes):
            _dirichlet(row_weight + answers[c], own[c])
        if prior_fixed[0] < 0:
            prior = np.empty(n_classes)
            _dirichlet(1.0 + answers.sum(axis=1), prior)
        value = _draw_truth(
            start_of,
            rater,
            label,
            votes,
            outcome,
            gold,
            prior,
            own,
            delta,
            phi,
            truth,
            chances if sweep >= burn else scratch,
        )
        if sweep >= burn:
            k = sweep - burn
            for i in range(n_items):
                counts[k, truth[i], outcome[i]] += 1
            classifier[k], prior_out[k], fallibility[k], mean_delta[k], log_likelihood[k] = (
                own,
                prior,
                phi,
                delta.mean(),
                value,
            )


def sample_difficulty(
    entries: Entries, outcome: Array, n_outcomes: int, gold: Array, *, prior: Array | None, row_weight: float, n_draws: int, burn: int, seed: int,
    n_chains: int = CHAINS, progress: Progress = silent,
) -> CrowdSamples:  # fmt: skip
    """Posterior draws; a labeler's row is that of an item of average difficulty."""
    n_items, n_classes, n_raters = entries.n_items, entries.n_classes, entries.n_raters
    keep = -(-n_draws // n_chains)
    start_of = np.searchsorted(entries.item, np.arange(n_items + 1)).astype(np.int64)
    rng = np.random.default_rng(seed)
    fixed = np.full(n_classes, -1.0) if prior is None else np.asarray(prior, dtype=float)
    parts = []
    for chain in range(n_chains):
        progress(chain / n_chains, "drawing truths, labelers and how hard items are")
        out = (
            np.zeros((keep, n_classes, n_outcomes)), np.zeros((keep, n_classes, n_outcomes)), np.zeros((keep, n_classes)), np.zeros((keep, n_raters)),
            np.zeros(keep), np.zeros((n_items, n_classes)), np.zeros(keep),
        )  # fmt: skip
        _chain(
            start_of, entries.rater.astype(np.int64), entries.label.astype(np.int64), entries.votes, outcome.astype(np.int64), n_outcomes,
            gold.astype(np.int64), row_weight, fixed, _start(entries, outcome, gold, 1, rng), n_raters, burn, keep, int(rng.integers(2**31)), out,
        )  # fmt: skip
        parts.append(out)
    counts, classifier, priors, fallibility, difficulty, chances, likelihood = (
        np.concatenate([p[k] for p in parts]) for k in range(7)
    )
    error = (difficulty[:, None] + fallibility - difficulty[:, None] * fallibility) * (n_classes - 1) / n_classes
    wrong = error / max(n_classes - 1, 1)
    mean, sd = error.mean(axis=0), error.std(axis=0)
    table = np.repeat((wrong.mean(axis=0))[:, None, None], n_classes, axis=1).repeat(n_classes, axis=2)
    spread = np.repeat((wrong.std(axis=0))[:, None, None], n_classes, axis=1).repeat(n_classes, axis=2)
    diagonal = np.arange(n_classes)
    table[:, diagonal, diagonal], spread[:, diagonal, diagonal] = (1 - mean)[:, None], sd[:, None]
    low, high = beta_limits(table, spread)
    truth = chances.reshape(n_chains, n_items, n_classes).sum(axis=0) / (n_chains * keep)
    return CrowdSamples(counts, classifier, priors, table, low, high, error, truth, likelihood, difficulty, n_chains)
