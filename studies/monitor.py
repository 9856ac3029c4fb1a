"""How often does the alarm of `monitor` ring falsely, and how late does it ring rightly? Simulated.

False alarms over 1,000 looks, one after each item, at the floor itself (the worst case) and above;
with items that depend on the past; beside a binomial test at .05 repeated at every look, which is
what people do. Delay: items after a fall from .95 at item 300. Labels: judges who fail a share of
passing items, at the stated bound.

Run: python studies/monitor.py [data sets]
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.stats import binom

from truthing.monitoring.agreement import change_p_value, changes
from truthing.monitoring.evidence import evidence_of_fall, first_alarm, running_mean

LOOKS, FLOOR, CHANCE = 1000, 0.9, 0.05


def share(hits: list[bool]) -> str:
    mean = float(np.mean(hits))
    return f"{mean:.3f} ± {np.sqrt(max(mean * (1 - mean), 1e-4) / len(hits)):.3f}"


def dependent(rng: np.random.Generator) -> np.ndarray:
    """The chance is the floor itself after many passes and higher after failures: never below."""
    passed = np.zeros(LOOKS)
    for t in range(LOOKS):
        recent = passed[max(0, t - 20) : t].mean() if t else 1.0
        passed[t] = rng.random() < (FLOOR if recent > 0.85 else 0.97)
    return passed


def naive(passed: np.ndarray) -> bool:
    """A binomial test at every look from the tenth on."""
    n = np.arange(1, len(passed) + 1)
    return bool((binom.cdf(np.cumsum(passed), n, FLOOR)[9:] < CHANCE).any())


def rings(passed: np.ndarray, floor: float = FLOOR) -> int | None:
    return first_alarm(evidence_of_fall(passed, floor), CHANCE)


def false_alarms(count: int, rate: float, seed: int = 0) -> tuple[list[bool], list[bool]]:
    ours, theirs = [], []
    for n in range(count):
        passed = np.random.default_rng([seed, n]).random(LOOKS) < rate
        ours.append(rings(passed) is not None)
        theirs.append(naive(passed))
    return ours, theirs


def judge_changes(
    count: int, rates: tuple[float, ...], size: int, seed: int = 2
) -> tuple[list[bool], list[bool]]:
    """Versions of a judge that agree with gold at these rates: does the test ring at .05, and do
    the limits hold all true changes together?"""
    rings, held = [], []
    names = [f"v{k}" for k in range(len(rates)) for _ in range(size)]
    for n in range(count):
        rng = np.random.default_rng([seed, n])
        hits = (rng.random(size * len(rates)) < np.repeat(rates, size)).astype(float)
        rings.append(change_p_value(hits, names, n) < 0.05)
        told = changes(hits, names, 0.95)
        held.append(all(c.low <= d <= c.high for c, d in zip(told, np.diff(rates))))
    return rings, held


def delays(count: int, fallen: float, change: int = 300, seed: int = 1) -> list[float]:
    """Items from the fall to the alarm; infinite where it does not ring within 2,000."""
    found = []
    for n in range(count):
        rng = np.random.default_rng([seed, n])
        passed = np.concatenate([rng.random(change) < 0.95, rng.random(2000) < fallen])
        at = rings(passed)
        found.append(np.inf if at is None or at < change else at + 1 - change)
    return found


def judge(count: int) -> None:
    """The comparison of versions: error, power, and limits of changes."""
    for rates in ((0.9, 0.9), (0.85, 0.85, 0.85, 0.85), (0.9, 0.8), (0.9, 0.7)):
        for size in (30, 100):
            rung, kept = judge_changes(count, rates, size)
            told = f"versions agree {rates}, {size} rows each: p < .05 in {share(rung)}"
            print(f"{told}; limits of changes hold {share(kept)}", flush=True)


def main(count: int) -> None:
    print(f"false alarms over {LOOKS} looks, {count} data sets each, promised {CHANCE}")
    for rate in (0.9, 0.92, 0.95):
        ours, theirs = false_alarms(count, rate)
        print(f"pass rate {rate}: {share(ours)}; a binomial test at every look {share(theirs)}")
    past = [rings(dependent(np.random.default_rng([3, n]))) is not None for n in range(count // 2)]
    print(f"items that depend on the past: {share(past)}")
    held = []
    for n in range(count):
        passed = np.random.default_rng([4, n]).random(LOOKS) < FLOOR
        low, high = running_mean(passed, 0.95)
        held.append(bool(((low <= FLOOR) & (high >= FLOOR)).all()))
    print(f"the running mean's limits hold at all looks: {share(held)}")
    for fail in (0.05, 0.2):
        hits = []
        for n in range(count):
            rng = np.random.default_rng([5, n])
            truth = rng.random(LOOKS) < FLOOR
            labels = truth & (rng.random(LOOKS) > fail)
            hits.append(rings(labels, FLOOR * (1 - fail)) is not None)
        print(f"labels that fail {fail:.0%} of the passing, bound stated: {share(hits)}")
    judge(count)
    for fallen in (0.85, 0.8, 0.7, 0.5):
        late = np.array(delays(count // 4, fallen))
        quarter, middle, most = np.quantile(late, [0.25, 0.5, 0.9], method="lower")
        print(
            f"fall to {fallen}: median delay {middle:.0f} items ({quarter:.0f}; 90% by {most:.0f})"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
