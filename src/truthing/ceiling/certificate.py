"""What m labels per item say about the Bayes error, without a model of the items.

m labels show only the first m moments of the class probabilities p, so the Bayes error E[h(p)], h =
1 - max p, lies in an identified interval. A *certificate* is a score φ of an item's votes whose
expectation given p never exceeds h(p): its mean is then a lower bound of the Bayes error, whatever
the distribution of p. A linear program finds the best certificate on one half of the items, and the
mean over the other half has an honest confidence limit. Upper bounds mirror this. The program only
proposes: certificates are checked on a finer set of p and shifted until they hold, so that a poor
one costs width and never coverage.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from truthing.class_codes import Array
from truthing.randomness import generator

LEVELS = np.array([1, 2, 3, 5, 10, 20, 50])
# standard errors that the program allows each moment to be off; chosen for width, coverage does not
# hang on it
STRICTNESS = 2.5
DEGREE = {2: 20, 3: 10}
MANY_CLASSES_DEGREE = 6


@dataclass(frozen=True)
class ThinnedVotes:
    """Items as scores can see them: each one's votes for a class, thinned to a round number of
    labels.

    ``counts`` holds distinct rows of votes and ``times`` how many items show each. ``cells`` is
    rows × cells, blocks of cells being (number of labels, class); a row holds the probabilities
    that a random choice of that many of the item's labels has 0, 1, … votes for the class.
    """

    counts: Array
    times: Array

    @cached_property
    def sizes(self) -> Array:
        return LEVELS[np.searchsorted(LEVELS, self.counts.sum(axis=1), side="right") - 1]

    @cached_property
    def blocks(self) -> list[tuple[int, int, slice]]:
        """Number of labels, class, and where its cells are; of two classes one is enough."""
        n_classes = self.counts.shape[1]
        found, start = [], 0
        for size in np.unique(self.sizes):
            for k in range(1 if n_classes == 2 else n_classes):
                found.append((int(size), k, slice(start, start + int(size) + 1)))
                start += int(size) + 1
        return found

    @cached_property
    def cells(self) -> Array:
        from scipy.stats import hypergeom

        table = np.zeros((len(self.counts), self.blocks[-1][2].stop))
        total = self.counts.sum(axis=1)
        for size, k, where in self.blocks:
            rows = np.flatnonzero(self.sizes == size)
            pairs, place = np.unique(
                np.stack([total[rows], self.counts[rows, k]], axis=1), axis=0, return_inverse=True
            )
            chance = hypergeom.pmf(np.arange(size + 1), pairs[:, :1], pairs[:, 1:], size)
            table[rows, where] = chance[place.ravel()]
        return table

    def expected(self, points: Array) -> Array:
        """Cells × points: the mean of each cell for an item with these class probabilities."""
        from scipy.special import comb

        share = {
            size: self.times[self.sizes == size].sum() / self.times.sum()
            for size, _, _ in self.blocks
        }
        found = []
        for size, k, _ in self.blocks:
            votes = np.arange(size + 1)[:, None]
            chance = np.clip(points[:, k], 0, 1)
            found.append(
                share[size] * comb(size, votes) * chance**votes * (1 - chance) ** (size - votes)
            )
        return np.concatenate(found)


def reach(scores: Array, panel: ThinnedVotes) -> tuple[float, float]:
    """The least and the greatest score that any votes could get: a sum over classes under a fixed
    total, so a small dynamic program.
    """
    lows, highs = [], []
    for size in np.unique(panel.sizes):
        blocks = [scores[where] for n, _, where in panel.blocks if n == size]
        if len(blocks) == 1:
            lows.append(blocks[0].min())
            highs.append(blocks[0].max())
            continue
        for sign, found in ((1, lows), (-1, highs)):
            best = np.full(size + 1, np.inf)
            best[0] = 0.0
            for block in blocks:
                best = np.array(
                    [(best[: v + 1] + sign * block[v::-1]).min() for v in range(size + 1)]
                )
            found.append(sign * best[size])
    return float(min(lows)), float(max(highs))


def propose(
    panel: ThinnedVotes,
    cells: Array,
    n: float,
    points: Array,
    expected: Array,
    side: int,
    *,
    slack: float = STRICTNESS,
    most: float = 2.0,
) -> tuple[Array, float]:
    """The best certificate for these mean cells, one score for each cell, and its bound with
    moments allowed to be off by ``slack``.

    Side 1 bounds from below, -1 from above. Scores are polynomials of the votes, orthonormal under
    ``cells``, so that the penalty is ``slack`` of their standard errors at ``n`` items; ``most``
    keeps every score within ±most.
    """
    from scipy.optimize import linprog

    basis, scale = _polynomials(panel, cells, n)
    gain, penalty = side * (basis.T @ cells), slack * scale
    height = 1 - points.max(axis=1)
    shape = expected.T @ basis
    constant = np.ones((len(points), 1))
    inside = np.hstack([np.zeros((len(cells), 2)), basis, -basis])
    rows = np.vstack([side * np.hstack([constant, -constant, shape, -shape]), inside, -inside])
    limit = np.concatenate([side * height, np.full(2 * len(cells), most)])
    goal = -np.concatenate([[side, -side], gain - penalty, -gain - penalty])
    found = linprog(goal, A_ub=rows, b_ub=limit, bounds=(0, None), method="highs")
    if found.x is None:  # without a proposal the score that is constant holds: nothing is known
        nothing = 0.0 if side == 1 else float(height.max())
        return _spread(panel, nothing, np.zeros(len(cells))), nothing
    more, less = np.split(found.x[2:], 2)
    return _spread(panel, found.x[0] - found.x[1], basis @ (more - less)), -side * float(found.fun)


def checked(scores: Array, panel: ThinnedVotes, points: Array, expected: Array, side: int) -> Array:
    """The certificate, shifted by what it violates anywhere among these points."""
    worst = float((side * (scores @ expected - (1 - points.max(axis=1)))).max())
    return _spread(panel, -side * worst, scores)


def _spread(panel: ThinnedVotes, constant: float, scores: Array) -> Array:
    """Scores with a constant added once for each item: every item has one block for each class."""
    per_item = len({k for _, k, _ in panel.blocks})
    return scores + constant / per_item


def _polynomials(panel: ThinnedVotes, cells: Array, n: float) -> tuple[Array, Array]:
    n_classes = panel.counts.shape[1]
    degree = DEGREE.get(n_classes, MANY_CLASSES_DEGREE)
    columns, scales = [], []
    for size, _, where in panel.blocks:
        # half a vote more in each cell: cells nobody has seen yet are not free to score anything
        weight = n * cells[where] + 0.5
        root = np.sqrt(weight / weight.sum())
        votes = np.polynomial.chebyshev.chebvander(
            2 * np.arange(size + 1) / size - 1, min(size, degree)
        )
        orthonormal = (np.linalg.qr(root[:, None] * votes)[0] / root[:, None])[:, 1:]
        block = np.zeros((len(cells), orthonormal.shape[1]))
        block[where] = orthonormal
        columns.append(block)
        scales.append(np.full(orthonormal.shape[1], np.sqrt(cells[where].sum() / n)))
    return np.hstack(columns), np.concatenate(scales)


def probabilities(n_classes: int, counts: Array, *, fine: bool = False, seed: int = 0) -> Array:
    """Points of the simplex on which certificates are asked for (or, ``fine``, checked)."""
    if n_classes == 2:
        near = 0.5 * np.geomspace(1e-3, 1, 20)
        grid = np.unique(np.concatenate([np.linspace(0, 1, 2001 if fine else 161), near, 1 - near]))
        return np.stack([grid, 1 - grid], axis=1)
    rng = generator(seed, "points to check" if fine else "points")
    steps = np.linspace(0, 1, 41 if fine else 13)[1:-1]
    first, second = np.triu_indices(n_classes, 1)
    edges = np.zeros((len(first), len(steps), n_classes))
    edges[np.arange(len(first)), :, first] = steps
    edges[np.arange(len(first)), :, second] = 1 - steps
    size = 6000 if fine else 400
    sparse = [rng.dirichlet(np.full(n_classes, a), size) for a in (0.1, 0.3, 1.0)]
    subsets = rng.random((size, n_classes)) < 0.4
    subsets[subsets.sum(axis=1) == 0] = True
    parts = [
        np.eye(n_classes),
        edges.reshape(-1, n_classes),
        *sparse,
        subsets.astype(float),
        seen(counts, size, seed),
    ]
    return np.concatenate([part / part.sum(axis=1, keepdims=True) for part in parts])


def seen(counts: Array, size: int, seed: int = 0) -> Array:
    """Shares of the votes of some items, a little blurred."""
    rng = generator(seed, "votes that were seen")
    votes = counts[rng.integers(len(counts), size=size)] + rng.dirichlet(
        np.full(counts.shape[1], 0.1), size
    )
    return votes / votes.sum(axis=1, keepdims=True)
