"""bayes_error: one question, whatever kind of labels there are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from truthing.ceiling import sources
from truthing.ceiling.bounds import Bounds
from truthing.ceiling.inputs import hard_labels, predicted
from truthing.ceiling.result import BayesError
from truthing.ceiling.verdict import judge
from truthing.errors import InputError
from truthing.labels import Labels

DEFINITE = (
    "Labelers err about a definite truth: each item has one true class, so labels set no "
    "limit above 0 to a classifier of the truth. Whether its "
    "inputs determine the truth cannot be seen from disagreement."
)
MAJORITY = (
    "The labelers' error rate takes the class that most labels of an item would name in the long "
    "run for its truth."
)


def bayes_error(
    soft: Any = None,
    *,
    uncertainty: Any = None,
    noisy: Any = None,
    signs: Any = None,
    hard: Any = None,
    counts: Any = None,
    positive_confidence: Any = None,
    prior: float | None = None,
    scores: Any = None,
    decisions: Any = None,
    predictions: Any = None,
    reading: str = "ambiguity",
    calibration: str = "platt",
) -> BayesError:
    """The least error that any classifier can reach, from labels that show how uncertain items are.

    Ishida et al. (2023), ``E[min(c, 1 - c)]``, or ``1 - E[max p]`` with more classes. Give one
    source:
    ``soft``, ``uncertainty``, ``noisy``, ``hard``, ``counts``, ``positive_confidence`` or
    ``scores``.
    Few labels per item identify an interval only; ``interval(level)`` covers it wherever the truth
    lies in it.

    Parameters
    ----------
    soft : array, optional
        Clean class probabilities: of the positive class, or items × classes.
    uncertainty : array, optional
        ``min(c, 1 - c)`` of each item.
    noisy : array, optional
        Unbiased noisy soft labels, with ``signs``.
    signs : array, optional
        Which class is likelier for each item, for ``noisy`` or ``hard``.
    hard : array or Labels, optional
        Hard labels: with ``signs``, or several per item. Beside soft labels or counts: the test
        labels
        on which the error of ``predictions`` is counted.
    counts : array or Labels, optional
        Votes of each item, items × classes.
    positive_confidence : array, optional
        Probability of the positive class on positive items only, with ``prior``.
    prior : float, optional
        Share of the positive class, for ``positive_confidence``.
    scores : array, optional
        A classifier's scores, with ``decisions``.
    decisions : array, optional
        What was decided about each item (0 or 1): scores are calibrated on it.
    predictions : array or mapping, optional
        Predictions of a model: adds the verdict on how far it is from the ceiling.
    reading : {"ambiguity", "labeler error"}, default "ambiguity"
        What disagreement means: items are ambiguous, or labelers err about a definite truth.
    calibration : {"platt", "isotonic"}, default "platt"
        How scores are calibrated.

    Returns
    -------
    BayesError
        ``result.value``, ``result.interval(0.95)``, ``result.identified`` and ``result.verdict``.

    Raises
    ------
    InputError
        No source or more than one is given, or a number is out of range.

    See Also
    --------
    grade : the error of one classifier.

    Examples
    --------
    >>> bayes_error([0.9, 0.2, 0.5]).value.__round__(4)
    0.2667
    >>> bayes_error(counts=[[2, 1]] * 30 + [[0, 3]] * 70).identified[1] < 0.3
    True
    """
    if reading not in ("ambiguity", "labeler error"):
        raise InputError(
            f"reading {reading!r} is not known: choose 'ambiguity' or 'labeler error'."
        )
    given = {
        "soft": soft,
        "uncertainty": uncertainty,
        "noisy": noisy,
        "counts": counts,
        "positive_confidence": positive_confidence,
        "scores": scores,
    }
    kinds = [name for name, value in given.items() if value is not None]
    tested = hard if kinds and hard is not None else None
    if hard is not None and not kinds:
        kinds = ["hard"]
    if len(kinds) != 1:
        found = "nothing" if not kinds else " and ".join(kinds)
        raise InputError(
            f"give one kind of labels: {', '.join(given)} or hard. This call has {found}."
        )
    _refuse_idle(
        kinds[0],
        signs=signs,
        prior=prior,
        decisions=decisions,
        hard=tested if predictions is None else None,
    )
    source = {
        "soft": lambda: sources.from_soft(soft),
        "uncertainty": lambda: sources.from_uncertainty(uncertainty),
        "noisy": lambda: sources.from_noisy(noisy, signs),
        "hard": lambda: sources.from_hard(hard, signs),
        "counts": lambda: sources.from_votes(counts),
        "positive_confidence": lambda: sources.from_confidence(positive_confidence, prior),
        "scores": lambda: sources.from_scores(scores, decisions, calibration),
    }[kinds[0]]()
    result = _result(source)
    if predictions is not None:
        result = _with_verdict(
            result, source, predictions, tested, definite=reading == "labeler error"
        )
    if reading == "labeler error":
        result = _definite(result)
    return result


_NEEDS = {"signs": ("noisy", "hard"), "prior": ("positive_confidence",), "decisions": ("scores",)}


def _refuse_idle(kind: str, **extra: Any) -> None:
    """An argument that would be ignored is a mistake to be told about."""
    for name, value in extra.items():
        if value is None:
            continue
        if name == "hard":
            raise InputError(
                f"hard labels beside {kind} are the test labels of a model: give its "
                "predictions too."
            )
        if kind not in _NEEDS[name]:
            raise InputError(
                f"{name} has no use with {kind}: it goes with {' or '.join(_NEEDS[name])}."
            )


def _result(source: sources.CeilingSource) -> BayesError:
    return BayesError(
        source.value,
        source.paper,
        len(source.evidence.lower),
        source.method,
        identified=source.identified,
        scale=source.scale,
        details=source.details,
        warnings=list(source.warnings),
        assumptions=list(source.assumptions),
        evidence=source.evidence,
        half_width=source.half_width,
    )


def _with_verdict(
    result: BayesError,
    source: sources.CeilingSource,
    predictions: Any,
    tested: Any,
    *,
    definite: bool,
) -> BayesError:
    n = result.n_items
    where, codes, notes = predicted(predictions, source.classes, source.items, n)
    against = source.against
    if tested is not None:
        labels = hard_labels(tested)
        names = [labels.classes[code] for code in labels.matrix()[:, 0]]
        named = dict(zip(labels.items, names)) if isinstance(tested, Labels) else names
        keep, truth, _ = predicted(named, source.classes, source.items, n)
        if not np.isin(where, keep).all():
            raise InputError("some predicted items have no test label: give a test label for each.")
        place = np.full(n, -1)
        place[keep] = truth
        errors = (codes != place[where]).astype(float)
        against = "the test labels given, which may come from another process than the ceiling's"
    elif source.errors is None:
        raise InputError(
            "uncertainty labels do not say which class they doubt: give soft labels, or hard "
            "test labels, with predictions."
        )
    else:
        every = np.full(n, -1)
        every[where] = codes
        errors = source.errors(every)[where]
    known = source.evidence
    evidence = Bounds(
        known.lower[where], known.upper[where], known.lower_range, known.upper_range, known.possible
    )
    ceiling = result.value if np.isfinite(result.value) else source.details["over_prior"]
    verdict = judge(
        errors,
        evidence,
        ceiling,
        against=against,
        scale=result.scale,
        test_labels=tested is not None,
        definite=definite,
    )
    return replace(result, verdict=verdict, warnings=[*result.warnings, *notes])


def _definite(result: BayesError) -> BayesError:
    noise = replace(result, verdict=None, assumptions=[MAJORITY])
    assumed = [
        DEFINITE,
        MAJORITY,
        *(sentence for sentence in result.assumptions if sentence != sources.SAME),
    ]
    return replace(
        result,
        value=0.0,
        reading="labeler error",
        identified=None,
        evidence=None,
        half_width=None,
        labeler_error=noise,
        assumptions=assumed,
    )
