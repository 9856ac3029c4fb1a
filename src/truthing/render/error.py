"""The closed forms for people."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from truthing.papers.closed_forms import ClosedForms, numbers
from truthing.render.block import Block
from truthing.render.console import err
from truthing.render.sheet import Sheet


def show(result: ClosedForms, console: Console) -> None:
    """The lines; what was assumed goes to standard error."""
    console.print(Text(result.text))
    for note in result.notes:
        err().print(f"note: {note}", soft_wrap=True)


def sheet(result: ClosedForms, **more: Any) -> Sheet:
    rows = tuple((name, f"{value:.4f}") for name, value in numbers(result.found))
    first, *rest = result.text.splitlines()
    return Sheet(
        title="What does a mislabeling rate do to an error rate?",
        headline=" ".join(first.split()),
        more=tuple(rest),
        blocks=(Block("", ("quantity", "value"), rows),),
        assumptions=result.notes,
        **more,
    )
