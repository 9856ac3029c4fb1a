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
from truthing.truth.crowd_gibbs import RowModel
from truthing.truth.gibbs import CHAINS
from truthing.truth.labeler_rows import coin_pool, update_pool, update_rows
from truthing.truth.problem import Groups, softmax

CLASS_SD = 2.0  # prior of α
COMMON_SD = 1.0  # prior of w: what all classifiers have in common,
OWN_SD = 2.0  # and each one's own, divided by the cube root of their number
WIDER = 1.2  # of the normal proposal around the mode
FEWEST = 2000  # draws whatever is asked: fewer cannot show whether the chains agree
STEPS = 6  # slice steps in each sweep


@numba.njit(cache=True)
def _shrunken(weights, own_sd):  # type: ignore[no-untyped-def]
    """The weights times their prior precision: N(0, own² I + common² 1 1ᵗ), by Sherman and Morrison."""
    own, common = own_sd**2, COMMON_SD**2
    return weights / own - weights.sum() * common / own / (own + len(weights) * common)


@numba.njit(cache=True)
def _log_prior(beta, own_sd, n_classes):  # type: ignore[no-untyped-def]
    classes, weights = beta[:n_classes], beta[n_classes:]
    return -0.5 * ((classes * classes).sum() / CLASS_SD**2 + (weights * _shrunken(weights, own_sd)).sum())


@numba.njit(cache=True)
def _log_target(beta, own_sd, evidence, said, tilt, size, chance):  # type: ignore[no-untyped-def]
    """log prior + Σ_i log Σ_c p(labels_i | c) P(c | predictions_i); indices and no slices, because everything waits for this loop."""
    n_items, n_models, n_classes = said.shape[0], said.shape[1], evidence.shape[1]
    total = _log_prior(beta, own_sd, n_classes)
    for i in range(n_items):
        for c in range(n_classes):
            chance[c] = beta[c]
        for j in range(n_models):
            chance[said[i, j]] += beta[n_classes + tilt[i, j]]
        top = chance[0]
        for c in range(1, n_classes):
            top = max(top, chance[c])
        inner, norm = 0.0, 0.0
        for c in range(n_classes):
            weight = math.exp(chance[c] - top)
            norm += weight
            inner += weight * evidence[i, c]
        total += size[i] * math.log(max(inner / norm, 1e-300))
    return total


@numba.njit(cache=True)
def _gradient(beta, own_sd, evidence, said, tilt, size):  # type: ignore[no-untyped-def]
    """Of `_log_target`."""
    n_classes = evidence.shape[1]
    slope = np.concatenate((-beta[:n_classes] / CLASS_SD**2, -_shrunken(beta[n_classes:], own_sd)))
    chance, weights = np.empty(n_classes), np.concatenate((np.ones(1), beta[n_classes:]))
    for i in range(len(said)):
        _chances(weights, beta[:n_classes], said[i], tilt[i], chance)
        inner = 0.0
        for c in range(n_classes):
            inner += chance[c] * evidence[i, c]
        for c in range(n_classes):
            slope[c] += size[i] * (chance[c] * evidence[i, c] / inner - chance[c])
        for j in range(said.shape[1]):
            c = said[i, j]
            slope[n_classes + tilt[i, j]] += size[i] * (chance[c] * evidence[i, c] / inner - chance[c])
    return slope


@numba.njit(cache=True)
def _chain(  # type: ignore[no-untyped-def]
    known, member, size, start_of, rater, label, votes, kind, table, rows, base, low, high, said, tilt, own_sd, mode, root, burn, keep, thin, seed, out,
):  # fmt: skip
    """``known`` and ``said`` are by groups of equal items, ``member`` says which group an item is in; learned labelers leave every item its own."""
    np.random.seed(seed)
    n_groups, n_classes = known.shape
    n_items, n_labelers, n = len(member), len(kind), len(mode)
    rows, pool = rows.copy(), base / base.sum(axis=1).reshape(-1, 1)
    concentration, coin_mean, coin_weight = 8.0, 0.7, 8.0
    tally, evidence = np.zeros((n_labelers, n_classes, n_classes)), known.copy()
    z, other = np.random.standard_normal(n), np.empty(n)
    beta, new, chance = mode + root @ z, np.empty(n), np.empty(n_classes)
    reach = np.empty((n_groups, n_classes))
    for sweep in range(burn + keep * thin):
        if n_labelers > 0:
            for i in range(n_items):
                top = -math.inf
                for c in range(n_classes):
                    evidence[i, c] = 0.0
                    for k in range(start_of[i], start_of[i + 1]):
                        evidence[i, c] += votes[k] * math.log(max(rows[rater[k], c, label[k]], 1e-300))
                    top = max(top, evidence[i, c])
                for c in range(n_classes):
                    evidence[i, c] = math.exp(evidence[i, c] - top) * known[i, c]
        score = _log_target(beta, own_sd, evidence, said, tilt, size, chance) + 0.5 * (z @ z)
        for _ in range(STEPS):
            for p in range(n):
                other[p] = np.random.standard_normal()
            bar = score + math.log(np.random.random())
            angle = np.random.random() * 2 * math.pi
            least, most = angle - 2 * math.pi, angle
            while True:
                new = z * math.cos(angle) + other * math.sin(angle)
                beta = mode + root @ new
                score = _log_target(beta, own_sd, evidence, said, tilt, size, chance) + 0.5 * (new @ new)
                if score > bar or most - least < 1e-9:
                    break
                if angle < 0:
                    least = angle
                else:
                    most = angle
                angle = least + np.random.random() * (most - least)
            z = new
        tally[:] = 0.0
        weights = np.concatenate((np.ones(1), beta[n_classes:]))
        for g in range(n_groups):
            _chances(weights, beta[:n_classes], said[g], tilt[g], chance)
            total = 0.0
            for c in range(n_classes):
                total += chance[c] * evidence[g, c]
                reach[g, c] = total
        for i in range(n_items):
            g, c = member[i], 0
            u = np.random.random() * reach[g, n_classes - 1]
            while c < n_classes - 1 and u >= reach[g, c]:
                c += 1
            for k in range(start_of[i], start_of[i + 1]):
                tally[rater[k], c, label[k]] += votes[k]
            if sweep >= burn and (sweep - burn) % thin == 0:
                out[(sweep - burn) // thin, i] = c
        if n_labelers > 0:
            update_rows(tally, kind, table, pool, concentration, coin_mean, coin_weight, low, high, 1, rows)
            concentration = update_pool(tally, kind, base, pool, concentration)
            coin_mean, coin_weight = coin_pool(tally, kind, 1, coin_mean, coin_weight)


@numba.njit(parallel=True, cache=True)
def _chains(  # type: ignore[no-untyped-def]
    known, member, size, start_of, rater, label, votes, kind, table, rows, base, low, high, said, tilt, own_sd, mode, root, burn, keep, thin, seeds, out,
):  # fmt: skip
    for m in numba.prange(len(seeds)):
        _chain(
            known, member, size, start_of, rater, label, votes, kind, table, rows, base, low, high, said, tilt, own_sd, mode, root, burn, keep, thin,
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
    member, size = np.arange(n_items), np.ones(n_items)
    if entries is None or rows is None:
        patterns, code = np.unique(said, axis=0, return_inverse=True)
        with np.errstate(divide="ignore"):
            groups = Groups.of(np.log(known), code.reshape(-1))
        known, member, size = np.exp(groups.evidence), groups.member, groups.size.astype(float)
        said = patterns[groups.predicted]
        tilt = effect[np.arange(said.shape[1]), said]
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
    own_sd = OWN_SD / said.shape[1] ** (1 / 3)
    mode, root = _mode(n_classes + int(effect.max()) + 1, own_sd, first, said, tilt, size)
    keep = -(-max(n_draws, FEWEST) // CHAINS)
    out = np.empty((CHAINS, keep, n_items), dtype=np.int16)
    seeds = np.random.default_rng(seed).integers(0, 2**31, CHAINS)
    burn = (100 if entries is None else 300) * thin
    _chains(known, member, size, *labeled, *labelers, said, tilt, own_sd, mode, root, burn, keep, thin, seeds, out)
    return out.reshape(-1, n_items)


def _mode(n: int, own_sd: float, evidence: Array, said: Array, tilt: Array, size: Array) -> tuple[Array, Array]:
    """Posterior mode of the coefficients, and a square root of the (widened) inverse curvature there."""
    from scipy.optimize import minimize

    n_classes = evidence.shape[1]
    chance = np.empty(n_classes)
    found = minimize(
        lambda b: -_log_target(b, own_sd, evidence, said, tilt, size, chance),
        np.zeros(n),
        jac=lambda b: -_gradient(b, own_sd, evidence, said, tilt, size),
        method="L-BFGS-B",
        options={"maxiter": 500},
    )
    curvature = np.empty((n, n))
    step = 1e-4
    for p in range(n):  # the gradient is exact and cheap: its differences are the curvature
        shift = np.zeros(n)
        shift[p] = step
        up, down = (_gradient(found.x + s, own_sd, evidence, said, tilt, size) for s in (shift, -shift))
        curvature[p] = (down - up) / (2 * step)
    values, vectors = np.linalg.eigh((curvature + curvature.T) / 2)
    floor = np.maximum(values, 0.05)  # nothing is much less certain than the prior
    return found.x, vectors * (WIDER / np.sqrt(floor))
