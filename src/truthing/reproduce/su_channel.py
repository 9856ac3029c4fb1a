"""Su Section 4 (Figures 6-8: labelers as a channel) and Section 5.5 (many mediocre labelers against
one expert of equal information).

The pages of Section 5.5 are missing; its question is answered with a design of ours. An expert errs
on 5% (0.690 bits at π(1) = .4). T labelers share the error that makes their T labels carry exactly
the same bits (Figure 8's curve). Both label the same items; noise and prior are known, as in the
paper. Testing: 400 items, a classifier at (.85, .15), `grade`. Training: 400 items of two Gaussian
classes in five dimensions, logistic regression on P(truth | labels) (MMSE training: each item once
for each class, weighted), judged on 20,000 clean items.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.grading import grade
from truthing.noise.base import symmetric_table
from truthing.noise.bits import label_bits
from truthing.people.channel import panel_bits
from truthing.render.waiting import counted
from truthing.reproduce.figures import figure
from truthing.reproduce.tables import show
from truthing.simulation import simulate

LEGEND = {0.10: 0.512, 0.05: 0.690, 0.02: 0.832, 0.01: 0.891}
PRIOR = np.array([0.6, 0.4])
EXPERT, PANELS = 0.05, (3, 7, 15)
N_ITEMS, N_FRESH, SHIFT = (
    400,
    20_000,
    0.55,
)  # each of five features differs by 1.1 standard deviations between the classes


def bits(n_labelers: int, error: float, prior: Array = PRIOR) -> float:
    """I(T, ε, π) of the binary symmetric broadcast channel."""
    return panel_bits(symmetric_table(np.full(n_labelers, error), 2), prior)[0]


def matching_error(n_labelers: int, expert: float) -> float:
    """The error at which T equal labelers carry the bits of one expert (bisection; Figure 8)."""
    goal = bits(1, expert)
    low, high = 0.0, 0.5
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if bits(n_labelers, middle) >= goal else (low, middle)
    return (low + high) / 2


def figures_6_to_8(folder: str) -> None:
    """The channel's information as pictures, and Figure 8's legend beside ours."""
    rows = [[f"{e:.2f}", f"{bits(1, e):.3f}", f"{printed:.3f}"] for e, printed in LEGEND.items()]
    show("Figure 8, legend", ["error", "bits, ours", "printed"], rows, "One labeler, π(1) = .4.")
    numbers = np.array([1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50])
    with figure(folder, "su-figures-6-8", ncols=3, figsize=(13, 4)) as axes:
        skewed = np.array([0.9, 0.1])
        for error in (0.05, 0.1, 0.2, 0.3, 0.4, 0.45):
            axes[0].plot(
                numbers, [bits(int(t), error, skewed) for t in numbers], label=f"ε = {error:g}"
            )
        axes[0].set(title="6: I(Z;Y | T, ε), π(1) = .1", xlabel="labelers T", ylabel="bits")
        share, rate = np.meshgrid(np.linspace(0.01, 0.99, 60), np.linspace(0, 0.5, 60))
        surface = label_bits(symmetric_table(rate, 2), np.stack([1 - share, share], axis=-1))
        filled = axes[1].contourf(
            share, rate, surface, levels=np.linspace(0, 1, 11), cmap="viridis"
        )
        axes[1].figure.colorbar(filled, ax=axes[1], label="bits")
        axes[1].set(
            title="7: I(Z;Y | ε′) of one labeler", xlabel="class prior π(1)", ylabel="error ε′"
        )
        for expert in LEGEND:
            label = f"ε′ = {expert:.2f}, {bits(1, expert):.3f} bits"
            axes[2].plot(numbers, [matching_error(int(t), expert) for t in numbers], label=label)
        axes[2].set(
            title="8: ε at which T match one, π(1) = .4", xlabel="labelers T", ylabel="error ε"
        )
        axes[2].set_ylim(0, 0.5)
        axes[0].set_ylim(0, 0.6)
        axes[0].legend(frameon=False, fontsize=8, ncols=3, loc="upper center")
        axes[2].legend(frameon=False, fontsize=8)


def section_5_5(n_repeats: int, folder: str) -> dict[str, dict[str, Array]]:
    """Testing and training with an expert, with T mediocre labelers of equal information, and with
    one of the mediocre alone.
    """
    designs = {f"expert, error {EXPERT:.3f}": (1, EXPERT)}
    for n_labelers in PANELS:
        error = matching_error(n_labelers, EXPERT)
        designs[f"{n_labelers} labelers, error {error:.3f}"] = (n_labelers, error)
    designs[f"one of {PANELS[0]} alone"] = (1, matching_error(PANELS[0], EXPERT))
    turns = list(product(designs, range(n_repeats)))
    parts = [
        _test(*designs[name], seed) | _train(*designs[name], seed)
        for name, seed in counted(turns, "Section 5.5")
    ]
    found = {
        name: _stacked([part for (whose, _), part in zip(turns, parts) if whose == name])
        for name in designs
    }
    expert = next(iter(found.values()))
    rows = []
    for (name, values), (n_labelers, error) in zip(found.items(), designs.values()):
        gap = values["trained"] - expert["trained"]
        rows.append(
            [
                name,
                f"{bits(n_labelers, error):.3f}",
                _mean(values["bias"], 4),
                _mean(np.abs(values["bias"]), 4),
                _mean(values["width"], 4),
                f"{values['held'].mean():.2f}",
                _mean(values["trained"], 4),
                "-" if values is expert else _mean(gap, 4),
            ]
        )
    show(
        f"Section 5.5: equal information, {n_repeats} repeats (mean ± Monte Carlo error)",
        [
            "labels from",
            "bits",
            "accuracy: bias",
            "|error|",
            "95% width",
            "held",
            "error of trained model",
            "minus expert's",
        ],
        rows,
        f"Ideal training (correct labels) reaches an error of {_mean(expert['ideal'], 4)}. "
        "Bits alone do not fix an estimator's variance: results agree "
        "closely, not exactly. The paper's pages are missing; design: docs/labelers.md, section 4.",
    )
    _figure_5_5(found, folder)
    return found


def _stacked(parts: list[dict[str, float]]) -> dict[str, Array]:
    return {name: np.array([part[name] for part in parts]) for name in parts[0]}


def _test(n_labelers: int, error: float, seed: int) -> dict[str, float]:
    data = simulate(
        N_ITEMS,
        n_labelers,
        prior=PRIOR,
        operating_point=(0.85, 0.15),
        confusion=symmetric_table(error, 2),
        seed=seed,
    )
    truth = float((data.predictions == data.truth).mean())
    report = grade(
        data.predictions, data.labels, noise=error, prior=PRIOR, panel_error=0, seed=seed
    )
    estimate = report["accuracy"]
    low, high = estimate.interval(0.95)
    return {"bias": estimate.mean - truth, "width": high - low, "held": float(low <= truth <= high)}


def _train(n_labelers: int, error: float, seed: int) -> dict[str, float]:
    rng = np.random.default_rng([seed, 7])
    table = symmetric_table(error, 2)
    truth, fresh = (rng.random(n) < PRIOR[1] for n in (N_ITEMS, N_FRESH))
    features, clean = (
        rng.standard_normal((len(y), 5)) + SHIFT * (2 * y[:, None] - 1) for y in (truth, fresh)
    )
    positive = np.where(
        rng.random((N_ITEMS, n_labelers)) < error, ~truth[:, None], truth[:, None]
    ).sum(axis=1)
    odds = PRIOR[1] / PRIOR[0] * (table[1, 1] / table[0, 1]) ** (2.0 * positive - n_labelers)
    soft = odds / (1 + odds)
    return {
        "trained": float((_fit(features, soft).predict(clean) != fresh).mean()),
        "ideal": float((_fit(features, truth.astype(float)).predict(clean) != fresh).mean()),
    }


def _fit(features: Array, soft: Array) -> Any:
    """Logistic regression on soft labels: each item twice, weighted by P(class | labels)."""
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError:
        raise InputError(
            "Section 5.5 trains with scikit-learn: pip install 'truthing[train]'."
        ) from None
    both = np.concatenate([features, features])
    target = np.repeat([1, 0], len(features))
    weight = np.concatenate([soft, 1 - soft])
    return LogisticRegression(C=1.0).fit(
        both[weight > 0], target[weight > 0], sample_weight=weight[weight > 0]
    )


def _mean(values: Array, digits: int) -> str:
    return f"{values.mean():.{digits}f}±{values.std(ddof=1) / np.sqrt(len(values)):.{digits}f}"


def _figure_5_5(found: dict[str, dict[str, Array]], folder: str) -> None:
    with figure(folder, "su-section-5-5", ncols=3, sharey=True, figsize=(12, 3)) as axes:
        place = -np.arange(len(found))
        for ax, (what, title) in zip(
            axes,
            (
                ("bias", "error of estimated accuracy"),
                ("width", "width of its 95% interval"),
                ("trained", "error of the trained model"),
            ),
        ):
            values = np.array([v[what] for v in found.values()])
            ax.plot(values.T, np.broadcast_to(place, values.T.shape), ".", color="#bbbbbb", ms=3)
            ax.errorbar(
                values.mean(axis=1),
                place,
                xerr=2 * values.std(axis=1) / np.sqrt(values.shape[1]),
                fmt="o",
                color="#0072B2",
                capsize=3,
            )
            ax.set(title=title)
        axes[0].set_yticks(place, list(found))
