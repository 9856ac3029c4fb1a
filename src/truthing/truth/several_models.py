"""The truth behind several classifiers: which of the two samplers answers, and what it assumes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError, NotConverged
from truthing.labels import Labels
from truthing.metrics.estimate import Estimate
from truthing.noise.known import Confusion, Difficulty
from truthing.noise.learned import Strata
from truthing.progress import Progress
from truthing.survey.design import PLAIN, Survey
from truthing.survey.gold_choice import RANDOM, GoldChoice
from truthing.truth import checks, known_noise
from truthing.truth.answer import GOLD_IS_A_LABELER, GROUPS_ARE_LEARNED
from truthing.truth.assumed import (
    CURVES,
    TOGETHER,
    about_differences,
    about_survey,
    assumed,
)
from truthing.truth.beside_panel import given_question, views_beside_panel
from truthing.truth.consensus import Entries, fit_dawid_skene
from truthing.truth.erring_gold import golds
from truthing.truth.labelers import LARGE
from truthing.truth.link.models import (
    Committee,
    ModelLevel,
    ModelRows,
    draw_scored_truths,
    draw_tilts,
    draw_truths,
    effects,
    settle_tilts,
    tilt_prior,
)
from truthing.truth.link.models_counts import CountedKeys
from truthing.truth.link.views import Views
from truthing.truth.linked import (
    alike_items,
    counting_gold,
    link_components,
    own_level,
)
from truthing.truth.model_choice import choose_model
from truthing.truth.question import Question
from truthing.truth.samplers.diagnostics import effective_size, split_rhat
from truthing.truth.samplers.known import CHAINS
from truthing.truth.samplers.models import Regression, sample_committee
from truthing.truth.told_views import ToldViews
from truthing.truth.trusted_clusters import refuse_beyond_clusters

INDEPENDENT = (
    "Labelers err independently of each other and of the classifiers, given the true class."
)
MODELS, SETTLED, APART, KEYS = 7, 8, 9, 10  # streams of random numbers
MOST_CELLS, FEWEST_DRAWS = 100_000_000, 100  # draws × groups × classes
# chains whose accuracies are this close are taken together, and it is said where R-hat complains
SAME = 0.005


@dataclass(frozen=True, eq=False)
class Pairs:
    """What gold shows about differences: answer keys drawn when asked for, and the gold itself
    (class codes, -1 unknown) where it is a plain random choice.
    """

    keys: Callable[[], Array | CountedKeys]
    gold: Array | None


@dataclass(frozen=True, eq=False)
class SharedTruth:
    """Answer keys that grade all classifiers at once: draws × items, or only their counts.

    Their levels are those of `grade`, found for each classifier by itself. Differences therefore
    have keys of their own (``pairs``) where gold is known: two levels, each a little off, can push
    a difference to the end of what is possible. ``accuracies`` are those of `grade`: where they
    cannot all be true together, answer keys lie between them.
    """

    truth: Array | CountedKeys
    assumptions: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    diagnostics: dict[str, Any] = field(default_factory=dict)
    pairs: Pairs | None = None
    accuracies: Sequence[Estimate | None] = ()


def shared_truth(
    labels: Labels,
    predicted: Array,
    gold: Array,
    model: Any,
    panel_error: Any,
    *,
    gold_weights: Array | None,
    n_draws: int,
    seed: int,
    say: Progress,
    scores: Array | None = None,
    positive: int | None = None,
    panel: str | None = None,
    trained: Sequence[bool] = (),
    survey: Survey = PLAIN,
    gold_chosen: GoldChoice = RANDOM,
    kinds: Mapping[str, Any] | None = None,
    only_counts: bool = False,
    panels: Sequence[Labels] = (),
) -> SharedTruth:
    """``predicted`` is classifiers × items; ``model`` a noise model or None, as in `grade`.

    With ``scores`` (classifiers × items, growing with the ``positive`` of two classes) the truth is
    drawn given them: areas under curves need that. ``kinds`` are fields of `Question`;
    ``only_counts`` draws no item by itself; ``panels`` are the labels beside each classifier, where
    some labelers copy it.
    """
    learned = known_noise.must_be_learned(model, labels)
    if isinstance(model, Strata) or (isinstance(model, Difficulty) and learned):
        raise InputError(
            "compare learns labelers by confusion matrices (DawidSkene) or error rates "
            "(OneCoin): give one of these, or none."
        )
    if learned and known_noise.is_open(model):
        checks.require_identified(labels, gold)
    scored = None if scores is None or positive is None else Regression.on_scores(scores, positive)
    if not learned and given_question(labels, predicted[0], gold, model).certain:
        panel_error = 0  # labels without error are the truth
    if panel_error is None or isinstance(panel_error, tuple) or panel_error > 0:
        asked = [
            Question(
                panels[j] if panels else labels,
                row,
                gold,
                n_draws=n_draws,
                seed=seed,
                gold_weights=gold_weights,
                panel=panel,
                trained_on_labels=bool(trained[j]) if trained else False,
                survey=survey,
                gold_chosen=gold_chosen,
                **_of_model(kinds, j),
            )
            for j, row in enumerate(predicted)
        ]
        return _linked(asked, scored, model, panel_error, learned, say, only_counts)
    refuse_beyond_clusters(survey.used)
    if kinds and kinds["gold_error"] is not None:
        raise InputError(GOLD_IS_A_LABELER)
    if kinds and kinds["labeler_groups"] is not None:
        raise InputError(GROUPS_ARE_LEARNED)
    return _trusted(labels, predicted, scored, gold, model, learned, n_draws, seed, say)


def _of_model(kinds: Mapping[str, Any] | None, place: int) -> dict[str, Any]:
    """Fields of the question about one model: each has siblings of its own."""
    found = dict(kinds or {})
    if found.get("siblings") is not None:
        found["siblings"] = found["siblings"][place]
    return found


def _linked(
    asked: list[Question],
    scored: Regression | None,
    model: Any,
    panel_error: Any,
    learned: bool,
    say: Progress,
    only_counts: bool,
) -> SharedTruth:
    """Each classifier has its link of `grade`; the truth they share says how they depend."""
    gold = asked[0].gold
    predicted = np.stack([question.predicted for question in asked])
    seen: list[ToldViews] = []
    for number, question in enumerate(asked):
        say(0.6 * number / len(asked), f"classifier {number + 1} of {len(asked)} beside the panel")
        seen.append(views_beside_panel(question, model, panel_error, learned))
    views = [found.views for found in seen]
    warnings = list(dict.fromkeys(odd for found in seen for odd in found.warnings))
    if learned:
        pairs = [
            checks.agreement_check(question.labels, question.predicted, view.fit)
            for question, view in zip(asked, views)
        ]
        warnings += agreement_words(pairs)
    consensus = np.mean([view.consensus for view in views], axis=0)
    rows = ModelRows.of(predicted, consensus)
    say(0.6, "drawing the truth")
    together = [alike_items(question, view) for question, view in zip(asked, views)]
    asked = [counting_gold(question, found) for question, found in zip(asked, together)]
    drawn = draw_models(asked, views, rows, gold, panel_error, scored, consensus, only_counts)
    told = [words for found in seen for words in found.assumptions]
    sentences = [*drawn.assumptions, *dict.fromkeys(told), *about_survey(asked[0], together[0])]
    return replace(drawn, warnings=[*warnings, *drawn.warnings], assumptions=sentences)


def agreement_words(pairs: Sequence[list[dict[str, Any]]]) -> list[str]:
    """What is odd about the agreement of raters, each sentence once."""
    return list(dict.fromkeys(w for found in pairs for w in checks.agreement_warnings(found)))


def draw_models(
    asked: Sequence[Question],
    views: Sequence[Views],
    rows: ModelRows,
    gold: Array,
    panel_error: Any,
    scored: Regression | None = None,
    consensus: Array | None = None,
    only_counts: bool = False,
) -> SharedTruth:
    """Answer keys for the classifiers that ``rows`` are about, with ``gold`` for each row; each
    has its question and its views. ``consensus`` (rows × classes) is for scores and for gold that
    errs."""
    committee, warnings = Committee.of(rows), []
    most = max(FEWEST_DRAWS, MOST_CELLS // committee.logs.size)
    if only_counts and asked[0].n_draws > most:
        asked = [replace(question, n_draws=most) for question in asked]
        warnings.append(
            f"{len(committee.logs):,} groups of items that look alike leave time for {most} draws "
            "only: limits of intervals are rough."
        )
    first, pairs = asked[0], list(zip(asked, views))
    components = [
        link_components(question, view, panel_error, own=question.trained_on_labels)
        for question, view in pairs
    ]
    levels = [own_level(q, view, panel_error) for q, view in pairs]
    wanted = np.stack([level.free for level in levels], axis=1)
    prior = tilt_prior(committee, [ModelLevel.of(found) for found in components])
    counted = np.ones(first.n_gold) if first.gold_weights is None else first.gold_weights
    counted = counted * min(found.between for found in components)
    assumptions = [*dict.fromkeys(a for q in asked for a in assumed(q, panel_error)), TOGETHER]
    assumptions += about_differences(first.n_gold)
    rng, coefficients = first.rng(MODELS), None
    if scored is not None:
        assert consensus is not None
        evidence = np.log(np.clip(consensus, 1e-6, 1))
        certain = gold if first.gold_error is None else np.full_like(gold, -1)
        _, coefficients = sample_committee(
            scored, certain, evidence=evidence, n_draws=first.n_draws, seed=first.seed
        )
        assumptions.append(CURVES)
    held, frees, settled = [], [], first.rng(SETTLED)
    among = rows.predicted, consensus, wanted, rng
    for start, stop, known in golds(first.gold_error, gold, *among):
        free = draw_tilts(committee, prior, known, counted, stop - start, rng)
        held.append((settle_tilts(committee, free, known, wanted[start:stop], settled), known))
        frees.append((free, known))
    apart = None
    if first.n_gold:
        seed = int(first.rng(APART).integers(2**31))
        plain = first.gold_weights is None and first.survey.plain and first.gold_error is None
        later = partial(CountedKeys if only_counts else _apart, committee, frees, seed)
        apart = Pairs(later, gold if plain else None)
    if only_counts:
        everyone = np.concatenate([tilts for tilts, _ in held])
        right = committee.right(everyone, committee.share)[:, 0]
        truth: Any = CountedKeys(committee, held, int(first.rng(KEYS).integers(2**31)))
    else:
        truth = _keys(committee, held, scored, coefficients, first, rng)
        right = np.asarray((truth == rows.predicted[0]).mean(axis=1))
    size = effective_size(right, 1)
    found = {"effective_sample_size": size}
    own = [level.accuracy for level in levels]
    return SharedTruth(truth, assumptions, warnings, found, apart, own)


def _keys(
    committee: Committee,
    held: list[tuple[Array, Array]],
    scored: Regression | None,
    coefficients: Array | None,
    first: Question,
    rng: np.random.Generator,
) -> Array:
    """Answer keys, draws × items, by draws of the tilts."""
    keys, start = [], 0
    for tilts, known in held:
        seed = first.seed + start
        if scored is None or coefficients is None:
            keys.append(draw_truths(committee, tilts, known, seed))
        else:
            if first.gold_error is not None:
                coefficients = rng.permutation(coefficients)
            keys.append(draw_scored_truths(committee, tilts, scored, coefficients, known, seed))
        start += len(tilts)
    return np.concatenate(keys)


def _apart(committee: Committee, frees: list[tuple[Array, Array]], seed: int) -> Array:
    """Answer keys that are not held to the models' own levels."""
    return np.concatenate(
        [
            draw_truths(committee, free, gold, (seed + n) % 2**31)
            for n, (free, gold) in enumerate(frees)
        ]
    )


def _trusted(
    labels: Labels,
    predicted: Array,
    scored: Regression | None,
    gold: Array,
    model: Any,
    learned: bool,
    n_draws: int,
    seed: int,
    say: Progress,
) -> SharedTruth:
    n_classes = labels.n_classes
    assumptions = [INDEPENDENT, TOGETHER, *([] if scored is None else [CURVES])]
    common: dict[str, Any] = {"n_draws": n_draws, "seed": seed}
    entries = Entries.of(labels)
    if learned and len(entries.item) > LARGE:
        fitted = fit_dawid_skene(entries.with_classifier(predicted[0]), gold).rows()[:-1]
        model, learned = Confusion(fitted), False
        assumptions.append(
            "So many labels fix the labelers' confusion matrices: they were fitted and then "
            "taken as known."
        )
    if learned:
        noise = choose_model(entries, predicted[0], seed)[0] if model is None else model
        row_model, name = known_noise.row_model(noise, labels)
        assumptions += [f"The labelers' quality was learned: {name}.", checks.LEARNED_FROM_LABELS]
        common |= {
            "evidence": np.zeros((labels.n_items, n_classes)),
            "entries": entries,
            "rows": row_model,
        }
    else:
        common["evidence"] = given_question(labels, predicted[0], gold, model).evidence
        assumptions.append("The noise of the labelers is as given.")
    regression = scored or Regression.on_predictions(predicted, effects(predicted, n_classes))
    for thin in (1, 5):
        say(
            0.1 * thin,
            "drawing the truth" if thin == 1 else "the chains disagree: drawing five times as long",
        )
        truth, _ = sample_committee(regression, gold, thin=thin, **common)
        right = np.stack([(truth == row).mean(axis=1) for row in predicted])
        rhat = max(split_rhat(row, CHAINS) for row in right)
        size = min(effective_size(row, CHAINS) for row in right)
        apart = right.reshape(len(right), CHAINS, -1).mean(axis=2).std(axis=1).max()
        if rhat < 1.05 or apart < SAME / 5:
            break
    if rhat > 1.1 and apart > SAME:
        raise NotConverged(
            f"the chains disagree (R-hat {rhat:.2f}): labels and models support several "
            "stories. Add gold on some random items, compare fewer "
            "models, or leave panel_error out."
        )
    warnings = []
    if rhat > 1.1:
        warnings.append(
            f"The chains differ by up to {apart:.3f} in an accuracy (R-hat {rhat:.2f}): read "
            "limits of intervals with that much doubt."
        )
    kept = np.linspace(0, len(truth) - 1, min(n_draws, len(truth))).astype(np.int64)
    return SharedTruth(
        truth[kept],
        assumptions,
        warnings,
        {"rhat": rhat, "effective_sample_size": size, "chains": CHAINS},
    )
