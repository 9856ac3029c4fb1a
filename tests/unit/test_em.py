"""Point estimates by EM: the best that a general optimiser finds, for every model that learns."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import expit, logsumexp, softmax
from scipy.stats import beta

import truthing as tr
from truthing.noise import em_passes
from truthing.noise.base import combined_error
from truthing.noise.difficulty import HardItems
from truthing.noise.em import RowsModel, fit_em
from truthing.noise.em_passes import Coded, one_pass
from truthing.simulation import Simulation
from truthing.truth.consensus import Entries
from truthing.truth.model_choice import choose_model
from truthing.truth.samplers.difficulty import sample_difficulty


@pytest.fixture(scope="module")
def data() -> tr.Labels:
    made = tr.simulate(
        300,
        4,
        prior=[0.5, 0.3, 0.2],
        confusion=[[[0.8, 0.1, 0.1], [0.15, 0.7, 0.15], [0.1, 0.3, 0.6]]] * 4,
        availability=0.8,
        seed=3,
    )
    return made.labels


def log_likelihood(labels: tr.Labels, rows: np.ndarray, prior: np.ndarray) -> float:
    """Every item in every state."""
    scores = np.tile(np.log(prior), (labels.n_items, 1))
    np.add.at(scores, labels.item, np.log(rows[labels.labeler, :, labels.label]))
    return float(logsumexp(scores, axis=1).sum())


def test_one_coin_is_the_optimum(data: tr.Labels) -> None:
    fit = tr.noise.OneCoin().fit(data)

    def rows_of(right: np.ndarray) -> np.ndarray:
        return np.where(np.eye(3, dtype=bool), right[:, None, None], (1 - right[:, None, None]) / 2)

    def loss(x: np.ndarray) -> float:
        prior = np.exp(np.append(x[4:], 0.0))
        return -log_likelihood(data, rows_of(expit(x[:4])), prior / prior.sum())

    best = minimize(loss, np.array([1.0, 1.0, 1.0, 1.0, 0.0, 0.0]), method="BFGS")
    assert fit.log_likelihood == pytest.approx(-best.fun, abs=0.01)
    assert fit.log_likelihood == pytest.approx(
        log_likelihood(data, fit.rows, fit.state_prior), abs=1e-6
    )
    np.testing.assert_allclose(fit.confusion[:, 0, 0], expit(best.x[:4]), atol=0.01)
    np.testing.assert_allclose(fit.confusion[:, 1, 1], fit.confusion[:, 0, 0])


def test_richer_models_fit_better(data: tr.Labels) -> None:
    coin, full, strata = (
        model.fit(data) for model in (tr.noise.OneCoin(), tr.noise.DawidSkene(), tr.noise.Strata(2))
    )
    assert coin.log_likelihood < full.log_likelihood < strata.log_likelihood
    for fit in (coin, full, strata):
        assert fit.log_likelihood == pytest.approx(
            log_likelihood(data, fit.rows, fit.state_prior), abs=1e-6
        )
        np.testing.assert_allclose(fit.confusion.sum(axis=2), 1)
        np.testing.assert_allclose(fit.posterior.sum(axis=1), 1)
        assert fit.prior.sum() == pytest.approx(1)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("votes", [False, True])
def test_one_pass_is_its_formula(n_classes: int, votes: bool) -> None:
    """Also for an item with thousands of labels, where products of chances vanish."""
    rng = np.random.default_rng(n_classes)
    start_of = np.array([0, 4, 3004, 3004, 3010])
    key = rng.integers(0, 5 * n_classes, 3010).astype(np.int32)
    gold = np.array([-1, -1, -1, 1])
    counted = np.ones(3010 if votes else 0, dtype=np.float32)
    rows = rng.dirichlet(np.ones(n_classes), 5 * n_classes)
    prior = rng.dirichlet(np.ones(n_classes))
    scores = np.stack([np.log(rows[key[a:b]]).sum(axis=0) for a, b in pairwise(start_of)])
    scores += np.log(prior)
    scores[3, np.arange(n_classes) != 1] = -np.inf
    expected = softmax(scores, axis=1)
    posterior = np.empty((4, n_classes))
    labels = Coded(start_of, key, counted, gold)
    counts, totals, likelihood = one_pass(labels, rows, prior, 1, posterior, 2)
    np.testing.assert_allclose(posterior, expected, atol=1e-12)
    np.testing.assert_allclose(totals, expected.sum(axis=0), atol=1e-12)
    assert likelihood == pytest.approx(float(logsumexp(scores, axis=1).sum()), rel=1e-12)
    owner = np.repeat(np.arange(4), np.diff(start_of))
    table = np.zeros_like(rows)
    np.add.at(table, key, expected[owner])
    np.testing.assert_allclose(counts, table, atol=1e-8)


@pytest.mark.parametrize("n_classes", [3, 5, 10])
def test_short_numbers_fit_as_well(n_classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Very many labels are fitted with numbers of four bytes: the same fit to six digits, on any
    number of threads to the last one."""
    rng = np.random.default_rng(n_classes)
    truth = rng.integers(0, n_classes, 6000)
    said = rng.integers(0, n_classes, (6000, 7))
    said = np.where(rng.random((6000, 7)) < 0.6, truth[:, None], said)
    labels, gold = tr.Labels.from_matrix(said), np.where(np.arange(6000) < 50, truth, -1)
    model = RowsModel(7, n_classes)
    long = fit_em(labels, model, gold, most=30, threads=1)
    monkeypatch.setattr(em_passes, "MANY", 1)
    one, three = (fit_em(labels, model, gold, most=30, threads=n) for n in (1, 3))
    assert one.log_likelihood == three.log_likelihood
    assert (one.rows == three.rows).all()
    assert (one.rows != long.rows).any()
    assert one.log_likelihood == pytest.approx(long.log_likelihood, rel=1e-7)
    np.testing.assert_allclose(one.rows, long.rows, atol=2e-4)
    np.testing.assert_allclose(one.posterior, long.posterior, atol=1e-3)
    monkeypatch.setattr(em_passes, "LONGEST_SUM", 100)  # sums are too long for four bytes
    assert (fit_em(labels, model, gold, most=30, threads=1).rows == long.rows).all()


def test_strata_find_easy_and_hard_items() -> None:
    rng = np.random.default_rng(0)
    truth, hard = rng.integers(0, 2, 2000), rng.random(2000) < 0.4
    wrong = rng.random((2000, 6)) < np.where(hard, 0.4, 0.03)[:, None]
    labels = tr.Labels.from_matrix(np.where(wrong, 1 - truth[:, None], truth[:, None]))
    fit = tr.noise.Strata(2).fit(labels)
    error = np.sort(1 - fit.rows.reshape(6, 2, 2, 2)[:, [0, 1], :, [0, 1]].mean(axis=(0, 1)))
    assert error == pytest.approx([0.03, 0.4], abs=0.08)


def test_gold_is_certain_in_every_model(data: tr.Labels) -> None:
    gold = np.full(data.n_items, -1)
    gold[:20] = 2
    for model in (
        tr.noise.OneCoin(),
        tr.noise.DawidSkene(),
        tr.noise.Strata(2),
        tr.noise.Difficulty(),
    ):
        np.testing.assert_allclose(model.fit(data, gold).posterior[:20, 2], 1)


# ---- items with their own difficulty

FALLIBILITY = (0.1, 0.2, 0.3, 0.4, 0.15, 0.25, 0.35, 0.05)


def hard_items(n: int, seed: int = 0, n_classes: int = 2) -> Simulation:
    prior = [0.5, 0.3, 0.2][:n_classes] if n_classes > 2 else [0.6, 0.4]
    return tr.simulate(
        n, 8, prior=prior, difficulty=(1, 3), fallibility=FALLIBILITY, availability=0.7, seed=seed
    )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_difficulty_is_integrated_out(n_classes: int) -> None:
    """The likelihood is that of a continuous difficulty, integrated numerically item by item."""
    labels = hard_items(60, n_classes=n_classes).labels
    fit = tr.noise.Difficulty().fit(labels)

    def joint(root: float, mine: slice, c: int) -> float:
        error = combined_error(root**2, fit.fallibility[labels.labeler[mine]], n_classes)
        chances = np.where(labels.label[mine] == c, 1 - error, error / (n_classes - 1))
        return float(beta.pdf(root**2, *fit.shape) * 2 * root * chances.prod())

    total = 0.0
    for i in range(labels.n_items):
        mine = slice(labels.indptr[i], labels.indptr[i + 1])
        total += np.log(
            sum(fit.prior[c] * quad(joint, 0, 1, args=(mine, c))[0] for c in range(n_classes))
        )
    assert fit.log_likelihood == pytest.approx(total, abs=1e-3)
    assert fit.log_likelihood == pytest.approx(
        log_likelihood(labels, fit.rows, fit.state_prior), abs=1e-6
    )


def test_difficulty_climbs_to_the_optimum() -> None:
    """Plain steps never lose ground, and a general optimiser finds nothing better."""
    labels = hard_items(150).labels
    model = HardItems(8, 2)
    fit = fit_em(labels, model, tolerance=1e-9, most=3000)
    held = np.array(
        [value for k, value in enumerate(fit.path) if k % 3 < 2]
    )  # every third is a leap, thrown away if it fails
    assert (np.diff(held) > -1e-9).all()

    def loss(x: np.ndarray) -> float:
        theta = (expit(x[:8]), np.array([expit(x[8]), expit(-x[8])]), x[9:])
        rows, prior = model.tables(theta)
        rows = rows.reshape(8, 2, -1).transpose(0, 2, 1)
        return -log_likelihood(labels, rows, prior) - model.log_prior(theta)

    # the prior is that of (a, b) and φ themselves: the optimiser's own scale does not matter for a
    # maximum
    best = minimize(
        loss, np.array([*[-1.0] * 8, 0.4, 0.0, 1.6]), method="BFGS", options={"maxiter": 60}
    )
    assert fit.path[-1] >= -best.fun - 0.01


def test_difficulty_is_recovered_better_with_more_items() -> None:
    """Only (1 - δ)(1 - φ) is seen in labels, so the labelers' error rates are checked, and the
    order of the items.
    """
    misses = []
    for n in (200, 5000):
        data = hard_items(n, seed=1)
        fit = tr.noise.Difficulty().fit(data.labels)
        true_error = combined_error(0.25, np.array(FALLIBILITY), 2)
        misses.append(np.abs(1 - fit.confusion[:, 0, 0] - true_error).mean())
        assert np.corrcoef(fit.difficulty, data.noise.difficulty)[0, 1] > 0.25
    assert misses[1] < 0.012 < misses[0]
    with pytest.raises(tr.InputError, match="nothing to fit"):
        tr.noise.Difficulty(0.1, 0.2).fit(data.labels)


def test_difficulty_fit_and_sampler_agree() -> None:
    data = hard_items(400, seed=2)
    fit = tr.noise.Difficulty().fit(data.labels)
    blank = np.zeros(400, dtype=np.int64)  # a classifier that always says the same adds nothing
    samples = sample_difficulty(
        Entries.of(data.labels),
        blank,
        1,
        np.full(400, -1),
        prior=None,
        row_weight=1.0,
        n_draws=2000,
        burn=200,
        seed=0,
    )
    assert np.abs(samples.truth - fit.posterior).mean() < 0.01
    assert np.abs(samples.truth - fit.posterior).max() < 0.1
    np.testing.assert_allclose(samples.error.mean(axis=0), 1 - fit.confusion[:, 0, 0], atol=0.02)


def test_choice_by_held_out_labels() -> None:
    """Difficulty where items differ, matrices where labelers confuse classes differently; the
    scores are told.
    """
    data = tr.simulate(2500, 10, prior=[0.5, 0.5], difficulty=(0.5, 1), fallibility=0.2, seed=0)
    model, scores = choose_model(Entries.of(data.labels), None, 0, hard_items=True)
    assert model == tr.noise.Difficulty()
    assert scores["Difficulty"] > max(scores["DawidSkene"], scores["OneCoin"])
    sides = np.random.default_rng(0).uniform(0.6, 0.95, (10, 2))
    data = tr.simulate(
        2500, 10, prior=[0.5, 0.5], confusion=[[[a, 1 - a], [1 - b, b]] for a, b in sides], seed=0
    )
    assert (
        choose_model(Entries.of(data.labels), None, 0, hard_items=True)[0] == tr.noise.DawidSkene()
    )
    few = data.labels[np.arange(250)]
    report = tr.grade(data.predictions[:250], few, panel_error=0, draws=200)
    assert set(report.diagnostics["held_out_log_score"]) == {
        "DawidSkene",
        "OneCoin",
        "Difficulty",
        "Strata",
    }
    assert "chosen by how well models predict held-out labels" in " ".join(report.assumptions)


@pytest.mark.parametrize(("n_classes", "share"), [(5, 0.7), (10, 0.8)])
def test_leaps_save_passes_with_many_classes(n_classes: int, share: float) -> None:
    """Hard labels: plain EM needs dozens of passes. In chances alone, leaps with ten classes were
    thrown away and cost more passes than they saved."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, n_classes, 6000)
    skill = rng.beta(2, 3, 60)
    labeler = rng.integers(0, 60, (6000, 5))
    wrong = rng.integers(0, n_classes, (6000, 5))
    label = np.where(rng.random((6000, 5)) < skill[labeler], truth[:, None], wrong)
    item = np.repeat(np.arange(6000), 5)
    labels = tr.Labels.from_long(item, labeler.ravel(), label.ravel()).resolve_repeats("first")
    model = RowsModel(labels.n_labelers, n_classes)
    plain = fit_em(labels, model, accelerated=False, most=400)
    reached = plain.path[-1]
    found = fit_em(labels, model, stop=lambda value: value >= reached, most=400)
    assert found.path[-1] >= reached
    assert len(found.path) <= share * len(plain.path)
