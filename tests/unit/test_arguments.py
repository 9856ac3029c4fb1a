"""Numbers that cannot be meant are refused in words, everywhere, before anything is computed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import truthing as tr
from truthing.cli.main import app
from truthing.errors import InputError
from truthing.planning import gold_effect

DATA = tr.simulate(40, 3, prior=[0.6, 0.4], operating_point=(0.8, 0.2), fallibility=0.3, seed=1)
LABELS, PREDICTED = DATA.labels, DATA.predictions
MODELS = {"a": PREDICTED, "b": DATA.truth}
GOLD = dict(zip(LABELS.items[:9], DATA.truth))
SCORES = np.linspace(0, 1, 40)

Call = Callable[..., Any]
SEEDED: dict[str, Call] = {
    "grade": lambda **k: tr.grade(PREDICTED, LABELS, noise=0.1, **k),
    "prevalence": lambda **k: tr.prevalence(LABELS, noise=0.1, **k),
    "compare": lambda **k: tr.compare(MODELS, LABELS, noise=0.1, **k),
    "labelers": lambda **k: tr.labelers(LABELS, noise=0.1, **k),
    "simulate": lambda **k: tr.simulate(9, 2, prior=0.5, **k),
    "plan": lambda **k: tr.plan(width=0.1, labelers=0.1, accuracy=0.8, costs={"label": 1}, **k),
    "information": lambda **k: tr.information(error=[0.1], prior=[0.5, 0.5], **k),
    "labelers_needed": lambda **k: tr.labelers_needed(0.3, expert=0.1, **k),
    "true_confusion": lambda **k: tr.true_confusion(np.eye(2), np.eye(2), **k),
    "gold_effect": lambda **k: gold_effect(PREDICTED, LABELS, 5, **k),
}
DRAWN = ("grade", "prevalence", "compare", "labelers", "true_confusion")
LINKED = ("grade", "prevalence", "compare", "plan", "gold_effect")


@pytest.mark.parametrize("name", SEEDED)
@pytest.mark.parametrize("seed", [-1, 1.5, None, math.nan, "7", True, 2**70], ids=str)
def test_seeds(name: str, seed: Any) -> None:
    with pytest.raises(InputError, match=r"seed .*: give a whole number from 0 up"):
        SEEDED[name](seed=seed)


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize("draws", [1000.5, math.nan, None, "many", 0, -5, 99], ids=str)
def test_draws(name: str, draws: Any) -> None:
    with pytest.raises(InputError, match="at least 100"):
        SEEDED[name](draws=draws)


@pytest.mark.parametrize("name", LINKED)
@pytest.mark.parametrize(
    "share", [math.nan, -0.1, 0.6, "x", (1, 2, 3), (math.nan, 1), (0, 1), [1, math.inf]], ids=str
)
def test_panel_errors(name: str, share: Any) -> None:
    with pytest.raises(InputError, match="panel_error"):
        SEEDED[name](panel_error=share)


def test_large_seeds_and_numpy_numbers_are_fine() -> None:
    """A seed of any size that fits in 63 bits, in every sampler of the default method."""
    asked: dict[str, Any] = {"draws": np.int64(100), "seed": 2**63 - 1}
    found = tr.grade(PREDICTED, LABELS, noise=0.1, panel_error=np.float64(0.05), **asked)
    again = tr.grade(PREDICTED, LABELS, noise=0.1, panel_error=0.05, draws=100, seed=2**63 - 1)
    assert np.array_equal(found["accuracy"].draws, again["accuracy"].draws)


@pytest.mark.parametrize("threshold", [math.nan, "x", True], ids=str)
def test_thresholds(threshold: Any) -> None:
    with pytest.raises(InputError, match=r"threshold .* is not a number"):
        tr.grade(None, LABELS, scores=SCORES, threshold=threshold, noise=0.1)


@pytest.mark.parametrize("chance", [math.nan, 0, -1, 1.5, "x", None], ids=str)
def test_chances_of_gold(chance: Any) -> None:
    for name in ("grade", "prevalence", "compare"):
        with pytest.raises(InputError, match=r"gold_weights gives item 0 the chance"):
            SEEDED[name](gold=GOLD, gold_weights=dict.fromkeys(GOLD, chance))


def test_items_without_a_prediction() -> None:
    for silent in (None, math.nan):
        some = [silent, *PREDICTED[1:].tolist()]
        with pytest.raises(InputError, match=r"1 items have no prediction \(for example 0\)"):
            tr.grade(some, LABELS, noise=0.1)
        with pytest.raises(InputError, match="no prediction"):
            tr.compare({"a": some, "b": PREDICTED}, LABELS, noise=0.1)


def test_no_items_at_all() -> None:
    nothing = tr.Labels.from_long([], [], [])
    for ask in (
        lambda: tr.grade([], nothing),
        lambda: tr.prevalence(nothing),
        lambda: tr.labelers(nothing),
        lambda: tr.compare({"a": [], "b": []}, nothing),
    ):
        with pytest.raises(InputError, match="the labels hold no item"):
            ask()
    with pytest.raises(InputError, match="the predictions hold no item"):
        tr.grade({}, LABELS)


@pytest.mark.parametrize("size", ["nan", "inf", "0", "-5"])
def test_sizes_of_uploads(size: str) -> None:
    done = CliRunner().invoke(app, ["serve", "--max-upload", size])
    assert isinstance(done.exception, InputError)
    assert "--max-upload" in str(done.exception)
