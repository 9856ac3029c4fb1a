"""Training on noisy labels: scikit-learn estimators, model selection without true labels, torch
losses.

The names are listed in ``__init__.pyi`` and loaded when first used, so that the losses need torch
only and the estimators scikit-learn only. Uses everything up to `grading`; imported by `reproduce`,
the command line and users.
"""

from typing import Any

from truthing.errors import InputError
from truthing.lazy import attach

_load, __dir__, __all__ = attach(__name__, __file__)
__all__.remove("losses")  # `from truthing.train import *` must not need torch


def __getattr__(name: str) -> Any:
    try:
        return _load(name)
    except ModuleNotFoundError as missing:
        if missing.name != "sklearn":
            raise
        raise InputError("training needs scikit-learn: pip install 'truthing[train]'.") from None
