"""readers(): reader-averaged figures for other readers and other cases."""

from __future__ import annotations

from typing import Any

from truthing.errors import InputError
from truthing.mrmc.analysis import METRICS, merit
from truthing.mrmc.reads import read_reads
from truthing.mrmc.result import ReaderStudy

FEW_READERS, FEW_CASES = 4, 20


def readers(
    reads: Any,
    *,
    gold: Any = None,
    metric: str = "auc",
    threshold: float | None = None,
    positive: Any = None,
    case_column: str | None = None,
    reader_column: str | None = None,
    modality_column: str | None = None,
    score_column: str | None = None,
    truth_column: str | None = None,
) -> ReaderStudy:
    """How good are readers like these on cases like these, in one or two modalities?

    Parameters
    ----------
    reads : path or data frame
        One row for each read: case, reader, modality (one or two; may be absent), score (grows with
        the disease), truth. Every reader reads every case in every modality.
    gold : mapping, path or data frame, optional
        The truth of every case, where it is not a column of the reads.
    metric : {"auc", "accuracy", "sensitivity", "specificity"}, default "auc"
        The figure that is averaged over readers.
    threshold : float, optional
        From this score on a case is called positive; not for the AUC.
    positive : str, optional
        The class that scores grow with. None: 1, true, malignant and the like, else the last.
    case_column, reader_column, modality_column, score_column, truth_column : str, optional
        Names of columns, where they are not the usual ones.

    Returns
    -------
    ReaderStudy
        ``.average(modality)``, ``.difference()``: value, error, interval(level), p_value.

    Raises
    ------
    InputError
        Reads or truths are missing, or an argument cannot be used.

    See Also
    --------
    compare : models or readers as they are, with noisy labels and partial gold.

    Examples
    --------
    >>> import truthing as tr
    >>> score = lambda c, r: (c * 7 + r * 3) % 10 + 4 * (c % 2)
    >>> rows = [{"case": c, "reader": r, "score": score(c, r), "truth": c % 2}
    ...         for c in range(40) for r in range(5)]
    >>> study = tr.readers(rows)
    >>> low, high = study.average().interval(0.95)
    >>> bool(low < study.average().value < high)
    True
    """
    if metric not in METRICS:
        raise InputError(f"metric {metric!r} is not known: choose {', '.join(METRICS)}.")
    if (metric == "auc") != (threshold is None):
        raise InputError(
            "the AUC needs no threshold: leave it out."
            if metric == "auc"
            else f"{metric} needs a threshold: `threshold=3` calls scores from 3 on positive."
        )
    columns = {
        "case": case_column,
        "reader": reader_column,
        "modality": modality_column,
        "score": score_column,
        "truth": truth_column,
    }
    found = read_reads(reads, gold, columns, positive)
    n_sick = int(found.diseased.sum())
    if len(found.modalities) > 2:
        raise InputError(
            f"{len(found.modalities)} modalities: this analysis compares two. Keep two of them."
        )
    if len(found.readers) < 2:
        raise InputError("one reader says nothing about other readers: two or more are needed.")
    if min(n_sick, len(found.cases) - n_sick) < 2:
        raise InputError("two cases or more of each class are needed.")
    warnings = []
    if len(found.readers) < FEW_READERS or len(found.cases) < FEW_CASES:
        warnings.append(
            f"{len(found.readers)} readers and {len(found.cases)} cases: so few tell little about "
            "others, and the approximation is rough."
        )
    value, spread = merit(found.score, found.diseased, metric, threshold)
    assumptions = [
        *found.remarks,
        "Readers and cases are random samples of those that the answer is about.",
        "The truth of every case is known and right.",
    ]
    about = len(found.cases), n_sick, warnings, assumptions
    study = ReaderStudy(metric, found.modalities, found.readers, value, spread, *about)
    if any(study.average(modality).error <= 0 for modality in found.modalities):
        warnings.append(
            "The standard error is 0: these readers and cases show no differences at all. The "
            "interval has no width, and says nothing about other readers and cases."
        )
    return study
