"""Draws of the truth when several classifiers are graded and the noise model is trusted.

``P(y = c | predictions) = softmax_c(α_c + Σ_j [classifier j says c] w_jc)``, times the labelers' likelihood. Predictions are conditioned on and
not modelled, so classifiers may err together in any way: the score equations of this regression hold each classifier's right answers to their
expected number, whatever the dependence. (A model of the predictions themselves fails here: at correlation .9 a latent-class model never held the truth.)
A sweep draws the coefficients with the truth summed out, then the truth, then the labelers' rows where they are learned.
"""

from __future__ import annotations

import math

import numba
import numpy as np

from truthing.coding import Array
from truthing.truth.committee_sampler import _chances
from truthing.truth.consensus import Entries, fit_dawid_skene
from truthing.truth.crowd_gibbs import RowModel, _coin_pool, _update_pool, _update_rows
from truthing.truth.gibbs import CHAINS
from truthing.truth.problem import softmax

WEIGHT_SD, CLASS_SD = 1.0, 2.0
KNOWN = 4.0  # coefficients that the prior of their pool (mean and spread) is worth
WIDER = 1.2  # of the normal proposal around the mode
FEWEST = 2000  # draws whatever is asked: fewer cannot show whether the chains agree
STEPS = 3  # slice steps in each sweep


@numba.njit(cache=True)
def _log_target(beta, centre, precision, evidence, said, tilt, chance):  # type: ignore[no-untyped-def]
    """log prior + Σ_i log Σ_c p(labels_i | c) P(c | predictions_i)."""
    n_classes = evidence.shape[1]
    total = 0.0
    for p in range(len(beta)):
        total -= 0.5 * precision[p] * (beta[p] - centre[p]) ** 2
    weights = np.concatenate((np.ones(1), beta[n_classes:]))
    for i in range(len(said)):
        _chances(weights, beta[:n_classes], said[i], tilt[i], chance)
        inner = 0.0
        for c in range(n_classes):
            inner += chance[c] * evidence[i, c]
        total += math.log(max(inner, 1e-300))
    return total


@numba.njit(cache=True)
def _pool(weights, centre, precision):  # type: ignore[no-untyped-def]
    """Mean and spread of the classifiers' coefficients given them: twenty alike classifiers share what a few would have alone."""
    n, mean = len(weights), weights.mean()
    old = centre[0]
    precision[:] = np.random.gamma((KNOWN + n) / 2, 2 / (KNOWN * WEIGHT_SD**2 + ((weights - old) ** 2).sum()))
    held = precision[0] * n + WEIGHT_SD**-2
    centre[:] = precision[0] * n * mean / held + np.random.standard_normal() / math.sqrt(held)


@numba.njit(cache=True)
def _gradient(beta, precision, evidence, said, tilt):  # type: ignore[no-untyped-def]
    """Of `_log_target`, and the truth's posterior (items × classes) on the way."""
    n_classes = evidence.shape[1]
    slope = -precision * beta
    chance, weights = np.empty(n_classes), np.concatenate((np.ones(1), beta[n_classes:]))
    for i in range(len(said)):
        _chances(weights, beta[:n_classes], said[i], tilt[i], chance)
        inner = 0.0
        for c in range(n_classes):
            inner += chance[c] * evidence[i, c]
        for c in range(n_classes):
            slope[c] += chance[c] * evidence[i, c] / inner - chance[c]
        for j in range(said.shape[1]):
            c = said[i, j]
            slope[n_classes + tilt[i, j]] += chance[c] * evidence[i, c] / inner - chance[c]
    return slope


@numba.njit(cache=True)
def _chain(  # type: ignore[no-untyped-def]
    known, start_of, rater, label, votes, kind, table, rows, base, low, high, said, tilt, precision, mode, root, burn, keep, thin, seed, out,
):  # fmt: skip
    np.random.seed(seed)
    n_items, n_classes = known.shape
    n_labelers, size = len(kind), len(mode)
    rows, pool = rows.copy(), base / base.sum(axis=1).reshape(-1, 1)
    concentration, coin_mean, coin_weight = 8.0, 0.7, 8.0
    tally, evidence = np.zeros((n_labelers, n_classes, n_classes)), known.copy()
    z, other = np.random.standard_normal(size), np.empty(size)
    centre, precision = np.zeros(size), precision.copy()
    beta, new, chance = mode + root @ z, np.empty(size), np.empty(n_classes)
    for sweep in range(burn + keep * thin):
        if n_labelers > 0:
            for i in range(n_items):
                top = -math.inf
                for c in range(n_classes):
                    evidence[i, c] = 0.0
                    for n in range(start_of[i], start_of[i + 1]):
                        evidence[i, c] += votes[n] * math.log(max(rows[rater[n], c, label[n]], 1e-300))
                    top = max(top, evidence[i, c])
                for c in range(n_classes):
                    evidence[i, c] = math.exp(evidence[i, c] - top) * known[i, c]
        score = _log_target(beta, centre, precision, evidence, said, tilt, chance) + 0.5 * (z @ z)
        for _ in range(STEPS):
            for p in range(size):
                other[p] = np.random.standard_normal()
            bar = score + math.log(np.random.random())
            angle = np.random.random() * 2 * math.pi
            least, most = angle - 2 * math.pi, angle
            while True:
                new = z * math.cos(angle) + other * math.sin(angle)
                beta = mode + root @ new
                score = _log_target(beta, centre, precision, evidence, said, tilt, chance) + 0.5 * (new @ new)
                if score > bar or most - least < 1e-9:
                    break
                if angle < 0:
                    least = angle
                else:
                    most = angle
                angle = least + np.random.random() * (most - least)
            z = new
        _pool(beta[n_classes:], centre[n_classes:], precision[n_classes:])
        tally[:] = 0.0
        weights = np.concatenate((np.ones(1), beta[n_classes:]))
        for i in range(n_items):
            _chances(weights, beta[:n_classes], said[i], tilt[i], chance)
            total = 0.0
            for c in range(n_classes):
                chance[c] *= evidence[i, c]
                total += chance[c]
            u, c = np.random.random() * total, 0
            while c < n_classes - 1 and u >= chance[c]:
                u -= chance[c]
                c += 1
            for n in range(start_of[i], start_of[i + 1]):
                tally[rater[n], c, label[n]] += votes[n]
            if sweep >= burn and (sweep - burn) % thin == 0:
                out[(sweep - burn) // thin, i] = c
        if n_labelers > 0:
            _update_rows(tally, kind, table, pool, concentration, coin_mean, coin_weight, low, high, 1, rows)
            concentration = _update_pool(tally, kind, base, pool, concentration)
            coin_mean, coin_weight = _coin_pool(tally, kind, 1, coin_mean, coin_weight)


@numba.njit(parallel=True, cache=True)
def _chains(  # type: ignore[no-untyped-def]
    known, start_of, rater, label, votes, kind, table, rows, base, low, high, said, tilt, precision, mode, root, burn, keep, thin, seeds, out,
):  # fmt: skip
    for m in numba.prange(len(seeds)):
        _chain(
            known, start_of, rater, label, votes, kind, table, rows, base, low, high, said, tilt, precision, mode, root, burn, keep, thin,
            seeds[m], out[m],
        )  # fmt: skip


def sample_committee(
    said: Array,
    effect: Array,
    gold: Array,
    *,
    evidence: Array,
    entries: Entries | None = None,
    rows: RowModel | None = None,
    n_draws: int,
    seed: int,
    thin: int = 1,
) -> Array:
    """Draws of every item's truth, draws × items, in the order of four chains.

    ``said`` is items × classifiers, ``effect`` the number of the coefficient behind "classifier j says c". ``evidence`` is log p(labels | truth)
    of labelers whose noise is known; the labels of ``entries`` come from labelers who are learned (``rows``).
    """
    n_items, n_classes = evidence.shape
    tilt = effect[np.arange(said.shape[1]), said]
    known = np.exp(evidence - evidence.max(axis=1, keepdims=True))
    at = np.flatnonzero(gold >= 0)
    known[at] = np.eye(n_classes)[gold[at]]
    if entries is None or rows is None:
        nobody = np.zeros(0, dtype=np.int64)
        labeled: tuple[Array, ...] = (np.zeros(n_items + 1, dtype=np.int64), nobody, nobody, np.zeros(0))
        none = np.zeros((0, n_classes, n_classes))
        labelers: tuple[object, ...] = (nobody, none, none, np.ones((n_classes, n_classes)), 0.0, 1.0)
        first = known
    else:
        start_of = np.searchsorted(entries.item, np.arange(n_items + 1)).astype(np.int64)
        labeled = (start_of, entries.rater.astype(np.int64), entries.label.astype(np.int64), entries.votes)
        fit = fit_dawid_skene(entries.with_classifier(said[:, 0]), gold)
        start = np.where((rows.kind == 0)[:, None, None], rows.table, fit.rows()[:-1])
        labelers = (rows.kind.astype(np.int64), rows.table.astype(float), start, rows.base, rows.low, rows.high)
        first = softmax(entries.log_likelihood(start)) * known
    precision = np.concatenate([np.full(n_classes, CLASS_SD**-2), np.full(int(effect.max()) + 1, WEIGHT_SD**-2)])
    mode, root = _mode(precision, first, said, tilt)
    keep = -(-max(n_draws, FEWEST) // CHAINS)
    out = np.empty((CHAINS, keep, n_items), dtype=np.int16)
    seeds = np.random.default_rng(seed).integers(0, 2**31, CHAINS)
    burn = (100 if entries is None else 300) * thin
    _chains(known, *labeled, *labelers, said, tilt, precision, mode, root, burn, keep, thin, seeds, out)
    return out.reshape(-1, n_items)


def _mode(precision: Array, evidence: Array, said: Array, tilt: Array) -> tuple[Array, Array]:
    """Posterior mode of the coefficients, and a square root of the (widened) inverse curvature there."""
    from scipy.optimize import minimize

    n_classes = evidence.shape[1]
    chance, centre = np.empty(n_classes), np.zeros(len(precision))
    found = minimize(
        lambda b: -_log_target(b, centre, precision, evidence, said, tilt, chance),
        centre,
        jac=lambda b: -_gradient(b, precision, evidence, said, tilt),
        method="L-BFGS-B",
        options={"maxiter": 500},
    )
    curvature = np.empty((len(precision), len(precision)))
    step = 1e-4
    for p in range(len(precision)):  # the gradient is exact and cheap: its differences are the curvature
        shift = np.zeros(len(precision))
        shift[p] = step
        up, down = (_gradient(found.x + s, precision, evidence, said, tilt) for s in (shift, -shift))
        curvature[p] = (down - up) / (2 * step)
    values, vectors = np.linalg.eigh((curvature + curvature.T) / 2)
    floor = np.maximum(values, precision.min() / 4)  # nothing is less certain than twice the prior
    return found.x, vectors * (WIDER / np.sqrt(floor))
