"""Findings of the doctor, for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from truthing.doctor import Findings, Offer
from truthing.errors import in_options
from truthing.render.console import safe

if TYPE_CHECKING:
    from truthing.render.sheet import Sheet


def show(findings: Findings, console: Console) -> None:
    for file in findings.files:
        console.print(Text(safe(file.path), style="bold"))
        for sentence in file.sentences:
            _indented(console, safe(in_options(sentence), 500))
        for row in file.sample:
            console.print(Text(f"    {safe(row, 200)}", style="dim"))
    if findings.together:
        console.print()
        for sentence in findings.together:
            console.print(Text(safe(in_options(sentence), 1000)))
    _offers("You can now", findings.now, console)
    _offers("You could also", findings.later, console)


def _indented(console: Console, text: str, by: int = 2) -> None:
    if console.soft_wrap:
        console.print(Text(" " * by + text))
    else:
        for line in Text(text).wrap(console, console.width - by):
            console.print(Text(" " * by) + line)


def _offers(title: str, offers: Sequence[Offer], console: Console) -> None:
    """What to do and how, side by side where there is room; a command stays one line to copy."""
    if not offers:
        return
    console.print()
    console.print(Text(title, style="bold"))
    width = max(len(offer.what) for offer in offers)
    aside = all(width + len(offer.how) + 5 <= console.width for offer in offers)
    for offer in offers:
        how = safe(in_options(offer.how), 500)
        if aside:
            console.print(Text(f"  {offer.what:<{width}}   {how}"))
            continue
        console.print(Text(f"  {offer.what}"))
        if how.startswith("truthing "):
            console.print(Text(f"    {how}"), soft_wrap=True)
        else:
            _indented(console, how, 4)


def sheet(findings: Findings, **more: Any) -> Sheet:
    from truthing.render.block import Block
    from truthing.render.sheet import Sheet

    files = [
        Block(safe(f.path), ("found",), tuple((safe(sentence, 500),) for sentence in f.sentences))
        for f in findings.files
    ]
    offers = [
        Block(title, ("what", "how"), tuple((o.what, safe(o.how, 500)) for o in some))
        for title, some in (("You can now", findings.now), ("You could also", findings.later))
        if some
    ]
    held = len(findings.files)
    return Sheet(
        title="What is in these files?",
        headline=f"{held} file{'' if held == 1 else 's'} read.",
        more=tuple(safe(s, 500) for s in findings.together),
        blocks=(*files, *offers),
        **more,
    )
