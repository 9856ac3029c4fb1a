"""A small network trained on a poor crowd's labels of handwritten digits, four ways; graded without
and with the truth.

Run it: python examples/train_torch.py (half a minute on one core; needs truthing[train] and torch).
"""

from __future__ import annotations

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import truthing as tr
from truthing.train import losses


def crowd(truth: np.ndarray, n_labelers: int = 8, seed: int = 0) -> tr.Labels:
    """Eight labelers who are right 25% to 60% of the time and mistake digits for a neighbour; each
    sees half of the items.
    """
    rng = np.random.default_rng(seed)
    right = rng.uniform(0.25, 0.6, n_labelers)
    wrong = (truth[:, None] + rng.choice([-2, -1, 1, 2], size=(len(truth), n_labelers))) % 10
    grid = np.where(rng.random(wrong.shape) < right, truth[:, None], wrong).astype(float)
    grid[rng.random(grid.shape) < 0.5] = np.nan
    grid[np.isnan(grid).all(axis=1), 0] = truth[np.isnan(grid).all(axis=1)]
    return tr.Labels.from_matrix(grid)


def train(
    X: torch.Tensor, labels: torch.Tensor, loss: torch.nn.Module, epochs: int
) -> torch.nn.Module:
    torch.manual_seed(0)
    network = torch.nn.Sequential(
        torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Dropout(0.2), torch.nn.Linear(64, 10)
    )
    optimiser = torch.optim.Adam(
        [*network.parameters(), *loss.parameters()], lr=3e-3, weight_decay=1e-4
    )
    for _ in range(epochs):
        for batch in torch.randperm(len(X)).split(64):
            optimiser.zero_grad()
            loss(network(X[batch]), labels[batch]).backward()
            optimiser.step()
    return network.eval()


def main(epochs: int = 40) -> dict[str, float]:
    features, truth = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(features / 16, truth, test_size=0.4, random_state=0)
    labels, test_labels = crowd(y), crowd(y_test, seed=1)
    tables, prior = (fit := tr.noise.DawidSkene().fit(labels)).confusion, fit.prior
    majority = labels.counts().argmax(axis=1)[:, None]
    X, X_test = (torch.tensor(a, dtype=torch.float32) for a in (X, X_test))
    ways = {
        "majority vote": (majority, losses.MarginalLikelihoodLoss(torch.eye(10))),
        "MMSE": (labels.matrix(), losses.MMSELoss(tables, prior)),
        "marginal likelihood": (labels.matrix(), losses.MarginalLikelihoodLoss(tables)),
        "labelers learned": (labels.matrix(), losses.CrowdLoss(10, 8, start=0.5)),
    }
    actual = {}
    print(f"labels are right {np.mean(labels.label == y[labels.item]):.0%} of the time\n")
    print(f"{'trained by':<22}{'estimated accuracy, no truth used':<36}actual")
    for name, (target, loss) in ways.items():
        network = train(X, torch.tensor(target), loss, epochs)
        predicted = network(X_test).argmax(dim=1).numpy()
        actual[name] = float((predicted == y_test).mean())
        estimate = tr.grade(predicted, test_labels, draws=1000)["accuracy"]
        print(f"{name:<22}{estimate!s:<36}{actual[name]:.3f}", flush=True)
    return actual


if __name__ == "__main__":
    main()
