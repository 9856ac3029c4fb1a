"""Which noise model, when the user names none: the one that predicts held-out labels best."""

from __future__ import annotations

import numpy as np

from truthing.class_codes import Array
from truthing.noise.difficulty import HardItems
from truthing.noise.em import Model, RowsModel, fit_codes
from truthing.noise.known import Difficulty
from truthing.noise.learned import DawidSkene, Learned, OneCoin, Strata
from truthing.progress import Progress, part, silent
from truthing.randomness import Seed
from truthing.truth.consensus import Entries, fit_dawid_skene, fit_one_coin

LARGE = 200_000
POOLED = 4.0  # labels that the average labeler's rows are worth in the strata of one who gave few


def choose_model(
    entries: Entries,
    predicted: Array | None,
    seed: Seed,
    *,
    hard_items: bool = False,
    progress: Progress = silent,
) -> tuple[Learned | Difficulty, dict[str, float]]:
    """Dawid-Skene or one coin or, with ``hard_items``, difficulty × fallibility or two strata, by
    the mean log score of a tenth of the labels.

    ``predicted`` is one more rater, where there is a classifier. The models of hard items are
    richer and slower: they have to win by two standard errors.
    """
    rng = np.random.default_rng(seed)
    if len(entries.item) > LARGE:  # a share of the items tells which model predicts better
        chosen = np.sort(
            rng.permutation(entries.n_items)[: entries.n_items * LARGE // len(entries.item)]
        )
        entries = _some_items(entries, chosen)
        predicted = None if predicted is None else predicted[chosen]
    many = np.flatnonzero(np.bincount(entries.item, minlength=entries.n_items)[entries.item] > 1)
    if len(many) < 20:
        return OneCoin(), {}
    held = rng.choice(many, size=min(len(many) // 10 + 1, 20_000), replace=False)
    kept = np.ones(len(entries.item), dtype=bool)
    kept[held] = False
    rest = _some_entries(entries, kept)
    rest = rest if predicted is None else rest.with_classifier(predicted)
    at = entries.item[held], entries.rater[held], entries.label[held]
    full = fit_dawid_skene(rest, progress=part(progress, 0, 0.5))
    scores = {
        "DawidSkene": _log((full.posterior[at[0]] * full.rows()[at[1], :, at[2]]).sum(axis=1))
    }
    scores["OneCoin"] = _coin_score(rest, at, part(progress, 0.5, 0.8))
    best: Learned | Difficulty = (
        DawidSkene() if scores["DawidSkene"].mean() >= scores["OneCoin"].mean() else OneCoin()
    )
    if hard_items and entries.n_classes <= 10:
        size = rest.n_raters, rest.n_classes
        for rival, model in (
            (Difficulty(), HardItems(*size)),
            (Strata(2), RowsModel(*size, n_strata=2)),
        ):
            name = type(rival).__name__
            scores[name] = _state_score(rest, at, model)
            gain = scores[name] - scores[type(best).__name__]
            if gain.mean() > 2 * gain.std() / np.sqrt(len(gain)):
                best = rival
    return best, {name: float(score.mean()) for name, score in scores.items()}


def _log(chance: Array) -> Array:
    return np.log(np.maximum(chance, 1e-12))


def _coin_score(rest: Entries, at: tuple[Array, Array, Array], progress: Progress) -> Array:
    item, rater, label = at
    coin = fit_one_coin(rest, progress=progress)
    others = max(rest.n_classes - 1, 1)
    q, right = coin.posterior[item, label], coin.accuracy[rater]
    return _log(q * right + (1 - q) * (1 - right) / others)


def _state_score(rest: Entries, at: tuple[Array, Array, Array], model: Model) -> Array:
    """Chance of the held-out label given the item's other labels, (class, stratum) summed out."""
    item, rater, label = at
    order = np.argsort(rest.item, kind="stable")  # the classifier's labels come last in the entries
    start_of = np.searchsorted(rest.item[order], np.arange(rest.n_items + 1)).astype(np.int64)
    fit = fit_codes(
        start_of, rest.rater[order], rest.label[order], rest.votes[order], model, most=100
    )
    rows = fit.rows
    if isinstance(model, RowsModel):
        given = np.bincount(rest.rater, weights=rest.votes, minlength=rest.n_raters)[:, None, None]
        average = (rows * given).sum(axis=0) / given.sum()
        rows = (rows * given + POOLED * average) / (given + POOLED)
    return _log((fit.state_posterior[item] * rows[rater, :, label]).sum(axis=1))


def _some_entries(entries: Entries, kept: Array) -> Entries:
    return Entries(
        entries.item[kept],
        entries.rater[kept],
        entries.label[kept],
        entries.votes[kept],
        entries.n_items,
        entries.n_raters,
        entries.n_classes,
    )


def _some_items(entries: Entries, chosen: Array) -> Entries:
    place = np.full(entries.n_items, -1, dtype=np.int32)
    place[chosen] = np.arange(len(chosen), dtype=np.int32)
    kept = place[entries.item] >= 0
    return Entries(
        place[entries.item[kept]],
        entries.rater[kept],
        entries.label[kept],
        entries.votes[kept],
        len(chosen),
        entries.n_raters,
        entries.n_classes,
    )
