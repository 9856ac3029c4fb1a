"""Damaged files of every format: none may end in a traceback, hang, fill the memory, or be misread.

python studies/fuzz.py [inputs] [first]

Input n is file n % formats of `seeds()`, damaged with seed n: the tests take the first 2,000 of the
same inputs. Work is done in processes of their own, a batch at a time: one input may take 5 seconds
and a file under 1 MB may take 500 MB beyond what the libraries need. "ended": polars ended the
process on a damaged Parquet file, with one line and exit code 1. Tables that are accepted are
compared with an independent reader: Python's csv, json and pyarrow.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import multiprocessing
import resource
import signal
import sys
import traceback
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from truthing.errors import TruthingError
from truthing.tables.asked import Asked
from truthing.tables.read import read_as
from truthing.tables.source import from_bytes
from truthing.tables.table import Table

INPUTS, BATCH = 200_000, 5_000
SECONDS, MEGABYTES = 5, 500
SEPARATED = ("CSV", "TSV", "';'-separated", "'|'-separated")


def bytes_of(write: Any) -> bytes:
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


def seeds() -> dict[str, bytes]:
    """A small valid file of each format."""
    rows = [(f"t{i}", w, "spam" if i % 3 else "ham") for i in range(12) for w in ("ann", "bob")]
    long = "item,labeler,label\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows)
    frame = pl.DataFrame(rows, schema=["item", "labeler", "label"], orient="row")
    studio = []
    for i, (_, w, c) in enumerate(rows):
        result = [{"from_name": "q", "value": {"choices": [c]}}]
        said = [{"completed_by": w, "result": result}]
        studio.append({"id": i, "annotations": said, "predictions": []})
    scores = {"s": {"value": "C"}, "r": {"value": 0}}
    log = {"eval": {}, "samples": [{"id": i, "epoch": 1, "scores": scores} for i in range(9)]}
    found = {"componentResults": [{"pass": True, "assertion": {"type": "llm-rubric"}}]}
    tests = [{"testIdx": i, "promptIdx": 0, "gradingResult": found} for i in range(9)]
    foo = {"results": {"results": tests}}
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        for i, sample in enumerate(log["samples"]):
            archive.writestr(f"samples/{i}_epoch_1.json", json.dumps(sample))
    lines = "\n".join(json.dumps({"item": a, "labeler": b, "label": c}) for a, b, c in rows)
    langfuse = "id,trace_id,observation_id,name,value,data_type,string_value,source\n" + "".join(
        f"s{n},{a},,{b},0,CATEGORICAL,{c},EVAL\n" for n, (a, b, c) in enumerate(rows)
    )
    images = "".join(
        f'<image id="{i}" name="{a}"><tag label="{c}"/></image>' for i, (a, _, c) in enumerate(rows)
    )
    about = [{"class-name": "ab"[i % 2], "human-annotated": "yes"} for i in range(9)]
    jobs = [{"source-ref": f"s3://{i}", "job": 0, "job-metadata": about[i]} for i in range(9)]
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


def everything(data: bytes) -> tuple[int, str]:
    """Read it in every way: how many of labels, predictions and gold come of it, and why the others
    do not."""
    try:
        reading = read_as(from_bytes(data, "file"), Asked())
    except TruthingError as problem:
        return 0, str(problem)
    found, said = 0, ""
    for part in ("labels", "predictions", "gold"):
        try:
            str(getattr(reading, part))
            found += 1
        except TruthingError as problem:
            said += str(problem)
    return found, said


def damaged(n: int, files: dict[str, bytes]) -> tuple[str, bytes]:
    """The name of the format and the bytes of input ``n``."""
    name = list(files)[n % len(files)]
    return name, mutated(files[name], np.random.default_rng([n, zlib.crc32(name.encode())]))


def by_csv(text: str, separator: str) -> list[list[str]]:
    """Rows as Python's own reader has them, without blank lines and columns of nothing."""
    head, *body = csv.reader(io.StringIO(text.lstrip("\r\n"), newline=""), delimiter=separator)
    body = [row for row in body if any(cell.strip() for cell in row)]
    keep = [
        k for k, h in enumerate(head) if h.strip() or any(row[k : k + 1] != [""] for row in body)
    ]
    return [[row[k] for k in keep if k < len(row)] for row in body]


def misread(data: bytes, table: Table) -> str:
    """What another reader finds otherwise in a table that was accepted, or nothing."""
    if table.kind in SEPARATED:
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        separator = {"CSV": ",", "TSV": "\t"}.get(table.kind, table.kind[1])
        said = " ".join(table.notes.remarks)
        if "what stands above" in said:  # titles are left out, with a note: csv keeps them
            return ""
        code = "cp1252" if "Windows-1252" in said else "utf-8-sig"
        code = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else code
        for start, order in ((1, "utf-16-le"), (0, "utf-16-be")):  # without a mark
            zeros = data[start:200:2].count(0)
            code = order if code == "utf-8-sig" and zeros > 0.25 * len(data[:200]) else code
        theirs = by_csv(data.decode(code), separator)
        return _differ([["" if c is None else c for c in row] for row in rows_of(table)], theirs)
    if table.kind == "Parquet":
        import pyarrow.parquet

        try:
            read = pyarrow.parquet.read_table(io.BytesIO(data)).to_pydict()
        except (OSError, pyarrow.ArrowException):  # no second opinion on damage that it refuses
            return ""
        theirs = [
            [c.decode() if isinstance(c, bytes) else c for c in r] for r in zip(*read.values())
        ]
        return _differ([list(row) for row in rows_of(table)], theirs)
    if table.kind.startswith("numpy"):
        read = np.load(io.BytesIO(data), allow_pickle=False)
        return "" if read.shape[0] == table.frame.height else f"shape {read.shape}"
    return ""


def rows_of(table: Table) -> list[tuple[Any, ...]]:
    return list(table.frame.iter_rows())


def _differ(ours: list[list[Any]], theirs: list[list[Any]]) -> str:
    if ours == theirs:
        return ""
    if len(ours) != len(theirs):
        return f"{len(ours)} rows, another reader finds {len(theirs)}"
    return next(f"{a!r}, another reader finds {b!r}" for a, b in zip(ours, theirs) if a != b)


class TooLongError(BaseException):
    """An input took more than its seconds."""


def _alarm(*_: Any) -> None:
    raise TooLongError


def tried(data: bytes) -> tuple[str, str]:
    """What comes of one input: read, refused, or one of the four faults; and words on it."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        found, said = everything(data)
        try:
            wrong = misread(data, from_bytes(data, "file"))
        except TruthingError:
            wrong = ""
    except TooLongError:
        return "HANG", f"over {SECONDS} s"
    except BaseException:  # what this study is looking for, panics of Rust among them
        return "TRACEBACK", traceback.format_exc().strip()
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    if grown > MEGABYTES and len(data) < 1_000_000:
        return "MEMORY", f"{grown:.0f} MB for {len(data):,} bytes"
    if wrong:
        return "MISREAD", wrong
    if "\n" in said.strip():
        return "NOT ONE LINE", said
    return ("read" if found else "refused"), ""


def batch(first: int, last: int, telling: Any) -> None:
    """Tell the outcome of each input from first to last: its format, one word, and the fault."""
    signal.signal(signal.SIGPROF, _alarm)
    files = seeds()
    for n in range(first, last):
        name, data = damaged(n, files)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)  # processor time: others may be busy
        word, said = tried(data)
        signal.setitimer(signal.ITIMER_PROF, 0)
        telling.send((name, word, said))


def outcomes_of(first: int, last: int) -> Iterator[tuple[int, str, str, str]]:
    """Number, format, word and fault of each input. Where a library ends the process, it must have
    said one line and code 1; the next process goes on behind that input."""
    spawn = multiprocessing.get_context("spawn")
    while first < last:
        heard, telling = spawn.Pipe(duplex=False)
        work = spawn.Process(target=batch, args=(first, min(first + BATCH, last), telling))
        work.start()
        telling.close()
        stop = min(first + BATCH, last)
        while first < stop:
            try:
                yield first, *heard.recv()
            except EOFError:  # it ended
                work.join()
                name = list(seeds())[first % len(seeds())]
                word = "ended" if work.exitcode == 1 else "CRASH"
                yield first, name, word, f"exit code {work.exitcode}"
                first += 1
                break
            first += 1
        work.join()


def main(inputs: int = INPUTS, first: int = 0) -> int:
    outcomes: Counter[tuple[str, str]] = Counter()
    faults = 0
    for n, name, word, said in outcomes_of(first, first + inputs):
        outcomes[name, word] += 1
        if word.isupper():
            faults += 1
            print(f"input {n} ({name}): {word}: {said}", flush=True)
        if (n + 1 - first) % BATCH == 0:
            print(f"{n + 1 - first:>9,} inputs, {faults} faults", flush=True)
    show(outcomes)
    return 1 if faults else 0


def show(outcomes: Counter[tuple[str, str]]) -> None:
    words = sorted({word for _, word in outcomes}, key=lambda w: (w.isupper(), w))
    print(f"{'format':<14}" + "".join(f"{word:>12}" for word in words))
    for name in dict.fromkeys(name for name, _ in outcomes):
        print(f"{name:<14}" + "".join(f"{outcomes[name, word]:>12,}" for word in words))
    total = Counter(word for (_, word), count in outcomes.items() for _ in range(count))
    print(f"{'all':<14}" + "".join(f"{total[word]:>12,}" for word in words))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
