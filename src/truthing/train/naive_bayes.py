"""A generative classifier from noisy labels: Gaussian naive Bayes by maximum likelihood with the
true class summed out.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from truthing.class_codes import Array
from truthing.repeats import Repeats
from truthing.train.base import NoisyLabelClassifier
from truthing.truth.groups import softmax


class NoisyNaiveBayes(NoisyLabelClassifier):
    """Gaussian naive Bayes with the class known through noisy labels only.

    Maximises ``sum_i log sum_y p(z_i | y) prior(y) prod_j N(x_ij; mean_yj, var_yj)`` by EM (Su
    3.3);
    ``path_`` has the log-likelihood, which never falls. With perfect labels this is scikit-learn's
    GaussianNB.

    Parameters
    ----------
    noise : float, mapping or noise model, optional
        As in `truthing.grade`; None: it is learned from the labels.
    prior : sequence or mapping, optional
        Share of each class. None: it is learned.
    gold : mapping, optional
        Row of X to its true class, where it is known.
    var_smoothing : float, default 1e-9
        Share of the largest variance that is added to all, as in scikit-learn.
    tol : float, default 1e-8
        When EM stops.
    max_iter : int, default 1000
        Most iterations.
    repeats : {"error", "first", "last", "keep"}, default "error"
        What to do when a labeler gave one item two different labels.

    Examples
    --------
    >>> import truthing as tr
    >>> data = tr.simulate(400, 3, prior=[0.5, 0.5], operating_point=(0.9, 0.1), fallibility=0.5,
    ...     seed=1)
    >>> model = NoisyNaiveBayes(noise=0.25).fit(data.scores[:, None], data.labels)
    >>> bool(model.score(data.scores[:, None], data.truth) > 0.85)
    True
    """

    def __init__(
        self,
        *,
        noise: Any = None,
        prior: Any = None,
        gold: Any = None,
        var_smoothing: float = 1e-9,
        tol: float = 1e-8,
        max_iter: int = 1000,
        repeats: Repeats = "error",
    ) -> None:
        self.noise = noise
        self.prior = prior
        self.gold = gold
        self.var_smoothing = var_smoothing
        self.tol = tol
        self.max_iter = max_iter
        self.repeats = repeats

    def fit(self, X: Any, y: Any) -> NoisyNaiveBayes:
        panel = self._gather(X, y)
        X = validate_data(self, X, dtype=np.float64)[panel.kept]
        evidence = self._weigh(panel)
        self.epsilon_ = self.var_smoothing * X.var(axis=0).max()
        share, before = evidence.posterior, -np.inf
        self.path_: list[float] = []
        for _ in range(self.max_iter):
            self._maximise(X, share)
            joint = evidence.log_likelihood + self._log_joint(X)
            share = softmax(joint)
            top = joint.max(axis=1)
            reached = float((top + np.log(np.exp(joint - top[:, None]).sum(axis=1))).mean())
            self.path_.append(reached)
            self.n_iter_ = len(self.path_)
            if reached - before < self.tol:
                return self
            before = reached
        warnings.warn(
            f"EM did not settle in {self.max_iter} iterations: raise max_iter.",
            ConvergenceWarning,
            stacklevel=2,
        )
        return self

    def _maximise(self, X: Array, share: Array) -> None:
        total = np.maximum(share.sum(axis=0), 1e-300)
        self.theta_ = (share.T @ X) / total[:, None]
        spread = np.stack([(w @ (X - m) ** 2) / t for w, m, t in zip(share.T, self.theta_, total)])
        self.var_ = spread + max(self.epsilon_, 1e-300)
        if self.prior is None:
            self.prior_ = total / total.sum()

    def _log_joint(self, X: Array) -> Array:
        """log π(y) p(x | y)."""
        with np.errstate(divide="ignore"):
            constant = np.log(self.prior_) - 0.5 * np.log(2 * np.pi * self.var_).sum(axis=1)
        squares = np.stack(
            [((X - m) ** 2 / v).sum(axis=1) for m, v in zip(self.theta_, self.var_)], axis=1
        )
        return np.asarray(constant - 0.5 * squares)

    def predict_proba(self, X: Any) -> Array:
        check_is_fitted(self)
        return softmax(self._log_joint(validate_data(self, X, dtype=np.float64, reset=False)))

    def predict(self, X: Any) -> Array:
        chance = self.predict_proba(X)
        return np.asarray(self.classes_[chance.argmax(axis=1)])
