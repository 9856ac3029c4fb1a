"""Which files were simulated."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from truthing.render.block import Block
from truthing.render.sheet import Sheet
from truthing.results import Result


def show(result: Result, console: Console) -> None:
    """One path in each line."""
    for file in result.to_dict()["files"]:
        console.print(Text(file["file"]), soft_wrap=True)


def sheet(result: Result, **more: Any) -> Sheet:
    rows = tuple((file["file"], f"{file['rows']:,}") for file in result.to_dict()["files"])
    block = Block("", ("file", "rows"), rows)
    return Sheet("Simulated data", "Simulated data, with known truth.", blocks=(block,), **more)
