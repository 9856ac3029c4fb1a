"""Very many classes and very many labelers are answered; what does not fit is refused in words."""

import numpy as np
import polars as pl
import pytest

import truthing as tr
from truthing.truth.consensus import Entries
from truthing.truth.link import many_classes
from truthing.truth.link.counts import confusion_draws, population_confusion
from truthing.truth.link.prior import learned_components
from truthing.truth.link.sampler import draw_link
from truthing.truth.link.views import read_panel, with_shared_tables

MANY = 1000


def noisy(truth, right, n_classes, rng):
    return np.where(rng.random(len(truth)) < right, truth, rng.integers(0, n_classes, len(truth)))


def panel(n_items, n_labelers, n_classes, seed=0):
    """Truth, predictions and a matrix of labels."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n_items)
    labels = np.stack([noisy(truth, 0.8, n_classes, rng) for _ in range(n_labelers)], axis=1)
    return truth, noisy(truth, 0.85, n_classes, rng), labels


@pytest.mark.parametrize("target", ["sample", "population"])
def test_margins_agree_with_whole_tables(target):
    truth, predicted, matrix = panel(400, 3, 5)
    labels = tr.Labels.from_matrix(matrix)
    gold = np.where(np.arange(400) < 60, truth, -1)
    views = read_panel(Entries.of(labels), predicted)
    rng = np.random.default_rng(1)
    link = draw_link(views, learned_components(views, None), gold, rng, n_draws=4000)
    draw = confusion_draws if target == "sample" else population_confusion
    whole = draw(link, views, gold, rng) * (1 if target == "sample" else 400)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(many_classes, "MOST_DENSE", 2)
        found = many_classes.drawn_confusion(link, views, gold, rng, target)
    pairs = [
        (found.tally.truth, whole.sum(axis=2)),
        (found.tally.predicted, whole.sum(axis=1)),
        (found.tally.right, np.diagonal(whole, axis1=1, axis2=2)),
    ]
    for ours, theirs in pairs:
        # six standard errors of a mean of 4,000 draws, and spreads within a tenth
        error = np.sqrt((ours.var(axis=0) + theirs.var(axis=0)) / 4000)
        assert (np.abs(ours.mean(axis=0) - theirs.mean(axis=0)) <= 6 * error + 1e-9).all()
        assert ours.std(axis=0) == pytest.approx(theirs.std(axis=0), rel=0.1, abs=1e-9)
    spread = np.sqrt(whole.var(axis=0) / 2000) + 1e-3
    assert (np.abs(found.mean - whole.mean(axis=0)) <= 6 * spread).all()


def test_a_thousand_classes_are_graded_and_counted():
    truth, predicted, labels = panel(1200, 3, MANY)
    gold = {i: int(truth[i]) for i in range(40)}
    report = tr.grade(predicted.tolist(), labels, gold=gold, draws=100)
    low, high = report["accuracy"].interval(0.95)
    assert 0 <= low < (predicted == truth).mean() < high <= 1
    assert np.isfinite(report["macro_f1"].mean)
    assert report.confusion.mean.sum() == pytest.approx(1200)
    with pytest.raises(tr.InputError, match="classes are too many"):
        report.confusion.interval()
    assert report.noise.error.shape[1] == 3
    with pytest.raises(tr.InputError, match="too many"):
        tr.labelers(labels)
    with pytest.raises(tr.InputError, match="too many to trust"):
        tr.grade(predicted.tolist(), labels, panel_error=0)
    with pytest.raises(tr.InputError, match="too many to compare models"):
        tr.compare({"a": predicted.tolist(), "b": predicted[::-1].tolist()}, labels)
    shares = tr.prevalence(labels, draws=100).draws
    assert shares.sum(axis=1) == pytest.approx(1)
    assert (shares >= 0).all()


def test_a_hundred_thousand_labelers_with_one_label_each():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 20_000)
    item = np.repeat(np.arange(20_000), 5)
    label = noisy(truth[item], 0.6, 2, rng)
    table = pl.DataFrame({"item": item, "labeler": np.arange(100_000), "label": label})
    predicted = noisy(truth, 0.8, 2, rng)
    report = tr.grade(predicted.tolist(), table, draws=300)
    low, high = report["accuracy"].interval(0.95)
    assert 0 <= low < (predicted == truth).mean() < high <= 1
    shares = tr.prevalence(table, draws=300)
    assert shares["1"].interval(0.95)[0] < truth.mean() < shares["1"].interval(0.95)[1]
    other = noisy(truth, 0.5, 2, rng)
    found = tr.compare({"new": predicted.tolist(), "old": other.tolist()}, table, draws=300)
    low, high = found.difference("accuracy").interval(0.95)
    gain = (predicted == truth).mean() - (other == truth).mean()
    assert -1 <= low < gain < high <= 1
    people = tr.labelers(table.head(25_000), panel="people")
    assert people["0"]["error"].interval()[0] < 0.2 < people["0"]["error"].interval()[1] + 0.05
    assert any("described by one Dawid–Skene fit" in said for said in people.warnings)


def test_the_busiest_keep_tables_of_their_own(monkeypatch):
    _, predicted, matrix = panel(50, 6, 4)
    monkeypatch.setattr("truthing.truth.link.views.MOST_ROW_CELLS", 64)
    entries = Entries.of(tr.Labels.from_matrix(matrix))
    found = with_shared_tables(entries)
    assert found.n_raters == 3
    assert np.bincount(found.rater).tolist() == [50, 50, 200]
    views = read_panel(entries, predicted)
    assert views.fit.shared
    assert views.fit.counts.shape == (4, 4, 4)
    assert (views.posterior.argmax(axis=1) == predicted).mean() > 0.6


def test_bits_of_panels_that_are_too_large_are_refused():
    with pytest.raises(tr.InputError, match="too many to count bits"):
        tr.information(error=0.1, prior=[1 / MANY] * MANY)
    with pytest.raises(tr.InputError, match="too many to count bits"):
        tr.information(error=[0.3] * 10_000)


def test_a_plan_without_labelers_is_refused():
    with pytest.raises(tr.InputError, match="no labelers"):
        tr.plan(width=0.1, costs={"item": 0.1, "label": 0.05}, labelers=[])
