"""Su Section 5.4: at every threshold the posterior of (P_D, P_FA) or (precision, recall); and the
joint densities (17), (18).

A sample's posterior depends on its labels only through the likelihood ratio, so with items sorted
by score it is enough to keep counts on the distinct likelihood ratios: a threshold costs their
number, not N.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from truthing.class_codes import Array
from truthing.compiled import njit
from truthing.metrics.counts import ratio
from truthing.metrics.curves import Band, BestThreshold, Curve
from truthing.metrics.estimate import Estimate
from truthing.metrics.joint import JointDensity
from truthing.papers.su import Moments
from truthing.truth.scores import ScoreAnswer

MOST_RATIOS = 512


@njit
def _sweep(place, ends, weight, odds, tolerance, most):  # type: ignore[no-untyped-def]
    """Moments of U and V at every threshold; the operating point starts from the threshold
    before.
    """
    n_bins, n = len(weight), len(place)
    inside, outside = np.zeros(n_bins), np.zeros(n_bins)
    for i in range(n):
        outside[place[i]] += 1
    out = np.empty((5, len(ends)))
    detect, alarm, start = 0.5, 0.5, 0
    for k in range(len(ends)):
        for i in range(start, ends[k] + 1):
            inside[place[i]] += 1
            outside[place[i]] -= 1
        start = ends[k] + 1
        for _ in range(most):
            up, down = odds * detect / alarm, odds * (1 - detect) / (1 - alarm)
            u, v, su, sv = 0.0, 0.0, 0.0, 0.0
            for b in range(n_bins):
                p = weight[b] * up / (1 + weight[b] * up)
                q = weight[b] * down / (1 + weight[b] * down)
                u += inside[b] * p
                su += inside[b] * p * (1 - p)
                v += outside[b] * q
                sv += outside[b] * q * (1 - q)
            new_detect = min(max(u / (u + v), 1e-3), 1 - 1e-3) if u + v > 0 else 0.5
            rest = n - u - v
            new_alarm = min(max((start - u) / rest, 1e-3), 1 - 1e-3) if rest > 0 else 0.5
            moved = max(abs(new_detect - detect), abs(new_alarm - alarm))
            detect, alarm = new_detect, new_alarm
            if moved < tolerance:
                break
        out[0, k], out[1, k], out[2, k], out[3, k], out[4, k] = (
            u / n,
            v / n,
            su / n**2,
            sv / n**2,
            start / n,
        )
    return out.T


@dataclass(frozen=True, eq=False)
class SweptCurves:
    """Curves as the paper has them; areas from draws given the scores, which hard predictions
    cannot give.
    """

    scores: Array
    evidence: Array
    prior: Array
    n_draws: int
    seed: int

    @cached_property
    def areas(self) -> ScoreAnswer:
        """Answer keys drawn given the scores; made when first asked for."""
        return ScoreAnswer.lazily(
            self.scores, self.evidence, self.prior, n_draws=self.n_draws, seed=self.seed
        )

    def estimate(self, name: str) -> Estimate:
        return self.areas.estimate(name)

    def best_threshold(
        self, metric: str = "f1", *, cost: tuple[float, float] | None = None
    ) -> BestThreshold:
        return self.areas.best_threshold(metric, cost=cost)

    @cached_property
    def moments(self) -> tuple[Array, Array]:
        """Thresholds, and for each the moments of U and V and ν."""
        order = np.argsort(-self.scores, kind="stable")
        scores = self.scores[order]
        difference = np.clip(self.evidence[:, 1] - self.evidence[:, 0], -600, 600)
        values, place = np.unique(difference, return_inverse=True)
        if len(values) > MOST_RATIOS:
            edges = np.unique(np.quantile(difference, np.linspace(0, 1, MOST_RATIOS + 1)))
            place = np.clip(np.searchsorted(edges, difference, side="right") - 1, 0, len(edges) - 2)
            count = np.maximum(np.bincount(place), 1)
            values = np.bincount(place, weights=difference) / count
        ends = np.flatnonzero(np.append(np.diff(scores) != 0, True))
        out = _sweep(
            place.reshape(-1)[order],
            ends,
            np.exp(values),
            self.prior[1] / max(self.prior[0], 1e-300),
            1e-4,
            50,
        )
        return scores[ends], out

    def roc(self) -> Curve:
        thresholds, m = self.moments
        alarm = (m[:, 4] - m[:, 0], 1 - m[:, 0] - m[:, 1])
        x, y = ratio(alarm[0], alarm[1], np.nan), ratio(m[:, 0], m[:, 0] + m[:, 1], np.nan)

        def bands(level: float) -> tuple[Band, Band]:
            return _ratio_band(m, "false_alarm", x, level), _ratio_band(m, "recall", y, level)

        return Curve("roc", thresholds, x, y, bands, lambda: self.estimate("auc"))

    def pr(self) -> Curve:
        thresholds, m = self.moments
        x, y = ratio(m[:, 0], m[:, 0] + m[:, 1], np.nan), ratio(m[:, 0], m[:, 4], np.nan)

        def bands(level: float) -> tuple[Band, Band]:
            half = _quantile(level) * np.sqrt(m[:, 2]) / m[:, 4]
            return _ratio_band(m, "recall", x, level), (
                np.clip(y - half, 0, 1),
                np.clip(y + half, 0, 1),
            )

        return Curve("pr", thresholds, x, y, bands, lambda: self.estimate("average_precision"))


def _quantile(level: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(0.5 + level / 2))


def _ratio_band(m: Array, base: str, centre: Array, level: float) -> Band:
    """Limits r with P(Z/W ≤ r) at the tails: for a positive W that is a quadratic in r (Fieller),
    solved in closed form.
    """
    u, w, su, sw = m[:, 0], m[:, 0] + m[:, 1], m[:, 2], m[:, 2] + m[:, 3]
    z, d = (u, w) if base == "recall" else (m[:, 4] - u, 1 - w)
    square = _quantile(level) ** 2
    a, b, c = d**2 - square * sw, -2 * (z * d - square * su), z**2 - square * su
    root = np.sqrt(np.maximum(b**2 - 4 * a * c, 0))
    bounded = a > 0
    safe = np.where(bounded, a, 1.0)
    low = np.where(bounded, (-b - root) / (2 * safe), 0.0)
    high = np.where(bounded, (-b + root) / (2 * safe), 1.0)
    known = ~np.isnan(centre)
    return np.where(known, np.clip(low, 0, 1), np.nan), np.where(known, np.clip(high, 0, 1), np.nan)


# ---- joint densities


def joint_roc(moments: Moments, points: int = 301) -> JointDensity:
    """Su (17): the density of (p_D, p_FA), on the region where ν lies between them."""
    x, y = (
        _window(moments.estimate("recall"), points),
        _window(moments.estimate("false_alarm"), points),
    )
    detect, alarm = np.meshgrid(x, y, indexing="ij")
    gap = detect - alarm
    safe = np.where(np.abs(gap) < 1e-12, np.nan, gap)
    share = (moments.share - alarm) / safe
    inside = (share > 0) & (share < 1)
    jacobian = np.abs((detect - moments.share) * (moments.share - alarm)) / np.abs(safe) ** 3
    density = jacobian * _normals(moments, detect * share, (1 - detect) * share)
    return JointDensity.of(x, y, np.where(inside, np.nan_to_num(density), 0.0))


def joint_pr(moments: Moments, points: int = 301) -> JointDensity:
    """Su (18): the density of (precision, recall)."""
    sd = np.sqrt(moments.var_u) / moments.share
    mean = moments.mean_u / moments.share
    x = np.linspace(max(1e-6, mean - 5 * sd), min(1.0, mean + 5 * sd), points)
    y = _window(moments.estimate("recall"), points)
    precision, recall = np.meshgrid(x, y, indexing="ij")
    recall = np.maximum(recall, 1e-12)
    u = moments.share * precision
    density = (
        moments.share**2 * precision / recall**2 * _normals(moments, u, u * (1 - recall) / recall)
    )
    return JointDensity.of(x, y, density)


def _window(estimate: Estimate, points: int) -> Array:
    low, high = estimate.interval(0.999999)
    pad = 0.1 * (high - low) + 1e-9
    return np.linspace(max(0.0, low - pad), min(1.0, high + pad), points)


def _normals(moments: Moments, u: Array, v: Array) -> Array:
    return np.exp(
        -0.5
        * ((u - moments.mean_u) ** 2 / moments.var_u + (v - moments.mean_v) ** 2 / moments.var_v)
    ) / (2 * np.pi * np.sqrt(moments.var_u * moments.var_v))
