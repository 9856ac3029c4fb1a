"""Two certificates that need no program: the plug-in from below, and from above a rule that votes
and is tested on a label left out.
"""

from __future__ import annotations

import numpy as np

from truthing.class_codes import Array


def plug_in(counts: Array) -> Array:
    """Eq. 5 for each row of votes, ``1 - max share``: on average at most the Bayes error (Jensen).

    >>> plug_in(np.array([[3, 1], [2, 2]])).tolist()
    [0.25, 0.5]
    """
    return 1 - counts.max(axis=1) / counts.sum(axis=1)


def left_out(counts: Array, favourite: int) -> Array:
    """Error of the plurality of an item's other labels on one label left out: on average at least
    the Bayes error.

    Ties are broken by chance; an item with a single label is predicted to be of the ``favourite``
    class.

    >>> left_out(np.array([[3, 1], [1, 0], [0, 1]]), favourite=0).tolist()
    [0.25, 0.0, 1.0]
    """
    total = counts.sum(axis=1)
    top = np.sort(counts, axis=1)[:, ::-1]
    first, second = top[:, 0], top[:, 1]
    rivals = (counts == second[:, None]).sum(axis=1)
    # only a class that leads can win without one of its own labels: by two or more surely, by one
    # it shares the win
    right = np.where(first - second >= 2, 1.0, np.where(first - second == 1, 1 / (rivals + 1), 0.0))
    # every class at the top may be the one left out of, but a tied one is always beaten by its
    # rivals
    chance = right * first / total
    chance = np.where(total == 1, counts[:, favourite], chance)
    return 1 - chance
