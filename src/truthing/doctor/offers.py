"""How files fit together, what can be computed from them, and what is missing for the rest."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from truthing.doctor.findings import FileFinding, Findings, Offer
from truthing.doctor.other_tables import DATED, KNOWN_WINNERS, READS, VERDICTS
from truthing.errors import InputError, listing
from truthing.labels import Labels
from truthing.matching import join
from truthing.predictions import Gold, Predictions
from truthing.spelling import key


def together(files: Sequence[FileFinding]) -> Findings:
    """How files fit together, what can be computed from them and what is missing for the rest."""
    labels = next(((f, f.labels) for f in files if f.labels is not None), None)
    predictions = [(f, f.predictions) for f in files if f.predictions is not None]
    gold = next(((f, f.gold) for f in files if f.gold is not None), None)
    overlaps = _overlaps(labels, predictions, gold)
    problems: list[str] = []
    now, later = _of_other_tables(files)
    if labels is not None:
        alone = _misfit(labels[1], None, None)
        problems = [f"{labels[0].path}: {alone}"] if alone else _misfits(labels, predictions, gold)
        overlaps += [
            f"{f.path} holds labels too; the commands below leave it out. If it is gold, name its "
            "column (`truth_column=...`); if it is more labels, give both files."
            for f in files
            if f.labels is not None and f is not labels[0] and f.gold is None
        ]
        models, usable = tuple(predictions), not alone
        more, missing = _offers(Gradable(*labels, models, gold, usable, bool(problems)))
        now, later = now + more, later + missing
    elif not now and not any(f.use or f.unread for f in files):
        later.append(Offer("grade a classifier", "needs a file of labels: item, labeler, label"))
    return Findings(tuple(files), (*overlaps, *problems), tuple(now), tuple(later))


def _misfits(
    labels: tuple[FileFinding, Labels],
    predictions: list[tuple[FileFinding, Predictions]],
    gold: tuple[FileFinding, Gold] | None,
) -> list[str]:
    """Why the first of these files that does not fit the labels cannot be graded with them."""
    known = None if gold is None else gold[1]
    pairs: list[tuple[str, Predictions | None]] = [
        (f"{f.path} with {labels[0].path}: ", p) for f, p in predictions
    ]
    for where, model in pairs or [("", None)]:
        problem = _misfit(labels[1], model, known)
        if problem:
            return [f"{where}{problem}"]
    return []


def _misfit(labels: Labels, model: Predictions | None, known: Gold | None) -> str:
    try:
        join(labels, model, known, repeats="keep")
    except InputError as problem:
        return str(problem)
    return ""


def _overlaps(
    labels: tuple[FileFinding, Labels] | None,
    predictions: list[tuple[FileFinding, Predictions]],
    gold: tuple[FileFinding, Gold] | None,
) -> list[str]:
    if labels is None:
        return []
    sentences = []
    known = set(labels[1].items)
    others: list[tuple[FileFinding, Predictions | Gold]] = [*predictions, *([gold] if gold else [])]
    for finding, other in others:
        if finding is labels[0]:
            continue
        common = known.intersection(other.items)
        if not common:
            sentences.append(
                f"{finding.path} and {labels[0].path} share no item (for example "
                f"{other.items[0]!r} and {labels[1].items[0]!r}): "
                "check the item column of both (`item_column=...`)."
            )
            continue
        text = f"{finding.path} has {len(common):,} of the {len(known):,} items of {labels[0].path}"
        extra = [i for i in other.items if i not in known]
        if extra:
            text += (
                f"; {len(extra):,} items stand only in {finding.path} "
                f"({listing(map(repr, extra), 3)}) and will be dropped"
            )
        known_classes = {key(c) for c in labels[1].classes}
        new = [c for c in other.classes if key(c) not in known_classes]
        if new:
            text += f"; class {listing(map(repr, new))} never occurs among the labels"
        sentences.append(text)
    return sentences


@dataclass(frozen=True)
class Gradable:
    """What can be graded: labels, predictions and gold, each with its file. ``usable``: the labels
    by themselves are in order; ``misfit``: something stands in the way of all together."""

    file: FileFinding
    labels: Labels
    predictions: tuple[tuple[FileFinding, Predictions], ...]
    gold: tuple[FileFinding, Gold] | None
    usable: bool
    misfit: bool

    @property
    def unknown_alone(self) -> bool:
        """One labeler and nothing else known."""
        return self.one_labeler and self.gold is None

    @property
    def one_labeler(self) -> bool:
        return self.labels.n_labelers == 1 and not self.labels.anonymous

    def command(self, name: str, *models: FileFinding, with_gold: bool = True) -> str:
        """What to type, with the options that were needed to read these files."""
        files = [*(m for m in models if m is not self.file), self.file]
        if name == "compare":
            files = [*files[-1:], *files[:-1]]
        gold = self.gold[0] if self.gold is not None and with_gold else None
        given = ["--gold", shlex.quote(gold.path)] if gold and gold not in files else []
        paths = [shlex.quote(f.path) for f in files]
        said = _as_options([*files, *([gold] if gold else [])])
        if len(self.labels.contradictions):
            said += ["--repeats", "last"]
        return " ".join(["truthing", name, *paths, *given, *said])


def _as_options(files: Sequence[FileFinding]) -> list[str]:
    """What was said of how to read these files, as options."""
    said: dict[str, str] = {}
    for asked in (f.asked for f in files):
        said |= {f"--{role}-column": name for role, name in asked.columns.items()}
        for name in ("labeler_columns", "ignore", "missing", "classes"):
            if getattr(asked, name):
                said[f"--{name.replace('_', '-')}"] = ",".join(map(str, getattr(asked, name)))
        if asked.map:
            said["--map"] = ",".join(f"{k}={v}" for k, v in asked.map.items())
        for name in ("layout", "question"):
            if getattr(asked, name):
                said[f"--{name}"] = getattr(asked, name)
    return [part for option, value in said.items() for part in (option, shlex.quote(value))]


def _of_other_tables(files: Sequence[FileFinding]) -> tuple[list[Offer], list[Offer]]:
    """What to do with tables that are no labels, predictions or gold."""
    now: list[Offer] = []
    winners = next((f for f in files if f.use == KNOWN_WINNERS), None)
    verdicts = [f for f in files if f.use == VERDICTS]
    for file in verdicts:
        known = f" --gold {shlex.quote(winners.path)}" if winners is not None else ""
        how = f"truthing prefer {shlex.quote(file.path)}{known}"
        now.append(Offer("see which system's answers are preferred", how))
    for file in files:
        path = shlex.quote(file.path)
        if file.use == READS:
            now.append(Offer("see how good readers like these are", f"truthing readers {path}"))
        if file.use == DATED:
            now.append(Offer("watch the pass rate over time", f"truthing monitor {path}"))
    later = []
    if winners is not None and not verdicts:
        need = "needs the verdicts: item, system_a, system_b, judge, verdict"
        later.append(Offer("see which system's answers are preferred", need))
    return now, later


def _offers(held: Gradable) -> tuple[list[Offer], list[Offer]]:
    """What can be done with labels now, and what is missing for more."""
    now, later = _about_models(held)
    if held.usable and not held.unknown_alone:
        rate = held.command("rate", with_gold=not held.misfit)
        now.append(Offer("see how frequent each class is", rate))
        if not held.labels.anonymous:
            who = held.command("labelers", with_gold=not held.misfit)
            now.append(Offer("look at the labelers", who))
    if held.gold is None:
        later.append(Offer("trust the interval more", f"{gold_alone(50)}; {gold_alone(200)}"))
    if not any(p.scores is not None for _, p in held.predictions):
        later.append(Offer("see ROC and PR curves", "needs a score column beside the predictions"))
    mean = float(held.labels.per_item.mean())
    if mean >= 2 and held.usable:
        bound = held.command("ceiling", with_gold=False)
        now.append(Offer("bound the Bayes error, the least any model can reach", bound))
    if mean < 10:
        need = f"needs about 10 labels per item; you have {mean:.1f}"
        later.append(Offer("estimate the Bayes error well", need))
    return now, later


def _about_models(held: Gradable) -> tuple[list[Offer], list[Offer]]:
    what = "grade the classifier"
    files = [f for f, _ in held.predictions]
    if not files:
        need = "needs its predictions: item, prediction (and score)"
        return [], [Offer("grade a classifier", need)]
    if held.misfit:
        return [], [Offer(what, "once labels and predictions fit: see above")]
    if held.unknown_alone:
        need = (
            "one labeler and nothing known about it: give --noise RATE, gold, or a second labeler"
        )
        return [], [Offer(what, need)]
    cut = "" if held.predictions[0][1].label is not None else " --threshold 0.5"
    now = [Offer(what, held.command("grade", files[0]) + cut)]
    others = [file for file in files if file is not held.file]
    if len(others) > 1:
        now.append(Offer("compare the models", held.command("compare", *others)))
    return now, []


def gold_alone(n: int, accuracy: float = 0.8, level: float = 0.95) -> str:
    """What the truth of ``n`` random items would tell without any other label (Wilson's interval at
    a typical accuracy).

    >>> gold_alone(50)
    'gold on 50 random items gives accuracy within about ±0.11 by itself'
    """
    z = {0.95: 1.959964}[level]
    half = z / (1 + z**2 / n) * (accuracy * (1 - accuracy) / n + z**2 / (4 * n**2)) ** 0.5
    return f"gold on {n} random items gives accuracy within about ±{half:.2f} by itself"
