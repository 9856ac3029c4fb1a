"""What the labels say about each row of X: labels in any shape aligned with the rows, and
p(labels | truth) from known or learned noise.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from truthing.asking import as_noise, as_prior
from truthing.class_codes import Array, recode, sort_classes
from truthing.errors import InputError, listing
from truthing.labels import Labels
from truthing.matching import as_gold
from truthing.names import names_at
from truthing.noise.base import TableNoise, symmetric_table
from truthing.noise.known import Confusion
from truthing.noise.learned import DawidSkene, OneCoin
from truthing.repeats import Repeats
from truthing.tables import inspect
from truthing.tables.items import is_index
from truthing.truth.consensus import DawidSkeneFit, Entries, fit_dawid_skene, fit_one_coin
from truthing.truth.groups import estimate_prior, softmax
from truthing.truth.known_noise import must_be_learned
from truthing.truth.question import Question

WEAK = 2 / 3  # MMSE training has lost a third of the contrast between classes


class WeakLabelsWarning(UserWarning):
    """The labels say little about the truth, and this way of training does not ask X what they
    leave open.
    """


@dataclass(frozen=True, eq=False)
class Evidence:
    """log p(labels | truth) for the rows that can be used (gold certain, each row's maximum zero),
    and the class prior.

    ``tables`` are the labelers' confusion matrices where the noise model has them; ``fit`` is how
    they were learned.
    """

    labels: Labels
    kept: Array
    gold: Array
    log_likelihood: Array
    prior: Array
    tables: Array | None
    fit: DawidSkeneFit | None = None

    @property
    def classes(self) -> tuple[Any, ...]:
        return self.labels.classes

    @cached_property
    def posterior(self) -> Array:
        """p(truth | labels), items × classes (Su 40's weights)."""
        with np.errstate(divide="ignore"):
            return softmax(self.log_likelihood + np.log(self.prior))

    @cached_property
    def reliability(self) -> float:
        """Share of the contrast between classes that p(truth | labels) keeps: Σ Var(posterior)
        / Σ π(1 - π), 1 for perfect labels, 0 for useless ones.
        """
        mean = self.posterior.mean(axis=0)
        return float(self.posterior.var(axis=0).sum() / max((mean * (1 - mean)).sum(), 1e-300))

    def certain(self, log_likelihood: Array) -> Array:
        """Any log p(labels | truth) with the gold items made certain."""
        return Question(self.labels, self.gold, self.gold, log_likelihood, self.prior).evidence


@dataclass(frozen=True, eq=False)
class TrainingPanel:
    """Labels of the rows that can be used, which rows those are, and the codes of their gold
    (-1: none).
    """

    labels: Labels
    kept: Array
    gold: Array


def gather(X: Any, labels: Any, *, gold: Any = None, repeats: Repeats = "error") -> TrainingPanel:
    """Labels and gold aligned with the rows of X; rows with neither are left out, and that is
    said.
    """
    named = isinstance(labels, Labels) or hasattr(labels, "columns")
    panel = align_labels(X, labels).resolve_repeats(repeats)
    if gold is not None and not named:
        raise InputError(
            "gold names items, and a plain matrix has none that survive splitting: give "
            "tr.Labels.from_matrix(matrix, items=…)."
        )
    known, codes = as_gold(gold), np.full(panel.n_items, -1, dtype=np.int64)
    if known is not None:
        panel = panel.with_classes(
            sort_classes({(type(c), c): c for c in (*panel.classes, *known.classes)}.values())
        )
        truth = dict(zip(known.items, recode(known.label, known.classes, panel.classes)))
        codes = np.array([truth.get(item, -1) for item in panel.items], dtype=np.int64)
    kept = np.flatnonzero((panel.per_item > 0) | (codes >= 0))
    if len(kept) == 0:
        raise InputError("no item has a label: there is nothing to learn from.")
    if panel.n_classes < 2:
        raise InputError(
            f"the labels name one class only ({listing(map(repr, panel.classes))}): a "
            "classifier needs two classes or more."
        )
    if len(kept) < panel.n_items:
        warnings.warn(
            f"No label for {panel.n_items - len(kept):,} of {panel.n_items:,} items: left out.",
            stacklevel=5,
        )
        panel, codes = panel[kept], codes[kept]
    return TrainingPanel(panel, kept, codes)


def weigh(panel: TrainingPanel, *, noise: Any = None, prior: Any = None) -> Evidence:
    """What the labels of a panel say, with noise known or learned first."""
    fixed = None if prior is None else as_prior(prior, panel.labels.classes)
    return _weighed(panel.labels, panel.kept, panel.gold, as_noise(noise), fixed)


def _weighed(panel: Labels, kept: Array, gold: Array, model: Any, prior: Array | None) -> Evidence:
    tables, fit, learned_prior = None, None, None
    if model is None and panel.per_item.max(initial=0) < 2 and not (gold >= 0).any():
        warnings.warn(
            "One label per item and nothing known about the noise: labels are taken as "
            "correct. Say how often they are wrong, as in noise=0.1.",
            stacklevel=5,
        )
        tables = symmetric_table(np.zeros(panel.n_labelers), panel.n_classes)
        log_likelihood = Confusion(tables).log_likelihood(panel)
    elif model is None or isinstance(model, DawidSkene):
        fit = fit_dawid_skene(Entries.of(panel), gold)
        tables, learned_prior = fit.rows(), np.exp(fit.log_prior)
        log_likelihood = Confusion(tables).log_likelihood(panel)
    elif isinstance(model, OneCoin):
        right = fit_one_coin(Entries.of(panel), gold).accuracy
        tables = symmetric_table(1 - right, panel.n_classes)
        log_likelihood = Confusion(tables).log_likelihood(panel)
    elif must_be_learned(model, panel):
        log_likelihood, learned_prior, tables = _sampled(panel, gold, model, prior)
    else:
        tables = model.tables(panel) if isinstance(model, TableNoise) else None
        log_likelihood = model.log_likelihood(panel)
    evidence = Question(panel, gold, gold, log_likelihood).evidence
    if prior is None:
        prior = (
            estimate_prior(evidence)
            if learned_prior is None
            else learned_prior / learned_prior.sum()
        )
    return Evidence(panel, kept, gold, evidence, prior, tables, fit)


def _sampled(
    panel: Labels, gold: Array, model: Any, prior: Array | None
) -> tuple[Array, Array, Array | None]:
    """Noise that only the sampler can learn (strata, difficulty, ranges, partly known): its
    p(truth | labels) with the prior divided out.
    """
    from truthing.rate import prevalence

    there = np.flatnonzero(gold >= 0)
    known = dict(zip(names_at(panel.items, there), [panel.classes[k] for k in gold[there]]))
    found = prevalence(
        panel, gold=known or None, noise=model, prior=prior, panel_error=0, draws=1000
    )
    share = found.draws.mean(axis=0)
    tables = None if found.noise is None else found.noise.confusion
    return np.log(np.maximum(found.truth, 1e-12)) - np.log(np.maximum(share, 1e-12)), share, tables


# ---- labels in any shape
# --------------------------------------------------------------------------------------------


def align_labels(X: Any, labels: Any) -> Labels:
    """Labels, a matrix, a long table or a plain y, as `Labels` whose item i is row i of X.

    A long table (columns item, labeler, label) names rows of X by its index where X is a data
    frame, and by
    position otherwise. Convert once before cross-validation: a long table cannot be split by rows
    of X,
    `Labels` can.

    Parameters
    ----------
    X : array or data frame
        Features, a row per item.
    labels : Labels, matrix, data frame or sequence
        The labels in any of these forms.

    Returns
    -------
    Labels

    See Also
    --------
    LabelsKFold : what they are good for.

    Examples
    --------
    >>> table = {"item": [1, 0, 1], "labeler": ["ann", "ann", "bob"], "label": ["no", "yes", "no"]}
    >>> import polars as pl
    >>> align_labels([[0.1], [0.2], [0.3]], pl.DataFrame(table)).per_item.tolist()
    [1, 2, 0]
    """
    from sklearn.utils.validation import _num_samples

    n_rows = _num_samples(X)
    if labels is None:
        raise InputError(
            "the estimator requires y to be passed, but the target y is None: give labels, a "
            "matrix or one label for each row."
        )
    if isinstance(labels, Labels):
        panel = labels
    elif hasattr(labels, "columns"):
        panel = _from_frame(X, labels, n_rows)
    else:
        panel = _from_array(labels)
    if panel.n_items != n_rows:
        raise InputError(
            f"X and labels have inconsistent numbers of samples: {n_rows:,} rows and "
            f"{panel.n_items:,} items. Give one item for each row, in the order of X."
        )
    return panel


def _from_array(labels: Any) -> Labels:
    from sklearn.utils import check_array, column_or_1d
    from sklearn.utils.multiclass import check_classification_targets

    grid = labels if isinstance(labels, np.ndarray) else np.array(labels, dtype=object)
    if grid.ndim == 2 and grid.shape[1] > 1:
        return Labels.from_matrix(grid)
    column = column_or_1d(grid if isinstance(labels, np.ndarray) else np.asarray(labels), warn=True)
    if column.dtype.kind in "fc":
        check_array(column, ensure_2d=False, ensure_all_finite="allow-nan", input_name="y")
        check_classification_targets(column[~np.isnan(column)])
    return Labels.from_matrix(column[:, None])


def _from_frame(X: Any, frame: Any, n_rows: int) -> Labels:
    try:
        reading = inspect(frame)
    except InputError:  # no column of a known name: every column is a labeler
        reading = None
    if reading is None or is_index(reading.columns.role.get("item", "")):
        return Labels.from_matrix(
            np.asarray(frame, dtype=object), labelers=[str(c) for c in frame.columns]
        )
    table = reading.labels
    index = getattr(X, "index", None)
    names: Any = range(n_rows) if index is None or callable(index) else tuple(index)
    rows = {name: i for i, name in enumerate(names)}
    absent = [item for item in table.items if item not in rows]
    if absent:
        raise InputError(
            f"item {listing(map(repr, absent), 3)} of the labels is no row of X: items name "
            "the index of X where it is a data frame, positions from 0 otherwise."
        )
    place = np.array([rows[item] for item in table.items], dtype=np.int32)
    return Labels.from_codes(
        place[table.item],
        table.labeler,
        table.label,
        items=tuple(names),
        labelers=table.labelers,
        classes=table.classes,
        votes=table.votes,
        anonymous=table.anonymous,
    )
