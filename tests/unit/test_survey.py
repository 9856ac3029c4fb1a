"""How the test set was drawn: each argument against a computation by hand, and in words."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import metrics
from typer.testing import CliRunner

import truthing as tr
from truthing.cli.main import app
from truthing.survey.clusters import Alike, gold_worth, intraclass, sharing, suspected
from truthing.survey.deployment import as_deployment, at_shares
from truthing.survey.design import read_survey
from truthing.survey.gold_choice import gold_choice, oddity, seen_strata
from truthing.truth.gold_alone import GoldAlone


def data(n: int = 240, seed: int = 1) -> Any:
    return tr.simulate(
        n, 4, prior=[0.6, 0.4], operating_point=(0.85, 0.15), fallibility=0.3, seed=seed
    )


# ---- clusters


def test_correlation_within_clusters_is_found() -> None:
    rng = np.random.default_rng(0)
    cluster = np.repeat(np.arange(3000), 5)
    level = rng.beta(2, 2, 3000)  # correlation of a beta-binomial: 1 / (a + b + 1)
    found, pairs = intraclass((rng.random(15000) < level[cluster]).astype(float), cluster)
    assert found == pytest.approx(0.2, abs=0.03)
    assert pairs == 3000 * 10


def test_gold_counts_less_only_where_clusters_were_chosen() -> None:
    cluster = np.repeat(np.arange(50), 10)
    found = Alike(0.3, sharing(cluster), 50)
    whole, single = np.full(500, -1), np.full(500, -1)
    whole[:50] = 1
    single[::10] = 1
    few = 1 + 2 / (5 - 3)  # five gold clusters
    counted = gold_worth(cluster, whole, found, "population")
    assert counted == pytest.approx(1 / (1 + 9 * 0.3 * few))
    assert counted < gold_worth(cluster, whole, found, "sample") < 1
    assert gold_worth(cluster, single, found, "sample") == 1.0


def test_clusters_widen_the_answer_for_new_data() -> None:
    drawn = data()
    cluster = np.repeat(np.arange(24), 10)
    gold = drawn.gold(60)
    plain, wide = (
        tr.grade(
            drawn.predictions, drawn.labels, gold=gold, target="population", draws=1000, cluster=c
        )
        for c in (None, cluster)
    )
    assert wide["accuracy"].std > plain["accuracy"].std
    assert any("24 clusters" in words for words in wide.assumptions)
    assert wide.diagnostics["clusters"]["clusters"] == 24


def test_forgotten_clusters_are_suspected() -> None:
    assert "q1:d4" in str(suspected([f"q{i // 4}:d{i}" for i in range(4, 60)], ()))
    assert suspected([f"item_{i}" for i in range(60)], ()) is None
    assert suspected(list(range(60)), ()) is None


# ---- weights, strata, slices


def test_gold_alone_with_weights_is_the_weighted_share() -> None:
    rng = np.random.default_rng(3)
    gold, weight = rng.integers(0, 2, 400), rng.choice([1.0, 5.0], 400)
    ones = np.ones(400, dtype=np.int64)
    alone = GoldAlone(
        (0, 1),
        1,
        ones,
        gold,
        "sample",
        4000,
        np.random.SeedSequence(1),
        None,
        weight / weight.mean(),
    )
    assert alone["accuracy"].mean == pytest.approx(np.average(gold, weights=weight), abs=1e-9)


def test_equal_weights_change_nothing_but_noise() -> None:
    drawn = data()
    gold = drawn.gold(60)
    plain = tr.grade(drawn.predictions, drawn.labels, gold=gold)
    equal = tr.grade(drawn.predictions, drawn.labels, gold=gold, weights=np.full(240, 7.0))
    for name in ("accuracy", "recall", "precision"):
        assert equal[name].mean == pytest.approx(plain[name].mean, abs=0.01)
        assert equal[name].std == pytest.approx(plain[name].std, rel=0.15)


def test_slices_add_up_to_the_whole() -> None:
    drawn = data()
    part = ["a" if i % 3 else "b" for i in range(240)]
    report = tr.grade(drawn.predictions, drawn.labels, gold=drawn.gold(60), by=part)
    found = {each.name: each for each in report.by_slice()}
    whole = sum(e.items * e.estimate.mean for e in found.values()) / 240
    assert whole == pytest.approx(report["accuracy"].mean, abs=0.015)
    assert sum(e.probability_worst for e in found.values()) == pytest.approx(1)
    assert report.worst_slice().name in found
    assert report.to_dict()["slices"][0]["slice"] == "a"


def test_order_of_items_does_not_matter() -> None:
    drawn = data()
    shuffled = np.random.default_rng(0).permutation(240)
    part = np.array([f"s{i % 4}" for i in range(240)])
    matrix = drawn.labels.matrix()
    items = np.array([f"i{i:03}" for i in range(240)])
    results = []
    for order in (np.arange(240), shuffled):
        labels = tr.Labels.from_matrix(matrix[order], items=list(items[order]))
        report = tr.grade(
            drawn.predictions[order],
            labels,
            by=list(part[order]),
            cluster=list(part[order]),
            draws=500,
        )
        results.append([each.estimate.mean for each in report.by_slice()])
    assert results[0] == results[1]


# ---- gold that was chosen


def test_seen_choice_is_begg_and_greenes() -> None:
    """Gold alone, weighted back within strata of prediction and labels, against the closed form."""
    drawn = data(2000, seed=5)
    rng = np.random.default_rng(2)
    chance = np.where(drawn.predictions == 1, 0.5, 0.1)
    chosen = np.flatnonzero(rng.random(2000) < chance)
    gold = np.full(2000, -1)
    gold[chosen] = drawn.truth[chosen]
    found = gold_choice(None, drawn.labels, drawn.predictions, gold)
    assert found.kind == "seen"
    assert found.weights is not None
    assert found.probability < 1e-6
    right = drawn.predictions[chosen] == drawn.truth[chosen]
    strata = seen_strata(drawn.labels.counts(), drawn.predictions)
    by_hand = (
        sum(
            (strata == s).mean() * right[strata[chosen] == s].mean()
            for s in np.unique(strata)
            if (strata[chosen] == s).any()
        )
        / np.isin(strata, strata[chosen]).mean()
    )
    assert found.weights @ right / found.weights.sum() == pytest.approx(by_hand, abs=1e-9)


def random_oddities(seed: int, n_strata: int, n_items: int, n_gold: int, times: int) -> np.ndarray:
    """Of so many random choices of gold."""
    rng = np.random.default_rng(seed)
    strata = rng.integers(0, n_strata, n_items)
    size = np.bincount(strata).astype(float)
    chosen = (strata[rng.permutation(n_items) < n_gold] for _ in range(times))
    held = (np.bincount(some, minlength=n_strata).astype(float) for some in chosen)
    return np.array([oddity(size, some) for some in held])


def test_random_gold_looks_random() -> None:
    odd = random_oddities(0, 6, 500, 60, 400)
    assert np.mean(odd < 0.05) < 0.09
    assert np.mean(odd < 0.5) == pytest.approx(0.5, abs=0.08)


def test_unseen_choice_gives_bounds_and_no_gold() -> None:
    drawn = data()
    report = tr.grade(drawn.predictions, drawn.labels, gold=drawn.gold(60), gold_choice="unseen")
    right = sum(drawn.predictions[i] == t for i, t in drawn.gold(60).items())
    assert f"between {right / 240:.1%} and {(right + 180) / 240:.1%}" in report.warnings[0]
    assert "rests on labels alone" in report.verdict()
    assert report.sizes["gold"] == 0
    with pytest.raises(
        tr.InputError, match=r"gold_choice 'sene' is not known. Did you mean 'seen'"
    ):
        tr.grade(drawn.predictions, drawn.labels, gold=drawn.gold(9), gold_choice="sene")


# ---- another prevalence


def test_deployment_scales_rows() -> None:
    table = np.array([[[80.0, 20.0], [5.0, 95.0]]])
    there = at_shares(table, np.array([[0.9, 0.1]]))[0]
    np.testing.assert_allclose(there.sum(axis=1), [180, 20])
    np.testing.assert_allclose(there[0] / there[0].sum(), [0.8, 0.2])
    assert np.isnan(at_shares(np.array([[[8.0, 2], [0, 0]]]), np.array([[0.5, 0.5]]))[0, 1]).all()


@pytest.mark.parametrize(
    ("given", "shares"),
    [
        (0.05, [0.95, 0.05]),
        ({"spam": 0.05}, [0.95, 0.05]),
        ({"ham": 0.9, "spam": 0.1}, [0.9, 0.1]),
        ([0.9, 0.1], [0.9, 0.1]),
        ((0.02, 0.08), [0.95, 0.05]),
    ],
)
def test_deployment_in_every_form(given: Any, shares: list[float]) -> None:
    found = as_deployment(given, ("ham", "spam"), 1)
    assert found is not None
    mean = found.draw(4000, np.random.default_rng(0)).mean(axis=0)
    np.testing.assert_allclose(mean, shares, atol=0.002)


def test_a_range_is_named_as_a_range() -> None:
    found = as_deployment((0.05, 0.1), ("fail", "pass"), 1)
    assert found is not None
    assert found.words(("fail", "pass")) == "fail 90% to 95%, pass 5% to 10%"


def test_ranges_of_three_classes_add_up_in_every_draw() -> None:
    found = as_deployment([(0.1, 0.5), (0.2, 0.6), (0.1, 0.3)], ("a", "b", "c"), None)
    assert found is not None
    np.testing.assert_allclose(found.draw(200, np.random.default_rng(0)).sum(axis=1), 1)


def test_own_prevalence_as_deployment_changes_little() -> None:
    drawn = data()
    rate = tr.prevalence(drawn.labels, gold=drawn.gold(100))
    there = tr.grade(drawn.predictions, drawn.labels, gold=drawn.gold(100), deployment=rate)
    here = tr.grade(drawn.predictions, drawn.labels, gold=drawn.gold(100))
    assert there["accuracy"].mean == pytest.approx(here["accuracy"].mean, abs=0.02)
    assert there["recall"].mean == pytest.approx(here["recall"].mean, abs=0.02)
    assert "deployment" in there.verdict()


@pytest.mark.parametrize("wrong", [1.5, {"ham": 0.9}, [0.2, 0.2], {"egg": 1.0}, (0.5, 0.2)])
def test_wrong_deployment_is_refused(wrong: Any) -> None:
    classes = ("egg", "ham", "spam") if wrong == {"ham": 0.9} else ("ham", "spam")
    with pytest.raises(tr.InputError, match="deployment"):
        as_deployment(wrong, classes, None)


def test_compare_and_grade_agree_at_deployment_and_with_weights() -> None:
    drawn = data(300)
    other = np.where(np.arange(300) % 4 == 0, 1 - drawn.truth, drawn.truth)
    weight = np.where(np.arange(300) % 2, 1.0, 4.0)
    for said in ({"deployment": 0.1}, {"weights": weight}):
        alone = tr.grade(drawn.predictions, drawn.labels, gold=drawn.gold(80), **said)
        both = tr.compare(
            {"a": drawn.predictions, "b": other}, drawn.labels, gold=drawn.gold(80), **said
        )
        assert both.estimate("a").mean == pytest.approx(alone["accuracy"].mean, abs=0.02)


# ---- words, files, refusals


def test_clusters_where_the_noise_model_is_trusted() -> None:
    """New clusters are wider than new items; single items are clusters as without."""
    drawn = data()
    rng = np.random.default_rng(0)
    part = np.repeat(np.arange(24), 10)
    hard = (rng.random(24) < 0.5)[part]  # half of the clusters are all wrong
    predicted = np.where(hard, 1 - drawn.truth, drawn.truth)

    def ask(**said: Any) -> Any:
        about: Any = {"noise": 0.1, "panel_error": 0, "draws": 1500, **said}
        return tr.grade(predicted, drawn.labels, **about)["accuracy"]

    plain, new = ask(), ask(target="population")
    singles = ask(target="population", cluster=np.arange(240))
    clusters = ask(target="population", cluster=part)
    assert ask(cluster=part).interval() == plain.interval()
    assert singles.interval() == pytest.approx(new.interval(), abs=0.02)
    assert clusters.std == pytest.approx(0.5 / np.sqrt(24), rel=0.25)
    assert clusters.std > 2 * new.std
    both = {"a": predicted, "b": drawn.truth}
    with pytest.raises(tr.InputError, match="for new data with panel_error=0"):
        tr.compare(both, drawn.labels, cluster=part, target="population", panel_error=0)


def test_bad_arguments_are_refused_in_words() -> None:
    drawn = data()
    ask = lambda **said: tr.grade(drawn.predictions, drawn.labels, draws=200, **said)  # noqa: E731
    with pytest.raises(tr.InputError, match="3 values for 240 items"):
        ask(cluster=[1, 2, 3])
    with pytest.raises(tr.InputError, match="names a column, but"):
        ask(cluster="patient")
    with pytest.raises(tr.InputError, match="the weight -1"):
        ask(weights=[-1.0] * 240)
    with pytest.raises(tr.InputError, match="all 0"):
        ask(weights=[0.0] * 240)
    with pytest.raises(tr.InputError, match="cannot be answered with `panel_error=0` or"):
        ask(weights=[1.0, 2.0] * 120, panel_error=0)
    with pytest.raises(tr.InputError, match="by method 'exact'"):
        ask(by=["a"] * 240, method="exact", noise=0.1)
    with pytest.raises(tr.InputError, match="240 slices; at most 200"):
        read_survey(list(range(240)), [range(240)], by=list(range(240)))


@pytest.mark.parametrize("name", ["weights", "stratum", "by", "cluster"])
def test_sensitivity_however_the_items_were_drawn(name: str) -> None:
    drawn = data()
    about: dict[str, Any] = {name: np.arange(240) % 3 + 1, "target": "population"}
    scores = drawn.predictions + np.linspace(0, 0.5, 240)
    found = tr.grade(drawn.predictions, drawn.labels, scores=scores, draws=200, **about)
    values = [row.value for row in found.sensitivity().rows]
    assert (0.0 in values[:1]) == (name == "cluster")  # only clusters can be trusted
    assert 0.05 in values
    told = {row.assumption for row in found.sensitivity().rows}
    assert not any("dependence" in words or "repeats" in words for words in told)  # of these items


def test_labels_without_error_are_trusted_in_clusters() -> None:
    drawn = data()
    exact = tr.Labels.from_matrix(drawn.truth[:, None])
    about: dict[str, Any] = {"cluster": np.arange(240) // 8, "target": "population"}
    one = tr.grade(drawn.predictions, exact, noise=0, draws=500, **about)
    two = tr.grade(drawn.predictions, exact, noise=0, panel_error=0, draws=500, **about)
    assert one["accuracy"].interval(0.95) == two["accuracy"].interval(0.95)
    assert any("cluster" in words for words in one.assumptions)


def write(path: Path, rows: list[tuple[Any, ...]]) -> str:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return str(path)


def test_two_systems_from_one_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows: list[tuple[Any, ...]] = [("item", "system", "judge", "label")]
    for q in range(60):
        for system, rate in (("base", 0.4), ("new", 0.8)):
            passed = rng.random() < rate
            for judge in ("ann", "bob", "eva"):
                said = passed if rng.random() < 0.9 else not passed
                rows.append((f"q{q}", system, judge, "pass" if said else "fail"))
    path = write(tmp_path / "verdicts.csv", rows)
    result = tr.prevalence(path, by="system", panel="models")
    assert result.sizes["items"] == 120
    assert result.difference("pass", "new", "base").probability_positive > 0.9
    assert any("60 clusters" in words for words in result.assumptions)
    shown = CliRunner().invoke(app, ["rate", path, "--by", "system"])
    assert shown.exit_code == 0, shown.output
    assert "base - new" in shown.output


def test_judges_who_are_kinder_to_one_system_are_named() -> None:
    rng = np.random.default_rng(4)
    truth, system = rng.integers(0, 2, 400), np.array(["old", "new"] * 200)
    kind = np.where(system == "new", 0.45, 0.05)  # of failing answers that judges pass
    votes = [np.where((truth == 0) & (rng.random(400) < kind), 1, truth) for _ in range(3)]
    labels = tr.Labels.from_matrix(np.stack(votes, axis=1))
    gold = {int(i): int(truth[i]) for i in rng.choice(400, 150, replace=False)}
    told = tr.prevalence(labels, gold=gold, by=list(system), panel="models", draws=500).warnings
    assert any("kinder to 'new' than to 'old'" in words for words in told)
    fair = tr.prevalence(labels, gold=gold, by=["a", "b", "b", "a"] * 100, draws=500).warnings
    assert not any("kinder" in words for words in fair)


def test_forgotten_weights_are_asked_about(tmp_path: Path) -> None:
    rows = [("item", "ann", "bob", "prediction", "sampling_weight")]
    rows += [(f"x{i}", i % 2, i % 2, i % 2, 1 + i % 3) for i in range(40)]  # type: ignore[misc]
    path = write(tmp_path / "all.csv", rows)  # type: ignore[arg-type]
    shown = CliRunner().invoke(app, ["grade", path])
    assert "--weights sampling_weight" in shown.output


def test_options_of_the_command_line(tmp_path: Path) -> None:
    drawn = data(120)
    heads = ("item", "ann", "bob", "eva", "joe", "prediction", "gold", "patient", "chance", "w")
    rows = [heads]
    for i, votes in enumerate(drawn.labels.matrix()):
        gold = drawn.truth[i] if i % 3 == 0 else ""
        rows.append((f"x{i}", *votes, drawn.predictions[i], gold, f"p{i // 6}", 0.5, 1 + i % 2))
    path = write(tmp_path / "all.csv", rows)  # type: ignore[arg-type]
    more = ["--cluster", "patient", "--weights", "w", "--by", "patient", "--deployment", "0.1"]
    shown = CliRunner().invoke(app, ["grade", path, *more, "--gold-chances", "chance"])
    assert shown.exit_code == 0, shown.output
    assert "20 clusters" in shown.output
    assert "P(lowest)" in shown.output
    wrong = CliRunner().invoke(app, ["grade", path, "--cluster", "person"])
    assert wrong.exit_code == 1


# ---- curves at the class shares of deployment


def test_average_precision_follows_the_shares_of_deployment() -> None:
    """With labels that are the truth, scikit-learn with weighted items is an oracle."""
    drawn = tr.simulate(400, 1, prior=0.4, operating_point=(0.8, 0.2), fallibility=0.3, seed=3)
    exact = tr.Labels.from_matrix(drawn.truth[:, None])
    about: dict[str, Any] = {"noise": 0, "deployment": 0.05, "draws": 200, "positive": 1}
    weight = np.where(drawn.truth == 1, 0.05 / drawn.truth.mean(), 0.95 / (1 - drawn.truth.mean()))
    oracle = {
        "average_precision": metrics.average_precision_score(
            drawn.truth, drawn.scores, sample_weight=weight
        ),
        "auc": metrics.roc_auc_score(drawn.truth, drawn.scores),
    }
    report = tr.grade(drawn.predictions, exact, scores=drawn.scores, **about)
    scored = {name: drawn.as_predictions() for name in ("a", "b")}
    both = tr.compare(scored, exact, **{**about, "noise": 0})
    for name, value in oracle.items():
        assert report[name].mean == pytest.approx(value)
        assert both.estimate("a", name).mean == pytest.approx(value)
    precision, recall, at = metrics.precision_recall_curve(
        drawn.truth, drawn.scores, sample_weight=weight
    )
    f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-12)
    best = report.best_threshold("f1")
    assert best.metric.mean == pytest.approx(f1.max())
    assert best.chosen == pytest.approx(at[f1[:-1].argmax()])


def scored_data() -> tuple[Any, dict[str, Any]]:
    drawn = data()
    scores = drawn.predictions + np.linspace(0, 0.5, 240)
    return drawn, {"scores": scores, "draws": 200, "positive": 1}


def test_slices_beside_scores_have_a_json_form() -> None:
    drawn, about = scored_data()
    report = tr.grade(drawn.predictions, drawn.labels, by=np.arange(240) % 2, **about)
    assert {row["metric"] for row in report.to_dict()["slices"]} >= {"accuracy", "recall"}
    with pytest.raises(tr.InputError, match="auc is not computed for slices"):
        report.by_slice("auc")


def test_average_precision_where_the_first_items_count_nothing() -> None:
    drawn, about = scored_data()
    weight = np.ones(240)
    weight[np.argsort(-about["scores"])[:5]] = 0
    gold = dict(enumerate(drawn.truth.tolist()))
    found = tr.grade(drawn.predictions, drawn.labels, gold=gold, weights=weight, **about)
    oracle = metrics.average_precision_score(drawn.truth, about["scores"], sample_weight=weight)
    assert found["average_precision"].mean == pytest.approx(oracle)


def test_a_requirement_on_an_undefined_metric_is_undecided() -> None:
    drawn, about = scored_data()
    report = tr.grade(drawn.predictions, drawn.labels, deployment=1.0, **about)
    assert report.require("specificity >= 0.1").outcome == "undecided"


def test_compare_at_face_value_follows_deployment() -> None:
    drawn, _ = scored_data()
    about: dict[str, Any] = {"deployment": 0.05, "draws": 100, "positive": 1}
    one = tr.grade(drawn.predictions, drawn.labels, **about).face_value
    both = tr.compare(
        {"a": drawn.predictions, "b": drawn.predictions[::-1].copy()}, drawn.labels, **about
    )
    right, given = (float(part[1]) for part in (one.right, one.predicted))
    assert both.at_face_value("a", "precision") == pytest.approx(right / given)


def test_gold_chosen_by_its_class_is_noticed_on_small_data() -> None:
    drawn = data(120, seed=3)
    spam = np.flatnonzero(drawn.truth == 1)[:20]
    gold = {int(i): 1 for i in spam}
    found = tr.prevalence(drawn.labels, gold=gold, draws=200)
    assert any("Gold is not a random choice" in words for words in found.warnings)
    assert any("All 20 gold items are" in words for words in found.warnings)
    quiet = tr.prevalence(drawn.labels, gold=drawn.gold(20, seed=0), draws=200)
    assert not any("gold items are" in words or "Gold" in words for words in quiet.warnings)


def test_sparse_strata_of_gold_are_seldom_odd_by_chance() -> None:
    odd = random_oddities(2, 8, 100, 15, 200)
    assert np.mean(odd < 0.1) == pytest.approx(0.1, abs=0.075)  # 3.5 standard errors
    assert odd.min() > 1e-4
