"""What the user says about labelers, as a share of wrong labels: how many there are, how well that
is known, what follows for the accuracy, and whether labels or gold contradict it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from truthing.class_codes import Array
from truthing.labels import Labels
from truthing.noise.base import TableNoise, combined_error
from truthing.noise.known import Confusion, Difficulty, Symmetric
from truthing.truth.consensus import Entries
from truthing.truth.known_noise import must_be_learned
from truthing.truth.link.told import Told, told_labels
from truthing.truth.link.views import Views, agreeing_pairs, read_panel
from truthing.truth.question import Question

ROUGHLY = 0.05  # no given rate is known better than to this share of itself
SHARES_OFF = 0.05  # sd of the classes' shares, which confusion matrices are weighed with
BETTER_KNOWN = 0.5  # labelers who leave less than this share of the room speak for all
MOST_ROOM = 0.3  # some labelers alone must leave less: else the whole panel's agreement tells more
MOST_TRIED = 12  # numbers of best labelers that are tried
FEWEST = 5  # gold items that can contradict what was said
CLEARLY = 3.0  # standard deviations
USED = (
    "`noise=` says that {wrong:.1%} (± {sd:.1%}) of the labels{whose} are wrong: then {accuracy}, "
    "however labelers and classifier share mistakes. Within that it is expected where public "
    "panels with as many wrong labels had it. Rates count as known to a twentieth of their value; "
    "`panel_error=0` trusts them fully."
)
BETWEEN = "accuracy most likely lies between {low:.1%} and {high:.1%}"
SEVERAL = "each accuracy has bounds"


class GivenErrors(NamedTuple):
    """How likely each label is wrong (NaN: nothing is said). That is known up to ``shared``, the
    same for all labels, and ``own`` for each labeler (standard deviations)."""

    label: Array
    shared: float
    own: Array


def given_errors(noise: Any, labels: Labels, class_shares: Array) -> GivenErrors | None:
    """None where the noise model does not say how often a label is wrong."""
    if isinstance(noise, Difficulty) and not noise.learned:
        difficulty, fallibility = noise.rates(labels)
        each = difficulty[labels.item], fallibility[labels.labeler]
        return GivenErrors(combined_error(*each, labels.n_classes), 0.0, np.zeros(len(fallibility)))
    if not isinstance(noise, Symmetric | Confusion):
        return None
    wrong = 1 - np.diagonal(_known_tables(noise, labels), axis1=1, axis2=2)
    rate = wrong @ class_shares
    own = SHARES_OFF * np.ptp(wrong, axis=1)
    shared = 0.0
    if isinstance(noise, Symmetric) and noise.range is not None:
        shared = float(np.ptp(noise.range) / np.sqrt(12))
    if isinstance(noise, Confusion) and noise.weight is not None:
        own = np.hypot(own, np.sqrt(rate * (1 - rate) / (noise.weight + 1)))
    return GivenErrors(rate[labels.labeler], shared, own)


def _known_tables(noise: TableNoise, labels: Labels) -> Array:
    """Confusion matrices of all labelers, NaN for those about whom nothing is said."""
    given = noise.error if isinstance(noise, Symmetric) else getattr(noise, "matrices", None)
    if not isinstance(given, Mapping):
        return noise.tables(labels)
    named = [name for name in labels.labelers if name in given]
    tables = np.full((labels.n_labelers, labels.n_classes, labels.n_classes), np.nan)
    place = [labels.labelers.index(name) for name in named]
    if named:
        tables[place] = noise.tables(labels.select(named))
    return tables


@dataclass(frozen=True, eq=False)
class WrongLabels:
    """The share of an item's labels that are wrong, mean over items that have labels of these
    ``labelers`` (a mask), known up to ``sd``; ``agreement`` is the share that says what the
    classifier says, ``covered`` the share of items that have such labels. ``odd`` says how labels
    or gold contradict it."""

    labelers: Array
    wrong: float
    sd: float
    agreement: float
    covered: float
    odd: str = ""

    @property
    def middle(self) -> Told:
        return Told(self.wrong, self.agreement, self.covered)

    @property
    def room(self) -> float:
        """How far apart the bounds of accuracy are."""
        return float(np.ptp(self.middle.shares))

    @property
    def everyone(self) -> bool:
        return bool(self.labelers.all())

    @property
    def values(self) -> tuple[Told, ...]:
        return told_labels(self.wrong, self.sd, self.agreement, self.covered)

    def words(self, several: bool = False) -> str:
        shares = np.array([one.shares for one in self.values])
        n = int(self.labelers.sum())
        whose = "" if self.everyone else f" of {n} labeler{'s' if n > 1 else ''}"
        between = BETWEEN.format(low=shares[:, 0].min(), high=shares[:, 1].max())
        accuracy = SEVERAL if several else between
        return USED.format(wrong=self.wrong, sd=self.sd, whose=whose, accuracy=accuracy)


class ToldViews(NamedTuple):
    """Views that know what the user said (`Views.told`), and what must be said about it."""

    views: Views
    assumptions: list[str]
    warnings: list[str]


def told_views(
    question: Question, noise: Any, views: Views, predicted: Array, *, several: bool = False
) -> ToldViews:
    """The same views of single items; how right predictions are as a whole is read from the
    labelers about whom something is said. ``several``: other classifiers are graded beside it.

    On public panels it was learned from consensus models that were told nothing: so it is read from
    such models here too, whatever noise made ``views``.
    """
    labels = question.labels
    errors = given_errors(noise, labels, views.consensus.mean(axis=0))
    found = None if errors is None else wrong_labels(errors, question, predicted)
    if found is None:
        return ToldViews(views, [], [])
    if found.everyone or found.odd:
        if not must_be_learned(noise, labels) or question.constant:
            views = views.with_signs_of(read_panel(question.entries, predicted))
    else:
        names = [w for w, here in zip(labels.labelers, found.labelers) if here]
        views = views.with_signs_of(read_panel(Entries.of(labels.select(names)), predicted))
    if found.odd:
        return ToldViews(views, [], [found.odd])
    return ToldViews(replace(views, told=found.values), [found.words(several)], [])


def wrong_labels(errors: GivenErrors, question: Question, predicted: Array) -> WrongLabels | None:
    """By all labelers about whom something is said, or by the best of them where they leave far
    less room."""
    labels, known = question.labels, ~np.isnan(errors.label)
    if not known.any():
        return None
    given = np.bincount(labels.labeler[known], minlength=labels.n_labelers)
    total = np.bincount(labels.labeler[known], errors.label[known], minlength=labels.n_labelers)
    rate = np.where(given > 0, total / np.maximum(given, 1), np.inf)
    best = everyone = _of_these(
        errors, question, predicted, (given > 0) | (labels.per_labeler == 0)
    )
    rates = np.unique(np.round(rate[given > 0], 3))
    tried = np.unique(np.linspace(0, len(rates) - 1, MOST_TRIED).astype(int))[:-1]
    for worst in () if question.grouped else rates[tried]:
        found = _of_these(errors, question, predicted, rate <= worst + 5e-4)
        if found.room < BETTER_KNOWN * everyone.room and found.room < best.room:
            best = found
    return best if best.everyone or best.room < MOST_ROOM else None


def _of_these(
    errors: GivenErrors, question: Question, predicted: Array, labelers: Array
) -> WrongLabels:
    """By these labelers alone."""
    labels = question.labels
    among = labelers[labels.labeler]
    item, label, votes = labels.item[among], labels.label[among], labels.weight[among]
    count = np.bincount(item, votes, minlength=labels.n_items)
    seen = count > 0

    def mean(values: Array) -> Array:
        """Of each item that has labels."""
        return np.bincount(item, values * votes, minlength=labels.n_items)[seen] / count[seen]

    by_labeler = np.bincount(labels.labeler[among], votes / count[item], labels.n_labelers)
    wrong = float(mean(errors.label[among]).mean())
    parts = [
        errors.shared,
        float(np.linalg.norm((by_labeler / seen.sum() * errors.own)[labelers])),
        float(np.sqrt(wrong * (1 - wrong) / seen.sum())),
        ROUGHLY * wrong,
    ]
    sd = float(np.linalg.norm(parts))
    counts = np.zeros((labels.n_items, labels.n_classes))
    np.add.at(counts, (item, label), votes)
    odd = _odd_pairs(counts[counts.sum(axis=1) > 1], wrong, sd)
    if not odd and question.gold_chosen.kind == "random" and question.gold_error is None:
        known = (question.gold >= 0)[seen]
        odd = _odd_gold(mean(label != question.gold[item])[known], wrong, sd)
    agreement = float(mean(label == predicted[item]).mean())
    return WrongLabels(labelers, wrong, sd, agreement, float(seen.mean()), odd)


def _odd_pairs(counts: Array, wrong: float, sd: float) -> str:
    """Two labels that differ are not both right."""
    if len(counts) == 0:
        return ""
    differ = 1 - agreeing_pairs(counts)
    error = np.hypot(differ.std() / np.sqrt(len(differ)), 2 * sd)
    if differ.mean() - 2 * wrong <= CLEARLY * error:
        return ""
    return (
        f"`noise=` says that {wrong:.1%} of labels are wrong, but two labels of one item differ in "
        f"{differ.mean():.1%} of cases, so at least {differ.mean() / 2:.1%} are wrong: the "
        "interval does not use `noise=`. Check the rates."
    )


def _odd_gold(apart: Array, wrong: float, sd: float) -> str:
    """``apart``: the share of each gold item's labels that gold calls wrong."""
    if len(apart) < FEWEST:
        return ""
    found = float(apart.mean())
    error = np.hypot(np.sqrt(max(apart.var(), wrong * (1 - wrong) / 4) / len(apart)), sd)
    if abs(found - wrong) <= CLEARLY * error:
        return ""
    return (
        f"`noise=` says that {wrong:.1%} of labels are wrong, but {found:.1%} of those on "
        f"{len(apart)} gold items are: the interval does not use `noise=`. Check the rates, and "
        "that gold is a random choice."
    )
