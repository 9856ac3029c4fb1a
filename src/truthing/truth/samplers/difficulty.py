"""Gibbs sampling with items' difficulty and labelers' fallibility unknown (Su 59-60; the model is that of noise/difficulty).

An item's class and level of difficulty are drawn together, and the shape of the levels' distribution before them with both summed out: drawn one
given the other they would hardly move. Drawing how many of a labeler's labels were the labeler's own guesses makes its fallibility Beta.
"""

from __future__ import annotations

import math

import numba
import numpy as np

from truthing.class_codes import Array
from truthing.noise.base import symmetric_table
from truthing.noise.difficulty import (
    FALLIBILITY,
    LEVELS,
    LOG_WIDTH,
    LOGS,
    PRIOR_LEVELS,
    SHAPE,
    SHAPE_LIMITS,
)
from truthing.noise.known import combined_error
from truthing.progress import Progress, silent
from truthing.truth.consensus import Entries
from truthing.truth.samplers.known import CHAINS, _dirichlet, draw_index
from truthing.truth.samplers.labelers import CrowdSamples, _start, beta_limits

STEPS = (0.6, 0.15)  # of the walk of log (a, b): wide and narrow in turn


@numba.njit(cache=True)
def _fallibility(right, wrong, n_classes, phi):  # type: ignore[no-untyped-def]
    """Each labeler's, from how many of its labels were its own guesses; tallies are labelers × levels."""
    for t in range(len(phi)):
        guesses, labels = 0, 0.0
        for k in range(len(LEVELS)):
            labels += right[t, k] + wrong[t, k]
            own, item = phi[t] / n_classes, (1 - phi[t]) * LEVELS[k] / n_classes
            guesses += np.random.binomial(
                int(right[t, k]), own / (own + item + (1 - phi[t]) * (1 - LEVELS[k]))
            )
            guesses += np.random.binomial(int(wrong[t, k]), own / (own + item))
        draw = np.random.beta(FALLIBILITY[0] + guesses, FALLIBILITY[1] + labels - guesses)
        phi[t] = min(max(draw, 1e-9), 1 - 1e-9)


@numba.njit(cache=True)
def _shares(shape, out):  # type: ignore[no-untyped-def]
    """Chance of each level under Beta(a, b); returns the log of the prior of (log a, log b)."""
    total = 0.0
    for k in range(len(LEVELS)):
        out[k] = LOG_WIDTH[k] + (shape[0] - 1) * LOGS[0, k] + (shape[1] - 1) * LOGS[1, k]
    top = out.max()
    for k in range(len(LEVELS)):
        out[k] = math.exp(out[k] - top)
        total += out[k]
    value = math.log(shape[0]) + math.log(shape[1])
    for k in range(len(LEVELS)):
        out[k] /= total
        value += PRIOR_LEVELS[k] * math.log(max(out[k], 1e-300))
    return value


@numba.njit(cache=True)
def _shape(chance, shape, shares):  # type: ignore[no-untyped-def]
    """Metropolis steps of (a, b) given each item's likelihood at each level, items × levels."""
    new, new_shares = np.empty(2), np.empty(len(LEVELS))
    prior, here = _shares(shape, shares), np.log(chance @ shares).sum()
    for step in range(4):
        for k in range(2):
            new[k] = shape[k] * math.exp(STEPS[step % 2] * np.random.standard_normal())
        if new.min() < SHAPE_LIMITS[0] or new.max() > SHAPE_LIMITS[1]:
            continue
        new_prior = _shares(new, new_shares)
        there = np.log(chance @ new_shares).sum()
        if math.log(np.random.random()) < there + new_prior - here - prior:
            shape[:], shares[:], prior, here = new, new_shares, new_prior, there


@numba.njit(cache=True)
def _chain(  # type: ignore[no-untyped-def]
    start_of, rater, label, votes, outcome, n_outcomes, gold, row_weight, prior_fixed, start, n_raters, burn, keep, seed, out
):  # fmt: skip
    counts, classifier, prior_out, fallibility, mean_delta, chances = out
    np.random.seed(seed)
    n_items, n_classes, n_levels = len(outcome), counts.shape[1], len(LEVELS)
    truth, level, phi = start.copy(), np.full(n_items, n_levels // 3), np.full(n_raters, 0.3)
    shape, shares, chance = SHAPE.copy(), np.empty(n_levels), np.empty((n_items, n_levels))
    right, wrong = np.zeros((n_raters, n_levels)), np.zeros((n_raters, n_levels))
    own, prior, p = np.empty((n_classes, n_outcomes)), prior_fixed.copy(), np.empty(n_classes)
    miss, gain = np.empty((n_raters, n_levels)), np.empty((n_raters, n_levels))
    scores, base = np.empty((n_classes, n_levels)), np.empty(n_levels)
    for sweep in range(burn + keep):
        right[:], wrong[:] = 0.0, 0.0
        answers = np.zeros((n_classes, n_outcomes))
        for i in range(n_items):
            answers[truth[i], outcome[i]] += 1
            for n in range(start_of[i], start_of[i + 1]):
                if label[n] == truth[i]:
                    right[rater[n], level[i]] += votes[n]
                else:
                    wrong[rater[n], level[i]] += votes[n]
        _fallibility(right, wrong, n_classes, phi)
        for c in range(n_classes):
            _dirichlet(row_weight + answers[c], own[c])
        if prior_fixed[0] < 0:
            _dirichlet(1.0 + answers.sum(axis=1), prior)
        for t in range(n_raters):
            for k in range(n_levels):
                error = (LEVELS[k] + phi[t] - LEVELS[k] * phi[t]) / n_classes
                miss[t, k] = math.log(error)
                gain[t, k] = math.log(1 - error * (n_classes - 1)) - miss[t, k]
        for i in range(n_items):
            for c in range(n_classes):
                allowed = (gold[i] < 0 or gold[i] == c) and prior[c] > 0
                scores[c] = (
                    math.log(prior[c] * max(own[c, outcome[i]], 1e-300)) if allowed else -1e300
                )
            base[:] = 0.0
            for n in range(start_of[i], start_of[i + 1]):
                said, who = label[n], rater[n]
                for k in range(n_levels):
                    scores[said, k] += votes[n] * gain[who, k]
                    base[k] += votes[n] * miss[who, k]
            top = -1e300
            for k in range(n_levels):
                for c in range(n_classes):
                    scores[c, k] += base[k]
                    top = max(top, scores[c, k])
            for k in range(n_levels):
                chance[i, k] = 0.0
                for c in range(n_classes):
                    chance[i, k] += math.exp(scores[c, k] - top)
        _shape(chance, shape, shares)
        for i in range(n_items):
            chance[i] *= shares
            k = draw_index(chance[i], chance[i].sum())
            for c in range(n_classes):
                allowed = (gold[i] < 0 or gold[i] == c) and prior[c] > 0
                p[c] = math.log(prior[c] * max(own[c, outcome[i]], 1e-300)) if allowed else -1e300
            for n in range(start_of[i], start_of[i + 1]):
                p[label[n]] += votes[n] * gain[rater[n], k]
            p[:] = np.exp(p - p.max())
            truth[i], level[i] = draw_index(p, p.sum()), k
            if sweep >= burn:
                counts[sweep - burn, truth[i], outcome[i]] += 1
                chances[i] += p / p.sum()
        if sweep >= burn:
            kept = sweep - burn
            classifier[kept], prior_out[kept], fallibility[kept], mean_delta[kept] = (
                own,
                prior,
                phi,
                LEVELS[level].mean(),
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
            np.zeros(keep), np.zeros((n_items, n_classes)),
        )  # fmt: skip
        _chain(
            start_of, entries.rater.astype(np.int64), entries.label.astype(np.int64), entries.votes, outcome.astype(np.int64), n_outcomes,
            gold.astype(np.int64), row_weight, fixed, _start(entries, outcome, gold, 1, rng), n_raters, burn, keep, int(rng.integers(2**31)), out,
        )  # fmt: skip
        parts.append(out)
    counts, classifier, priors, fallibility, difficulty, chances = (
        np.concatenate([p[k] for p in parts]) for k in range(6)
    )
    error = combined_error(difficulty[:, None], fallibility, n_classes)
    table, spread = (
        symmetric_table(error.mean(axis=0), n_classes),
        symmetric_table(error.std(axis=0), n_classes),
    )
    diagonal = np.arange(n_classes)
    spread[:, diagonal, diagonal] = error.std(axis=0)[:, None]
    low, high = beta_limits(table, spread)
    truth = chances.reshape(n_chains, n_items, n_classes).sum(axis=0) / (n_chains * keep)
    return CrowdSamples(counts, classifier, priors, table, low, high, error, truth, n_chains)
