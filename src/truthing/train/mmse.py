"""MMSE training of any estimator (Su 40), and its quantised form, replication."""

from __future__ import annotations

import warnings
from typing import Any

from truthing.errors import InputError
from truthing.repeats import Repeats
from truthing.train.base import WrappingClassifier, fit_weighted, takes_weights
from truthing.train.evidence import WEAK, Evidence, WeakLabelsWarning


class MMSEClassifier(WrappingClassifier):
    """Any estimator, trained on the conditional mean of its loss given the labels (Su 40).

    Minimises ``(1/N) sum_i sum_y p(y | z_i) L(g(x_i), y)``: every row once for each class, with
    weight
    p(y | z_i). p(y | z) does not ask X: with weak labels the result shrinks towards the class prior
    (``reliability_`` says how far, docs/training.md). `JointEMClassifier` and
    `NoisyLogisticRegression` do
    ask X.

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        What is trained. None: logistic regression.
    noise : float, mapping or noise model, optional
        As in `truthing.grade`; None: it is learned from the labels.
    prior : sequence or mapping, optional
        Share of each class. None: it is learned.
    gold : mapping, optional
        Row of X to its true class, where it is known.
    copies : int, default 10
        Copies of each row for an estimator that takes no sample weights.
    repeats : {"error", "first", "last", "keep"}, default "error"
        What to do when a labeler gave one item two different labels.

    Examples
    --------
    >>> import truthing as tr
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> data = tr.simulate(300, 5, prior=[0.5, 0.5], operating_point=(0.9, 0.1), fallibility=0.3,
    ...     seed=1)
    >>> model = MMSEClassifier(DecisionTreeClassifier(max_depth=2), noise=0.15).fit(data.scores[:,
    ...     None], data.labels)
    >>> bool(model.score(data.scores[:, None], data.truth) > 0.85)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        noise: Any = None,
        prior: Any = None,
        gold: Any = None,
        copies: int = 10,
        repeats: Repeats = "error",
    ) -> None:
        self.estimator = estimator
        self.noise = noise
        self.prior = prior
        self.gold = gold
        self.copies = copies
        self.repeats = repeats

    def fit(self, X: Any, y: Any) -> MMSEClassifier:
        X, evidence = self._prepare(X, y)
        warn_weak(evidence, type(self).__name__)
        inner, copies = self._template(), None
        if not takes_weights(inner):
            copies = check_copies(self.copies)
            warnings.warn(
                f"{type(inner).__name__} takes no sample weights: trained on {copies} copies "
                "of each row, its classes in proportion to p(y | labels).",
                stacklevel=2,
            )
        self.estimator_ = fit_weighted(inner, X, evidence.posterior, copies=copies)
        return self


class ReplicationClassifier(MMSEClassifier):
    """Any estimator, trained on copies of each row whose classes are in proportion to p(y | z).

    This is MMSE training in steps of 1/copies.

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        What is trained. None: logistic regression.
    noise : float, mapping or noise model, optional
        As in `truthing.grade`; None: it is learned from the labels.
    prior : sequence or mapping, optional
        Share of each class. None: it is learned.
    gold : mapping, optional
        Row of X to its true class, where it is known.
    copies : int, default 10
        Copies of each row.
    repeats : {"error", "first", "last", "keep"}, default "error"
        What to do when a labeler gave one item two different labels.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X = np.array([[0.0], [0.1], [0.9], [1.0]])
    >>> votes = [["a", "a", "b"], ["a", "a", "a"], ["b", "b", "b"], ["a", "b", "b"]]
    >>> ReplicationClassifier(KNeighborsClassifier(10), noise=0.1).fit(X, votes).predict(X).tolist()
    ['a', 'a', 'b', 'b']
    """

    def fit(self, X: Any, y: Any) -> ReplicationClassifier:
        X, evidence = self._prepare(X, y)
        warn_weak(evidence, type(self).__name__)
        self.estimator_ = fit_weighted(
            self._template(), X, evidence.posterior, copies=check_copies(self.copies)
        )
        return self


def check_copies(copies: int) -> int:
    if copies < 2:
        raise InputError(
            f"copies={copies}: give at least 2, so that a row can stand for two classes."
        )
    return copies


def warn_weak(evidence: Evidence, name: str) -> None:
    """MMSE training shrinks towards the prior by what the labels leave open; say so before it
    hurts.
    """
    if evidence.reliability < WEAK:
        warnings.warn(
            f"The labels are weak: p(y | labels) keeps {evidence.reliability:.0%} of the "
            f"contrast between classes, and {name} shrinks towards the class prior "
            "as much. NoisyLogisticRegression('ml') and JointEMClassifier use X to make up for it.",
            WeakLabelsWarning,
            stacklevel=3,
        )
