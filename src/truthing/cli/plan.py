"""truthing plan."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from truthing.cli import options, parse, showing
from truthing.cli.groups import spread
from truthing.errors import InputError

Width = Annotated[
    float | None, typer.Option("--width", help="Wanted interval, high minus low: 0.06 is ±0.03.")
]
Budget = Annotated[
    float | None,
    typer.Option("--budget", help="What may be spent; with --width too it is the limit."),
]
Metric = Annotated[
    str, typer.Option("--metric", help="accuracy, recall, f1 … as grade names them.")
]
ItemCost = Annotated[
    float | None, typer.Option("--item-cost", help="Price of an item without labels.")
]
LabelCost = Annotated[
    list[str] | None,
    typer.Option(
        "--label-cost",
        help="Price of a label; KIND=PRICE for each kind of labeler (repeat the option).",
    ),
]
GoldCost = Annotated[float | None, typer.Option("--gold-cost", help="Price of a gold label.")]
LabelerError = Annotated[
    list[str] | None,
    typer.Option(
        "--labeler-error",
        help="How often labelers err; KIND=RATE for each kind (repeat the option). Rates split by "
        "commas are a pool of persons.",
    ),
]
Accuracy = Annotated[
    float | None, typer.Option("--accuracy", help="Guess at the classifier's accuracy.")
]
Items = Annotated[int | None, typer.Option("--items", help="Number of items, when it is fixed.")]
KnownNoise = Annotated[
    bool,
    typer.Option(
        "--known-noise",
        help="grade will be told the labelers' error rates; default: it learns them.",
    ),
]
Shared = Annotated[
    float,
    typer.Option(
        "--shared", help="Share of labels that hang on the item: labelers wrong together."
    ),
]
InClusters = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="SIZE",
        help="Items of one cluster, or SIZE:CORRELATION (8:0.3); with --pilot the column that "
        "names clusters.",
    ),
]
ByWeight = Annotated[
    str | None,
    typer.Option(
        "--weights",
        metavar="SHARE",
        help="Share of the items that unequal weights leave (0.6), or the weights split by commas; "
        "with --pilot their column.",
    ),
]
Pilot = Annotated[
    str | None,
    typer.Option(
        "--pilot", metavar="LABELS", help="Labels in hand: learn from them, count them as paid."
    ),
]
PilotPredictions = Annotated[
    str | None, typer.Option("--predictions", help="Predictions for the items of --pilot.")
]
Next = Annotated[
    str | None,
    typer.Option(
        "--next",
        metavar="FILE",
        help="Write which of your items to buy for next into this CSV file.",
    ),
]
NextCount = Annotated[int, typer.Option("--next-count", help="How many purchases --next lists.")]
NextGold = Annotated[
    str,
    typer.Option(
        "--next-gold", help="How --next draws gold: random, or weighted (chances are in the file)."
    ),
]
MostLabels = Annotated[int, typer.Option("--most-labels", help="Most labels per item to consider.")]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        help="population (new data), or sample (these items; the default when items are fixed).",
    ),
]
Sets = Annotated[
    int,
    typer.Option(
        "--sets", help="Simulated data sets of each size tried: more are slower and steadier."
    ),
]


@spread
def plan(
    width: Width = None,
    budget: Budget = None,
    metric: Metric = "accuracy",
    item_cost: ItemCost = None,
    label_cost: LabelCost = None,
    gold_cost: GoldCost = None,
    labeler_error: LabelerError = None,
    accuracy: Accuracy = None,
    prior: options.Prior = None,
    items: Items = None,
    known_noise: KnownNoise = False,
    shared: Shared = 0.0,
    cluster: InClusters = None,
    weights: ByWeight = None,
    pilot: Pilot = None,
    predictions: PilotPredictions = None,
    gold: options.Gold = None,
    noise: options.Noise = None,
    next_file: Next = None,
    next_count: NextCount = 50,
    next_gold: NextGold = "random",
    most_labels: MostLabels = 5,
    target: Target = None,
    positive: options.Positive = None,
    panel_error: options.PanelError = None,
    panel: options.Panel = None,
    level: options.Level = 0.95,
    output: showing.Output = showing.ON_SCREEN,
    sets: Sets = 6,
    seed: options.Seed = 0,
    layout: options.Layout = None,
    item_column: options.ItemColumn = None,
    labeler_column: options.LabelerColumn = None,
    label_column: options.LabelColumn = None,
    prediction_column: options.PredictionColumn = None,
    truth_column: options.TruthColumn = None,
) -> None:
    """What to buy (items, labels, gold) for a wanted interval or a budget, and which items next."""
    from truthing.case import read_case
    from truthing.planning.plan import plan as make
    from truthing.render.console import err
    from truthing.render.plan import show
    from truthing.render.waiting import waiting
    from truthing.tables.asked import Asked

    output.check()
    if next_file is not None and pilot is None:
        raise InputError(
            "--next asks which items of data in hand come next: give --pilot LABELS and "
            "--predictions FILE."
        )
    data: dict[str, Any] = {}
    if pilot is not None:
        columns = {
            "item_column": item_column,
            "labeler_column": labeler_column,
            "label_column": label_column,
        }
        asked = Asked.from_text(
            layout=layout, prediction_column=prediction_column, truth_column=truth_column, **columns
        )
        case = read_case(pilot, {"model": predictions or pilot}, gold, asked=asked)
        data["pilot"] = {
            "labels": case,
            "predictions": case.predictions,
            "gold": case.gold,
        }
        data |= {"cluster": cluster, "weights": weights, "prior": parse.prior(prior, (), None)}
        for option, given in (("labeler-error", labeler_error), ("known-noise", known_noise)):
            if given:
                raise InputError(f"--{option} is learned from the pilot: leave it out.")
        data["noise"] = parse.noise(noise)
    else:
        data["noise"] = "known" if known_noise else parse.noise(noise)
        data["labelers"] = _by_kind(labeler_error, "--labeler-error")
        data["prior"] = parse.prior(prior, (), None)
        data["cluster"] = _numbers(cluster, "--cluster", ":")
        data["weights"] = _numbers(weights, "--weights", ",")
    costs = {"item": item_cost, "label": _by_kind(label_cost, "--label-cost"), "gold": gold_cost}
    with waiting() as progress:
        result = make(
            metric,
            width=width,
            budget=budget,
            costs={k: v for k, v in costs.items() if v is not None},
            accuracy=accuracy,
            items=items,
            panel_error=parse.panel_error(panel_error),
            panel=panel,
            shared=shared,
            target=target,
            level=level,
            positive=positive,
            most_labels=most_labels,
            sets=sets,
            seed=seed,
            progress=progress,
            **data,
        )
    parse.in_words_of_options(result)
    showing.deliver(result, output, show, about={})
    if next_file is not None:
        bought = result.next_items(next_count, gold=next_gold)
        bought.write(next_file)
        err().print(f"{len(bought.rows)} purchases for {bought.cost:,.2f} written: {next_file}")
        for note in bought.notes:
            err().print(note)


def _numbers(text: str | None, option: str, between: str) -> Any:
    """8, or several numbers such as 8:0.3; None where nothing was said."""
    if text is None:
        return None
    try:
        found = tuple(float(part) for part in text.split(between))
    except ValueError:
        raise InputError(
            f"{option} {text}: without --pilot give numbers; a column needs data in hand, --pilot "
            "LABELS."
        ) from None
    return found[0] if len(found) == 1 else found


def _by_kind(values: list[str] | None, option: str) -> Any:
    """0.15, 0.1,0.2,0.3 (persons of a pool), or crowd=0.2 repeated."""
    if not values:
        return None
    named = {}
    for text in values:
        kind, equals, number = text.rpartition("=")
        try:
            parts = [float(part) for part in number.split(",")]
        except ValueError:
            raise InputError(f"{option} {text}: give a number, or KIND=NUMBER.") from None
        named[kind if equals else "label"] = parts[0] if len(parts) == 1 else parts
    if len(named) != len(values):
        raise InputError(
            f"{option} is given twice for the same kind: name kinds as {option} crowd=… "
            f"{option} expert=…."
        )
    return named if set(named) != {"label"} else named["label"]
