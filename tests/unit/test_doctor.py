from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from truthing.doctor import examine
from truthing.errors import InputError
from truthing.tables.asked import Asked

EXAMPLE = Path(__file__).resolve().parents[2] / "src" / "truthing" / "examples" / "spam"


def test_the_bundled_example() -> None:
    found = examine([EXAMPLE / "labels.csv", EXAMPLE / "predictions.csv", EXAMPLE / "gold.csv"])
    labels, predictions, gold = found.files
    assert labels.labels is not None
    assert labels.labels.labelers == ("ana", "chloe", "eli", "ben", "dev")
    assert any("annotator → labeler" in s for s in labels.sentences)
    assert any("agree in" in s for s in labels.sentences)
    assert predictions.predictions is not None
    assert gold.gold is not None
    assert "600 of the 600 items" in found.together[0]
    assert any("truthing grade" in offer.how for offer in found.now)


def test_what_does_not_fit_is_said(tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("item,labeler,label\n1,a,x\n1,a,y\n1,b,x\n1,b,x\n2,a,y\n")
    other = tmp_path / "pred.csv"
    other.write_text("item,prediction\n1,x\n9,z\n")
    found = examine([labels, other])
    said = " ".join(found.files[0].sentences)
    assert "1 row repeats" in said
    assert "contradicts itself" in said
    assert "1 items stand only in" in found.together[0]
    assert "'z' never occurs among the labels" in found.together[0]
    other.write_text("item,prediction\n8,x\n9,y\n")
    assert "share no item" in examine([labels, other]).together[0]


def test_one_labeler_is_not_enough(tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("item,label\n1,x\n2,y\n")
    other = tmp_path / "pred.csv"
    other.write_text("item,prediction\n1,x\n2,x\n")
    found = examine([labels, other])
    assert any("one labeler and nothing known" in offer.how for offer in found.later)


def test_one_class_is_said(tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("item,labeler,label\n1,a,x\n1,b,x\n")
    assert "with one class there is nothing to grade" in " ".join(
        examine([labels]).files[0].sentences
    )


def test_rows_are_shown_as_read_and_misfits_stop_the_offer(tmp_path: Path) -> None:
    labels, predictions = tmp_path / "labels.csv", tmp_path / "predictions.csv"
    rows = [
        f"t{i},{c},{c},{'base' if i % 2 else 'new'}" for i, c in enumerate(["ham", "spam"] * 10)
    ]
    labels.write_text("item,ann,bob,system\n" + "\n".join(rows) + "\n")
    predictions.write_text("item,prediction\n" + "".join(f"t{i},{i % 2}\n" for i in range(20)))
    found = examine([labels, predictions])
    assert found.files[0].sample[0] == "t0 → ann → 'ham'"
    assert found.files[1].sample[0] == "t0 → predicted → 0"
    assert any("not used: system" in sentence for sentence in found.files[0].sentences)
    assert any("no class is in both" in sentence for sentence in found.together)
    assert not any(offer.what == "grade the classifier" for offer in found.now)
    mended = examine([labels, predictions], Asked.from_text(map="0=ham,1=spam"))
    assert any(offer.what == "grade the classifier" for offer in mended.now)


def test_the_command_speaks_of_options(tmp_path: Path) -> None:
    labels, more = tmp_path / "labels.csv", tmp_path / "more.csv"
    text = "".join(f"{i},{w},{'none' if i % 2 else 'mild'}\n" for i in range(20) for w in "ab")
    labels.write_text("item,labeler,label\n" + text)
    more.write_text("item,labeler,label\n" + text.replace(",a,", ",c,").replace(",b,", ",d,"))
    command = [sys.executable, "-c", "from truthing.cli import main; main()"]
    refused = subprocess.run([*command, "rate", labels, more], capture_output=True, text=True)
    assert refused.returncode == 1
    assert "--missing none, or name the classes with --classes none,mild" in refused.stderr
    unknown = subprocess.run(
        [*command, "doctor", labels, "--labeler-columns", "x"], capture_output=True, text=True
    )
    assert "no column 'x' for a labeler" in unknown.stderr
    read = subprocess.run(
        [*command, "doctor", labels, "--classes", "none,mild"], capture_output=True, text=True
    )
    assert read.returncode == 0
    assert "classes none 50%, mild 50%" in read.stdout


PREFER = EXAMPLE.parent / "prefer"


def commands(found: Any) -> list[str]:
    return [offer.how for offer in found.now]


def test_tables_of_other_commands_are_known(tmp_path: Path) -> None:
    verdicts, gold = str(PREFER / "verdicts.csv"), str(PREFER / "gold.csv")
    found = examine([verdicts, gold])
    assert "900 verdicts of 3 judges on 150 comparisons of 3 systems" in found.files[0].sentences[1]
    assert commands(found) == [f"truthing prefer {verdicts} --gold {gold}"]
    assert "needs the verdicts" in examine([gold]).later[0].how
    reads = tmp_path / "reads.csv"
    rows = "".join(f"{c},{r},{c % 5},{c % 2}\n" for c in range(10) for r in "ab")
    reads.write_text("case,reader,score,truth\n" + rows)
    assert commands(examine([reads])) == [f"truthing readers {reads}"]
    dated = tmp_path / "dated.csv"
    days = "".join(f"2026-01-{d:02d},{'pass' if d % 3 else 'fail'}\n" for d in range(1, 29))
    dated.write_text("date,truth\n" + days)
    assert commands(examine([dated])) == [f"truthing monitor {dated}"]
    # two systems may also be two labelers
    wide = tmp_path / "wide.csv"
    wide.write_text(
        "item,model_1,model_2\n"
        + "".join(f"{i},yes,{'yes' if i % 2 else 'no'}\n" for i in range(9))
    )
    assert examine([wide]).files[0].labels is not None


def test_offers_can_be_typed_as_they_stand(tmp_path: Path) -> None:
    """With the options that were needed, all models, and gold where one labeler is not enough."""
    labels, models = tmp_path / "labels.csv", [tmp_path / name for name in ("a.csv", "b.csv")]
    gold = tmp_path / "gold.csv"
    labels.write_text("item,note of Ann\n" + "".join(f"{i},{'xy'[i % 2]}\n" for i in range(30)))
    for model in models:
        model.write_text("item,prediction\n" + "".join(f"{i},x\n" for i in range(30)))
    gold.write_text("item,truth\n" + "".join(f"{i},{'xy'[i % 2]}\n" for i in range(12)))
    asked = Asked.from_text(labeler_columns="note of Ann")
    found = examine([labels, *models, gold], asked)
    said = f"--gold {gold} --labeler-columns 'note of Ann'"
    assert commands(found) == [
        f"truthing grade {models[0]} {labels} {said}",
        f"truthing compare {labels} {models[0]} {models[1]} {said}",
        f"truthing rate {labels} {said}",
        f"truthing labelers {labels} {said}",
    ]
    command = [sys.executable, "-c", "from truthing.cli import main; main()"]
    for words in commands(found)[2:]:
        done = subprocess.run([*command, *shlex.split(words)[1:]], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_labels_that_must_be_mended_first_are_not_offered(tmp_path: Path) -> None:
    labels, scores = tmp_path / "labels.csv", tmp_path / "scores.csv"
    rows = "".join(f"{i},{w},{'spam' if i % 2 else 'ham'}\n" for i in range(40) for w in "ab")
    labels.write_text("item,labeler,label\n" + rows + "50,a,spamm\n")
    scores.write_text("item,prediction,score\n" + "".join(f"{i},ham,.2\n" for i in range(40)))
    found = examine([labels, scores])
    assert commands(found) == []
    assert found.together[-1].startswith(f"{labels}: ")
    assert not any("score column" in offer.how for offer in found.later)


def test_a_file_that_cannot_be_read_does_not_hide_the_others(tmp_path: Path) -> None:
    odd, labels = tmp_path / "odd.csv", tmp_path / "labels.csv"
    odd.write_text("doc,model_output,seconds\n" + "".join(f"d{i},a{i},{i}.5\n" for i in range(9)))
    labels.write_text(
        "item,labeler,label\n" + "".join(f"d{i},{w},x\n" for i in range(9) for w in "ab")
    )
    found = examine([odd, labels])
    assert found.files[0].sentences[0].startswith("could not be read: odd.csv")
    assert found.files[1].labels is not None
    with pytest.raises(InputError):
        examine([odd])


def test_the_only_column_left_holds_the_labels(tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    who = [(i, w) for i in range(9) for w in "ab"]

    def write(name: str, values: list[Any]) -> None:
        rows = "".join(f"{i},{w},{value}\n" for (i, w), value in zip(who, values))
        labels.write_text(f"id,rater,{name}\n" + rows)

    write("y", [(i + (w == "b" and i < 3)) % 2 for i, w in who])
    file = examine([labels]).files[0]
    assert file.columns.role["label"] == "y"
    assert any("'y' was taken for the label" in sentence for sentence in file.sentences)
    # how sure somebody is, what is known of an item, and measured numbers are no labels
    write("certainty", [i % 2 + (w == "b") for i, w in who])
    with pytest.raises(InputError):
        examine([labels])
    write("known", [i % 2 for i, _ in who])
    with pytest.raises(InputError):
        examine([labels])
    write("y", [0.5 * i + (w == "b") for i, w in who])
    with pytest.raises(InputError):
        examine([labels])


def test_labelers_called_like_models_are_no_systems(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    rows = "".join(f"{i},{i % 2},{i % 3 % 2},{i % 2}\n" for i in range(20))
    table.write_text("item,model_a,model_b,truth\n" + rows)
    found = examine([table])
    assert found.files[0].labels is not None
    assert found.files[0].gold is not None
    dated = tmp_path / "dated.csv"
    rows = "".join(f"i{i},2026-01-{i + 1:02d},{i % 2},{i % 3 % 2},{i % 2}\n" for i in range(20))
    dated.write_text("item,date,ann1,ann2,truth\n" + rows)
    assert not any("monitor" in command for command in commands(examine([dated])))
