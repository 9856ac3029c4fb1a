"""Items with their own difficulty, labelers with their own fallibility (Su 59-60), both unknown:
what EM and the sampler share.

A label is a uniform guess where the item (chance δ_i) or the labeler (chance φ_t) leads to one, so
``ε = (δ + φ - δφ)(C - 1)/C``. δ ~ Beta(a, b) is summed over levels, the nodes of Gauss-Legendre
quadrature in √δ: given the truth an item's likelihood is a polynomial in δ, and few nodes do.
States are (class, level), as in strata, but a labeler has one number instead of a row in each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truthing.class_codes import Array
from truthing.noise.base import combined_error, symmetric_table
from truthing.noise.em import TINY, EMFit, Model, Theta

FALLIBILITY = (2.0, 4.0)  # Beta prior of a labeler's fallibility: better than chance on average
SHAPE, SHAPE_WEIGHT = (
    np.array([1.0, 5.0]),
    4.0,
)  # the prior of (a, b) is worth four items from Beta(1, 5)
SHAPE_LIMITS = (0.05, 100.0)

_nodes, _weights = np.polynomial.legendre.leggauss(10)
_root = (1 + _nodes) / 2
LEVELS = _root**2
LOG_WIDTH = np.log(_weights * _root)  # dδ = 2√δ d√δ
LOGS = np.stack([np.log(LEVELS), np.log1p(-LEVELS)])


def log_shares(shape: Array) -> Array:
    """Log of the chance of each level under Beta(a, b).

    >>> float((np.exp(log_shares(np.array([2.0, 6.0]))) @ LEVELS).round(6))
    0.25
    """
    scores = LOG_WIDTH + (shape - 1) @ LOGS
    scores -= scores.max()
    return np.asarray(scores - np.log(np.exp(scores).sum()))


PRIOR_LEVELS = SHAPE_WEIGHT * np.exp(log_shares(SHAPE))


@dataclass(frozen=True, eq=False)
class DifficultyFit(EMFit):
    """Point estimates with each labeler's ``fallibility`` and the Beta ``shape`` of difficulty; the
    path is that of the log posterior.
    """

    fallibility: Array
    shape: Array

    @property
    def difficulty(self) -> Array:
        """Posterior mean for each item."""
        states = self.state_posterior
        return np.asarray(states.reshape(len(states), -1, len(LEVELS)).sum(axis=1) @ LEVELS)


@dataclass(frozen=True)
class HardItems(Model):
    """What EM needs to know of the model; parameters are (fallibility, class prior, log of the
    shape).
    """

    n_strata: int = len(LEVELS)

    def start(self, counts: Array, totals: Array) -> Theta:
        """Half of a labeler's misses are put down to the labeler."""
        table = counts.reshape(self.n_labelers, self.n_classes, self.n_classes)
        right = np.trace(table, axis1=1, axis2=2)
        missed = (table.sum(axis=(1, 2)) - right + 1) / (table.sum(axis=(1, 2)) + 4)
        return self.inside((missed, totals, np.log(SHAPE)))

    def tables(self, theta: Theta) -> tuple[Array, Array]:
        fallibility, prior, shape = theta
        error = combined_error(LEVELS, fallibility[:, None], self.n_classes)
        rows = np.moveaxis(
            symmetric_table(error, self.n_classes), 1, 3
        )  # labeler, truth, label, level
        states = rows.transpose(0, 2, 1, 3).reshape(self.n_labelers * self.n_classes, -1)
        return states, np.outer(prior, np.exp(log_shares(np.exp(shape)))).ravel()

    def climb(self, theta: Theta, counts: Array, totals: Array) -> Theta:
        """Fallibility from the expected share of guesses that were the labeler's; shape by Newton's
        method.
        """
        fallibility = theta[0][:, None]
        table = counts.reshape(self.n_labelers, self.n_classes, self.n_classes, self.n_strata)
        right = np.trace(table, axis1=1, axis2=2)
        wrong = table.sum(axis=(1, 2)) - right
        guess, informed = (
            fallibility / self.n_classes,
            (1 - fallibility) * (1 - LEVELS * (1 - 1 / self.n_classes)),
        )
        guesses = right * guess / (guess + informed) + wrong * fallibility / (
            fallibility + (1 - fallibility) * LEVELS
        )
        a, b = FALLIBILITY
        given = (right + wrong).sum(axis=1)
        states = totals.reshape(self.n_classes, self.n_strata)
        return (
            (guesses.sum(axis=1) + a - 1) / (given + a + b - 2),
            (states.sum(axis=1) + TINY) / (states.sum() + self.n_classes * TINY),
            np.log(_best_shape(states.sum(axis=0) + PRIOR_LEVELS, np.exp(theta[2]))),
        )

    def inside(self, theta: Theta) -> Theta:
        """The nearest parameters that are allowed."""
        fallibility, prior, shape = theta
        prior = np.maximum(prior, TINY)
        return (
            np.clip(fallibility, 1e-6, 1 - 1e-6),
            prior / prior.sum(),
            np.clip(shape, *np.log(SHAPE_LIMITS)),
        )

    def log_prior(self, theta: Theta) -> float:
        fallibility, _, shape = theta
        a, b = FALLIBILITY
        own = (a - 1) * np.log(fallibility) + (b - 1) * np.log1p(-fallibility)
        return float(own.sum() + PRIOR_LEVELS @ log_shares(np.exp(shape)))

    def fit(
        self, theta: Theta, posterior: Array, likelihood: float, path: list[float]
    ) -> DifficultyFit:
        plain = super().fit(theta, posterior, likelihood, path)
        return DifficultyFit(**vars(plain), fallibility=theta[0], shape=np.exp(theta[2]))


def _best_shape(counts: Array, shape: Array) -> Array:
    """Maximum of Σ counts · log shares, concave in (a, b), by Newton steps that are halved until
    they climb.
    """
    best = counts @ log_shares(shape)
    for _ in range(20):
        shares = np.exp(log_shares(shape))
        mean = LOGS @ shares
        spread = (LOGS * shares) @ LOGS.T - np.outer(mean, mean)
        step = np.linalg.solve(spread + 1e-9 * np.eye(2), LOGS @ counts / counts.sum() - mean)
        for _ in range(20):
            new = np.clip(shape + step, *SHAPE_LIMITS)
            value = counts @ log_shares(new)
            if value >= best:
                break
            step = step / 2
        else:
            return shape
        done = value - best < 1e-9 * counts.sum()
        shape, best = new, value
        if done:
            break
    return shape
