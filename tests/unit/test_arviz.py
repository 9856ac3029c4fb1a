"""Posterior draws as ArviZ reads them: the same numbers, with their chains."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import truthing as tr
from truthing.truth.samplers.diagnostics import effective_size


def world(n: int = 120) -> Any:
    return tr.simulate(
        n,
        5,
        prior=[0.6, 0.4],
        operating_point=[[0.9, 0.1], [0.2, 0.8]],
        confusion=[[0.8, 0.2], [0.2, 0.8]],
        seed=1,
    )


def test_draws_of_a_grade_with_and_without_chains() -> None:
    data = world()
    for panel_error, chains in ((None, 1), (0, 4)):
        report = tr.grade(data.predictions, data.labels, noise=0.2, panel_error=panel_error)
        tree = report.to_arviz()["posterior"]
        assert tree.sizes["chain"] == chains
        accuracy = tree["accuracy"].to_numpy()
        assert accuracy.ravel() == pytest.approx(report["accuracy"].draws)
        # all variables belong to the same draw
        matrix = tree["confusion"].to_numpy()
        right = matrix[..., 0, 0] + matrix[..., 1, 1]
        assert right / matrix.sum(axis=(2, 3)) == pytest.approx(accuracy)
        assert list(tree["truth"].to_numpy()) == ["0", "1"]
    # the chains are those of the diagnostics: a wrong order would change the effective size
    size = effective_size(accuracy.ravel() * 120, chains)
    assert size == pytest.approx(report.diagnostics["effective_sample_size"], rel=1e-6)


def test_draws_of_a_rate_and_a_comparison() -> None:
    data = world()
    rate = tr.prevalence(data.labels, noise=0.2).to_arviz()["posterior"]
    assert rate["share"].sum("class").to_numpy() == pytest.approx(np.ones((1, rate.sizes["draw"])))
    other = np.where(np.arange(120) % 4 == 0, 0, np.asarray(data.predictions))
    several = tr.compare({"a": data.predictions, "b": list(other)}, data.labels, noise=0.2)
    tree = several.to_arviz(metric="f1")["posterior"]
    assert list(tree["model"].to_numpy()) == ["a", "b"]
    values = tree["f1"].to_numpy().reshape(-1, 2)
    assert values == pytest.approx(several.draws("f1"), nan_ok=True)


def test_where_gold_alone_answers_its_draws_are_given() -> None:
    data = world()
    gold = dict(zip(data.labels.items, data.truth))
    report = tr.grade(data.predictions, data.labels, gold=gold)
    tree = report.to_arviz()["posterior"]
    assert float(tree["accuracy"].mean()) == pytest.approx(report["accuracy"].mean, abs=1e-3)


def test_what_has_no_draws_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = world()
    exact = tr.grade(data.predictions, data.labels, noise=0.2, method="exact")
    with pytest.raises(tr.InputError, match="without draws"):
        exact.to_arviz()
    with pytest.raises(tr.InputError, match="holds no posterior draws"):
        tr.bayes_error(soft=[0.1, 0.9]).to_arviz()
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(tr.InputError, match=r"truthing\[arviz\]"):
        exact.to_arviz()
