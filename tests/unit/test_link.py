"""The link from consensus to truth: its posterior against numerical integration, its promises."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import beta, norm

import truthing as tr
from truthing.metrics.estimate import NEARLY
from truthing.truth import answer
from truthing.truth.consensus import Entries, fit_dawid_skene
from truthing.truth.draws import NARROWER
from truthing.truth.gold_alone import GoldAlone
from truthing.truth.link import sampler
from truthing.truth.link.counts import confusion_draws, population_confusion
from truthing.truth.link.design import link_design, solve_intercept
from truthing.truth.link.prior import Components, learned_components, stated_components
from truthing.truth.link.sampler import draw_link, prior_draws
from truthing.truth.link.views import Views, read_panel


def plain_views(signal: np.ndarray, predicted: np.ndarray, n_classes: int = 2) -> Views:
    """Views of items whose labels say ``signal``, with nothing learned behind them."""
    n = len(signal)
    consensus = np.full((n, n_classes), 0.0)
    chance = expit(signal)
    consensus[:] = ((1 - chance) / (n_classes - 1))[:, None]
    consensus[np.arange(n), predicted] = chance
    labels = tr.Labels.from_matrix(np.stack([predicted, predicted], axis=1))
    fit = fit_dawid_skene(Entries.of(labels))
    levels = np.full(5, logit(chance.mean()))
    return Views(predicted, n_classes, levels, 0.8, signal, consensus, consensus, fit)


def two_components() -> Components:
    """One that knows the level, one that lets gold speak alone."""
    columns = ([0.7, 0.3], [False, True], [1.0, 1.0], [0.5, 1.0], [0.6, 0.6], [0.3, 1.0], [1, 1])
    return Components(*map(np.array, columns), np.array([False, True]), (0.9, 0.9))


def grid_posterior(
    views: Views, components: Components, size: np.ndarray, right: np.ndarray
) -> tuple[float, float, float]:
    """Mean and sd of the accuracy's logit, and the flat component's weight, by brute force."""
    design = link_design(views, *components.middle)
    level, slope = np.meshgrid(np.linspace(-9, 25, 1001), np.linspace(-4, 5, 241), indexing="ij")
    rows = slope.reshape(-1, 1)
    a = solve_intercept(level.ravel(), rows @ design.matrix[:, 1:].T, design.share)
    eta = a[:, None] + rows @ design.matrix[:, 1:].T
    likelihood = np.exp(eta @ right - np.logaddexp(0, eta) @ size)
    masses = []
    for q in range(len(components.weight)):
        known = norm.pdf(level.ravel(), components.centre[q], components.sd[q])
        share = expit(level.ravel())
        flat = beta.pdf(share, 1, 1) * share * (1 - share)
        prior = np.where(components.flat[q], flat, known)
        prior = prior * norm.pdf(slope.ravel(), components.slope[q], components.slope_sd[q])
        masses.append(components.weight[q] * prior * likelihood)
    total = np.sum(masses, axis=0)
    total /= total.sum()
    mean = float(total @ level.ravel())
    sd = float(np.sqrt(total @ (level.ravel() - mean) ** 2))
    return mean, sd, float(masses[1].sum() / (masses[0].sum() + masses[1].sum()))


@pytest.mark.parametrize(("hits", "misses"), [(18, 2), (9, 11), (20, 0)])
def test_posterior_with_gold_equals_numerical_integration(hits: int, misses: int) -> None:
    signal = np.repeat([-1.5, 0.5, 2.5], [20, 30, 50])
    views = plain_views(signal, np.zeros(100, dtype=np.int64))
    gold = np.full(100, -1)
    chosen = np.random.default_rng(3).permutation(100)[: hits + misses]
    gold[chosen[:hits]], gold[chosen[hits:]] = 0, 1
    components = two_components()
    link = draw_link(views, components, gold, np.random.default_rng(1), n_draws=40_000)
    size = link.design.tally(chosen)
    right = link.design.tally(chosen, (gold[chosen] == 0).astype(float))
    mean, sd, flat = grid_posterior(views, components, 0.9 * size, 0.9 * right)
    level = logit(np.clip(link.chance() @ link.design.share, 1e-12, 1 - 1e-12))
    error = sd / np.sqrt(link.effective_size)
    assert link.effective_size > 5000
    assert abs(level.mean() - mean) < 5 * error
    assert abs(level.std() - sd) < 0.05 * sd
    assert (
        abs(link.flat_weight - flat) < 5 * np.sqrt(flat * (1 - flat) / link.effective_size) + 1e-3
    )


def test_without_gold_the_level_has_its_prior() -> None:
    views = plain_views(np.linspace(-2, 3, 80), np.arange(80) % 2)
    components = two_components()._replace(flat=np.array([False, False]))
    design = link_design(views, *components.middle)
    drawn = prior_draws(design, components, 20_000, np.random.default_rng(0))
    level = logit(expit(drawn @ design.matrix.T) @ design.share)
    variance = components.weight @ components.sd**2
    assert abs(level.mean() - 1.0) < 5 * np.sqrt(variance / 20_000)
    assert level.std() == pytest.approx(np.sqrt(variance), rel=0.03)
    half = level[:10_000].std() / level[10_000:].std()  # any part of the draws is a fair sample
    assert half == pytest.approx(1.0, abs=0.05)


def test_weights_of_gold_count_like_repeated_items() -> None:
    """Weight two is two items, weight one half is half of one: neither ignored nor inverted."""
    views = plain_views(np.repeat([-1.0, 2.0], [40, 60]), np.zeros(100, dtype=np.int64))
    once, twice = np.full(100, -1), np.full(100, -1)
    once[[0, 41, 42, 43]] = [1, 0, 0, 0]
    twice[[0, 1, 41, 42, 43, 44, 45, 46]] = [1, 1, 0, 0, 0, 0, 0, 0]
    components = two_components()

    def level(gold: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        rng = np.random.default_rng(5)
        link = draw_link(views, components, gold, rng, n_draws=20_000, gold_weights=weights)
        return logit(link.chance() @ link.design.share)

    doubled, repeated = level(once, np.full(4, 2.0)), level(twice, None)
    assert doubled.mean() == pytest.approx(repeated.mean(), abs=0.04)
    assert doubled.std() == pytest.approx(repeated.std(), rel=0.05)
    leaning = (
        level(once, np.array([0.4, 1.2, 1.2, 1.2])),
        level(once, np.array([2.5, 0.5, 0.5, 0.5])),
    )
    assert leaning[0].mean() > leaning[1].mean() + 0.3


def test_unequal_chances_of_gold_are_corrected() -> None:
    """Gold chosen mostly where the prediction is wrong: with its chances the answer is right."""
    rng = np.random.default_rng(11)
    n = 1200
    truth = rng.integers(0, 2, n)
    predicted = np.where(rng.random(n) < 0.2, 1 - truth, truth)
    labels = tr.Labels.from_matrix(
        np.where(rng.random((n, 3)) < 0.25, 1 - truth[:, None], truth[:, None])
    )
    chance = np.where(predicted == truth, 0.05, 0.4)
    chosen = np.flatnonzero(rng.random(n) < chance)
    gold = {int(i): int(truth[i]) for i in chosen}
    weights = {int(i): float(chance[i]) for i in chosen}
    right = float((predicted == truth).mean())
    low, high = tr.grade(predicted, labels, gold=gold, gold_weights=weights)["accuracy"].interval()
    assert low <= right <= high
    low, high = tr.grade(predicted, labels, gold=gold)["accuracy"].interval()
    assert high < right


def test_an_unlucky_draw_is_repeated_before_it_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One draw that outweighs all others says little; more draws are tried, then it is refused."""
    predicted = np.zeros(60, dtype=np.int64)
    views = plain_views(np.linspace(-1, 3, 60), predicted)
    gold = np.where(np.arange(60) < 20, 0, -1)
    asked: list[int] = []
    draw = sampler.posterior_draws

    def unlucky(*args: object) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        drawn, weight, which = draw(*args)
        asked.append(len(weight))
        if len(asked) < lucky:
            weight = np.where(np.arange(len(weight)) == 0, 1.0, 0.0)
        return drawn, weight, which

    monkeypatch.setattr(sampler, "posterior_draws", unlucky)
    lucky, components = 3, learned_components(views)
    link = draw_link(views, components, gold, np.random.default_rng(0), n_draws=300)
    assert asked == [300, 3000, 12000]
    assert link.effective_size > 1000
    lucky = 99
    with pytest.raises(tr.NotConverged, match="effective sample size 1"):
        draw_link(views, components, gold, np.random.default_rng(0), n_draws=300)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_confusions_add_up_and_gold_counts_as_it_is(n_classes: int) -> None:
    rng = np.random.default_rng(2)
    predicted = rng.integers(0, n_classes, 150)
    views = plain_views(rng.normal(1, 2, 150), predicted, n_classes)
    gold = np.full(150, -1)
    gold[:40] = rng.integers(0, n_classes, 40)
    link = draw_link(views, learned_components(views, "people"), gold, rng, n_draws=300)
    drawn = confusion_draws(link, views, gold, rng)
    assert (drawn.sum(axis=1) == np.bincount(predicted, minlength=n_classes)).all()
    seen = np.zeros((n_classes, n_classes), dtype=int)
    np.add.at(seen, (gold[:40], predicted[:40]), 1)
    assert (drawn >= seen).all()
    assert drawn.std(axis=0).max() > 0
    shares = population_confusion(link, views, gold, rng)
    np.testing.assert_allclose(shares.sum(axis=(1, 2)), 1, rtol=1e-9)
    expected = drawn.mean(axis=0) / 150
    assert np.abs(shares.mean(axis=0) - expected).max() < 0.06


def test_a_class_that_is_never_true_loses_its_mass() -> None:
    """Labelers use a third class, the truth never does; gold on all items says so."""
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, 400)
    unsure = rng.random((400, 5)) < 0.3
    noisy = np.where(rng.random((400, 5)) < 0.25, 1 - truth[:, None], truth[:, None])
    labels = tr.Labels.from_matrix(np.where(unsure, 2, noisy)).with_classes([0, 1, 2])
    predicted = np.where(rng.random(400) < 0.25, rng.integers(0, 3, 400), truth)
    gold = {int(i): int(truth[i]) for i in rng.permutation(400)[:60]}
    report = tr.grade(predicted, labels, gold=gold)
    assert report.confusion.mean[2].sum() < 20
    for c in (0, 1):
        low, high = report[f"recall[{c}]"].interval(0.95)
        assert low <= ((predicted == c) & (truth == c)).sum() / (truth == c).sum() <= high


def test_full_agreement_is_not_certainty() -> None:
    answers = np.random.default_rng(0).integers(0, 2, 300)
    labels = tr.Labels.from_matrix(np.repeat(answers[:, None], 5, axis=1))
    noisy = answers.copy()
    noisy[:3] = 1 - noisy[:3]
    low, high = tr.grade(noisy, labels)["accuracy"].interval(0.95)
    assert low < 0.93
    assert high > 0.95


def test_gold_alone_is_the_finite_population_posterior() -> None:
    def share_draws(n_items: int, n_draws: int, seed: int) -> np.ndarray:
        gold = np.full(n_items, -1)
        gold[:20] = [1] * 18 + [0] * 2
        ones = np.ones(n_items, dtype=np.int64)
        seeds = np.random.SeedSequence(seed)
        return GoldAlone((0, 1), 1, ones, gold, "sample", n_draws, seeds)["accuracy"].draws

    drawn = share_draws(100, 200_000, 0)
    # (k + Binomial(N - g, θ)) / N with θ ~ Beta(k + ½, g - k + ½): a beta-binomial
    mean = (18 + 80 * 18.5 / 21) / 100
    variance = 80 * 18.5 * 2.5 * (21 + 80) / (21**2 * 22) / 100**2
    assert drawn.mean() == pytest.approx(mean, abs=5 * np.sqrt(variance / 200_000))
    assert drawn.var() == pytest.approx(variance, rel=0.02)
    whole = share_draws(10**6, 100_000, 1)
    low, high = np.quantile(whole, [0.025, 0.975])
    np.testing.assert_allclose([low, high], beta.ppf([0.025, 0.975], 18.5, 2.5), atol=4e-3)


def test_the_answer_is_never_much_wider_than_gold_alone() -> None:
    rng = np.random.default_rng(8)
    for seed in range(6):
        data = tr.simulate(300, 3, prior=[0.5, 0.5], operating_point=(0.99, 0.01), seed=seed)
        noisy = rng.integers(0, 2, (300, 3))  # labels that say nothing
        labels = tr.Labels.from_matrix(noisy)
        truth = np.asarray(data.truth)
        gold = {int(i): int(truth[i]) for i in range(25)}
        report = tr.grade(np.asarray(data.predictions), labels, gold=gold, draws=1000)
        for name in ("accuracy", "precision", "recall", "f1"):
            (low, high), (least, most) = (
                source[name].interval(0.95) for source in (report, report.gold_alone)
            )
            assert high - low <= NARROWER * NEARLY * (most - least) + 1e-9


def test_gold_alone_of_other_metrics_goes_class_by_class() -> None:
    predicted = np.repeat([0, 1], [60, 40])
    gold = np.full(100, -1)
    gold[:10], gold[60:70] = [0] * 8 + [1] * 2, [1] * 9 + [0]
    seed = np.random.SeedSequence(0)
    found = GoldAlone((0, 1), 1, predicted, gold, "sample", 20_000, seed)
    precision = found["precision"]
    assert precision.mean == pytest.approx((9 + 30 * 9.5 / 11) / 40, abs=0.01)
    assert found["accuracy"].mean == pytest.approx((17 + 80 * 17.5 / 21) / 100, abs=0.01)


def test_known_noise_keeps_the_panels_error_unless_told() -> None:
    data = tr.simulate(
        400, 4, prior=[0.6, 0.4], operating_point=(0.9, 0.1), fallibility=0.3, seed=2
    )
    asked = [tr.grade(data.predictions, data.labels, noise=0.15, panel_error=e) for e in (None, 0)]
    wide, narrow = (np.ptp(report["accuracy"].interval(0.95)) for report in asked)
    assert wide > 2 * narrow
    assert any("wrong together" in words for words in asked[0].assumptions)
    assert not any("wrong together" in words for words in asked[1].assumptions)


def test_a_prior_that_would_not_be_used_is_refused() -> None:
    data = tr.simulate(100, 4, prior=[0.6, 0.4], operating_point=(0.9, 0.1), seed=2)
    with pytest.raises(tr.InputError, match="is not used when"):
        tr.grade(data.predictions, data.labels, prior=[0.5, 0.5])
    two = [
        tr.grade(data.predictions, data.labels, prior=[p, 1 - p], noise=0.2)["recall"].mean
        for p in (0.05, 0.95)
    ]
    assert two[0] < two[1] - 0.02  # more of class 0: fewer items of class 1, so fewer are missed


def test_rate_and_always_pass_agree() -> None:
    data = tr.simulate(250, 4, prior=[0.4, 0.6], fallibility=0.4, classes=("fail", "pass"), seed=5)
    names = list(data.labels.items)
    for gold in (None, {names[i]: data.truth[i] for i in range(30)}):
        rate = tr.prevalence(data.labels, gold=gold)["pass"]
        always = tr.grade(["pass"] * 250, data.labels, gold=gold)["accuracy"]
        assert rate.mean == pytest.approx(always.mean, abs=0.01)
        np.testing.assert_allclose(rate.interval(0.95), always.interval(0.95), atol=0.01)


def test_grade_and_compare_agree_on_a_model() -> None:
    data = tr.simulate(
        300, 5, prior=[0.6, 0.4], operating_point=(0.85, 0.2), fallibility=0.4, seed=6
    )
    other = np.where(np.arange(300) % 7 == 0, 1 - data.predictions, data.predictions)
    names = list(data.labels.items)
    for gold in (None, {names[i]: int(data.truth[i]) for i in range(40)}):
        both = tr.compare({"a": data.predictions, "b": other}, data.labels, gold=gold)
        for model, predicted in (("a", data.predictions), ("b", other)):
            alone = tr.grade(predicted, data.labels, gold=gold)["accuracy"]
            found = both.estimate(model, "accuracy")
            assert found.mean == pytest.approx(alone.mean, abs=0.01)
            np.testing.assert_allclose(found.interval(0.95), alone.interval(0.95), atol=0.015)


def test_a_classifier_that_is_a_labeler_does_not_grade_itself() -> None:
    data = tr.simulate(200, 5, prior=[0.5, 0.5], fallibility=0.4, seed=7)
    matrix = np.asarray(data.labels.matrix(), dtype=float)
    report = tr.grade(matrix[:, 0].astype(int), data.labels)
    assert any("left out" in words for words in report.warnings)
    assert report.sizes["labelers"] == 4
    assert not any("more often than chance" in words for words in report.warnings)


def test_models_that_learned_from_the_labels_are_not_compared_with_others_without_gold() -> None:
    data = tr.simulate(
        200, 5, prior=[0.5, 0.5], operating_point=(0.8, 0.2), fallibility=0.4, seed=7
    )
    two = {"learned": data.predictions, "other": 1 - data.predictions}
    with pytest.raises(tr.NotIdentified, match="learned from these labels"):
        tr.compare(two, data.labels, trained_on_labels="learned")
    names = list(data.labels.items)
    gold = {names[i]: int(data.truth[i]) for i in range(30)}
    found = tr.compare(two, data.labels, trained_on_labels=["learned"], gold=gold)
    assert 0 <= found.difference("accuracy").probability_better <= 1
    with pytest.raises(tr.InputError, match="which is no model here"):
        tr.compare(two, data.labels, trained_on_labels="lerned")


def test_a_model_trained_on_the_labels_is_graded_with_more_doubt() -> None:
    data = tr.simulate(
        300, 5, prior=[0.5, 0.5], operating_point=(0.9, 0.1), fallibility=0.5, seed=9
    )
    plain = tr.grade(data.predictions, data.labels, panel="models")["accuracy"]
    trained = tr.grade(data.predictions, data.labels, panel="models", trained_on_labels=True)
    assert trained["accuracy"].mean < plain.mean
    assert any("repeats some of their mistakes" in words for words in trained.assumptions)


def test_what_describes_labelers_sets_no_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    data = tr.simulate(
        150, 4, prior=[0.5, 0.5], operating_point=(0.9, 0.1), fallibility=0.5, seed=9
    )
    before = tr.grade(data.predictions, data.labels).to_dict()["metrics"]
    quick = answer.quick_labelers

    def bare(question: object, fit: object) -> object:
        found = quick(question, fit)  # type: ignore[arg-type]
        found.samples.error[:] = 0.5
        return found

    monkeypatch.setattr(answer, "quick_labelers", bare)
    assert tr.grade(data.predictions, data.labels).to_dict()["metrics"] == before


def test_a_users_panel_error_is_the_expected_difference() -> None:
    data = tr.simulate(
        800, 5, prior=[0.5, 0.5], operating_point=(0.8, 0.2), fallibility=0.3, seed=1
    )
    views = read_panel(Entries.of(data.labels), np.asarray(data.predictions).astype(np.int64))
    components = stated_components(views, 0.05).informed
    rng = np.random.default_rng(0)
    link = draw_link(views, components, np.full(800, -1), rng, n_draws=20_000)
    said = expit(views.levels[1])
    assert np.abs(link.chance() @ link.design.share - said).mean() == pytest.approx(0.05, abs=0.006)
    with pytest.raises(tr.InputError, match="Beta distribution"):
        stated_components(views, (0.0, 3.0))


def test_gold_that_contradicts_the_panel_is_named() -> None:
    rng = np.random.default_rng(3)
    answers = rng.integers(0, 2, 400)
    labels = tr.Labels.from_matrix(np.repeat(answers[:, None], 4, axis=1))
    gold = {i: int(1 - answers[i]) for i in range(40)}
    predicted = np.where(rng.random(400) < 0.03, 1 - answers, answers)
    report = tr.grade(predicted, labels, gold=gold)
    assert any("Gold contradicts" in words for words in report.warnings)
    assert report.diagnostics["gold_surprise"] < 0.01
    low, high = report["accuracy"].interval(0.95)
    assert high < 0.2
    assert low < 0.05


def test_seeds_share_no_stream() -> None:
    data = tr.simulate(
        150, 4, prior=[0.5, 0.5], operating_point=(0.9, 0.1), fallibility=0.5, seed=9
    )
    first, second = (
        tr.grade(data.predictions, data.labels, seed=s)["accuracy"].values for s in (0, 1)
    )
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.1


def test_few_gold_items_that_are_all_right_are_reached() -> None:
    """The flat components then have a long tail: no single draw may carry the answer."""
    views = plain_views(np.linspace(-2, 4, 200), np.arange(200) % 2)
    gold = np.full(200, -1)
    gold[::17] = views.predicted[::17]
    components = learned_components(views)
    sizes = [
        draw_link(views, components, gold, np.random.default_rng(seed), n_draws=1000).effective_size
        for seed in range(25)
    ]
    assert min(sizes) > 100
