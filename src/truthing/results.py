"""Result: what every answer of the library can do, whatever it is about."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from truthing.display import renderer
from truthing.errors import InputError
from truthing.version import __version__

if TYPE_CHECKING:
    import polars as pl

SCHEMA = 1  # of the JSON objects: render/schema.json; a key that changes its meaning raises it


class Result(ABC):
    """An answer: as a table, as JSON, as Markdown, as one page, as pictures.

    What may be asked is the same in all of them: ``level=0.95``, and ``metric="f1"`` of a
    comparison.
    """

    kind = ""  # the command that answers the same question

    @abstractmethod
    def to_dict(self, *about: Any, **named: Any) -> dict[str, Any]:
        """Everything a program may want."""

    @abstractmethod
    def to_frame(self, *about: Any, **named: Any) -> pl.DataFrame:
        """The main table, as a polars data frame."""

    def to_pandas(self, *about: Any, **named: Any) -> Any:
        """The main table, as a pandas data frame."""
        try:
            import pandas as pd
        except ImportError:
            raise InputError(
                "to_pandas() needs pandas: pip install pandas, or use to_frame(), a polars table."
            ) from None
        return pd.DataFrame(self.to_frame(*about, **named).to_dict(as_series=False))

    def to_arviz(self, **about: Any) -> Any:
        """Posterior draws of a grade, a rate or a comparison (``metric="accuracy"``) as the
        DataTree of xarray that ArviZ reads.
        """
        return renderer("arviz").to_tree(self, **about)

    def json_object(self, *about: Any, **named: Any) -> dict[str, Any]:
        """What `to_json` writes: `to_dict`, which schema it follows, and the version."""
        found = self.to_dict(*about, **named)
        return plain({"kind": self.kind, "schema": SCHEMA, **found, "version": __version__})

    def to_json(self, *about: Any, **named: Any) -> str:
        """One JSON object that follows the published schema; undefined numbers are null."""
        return json.dumps(self.json_object(*about, **named), default=str)

    def to_markdown(self, **about: Any) -> str:
        """Headline, tables and every doubt as Markdown, for notes and pull requests."""
        return str(renderer("sheet").as_markdown(renderer("sheet").sheet(self, **about)))

    def to_html(self, path: Any = None, **about: Any) -> str:
        """One HTML page that needs no network; written when a path is given."""
        return written(renderer("sheet").as_html(renderer("sheet").sheet(self, **about)), path)

    def save_figures(self, folder: Any, **about: Any) -> list[Path]:
        """Every picture of the result as PNG, SVG and PDF, and captions for a paper beside them."""
        return list(renderer("pictures").save_figures(self, folder, **about))

    def _repr_html_(self) -> str:
        """The page in a notebook."""
        return str(renderer("page").framed(self.to_html()))


def written(page: str, path: Any) -> str:
    """The page, in its file too where one is named."""
    if path is not None:
        from truthing.tables.write import write_bytes

        write_bytes(path, page.encode())
    return page


def plain(value: Any) -> Any:
    """Data that JSON knows: what is not a number becomes null.

    >>> plain({1: (float("nan"), 2.0)})
    {'1': [None, 2.0]}
    """
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if hasattr(value, "tolist"):  # numpy
        return plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value
