"""Data from the models of the noise folder: Su's simulators (Section 5.1), and labelers who
depend on each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from truthing.arguments import as_seed
from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.labels import Labels
from truthing.noise.base import check_confusion, combined_error, symmetric_table
from truthing.noise.known import Confusion, Difficulty
from truthing.predictions import Predictions


@dataclass(frozen=True)
class Simulation:
    """A simulated data set with its truth: arrays aligned with ``labels.items``, and the noise
    model behind the labels.
    """

    truth: Array
    predictions: Array
    labels: Labels
    noise: Confusion | Difficulty
    scores: Array | None = None

    def as_predictions(self) -> Predictions:
        """Predictions with their items and, for two classes, scores."""
        return Predictions.from_sequence(
            self.predictions, items=self.labels.items, scores=self.scores
        )

    def gold(self, n: int, seed: int = 0) -> dict[Any, Any]:
        """The truth of ``n`` randomly chosen items."""
        chosen = np.random.default_rng(seed).choice(len(self.truth), size=n, replace=False)
        return {self.labels.items[i]: self.truth[i] for i in sorted(chosen)}


def simulate(
    n_items: int,
    n_labelers: int,
    *,
    prior: Any,
    operating_point: Any = None,
    confusion: Any = None,
    difficulty: Any = None,
    fallibility: Any = None,
    availability: Any = None,
    copying: float = 0,
    shared_difficulty: float = 0,
    classes: Sequence[Any] | None = None,
    seed: int = 0,
) -> Simulation:
    """A data set with known truth.

    Parameters
    ----------
    n_items, n_labelers : int
        Size of the data set.
    prior : float or sequence
        Class prior, or the probability of class 1.
    operating_point : tuple or matrix, optional
        The classifier: (detection, false alarm) for two classes, or a matrix P(prediction | truth).
    confusion : matrix or sequence of matrices, optional
        The labelers: P(label | truth), one for all or one for each.
    difficulty : float, sequence or tuple, optional
        Instead of ``confusion``: of all items, of each item, or ``(a, b)`` of a Beta distribution.
    fallibility : float or sequence, optional
        Beside ``difficulty``: of all labelers, or of each.
    availability : float or sequence, optional
        Chance that a labeler labels an item; redrawn until every item has a label.
    copying : float, default 0
        Chance that a labeler repeats the label of the one before.
    shared_difficulty : float, default 0
        Chance that a label depends on what is odd about the item and not on the labeler: mistakes
        in
        common, and nobody's error rate changes.
    classes : sequence, optional
        Names of the classes. None: 0, 1, ...
    seed : int, default 0
        Same seed, same data.

    Returns
    -------
    Simulation
        ``data.labels``, ``data.predictions``, ``data.truth``.

    Raises
    ------
    InputError
        Labelers are described twice or not at all, or a number is out of range.

    See Also
    --------
    grade : what to do with it.

    Examples
    --------
    >>> data = simulate(1000, 3, prior=[0.8, 0.2], operating_point=(0.8, 0.3), fallibility=0.2,
    ...     seed=1)
    >>> data.labels.n_labels, bool(0.65 < (data.predictions == data.truth).mean() < 0.79)
    (3000, True)
    """
    rng = np.random.default_rng(as_seed(seed))
    if n_items < 1 or n_labelers < 1:
        raise InputError(
            f"cannot simulate {n_items} items and {n_labelers} labelers: at least one of each."
        )
    share = class_prior(prior)
    n_classes = len(share)
    names = tuple(range(n_classes)) if classes is None else tuple(classes)
    if len(names) != n_classes:
        raise InputError(f"{len(names)} class names for {n_classes} classes: give one for each.")
    for what, value in (("copying", copying), ("shared_difficulty", shared_difficulty)):
        if not 0 <= value <= 1:
            raise InputError(f"{what} {value} is outside [0, 1]: it is a probability.")
    truth = rng.choice(n_classes, size=n_items, p=share)
    predicted, scores = _predict(truth, operating_point, n_classes, rng)
    noise, conditional = _labeling(
        n_items, n_labelers, n_classes, confusion, difficulty, fallibility, rng
    )
    present = _available(n_items, n_labelers, availability, rng)
    grid = _answers(truth, present, conditional, copying, shared_difficulty, rng)
    labels = Labels.from_codes(
        np.repeat(np.arange(n_items, dtype=np.int32), n_labelers),
        np.tile(np.arange(n_labelers, dtype=np.int32), n_items),
        grid.reshape(-1),
        items=range(n_items),
        labelers=[f"w{t + 1}" for t in range(n_labelers)],
        classes=names,
    )
    named = np.array(names)
    return Simulation(named[truth], named[predicted], labels, noise, scores)


def class_prior(prior: Any) -> Array:
    """A class prior as an array; a single number is the share of the second of two classes."""
    share = np.atleast_1d(np.asarray(prior, dtype=float))
    if share.shape == (1,):
        share = np.array([1 - share[0], share[0]])
    if (share < 0).any() or not np.isclose(share.sum(), 1, atol=1e-6):
        raise InputError(f"the class prior {share.tolist()} must be non-negative and sum to one.")
    return share / share.sum()


def _answers(
    truth: Array,
    present: Array,
    conditional: Callable[[int, Array], Array],
    copying: float,
    shared: float,
    rng: np.random.Generator,
) -> Array:
    """Label codes, items × labelers, -1 where a labeler was not there."""
    n_items, n_labelers = present.shape
    common = rng.random(n_items)
    grid = np.full((n_items, n_labelers), -1, dtype=np.int32)
    for t in range(n_labelers):
        chance = np.where(rng.random(n_items) < shared, common, rng.random(n_items))
        cumulative = np.cumsum(conditional(t, truth), axis=1)
        answer = (chance[:, None] >= cumulative[:, :-1]).sum(axis=1).astype(np.int32)
        if copying and t:
            earlier = grid[:, :t]
            last = t - 1 - np.argmax(earlier[:, ::-1] >= 0, axis=1)
            copied = (rng.random(n_items) < copying) & (earlier >= 0).any(axis=1)
            answer = np.where(copied, earlier[np.arange(n_items), last], answer).astype(np.int32)
        grid[present[:, t], t] = answer[present[:, t]]
    return grid


def _predict(
    truth: Array, point: Any, n_classes: int, rng: np.random.Generator
) -> tuple[Array, Array | None]:
    """Predictions from an operating point; for two classes scores too, binormal, cut at ½ where
    the point lies.
    """
    if point is None:
        point = (0.8, 0.2) if n_classes == 2 else symmetric_table(0.2, n_classes)
    table = np.asarray(point, dtype=float)
    if table.shape == (2,) and n_classes == 2:
        from scipy.special import expit, ndtri

        detect, alarm = np.clip(table, 1e-9, 1 - 1e-9)
        margin = rng.standard_normal(len(truth)) + np.where(truth == 1, ndtri(detect), ndtri(alarm))
        return (margin > 0).astype(np.int64), expit(margin)
    matrix = check_confusion(table, "operating_point")
    if len(matrix) != n_classes:
        raise InputError(f"operating_point has {len(matrix)} classes, the prior has {n_classes}.")
    cumulative = np.cumsum(matrix, axis=1)[truth]
    return (rng.random(len(truth))[:, None] >= cumulative[:, :-1]).sum(axis=1), None


def _labeling(
    n_items: int,
    n_labelers: int,
    n_classes: int,
    confusion: Any,
    difficulty: Any,
    fallibility: Any,
    rng: np.random.Generator,
) -> tuple[Confusion | Difficulty, Callable[[int, Array], Array]]:
    """The noise model, and for labeler t the chances of each label given the truths."""
    if confusion is not None:
        if difficulty is not None or fallibility is not None:
            raise InputError("give confusion matrices, or difficulty and fallibility, not both.")
        tables = np.asarray(confusion, dtype=float)
        tables = (
            np.array(np.broadcast_to(tables, (n_labelers, *tables.shape)))
            if tables.ndim == 2
            else tables
        )
        if len(tables) != n_labelers:
            raise InputError(
                f"{len(tables)} confusion matrices for {n_labelers} labelers: give one, or "
                "one for each."
            )
        for t, table in enumerate(tables):
            if len(check_confusion(table, f"confusion matrix {t}")) != n_classes:
                raise InputError(
                    f"confusion matrix {t} has {len(table)} classes, the prior has {n_classes}."
                )
        return Confusion(tables), lambda t, truth: tables[t][truth]
    phi = np.array(
        np.broadcast_to(
            np.asarray(0.2 if fallibility is None else fallibility, dtype=float), (n_labelers,)
        )
    )
    if isinstance(difficulty, tuple) and len(difficulty) == 2:
        delta = rng.beta(*difficulty, size=n_items)
    else:
        delta = np.array(
            np.broadcast_to(
                np.asarray(0.0 if difficulty is None else difficulty, dtype=float), (n_items,)
            )
        )
    if min(phi.min(), delta.min()) < 0 or max(phi.max(), delta.max()) > 1:
        raise InputError("difficulty and fallibility lie between 0 and 1.")

    def conditional(t: int, truth: Array) -> Array:
        rate = combined_error(delta, phi[t], n_classes)
        return symmetric_table(rate, n_classes)[np.arange(n_items), truth]

    return Difficulty(delta, phi), conditional


def _available(n_items: int, n_labelers: int, availability: Any, rng: np.random.Generator) -> Array:
    chance = np.broadcast_to(
        np.asarray(1.0 if availability is None else availability, dtype=float), (n_labelers,)
    )
    if (chance < 0).any() or (chance > 1).any() or not (chance > 0).any():
        raise InputError(
            "availability holds chances between 0 and 1, and somebody must be available."
        )
    present = rng.random((n_items, n_labelers)) < chance
    while (empty := np.flatnonzero(~present.any(axis=1))).size:
        present[empty] = rng.random((len(empty), n_labelers)) < chance
    return present
