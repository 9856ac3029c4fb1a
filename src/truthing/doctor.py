"""Doctor: what each file is, how the files fit together, what can be computed and what is missing for the rest."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from truthing.errors import InputError, listing
from truthing.labels import Labels
from truthing.predictions import Gold, Predictions
from truthing.results import Result
from truthing.tables import Reading, inspect
from truthing.tables.columns import Columns
from truthing.tables.table import Table


@dataclass(frozen=True)
class FileFinding:
    """One file: how it was read and what it holds, in sentences."""

    path: str
    sentences: tuple[str, ...]
    columns: Columns
    labels: Labels | None = None
    predictions: Predictions | None = None
    gold: Gold | None = None


@dataclass(frozen=True)
class Offer:
    """Something to do next: what, and the command or the missing piece."""

    what: str
    how: str


@dataclass(frozen=True)
class Findings(Result):
    """Every file, how they fit together, and what to do with them now and later."""

    kind = "doctor"
    files: tuple[FileFinding, ...]
    together: tuple[str, ...] = ()
    now: tuple[Offer, ...] = ()
    later: tuple[Offer, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        return {
            "files": [
                {
                    "file": f.path,
                    "layout": f.columns.layout,
                    "columns": dict(f.columns.role),
                    "labels": f.labels is not None,
                    "predictions": f.predictions is not None,
                    "gold": f.gold is not None,
                    "sentences": list(f.sentences),
                }
                for f in self.files
            ],
            "together": list(self.together),
            "now": [asdict(offer) for offer in self.now],
            "later": [asdict(offer) for offer in self.later],
        }

    def to_frame(self) -> Any:
        """One row for each sentence about a file, as a polars table."""
        import polars as pl

        rows = [(f.path, sentence) for f in self.files for sentence in f.sentences]
        return pl.DataFrame(rows, schema=["file", "found"], orient="row")


def examine(sources: Sequence[Any], **options: Any) -> Findings:
    """Read each file as what it is and say what follows."""
    if not sources:
        raise InputError("no file to examine: name one or more.")
    return together([examine_file(source, **options) for source in sources])


def examine_file(source: Any, **options: Any) -> FileFinding:
    """Read one file as what it is."""
    return _examine_one(
        source.name if isinstance(source, Table) else str(source), inspect(source, **options)
    )


def together(files: Sequence[FileFinding]) -> Findings:
    """How files fit together, what can be computed from them and what is missing for the rest."""
    labels = next(((f, f.labels) for f in files if f.labels is not None), None)
    predictions = [(f, f.predictions) for f in files if f.predictions is not None]
    gold = next(((f, f.gold) for f in files if f.gold is not None), None)
    return Findings(
        tuple(files),
        tuple(_overlaps(labels, predictions, gold)),
        *_offers(labels, predictions, gold),
    )


def _examine_one(path: str, reading: Reading) -> FileFinding:
    table, columns = reading.table, reading.columns
    sentences = [f"{table.kind}, {columns.layout} table: {columns.describe()}", *columns.notes]
    labels = reading.labels if reading.has_labels else None
    predictions = reading.predictions if reading.has_predictions else None
    gold = reading.gold if reading.has_gold else None
    if labels is None and predictions is None and gold is None:
        if "labeler" in columns.role:
            labels = (
                reading.labels
            )  # its message says which column it looked for; so does that of predictions
        predictions = reading.predictions
        sentences.append("no column is called prediction; the only other column was taken for it")
    if labels is not None:
        sentences += _about_labels(labels)
    if predictions is not None:
        sentences.append(f"predictions: {predictions}")
    if gold is not None:
        sentences.append(str(gold))
    unused = [c for c in columns.rest if columns.layout == "long"]
    if unused:
        sentences.append(f"not used: {listing(unused)}")
    return FileFinding(path, tuple(sentences), columns, labels, predictions, gold)


def _about_labels(labels: Labels) -> list[str]:
    said = str(labels).splitlines()
    agree, kappa = labels.agreement()
    if agree == agree:
        said.append(
            f"labels of the same item agree in {agree:.0%} of the pairs (chance-corrected κ {kappa:.2f})"
        )
    else:
        said.append("no item has two labels, so agreement cannot be seen")
    if labels.identical_repeats:
        said.append(
            f"{labels.identical_repeats:,} rows repeat an earlier row of the same labeler and item, and count once"
        )
    clash = len(labels.contradictions)
    if clash:
        i = int(labels.contradictions[0])
        said.append(
            f"{clash:,} times a labeler contradicts itself on an item (first: {labels.labelers[labels.labeler[i]]!r} on item "
            f"{labels.items[labels.item[i]]!r}): choose with --repeats first, last or keep"
        )
    if labels.n_classes == 1:
        said.append(
            f"every label is {labels.classes[0]!r}: with one class there is nothing to grade"
        )
    silent = int((labels.per_labeler == 0).sum())
    if silent:
        said.append(f"{silent} labeler(s) gave no label")
    bare = int((labels.per_item == 0).sum())
    if bare:
        said.append(f"{bare:,} items have no label")
    return said


def _overlaps(
    labels: tuple[FileFinding, Labels] | None,
    predictions: list[tuple[FileFinding, Predictions]],
    gold: tuple[FileFinding, Gold] | None,
) -> list[str]:
    if labels is None:
        return []
    said = []
    known = set(labels[1].items)
    others: list[tuple[FileFinding, Predictions | Gold]] = [*predictions, *([gold] if gold else [])]
    for finding, other in others:
        if finding is labels[0]:
            continue
        common = known.intersection(other.items)
        if not common:
            said.append(
                f"{finding.path} and {labels[0].path} share no item (for example {other.items[0]!r} and {labels[1].items[0]!r}): "
                "check the item column of both (--item-column)."
            )
            continue
        text = f"{finding.path} has {len(common):,} of the {len(known):,} items of {labels[0].path}"
        extra = [i for i in other.items if i not in known]
        if extra:
            text += f"; {len(extra):,} items stand only in {finding.path} ({listing(map(repr, extra), 3)}) and will be dropped"
        new = [c for c in other.classes if c not in labels[1].classes]
        if new:
            text += f"; class {listing(map(repr, new))} never occurs among the labels"
        said.append(text)
    return said


def _offers(
    labels: tuple[FileFinding, Labels] | None,
    predictions: list[tuple[FileFinding, Predictions]],
    gold: tuple[FileFinding, Gold] | None,
) -> tuple[tuple[Offer, ...], tuple[Offer, ...]]:
    now: list[Offer] = []
    later: list[Offer] = []
    if labels is None:
        later.append(Offer("grade a classifier", "needs a file of labels: item, labeler, label"))
        return tuple(now), tuple(later)
    panel = labels[1]
    path = shlex.quote(labels[0].path)
    alone = panel.n_labelers == 1 and not panel.anonymous
    if predictions and not (alone and gold is None):
        models = " ".join(shlex.quote(f.path) for f, _ in predictions[:1] if f is not labels[0])
        extra = f" --gold {shlex.quote(gold[0].path)}" if gold and gold[0] is not labels[0] else ""
        now.append(
            Offer(
                "grade the classifier",
                f"truthing grade {models + ' ' if models else ''}{path}{extra}",
            )
        )
    elif predictions:
        later.append(
            Offer(
                "grade the classifier",
                "one labeler and nothing known about it: give --noise RATE, gold, or a second labeler",
            )
        )
    else:
        later.append(
            Offer("grade a classifier", "needs its predictions: item, prediction (and score)")
        )
    if not (alone and gold is None):
        now.append(Offer("see how frequent each class is", f"truthing rate {path}"))
        if not panel.anonymous:
            now.append(Offer("look at the labelers", f"truthing labelers {path}"))
    now.append(
        Offer(
            "correct an error rate by a known mislabeling rate",
            "truthing error --apparent 0.08 --mislabeling 0.05 --n 500",
        )
    )
    if gold is None:
        later.append(Offer("trust the interval more", f"{gold_alone(50)}; {gold_alone(200)}"))
    if not any(p.scores is not None for _, p in predictions):
        later.append(Offer("see ROC and PR curves", "needs a score column beside the predictions"))
    mean = float(panel.per_item.mean())
    if mean >= 2:
        now.append(
            Offer(
                "bound the Bayes error, the least any model can reach", f"truthing ceiling {path}"
            )
        )
    if mean < 10:
        later.append(
            Offer(
                "estimate the Bayes error well",
                f"needs about 10 labels per item; you have {mean:.1f}",
            )
        )
    return tuple(now), tuple(later)


def gold_alone(n: int, accuracy: float = 0.8, level: float = 0.95) -> str:
    """What the truth of ``n`` random items would tell without any other label (Wilson's interval at a typical accuracy).

    >>> gold_alone(50)
    'gold on 50 random items gives accuracy within about ±0.11 by itself'
    """
    z = {0.95: 1.959964}[level]
    half = z / (1 + z**2 / n) * (accuracy * (1 - accuracy) / n + z**2 / (4 * n**2)) ** 0.5
    return f"gold on {n} random items gives accuracy within about ±{half:.2f} by itself"
