"""Every pair of arguments that say how a test set was drawn: it is answered with what is assumed
in words, or refused in words; nothing crashes and nothing is silent."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import truthing as tr
from truthing.survey.together import STUDIED

N = 120
DATA = tr.simulate(N + 40, 4, prior=[0.5, 0.5], operating_point=(0.85, 0.15), fallibility=0.3)
MATRIX = DATA.labels.matrix()
LABELS = tr.Labels.from_matrix(MATRIX[:N], items=[f"g{i}" for i in range(N)])
OTHERS = tr.Labels.from_matrix(MATRIX[N:], items=[f"c{i}" for i in range(40)])
KNOWN = {f"c{i}": int(DATA.truth[N + i]) for i in range(40)}
GOLD = {f"g{i}": int(DATA.truth[i]) for i in range(0, N, 3)}
SAID = {f"g{i}": int(DATA.predictions[i]) for i in range(N)}
OTHER_SAID = {item: 1 - said if int(item[1:]) % 5 == 0 else said for item, said in SAID.items()}

# argument, its value, and words of an assumption or warning that must name it
ARGUMENTS: dict[str, tuple[dict[str, Any], str]] = {
    "cluster": ({"cluster": [i // 4 for i in range(N)]}, "clusters"),
    "weights": ({"weights": [1 + i % 3 for i in range(N)]}, "count by their weights"),
    "stratum": ({"stratum": [i % 2 for i in range(N)]}, "Strata|stratum"),
    "by": ({"by": [f"part {i % 3}" for i in range(N)]}, "[Ss]lice|comparisons"),
    "gold_weights": ({"gold_weights": dict.fromkeys(GOLD, 0.3)}, "chances"),
    "gold_choice": ({"gold_choice": "seen"}, "chosen by what labels and predictions show|gold"),
    "unseen": ({"gold_choice": "unseen"}, "something unseen"),
    "calibration_set": (
        {"calibration_set": (OTHERS, KNOWN), "calibration_chosen": "truth"},
        "calibration items",
    ),
    "deployment": ({"deployment": 0.1}, "deployment"),
}


def ask(door: str, said: dict[str, Any]) -> Any:
    how: dict[str, Any] = {"gold": GOLD, "panel": "people", "draws": 100, **said}
    if door == "rate":
        return tr.prevalence(LABELS, **how)
    if door == "compare":
        return tr.compare({"a": SAID, "b": OTHER_SAID}, LABELS, **how)
    return tr.grade(SAID, LABELS, **how)


@pytest.mark.parametrize("door", ["grade", "rate", "compare"])
@pytest.mark.parametrize("pair", list(combinations(ARGUMENTS, 2)), ids=" and ".join)
def test_a_pair_is_answered_or_refused_in_words(door: str, pair: tuple[str, str]) -> None:
    import re

    if door == "rate" and "deployment" in pair:
        pytest.skip("rate has no deployment: class shares are what it finds")
    first, second = (ARGUMENTS[name] for name in pair)
    if {"gold_choice", "unseen", "gold_weights"} >= set(pair):
        if pair == ("gold_choice", "unseen"):
            pytest.skip("one argument with two values")
        with pytest.raises(tr.InputError, match="leave `gold_choice=` out"):
            ask(door, first[0] | second[0])
        return
    result = ask(door, first[0] | second[0])
    told = " ".join([*result.assumptions, *result.warnings])
    for _, words in (first, second):
        assert re.search(words, told), f"nothing is said of {words!r}: {told}"
    name = ["gold_choice" if each == "unseen" else each for each in pair]
    if frozenset(name) not in STUDIED:
        assert re.search(
            rf"not together: .*({name[0]} and {name[1]}|{name[1]} and {name[0]})", told
        )
    else:
        assert "not together" not in told
    if door == "rate":
        low, high = result[1].interval(0.95)
    else:
        found = result["accuracy"] if door == "grade" else result.estimate("a")
        low, high = found.interval(0.95)
    assert np.isfinite([low, high]).all()
    assert 0 <= low < high <= 1
