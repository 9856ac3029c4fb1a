"""Workbooks of Excel, and logs of Inspect that are packed with Zstandard."""

from __future__ import annotations

import datetime
import io
import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter
import zstandard

import truthing as tr
from truthing.tables import inspect, unpack

LONG = [["item", "worker", "label"], ["007", "ann", "spam"], ["8", "bob", "ham"]]


def workbook(path: Path, **sheets: list[list[Any]]) -> Path:
    with xlsxwriter.Workbook(path) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for number, row in enumerate(rows):
                for column, value in enumerate(row):
                    if isinstance(value, datetime.date):
                        sheet.write_datetime(number, column, value)  # type: ignore[arg-type]
                    elif value is not None:
                        sheet.write(number, column, value)
    return path


def test_a_workbook_means_what_its_csv_would_mean(tmp_path: Path) -> None:
    labels = tr.read_labels(workbook(tmp_path / "labels.xlsx", Labels=LONG))
    assert (labels.items, labels.labelers, labels.classes) == (
        ("007", "8"),
        ("ann", "bob"),
        ("ham", "spam"),
    )
    titled = [["Export of 3 May"], [], *LONG, [], ["9", None, "ham"]]
    with pytest.raises(tr.InputError, match=r"labels\.xlsx row 7: a label without a labeler"):
        tr.read_labels(workbook(tmp_path / "labels.xlsx", Labels=titled))


def test_types_of_a_workbook(tmp_path: Path) -> None:
    rows = [
        ["item", "prediction", "score", "when"],
        [1, True, 1e-20, datetime.datetime(2026, 5, 3)],
        [2, False, 1 / 3, None],
        [3, True, 2e-20, None],
        [4, False, 1, None],
    ]
    found = tr.read_predictions(workbook(tmp_path / "p.xlsx", Sheet1=rows))
    assert found.items == (1, 2, 3, 4)
    assert found.classes == (False, True)
    assert found.scores is not None
    assert found.scores.ravel()[:3] == pytest.approx([1e-20, 1 / 3, 2e-20], rel=1e-12)
    assert found.scores.ravel()[0] < found.scores.ravel()[2]


def test_sheets_are_asked_about(tmp_path: Path) -> None:
    path = workbook(tmp_path / "labels.xlsx", Labels=LONG, Notes=[["nothing"]])
    with pytest.raises(tr.InputError, match=r"2 sheets \(Labels, Notes\).*question='Labels'"):
        tr.read_labels(path)
    assert tr.read_labels(path, question="Labels").n_labels == 2
    with pytest.raises(tr.InputError, match=r"no sheet 'Label'. Did you mean 'Labels'"):
        tr.read_labels(path, question="Label")
    with pytest.raises(tr.InputError, match="is empty"):
        tr.read_labels(workbook(tmp_path / "empty.xlsx", Sheet1=[]))


def test_a_damaged_workbook_is_named(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("xl/workbook.xml", "<x/>")
    path = tmp_path / "labels.xlsx"
    path.write_bytes(buffer.getvalue())
    with pytest.raises(tr.InputError, match="damaged Excel file"):
        tr.read_labels(path)


def packed_log(path: Path, samples: list[dict[str, Any]], spoil: bool = False) -> Path:
    """A zip whose members are packed by method 93, which zipfile of Python 3.13 cannot write."""
    members = {"header.json": b"{}"}
    for sample in samples:
        members[f"samples/{sample['id']}_epoch_1.json"] = json.dumps(sample).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, plain in members.items():
            stuff = zstandard.ZstdCompressor().compress(plain)
            archive.writestr(name, stuff[:-2] + b"\0\0" if spoil else stuff)
    data = bytearray(buffer.getvalue())
    for mark, at in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        place = -1
        for plain in members.values():
            place = data.index(mark, place + 1)
            data[place + at : place + at + 2] = (93).to_bytes(2, "little")
            data[place + at + 6 : place + at + 10] = zlib.crc32(plain).to_bytes(4, "little")
            data[place + at + 14 : place + at + 18] = len(plain).to_bytes(4, "little")
    path.write_bytes(bytes(data))
    return path


def test_members_packed_with_zstandard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    samples = [{"id": i, "epoch": 1, "scores": {"judge": {"value": "CI"[i % 2]}}} for i in range(4)]
    path = packed_log(tmp_path / "log.eval", samples)
    reading = inspect(path)
    assert reading.table.kind == "Inspect log, 1 scorer"
    assert reading.labels.classes == ("C", "I")
    assert reading.labels.label.tolist() == [0, 1, 0, 1]
    with pytest.raises(tr.InputError, match="damaged or cut short"):
        inspect(packed_log(tmp_path / "spoilt.eval", samples, spoil=True))
    monkeypatch.setattr(unpack, "_zstd", lambda: None)
    with pytest.raises(tr.InputError, match=r"truthing\[inspect\]"):
        inspect(path)


def test_what_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = {"id": 1, "epoch": 1, "scores": {}, "text": "a" * 100_000}
    monkeypatch.setattr(unpack, "SMALL", 1_000)
    monkeypatch.setattr(unpack, "TIMES", 1)
    with pytest.raises(tr.InputError, match="times its size"):
        inspect(packed_log(tmp_path / "log.eval", [sample]))
