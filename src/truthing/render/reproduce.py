"""The papers' tables for people who paste them."""

from __future__ import annotations

from typing import Any

from truthing.render.block import Block
from truthing.render.sheet import Sheet
from truthing.results import Result


def sheet(result: Result, **more: Any) -> Sheet:
    found = result.to_dict()
    blocks = tuple(
        Block(t["title"], tuple(t["heads"]), tuple(map(tuple, t["rows"])), t["note"])
        for t in found["tables"]
    )
    headline = f"Tables of {found['name']}, ours beside the printed ones."
    return Sheet("The papers' tables", headline, blocks=blocks, **more)
