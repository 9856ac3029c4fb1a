"""Torch losses: exact gradients, no bias by enumeration, gaps, extremes, and the limits of perfect
labels.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

if importlib.util.find_spec("torch") is None and os.environ.get("CI") != "true":
    pytest.skip("needs torch: pip install 'truthing[torch]'", allow_module_level=True)

import torch

import truthing as tr
from truthing.train.evidence import gather, weigh
from truthing.train.logistic import Objective
from truthing.train.losses import (
    CrowdLoss,
    MarginalLikelihoodLoss,
    MMSELoss,
    NoiseLayer,
    ProxyLoss,
    WeakLabelLoss,
    cross_entropies,
)

torch.set_num_threads(1)
TABLES = torch.tensor(
    [
        [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]],
        [[0.6, 0.2, 0.2], [0.1, 0.8, 0.1], [0.3, 0.1, 0.6]],
    ],
    dtype=torch.float64,
)
LABELS = torch.tensor([[0, 1], [2, -1], [-1, -1], [1, 1], [-1, 0]])


def logits_of(n: int = 5, seed: int = 0) -> Any:
    return torch.tensor(np.random.default_rng(seed).normal(size=(n, 3)), requires_grad=True)


LOSSES = {
    "mmse": lambda: MMSELoss(TABLES, [0.5, 0.3, 0.2]),
    "marginal": lambda: MarginalLikelihoodLoss(TABLES),
    "proxy": lambda: ProxyLoss(TABLES),
    "weak": lambda: WeakLabelLoss(torch.cat([TABLES * 0.5, TABLES * 0.5], dim=2)),
    "crowd": lambda: CrowdLoss(3, 2, confusion=TABLES, trace=0.3),
}


@pytest.mark.parametrize("name", LOSSES)
def test_gradients(name: str) -> None:
    loss = LOSSES[name]()
    assert torch.autograd.gradcheck(lambda v: loss(v, LABELS), logits_of(), eps=1e-6, atol=1e-6)
    for parameter in loss.parameters():  # the learned tables too

        def value(weights: Any, parameter: Any = parameter) -> Any:
            return torch.func.functional_call(
                loss, {"layer.weights": weights}, (logits_of().detach(), LABELS)
            )

        assert torch.autograd.gradcheck(
            value, parameter.detach().clone().requires_grad_(), eps=1e-6, atol=1e-6
        )


@pytest.mark.parametrize(
    "base", [cross_entropies, lambda v: (1 - torch.softmax(v, dim=1)) ** 2], ids=["log", "square"]
)
def test_proxy_is_unbiased_by_enumeration(base: Any) -> None:
    logits = logits_of(1).detach()
    loss = ProxyLoss(TABLES, base=base, reduction="none")
    for truth in range(3):
        mean = sum(
            TABLES[0, truth, a] * TABLES[1, truth, b] * loss(logits, torch.tensor([[a, b]]))
            for a, b in itertools.product(range(3), repeat=2)
        )
        assert torch.allclose(mean, base(logits)[:, truth], atol=1e-12)


def test_weak_labels_are_unbiased_by_enumeration() -> None:
    """Symbols are the sets of classes a labeler leaves open."""
    mixing = torch.tensor(
        [[0.6, 0.0, 0.0, 0.3, 0.1], [0.0, 0.5, 0.0, 0.3, 0.2], [0.0, 0.0, 0.7, 0.0, 0.3]],
        dtype=torch.float64,
    )
    logits = logits_of(1).detach()
    each = WeakLabelLoss(mixing, reduction="none")(logits.expand(5, 3), torch.arange(5))
    assert torch.allclose(mixing @ each, cross_entropies(logits)[0], atol=1e-12)
    with pytest.raises(tr.InputError, match="cannot tell the classes apart"):
        WeakLabelLoss([[0.5, 0.5], [0.5, 0.5]])


@pytest.mark.parametrize("name", ["mmse", "ml"])
def test_equal_to_the_estimators_objective(name: Any) -> None:
    rng = np.random.default_rng(0)
    X, grid = rng.normal(size=(30, 4)), rng.integers(-1, 3, (30, 2)).astype(float)
    grid[(grid < 0).all(axis=1), 0] = 1
    labels = tr.Labels.from_matrix(np.where(grid < 0, np.nan, grid))
    prior = np.array([0.5, 0.3, 0.2])
    evidence = weigh(gather(X, labels), noise=tr.noise.Confusion(TABLES.numpy()), prior=prior)
    problem = Objective(
        X, (name, evidence.log_likelihood if name == "ml" else evidence.posterior), C=np.inf
    )
    theta = rng.normal(size=15)
    value, _ = problem.smooth(theta)
    coef, constant = problem.unpack(theta)
    loss = MarginalLikelihoodLoss(TABLES) if name == "ml" else MMSELoss(TABLES, prior)
    # the estimator's evidence is scaled to a maximum of zero in each row, a constant that no
    # gradient sees
    shift = 0.0
    if name == "ml":
        raw = tr.noise.Confusion(TABLES.numpy()).log_likelihood(labels)
        shift = raw.max(axis=1).mean()
    found = loss(torch.tensor(X @ coef.T + constant), torch.tensor(labels.matrix()))
    assert float(found) == pytest.approx(value - shift, rel=1e-9)


@pytest.mark.parametrize("name", ["mmse", "marginal", "proxy", "crowd"])
def test_perfect_labels_are_cross_entropy(name: str) -> None:
    eye = torch.eye(3, dtype=torch.float64)
    loss = {
        "mmse": lambda: MMSELoss(eye),
        "marginal": lambda: MarginalLikelihoodLoss(eye),
        "proxy": lambda: ProxyLoss(eye),
        "crowd": lambda: CrowdLoss(3, 1, confusion=eye, learn=False, trace=0.0),
    }[name]()
    logits, labels = logits_of(4).detach(), torch.tensor([0, 2, 1, 1])
    assert torch.allclose(
        loss(logits, labels), torch.nn.functional.cross_entropy(logits, labels), atol=1e-12
    )


@pytest.mark.parametrize("name", LOSSES)
def test_extremes_and_gaps(name: str) -> None:
    loss = LOSSES[name]().float()
    wild = torch.tensor([[1e4, -1e4, 0.0], [-1e4, 1e4, 1e4]], requires_grad=True)
    value = loss(wild, torch.tensor([[1, 2], [0, -1]]))
    value.backward()
    assert torch.isfinite(value)
    assert torch.isfinite(wild.grad).all()
    if name != "crowd":
        logits = logits_of().detach()
        seen = LABELS[[0, 1, 3, 4]]
        whole = LOSSES[name]()(logits, LABELS)
        assert torch.allclose(whole, LOSSES[name]()(logits[[0, 1, 3, 4]], seen))
        assert float(LOSSES[name]()(logits, torch.full((5, 2), -1))) == 0.0


def test_labelers_are_learned_with_the_network() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4000, 2))
    truth = (x[:, 0] > 0).astype(int)
    tables = np.array(
        [[[0.9, 0.1], [0.3, 0.7]], [[0.6, 0.4], [0.1, 0.9]], [[0.7, 0.3], [0.3, 0.7]]]
    )
    grid = np.stack([rng.random(4000) < table[truth, 1] for table in tables], axis=1).astype(int)
    grid[rng.random(grid.shape) < 0.3] = -1
    torch.manual_seed(0)
    network, loss = torch.nn.Linear(2, 2), CrowdLoss(2, 3, trace=0.01)
    optimiser = torch.optim.Adam([*network.parameters(), *loss.parameters()], lr=0.05)
    features, labels = torch.tensor(x, dtype=torch.float32), torch.tensor(grid)
    for _ in range(300):
        optimiser.zero_grad()
        loss(network(features), labels).backward()
        optimiser.step()
    assert np.abs(loss.confusion.detach().numpy() - tables).max() < 0.06
    assert (network(features).argmax(dim=1).numpy() == truth).mean() > 0.97


def test_noise_layer_drops_out_only_in_training() -> None:
    layer = NoiseLayer(3, 2, dropout=0.5)
    logits = logits_of(20).detach().float()
    assert torch.allclose(layer.eval()(logits).exp().sum(dim=2), torch.ones(20, 2))
    torch.manual_seed(0)
    assert not torch.allclose(layer.train()(logits), layer.eval()(logits))


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(__file__).resolve().parents[2] / "examples" / "train_torch.py"
    actual = runpy.run_path(str(path))["main"](epochs=10)
    assert actual["marginal likelihood"] > actual["majority vote"] + 0.02
    assert "no truth used" in capsys.readouterr().out


def test_bad_input() -> None:
    with pytest.raises(tr.InputError, match="sums to one"):
        MMSELoss([[0.9, 0.2], [0.1, 0.9]])
    with pytest.raises(tr.InputError, match="do not fit"):
        MarginalLikelihoodLoss(TABLES)(logits_of(), torch.zeros((5, 3), dtype=torch.long))
    with pytest.raises(tr.InputError, match="5 rows of logits and 4"):
        MarginalLikelihoodLoss(TABLES)(logits_of(), LABELS[:4])
    with pytest.raises(tr.InputError, match="reduction"):
        MMSELoss(TABLES, reduction="average")
    with pytest.raises(tr.InputError, match="square"):
        ProxyLoss([[0.5, 0.0, 0.5], [0.0, 0.5, 0.5]])


def test_nothing_else_imports_torch() -> None:
    code = (
        "import sys, truthing.train as t; t.MMSEClassifier, t.noisy_scorer; print('torch' in "
        "sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
