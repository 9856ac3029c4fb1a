"""Writing figures as PNG and SVG, and a clear word where matplotlib is absent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from truthing.errors import InputError
from truthing.reproduce.tables import say


@contextmanager
def figure(folder: str, name: str, **subplots: Any) -> Iterator[Any]:
    """Axes to draw on; written as folder/name.png and .svg when the block ends well."""
    try:
        import matplotlib
    except ImportError:
        raise InputError("figures need matplotlib: pip install 'truthing[plot]'.") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    fig, axes = pyplot.subplots(layout="constrained", **subplots)
    try:
        yield axes
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        for kind in ("png", "svg"):
            fig.savefig(target / f"{name}.{kind}", dpi=130)
        say(f"figure written: {target / name}.png, .svg")
    finally:
        pyplot.close(fig)
