"""How often the ceiling's intervals hold the truth, how wide they are, and how far off the points:
docs/ceiling.md records a run.

python studies/ceiling.py [clean|votes|classes|scores|bounds|verdicts] [trials]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

import truthing as tr

Draw = Callable[[np.random.Generator, int], np.ndarray]

SHAPES: dict[str, Draw] = {
    "beta(.3,.3)": lambda rng, n: rng.beta(0.3, 0.3, n),
    "beta(2,2)": lambda rng, n: rng.beta(2, 2, n),
    "mostly easy": lambda rng, n: np.where(
        rng.random(n) < 0.9, rng.choice([0.0, 1.0], n), rng.random(n)
    ),
    "two values": lambda rng, n: rng.choice([0.1, 0.9], n),
    "skewed": lambda rng, n: rng.beta(0.2, 2, n),
    "all at 0.4": lambda rng, n: np.full(n, 0.4),
}
RARE: dict[str, Draw] = {
    "1% unsure": lambda rng, n: np.where(rng.random(n) < 0.99, 0.0, 0.5),
    "5% unsure": lambda rng, n: np.where(rng.random(n) < 0.95, 0.0, rng.uniform(0, 1, n)),
}


def folded_beta(a: float, b: float) -> float:
    """E[min(c, 1 - c)] for c from a beta distribution."""
    return a / (a + b) * stats.beta.cdf(0.5, a + 1, b) + b / (a + b) * stats.beta.sf(0.5, a, b + 1)


# Bayes error and class prior, exactly
TRUTH = {
    "beta(.3,.3)": (folded_beta(0.3, 0.3), 0.5),
    "beta(2,2)": (folded_beta(2, 2), 0.5),
    "mostly easy": (0.025, 0.5),
    "two values": (0.1, 0.5),
    "skewed": (folded_beta(0.2, 2), 0.2 / 2.2),
    "all at 0.4": (0.4, 0.4),
    "1% unsure": (0.005, 0.005),
    "5% unsure": (0.0125, 0.025),
}


def report(name: str, results: list[tuple[float, float, float]], beta: float) -> str:
    """Coverage and mean width of 95% intervals, bias of the point, each with its Monte Carlo
    error.
    """
    value, low, high = np.array(results).T
    trials = len(results)
    held = (low <= beta + 1e-9) & (high >= beta - 1e-9)
    cover, width = held.mean(), high - low
    return (
        f"{name:<34} β {beta:.4f}  coverage {cover:.3f} ± "
        f"{np.sqrt(max(cover * (1 - cover), 1 / trials) / trials):.3f}  "
        f"width {width.mean():.4f}  bias {value.mean() - beta:+.4f} ± "
        f"{value.std() / np.sqrt(trials):.4f}"
    )


def one(result: Any) -> tuple[float, float, float]:
    return (result.value, *result.interval(0.95))


def clean(trials: int) -> None:
    print("Soft labels, signs, positive confidence: 95% intervals")
    for name, shape in {**SHAPES, **RARE}.items():
        beta, prior = TRUTH[name]
        for n in (50, 200, 1000, 10_000, 100_000):
            rng = np.random.default_rng(n)
            found: dict[str, list[tuple[float, float, float]]] = {
                "soft": [],
                "hard with signs": [],
                "confidence": [],
            }
            for _ in range(trials if n <= 1000 else max(trials // 10, 20)):
                c = shape(rng, n)
                found["soft"].append(one(tr.bayes_error(c)))
                hard = rng.random(n) < c
                found["hard with signs"].append(
                    one(tr.bayes_error(hard=hard.astype(int), signs=c > 0.5))
                )
                more = shape(rng, 40 * n if n <= 10_000 else 4 * n)
                positive = more[rng.random(len(more)) < more][:n]
                if len(positive) > 20:
                    found["confidence"].append(
                        one(tr.bayes_error(positive_confidence=positive, prior=prior))
                    )
            for kind, results in found.items():
                if results:
                    print(report(f"{name}, n {n:,}, {kind}", results, beta))


def votes(trials: int) -> None:
    print("Votes: 95% intervals for m labels an item")
    for name, shape in SHAPES.items():
        beta = TRUTH[name][0]
        for n in (50, 1000, 10_000):
            for m in (1, 2, 3, 5, 10, 50, 0):
                rng = np.random.default_rng([n, m])
                results, plain, identified = [], [], []
                for _ in range(trials if n <= 1000 else max(trials // 5, 20)):
                    c = shape(rng, n)
                    size = np.full(n, m) if m else rng.integers(1, 6, n)
                    k = rng.binomial(size, c)
                    result = tr.bayes_error(counts=np.stack([size - k, k], axis=1))
                    results.append(one(result))
                    plain.append(result.paper)
                    identified.append(result.identified)
                low, high = np.mean(np.array(identified), axis=0)
                print(
                    report(f"{name}, n {n:,}, m {m or '1 to 5'}", results, beta)
                    + f"  identified {low:.4f} to {high:.4f}  bias of Eq. 5 "
                    f"{np.mean(plain) - beta:+.4f}"
                )


def classes(trials: int) -> None:
    print("Several classes: 95% intervals")
    for k, spread in ((3, 0.3), (3, 2.0), (10, 0.1), (10, 0.5)):
        beta = float(
            (
                1 - np.random.default_rng(0).dirichlet(np.full(k, spread), 1_000_000).max(axis=1)
            ).mean()
        )
        for m in (1, 2, 3, 5, 20):
            rng = np.random.default_rng([k, m])
            results, plain = [], []
            for _ in range(max(trials // 10, 10)):
                p = rng.dirichlet(np.full(k, spread), 500)
                result = tr.bayes_error(counts=rng.multinomial(m, p))
                results.append(one(result))
                plain.append(result.paper)
            print(
                report(f"{k} classes, Dirichlet({spread}), m {m}", results, beta)
                + f"  bias of Eq. 5 {np.mean(plain) - beta:+.4f}"
            )


def scores(trials: int) -> None:
    print("Scores calibrated on decisions: 95% intervals; the curve is logistic, then not (steps)")
    for name, curve in (
        ("logistic", lambda s: 1 / (1 + np.exp(-3 * s + 1))),
        ("steps", lambda s: np.where(s < 0, 0.1, np.where(s < 1, 0.6, 0.95))),
    ):
        c = curve(np.random.default_rng(0).normal(size=4_000_000))
        beta = float(np.minimum(c, 1 - c).mean())
        for n in (50, 200, 1000, 10_000):
            for calibration in ("platt", "isotonic"):
                rng = np.random.default_rng(n)
                results = []
                for _ in range(trials if n <= 1000 else max(trials // 10, 20)):
                    s = rng.normal(size=n)
                    decided = rng.random(n) < curve(s)
                    if 0 < decided.sum() < n:
                        results.append(
                            one(
                                tr.bayes_error(scores=s, decisions=decided, calibration=calibration)
                            )
                        )
                print(report(f"{name}, n {n:,}, {calibration}", results, beta))


def bounds(trials: int) -> None:
    print(
        "Propositions 3.2, 3.5, 4.3 at δ = 0.05: share of trials outside the bound (must be "
        "at most 0.05)"
    )
    for name, shape in SHAPES.items():
        beta, prior = TRUTH[name]
        rng = np.random.default_rng(1)
        out = np.zeros(3)
        for _ in range(trials):
            c = shape(rng, 200)
            hard = (rng.random(200) < c).astype(int)
            more = shape(rng, 8000)
            positive = more[rng.random(8000) < more][:200]
            found = [
                tr.bayes_error(c),
                tr.bayes_error(hard=hard, signs=c > 0.5),
                tr.bayes_error(positive_confidence=positive, prior=prior),
            ]
            out += [abs(result.paper - beta) > result.bound(0.95) for result in found]
        print(
            f"{name:<14} Prop. 3.2 {out[0] / trials:.4f}   Prop. 3.5 {out[1] / trials:.4f}   "
            f"Prop. 4.3 {out[2] / trials:.4f}"
        )


def verdicts(trials: int) -> None:
    print(
        "Verdicts from votes (n = 2,000): how often each, for the best possible model, one "
        "that learned these votes, and one 2 points worse"
    )
    for name in ("beta(.3,.3)", "beta(2,2)", "two values"):
        for m in (3, 10, 50):
            rng = np.random.default_rng(m)
            found: dict[str, list[str]] = {"best": [], "learned": [], "worse": []}
            for _ in range(max(trials // 5, 20)):
                c = SHAPES[name](rng, 2000)
                k = rng.binomial(m, c)
                wrong = rng.random(2000) < 0.02 / np.maximum(np.abs(1 - 2 * c).mean(), 0.02)
                models = {"best": c > 0.5, "learned": k > m / 2, "worse": (c > 0.5) ^ wrong}
                for model, said in models.items():
                    verdict = tr.bayes_error(
                        counts=np.stack([m - k, k], axis=1), predictions=said
                    ).verdict
                    found[model].append(verdict.standing)
            for model, standings in found.items():
                shares = ", ".join(
                    f"{what} {standings.count(what) / len(standings):.2f}"
                    for what in sorted(set(standings))
                )
                print(
                    f"{name}, m {m}, {model}: {shares} ± {0.5 / np.sqrt(len(standings)):.2f} "
                    "at most"
                )


if __name__ == "__main__":
    parts = {
        "clean": clean,
        "votes": votes,
        "classes": classes,
        "scores": scores,
        "bounds": bounds,
        "verdicts": verdicts,
    }
    chosen = sys.argv[1] if len(sys.argv) > 1 else None
    for name, part in parts.items():
        if chosen in (None, name):
            part(int(sys.argv[2]) if len(sys.argv) > 2 else 500)
