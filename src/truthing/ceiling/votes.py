"""Several hard labels per item: the identified interval, a point in it, and the evidence for
both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truthing.ceiling.bounds import Bounds
from truthing.ceiling.certificate import ThinnedVotes, checked, probabilities, propose, reach, seen
from truthing.ceiling.npmle import most_likely_weights
from truthing.ceiling.plurality import left_out, plug_in
from truthing.class_codes import Array


@dataclass(frozen=True)
class Votes:
    """What votes say about the Bayes error: the interval they identify, the point of the most
    likely distribution, and evidence.
    """

    identified: tuple[float, float]
    point: float
    evidence: Bounds


# cells; with more classes and labels than that, plurality certificates alone are nearly as sharp
LARGEST_PROGRAM = 150


def read_votes(counts: Array, seed: int = 0) -> Votes:
    """Identified interval, point and evidence of items × classes votes, at least one per item.

    >>> votes = read_votes(np.array([[1, 0]] * 30 + [[0, 1]] * 70))
    >>> [round(limit, 3) for limit in votes.identified]
    [0.0, 0.3]
    """
    most = 1 - 1 / counts.shape[1]
    patterns, place = np.unique(counts, axis=0, return_inverse=True)
    place = place.ravel()
    times = np.bincount(place).astype(float)
    search = Search.over(ThinnedVotes(patterns, times), counts)
    weight = most_likely_weights(patterns, times, search.atoms)
    fold = np.random.default_rng(seed).permutation(len(counts)) % 2
    limits, values, ranges = [], [], []
    for side in (1, -1):
        limits.append(search.identified(side, weight))
        each, spans = np.empty(len(counts)), []
        for half in (0, 1):
            others = np.bincount(place[fold != half], minlength=len(patterns)).astype(float)
            scores, span = search.certificate(side, others)
            each[fold == half] = scores[place[fold == half]]
            spans.append(span)
        values.append(each)
        ranges.append((min(low for low, _ in spans), max(high for _, high in spans)))
    low, high = max(0.0, limits[0]), min(max(limits), most)
    point = float(np.clip(weight @ (1 - search.atoms.max(axis=1)), low, high))
    return Votes(
        (low, high), point, Bounds(values[0], values[1], ranges[0], ranges[1], (0.0, most))
    )


@dataclass(frozen=True)
class Search:
    """Certificates for one panel: those of the linear program, where it is small enough, and those
    of the plurality.
    """

    panel: ThinnedVotes
    atoms: Array
    points: Array
    expected: Array
    fine: Array
    expected_fine: Array

    @classmethod
    def over(cls, panel: ThinnedVotes, counts: Array) -> Search:
        n_classes = counts.shape[1]
        points, fine = probabilities(n_classes, counts), probabilities(n_classes, counts, fine=True)
        atoms = points if n_classes == 2 else np.concatenate([points, seen(counts, 1500)])
        if panel.blocks[-1][2].stop > LARGEST_PROGRAM and n_classes > 2:
            return cls(panel, atoms, points, np.empty((0, 0)), fine, np.empty((0, 0)))
        return cls(panel, atoms, points, panel.expected(points), fine, panel.expected(fine))

    def identified(self, side: int, weight: Array) -> float:
        """The bound that this distribution's votes would give with no sampling error."""
        simple = self._plurality(side, self.panel.times)
        found = (
            [float(simple @ self.panel.times / self.panel.times.sum())]
            if self.panel.counts.shape[1] > 2
            else []
        )
        if self.expected.size:
            mean = self.panel.expected(self.atoms) @ weight
            if (
                self.panel.sizes.max() == 1
            ):  # single labels show class shares, and any shares can be
                mean = self.panel.times @ self.panel.cells / self.panel.times.sum()
            found.append(
                propose(self.panel, mean, 1e12, self.points, self.expected, side, most=10.0)[1]
            )
        return max(found) if side == 1 else min(found)

    def certificate(self, side: int, times: Array) -> tuple[Array, tuple[float, float]]:
        """Scores of the patterns, and the range they could have, of what looks best on these
        items.
        """
        n_classes = self.panel.counts.shape[1]
        offers = []
        if n_classes > 2 or times.sum() == 0:
            offers.append(
                (self._plurality(side, times), (0.0, 1 - 1 / n_classes if side == 1 else 1.0))
            )
        if self.expected.size and times.sum() > 0:
            n = times.sum()
            scores, _ = propose(
                self.panel, times @ self.panel.cells / n, n, self.points, self.expected, side
            )
            scores = checked(scores, self.panel, self.fine, self.expected_fine, side)
            offers.append((self.panel.cells @ scores, reach(scores, self.panel)))
        return max(offers, key=lambda offer: _promise(side * offer[0], times))

    def _plurality(self, side: int, times: Array) -> Array:
        counts = self.panel.counts
        return plug_in(counts) if side == 1 else left_out(counts, int(np.argmax(times @ counts)))


def _promise(values: Array, times: Array) -> float:
    """A rough lower confidence limit, to choose between certificates."""
    n = max(times.sum(), 1.0)
    mean = times @ values / n
    return float(mean - 2 * np.sqrt(times @ (values - mean) ** 2) / n)
