"""truthing example: files to try everything on, copied where one wants them."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from truthing.errors import InputError, did_you_mean

ABOUT = "README.txt"


def example(
    name: Annotated[
        str | None, typer.Argument(help="Which example; without a name, the list.")
    ] = None,
    folder: Annotated[
        str | None,
        typer.Argument(help="Where to put its files; default: a folder of its name here."),
    ] = None,
) -> None:
    """Copy a bundled example (simulated data) and say which commands to try on it."""
    found = {
        entry.name: entry
        for entry in resources.files("truthing").joinpath("examples").iterdir()
        if entry.joinpath(ABOUT).is_file()
    }
    if name is None:
        for each in sorted(found):
            typer.echo(
                f"{each:<9} {found[each].joinpath(ABOUT).read_text('utf-8').splitlines()[0]}"
            )
        typer.echo("\ntruthing example NAME copies one and says what to try.")
        return
    if name not in found:
        raise InputError(
            f"no example is called {name!r}.{did_you_mean(name, found)} There are "
            f"{', '.join(sorted(found))}."
        )
    target = Path(folder or name)
    copy({f.name: f.read_bytes() for f in found[name].iterdir() if f.is_file()}, target)
    about, _, commands = found[name].joinpath(ABOUT).read_text("utf-8").partition("\n\n")
    typer.echo(f"{about}\n\nThe files are in {target}. Try\n\ncd {target}")
    typer.echo(commands.replace("$ ", ""), nl=False)


def copy(files: dict[str, bytes], target: Path) -> None:
    """All files, or none where one would be overwritten."""
    changed = [
        name
        for name, data in files.items()
        if (target / name).exists() and (target / name).read_bytes() != data
    ]
    if changed:
        raise InputError(
            f"{target / changed[0]} is there already and differs: name another folder, truthing "
            f"example NAME FOLDER."
        )
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            (target / name).write_bytes(data)
    except OSError as problem:
        raise InputError(f"{target} cannot be written ({problem}): name another folder.") from None
