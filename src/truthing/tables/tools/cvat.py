"""CVAT: tags of images, or an attribute of the tags, from XML and from JSON (Datumaro, backup)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

from truthing.errors import InputError
from truthing.tables.table import Table
from truthing.tables.tools.rows import Rows, ask_question, require_known

TOOL = "CVAT export"
LABEL = "label"
BY_MACHINE = ("auto", "semi-auto")


@dataclass
class Tag:
    """What was said of one image as a whole."""

    image: Any
    label: Any
    attributes: dict[str, Any] = field(default_factory=dict)
    source: str = "manual"


def is_datumaro(whole: dict[str, Any]) -> bool:
    inside = {"categories", "items"} <= set(whole)
    return inside and isinstance(whole["items"], list) and isinstance(whole["categories"], dict)


def is_backup(records: list[Any]) -> bool:
    return all(isinstance(r, dict) and {"tags", "shapes"} <= set(r) for r in records[:20])


def xml(content: bytes, name: str, question: str | None) -> Table:
    """The format "CVAT for images": ``image/tag``, with the assignee as the labeler."""
    if b"<html" in content[:1000].lower():
        raise InputError(
            f"{name} is a web page, perhaps of a login: download the file itself again."
        )
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise InputError(f"{name} defines its own XML entities, which CVAT never does: refused.")
    try:
        root = ElementTree.fromstring(content)
    except (ElementTree.ParseError, RecursionError) as problem:
        raise InputError(f"{name} is not readable XML ({problem}): export it again.") from None
    if root.tag != "annotations":
        raise InputError(
            f"{name} is XML with <{root.tag[:40]}>, and only CVAT's <annotations> is known: "
            "export CSV or JSON."
        )
    rows = Rows(name, TOOL, "labeler")
    names = [image.get("name") for image in root.iter("image")]
    distinct = None not in names and len(set(names)) == len(names)
    tags = []
    for image in root.iter("image"):
        item = image.get("name") if distinct else image.get("id")
        rows.items.setdefault(item)
        for part in image:
            if part.tag == "tag":
                values = {str(a.get("name")): a.text for a in part.iter("attribute")}
                source = part.get("source", "manual")
                tags.append(Tag(item, part.get("label"), values, source))
            else:
                rows.left_out["shapes on parts of images"] += 1
    rows.left_out["tracks through a video"] += sum(1 for _ in root.iter("track"))
    who = root.findtext(".//meta//assignee/username") or root.findtext(".//meta//assignee")
    return _table(rows, tags, (who or "").strip() or "labeler", question)


def datumaro(whole: dict[str, Any], name: str, question: str | None) -> Table:
    rows = Rows(name, f"{TOOL} (Datumaro)", "labeler")
    labels = [entry["name"] for entry in whole["categories"].get("label", {}).get("labels", [])]
    tags = []
    for item in whole["items"]:
        rows.items.setdefault(item["id"])
        for part in item.get("annotations") or []:
            if part.get("type") == "label":
                label = labels[part["label_id"]]
                tags.append(Tag(item["id"], label, part.get("attributes") or {}))
            else:
                rows.left_out["shapes on parts of images"] += 1
    return _table(rows, tags, "labeler", question)


def backup(records: list[Any], name: str, question: str | None) -> Table:
    """annotations.json of a task's backup: frames have numbers only."""
    rows = Rows(name, f"{TOOL} (backup)", "labeler")
    tags = []
    for tag in (tag for record in records for tag in record["tags"]):
        values = {str(a.get("name", a.get("spec_id"))): a.get("value") for a in tag["attributes"]}
        source = tag.get("source", "manual")
        tags.append(Tag(tag["frame"], tag.get("label", tag.get("label_id")), values, source))
    rows.left_out["shapes on parts of images"] += sum(len(r["shapes"]) for r in records)
    rows.remarks.append(f"{name}: images are known by the number of their frame.")
    return _table(rows, tags, "labeler", question)


def _table(rows: Rows, tags: list[Tag], who: str, question: str | None) -> Table:
    """One class for each image: its tag, or the attribute that was asked for."""
    rows.left_out = +rows.left_out  # without what was never left out
    machine = [t for t in tags if t.source in BY_MACHINE]
    if machine:
        rows.left_out["tags that CVAT gave by itself"] += len(machine)
    tags = [t for t in tags if t.source not in BY_MACHINE]
    questions = _questions(tags)
    require_known(rows.name, None if question is None else {question}, questions)
    if question is None and len(questions) > 1:
        raise ask_question(rows.name, TOOL, "questions", questions)
    asked = question or next(iter(questions), LABEL)
    seen: dict[Any, Any] = {}
    for item, value in _answers(tags, asked):
        if item in seen and seen[item] != value:
            raise InputError(
                f"{rows.name} image {item}: several classes ({seen[item]}, {value}). Grading needs "
                "one class for each image."
            )
        if item not in seen:
            seen[item] = value
            rows.label(item, who, value)
    return rows.table()


def _questions(tags: Iterable[Tag]) -> list[str]:
    """The tags themselves, unless there is but one with attributes; and each attribute."""
    tags = list(tags)
    attributes = list(dict.fromkeys(name for tag in tags for name in tag.attributes))
    several = len({tag.label for tag in tags}) > 1
    return [LABEL, *attributes] if several or not attributes else attributes


def _answers(tags: Iterable[Tag], asked: str) -> Iterator[tuple[Any, Any]]:
    for tag in tags:
        if asked == LABEL and asked not in tag.attributes:
            yield tag.image, tag.label
        elif asked in tag.attributes:
            yield tag.image, tag.attributes[asked]
