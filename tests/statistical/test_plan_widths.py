"""A small seeded version of studies/plan_widths.py: predicted widths against widths that grade then gives."""

from __future__ import annotations

import pytest
from plan_widths import compare


@pytest.mark.parametrize(
    ("target", "known", "design"),
    [
        ("population", False, (450, 3, 0)),
        ("population", False, (450, 3, 100)),
        ("sample", False, (300, 3, 40)),
        ("population", True, (450, 2, 0)),
        ("sample", True, (450, 2, 60)),
    ],
)
def test_predicted_widths_are_obtained(target: str, known: bool, design: tuple[int, int, int]) -> None:
    """Within 10% and three standard errors of the eight data sets graded."""
    said, mean, error = compare(
        "two classes, error .15", "accuracy", target=target, known=known, design=design, sets=6, trials=8
    )
    assert abs(said - mean) <= 0.1 * mean + 3 * error
    assert 3 * error < 0.2 * mean  # the check could fail
