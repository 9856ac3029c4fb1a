"""truthing prefer."""

from __future__ import annotations

from typing import Annotated

import typer

from truthing.cli import gates, options, parse, showing
from truthing.cli.groups import spread

JudgeColumn = Annotated[
    str | None, typer.Option("--judge-column", help="Column that names the judge.")
]
SystemAColumn = Annotated[
    str | None, typer.Option("--system-a-column", help="Column that names the first system, A.")
]
SystemBColumn = Annotated[
    str | None, typer.Option("--system-b-column", help="Column that names the second system, B.")
]
VerdictColumn = Annotated[
    str | None, typer.Option("--verdict-column", help="Column with A, B or tie.")
]
OrderColumn = Annotated[
    str | None,
    typer.Option("--order-column", help="Column that says which was shown first: AB or BA."),
]
PreferMap = Annotated[
    str | None,
    typer.Option("--map", help="What written verdicts mean, as WRITTEN=VERDICT: 1=A,2=B,0=tie."),
]


@spread
def prefer(
    verdicts: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Verdicts: item, judge, system_a, system_b, verdict (A, B, tie), order if known; "
            "- is standard input.",
        ),
    ],
    gold: options.Gold = None,
    target: options.Target = "sample",
    panel_error: options.PanelError = None,
    panel: options.Panel = None,
    repeats: options.Repeats = "error",
    level: options.Level = 0.95,
    output: showing.Output = showing.ON_SCREEN,
    gate: gates.Gate = gates.OPEN,
    seed: options.Seed = 0,
    item_column: options.ItemColumn = None,
    judge_column: JudgeColumn = None,
    system_a_column: SystemAColumn = None,
    system_b_column: SystemBColumn = None,
    verdict_column: VerdictColumn = None,
    order_column: OrderColumn = None,
    truth_column: options.TruthColumn = None,
    missing: options.Missing = None,
    map: PreferMap = None,
) -> None:
    """Which of two or more systems is preferred how often, from judges' verdicts in both orders.

    As a gate: --require "new >= 0.5" (share of its comparisons that the system new wins), "tie <=
    0.2", or "score[new] >= 0.5" (wins and half the ties).
    """
    from truthing.preference.prefer import prefer as preferences
    from truthing.render.prefer import show
    from truthing.tables.asked import keywords

    output.check()
    asked = gate.asked("prefer")
    words = keywords(missing=missing, map=map)
    result = preferences(
        verdicts,
        gold=gold,
        target=target,
        panel=panel,
        panel_error=parse.panel_error(panel_error),
        repeats=repeats,  # type: ignore[arg-type]
        item_column=item_column,
        judge_column=judge_column,
        system_a_column=system_a_column,
        system_b_column=system_b_column,
        verdict_column=verdict_column,
        order_column=order_column,
        truth_column=truth_column,
        seed=seed,
        **words,
    )
    parse.in_words_of_options(result)
    judged = gate.judge(result, asked)
    showing.deliver(result, output, show, about={"level": level}, verdicts=judged)
    gate.end(judged, "prefer")
