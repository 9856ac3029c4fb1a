"""Posterior draws as ArviZ has them: an xarray DataTree with a group ``posterior``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.metrics.counts import evaluate
from truthing.randomness import generator
from truthing.version import __version__

Variables = dict[str, tuple[tuple[str, ...], Array]]
FAR = ("chain", "draw")
MOST_CLASSES = 30  # of a confusion matrix that is written out draw by draw


def to_tree(result: Any, **about: Any) -> Any:
    """Draws of a grade, a rate or a comparison; with chains where chains drew them."""
    try:
        from xarray import Dataset, DataTree
    except ImportError:
        raise InputError(
            'to_arviz() needs xarray: pip install "truthing[arviz]", or use the draws of an '
            'estimate, such as report["accuracy"].draws.'
        ) from None
    if result.kind not in _KINDS:
        raise InputError(
            f"a result of {result.kind} holds no posterior draws: to_arviz() is for grade, rate "
            "and compare."
        )
    variables, names = _KINDS[result.kind](result, **about)
    n_draws = len(next(iter(variables.values()))[1])
    chains = _chains(result.diagnostics, n_draws)
    data = Dataset(
        {
            name: ((*FAR, *dims), values.reshape(chains, -1, *values.shape[1:]))
            for name, (dims, values) in variables.items()
        },
        coords={
            "chain": np.arange(chains),
            "draw": np.arange(n_draws // chains),
            **{name: list(map(str, values)) for name, values in names.items()},
        },
        attrs={"inference_library": "truthing", "inference_library_version": __version__},
    )
    return DataTree.from_dict({"posterior": data})


def _chains(diagnostics: Mapping[str, Any], n_draws: int) -> int:
    """Draws of the link are independent: one chain."""
    chains = 1 if "link_effective_sample_size" in diagnostics else diagnostics.get("chains", 1)
    return int(chains) if n_draws % chains == 0 else 1


def _of_grade(report: Any) -> tuple[Variables, dict[str, Any]]:
    """The confusion matrix (of up to 30 classes) and its metrics; areas under curves have draws of
    their own."""
    if report["accuracy"].kind != "draws":
        raise InputError(
            f"method={report.method!r} computes its answer without draws: to_arviz() needs "
            "method='posterior'."
        )
    confusion, found, names = report.confusion, Variables(), {}
    n_draws, size = len(confusion.draws), confusion.n_classes
    if size <= MOST_CLASSES:
        draws = np.zeros((n_draws, size, size))
        draws[:, confusion.cells[:, 0], confusion.cells[:, 1]] = confusion.draws
        found["confusion"] = ("truth", "prediction"), draws
        names = {"truth": report.classes, "prediction": report.classes}
    for name in report.metrics:
        if name not in ("auc", "average_precision"):
            found[name] = (), _joint(report, name, n_draws)
    return found, names


def _joint(report: Any, name: str, n_draws: int) -> Array:
    """The metric of each drawn matrix; where gold alone is the answer, its draws in any order."""
    about = {"classes": report.classes, "positive": report.positive}
    values = np.asarray(evaluate(name, report.confusion.tally, **about), dtype=float)
    shown = report[name].draws
    if np.array_equal(values[~np.isnan(values)], shown):
        return values
    rng = generator(report.seed, "arviz", name)
    return np.asarray(rng.choice(shown, n_draws, replace=len(shown) < n_draws))


def _of_rate(result: Any) -> tuple[Variables, dict[str, Any]]:
    return {"share": (("class",), np.asarray(result.draws))}, {"class": result.classes}


def _of_compare(result: Any, metric: str = "accuracy") -> tuple[Variables, dict[str, Any]]:
    return {metric: (("model",), np.asarray(result.draws(metric)))}, {"model": result.models}


_KINDS = {"grade": _of_grade, "rate": _of_rate, "compare": _of_compare}
