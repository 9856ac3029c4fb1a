"""What was read is what was meant: each wrong answer that was once given, and what is said now."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import truthing as tr
from truthing.asking import positive_class, prepare
from truthing.case import read_case
from truthing.errors import in_options
from truthing.matching import Joined
from truthing.predicted import predicted_classes

sys.path.insert(0, str(Path(__file__).parents[2] / "studies"))

from messy_files import KINDS, outcome

LONG = "item,labeler,label\n"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_no_messy_file_is_misread(kind: Any, tmp_path: Path) -> None:
    """One case of each kind of the study; the study tries many."""
    what, why = outcome(kind(np.random.default_rng(5)), tmp_path)
    assert what in ("right", "refused"), why


def write(folder: Path, **files: str) -> dict[str, str]:
    paths = {}
    for name, content in files.items():
        path = folder / f"{name}.csv"
        path.write_text(content)
        paths[name] = str(path)
    return paths


def panel(names: tuple[str, str], n: int = 30, labelers: str = "abc") -> str:
    return LONG + "".join(f"{i},{t},{names[i % 2]}\n" for i in range(n) for t in labelers)


def guesses(names: tuple[str, str], n: int = 30) -> str:
    return "item,prediction\n" + "".join(f"{i},{names[i % 2]}\n" for i in range(n))


def read(
    folder: Path, labels: str, predictions: str | None = None, gold: str | None = None
) -> Joined:
    given = {"labels": labels, "predictions": predictions, "gold": gold}
    paths = write(folder, **{k: v for k, v in given.items() if v is not None})
    return prepare(paths.get("predictions"), paths["labels"], gold=paths.get("gold"))


@pytest.mark.parametrize(
    ("labels", "predictions"),
    [
        (("0", "1"), ("False", "True")),
        (("false", "true"), ("0", "1")),
        (("no", "yes"), ("0", "1")),
        (("N", "Y"), ("no", "yes")),
        (("ham", "spam"), ("Ham ", " SPAM")),
        (("0.0", "1.0"), ("0", "1")),
    ],
)
def test_the_same_classes_are_matched_and_said(
    tmp_path: Path, labels: tuple[str, str], predictions: tuple[str, str]
) -> None:
    joined = read(tmp_path, panel(labels), guesses(predictions))
    assert joined.labels.n_classes == 2
    assert joined.predicted is not None
    assert (joined.predicted == joined.labels.matrix()[:, 0]).all()
    if labels == ("0", "1"):
        assert "matched by meaning" in joined.remarks[0]


@pytest.mark.parametrize(
    ("labels", "predictions", "said"),
    [
        (("ham", "spam"), ("0", "1"), "no class is in both"),
        (("1", "2"), ("0", "1"), "each has classes that the other lacks"),
        (("ham", "spam"), ("ham", "spamm"), "resembles"),
        (("a", "A"), ("a", "A"), "one class or two"),
    ],
)
def test_what_only_looks_the_same_is_refused(
    tmp_path: Path, labels: tuple[str, str], predictions: tuple[str, str], said: str
) -> None:
    with pytest.raises(tr.InputError, match=said) as refusal:
        read(tmp_path, panel(labels), guesses(predictions))
    assert "`map=" in str(refusal.value)
    assert "--map" in in_options(str(refusal.value))


def test_map_and_classes_settle_it(tmp_path: Path) -> None:
    paths = write(tmp_path, labels=panel(("ham", "spam")), predictions=guesses(("0", "1")))
    mapped = tr.read_predictions(paths["predictions"], map={"0": "ham", "1": "spam"})
    assert prepare(mapped, paths["labels"], gold=None).labels.classes == ("ham", "spam")
    kept = tr.read_labels(paths["labels"], classes=["spam", "ham", "other"])
    assert kept.classes == ("spam", "ham", "other")
    with pytest.raises(tr.InputError, match="not among the classes"):
        tr.read_labels(paths["labels"], classes=["spam", "other"])
    letters = write(tmp_path, letters=panel(("a", "A")))["letters"]
    assert tr.read_labels(letters, classes=["A", "a"]).classes == ("A", "a")


def test_a_class_of_the_gold_alone(tmp_path: Path) -> None:
    labels, predictions = panel(("ham", "spam")), guesses(("ham", "spam"))
    joined = read(tmp_path, labels, predictions, "item,truth\n0,ham\n1,spam\n2,phishing\n")
    assert joined.labels.classes == ("ham", "phishing", "spam")
    assert any("Only the gold holds class 'phishing'" in w for w in joined.warnings)
    with pytest.raises(tr.InputError, match="resembles"):
        read(tmp_path, labels, predictions, "item,truth\n0,ham\n1,spam\n2,spam.\n")
    with pytest.raises(tr.InputError, match="no class is in both"):
        read(tmp_path, labels, predictions, "item,truth\n0,A\n1,B\n")


def test_types_stay_apart_within_one_source() -> None:
    labels = tr.Labels.from_long([0, 1], ["a", "a"], [1, "1"])
    assert prepare(None, labels, gold=None).labels.classes == (1, "1")


def wide(extra: str, values: Any, n: int = 40) -> str:
    rows = [f"t{i},{'ham,' * 3 if i % 3 else 'spam,' * 3}{values(i)}" for i in range(n)]
    return f"item,ann,bob,cleo,{extra}\n" + "\n".join(rows) + "\n"


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("system", lambda i: ("baseline", "candidate")[i % 2]),
        ("patient_id", lambda i: 900 + i),
        ("remarks", lambda i: f"no {i}"),
        ("number_of_words", lambda i: i % 4),
        ("majority", lambda i: "ham"),
    ],
)
def test_other_columns_of_a_wide_file_are_no_labelers(
    tmp_path: Path, name: str, values: Any
) -> None:
    labels = tr.read_labels(write(tmp_path, labels=wide(name, values))["labels"])
    assert labels.labelers == ("ann", "bob", "cleo")
    assert any(name in said for said in labels.notes.remarks)


def test_a_tie_of_columns_is_asked_and_can_be_settled(tmp_path: Path) -> None:
    rows = [f"t{i},{'ab'[i % 2]},{'ab'[i % 2]},{'xy'[i % 2]},{'xy'[i % 2]}" for i in range(20)]
    path = write(tmp_path, labels="item,p,q,r,s\n" + "\n".join(rows))["labels"]
    with pytest.raises(tr.InputError, match="labelers may be p, q or r, s"):
        tr.read_labels(path)
    assert tr.read_labels(path, labeler_columns=["r", "s"]).labelers == ("r", "s")
    assert tr.read_labels(path, ignore=["r", "s"]).labelers == ("p", "q")
    with pytest.raises(tr.InputError, match="no column 'ss'"):
        tr.read_labels(path, labeler_columns=["ss"])
    with pytest.raises(tr.InputError, match="no column 'z' to ignore"):
        tr.read_labels(path, ignore="z")
    with pytest.raises(tr.InputError, match="labeler_columns"):
        tr.read_labels(path, label_column="p,q")


def test_a_misspelt_argument_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path, p="case_id,prob\na,0.5\n")["p"]
    with pytest.raises(tr.InputError, match=r"'scor'.*Did you mean 'score_column'"):
        tr.read_predictions(path, item_column="case_id", scor="prob")
    with pytest.raises(tr.InputError, match=r"'item'.*Did you mean 'item_column'"):
        tr.read_predictions(path, item="case_id")


def test_words_that_mean_missing(tmp_path: Path) -> None:
    rare = (
        panel(("ham", "spam"), 60).replace("7,a,spam", "7,a,N/A").replace("9,b,spam", "9,b,ERROR")
    )
    labels = tr.read_labels(write(tmp_path, rare=rare)["rare"])
    assert labels.classes == ("ham", "spam")
    assert any("'N/A' count as missing" in said for said in labels.notes.remarks)
    often = "".join(f"{i},{t},{('none', 'mild')[i % 2]}\n" for i in range(30) for t in "ab")
    path = write(tmp_path, often=LONG + often)["often"]
    with pytest.raises(tr.InputError, match="is it a class, or a missing value"):
        tr.read_labels(path)
    assert tr.read_labels(path, classes=["none", "mild"]).per_class.tolist() == [30, 30]
    assert tr.read_labels(path, missing="none").classes == ("mild",)
    once = "".join(
        f"{i},{t},{'none' if (i, t) == (1, 'a') else 'xy'[i % 2]}\n"
        for i in range(40)
        for t in "ab"
    )
    paths = write(tmp_path, labels=LONG + once, gold="item,truth\n0,x\n1,none\n")
    gold = tr.read_gold(paths["gold"], classes=["none", "x", "y"])
    with pytest.raises(tr.InputError, match="is a class of the gold"):
        prepare(None, tr.read_labels(paths["labels"]), gold=gold)
    with pytest.raises(tr.InputError, match="stands among the predictions"):
        tr.read_predictions(write(tmp_path, p="item,prediction\n1,x\n2,ERROR\n")["p"])
    left = tr.read_predictions(str(tmp_path / "p.csv"), missing="error")
    assert left.items == (1,)


def scored(folder: Path, change: Any, name: str = "score") -> tuple[Any, Joined, list[str]]:
    rng = np.random.default_rng(1)
    p = rng.uniform(0.02, 0.98, 60).round(3)
    said = (p >= 0.5).astype(int)
    rows = "".join(f"{i},{s},{change(x, s)}\n" for i, (x, s) in enumerate(zip(p, said)))
    labels = LONG + "".join(f"{i},{t},{s}\n" for i, s in enumerate(said) for t in "ab")
    joined = read(folder, labels, f"item,prediction,{name}\n" + rows)
    assumed: list[str] = []
    place = positive_class(joined.labels.classes, None, [])
    _, scores = predicted_classes(joined, place, None, assumed)
    if scores is not None:
        assert (np.diff(scores[np.argsort(p, kind="stable")]) >= -1e-9).all()
    return scores, joined, assumed


def test_scores_mean_what_they_say(tmp_path: Path) -> None:
    _, _, said = scored(tmp_path, lambda x, s: max(x, 1 - x), "confidence")
    assert any("confidence in the predicted class" in a for a in said)
    _, _, said = scored(tmp_path, lambda x, s: 1 - x)
    assert any("turned round" in a for a in said)
    scores, _, said = scored(tmp_path, lambda x, s: 100 * x)
    assert scores is not None
    assert not any("scores" in a for a in said)
    rng = np.random.default_rng(2)
    scores, joined, _ = scored(tmp_path, lambda x, s: rng.uniform(0, 1 - 0.7 * s))
    assert scores is None
    assert any("are not used" in w for w in joined.warnings)
    joined = prepare(
        pl.DataFrame({"item": [0, 1], "score": [97.0, 3.0]}),
        pl.DataFrame({"item": [0, 0, 1], "labeler": [*"aba"], "label": [0, 1, 0]}),
        gold=None,
    )
    with pytest.raises(tr.InputError, match="are they percentages"):
        predicted_classes(joined, 1, 0.5, [])


def test_counts_and_ratings(tmp_path: Path) -> None:
    stars = "item,ann,bob,cleo\n" + "".join(
        f"{i},{1 + i % 5},{1 + i % 5},{1 + (i + i % 2) % 5}\n" for i in range(30)
    )
    labels = tr.read_labels(write(tmp_path, stars=stars)["stars"])
    assert not labels.anonymous
    assert any("votes for each class" in check for check in labels.notes.checks)
    joined = prepare(None, labels, gold=None)
    assert any("votes for each class" in w for w in joined.warnings)
    blank = "item,count_cat,count_dog\n1,3,0\n2,,3\n"
    with pytest.raises(tr.InputError, match="line 3: no number of votes for 'count_cat'"):
        tr.read_labels(write(tmp_path, blank=blank)["blank"])
    huge = "item,count_cat,count_dog\n1,3,4294967296\n"
    with pytest.raises(tr.InputError, match="from 0 to 2,147,483,647"):
        tr.read_labels(write(tmp_path, huge=huge)["huge"])
    with pytest.raises(tr.InputError, match="whole numbers from 0 up to"):
        tr.Labels.from_counts([[2**33, 1]])


def test_nobody_is_not_one_labeler(tmp_path: Path) -> None:
    paths = write(tmp_path, a="item,who,label\n1,x,p\n1,y,p\n", b="label,text\n0,hello\n")
    with pytest.raises(tr.InputError, match="no column says who"):
        tr.read_labels(paths["a"])
    assert tr.read_labels(paths["a"], labeler_column="who").n_labels == 2


def test_rows_are_not_matched_with_named_items(tmp_path: Path) -> None:
    rows = "label\n" + "ham\nspam\n" * 10
    with pytest.raises(tr.InputError, match="the labels have no column of items"):
        read(tmp_path, rows, guesses(("ham", "spam"), 20).replace("\n0,", "\n20,"))
    assert read(tmp_path, rows, guesses(("ham", "spam"), 20)).labels.n_items == 20
    with pytest.raises(tr.InputError, match="looks like item"):
        read(tmp_path, panel(("ham", "spam")), guesses(("ham", "spam")).replace("\n7,", "\n07,"))


def test_several_files_of_labels(tmp_path: Path) -> None:
    paths = write(
        tmp_path,
        one=panel(("x", "y")),
        two=panel(("x", "y"), labelers="de"),
        three="item,label\n0,x\n1,y\n",
    )
    case = read_case([paths["one"], paths["two"], paths["three"]])
    assert case.labels.labelers == ("a", "b", "c", "d", "e", "three")
    assert case.labels.n_labels == 152


def test_notes_reach_the_report(tmp_path: Path) -> None:
    labels = panel(("ham", "spam"), 40).replace("3,a,spam", "3,a,NA")
    labels += "".join(f"{i},d,{('ham', 'spam')[(i + (i % 5 == 0)) % 2]}\n" for i in range(40))
    paths = write(tmp_path, labels=labels, predictions=guesses(("Ham", "Spam"), 40))
    report = tr.grade(paths["predictions"], paths["labels"], noise=0.1, draws=200)
    assert any("'NA' count as missing" in a for a in report.assumptions)
    assert report.classes == ("ham", "spam")


def test_gold_beside_the_labels_is_used_and_said(tmp_path: Path) -> None:
    rows = "".join(
        f"{i},{t},{'xy'[i % 2]},{'xy'[i % 2] if i < 5 else ''}\n" for i in range(20) for t in "ab"
    )
    case = read_case(write(tmp_path, labels="item,labeler,label,truth\n" + rows)["labels"])
    assert case.gold is not None
    assert case.gold.n_items == 5
    assert "gold is taken from its column 'truth'" in case.gold.notes.remarks[-1]
