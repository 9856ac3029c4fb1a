"""Nothing overflows or cancels: 10 to 10⁷ items, 1 to 10⁴ labels per item.

The other side of each comparison is computed with fifty digits or with whole numbers, from the
formula and not from the code.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from truthing.engine.base import NO_VOTES, NOTHING, Shard
from truthing.metrics.counts import Tally, kappa, mcc
from truthing.noise.steps import softmax_rows
from truthing.papers.melding import true_error_limits
from truthing.people.channel import panel_bits
from truthing.truth import passes
from truthing.truth.passes import Tables
from truthing.truth.poisson_binomial import poisson_binomial
from truthing.truth.scores import areas_of

PI = Decimal("3.14159265358979323846264338327950288419716939937511")
SIZES = [10, 1000, 100_000, 10_000_000]


@pytest.fixture(autouse=True)
def _fifty_digits():
    with localcontext() as context:
        context.prec = 50
        yield


def log_factorial(n: int) -> Decimal:
    """By sum for small numbers, else by Stirling's series."""
    if n < 200:
        return sum((Decimal(k).ln() for k in range(2, n + 1)), Decimal(0))
    x, terms = Decimal(n), Decimal(0)
    for power, over in ((1, 12), (3, -360), (5, 1260), (7, -1680), (9, 1188)):
        terms += 1 / (Decimal(over) * x**power)
    return x * x.ln() - x + (2 * PI * x).ln() / 2 + terms


def binomial(n: int, k: int, p: float) -> Decimal:
    q = Decimal(p)
    log = log_factorial(n) - log_factorial(k) - log_factorial(n - k)
    return (log + k * q.ln() + (n - k) * (1 - q).ln()).exp()


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("p", [1e-6, 0.03, 0.5, 0.999])
def test_counts_of_many_items(n: int, p: float) -> None:
    found = poisson_binomial(np.array([p]), np.array([n]))
    spread = float(np.sqrt(n * p * (1 - p)))
    for shift in (-4, -1, 0, 2, 5):
        k = round(n * p + shift * spread)
        if 0 <= k <= n and found.start <= k < found.start + len(found.mass):
            exact = float(binomial(n, k, p))
            assert found.mass[k - found.start] == pytest.approx(exact, rel=1e-6, abs=1e-14)
    assert found.mass.sum() == pytest.approx(1, abs=1e-12)
    assert (found.support * found.mass).sum() == pytest.approx(n * p, rel=1e-9)


@pytest.mark.parametrize("per_item", [1, 10, 1000, 10_000])
@pytest.mark.parametrize("small", [True, False])
def test_many_labels_on_one_item(
    per_item: int, small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Labels that speak for and against in turn: their logs are sums of thousands."""
    monkeypatch.setattr(passes, "SMALL", 10**9 if small else -1)
    rows = np.array([[0.83, 0.17], [0.21, 0.79], [0.4, 0.6], [0.55, 0.45]])
    key = np.tile(np.array([0, 1, 2, 3], dtype=np.int32), per_item)[:per_item]
    shard = Shard(
        np.array([0, per_item]), key, NO_VOTES, np.array([-1], dtype=np.int32), NOTHING, 2, 2
    )
    tables = Tables(np.log(rows), np.log(np.array([0.7, 0.3])))
    (found,) = passes.posterior_pass(shard, tables)
    logs = [Decimal("0.7").ln(), Decimal("0.3").ln()]
    for k, times in enumerate(np.bincount(key, minlength=4).tolist()):
        for c in (0, 1):
            logs[c] += times * Decimal(float(rows[k, c])).ln()
    exact = 1 / (1 + (logs[1] - logs[0]).exp())
    assert found[0, 0] == pytest.approx(float(exact), rel=1e-9, abs=1e-300)
    assert found.sum() == pytest.approx(1, abs=1e-12)


def test_certain_labels_leave_finite_numbers() -> None:
    scores = np.array([[0.0, -1e6, -1e300], [-1e9, -1e9, -1e9], [-np.inf, 0.0, -np.inf]])
    softmax_rows(scores)
    assert scores == pytest.approx(np.array([[1, 0, 0], [1 / 3] * 3, [0, 1, 0]]), abs=1e-15)


@pytest.mark.parametrize(
    "table",
    [
        [[9_999_990, 3], [4, 3]],
        [[5_000_000, 1], [1, 4_999_998]],
        [[2_500_000, 2_500_001], [2_500_000, 2_499_999]],
        [[1, 9_999_998], [1, 0]],
        [[4, 3], [2, 1]],
    ],
)
def test_chance_corrected_metrics_of_ten_million_items(table: list[list[int]]) -> None:
    (a, b), (c, d) = table
    n, truth, said = a + b + c + d, (a + b, c + d), (a + c, b + d)
    chance = truth[0] * said[0] + truth[1] * said[1]
    tally = Tally.from_confusion(np.array(table, dtype=float))
    exact = Fraction(n * (a + d) - chance, n * n - chance)
    assert float(kappa(tally)) == pytest.approx(float(exact), rel=1e-8, abs=1e-12)
    square = Fraction((a * d - b * c) ** 2, truth[0] * truth[1] * said[0] * said[1])
    assert float(mcc(tally)) ** 2 == pytest.approx(float(square), rel=1e-7, abs=1e-13)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("wrong", [0, 3])
def test_limits_of_rare_errors(n: int, wrong: int) -> None:
    """Clopper and Pearson's: at the upper limit, so few errors have a chance of 1/40."""
    low, high = true_error_limits(wrong, n, 0.95, mislabeling=0.0)
    below = sum((binomial(n, k, high) for k in range(wrong + 1)), Decimal(0))
    assert float(below) == pytest.approx(0.025, rel=1e-6)
    if wrong == 0:
        assert low == 0.0
    else:
        beyond = 1 - sum((binomial(n, k, low) for k in range(wrong)), Decimal(0))
        assert float(beyond) == pytest.approx(0.025, rel=1e-6)


@pytest.mark.parametrize("n", [10, 1_000_000])
def test_areas_of_many_items_are_counts_of_pairs(n: int) -> None:
    rng = np.random.default_rng(n)
    positive, score = rng.random(n) < 0.3, rng.integers(0, max(n // 3, 2), n)
    order = np.argsort(-score, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(score[order]) != 0, True))
    area, _ = areas_of(positive[order][None].astype(float), np.ones((1, n)), ends)
    counts = np.stack([np.bincount(score, ~positive), np.bincount(score, positive)]).astype(int)
    above = np.cumsum(counts[1][::-1])[::-1] - counts[1]
    pairs = sum(int(w) * (2 * int(a) + int(h)) for w, a, h in zip(counts[0], above, counts[1]))
    exact = Fraction(pairs, 2 * int(counts[0].sum()) * int(counts[1].sum()))
    assert area[0] == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("error", [1e-12, 1e-6, 0.1, 0.4999999, 0.5])
def test_bits_of_one_label(error: float) -> None:
    table = np.array([[[1 - error, error], [error, 1 - error]]])
    e, two = Decimal(error), Decimal(2).ln()
    exact = 1 + (e * e.ln() + (1 - e) * (1 - e).ln()) / two
    assert panel_bits(table, np.array([0.5, 0.5]))[0] == pytest.approx(float(exact), abs=1e-12)
