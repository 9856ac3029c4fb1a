"""Gibbs sampling with items' difficulty and labelers' fallibility unknown (Su 59-60; the model is
that of noise/difficulty).

An item's class and level of difficulty are drawn together, and the shape of the levels'
distribution before them with both summed out: drawn one given the other they would hardly move.
Drawing how many of a labeler's labels were the labeler's own guesses makes its fallibility Beta.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from truthing.class_codes import Array
from truthing.compiled import njit
from truthing.noise.base import combined_error, symmetric_table
from truthing.noise.difficulty import (
    FALLIBILITY,
    LEVELS,
    LOG_WIDTH,
    LOGS,
    PRIOR_LEVELS,
    SHAPE,
    SHAPE_LIMITS,
)
from truthing.progress import Progress, silent, stretches
from truthing.randomness import Seed, compiled_seeds, generator
from truthing.threads import in_threads
from truthing.truth.consensus import Entries
from truthing.truth.samplers.draws import (
    CHAINS,
    ByItem,
    dirichlet,
    draw_index,
    softmax,
    start_states,
)
from truthing.truth.samplers.labelers import CrowdSamples, beta_limits

STEPS = (0.6, 0.15)  # of the walk of log (a, b): wide and narrow in turn


@njit
def _fallibility(right, wrong, n_classes, phi):  # type: ignore[no-untyped-def]
    """Each labeler's, from how many of its labels were its own guesses; tallies are labelers ×
    levels.
    """
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


@njit
def _shares(shape, out):  # type: ignore[no-untyped-def]
    """Chance of each level under Beta(a, b); returns the log of the prior of (log a, log b)."""
    total = 0.0
    for k in range(len(LEVELS)):
        out[k] = LOG_WIDTH[k] + (shape[0] - 1) * LOGS[0, k] + (shape[1] - 1) * LOGS[1, k]
    top = out[0]
    for k in range(1, len(LEVELS)):
        top = max(top, out[k])
    for k in range(len(LEVELS)):
        out[k] = math.exp(out[k] - top)
        total += out[k]
    value = math.log(shape[0]) + math.log(shape[1])
    for k in range(len(LEVELS)):
        out[k] /= total
        value += PRIOR_LEVELS[k] * math.log(max(out[k], 1e-300))
    return value


@njit
def _shape(chance, shape, shares):  # type: ignore[no-untyped-def]
    """Metropolis steps of (a, b) given each item's likelihood at each level, items × levels."""
    new, new_shares = np.empty(2), np.empty(len(LEVELS))
    prior, here = _shares(shape, shares), _mixture(chance, shares)
    for step in range(4):
        for k in range(2):
            new[k] = shape[k] * math.exp(STEPS[step % 2] * np.random.standard_normal())
        if min(new[0], new[1]) < SHAPE_LIMITS[0] or max(new[0], new[1]) > SHAPE_LIMITS[1]:
            continue
        new_prior = _shares(new, new_shares)
        there = _mixture(chance, new_shares)
        if math.log(np.random.random()) < there + new_prior - here - prior:
            prior, here = new_prior, there
            for k in range(2):
                shape[k] = new[k]
            for k in range(len(LEVELS)):
                shares[k] = new_shares[k]


@njit
def _mixture(chance, shares):  # type: ignore[no-untyped-def]
    """Log-likelihood of all items, levels summed out."""
    total = 0.0
    for i in range(len(chance)):
        inner = 0.0
        for k in range(len(shares)):
            inner += chance[i, k] * shares[k]
        total += math.log(inner)
    return total


class _Given(NamedTuple):
    """What all chains are given; ``prior`` is that of the classes, or negative numbers where it is
    learned.
    """

    labels: ByItem
    outcome: Array
    gold: Array
    prior: Array
    row_weight: float


class _Chain(NamedTuple):
    """Where one chain is (``truth``, ``level``, ``fallibility`` of labelers, ``shape`` of
    difficulty), and what it has drawn.
    """

    truth: Array
    level: Array
    fallibility: Array
    shape: Array
    counts: Array
    classifier: Array
    prior: Array
    fallibilities: Array
    difficulty: Array
    chances: Array


@njit
def _count(given, truth, level, right, wrong, answers):  # type: ignore[no-untyped-def]
    """Labels that are right and wrong by labeler and level, outcomes by truth."""
    start_of, rater, label, votes = given.labels
    outcome = given.outcome
    right[:], wrong[:], answers[:] = 0.0, 0.0, 0.0
    for i in range(len(truth)):
        answers[truth[i], outcome[i]] += 1
        for n in range(start_of[i], start_of[i + 1]):
            if label[n] == truth[i]:
                right[rater[n], level[i]] += votes[n]
            else:
                wrong[rater[n], level[i]] += votes[n]


@njit
def _update_shares(given, answers, own, prior):  # type: ignore[no-untyped-def]
    """The classifier's rows and the class prior."""
    n_classes, n_outcomes = answers.shape
    row, classes = np.empty(n_outcomes), np.empty(n_classes)
    for c in range(n_classes):
        classes[c] = 1.0
        for b in range(n_outcomes):
            row[b] = given.row_weight + answers[c, b]
            classes[c] += answers[c, b]
        dirichlet(row, own[c])
    if given.prior[0] < 0:
        dirichlet(classes, prior)


@njit
def _label_logs(fallibility, n_classes, miss, gain):  # type: ignore[no-untyped-def]
    """Log of the chance of a wrong label at each level, and how much more a right one has."""
    for t in range(len(fallibility)):
        for k in range(len(LEVELS)):
            phi = fallibility[t]
            error = (LEVELS[k] + phi - LEVELS[k] * phi) / n_classes
            miss[t, k] = math.log(error)
            gain[t, k] = math.log(1 - error * (n_classes - 1)) - miss[t, k]


@njit
def _before_labels(given, i, prior, own, p):  # type: ignore[no-untyped-def]
    """Log of the chance of each class of item i by prior, outcome and gold."""
    gold, outcome = given.gold[i], given.outcome[i]
    for c in range(len(p)):
        allowed = (gold < 0 or gold == c) and prior[c] > 0
        p[c] = math.log(prior[c] * max(own[c, outcome], 1e-300)) if allowed else -1e300


@njit
def _level_chances(given, i, before, miss, gain, scores, chance):  # type: ignore[no-untyped-def]
    """The likelihood of each level for item i, classes summed out, up to a factor."""
    start_of, rater, label, votes = given.labels
    n_classes, n_levels = scores.shape
    for k in range(n_levels):
        base = 0.0
        for c in range(n_classes):
            scores[c, k] = before[c]
        for n in range(start_of[i], start_of[i + 1]):
            scores[label[n], k] += votes[n] * gain[rater[n], k]
            base += votes[n] * miss[rater[n], k]
        for c in range(n_classes):
            scores[c, k] += base
    top = -1e300
    for c in range(n_classes):
        for k in range(n_levels):
            top = max(top, scores[c, k])
    for k in range(n_levels):
        chance[k] = 0.0
        for c in range(n_classes):
            chance[k] += math.exp(scores[c, k] - top)


@njit
def _draw_state(given, i, chance, shares, gain, p):  # type: ignore[no-untyped-def]
    """Level and class of item i; ``p`` comes as logs before the labels and leaves as chances of the
    classes.
    """
    start_of, rater, label, votes = given.labels
    total = 0.0
    for k in range(len(shares)):
        chance[k] *= shares[k]
        total += chance[k]
    level = draw_index(chance, total)
    for n in range(start_of[i], start_of[i + 1]):
        p[label[n]] += votes[n] * gain[rater[n], level]
    softmax(p, p)
    return draw_index(p, 1.0), level


@njit(nogil=True)
def _sweeps(given, chain, first, last, burn, seed):  # type: ignore[no-untyped-def]
    """Sweeps first to last; truths, levels, fallibilities and the shape are all that the next
    stretch has to know.
    """
    np.random.seed(seed)
    truth, level, phi = chain.truth, chain.level, chain.fallibility
    n_items, n_raters, n_levels = len(truth), len(phi), len(LEVELS)
    n_classes, n_outcomes = chain.counts.shape[1], chain.counts.shape[2]
    shares, chance = np.empty(n_levels), np.empty((n_items, n_levels))
    right, wrong = np.empty((n_raters, n_levels)), np.empty((n_raters, n_levels))
    miss, gain = np.empty((n_raters, n_levels)), np.empty((n_raters, n_levels))
    answers, own = np.empty((n_classes, n_outcomes)), np.empty((n_classes, n_outcomes))
    prior, p, scores = given.prior.copy(), np.empty(n_classes), np.empty((n_classes, n_levels))
    for sweep in range(first, last):
        kept = sweep - burn
        _count(given, truth, level, right, wrong, answers)
        _fallibility(right, wrong, n_classes, phi)
        _update_shares(given, answers, own, prior)
        _label_logs(phi, n_classes, miss, gain)
        for i in range(n_items):
            _before_labels(given, i, prior, own, p)
            _level_chances(given, i, p, miss, gain, scores, chance[i])
        _shape(chance, chain.shape, shares)
        for i in range(n_items):
            _before_labels(given, i, prior, own, p)
            truth[i], level[i] = _draw_state(given, i, chance[i], shares, gain, p)
            if kept >= 0:
                chain.difficulty[kept] += LEVELS[level[i]] / n_items
                chain.counts[kept, truth[i], given.outcome[i]] += 1
                for c in range(n_classes):
                    chain.chances[i, c] += p[c]
        if kept >= 0:
            for c in range(n_classes):
                chain.prior[kept, c] = prior[c]
                for b in range(n_outcomes):
                    chain.classifier[kept, c, b] = own[c, b]
            for t in range(n_raters):
                chain.fallibilities[kept, t] = phi[t]


def sample_difficulty(
    entries: Entries,
    outcome: Array,
    n_outcomes: int,
    gold: Array,
    *,
    prior: Array | None,
    row_weight: float,
    n_draws: int,
    burn: int,
    seed: Seed,
    n_chains: int = CHAINS,
    progress: Progress = silent,
) -> CrowdSamples:
    """Posterior draws; a labeler's row is that of an item of average difficulty."""
    n_items, n_classes, n_raters = entries.n_items, entries.n_classes, entries.n_raters
    keep = -(-n_draws // n_chains)
    rng = generator(seed, "where chains of difficulty start")
    given = _Given(
        ByItem.of(entries),
        np.array(outcome, dtype=np.int64),
        np.array(gold, dtype=np.int64),
        np.full(n_classes, -1.0) if prior is None else np.array(prior, dtype=float),
        float(row_weight),
    )
    chains = [
        _Chain(
            truth=start_states(entries, gold, 1, rng),
            level=np.full(n_items, len(LEVELS) // 3),
            fallibility=np.full(n_raters, 0.3),
            shape=SHAPE.copy(),
            counts=np.zeros((keep, n_classes, n_outcomes)),
            classifier=np.zeros((keep, n_classes, n_outcomes)),
            prior=np.zeros((keep, n_classes)),
            fallibilities=np.zeros((keep, n_raters)),
            difficulty=np.zeros(keep),
            chances=np.zeros((n_items, n_classes)),
        )
        for _ in range(n_chains)
    ]
    work = n_chains * (len(entries.item) + n_items * n_classes) * len(LEVELS)
    for first, last in stretches(burn + keep, work):
        progress(first / (burn + keep), "drawing truths, labelers and how hard items are")
        seeds = compiled_seeds(seed, n_chains, "difficulty", first)
        in_threads(_sweeps, [(given, c, first, last, burn, s) for c, s in zip(chains, seeds)])
    return _gathered(chains, n_classes, keep)


def _gathered(chains: list[_Chain], n_classes: int, keep: int) -> CrowdSamples:
    """Draws of all chains, one after the other."""
    difficulty = np.concatenate([chain.difficulty for chain in chains])
    fallibility = np.concatenate([chain.fallibilities for chain in chains])
    error = combined_error(difficulty[:, None], fallibility, n_classes)
    table = symmetric_table(error.mean(axis=0), n_classes)
    spread = symmetric_table(error.std(axis=0), n_classes)
    diagonal = np.arange(n_classes)
    spread[:, diagonal, diagonal] = error.std(axis=0)[:, None]
    low, high = beta_limits(table, spread)
    return CrowdSamples(
        counts=np.concatenate([chain.counts for chain in chains]),
        classifier=np.concatenate([chain.classifier for chain in chains]),
        prior=np.concatenate([chain.prior for chain in chains]),
        row_mean=table,
        row_low=low,
        row_high=high,
        error=error,
        truth=np.sum([chain.chances for chain in chains], axis=0) / (len(chains) * keep),
        n_chains=len(chains),
    )
