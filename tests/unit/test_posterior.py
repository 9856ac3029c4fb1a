"""The default method: agreement with independent computations, invariances, and what it says."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln
from sklearn import metrics as sk

import truthing as tr
from truthing.metrics.estimate import credible_interval
from truthing.noise.em import RowsModel, fit_em
from truthing.truth import labelers as learned
from truthing.truth.consensus import Entries, fit_dawid_skene
from truthing.truth.samplers.bootstrap import bootstrap_crowd
from truthing.truth.samplers.known import sample_known
from truthing.truth.samplers.labeler_tables import OWN
from truthing.truth.samplers.labelers import RowModel, pool_base, sample_crowd


def panel(seed: int = 1, n: int = 300, **options: Any) -> Any:
    defaults: dict[str, Any] = {
        "prior": [0.6, 0.4],
        "operating_point": (0.85, 0.15),
        "fallibility": (0.2, 0.3, 0.4, 0.3),
    }
    return tr.simulate(n, 4, seed=seed, **{**defaults, **options})


def test_known_noise_equals_enumeration() -> None:
    """Eight items: the classifier's rows and the prior integrated analytically over every answer
    key, against 40,000 draws."""
    from scipy.special import betaln

    data = tr.simulate(
        8, 2, prior=0.5, confusion=[[0.8, 0.2], [0.3, 0.7]], operating_point=(0.8, 0.3), seed=3
    )
    evidence = data.noise.log_likelihood(data.labels)
    keys = np.array(list(itertools.product([0, 1], repeat=8)))
    score = evidence[np.arange(8), keys].sum(axis=1)
    right = (keys == data.predictions).sum(axis=1)
    ones = keys.sum(axis=1)
    score = score + betaln(1 + ones, 1 + 8 - ones)
    for y in (0, 1):
        hits = ((keys == y) & (data.predictions == 1)).sum(axis=1)
        total = (keys == y).sum(axis=1)
        score = score + betaln(1 + hits, 1 + total - hits)
    weight = np.exp(score - score.max())
    weight /= weight.sum()
    exact = np.bincount(right, weights=weight, minlength=9)
    samples = sample_known(
        evidence - evidence.max(axis=1, keepdims=True),
        data.predictions,
        np.ones(8, dtype=int),
        n_outcomes=2,
        row_prior=np.ones((2, 2)),
        prior=None,
        n_draws=40_000,
        seed=0,
    )
    drawn = np.bincount(np.trace(samples.counts, axis1=1, axis2=2).astype(int), minlength=9) / len(
        samples.counts
    )
    np.testing.assert_allclose(drawn, exact, atol=0.02)


def test_perfect_labelers_give_scikit_learn() -> None:
    data = tr.simulate(200, 3, prior=0.4, confusion=np.eye(2), seed=2)
    for options in ({"noise": 0.0}, {"gold": dict(zip(data.labels.items, data.truth))}):
        report = tr.grade(data.predictions, data.labels, **options)
        assert report["accuracy"].interval() == pytest.approx(
            (sk.accuracy_score(data.truth, data.predictions),) * 2
        )
        assert report["f1"].mean == pytest.approx(sk.f1_score(data.truth, data.predictions))


def test_same_seed_same_answer_and_order_does_not_matter() -> None:
    data = panel()
    first, again = (
        tr.grade(data.predictions, data.labels, panel_error=0, draws=800, seed=4) for _ in range(2)
    )
    assert first["accuracy"].interval() == again["accuracy"].interval()
    order = np.random.default_rng(0).permutation(300)
    other = tr.grade(data.predictions[order], data.labels[order], panel_error=0, draws=2000, seed=4)
    assert other["accuracy"].mean == pytest.approx(first["accuracy"].mean, abs=0.006)
    linked = [
        tr.grade(p, labels, draws=2000)
        for p, labels in (
            (data.predictions, data.labels),
            (data.predictions[order], data.labels[order]),
        )
    ]
    assert linked[0]["accuracy"].mean == pytest.approx(linked[1]["accuracy"].mean, abs=0.01)


def test_threads_do_not_change_the_answer() -> None:
    code = """
import truthing as tr
data = tr.simulate(300, 4, prior=[0.6, 0.4], operating_point=(0.8, 0.2), fallibility=0.3, seed=1)
for share in (0, None):
    print(tr.grade(data.predictions, data.labels, panel_error=share, draws=400)["accuracy"].mean)
"""
    found = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True,
            env={**os.environ, "NUMBA_NUM_THREADS": str(threads)},
        ).stdout
        for threads in (1, 2)
    }  # fmt: skip
    assert len(found) == 1


def test_permuting_classes_permutes_the_answer() -> None:
    data = panel(classes=("a", "b"))
    mirrored = tr.simulate(
        300,
        4,
        seed=1,
        prior=[0.6, 0.4],
        operating_point=(0.85, 0.15),
        fallibility=(0.2, 0.3, 0.4, 0.3),
        classes=("y", "x"),
    )
    renamed = tr.Labels.from_long(
        [mirrored.labels.items[i] for i in mirrored.labels.item],
        [mirrored.labels.labelers[t] for t in mirrored.labels.labeler],
        [mirrored.labels.classes[c] for c in mirrored.labels.label],
    )
    one = tr.grade(data.predictions, data.labels, panel_error=0, positive="b", draws=2000)
    two = tr.grade(
        dict(zip(mirrored.labels.items, mirrored.predictions)),
        renamed,
        panel_error=0,
        positive="x",
        draws=2000,
    )
    for name in ("accuracy", "recall", "precision"):
        assert one[name].mean == pytest.approx(two[name].mean, abs=0.01)


def test_partly_known_noise() -> None:
    data = panel(seed=5)
    truth = (data.predictions == data.truth).mean()
    options: list[Any] = [
        {"w1": 0.1, "w2": 0.15},
        tr.noise.Symmetric((0.05, 0.3)),
        (0.05, 0.3),
        tr.noise.Confusion({"w1": [[0.9, 0.1], [0.1, 0.9]]}),
        tr.noise.Confusion(np.array([[0.85, 0.15], [0.15, 0.85]]), weight=40),
        tr.noise.OneCoin(),
        tr.noise.DawidSkene(),
        tr.noise.Difficulty(),
    ]
    for noise in options:
        report = tr.grade(data.predictions, data.labels, noise=noise, panel_error=0, draws=1000)
        low, high = report["accuracy"].interval(0.999)
        assert low <= truth <= high
        assert report.noise.confusion.shape == (4, 2, 2)
    fixed = tr.grade(data.predictions, data.labels, noise={"w1": 0.1}, draws=1000).noise.confusion
    np.testing.assert_allclose(fixed[0], [[0.9, 0.1], [0.1, 0.9]])
    one = tr.grade(data.predictions, data.labels.select(["w1"]), noise=(0.05, 0.15), draws=1000)
    assert one["accuracy"].std > 0


def test_not_identified_names_the_remedies() -> None:
    data = panel()
    with pytest.raises(tr.NotIdentified, match=r"noise=0\.05.*gold.*second labeler"):
        tr.grade(data.predictions, data.labels.select(["w1"]))
    disjoint = tr.Labels.from_long(range(20), ["a", "b"] * 10, [0, 1] * 10)
    with pytest.raises(tr.NotIdentified, match="no item has labels from two"):
        tr.grade([0, 1] * 10, disjoint)
    tr.grade(data.predictions, data.labels.select(["w1"]), gold=data.gold(60), draws=500)


def test_panel_error_widens_and_zero_switches_off() -> None:
    data = panel(n=500)
    width = {}
    for share in (0, 0.01, 0.05, (2, 60), None):
        low, high = tr.grade(data.predictions, data.labels, panel_error=share, draws=2000)[
            "accuracy"
        ].interval()
        width[share] = high - low
    assert width[0] < width[0.01] < width[0.05]
    assert width[0] < width[(2, 60)]
    assert width[0] < width[None]
    with pytest.raises(tr.InputError, match="outside"):
        tr.grade(data.predictions, data.labels, panel_error=0.9)


def test_stated_panel_error_means_what_it_says() -> None:
    """The prior mean of |accuracy - model's accuracy| is the panel error (within a quarter)."""
    data = panel(n=2000)
    model = tr.grade(data.predictions, data.labels, panel_error=0, draws=1000)["accuracy"].mean
    for share in (0.01, 0.03):
        draws = tr.grade(data.predictions, data.labels, panel_error=share, draws=4000)[
            "accuracy"
        ].draws
        assert np.abs(draws - model).mean() == pytest.approx(share, rel=0.35, abs=0.004)


@pytest.mark.parametrize("error", [0.005, 0.03, 0.25])
def test_a_stated_panel_error_holds_where_labelers_agree_too(error: float) -> None:
    """The wider the logit's normal, the less its width says of a share near 1."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 400)
    labels = tr.Labels.from_matrix(
        np.stack([truth ^ (rng.random(400) < error) for _ in range(4)], axis=1)
    )
    for stated, expected in ((0.05, 0.05), (0.1, 0.1), ((4, 36), 0.1)):
        draws = tr.grade(truth, labels, panel_error=stated, draws=4000)["accuracy"].draws
        away = np.abs(draws - np.median(draws)).mean()
        assert away == pytest.approx(expected, rel=0.1)


def test_gold_narrows_the_default_interval_and_is_kept_exactly() -> None:
    data = panel(n=600)
    widths = []
    for n in (0, 50, 200):
        report = tr.grade(
            data.predictions, data.labels, gold=data.gold(n) if n else None, draws=2000
        )
        low, high = report["accuracy"].interval()
        widths.append(high - low)
        assert low <= (data.predictions == data.truth).mean() <= high
    assert widths[0] > widths[1] > widths[2]
    everything = tr.grade(data.predictions, data.labels, gold=data.gold(600), draws=500)
    assert everything["accuracy"].interval() == pytest.approx(
        ((data.predictions == data.truth).mean(),) * 2
    )


def test_gold_by_disagreement_is_noticed_and_weights_are_accepted() -> None:
    data = panel(n=600)
    votes = data.labels.counts()
    disputed = np.argsort(-votes.min(axis=1), kind="stable")[:80]
    gold = {int(i): data.truth[i] for i in disputed}
    report = tr.grade(data.predictions, data.labels, gold=gold, draws=1000)
    assert any("not a random choice" in w for w in report.warnings)
    assert "not a random choice" in report.verdict()
    assert not any(
        "not a random choice" in w
        for w in tr.grade(data.predictions, data.labels, gold=data.gold(80), draws=1000).warnings
    )
    weighted = tr.grade(
        data.predictions,
        data.labels,
        gold=data.gold(80),
        gold_weights=dict.fromkeys(data.labels.items, 0.2),
        draws=1000,
    )
    plain = tr.grade(data.predictions, data.labels, gold=data.gold(80), draws=1000)
    assert weighted["accuracy"].mean == pytest.approx(plain["accuracy"].mean, abs=1e-9)
    with pytest.raises(tr.InputError, match="gold_weights gives no chance"):
        tr.grade(data.predictions, data.labels, gold=data.gold(5), gold_weights={}, draws=500)


def test_copies_are_named() -> None:
    data = panel(n=400)
    grid = data.labels.matrix()
    copied = tr.Labels.from_matrix(
        np.column_stack([grid, grid[:, 2]]), labelers=["a", "b", "r3", "d", "r7"]
    )
    report = tr.grade(data.predictions, copied, draws=500)
    assert any("'r3' and 'r7' agree on 100%" in w for w in report.warnings)
    trained = tr.grade(
        grid[:, 1], tr.Labels.from_matrix(grid, labelers=["a", "b", "c", "d"]), draws=500
    )
    assert any("'b' says exactly what the classifier says" in w for w in trained.warnings)
    assert not any(
        "independence" in w for w in tr.grade(data.predictions, data.labels, draws=500).warnings
    )
    assert any("did not learn from these very labels" in a for a in report.assumptions)


def test_gibbs_and_bootstrap_agree_where_both_apply() -> None:
    data = tr.simulate(
        3000,
        6,
        prior=[0.6, 0.4],
        operating_point=(0.85, 0.15),
        fallibility=(0.2, 0.3, 0.4, 0.3, 0.25, 0.35),
        seed=2,
    )
    entries, nobody = Entries.of(data.labels), np.full(3000, -1)
    gibbs = sample_crowd(
        entries,
        data.predictions,
        2,
        nobody,
        RowModel.learned(6, 2),
        prior=None,
        row_weight=1.0,
        n_draws=2000,
        burn=300,
        seed=0,
    )
    fit = fit_dawid_skene(entries.with_classifier(data.predictions))
    boot = bootstrap_crowd(entries, data.predictions, nobody, fit, n_draws=2000, seed=0)
    accuracy = [np.trace(s.counts, axis1=1, axis2=2) / 3000 for s in (gibbs, boot)]
    assert accuracy[0].mean() == pytest.approx(accuracy[1].mean(), abs=0.003)
    widths = [np.subtract(*credible_interval(a)[::-1]) for a in accuracy]
    assert widths[1] == pytest.approx(widths[0], rel=0.25)
    np.testing.assert_allclose(gibbs.row_mean, boot.row_mean, atol=0.02)


def test_population_is_wider_than_sample() -> None:
    data = panel(n=400)
    for options in ({"noise": data.noise, "panel_error": 0}, {"panel_error": 0}, {}):
        here, new = (
            tr.grade(data.predictions, data.labels, target=t, draws=2000, **options)["accuracy"].std
            for t in ("sample", "population")
        )
        assert new > here
    with pytest.raises(tr.InputError, match="these items only"):
        tr.grade(data.predictions, data.labels, noise=0.1, method="exact", target="population")


def test_scores_thresholds_and_curves() -> None:
    data = panel(n=500)
    auc = sk.roc_auc_score(data.truth, data.scores)
    for options in ({"noise": data.noise}, {"panel_error": 0}, {}):
        report = tr.grade(data.as_predictions(), data.labels, draws=1000, **options)
        low, high = report["auc"].interval(0.999)
        assert low <= auc <= high
        curve = report.roc()
        assert (np.diff(curve.x) >= -1e-9).all()
        lower, upper = curve.band(0.9)
        assert (lower <= curve.y + 0.01).all()
        assert (upper >= curve.y - 0.01).all()
    best = report.best_threshold("f1")
    assert data.scores.min() <= best.chosen <= data.scores.max()
    cut = tr.grade(None, data.labels, scores=data.scores, threshold=0.5, panel_error=0, draws=500)
    assert cut["accuracy"].mean == pytest.approx(
        tr.grade(data.predictions, data.labels, panel_error=0, draws=500)["accuracy"].mean, abs=0.01
    )
    with pytest.raises(tr.InputError, match="threshold"):
        tr.grade(None, data.labels, scores=data.scores)


def test_many_classes_and_anonymous_votes() -> None:
    data = tr.simulate(300, 5, prior=[0.2, 0.3, 0.1, 0.4], fallibility=0.3, seed=9)
    report = tr.grade(data.predictions, data.labels, draws=1000)
    assert report.confusion.mean.sum() == pytest.approx(300)
    assert report["macro_f1"].std > 0
    votes = tr.Labels.from_counts(data.labels.counts())
    anonymous = tr.grade(data.predictions, votes, draws=1000)
    low, high = anonymous["accuracy"].interval(0.999)
    assert low <= (data.truth == data.predictions).mean() <= high


def test_hundreds_of_classes_fit_in_memory() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 300, 400)
    grid = np.where(rng.random((400, 4)) < 0.8, truth[:, None], rng.integers(0, 300, (400, 4)))
    predicted = np.where(rng.random(400) < 0.7, truth, rng.integers(0, 300, 400))
    report = tr.grade(predicted, tr.Labels.from_matrix(grid, classes=range(300)))
    low, high = report["accuracy"].interval(0.99)
    assert low <= (predicted == truth).mean() <= high
    assert any("300 classes leave room for 1000 draws" in w for w in report.warnings)


def test_prevalence() -> None:
    data = panel(n=500, classes=("fail", "pass"))
    truth = (data.truth == "pass").mean()
    for options in ({}, {"gold": data.gold(60)}, {"panel_error": 0}, {"noise": data.noise}):
        low, high = tr.prevalence(data.labels, **options)["pass"].interval(0.999)
        assert low <= truth <= high
    with pytest.raises(tr.InputError, match="no class is called"):
        tr.prevalence(data.labels)["passed"]


def test_sensitivity_and_json() -> None:
    import json

    data = panel(n=200)
    report = tr.grade(data.predictions, data.labels, draws=500)
    sensitivity = report.sensitivity()
    widths = [
        r.high - r.low
        for r in sensitivity.rows
        if r.assumption.startswith("panel wrong together on")
    ]
    assert widths[0] < widths[-1]
    assert sensitivity.bounds[0] < sensitivity.bounds[1]
    found = json.loads(report.to_json())
    keys = (
        "metrics",
        "confusion",
        "items",
        "labelers",
        "labels",
        "gold",
        "dropped",
        "method",
        "target",
        "noise",
        "assumptions",
        "warnings",
        "seed",
        "version",
    )
    assert set(keys) <= set(found)
    assert set(found["metrics"]["accuracy"]) >= {"mean", "mode", "low", "high", "level"}


def test_em_climbs_to_the_same_place_as_plain_em() -> None:
    """Plain EM (its likelihood never falls) and the accelerated one end at the same point; the
    latter in fewer passes."""
    data = panel(n=400)
    model = RowsModel(data.labels.n_labelers, data.labels.n_classes)
    options = {"tolerance": 1e-11, "most": 5000}
    plain = fit_em(data.labels, model, accelerated=False, **options)
    fit = fit_em(data.labels, model, **options)
    assert (np.diff(plain.path) >= -1e-9).all()
    assert plain.path[-1] > plain.path[0] + 1
    assert fit.passes < 0.75 * plain.passes
    assert fit.log_likelihood == pytest.approx(plain.log_likelihood, abs=1e-4)
    np.testing.assert_allclose(fit.confusion, plain.confusion, atol=1e-3)
    np.testing.assert_allclose(fit.posterior, plain.posterior, atol=2e-3)
    quick = tr.noise.DawidSkene().fit(data.labels)
    assert quick.log_likelihood == pytest.approx(plain.log_likelihood, abs=0.01)
    np.testing.assert_allclose(fit.posterior.sum(axis=1), 1)
    by_hand = np.log(
        (np.exp(tr.noise.Confusion(fit.confusion).log_likelihood(data.labels)) * fit.prior).sum(
            axis=1
        )
    ).sum()
    assert fit.log_likelihood == pytest.approx(by_hand, rel=1e-6)


@pytest.mark.parametrize("prior", [None, np.array([0.3, 0.7])])
def test_sampler_matches_enumeration(prior: np.ndarray | None) -> None:
    """Rows, classifier and prior summed out by hand: every answer key of six items has its exact
    chance; labels may come as votes."""
    votes = np.array([[2, 0], [1, 1], [0, 3], [1, 2], [0, 1], [2, 1]])
    item, label = np.nonzero(votes)
    crowd = Entries(
        item, np.zeros(len(item), dtype=int), label, votes[item, label].astype(float), 6, 1, 2
    )
    more = np.array([0, 0, 1, 1, 1, 0])  # a second labeler
    entries = crowd.with_classifier(more)
    order = np.lexsort((entries.rater, entries.item))
    entries = replace(
        entries,
        **{name: getattr(entries, name)[order] for name in ("item", "rater", "label", "votes")},
    )
    predicted, weights = (
        np.array([0, 1, 1, 0, 1, 1]),
        np.array([[[4.0, 1.0], [1.0, 3.0]], [[3.0, 1.0], [2.0, 4.0]]]),
    )
    rows = RowModel(np.full(2, OWN), weights, pool_base(2))
    samples = sample_crowd(
        entries,
        predicted,
        2,
        np.full(6, -1),
        rows,
        prior=prior,
        row_weight=1.0,
        n_draws=40_000,
        burn=50,
        seed=0,
    )

    def urn(counts: np.ndarray, alpha: np.ndarray) -> float:
        return float(
            np.sum(gammaln(alpha + counts) - gammaln(alpha))
            + gammaln(alpha.sum())
            - gammaln((alpha + counts).sum())
        )

    truth, total = np.zeros((6, 2)), 0.0
    for key in itertools.product(range(2), repeat=6):
        y = np.array(key)
        score = (
            urn(np.bincount(y, minlength=2), np.ones(2))
            if prior is None
            else np.log(prior[y]).sum()
        )
        for c in range(2):
            score += urn(votes[y == c].sum(axis=0), weights[0, c])
            score += urn(np.bincount(more[y == c], minlength=2), weights[1, c])
            score += urn(np.bincount(predicted[y == c], minlength=2), np.ones(2))
        truth[np.arange(6), y] += np.exp(score)
        total += np.exp(score)
    np.testing.assert_allclose(samples.truth, truth / total, atol=0.01)


def test_strata_settle_and_keep_their_classes() -> None:
    """Hard items whose labelers are little better than chance: chains agree on the metric, and no
    hard stratum is called by the other class."""
    rng = np.random.default_rng(1)
    truth, hard = rng.integers(0, 2, 400), (rng.random(400) < 0.35).astype(int)
    wrong = np.stack([rng.uniform(0.02, 0.15, (2, 8)), rng.uniform(0.2, 0.5, (2, 8))])[hard, truth]
    labels = tr.Labels.from_matrix(
        np.where(rng.random((400, 8)) < wrong, 1 - truth[:, None], truth[:, None])
    )
    predicted = np.where(rng.random(400) < np.array([0.1, 0.35])[hard], 1 - truth, truth)
    report = tr.grade(predicted, labels, noise=tr.noise.Strata(2), panel_error=0, draws=2000)
    assert report.diagnostics["rhat"] < 1.05
    low, high = report["accuracy"].interval(0.999)
    assert low <= (predicted == truth).mean() <= high
    assert (report.truth.argmax(axis=1) == truth).mean() > 0.9


def test_a_model_that_large_data_replace_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    data = panel()
    monkeypatch.setattr(learned, "LARGE", 1000)
    report = tr.grade(data.predictions, data.labels, noise=tr.noise.OneCoin(), draws=500)
    assert "Dawid-Skene" in report.noise.model
    assert any("one error rate for each labeler was not used" in w for w in report.warnings)
    assert not any(
        "was not used" in w for w in tr.grade(data.predictions, data.labels, draws=500).warnings
    )


@pytest.mark.parametrize("seed", range(4))
def test_groups_that_share_no_item_are_counted(seed: int) -> None:
    """Against the connected components of scipy."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    from truthing.truth.checks import _pieces

    rng = np.random.default_rng(seed)
    items, labelers = np.unique(rng.integers(0, 40, (2, 60)), axis=1)
    labels = tr.Labels.from_long(items, labelers, items % 2)
    n = labels.n_items + labels.n_labelers
    edges = coo_array((np.ones(labels.n_labels), (labels.item, labels.labeler + labels.n_items)))
    edges.resize((n, n))
    _, component = connected_components(edges, directed=False)
    assert _pieces(labels) == len(np.unique(component[labels.n_items :])) > 1
