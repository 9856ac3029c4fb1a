"""Damaged files of every format end in a sentence, never in a traceback; small ones stay small."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import truthing as tr
from truthing.errors import TruthingError
from truthing.tables.asked import Asked
from truthing.tables.read import read_as
from truthing.tables.source import from_bytes

INPUTS = 2000


def bytes_of(write: Any) -> bytes:
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


def seeds() -> dict[str, bytes]:
    """A small valid file of each format."""
    rows = [(f"t{i}", w, "spam" if i % 3 else "ham") for i in range(12) for w in ("ann", "bob")]
    long = "item,labeler,label\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows)
    frame = pl.DataFrame(rows, schema=["item", "labeler", "label"], orient="row")
    studio = [
        {"id": i, "annotations": [{"completed_by": w, "result": [{"from_name": "q", "value": {"choices": [c]}}]}], "predictions": []}
        for i, (_, w, c) in enumerate(rows)
    ]  # fmt: skip
    log = {"eval": {}, "samples": [{"id": i, "epoch": 1, "scores": {"s": {"value": "C"}, "r": {"value": 0}}} for i in range(9)]}  # fmt: skip
    foo = {"results": {"results": [{"testIdx": i, "promptIdx": 0, "gradingResult": {"componentResults": [{"pass": True, "assertion": {"type": "llm-rubric"}}]}} for i in range(9)]}}  # fmt: skip
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        for i, sample in enumerate(log["samples"]):
            archive.writestr(f"samples/{i}_epoch_1.json", json.dumps(sample))
    lines = "\n".join(json.dumps({"item": a, "labeler": b, "label": c}) for a, b, c in rows)
    langfuse = "id,trace_id,observation_id,name,value,data_type,string_value,source\n" + "".join(
        f"s{n},{a},,{b},0,CATEGORICAL,{c},EVAL\n" for n, (a, b, c) in enumerate(rows)
    )
    images = "".join(f'<image id="{i}" name="{a}"><tag label="{c}"/></image>' for i, (a, _, c) in enumerate(rows))  # fmt: skip
    jobs = [{"source-ref": f"s3://{i}", "job": 0, "job-metadata": {"class-name": "ab"[i % 2], "human-annotated": "yes"}} for i in range(9)]  # fmt: skip
    return {
        "long": long.encode(),
        "quoted": frame.with_columns(pl.lit('a "b",\nc').alias("text")).write_csv().encode(),
        "wide": ("item,a,b\n" + "1,x,y\n2,y,y\n" * 1 + "3,x,x\n").encode(),
        "counts": b"item,count_a,count_b\n1,3,0\n2,1,2\n",
        "grouped": b'pattern,prediction,count\n"0|1|-",0,3\n"1|1|1",1,2\n',
        "scores": b"item;prediction;score\n1;x;0,5\n2;y;0,75\n",
        "utf-16": long.encode("utf-16"),
        "gzip": gzip.compress(long.encode(), mtime=0),
        "lines": lines.encode(),
        "list": json.dumps([dict(zip(("item", "labeler", "label"), r)) for r in rows]).encode(),
        "studio": json.dumps(studio).encode(),
        "cvat": f"<annotations>{images}</annotations>".encode(),
        "manifest": "\n".join(map(json.dumps, jobs)).encode(),
        "excel": bytes_of(frame.write_excel),
        "inspect": json.dumps(log).encode(),
        "eval": zipped.getvalue(),
        "promptfoo": json.dumps(foo).encode(),
        "langfuse": langfuse.encode(),
        "parquet": bytes_of(frame.write_parquet),
        "npy": bytes_of(lambda b: np.save(b, np.array([[0, 1], [1, 1], [2, 0]]))),
        "npy of text": bytes_of(lambda b: np.save(b, np.array(["x", "y", "x"]))),
    }


TOKENS = [
    *(b"\r", b"\n", b'"', b",", b";", b"\x00", b"\xff", b"\xed\xa0\x80", b"inf", b"1e300", b"nan"),
    *(
        b"-1",
        b"99999999999999999999",
        b"null",
        b"{",
        b"}",
        b"[",
        b"]",
        b"[[[[",
        b'"\\ud800"',
        b"None",
    ),
    *(b"x" * 500, b"1" * 5000, b"\xe2\x80\x8b", b"label", b"item", b"=", b"PK\x03\x04", b"PAR1"),
]


def mutated(data: bytes, rng: np.random.Generator) -> bytes:
    for _ in range(int(rng.integers(1, 4))):
        at, size = int(rng.integers(len(data) + 1)), int(rng.integers(1, 40))
        kind = rng.integers(6)
        if kind == 0:
            data = data[:at]
        elif kind == 1:
            data = data[:at] + data[at + size :]
        elif kind == 2:
            data = data[:at] + TOKENS[int(rng.integers(len(TOKENS)))] + data[at:]
        elif kind == 3:
            data = data[:at] + bytes(rng.integers(0, 256, 1, dtype=np.uint8)) + data[at + 1 :]
        elif kind == 4:
            data = data[:at] + data[at : at + size] + data[at:]
        else:
            token = TOKENS[int(rng.integers(len(TOKENS)))]
            data = data[:at] + token + data[at + len(token) :]
    return data


def everything(data: bytes) -> str:
    """Read it in every way; the reason where it is refused."""
    try:
        reading = read_as(from_bytes(data, "file"), Asked())
    except TruthingError as problem:
        return str(problem)
    said = ""
    for part in ("labels", "predictions", "gold"):
        try:
            str(getattr(reading, part))
        except TruthingError as problem:
            said += str(problem)
    return said


def test_mutated_files_end_in_a_sentence() -> None:
    files = seeds()
    refused = 0
    for n in range(INPUTS):
        name = list(files)[n % len(files)]
        data = mutated(files[name], np.random.default_rng([n, zlib.crc32(name.encode())]))
        said = everything(data)
        refused += bool(said)
        assert "\n" not in said.strip(), (name, n)
    assert 0 < refused < INPUTS


def by_csv(text: str, separator: str) -> list[list[str]]:
    """Rows as Python's own reader has them, without blank lines and columns of nothing."""
    head, *body = csv.reader(io.StringIO(text.lstrip("\r\n"), newline=""), delimiter=separator)
    body = [row for row in body if any(row)]
    keep = [
        k for k, h in enumerate(head) if h.strip() or any(row[k : k + 1] != [""] for row in body)
    ]
    return [[row[k] for k in keep] for row in body]


@pytest.mark.parametrize("name", ["long", "quoted", "wide", "scores"])
def test_mutated_tables_are_what_another_reader_finds(name: str) -> None:
    accepted = 0
    for n in range(120):
        data = mutated(seeds()[name], np.random.default_rng([n, zlib.crc32(name.encode())]))
        try:
            table = from_bytes(data, "file")
        except TruthingError:
            continue
        if table.kind in ("CSV", "TSV", "';'-separated", "'|'-separated"):
            separator = {"CSV": ",", "TSV": "\t"}.get(table.kind, table.kind[1])
            cells = [["" if c is None else c for c in row] for row in table.frame.iter_rows()]
            western = any("Windows-1252" in note for note in table.notes.said)
            text = data.decode("cp1252" if western else "utf-8-sig")
            assert cells == by_csv(text, separator), n
            accepted += 1
    assert accepted > 10


@pytest.mark.parametrize("name", seeds())
def test_the_seeds_are_valid(name: str) -> None:
    reading = read_as(from_bytes(seeds()[name], name), Asked())
    assert reading.table.frame.height > 0


DIRECTED: dict[str, tuple[bytes, str]] = {
    "lone carriage returns": (b"item,labeler,label\r1,a,x\n2,b,y\n", "carriage return"),
    "newline in the header": (b'item,"lab\neler",label\n1,a,x\n2,b,y\n', ""),
    "cut in a quoted cell": (b'item,labeler,label,text\n1,a,x,"ok"\n2,b,y,"cut', "never closes"),
    "infinite count": (b"item,count_a,count_b\n1,inf,2\n", "Counts are whole"),
    "enormous count": (b"item,count_a,count_b\n1,1e300,2\n", "Counts are whole"),
    "deep JSON": (b"[" * 100_000, "nested too deeply"),
    "a number of 10,000 digits": (b'[{"item": ' + b"9" * 10_000 + b', "label": "x"}]', ""),
    "lone surrogate": (b'[{"item": "\\ud800", "label": "x"}]', "lone surrogate"),
    "100,000 columns": (b",".join(b"c%d" % k for k in range(100_000)) + b"\n" + b"1," * 99_999 + b"1\n", "columns, and at most"),
    "a bomb": (gzip.compress(b"item,labeler,label\n" + b"1,a,x\n" * 15_000_000, 9), "when unpacked"),
    "old Excel": (b"\xd0\xcf\x11\xe0" + b"\x00" * 600, "old Excel"),
    "a zip": (bytes_of(lambda b: zipfile.ZipFile(b, "w").writestr("a.txt", "x")), ""),
}  # fmt: skip


@pytest.mark.parametrize("name", DIRECTED)
def test_directed_files(name: str) -> None:
    data, said = DIRECTED[name]
    assert said in everything(data)


def test_long_cells_are_read(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text(f'item,labeler,label,text\n1,a,x,"{"y" * 200_000}"\n1,b,y,\n')
    assert tr.read_labels(path).n_labels == 2
