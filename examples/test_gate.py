"""A release gate as a pytest test: the build fails where the classifier is not good enough, and
says why.

Copy it beside your own tests, name your own files, and run pytest.
"""

from pathlib import Path

import pytest

import truthing as tr

FILES = Path(tr.__file__).parent / "examples" / "spam"


@pytest.fixture(scope="module")
def report() -> tr.Report:
    gold = tr.read_gold(FILES / "gold.csv")
    return tr.grade(
        tr.read_predictions(FILES / "predictions.csv"),
        tr.read_labels(FILES / "labels.csv"),
        gold=gold,
    )


@pytest.mark.parametrize("requirement", ["accuracy >= 0.75", "false_alarm <= 0.25"])
def test_good_enough(report: tr.Report, requirement: str) -> None:
    verdict = report.require(requirement, probability=0.95)
    if verdict.outcome == "undecided":
        pytest.skip(verdict.sentence)  # or fail: that is yours to decide
    assert verdict.met, verdict.sentence
