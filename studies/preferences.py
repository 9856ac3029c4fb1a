"""Do the intervals of `prefer` hold the true win rates? Simulated judges, and real ones with truth.

Simulated: judges with a lean to the first shown, in both orders or one, who share mistakes and a
liking for one system; three outcomes. Real: LLMBar (both orders), PandaLM (ties), Arena (one order,
no ties), where the data are found; their systems are anonymous, so each item's two answers are
given to the systems at random with an uneven coin, which makes win rates of .1 to .9. Every figure
has its Monte Carlo error; what is compared: with the position in the model, and without.

Run: python studies/preferences.py [simulated|real|ranking] [repetitions]
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from truthing.metrics.estimate import Estimate
from truthing.preference.outcomes import Outcomes, draw_outcomes, share_draws
from truthing.preference.ranking import fit_davidson
from truthing.preference.verdicts import TIED, Verdicts

DRAWS = 2000


@dataclass(frozen=True)
class World:
    """How simulated judges behave. Shares of: verdicts for the first shown whatever the truth
    (``lean``), mistakes common to all judges (``shared``), of which ``liking`` favour system 0.
    """

    items: int = 200
    systems: int = 2
    judges: int = 4
    tie: float = 0.15
    lean: float = 0.15
    shared: float = 0.12
    liking: float = 0.5
    slip: float = 0.15
    both_orders: bool = True
    first_share: float = 0.5  # in one order: how often the pair's first system is shown first


def simulate(world: World, rng: np.random.Generator) -> tuple[Verdicts, np.ndarray]:
    """Verdicts and the true outcome of every comparison."""
    pairs = [(a, b) for a in range(world.systems) for b in range(a + 1, world.systems)]
    pair = np.repeat(np.array(pairs), world.items, axis=0)
    strength = rng.normal(0, 0.7, world.systems)
    chance = 1 / (1 + np.exp(strength[pair[:, 1]] - strength[pair[:, 0]]))
    n = len(pair)
    truth = np.where(rng.random(n) < world.tie, TIED, (rng.random(n) > chance).astype(int))
    seen = _shared_mistakes(world, truth, pair, rng)
    leans = np.clip(rng.normal(world.lean, 0.08, world.judges), 0, 0.5)
    slips = np.clip(rng.normal(world.slip, 0.05, world.judges), 0.02, 0.4)
    rows = []
    for j in range(world.judges):
        orders = (False, True) if world.both_orders else (None,)
        for order in orders:
            swapped = rng.random(n) > world.first_share if order is None else np.full(n, order)
            said = np.where(rng.random(n) < slips[j], rng.integers(0, 3, n), seen)
            said = np.where(rng.random(n) < leans[j], swapped.astype(int), said)
            if world.tie == 0:
                said = np.where(said == TIED, rng.integers(0, 2, n), said)
            rows.append((np.arange(n), np.full(n, j), said, swapped))
    comparison, judge, outcome, swapped = (np.concatenate(column) for column in zip(*rows))
    names = tuple(f"gpt-{j}" for j in range(world.judges))
    items = tuple(int(i) for i in np.tile(np.arange(world.items), len(pairs)))
    about = tuple(f"s{k}" for k in range(world.systems)), names, items, pair
    nothing = np.full(n, -1)
    return Verdicts(*about, comparison, judge, outcome, swapped, nothing, True), truth


def _shared_mistakes(
    world: World, truth: np.ndarray, pair: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """What every judge takes for the truth: wrong together on some, in favour of system 0."""
    n = len(truth)
    seen = truth.copy()
    wrong = rng.random(n) < world.shared
    liked = wrong & (rng.random(n) < world.liking) & (pair == 0).any(axis=1)
    seen[wrong] = (truth[wrong] + rng.integers(1, 3, int(wrong.sum()))) % 3
    seen[liked] = (pair[liked, 1] == 0).astype(int)
    return np.where((seen == TIED) & (world.tie == 0), 1 - np.minimum(truth, 1), seen)


def without_position(verdicts: Verdicts) -> Verdicts:
    """The same verdicts by somebody who does not know, or ask, which answer was shown first."""
    return replace(verdicts, swapped=np.zeros_like(verdicts.swapped))


def with_gold(verdicts: Verdicts, truth: np.ndarray, count: int, rng: Any) -> Verdicts:
    gold = np.full(len(truth), -1)
    chosen = rng.choice(len(truth), min(count, len(truth) // 2), replace=False)
    gold[chosen] = truth[chosen]
    return replace(verdicts, gold=gold)


def drawn(verdicts: Verdicts, seed: int, panel: str = "models") -> Outcomes:
    about = {"panel": panel, "panel_error": None, "target": "sample"}
    return draw_outcomes(verdicts, **about, n_draws=DRAWS, seed=seed)  # type: ignore[arg-type]


def checked(
    found: Outcomes, verdicts: Verdicts, truth: np.ndarray
) -> Iterator[tuple[bool, float, float]]:
    """For every pair and outcome: is the truth inside, how wide, how wide is gold alone."""
    rng = np.random.default_rng(0)
    kinds = 3 if verdicts.has_ties else 1
    for p, pair in enumerate(found.pairs):
        here = (verdicts.pair == pair).all(axis=1)
        gold = verdicts.gold[here & (verdicts.gold >= 0)]
        for kind in range(kinds):
            low, high = Estimate.from_draws(found.shares[:, p, kind]).interval(0.95)
            share = float((truth[here] == kind).mean())
            alone = np.nan
            if len(gold):
                hits = int((gold == kind).sum())
                size = len(gold), int(here.sum()), "sample", DRAWS
                least, most = Estimate.from_draws(share_draws(hits, *size, rng)).interval(0.95)
                alone = most - least
            yield low - 1e-9 <= share <= high + 1e-9, high - low, alone


def summary(name: str, rows: list[list[tuple[bool, float, float]]]) -> str:
    """Coverage with its Monte Carlo error (data sets are the units), width, and against gold."""
    means = np.array([np.mean([inside for inside, *_ in row]) for row in rows])
    error = means.std(ddof=1) / np.sqrt(len(means)) if len(means) > 1 else np.nan
    flat = [each for row in rows for each in row]
    width = np.mean([w for _, w, _ in flat])
    ratios = [w / a for _, w, a in flat if a > 0]
    against = (
        f"{np.median(ratios):.2f} of gold alone (most {max(ratios):.2f})" if ratios else "no gold"
    )
    return f"{name:<68} {means.mean():.3f} ± {error:.3f}   width {width:.3f}   {against}"


WORLDS = {
    "two systems, ties, both orders": World(),
    "two systems, ties, both orders, lean .4": World(lean=0.4),
    "two systems, no ties, one random order": World(tie=0.0, both_orders=False),
    "one order, one system first in 85%, lean .4": World(
        lean=0.4, both_orders=False, first_share=0.85
    ),
    "judges wrong together on 30%": World(shared=0.3),
    "judges like one system": World(shared=0.3, liking=1.0),
    "two judges, 80 items": World(items=80, judges=2),
    "four systems": World(items=60, systems=4),
    "four systems, one is liked": World(items=60, systems=4, shared=0.3, liking=1.0),
}


def coverage(world: World, golds: int, count: int, *, position: bool = True, seed: int = 0) -> Any:
    rows = []
    for n in range(count):
        rng = np.random.default_rng([seed, n, golds])
        verdicts, truth = simulate(world, rng)
        verdicts = with_gold(verdicts, truth, golds, rng)
        seen = verdicts if position else without_position(verdicts)
        rows.append(list(checked(drawn(seen, n), verdicts, truth)))
    return rows


def simulated(count: int) -> None:
    print(f"simulated, {count} data sets each; coverage of nominal .95 intervals")
    for name, world in WORLDS.items():
        for golds in (0, 10, 25, 50):
            for position in (True, False)[: 2 if world.lean > 0.3 else 1]:
                said = f"{name}, {golds} gold{'' if position else ', position ignored'}"
                print(summary(said, coverage(world, golds, count, position=position)), flush=True)


def ranking(count: int) -> None:
    """Strengths of all systems, and whether the best on these items is in the set of probable."""
    print(f"ranking, simulated, {count} data sets each: strengths of Davidson's model")
    for golds in (0, 10, 25, 50, 100):
        rows, best = [], []
        for n in range(count):
            rng = np.random.default_rng([1, n, golds])
            verdicts, truth = simulate(WORLDS["four systems, one is liked"], rng)
            found = drawn(with_gold(verdicts, truth, golds, rng), n)
            strength, _ = fit_davidson(found.counts, found.pairs, 4)
            exact, _ = fit_davidson(_counted(found, verdicts, truth)[None], found.pairs, 4)
            limits = [Estimate.from_draws(strength[:, s]).interval(0.95) for s in range(4)]
            rows.append(
                [
                    (bool(low <= x <= high), high - low, np.nan)
                    for (low, high), x in zip(limits, exact[0])
                ]
            )
            chance = np.bincount(strength.argmax(axis=1), minlength=4) / len(strength)
            best.append(chance[exact[0].argmax()])
        print(summary(f"strengths, {golds} gold", rows), f"  P(true best) {np.mean(best):.2f}")


def _counted(found: Outcomes, verdicts: Verdicts, truth: np.ndarray) -> np.ndarray:
    counts = np.zeros((len(found.pairs), 3))
    for p, pair in enumerate(found.pairs):
        counts[p] = np.bincount(truth[(verdicts.pair == pair).all(axis=1)], minlength=3)
    return counts


# ---- real judges ---------------------------------------------------------------------------------


def real_sets() -> dict[str, tuple[list[Any], dict[Any, int]]]:
    """Rows (item, judge, outcome, swapped) and the truth of each public set."""
    import polars as pl
    from panels import data_folder

    folder, found = data_folder(), {}
    judged = pl.read_csv(folder / "llmbar" / "judgments.csv.gz")
    gold = pl.read_csv(folder / "llmbar" / "gold.csv")
    for prompt in ("Vanilla", "CoT", "Metrics_Reference"):
        for subset in gold["subset"].unique().sort():
            part = judged.filter((pl.col("subset") == subset) & (pl.col("prompt") == prompt))
            rows = [
                (r["item"], r["model"], int(r[column]) - 1, column == "win_swapped")
                for r in part.iter_rows(named=True)
                for column in ("win", "win_swapped")
                if r[column] is not None
            ]
            known = gold.filter(pl.col("subset") == subset)
            if rows:
                truth = dict(zip(known["item"], (known["gold"] - 1).to_list()))
                found[f"llmbar {prompt} {subset}"] = rows, truth
    for name, codes in (("pandalm", {1: 0, 2: 1, 0: 2}), ("arena_2judges", {"A": 0, "B": 1})):
        labels = pl.read_csv(folder / "judges" / name / "labels.csv")
        truth = pl.read_csv(folder / "judges" / name / "truth.csv")
        rows = [(i, j, codes[label], False) for i, j, label in labels.iter_rows()]
        found[name] = rows, {i: codes[t] for i, t in truth.iter_rows()}
    return found


def as_case(
    rows: list[Any], known: dict[Any, int], rng: np.random.Generator, most: int = 150
) -> tuple[Verdicts, np.ndarray]:
    """Some of the items and judges, answers given to systems x and y by an uneven coin."""
    items = sorted({row[0] for row in rows} & set(known), key=str)
    items = [items[i] for i in rng.permutation(len(items))[:most]]
    names = sorted({row[1] for row in rows})
    names = [names[j] for j in rng.permutation(len(names))[: rng.integers(2, len(names) + 1)]]
    # x gets the truly better answer with this chance, whatever the position it was shown at
    better = rng.uniform(0.1, 0.9)
    turned = {}
    for item in items:
        x_better = rng.random() < better
        turned[item] = known[item] != TIED and (known[item] == 0) != x_better
    place = {item: n for n, item in enumerate(items)}
    used = [r for r in rows if r[0] in place and r[1] in names]
    flip = np.array([turned[r[0]] for r in used])
    outcome = np.array([r[2] for r in used])
    outcome = np.where(flip & (outcome < TIED), 1 - outcome, outcome)
    truth = np.array([known[item] for item in items])
    truth = np.where([turned[item] and known[item] < TIED for item in items], 1 - truth, truth)
    verdicts = Verdicts(
        ("x", "y"),
        tuple(names),
        tuple(items),
        np.tile([0, 1], (len(items), 1)),
        np.array([place[r[0]] for r in used]),
        np.array([names.index(r[1]) for r in used]),
        outcome,
        np.array([r[3] for r in used]) != flip,
        np.full(len(items), -1),
        True,
    )
    return verdicts, truth


def real(count: int) -> None:
    sets = real_sets()
    families = ("llmbar Vanilla", "llmbar CoT", "llmbar Metrics", "pandalm", "arena")
    print(f"real judges, {count} random halves and relabelings of each set")
    for golds in (0, 10, 25, 50):
        for position in (True, False):
            for family in families:
                rows = []
                for name, (given, known) in sets.items():
                    if not name.startswith(family):
                        continue
                    for n in range(count):
                        rng = np.random.default_rng([2, n, golds, zlib.crc32(name.encode())])
                        verdicts, truth = as_case(given, known, rng)
                        verdicts = with_gold(verdicts, truth, golds, rng)
                        seen = verdicts if position else without_position(verdicts)
                        rows.append(list(checked(drawn(seen, n), verdicts, truth)))
                said = f"{family}, {golds} gold{'' if position else ', position ignored'}"
                print(summary(said, rows), flush=True)


if __name__ == "__main__":
    what = sys.argv[1] if len(sys.argv) > 1 else "simulated"
    repetitions = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    {"simulated": simulated, "real": real, "ranking": ranking}[what](repetitions)
