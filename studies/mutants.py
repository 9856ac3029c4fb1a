"""Would the tests notice? Planted bugs, each of which must fail the test files it names.

A mutant is one piece of text in one file, replaced in a copy of the source. The named tests run on
the copy; where they pass, the bug survived and this study fails. Give words to run only the mutants
whose names hold one of them: ``python studies/mutants.py interval votes``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Mutant:
    """A planted bug: where, what is replaced by what, and who must notice."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


def mutant(name: str, file: str, old: str, new: str, *tests: str) -> Mutant:
    return Mutant(name, file, old, new, tuple(f"tests/unit/test_{test}.py" for test in tests))


ESTIMATE, COUNTS = "metrics/estimate.py", "metrics/counts.py"
LAM_STORK, MELDING, ISHIDA = "papers/lam_stork.py", "papers/melding.py", "papers/ishida.py"
KNOWN, BASE, AGREEMENT = "noise/known.py", "noise/base.py", "people/agreement.py"
CODES, ASKING, ORDERING = "class_codes.py", "asking.py", "ordering.py"
SAMPLER, PRIOR = "truth/link/sampler.py", "truth/link/prior.py"
NUMBERS = "truth/link/numbers.py"

MUTANTS = [
    # intervals
    mutant(
        "interval one draw too short",
        ESTIMATE,
        "len(ordered) - 1e-9)), 1)",
        "len(ordered) - 1e-9)) - 1, 1)",
        "estimate",
    ),
    mutant(
        "interval leans to the left",
        ESTIMATE,
        "np.arange(len(width)) - (len(width) - 1) / 2",
        "np.arange(len(width)) - 0",
        "estimate",
    ),
    mutant(
        "atoms: any mass is enough",
        ESTIMATE,
        "enough = before[last + 1] - before[:-1] >= level - 1e-12",
        "enough = before[last + 1] - before[:-1] >= 0",
        "estimate",
    ),
    mutant(
        "P(above) counts the threshold",
        ESTIMATE,
        "self.values > threshold",
        "self.values >= threshold",
        "estimate",
    ),
    mutant(
        "undefined draws forgotten",
        ESTIMATE,
        "1 - len(known) / max(len(everything), 1)",
        "0.0 * len(everything)",
        "estimate",
    ),
    # metrics
    mutant(
        "recall for precision",
        COUNTS,
        "return ratio(tally.right, tally.predicted, zero_division)",
        "return ratio(tally.right, tally.truth, zero_division)",
        "metrics",
    ),
    mutant(
        "F weighs precision",
        COUNTS,
        "beta**2 * tally.truth + tally.predicted",
        "tally.truth + beta**2 * tally.predicted",
        "metrics",
    ),
    mutant(
        "false alarms of all items",
        COUNTS,
        "tally.predicted - tally.right, tally.total[..., None] - tally.truth, zero",
        "tally.predicted - tally.right, tally.total[..., None], zero",
        "metrics",
    ),
    mutant(
        "kappa without chance",
        COUNTS,
        "n**2 - chance, zero_division",
        "n**2, zero_division",
        "metrics",
    ),
    mutant(
        "truth and prediction exchanged",
        COUNTS,
        "table.sum(axis=-1), table.sum(axis=-2))",
        "table.sum(axis=-2), table.sum(axis=-1))",
        "metrics",
    ),
    # the papers
    mutant(
        "Eq. 2 without the 2",
        LAM_STORK,
        "raw = (apparent - mislabeling) / (1 - 2 * mislabeling)",
        "raw = (apparent - mislabeling) / (1 - mislabeling)",
        "lam_stork",
    ),
    mutant(
        "variance of known labels",
        LAM_STORK,
        "variance = (rate * (1 - rate) / (1 - 2 * rate) ** 2 + value * (1 - value)) / n",
        "variance = value * (1 - value) / n",
        "lam_stork",
    ),
    mutant(
        "melded tail not halved", MELDING, "tail = (1 - level) / 2", "tail = 1 - level", "lam_stork"
    ),
    mutant(
        "melded upper limit as the lower",
        MELDING,
        "disagreements + 1, n - disagreements, optimist",
        "disagreements, n - disagreements + 1, optimist",
        "lam_stork",
    ),
    mutant(
        "upper bound not cut",
        LAM_STORK,
        "upper = min(upper, 2 - apparent - mislabeling)",
        "upper = min(upper, 1.0)",
        "lam_stork",
    ),
    mutant(
        "Prop. 3.2 with the constant of 3.5",
        ISHIDA,
        "_log(level) / (8 * n)",
        "_log(level) / (2 * n)",
        "ishida",
    ),
    mutant(
        "signs exchanged",
        ISHIDA,
        "np.where(positive, 1 - noisy, noisy)",
        "np.where(positive, noisy, 1 - noisy)",
        "ishida",
    ),
    # noise
    mutant(
        "votes ignored in the likelihood",
        BASE,
        "terms = terms if labels.votes is None else terms * labels.votes",
        "terms = terms + 0.0",
        "noise",
    ),
    mutant(
        "votes ignored under difficulty",
        KNOWN,
        "right = np.log1p(-rate) * labels.weight",
        "right = np.log1p(-rate)",
        "noise",
    ),
    mutant(
        "wrong labels too rare",
        BASE,
        "wrong = rate / max(n_classes - 1, 1)",
        "wrong = rate / n_classes",
        "noise",
    ),
    mutant(
        "difficulty and fallibility add up",
        BASE,
        "difficulty - difficulty * fallibility + fallibility",
        "difficulty + fallibility",
        "noise",
    ),
    mutant(
        "absent labels not summed out",
        KNOWN,
        "[table, table.sum(axis=axis, keepdims=True)]",
        "[table, table.mean(axis=axis, keepdims=True)]",
        "noise",
    ),
    # agreement
    mutant(
        "degrees of freedom off by one",
        AGREEMENT,
        "stdtrit(max(self.n_items - 1, 1)",
        "stdtrit(max(self.n_items, 1)",
        "agreement",
    ),
    mutant(
        "jackknife without its factor",
        AGREEMENT,
        "(n_items - 1) / n_items * (size @",
        "1 / n_items * (size @",
        "agreement",
    ),
    mutant("Krippendorff's chance", AGREEMENT, "(n * (n - 1))", "(n * n)", "agreement"),
    mutant(
        "Gwet's chance",
        AGREEMENT,
        "/ max(share.shape[-1] - 1, 1)",
        "/ max(share.shape[-1], 1)",
        "agreement",
    ),
    # names and data
    mutant(
        "classes in order of appearance",
        CODES,
        "return tuple(sorted(values, key=sort_key))",
        "return tuple(values)",
        "labels",
        "tables",
    ),
    mutant(
        "repeats never identical",
        "repeats.py",
        "(label[first:position] == label[position]).any()",
        "False",
        "labels",
        "tables",
    ),
    mutant(
        "NaN is a class",
        CODES,
        "isinstance(value, float | np.floating) and bool(np.isnan(value))",
        "False",
        "labels",
        "tables",
    ),
    # grading
    mutant(
        "threshold > for >=", "predicted.py", "column >= threshold", "column > threshold", "noise"
    ),
    mutant("gold_weights inverted", ASKING, "weight = 1 / chance", "weight = chance", "noise"),
    mutant(
        "gold_weights ignored",
        ASKING,
        "return weight * weight.sum() / (weight**2).sum()",
        "return np.ones(len(weight))",
        "noise",
    ),
    mutant(
        "items stay in the order inside",
        ORDERING,
        "return truth[np.argsort(self.items)]",
        "return truth",
        "row_order",
    ),
    mutant(
        "matrices stay in the user's order",
        ORDERING,
        "np.asarray(noise.matrices)[self.labelers]",
        "np.asarray(noise.matrices)",
        "row_order",
    ),
    # the link
    mutant(
        "gold counted twice",
        SAMPLER,
        "weights = np.ones(len(known)) if gold_weights",
        "weights = 2 * np.ones(len(known)) if gold_weights",
        "link_parts",
    ),
    mutant(
        "slope ignored",
        SAMPLER,
        "rest = z * _spreads(components, design)[which]\n    rest[:, 0] += components.slope",
        "rest = z * _spreads(components, design)[which]\n    rest[:, 0] += 0 * components.slope",
        "link_parts",
    ),
    mutant(
        "flat components dropped",
        PRIOR,
        "rows += _flat_rows(centre, known.slope, flat, flat)",
        "rows += []",
        "link_parts",
    ),
    mutant(
        "better than its panel without gold too",
        PRIOR,
        "rows += [(better * share, *upwards, u, True)",
        "rows += [(better * share, *upwards, u, False)",
        "link_parts",
    ),
    mutant(
        "short numbers for long sums",
        "noise/em_passes.py",
        "if not many or int(np.bincount(labels.key).max()) > LONGEST_SUM:",
        "if not many:",
        "em",
    ),
    mutant(
        "short numbers summed by threads",
        "noise/em.py",
        "PARTS if numbers is np.float32 else threads or n_threads()",
        "threads or n_threads()",
        "em",
    ),
    mutant(
        "a choice of items without its gold",
        "streaming/some_items.py",
        "elsewhere = texts.is_in(wanted) & ~kept",
        "elsewhere = texts.is_in(wanted) & kept",
        "engine_some_items",
    ),
    mutant(
        "spread of the views ignored",
        NUMBERS,
        "spread = np.hypot(seen.spread, extra_spread)",
        "spread = np.hypot(0.0, extra_spread)",
        "link_parts",
    ),
    mutant(
        "a panel at odds with itself is believed",
        NUMBERS,
        "seen.agreed * seen.accord, seen.among_level * seen.accord",
        "seen.agreed, seen.among_level",
        "link_parts",
    ),
    mutant(
        "what is told about labels has no bounds",
        "truth/link/told.py",
        "return low * self.covered, high * self.covered + 1 - self.covered",
        "return 0 * low, 0 * high + 1",
        "given_errors",
    ),
    mutant(
        "gold that contradicts given noise is passed over",
        "truth/wrong_labels.py",
        "or chance > STRANGE:",
        "or chance > -1:",
        "given_errors",
    ),
    mutant(
        "a range of error rates counts as certain",
        "truth/given_errors.py",
        "np.inf, (float(low), float(high)))",
        "np.inf, None)",
        "given_errors",
    ),
    mutant(
        "rates that labels contradict are believed",
        "truth/wrong_labels.py",
        "if max(inside) > ODD:",
        "if max(inside) > -1:",
        "given_errors",
    ),
    mutant(
        "labels better than their agreement move nothing",
        NUMBERS,
        "centre + self.moved * surprise, wide",
        "centre + 0 * surprise, wide",
        "given_errors",
    ),
    mutant(
        "agreeing pairs hold each label with itself",
        "truth/link/views.py",
        "alike = (votes * (votes - 1)).sum(axis=1)",
        "alike = (votes * votes).sum(axis=1)",
        "link_parts",
    ),
    # many labels, many items
    mutant(
        "products of chances may vanish",
        "truth/passes_compiled.py",
        "if gold >= 0 or total < VANISHED:",
        "if gold >= 0:",
        "engine_passes",
    ),
    mutant(
        "counted keys draw gold items again",
        "truth/link/models_counts.py",
        "np.round(committee.without(known))",
        "np.round(committee.size)",
        "engine_compare",
    ),
    mutant(
        "streamed models take the first one's predictions",
        "truth/link/grouped_models.py",
        "models = shard.predicted, *shard.rivals",
        "models = (shard.predicted,) * (1 + len(shard.rivals))",
        "engine_compare",
    ),
    # how items and gold were drawn
    mutant(
        "design effect of clusters ignored",
        "survey/clusters.py",
        "max(0.0, together - expected) * found.correlation * few",
        "0.0 * few",
        "survey",
    ),
    mutant(
        "deployment shares not normalised",
        "survey/deployment.py",
        "shares / shares.sum(axis=1, keepdims=True)",
        "shares",
        "survey",
    ),
    mutant(
        "strata of chosen gold ignored",
        "survey/gold_choice.py",
        "weight = (size / np.maximum(held, 1))[strata]",
        "weight = np.ones(len(strata))",
        "survey",
    ),
    # several labels at once
    mutant(
        "tags: chances are moved the wrong way",
        "multi_label/joint.py",
        ".mean(axis=1) < part",
        ".mean(axis=1) > part",
        "multi_label",
    ),
]


def caught(planted: Mutant, copy: Path) -> bool:
    """Do the named tests fail on a copy with the bug, and on nothing else?"""
    path = copy / "truthing" / planted.file
    good = path.read_text()
    if good.count(planted.old) != 1:
        raise SystemExit(f"{planted.name}: {planted.old!r} is not once in {planted.file}.")
    path.write_text(good.replace(planted.old, planted.new))
    try:
        return not passes(planted.tests, copy)
    finally:
        path.write_text(good)


def passes(tests: tuple[str, ...], copy: Path) -> bool:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", *tests],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(copy)},
        capture_output=True,
        text=True,
    )
    if done.returncode not in (0, 1):
        raise SystemExit(f"the tests could not run:\n{done.stdout}{done.stderr}")
    return done.returncode == 0


def main(words: list[str]) -> int:
    chosen = [m for m in MUTANTS if not words or any(word in m.name for word in words)]
    with tempfile.TemporaryDirectory() as place:
        # one copy for all: compiled code stays good where nothing is changed
        copy = Path(place) / "src"
        shutil.copytree(ROOT / "src", copy, ignore=shutil.ignore_patterns("__pycache__"))
        if not passes(tuple(sorted({t for m in chosen for t in m.tests})), copy):
            raise SystemExit("the tests fail without any planted bug: mend that first.")
        survivors = []
        for planted in chosen:
            noticed = caught(planted, copy)
            print(f"{'caught' if noticed else 'SURVIVED':<9} {planted.name}", flush=True)
            if not noticed:
                survivors.append(planted.name)
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} planted bugs were caught.")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
