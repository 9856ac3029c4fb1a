"""The numbers of the link, as `studies/fit_link.py` learned them from public panels."""

from __future__ import annotations

from truthing.truth.link.numbers import (
    BETTER,
    FEW,
    FLAT,
    OTHER,
    OWN_EFFECTS,
    OWN_FLAT,
    PanelNumbers,
)

# predictions of others
DEFAULT = {
    "people": PanelNumbers(
        location=(-0.0838, 0.9363, 0.7059, 0.0, 0.0),
        scale=(0.3349, 1.1571, 0.0, 0.0),
        slope=0.5985,
        slope_sd=0.3091,
        covariance=(
            (0.004, -0.00244, -0.00304, 0.0, 0.0),
            (-0.00244, 0.00478, 0.00045, 0.0, 0.0),
            (-0.00304, 0.00045, 0.01037, 0.0, 0.0),
            (0.0, 0.0, 0.0, 0.0, 0.0),
            (0.0, 0.0, 0.0, 0.0, 0.0),
        ),
        freedom=5.0,
        flat=FLAT["people"],
        better=BETTER,
        other=OTHER["people"],
        right_labels=(0.3608, 0.839, -0.143),
        right_labels_sd=0.2703,
        moved=1.4727,
        moved_sd=0.3563,
        left=0.7857,
    ),
    "models": PanelNumbers(
        location=(-0.2236, 0.7028, 0.0029, 0.207, 0.1735),
        scale=(0.4214, 0.0, 0.2223, 0.2282),
        slope=0.4141,
        slope_sd=0.3108,
        covariance=(
            (0.01953, -0.00105, -0.00576, 0.00202, -0.0072),
            (-0.00105, 0.01326, 0.00311, -0.00236, -0.0067),
            (-0.00576, 0.00311, 0.00349, -0.00046, 9e-05),
            (0.00202, -0.00236, -0.00046, 0.00477, 0.00111),
            (-0.0072, -0.0067, 9e-05, 0.00111, 0.00775),
        ),
        freedom=4.0,
        flat=FLAT["models"],
        better=BETTER,
        other=OTHER["models"],
        few=FEW["models"],
        right_labels=(-0.2194, 0.5498, 0.5663),
        right_labels_sd=0.3882,
        moved=1.4724,
        moved_sd=0.1064,
        left=1.0,
    ),
}
# predictions that come from these very labels: the panel's consensus, or a model trained on it
OWN_LABELS = {
    "people": PanelNumbers(
        location=(0.0145, 0.797, 0.1691, 0.0, 0.0),
        scale=(0.4371, 0.7493, 0.0, 0.0),
        slope=0.6582,
        slope_sd=0.2731,
        covariance=(
            (0.00164, -0.00315, 0.00081, 0.0, 0.0),
            (-0.00315, 0.01039, -0.0006, 0.0, 0.0),
            (0.00081, -0.0006, 0.00344, 0.0, 0.0),
            (0.0, 0.0, 0.0, 0.0, 0.0),
            (0.0, 0.0, 0.0, 0.0, 0.0),
        ),
        freedom=5.0,
        effects=OWN_EFFECTS,
        flat=OWN_FLAT["people"],
        right_labels=(0.3848, 0.7824, -0.0862),
        right_labels_sd=0.2559,
        moved=2.3957,
        moved_sd=0.5243,
        left=0.4601,
    ),
    "models": PanelNumbers(
        location=(-0.3431, 0.6058, -0.0533, 0.191, 0.2803),
        scale=(0.4873, 0.0, 0.3367, 0.2417),
        slope=0.506,
        slope_sd=0.3209,
        covariance=(
            (0.00346, -0.00272, 0.00222, 0.0028, -0.00067),
            (-0.00272, 0.01279, -0.00594, -0.00748, -0.00235),
            (0.00222, -0.00594, 0.00399, 0.00391, 0.00058),
            (0.0028, -0.00748, 0.00391, 0.00713, 0.00118),
            (-0.00067, -0.00235, 0.00058, 0.00118, 0.00105),
        ),
        freedom=4.0,
        effects=OWN_EFFECTS,
        flat=OWN_FLAT["models"],
        right_labels=(-0.1761, 0.4324, 0.7447),
        right_labels_sd=0.4059,
        moved=1.4761,
        moved_sd=0.1207,
        left=0.7663,
    ),
}
