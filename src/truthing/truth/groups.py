"""Items that no method can tell apart, in groups; and sums over the rows of a table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.noise.steps import mixing_weights


@dataclass(frozen=True)
class Groups:
    """Items that no method can tell apart, counted once: same evidence, same prediction."""

    evidence: Array
    predicted: Array
    size: Array
    member: Array

    @classmethod
    def of(cls, evidence: Array, predicted: Array) -> Groups:
        finite = np.where(np.isneginf(evidence), -1e3, evidence)
        if evidence.shape[1] == 2:
            key = finite[:, 1] - finite[:, 0]
        # a random projection tells rows apart; two different rows share a key with probability zero
        else:
            key = finite @ np.random.default_rng(12345).standard_normal(evidence.shape[1])
        span = 4.0 * (np.abs(key).max() + 1.0) if len(key) else 1.0
        _, first, member, size = np.unique(
            key + span * predicted, return_index=True, return_inverse=True, return_counts=True
        )
        return cls(evidence[first], predicted[first], size, member.reshape(-1))

    def __len__(self) -> int:
        return len(self.size)

    def posterior(self, operating_point: Array, prior: Array) -> Array:
        """Su (10): P(truth | prediction, labels) for each group, groups × classes;
        ``operating_point`` has the truth in rows.
        """
        with np.errstate(divide="ignore"):
            scores = self.evidence + np.log(prior) + np.log(operating_point).T[self.predicted]
        return softmax(scores)


def softmax(scores: Array) -> Array:
    top = across(np.maximum, scores)[:, None]
    if np.isneginf(top).any():
        raise InputError(
            "some items are impossible under the given prior and noise: no class can be true "
            "there. Avoid zeros in the prior."
        )
    weight = np.exp(scores - top)
    weight /= across(np.add, weight)[:, None]
    return weight


def across(operation: np.ufunc, table: Array) -> Array:
    """Maximum or sum over each row; column by column while columns are few, where numpy's own
    reduction is ten times slower.
    """
    return reduce(operation, table.T) if table.shape[1] <= 8 else operation.reduce(table, axis=1)


def estimate_prior(evidence: Array) -> Array:
    """Class prior by maximum likelihood from the labels alone."""
    return mixing_weights(np.exp(evidence))
