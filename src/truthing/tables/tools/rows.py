"""Labels, gold and predictions that a tool's reader gathers, as one table."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from truthing.class_codes import is_missing
from truthing.errors import InputError, listing
from truthing.notes import Notes
from truthing.spelling import key
from truthing.tables.frames import from_records
from truthing.tables.table import Table
from truthing.tables.tags import spelt


@dataclass
class Rows:
    """Filled by a reader: who said what of which item, what people know, and what was left out."""

    name: str
    tool: str
    who: str = "judge"
    labels: list[tuple[Any, Any, Any]] = field(default_factory=list)
    gold: dict[Any, Any] = field(default_factory=dict)
    predictions: dict[Any, tuple[Any, Any]] = field(default_factory=dict)
    items: dict[Any, None] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    remarks: list[str] = field(default_factory=list)
    checks: list[str] = field(default_factory=list)
    several: str = ""  # the first answer that names several classes, in words
    _disputed: set[Any] = field(default_factory=set)

    def one_or_more(self, values: list[Any], where: str) -> Any:
        """An answer with a list of classes: how it is written depends on whether any names
        several, and `table` knows.
        """
        if len(values) > 1 and not self.several:
            self.several = (
                f"{where}: one answer names several classes "
                f"({', '.join(map(str, values[:4]))}). Each class is then a question of its own: "
                "say `tags='auto'` in grade, rate or compare, or export a single choice."
            )
        return list(values)

    def _settle(self, value: Any) -> Any:
        if not isinstance(value, list):
            return spelt([value]) if self.several and not is_missing(value) else value
        return spelt(value) if self.several else value[0] if value else None

    def _settle_lists(self) -> None:
        """Lists of tags as texts, or where nobody names several, the one class of each."""
        self.gold = {item: self._settle(value) for item, value in self.gold.items()}
        self.gold = {item: value for item, value in self.gold.items() if not is_missing(value)}
        told = {i: (self._settle(value), score) for i, (value, score) in self.predictions.items()}
        self.predictions = {i: pair for i, pair in told.items() if not is_missing(pair[0])}
        settled = [(item, who, self._settle(value)) for item, who, value in self.labels]
        self.labels = [row for row in settled if not is_missing(row[2])]
        empty = len(settled) - len(self.labels)
        if empty:
            self.left_out["labels without a value"] += empty

    def label(self, item: Any, labeler: Any, value: Any) -> None:
        self.items.setdefault(item)
        if is_missing(value):
            self.left_out["labels without a value"] += 1
        else:
            self.labels.append((item, labeler, value))

    def human(self, item: Any, value: Any) -> None:
        """A person's word is gold, unless two people differ."""
        self.items.setdefault(item)
        if is_missing(value) or (value == [] and item in self.gold):
            return
        if self.gold.get(item, []) != [] and _keys(self.gold[item]) != _keys(value):
            self._disputed.add(item)
        self.gold[item] = value

    def table(self) -> Table:
        """Long rows; the gold of an item stands on each of its rows."""
        self._settle_lists()
        for item in self._disputed:
            del self.gold[item]
        if self._disputed:
            self.checks.append(
                f"{self.name}: people differ on {len(self._disputed):,} items, which are not gold."
            )
        if not self.labels and not self.gold and not self.predictions:
            raise InputError(
                f"{self.name} ({self.tool}) holds no label that is one class"
                + (f"; left out: {self._leavings()}." if self.left_out else ".")
            )
        labelers = dict.fromkeys(who for _, who, _ in self.labels)
        kind = f"{self.tool}, {len(labelers)} {self.who}{'s' * (len(labelers) != 1)}"
        kind += f", {len(self.gold):,} human labels" if self.gold else ""
        sentences = [f"{self.name}: {kind}.", *self.remarks]
        if self.several:
            sentences.append(f"{self.name}: answers name several classes at once.")
        if self.gold:
            sentences.append(f"{self.name}: what people said is taken for gold.")
        if self.left_out:
            sentences.append(f"{self.name}: left out {self._leavings()}.")
        given = {item for item, _, _ in self.labels}
        rows = self.labels + [(item, None, None) for item in self.items if item not in given]
        records: list[dict[str, Any]] = []
        for item, who, value in rows:
            record = {"item": item, "labeler": who, "label": value}
            if self.gold:
                record["truth"] = self.gold.get(item)
            if self.predictions:
                record["prediction"], record["score"] = self.predictions.get(item, (None, None))
            records.append(record)
        table = from_records(records, self.name, kind)
        frame = table.frame
        if "score" in frame.columns and frame["score"].null_count():
            frame = frame.drop("score")
        notes = Notes(tuple(sentences), tuple(self.checks))
        about: Any = {"unit": "", "notes": notes, "asks": False, "several": self.several}
        return Table(frame, self.name, kind, **about)

    def _leavings(self) -> str:
        return listing(f"{n:,} {what}" for what, n in self.left_out.items())


def _keys(value: Any) -> list[Any]:
    """What an answer names, however it is written."""
    return sorted(map(key, value if isinstance(value, list) else [value]), key=repr)


def chosen(question: str | None) -> set[str] | None:
    """The names that the user wants of several, or None for all."""
    return None if question is None else {part.strip() for part in question.split(",")}


def ask_question(name: str, tool: str, what: str, names: list[str]) -> InputError:
    """Several questions in one export are not labels of one thing."""
    return InputError(
        f"{name} ({tool}) holds several {what}: {listing(names)}. Choose one with "
        f"`question={names[0]!r}`."
    )


def require_known(name: str, wanted: set[str] | None, there: list[str]) -> None:
    """A question that the export does not hold."""
    unknown = sorted((wanted or set()) - set(there))
    if unknown:
        raise InputError(
            f"{name} holds no question {unknown[0]!r}; there are {listing(dict.fromkeys(there))}."
        )
