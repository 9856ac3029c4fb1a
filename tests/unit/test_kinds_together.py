"""Every two arguments on kinds of labels, and each with those on how items were drawn: answered
with the doubt said, or refused in words.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import truthing as tr
from truthing.kinds import STUDIED

N = 90
RNG = np.random.default_rng(5)
TRUTH = RNG.integers(1, 5, N)


def read(error: float) -> Any:
    return np.clip(TRUTH + RNG.choice([-1, 0, 1], N, p=[error, 1 - 2 * error, error]), 1, 4)


VOTES = np.stack([read(0.15) for _ in range(5)], axis=1).astype(object)
VOTES[RNG.random(VOTES.shape) < 0.06] = "unsure"
NAMES = ["a", "b", "c", "d", "e"]
MODEL = read(0.12)
GOLD = {i: int(TRUTH[i]) for i in range(0, N, 3)}
OTHERS = tr.Labels.from_long(
    [f"c{i}" for i in range(40) for _ in NAMES],
    NAMES * 40,
    [int(v) if v != "unsure" else 1 for v in VOTES[:40].ravel()],
)

KINDS: dict[str, Any] = {
    "groups": {"a": "x", "b": "x", "c": "x"},
    "unsure": "unsure",
    "skips": "hard",
    "scale": "ordinal",
    "cut": 3,
    "gold_error": 0.05,
}
DRAWN: dict[str, Any] = {
    "cluster": [i // 3 for i in range(N)],
    "weights": [1.0 + i % 2 for i in range(N)],
    "stratum": [i % 2 for i in range(N)],
    "by": ["even" if i % 2 else "odd" for i in range(N)],
    "deployment": 0.3,
    "gold_weights": {i: 0.2 + 0.1 * (i % 2) for i in GOLD},
    "calibration_set": (OTHERS, {f"c{i}": int(TRUTH[i]) for i in range(40)}),
}
PAIRS = [*itertools.combinations(KINDS, 2), *itertools.product(KINDS, DRAWN)]


def ask(facade: str, names: tuple[str, str]) -> Any:
    """The answer with these two arguments."""
    more = {name: {**KINDS, **DRAWN}[name] for name in names}
    votes = VOTES if "unsure" in names else np.where(VOTES == "unsure", None, VOTES)
    if "deployment" in names and "cut" not in names:
        more["deployment"] = {1: 0.4, 2: 0.3, 3: 0.2, 4: 0.1}
    about: Any = {"gold": GOLD, "panel": "people", "draws": 150, **more}
    labels = tr.Labels.from_matrix(votes, labelers=NAMES)
    if facade == "grade":
        return tr.grade(dict(enumerate(MODEL.tolist())), labels, **about)
    return tr.prevalence(labels, **about)


REFUSED = {(kind, "calibration_set") for kind in KINDS if kind != "scale"}


def check(facade: str, names: tuple[str, str]) -> Any:
    """The answer with its doubt said, or None where it is refused in words that name both."""
    if names in REFUSED:
        with pytest.raises(
            tr.InputError, match=r"together with .*Leave one of them out\.$"
        ) as found:
            ask(facade, names)
        assert all(f"`{name}=`" in str(found.value) for name in names)
        return None
    result = ask(facade, names)
    doubt = [said for said in result.warnings if "Each was studied alone" in said]
    if any({*names} <= studied for studied in STUDIED):
        assert doubt == []
        return result
    assert len(doubt) == 1
    assert all(f"`{name}=`" in doubt[0] for name in names)
    return result


@pytest.mark.parametrize("names", PAIRS, ids="-".join)
def test_every_pair_answers_with_its_doubt_or_refuses_in_words(names: tuple[str, str]) -> None:
    report = check("grade", names)
    if report is not None:
        low, high = report["accuracy"].interval()
        assert 0 <= low < high <= 1


@pytest.mark.parametrize("names", [p for p in PAIRS if "deployment" not in p][::4], ids="-".join)
def test_rates_too(names: tuple[str, str]) -> None:
    result = check("rate", names)
    if result is not None:
        assert result.draws.mean(axis=0).sum() == pytest.approx(1, abs=0.03)
