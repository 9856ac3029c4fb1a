from __future__ import annotations

from pathlib import Path

from truthing.doctor import examine

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
