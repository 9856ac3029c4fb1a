"""Draws of the truth when several classifiers are graded and the noise model is trusted.

``P(y = c | classifiers) = softmax_c(α_c + Σ_j [column j speaks for c] w_jc)``, times the labelers'
likelihood. What classifiers say is conditioned on and not modelled, so they may err together in any
way: the score equations of this regression hold each classifier's right answers to their expected
number, whatever the dependence. (A model of the predictions themselves fails here: at correlation
.9 a latent-class model never held the truth.) A sweep draws the coefficients with the truth summed
out (a Hamiltonian step), then the truth, then the labelers' rows where they are learned.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from truthing.class_codes import Array
from truthing.compiled import njit
from truthing.noise.steps import fix_gold
from truthing.randomness import Seed, compiled_seeds
from truthing.threads import in_threads
from truthing.truth.consensus import Entries, fit_dawid_skene
from truthing.truth.groups import Groups
from truthing.truth.groups import softmax as softmax_rows
from truthing.truth.samplers.draws import CHAINS, ByItem, softmax
from truthing.truth.samplers.labeler_tables import LabelerTables, update_pool, update_rows
from truthing.truth.samplers.labelers import RowModel
from truthing.truth.samplers.regression import Posterior, at_mode, log_posterior
from truthing.truth.samplers.regression import Regression as Regression

FEWEST = 2000  # draws whatever is asked: fewer cannot show whether the chains agree
PILOT, BURN = 200, 150  # sweeps of each chain: kept by the pilot run, and thrown away by every run
# of a Hamiltonian step: its length, its leaps, how often it is to be accepted
REACH, MOST_LEAPS, WANTED = math.pi / 2, 32, 0.8


class _Labelers(NamedTuple):
    """Labels whose labelers are learned, what their rows are before, and the evidence of all
    others.
    """

    labels: ByItem
    tables: LabelerTables
    start: Array
    known: Array
    member: Array


class _Chain(NamedTuple):
    """Draws of one chain: truths and coefficients, one of ``thin`` sweeps."""

    truth: Array
    gamma: Array
    burn: int
    thin: int


@njit
def _leap(z, score, push, leap, at, slope):  # type: ignore[no-untyped-def]
    """One Hamiltonian step: where it ends, its score and slope, and the chance that it was
    accepted.
    """
    momentum = np.empty(len(z))
    for p in range(len(z)):
        momentum[p] = np.random.standard_normal()
    energy = score - 0.5 * (momentum @ momentum)
    leaps = min(MOST_LEAPS, math.ceil(REACH * (0.5 + 0.5 * np.random.random()) / leap))
    new, new_score, new_push = z, score, push
    for _ in range(leaps):
        momentum = momentum + 0.5 * leap * new_push
        new = new + leap * momentum
        new_score, new_push = log_posterior(new, at, slope)
        momentum = momentum + 0.5 * leap * new_push
    gain = new_score - 0.5 * (momentum @ momentum) - energy
    accepted = math.exp(min(0.0, gain)) if gain == gain else 0.0
    if np.random.random() < accepted:
        return new, new_score, new_push, accepted
    return z, score, push, accepted


@njit
def _weigh(rows, labelers, evidence):  # type: ignore[no-untyped-def]
    """p(labels | truth) of each item at the labelers' present rows, up to a factor."""
    start_of, rater, label, votes = labelers.labels
    known = labelers.known
    n_items, n_classes = evidence.shape
    for i in range(n_items):
        top = -math.inf
        for c in range(n_classes):
            evidence[i, c] = 0.0
            for k in range(start_of[i], start_of[i + 1]):
                chance = max(rows[rater[k], c, label[k]], 1e-300)
                evidence[i, c] += votes[k] * math.log(chance)
            top = max(top, evidence[i, c])
        for c in range(n_classes):
            evidence[i, c] = math.exp(evidence[i, c] - top) * known[i, c]


@njit
def _reach(beta, at, reach):  # type: ignore[no-untyped-def]
    """Running sums over the classes of each group's chances, to draw truths from."""
    n_groups, n_classes = reach.shape
    chance, evidence, chosen, tilt = np.empty(n_classes), at.evidence, at.chosen, at.tilt
    for g in range(n_groups):
        for c in range(n_classes):
            chance[c] = beta[c]
        for j in range(chosen.shape[1]):
            chance[chosen[g, j]] += beta[n_classes + tilt[g, j]]
        softmax(chance, chance)
        total = 0.0
        for c in range(n_classes):
            total += chance[c] * evidence[g, c]
            reach[g, c] = total


@njit
def _draw_truths(reach, labelers, tally, truth):  # type: ignore[no-untyped-def]
    """Every item's truth, and the labelers' labels counted by it."""
    start_of, rater, label, votes = labelers.labels
    last, member = reach.shape[1] - 1, labelers.member
    tally[:] = 0.0
    for i in range(len(truth)):
        g, c = member[i], 0
        u = np.random.random() * reach[g, last]
        while c < last and u >= reach[g, c]:
            c += 1
        truth[i] = c
        for k in range(start_of[i], start_of[i + 1]):
            tally[rater[k], c, label[k]] += votes[k]


@njit(nogil=True)
def _sweeps(labelers, at, pool, chain, seed):  # type: ignore[no-untyped-def]
    """Learned labelers leave every item a group of its own."""
    np.random.seed(seed)
    n_labelers, rows, tally = len(labelers.start), labelers.start.copy(), labelers.start.copy()
    z, slope, leap = np.random.standard_normal(len(at.mode)), np.empty(len(at.design)), 0.3
    reach, truth = np.empty(at.evidence.shape), np.empty(len(labelers.member), dtype=np.int16)
    score, push = log_posterior(z, at, slope)
    for sweep in range(chain.burn + len(chain.gamma) * chain.thin):
        if n_labelers > 0:
            _weigh(rows, labelers, at.evidence)
            score, push = log_posterior(z, at, slope)
        z, score, push, accepted = _leap(z, score, push, leap, at, slope)
        if sweep < chain.burn:
            leap *= math.exp((accepted - WANTED) / math.sqrt(1.0 + sweep))
        gamma = at.mode + at.root @ z
        _reach(at.design @ gamma, at, reach)
        _draw_truths(reach, labelers, tally, truth)
        now = sweep - chain.burn
        if now >= 0 and now % chain.thin == 0:
            for p in range(len(gamma)):
                chain.gamma[now // chain.thin, p] = gamma[p]
            for i in range(len(truth)):
                chain.truth[now // chain.thin, i] = truth[i]
        if n_labelers > 0:
            update_rows(tally, labelers.tables, pool, rows)
            update_pool(tally, labelers.tables, pool)


def sample_committee(
    regression: Regression,
    gold: Array,
    *,
    evidence: Array,
    entries: Entries | None = None,
    rows: RowModel | None = None,
    n_draws: int,
    seed: Seed,
    thin: int = 1,
) -> tuple[Array, Array]:
    """Draws of every item's truth, draws × items, and of the coefficients, in the order of four
    chains.

    ``evidence`` is log p(labels | truth) of labelers whose noise is known; the labels of
    ``entries`` come from labelers who are learned (``rows``).
    """
    n_items, n_classes = evidence.shape
    known = np.exp(evidence - evidence.max(axis=1, keepdims=True))
    fix_gold(known, gold)
    if entries is None or rows is None:
        rows = RowModel.learned(0, n_classes)
        given, posterior = _in_groups(regression, known, rows)
    else:
        given, posterior = _one_by_one(regression, known, rows, entries, gold)
    posterior = at_mode(posterior)
    seeds = compiled_seeds(seed, 2 * CHAINS, "several models").reshape(2, CHAINS)

    def run(keep: int, burn: int, thin: int, seeds: Array) -> tuple[Array, Array]:
        truth = np.empty((CHAINS, keep, n_items), dtype=np.int16)
        gamma = np.empty((CHAINS, keep, len(posterior.mode)))
        in_threads(
            _sweeps,
            [
                (
                    given,
                    posterior._replace(evidence=posterior.evidence.copy()),
                    rows.pool(),
                    _Chain(truth[m], gamma[m], burn, thin),
                    seeds[m],
                )
                for m in range(CHAINS)
            ],
        )
        return truth.reshape(-1, n_items), gamma.reshape(-1, len(posterior.mode))

    # where the classifiers leave little doubt the posterior is far wider than its curvature at the
    # mode: a pilot run says how wide
    _, pilot = run(PILOT, BURN, 1, seeds[0])
    posterior = posterior._replace(mode=pilot.mean(axis=0), root=_widened(posterior.root, pilot))
    truth, gamma = run(-(-max(n_draws, FEWEST) // CHAINS), BURN * thin, thin, seeds[1])
    return truth, gamma @ regression.design.T


def _in_groups(regression: Regression, known: Array, rows: RowModel) -> tuple[_Labelers, Posterior]:
    """Nobody is learned: items with the same evidence and the same predictions are one."""
    columns = np.hstack([regression.guess, regression.tilt])
    _, example, code = np.unique(columns, axis=0, return_index=True, return_inverse=True)
    with np.errstate(divide="ignore"):
        groups = Groups.of(np.log(known), code.reshape(-1))
    first = example[groups.predicted]
    evidence = np.ascontiguousarray(np.exp(groups.evidence))
    given = _Labelers(
        ByItem.nothing(len(known)), rows.tables(), rows.tables().table, evidence, groups.member
    )
    return given, regression.posterior(
        evidence, groups.size, regression.guess[first], regression.tilt[first]
    )


def _one_by_one(
    regression: Regression, known: Array, rows: RowModel, entries: Entries, gold: Array
) -> tuple[_Labelers, Posterior]:
    """Learned labelers start where a pooled fit puts them."""
    fit = fit_dawid_skene(entries, gold)
    start = np.where((rows.kind == 0)[:, None, None], rows.table, fit.rows())
    everyone = np.arange(len(known))
    given = _Labelers(ByItem.of(entries), rows.tables(), start, known, everyone)
    evidence = softmax_rows(entries.log_likelihood(start)) * known
    return given, regression.posterior(
        evidence, np.ones(len(known)), regression.guess, regression.tilt
    )


def _widened(root: Array, pilot: Array) -> Array:
    """A root of the pilot's covariance, with that of the curvature as prior."""
    n, d = pilot.shape
    return np.linalg.cholesky((n * np.cov(pilot.T) + d * root @ root.T) / (n + d))
