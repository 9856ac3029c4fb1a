"""New items join a grade without the earlier labels being read again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import truthing as tr


def half(first: int, last: int, seed: int = 0, n_items: int = 3000) -> tuple[Any, Any, Any]:
    """Labels, predictions and gold of some items of one panel, as mappings and rows."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n_items)
    who = np.argsort(rng.random((n_items, 25)), axis=1)[:, :6]
    error = rng.uniform(0.05, 0.4, 25)[who]
    said = np.where(rng.random(who.shape) < error, 1 - truth[:, None], truth[:, None])
    guess = np.where(rng.random(n_items) < 0.15, 1 - truth, truth)
    items = np.arange(first, last)
    labels = tr.Labels.from_long(
        np.repeat(items, 6), [f"w{t}" for t in who[items].reshape(-1)], said[items].reshape(-1)
    )
    gold = {int(i): int(truth[i]) for i in items if i % 20 == 0}
    return labels, {int(i): int(guess[i]) for i in items}, gold


def interval(report: Any) -> np.ndarray:
    return np.array([report["accuracy"].mean, *report["accuracy"].interval()])


@pytest.mark.parametrize("with_gold", [False, True])
def test_an_updated_grade_is_close_to_a_grade_of_everything(
    with_gold: bool, tmp_path: Path
) -> None:
    labels, predictions, gold = half(0, 2000)
    more, more_predictions, more_gold = half(2000, 3000)
    every, all_predictions, all_gold = half(0, 3000)
    first = tr.grade(predictions, labels, gold=gold if with_gold else None)
    updated = first.update(more, more_predictions, gold=more_gold if with_gold else None)
    whole = tr.grade(all_predictions, every, gold=all_gold if with_gold else None)
    assert updated.sizes == whole.sizes
    assert abs(updated["accuracy"].mean - whole["accuracy"].mean) < 0.003
    width = np.ptp(interval(whole)[1:])
    assert np.abs(interval(updated) - interval(whole)).max() < 0.03 * width + 0.001
    assert np.abs(interval(first) - interval(whole)).max() > 1e-4  # the new items say something
    place = [updated.noise.labelers.index(name) for name in whole.noise.labelers]
    assert np.abs(updated.noise.confusion[place] - whole.noise.confusion).max() < 0.02
    assert updated.truth.shape == (1000, 2)
    assert any("keep what was learned about them then" in line for line in updated.assumptions)
    first.state.write(tmp_path / "state.npz")
    again = tr.read_state(tmp_path / "state.npz")
    kept = again.update(more, more_predictions, gold=more_gold if with_gold else None)
    assert np.abs(interval(kept) - interval(updated)).max() < 1e-12


def test_counts_of_an_update_are_exact() -> None:
    """What does not hang on the fit adds up to the last digit."""
    labels, predictions, _ = half(0, 2000)
    more, more_predictions, _ = half(2000, 3000)
    updated = tr.grade(predictions, labels).update(more, more_predictions)
    whole = tr.grade(half(0, 3000)[1], half(0, 3000)[0])
    for name in whole.metrics:
        assert updated.at_face_value(name) == pytest.approx(whole.at_face_value(name), abs=1e-12)


def test_two_updates_and_a_labeler_who_is_new() -> None:
    labels, predictions, _ = half(0, 1500)
    report = tr.grade(predictions, labels)
    for first, last in ((1500, 2000), (2000, 3000)):
        more, more_predictions, _ = half(first, last)
        names = [f"{name}" if name != "w3" else "somebody new" for name in more.labelers]
        renamed = tr.Labels.from_codes(
            more.item, more.labeler, more.label, items=more.items, labelers=names, classes=(0, 1)
        )
        report = report.update(renamed, more_predictions)
    assert report.sizes == {"items": 3000, "labelers": 26, "labels": 18000, "gold": 0}
    assert "somebody new" in report.noise.labelers


def test_what_cannot_be_added_is_refused_in_words(tmp_path: Path) -> None:
    labels, predictions, _ = half(0, 500)
    report = tr.grade(predictions, labels)
    with pytest.raises(tr.InputError, match="was graded before, and its earlier labels are not"):
        report.update(labels, predictions)
    odd = tr.Labels.from_long([9001, 9001], ["w1", "w2"], [0, 2])
    with pytest.raises(tr.InputError, match="class 2 did not occur before"):
        report.update(odd, {9001: 0})
    with pytest.raises(tr.InputError, match="new items need predictions too"):
        report.update(labels)
    with pytest.raises(tr.InputError, match="only the default method"):
        tr.grade(predictions, labels, noise=0.1).update(labels, predictions)
    gold = {0: 0, 1: 1, 2: 0, 3: 1, 4: 0}
    with pytest.raises(tr.InputError, match="only the default method"):
        tr.grade(predictions, labels, gold=gold, gold_error=0.05).update(labels, predictions)
    (tmp_path / "state.npz").write_bytes(b"nothing")
    with pytest.raises(tr.InputError, match="is no state of a grade, or is damaged"):
        tr.read_state(tmp_path / "state.npz")


def test_a_streamed_grade_is_updated_too(tmp_path: Path) -> None:
    import polars as pl

    labels, predictions, gold = half(0, 2000)
    rows = {
        "item": labels.item,
        "labeler": [labels.labelers[t] for t in labels.labeler],
        "label": labels.label,
    }
    pl.DataFrame(rows).write_parquet(tmp_path / "labels.parquet")
    guesses = {"item": list(predictions), "prediction": list(predictions.values())}
    pl.DataFrame(guesses).write_parquet(tmp_path / "predictions.parquet")
    more, more_predictions, more_gold = half(2000, 3000)
    files = tmp_path / "predictions.parquet", tmp_path / "labels.parquet"
    streamed = tr.grade(*files, gold=gold, engine="stream").update(
        more, more_predictions, gold=more_gold
    )
    memory = tr.grade(predictions, labels, gold=gold).update(more, more_predictions, gold=more_gold)
    assert np.abs(interval(streamed) - interval(memory)).max() < 1e-9
    with pytest.raises(tr.InputError, match="was graded before"):
        tr.grade(*files, engine="stream").update(labels, predictions)
