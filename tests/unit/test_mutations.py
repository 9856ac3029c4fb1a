"""Damaged files of every format end in a sentence, never in a traceback; small ones stay small."""

from __future__ import annotations

import gzip
import importlib.util
import re
import subprocess
import sys
import zipfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import truthing as tr
from truthing.tables import fragile
from truthing.tables.asked import Asked
from truthing.tables.read import read_as
from truthing.tables.source import from_bytes

STUDY = Path(__file__).resolve().parents[2] / "studies" / "fuzz.py"


def _study() -> Any:
    spec = importlib.util.spec_from_file_location("fuzz", STUDY)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


fuzz = _study()
INPUTS = 2000


def test_mutated_files_end_in_a_sentence() -> None:
    files = fuzz.seeds()
    found = Counter(fuzz.tried(fuzz.damaged(n, files)[1]) for n in range(INPUTS))
    assert {word for word, _ in found} == {"read", "refused"}, found


@pytest.mark.parametrize("n", [6028, 13824, 18925, 37440, 40954, 53010, 170492])
def test_inputs_that_were_misread_once(n: int) -> None:
    word, why = fuzz.tried(fuzz.damaged(n, fuzz.seeds())[1])
    assert word in {"read", "refused"}, why


@pytest.mark.parametrize(
    "row", ['t0,bob,"a ""b,ham,"a ""', '"\n"0|1|-",1|1",1', 't0,bob,"ham"x', 't0,"bob,ham']
)
def test_quotes_that_mean_two_things_are_refused(row: str) -> None:
    with pytest.raises(tr.InputError):
        from_bytes(f"item,labeler,label\n{row}\n".encode(), "file")


def test_quotes_in_the_middle_of_a_cell_are_letters() -> None:
    table = from_bytes(b'item,labeler,label\n5" disk,ann,a\n3" disk,"b ""c""",b\n', "file")
    assert table.frame.rows() == [('5" disk', "ann", "a"), ('3" disk', 'b "c"', "b")]


def test_damaged_parquet_is_one_line_and_nothing_on_standard_error(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Input 8082 makes polars panic."""
    word, why = fuzz.tried(fuzz.damaged(8082, fuzz.seeds())[1])
    assert word in {"read", "refused"}, why
    assert capfd.readouterr().err == ""


@pytest.fixture
def deadly(tmp_path: Path) -> Path:
    """Input 120453: polars wants two exabytes for it, and ends the process."""
    path = tmp_path / "labels.parquet"
    path.write_bytes(fuzz.damaged(120453, fuzz.seeds())[1])
    return path


@pytest.mark.parametrize("more", [(), ("--engine=memory",), ("--engine=stream",)])
def test_a_file_that_ends_the_process_does_it_in_one_line(
    deadly: Path, more: tuple[str, ...]
) -> None:
    run = "from truthing.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", run, "rate", str(deadly), *more], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert re.fullmatch(
        r"truthing: \S+ is not a readable Parquet file \(.*\): write it again\.\n", done.stderr
    )


def test_a_server_tries_such_a_file_in_another_process(
    deadly: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fragile, "_apart", True)
    for _ in range(2):
        with pytest.raises(tr.InputError, match="not a readable Parquet file"):
            from_bytes(deadly.read_bytes(), "labels.parquet")
    good = fuzz.seeds()["parquet"]
    assert from_bytes(good, "good.parquet").frame.height == 24
    assert from_bytes(good, "good.parquet").frame.height == 24


@pytest.mark.parametrize("name", ["long", "quoted", "wide", "scores", "utf-16", "parquet"])
def test_mutated_tables_are_compared_with_another_reader(name: str, monkeypatch: Any) -> None:
    """So that an input counts as read only where both readers agree."""
    data = fuzz.seeds()[name]
    assert fuzz.tried(data) == ("read", "")
    table = from_bytes(data, "file")
    assert fuzz.misread(data, table) == ""
    shorter = replace(table, frame=table.frame.head(1))
    assert "another reader finds" in fuzz.misread(data, shorter)
    other = replace(table, frame=table.frame.reverse())
    assert "another reader finds" in fuzz.misread(data, other)


@pytest.mark.parametrize("name", fuzz.seeds())
def test_the_seeds_are_valid(name: str) -> None:
    reading = read_as(from_bytes(fuzz.seeds()[name], name), Asked())
    assert reading.table.frame.height > 0


DIRECTED: dict[str, tuple[bytes, str]] = {
    "lone carriage returns": (b"item,labeler,label\r1,a,x\n2,b,y\n", "carriage return"),
    "lone carriage return beside quotes": (
        b'item,labeler,label\n1,a,"x"\n\r2,b,y\n',
        "line 3 holds a carriage return",
    ),
    "lone carriage return in quotes": (
        b'item,labeler,label\n1,a,"x\ry"\n2,b,"x\ry"\n2,a,"y"\n',
        "",
    ),
    "bytes behind gzip": (
        gzip.compress(b"item,labeler,label\n1,a,x\n") + b"lost",
        "damaged or cut short",
    ),
    "two gzip files in one": (
        gzip.compress(b"item,labeler,label\n1,a,x\n") + gzip.compress(b"1,b,y\n"),
        "",
    ),
    "newline in the header": (b'item,"lab\neler",label\n1,a,x\n2,b,y\n', ""),
    "cut in a quoted cell": (b'item,labeler,label,text\n1,a,x,"ok"\n2,b,y,"cut', "never closes"),
    "infinite count": (b"item,count_a,count_b\n1,inf,2\n", "Counts are whole"),
    "enormous count": (b"item,count_a,count_b\n1,1e300,2\n", "Counts are whole"),
    "deep JSON": (b"[" * 100_000, "nested too deeply"),
    "a number of 10,000 digits": (b'[{"item": ' + b"9" * 10_000 + b', "label": "x"}]', ""),
    "lone surrogate": (b'[{"item": "\\ud800", "label": "x"}]', "lone surrogate"),
    "100,000 columns": (
        b",".join(b"c%d" % k for k in range(100_000)) + b"\n" + b"1," * 99_999 + b"1\n",
        "columns, and at most",
    ),
    "a bomb": (
        gzip.compress(b"item,labeler,label\n" + b"1,a,x\n" * 15_000_000, 9),
        "when unpacked",
    ),
    "old Excel": (b"\xd0\xcf\x11\xe0" + b"\x00" * 600, "old Excel"),
    "a zip": (fuzz.bytes_of(lambda b: zipfile.ZipFile(b, "w").writestr("a.txt", "x")), ""),
}


@pytest.mark.parametrize("name", DIRECTED)
def test_directed_files(name: str) -> None:
    data, said = DIRECTED[name]
    assert said in fuzz.everything(data)[1]


def test_long_cells_are_read(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text(f'item,labeler,label,text\n1,a,x,"{"y" * 200_000}"\n1,b,y,\n')
    assert tr.read_labels(path).n_labels == 2


@pytest.mark.parametrize("first", ["1,bob,a", '5" disk,bob,a'])
def test_lines_are_counted_behind_blank_ones_and_odd_quotes(first: str, tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(f"item,labeler,label\n{first}\n\n2,ann,b\n2,ann,a\n")
    with pytest.raises(tr.InputError, match="line 5: "):
        tr.prevalence(path)
