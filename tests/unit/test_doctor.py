from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from truthing.doctor import examine
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
    assert "1 rows repeat" in said
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
