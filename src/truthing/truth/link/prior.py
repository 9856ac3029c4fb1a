"""The prior of the link: how far the truth may lie from what a panel says, learned from public
panels.

λ, the logit of the accuracy on these items, is expected where public panels of that kind had it,
given the plain agreement of labels and predictions, what the consensus models claim beyond it, and
how far labelers agree among themselves (`features`); where the user knows how many labels are
wrong, given that too (`Told`). Below it item i's prediction is right with
probability ``expit(a + b x_i + u_k)``, x_i the labelers' log-odds, k the predicted class. The prior
is a mixture of components, each a normal in (λ, b, u). Its tails are heavy in all of them together,
and some components know nothing about the level: they let gold speak alone (docs/theory.md).
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv, expit, gammaincinv, ndtri

from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.truth.link.learned import DEFAULT, OWN_LABELS
from truthing.truth.link.numbers import ABOVE, ABOVE_SD, EFFECTS, PanelNumbers
from truthing.truth.link.views import Views

PanelError = float | tuple[float, float]
SLICES = (0.35, 0.3, 0.2, 0.1, 0.05)  # of Student's t, each one normal
NORMAL = ndtri((np.arange(400) + 0.5) / 400)  # equally likely values
SCALES = np.geomspace(1e-4, 100, 400)  # that a user's word is looked up in
# what a gold item counts, where gold is scarce and where it is not: the link's form is not exact,
# and of language models that told only where gold was scarce (docs/honesty.md)
TEMPER = {"people": (0.95, 0.95), "models": (0.9, 1.0)}
SCARCE, PLENTY = 25, 50  # gold items
BETWEEN = 0.9  # the same for differences between models
KINDS = ("people", "models")
Row = tuple[float | bool, ...]


class Components(NamedTuple):
    """A mixture: component q has λ ~ N(centre, sd²), or a uniform accuracy where ``flat``;
    b ~ N(slope, slope_sd²); effects u ~ N(0, effect_sd²). Those ``gold_only`` take part where gold
    can tell: flat ones, a classifier better than its panel, numbers of the other kind. ``temper``
    is what a gold item counts where gold is scarce and where it is not, ``between`` for differences
    between models."""

    weight: Array
    flat: Array
    centre: Array
    sd: Array
    slope: Array
    slope_sd: Array
    effect_sd: Array
    gold_only: Array
    temper: tuple[float, float] = (1.0, 1.0)
    between: float = 1.0

    def worth_of_gold(self, n_gold: float) -> float:
        """What each of so many gold items counts."""
        return float(np.interp(n_gold, (SCARCE, PLENTY), self.temper))

    @property
    def middle(self) -> tuple[float, float]:
        """Mean level and slope of the components that know something."""
        knows = np.where(self.gold_only, 0.0, self.weight)
        knows = knows / knows.sum() if knows.sum() > 0 else self.weight / self.weight.sum()
        return float(knows @ self.centre), float(knows @ self.slope)

    @property
    def informed(self) -> Components:
        """Without those that only make sense beside gold."""
        columns = self._fields[: self._fields.index("temper")]
        kept = self._replace(**{name: getattr(self, name)[~self.gold_only] for name in columns})
        return kept._replace(weight=kept.weight / kept.weight.sum())


def learned_components(
    views: Views,
    panel: str | None = None,
    numbers: dict[str, PanelNumbers] | None = None,
    *,
    own: bool = False,
    extra_spread: float = 0.0,
) -> Components:
    """As public panels were, of predictions from these very labels (``own``) or others; a panel of
    unknown or mixed kind gets half of each kind's ``numbers``."""
    numbers, kinds = numbers or numbers_for(own=own), kinds_of(panel)
    parts = [(kind, 1 / len(kinds), False) for kind in kinds]
    if panel in KINDS and (other := numbers[panel].other):
        parts = [(panel, 1 - other, False), *((k, other, True) for k in KINDS if k != panel)]
    rows: list[Row] = []
    for kind, part, gold_only in parts:
        known = numbers[kind]
        flat, better = known.flat * part, known.better * part
        centre, scale = known.level(views, extra_spread)
        for weight, multiple in student_slices(known.freedom):
            wide = np.sqrt(max(multiple, 1.0))  # an odd level allows an odd slope
            normal = centre, scale * float(np.sqrt(multiple))
            if views.told is not None:
                normal = known.narrowed(views, views.told, *normal)
            for share, effect in known.effects:
                portion = (part - 2 * flat - better) * weight * share
                below = known.slope, known.slope_sd * wide, effect
                rows.append((portion, False, *normal, *below, gold_only))
        rows += _flat_rows(centre, known.slope, flat, flat)
        if better:
            upwards = False, centre + ABOVE, ABOVE_SD, known.slope, known.slope_sd
            rows += [(better * share, *upwards, u, True) for share, u in EFFECTS]
    few, many = np.mean([TEMPER[kind] for kind in kinds], axis=0)
    return _as_components(rows, (float(few), float(many)), BETWEEN)


def kinds_of(panel: str | None) -> tuple[str, ...]:
    """Whose numbers a panel gets: one that is neither of people nor of models is taken for both."""
    return KINDS if panel not in KINDS else (panel,)


def numbers_for(*, own: bool) -> dict[str, PanelNumbers]:
    """For predictions from these very labels (``own``) or others."""
    return OWN_LABELS if own else DEFAULT


def stated_components(
    views: Views, panel_error: PanelError, *, slope: float = 0.6, slope_sd: float = 0.4
) -> Components:
    """A user's word: the expected |accuracy - what the model expects| is ``panel_error``, or
    Beta(a, b) distributed. A tenth of the weight lets gold contradict it."""
    centre = float(views.levels[1])
    scales = stated_scales(centre, panel_error)
    rows: list[Row] = [
        (0.9 * share / len(scales), False, centre, scale, slope, slope_sd, effect, False)
        for scale in scales
        for share, effect in EFFECTS
    ]
    return _as_components(rows + _flat_rows(centre, slope, 0.05, 0.05))


def _flat_rows(centre: float, slope: float, alike: float, free: float) -> list[Row]:
    rows: list[Row] = [
        (alike * share, True, centre, 1.0, 0.0, 0.02, effect, True) for share, effect in EFFECTS
    ]
    return [*rows, (free, True, centre, 1.0, slope, 1.0, 2.5, True)]


def _as_components(
    rows: list[Row], temper: tuple[float, float] = (1.0, 1.0), between: float = 1.0
) -> Components:
    table = np.array(rows, dtype=float)
    weight, flat, centre, sd, slope, slope_sd, effect_sd, gold_only = table.T
    numbers = centre, sd, slope, slope_sd, effect_sd
    return Components(weight, flat > 0, *numbers, gold_only > 0, temper, between)


def stated_scales(centre: float, panel_error: PanelError) -> Array:
    """Scales of a share's logit, equally likely; several where ``panel_error`` is a distribution.

    A share whose logit is normal around ``centre`` is expected to lie ``panel_error`` from it.
    """
    if isinstance(panel_error, tuple):
        a, b = panel_error
        if not (a > 0 and b > 0):
            raise InputError(
                f"panel_error={panel_error}: both numbers of a Beta distribution are above 0."
            )
        shares = np.asarray(betaincinv(a, b, (np.arange(8) + 0.5) / 8))
    else:
        if not 0 < panel_error <= 0.5:
            raise InputError(
                f"panel_error {panel_error} is outside (0, 0.5]: it is a share of items; 0 trusts "
                "the noise model."
            )
        shares = np.array([float(panel_error)])
    apart = np.abs(expit(centre + SCALES[:, None] * NORMAL) - expit(centre)).mean(axis=1)
    return np.interp(shares, apart, SCALES)


@cache
def student_slices(freedom: float) -> list[tuple[float, float]]:
    """Student's t as normals of unequal variance: (weight, multiple of the variance)."""
    found = []
    for low, high in pairwise(np.concatenate([[0], np.cumsum(SLICES)])):
        at = low + (np.arange(501) + 0.5) / 501 * (high - low)
        multiple = np.exp(np.log(freedom / 2 / gammaincinv(freedom / 2, 1 - at)).mean())
        found.append((float(high - low), float(multiple)))
    return found
