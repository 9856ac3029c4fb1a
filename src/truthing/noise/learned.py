"""Noise to be learned from the labels themselves: what to assume about each labeler, without
numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.labels import Labels
from truthing.noise.ordinal import Ordinal

if TYPE_CHECKING:
    from truthing.noise.em import EMFit


@dataclass(frozen=True)
class DawidSkene:
    """One confusion matrix for each labeler, partially pooled.

    Rows lie around a shared matrix, as closely as the data say. It has no parameters: everything is
    learned.
    """

    def fit(self, labels: Labels, gold: Array | None = None) -> EMFit:
        """Maximum likelihood by accelerated EM (no pooling, no uncertainty): the classic point
        estimate, fast at any size.
        """
        from truthing.noise.em import RowsModel, fit_em

        return fit_em(labels, RowsModel(labels.n_labelers, labels.n_classes), gold)


@dataclass(frozen=True)
class OneCoin:
    """One error rate for each labeler, partially pooled; wrong labels are spread evenly.

    It has no parameters: everything is learned.
    """

    def fit(self, labels: Labels, gold: Array | None = None) -> EMFit:
        """Maximum likelihood by accelerated EM, without pooling."""
        from truthing.noise.em import RowsModel, fit_em

        return fit_em(labels, RowsModel(labels.n_labelers, labels.n_classes, coin=True), gold)


@dataclass(frozen=True)
class Strata:
    """Labelers are independent only given the class and one of ``k`` strata of difficulty.

    The sampler holds that in every stratum the average labeler says the true class most often.

    Parameters
    ----------
    k : int, default 2
        Number of strata, 2 to 5.
    """

    k: int = 2

    def __post_init__(self) -> None:
        if not 2 <= self.k <= 5:
            raise InputError(
                f"Strata({self.k}): choose 2 to 5 strata; one stratum is DawidSkene()."
            )

    def fit(self, labels: Labels, gold: Array | None = None) -> EMFit:
        """Maximum likelihood by accelerated EM, without pooling."""
        from truthing.noise.em import RowsModel, fit_em

        return fit_em(labels, RowsModel(labels.n_labelers, labels.n_classes, n_strata=self.k), gold)


Learned = DawidSkene | OneCoin | Strata | Ordinal
