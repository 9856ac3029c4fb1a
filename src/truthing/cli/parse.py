"""What a person writes behind an option, as the library takes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from truthing.errors import InputError, in_options


def in_words_of_options(result: Any) -> None:
    """Warnings and assumptions of a result, with options where Python has parameters."""
    for sentences in (result.warnings, result.assumptions):
        sentences[:] = map(in_options, sentences)


def noise(text: str | None) -> Any:
    """0.05, 0.02-0.08, or a file: labeler and error columns, or a JSON object from labeler to
    rate or matrix.
    """
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        pass
    low, dash, high = text.partition("-")
    if dash:
        try:
            return float(low), float(high)
        except ValueError:
            pass
    path = Path(text)
    if not path.is_file():
        raise InputError(
            f"--noise {text}: not a number, not a range such as 0.02-0.08, and no such file."
        )
    if path.suffix == ".json":
        try:
            return {
                k: v if isinstance(v, int | float) else [list(map(float, row)) for row in v]
                for k, v in json.loads(path.read_text()).items()
            }
        except (json.JSONDecodeError, AttributeError, TypeError, ValueError):
            raise InputError(
                f"{text} is not a JSON object from labeler to error rate or confusion matrix."
            ) from None
    from truthing.tables.source import open_table

    table = open_table(text)
    columns = {c.lower(): c for c in table.frame.columns}
    who = next(
        (columns[c] for c in ("labeler", "worker", "annotator", "rater", "judge") if c in columns),
        None,
    )
    rate = next(
        (columns[c] for c in ("error", "rate", "noise", "error_rate") if c in columns), None
    )
    if who is None or rate is None:
        raise InputError(
            f"{text} needs a labeler and an error column; it has {', '.join(table.frame.columns)}."
        )
    codes, names = table.required(who, "labeler")
    rates: dict[Any, float] = {}
    for code, found in zip(codes, table.numbers(rate, "error")):
        if rates.setdefault(names[code], float(found)) != float(found):
            raise InputError(
                f"{text} gives labeler {names[code]!r} two rates, {rates[names[code]]:g} and "
                f"{found:g}: keep one."
            )
    return rates


def gold_error(text: str | None) -> Any:
    """0.03, 0.01-0.05, or the file of a second expert's answers."""
    if text is None or Path(text).is_file():
        return text
    try:
        parts = tuple(float(part) for part in text.split("-"))
    except ValueError:
        parts = ()
    if not 1 <= len(parts) <= 2:
        raise InputError(
            f"--gold-error {text}: not a number, not a range such as 0.01-0.05, and no such file."
        )
    return parts[0] if len(parts) == 1 else parts


def prior(text: str | None, classes: tuple[Any, ...], positive: str | None) -> Any:
    if text is None:
        return None
    try:
        shares = [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(
            f"--prior {text}: give a number, or one for each class split by commas."
        ) from None
    if (
        len(shares) == 1
        and len(classes) == 2
        and positive is not None
        and str(classes[0]) == positive
    ):
        return [shares[0], 1 - shares[0]]
    return shares if len(shares) > 1 else shares[0]


def panel_error(text: str | None) -> Any:
    if text is None:
        return None
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(
            f"--panel-error {text}: give a share such as 0.02, 0 to switch it off, or A,B of "
            "a Beta distribution."
        ) from None
    return values[0] if len(values) == 1 else tuple(values)
