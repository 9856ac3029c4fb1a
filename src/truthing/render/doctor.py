"""Findings of the doctor, for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from truthing.doctor import Findings, Offer
from truthing.errors import in_options
from truthing.render.console import safe


def show(findings: Findings, console: Console) -> None:
    for file in findings.files:
        console.print(Text(safe(file.path), style="bold"))
        for sentence in file.sentences:
            console.print(Text(f"  {safe(in_options(sentence), 500)}"))
        for row in file.sample:
            console.print(Text(f"    {safe(row, 200)}", style="dim"))
    if findings.together:
        console.print()
        for sentence in findings.together:
            console.print(Text(safe(in_options(sentence), 1000)))
    _offers("You can now", findings.now, console)
    _offers("You could also", findings.later, console)


def _offers(title: str, offers: Sequence[Offer], console: Console) -> None:
    if not offers:
        return
    console.print()
    console.print(Text(title, style="bold"))
    width = max(len(offer.what) for offer in offers)
    for offer in offers:
        console.print(Text(f"  {offer.what:<{width}}   {safe(offer.how, 500)}"))
