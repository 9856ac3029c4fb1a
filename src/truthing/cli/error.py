"""truthing error: the closed forms of Lam & Stork."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from truthing.cli import options, showing
from truthing.cli.groups import spread
from truthing.errors import InputError
from truthing.metrics.words import percent


@spread
def error(
    apparent: Annotated[
        float | None,
        typer.Option(
            help="Apparent error rate: how often the classifier disagrees with the labels."
        ),
    ] = None,
    mislabeling: Annotated[
        float | None, typer.Option(help="Mislabeling rate: how often a label is wrong.")
    ] = None,
    n: Annotated[
        int | None,
        typer.Option("--n", help="Number of items behind the apparent error; gives an interval."),
    ] = None,
    checked: Annotated[
        str | None,
        typer.Option(help="Mislabeling rate counted on checked labels: WRONG/TOTAL, e.g. 5/100."),
    ] = None,
    true: Annotated[
        float | None,
        typer.Option(
            "--true", help="True error rate (for the apparent one, --ratio and --policy)."
        ),
    ] = None,
    ratio: Annotated[
        bool,
        typer.Option("--ratio", help="How many noisy labels are worth one perfect label (Eq. 3)."),
    ] = False,
    policy: Annotated[
        bool, typer.Option("--policy", help="Twice as many items, or every item twice? (Eq. 4)")
    ] = False,
    bounds: Annotated[
        bool, typer.Option("--bounds", help="Bounds without independence (Section 6).")
    ] = False,
    joint: Annotated[
        str | None,
        typer.Option(
            help="Joint table of labels (rows) and predictions (columns), rows split by ';': "
            "45,5;10,40."
        ),
    ] = None,
    labeler: Annotated[
        str | None,
        typer.Option(help="Labeler's confusion matrix, truth in rows: .9,.1;.2,.8 (with --joint)."),
    ] = None,
    level: options.Level = 0.95,
    output: showing.Output = showing.ON_SCREEN,
) -> None:
    """True error behind an apparent one when labels are wrong at a known rate (Lam & Stork
    2003).
    """
    from truthing.papers.closed_forms import ClosedForms
    from truthing.render.error import show

    output.check()
    numbers = {"--apparent": apparent, "--mislabeling": mislabeling, "--n": n, "--checked": checked}
    asked = {"--ratio": ratio or None, "--policy": policy or None, "--bounds": bounds or None}
    if joint is not None:
        _refuse({**numbers, "--true": true, **asked}, "is not used with --joint")
        text, found, notes = _from_table(joint, labeler)
    else:
        _refuse({"--labeler": labeler}, "goes with --joint")
        if apparent is None:
            _refuse({"--n": n}, "is the number of items behind --apparent")
        elif not (ratio or policy):
            _refuse({"--true": true}, "is not used beside --apparent but by --ratio and --policy")
        rates = Rates(apparent, mislabeling, n, _checked(checked), true, level)
        text, found, notes = _from_rates(rates, ratio=ratio, policy=policy, bounds=bounds)
    result = ClosedForms(text, found, tuple(dict.fromkeys(notes)))
    showing.deliver(result, output, show, about={})


def _refuse(given: dict[str, Any], why: str) -> None:
    for option, value in given.items():
        if value is not None:
            raise InputError(f"{option} {why}: leave it out.")


@dataclass(frozen=True)
class Rates:
    """What was said about the rates."""

    apparent: float | None
    mislabeling: float | None
    n: int | None
    checked: tuple[int, int] | None
    true: float | None
    level: float

    @property
    def mislabeled(self) -> float:
        if self.mislabeling is not None:
            return self.mislabeling
        if self.checked is None:
            raise InputError(
                "the mislabeling rate is missing: give --mislabeling, or --checked WRONG/TOTAL."
            )
        return self.checked[0] / max(self.checked[1], 1)


def _from_table(joint: str, labeler: str | None) -> tuple[str, dict[str, Any], list[str]]:
    from truthing.papers import lam_stork_confusion

    if labeler is None:
        raise InputError("--joint needs --labeler, the labeler's confusion matrix.")
    result = lam_stork_confusion.true_confusion(_matrix(joint), _matrix(labeler))
    found = {
        "confusion": result.confusion.tolist(),
        "prior": result.prior.tolist(),
        "precision": result.precision.tolist(),
        "recall": result.recall.tolist(),
        "error": result.error,
        "condition": result.condition,
    }
    return str(result), found, result.warnings + result.assumptions


def _from_rates(
    rates: Rates, *, ratio: bool, policy: bool, bounds: bool
) -> tuple[str, dict[str, Any], list[str]]:
    from truthing.papers import lam_stork

    rate, true = rates.mislabeled, rates.true
    lines: list[str] = []
    found: dict[str, Any] = {}
    notes: list[str] = []
    if rates.apparent is not None:
        corrected = lam_stork.true_error(
            rates.apparent, rates.mislabeling, n=rates.n, checked=rates.checked
        )
        found["true_error"] = {
            "value": corrected.value,
            "raw": corrected.raw,
            "clipped": corrected.clipped,
        }
        lines.append(
            f"true error      {corrected.value:.4f}"
            + (f"   (raw {corrected.raw:.4f})" if corrected.clipped else "")
        )
        if rates.n is not None:
            low, high = corrected.interval(rates.level)
            fits = high > low or not corrected.clipped
            found["true_error"] |= {
                "low": low if fits else None,
                "high": high if fits else None,
                "level": rates.level,
                "variance": corrected.variance,
            }
            words = f"{percent(rates.level)} interval {low:.4f} to {high:.4f}"
            lines[-1] += f"   {words if fits else 'no interval: no true error fits these rates'}"
        notes += corrected.warnings + corrected.assumptions
        true = corrected.value if true is None else true
    elif true is not None:
        seen = lam_stork.apparent_error(true, rate)
        found["apparent_error"] = seen.value
        lines.append(f"apparent error  {seen.value:.4f}")
        notes += seen.assumptions
    if bounds:
        limits = lam_stork.error_bounds(_need(rates.apparent, "--bounds", "--apparent"), rate)
        found["bounds"] = {
            "lower": limits.lower,
            "upper": limits.upper,
            "lower_positive_dependence": limits.lower_positive_dependence,
        }
        lines.append(f"true error is {limits}")
    if ratio:
        worth = lam_stork.noisy_label_ratio(_need(true, "--ratio", "--true or --apparent"), rate)
        found["noisy_label_ratio"] = worth.value
        lines.append(f"noisy labels worth one perfect label  {worth.value:.3f}")
    if policy:
        choice = lam_stork.label_policy(_need(true, "--policy", "--true or --apparent"), rate)
        found["policy"] = {
            "policy": choice.policy,
            "variance_distinct": choice.variance_distinct,
            "variance_repeat": choice.variance_repeat,
        }
        lines.append(f"policy: {choice}")
        notes += choice.assumptions
    if not lines:
        raise InputError(
            "nothing to compute: give --apparent (for the true error) or --true (for the "
            "apparent one)."
        )
    return "\n".join(lines), found, notes


def _need(value: float | None, what: str, option: str) -> float:
    if value is None:
        raise InputError(f"{what} needs {option}.")
    return value


def _checked(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    try:
        wrong, total = (int(part) for part in text.split("/"))
    except ValueError:
        raise InputError(f"--checked {text!r}: write WRONG/TOTAL, e.g. 5/100.") from None
    return wrong, total


def _matrix(text: str) -> list[list[float]]:
    try:
        rows = [[float(cell) for cell in row.split(",")] for row in text.split(";")]
    except ValueError:
        raise InputError(
            f"matrix {text!r}: write numbers split by ',' and rows split by ';', e.g. .9,.1;.2,.8."
        ) from None
    if len({len(row) for row in rows}) != 1:
        raise InputError(f"matrix {text!r}: its rows have different lengths.")
    return rows
