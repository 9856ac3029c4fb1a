"""Logistic regression from noisy labels: marginal likelihood (ML, MAP) or MMSE, with exact
gradients.
"""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.repeats import Repeats
from truthing.train.base import NoisyLabelClassifier
from truthing.train.evidence import Evidence
from truthing.train.mmse import warn_weak
from truthing.truth.groups import across

Target = tuple[Literal["ml", "mmse"], Array]


class NoisyLogisticRegression(NoisyLabelClassifier):
    """Logistic regression for two or more classes, from noisy labels.

    The marginal likelihood is not convex: the best of ``starts`` starts is kept, and
    ``objectives_`` has where
    each ended.

    Parameters
    ----------
    objective : {"ml", "map", "mmse"}, default "ml"
        "ml" maximises the marginal likelihood (Su 31-32): X is asked what the labels leave open,
        and the
        class prior is not needed. "map" adds a prior on every parameter, the intercept too. "mmse"
        minimises the cross-entropy with p(y | z) (Su 40): convex, and shrunk where labels are weak.
    C : float, default 1.0
        Inverse strength of the penalty, as in scikit-learn; ``np.inf`` for none.
    l1_ratio : float, default 0.0
        Share of the penalty that is absolute: 1 is the lasso.
    fit_intercept : bool, default True
        Whether there is an intercept.
    noise : float, mapping or noise model, optional
        As in `truthing.grade`; None: it is learned from the labels.
    prior : sequence or mapping, optional
        Share of each class. None: it is learned.
    gold : mapping, optional
        Row of X to its true class, where it is known.
    tol : float, default 1e-4
        When the optimiser stops.
    max_iter : int, default 1000
        Most iterations.
    starts : int, default 4
        Starting points.
    random_state : int, default 0
        Of the starting points.
    repeats : {"error", "first", "last", "keep"}, default "error"
        What to do when a labeler gave one item two different labels.

    Examples
    --------
    >>> import numpy as np, truthing as tr
    >>> data = tr.simulate(400, 3, prior=[0.5, 0.5], operating_point=(0.9, 0.1), fallibility=0.5,
    ...     seed=1)
    >>> model = NoisyLogisticRegression("ml", noise=0.25).fit(data.scores[:, None], data.labels)
    >>> bool(model.score(data.scores[:, None], data.truth) > 0.85)
    True
    """

    def __init__(
        self,
        objective: Literal["ml", "map", "mmse"] = "ml",
        *,
        C: float = 1.0,
        l1_ratio: float = 0.0,
        fit_intercept: bool = True,
        noise: Any = None,
        prior: Any = None,
        gold: Any = None,
        tol: float = 1e-4,
        max_iter: int = 1000,
        starts: int = 4,
        random_state: int = 0,
        repeats: Repeats = "error",
    ) -> None:
        self.objective = objective
        self.C = C
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.noise = noise
        self.prior = prior
        self.gold = gold
        self.tol = tol
        self.max_iter = max_iter
        self.starts = starts
        self.random_state = random_state
        self.repeats = repeats

    def fit(self, X: Any, y: Any) -> NoisyLogisticRegression:
        self._check_options()
        panel = self._gather(X, y)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        evidence = self._weigh(panel)
        X = X if len(evidence.kept) == X.shape[0] else X[evidence.kept]
        if self.objective == "mmse":
            warn_weak(evidence, "objective='mmse'")
        problem = Objective(
            X,
            ("mmse", evidence.posterior),
            C=self.C,
            l1_ratio=self.l1_ratio,
            intercept=self.fit_intercept,
            penalise_intercept=self.objective == "map",
        )
        first, value, self.n_iter_ = self._descend(problem, problem.start(evidence.prior))
        self.objectives_ = [value]
        if self.objective != "mmse":
            first = self._best(problem.marginal(evidence.log_likelihood), first, evidence)
        self.coef_, self.intercept_ = problem.unpack(first)
        return self

    def _best(self, problem: Objective, convex: Array, evidence: Evidence) -> Array:
        """From the MMSE solution, from the class prior, and from random slopes; the lowest end is
        kept.
        """
        rng = np.random.default_rng(self.random_state)
        points = [convex, problem.start(evidence.prior)]
        points += [problem.start(evidence.prior, rng) for _ in range(self.starts - 2)]
        ends = [self._descend(problem, point) for point in points[: self.starts]]
        self.objectives_ = [value for _, value, _ in ends]
        best, _, self.n_iter_ = min(ends, key=lambda end: end[1])
        return best

    def _descend(self, problem: Objective, start: Array) -> tuple[Array, float, int]:
        theta, value, iterations, settled = problem.minimise(start, self.tol, self.max_iter)
        if not settled:
            warnings.warn(
                f"L-BFGS did not converge in {self.max_iter} iterations: scale X "
                "(StandardScaler) or raise max_iter.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return theta, value, iterations

    def _check_options(self) -> None:
        if self.objective not in ("ml", "map", "mmse"):
            raise InputError(f"objective {self.objective!r} is not known: choose ml, map or mmse.")
        if not self.C > 0 or not 0 <= self.l1_ratio <= 1 or self.starts < 1:
            raise InputError(
                f"C={self.C}, l1_ratio={self.l1_ratio}, starts={self.starts}: C is above 0, "
                "l1_ratio between 0 and 1, starts at least 1."
            )

    def decision_function(self, X: Any) -> Array:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        scores = np.asarray(X @ self.coef_.T + self.intercept_)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_proba(self, X: Any) -> Array:
        from scipy.special import expit, softmax

        scores = self.decision_function(X)
        return (
            np.stack([expit(-scores), expit(scores)], axis=1)
            if scores.ndim == 1
            else softmax(scores, axis=1)
        )

    def predict(self, X: Any) -> Array:
        scores = self.decision_function(X)
        return np.asarray(
            self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class Objective:
    """Penalised mean loss of a linear model and its gradient, for a fixed soft target (MMSE) or a
    likelihood of labels (ML).

    With p the model's probabilities and r ∝ p · p(z | y), both gradients are Σ_i (p - target_i)
    x_iᵗ: the target is p(y | z_i) or r_i. Two classes have one vector of weights, more have one
    each, as in scikit-learn.
    """

    def __init__(
        self,
        X: Any,
        target: Target,
        *,
        C: float = 1.0,
        l1_ratio: float = 0.0,
        intercept: bool = True,
        penalise_intercept: bool = False,
    ) -> None:
        self.X = X
        self.kind, self.target = target
        self.n, self.n_features = X.shape
        self.n_classes = self.target.shape[1]
        self.n_rows = 1 if self.n_classes == 2 else self.n_classes
        self.intercept = intercept
        self.lasso, self.ridge = l1_ratio / (C * self.n), (1 - l1_ratio) / (C * self.n)
        self.penalised = np.ones((self.n_rows, self.n_features + intercept))
        if intercept and not penalise_intercept:
            self.penalised[:, -1] = 0.0

    def marginal(self, log_likelihood: Array) -> Objective:
        """The same model with the likelihood of the labels instead of a soft target."""
        other = object.__new__(Objective)
        other.__dict__.update(self.__dict__, kind="ml", target=log_likelihood)
        return other

    def start(self, prior: Array, rng: np.random.Generator | None = None) -> Array:
        """Intercepts at the class prior; slopes zero, or random on the scale of the features."""
        logs = np.log(np.maximum(prior, 1e-6))
        weights = np.zeros_like(self.penalised)
        if self.intercept:
            weights[:, -1] = logs[1] - logs[0] if self.n_rows == 1 else logs - logs.mean()
        if rng is not None:
            square = self.X.multiply(self.X) if hasattr(self.X, "multiply") else self.X**2
            size = np.sqrt(np.asarray(square.mean(axis=0)).reshape(-1) * self.n_features) + 1e-12
            weights[:, : self.n_features] = (
                rng.standard_normal((self.n_rows, self.n_features)) / size
            )
        return weights.reshape(-1)

    def unpack(self, theta: Array) -> tuple[Array, Array]:
        weights = theta.reshape(self.penalised.shape)
        return weights[:, : self.n_features], weights[:, -1] if self.intercept else np.zeros(
            self.n_rows
        )

    def smooth(self, theta: Array) -> tuple[float, Array]:
        """Mean loss plus the ridge, and the gradient."""
        coef, constant = self.unpack(theta)
        scores = np.asarray(self.X @ coef.T) + constant
        loss, slope = self._two(scores[:, 0]) if self.n_rows == 1 else self._many(scores)
        slope = slope.reshape(self.n, self.n_rows) / self.n
        gradient = np.empty_like(self.penalised)
        gradient[:, : self.n_features] = np.asarray(self.X.T @ slope).T
        if self.intercept:
            gradient[:, -1] = slope.sum(axis=0)
        weights = theta.reshape(self.penalised.shape) * self.penalised
        gradient += self.ridge * weights
        return loss + 0.5 * self.ridge * float((weights**2).sum()), gradient.reshape(-1)

    def _two(self, score: Array) -> tuple[float, Array]:
        from scipy.special import expit

        whole = np.logaddexp(0, score)
        if self.kind == "mmse":
            share = self.target[:, 1]
            return float((whole - share * score).mean()), expit(score) - share
        low, high = self.target.T
        loss = whole - np.logaddexp(low, high + score)
        return float(loss.mean()), expit(score) - expit(high + score - low)

    def _many(self, scores: Array) -> tuple[float, Array]:
        whole, chance = _log_softmax(scores)
        if self.kind == "mmse":
            return float(
                (whole.sum() - np.einsum("ij,ij->", self.target, scores)) / self.n
            ), chance - self.target
        with_labels, share = _log_softmax(self.target + scores)
        return float((whole - with_labels).mean()), chance - share

    def minimise(self, start: Array, tol: float, max_iter: int) -> tuple[Array, float, int, bool]:
        """L-BFGS; with a lasso the weights are split into positive and negative parts, which keeps
        the problem smooth.
        """
        from scipy.optimize import minimize

        options = {"maxiter": max_iter, "gtol": tol, "ftol": 64 * np.finfo(float).eps, "maxls": 50}
        if self.lasso == 0:
            found = minimize(self.smooth, start, jac=True, method="L-BFGS-B", options=options)
            return found.x, float(found.fun), int(found.nit), found.status != 1
        cost = self.lasso * self.penalised.reshape(-1)
        size = len(start)

        def split(both: Array) -> tuple[float, Array]:
            value, gradient = self.smooth(both[:size] - both[size:])
            return value + float(cost @ (both[:size] + both[size:])), np.concatenate(
                [gradient + cost, cost - gradient]
            )

        both = np.concatenate([np.maximum(start, 0), np.maximum(-start, 0)])
        found = minimize(
            split,
            both,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0, None)] * (2 * size),
            options=options,
        )
        return found.x[:size] - found.x[size:], float(found.fun), int(found.nit), found.status != 1


def _log_softmax(scores: Array) -> tuple[Array, Array]:
    """The logarithm of each row's sum of exponentials, and the softmax; one pass of
    exponentials.
    """
    top = across(np.maximum, scores)
    chance = np.exp(scores - top[:, None])
    total = across(np.add, chance)
    chance /= total[:, None]
    return top + np.log(total), chance
