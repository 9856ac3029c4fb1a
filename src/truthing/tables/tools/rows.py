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
    said: list[str] = field(default_factory=list)
    checks: list[str] = field(default_factory=list)
    _disputed: set[Any] = field(default_factory=set)

    def label(self, item: Any, labeler: Any, value: Any) -> None:
        self.items.setdefault(item)
        if is_missing(value):
            self.left_out["labels without a value"] += 1
        else:
            self.labels.append((item, labeler, value))

    def human(self, item: Any, value: Any) -> None:
        """A person's word is gold, unless two people differ."""
        self.items.setdefault(item)
        if is_missing(value):
            return
        if item in self.gold and key(self.gold[item]) != key(value):
            self._disputed.add(item)
        self.gold[item] = value

    def table(self) -> Table:
        """Long rows; the gold of an item stands on each of its rows."""
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
        said = [f"{self.name}: {kind}.", *self.said]
        if self.gold:
            said.append(f"{self.name}: what people said is taken for gold.")
        if self.left_out:
            said.append(f"{self.name}: left out {self._leavings()}.")
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
        notes = Notes(tuple(said), tuple(self.checks))
        return Table(frame, self.name, kind, unit="", notes=notes, asks=False)

    def _leavings(self) -> str:
        return listing(f"{n:,} {what}" for what, n in self.left_out.items())


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
