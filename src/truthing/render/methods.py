"""A paragraph on methods that can be pasted into a paper, and what it cites."""

from __future__ import annotations

from truthing import __version__
from truthing.metrics.words import percent
from truthing.report import Report

GOLD = {
    "random": "which were taken to be a random choice",
    "chances": "which had been chosen with known unequal chances (inverse probability weights)",
    "seen": "which had been chosen by what labels and predictions show and were weighted back "
    "within strata of these (Begg & Greenes 1983)",
}
CITATIONS = {
    "su": "Su, J. K. (2024). On Truthing Issues in Supervised Classification. Journal of Machine "
    "Learning Research 25, 1–91.",
    "dawid": "Dawid, A. P. and Skene, A. M. (1979). Maximum likelihood estimation of observer "
    "error-rates using the EM algorithm. Applied Statistics 28(1), 20–28.",
    "lam": "Lam, C. P. and Stork, D. G. (2003). Evaluating classifiers by means of test data with "
    "noisy labels. IJCAI-03, 513–518.",
    "begg": "Begg, C. B. and Greenes, R. A. (1983). Assessment of diagnostic tests when disease "
    "verification is subject to selection bias. Biometrics 39(1), 207–215.",
    "gelman": "Gelman, A. et al. (2013). Bayesian Data Analysis, 3rd ed. Chapman & Hall/CRC, "
    "sections 11.4–11.5.",
    "newton": "Newton, M. A. and Raftery, A. E. (1994). Approximate Bayesian inference with the "
    "weighted likelihood bootstrap. Journal of the Royal Statistical Society B 56(1), 3–48.",
}


def methods(report: Report, level: float = 0.95) -> tuple[str, list[str]]:
    """The paragraph, and the references that it names."""
    size = report.sizes
    labelers = "one labeler" if size["labelers"] == 1 else f"{size['labelers']:,} labelers"
    sentences = [
        f"The classifier was graded on {size['items']:,} items with {size['labels']:,} noisy "
        f"labels from {labelers}"
        + (f" and the known truth of {size['gold']:,} items" if size["gold"] else "")
        + f", using truthing {__version__} (method “{report.method}”, seed {report.seed})."
    ]
    cited = ["lam"]
    if report.method == "posterior":
        more, named = _by_default(report, level)
        sentences, cited = sentences + more, cited + named
    else:
        sentences.append(
            f"Figures and {percent(level)} intervals are those of Su’s method "
            f"“{report.method}”, which takes the noise of the labelers as known."
        )
        cited.append("su")
    if report.warnings:
        shown = " ".join(f"“{warning}”" for warning in report.warnings[:3])
        left = len(report.warnings) - 3
        sentences.append(f"The program warned: {shown}{f' and {left} more.' if left > 0 else ''}")
    sentences.append(
        "Labels were not assumed to be correct; how a classifier’s apparent error differs "
        "from its true error is described by Lam & Stork (2003)."
    )
    return " ".join(sentences), [CITATIONS[key] for key in sorted(cited)]


def _by_default(report: Report, level: float) -> tuple[list[str], list[str]]:
    """What the default method did, and the works that it stands on."""
    sentences: list[str] = []
    cited: list[str] = []
    size = report.sizes
    calibration = report.diagnostics.get("calibration_items")
    if calibration:
        sentences.append(
            f"How labelers answer items of each class was learned on {calibration:,} other "
            "items with known truth (a calibration set; Dirichlet-multinomial rows by Gibbs "
            "sampling) and carried over to the graded items."
        )
    elif report.noise.learned:
        sentences.append(
            "The labelers’ error rates were learned from the labels "
            f"({report.noise.model}; Dawid & Skene 1979), with the classifier as one "
            "more rater."
        )
        cited.append("dawid")
    else:
        sentences.append("The labelers’ error rates were given.")
    if "link_effective_sample_size" in report.diagnostics:
        sentences.append(
            "Because labels alone identify the consensus of the labelers and not the "
            "truth, the chance that consensus and truth differ was given a prior "
            + (
                "learned from public crowd-labelled data sets"
                if report.diagnostics["panel_error"] is None
                else f"stated in advance (panel error {report.diagnostics['panel_error']})"
            )
            + (
                f", updated by the gold items, {GOLD[report.diagnostics['gold_choice']]}."
                if size["gold"]
                else "."
            )
        )
    if report.diagnostics.get("gold_choice") == "seen":
        cited.append("begg")
    sentences += report.diagnostics.get("methods", [])
    sentences += about_items(report)
    by_link = "link_effective_sample_size" in report.diagnostics
    intervals = (
        "credible intervals (at most 5% wider than the shortest, their tails as equal as that "
        "allows)"
        if by_link
        else "highest-density intervals"
    )
    sentences.append(
        f"All figures are posterior means with {percent(level)} {intervals} computed from "
        "draws of complete answer keys, for "
        + ("these items." if report.target == "sample" else "new data like these items.")
    )
    if "rhat" in report.diagnostics:
        agreed = report.diagnostics["rhat"] < 1.05
        sentences.append(
            f"Chains {'agreed' if agreed else 'did not fully agree'} (split R̂ = "
            f"{report.diagnostics['rhat']:.3f}, effective sample size "
            f"{report.diagnostics['effective_sample_size']:,.0f}; Gelman et al. 2013)."
        )
        cited.append("gelman")
    elif report.noise.learned and not by_link and not calibration:
        sentences.append(
            "The uncertainty of the learned rates was found by a weighted likelihood "
            "bootstrap (Newton & Raftery 1994)."
        )
        cited.append("newton")
    return sentences, cited


def about_items(report: Report) -> list[str]:
    """How the items were drawn, where that was said."""
    starts = ("Items come in", "Items count by", "Strata may", "Slices are", "Figures are for")
    return [words for words in report.assumptions if words.startswith(starts)]
