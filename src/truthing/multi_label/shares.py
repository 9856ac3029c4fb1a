"""How frequent each tag is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from truthing.errors import InputError, did_you_mean
from truthing.metrics.estimate import Estimate, as_dict
from truthing.metrics.words import share
from truthing.multi_label.asked import parted, refuse_options
from truthing.multi_label.joint import Coupling, shared_doubt
from truthing.multi_label.sets import Split, read_tagged, told
from truthing.multi_label.tagged import Tagged, dependence_words, without_gold
from truthing.randomness import generator
from truthing.requirements import Requirement
from truthing.shares import Prevalence


@dataclass(frozen=True, eq=False)
class TagShares(Tagged):
    """``result["sports"]`` is the share of items that truly have the tag; ``tags_per_item`` how
    many tags an item has on average.
    """

    question = "rate"
    tags: Mapping[str, Prevalence]
    joint: Coupling
    sizes: Mapping[str, int]
    target: str
    seed: int
    warnings: list[str] = field(default_factory=list)
    assumptions: list[str] = field(default_factory=list)

    def _tag(self, name: Any) -> str:
        found = next((t for t in self.tags if t.casefold() == str(name).strip().casefold()), None)
        if found is None:
            raise InputError(f"no tag is called {name!r}.{did_you_mean(str(name), self.tags)}")
        return found

    def __getitem__(self, name: Any) -> Estimate:
        tag = self._tag(name)
        return self.tags[tag][tag]

    def at_face_value(self, name: Any) -> float:
        """The share of labels that name the tag."""
        tag = self._tag(name)
        found = self.tags[tag]
        return float(found.face_value[list(map(str, found.classes)).index(tag)])

    @property
    def tags_per_item(self) -> Estimate:
        """How many tags an item truly has, on average."""
        found = [self[tag] for tag in self.tags]
        draws, most = self.joint.draws(found).sum(axis=0), float(len(found))
        return Estimate.from_draws(draws, support=(0.0, most), slack=found[0].slack)

    def verdict(self, level: float = 0.95) -> str:
        """A sentence or two for a person."""
        most = max(self.tags, key=lambda tag: self[tag].mean)
        found, many = self[most], self.tags_per_item
        low, high = many.interval(level)
        where = f"these {self.sizes['items']:,} items"
        where = where if self.target == "sample" else "new data like these"
        return (
            f"{most}, the most frequent of {len(self.tags)} tags, on "
            f"{share(found.mean, *found.interval(level), level)} of {where}; "
            f"{many.mean:.2f} tags per item ({low:.2f} to {high:.2f}). The labels taken at face "
            f"value say {self.at_face_value(most):.0%}."
        )

    def requirement_estimate(self, requirement: Requirement) -> Estimate:
        return self[requirement.metric]

    def to_frame(self, level: float = 0.95) -> Any:
        """One row for each tag: estimate, limits, face value and level, as a polars table."""
        import polars as pl

        rows = [
            (tag, self[tag].mean, *self[tag].interval(level), self.at_face_value(tag), level)
            for tag in self.tags
        ]
        heads = ["tag", "estimate", "low", "high", "at_face_value", "level"]
        return pl.DataFrame(rows, schema=heads, orient="row")

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        tags = {
            tag: {"share": {**as_dict(self[tag], level), "face_value": self.at_face_value(tag)}}
            for tag in self.tags
        }
        per_item = as_dict(self.tags_per_item, level)
        return {**self._about(), "metrics": {"tags_per_item": per_item}, "tags": tags}


def rate_tags(prevalence: Callable[..., Prevalence], given: Mapping[str, Any]) -> TagShares:
    """`prevalence` of each tag, and what they have in common."""
    options = refuse_options(given)
    split = read_tagged(given["labels"], {}, given["gold"], given["tags"], given["repeats"])
    found = {
        tag: prevalence(case, gold=case.gold, progress=progress, **options)
        for tag, case, progress in parted(split, given["progress"])
    }
    first = next(iter(found.values()))
    surprise = _surprise(split)
    shared = shared_doubt(surprise, generator(given["seed"], "tags share doubts"))
    warnings, assumptions = told(split, found)
    warnings += without_gold(first.sizes["gold"])
    return TagShares(
        found,
        Coupling.of(len(found), shared, given["seed"]),
        {**first.sizes, "tags": len(found)},
        first.target,
        given["seed"],
        warnings,
        assumptions + dependence_words(shared, len(surprise), "there"),
    )


def _surprise(split: Split) -> np.ndarray[Any, Any]:
    """On gold items, whether a tag is there beyond the share of labels that say so."""
    labels = split.labels
    member = np.array([[tag in found for tag in split.cases] for found in split.sets], dtype=float)
    ticked, size = np.zeros((labels.n_items, len(split.cases))), np.zeros(labels.n_items)
    np.add.at(ticked, labels.item, member[labels.label])
    np.add.at(size, labels.item, 1)
    place = {item: k for k, item in enumerate(labels.items)}
    gold = [(place[i], tags) for i, tags in split.gold.items() if i in place and size[place[i]]]
    rows = [
        [(tag in tags) - ticked[k, t] / size[k] for t, tag in enumerate(split.cases)]
        for k, tags in gold
    ]
    return np.array(rows).reshape(len(rows), len(split.cases))
