"""Point estimates by EM: the best that a general optimiser finds, for every model that learns."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

import truthing as tr


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
    """Item by item, state by state."""
    total = 0.0
    for i in range(labels.n_items):
        mine = slice(labels.indptr[i], labels.indptr[i + 1])
        scores = np.log(prior) + np.log(rows[labels.labeler[mine], :, labels.label[mine]]).sum(axis=0)
        total += logsumexp(scores)
    return total


def test_one_coin_is_the_optimum(data: tr.Labels) -> None:
    fit = tr.noise.OneCoin().fit(data)

    def rows_of(right: np.ndarray) -> np.ndarray:
        return np.where(np.eye(3, dtype=bool), right[:, None, None], (1 - right[:, None, None]) / 2)

    def loss(x: np.ndarray) -> float:
        prior = np.exp(np.append(x[4:], 0.0))
        return -log_likelihood(data, rows_of(expit(x[:4])), prior / prior.sum())

    best = minimize(loss, np.array([1.0, 1.0, 1.0, 1.0, 0.0, 0.0]), method="BFGS")
    assert fit.log_likelihood == pytest.approx(-best.fun, abs=0.01)
    assert fit.log_likelihood == pytest.approx(log_likelihood(data, fit.rows, fit.state_prior), abs=1e-6)
    np.testing.assert_allclose(fit.confusion[:, 0, 0], expit(best.x[:4]), atol=0.01)
    np.testing.assert_allclose(fit.confusion[:, 1, 1], fit.confusion[:, 0, 0])


def test_richer_models_fit_better(data: tr.Labels) -> None:
    coin, full, strata = (model.fit(data) for model in (tr.noise.OneCoin(), tr.noise.DawidSkene(), tr.noise.Strata(2)))
    assert coin.log_likelihood < full.log_likelihood < strata.log_likelihood
    for fit in (coin, full, strata):
        assert fit.log_likelihood == pytest.approx(log_likelihood(data, fit.rows, fit.state_prior), abs=1e-6)
        np.testing.assert_allclose(fit.confusion.sum(axis=2), 1)
        np.testing.assert_allclose(fit.posterior.sum(axis=1), 1)
        assert fit.prior.sum() == pytest.approx(1)


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
    for model in (tr.noise.OneCoin(), tr.noise.DawidSkene(), tr.noise.Strata(2), tr.noise.Difficulty()):
        np.testing.assert_allclose(model.fit(data, gold).posterior[:20, 2], 1)
