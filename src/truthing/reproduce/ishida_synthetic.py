"""Ishida et al. 2023, Figures 1-3: two Gaussians whose Bayes error is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from truthing.ceiling.bayes_error import bayes_error
from truthing.class_codes import Array
from truthing.render.waiting import counted
from truthing.reproduce.figures import figure
from truthing.reproduce.tables import show

SIZES = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1028)
TRIALS = 10


@dataclass(frozen=True)
class Setup:
    """Two Gaussian classes of equal prior."""

    mean: tuple[Array, Array]
    cov: tuple[Array, Array]

    def draw(self, rng: np.random.Generator, per_class: int) -> tuple[Array, Array, Array]:
        """Instances, P(positive | x), and the class: True for the first Gaussian."""
        x = np.concatenate(
            [rng.multivariate_normal(m, c, per_class) for m, c in zip(self.mean, self.cov)]
        )
        return x, self.posterior(x), np.arange(2 * per_class) < per_class

    def posterior(self, x: Array) -> Array:
        first, second = (_log_density(x, m, c) for m, c in zip(self.mean, self.cov))
        return np.asarray(expit(first - second))

    def bayes_error(self) -> float:
        """Φ(-√d/2) for setups C and D; otherwise the mean of Eq. 4 over a million draws."""
        if np.array_equal(self.cov[0], self.cov[1]):
            from scipy.special import ndtr

            return float(ndtr(-np.linalg.norm(self.mean[0] - self.mean[1]) / 2))
        return float(bayes_error(self.draw(np.random.default_rng(0), 500_000)[1]))


def _log_density(x: Array, mean: Array, cov: Array) -> Array:
    apart = x - mean
    return (
        -0.5 * ((apart @ np.linalg.inv(cov)) * apart).sum(axis=1) - 0.5 * np.linalg.slogdet(cov)[1]
    )


def _setup(first: list[float], second: list[float], cov_first: Array, cov_second: Array) -> Setup:
    return Setup(
        (np.array(first, float), np.array(second, float)),
        (np.array(cov_first, float), np.array(cov_second, float)),
    )


# A and B: the first two synthetic sets of the positive-confidence paper (Ishida et al. 2018), as
# its public code has them
SETUPS = {
    "A": _setup([0, 0], [-2, 5], np.array([[7, -6], [-6, 7]]), np.array([[2, 0], [0, 2]])),
    "B": _setup([0, 0], [0, 4], np.array([[5, 3], [3, 5]]), np.array([[5, -3], [-3, 5]])),
    "C": _setup([0] * 10, [1] * 10, np.eye(10), np.eye(10)),
    "D": _setup([0] * 20, [1] * 20, np.eye(20), np.eye(20)),
}


def add_noise(c: Array, rng: np.random.Generator, sd: float = 0.4) -> Array:
    """Gaussian noise cut symmetrically at ``min(c, 1 - c)``, so that the mean stays and the result
    is a probability.
    """
    from scipy.special import ndtr, ndtri

    room = np.minimum(c, 1 - c)
    edge = ndtr(-room / sd)
    noise = sd * ndtri(edge + rng.random(len(c)) * (1 - 2 * edge))
    return np.clip(c + np.clip(noise, -room, room), 0, 1)


def estimates(setup: Setup, rng: np.random.Generator, per_class: int) -> dict[str, float]:
    """The paper's estimators on one draw."""
    _, c, positive = setup.draw(rng, per_class)
    noisy = add_noise(c, rng)
    return {
        "Eq. 4, clean": bayes_error(c).paper,
        "Eq. 5, noisy": bayes_error(noisy=noisy).paper,
        "Eq. 6, noisy with signs": bayes_error(noisy=noisy, signs=c > 0.5).paper,
        "Eq. 8, positive confidence": bayes_error(positive_confidence=c[positive], prior=0.5).paper,
    }


def baselines(
    setup: Setup, rng: np.random.Generator, per_class: int, *, rounds: int
) -> dict[str, float]:
    """What instances give: a small network's test error and its own probabilities in Eq. 3, and the
    nearest-neighbour bound.
    """
    x, c, positive = setup.draw(rng, per_class)
    new, _, truth = setup.draw(rng, 2000)
    found = {}
    for name, target in (("hard", positive.astype(float)), ("soft", c)):
        chance = small_network(x, target, rng, rounds=rounds)(new)
        found[f"network, {name}: test error"] = float(((chance > 0.5) != truth).mean())
        found[f"network, {name}: Eq. 3"] = bayes_error(chance).paper
    error = nearest_neighbour_error(x, positive)
    # Cover & Hart 1967: e ≤ 2β(1 - β) in the limit of many samples
    found["nearest neighbour bound"] = float((1 - np.sqrt(max(1 - 2 * error, 0.0))) / 2)
    return found


def small_network(
    x: Array, target: Array, rng: np.random.Generator, *, hidden: int = 50, rounds: int = 300
) -> Callable[[Array], Array]:
    """One hidden layer trained on the cross-entropy with hard or soft targets (Adam, all samples at
    once).
    """
    centre, scale = x.mean(axis=0), x.std(axis=0) + 1e-9
    x = (x - centre) / scale
    weights = [
        rng.normal(size=(x.shape[1], hidden)) / np.sqrt(x.shape[1]),
        np.zeros(hidden),
        rng.normal(size=hidden) / np.sqrt(hidden),
        np.zeros(1),
    ]
    first, second = [np.zeros_like(w) for w in weights], [np.zeros_like(w) for w in weights]
    for turn in range(1, rounds + 1):
        layer = np.maximum(x @ weights[0] + weights[1], 0)
        wrong = (expit(layer @ weights[2] + weights[3]) - target) / len(x)
        back = np.outer(wrong, weights[2]) * (layer > 0)
        slopes = [x.T @ back, back.sum(axis=0), layer.T @ wrong, wrong.sum(keepdims=True)]
        for k, slope in enumerate(slopes):
            first[k] = 0.9 * first[k] + 0.1 * slope
            second[k] = 0.999 * second[k] + 0.001 * slope**2
            step = first[k] / (1 - 0.9**turn) / (np.sqrt(second[k] / (1 - 0.999**turn)) + 1e-8)
            weights[k] = weights[k] - 0.01 * step
    return lambda new: expit(
        np.maximum((new - centre) / scale @ weights[0] + weights[1], 0) @ weights[2] + weights[3]
    )


def nearest_neighbour_error(x: Array, positive: Array) -> float:
    """Leave-one-out error of the nearest neighbour."""
    square = (x**2).sum(axis=1)
    distance = square[:, None] - 2 * x @ x.T + square
    np.fill_diagonal(distance, np.inf)
    return float((positive[np.argmin(distance, axis=1)] != positive).mean())


def curves(name: str, setup: Setup, sizes: tuple[int, ...], *, quick: bool) -> dict[str, Array]:
    """Mean and standard error over ten trials for each number of samples per class."""
    found: dict[str, list[tuple[float, float]]] = {}
    for size in counted(sizes, f"Figures 1-3, setup {name}"):
        trials = []
        for trial in range(TRIALS):
            rng = np.random.default_rng([trial, size])
            row = estimates(setup, rng, size)
            row |= baselines(setup, rng, size, rounds=60 if quick else 300)
            trials.append(row)
        for method in trials[0]:
            values = np.array([row[method] for row in trials])
            found.setdefault(method, []).append(
                (float(values.mean()), float(values.std(ddof=1) / np.sqrt(TRIALS)))
            )
    return {method: np.array(rows) for method, rows in found.items()}


def synthetic(figures: str, *, quick: bool) -> None:
    """Figures 1-3 and their last points as a table."""
    sizes = SIZES[::3] if quick else SIZES
    found = {name: curves(name, setup, sizes, quick=quick) for name, setup in SETUPS.items()}
    true = {name: setup.bayes_error() for name, setup in SETUPS.items()}
    rows = [("true Bayes error", *(f"{100 * true[s]:.2f}" for s in SETUPS))]
    for method in next(iter(found.values())):
        rows.append(
            (
                method,
                *(
                    f"{100 * found[s][method][-1, 0]:.2f} ± {100 * found[s][method][-1, 1]:.2f}"
                    for s in SETUPS
                ),
            )
        )
    show(
        f"Figures 1-3: Bayes error % at {sizes[-1]} samples per class, mean and standard "
        f"error of {TRIALS} trials",
        ["", *(f"setup {s}" for s in SETUPS)],
        rows,
        "C and D have Φ(-√d/2) = 5.69% and 1.27%. A and B: means and covariances of the "
        "positive-confidence paper's public code. Noise is cut at "
        "±min(c, 1 - c) as the paper writes; its public code cuts at 0.4 of that, so that "
        "its Eq. 5 shows less bias. "
        "The network has one hidden layer of 50 units (the paper's: two of 500).",
    )
    parts = {
        "1": [
            "Eq. 4, clean",
            *(m for m in next(iter(found.values())) if m.startswith(("network", "nearest"))),
        ],
        "2": ["Eq. 4, clean", "Eq. 5, noisy", "Eq. 6, noisy with signs"],
        "3": ["Eq. 4, clean", "Eq. 8, positive confidence"],
    }
    for number, methods in parts.items():
        with figure(figures, f"ishida-figure-{number}", ncols=4, figsize=(15, 3.6)) as axes:
            for ax, name in zip(axes, SETUPS):
                for method in methods:
                    mean, error = 100 * found[name][method].T
                    ax.errorbar(sizes, mean, yerr=error, label=method, marker=".", capsize=2)
                ax.axhline(100 * true[name], color="black", linestyle="--", label="true")
                ax.set(
                    xscale="log", xlabel="samples per class", title=f"Setup {name}", ylim=(0, None)
                )
            axes[0].set_ylabel("error (%)")
            axes[-1].legend(frameon=False, fontsize=7)
