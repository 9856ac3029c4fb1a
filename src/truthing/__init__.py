"""Grade classifiers with dirty answer keys.

The public names live here and are loaded when first used, so that ``import truthing`` and ``truthing --help`` stay fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "Estimate": "truthing.metrics.estimate",
    "Gold": "truthing.predictions",
    "InputError": "truthing.errors",
    "Labels": "truthing.labels",
    "LabelersReport": "truthing.panel.result",
    "NotConverged": "truthing.errors",
    "NotIdentified": "truthing.errors",
    "Predictions": "truthing.predictions",
    "TruthingError": "truthing.errors",
    "agreement": "truthing.panel.agreement",
    "apparent_error": "truthing.papers.lam_stork",
    "bayes_error": "truthing.ceiling.facade",
    "compare": "truthing.comparison.facade",
    "equivalent_labeler": "truthing.panel.worth",
    "error_bounds": "truthing.papers.lam_stork",
    "grade": "truthing.grading",
    "information": "truthing.panel.worth",
    "label_policy": "truthing.papers.lam_stork",
    "labelers": "truthing.panel.facade",
    "labelers_needed": "truthing.panel.worth",
    "noisy_label_ratio": "truthing.papers.lam_stork",
    "plan": "truthing.planning.facade",
    "prevalence": "truthing.rate",
    "read_gold": "truthing.tables",
    "read_labels": "truthing.tables",
    "read_predictions": "truthing.tables",
    "simulate": "truthing.simulation",
    "Report": "truthing.report",
    "true_confusion": "truthing.papers.lam_stork",
    "true_error": "truthing.papers.lam_stork",
}
_MODULES = ("noise", "train")

__all__ = [*_HOME, *_MODULES]

if TYPE_CHECKING:
    from truthing import noise as noise
    from truthing import train as train
    from truthing.ceiling.facade import bayes_error as bayes_error
    from truthing.comparison.facade import compare as compare
    from truthing.errors import InputError as InputError
    from truthing.errors import NotConverged as NotConverged
    from truthing.errors import NotIdentified as NotIdentified
    from truthing.errors import TruthingError as TruthingError
    from truthing.grading import grade as grade
    from truthing.labels import Labels as Labels
    from truthing.metrics.estimate import Estimate as Estimate
    from truthing.panel.agreement import agreement as agreement
    from truthing.panel.facade import labelers as labelers
    from truthing.panel.result import LabelersReport as LabelersReport
    from truthing.panel.worth import equivalent_labeler as equivalent_labeler
    from truthing.panel.worth import information as information
    from truthing.panel.worth import labelers_needed as labelers_needed
    from truthing.papers.lam_stork import apparent_error as apparent_error
    from truthing.papers.lam_stork import error_bounds as error_bounds
    from truthing.papers.lam_stork import label_policy as label_policy
    from truthing.papers.lam_stork import noisy_label_ratio as noisy_label_ratio
    from truthing.papers.lam_stork import true_confusion as true_confusion
    from truthing.papers.lam_stork import true_error as true_error
    from truthing.planning.facade import plan as plan
    from truthing.predictions import Gold as Gold
    from truthing.predictions import Predictions as Predictions
    from truthing.rate import prevalence as prevalence
    from truthing.report import Report as Report
    from truthing.simulation import simulate as simulate
    from truthing.tables import read_gold as read_gold
    from truthing.tables import read_labels as read_labels
    from truthing.tables import read_predictions as read_predictions


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return importlib.import_module(f"truthing.{name}")
    raise AttributeError(f"module 'truthing' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
