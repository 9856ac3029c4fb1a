"""Model selection without true labels: a splitter that understands `Labels`, and scorers that
estimate the true metric from noisy ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.model_selection import BaseCrossValidator

from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.grading import grade
from truthing.labels import Labels
from truthing.train.evidence import align_labels

LOWER_IS_BETTER = ("error", "false_alarm")
NEED_SCORES = ("auc", "average_precision")


class LabelsKFold(BaseCrossValidator):
    """K folds for `Labels` or a label matrix, alike in their most frequent labels.

    No truth is used. scikit-learn's own stratified splitters refuse targets of two dimensions.

    Parameters
    ----------
    n_splits : int, default 5
        Number of folds.
    random_state : int, default 0
        Of the folds.

    Examples
    --------
    >>> labels = Labels.from_matrix([[0, 0], [0, 1], [1, 1], [1, 1], [0, 0], [1, None]])
    >>> [sorted(test.tolist()) for _, test in LabelsKFold(2, random_state=0).split(np.zeros((6,
    ...     1)), labels)]
    [[1, 2, 4], [0, 3, 5]]
    """

    def __init__(self, n_splits: int = 5, *, random_state: int | None = 0) -> None:
        if n_splits < 2:
            raise InputError(f"n_splits={n_splits}: give at least 2 folds.")
        self.n_splits = n_splits
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Array, Array]]:
        fold = self._folds(align_labels(X, y))
        for k in range(self.n_splits):
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)

    def _folds(self, labels: Labels) -> Array:
        if labels.n_items < self.n_splits:
            raise InputError(
                f"{labels.n_items} items cannot fill {self.n_splits} folds: give fewer folds."
            )
        stratum = np.where(labels.per_item > 0, labels.counts().argmax(axis=1), -1)
        order = np.random.default_rng(self.random_state).permutation(labels.n_items)
        order = order[np.argsort(stratum[order], kind="stable")]
        fold = np.empty(labels.n_items, dtype=np.int64)
        fold[order] = np.arange(labels.n_items) % self.n_splits  # dealt out stratum after stratum
        return fold


@dataclass(frozen=True)
class NoisyScorer:
    """A scikit-learn scorer that returns the estimated true metric, made by `noisy_scorer`.

    It is the posterior mean of `truthing.grade`, from few draws. Metrics of which less is better
    are returned
    with a minus sign.

    Parameters
    ----------
    metric : str
        Name of the metric.
    options : dict
        Arguments of `truthing.grade`.
    """

    metric: str
    options: dict[str, Any] = field(default_factory=dict)

    def __call__(self, estimator: Any, X: Any, labels: Any) -> float:
        panel = align_labels(X, labels)
        # candidates are ranked: doubt about the whole panel would only pull all of them together
        options = {"panel_error": 0, **self.options}
        if options.get("gold") is not None:  # a fold holds some of the gold, perhaps none
            here = set(panel.items)
            options["gold"] = {
                item: truth for item, truth in options["gold"].items() if item in here
            }
        scores = self._scores(estimator, X)
        report = grade(estimator.predict(X), panel, scores=scores, metrics=[self.metric], **options)
        value = report[self.metric].mean
        return -value if self.metric in LOWER_IS_BETTER else value

    def _scores(self, estimator: Any, X: Any) -> Array | None:
        if self.metric not in NEED_SCORES:
            return None
        if len(estimator.classes_) != 2:
            raise InputError(
                f"{self.metric} is for two classes, and there are {len(estimator.classes_)}."
            )
        if hasattr(estimator, "predict_proba"):
            scores = np.asarray(estimator.predict_proba(X))[:, 1]
        elif hasattr(estimator, "decision_function"):
            scores = np.asarray(estimator.decision_function(X))
        else:
            raise InputError(
                f"{self.metric} needs predict_proba or decision_function, which "
                f"{type(estimator).__name__} has not."
            )
        positive = self.options.get("positive")
        return -scores if positive is not None and positive == estimator.classes_[0] else scores


def noisy_scorer(metric: str = "accuracy", *, draws: int = 500, **options: Any) -> NoisyScorer:
    """A scorer for `GridSearchCV` and its kin that needs no true label.

    It estimates the metric from the noisy validation labels. Grade the chosen model once more, with
    all draws,
    on labels that took no part in choosing.

    Parameters
    ----------
    metric : str, default "accuracy"
        A name of the report: accuracy, f1, auc, macro_f1, ... error and false_alarm are returned
        with a
        minus sign.
    draws : int, default 500
        Draws of the posterior; 500 are plenty for a mean.
    **options
        Arguments of `truthing.grade`: noise, gold, prior, positive, panel_error, ...

    Returns
    -------
    NoisyScorer

    See Also
    --------
    LabelsKFold : folds for noisy labels.

    Examples
    --------
    >>> import truthing as tr
    >>> from sklearn.model_selection import GridSearchCV
    >>> data = tr.simulate(300, 5, prior=[0.5, 0.5], operating_point=(0.9, 0.1), fallibility=0.3,
    ...     seed=1)
    >>> model = tr.train.NoisyLogisticRegression(noise=0.15)
    >>> search = GridSearchCV(model, {"C": [0.01, 1.0]}, scoring=noisy_scorer("accuracy",
    ...     noise=0.15), cv=LabelsKFold(3))
    >>> bool(0.8 < search.fit(data.scores[:, None], data.labels).best_score_ < 1)
    True
    """
    return NoisyScorer(metric, {"draws": draws, **options})
