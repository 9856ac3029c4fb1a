"""Files and answers that several jobs ask for, said once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from truthing.app.fields import Field
from truthing.app.jobs.job import Slot

GOLD = Slot(
    "gold",
    "Gold: the known truth of some items",
    ("item_column", "truth_column"),
    "--gold",
    needed=False,
)
CALIBRATION = Slot(
    "calibration_set",
    "Calibration set: other items with known truth, by the same labelers",
    ("item_column", "labeler_column", "label_column", "truth_column", "layout"),
    "--calibration-set",
    needed=False,
    any_file=True,
)
CALIBRATION_CHOSEN = Field(
    "calibration_chosen",
    "How were the calibration items chosen?",
    "choice",
    rare=True,
    choices=(
        ("", "by true class, or at random"),
        ("verdict", "by what the labelers say"),
    ),
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
BY = Field(
    "by",
    "Also show slices, by column",
    "column",
    "Columns of your files: language, source, system.",
)
CLUSTER = Field(
    "cluster",
    "Items that belong together, by column",
    "column",
    "Images of one patient, answers to one prompt: they share mistakes.",
    rare=True,
)
WEIGHTS = Field(
    "weights",
    "How many items each one stands for, by column",
    "column",
    "Where items were not drawn with equal chances.",
    rare=True,
)
STRATUM = Field("stratum", "Strata that items were drawn from, by column", "column", rare=True)
GOLD_CHANCES = Field(
    "gold_weights",
    "Chance of each gold item to be chosen, by column",
    "column",
    "Empty: gold is a random choice.",
    rare=True,
)
GOLD_CHOICE = Field(
    "gold_choice",
    "How was gold chosen?",
    "choice",
    rare=True,
    choices=(
        ("", "as it looks"),
        ("random", "at random"),
        ("seen", "by what labels or predictions show"),
        ("unseen", "by something else"),
    ),
)
DEPLOYMENT = Field(
    "deployment",
    "Share of the positive class where the classifier is used",
    "percent",
    "Empty: as among these items.",
    rare=True,
)
GOLD_ERROR = Field(
    "gold_error",
    "How often is gold itself wrong?",
    "percent",
    rare=True,
    hint="Share of gold items. Empty: never. The command also takes a second expert's file.",
)
ORDINAL = Field("ordinal", "Classes are grades in order (1 to 5)", "yes", rare=True)
CUT = Field(
    "cut",
    "Cut grades in two at",
    "number",
    "This grade and above against those below. Empty: not cut.",
    rare=True,
)
UNSURE = Field(
    "unsure",
    "An answer that is no class",
    "answer",
    "Unsure, maybe: it marks hard items.",
    rare=True,
)
SKIPS = Field(
    "skips",
    "Why are labels missing?",
    "choice",
    rare=True,
    choices=(
        ("", "by chance, as far as it looks like that"),
        ("random", "by chance"),
        ("hard", "labelers leave out what is hard"),
    ),
)
TAGS = Field(
    "tags",
    "May one answer name several labels?",
    "choice",
    rare=True,
    choices=(
        ("", "no, one class for each answer"),
        ("auto", "yes, each is a question of its own"),
        (";", "yes, split at ;"),
        ("|", "yes, split at |"),
        (",", "yes, split at a comma"),
    ),
)
KINDS = (GOLD_ERROR, ORDINAL, CUT, UNSURE, SKIPS, TAGS)
GROUPS = Slot(
    "groups",
    "Groups of labelers: who is of which maker, prompt or role",
    (),
    "--groups",
    needed=False,
    any_file=True,
)
DRAWN = (CLUSTER, WEIGHTS, STRATUM, GOLD_CHANCES, GOLD_CHOICE, CALIBRATION_CHOSEN)


def of_kinds(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as the library takes them: it says with one argument what the form and the command
    say with a tick."""
    found = dict(options)
    if found.pop("ordinal", False):
        found["scale"] = "ordinal"
    return found
