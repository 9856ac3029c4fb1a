"""prefer(): which of two or more systems is truly better, from verdicts of judges who err."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from truthing.arguments import as_draws, as_panel_error, as_seed, check_target
from truthing.errors import InputError, NotIdentified, listing
from truthing.panel_kind import panel_of
from truthing.preference.judges import look_at_judges, mixed_orders
from truthing.preference.outcomes import Outcomes, draw_outcomes
from truthing.preference.ranking import connected
from truthing.preference.result import Preferences
from truthing.preference.verdicts import Verdicts, read_verdicts
from truthing.repeats import Repeats

ODD = 0.01  # a gold count this improbable contradicts the judges
LEANS = 0.6  # share of the first shown from which a judge is said to lean


def prefer(
    verdicts: Any,
    *,
    gold: Any = None,
    target: str = "sample",
    panel: str | None = None,
    panel_error: float | tuple[float, float] | None = None,
    repeats: Repeats = "error",
    map: Mapping[Any, Any] | None = None,
    missing: Any = (),
    item_column: str | None = None,
    judge_column: str | None = None,
    system_a_column: str | None = None,
    system_b_column: str | None = None,
    verdict_column: str | None = None,
    order_column: str | None = None,
    truth_column: str | None = None,
    draws: int = 4000,
    seed: int = 0,
) -> Preferences:
    """Which system's answers are truly better how often, although judges err and lean.

    Parameters
    ----------
    verdicts : path, data frame or rows
        One row for each verdict: item, judge, system_a, system_b, verdict (A, B, tie, or the
        winner's name), and order (AB or BA: which was shown first) if it is known. Without system
        columns the two systems are called A and B. Without order, system_a was shown first.
    gold : mapping, path or data frame, optional
        What people say of some random items: item to A, B, tie or the winner's name; with several
        pairs of systems a table with system_a and system_b too. Ten of each pair are a good start.
    target : {"sample", "population"}, default "sample"
        "sample" asks about these items, "population" about new items like them.
    panel : {"people", "models", "mixed"}, optional
        What the judges are. None: guessed from their names, and said.
    panel_error : float or tuple, optional
        How often the judges may be wrong together, as in `prevalence`. None: a wide prior.
    repeats : {"error", "first", "last", "keep"}, default "error"
        What to do when a judge gives two verdicts on the same answers in the same order.
    map : mapping, optional
        What written verdicts mean: ``{"1": "A", "2": "B", "0": "tie"}``.
    missing : word or list of words, optional
        Words that are no verdict.
    item_column, judge_column, system_a_column, system_b_column : str, optional
        Names of columns, where they are not the usual ones.
    verdict_column, order_column, truth_column : str, optional
        The same of verdicts, of orders, and of gold that stands beside the verdicts.
    draws : int, default 4000
        Draws of the posterior.
    seed : int, default 0
        Same seed, same answer.

    Returns
    -------
    Preferences
        ``result.win_rate("new", "old")``, ``result.probability_best``, ``result.judges``.

    Raises
    ------
    InputError
        A file or argument cannot be used as it is; the message says what to change.
    NotIdentified
        One judge and no gold: nobody can say how often it is right.

    See Also
    --------
    prevalence : the pass rate of one system.
    compare : classifiers with labels.

    Examples
    --------
    >>> import truthing as tr
    >>> rows = [
    ...     {"item": i, "judge": j, "system_a": "new", "system_b": "old",
    ...      "verdict": "B" if i % 4 == 0 else "A", "order": o}
    ...     for i in range(60) for j in ("gpt-4", "claude-3") for o in ("AB", "BA")
    ... ]
    >>> result = tr.prefer(rows, gold={i: "old" if i % 4 == 0 else "new" for i in range(0, 60, 3)})
    >>> low, high = result.win_rate("new", "old").interval(0.95)
    >>> bool(low < 0.75 < high)
    True
    """
    check_target(target)
    draws, seed, panel_error = as_draws(draws), as_seed(seed), as_panel_error(panel_error)
    if panel_error == 0:
        raise InputError(
            "panel_error 0 would trust the judges' consensus without doubt, and preference judges "
            "share mistakes: give a small share such as 0.02."
        )
    columns = {
        "item": item_column,
        "judge": judge_column,
        "system_a": system_a_column,
        "system_b": system_b_column,
        "verdict": verdict_column,
        "order": order_column,
        "truth": truth_column,
    }
    words = (missing,) if isinstance(missing, str) else tuple(missing)
    read = read_verdicts(verdicts, gold, columns=columns, meant=map, missing=words, repeats=repeats)
    _check(read, panel_error)
    lines: list[str] = []
    kind = panel_of(panel, read.judges, lines)
    found = draw_outcomes(
        read, panel=kind, panel_error=panel_error, target=target, n_draws=draws, seed=seed
    )
    judges = look_at_judges(read, seed)
    sizes = {
        "items": len(set(read.items)),
        "comparisons": read.n_comparisons,
        "n_judges": len(read.judges),
        "verdicts": len(read.outcome),
        "gold": int((read.gold >= 0).sum()),
    }
    warnings = [*read.notes.checks, *_warnings(read, found, judges)]
    assumed = [*read.notes.remarks, *lines, *_assumptions(read, target, panel_error)]
    return Preferences(read.systems, found, judges, target, seed, sizes, warnings, assumed)


def _check(read: Verdicts, panel_error: Any) -> None:
    """One judge alone cannot be told from a coin that is loaded the same way each time."""
    if (read.gold >= 0).any() or panel_error is not None:
        return
    seen = np.unique(read.comparison.astype(np.int64) * len(read.judges) + read.judge)
    most = np.bincount(seen // len(read.judges)).max()
    if most < 2:
        who = "there is one judge" if len(read.judges) == 1 else "no item has two judges"
        raise NotIdentified(
            f"{who} and no gold: both orders show whether a judge is consistent, not whether it is "
            "right. Add gold on ten random items or more (`gold=`), add a second judge, or say how "
            "often it may be wrong (`panel_error=0.2`)."
        )


def _warnings(read: Verdicts, found: Outcomes, judges: Mapping[Any, Any]) -> list[str]:
    lines = []
    leaning = [
        f"{name} ({judge.first.mean:.0%})"
        for name, judge in judges.items()
        if judge.first is not None and abs(judge.first.mean - 0.5) > LEANS - 0.5
    ]
    if leaning:
        cure = "" if read.both_orders else " Ask in both orders: that cancels most of it."
        lines.append(
            f"Judges who lean to a position (share of the answer shown first; 50% is no lean): "
            f"{listing(leaning, 4)}.{cure}"
        )
    if not read.both_orders and not mixed_orders(read):
        lines.append(
            "A system is shown first nearly always: a lean to the first place and a better system "
            "look the same. Ask in both orders, or add gold."
        )
    for p, odd in enumerate(found.surprise):
        if odd < ODD:
            a, b = (read.systems[s] for s in found.pairs[p])
            lines.append(
                f"Gold on {a} and {b} contradicts the judges (a count so odd had probability "
                f"{max(odd, 0.002):.1g}): the answer leans on gold. Is gold a random choice?"
            )
    groups = connected(len(read.systems), found.pairs)
    if len(groups) > 1:
        names = " | ".join(listing((read.systems[s] for s in group), 3) for group in groups)
        lines.append(f"Systems cannot be ranked, for no comparison joins these groups: {names}.")
    bare = int((found.n_gold == 0).sum())
    if (read.gold >= 0).any() and bare:
        lines.append(f"{bare} of {len(found.pairs)} pairs of systems have no gold of their own.")
    return lines


def _assumptions(read: Verdicts, target: str, panel_error: Any) -> list[str]:
    how = (
        "as far as the prior allows, which is wider than that of public panels of judges"
        if panel_error is None
        else "by your word"
    )
    lines = [f"Judges may be wrong together, {how}; `panel_error=` changes it."]
    if (read.gold >= 0).any():
        lines.append("Gold items are a random choice, and gold is right.")
    else:
        lines.append(
            "No gold: nothing here shows how often the judges are right. Gold on ten random items "
            "of each pair narrows the intervals most."
        )
    if not read.ordered:
        lines.append("No column says which answer was shown first: system_a is taken to be.")
    if len(read.systems) > 2:
        lines.append(
            "The ranking is Bradley–Terry's with ties (Davidson): one strength for each system."
        )
        if target == "population":
            lines.append("Comparisons are redrawn one by one, also where pairs share items.")
    return lines
