"""Real clusters: documents of one query (trec_dl, llmjudge). A judge is graded by five others; gold
is given to whole queries. Coverage of accuracy on these items with ``cluster=``, and without.
"""

from __future__ import annotations

import sys
from collections import defaultdict

import numpy as np
from panels import Case, panels, small_cases

import truthing as tr

QUERIES, REPEATS = 10, 10


def held(case: Case, cluster: np.ndarray, use: bool, seed: int) -> tuple[bool, float, int]:
    rng = np.random.default_rng([seed, 3])
    names = np.unique(cluster)
    chosen = np.flatnonzero(np.isin(cluster, rng.choice(names, QUERIES, replace=False)))
    items, classes = case.labels.items, case.labels.classes
    report = tr.grade(
        [classes[k] for k in case.predicted],
        case.labels,
        gold={items[i]: classes[case.truth[i]] for i in chosen},
        cluster=list(cluster) if use else None,
        panel="models",
        draws=1000,
        seed=seed,
    )
    low, high = report["accuracy"].interval(0.95)
    return bool(low - 1e-9 <= case.right.mean() <= high + 1e-9), float(high - low), len(chosen)


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else REPEATS
    found: dict[bool, dict[str, list[tuple[bool, float, int]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for name in ("trec_dl", "llmjudge"):
        for panel in panels("models", only=name):
            for case in small_cases(panel, most_items=400):
                cluster = np.array([str(i).split(":")[0] for i in case.labels.items])
                if " by 5" not in case.name or len(np.unique(cluster)) < 2 * QUERIES:
                    continue
                for seed in range(repeats):
                    for use in (True, False):
                        found[use][panel.name].append(held(case, cluster, use, seed))
    for use, sets in found.items():
        mean = np.array([np.mean(values, axis=0) for values in sets.values()])
        error = mean[:, 0].std() / np.sqrt(len(mean))
        print(
            f"{'clusters declared' if use else 'clusters ignored':<18} coverage "
            f"{mean[:, 0].mean():.3f} "
            f"± {error:.3f}, width {mean[:, 1].mean():.3f}, {mean[:, 2].mean():.0f} gold items, "
            f"{len(mean)} sets"
        )


if __name__ == "__main__":
    main()
