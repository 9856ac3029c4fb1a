"""Areas under curves by the default posterior on real people and a real model: pairs of CIFAR-10
classes, three votes an image from CIFAR-10H.

Scores are the model's probability of the second class against the first. Blocks of 200 images; the
area on a block's images is what the interval is about.
"""

from __future__ import annotations

import numpy as np
from panels import data_folder

import truthing as tr

PAIRS = ((3, 5), (4, 7), (1, 9), (0, 8), (2, 6), (3, 6), (2, 4), (0, 2))
BLOCK, VOTES = 200, 3


def main() -> None:
    from sklearn.metrics import average_precision_score, roc_auc_score

    folder = data_folder() / "cifar10h"
    counts = np.load(folder / "cifar10h-counts.npy").astype(np.int64)
    truth = np.load(folder / "cifar10_test_labels.npy").astype(np.int64)
    chances = np.load(folder / "cifar10_test_cv_pred_probs.npy")
    rng = np.random.default_rng(0)
    found: dict[str, list[tuple[float, float]]] = {"auc": [], "average_precision": []}
    for pair in PAIRS:
        mine = np.flatnonzero(np.isin(truth, pair) & (counts[:, pair].sum(axis=1) >= VOTES))
        for start in range(0, len(mine) - BLOCK + 1, BLOCK):
            chosen = mine[start : start + BLOCK]
            votes = np.stack(
                [rng.multivariate_hypergeometric(counts[i, pair], VOTES) for i in chosen]
            )
            both = chances[chosen][:, pair]
            score = both[:, 1] / both.sum(axis=1)
            key = (truth[chosen] == pair[1]).astype(int)
            report = tr.grade(
                None, tr.Labels.from_counts(votes), scores=score, threshold=0.5, draws=1000
            )
            for name, actual in (
                ("auc", roc_auc_score(key, score)),
                ("average_precision", average_precision_score(key, score)),
            ):
                low, high = report[name].interval(0.95)
                found[name].append((float(low - 1e-9 <= actual <= high + 1e-9), high - low))
    for name, values in found.items():
        held, width = np.mean(values, axis=0)
        error = np.sqrt(0.95 * 0.05 / len(values))
        print(
            f"{name:<18} held {held:.3f} ± {error:.3f} of {len(values)} blocks, mean width "
            f"{width:.3f}"
        )


if __name__ == "__main__":
    main()
