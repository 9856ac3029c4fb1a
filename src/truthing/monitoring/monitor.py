"""monitor(): has the pass rate fallen? An alarm that may be looked at after every item."""

from __future__ import annotations

from typing import Any

from truthing.arguments import as_number
from truthing.errors import InputError, NotIdentified
from truthing.monitoring.evidence import evidence_of_fall
from truthing.monitoring.result import Monitoring
from truthing.monitoring.stream import read_stream


def monitor(
    stream: Any,
    *,
    floor: float = 0.9,
    alarm: float = 0.05,
    evidence: str | None = None,
    wrong_fails: float | None = None,
    passing: Any = None,
    time_column: str | None = None,
    batch_column: str | None = None,
    version_column: str | None = None,
    truth_column: str | None = None,
    label_column: str | None = None,
) -> Monitoring:
    """Has the pass rate fallen below a floor? Look as often as you like.

    Parameters
    ----------
    stream : sequence, path or data frame
        Outcomes in the order of time (pass or fail, 1 or 0), or a table: a column of truth (gold)
        or of labels, and perhaps a date, a batch and a version.
    floor : float, default 0.9
        The alarm rings when the pass rate has been below it.
    alarm : float, default 0.05
        The chance of ever ringing while the rate never was below the floor.
    evidence : {"gold", "labels"}, optional
        What to believe. None: the truth where the table has it, else labels.
    wrong_fails : float, optional
        Needed with labels: at most this share of passing items is labelled as failing, at any time
        and for every version. The floor of the labels is then ``floor * (1 - wrong_fails)``.
    passing : str, optional
        The class that counts as a pass, where it is not called pass, yes, true, 1 or the like.
    time_column, batch_column, version_column, truth_column, label_column : str, optional
        Names of columns, where they are not the usual ones.

    Returns
    -------
    Monitoring
        ``.alarm``, ``.alarm_at``, ``.e_value``, ``.batches()``, ``.drifted()``, ``.running()``;
        where rows have truth and label, ``.agreement()``, ``.agreement_changes()`` and
        ``.agreement_p_value``: has the judge changed?

    Raises
    ------
    InputError
        A file or argument cannot be used as it is.
    NotIdentified
        Labels without a bound on their mistakes: a worse judge and a worse system look the same.

    See Also
    --------
    prevalence : the pass rate now, from noisy labels.

    Examples
    --------
    >>> import truthing as tr
    >>> good, bad = [1] * 97 + [0] * 3, [1, 1, 0] * 60
    >>> tr.monitor(good * 3).alarm, tr.monitor(good * 3 + bad).alarm
    (False, True)
    """
    floor, chance = _share("floor", floor), _share("alarm", alarm)
    if evidence not in (None, "gold", "labels"):
        raise InputError(f"evidence {evidence!r} is not known: choose gold or labels.")
    columns = {
        "time": time_column,
        "batch": batch_column,
        "version": version_column,
        "truth": truth_column,
        "label": label_column,
    }
    read = read_stream(stream, columns, passing, evidence)
    if evidence == "gold" and not read.gold:
        raise InputError("no column holds gold: name it with `truth_column=...`.")
    assumptions, lowest = list(read.remarks), floor
    if read.gold:
        assumptions.append(
            "Gold items are a random choice of the items of their time, and gold is right."
        )
    else:
        lowest = floor * (1 - _bound(wrong_fails))
        assumptions.append(
            f"By your word labelers fail at most {wrong_fails:.1%} of the passing items, at any "
            "time "
            f"and in any version: so labels of a good system pass at {lowest:.3g} or more."
        )
    found = evidence_of_fall(read.passed, lowest)
    assumptions.append(
        f"A false alarm has probability {chance:.4g} at most over all looks together (betting "
        "martingale, Ville's inequality); items may depend on the past."
    )
    warnings = []
    if not read.gold:
        warnings.append(
            "Labels, not gold: a judge that became stricter than your bound rings the alarm, and a "
            "judge that became kinder hides a fall. Gold on some items of every week shows both."
        )
    if read.agreed is not None:
        assumptions.append(
            "Rows with both truth and label say how often the judge agrees with gold; rows of one "
            "version are a random choice of its items. Unlike the alarm, this comparison of "
            "versions is for one look."
        )
    about = read.passed, read.time, read.batch, found, read.gold
    judged: Any = {"agreed": read.agreed, "judged": read.judged}
    return Monitoring(floor, chance, *about, warnings, assumptions, **judged)


def _share(name: str, value: Any) -> float:
    number = as_number(value)
    if not 0 < number < 1:
        raise InputError(f"{name} {value!r} is not between 0 and 1.")
    return number


def _bound(wrong_fails: Any) -> float:
    if wrong_fails is None:
        raise NotIdentified(
            "labels alone cannot tell a worse system from a stricter judge: give gold (a truth "
            "column), or say how many of the passing items labelers fail at most "
            "(`wrong_fails=0.05`)."
        )
    number = as_number(wrong_fails)
    if not 0 <= number < 1:
        raise InputError(f"wrong_fails {wrong_fails!r} is a share of the passing items: 0 to 1.")
    return number
