"""truthing readers."""

from __future__ import annotations

from typing import Annotated

import typer

from truthing.cli import options, parse, showing
from truthing.cli.groups import spread


@spread
def readers(
    reads: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="One row for each read: case, reader, modality (if two), score, truth; - is "
            "standard input.",
        ),
    ],
    gold: options.Gold = None,
    metric: Annotated[
        str, typer.Option("--metric", help="auc, accuracy, sensitivity or specificity.")
    ] = "auc",
    threshold: Annotated[
        float | None, typer.Option("--threshold", help="Scores from here on are positive.")
    ] = None,
    positive: options.Positive = None,
    level: options.Level = 0.95,
    output: showing.Output = showing.ON_SCREEN,
    case_column: Annotated[
        str | None, typer.Option("--case-column", help="Column that names the case.")
    ] = None,
    reader_column: Annotated[
        str | None, typer.Option("--reader-column", help="Column that names the reader.")
    ] = None,
    modality_column: Annotated[
        str | None, typer.Option("--modality-column", help="Column that names the modality.")
    ] = None,
    score_column: options.ScoreColumn = None,
    truth_column: options.TruthColumn = None,
) -> None:
    """How good are readers like these on cases like these (multi-reader multi-case study)?"""
    from truthing.mrmc.study import readers as studied
    from truthing.render.readers import show

    output.check()
    result = studied(
        reads,
        gold=gold,
        metric=metric,
        threshold=threshold,
        positive=positive,
        case_column=case_column,
        reader_column=reader_column,
        modality_column=modality_column,
        score_column=score_column,
        truth_column=truth_column,
    )
    parse.in_words_of_options(result)
    showing.deliver(result, output, show, about={"level": level})
