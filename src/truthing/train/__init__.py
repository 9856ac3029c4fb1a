"""Training on noisy labels: scikit-learn estimators, model selection without true labels, and torch losses (`truthing.train.losses`).

Names are loaded when first used, so that the losses need torch only and the estimators scikit-learn only.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from truthing.errors import InputError

_HOME = {
    "JointEMClassifier": "joint",
    "LabelEstimationClassifier": "foils",
    "LabelerVotingClassifier": "foils",
    "LabelsKFold": "selection",
    "MMSEClassifier": "mmse",
    "NoisyLogisticRegression": "logistic",
    "NoisyNaiveBayes": "naive_bayes",
    "NoisyScorer": "selection",
    "ReplicationClassifier": "mmse",
    "WeakLabelsWarning": "evidence",
    "align_labels": "evidence",
    "noisy_scorer": "selection",
}

__all__ = [*_HOME]

if TYPE_CHECKING:
    from truthing.train.evidence import WeakLabelsWarning as WeakLabelsWarning
    from truthing.train.evidence import align_labels as align_labels
    from truthing.train.foils import LabelerVotingClassifier as LabelerVotingClassifier
    from truthing.train.foils import LabelEstimationClassifier as LabelEstimationClassifier
    from truthing.train.joint import JointEMClassifier as JointEMClassifier
    from truthing.train.logistic import NoisyLogisticRegression as NoisyLogisticRegression
    from truthing.train.mmse import MMSEClassifier as MMSEClassifier
    from truthing.train.mmse import ReplicationClassifier as ReplicationClassifier
    from truthing.train.naive_bayes import NoisyNaiveBayes as NoisyNaiveBayes
    from truthing.train.selection import LabelsKFold as LabelsKFold
    from truthing.train.selection import NoisyScorer as NoisyScorer
    from truthing.train.selection import noisy_scorer as noisy_scorer


def __getattr__(name: str) -> Any:
    if name == "losses":
        return importlib.import_module("truthing.train.losses")
    if name not in _HOME:
        raise AttributeError(f"module 'truthing.train' has no attribute {name!r}")
    try:
        value = getattr(importlib.import_module(f"truthing.train.{_HOME[name]}"), name)
    except ModuleNotFoundError as missing:
        if missing.name != "sklearn":
            raise
        raise InputError("training needs scikit-learn: pip install 'truthing[train]'.") from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "losses"])
