"""The grade of a classifier that gives several tags to an item."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError, did_you_mean
from truthing.metrics.counts import Tally
from truthing.metrics.estimate import Estimate, as_dict
from truthing.metrics.words import share
from truthing.multi_label.asked import parted, refuse_options
from truthing.multi_label.joint import Coupling, all_right, shared_doubt, ways
from truthing.multi_label.sets import Split, read_tagged, told
from truthing.multi_label.tagged import Tagged, dependence_words, without_gold
from truthing.randomness import generator
from truthing.report import Report
from truthing.requirements import Requirement

AVERAGED = ("precision", "recall", "f1")
OVERALL = (
    *("macro_f1", "macro_precision", "macro_recall"),
    *("micro_f1", "micro_precision", "micro_recall"),
    *("hamming_accuracy", "subset_accuracy"),
)
_OF_TAG = re.compile(r"(?P<metric>[^\[]+)\[(?P<tag>.+)\]")


@dataclass(frozen=True, eq=False)
class TagReport(Tagged):
    """``report["macro_f1"]``, ``report["recall[sports]"]``; ``report.tags["sports"]`` is the whole
    `Report` of one tag.
    """

    question = "grade"
    tags: Mapping[str, Report]
    joint: Coupling
    subset: Estimate
    subset_at_face_value: float
    sizes: Mapping[str, int]
    target: str
    seed: int
    warnings: list[str] = field(default_factory=list)
    assumptions: list[str] = field(default_factory=list)
    provenance: dict[str, Any] = field(default_factory=dict)

    @property
    def metrics(self) -> list[str]:
        """Names of the averages shown unasked."""
        return list(OVERALL)

    @cached_property
    def _cache(self) -> dict[str, Estimate]:
        return {}

    def __getitem__(self, name: str) -> Estimate:
        name = metric_name(name, self.tags)
        if name not in self._cache:
            self._cache[name] = self._estimate(name)
        return self._cache[name]

    def _estimate(self, name: str) -> Estimate:
        if name == "subset_accuracy":
            return self.subset
        inner = _OF_TAG.fullmatch(name)
        if inner:
            return self.tags[inner["tag"]][inner["metric"]]
        reports = list(self.tags.values())
        if name == "hamming_accuracy":
            return self.joint.mean([report["accuracy"] for report in reports])
        how, _, metric = name.partition("_")
        found = [report[metric] for report in reports]
        if how == "macro":
            return self.joint.mean(found)
        parts = [_weighed(report, metric) for report in reports]
        values, weights = (np.stack([part[k] for part in parts]) for k in (0, 1))
        return self.joint.weighted(found, values, weights)

    def at_face_value(self, name: str) -> float:
        """The same against the labels as they are."""
        name = metric_name(name, self.tags)
        if name == "subset_accuracy":
            return self.subset_at_face_value
        inner = _OF_TAG.fullmatch(name)
        if inner:
            return self.tags[inner["tag"]].at_face_value(inner["metric"])
        how, _, metric = name.partition("_")
        metric = "accuracy" if how == "hamming" else metric
        values = np.array([report.at_face_value(metric) for report in self.tags.values()])
        if how != "micro":
            return float(np.nanmean(values)) if not np.isnan(values).all() else float("nan")
        sums = [_sums(report.face_value, _place(report), metric) for report in self.tags.values()]
        top, below = (float(sum(np.sum(pair[k]) for pair in sums)) for k in (0, 1))
        return top / below if below else float("nan")

    def verdict(self, level: float = 0.95) -> str:
        """A sentence or two for a person."""
        found = self["macro_f1"]
        where = f"these {self.sizes['items']:,} items"
        where = where if self.target == "sample" else "new data like these"
        text = f"Macro F1 over {len(self.tags)} tags "
        text += f"{share(found.mean, *found.interval(level), level)} on {where}; all tags right on "
        text += f"{share(self.subset.mean, *self.subset.interval(level), level)} of them."
        naive = self.at_face_value("macro_f1")
        return f"{text} The labels taken at face value would say {naive:.0%} macro F1."

    def requirement_estimate(self, requirement: Requirement) -> Estimate:
        return self[requirement.metric]

    def to_frame(self, level: float = 0.95) -> Any:
        """One row for each average, then for each metric of each tag."""
        import polars as pl

        names = [*OVERALL, *(f"{m}[{tag}]" for tag in self.tags for m in ("accuracy", *AVERAGED))]
        rows = [
            (name, self[name].mean, *self[name].interval(level), self.at_face_value(name), level)
            for name in names
        ]
        heads = ["metric", "estimate", "low", "high", "at_face_value", "level"]
        return pl.DataFrame(rows, schema=heads, orient="row").fill_nan(None)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        metrics = {
            name: {**as_dict(self[name], level), "face_value": self.at_face_value(name)}
            for name in OVERALL
        }
        shown = ("accuracy", *AVERAGED)
        tags = {
            tag: {m: {**as_dict(r[m], level), "face_value": r.at_face_value(m)} for m in shown}
            for tag, r in self.tags.items()
        }
        return {**self._about(), "metrics": metrics, "tags": tags}


def metric_name(name: str, tags: Any) -> str:
    """A metric as people write it: "macro F1", "recall[sports]"; a slip is an error with a hint."""
    inner = _OF_TAG.fullmatch(name.strip())
    if inner:
        tag = next((t for t in tags if t.casefold() == inner["tag"].strip().casefold()), None)
        if tag is None:
            raise InputError(
                f"no tag is called {inner['tag']!r}.{did_you_mean(inner['tag'], tags)}"
            )
        return f"{inner['metric'].strip().lower()}[{tag}]"
    plain = re.sub(r"[\s-]+", "_", name.strip().lower())
    plain = {"exact_match": "subset_accuracy"}.get(plain, plain)
    if plain not in OVERALL:
        known = [*OVERALL, *(f"f1[{tag}]" for tag in tags)]
        raise InputError(
            f"no metric over tags is called {name!r}.{did_you_mean(plain, known)} There are "
            f"{', '.join(OVERALL)}, and those of one tag, such as f1[{next(iter(tags))}]."
        )
    return plain


def _place(report: Report) -> int:
    assert report.positive is not None
    return report.positive


def _sums(tally: Tally, place: int, metric: str) -> tuple[Array, Array]:
    """What is divided by what in a metric of one tag."""
    right, truth, predicted = (
        np.asarray(part)[..., place] for part in (tally.right, tally.truth, tally.predicted)
    )
    if metric == "f1":
        return 2 * right, truth + predicted
    return right, predicted if metric == "precision" else truth


def _weighed(report: Report, metric: str) -> tuple[Array, Array]:
    """Draws of a tag's metric, and its weight in the micro average."""
    top, below = np.broadcast_arrays(*_sums(report.confusion.tally, _place(report), metric))
    top, below = np.asarray(top, dtype=float), np.asarray(below, dtype=float)
    return np.divide(top, below, out=np.zeros(top.shape), where=below > 0), below


def grade_tags(grade: Callable[..., Report], given: Mapping[str, Any]) -> TagReport:
    """`grade` of each tag, and what they have in common."""
    options = refuse_options(given)
    model = {"model": given["predictions"]}
    split = read_tagged(given["labels"], model, given["gold"], given["tags"], given["repeats"])
    if not split.predicted.get("model"):
        raise InputError("grading tags needs predictions: give the tags of each item.")
    reports = {}
    for tag, case, progress in parted(split, given["progress"]):
        reports[tag] = grade(
            case.predictions, case, gold=case.gold, positive=tag, progress=progress, **options
        )
    return _together(split, reports, given)


def _together(split: Split, reports: dict[str, Report], given: Mapping[str, Any]) -> TagReport:
    first = next(iter(reports.values()))
    ticked, seed = split.predicted["model"], given["seed"]
    items = [i for i in first.items if i in ticked]
    agree = _agreement(split, items, list(reports))
    known = [k for k, item in enumerate(items) if item in split.gold]
    right = np.array(
        [
            [(tag in split.gold[items[k]]) == (tag in ticked[items[k]]) for tag in reports]
            for k in known
        ],
        dtype=bool,
    ).reshape(len(known), len(reports))
    shared = shared_doubt(right - agree[known], generator(seed, "tags share doubts"))
    joint = Coupling.of(len(reports), shared, seed)
    chances = np.stack(
        [_chance_right(r, [tag in ticked[i] for i in items], items) for tag, r in reports.items()],
        axis=1,
    )
    accuracy = joint.draws([report["accuracy"] for report in reports.values()])
    rng, slack = generator(seed, "all tags right"), first["accuracy"].slack
    subset = all_right(chances, accuracy, ways(right, agree[known]), rng, first.target, slack)
    warnings, assumptions = told(split, reports)
    warnings += without_gold(first.sizes["gold"])
    assumptions += dependence_words(shared, len(known), "right")
    return TagReport(
        reports,
        joint,
        subset,
        _subset_face_value(split, set(items)),
        {**first.sizes, "tags": len(reports)},
        first.target,
        first.seed,
        warnings,
        assumptions,
    )


def _chance_right(report: Report, predicted: list[bool], items: list[Any]) -> Array:
    """The chance that the prediction of each item is right about one tag."""
    place = {item: k for k, item in enumerate(report.items)}
    yes = report.truth[[place[item] for item in items], _place(report)]
    return np.where(predicted, yes, 1 - yes)


def _agreement(split: Split, items: list[Any], tags: list[str]) -> Array:
    """The share of an item's labels that say the same as the prediction, items × tags."""
    predicted, labels = split.predicted["model"], split.labels
    place = {item: k for k, item in enumerate(items)}
    hits, size = np.zeros((len(items), len(tags))), np.zeros(len(items))
    member = np.array([[tag in found for tag in tags] for found in split.sets])
    at = np.array([place.get(item, -1) for item in labels.items])[labels.item]
    guess = np.array([[tag in predicted[item] for tag in tags] for item in items])
    here = at >= 0
    np.add.at(hits, at[here], member[labels.label[here]] == guess[at[here]])
    np.add.at(size, at[here], 1)
    return np.where(size[:, None] > 0, hits / np.maximum(size, 1)[:, None], 0.5)


def _subset_face_value(split: Split, items: set[Any]) -> float:
    """The share of answers that name exactly the predicted tags."""
    predicted, labels = split.predicted["model"], split.labels
    same = [
        split.sets[code] == predicted[labels.items[at]]
        for at, code in zip(labels.item, labels.label)
        if labels.items[at] in items
    ]
    return float(np.mean(same)) if same else float("nan")
