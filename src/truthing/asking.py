"""What a user may say about noise, prior, classes, thresholds and gold weights, read in one
place for every facade.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from truthing.arguments import as_number
from truthing.case import read_case
from truthing.class_codes import Array, places_by_name, tally
from truthing.errors import InputError, listing
from truthing.kinds import NOTHING, Kinds
from truthing.labels import Labels
from truthing.matching import Joined, join
from truthing.names import names_at
from truthing.noise.base import NoiseModel
from truthing.noise.known import Confusion, Symmetric
from truthing.noise.learned import Learned
from truthing.ordering import Order
from truthing.repeats import Repeats
from truthing.simulation import class_prior
from truthing.survey.calibration import CalibrationItems, read_calibration
from truthing.survey.clusters import forgotten_weights, suspected
from truthing.survey.columns import column_of, number_in
from truthing.survey.design import PLAIN, Survey, read_survey
from truthing.survey.gold_choice import STRANGE, GoldChoice, bounds, gold_choice
from truthing.tables.asked import Asked
from truthing.truth.link.counts import MOST_DENSE

MANY_CLASSES_DRAWS = 1000
MOST_CELLS = 20_000_000  # of drawn confusion matrices together


def prepare(
    predictions: Any,
    labels: Any,
    *,
    gold: Any,
    scores: Any = None,
    repeats: Repeats = "error",
    per: str | None = None,
    kinds: Kinds = NOTHING,
    positive: Any = None,
    keep: Container[Any] = (),
) -> Joined:
    """Whatever the caller has, read and joined; ``per`` is a column that may split items."""
    models = {} if predictions is None and scores is None else {"model": predictions}
    case = read_case(labels, models, gold, scores=scores, asked=Asked(per=per))
    case, doubted = kinds.case(case, positive)
    for what, held in (("labels", case.labels), ("predictions", case.predictions)):
        if held is not None and not held.items:
            raise InputError(f"the {what} hold no item: there is nothing to compute from.")
    joined = join(case.labels, case.predictions, case.gold, repeats=repeats, keep=doubted or keep)
    readings = [replace(reading) for reading in case.readings]  # copies, without labels
    return replace(joined, readings=readings, given=case.labels.items, doubted=doubted)


def survey_of(joined: Joined, order: Order, **columns: Any) -> Survey:
    """How the items were drawn, as far as the user says; a hint where clusters seem forgotten."""
    graded = order.labels.items
    survey = read_survey(joined.labels.items, (joined.given, graded), joined.readings, **columns)
    joined.warnings.extend(survey.warnings)
    hint_at_survey(joined, graded, survey)
    return survey


def hint_at_survey(joined: Joined, items: Sequence[Any], survey: Survey = PLAIN) -> None:
    """A warning where clusters or weights seem forgotten; ``items`` in the user's order."""
    hints = [suspected(items, joined.readings)] if survey.cluster is None else []
    if survey.weight is None and survey.stratum is None:
        hints.append(forgotten_weights(joined.readings))
    joined.warnings.extend(hint for hint in hints if hint)


def chosen_gold(
    joined: Joined,
    predicted: Array | None,
    chances: Mapping[Any, float] | str | None,
    asked: str | None,
) -> GoldChoice:
    """How gold was chosen, by the user's word or by its looks; what is to be said joins the
    warnings."""
    if chances is not None:
        if asked is not None:
            raise InputError("`gold_weights=` says how gold was chosen: leave `gold_choice=` out.")
        return GoldChoice("chances", selection_weights(chances, joined), asked=True)
    found = gold_choice(asked, joined.labels, predicted, joined.gold)
    joined.warnings.extend(found.warnings)
    if asked is None:
        joined.warnings.extend(gold_of_one_class(joined.labels, joined.gold[joined.gold >= 0]))
    return found


def gold_of_one_class(labels: Any, gold: Array) -> list[str]:
    """Gold that shows one class only, though labels often say others: was it chosen by its class?
    Labels (in memory, or counted) at face value say how probable that is by chance."""
    if len(gold) == 0 or len(gold) == labels.n_items or (gold != gold[0]).any():
        return []
    share = float(labels.per_class[gold[0]] / max(labels.n_labels, 1))
    if share ** len(gold) >= STRANGE:
        return []
    name = labels.classes[gold[0]]
    return [
        f"All {len(gold):,} gold items are {name!r}, but only {share:.0%} of the labels say so. If "
        "gold was chosen by its class, this answer is wrong: say `gold_choice='unseen'`, or add "
        "gold on random items."
    ]


def unseen_choice(joined: Joined, predicted: Array | None) -> tuple[Joined, str]:
    """Gold chosen by something unseen says nothing sure about other items: it is left out, and
    what can be said without any assumption is put into words."""
    known, n_items = int((joined.gold >= 0).sum()), len(joined.gold)
    words = (
        f"Gold was chosen by something unseen, so its {known:,} items say nothing sure about the "
        "others, and no interval with gold would be a 95% interval: this one rests on the labels "
        "alone."
    )
    if predicted is not None:
        low, high = bounds(joined.gold, predicted)
        words += f" Whatever the choice was, accuracy is between {low:.1%} and {high:.1%}."
    else:
        shares = np.bincount(joined.gold[joined.gold >= 0], minlength=joined.labels.n_classes)
        ends = [
            f"{c} {k / n_items:.1%} to {(k + n_items - known) / n_items:.1%}"
            for c, k in zip(joined.labels.classes, shares)
        ]
        words += f" Whatever the choice was: {listing(ends, 5)}."
    return replace(joined, gold=np.full_like(joined.gold, -1)), words


def fitting_draws(draws: int, n_classes: int, warnings: list[str]) -> int:
    """So many draws of confusion matrices as fit in memory; of very many classes only diagonal and
    margins are drawn."""
    fitting = MOST_CELLS // n_classes**2 if n_classes <= MOST_DENSE else MANY_CLASSES_DRAWS
    if draws > fitting:
        warnings.append(
            f"{n_classes} classes leave room for {fitting} draws only: limits of intervals are "
            "rough."
        )
    return min(draws, fitting)


def slice_sizes(question: Any) -> dict[str, tuple[int, int]]:
    """Items and gold items of each slice."""
    survey = question.survey
    found = {name: survey.items_of(name) for name in survey.slice_names}
    return {n: (len(i), int((question.gold[i] >= 0).sum())) for n, i in found.items()}


def calibrated(
    joined: Sequence[Joined],
    given: Any,
    chosen: str | None,
    *,
    noise: Any,
    panel_error: Any,
    method: str = "posterior",
    cluster: Any = None,
) -> tuple[Joined, CalibrationItems | None]:
    """The graded data by the labelers of the calibration set, and that set; None where none was
    given. Nothing else may say how labelers err."""
    first = joined[0]
    if given is None:
        if chosen is not None:
            raise InputError(
                "`calibration_chosen=` says how a calibration set was chosen: give "
                "`calibration_set=` too."
            )
        return first, None
    answers = [each.elsewhere() for each in joined]
    labels, items = read_calibration(
        given, chosen, first.labels, first.labels.items, answers, cluster
    )
    if items.predicted is not None:
        first.warnings[:] = [w for w in first.warnings if "are only in predictions" not in w]
    if (first.gold >= 0).any():
        first.warnings.append(
            "Gold and a calibration set are used together; how well that covers was not studied."
        )
    for name, other in (("noise", noise), ("panel_error", panel_error)):
        if other is not None:
            raise InputError(
                f"`{name}=` and a calibration set both say how labelers err: leave one out."
            )
    if method != "posterior":
        raise InputError(f"method {method!r} takes no calibration set: use method='posterior'.")
    return replace(first, labels=labels), items


def without_itself(joined: Joined, predicted: Array) -> Joined:
    """Without the labeler who is the classifier: the same answer on every item both have."""
    labels, names = without_copies(joined.labels, predicted)
    if names:
        joined.warnings.append(left_out_labeler(names))
    return replace(joined, labels=labels) if names else joined


def without_copies(labels: Labels, predicted: Array) -> tuple[Labels, list[Any]]:
    """The labels without those who always say what the classifier says, and their names."""
    same = labels.label == predicted.astype(np.int32)[labels.item]
    hits = tally(labels.labeler, labels.n_labelers, same)
    count = tally(labels.labeler, labels.n_labelers)
    twin = copies_of_classifier(count, hits, labels.n_items)
    if labels.anonymous or not len(twin) or len(np.unique(predicted)) == 1:
        return labels, []
    left = without_labelers(labels, twin)
    if left is labels:
        return labels, []
    names = [labels.labelers[t] for t in twin]
    return left, [names[k] for k in places_by_name(names)]


def without_labelers(labels: Labels, codes: Array) -> Labels:
    """The labels without those of these labelers, unless half of the items would have none left."""
    keep = ~np.isin(labels.labeler, codes)
    left = replace(
        labels,
        item=labels.item[keep],
        labeler=labels.labeler[keep],
        label=labels.label[keep],
        votes=None if labels.votes is None else labels.votes[keep],
    )
    return labels if keep.all() or (left.per_item > 0).mean() < 0.5 else left


def copies_of_classifier(given: Array, hits: Array, n_items: int) -> Array:
    """Labelers with many labels who always say what the classifier says, unless all do; ``given``
    labels of each, ``hits`` those that say so."""
    found = np.flatnonzero((given >= max(20, 0.5 * n_items)) & (hits == given))
    return found if len(found) < len(given) else found[:0]


def left_out_labeler(names: Sequence[Any], model: str = "") -> str:
    """What is said of them; ``model`` is one of several classifiers."""
    who, what = listing(map(repr, names), 3), f"model {model!r}" if model else "the classifier"
    where = f" where {model!r} is graded" if model else ""
    if len(names) == 1:
        return (
            f"Labeler {who} says exactly what {what} says: it is {what}, or copies it, and its "
            f"labels were left out{where}."
        )
    return (
        f"Labelers {who} say exactly what {what} says: they are {what}, or copy it, and their "
        f"labels were left out{where}."
    )


def sizes(joined: Joined) -> dict[str, int]:
    labels = joined.labels
    return {
        "items": labels.n_items,
        "labelers": int((labels.per_labeler > 0).sum()),
        "labels": labels.n_labels,
        "gold": int((joined.gold >= 0).sum()),
    }


def positive_class(classes: tuple[Any, ...], positive: Any, assumptions: list[str]) -> int | None:
    """The positive one of two classes; None when there are more."""
    if len(classes) < 2:
        raise InputError(
            f"only one class occurs ({listing(classes)}): with one class there is nothing to "
            "grade. Check labels and predictions."
        )
    if positive is not None and positive not in classes:
        same = [c for c in classes if str(c) == str(positive)]
        if not same:
            raise InputError(
                f"positive class {positive!r} does not occur; there are "
                f"{listing(map(repr, classes))}."
            )
        positive = same[0]
    if len(classes) > 2:
        if positive is not None:
            raise InputError(
                f"`positive={positive!r}` is for two classes, and there are {len(classes)}: "
                f"ask for recall[{positive}] and the like."
            )
        return None
    if positive is None:
        assumptions.append(
            f"The positive class is {classes[-1]!r}, the last in order; set "
            "`positive=` to choose the other."
        )
        return 1
    return classes.index(positive)


def as_noise(noise: Any, labels: Labels | None = None) -> Any:
    """A number, a range, a mapping or a model, as a model; a mapping is about labelers who are in
    ``labels``."""
    if noise is None:
        return None
    if isinstance(noise, bool):
        raise InputError("noise=True says nothing: give a rate such as 0.05.")
    if isinstance(noise, int | float):
        return Symmetric(float(noise))
    if isinstance(noise, tuple) and len(noise) == 2:
        return Symmetric((float(noise[0]), float(noise[1])))
    if isinstance(noise, Mapping):
        _check_known(noise, labels)
        scalar = all(np.ndim(v) == 0 for v in noise.values())
        return Symmetric(dict(noise)) if scalar else Confusion(dict(noise))
    if isinstance(noise, NoiseModel | Learned):
        return noise
    raise InputError(
        f"noise is a {type(noise).__name__}: give a rate, a mapping from labeler to rate or "
        "matrix, or a model with log_likelihood(labels)."
    )


def _check_known(noise: Mapping[Any, Any], labels: Labels | None) -> None:
    """Rates are numbers, and about somebody who is here."""
    for name, rate in noise.items():
        if np.ndim(rate) == 0 and not isinstance(rate, int | float | np.number):
            raise InputError(
                f"noise says {rate!r} about labeler {name!r}: give a rate such as 0.05, or a "
                "confusion matrix, and leave out labelers of whom nothing is known."
            )
    if labels is not None and not any(name in noise for name in labels.labelers):
        named = f"names {listing(map(repr, noise), 3)}, none of them" if noise else "names none"
        raise InputError(
            f"noise {named} of the labelers ({listing(map(repr, labels.labelers), 3)}): give "
            "rates by the names that the labels have."
        )


def as_prior(prior: Any, classes: tuple[Any, ...]) -> Array:
    """A class prior in the order of the classes."""
    if isinstance(prior, Mapping):
        unknown = [c for c in prior if c not in classes]
        if unknown:
            raise InputError(
                f"the prior names class {listing(map(repr, unknown))}, which does not occur."
            )
        prior = [prior.get(c, 0.0) for c in classes]
    share = class_prior(prior)
    if len(share) != len(classes):
        raise InputError(
            f"the prior has {len(share)} shares for {len(classes)} classes "
            f"({listing(classes)}): give one for each."
        )
    return share


def selection_weights(chances: Mapping[Any, float] | str, joined: Joined) -> Array:
    """Weights of gold items that were chosen with known unequal chances (item to chance, or a
    column); together they count as their effective number.
    """
    if isinstance(chances, str):
        given = column_of(chances, joined.readings, "gold_weights")
        chances = {i: number_in(c) or c for i, c in given.items() if c not in (None, "")}
    known = np.flatnonzero(joined.gold >= 0)
    return chance_weights(chances, names_at(joined.labels.items, known))


def chance_weights(chances: Mapping[Any, float], items: Sequence[Any]) -> Array:
    """The same for gold items by name, in their order."""
    absent = [item for item in items if item not in chances]
    if absent:
        raise InputError(
            f"gold_weights gives no chance for gold item {listing(map(repr, absent), 3)}: "
            "give one for each gold item."
        )
    for item in items:
        if not 0 < as_number(chances[item]) <= 1:
            raise InputError(
                f"gold_weights gives item {item!r} the chance {chances[item]!r} of being "
                "chosen for "
                "gold: chances are above 0 and at most 1."
            )
    chance = np.array([float(chances[item]) for item in items])
    weight = 1 / chance
    return weight * weight.sum() / (weight**2).sum()
