"""Areas under curves by `tr.grade` with its defaults, on real people and real models.

Pairs of CIFAR-10 classes (three votes per image from CIFAR-10H, one model's probabilities), and one
class of ChaosNLI against the rest (five votes per item, five models; truth: the majority of ninety
other people). Blocks of items; the area on a block's items is what the interval is about. None of
these data taught the link. Gold: random items of the block.

    python studies/auc_on_crowds.py --gold 0 25 50 100 --blocks 4
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl
from panels import data_folder

import truthing as tr

PAIRS = ((3, 5), (4, 7), (1, 9), (0, 8), (2, 6), (3, 6), (2, 4), (0, 2))
AREAS = ("auc", "average_precision")


class Block(NamedTuple):
    """Votes (items × two classes), a model's score for the second, and whether that is true."""

    data: str
    name: str
    votes: np.ndarray
    score: np.ndarray
    truth: np.ndarray


def cifar(blocks: int, size: int = 200, votes: int = 3) -> Iterator[Block]:
    folder = data_folder() / "cifar10h"
    counts = np.load(folder / "cifar10h-counts.npy").astype(np.int64)
    truth = np.load(folder / "cifar10_test_labels.npy").astype(np.int64)
    chances = np.load(folder / "cifar10_test_cv_pred_probs.npy")
    rng = np.random.default_rng(0)
    for pair in PAIRS:
        mine = np.flatnonzero(np.isin(truth, pair) & (counts[:, pair].sum(axis=1) >= votes))
        for start in range(0, min(len(mine) - size + 1, blocks * size), size):
            chosen = mine[start : start + size]
            drawn = [rng.multivariate_hypergeometric(counts[i, pair], votes) for i in chosen]
            both = chances[chosen][:, pair]
            score = both[:, 1] / both.sum(axis=1)
            key = truth[chosen] == pair[1]
            yield Block("CIFAR-10", f"{pair}", np.stack(drawn), score, key)


def chaosnli(blocks: int, size: int = 300, votes: int = 5) -> Iterator[Block]:
    folder = data_folder() / "models" / "chaosnli_snli"
    truth = pl.read_csv(folder / "truth.csv")
    labels = pl.read_csv(folder / "labels.csv.gz")
    rng = np.random.default_rng(1)
    items = rng.permutation(truth["item"].to_numpy())
    key = dict(zip(truth["item"], truth["truth"]))
    said: dict[str, list[str]] = defaultdict(list)
    for item, label in zip(labels["item"], labels["label"]):
        said[item].append(label)
    for path in sorted(folder.glob("predictions_*.csv")):
        table = pl.read_csv(path)
        row = {item: i for i, item in enumerate(table["item"])}
        for c in ("e", "n", "c"):
            chance = table[f"p_{c}"].to_numpy()
            for start in range(0, min(len(items) - size + 1, blocks * size), size):
                part = items[start : start + size]
                yes = np.array([np.sum(rng.permutation(said[i])[:votes] == c) for i in part])
                score = np.array([chance[row[i]] for i in part])
                true = np.array([key[i] == c for i in part])
                name = f"{path.stem.removeprefix('predictions_')} {c}"
                counts = np.stack([votes - yes, yes], axis=1)
                yield Block("ChaosNLI", name, counts, score, true)


def held(block: Block, n_gold: int, seed: int) -> Iterator[tuple[str, bool, float, bool]]:
    """For both areas: is it inside, the interval's width, does it lie above?"""
    from sklearn.metrics import average_precision_score, roc_auc_score

    labels = tr.Labels.from_counts(block.votes)
    rng = np.random.default_rng([seed, n_gold])
    chosen = rng.permutation(len(block.truth))[:n_gold]
    gold = {labels.items[i]: labels.classes[int(block.truth[i])] for i in chosen} or None
    options = {"scores": block.score, "threshold": 0.5, "gold": gold, "draws": 800, "seed": seed}
    report = tr.grade(None, labels, **options)
    for name, area in zip(AREAS, (roc_auc_score, average_precision_score)):
        actual = float(area(block.truth, block.score))
        low, high = report[name].interval(0.95)
        yield name, bool(low - 1e-9 <= actual <= high + 1e-9), high - low, actual > high + 1e-9


def main() -> None:
    parser = argparse.ArgumentParser(description="coverage of areas under curves")
    parser.add_argument("--gold", type=int, nargs="+", default=[0, 25, 50, 100])
    parser.add_argument("--blocks", type=int, default=4, help="of each pair, or model and class")
    parser.add_argument("--data", choices=("CIFAR-10", "ChaosNLI"), default=None)
    options = parser.parse_args()
    found: dict[tuple[str, str, int], list[tuple[bool, float, bool]]] = defaultdict(list)
    blocks = [*cifar(options.blocks), *chaosnli(options.blocks)]
    for number, block in enumerate(b for b in blocks if options.data in (None, b.data)):
        for n_gold in options.gold:
            for name, *values in held(block, n_gold, number):
                found[block.data, name, n_gold].append(tuple(values))
    for (data, name, n_gold), values in sorted(found.items()):
        inside, width, above = np.mean(values, axis=0)
        error = np.sqrt(max(inside * (1 - inside), 0.05 * 0.95) / len(values))
        print(
            f"{data:<9} {name:<18} gold {n_gold:>3}  held {inside:.3f} ± {error:.3f} of "
            f"{len(values)} blocks, width {width:.3f}, above {above:.3f}"
        )


if __name__ == "__main__":
    main()
