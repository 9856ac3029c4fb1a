"""Gold corrects what the score adds to the link.

How the chance of the positive class grows with the score is learned from the labels. People and
classifiers err on the same items, so labels follow the score more closely than the truth does: with
100 gold items, unused here, areas under the curve of ChaosNLI's models held 67 times in 100. So the
score's part counts with a power τ ~ N(.4, ½²), and gold weighs τ, curve and link together.
"""

from __future__ import annotations

import numpy as np

from truthing.class_codes import Array

POWER, POWER_SD = 0.4, 0.5  # chosen on ChaosNLI among centres 1, .7, .4 and 0
CANDIDATES = 8  # for each draw wanted


def weighed_by_gold(
    base: Array,
    tilt: Array,
    member: Array,
    outcome: Array,
    known: Array,
    rng: np.random.Generator,
    counts: Array,
) -> tuple[Array, Array]:
    """Draws of the link's odds (draws × groups) and of what the score multiplies them with (draws ×
    cells), given gold (``known``: 1 positive, 0 negative, -1 unknown), each item of which counts
    ``counts``.

    ``base`` knows gold already: a candidate weighs what the score's part makes gold more likely.
    """
    items = np.flatnonzero(known >= 0)
    if len(items) == 0:
        return base, tilt
    size = len(base)
    links, curves = rng.integers(0, size, (2, CANDIDATES * size))
    power = POWER + POWER_SD * rng.standard_normal(CANDIDATES * size)
    sign = np.where(known[items] == 1, 1.0, -1.0)
    logs, added = np.log(base[:, member[items]]), np.log(tilt[:, outcome[items]])
    gain = np.empty(CANDIDATES * size)
    for part in np.array_split(np.arange(len(gain)), CANDIDATES):
        before = sign * logs[links[part]]
        after = before + sign * power[part, None] * added[curves[part]]
        gain[part] = (np.logaddexp(0, -before) - np.logaddexp(0, -after)) @ counts[items]
    weight = np.cumsum(np.exp(gain - gain.max()))
    place = (np.arange(size) + rng.random()) / size * weight[-1]
    chosen = rng.permutation(np.minimum(np.searchsorted(weight, place), len(gain) - 1))
    return base[links[chosen]], tilt[curves[chosen]] ** power[chosen, None]
