"""Files and answers that several jobs ask for, said once."""

from __future__ import annotations

from truthing.app.fields import Field
from truthing.app.jobs.job import Slot

GOLD = Slot(
    "gold",
    "Gold: the known truth of some items",
    ("item_column", "truth_column"),
    "--gold",
    needed=False,
)
GOLD_ERROR = Field(
    "gold_error",
    "How often is gold itself wrong?",
    "percent",
    rare=True,
    hint="Share of gold items. Empty: never. The command also takes a second expert's file.",
)
LEVELS = (("0.95", "95%"), ("0.8", "80%"), ("0.9", "90%"), ("0.99", "99%"))
NOISE = Field("noise", "What is known about the labelers?", "noise")
TARGET = Field(
    "target",
    "About",
    "choice",
    choices=(("", "these items"), ("population", "new data like them (a wider interval)")),
)
PANEL = Field(
    "panel",
    "What is the panel made of?",
    "choice",
    choices=(("", "not known"), ("people", "people"), ("models", "language models")),
)
PANEL_ERROR = Field(
    "panel_error",
    "How often may all labelers be wrong together?",
    "percent",
    rare=True,
    hint="Share of items. Empty: as often as public panels were. 0: never.",
)
REPEATS = Field(
    "repeats",
    "When a labeler contradicts itself on an item",
    "choice",
    rare=True,
    choices=(
        ("", "stop and say so"),
        ("first", "keep the first label"),
        ("last", "keep the last label"),
        ("keep", "keep both"),
    ),
)
