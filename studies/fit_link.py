"""The numbers of the link's prior (truth/link.py, LinkPrior), learned from public crowds; and how they move when one set is left out."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
from crowd_cases import SETS, Case, crowd_cases
from scipy.optimize import minimize
from scipy.stats import t as student

from truthing.truth.link.prior import (
    OUTLIER_VARIANCE,
    OUTLIER_WEIGHT,
    LinkPrior,
    design,
    learned_level,
)
from truthing.truth.link.sampler import _mode
from truthing.truth.link.views import logit

STEPS = 15
COUNT_AS = (
    10 / 3
)  # the workers of a set are graded by the same crowd: together they count as this many observations


def fit_level(cases: list[Case], prior: LinkPrior) -> LinkPrior:
    """Offset and scale of the level by weighted maximum likelihood, weak priors on each."""
    centre = np.array([c.readings.centre for c in cases])
    spread = np.array([c.readings.spread for c in cases])
    truth = np.array([logit((c.right.sum() + 0.5) / (len(c.right) + 1)) for c in cases])
    sets = [c.set for c in cases]
    weight = np.array([COUNT_AS / sets.count(s) for s in sets])

    def loss(p: np.ndarray) -> float:
        scale = np.hypot(np.exp(p[0]), np.exp(p[1]) * spread)
        z = (truth - p[2] - centre) / scale
        far = np.exp(-0.5 * z**2 / OUTLIER_VARIANCE) / np.sqrt(2 * np.pi * OUTLIER_VARIANCE)
        density = (1 - OUTLIER_WEIGHT) * student.pdf(z, prior.freedom) + OUTLIER_WEIGHT * far
        penalty = 0.5 * ((p[0] + 1.5) ** 2 + p[1] ** 2 + (p[2] / 0.3) ** 2)
        return float(-(weight * (np.log(density) - np.log(scale))).sum() + penalty)

    best = minimize(loss, [-1.5, 0.0, 0.0], method="L-BFGS-B").x
    return replace(
        prior,
        offset=float(best[2]),
        scale=float(np.exp(best[0])),
        scale_per_spread=float(np.exp(best[1])),
    )


def fit(cases: list[Case]) -> LinkPrior:
    """The level, then slope, its spread and the class effects by EM with Laplace's method; every set weighs the same."""
    prior = fit_level(cases, LinkPrior(slope=0.7, slope_sd=0.5, effect_sd=0.5))
    sets = [c.set for c in cases]
    weight = np.array([1 / sets.count(s) for s in sets])
    weight /= weight.sum()
    n_sets = len(set(sets))
    for _ in range(STEPS):
        slopes, variances, effects, effect_weights = [], [], [], []
        for case, w in zip(cases, weight):
            level = learned_level(case.readings, prior)
            shape = design(case.readings, level, prior)
            right = np.bincount(shape.member, weights=case.right, minlength=len(shape.size))
            scale = np.hypot(prior.scale, prior.scale_per_spread * case.readings.spread)
            start = shape.mean.copy()
            beta, hessian = _mode(
                shape.matrix,
                shape.share,
                shape.size,
                right,
                shape.mean,
                shape.precision,
                level.centre,
                4 * scale**2,
                start,
            )
            spread = np.linalg.inv(hessian)
            slopes.append(beta[1])
            variances.append(spread[1, 1])
            if len(beta) > 2:
                effects.append((beta[2:] ** 2 + np.diag(spread)[2:]).mean())
                effect_weights.append(w)
        mean = weight @ np.array(slopes)
        variance = weight @ (np.array(variances) + (np.array(slopes) - mean) ** 2)
        prior = replace(
            prior,
            slope=float(mean),
            slope_sd=float(np.sqrt((n_sets * variance + 0.1) / (n_sets + 2))),
            effect_sd=float(np.sqrt(np.average(effects, weights=effect_weights))),
        )
    return prior


def leave_one_out(cases: list[Case]) -> dict[str, LinkPrior]:
    """For each set the numbers learned from all others."""
    return {s: fit([c for c in cases if c.set != s]) for s in dict.fromkeys(c.set for c in cases)}


def main() -> None:
    cases = crowd_cases(SETS)
    print(f"{'left out':<20}" + "".join(f"{name:>18}" for name in asdict(LinkPrior())))
    for name, prior in {"nothing": fit(cases), **leave_one_out(cases)}.items():
        print(f"{name:<20}" + "".join(f"{value:>18.4f}" for value in asdict(prior).values()))


if __name__ == "__main__":
    main()
