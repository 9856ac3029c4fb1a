"""Text as programs really write it: codings, titles, comments, blank lines, and line numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import truthing as tr
from truthing.tables.coding import to_utf_8

BODY = "item,labeler,label\n1,ann,yes\n1,bob,no\n2,ann,no\n2,bob,no\n"


def read(folder: Path, content: str | bytes, name: str = "labels.csv") -> tr.Labels:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return tr.read_labels(path)


@pytest.mark.parametrize(
    ("text", "coding", "example"),
    [
        ("1,ann,café\n2,ann,thé\n", "latin1", "café"),
        ("1,ann,schön\n2,ann,nein\n", "cp1252", "schön"),
        ("1,ann,sœur\n2,ann,frère\n", "cp1252", "frère"),
        ("1,ann,don’t\n2,ann,do\n", "cp1252", "don’t"),
    ],
)
def test_western_text_is_read_and_said(
    tmp_path: Path, text: str, coding: str, example: str
) -> None:
    labels = read(tmp_path, ("item,labeler,label\n" + text).encode(coding))
    assert labels.classes == tuple(sorted(line.split(",")[2] for line in text.splitlines()))
    assert any(
        f"Windows-1252 (Western European), for example '{example}'" in note
        for note in labels.notes.remarks
    )


@pytest.mark.parametrize(
    ("text", "coding"),
    [
        ("да нет", "cp1251"),
        ("女 男", "gbk"),
        ("女 男", "shift-jis"),
        ("ναι όχι", "cp1253"),
        ("mężczyzna kobieta", "cp1250"),
        ("café thé", "mac-roman"),
        ("é e", "latin1"),  # too little to go by
    ],
)
def test_other_codings_are_refused(text: str, coding: str) -> None:
    with pytest.raises(tr.InputError, match=r"labels.csv line 1 is not UTF-8"):
        to_utf_8(text.encode(coding), "labels.csv")


def test_damaged_utf_8_is_not_taken_for_western_text() -> None:
    whole = "item,label\n1,café\n2,thé\n".encode()
    for damaged in (whole + "3,café\n".encode("latin1"), whole[:-2]):
        with pytest.raises(tr.InputError, match="is not UTF-8"):
            to_utf_8(damaged, "labels.csv")


@pytest.mark.parametrize(
    "above",
    [
        "Export of 3 May,,\n,,\n",
        "Export of 3 May\n\n",
        "Spam study\nSecond line of the title\n",
        "# written by a program, version 3\n# on 3 May\n",
    ],
)
def test_titles_are_left_out_and_said(tmp_path: Path, above: str) -> None:
    labels = read(tmp_path, above + BODY)
    assert (labels.items, labels.labelers) == ((1, 2), ("ann", "bob"))
    assert any("above the names of the columns is left out" in n for n in labels.notes.remarks)
    semicolons = read(tmp_path, above + BODY.replace(",", ";"))
    assert semicolons.n_labels == 4


@pytest.mark.parametrize("above", ["", "Report 2024, final\n"])
@pytest.mark.parametrize("columns", [1, 3])
def test_decimal_commas_separate_no_cells(tmp_path: Path, above: str, columns: int) -> None:
    names = ["item", "score", *(f"p_{c}" for c in range(columns - 1))]
    rows = [[f"r{i}", *[f"0,{i + 1}5"] * columns] for i in range(6)]
    file = tmp_path / "scores.csv"
    file.write_text(above + "\n".join(";".join(row) for row in [names, *rows]) + "\n")
    found = tr.read_predictions(file)
    assert found.items == tuple(f"r{i}" for i in range(6))
    assert found.scores is not None
    assert float(np.asarray(found.scores).ravel()[0]) == 0.15


def test_ids_of_responses_are_items(tmp_path: Path) -> None:
    """response is a word for labels, response_id for what was labelled."""
    file = tmp_path / "gold.csv"
    file.write_text(
        "response_id,human\n" + "".join(f"r{i},{['no', 'yes'][i % 2]}\n" for i in range(6))
    )
    gold = tr.read_gold(file)
    assert (gold.items[:2], gold.classes) == (("r0", "r1"), ("no", "yes"))
    file.write_text("item,label_id\n" + "".join(f"r{i},{i % 2}\n" for i in range(6)))
    assert tr.read_gold(file).classes == (0, 1)


def test_what_only_looks_like_a_title_is_none(tmp_path: Path) -> None:
    series = read(tmp_path, ",label\nt0,spam\nt1,ham\nt2,answer\n")
    assert series.items == ("t0", "t1", "t2")
    commented = read(tmp_path, "#" + BODY)
    assert commented.items == (1, 2)
    with pytest.raises(tr.InputError, match=r"line 2 has 3 cells .* or remove the title above"):
        read(tmp_path, "A title\nfoo,bar,baz\n1,a,x\n2,a,y\n1,b,x\n")


def test_excel_says_its_separator(tmp_path: Path) -> None:
    assert read(tmp_path, "\ufeffsep=;\r\n" + BODY.replace(",", ";")).n_labels == 4
    assert read(tmp_path, "sep=|\n" + BODY.replace(",", "|").replace("yes", "y;s")).n_labels == 4


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (BODY + "3,,yes\n", 6),
        ("\n\n" + BODY + "3,,yes\n", 8),
        (BODY + "\n\r\n3,,yes\n", 8),
        (BODY + ",,\n  \n3,,yes\n", 8),
        ("Title\n\n" + BODY + "\n3,,yes\n", 9),
        ('text,item,labeler,label\n"a\nb",1,ann,yes\n\n"c\n\nd",1,,no\n', 5),
        ("sep=,\n" + BODY + "3,,yes\n", 7),
    ],
)
def test_messages_name_the_line_as_an_editor_counts(
    tmp_path: Path, content: str, line: int
) -> None:
    with pytest.raises(tr.InputError, match=rf"labels\.csv line {line}: a label without"):
        read(tmp_path, content)


def test_cells_and_contradictions_below_a_title(tmp_path: Path) -> None:
    with pytest.raises(tr.InputError, match="line 8 has 2 cells"):
        read(tmp_path, "Title\n\n" + BODY + "3,ann\n")
    labels = read(tmp_path, "Title\n\n" + BODY + "\n2,bob,yes\n")
    with pytest.raises(tr.InputError, match="line 9: labeler 'bob' says both"):
        labels.resolve_repeats("error")


def test_places_in_json(tmp_path: Path) -> None:
    lines = '{"item": 1, "labeler": "a", "label": "x"}\n\n{"item": 2, "label": "x"}\n'
    with pytest.raises(tr.InputError, match=r"labels.jsonl line 3: a label without"):
        read(tmp_path, lines, "labels.jsonl")
    whole = '[{"item": 1, "labeler": "a", "label": "x"}, {"item": 2, "label": "x"}]'
    with pytest.raises(tr.InputError, match=r"labels.json entry 2: a label without"):
        read(tmp_path, whole, "labels.json")


def test_a_number_and_its_text_are_one_class_among_numbers() -> None:
    def rows(*values: object) -> list[dict[str, object]]:
        return [{"item": n, "labeler": "a", "label": v} for n, v in enumerate(values)]

    labels = tr.read_labels(rows(1, "1", 0, "0", 1))
    assert labels.classes == (0, 1)
    assert labels.label.tolist() == [1, 1, 0, 0, 1]
    assert any("'1' and 1 count as one class" in note for note in labels.notes.remarks)
    with pytest.raises(tr.InputError, match="one class or two"):
        tr.read_labels(rows(1, "1", "spam"))


def test_a_table_of_markdown(tmp_path: Path) -> None:
    rows = ["| item | labeler | label |", "|:---|---|---:|"]
    rows += [f"| {i} | {who} | {'yn'[i % 2]} |" for i in range(6) for who in ("ann", "bob")]
    labels = read(tmp_path, "\n".join([*rows, ""]), "labels.md")
    assert (labels.labelers, labels.classes, labels.n_labels) == (("ann", "bob"), ("n", "y"), 12)
    with pytest.raises(tr.InputError, match="line 15: a label without a labeler"):
        read(tmp_path, "\n".join([*rows, "| 7 | | y |", ""]), "labels.md")


def test_unsure_may_be_no_answer(tmp_path: Path) -> None:
    labels = read(tmp_path, BODY + "3,ann,unsure\n")
    assert labels.classes == ("no", "unsure", "yes")
    assert any("missing='unsure'" in check for check in labels.notes.checks)
    for option in ({"missing": "unsure"}, {"classes": ["no", "yes", "unsure"]}):
        assert not tr.read_labels(tmp_path / "labels.csv", **option).notes.checks


def test_what_cannot_be_told_is_said(tmp_path: Path) -> None:
    with pytest.raises(tr.InputError, match="with blanks between them"):
        read(tmp_path, BODY.replace(",", " "), "labels.txt")
    with pytest.raises(tr.InputError, match="is an object of objects"):
        read(tmp_path, '{"t1": {"ann": "yes"}, "t2": {"ann": "no"}}', "labels.json")


def test_totals_are_no_labelers(tmp_path: Path) -> None:
    rows = "".join(f"t{i},{i % 2},{i % 2},1,{2 * (i % 2) + 1}\n" for i in range(12))
    assert read(tmp_path, "item,ann,bob,cleo,Total\n" + rows).labelers == ("ann", "bob", "cleo")
