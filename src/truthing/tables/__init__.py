"""Files and data frames in; Labels, Predictions and Gold out: one short file for each format.
Imported by every front door.
"""

from truthing.tables.read import (
    Reading,
    inspect,
    read_everything,
    read_gold,
    read_labels,
    read_predictions,
)

__all__ = ["Reading", "inspect", "read_everything", "read_gold", "read_labels", "read_predictions"]
