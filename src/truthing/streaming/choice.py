"""Where the passes over the labels run, and what cannot run there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from truthing.errors import InputError
from truthing.matching import Joined
from truthing.tables.fragile import shape_of

ENGINES = ("auto", "memory", "stream", "dask")
MANY_ROWS = 20_000_000  # labels beyond which "auto" streams
MANY_ITEMS = 500_000  # in memory beyond which a plain grade counts them in groups


ONE_BY_ONE = (
    *("noise", "prior", "scores", "threshold", "deployment", "calibration_set"),
    *("calibration_chosen", "cluster", "weights", "stratum", "by"),
    *("gold_error", "scale", "cut", "groups", "classifier_group", "unsure", "skips"),
    "tags",
)


def runs_streamed(given: Mapping[str, Any]) -> bool:
    """Whether `grade`, `prevalence` or `compare` (``models``) with these arguments streams its
    labels; in words why it cannot, where it was told to."""
    engine, labels = given["engine"], given["labels"]
    reasons = one_by_one(given)
    told = given.get("predictions", "")
    files = list(told.values()) if isinstance(told, Mapping) and "models" in given else [told]
    if not all(isinstance(file, str | Path) for file in files):
        reasons.append("a prediction that is not in a file")
    known = engine in ENGINES or "://" in engine if isinstance(engine, str) else False
    if not known and not hasattr(engine, "submit"):  # a client of Dask has it
        raise InputError(f"engine {engine!r} is not known: choose {', '.join(ENGINES)}.")
    if engine == "memory":
        return False
    if engine == "auto":
        return not reasons and is_large(labels)
    require_on_disk(labels, engine)
    if reasons:
        raise InputError(
            f"`engine={engine!r}` answers by the link with learned noise; {reasons[0]} needs the "
            "labels in memory: leave it out, or use `engine='memory'`."
        )
    return True


def one_by_one(given: Mapping[str, Any]) -> list[str]:
    """Which of these arguments ask for items one by one, in words."""
    reasons = [f"`{name}=...`" for name in ONE_BY_ONE if given.get(name) is not None]
    if given.get("method", "posterior") != "posterior":
        reasons.append(f"`method={given['method']!r}`")
    if given.get("panel_error") == 0 and given["panel_error"] is not None:
        reasons.append("`panel_error=0`")
    if isinstance(given.get("gold_weights"), str):
        reasons.append("a column of chances")
    if given.get("gold_choice") == "unseen":
        reasons.append("`gold_choice='unseen'`")
    return reasons


def require_on_disk(labels: Any, engine: Any) -> None:
    """Labels in a file or folder, where an engine reads nothing else."""
    if not _on_disk(labels):
        raise InputError(
            f"`engine={engine!r}` reads labels from a Parquet or CSV file or a folder of Parquet "
            "files: give its path, or use `engine='memory'`."
        )


def _on_disk(labels: Any) -> bool:
    return isinstance(labels, str | Path) and str(labels) != "-"


def is_large(labels: Any) -> bool:
    """Whether "auto" leaves these labels on disk."""
    if not _on_disk(labels):
        return False
    where = Path(str(labels))
    if where.is_dir():
        return True
    if where.suffix.lower() != ".parquet" or not where.is_file():
        return False
    return shape_of(where)[1] > MANY_ROWS


def counts_in_groups(given: Mapping[str, Any], joined: Joined) -> bool:
    """Whether a grade with these arguments asks nothing of single items, and has very many."""
    from truthing.truth.link.views import MOST_ROW_CELLS

    labels, predicted = joined.labels, joined.predicted
    if labels.n_items < MANY_ITEMS or one_by_one(given):
        return False
    if (labels.n_labelers + 1) * labels.n_classes**2 > MOST_ROW_CELLS:
        return False  # labelers share tables then
    if predicted is None or joined.scores is not None or labels.votes is not None:
        return False
    return bool(predicted.min() >= 0 and predicted.min() < predicted.max())
