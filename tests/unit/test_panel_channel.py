"""Labelers as a channel: Su's printed numbers, enumeration, count formulas and what every channel
must obey."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, multinomial

import truthing as tr
from truthing.noise.base import symmetric_table
from truthing.people import channel
from truthing.people.label_bits import collected_bits

PRIOR = np.array([0.6, 0.4])


def by_enumeration(tables: np.ndarray, prior: np.ndarray) -> float:
    """Σ p(z,y) log₂(p(z,y)/(p(z)π(y))) over every pattern of labels."""
    total = 0.0
    for pattern in product(range(tables.shape[2]), repeat=len(tables)):
        joint = prior * np.prod([tables[t, :, z] for t, z in enumerate(pattern)], axis=0)
        kept = joint > 0
        total += (joint[kept] * np.log2(joint[kept] / (joint.sum() * prior[kept]))).sum()
    return float(total)


def random_tables(rng: np.random.Generator, n_labelers: int, n_classes: int) -> np.ndarray:
    return rng.dirichlet(np.full(n_classes, 0.7), size=(n_labelers, n_classes))


@pytest.mark.parametrize(
    ("error", "printed"), [(0.10, 0.512), (0.05, 0.690), (0.02, 0.832), (0.01, 0.891)]
)
def test_legend_of_figure_8(error: float, printed: float) -> None:
    assert tr.information(error=error, prior=[0.6, 0.4]).value == pytest.approx(printed, abs=5e-4)


@pytest.mark.parametrize("n", [1, 2, 7, 50])
@pytest.mark.parametrize("error", [0.05, 0.3, 0.45])
def test_broadcast_channel_equals_the_count_formula(n: int, error: float) -> None:
    count = np.stack([binom.pmf(np.arange(n + 1), n, p) for p in (error, 1 - error)])
    mixed = PRIOR @ count
    formula = (PRIOR[:, None] * count * np.log2(count / mixed)).sum()
    assert tr.information(error=[error] * n, prior=PRIOR).value == pytest.approx(formula, abs=1e-9)


@pytest.mark.parametrize(("n_labelers", "n_classes"), [(1, 2), (4, 2), (3, 3), (2, 5)])
def test_different_asymmetric_labelers_equal_enumeration(n_labelers: int, n_classes: int) -> None:
    rng = np.random.default_rng(n_labelers * 10 + n_classes)
    tables, prior = random_tables(rng, n_labelers, n_classes), rng.dirichlet(np.ones(n_classes))
    assert tr.information(confusion=tables, prior=prior).value == pytest.approx(
        by_enumeration(tables, prior), abs=1e-9
    )


def test_groups_of_equal_labelers_equal_count_vectors() -> None:
    """Six labelers of one kind, three classes: the multinomial of their counts is sufficient."""
    prior, table = (
        np.array([0.5, 0.3, 0.2]),
        np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.2, 0.5]]),
    )
    counts = [c for c in product(range(7), repeat=3) if sum(c) == 6]
    joint = np.array([[multinomial.pmf(c, 6, row) for row in table] for c in counts]) * prior
    assert tr.information(confusion=[table] * 6, prior=prior).value == pytest.approx(
        channel.joint_bits(joint), abs=1e-9
    )


def test_simulation_agrees_with_the_exact_count_within_its_own_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(3)
    rates = rng.uniform(0.1, 0.4, 11)
    exact = tr.information(error=rates, prior=PRIOR)
    assert exact.standard_error == 0
    assert exact.interval(0.95) == pytest.approx((exact.value, exact.value))
    monkeypatch.setattr(channel, "MOST_PATTERNS", 8)
    drawn = tr.information(error=rates, prior=PRIOR)
    assert 0 < drawn.standard_error < 0.002
    assert abs(drawn.value - exact.value) < 5 * drawn.standard_error
    low, high = drawn.interval(0.999999)
    assert low < exact.value < high


def test_what_every_channel_obeys() -> None:
    rng = np.random.default_rng(0)
    prior = np.array([0.5, 0.3, 0.2])
    tables = random_tables(rng, 5, 3)
    grown = [bits for bits, _ in channel.growing(tables, prior)]
    alone = channel.label_bits(tables, prior)
    assert (np.diff(grown) >= -1e-12).all(), "another label never takes bits away"
    assert grown[-1] <= channel.entropy(prior) + 1e-12, "no more bits than the truth has"
    assert grown[-1] <= alone.sum() + 1e-12, (
        "labels independent given the truth are redundant, never synergetic"
    )
    assert grown[-1] >= alone.max() - 1e-12
    garbled = tables @ symmetric_table(0.2, 3)  # labels that pass through one more noisy hand
    assert (channel.label_bits(garbled, prior) <= alone + 1e-12).all(), "data processing"


def test_adversary_is_worth_the_inverted_labeler() -> None:
    good = tr.information(
        confusion=[[[0.9, 0.1], [0.3, 0.7]], [[0.8, 0.2], [0.1, 0.9]]], prior=PRIOR
    )
    bad = tr.information(
        confusion=[[[0.1, 0.9], [0.7, 0.3]], [[0.8, 0.2], [0.1, 0.9]]], prior=PRIOR
    )
    assert good.value == pytest.approx(bad.value, abs=1e-12)
    assert tr.information(error=0.85, prior=PRIOR).value == pytest.approx(
        tr.information(error=0.15, prior=PRIOR).value
    )


def test_copies_add_nothing_and_dependence_is_counted() -> None:
    one = symmetric_table(0.2, 2)
    copied = np.zeros((2, 2, 2))
    copied[:, [0, 1], [0, 1]] = one
    assert tr.information(joint=copied, prior=PRIOR).value == pytest.approx(
        tr.information(error=0.2, prior=PRIOR).value
    )
    independent = one[:, :, None] * one[:, None, :]
    both = tr.information(error=[0.2, 0.2], prior=PRIOR).value
    assert tr.information(joint=independent, prior=PRIOR).value == pytest.approx(both)
    assert tr.information(
        tr.noise.Joint(("a", "b"), independent), prior=PRIOR
    ).value == pytest.approx(both)
    half = tr.information(joint=(copied + independent) / 2, prior=PRIOR).value
    alone = tr.information(error=0.2, prior=PRIOR).value
    assert half - alone <= 0.5 * (both - alone) + 1e-12, (
        "a labeler who copies half adds at most half"
    )


@pytest.mark.parametrize("prior", [[0.6, 0.4], [0.9, 0.1], [0.2, 0.3, 0.5]])
@pytest.mark.parametrize("error", [0.01, 0.1, 0.35])
def test_equivalent_labeler_round_trip(prior: list[float], error: float) -> None:
    assert tr.equivalent_labeler(error=error, prior=prior).value == pytest.approx(error, abs=1e-9)
    assert tr.equivalent_labeler(error=[error] * 3, prior=prior).value < error


def test_labelers_needed_is_the_smallest_number() -> None:
    for error, expert in ((0.3, 0.1), (0.4, 0.05), (0.2, 0.01)):
        needed = int(tr.labelers_needed(error, expert=expert, prior=PRIOR))
        goal = tr.information(error=expert, prior=PRIOR).value
        assert tr.information(error=[error] * needed, prior=PRIOR).value >= goal
        assert (
            tr.information(error=[error] * (needed - 1), prior=PRIOR).value < goal
            if needed > 1
            else True
        )
    assert int(tr.labelers_needed(confusion=symmetric_table(0.3, 2), expert=0.1, prior=PRIOR)) == 7


def test_bits_collected_equal_the_exact_average_over_items() -> None:
    """Items with different labelers: the simulator against exact counts, item by item, with and
    without each labeler."""
    rng = np.random.default_rng(1)
    tables = random_tables(rng, 4, 3)
    prior = np.array([0.5, 0.3, 0.2])
    sets = [[0, 1], [1, 2, 3], [0, 3], [2]]
    start, who = np.concatenate([[0], np.cumsum([len(s) for s in sets])]), np.concatenate(sets)
    found = collected_bits(start, who, tables[None], prior[None], repeats=40_000, seed=2)
    exact = np.array([channel.panel_bits(tables[s], prior)[0] for s in sets])
    assert found.panel[0] == pytest.approx(exact.mean(), abs=0.006)
    for t in range(4):
        gains = []
        for s, whole in zip(sets, exact):
            if t in s:
                rest = [u for u in s if u != t]
                gains.append(whole - (channel.panel_bits(tables[rest], prior)[0] if rest else 0.0))
        assert found.added[0, t] == pytest.approx(np.mean(gains), abs=0.006)


def test_a_reports_noise_carries_its_uncertainty() -> None:
    data = tr.simulate(
        400,
        4,
        prior=[0.6, 0.4],
        operating_point=(0.8, 0.2),
        fallibility=[0.3, 0.4, 0.5, 0.3],
        seed=4,
    )
    report = tr.grade(data.predictions, data.labels, draws=1000)
    bits = tr.information(report)
    low, high = bits.interval(0.999)
    actual = tr.information(error=[0.15, 0.2, 0.25, 0.15], prior=[0.6, 0.4]).value
    assert low < actual < high
    assert 0.02 < high - low < 0.4
    assert tr.information(report.noise).value == pytest.approx(bits.value)
    assert tr.equivalent_labeler(report).interval(0.5)[0] < tr.equivalent_labeler(report).value
    certain = tr.information(tr.grade(data.predictions, data.labels, noise=0.2, draws=200))
    assert certain.draws is None
    assert any("certain" in said for said in certain.assumptions)


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "rate": ({"error": [1.2], "prior": 0.4}, "outside"),
    "prior": ({"error": 0.2, "prior": [0.5, 0.4]}, "sum to one"),
    "rows": ({"confusion": [[[0.9, 0.2], [0.2, 0.8]]]}, "sums to 1.1"),
    "sizes": ({"confusion": np.eye(3), "prior": [0.5, 0.5]}, "one share for each class"),
    "nothing": ({}, "say once"),
    "twice": ({"error": 0.1, "confusion": np.eye(2)}, "say once"),
    "empty": ({"error": []}, "one rate for each"),
    "joint": ({"joint": [[0.5, 0.4], [0.5, 0.5]]}, "sum to one"),
    "source": ({"source": "report.json"}, "give a report"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_in_a_sentence(case: str) -> None:
    arguments, message = BAD[case]
    with pytest.raises(tr.InputError, match=message):
        tr.information(**arguments)
    with pytest.raises(tr.InputError, match=message):
        tr.equivalent_labeler(**arguments)


def test_experts_that_cannot_be_matched() -> None:
    with pytest.raises(tr.InputError, match="say nothing"):
        tr.labelers_needed(0.5, expert=0.1)
    with pytest.raises(tr.InputError, match="never matched"):
        tr.labelers_needed(0.2, expert=0.0)
    with pytest.raises(tr.InputError, match="more than 2,000"):
        tr.labelers_needed(0.495, expert=0.01)
    with pytest.raises(tr.InputError, match="equal labelers"):
        tr.labelers_needed([0.2, 0.3], expert=0.1)
