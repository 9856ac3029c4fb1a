"""Ways that work with any tool (Su 3.7): estimate the labels first, or train one classifier for
each labeler and let them vote.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.utils import _safe_indexing

from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.repeats import Repeats
from truthing.train.base import WrappingClassifier, class_chances


class LabelEstimationClassifier(WrappingClassifier):
    """Any estimator, trained on the most probable class of each item as if that were the truth.

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
    repeats : {"error", "first", "last", "keep"}, default "error"
        What to do when a labeler gave one item two different labels.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.1], [0.9], [1.0]])
    >>> LabelEstimationClassifier(noise=0.2).fit(X, [[0, 0, 1], [0, 0, 0], [1, 1, 1], [0, 1,
    ...     1]]).predict([[0.2], [0.8]]).tolist()
    [0, 1]
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        noise: Any = None,
        prior: Any = None,
        gold: Any = None,
        repeats: Repeats = "error",
    ) -> None:
        self.estimator = estimator
        self.noise = noise
        self.prior = prior
        self.gold = gold
        self.repeats = repeats

    def fit(self, X: Any, y: Any) -> LabelEstimationClassifier:
        X, evidence = self._prepare(X, y)
        code = evidence.posterior.argmax(axis=1)
        if len(np.unique(code)) < 2:
            raise InputError(
                "every item's most probable label is the same class: nothing is left to tell apart."
            )
        self.estimator_ = self._template().fit(X, code)
        return self


class LabelerVotingClassifier(WrappingClassifier):
    """One classifier for each labeler, trained on that labeler's labels; their majority decides.

    No noise model is used. Two classes and an estimator with ``predict_proba``: the score is the
    median of the
    labelers' probabilities. Otherwise it is the share of votes.

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        What is trained. None: logistic regression.
    gold : mapping, optional
        Row of X to its true class: replaces labels where it is known.
    repeats : {"error", "first", "last", "keep"}, default "error"
        What to do when a labeler gave one item two different labels.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.1], [0.9], [1.0]])
    >>> LabelerVotingClassifier().fit(X, [[0, 0, 1], [0, 0, 0], [1, 1, 1], [0, 1,
    ...     1]]).predict([[0.2], [0.8]]).tolist()
    [0, 1]
    """

    def __init__(
        self, estimator: Any = None, *, gold: Any = None, repeats: Repeats = "error"
    ) -> None:
        self.estimator = estimator
        self.gold = gold
        self.repeats = repeats

    def fit(self, X: Any, y: Any) -> LabelerVotingClassifier:
        X, panel = self._rows(X, y)
        labels, gold = panel.labels, panel.gold
        if labels.anonymous:
            raise InputError(
                "anonymous votes have no labelers to train a classifier for: use "
                "LabelEstimationClassifier."
            )
        self.estimators_ = []
        for t in np.flatnonzero(labels.per_labeler > 0):
            mine = labels.labeler == t
            item = labels.item[mine]
            code = np.where(gold[item] >= 0, gold[item], labels.label[mine])
            inner = (
                self._template()
                if len(np.unique(code)) > 1
                else DummyClassifier(strategy="most_frequent")
            )
            self.estimators_.append(inner.fit(_safe_indexing(X, item), code))
        return self

    def predict(self, X: Any) -> Array:
        chance = self.predict_proba(X)
        return np.asarray(self.classes_[chance.argmax(axis=1)])

    def predict_proba(self, X: Any) -> Array:
        X, n_classes = self._checked(X), len(self.classes_)
        if n_classes == 2 and hasattr(self._template(), "predict_proba"):
            chance = np.median(
                [class_chances(inner, X, 2)[:, 1] for inner in self.estimators_], axis=0
            )
            return np.stack([1 - chance, chance], axis=1)
        votes = np.stack([np.asarray(inner.predict(X)).astype(int) for inner in self.estimators_])
        return np.stack([(votes == c).mean(axis=0) for c in range(n_classes)], axis=1)

    def decision_function(self, X: Any) -> Array:
        """Log odds of `predict_proba`, clipped away from certainty; of each class where there are
        more than two.
        """
        chance = np.clip(self.predict_proba(X), 1e-9, 1 - 1e-9)
        scores = np.log(chance) - np.log1p(-chance)
        return np.asarray(scores[:, 1] if scores.shape[1] == 2 else scores)
