"""What a report can tell of each item, and what it keeps so that new items can join."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.names import Names


class PerItem:
    """Truth by item, and updates; for a report with an outcome, items and classes."""

    outcome: Any
    items: Sequence[Any]
    classes: tuple[Any, ...]

    @property
    def truth(self) -> Array:
        """Posterior of each item's true class, items × classes."""
        held = self.outcome.truth
        found: Array = held() if callable(held) else held
        return found

    def truth_frame(self) -> Any:
        """Each item's class probabilities as a polars table, to look at or export."""
        import polars as pl

        truth = self.truth
        if hasattr(truth, "frames"):
            return pl.concat(list(truth.frames()))
        if isinstance(self.items, Names):
            items = self.items.series.cast(pl.String)
        else:
            items = pl.Series([str(i) for i in self.items], dtype=pl.String)
        columns = {f"p_{c}": truth[:, k] for k, c in enumerate(self.classes)}
        return pl.DataFrame({"item": items, **columns})

    @cached_property
    def state(self) -> Any:
        """What new items need to join this grade: sums, not labels. ``report.state.write(path)``
        keeps it, `truthing.read_state` takes it up again."""
        if self.outcome.state is None:
            raise InputError(
                "this grade cannot be added to: only the default method with learned noise, on "
                "labels in memory drawn one by one and with a classifier, keeps sums that add up. "
                "Grade all labels again."
            )
        return self.outcome.state()

    def update(self, labels: Any, predictions: Any = None, *, gold: Any = None) -> Any:
        """This grade with new items: their labels, their predictions and perhaps gold.

        Labels of earlier items are not read again. Those items keep the posterior of their own fit,
        which is the one approximation; ``report.truth`` is about the new items.
        """
        if predictions is None:
            raise InputError("new items need predictions too: update(labels, predictions).")
        return self.state.update(labels, predictions, gold=gold)

    def write_truth(self, path: Any) -> None:
        """Each item's class probabilities to a .csv, .parquet, ... file; labels that are streamed
        are written shard by shard."""
        if hasattr(self.truth, "write"):
            self.truth.write(path)
            return
        from truthing.tables.write import write_frame

        write_frame(self.truth_frame(), path)
