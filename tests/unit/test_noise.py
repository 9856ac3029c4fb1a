"""What a label says, by hand: likelihoods of given noise, votes, thresholds, weights of gold."""

from __future__ import annotations

import numpy as np
import pytest

import truthing as tr
from truthing.asking import prepare, selection_weights
from truthing.labels import Labels
from truthing.noise.base import symmetric_table
from truthing.noise.known import combined_error
from truthing.predicted import predicted_classes

VOTES = Labels.from_counts([[3, 1], [0, 2], [1, 0]])


def test_votes_count_as_often_as_they_were_given() -> None:
    """Three votes are three labels: log p(votes | truth) = Σ votes · log Π[truth, label]."""
    right, wrong = np.log([0.8, 0.2])
    by_hand = [[3 * right + wrong, 3 * wrong + right], [2 * wrong, 2 * right], [right, wrong]]
    assert tr.noise.Symmetric(0.2).log_likelihood(VOTES) == pytest.approx(np.array(by_hand))
    # a fallibility of .4 guesses wrongly on .2 of two classes
    assert tr.noise.Difficulty(0.0, 0.4).log_likelihood(VOTES) == pytest.approx(np.array(by_hand))


def test_votes_are_the_labels_of_as_many_people() -> None:
    """The same posterior from a table of votes and from the labels themselves."""
    data = tr.simulate(60, 5, prior=[0.6, 0.4], operating_point=(0.8, 0.2), fallibility=0.4, seed=1)
    votes = Labels.from_counts(data.labels.counts(), items=data.labels.items)
    one, other = (
        tr.grade(data.predictions, labels, noise=0.2, panel_error=0, draws=300)
        for labels in (data.labels, votes)
    )
    assert one.truth == pytest.approx(other.truth, abs=0.05)  # draws differ where rounding does


def test_wrong_labels_share_the_error() -> None:
    assert symmetric_table(0.3, 4)[0] == pytest.approx([0.7, 0.1, 0.1, 0.1])
    assert combined_error(0.5, 0.2, 2) == pytest.approx((0.5 + 0.2 - 0.1) / 2)
    assert combined_error(1.0, 0.3, 4) == pytest.approx(0.75)


def test_a_missing_label_of_a_group_is_summed_out() -> None:
    table = np.array([[[0.5, 0.2], [0.2, 0.1]], [[0.1, 0.1], [0.2, 0.6]]])
    labels = Labels.from_matrix([[0, 1], [1, None]], labelers=["a", "b"])
    found = np.exp(tr.noise.Joint(("a", "b"), table).log_likelihood(labels))
    assert found == pytest.approx(np.array([[0.2, 0.1], [0.3, 0.8]]))


def test_a_score_at_the_threshold_is_positive() -> None:
    labels = Labels.from_matrix([[0, 1], [1, 1], [0, 0]])
    joined = prepare(None, labels, gold=None, scores=[0.3, 0.5, 0.7])
    for positive, expected in ((1, [0, 1, 1]), (0, [1, 0, 0])):
        predicted, _ = predicted_classes(joined, positive, 0.5, [])
        assert predicted.tolist() == expected


def test_gold_chosen_rarely_weighs_more() -> None:
    """Weights 1 / chance, together worth their effective number (Kish): (Σw)² / Σw²."""
    labels = Labels.from_matrix([[0, 1], [1, 1], [0, 0], [1, 0]])
    joined = prepare(None, labels, gold={0: 0, 2: 0, 3: 1})
    found = selection_weights({0: 0.5, 2: 0.1, 3: 0.25}, joined)
    plain = np.array([2.0, 10.0, 4.0])
    assert found / found.sum() == pytest.approx(plain / plain.sum())
    assert found.sum() == pytest.approx(16**2 / (4 + 100 + 16))
    equal = selection_weights({0: 0.3, 2: 0.3, 3: 0.3}, joined)
    assert equal == pytest.approx([1, 1, 1])
