"""Which of several models is better."""

from __future__ import annotations

import json
from pathlib import PurePath

from truthing import __version__
from truthing.app.fields import Field
from truthing.app.jobs.job import Job, Slot
from truthing.app.jobs.questions import GOLD, NOISE, PANEL_ERROR, REPEATS, TARGET
from truthing.app.task import Answer, Given, Say, Task, patient
from truthing.errors import InputError
from truthing.render.summary import Line
from truthing.render.words import one_line

METRICS = ("accuracy", "balanced_accuracy", "macro_f1", "f1", "precision", "recall", "mcc")


def run(task: Task, say: Say) -> Answer:
    from truthing.comparison.compare import compare

    say(None, "reading the files")
    case = task.case("comparing needs labels: say which file holds them.")
    models = dict(zip(named(task.files.get("predictions", ())), case.models.values()))
    options = dict(task.options)
    metric = options.pop("metric", "accuracy")
    result = compare(models, case.labels, gold=case.gold, progress=patient(say), **options)
    level, best = task.level, result.probability_best(metric)
    lines = [
        Line.of(
            f"{one_line(m)} (best: {best[m]:.0%})",
            result.estimate(m, metric),
            [level],
            result.at_face_value(m, metric),
        )
        for m in sorted(result.models, key=lambda m: -best[m])
    ]
    pairs = [("difference", "estimate", f"{level:.0%} interval", "P(first better)")]
    for pair in result.to_dict(metric, level)["differences"]:
        pairs.append(
            (f"{one_line(pair['first'])} - {one_line(pair['second'])}", f"{pair['mean']:+.3f}", f"{pair['low']:+.3f} – {pair['high']:+.3f}",
             f"{pair['probability_better']:.0%}")
        )  # fmt: skip
    return Answer(
        (result.verdict(metric, level), result.order_sentence(metric)),
        json.dumps({**result.to_dict(metric, level), "version": __version__}, default=str),
        tuple(lines),
        tuple(result.assumptions),
        tuple(result.warnings),
        table=tuple(pairs),
    )


def named(files: tuple[Given, ...]) -> dict[str, Given]:
    """Models are called like their files, as on the command line."""
    found = {PurePath(given.name).stem: given for given in files}
    if len(found) < len(files):
        raise InputError(
            "two prediction files have the same name: rename one, models are called like their files."
        )
    return found


JOB = Job(
    "compare",
    "Compare models",
    "Is one model better than another?",
    (
        Slot("labels", "Labels", ("item_column", "labeler_column", "label_column", "truth_column", "layout")),
        Slot("predictions", "Predictions, one file for each model", ("item_column", "prediction_column", "score_column"), many=True),
        GOLD,
    ),
    (
        Field("metric", "Compared in", "choice", choices=(("", "accuracy"), *((m, m.replace("_", " ")) for m in METRICS[1:]))),
        NOISE,
        Field("positive", "Positive class", "class", "The one that recall and precision are about."),
        TARGET,
        PANEL_ERROR,
        REPEATS,
    ),
    run,
)  # fmt: skip
