"""Files and data frames in; Labels, Predictions and Gold out."""

from truthing.tables.read import (
    Reading,
    inspect,
    read_everything,
    read_gold,
    read_labels,
    read_predictions,
)

__all__ = ["Reading", "inspect", "read_everything", "read_gold", "read_labels", "read_predictions"]
