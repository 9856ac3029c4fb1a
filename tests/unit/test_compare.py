"""Comparing models: paired draws, ranks, slices, and clear words for bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom
from scipy.stats import norm as normal
from sklearn.metrics import average_precision_score, roc_auc_score

import truthing as tr
from truthing.comparison.slices import pool
from truthing.truth.samplers.models import sample_committee
from truthing.truth.samplers.regression import (
    CLASS_SD,
    COMMON_SD,
    OWN_SD,
    Regression,
    log_posterior,
)


def made(
    n_items: int = 400, correlation: float = 0.5, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, tr.Labels]:
    rng = np.random.default_rng(seed)
    truth = rng.choice(2, size=n_items, p=[0.6, 0.4])
    own = np.sqrt(correlation) * rng.standard_normal(n_items)
    own = own + np.sqrt(1 - correlation) * rng.standard_normal((3, n_items))
    predicted = np.where(own > normal.ppf([[0.7], [0.8], [0.9]]), 1 - truth, truth)
    labels = np.where(rng.random((n_items, 4)) < 0.2, 1 - truth[:, None], truth[:, None])
    return truth, predicted, tr.Labels.from_matrix(labels)


def test_draws_are_shared_so_differences_add_up() -> None:
    _, predicted, labels = made()
    result = tr.compare(dict(zip("abc", predicted)), labels, noise=0.2, panel_error=0, draws=400)
    gaps = [
        result.difference("accuracy", *pair).values for pair in (("c", "b"), ("b", "a"), ("c", "a"))
    ]
    np.testing.assert_allclose(gaps[0] + gaps[1], gaps[2], atol=1e-12)
    ranks = result.ranks()
    np.testing.assert_allclose(ranks.sum(axis=0), 1)
    np.testing.assert_allclose(ranks.sum(axis=1), 1)
    assert result.probability_best()["c"] > 0.95
    better = result.probability_better()
    np.testing.assert_allclose(better + better.T, 1)
    assert result.order()[0] == ("c", "b", "a")
    error, accuracy = (
        result.difference(m, "c", "a").probability_better for m in ("error", "accuracy")
    )
    assert error == pytest.approx(accuracy)


def test_equal_models_are_exactly_equal() -> None:
    """Twins: no draw may tell them apart, by either sampler."""
    _, predicted, labels = made()
    for options in ({"noise": 0.2}, {}):
        result = tr.compare(
            {"a": predicted[0], "b": predicted[0].copy()}, labels, draws=200, **options
        )
        gap = result.difference()
        assert (gap.values == 0).all()
        assert gap.probability_better == pytest.approx(0.5)
        assert gap.probability_equivalent(0.0) == pytest.approx(1.0)


def test_perfect_labels_give_mcnemar() -> None:
    truth, predicted, _ = made(300, 0.3, 5)
    labels = tr.Labels.from_matrix(truth[:, None])
    only_a = int(((predicted[0] == truth) & (predicted[1] != truth)).sum())
    only_b = int(((predicted[1] == truth) & (predicted[0] != truth)).sum())
    here = tr.compare({"a": predicted[0], "b": predicted[1]}, labels, noise=0, draws=200)
    assert here.difference().std < 1e-12
    assert here.difference().mean == pytest.approx((only_a - only_b) / 300)
    new = tr.compare(
        {"a": predicted[0], "b": predicted[1]}, labels, noise=0, target="population", draws=4000
    )
    middle = binom.cdf(only_a, only_a + only_b, 0.5) - 0.5 * binom.pmf(only_a, only_a + only_b, 0.5)
    assert abs(new.difference().probability_better - middle) < 0.02
    spread = np.sqrt((only_a + only_b - (only_a - only_b) ** 2 / 300) / 300**2)
    assert new.difference().std == pytest.approx(spread, rel=0.06)


def test_one_model_of_two_is_what_grade_says() -> None:
    """Known noise: the regression on predictions and grade's Gibbs sampler are different roads to
    one posterior."""
    _, predicted, labels = made()
    compared = tr.compare(
        {"a": predicted[0], "b": predicted[1]}, labels, noise=0.2, panel_error=0, draws=2000
    ).estimate("a")
    alone = tr.grade(predicted[0], labels, noise=0.2, panel_error=0)["accuracy"]
    assert compared.mean == pytest.approx(alone.mean, abs=0.01)
    assert compared.std == pytest.approx(alone.std, rel=0.25)


def test_little_gold_is_said_and_some_draws_are_its_own() -> None:
    truth, predicted, labels = made(300)
    models = dict(zip("ab", predicted))
    few, enough, none = (
        tr.compare(models, labels, gold={i: int(truth[i]) for i in range(n)}, draws=400)
        for n in (10, 40, 0)
    )
    said = [any("fewer than 25 gold" in a for a in r.assumptions) for r in (few, enough, none)]
    assert said == [True, False, False]
    ours = enough.paired_draws()[:, 0] - enough.paired_draws()[:, 1]
    found = enough.difference("accuracy", "a", "b").values
    other_way = enough.difference("accuracy", "b", "a").values
    assert np.allclose(found, -other_way)
    assert (found != ours).mean() == pytest.approx(0.1 * 40 / 50, abs=0.02)


def test_gradient_is_the_derivative() -> None:
    rng = np.random.default_rng(0)
    predicted = rng.integers(0, 3, size=(2, 40))
    regression = Regression.on_predictions(predicted, np.arange(6).reshape(2, 3))
    n = regression.design.shape[1]
    heavy = np.arange(n) % 2 == 0
    mode, root, z = rng.standard_normal(n), rng.standard_normal((n, n)) / 3, rng.standard_normal(n)
    evidence, size = rng.random((40, 3)) + 0.05, rng.integers(1, 4, 40)
    posterior = regression.posterior(evidence, size, regression.guess, regression.tilt)
    posterior = posterior._replace(mode=mode, root=root, heavy=heavy)
    slope = np.empty(len(regression.design))

    def value(at: np.ndarray) -> float:
        return float(log_posterior(at, posterior, slope)[0])

    numeric = [(value(z + step) - value(z - step)) / 2e-6 for step in 1e-6 * np.eye(n)]
    np.testing.assert_allclose(log_posterior(z, posterior, slope)[1], numeric, atol=1e-5)


def test_sampler_agrees_with_enumeration() -> None:
    """Six items, two models: P(truth | predictions, labels) by summing over a grid of the two
    coefficients' normals, against the draws."""
    predicted = np.array([[0, 0, 1, 1, 1, 0], [0, 1, 1, 0, 1, 1]])
    regression = Regression.on_predictions(
        predicted, np.zeros((2, 2), dtype=np.int64)
    )  # one coefficient for all: w
    evidence = np.log(
        np.array([[0.9, 0.1], [0.7, 0.3], [0.2, 0.8], [0.4, 0.6], [0.1, 0.9], [0.5, 0.5]])
    )
    truth, coefficients = sample_committee(
        regression, np.full(6, -1), evidence=evidence, n_draws=40_000, seed=1
    )
    grid = np.linspace(-6, 6, 241)
    alpha, weight = np.meshgrid(
        grid * np.sqrt(2) * CLASS_SD,
        grid * np.hypot(COMMON_SD, OWN_SD / 2 ** (1 / 3)),
        indexing="ij",
    )
    lean = (2 * predicted - 1).sum(axis=0)
    chance = 1 / (1 + np.exp(-(alpha[..., None] + weight[..., None] * lean)))
    inner = chance * np.exp(evidence[:, 1]) + (1 - chance) * np.exp(evidence[:, 0])
    density = np.exp(-0.5 * (grid[:, None] ** 2 + grid**2)) * inner.prod(axis=2)
    exact = np.tensordot(density, chance * np.exp(evidence[:, 1]) / inner, axes=2) / density.sum()
    np.testing.assert_allclose(truth.mean(axis=0), exact, atol=0.015)
    assert coefficients[:, 2].mean() == pytest.approx(
        (density * weight).sum() / density.sum(), abs=0.05
    )


def test_small_slices_are_pulled_towards_the_others() -> None:
    rng = np.random.default_rng(0)
    values = np.stack(
        [
            rng.normal(0.8, 0.01, 2000),
            rng.normal(0.81, 0.01, 2000),
            rng.normal(0.5, 0.2, 2000),
            np.full(2000, np.nan),
        ]
    )
    pooled = pool(values, 1)
    assert abs(pooled[0].mean() - 0.8) < 0.01
    assert pooled[2].mean() > 0.7
    assert np.isfinite(pooled[3]).all()
    far = pool(np.stack([rng.normal(m, 0.01, 2000) for m in (0.2, 0.5, 0.8)]), 1)
    np.testing.assert_allclose(far.mean(axis=1), [0.2, 0.5, 0.8], atol=0.01)


def test_slices_and_their_warning() -> None:
    _, predicted, labels = made()
    result = tr.compare(
        {"a": predicted[0], "c": predicted[2]},
        labels,
        noise=0.2,
        draws=300,
        by=["tiny" if i < 3 else "north" if i % 3 else "south" for i in range(400)],
    )
    parts = {(s.name, s.model): s for s in result.by_slice()}
    assert set(parts) == {(s, m) for s in ("tiny", "north", "south") for m in ("a", "c", "a - c")}
    assert parts["tiny", "a"].pooled.std < parts["tiny", "a"].alone.std
    assert any("comparisons are shown" in w for w in result.warnings)
    assert any("'tiny'" in w for w in result.warnings)


def test_same_seed_same_answer() -> None:
    _, predicted, labels = made(150)
    found = [
        tr.compare({"a": predicted[0], "b": predicted[1]}, labels, draws=200, seed=4).draws()
        for _ in range(2)
    ]
    np.testing.assert_array_equal(*found)


def test_more_classes() -> None:
    data = tr.simulate(
        200,
        4,
        prior=[0.5, 0.3, 0.2],
        operating_point=[[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]],
        fallibility=0.3,
        seed=2,
    )
    result = tr.compare(
        {"a": data.predictions, "b": (data.predictions + 1) % 3},
        data.labels,
        gold=data.gold(60),
        draws=300,
    )
    assert result.probability_best("macro_f1")["a"] > 0.99


def scored(
    n_items: int = 200, correlation: float = 0.8, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, dict[str, tr.Predictions]]:
    """Truth, scores of three models (the first two are twins but for noise, the third is useless)
    and what compare takes."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(2, size=n_items, p=[0.6, 0.4])
    noise = np.sqrt(correlation) * rng.standard_normal(n_items) + np.sqrt(
        1 - correlation
    ) * rng.standard_normal((3, n_items))
    scores = np.round(noise + truth * np.array([[1.5], [1.5], [0.0]]), 1)  # with ties
    items = range(n_items)
    given = [
        tr.Predictions.from_sequence((row > 0.75).astype(int), items=items, scores=row)
        for row in scores
    ]
    return truth, scores, dict(zip("abc", given))


def test_perfect_labels_give_the_areas_of_scikit_learn() -> None:
    truth, scores, models = scored()
    labels = tr.Labels.from_matrix(truth[:, None])
    result = tr.compare(models, labels, noise=0, draws=100)
    for metric, peer in (("auc", roc_auc_score), ("average_precision", average_precision_score)):
        expected = [peer(truth, row) for row in scores]
        np.testing.assert_allclose(
            result.draws(metric), np.tile(expected, (len(result.draws(metric)), 1)), atol=1e-12
        )
        assert [result.at_face_value(m, metric) for m in "abc"] == pytest.approx(expected)
        assert result.order(metric) == (
            tuple(np.array(list("abc"))[np.argsort([-e for e in expected])]),
            1.0,
        )
    gold = tr.compare(
        models, tr.Labels.from_matrix(1 - truth[:, None]), gold=dict(enumerate(truth)), draws=100
    )
    np.testing.assert_allclose(
        gold.draws("auc")[-1], [roc_auc_score(truth, row) for row in scores], atol=1e-12
    )


def test_areas_on_new_data_spread_as_delong_says() -> None:
    truth, scores, models = scored()
    result = tr.compare(
        models, tr.Labels.from_matrix(truth[:, None]), noise=0, target="population", draws=2000
    )
    above = (scores[:, truth == 1][:, :, None] > scores[:, truth == 0][:, None, :]) * 1.0
    above += 0.5 * (scores[:, truth == 1][:, :, None] == scores[:, truth == 0][:, None, :])
    gap = above[0] - above[2]
    variance = sum(gap.mean(axis=a).var(ddof=1) / gap.shape[1 - a] for a in (0, 1))
    found = result.difference("auc", "a", "c")
    assert found.mean == pytest.approx(gap.mean(), abs=0.01)
    assert found.std == pytest.approx(np.sqrt(variance), rel=0.1)


@pytest.mark.parametrize("options", [{"noise": 0.2}, {}, {"panel_error": 0}])
def test_areas_are_paired(options: dict[str, float]) -> None:
    """Correlated models: their difference is narrower than independent draws would make it; twins
    do not differ at all."""
    truth, _, models = scored()
    rng = np.random.default_rng(1)
    labels = tr.Labels.from_matrix(
        np.where(rng.random((200, 4)) < 0.2, 1 - truth[:, None], truth[:, None])
    )
    result = tr.compare({**models, "twin": models["a"]}, labels, draws=400, **options)
    assert not any("areas under curves" in a for a in result.assumptions)
    gap, alone = result.difference("auc", "a", "b"), [result.estimate(m, "auc").std for m in "ab"]
    assert gap.std < 0.8 * np.hypot(*alone)
    assert (result.difference("auc", "a", "twin").values == 0).all()
    assert result.probability_best("auc")["c"] < 0.05
    found = result.to_dict("average_precision")
    assert found["models"]["a"]["face_value"] > 0.5
    assert sum("areas under curves" in a for a in found["assumptions"]) == 1


def test_scores_of_few_values() -> None:
    """Models that score with two values or one: what AUC is left is exact where the labels are."""
    truth, scores, _ = scored()
    rows = [scores[0], (scores[1] > 0.75) * 1.0, np.full(200, 0.5)]
    given = {
        n: tr.Predictions.from_sequence((scores[0] > 0.75) * 1, items=range(200), scores=row)
        for n, row in zip("abc", rows)
    }
    for options in ({"noise": 0}, {"gold": dict(enumerate(truth))}):
        result = tr.compare(
            given, tr.Labels.from_matrix(np.stack([truth, truth], axis=1)), draws=100, **options
        )
        np.testing.assert_allclose(
            result.draws("auc")[0], [roc_auc_score(truth, row) for row in rows], atol=1e-12
        )


def test_areas_in_slices_and_without_scores() -> None:
    truth, scores, models = scored()
    labels = tr.Labels.from_matrix(truth[:, None])
    result = tr.compare(models, labels, noise=0, draws=200, by=[i % 2 for i in range(200)])
    alone = {(s.name, s.model): s.alone for s in result.by_slice("auc")}
    assert alone["1", "a"].mean == pytest.approx(
        roc_auc_score(truth[1::2], scores[0, 1::2]), abs=0.02
    )
    _, predicted, labels = made(150)
    with pytest.raises(tr.InputError, match="need scores of two classes"):
        tr.compare({"a": predicted[0], "b": predicted[1]}, labels, noise=0.2, draws=100).difference(
            "auc"
        )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"predictions": {"a": [0] * 150}}, "two models or more"),
        ({"predictions": [[0] * 150, [1] * 150]}, "mapping from model names"),
        (
            {
                "predictions": {
                    "a": dict.fromkeys(range(70), 1),
                    "b": dict.fromkeys(range(70, 150), 0),
                }
            },
            "no labeled item in common",
        ),
        (
            {"predictions": {"a": {"x": 1}, "b": {0: 1}}},
            "model 'a': labels and predictions share no item",
        ),
        ({"by": {"nobody": 1}}, "`by=` names no item"),
        ({"by": [1, 2]}, "2 values for 150 items"),
        ({"noise": tr.noise.Strata(2)}, "compare learns labelers by"),
        ({"draws": 5}, "too few"),
        ({"target": "moon"}, "not known"),
    ],
)
def test_bad_input(change: dict[str, object], said: str) -> None:
    _, predicted, labels = made(150)
    options = {"predictions": {"a": predicted[0], "b": predicted[1]}, "labels": labels, **change}
    with pytest.raises(tr.InputError, match=said.replace("(", r"\(")):
        tr.compare(options.pop("predictions"), options.pop("labels"), **options)  # type: ignore[arg-type]


def test_command_line(tmp_path: Path) -> None:
    truth, predicted, labels = made(150)
    rows = [f"{i},w{t},{v}" for i, row in enumerate(labels.matrix()) for t, v in enumerate(row)]
    (tmp_path / "labels.csv").write_text("item,labeler,label\n" + "\n".join(rows))
    for name, said in zip("ab", predicted):
        body = "\n".join(f"{i},{p},{'north' if i % 3 else 'south'}" for i, p in enumerate(said))
        (tmp_path / f"{name}.csv").write_text("item,prediction,site\n" + body)

    def run(*more: str) -> subprocess.CompletedProcess[str]:
        command = [
            sys.executable,
            "-c",
            "from truthing.cli import main; main()",
            "compare",
            "labels.csv",
            *more,
            "--draws",
            "200",
        ]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    done = run("a.csv", "best=b.csv", "--json", "--noise", "0.2", "--by", "site")
    found = json.loads(done.stdout)
    assert set(found["models"]) == {"a", "best"}
    assert {s["slice"] for s in found["slices"]} == {"north", "south"}
    shown = run("a.csv", "b.csv", "--noise", "0.2", "--plot", "out.png")
    assert "better than" in shown.stdout
    assert (tmp_path / "out.png").stat().st_size > 1000
    wrong = run("a.csv", "b.csv", "--by", "sight")
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert "--by sight: no file has that column" in wrong.stderr
    assert run("a.csv", "a.csv").returncode == 1
    assert truth.shape == (150,)
