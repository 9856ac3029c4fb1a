"""Draws of the truth when several classifiers are graded and the noise model is trusted.

``P(y = c | classifiers) = softmax_c(α_c + Σ_j [column j speaks for c] w_jc)``, times the labelers' likelihood. What classifiers say is conditioned on and
not modelled, so they may err together in any way: the score equations of this regression hold each classifier's right answers to their
expected number, whatever the dependence. (A model of the predictions themselves fails here: at correlation .9 a latent-class model never held the truth.)
A sweep draws the coefficients with the truth summed out (a Hamiltonian step), then the truth, then the labelers' rows where they are learned.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numba
import numpy as np

from truthing.class_codes import Array
from truthing.truth.consensus import Entries, fit_dawid_skene
from truthing.truth.link.models_sampler import _chances
from truthing.truth.problem import Groups, softmax
from truthing.truth.samplers.known import CHAINS
from truthing.truth.samplers.labeler_tables import coin_pool, update_pool, update_rows
from truthing.truth.samplers.labelers import RowModel
from truthing.truth.score_curve import curve_basis
from truthing.truth.scores import score_bins

CLASS_SD = 2.0  # prior of α
COMMON_SD = 1.0  # prior of w: what all classifiers have in common,
OWN_SD = 2.0  # and each one's own, divided by the cube root of their number
FEWEST = 2000  # draws whatever is asked: fewer cannot show whether the chains agree
CELLS = 32  # of each classifier's scores
NEARLY_EQUAL = 0.03  # added to the variance of each classifier's standardised scores before their correlations are inverted
PILOT, BURN = 200, 150  # sweeps of each chain: kept by the pilot run, and thrown away by every run
REACH, MOST_LEAPS, WANTED = (
    math.pi / 2,
    32,
    0.8,
)  # of a Hamiltonian step: its length, its leaps, how often it is to be accepted


@dataclass(frozen=True, eq=False)
class Regression:
    """What the truth is regressed on: column j of item i speaks for class ``said[i, j]`` with coefficient ``tilt[i, j]``.

    The coefficients (α, w) are ``design`` times standard normals; those marked in ``heavy`` have Student's tails (two degrees of freedom).
    """

    said: Array
    tilt: Array
    design: Array
    heavy: Array

    @classmethod
    def on_predictions(cls, predicted: Array, effect: Array) -> Regression:
        """``predicted`` is classifiers × items, ``effect`` the number of the coefficient behind "classifier j says c"."""
        n_models, n_classes = effect.shape
        n_effects = int(effect.max()) + 1
        weights = np.column_stack(
            [np.full(n_effects, COMMON_SD), OWN_SD / n_models ** (1 / 3) * np.eye(n_effects)]
        )
        said = predicted.T.astype(np.int64)
        tilt = effect[np.arange(n_models), said]
        return cls(
            said,
            tilt,
            _with_classes(n_classes, weights),
            np.zeros(n_classes + weights.shape[1], dtype=np.bool_),
        )

    @classmethod
    def on_scores(cls, scores: Array, positive: int) -> Regression:
        """``scores`` is classifiers × items: the log-odds of two classes are a sum of smooth curves in them.

        Each classifier's strength has the prior of `score_curve`, most of it in common; slopes follow from strengths as in discriminant
        analysis, by the inverse correlation of the scores: what tells like scores apart is a small difference with a large coefficient.
        """
        from scipy.linalg import block_diag

        n_models = len(scores)
        cells = np.stack([score_bins(row, CELLS) for row in scores], axis=1).astype(np.int64)
        curves = [curve_basis(np.bincount(cell))[:, 1:] for cell in cells.T]
        x = np.stack([curve[cell, 0] for curve, cell in zip(curves, cells.T)])
        x = (x - x.mean(axis=1, keepdims=True)) / np.maximum(x.std(axis=1, keepdims=True), 1e-9)
        inverse = np.linalg.inv(x @ x.T / x.shape[1] + NEARLY_EQUAL * np.eye(n_models))
        own = 1 / n_models ** (1 / 3)
        strengths = np.column_stack([np.ones(n_models), own * np.eye(n_models)])
        slopes = block_diag(*(curve[:, :1] for curve in curves)) @ inverse @ strengths
        bends = block_diag(
            *(own * size * curve[:, 1:] for curve, size in zip(curves, np.sqrt(np.diag(inverse))))
        )
        design = _with_classes(2, np.hstack([slopes, bends]))
        heavy = np.zeros(design.shape[1], dtype=np.bool_)
        heavy[2 : 3 + n_models] = True  # some classifiers are nearly perfect
        height = np.array([len(curve) for curve in curves])
        return cls(np.full_like(cells, positive), cells + np.cumsum(height) - height, design, heavy)


def _with_classes(n_classes: int, weights: Array) -> Array:
    n, m = weights.shape
    return np.block(
        [
            [CLASS_SD * np.eye(n_classes), np.zeros((n_classes, m))],
            [np.zeros((n, n_classes)), weights],
        ]
    )


@numba.njit(cache=True)
def _likelihood(beta, evidence, said, tilt, size, slope):  # type: ignore[no-untyped-def]
    """Σ_i log Σ_c p(labels_i | c) P(c | classifiers_i), and its slope; indices and no slices, because everything waits for this loop."""
    n_groups, n_columns, n_classes = said.shape[0], said.shape[1], evidence.shape[1]
    total, chance = 0.0, np.empty(n_classes)
    slope[:] = 0.0
    for i in range(n_groups):
        for c in range(n_classes):
            chance[c] = beta[c]
        for j in range(n_columns):
            chance[said[i, j]] += beta[n_classes + tilt[i, j]]
        top = chance[0]
        for c in range(1, n_classes):
            top = max(top, chance[c])
        inner, norm = 1e-300, 0.0
        for c in range(n_classes):
            chance[c] = math.exp(chance[c] - top)
            norm += chance[c]
            inner += chance[c] * evidence[i, c]
        total += size[i] * math.log(inner / norm)
        for c in range(n_classes):
            chance[c] *= size[i] * (evidence[i, c] / inner - 1 / norm)
            slope[c] += chance[c]
        for j in range(n_columns):
            slope[n_classes + tilt[i, j]] += chance[said[i, j]]
    return total


@numba.njit(cache=True)
def _target(z, mode, root, design, heavy, evidence, said, tilt, size, slope):  # type: ignore[no-untyped-def]
    """log posterior of ``mode + root z`` and its slope in z."""
    gamma = mode + root @ z
    total = _likelihood(design @ gamma, evidence, said, tilt, size, slope)
    push = slope @ design
    for p in range(len(gamma)):
        g = gamma[p]
        if heavy[p]:
            total -= 1.5 * math.log1p(g * g)
            push[p] -= 3 * g / (1 + g * g)
        else:
            total -= 0.5 * g * g
            push[p] -= g
    return total, push @ root


@numba.njit(cache=True)
def _chain(  # type: ignore[no-untyped-def]
    known, member, size, start_of, rater, label, votes, kind, table, rows, base, low, high, said, tilt, design, heavy, mode, root, burn, keep, thin,
    seed, out, kept,
):  # fmt: skip
    """``known`` and ``said`` are by groups of equal items, ``member`` says which group an item is in; learned labelers leave every item its own."""
    np.random.seed(seed)
    n_groups, n_classes = known.shape
    n_items, n_labelers, n = len(member), len(kind), len(mode)
    rows, pool = rows.copy(), base / base.sum(axis=1).reshape(-1, 1)
    concentration, coin_mean, coin_weight = 8.0, 0.7, 8.0
    tally, evidence = np.zeros((n_labelers, n_classes, n_classes)), known.copy()
    z, momentum, slope = np.random.standard_normal(n), np.empty(n), np.empty(len(design))
    chance, reach, leap = np.empty(n_classes), np.empty((n_groups, n_classes)), 0.3
    score, push = _target(z, mode, root, design, heavy, evidence, said, tilt, size, slope)
    for sweep in range(burn + keep * thin):
        if n_labelers > 0:
            _weigh(rows, start_of, rater, label, votes, known, evidence)
            score, push = _target(z, mode, root, design, heavy, evidence, said, tilt, size, slope)
        for p in range(n):
            momentum[p] = np.random.standard_normal()
        energy = score - 0.5 * (momentum @ momentum)
        leaps = min(MOST_LEAPS, math.ceil(REACH * (0.5 + 0.5 * np.random.random()) / leap))
        new, new_score, new_push = z, score, push
        for _ in range(leaps):
            momentum += 0.5 * leap * new_push
            new = new + leap * momentum
            new_score, new_push = _target(
                new, mode, root, design, heavy, evidence, said, tilt, size, slope
            )
            momentum += 0.5 * leap * new_push
        gain = new_score - 0.5 * (momentum @ momentum) - energy
        accepted = math.exp(min(0.0, gain)) if gain == gain else 0.0
        if np.random.random() < accepted:
            z, score, push = new, new_score, new_push
        if sweep < burn:
            leap *= math.exp((accepted - WANTED) / math.sqrt(1.0 + sweep))
        gamma = mode + root @ z
        beta = design @ gamma
        weights = np.concatenate((np.ones(1), beta[n_classes:]))
        for g in range(n_groups):
            _chances(weights, beta[:n_classes], said[g], tilt[g], chance)
            total = 0.0
            for c in range(n_classes):
                total += chance[c] * evidence[g, c]
                reach[g, c] = total
        tally[:] = 0.0
        now = sweep - burn
        for i in range(n_items):
            g, c = member[i], 0
            u = np.random.random() * reach[g, n_classes - 1]
            while c < n_classes - 1 and u >= reach[g, c]:
                c += 1
            for k in range(start_of[i], start_of[i + 1]):
                tally[rater[k], c, label[k]] += votes[k]
            if now >= 0 and now % thin == 0:
                out[now // thin, i] = c
        if now >= 0 and now % thin == 0:
            kept[now // thin] = gamma
        if n_labelers > 0:
            update_rows(
                tally, kind, table, pool, concentration, coin_mean, coin_weight, low, high, 1, rows
            )
            concentration = update_pool(tally, kind, base, pool, concentration)
            coin_mean, coin_weight = coin_pool(tally, kind, 1, coin_mean, coin_weight)


@numba.njit(cache=True)
def _weigh(rows, start_of, rater, label, votes, known, evidence):  # type: ignore[no-untyped-def]
    """p(labels | truth) of each item at the labelers' present rows, up to a factor."""
    n_items, n_classes = evidence.shape
    logs = np.log(np.maximum(rows, 1e-300))
    for i in range(n_items):
        top = -math.inf
        for c in range(n_classes):
            evidence[i, c] = 0.0
            for k in range(start_of[i], start_of[i + 1]):
                evidence[i, c] += votes[k] * logs[rater[k], c, label[k]]
            top = max(top, evidence[i, c])
        for c in range(n_classes):
            evidence[i, c] = math.exp(evidence[i, c] - top) * known[i, c]


@numba.njit(parallel=True, cache=True)
def _chains(  # type: ignore[no-untyped-def]
    known, member, size, start_of, rater, label, votes, kind, table, rows, base, low, high, said, tilt, design, heavy, mode, root, burn, keep, thin,
    seeds, out, kept,
):  # fmt: skip
    for m in numba.prange(len(seeds)):
        _chain(
            known, member, size, start_of, rater, label, votes, kind, table, rows, base, low, high, said, tilt, design, heavy, mode, root, burn, keep,
            thin, seeds[m], out[m], kept[m],
        )  # fmt: skip


def sample_committee(
    regression: Regression,
    gold: Array,
    *,
    evidence: Array,
    entries: Entries | None = None,
    rows: RowModel | None = None,
    n_draws: int,
    seed: int,
    thin: int = 1,
) -> tuple[Array, Array]:
    """Draws of every item's truth, draws × items, and of the coefficients, in the order of four chains.

    ``evidence`` is log p(labels | truth) of labelers whose noise is known; the labels of ``entries`` come from labelers who are learned (``rows``).
    """
    n_items, n_classes = evidence.shape
    said, tilt = regression.said, regression.tilt
    known = np.exp(evidence - evidence.max(axis=1, keepdims=True))
    at = np.flatnonzero(gold >= 0)
    known[at] = np.eye(n_classes)[gold[at]]
    member, size = np.arange(n_items), np.ones(n_items)
    if entries is None or rows is None:
        _, example, code = np.unique(
            np.hstack([said, tilt]), axis=0, return_index=True, return_inverse=True
        )
        with np.errstate(divide="ignore"):
            groups = Groups.of(np.log(known), code.reshape(-1))
        known, member, size = np.exp(groups.evidence), groups.member, groups.size.astype(float)
        said, tilt = said[example[groups.predicted]], tilt[example[groups.predicted]]
        nobody = np.zeros(0, dtype=np.int64)
        labeled: tuple[Array, ...] = (
            np.zeros(n_items + 1, dtype=np.int64),
            nobody,
            nobody,
            np.zeros(0),
        )
        none = np.zeros((0, n_classes, n_classes))
        labelers: tuple[object, ...] = (
            nobody,
            none,
            none,
            np.ones((n_classes, n_classes)),
            0.0,
            1.0,
        )
        first = known
    else:
        start_of = np.searchsorted(entries.item, np.arange(n_items + 1)).astype(np.int64)
        labeled = (
            start_of,
            entries.rater.astype(np.int64),
            entries.label.astype(np.int64),
            entries.votes,
        )
        fit = fit_dawid_skene(entries, gold)
        start = np.where((rows.kind == 0)[:, None, None], rows.table, fit.rows())
        labelers = (
            rows.kind.astype(np.int64),
            rows.table.astype(float),
            start,
            rows.base,
            rows.low,
            rows.high,
        )
        first = softmax(entries.log_likelihood(start)) * known
    mode, root = _mode(regression.design, regression.heavy, first, said, tilt, size)
    seeds = np.random.default_rng(seed).integers(0, 2**31, (2, CHAINS))

    def run(keep: int, burn: int, thin: int, seeds: Array) -> tuple[Array, Array]:
        out = np.empty((CHAINS, keep, n_items), dtype=np.int16)
        kept = np.empty((CHAINS, keep, len(mode)))
        _chains(
            known, member, size, *labeled, *labelers, said, tilt, regression.design, regression.heavy, mode, root, burn, keep, thin, seeds, out, kept
        )  # fmt: skip
        return out.reshape(-1, n_items), kept.reshape(-1, len(mode))

    # where the classifiers leave little doubt the posterior is far wider than its curvature at the mode: a pilot run says how wide
    _, pilot = run(PILOT, BURN, 1, seeds[0])
    mode, root = pilot.mean(axis=0), _widened(root, pilot)
    truth, gamma = run(-(-max(n_draws, FEWEST) // CHAINS), BURN * thin, thin, seeds[1])
    return truth, gamma @ regression.design.T


def _widened(root: Array, pilot: Array) -> Array:
    """A root of the pilot's covariance, with that of the curvature as prior."""
    n, d = pilot.shape
    return np.linalg.cholesky((n * np.cov(pilot.T) + d * root @ root.T) / (n + d))


def _mode(
    design: Array, heavy: Array, evidence: Array, said: Array, tilt: Array, size: Array
) -> tuple[Array, Array]:
    """Posterior mode of the standardised coefficients, and a square root of the inverse curvature there."""
    from scipy.optimize import minimize

    n, slope = design.shape[1], np.empty(len(design))
    one, nothing = np.eye(n), np.zeros(n)

    def lost(z: Array) -> tuple[float, Array]:
        value, push = _target(z, nothing, one, design, heavy, evidence, said, tilt, size, slope)
        return -value, -push

    found = minimize(lost, nothing, jac=True, method="L-BFGS-B", options={"maxiter": 500}).x
    step = 1e-4  # the gradient is exact and cheap: its differences are the curvature
    curvature = np.array([lost(found + step * e)[1] - lost(found - step * e)[1] for e in one]) / (
        2 * step
    )
    values, vectors = np.linalg.eigh((curvature + curvature.T) / 2)
    return found, vectors / np.sqrt(
        np.maximum(values, 0.3)
    )  # nothing is much less certain than the prior
