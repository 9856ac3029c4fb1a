"""truthing labelers."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from truthing.cli import kinds, options, parse, reading, showing, survey
from truthing.cli.groups import spread
from truthing.errors import TruthingError
from truthing.progress import part


class OldCsv(TyperCommand):
    """`--csv FILE` of earlier versions, for one more: --csv is a flag now, as everywhere, and
    --table FILE writes.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--csv" in args[:-1]:
            place = args.index("--csv")
            given, _, _ = self.make_parser(ctx).parse_args(list(args))
            several, name = len(given.get("labels") or ()) > 1, args[place + 1]
            # labels may be several files now: what exists is read, never written over
            if several and not name.startswith("-") and not Path(name).exists():
                typer.echo(
                    "truthing: --csv FILE is now --table FILE; --csv alone prints CSV.", err=True
                )
                args = [*args[:place], "--table", *args[place + 1 :]]
        return list(super().parse_args(ctx, args))


@spread
def labelers(
    labels: Annotated[
        list[str],
        typer.Argument(metavar="LABELS…", help="One file or several; - is standard input."),
    ],
    gold: options.Gold = None,
    noise: options.Noise = None,
    prior: options.Prior = None,
    expert: Annotated[
        float,
        typer.Option(
            "--expert", help="Error rate of the expert that labelers are counted against."
        ),
    ] = 0.05,
    top: Annotated[
        int, typer.Option("--top", help="How many labelers to list, best and worst.")
    ] = 20,
    left_out: Annotated[
        list[str] | None,
        typer.Option(
            "--without",
            help="What would happen to the interval without this labeler (may be repeated). "
            "Default: whoever is to be retrained or dropped.",
        ),
    ] = None,
    panel: options.Panel = None,
    groups: kinds.Groups = None,
    ordinal: kinds.IsOrdinal = False,
    cluster: survey.Cluster = None,
    weights: survey.Weights = None,
    stratum: survey.Stratum = None,
    by: options.By = None,
    output: showing.Output = showing.ON_SCREEN,
    engine: options.SomeItems = "auto",
    repeats: options.Repeats = "error",
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    files_are: reading.LabelFiles = reading.LABELS,
) -> None:
    """Whom to keep, retrain or drop: how often each labeler errs, what a label tells, what it adds,
    who copies whom.
    """
    from truthing.case import read_case
    from truthing.people.labelers import labelers as describe
    from truthing.render.labelers import show
    from truthing.render.waiting import waiting
    from truthing.streaming.some_items import some_items

    output.check()
    asked = files_are.asked()
    columns = cluster, weights, stratum, by
    only = labels[0] if len(labels) == 1 else labels
    source, known = some_items(only, engine, asked=asked, gold=gold, columns=columns)
    case = read_case(source, gold=known, asked=asked)
    votes = case.labels
    with waiting() as progress:
        result = describe(
            case,
            gold=case.gold,
            noise=parse.noise(noise),
            prior=parse.prior(prior, votes.classes, None),
            panel=panel,
            groups=groups,
            scale="ordinal" if ordinal else None,
            cluster=cluster,
            weights=weights,
            stratum=stratum,
            by=by,
            repeats=repeats,  # type: ignore[arg-type]
            seed=seed,
            progress=part(progress, 0, 0.9),
        )
        parse.in_words_of_options(result)
        shorter = without(result, left_out, level, part(progress, 0.9, 1))
    words = {"expert": expert, "left_out": shorter}
    showing.deliver(result, output, partial(show, top=top), about={"level": level}, words=words)


def without(result: Any, names: list[str] | None, level: float, progress: Any) -> str:
    """What would happen to the interval without some labelers; unasked, without those who should
    not go on as they are.
    """
    asked = names or [
        name
        for name, advice in zip(result.labelers, result.advice)
        if advice.action in ("retrain", "drop")
    ]
    if not asked:
        return ""
    progress(0, "counting without some labelers")
    try:
        return str(result.without(*asked).sentence(level))
    except TruthingError as problem:
        if names:
            raise
        return f"Without them nothing can be said: {problem}"
