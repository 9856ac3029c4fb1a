"""Labelers and classifier learned together by EM: Raykar (2010), Khetan (2018)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.utils import _safe_indexing

from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.labels import Labels
from truthing.noise.base import table_log_likelihood
from truthing.repeats import Repeats
from truthing.train.base import WrappingClassifier, class_chances, fit_weighted, takes_weights
from truthing.train.evidence import Evidence
from truthing.truth.groups import softmax


class JointEMClassifier(WrappingClassifier):
    """Any estimator with ``predict_proba`` and sample weights, learned together with the labelers.

    Rows of the labelers' confusion matrices are partially pooled as in the Dawid-Skene fit that
    starts the iteration. Noise that is given is kept.

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        What is trained. None: logistic regression.
    algorithm : {"raykar", "khetan"}, default "raykar"
        "raykar": the truth's posterior asks p(y | x) too. "khetan": matrices are learned from the
        classifier's decisions and the posterior leaves p(y | x) out, which suits learners whose
        probabilities are too sure.
    noise : float, mapping or noise model, optional
        As in `truthing.grade`; None: it is learned from the labels.
    prior : sequence or mapping, optional
        Share of each class. None: it is learned.
    gold : mapping, optional
        Row of X to its true class, where it is known.
    cv : int, "auto" or None, default "auto"
        p(y | x) of a row from this many folds that left it out, so that a learner that memorises
        cannot
        confirm itself. None asks the fitted estimator; "auto" is None for logistic regression, else
        5.
    tol : float, default 1e-4
        The iteration ends when no probability moves more.
    max_iter : int, default 50
        Most iterations.
    random_state : int, default 0
        Of the folds.
    repeats : {"error", "first", "last", "keep"}, default "error"
        What to do when a labeler gave one item two different labels.

    Examples
    --------
    >>> import truthing as tr
    >>> data = tr.simulate(400, 3, prior=[0.5, 0.5], operating_point=(0.9, 0.1), fallibility=0.5,
    ...     seed=1)
    >>> model = JointEMClassifier().fit(data.scores[:, None], data.labels)
    >>> bool(model.score(data.scores[:, None], data.truth) > 0.85), model.confusion_.shape
    (True, (3, 2, 2))
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        algorithm: Literal["raykar", "khetan"] = "raykar",
        noise: Any = None,
        prior: Any = None,
        gold: Any = None,
        cv: int | Literal["auto"] | None = "auto",
        tol: float = 1e-4,
        max_iter: int = 50,
        random_state: int = 0,
        repeats: Repeats = "error",
    ) -> None:
        self.estimator = estimator
        self.algorithm = algorithm
        self.noise = noise
        self.prior = prior
        self.gold = gold
        self.cv = cv
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.repeats = repeats

    def fit(self, X: Any, y: Any) -> JointEMClassifier:
        if self.algorithm not in ("raykar", "khetan"):
            raise InputError(f"algorithm {self.algorithm!r} is not known: choose raykar or khetan.")
        X, evidence = self._prepare(X, y)
        inner = self._template()
        if not (hasattr(inner, "predict_proba") and takes_weights(inner)):
            raise InputError(
                f"{type(inner).__name__} needs predict_proba and sample weights to be "
                "learned together with the labelers: use MMSEClassifier, or wrap it in "
                "CalibratedClassifierCV."
            )
        share = evidence.posterior
        self.n_iter_ = 0
        while self.n_iter_ < self.max_iter:
            self.n_iter_ += 1
            self.estimator_ = fit_weighted(self._template(), X, share)
            before, share = share, self._expect(X, evidence, share)
            if np.abs(share - before).mean() < self.tol:
                break
        self.truth_ = share
        return self

    def _expect(self, X: Any, evidence: Evidence, share: Array) -> Array:
        """The truth's posterior given the classifier and the labelers as they now are."""
        chance = self._chances(X, share)
        log_likelihood = evidence.log_likelihood
        raykar = self.algorithm == "raykar"
        if evidence.fit is not None:
            seen = share if raykar else np.eye(share.shape[1])[chance.argmax(axis=1)]
            weight = evidence.fit.concentration * evidence.fit.pool + expected_counts(
                evidence.labels, seen
            )
            self.confusion_ = weight / weight.sum(axis=2, keepdims=True)
            log_likelihood = evidence.certain(
                table_log_likelihood(evidence.labels, self.confusion_)
            )
        with np.errstate(divide="ignore"):
            return softmax(
                log_likelihood + np.log(np.maximum(chance, 1e-12) if raykar else evidence.prior)
            )

    def _chances(self, X: Any, share: Array) -> Array:
        folds = (None if self.estimator is None else 5) if self.cv == "auto" else self.cv
        if folds is None:
            return class_chances(self.estimator_, X, share.shape[1])
        chance = np.empty_like(share)
        # the same folds in every round, or the iteration could not settle
        fold = np.random.default_rng(self.random_state).permutation(len(share)) % folds
        for k in range(folds):
            inside, outside = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
            model = fit_weighted(self._template(), _safe_indexing(X, outside), share[outside])
            chance[inside] = class_chances(model, _safe_indexing(X, inside), share.shape[1])
        return chance


def expected_counts(labels: Labels, share: Array) -> Array:
    """How often each labeler says k where the truth is c, expected: labelers × truth × label."""
    n_classes = share.shape[1]
    place = labels.labeler.astype(np.int64) * n_classes + labels.label
    size = labels.n_labelers * n_classes
    counts = [
        np.bincount(place, weights=labels.weight * share[labels.item, c], minlength=size)
        for c in range(n_classes)
    ]
    return np.stack([c.reshape(labels.n_labelers, n_classes) for c in counts], axis=1)
