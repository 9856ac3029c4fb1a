"""What an answer by the link assumed, in words."""

from __future__ import annotations

from typing import Any

from truthing.survey.clusters import Alike
from truthing.truth import checks
from truthing.truth.question import Question

PANELS = {
    "people": "as far as public panels of people were",
    "models": "as far as public panels of language models were",
}

# of several classifiers
CURVES = (
    "For areas under curves the log-odds of the positive class are a sum of smooth curves, one "
    "in the score of each classifier."
)
TOGETHER = (
    "Classifiers may err together: nothing is assumed about how their mistakes depend on each "
    "other."
)
OWN_DRAWS = (
    "With gold a difference has draws of its own, about the items on which the models differ: it "
    "need not be the difference of the two models' estimates."
)
FEW_GOLD = 25
LITTLE_GOLD = (
    f"With fewer than {FEW_GOLD} gold items P(better) rests mostly on the labels. Where a model "
    "shares their mistakes, verdicts that looked sure were right in 6 to 9 of 10 simulated cases."
)


def assumed(question: Question, panel_error: Any) -> list[str]:
    if panel_error is None:
        unknown = "as far as public panels of people and of language models were (kind not known)"
        how = f"{PANELS.get(str(question.panel), unknown)}; `panel_error=` changes it"
    else:
        how = f"by your word on about {_share(panel_error):.1%} of items"
    found = [f"The panel as a whole may be wrong together, {how}."]
    if question.n_gold:
        found.append(f"{question.n_gold} gold items correct it: {question.gold_chosen.words}.")
    found += question.methods
    if question.trained_on_labels:
        found.append("The classifier learned from these labels and repeats some of their mistakes.")
    elif not question.constant:
        found.append(checks.LEARNED_FROM_LABELS)
    return found


def about_survey(question: Question, together: Alike | None) -> list[str]:
    """How the items were drawn, in words."""
    survey, told = question.survey, []
    if together is not None:
        worth = question.n_items / together.design_effect
        told.append(
            f"Items come in {together.n_clusters:,} clusters and share mistakes within them "
            f"(correlation {together.correlation:.2f}): for new data {question.n_items:,} items "
            f"are worth about {worth:,.0f}."
        )
    if survey.weight is not None:
        told.append(
            "Items count by their weights: all figures are about what they stand for. "
            f"{question.n_items:,} weighted items are worth about {survey.effective_items:,.0f}."
        )
    if survey.stratum is not None:
        told.append("Strata may differ in accuracy beyond what their labels show.")
    if survey.slice is not None:
        told.append("Slices are partially pooled: one with little gold leans on the others.")
    if question.deployment is not None:
        told.append(
            "Figures are for deployment with "
            f"{question.deployment.words(question.classes)}. What is predicted for items of one "
            "class is taken to be the same there."
        )
    return told


def _share(panel_error: Any) -> float:
    if isinstance(panel_error, tuple):
        return float(panel_error[0] / sum(panel_error))
    return float(panel_error)


def about_differences(n_gold: int) -> list[str]:
    """What differences between classifiers rest on beside gold."""
    return [OWN_DRAWS, *([LITTLE_GOLD] if n_gold < FEW_GOLD else [])] if n_gold else []
