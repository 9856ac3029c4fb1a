"""Pictures of any result as files: PNG, SVG and PDF, with captions ready for a paper."""

from __future__ import annotations

import importlib
import io
from pathlib import Path
from typing import Any

from truthing.errors import InputError
from truthing.render.figures import Picture
from truthing.results import Result
from truthing.tables.write import write_bytes

FORMATS = ("png", "svg", "pdf")


def pictures(result: Result, **about: Any) -> dict[str, Picture]:
    """By name, every picture of a result."""
    room = "figures" if result.kind == "grade" else result.kind
    module = importlib.import_module(f"truthing.render.{room}")
    found = module.pictures(result, **about) if hasattr(module, "pictures") else {}
    if not found:
        raise InputError(f"there is nothing to draw of this {result.kind}.")
    return found


def save_figures(result: Result, folder: str | Path, **about: Any) -> list[Path]:
    """Write every picture in every format into a folder, which is created, and the captions."""
    place, found = Path(folder), pictures(result, **about)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(
            f"{folder} cannot be a folder for figures ({problem}): name another."
        ) from None
    written = [
        path
        for name, picture in found.items()
        for path in save(picture, *(place / f"{name}.{ending}" for ending in FORMATS))
    ]
    captions = place / "captions.md"
    text = "\n\n".join(f"**{name}** {picture.caption}" for name, picture in found.items())
    write_bytes(captions, (text + "\n").encode())
    return [*written, captions]


def save(picture: Picture, *paths: str | Path) -> list[Path]:
    """One picture as files of the formats that their names say."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("pictures need matplotlib: pip install 'truthing[plot]'.") from None
    figure = Figure(figsize=(picture.width, picture.height), layout="constrained")
    picture.draw(figure.subplots())
    for path in paths:
        drawn = io.BytesIO()
        try:
            figure.savefig(drawn, dpi=150, format=Path(path).suffix[1:] or "none")
        except ValueError as problem:
            raise InputError(
                f"{path} cannot be written ({problem}): give a file that ends in .png, .svg or "
                f".pdf."
            ) from None
        write_bytes(path, drawn.getvalue())
    return [Path(path) for path in paths]
