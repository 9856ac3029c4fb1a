"""Point estimates of every noise model that learns, by accelerated EM: one fused pass over the
labels an iteration.

SQUAREM (Varadhan & Roland 2008) extrapolates two steps into a longer one and falls back where that
would not climb.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from truthing.class_codes import Array
from truthing.labels import Labels
from truthing.noise.em_passes import PARTS, Coded, first_counts, numbers_of, one_pass
from truthing.threads import n_threads

TINY = 1e-10
SMALL = 1e-6  # chances below this do not steer a leap
LONG_LEAP = 5.0  # in logs a longer one overshoots
Theta = tuple[Array, ...]


@dataclass(frozen=True, eq=False)
class EMFit:
    """Point estimates and the climb of the log-likelihood. States are classes, or (class, stratum)
    pairs, strata of a class side by side.

    ``rows`` is labelers × state × label; ``confusion``, ``prior`` and ``posterior`` merge strata
    into classes.
    """

    rows: Array
    state_prior: Array
    state_posterior: Array
    n_strata: int
    log_likelihood: float
    passes: int
    path: list[float]

    @property
    def confusion(self) -> Array:
        """Labelers × truth × label."""
        weight = self.state_prior.reshape(-1, self.n_strata)
        weight = weight / weight.sum(axis=1, keepdims=True)
        parts = self.rows.reshape(len(self.rows), len(weight), self.n_strata, -1)
        return np.asarray((parts * weight[None, :, :, None]).sum(axis=2))

    @property
    def prior(self) -> Array:
        return np.asarray(self.state_prior.reshape(-1, self.n_strata).sum(axis=1))

    @property
    def posterior(self) -> Array:
        """Items × classes."""
        states = self.state_posterior
        return np.asarray(states.reshape(len(states), -1, self.n_strata).sum(axis=2))


@dataclass(frozen=True)
class Model(ABC):
    """What EM asks of a model: parameters are a tuple of arrays, states are (class, stratum)
    pairs.
    """

    n_labelers: int
    n_classes: int
    n_strata: int = 1
    positive: ClassVar[bool] = False  # are all parameters chances?

    @abstractmethod
    def start(self, counts: Array, totals: Array) -> Theta:
        """From the counts of a soft majority vote."""

    @abstractmethod
    def tables(self, theta: Theta) -> tuple[Array, Array]:
        """(labeler · C + label) × states, and the chance of each state."""

    @abstractmethod
    def climb(self, theta: Theta, counts: Array, totals: Array) -> Theta:
        """The M step."""

    @abstractmethod
    def inside(self, theta: Theta) -> Theta:
        """The nearest parameters that are allowed."""

    def log_prior(self, theta: Theta) -> float:
        return 0.0

    def fit(self, theta: Theta, posterior: Array, likelihood: float, path: list[float]) -> EMFit:
        rows, prior = self.tables(theta)
        rows = rows.reshape(self.n_labelers, self.n_classes, -1).transpose(0, 2, 1)
        return EMFit(rows, prior, posterior, self.n_strata, likelihood, len(path), path)


def fit_em(labels: Labels, model: Model, gold: Array | None = None, **options: Any) -> Any:
    """The best parameters for these labels; options are those of `fit_codes`."""
    return fit_codes(
        labels.indptr, labels.labeler, labels.label, labels.votes, model, gold=gold, **options
    )


def fit_codes(
    start_of: Array,
    labeler: Array,
    label: Array,
    weights: Array | None,
    model: Model,
    *,
    gold: Array | None = None,
    tolerance: float = 1e-6,
    most: int = 200,
    threads: int | None = None,
    stop: Callable[[float], bool] | None = None,
    keep_posterior: bool = True,
    accelerated: bool = True,
) -> Any:
    """EM until the log posterior per label climbs by less than ``tolerance``; ``threads`` never
    changes the model, only the time.

    Labels are codes sorted by item, item i's from ``start_of[i]`` on. Not ``accelerated``, it takes
    plain steps.
    """
    n_items, n_labels, n_classes = len(start_of) - 1, len(label), model.n_classes
    labels = Coded(
        start_of.astype(np.int64),
        labeler.astype(np.int32) * np.int32(n_classes) + label.astype(np.int32),
        np.empty(0, dtype=np.float32) if weights is None else weights.astype(np.float32),
        np.full(n_items, -1) if gold is None else np.array(gold, dtype=np.int64),
    )
    numbers = numbers_of(labels, n_classes)
    # sums of short numbers must not depend on how many threads there are
    parts = PARTS if numbers is np.float32 else threads or n_threads()
    theta = model.start(*first_counts(labels, model.n_labelers * n_classes, n_classes, parts))
    nothing = np.empty((0, n_classes * model.n_strata))
    path: list[float] = []

    def expect(at: Theta, posterior: Array) -> tuple[Array, Array, float]:
        return one_pass(labels, *model.tables(at), model.n_strata, posterior, parts, numbers)

    def step(at: Theta) -> tuple[Theta, float]:
        counts, totals, likelihood = expect(at, nothing)
        path.append(float(likelihood) + model.log_prior(at))
        return model.climb(at, counts, totals), path[-1]

    best, reached, in_logs = -np.inf, None, model.positive
    while reached is None and len(path) < most:
        first, value = step(theta)
        if (value - best < tolerance * n_labels and np.isfinite(best)) or (
            stop is not None and stop(value)
        ):
            reached = value
            break
        best = value
        if not accelerated:
            theta = first
            continue
        second, middle = step(first)
        if stop is not None and stop(middle):
            theta, reached = first, middle
            break
        leap = model.inside(_extrapolate((theta, first, second), in_logs))
        after, far = step(leap)
        # a leap that does not climb past the plain steps is thrown away, and the next one goes in
        # the other space
        climbed = far >= middle
        theta = after if climbed else second
        in_logs = model.positive and in_logs == climbed
    posterior = np.empty((n_items, n_classes * model.n_strata)) if keep_posterior else nothing
    if keep_posterior or reached is None:
        reached = float(expect(theta, posterior)[2]) + model.log_prior(theta)
    return model.fit(theta, posterior, reached - model.log_prior(theta), path)


@dataclass(frozen=True)
class RowsModel(Model):
    """A confusion matrix for each labeler, or one coin, or a matrix in each stratum of difficulty;
    parameters are (rows, chance of a state).
    """

    coin: bool = False
    positive: ClassVar[bool] = True

    def start(self, counts: Array, totals: Array) -> Theta:
        """Strata go from as easy as a class seems to much harder."""
        rows, prior = _normalise(counts, totals, self)
        harder = np.tile(
            np.linspace(0.0, 0.7, self.n_strata) if self.n_strata > 1 else [0.0], self.n_classes
        )
        table = np.repeat(rows, self.n_strata, axis=1)
        return (1 - harder) * table + harder / self.n_classes, np.repeat(
            prior, self.n_strata
        ) / self.n_strata

    def tables(self, theta: Theta) -> tuple[Array, Array]:
        return theta[0], theta[1]

    def climb(self, theta: Theta, counts: Array, totals: Array) -> Theta:
        return _normalise(counts, totals, self)

    def inside(self, theta: Theta) -> Theta:
        return _normalise(np.maximum(theta[0], TINY), np.maximum(theta[1], TINY), self)


def _normalise(counts: Array, totals: Array, model: RowsModel) -> Theta:
    """Rows of each labeler sum to one over labels; truths that a labeler never met stay uniform."""
    n_states = len(totals)
    table = counts.reshape(model.n_labelers, model.n_classes, n_states) + TINY
    if model.coin:
        said_right = (
            np.arange(model.n_classes)[:, None] == np.arange(n_states) * model.n_classes // n_states
        )
        right = (table * said_right).sum(axis=(1, 2)) / table.sum(axis=(1, 2))
        wrong = (1 - right) / max(model.n_classes - 1, 1)
        table = np.where(said_right, right[:, None, None], wrong[:, None, None])
    else:
        table = table / table.sum(axis=1, keepdims=True)
    share = totals + TINY
    return table.reshape(-1, n_states), share / share.sum()


def _extrapolate(points: tuple[Theta, Theta, Theta], in_logs: bool) -> Theta:
    """A leap from three points of the climb. In logs rows stay positive and small chances move as
    fast as large ones, which with many classes halves the passes."""
    change, bend = _change_and_bend(*points)
    size, turn = (np.sqrt(sum((d**2).sum() for d in moved)) for moved in (change, bend))
    length = max(1.0, size / turn) if turn > 0 else 1.0
    start, in_logs = points[0], in_logs and length < LONG_LEAP
    if in_logs:
        logs = [tuple(np.log(np.maximum(part, SMALL)) for part in theta) for theta in points]
        start, (change, bend) = logs[0], _change_and_bend(*logs)
    leap = (a + 2 * length * d + length**2 * v for a, d, v in zip(start, change, bend))
    return tuple(np.exp(np.clip(part, np.log(TINY), 0)) if in_logs else part for part in leap)


def _change_and_bend(start: Theta, first: Theta, second: Theta) -> tuple[list[Array], list[Array]]:
    change = [b - a for a, b in zip(start, first)]
    return change, [c - b - d for b, c, d in zip(first, second, change)]
