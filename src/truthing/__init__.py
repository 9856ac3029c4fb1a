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
    "LabelersReport": "truthing.people.result",
    "NotConverged": "truthing.errors",
    "NotIdentified": "truthing.errors",
    "Predictions": "truthing.predictions",
    "TruthingError": "truthing.errors",
    "agreement": "truthing.people.agreement",
    "apparent_error": "truthing.papers.lam_stork",
    "bayes_error": "truthing.ceiling.bayes_error",
    "compare": "truthing.comparison.compare",
    "equivalent_labeler": "truthing.people.worth",
    "error_bounds": "truthing.papers.lam_stork",
    "grade": "truthing.grading",
    "information": "truthing.people.worth",
    "label_policy": "truthing.papers.lam_stork",
    "labelers": "truthing.people.labelers",
    "labelers_needed": "truthing.people.worth",
    "noisy_label_ratio": "truthing.papers.lam_stork",
    "plan": "truthing.planning.plan",
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
    from truthing.ceiling.bayes_error import bayes_error as bayes_error
    from truthing.comparison.compare import compare as compare
    from truthing.errors import InputError as InputError
    from truthing.errors import NotConverged as NotConverged
    from truthing.errors import NotIdentified as NotIdentified
    from truthing.errors import TruthingError as TruthingError
    from truthing.grading import grade as grade
    from truthing.labels import Labels as Labels
    from truthing.metrics.estimate import Estimate as Estimate
    from truthing.papers.lam_stork import apparent_error as apparent_error
    from truthing.papers.lam_stork import error_bounds as error_bounds
    from truthing.papers.lam_stork import label_policy as label_policy
    from truthing.papers.lam_stork import noisy_label_ratio as noisy_label_ratio
    from truthing.papers.lam_stork import true_confusion as true_confusion
    from truthing.papers.lam_stork import true_error as true_error
    from truthing.people.agreement import agreement as agreement
    from truthing.people.labelers import labelers as labelers
    from truthing.people.result import LabelersReport as LabelersReport
    from truthing.people.worth import equivalent_labeler as equivalent_labeler
    from truthing.people.worth import information as information
    from truthing.people.worth import labelers_needed as labelers_needed
    from truthing.planning.plan import plan as plan
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
