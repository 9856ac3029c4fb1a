"""Do 95% intervals hold the truth on real panels that played no part in them?

Each labeler of a public panel is graded by the others with `tr.grade`, `tr.prevalence` and
`tr.compare` as users call them; only the numbers of the link are replaced by those learned without
the panel's family. Gold: random items, at most half. Printed: coverage and width, mean over sets
(labelers and gold draws averaged first), the width beside gold alone's, the worst sets.

    python benchmarks/honesty.py --kind people --graded 20 --told
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "studies"))
from fit_link import Observed, fit_all, load_observed, observed_cases, wrong_labels
from panels import Case, Panel, graded_cases, half_of, panels, small_cases

import truthing as tr
from truthing.truth import answer, beside_panel, told_views
from truthing.truth.gold_alone import difference_draws
from truthing.truth.link import prior as link_prior

GOLD = (0, 10, 25, 50, 100, 200)
SURE = 0.9  # P(better) of a verdict that is checked
FEWEST = 10  # true and predicted items of a class whose precision, recall and F1 are checked
Row = tuple[str, str, str, int, bool, float, float, bool]  # set, method, metric, gold, held, width…


def peers(case: Case, chosen: np.ndarray) -> Iterator[tuple[str, float, float]]:
    """Intervals of the accuracy by others: majority vote, plug-in papers, PPI++, Rogan-Gladen."""
    from scipy.stats import beta

    votes = case.labels.counts()
    top = votes == votes.max(axis=1, keepdims=True)
    guess = (top / top.sum(axis=1, keepdims=True))[np.arange(len(votes)), case.predicted]
    n = len(guess)
    if len(chosen) == 0:
        right = guess.sum()
        yield "majority vote", *beta.ppf([0.025, 0.975], right + 0.5, n - right + 0.5)
        return
    from ppi_py import ppi_mean_ci

    rest = np.setdiff1d(np.arange(n), chosen)
    truth = case.right[chosen].astype(float)
    low, high = ppi_mean_ci(truth, guess[chosen], guess[rest], alpha=0.05)
    yield "PPI++", float(np.ravel(low)[0]), float(np.ravel(high)[0])
    seen = guess[chosen] > 0.5
    hit, miss = (truth > 0.5) & seen, (truth < 0.5) & ~seen
    sensitivity = (hit.sum() + 1) / ((truth > 0.5).sum() + 2)
    specificity = (miss.sum() + 1) / ((truth < 0.5).sum() + 2)
    slope = sensitivity + specificity - 1
    if slope > 0.05:
        share = guess.mean()
        centre = (share + specificity - 1) / slope
        error = share * (1 - share) / n + centre**2 * sensitivity * (1 - sensitivity) / (
            (truth > 0.5).sum() + 2
        )
        error += (1 - centre) ** 2 * specificity * (1 - specificity) / ((truth < 0.5).sum() + 2)
        reach = 1.96 * np.sqrt(error) / slope
        yield "Rogan-Gladen", centre - reach, centre + reach


def truths(case: Case) -> dict[str, float]:
    """The metrics to be checked, as they truly are."""
    found = {"accuracy": float(case.right.mean())}
    classes, two = case.labels.classes, case.labels.n_classes == 2
    for c, name in enumerate(classes):
        said, true = case.predicted == c, case.truth == c
        if min(said.sum(), true.sum()) < FEWEST or (two and c == 0):
            continue
        both = float((said & true).sum())
        tag = "" if two else f"[{name}]"
        found["precision" + tag] = both / said.sum()
        found["recall" + tag] = both / true.sum()
        found["f1" + tag] = 2 * both / (said.sum() + true.sum())
    return found


def given_noise(options: argparse.Namespace, labels: tr.Labels, truth: np.ndarray) -> Any:
    """What a user knows who knows how often labels, or each labeler's, are wrong; ``--off`` times
    as often."""
    if not options.noise:
        return None
    if options.noise == "mean":
        return float(np.clip(options.off * wrong_labels(labels, truth), 0.001, 0.999))
    wrong = (labels.label != truth[labels.item]).astype(float)
    given = np.bincount(labels.labeler, minlength=labels.n_labelers)
    rate = np.bincount(labels.labeler, wrong, labels.n_labelers) / np.maximum(given, 1)
    known = np.clip(options.off * rate, 0.001, 0.999)
    return {w: float(known[t]) for t, w in enumerate(labels.labelers) if given[t] > 0}


def grade_rows(case: Case, panel: str | None, n_gold: int, repeat: int, options: Any) -> list[Row]:
    """One gold draw: every metric by `tr.grade`, gold alone beside it, and the peers."""
    n = len(case.truth)
    rng = np.random.default_rng([abs(hash_of(case.set + case.name)), n_gold, repeat])
    chosen = rng.permutation(n)[:n_gold]
    items, classes = case.labels.items, case.labels.classes
    gold = {items[i]: classes[case.truth[i]] for i in chosen} or None
    said = [classes[k] for k in case.predicted]
    noise = given_noise(options, case.labels, case.truth)
    how = {"panel": panel, "noise": noise, "draws": options.posterior_draws, "seed": repeat}
    try:
        report = tr.grade(said, case.labels, gold=gold, **how)
    except (tr.NotIdentified, tr.NotConverged) as refusal:
        name = type(refusal).__name__
        return [(case.set, "refused: " + name, "accuracy", n_gold, False, 0.0, 0.0, False)]
    rows: list[Row] = []
    for metric, truth in truths(case).items():
        low, high = report[metric].interval(0.95)
        alone, alone_held = float("nan"), False
        if gold:
            least, most = report.gold_alone[metric].interval(0.95)
            alone, alone_held = most - least, inside(truth, least, most)
        held = inside(truth, low, high)
        rows.append((case.set, "truthing", metric, n_gold, held, high - low, alone, alone_held))
    if repeat < 5:
        truth = float(case.right.mean())
        for name, low, high in peers(case, chosen):
            held, width = inside(truth, low, high), min(high, 1) - max(low, 0)
            rows.append((case.set, name, "accuracy", n_gold, held, width, float("nan"), False))
    return rows


def share_rows(panel: Panel, kind: str | None, n_gold: int, repeat: int, options: Any) -> list[Row]:
    """Class shares of the whole set by `tr.prevalence`."""
    n = len(panel.truth)
    rng = np.random.default_rng([abs(hash_of(panel.name)), n_gold, repeat])
    part = np.sort(rng.permutation(n)[: min(n, 600)])
    labels, truth = panel.labels[part], panel.truth[part]
    chosen = rng.permutation(len(truth))[:n_gold]
    gold = {labels.items[i]: labels.classes[truth[i]] for i in chosen} or None
    noise = given_noise(options, labels, truth)
    how = {"panel": kind, "noise": noise, "draws": options.posterior_draws, "seed": repeat}
    try:
        found = tr.prevalence(labels, gold=gold, **how)
    except (tr.NotIdentified, tr.NotConverged) as refusal:
        name = type(refusal).__name__
        return [(panel.name, "refused: " + name, "share", n_gold, False, 0.0, 0.0, False)]
    rows: list[Row] = []
    for c, name in enumerate(labels.classes):
        share = float((truth == c).mean())
        low, high = found[name].interval(0.95)
        alone, alone_held = float("nan"), False
        if gold:
            hits = int((truth[chosen] == c).sum())
            theta = rng.beta(hits + 0.5, n_gold - hits + 0.5, 2000)
            values = np.sort((hits + rng.binomial(len(truth) - n_gold, theta)) / len(truth))
            least, most = tr.Estimate.from_draws(values).interval(0.95)
            alone, alone_held = most - least, inside(share, least, most)
        held = inside(share, low, high)
        rows.append((panel.name, "truthing", "share", n_gold, held, high - low, alone, alone_held))
    return rows


def difference_rows(
    cases: list[Case], kind: str | None, n_gold: int, repeat: int, options: Any
) -> list[Row]:
    """Differences of accuracy between neighbours in the list, on the items both have; as
    "verdict" also how often a sure one is right, with its mean probability as width."""
    rows: list[Row] = []
    for a, b in zip(cases[::2], cases[1::2]):
        at = {item: i for i, item in enumerate(b.labels.items)}
        common = [i for i, item in enumerate(a.labels.items) if item in at]
        if len(common) < 60 or n_gold > len(common) // 2:
            continue
        rng = np.random.default_rng([abs(hash_of(a.set + a.name)), n_gold, repeat, 9])
        here, there = np.array(common), np.array([at[a.labels.items[i]] for i in common])
        labels = a.labels[here]
        if b.name in labels.labelers:
            labels = labels.select([w for w in labels.labelers if str(w) != b.name])
        if (labels.per_item > 0).sum() < len(here):
            continue
        classes, truth = labels.classes, a.truth[here]
        chosen = rng.permutation(len(here))[:n_gold]
        gold = {labels.items[i]: classes[truth[i]] for i in chosen} or None
        said = {"a": a.predicted[here], "b": b.predicted[there]}
        named = {key: [classes[k] for k in codes] for key, codes in said.items()}
        try:
            noise = given_noise(options, labels, truth)
            how = {"panel": kind, "noise": noise, "draws": 400, "seed": repeat}
            found = tr.compare(named, labels, gold=gold, **how)
        except (tr.NotIdentified, tr.NotConverged):
            continue
        gap = found.difference("accuracy")
        low, high = gap.interval(0.95)
        true = float((said["a"] == truth).mean() - (said["b"] == truth).mean())
        alone, alone_held = float("nan"), False
        if gold:
            known = np.full(len(truth), -1)
            known[chosen] = truth[chosen]
            both = said["a"], said["b"]
            values = difference_draws(both, known, "sample", 2000, rng)
            least, most = tr.Estimate.from_draws(values, support=(-1.0, 1.0)).interval(0.95)
            alone, alone_held = most - least, inside(true, least, most)
        held = inside(true, low, high)
        rows.append((a.set, "truthing", "difference", n_gold, held, high - low, alone, alone_held))
        sure = max(gap.probability_better, 1 - gap.probability_better)
        if sure >= SURE and true != 0:
            right = (gap.probability_better > 0.5) == (true > 0)
            rows.append((a.set, "truthing", "verdict", n_gold, right, sure, float("nan"), False))
    return rows


def inside(value: float, low: float, high: float) -> bool:
    return bool(low - 1e-9 <= value <= high + 1e-9)


def hash_of(text: str) -> int:
    """The same on every run, unlike Python's own."""
    return int(
        np.frombuffer(text.encode().ljust(8, b"_"), dtype=np.uint8).astype(np.int64)
        @ (np.arange(max(len(text.encode()), 8), dtype=np.int64) * 7919 + 31)
    )


def remember_panels() -> None:
    """What does not depend on gold is computed once: views of a panel, and what is told about its
    labelers, which sets no interval (tests/unit/test_link.py)."""
    for name, key in (
        ("read_panel", lambda entries, predicted: (entries.item, entries.label, predicted)),
        ("read_consensus", lambda entries: (entries.item, entries.label)),
        ("quick_labelers", lambda question, fit: (fit.posterior,)),
    ):
        setattr(answer, name, _remembered(getattr(answer, name), key))
    beside_panel.read_panel = told_views.read_panel = answer.read_panel


def _remembered(function: Any, key: Any) -> Any:
    held: dict[int, Any] = {}

    def again(*args: Any, **options: Any) -> Any:
        mark = hash(tuple(part.tobytes() for part in key(*args)))
        if mark not in held:
            if len(held) > 50:
                held.clear()
            held[mark] = function(*args, **options)
        return held[mark]

    return again


def few_judges(panel: Panel, size: int = 4) -> Panel:
    """The same items with the labels of four random judges."""
    labels = panel.labels
    chosen = np.random.default_rng(hash_of(panel.name)).permutation(labels.n_labelers)[:size]
    some = labels.select([labels.labelers[t] for t in chosen])
    seen = np.flatnonzero(some.per_item > 0)
    return replace(panel, labels=some[seen], truth=panel.truth[seen])


def run_panel(task: tuple[str, str, list[Observed], argparse.Namespace]) -> list[Row]:
    """Everything about one set, with numbers that know nothing of its family."""
    kind, name, seen, options = task
    warnings.filterwarnings("ignore")  # peers divide by zero where all gold is right
    remember_panels()
    numbers = fit_all(seen)
    link_prior.DEFAULT.update(numbers[False])
    link_prior.OWN_LABELS.update(numbers[True])
    panel = next(p for p in panels(kind, only=name.removesuffix("_binary")) if p.name == name)
    if options.items and kind == "models":
        some = np.random.default_rng(0).permutation(len(panel.truth))[: options.items]
        part = np.sort(some)
        panel = replace(panel, labels=panel.labels[part], truth=panel.truth[part])
    told = kind if options.told else None
    cases = list(graded_cases(panel, most=options.labelers))
    if options.few:
        cases, panel = list(small_cases(panel)), few_judges(panel)
    rows: list[Row] = []
    for n_gold in options.gold:
        most = max(options.graded, options.shares, options.differences)
        repeats = most if n_gold else min(most, 1)
        for repeat in range(repeats):
            for case in cases:
                if n_gold <= len(case.truth) // 2 and repeat < options.graded:
                    rows += grade_rows(case, told, n_gold, repeat, options)
            if n_gold <= min(len(panel.truth), 600) // 2 and repeat < options.shares:
                rows += share_rows(panel, told, n_gold, repeat, options)
            if repeat < options.differences:
                rows += difference_rows(cases, told, n_gold, repeat, options)
    return rows


def run(options: argparse.Namespace) -> list[tuple[str, str, Row]]:
    seen = load_observed(options.observed) if options.observed else observed_cases()
    listed = [(p.kind, p.family, p.name) for p in panels(options.kind, only=options.only)]
    crowds = sorted({f for k, f, _ in listed if k == "people"})
    listed = [s for s in listed if options.half in ("", half_of(s[1], s[0], crowds))]
    tasks = [(k, n, [o for o in seen if o.family != f], options) for k, f, n in listed]
    rows: list[tuple[str, str, Row]] = []
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        for (kind, family, name), found in zip(listed, pool.map(run_panel, tasks)):
            rows += [(kind, family, row) for row in found]
            print(f"{name} done", file=sys.stderr, flush=True)
            if options.save:
                Path(options.save).write_text(json.dumps(rows))
    return rows


def show(rows: list[tuple[str, str, Row]]) -> None:
    """Means over sets, by kind, gold, method and metric."""
    sets: dict[tuple[str, int, str, str], dict[str, list[Row]]] = defaultdict(
        lambda: defaultdict(list)
    )
    family_of: dict[str, str] = {}
    for kind, family, row in rows:
        name, method, metric, n_gold = row[:4]
        family_of[name] = family
        sets[kind, n_gold, method, metric.split("[")[0]][name].append(row)
    head = f"{'kind':<7}{'gold':>5}  {'method':<14}{'metric':<11}{'sets':>5}{'held':>7}{'± ':>6}"
    print(head + f"{'width':>7}{'of gold':>8}{'alone':>7}{'max':>6}  sets below .88 (worst first)")
    for key in sorted(sets):
        found = sets[key]
        held = {name: float(np.mean([r[4] for r in part])) for name, part in found.items()}
        width = {name: float(np.mean([r[5] for r in part])) for name, part in found.items()}
        alone = {name: float(np.nanmean([r[6] for r in part])) for name, part in found.items()}
        by_gold = [float(np.mean([r[7] for r in part])) for part in found.values()]
        values = np.array(list(held.values()))
        error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else float("nan")
        ratio = np.mean(list(width.values())) / np.mean(list(alone.values()))
        cases = [r[5] / r[6] for part in found.values() for r in part if r[6] > 0]
        worst = sorted((h, name) for name, h in held.items() if h < 0.88)[:6]
        print(
            f"{key[0]:<7}{key[1]:>5}  {key[2]:<14}{key[3]:<11}{len(values):>5}{values.mean():>7.3f}"
            f"{error:>6.3f}{np.mean(list(width.values())):>7.3f}{ratio:>8.2f}{np.mean(by_gold):>7.3f}"
            f"{max(cases, default=float('nan')):>6.2f}  "
            + ", ".join(f"{name} {h:.2f}" for h, name in worst)
        )
    print("\nNo gold, accuracy, by family (mean over its sets)")
    for kind in ("people", "models"):
        found = sets.get((kind, 0, "truthing", "accuracy"), {})
        by_family: dict[str, list[Any]] = defaultdict(list)
        for name, part in found.items():
            by_family[family_of[name]].append(np.mean([[r[4], r[5]] for r in part], axis=0))
        for family, values_of in sorted(by_family.items()):
            held_width = np.mean(values_of, axis=0)
            print(f"{kind:<7} {family:<20}{held_width[0]:>7.2f}{held_width[1]:>7.3f}")


def markdown(rows: list[tuple[str, str, Row]]) -> None:
    """The tables of docs/honesty.md: held ± between sets / mean width."""
    sets: dict[tuple[str, int, str, str], dict[str, list[Row]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for kind, _, row in rows:
        sets[kind, row[3], row[1], row[2].split("[")[0]][row[0]].append(row)
    others = ("precision", "recall", "f1", "share", "difference")
    for kind in ("people", "models"):
        gold = sorted({key[1] for key in sets if key[0] == kind})
        print(f"\n{kind}\n\n| gold | sets | accuracy | beside gold alone | gold alone | peers |")
        print("|---|---|---|---|---|---|")
        for g in gold:
            ours = sets[kind, g, "truthing", "accuracy"]
            named = [key[2] for key in sets if key[:2] == (kind, g) and key[3] == "accuracy"]
            peers_of = [n for n in dict.fromkeys(named) if n != "truthing" and "refused" not in n]
            peer = ", ".join(f"{n} {_cell(sets[kind, g, n, 'accuracy'])}" for n in peers_of)
            relative = f"{_mean(ours, 5) / _mean(ours, 6):.2f}" if g else "–"
            alone = f"{_mean(ours, 7):.3f} / {_mean(ours, 6):.3f}" if g else "–"
            print(f"| {g} | {len(ours)} | {_cell(ours)} | {relative} | {alone} | {peer} |")
        print(f"\n| gold | {' | '.join(others)} |\n|---|{'---|' * len(others)}")
        for g in gold:
            found = [sets[kind, g, "truthing", metric] for metric in others]
            alone = [f" ({_mean(x, 7):.3f} / {_mean(x, 6):.3f})" if g and x else "" for x in found]
            cells = [_cell(x) + more if x else "–" for x, more in zip(found, alone)]
            print(f"| {g} | {' | '.join(cells)} |")


def _mean(found: dict[str, list[Row]], place: int) -> float:
    return float(np.mean([np.nanmean([r[place] for r in part]) for part in found.values()]))


def _cell(found: dict[str, list[Row]]) -> str:
    held = np.array([np.mean([r[4] for r in part]) for part in found.values()])
    error = held.std(ddof=1) / np.sqrt(len(held)) if len(held) > 1 else float("nan")
    return f"**{held.mean():.3f}** ± {error:.3f} / {_mean(found, 5):.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--kind", choices=("people", "models"), default=None)
    parser.add_argument("--only", default="", help="sets whose names start with this")
    parser.add_argument("--half", choices=("", "A", "B"), default="")
    parser.add_argument("--gold", type=int, nargs="+", default=list(GOLD))
    parser.add_argument("--graded", type=int, default=20, help="gold draws per labeler")
    parser.add_argument("--shares", type=int, default=20, help="gold draws per set, class shares")
    parser.add_argument("--labelers", type=int, default=10, help="graded per set, at most")
    parser.add_argument("--differences", type=int, default=5, help="gold draws per pair of models")
    parser.add_argument("--posterior-draws", type=int, default=500)
    parser.add_argument("--few", action="store_true", help="judges by 3, 5, 8 others; shares by 4")
    parser.add_argument("--items", type=int, default=0, help="of a panel of models, at most")
    parser.add_argument("--save", default="", help="a file for the rows, to be shown with others")
    parser.add_argument("--show", nargs="+", default=[], help="only show what runs saved")
    parser.add_argument(
        "--markdown", action="store_true", help="tables as docs/honesty.md has them"
    )
    parser.add_argument("--told", action="store_true", help="panel= is given, not guessed")
    parser.add_argument("--observed", default="", help="what fit_link.py saved, to save time")
    parser.add_argument(
        "--noise",
        choices=("", "mean", "each"),
        default="",
        help="noise= is given: the labels' true mean error, or each labeler's",
    )
    parser.add_argument("--off", type=float, default=1.0, help="it is wrong by this factor")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if options.show:
        saved = [json.loads(Path(name).read_text()) for name in options.show]
        rows = [(kind, family, tuple(row)) for part in saved for kind, family, row in part]
    else:
        if any(options.gold) and find_spec("ppi_py") is None:
            sys.exit("PPI++ is a peer beside gold: `pip install 'truthing[bench]'` first.")
        rows = run(options)
    (markdown if options.markdown else show)(rows)


if __name__ == "__main__":
    main()
