"""How often intervals of AUC and average precision hold the truth, with the labelers' noise known
(nominal .95).
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

import truthing as tr

FIRST = 1000  # the prior of the curve was chosen on seeds below this
AREAS = ("auc", "average_precision")
SU = {
    "difficulty": (1, 5),
    "fallibility": (0.249, 0.030, 0.387, 0.244, 0.154),
    "availability": (0.727, 0.873, 0.286, 0.657, 0.232),
}


def design(items: int, labelers: int, prior: float, point: Any = None, **more: Any) -> Any:
    """What tr.simulate is told; scores are binormal on the margin, cut at the operating point."""
    world = {"n_items": items, "n_labelers": labelers, "prior": prior, **more}
    return world if point is None else {**world, "operating_point": point}


DESIGNS: dict[str, dict[str, Any]] = {
    "binormal, 3 labelers, N=300": design(300, 3, 0.4, (0.8, 0.2)),
    "binormal, 1 labeler, N=300": design(300, 1, 0.5, (0.85, 0.25)),
    "rare class, 3 labelers, N=500": design(500, 3, 0.1, (0.8, 0.1)),
    "strong classifier, N=300": design(300, 3, 0.4, (0.95, 0.05)),
    "chance classifier, N=300": design(300, 3, 0.4, (0.5, 0.5)),
    "N=70": design(70, 3, 0.5, (0.85, 0.2)),
    "N=2000": design(2000, 3, 0.4, (0.8, 0.2)),
    "tied scores, N=300": design(300, 3, 0.4, (0.8, 0.2), ties=0.1),
    "half the positives hidden, N=300": design(300, 3, 0.4, hidden=0.5),
    "Su's main example, N=1000": design(1000, 5, 0.2, (0.8, 0.3), **SU),
}


def one(design: dict[str, Any], method: str, seed: int) -> dict[str, tuple[float, float, float]]:
    """Of one data set: for each area the truth and its interval."""
    design = {"fallibility": 0.4, **design}
    ties, hidden = design.pop("ties", None), design.pop("hidden", None)
    data = tr.simulate(**design, seed=seed)
    scores = data.scores
    if ties is not None:
        scores = np.round(scores / ties) * ties
    if hidden is not None:  # these positives look like negatives, the others stand out
        rng = np.random.default_rng([seed, 1])
        shown = (data.truth == 1) & (rng.random(len(data.truth)) > hidden)
        scores = rng.normal(np.where(shown, 3.0, 0.0), 1.0)
    report = tr.grade(
        (scores > np.median(scores)).astype(int),
        data.labels,
        scores=scores,
        noise=data.noise,
        prior=design["prior"],
        method=method,
        seed=seed,
    )
    ideal = {
        "auc": roc_auc_score(data.truth, scores),
        "average_precision": average_precision_score(data.truth, scores),
    }
    return {name: (ideal[name], *report[name].interval(0.95)) for name in AREAS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=500)
    parser.add_argument("--only", default="", help="designs whose name holds this text")
    options = parser.parse_args()
    print(f"{'design':<34}" + "".join(f"{name:>20}{'width':>8}{'bias':>9}" for name in AREAS))
    for label, design in DESIGNS.items():
        if options.only not in label:
            continue
        found = [one(design, "ratios", seed) for seed in range(FIRST, FIRST + options.trials)]
        line = f"{label:<34}"
        for name in AREAS:
            truth, low, high = np.array([f[name] for f in found]).T
            inside = np.mean((low - 1e-12 <= truth) & (truth <= high + 1e-12))
            error = np.sqrt(inside * (1 - inside) / len(found))
            bias = np.mean((low + high) / 2 - truth)
            line += f"{inside:>13.3f} ± {error:.3f} {np.mean(high - low):>7.3f}{bias:>+9.4f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
