"""The numbers of the link's prior (truth/link/learned.py), learned from public panels, families
apart.

For each kind of panel: location and scale of the level λ (`PanelNumbers`) by weighted maximum
likelihood, a hierarchy of set within family in the weights; how well these numbers are known
themselves by a bootstrap of families; the slope by EM with Laplace's method. For users who know
how many labels are wrong: how many are expected, and what λ is where there are more or fewer.

    python studies/fit_link.py             the numbers, from all families
    python studies/fit_link.py --leave-out also with each family left out
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from typing import Any

import numpy as np
from panels import Case, graded_cases, own_cases, panels, small_cases
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import t as student

from truthing.labels import Labels
from truthing.truth.link.design import link_design
from truthing.truth.link.numbers import (
    BETTER,
    EFFECTS,
    FEW,
    FLAT,
    OTHER,
    OWN_EFFECTS,
    OWN_FLAT,
    PanelNumbers,
    doubts,
    features,
    label_signs,
)
from truthing.truth.link.prior import KINDS
from truthing.truth.link.told import POSSIBLE, SEEN, WrongLabels, between_bounds

FREEDOM = {"people": 5.0, "models": 4.0}  # fewer families of judges: heavier tails
COUNT_AS = 3.0  # the cases of one set are graded by one panel: they count as so many observations
BOOTSTRAPS = 40
# chosen on half A: scales learned from few families are too small for a family never seen (language
# models: where labels per item are few, see `FEW`)
WIDEN = {False: {"people": 1.2, "models": 0.945}, True: {"people": 1.5, "models": 1.6}}
WIDEN_SLOPE = 1.5
# by how much more of the scale is left than was fitted (`PanelNumbers.left`), at most all of it
WIDEN_LEFT = {False: {"people": 1.0, "models": 1.3}, True: {"people": 1.0, "models": 1.6}}
# what the level and its scale depend on, as in `features` and `doubts`: chosen on half A by the log
# score
PLACES = {"people": np.array([1, 1, 1, 0, 0]), "models": np.array([1, 1, 1, 1, 1])}
PARTS = {"people": np.array([1, 1, 0, 0]), "models": np.array([1, 0, 1, 1])}
CENTRE = np.array([-0.2, 1.0, 0.4, 0.0, 0.0, -0.7, -0.7, -1.5, -1.5])
WIDTH = np.array([0.5, 0.3, 0.3, 0.3, 0.3, 0.7, 0.7, 0.7, 0.7])


@dataclass(frozen=True)
class Observed:
    """What one case shows: the true level beside what the link sees, and the slope of its items."""

    kind: str
    family: str
    set: str
    own: bool
    level: float
    agreed: float
    gap: float
    spread: float
    accord: float
    among_level: float
    per_item: float
    agreement: float
    wrong: float  # share of an item's labels, mean over items
    slope: float
    slope_error: float

    @property
    def distance(self) -> float:
        return abs(self.agreed - self.among_level)

    @property
    def right_labels(self) -> float:
        return float(logit(np.clip(1 - self.wrong, *SEEN)))


def observe(case: Case) -> Observed:
    views, right = case.views, case.right.astype(float)
    level = true_level(float(right.sum()), len(right))
    slope, error = _slope(case, level)
    seen = views.agreed, views.gap, views.spread, views.accord, views.among_level, views.per_item
    told = views.agreement, wrong_labels(case.labels, case.truth)
    return Observed(case.kind, case.family, case.set, case.own, level, *seen, *told, slope, error)


def wrong_labels(labels: Labels, truth: np.ndarray) -> float:
    """The share of an item's labels that are wrong, mean over items that have labels."""
    wrong, seen = labels.label != truth[labels.item], labels.per_item > 0
    each = np.bincount(labels.item, wrong, labels.n_items)[seen] / labels.per_item[seen]
    return float(each.mean())


def true_level(right: float, n: float) -> float:
    """The logit of a share of ``right`` among ``n``, kept finite."""
    return float(logit((right + 0.5) / (n + 1)))


def _slope(case: Case, level: float) -> tuple[float, float]:
    """Logistic regression of right or wrong on the signal, given the truth of every item."""
    design = link_design(case.views, level, 0.5)
    size, matrix = design.size, design.matrix
    right = design.tally(slice(None), case.right.astype(float))
    ridge = np.array([1e-3, 0.25] + [0.5] * (matrix.shape[1] - 2))
    centre = np.array([0.0, 0.5] + [0.0] * (matrix.shape[1] - 2))
    beta = centre.copy()
    for _ in range(60):
        chance = expit(matrix @ beta)
        hessian = (matrix.T * (size * chance * (1 - chance))) @ matrix + np.diag(ridge)
        step = np.linalg.solve(
            hessian, matrix.T @ (right - size * chance) - ridge * (beta - centre)
        )
        beta += step * min(1.0, 1.5 / max(np.abs(step).max(), 1e-12))
        if np.abs(step).max() < 1e-6:
            break
    return float(beta[1]), float(np.sqrt(np.linalg.inv(hessian)[1, 1]))


def weights(seen: Sequence[Observed]) -> np.ndarray:
    """Sets of a family share a task: together they count as the root of their number."""
    sets = {o.set: [p for p in seen if p.set == o.set] for o in seen}
    families = {o.family: len({p.set for p in seen if p.family == o.family}) for o in seen}
    return np.array([COUNT_AS / len(sets[o.set]) / np.sqrt(families[o.family]) for o in seen])


def fit_level(seen: Sequence[Observed], weight: np.ndarray, kind: str) -> np.ndarray:
    """`PanelNumbers.location`, then logs of the parts of the scale; weak priors on all."""
    level = np.array([o.level for o in seen])
    matrix = np.array([features(o) for o in seen]) * PLACES[kind]
    squares = np.array([doubts(o) for o in seen]) ** 2 * PARTS[kind]

    def loss(p: np.ndarray) -> float:
        scale = np.sqrt(squares @ np.exp(2 * p[5:]))
        fit = weight @ (student.logpdf((level - matrix @ p[:5]) / scale, FREEDOM[kind]))
        return float(weight @ np.log(scale) - fit + 0.5 * (((p - CENTRE) / WIDTH) ** 2).sum())

    return np.asarray(minimize(loss, CENTRE, method="BFGS").x)


def fit(seen: Sequence[Observed], kind: str, seed: int = 0) -> PanelNumbers:
    """All numbers of one kind of panel; how well they are known from a bootstrap of families."""
    seen = [o for o in seen if o.kind == kind]
    weight = weights(seen)
    best = fit_level(seen, weight, kind)
    families = sorted({o.family for o in seen})
    member = np.array([families.index(o.family) for o in seen])
    rng = np.random.default_rng(seed)
    again = []
    for _ in range(BOOTSTRAPS):
        counts = rng.dirichlet(np.ones(len(families))) * len(families)
        again.append(fit_level(seen, weight * counts[member], kind)[:5] * PLACES[kind])
    slope, error = np.array([[o.slope, o.slope_error] for o in seen]).T
    mean, variance = _pool(slope, error, weight)
    covariance = tuple(_rounded(row, 5) for row in np.cov(np.array(again).T))
    scale = _rounded(WIDEN[seen[0].own][kind] * np.exp(best[5:]) * PARTS[kind])
    slopes = _rounded([mean, WIDEN_SLOPE * np.sqrt(variance)])
    location = _rounded(best[:5] * PLACES[kind])
    learned = location, scale, *slopes, covariance, FREEDOM[kind]
    if seen[0].own:
        found = PanelNumbers(*learned, OWN_EFFECTS, OWN_FLAT[kind])
    else:
        found = PanelNumbers(*learned, EFFECTS, FLAT[kind], BETTER, OTHER[kind], FEW[kind])
    return fit_told(found, seen, weight, member, rng)


def fit_told(
    known: PanelNumbers,
    seen: Sequence[Observed],
    weight: np.ndarray,
    member: np.ndarray,
    rng: np.random.Generator,
) -> PanelNumbers:
    """What follows where the user knows how many labels are wrong: as many as truly are."""
    kind, own = seen[0].kind, seen[0].own
    signs = np.array([label_signs(o) for o in seen])
    right, root = np.array([o.right_labels for o in seen]), np.sqrt(weight)
    expected = np.linalg.lstsq(signs * root[:, None], right * root, rcond=None)[0]
    better = right - signs @ expected
    spread = float(np.sqrt(weight @ better**2 / weight.sum()))
    surprise = better * (2 * np.array([o.agreement for o in seen]) - 1)
    level = np.array([o.level for o in seen])
    centre, scale = np.array([known.level(o) for o in seen]).T
    shares = [WrongLabels(np.array([o.wrong]), o.agreement).bounds(o.wrong) for o in seen]
    low, high = logit(np.clip(np.array(shares, dtype=float).T, *POSSIBLE))

    def loss(p: np.ndarray) -> float:
        middle, sd = between_bounds(low, high, centre + p[0] * surprise, scale * np.exp(p[1]))
        fit = weight @ (student.logpdf((level - middle) / sd, FREEDOM[kind]) - np.log(sd))
        return float(0.5 * (p[0] - 1) ** 2 + 0.5 * ((p[1] + 0.2) / 0.5) ** 2 - fit)

    moved, left = minimize(loss, [1.0, -0.2], method="Nelder-Mead").x
    away, by, again = (level - centre) / scale, surprise / scale, []
    for _ in range(BOOTSTRAPS):
        some = (weight * rng.dirichlet(np.ones(member.max() + 1))[member])[:, None]
        again.append(float((some.T @ (by * away))[0] / (some.T @ by**2)[0]))
    return replace(
        known,
        right_labels=_rounded(expected),
        right_labels_sd=round(spread, 4),
        moved=round(float(moved), 4),
        moved_sd=round(float(np.std(again)), 4),
        left=round(min(1.0, WIDEN_LEFT[own][kind] * float(np.exp(left))), 4),
    )


def _rounded(values: Any, digits: int = 4) -> Any:
    return tuple(round(float(v), digits) + 0.0 for v in values)


def _pool(slope: np.ndarray, error: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """Mean and variance of the true slopes behind noisy ones (EM); outliers count less."""
    mean, variance = 0.5, 0.1
    for _ in range(200):
        shrink = variance / (variance + error**2)
        post, left = mean + shrink * (slope - mean), variance * (1 - shrink)
        odd = weight * 6 / (5 + (post - mean) ** 2 / variance)  # as for Student's t with 5 degrees
        mean = float(odd @ post / odd.sum())
        variance = float(odd @ (left + (post - mean) ** 2) / weight.sum())
    return mean, variance


def fit_all(seen: Sequence[Observed]) -> dict[bool, dict[str, PanelNumbers]]:
    """Numbers of both kinds: predictions of others (False), and from these very labels (True)."""
    return {
        own: {kind: fit([o for o in seen if o.own == own], kind) for kind in KINDS}
        for own in (False, True)
    }


def leave_out(seen: Sequence[Observed]) -> dict[str, dict[bool, dict[str, PanelNumbers]]]:
    """For each family the numbers learned from all others."""
    families = sorted({o.family for o in seen})
    return {f: fit_all([o for o in seen if o.family != f]) for f in families}


def observed_cases() -> list[Observed]:
    """Every case of every public panel; several panels at a time."""
    names = [(p.kind, p.name) for p in panels()]
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        return [o for found in pool.map(_observe_panel, names) for o in found]


def load_observed(path: str) -> list[Observed]:
    """What an earlier run saved."""
    with open(path) as file:
        return [Observed(**row) for row in json.load(file)]


def _observe_panel(key: tuple[str, str]) -> list[Observed]:
    kind, name = key
    panel = next(p for p in panels(kind, only=name.removesuffix("_binary")) if p.name == name)
    graded = [case for case in graded_cases(panel) if case.labels.n_labelers > 1]
    return [observe(case) for case in [*graded, *small_cases(panel), *own_cases(panel)]]


def main() -> None:
    seen = observed_cases()
    with open(sys.argv[-1], "w") if sys.argv[-1].endswith(".json") else nullcontext() as file:
        if file is not None:
            json.dump([asdict(o) for o in seen], file)
    found = {"nothing": fit_all(seen)}
    if "--leave-out" in sys.argv:
        found |= leave_out(seen)
    for name, numbers in found.items():
        for own, kinds in numbers.items():
            for kind, values in kinds.items():
                about = "own labels" if own else "others"
                print(f"left out: {name:<20} {about:<11}{kind:<8}{values}")


if __name__ == "__main__":
    main()
