"""Tools that write plain tables, known by the names of their columns."""

from __future__ import annotations

from typing import Any

import polars as pl

from truthing.errors import InputError
from truthing.tables.table import Table
from truthing.tables.tools import feedback
from truthing.tables.tools.rows import Rows, ask_question, require_known


def recognise(table: Table, question: str | None) -> Table:
    """The table, read as its tool means it where it is a tool's."""
    columns = set(table.frame.columns)
    if {"HITId", "WorkerId", "AssignmentId"} <= columns:
        return _mechanical_turk(table, question)
    fields = set(feedback.named(dict.fromkeys(columns)))
    for matches, read in (
        (feedback.is_langfuse, feedback.langfuse),
        (feedback.is_mlflow, feedback.mlflow),
        (feedback.is_phoenix, feedback.phoenix),
    ):
        if matches(fields):
            records = [feedback.named(r) for r in table.frame.to_dicts()]
            return read(records, table.name, question)
    if question is not None and table.asks:
        raise InputError(
            f"{table.name} is a plain table: `question={question!r}` is for exports of tools. Name "
            "columns with `label_column=...`."
        )
    return table


def _mechanical_turk(table: Table, question: str | None) -> Table:
    """Item = the HIT, or its input column of ids; one answer; rejected work is left out."""
    rows = Rows(table.name, "Mechanical Turk batch", "worker")
    frame = table.frame
    answers = [c for c in frame.columns if c.startswith("Answer.")]
    names = [a.removeprefix("Answer.") for a in answers]
    require_known(table.name, None if question is None else {question}, names)
    if question is None and len(answers) > 1:
        raise ask_question(table.name, "Mechanical Turk batch", "answers", names)
    if not answers:
        raise InputError(f"{table.name} is a Mechanical Turk batch without an Answer column.")
    answer = f"Answer.{question}" if question else answers[0]
    item = _turk_item(frame)
    for row in frame.select(item, "WorkerId", answer, *_status(frame)).iter_rows(named=True):
        if row.get("AssignmentStatus") == "Rejected":
            rows.left_out["rejected assignments"] += 1
        else:
            rows.label(row[item], row["WorkerId"], _blank(row[answer]))
    rows.remarks.append(f"{table.name}: {item!r} names the items.")
    return rows.table()


def _status(frame: pl.DataFrame) -> list[str]:
    return ["AssignmentStatus"] if "AssignmentStatus" in frame.columns else []


def _turk_item(frame: pl.DataFrame) -> str:
    """An input column called id or item that goes with the HIT one to one, else the HIT."""
    words = ("id", "item", "item_id", "task", "image", "image_url", "example")
    for column in (f"Input.{word}" for word in words):
        if column in frame.columns:
            pairs = frame.select("HITId", column).unique()
            if pairs.height == frame["HITId"].n_unique() == frame[column].n_unique():
                return column
    return "HITId"


def _blank(value: Any) -> Any:
    return None if isinstance(value, str) and not value.strip() else value
