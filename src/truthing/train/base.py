"""What the estimators share: labels weighed before fitting, classes by name, and an inner estimator
that sees class codes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, check_array, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted, has_fit_parameter, validate_data

from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.repeats import Repeats
from truthing.train.evidence import Evidence, TrainingPanel, gather, weigh

NEGLIGIBLE = 1e-9  # a copy of a row with less weight than this is not made


class NoisyLabelClassifier(ClassifierMixin, BaseEstimator):
    """A classifier whose ``fit(X, labels)`` takes `Labels`, an items × labelers matrix with gaps, a
    long table or a plain y.

    ``noise`` takes what `truthing.grade` takes: None learns it first. ``gold`` maps items to their
    truth, taken as certain. ``prior``: class prior, None learns it. After fitting, ``classes_``,
    ``prior_``, ``confusion_`` (labelers × truth × label, where the model has it) and
    ``reliability_``.
    """

    noise: Any
    prior: Any
    gold: Any
    repeats: Repeats

    def _gather(self, X: Any, labels: Any) -> TrainingPanel:
        panel = gather(X, labels, gold=self.gold, repeats=self.repeats)
        self.classes_ = name_array(panel.labels.classes)
        return panel

    def _weigh(self, panel: TrainingPanel) -> Evidence:
        evidence = weigh(panel, noise=self.noise, prior=self.prior)
        self.prior_, self.confusion_ = evidence.prior, evidence.tables
        self.reliability_ = evidence.reliability
        return evidence


class WrappingClassifier(NoisyLabelClassifier):
    """Around an inner estimator (None: logistic regression), which sees class codes 0, 1, … in the
    order of ``classes_``.
    """

    estimator: Any

    def _template(self) -> Any:
        return LogisticRegression() if self.estimator is None else clone(self.estimator)

    def _rows(self, X: Any, labels: Any) -> tuple[Any, TrainingPanel]:
        """Rows that have labels; the inner estimator judges what is in X."""
        X = as_table(X)
        validate_data(self, X, skip_check_array=True)
        panel = self._gather(X, labels)
        return (X if len(panel.kept) == _num_samples(X) else _safe_indexing(X, panel.kept)), panel

    def _prepare(self, X: Any, labels: Any) -> tuple[Any, Evidence]:
        X, panel = self._rows(X, labels)
        return X, self._weigh(panel)

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self)
        X = as_table(X)
        if X.ndim == 1 and X.dtype.kind in "biuf":
            check_array(X)  # raises, in scikit-learn's words
        validate_data(self, X, reset=False, skip_check_array=True)
        return X

    def predict(self, X: Any) -> Array:
        X = self._checked(X)
        return np.asarray(self.classes_[np.asarray(self.estimator_.predict(X)).astype(int)])

    @available_if(lambda self: hasattr(self._template(), "predict_proba"))
    def predict_proba(self, X: Any) -> Array:
        X = self._checked(X)
        return class_chances(self.estimator_, X, len(self.classes_))

    @available_if(lambda self: hasattr(self._template(), "decision_function"))
    def decision_function(self, X: Any) -> Array:
        X = self._checked(X)
        if len(self.estimator_.classes_) < len(self.classes_):
            raise InputError(
                "a class never occurred in training: its decision function is unknown. Use "
                "predict_proba."
            )
        return np.asarray(self.estimator_.decision_function(X))

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self._template())
        tags.input_tags = inner.input_tags
        return tags


def as_table(X: Any) -> Any:
    """X as something whose rows can be picked: arrays, frames and sparse matrices as they are,
    everything else as an array.
    """
    if issparse(X):
        return X.tocsr()
    return X if hasattr(X, "ndim") and hasattr(X, "__getitem__") else np.asarray(X)


def name_array(classes: tuple[Any, ...]) -> Array:
    """Class names as an array: of their own type where they share one, of objects otherwise."""
    if len({type(c) for c in classes}) == 1 and isinstance(classes[0], str | int | float):
        return np.array(classes)
    names = np.empty(len(classes), dtype=object)
    names[:] = classes
    return names


def class_chances(estimator: Any, X: Any, n_classes: int) -> Array:
    """predict_proba of an estimator fitted on class codes, with a column for every class, also one
    that it never saw.
    """
    chance = np.zeros((_num_samples(X), n_classes))
    chance[:, np.asarray(estimator.classes_).astype(int)] = estimator.predict_proba(X)
    return chance


def fit_weighted(estimator: Any, X: Any, weights: Array, *, copies: int | None = None) -> Any:
    """Minimise Σ_i Σ_y w_iy L(g(x_i), y) (Su 40): each row once for each class that it may belong
    to, with that class's weight.

    ``copies`` replaces weights by whole numbers of copies that sum to it. In a pipeline the steps
    before the last see each row once, and the most probable class where they ask for one. Rows
    whose class is certain are not copied.
    """
    if isinstance(estimator, Pipeline) and len(estimator.steps) > 1:
        head, (name, last) = estimator[:-1], estimator.steps[-1]
        inner = head.fit_transform(X, weights.argmax(axis=1))
        return Pipeline([*head.steps, (name, fit_weighted(last, inner, weights, copies=copies))])
    if copies is not None:
        times = whole_copies(weights, copies)
        if (times == times.max()).sum() == len(times):  # every row is certain: once is enough
            times = np.minimum(times, 1)
        row, code = np.nonzero(times)
        repeat = times[row, code]
        estimator.fit(_safe_indexing(X, np.repeat(row, repeat)), np.repeat(code, repeat))
        return estimator
    row, code = np.nonzero(weights > NEGLIGIBLE)
    weight = weights[row, code]
    if len(row) == len(weights):
        return (
            estimator.fit(X, code)
            if np.allclose(weight, 1)
            else estimator.fit(X, code, sample_weight=weight)
        )
    return estimator.fit(_safe_indexing(X, row), code, sample_weight=weight)


def takes_weights(estimator: Any) -> bool:
    """Does fit accept sample weights (of a pipeline: that of its last step)?"""
    last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    return bool(has_fit_parameter(last, "sample_weight"))


def whole_copies(weights: Array, copies: int) -> Array:
    """Whole numbers closest to ``copies`` times the weights that sum to ``copies`` in each row
    (largest remainders).

    >>> whole_copies(np.array([[0.72, 0.28], [1.0, 0.0]]), 10).tolist()
    [[7, 3], [10, 0]]
    """
    exact = weights * copies
    whole = np.floor(exact + 1e-9).astype(np.int64)
    rank = np.argsort(np.argsort(whole - exact, axis=1, kind="stable"), axis=1, kind="stable")
    return np.asarray(whole + (rank < (copies - whole.sum(axis=1))[:, None]))
