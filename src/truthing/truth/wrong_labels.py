"""Labels of some labelers beside what the user says of them: how many are wrong, how well that is
known, and whether labels or gold contradict it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import bdtr, bdtrc

from truthing.class_codes import Array
from truthing.labels import Labels
from truthing.truth.given_errors import GivenErrors, error_of
from truthing.truth.link.told import RightLabels, WrongLabels, said_values
from truthing.truth.link.views import agreeing_pairs
from truthing.truth.question import Question

STRANGERS = 0.1  # up to this share of labels, silence means: like the others
BETTER_KNOWN = 0.5  # labelers who leave less than this share of the room bound the accuracy
MOST_TRIED = 12  # numbers of best labelers that are tried
MOST = 0.99  # quantile of what others can be wrong in
FEWEST = 5  # gold items that can contradict what was said
CLEARLY = 3.0  # standard deviations
REACH = 0.02, 0.98  # between these quantiles lies what the user may mean
MIDDLE = 0.16, 0.84  # a standard deviation to each side
ODD = 0.01  # chance that public panels that agree so well have such labels
STRANGE = 0.003  # chance of what gold finds
NOT_USED = "the interval does not use `noise=`. Check the rates"


@dataclass(frozen=True, eq=False)
class Labelled:
    """Labels of these ``labelers`` (a mask), and what is said of them."""

    labelers: Array
    wrong: float
    sd: float
    found: WrongLabels
    differ: float  # of two labels of an item; NaN where no item has two
    chance: float  # how far the share is off by chance, if every label is drawn
    odd: str = ""


def spoken_of(errors: GivenErrors, labels: Labels) -> Array:
    """Labelers of whom something is said; all, where the others gave few labels."""
    silent = np.isnan(errors.label)
    if silent.mean() <= STRANGERS:
        return np.ones(labels.n_labelers, dtype=bool)
    return ~np.isin(np.arange(labels.n_labelers), labels.labeler[silent])


def best_of(
    errors: GivenErrors, question: Question, predicted: Array, known: Array, whole: Labelled
) -> Labelled:
    """All labelers, or the best of them where they leave far less room."""
    labels = question.labels
    said = ~np.isnan(errors.label)
    given = np.bincount(labels.labeler[said], minlength=labels.n_labelers)
    total = np.bincount(labels.labeler[said], errors.label[said], minlength=labels.n_labelers)
    rate = np.where(given > 0, total / np.maximum(given, 1), np.inf)
    rates = np.unique(np.round(rate[given > 0], 3))
    tried = np.unique(np.linspace(0, len(rates) - 1, MOST_TRIED).astype(int))[:-1]
    best, room = whole, BETTER_KNOWN * _room(whole)
    for worst in () if question.grouped else rates[tried]:
        found = of_these(errors, question, predicted, known & (rate <= worst + 5e-4))
        if _room(found) < room:
            best, room = found, _room(found)
    return best


def _room(these: Labelled) -> float:
    """How far apart the bounds of accuracy are, for all that the user may mean."""
    low, high = these.found.bounds(np.quantile(these.found.said, REACH))
    return float(high.max() - low.min())


def of_these(
    errors: GivenErrors, question: Question, predicted: Array, labelers: Array
) -> Labelled:
    """By these labelers alone."""
    labels = question.labels
    among = labelers[labels.labeler]
    item, label, votes = labels.item[among], labels.label[among], labels.weight[among]
    count = np.bincount(item, votes, minlength=labels.n_items)
    seen = count > 0

    def mean(values: Array) -> Array:
        """Of each item that has labels."""
        return np.bincount(item, values * votes, minlength=labels.n_items)[seen] / count[seen]

    error = errors.label[among]
    silent = np.isnan(error)  # few labels like the others
    error = np.where(silent, error[~silent].mean(), error)
    wrong = float(mean(error).mean())
    by_labeler = np.bincount(labels.labeler[among], votes / count[item], labels.n_labelers)
    off = np.nan_to_num(by_labeler / seen.sum() * errors.off)
    chance = float(np.sqrt(wrong * (1 - wrong) / seen.sum()))
    parts = [float(np.linalg.norm(off)), float(mean(silent.astype(float)).mean()) / 2]
    if errors.between is None:  # a range is about these very labels
        parts += [chance, float(error_of(wrong, errors.worth))]
    said = said_values(wrong, float(np.linalg.norm(parts)), errors.between)
    counts = labels.counts(labels.weight * among)
    least, differ = _least(counts[counts.sum(axis=1) > 1], int(seen.sum()))
    gold, odd = None, ""
    if question.gold_error is None and question.gold_chosen.kind in ("random", "chances"):
        known = (question.gold >= 0)[seen]
        weight = np.ones(labels.n_items)
        if question.gold_weights is not None:
            weight[question.gold >= 0] = question.gold_weights
        apart = mean(label != question.gold[item])[known]
        gold, odd = _gold(apart, weight[seen][known], wrong, said)
    if not odd and np.quantile(said, REACH[1]) < least[0] - CLEARLY * least[1]:
        odd = (
            f"`noise=` says that {wrong:.1%} of labels are wrong, but two labels of one item "
            f"differ in {differ:.1%} of cases, so at least {least[0]:.1%} are wrong: {NOT_USED}."
        )
    agreement = float(mean(label == predicted[item]).mean())
    found = WrongLabels(said, agreement, float(seen.mean()), least, gold)
    low, high = np.quantile(said, MIDDLE)
    return Labelled(labelers, wrong, float(high - low) / 2, found, differ, chance, odd)


def _least(counts: Array, n_items: int) -> tuple[tuple[float, float], float]:
    """Two labels that differ are not both right: how many are wrong at least, with its error; and
    how often two differ. ``counts`` are those of items with two labels and more."""
    if len(counts) == 0:
        return (0.0, 0.0), float("nan")
    differ = 1 - agreeing_pairs(counts)
    error = float(differ.std() / np.sqrt(len(differ)))
    part = len(differ) / n_items / 2
    return (part * float(differ.mean()), part * error), float(differ.mean())


def _gold(
    apart: Array, weight: Array, wrong: float, said: Array
) -> tuple[tuple[float, float] | None, str]:
    """What gold finds, and how it contradicts what was said. ``apart``: the share of each gold
    item's labels that gold calls wrong."""
    if len(apart) == 0:
        return None, ""
    found = float(weight @ apart / weight.sum())
    n = float(weight.sum() ** 2 / (weight @ weight))
    smooth = (n * found + 0.5) / (n + 1)
    gold = found, float(np.sqrt(max(apart.var(), smooth * (1 - smooth)) / n))
    low, high = np.quantile(said, REACH)
    times = round(found * n)
    chance = bdtrc(times - 1, round(n), high) if found > high else bdtr(times, round(n), low)
    if n < FEWEST or low <= found <= high or chance > STRANGE:
        return gold, ""
    return gold, (
        f"`noise=` says that {wrong:.1%} of labels are wrong, but {found:.1%} of those on "
        f"{len(apart)} gold items are: {NOT_USED}, and that gold is a random choice."
    )


def odd_labels(these: Labelled, usual: list[RightLabels]) -> str:
    """Public panels that agree as well never had so many wrong labels, or so few."""
    low, high = np.quantile(these.found.said, REACH)
    spare = CLEARLY * these.chance
    low, high = min(low, these.wrong - spare), max(high, these.wrong + spare)
    inside, between = [], []
    for expected in usual:
        values = expected.values
        weight = np.exp(these.found.evidence(values))
        inside.append(weight[(values >= low) & (values <= high)].sum() / weight.sum())
        below = np.cumsum(weight) / weight.sum()
        between.append(np.interp([0.025, 0.975], below, values))
    if max(inside) > ODD:
        return ""
    least, most = np.min(between, axis=0)[0], np.max(between, axis=0)[1]
    return (
        f"`noise=` says that {these.wrong:.1%} of labels are wrong, but two labels of one item "
        f"agree in {1 - these.differ:.1%} of cases, and where public panels agreed so often "
        f"{least:.1%} to {most:.1%} were wrong: {NOT_USED}."
    )


def odd_between(
    errors: GivenErrors, question: Question, these: Labelled, usual: list[RightLabels]
) -> str:
    """Labels of these labelers and of the others differ more often than if all erred by themselves;
    others of whom nothing is said as often as labelers hardly do who agree so well (``usual``)."""
    labels, chosen = question.labels, these.labelers[question.labels.labeler]
    most = max(float(np.quantile(expected.values, MOST)) for expected in usual)
    error = np.where(np.isnan(errors.label), most, errors.label)
    votes = [labels.counts(labels.weight * part) for part in (chosen, ~chosen)]
    count = [v.sum(axis=1) for v in votes]
    both = (count[0] > 0) & (count[1] > 0)
    if not both.any():
        return ""
    differ = 1 - (votes[0] * votes[1]).sum(axis=1)[both] / (count[0] * count[1])[both]
    a, b = (
        (np.bincount(labels.item, labels.weight * error * part, labels.n_items)[both] / n[both])
        for part, n in ((chosen, count[0]), (~chosen, count[1]))
    )
    expected = a + b - a * b * labels.n_classes / max(labels.n_classes - 1, 1)
    over = float((differ - expected).mean())
    spare = np.hypot(differ.std() / np.sqrt(both.sum()), these.sd)
    if over <= CLEARLY * spare:
        return ""
    return (
        f"`noise=` says that {a.mean():.1%} of the labels of {people(these)} are wrong, but "
        f"they differ from the others' in {differ.mean():.1%} of cases, more often than if "
        f"{b.mean():.1%} of those were wrong: {NOT_USED}."
    )


def people(these: Labelled) -> str:
    n = int(these.labelers.sum())
    return f"{n} labeler{'s' if n > 1 else ''}"
