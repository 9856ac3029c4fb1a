"""Doctor: what each file is, how files fit together, what can be computed, what is missing."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from truthing.errors import InputError, listing
from truthing.labels import Labels
from truthing.matching import join
from truthing.notes import NOTHING
from truthing.predictions import Gold, Predictions
from truthing.results import Result
from truthing.spelling import key
from truthing.tables import Reading, inspect
from truthing.tables.asked import UNASKED, Asked
from truthing.tables.columns import Columns
from truthing.tables.read import check_ignored, read_as
from truthing.tables.source import open_table
from truthing.tables.table import Table


@dataclass(frozen=True)
class FileFinding:
    """One file: how it was read and what it holds, in sentences, and its first rows as read."""

    path: str
    sentences: tuple[str, ...]
    columns: Columns
    labels: Labels | None = None
    predictions: Predictions | None = None
    gold: Gold | None = None
    sample: tuple[str, ...] = ()


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


def examine(sources: Sequence[Any], asked: Asked = UNASKED) -> Findings:
    """Read each file as what it is and say what follows."""
    if not sources:
        raise InputError("no file to examine: name one or more.")
    opened = [
        (
            s.name if isinstance(s, Table) else str(s),
            open_table(s, delimiter=asked.delimiter, question=asked.question),
        )
        for s in sources
    ]
    check_ignored(asked, [table for _, table in opened])
    return together(
        examine_tables([(name, table, _where(asked, table, opened)) for name, table in opened])
    )


def _where(asked: Asked, table: Table, opened: Sequence[tuple[str, Table]]) -> Asked:
    """What was said about columns holds for the files that have them."""
    here = set(table.frame.columns)
    elsewhere = {c for _, other in opened if other is not table for c in other.frame.columns}

    def belongs(names: Sequence[str]) -> bool:
        return any(n in here for n in names) or not any(n in elsewhere for n in names)

    columns = {r: c for r, c in asked.columns.items() if belongs([c, *c.split(",")])}
    labelers = asked.labeler_columns if belongs(asked.labeler_columns) else ()
    return replace(asked, columns=columns, labeler_columns=labelers)


def examine_tables(tables: Sequence[tuple[str, Table, Asked]]) -> list[FileFinding]:
    """Files that belong together; predictions and gold tell what labels look like."""
    tables = [
        (name, table, replace(asked, tags="auto") if table.several else asked)
        for name, table, asked in tables
    ]
    first = [read_as(table, asked) for _, table, asked in tables]
    hint: list[Any] = []
    for reading in first:
        if not reading.has_labels and (reading.has_predictions or reading.has_gold):
            hint += [
                *(reading.predictions.classes if reading.has_predictions else ()),
                *(reading.gold.classes if reading.has_gold else ()),
            ]
    again = [
        read_as(table, asked, hint) if hint and reading.has_labels else reading
        for (_, table, asked), reading in zip(tables, first)
    ]
    return [_examine_one(name, reading) for (name, _, _), reading in zip(tables, again)]


def examine_file(source: Any, **options: Any) -> FileFinding:
    """Read one file as what it is."""
    name = source.name if isinstance(source, Table) else str(source)
    return _examine_one(name, inspect(source, **options))


def together(files: Sequence[FileFinding]) -> Findings:
    """How files fit together, what can be computed from them and what is missing for the rest."""
    labels = next(((f, f.labels) for f in files if f.labels is not None), None)
    predictions = [(f, f.predictions) for f in files if f.predictions is not None]
    gold = next(((f, f.gold) for f in files if f.gold is not None), None)
    overlaps = _overlaps(labels, predictions, gold)
    problem = "" if labels is None else _misfit(labels[1], predictions, gold)
    return Findings(
        tuple(files),
        tuple(overlaps) + ((problem,) if problem else ()),
        *_offers(labels, predictions if not problem else [], gold, problem),
    )


def _misfit(
    labels: Labels,
    predictions: list[tuple[FileFinding, Predictions]],
    gold: tuple[FileFinding, Gold] | None,
) -> str:
    """Why these files cannot be graded together, or nothing."""
    known = None if gold is None else gold[1]
    pairs: list[tuple[str, Predictions | None]] = [(f"{f.path}: ", p) for f, p in predictions]
    for where, model in pairs or [("", None)]:
        try:
            join(labels, model, known, repeats="keep")
        except InputError as problem:
            return f"{where}{problem}"
    return ""


def _examine_one(path: str, reading: Reading) -> FileFinding:
    table, columns = reading.table, reading.columns
    sentences = [f"{table.kind}, {columns.layout} table: {columns.describe()}"]
    labels = reading.labels if reading.has_labels else None
    predictions = reading.predictions if reading.has_predictions else None
    gold = reading.gold if reading.has_gold else None
    if labels is None and predictions is None and gold is None:
        if "labeler" in columns.role or columns.problem or columns.layout == "wide":
            labels = reading.labels  # its message says what stands in the way
        else:
            predictions = reading.predictions
            sentences.append(
                "no column is called prediction; the only other column was taken for it"
            )
    read = [part for part in (labels, predictions, gold) if part is not None]
    notes = sum((part.notes for part in read), NOTHING)
    sentences += [note.removeprefix(f"{table.name}: ") for note in notes.all]
    if labels is not None:
        sentences += _about_labels(labels)
    if predictions is not None:
        sentences.append(f"predictions: {predictions}")
    if gold is not None:
        sentences.append(str(gold))
    if columns.unused:
        why = [f"{c or '(no name)'} ({reason})" for c, reason in columns.unused.items()]
        sentences.append(f"not used: {listing(why, 8)}")
    sample = _sample(labels, predictions, gold)
    return FileFinding(path, tuple(sentences), columns, labels, predictions, gold, sample)


def _sample(
    labels: Labels | None, predictions: Predictions | None, gold: Gold | None, most: int = 3
) -> tuple[str, ...]:
    """The first rows as they were read: item → labeler → class."""
    rows = []
    if labels is not None:
        for n in range(min(most, len(labels.label))):
            item, label = labels.items[labels.item[n]], labels.classes[labels.label[n]]
            who = "votes" if labels.anonymous else labels.labelers[labels.labeler[n]]
            times = "" if labels.votes is None else f" × {labels.votes[n]:,}"
            rows.append(f"{item} → {who} → {label!r}{times}")
    if predictions is not None:
        for n in range(min(most, predictions.n_items)):
            parts = (
                []
                if predictions.label is None
                else [repr(predictions.classes[predictions.label[n]])]
            )
            if predictions.scores is not None:
                parts.append(
                    "score " + ", ".join(f"{s:g}" for s in np.atleast_1d(predictions.scores[n])[:4])
                )
            rows.append(f"{predictions.items[n]} → predicted → {', '.join(parts)}")
    if gold is not None:
        rows += [
            f"{gold.items[n]} → gold → {gold.classes[gold.label[n]]!r}"
            for n in range(min(most, gold.n_items))
        ]
    return tuple(rows)


def _about_labels(labels: Labels) -> list[str]:
    sentences = str(labels).splitlines()
    agree, kappa = labels.agreement()
    if agree == agree:
        sentences.append(
            f"labels of the same item agree in {agree:.0%} of the pairs (chance-corrected κ "
            f"{kappa:.2f})"
        )
    else:
        sentences.append("no item has two labels, so agreement cannot be seen")
    if labels.identical_repeats:
        sentences.append(
            f"{labels.identical_repeats:,} rows repeat an earlier row of the same labeler "
            "and item, and count once"
        )
    clash = len(labels.contradictions)
    if clash:
        i = int(labels.contradictions[0])
        sentences.append(
            f"{clash:,} times a labeler contradicts itself on an item (first: "
            f"{labels.labelers[labels.labeler[i]]!r} on item "
            f"{labels.items[labels.item[i]]!r}): choose with `repeats='first'`, last or keep"
        )
    if labels.n_classes == 1:
        sentences.append(
            f"every label is {labels.classes[0]!r}: with one class there is nothing to grade"
        )
    gaps = labels.n_items - labels.per_labeler
    if not labels.anonymous and 1 < labels.n_labelers <= 50 and (gaps > 0).any():
        most = sorted(zip(gaps, map(str, labels.labelers)), reverse=True)
        sentences.append(
            "items without a label, by labeler: "
            + listing((f"{name} {gap:,}" for gap, name in most if gap), 6)
        )
    silent = int((labels.per_labeler == 0).sum())
    if silent:
        sentences.append(f"{silent} labeler(s) gave no label")
    bare = int((labels.per_item == 0).sum())
    if bare:
        sentences.append(f"{bare:,} items have no label")
    return sentences


def _overlaps(
    labels: tuple[FileFinding, Labels] | None,
    predictions: list[tuple[FileFinding, Predictions]],
    gold: tuple[FileFinding, Gold] | None,
) -> list[str]:
    if labels is None:
        return []
    sentences = []
    known = set(labels[1].items)
    others: list[tuple[FileFinding, Predictions | Gold]] = [*predictions, *([gold] if gold else [])]
    for finding, other in others:
        if finding is labels[0]:
            continue
        common = known.intersection(other.items)
        if not common:
            sentences.append(
                f"{finding.path} and {labels[0].path} share no item (for example "
                f"{other.items[0]!r} and {labels[1].items[0]!r}): "
                "check the item column of both (`item_column=...`)."
            )
            continue
        text = f"{finding.path} has {len(common):,} of the {len(known):,} items of {labels[0].path}"
        extra = [i for i in other.items if i not in known]
        if extra:
            text += (
                f"; {len(extra):,} items stand only in {finding.path} "
                f"({listing(map(repr, extra), 3)}) and will be dropped"
            )
        known_classes = {key(c) for c in labels[1].classes}
        new = [c for c in other.classes if key(c) not in known_classes]
        if new:
            text += f"; class {listing(map(repr, new))} never occurs among the labels"
        sentences.append(text)
    return sentences


def _offers(
    labels: tuple[FileFinding, Labels] | None,
    predictions: list[tuple[FileFinding, Predictions]],
    gold: tuple[FileFinding, Gold] | None,
    problem: str = "",
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
                "one labeler and nothing known about it: give --noise RATE, gold, or a "
                "second labeler",
            )
        )
    elif problem:
        later.append(Offer("grade the classifier", "once labels and predictions fit: see above"))
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
    """What the truth of ``n`` random items would tell without any other label (Wilson's interval at
    a typical accuracy).

    >>> gold_alone(50)
    'gold on 50 random items gives accuracy within about ±0.11 by itself'
    """
    z = {0.95: 1.959964}[level]
    half = z / (1 + z**2 / n) * (accuracy * (1 - accuracy) / n + z**2 / (4 * n**2)) ** 0.5
    return f"gold on {n} random items gives accuracy within about ±{half:.2f} by itself"
