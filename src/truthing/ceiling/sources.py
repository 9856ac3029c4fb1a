"""Each kind of data and what it says about the Bayes error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from truthing.ceiling import calibrate
from truthing.ceiling.bounds import Bounds
from truthing.ceiling.inputs import hard_labels, numbers, shares, two_sided, vote_counts
from truthing.ceiling.plurality import plug_in
from truthing.ceiling.votes import read_votes
from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.papers import ishida

SAME = "Labels are draws from p(y|x): where labelers disagree, the item itself is ambiguous."
CLEAN = "The soft labels are the true class probabilities."


@dataclass(frozen=True, eq=False)
class CeilingSource:
    """The ceiling from one kind of data. ``errors`` turns predicted class codes into each
    item's expected error.
    """

    value: float
    paper: float
    method: str
    evidence: Bounds
    half_width: Callable[[float], float] | None = None
    identified: tuple[float, float] | None = None
    scale: float = 1.0
    classes: tuple[Any, ...] = (0, 1)
    items: Sequence[Any] | None = None
    errors: Callable[[Array], Array] | None = None
    against: str = "labels drawn from the same process, their exact expectation"
    details: dict[str, float] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    assumptions: list[str] = field(default_factory=list)


def from_soft(soft: Any) -> CeilingSource:
    soft = shares(soft, "soft labels", dimensions=(1, 2))
    each = ishida.uncertainty(soft)
    n, most = len(each), _most(soft)
    half = (lambda level: ishida.bound_clean(n, level)) if most == 0.5 else _hoeffding(n, most)
    value = float(each.mean())
    return CeilingSource(
        value,
        value,
        "Eq. 4, clean soft labels",
        Bounds.exact(each, 0.0, most),
        half,
        classes=_class_range(soft),
        errors=_expected(soft),
        assumptions=[CLEAN],
    )


def from_uncertainty(uncertainty: Any) -> CeilingSource:
    each = shares(uncertainty, "uncertainty labels", most=0.5)
    value = float(each.mean())
    return CeilingSource(
        value,
        value,
        "Eq. 4, uncertainty labels",
        Bounds.exact(each, 0.0, 0.5),
        lambda level: ishida.bound_clean(len(each), level),
        assumptions=[
            "The uncertainty labels are the true probabilities of the less likely class; two "
            "classes."
        ],
    )


def from_noisy(noisy: Any, signs: Any) -> CeilingSource:
    """Noisy soft labels, with sign labels (Eq. 6, unbiased) or without (Eq. 5, biased downward)."""
    noisy = shares(noisy, "noisy soft labels", dimensions=(1, 2))
    n, most = len(noisy), _most(noisy)
    zero_mean = "The noise of the soft labels averages to zero for every item."
    if signs is not None:
        each = _signed(noisy, signs)
        value = float(each.mean())
        return CeilingSource(
            float(np.clip(value, 0, most)),
            value,
            "Eq. 6, noisy soft labels with sign labels",
            _within(each, most),
            lambda level: ishida.bound_signed(n, level),
            classes=_class_range(noisy),
            errors=_expected(noisy),
            assumptions=[zero_mean, "The sign labels name the more likely class without error."],
        )
    each = ishida.uncertainty(noisy)
    value = float(each.mean())
    table = noisy if noisy.ndim == 2 else np.stack([1 - noisy, noisy], axis=1)
    constant = 1 - table[:, int(np.argmax(table.mean(axis=0)))]
    evidence = Bounds(each, constant, (0.0, most), (0.0, 1.0), (0.0, most))
    return CeilingSource(
        value,
        value,
        "Eq. 5, noisy soft labels",
        evidence,
        identified=(value, float(constant.mean())),
        classes=_class_range(noisy),
        errors=_expected(noisy),
        assumptions=[zero_mean],
        warnings=[
            "Without sign labels Eq. 5 is biased downward by an unknown amount (Theorem "
            "3.3): the Bayes error lies between it and the share of "
            "the rarer class. Give signs, the more likely class of each item."
        ],
    )


def from_hard(hard: Any, signs: Any) -> CeilingSource:
    """Hard labels: with sign labels Eq. 6, otherwise votes."""
    labels = hard_labels(hard)
    if signs is None:
        return from_votes(labels)
    counts = labels.counts()
    if labels.n_classes > 2:
        raise InputError(
            f"hard labels with sign labels are for two classes; these have {labels.n_classes}."
        )
    if (counts.sum(axis=1) == 0).any():
        raise InputError(
            f"item {int(np.argmin(counts.sum(axis=1)))} has no hard label: leave it out, and "
            "its sign label."
        )
    positive = (
        counts[:, -1]
        if labels.n_classes == 2 or labels.classes[0] in (1, True)
        else 0 * counts[:, 0]
    )
    share = positive / counts.sum(axis=1)
    each = ishida.signed_uncertainty(share, two_sided(signs, "sign labels", len(share)))
    value = float(each.mean())
    classes = labels.classes if labels.n_classes == 2 else (0, 1)
    return CeilingSource(
        float(np.clip(value, 0, 0.5)),
        value,
        "Eq. 6, hard labels with sign labels",
        _within(each, 0.5),
        lambda level: ishida.bound_signed(len(each), level),
        classes=classes,
        items=labels.items,
        errors=_expected(share),
        assumptions=[SAME, "The sign labels name the more likely class without error."],
    )


def from_votes(counts: Any) -> CeilingSource:
    """Several hard labels per item, any number of them."""
    table, classes, items = vote_counts(counts)
    labeled = table.sum(axis=1) > 0
    if not labeled.any():
        raise InputError("counts hold no vote at all: give at least one label.")
    warnings = []
    if not labeled.all():
        warnings.append(f"{int((~labeled).sum()):,} items have no label and are left out.")
        table = table[labeled]
        items = (
            tuple(np.arange(len(labeled))[labeled].tolist())
            if items is None
            else tuple(i for i, here in zip(items, labeled) if here)
        )
    if table.shape[1] < 2:
        table, classes = np.hstack([table, 0 * table]), (*classes, "another class")
    per_item = table.sum(axis=1)
    votes = read_votes(table)
    paper, few = float(plug_in(table).mean()), int(np.median(per_item))
    low, high = votes.identified
    if few < 10 or high - low > 0.1 * high:
        warnings.append(
            f"With {per_item.mean():.1f} labels per item the Bayes error is known only to lie "
            f"between {low:.4f} and {high:.4f}, sampling error apart; "
            f"the paper's estimate ({paper:.4f}; Ishida et al. 2023, Eq. 5) is biased downward."
        )
    if few == 1:
        warnings.append(
            "One label per item says nothing beyond the class shares: the point is a guess from a "
            "spread-out distribution."
        )
    assumed = [
        SAME,
        "An item's labels are independent of each other, and their number does not hang on "
        "how hard the item is.",
        "The point is that of the most likely distribution of class probabilities behind the "
        "votes (nonparametric); the interval does not use it.",
    ]
    n = len(table)
    return CeilingSource(
        votes.point,
        paper,
        "hard labels, votes",
        votes.evidence,
        lambda level: (
            ishida.bound_clean(n, level) + ishida.bias_hard_labels(n, int(per_item.min()))
        ),
        identified=votes.identified,
        classes=classes,
        items=items,
        errors=_expected(table / per_item[:, None]),
        details={"labels_per_item": float(per_item.mean())},
        warnings=warnings,
        assumptions=assumed,
    )


def from_confidence(confidence: Any, prior: float | None) -> CeilingSource:
    """Confidence of items of the positive class, and the share of that class (Eq. 8)."""
    confidence = shares(confidence, "positive confidences")
    each = ishida.confidence_uncertainty(confidence)
    ratio, n = float(each.mean()), len(each)
    if prior is not None and not 0 < prior < 1:
        raise InputError(
            f"prior {prior} is not between 0 and 1: give the share of the positive class."
        )
    warnings = []
    if prior is None:
        warnings.append(
            "Without the class prior the Bayes error itself is unknown: only its ratio to "
            f"the prior ({ratio:.4f}) and the comparison "
            "with a classifier on the same items can be had. Give prior, the share of the "
            "positive class."
        )
    scale = 1.0 if prior is None else float(prior)
    value = float("nan") if prior is None else min(scale * ratio, 0.5)
    return CeilingSource(
        value,
        float("nan") if prior is None else scale * ratio,
        "Eq. 8, positive confidence",
        _within(each, 1.0),
        None if prior is None else lambda level: ishida.bound_confidence(n, scale, level),
        scale=scale,
        errors=lambda codes: ishida.confidence_risk(confidence, codes == 1),
        details={"over_prior": ratio},
        against="the classifier's risk from positive items (Eq. 2, zero-one loss)",
        warnings=warnings,
        assumptions=[
            "Items are drawn from the positive class and the confidences are true class "
            "probabilities."
        ],
    )


def from_scores(scores: Any, decisions: Any, calibration: str) -> CeilingSource:
    """Scores made into probabilities by what was decided about the items."""
    scores = numbers(scores, "scores")
    if decisions is None:
        raise InputError(
            "scores need decisions to be calibrated against; probabilities go into soft."
        )
    decided = two_sided(decisions, "decisions", len(scores)).astype(float)
    if decided.min() == decided.max() or len(scores) < 4:
        raise InputError(
            "decisions are all the same: calibration needs items decided either way, four at least."
        )
    if calibration not in ("platt", "isotonic"):
        raise InputError(f"calibration {calibration!r} is not known: choose platt or isotonic.")
    if scores.min() == scores.max():
        raise InputError("scores are all the same: they say nothing about the decisions.")
    scaled = (scores - scores.mean()) / scores.std()
    paper = float(ishida.uncertainty(calibrate.fit_platt(scaled, decided)(scaled)).mean())
    fits = {
        "platt": calibrate.cross_fitted(calibrate.fit_platt, scaled, decided),
        "isotonic": calibrate.cross_fitted(calibrate.fit_isotonic, scaled, decided),
    }
    values = {name: float(ishida.uncertainty(fit).mean()) for name, fit in fits.items()}
    rule = ((fits[calibration] >= 0.5) != (decided == 1)).astype(float)
    each = calibrate.platt_influence(scaled, decided) if calibration == "platt" else rule
    value = values[calibration]
    # a rule's error is at least the Bayes error and the steps' own uncertainty tends to be below
    # it: the limits take in both
    lower = each if calibration == "platt" else each - max(0.0, float(rule.mean()) - value)
    span = (
        min(0.0, float(lower.min())),
        max(0.5 if calibration == "platt" else 1.0, float(each.max())),
    )
    doubt = (
        2 * float(np.std(ishida.uncertainty(fits[calibration]) - rule)) / np.sqrt(len(rule)) + 0.005
    )
    warnings = []
    if abs(value - rule.mean()) > doubt:
        warnings.append(
            f"The calibrated scores expect an error of {value:.4f}, but following them is "
            f"wrong on {rule.mean():.4f} of the decisions: "
            "the calibration curve does not fit. Try "
            f"calibration={'isotonic' if calibration == 'platt' else 'platt'}."
        )
    return CeilingSource(
        value,
        paper,
        f"Eq. 4, scores calibrated on decisions ({calibration}, cross-fitted)",
        Bounds(lower, each, span, span, (0.0, 0.5)),
        errors=lambda codes: (codes != decided).astype(float),
        against="the decisions",
        details={**values, "error_of_following_scores": float(rule.mean())},
        warnings=warnings,
        assumptions=[
            "The score holds all that the decision hangs on: the Bayes error is that of deciding "
            "from this score."
        ],
    )


def _most(soft: Array) -> float:
    return 0.5 if soft.ndim == 1 else 1 - 1 / soft.shape[1]


def _class_range(soft: Array) -> tuple[int, ...]:
    return (0, 1) if soft.ndim == 1 else tuple(range(soft.shape[1]))


def _hoeffding(n: int, most: float) -> Callable[[float], float]:
    """Prop. 3.2 for a variable in [0, most]."""
    return lambda level: 2 * most * ishida.bound_clean(n, level)


def _within(each: Array, most: float) -> Bounds:
    return Bounds(each, each, (0.0, 1.0), (0.0, 1.0), (0.0, most))


def _signed(noisy: Array, signs: Any) -> Array:
    if noisy.ndim == 1:
        return ishida.signed_uncertainty(noisy, two_sided(signs, "sign labels", len(noisy)))
    best = numbers(signs, "sign labels").astype(int)
    if len(best) != len(noisy) or best.min() < 0 or best.max() >= noisy.shape[1]:
        raise InputError(
            "sign labels of several classes are the column of each item's most likely class, "
            "from 0."
        )
    return 1 - noisy[np.arange(len(noisy)), best]


def _expected(soft: Array) -> Callable[[Array], Array]:
    """Expected error of predicted codes against a label drawn from these probabilities."""

    def errors(codes: Array) -> Array:
        if soft.ndim == 1:
            right = np.where(codes == 1, soft, 1 - soft)
        else:
            right = soft[np.arange(len(soft)), np.clip(codes, 0, None)]
        return 1 - np.where(codes < 0, 0.0, right)

    return errors
