"""What doctor found in the files of a case, as the pages show it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from truthing.app.uploads import Upload, UploadedCase, reading
from truthing.doctor import FileFinding, Offer, examine_tables, together
from truthing.errors import TruthingError
from truthing.render.console import safe
from truthing.tables.asked import Asked
from truthing.tables.table import Table

USES = ("labels", "predictions", "gold")


@dataclass(frozen=True)
class Seen:
    """One file: what it was taken for, or why it could not be read as it is."""

    upload: Upload
    columns: tuple[str, ...]
    sentences: tuple[str, ...] = ()
    roles: Mapping[str, str] = field(default_factory=dict)
    layout: str = ""
    uses: frozenset[str] = frozenset()
    problem: str = ""
    sample: tuple[str, ...] = ()


@dataclass(frozen=True)
class Look:
    """Every file, how they fit together, and what is missing for more."""

    files: tuple[Seen, ...]
    together: tuple[str, ...] = ()
    later: tuple[Offer, ...] = ()
    classes: tuple[str, ...] = ()
    labelers: int = 0
    anonymous: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of all files, each once."""
        return tuple(dict.fromkeys(name for seen in self.files for name in seen.columns))

    def holding(self, use: str) -> list[Seen]:
        return [seen for seen in self.files if use in seen.uses]


def look(case: UploadedCase) -> Look:
    """Read the files once for each change of what was said about them."""
    if case.look is None:
        case.look = _look(case.uploads)
    found: Look = case.look
    return found


def _look(uploads: list[Upload]) -> Look:
    opened: list[tuple[Upload, tuple[str, ...], str]] = []
    good: list[tuple[str, Table, Asked]] = []
    for upload in uploads:
        columns: tuple[str, ...] = ()
        try:
            table = upload.table()
            columns = tuple(table.frame.columns)
            told = (upload.name, table, Asked.from_text(**upload.columns))
            with reading(upload.name):
                examine_tables([told])
        except TruthingError as problem:
            opened.append((upload, columns, safe(problem, 2000)))
            continue
        good.append(told)
        opened.append((upload, columns, ""))
    try:
        with reading("These files together"):
            findings = examine_tables(good)
    except TruthingError:  # each can be read alone; what goes wrong together is said below
        findings = [examine_tables([told])[0] for told in good]
    found = iter(findings)
    seen = [_seen(upload, columns, problem, found) for upload, columns, problem in opened]
    if len(findings) < len(uploads) or not findings:
        return Look(tuple(seen))
    try:
        with reading("These files together"):
            all_of_it = together(findings)
    except TruthingError as problem:
        return Look(tuple(seen), (safe(problem, 2000),))
    panel = next((f.labels for f in findings if f.labels is not None), None)
    if panel is None:
        return Look(tuple(seen), all_of_it.together, all_of_it.later)
    return Look(
        tuple(seen),
        all_of_it.together,
        all_of_it.later,
        tuple(map(str, panel.classes[:50])),
        panel.n_labelers,
        panel.anonymous,
    )


def _seen(
    upload: Upload, columns: tuple[str, ...], problem: str, found: Iterator[FileFinding]
) -> Seen:
    if problem:
        return Seen(upload, columns, uses=upload.uses or frozenset(), problem=problem)
    finding = next(found)
    held = {"labels": finding.labels, "predictions": finding.predictions, "gold": finding.gold}
    uses = frozenset(use for use in USES if held[use] is not None)
    read = finding.columns
    return Seen(
        upload,
        columns,
        finding.sentences,
        read.role,
        read.layout,
        uses if upload.uses is None else upload.uses,
        sample=finding.sample,
    )
