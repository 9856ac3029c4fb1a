"""Labels: who said what about which item, frozen and integer-coded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from truthing.class_codes import (
    Array,
    alike,
    checked_votes,
    coded_classes,
    factorise,
    name_each,
    narrow,
    places_in_order,
    recode,
    shares,
    sort_classes,
    tally,
)
from truthing.errors import InputError, listing
from truthing.names import frozen, names_at
from truthing.notes import NOTHING, Notes
from truthing.repeats import (
    Repeats,
    check_rule,
    contradiction,
    identical_repeats,
    places_in_words,
)
from truthing.sorting import BLOCK, rows_of


@dataclass(frozen=True, eq=False, repr=False)
class Labels:
    """Who said what about which item.

    One entry per label, sorted by item: ``item``, ``labeler`` and ``label`` are codes into
    ``items``, ``labelers`` and ``classes``. ``votes`` (or None: all one) says how many equal votes
    an entry stands for, as anonymous count tables have it.

    >>> labels = Labels.from_long([1, 1, 2], ["ann", "bob", "ann"], ["spam", "ham", "ham"])
    >>> print(labels)
    2 items, 2 labelers, 3 labels (1 to 2 per item, 1.5 on average; 25% of the grid is empty)
    classes ham 67%, spam 33%
    >>> labels[[1]].items
    (2,)
    """

    items: Sequence[Any]
    labelers: tuple[Any, ...]
    classes: tuple[Any, ...]
    item: Array
    labeler: Array
    label: Array
    votes: Array | None = None
    anonymous: bool = False
    identical_repeats: int = 0
    where: Mapping[tuple[Any, Any], str] = field(default_factory=dict)
    notes: Notes = NOTHING  # what had to be said when they were read
    words: tuple[str, ...] = ()  # words that were taken for "missing" unasked
    settled: bool = False  # the user named the classes
    numbered: bool | None = None  # items are rows of a file; None: not from a file

    # ---- building --------------------------------------------------------------------------------

    @classmethod
    def from_long(
        cls,
        items: Any,
        labelers: Any,
        labels: Any,
        *,
        missing: object = None,
        classes: Sequence[Any] | None = None,
    ) -> Labels:
        """Three equal-length sequences; identical repeats count once."""
        if not len(items) == len(labelers) == len(labels):
            raise InputError(
                f"items, labelers and labels have {len(items):,}, {len(labelers):,} and "
                f"{len(labels):,} entries; "
                "they must be equally long, one entry per label."
            )
        item, item_names = factorise(items)
        labeler, labeler_names = factorise(labelers)
        label, class_names = factorise(labels, missing=missing)
        for codes, what in ((item, "item"), (labeler, "labeler")):
            if (codes < 0).any():
                raise InputError(
                    f"position {int(np.argmin(codes))} has no {what}: name it or remove the entry."
                )
        label, ordered = coded_classes(label, class_names, classes)
        return cls.from_codes(
            item, labeler, label, items=item_names, labelers=labeler_names, classes=ordered
        )

    @classmethod
    def from_codes(
        cls,
        item: Array,
        labeler: Array,
        label: Array,
        *,
        items: Sequence[Any],
        labelers: Sequence[Any],
        classes: Sequence[Any],
        votes: Array | None = None,
        anonymous: bool = False,
        lines: Array | int | None = None,
        source: str = "",
    ) -> Labels:
        """From codes (-1 = missing); ``lines`` are the line numbers of the rows in ``source``, or
        the number of the first."""
        order = places_in_order(item, labeler, label, (len(items), len(labelers)))
        if order is not None:
            item = item[order]  # one after the other, so that one is let go before the next
            labeler = labeler[order]
            label = label[order]
            votes = None if votes is None else votes[order]
        identical, where = 0, dict[Any, str]()
        same = np.flatnonzero((item[1:] == item[:-1]) & (labeler[1:] == labeler[:-1])) + 1
        if len(same) and not anonymous:
            drop = identical_repeats(label, same)
            identical = int(drop.sum())
            clash = same[~drop[same]]
            pairs = [(items[item[i]], labelers[labeler[i]]) for i in clash[:1000]]
            where = places_in_words(pairs, clash if order is None else order[clash], source, lines)
            if identical:
                keep = ~drop
                item, labeler, label = item[keep], labeler[keep], label[keep]
                votes = None if votes is None else votes[keep]
        return cls(
            items=frozen(items),
            labelers=tuple(labelers),
            classes=tuple(classes),
            item=narrow(item),
            labeler=narrow(labeler),
            label=narrow(label),
            votes=None if votes is None else votes.astype(np.int32),
            anonymous=anonymous,
            identical_repeats=identical,
            where=where,
        )

    @classmethod
    def from_matrix(
        cls,
        matrix: Any,
        missing: object = None,
        *,
        items: Sequence[Any] | None = None,
        labelers: Sequence[Any] | None = None,
        classes: Sequence[Any] | None = None,
    ) -> Labels:
        """An items × labelers table; None and NaN are always missing, ``missing`` names one more.

        >>> Labels.from_matrix([[0, 1, None], [-1, 1, 1]], missing=-1).n_labels
        4
        """
        grid = matrix if isinstance(matrix, np.ndarray) else np.array(matrix, dtype=object)
        if grid.ndim != 2:
            raise InputError(
                "a label matrix has items in rows and labelers in columns; this one has "
                f"{grid.ndim} dimension(s)."
            )
        n_items, n_labelers = grid.shape
        label, names = factorise(grid.reshape(-1), missing=missing)
        label, ordered = coded_classes(label, names, classes)
        return cls.from_codes(
            np.repeat(np.arange(n_items, dtype=np.int32), n_labelers),
            np.tile(np.arange(n_labelers, dtype=np.int32), n_items),
            label,
            items=name_each(items, n_items, "items"),
            labelers=name_each(labelers, n_labelers, "labelers"),
            classes=ordered,
        )

    @classmethod
    def from_counts(
        cls,
        counts: Any,
        *,
        items: Sequence[Any] | None = None,
        classes: Sequence[Any] | None = None,
    ) -> Labels:
        """An items × classes table of anonymous votes.

        >>> Labels.from_counts([[2, 1], [0, 3]], classes=["no", "yes"]).n_labels
        6
        """
        table = checked_votes(counts)
        item, label = np.nonzero(table)
        return cls.from_codes(
            item,
            np.zeros(len(item), dtype=np.int32),
            label,
            items=name_each(items, table.shape[0], "items"),
            labelers=("votes",),
            classes=name_each(classes, table.shape[1], "classes"),
            votes=table[item, label],
            anonymous=True,
        )

    # ---- sizes -----------------------------------------------------------------------------------

    @property
    def n_items(self) -> int:
        return len(self.items)

    @property
    def n_labelers(self) -> int:
        return len(self.labelers)

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def shape(self) -> tuple[int]:
        """One axis, the items: what scikit-learn looks for before it picks rows by positions."""
        return (self.n_items,)

    @property
    def n_labels(self) -> int:
        return len(self.label) if self.votes is None else int(self.votes.sum())

    @cached_property
    def weight(self) -> Array:
        """Votes per entry, also when every entry is one."""
        return np.ones(len(self.label), dtype=np.int32) if self.votes is None else self.votes

    @cached_property
    def indptr(self) -> Array:
        """Entries of item i are ``indptr[i]:indptr[i + 1]``."""
        return np.append(0, np.cumsum(tally(self.item, self.n_items)))

    @cached_property
    def per_item(self) -> Array:
        return tally(self.item, self.n_items, self.votes)

    @cached_property
    def per_labeler(self) -> Array:
        return tally(self.labeler, self.n_labelers, self.votes)

    @cached_property
    def per_class(self) -> Array:
        return tally(self.label, self.n_classes, self.votes)

    def counts(self, votes: Array | None = None) -> Array:
        """Votes for each class, items × classes; ``votes`` of the entries, where not their own."""
        counts = np.zeros((self.n_items, self.n_classes), dtype=np.int64)
        votes = self.votes if votes is None else votes
        for run in self.runs():
            np.add.at(counts, (self.item[run], self.label[run]), 1 if votes is None else votes[run])
        return counts

    def runs(self) -> Iterator[slice]:
        """Entries of some items at a time."""
        for first in range(0, self.n_items, BLOCK):
            last = min(first + BLOCK, self.n_items)
            yield slice(*self.indptr[[first, last]].tolist())

    def matrix(self) -> Array:
        """Class codes as items × labelers, -1 where there is no label; the last of several."""
        grid = np.full((self.n_items, self.n_labelers), -1, dtype=np.int32)
        grid[self.item, self.labeler] = self.label
        return grid

    def agreement(self) -> tuple[float, float]:
        """Share of agreeing pairs of labels on one item, and corrected for chance (Fleiss' κ)."""
        votes = self.counts().astype(float)
        total = votes.sum(axis=1)
        pairs = (total * (total - 1)).sum()
        if pairs == 0:
            return float("nan"), float("nan")
        observed = float((votes * (votes - 1)).sum() / pairs)
        chance = float(((votes.sum(axis=0) / votes.sum()) ** 2).sum())
        return observed, float("nan") if chance == 1 else (observed - chance) / (1 - chance)

    # ---- choosing --------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.n_items

    def __getitem__(self, index: Any) -> Labels:
        """The labels of some items: a slice, positions or a mask; classes and labelers stay."""
        chosen = np.atleast_1d(np.arange(self.n_items)[index])
        columns = [self.labeler, self.label, *([] if self.votes is None else [self.votes])]
        size, moved = rows_of(self.indptr, chosen, columns)
        return replace(
            self,
            items=names_at(self.items, chosen),
            item=np.repeat(np.arange(len(chosen), dtype=np.int32), size),
            labeler=moved[0],
            label=moved[1],
            votes=None if self.votes is None else moved[2],
        )

    def select(self, labelers: Sequence[Any]) -> Labels:
        """Only these labelers, in this order; every item stays, also one left with no label."""
        if unknown := sorted(set(labelers) - set(self.labelers), key=str):
            raise InputError(
                f"no labeler is called {listing(unknown)}; there are {listing(self.labelers)}."
            )
        codes = recode(self.labeler, self.labelers, labelers)
        return Labels.from_codes(
            self.item[codes >= 0],
            codes[codes >= 0],
            self.label[codes >= 0],
            items=self.items,
            labelers=labelers,
            classes=self.classes,
            votes=None if self.votes is None else self.votes[codes >= 0],
            anonymous=self.anonymous,
        )

    def with_classes(self, classes: Sequence[Any]) -> Labels:
        """The same labels coded in a longer list of classes."""
        if alike(classes, self.classes):
            return self
        return replace(
            self, classes=tuple(classes), label=recode(self.label, self.classes, classes)
        )

    def renamed(self, names: Sequence[Any]) -> Labels:
        """The same labels with other names for the classes; classes of one name become one."""
        if alike(names, self.classes):
            return self
        classes = sort_classes({(type(c), c): c for c in names}.values())
        label = recode(np.arange(len(names), dtype=np.int32), names, classes)[self.label]
        if len(classes) == len(names) or self.anonymous:
            return replace(self, classes=classes, label=label)
        named: dict[str, Any] = {"items": self.items, "labelers": self.labelers}
        columns = self.item, self.labeler, label
        made = Labels.from_codes(*columns, **named, classes=classes, votes=self.votes)
        repeats = self.identical_repeats + made.identical_repeats
        rows = {name: getattr(made, name) for name in ("item", "labeler", "label", "votes")}
        return replace(self, classes=classes, identical_repeats=repeats, **rows)

    @cached_property
    def contradictions(self) -> Array:
        """Entries whose labeler gave the same item another label before."""
        if self.anonymous:
            return np.empty(0, dtype=np.int64)
        same = (self.item[1:] == self.item[:-1]) & (self.labeler[1:] == self.labeler[:-1])
        return np.flatnonzero(same) + 1

    def resolve_repeats(self, rule: Repeats = "error") -> Labels:
        """Where a labeler contradicts itself: "error", the "first", the "last", or "keep" all."""
        check_rule(rule)
        clash = self.contradictions
        if len(clash) == 0 or rule == "keep":
            return self
        if rule == "error":
            at = int(clash[0])
            who = self.items[self.item[at]], self.labelers[self.labeler[at]]
            said = self.classes[self.label[at - 1]], self.classes[self.label[at]]
            raise InputError(contradiction(self.where.get(who, ""), who, said, len(clash)))
        keep = np.ones(len(self.label), dtype=bool)
        keep[clash if rule == "first" else clash - 1] = False
        votes = None if self.votes is None else self.votes[keep]
        kept = self.item[keep], self.labeler[keep], self.label[keep]
        return replace(self, item=kept[0], labeler=kept[1], label=kept[2], votes=votes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Labels):
            return NotImplemented
        return (
            (self.items, self.labelers, self.classes)
            == (other.items, other.labelers, other.classes)
            and np.array_equal(self.item, other.item)
            and np.array_equal(self.labeler, other.labeler)
            and np.array_equal(self.label, other.label)
            and np.array_equal(self.weight, other.weight)
        )

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        per_item = self.per_item
        if len(per_item) == 0 or self.n_labels == 0:
            return f"{self.n_items:,} items, no labels"
        people = f"{self.n_labelers:,} labeler{'s' * (self.n_labelers != 1)}"
        who = "anonymous votes" if self.anonymous else people
        least, most = int(per_item.min()), int(per_item.max())
        between = f"{least} to {most} per item, {per_item.mean():.1f} on average"
        spread = between if least < most else f"{least} per item"
        gaps = 1 - (len(self.label) - len(self.contradictions)) / self.n_items / self.n_labelers
        empty = f"; {gaps:.0%} of the grid is empty" if gaps > 0.005 and not self.anonymous else ""
        size = f"{self.n_items:,} items, {who}, {self.n_labels:,} labels ({spread}{empty})"
        return f"{size}\nclasses {shares(self.classes, self.per_class)}"

    def __repr__(self) -> str:
        found = f"{self.n_items:,} items, {self.n_labelers:,} labelers, {self.n_labels:,} labels"
        return f"<Labels: {found}, {self.n_classes} classes>"
