"""Mess in files: separators, encodings, line ends, cut ends, and what tools write."""

from __future__ import annotations

import gzip
import io
import json
from dataclasses import replace
from typing import Any

import polars as pl

from messy.world import Mess, Rng, World, case, guesses, long, table, wide, world

HAM = ["ham", "spam"]


def _labels(mess: Mess, content: bytes, name: str = "labels.csv") -> Mess:
    files = {k: v for k, v in mess.files.items() if k != mess.labels}
    return replace(mess, files={**files, name: content}, labels=name)


def semicolons_and_decimal_commas(rng: Rng) -> Mess:
    w = world(rng)
    rows = [[i, p, str(w.score[i]).replace(".", ",")] for i, p in guesses(w, HAM)]
    mess = case(w, HAM, HAM)
    mess.files["labels.csv"] = table(["item", "labeler", "label"], long(w, HAM), ";", "\r\n")
    mess.files["predictions.csv"] = table(["item", "prediction", "score"], rows, ";", "\r\n")
    return mess


def a_byte_order_mark(rng: Rng) -> Mess:
    mess = case(world(rng), HAM, HAM)
    return replace(mess, files={k: b"\xef\xbb\xbf" + v for k, v in mess.files.items()})


def utf_16(rng: Rng) -> Mess:
    mess = case(world(rng), HAM, HAM)
    return _labels(mess, mess.files["labels.csv"].decode().replace(",", "\t").encode("utf-16"))


def latin_1(rng: Rng) -> Mess:
    names = ["thé", "café"]
    mess = case(world(rng), names, names)
    return replace(mess, files={k: v.decode().encode("latin1") for k, v in mess.files.items()})


def carriage_returns_alone(rng: Rng) -> Mess:
    mess = case(world(rng), HAM, HAM)
    return _labels(mess, mess.files["labels.csv"].replace(b"\n", b"\r"))


def text_over_several_lines(rng: Rng) -> Mess:
    w = world(rng)
    rows = [[f'mail {n},\nsaid "hello"\n', *row] for n, row in enumerate(long(w, HAM))]
    mess = case(w, HAM, HAM)
    mess.files["labels.csv"] = table(["text", "item", "labeler", "label"], rows)
    return mess


def cut_inside_a_quoted_cell(rng: Rng) -> Mess:
    mess = text_over_several_lines(rng)
    content = mess.files["labels.csv"]
    return replace(_labels(mess, content[: content.rindex(b'said ""hello') + 4]), meaning=None)


def separators_at_the_end(rng: Rng) -> Mess:
    mess = case(world(rng), HAM, HAM)
    return _labels(mess, mess.files["labels.csv"].replace(b"\n", b",\n"))


def blank_lines(rng: Rng) -> Mess:
    mess = case(world(rng), HAM, HAM)
    lines = mess.files["labels.csv"].split(b"\n")
    lines.insert(int(rng.integers(2, 20)), b"")
    return _labels(mess, b"\n".join([*lines, b"", b""]))


def a_title_above(rng: Rng) -> Mess:
    mess = case(world(rng), HAM, HAM)
    return _labels(mess, b"Export of 3 May,,\n,,\n" + mess.files["labels.csv"])


def no_header(rng: Rng) -> Mess:
    mess = case(world(rng), HAM, HAM)
    return _labels(mess, mess.files["labels.csv"].partition(b"\n")[2])


def compressed(rng: Rng) -> Mess:
    mess = case(world(rng), HAM, HAM)
    return _labels(mess, gzip.compress(mess.files["labels.csv"]), "labels.csv.gz")


def bars(rng: Rng) -> Mess:
    mess = case(world(rng), HAM, HAM)
    return _labels(mess, mess.files["labels.csv"].replace(b",", b"|"))


def blanks_after_commas(rng: Rng) -> Mess:
    mess = case(world(rng), HAM, HAM)
    return replace(mess, files={k: v.replace(b",", b", ") for k, v in mess.files.items()})


def a_total_below(rng: Rng) -> Mess:
    w = world(rng)
    rows = [*wide(w, HAM), ["Total", *[""] * len(w.labelers)]]
    files = {
        "labels.csv": table(["item", *w.labelers], rows),
        "predictions.csv": table(["item", "prediction"], guesses(w, HAM)),
    }
    return Mess(files, predictions="predictions.csv", meaning=w)


def json_lines(rng: Rng) -> Mess:
    w = world(rng)
    lines = [
        json.dumps({"item": i, "worker": t, "label": bool(int(k)), "meta": {"n": 1}})
        for i, t, k in long(w, "01")
    ]
    mess = case(w, "01", "01")
    return _labels(mess, "\n".join(lines).encode(), "labels.jsonl")


def json_list(rng: Rng) -> Mess:
    w = world(rng)
    rows = [
        {"item": i, "worker": t, "label": int(k) if rng.random() < 0.5 else k}
        for i, t, k in long(w, "01")
    ]
    return _labels(case(w, "01", "01"), json.dumps(rows).encode(), "labels.json")


def parquet_with_types(rng: Rng) -> Mess:
    w = world(rng)
    frame = pl.DataFrame(long(w, HAM), schema=["item", "labeler", "label"], orient="row")
    buffer = io.BytesIO()
    frame.with_columns(pl.col("label").cast(pl.Categorical)).write_parquet(buffer)
    return _labels(case(w, HAM, HAM), buffer.getvalue(), "labels.parquet")


def excel(rng: Rng) -> Mess:
    mess = case(world(rng), HAM, HAM)
    return replace(
        _labels(mess, b"PK\x03\x04" + b"\x00" * 26 + b"xl/workbook.xml", "labels.xlsx"),
        meaning=None,
    )


def label_studio(rng: Rng) -> Mess:
    return _studio(rng, lambda k: [_choice("kind", [HAM[k]])])


def label_studio_two_questions(rng: Rng) -> Mess:
    made = _studio(rng, lambda k: [_choice("tone", ["calm"]), _choice("kind", [HAM[k]])])
    return replace(made, meaning=None)


def label_studio_several_choices(rng: Rng) -> Mess:
    made = _studio(rng, lambda k: [_choice("kind", [HAM[k], "urgent"] if k else [HAM[k]])])
    return replace(made, meaning=None)


def _choice(question: str, choices: list[str]) -> dict[str, Any]:
    return {
        "from_name": question,
        "to_name": "text",
        "type": "choices",
        "value": {"choices": choices},
    }


def _studio(rng: Rng, results: Any) -> Mess:
    w = world(rng, items=range(300, 350))
    tasks = []
    for i in w.items:
        given = [
            {
                "completed_by": {"email": t},
                "result": results(w.labels[i, t]),
                "was_cancelled": False,
            }
            for t in w.labelers
        ]
        given.append(
            {"completed_by": {"email": "lost"}, "result": results(1), "was_cancelled": True}
        )
        tasks.append(
            {"id": i, "data": {"text": f"mail {i}"}, "annotations": given, "predictions": []}
        )
    return _labels(case(w, HAM, HAM), json.dumps(tasks).encode(), "export.json")


def langfuse(rng: Rng) -> Mess:
    w = world(rng)
    rows = [
        [f"s{n}", "2024-05-01", i, "", t, "", "CATEGORICAL", c, "EVAL"]
        for n, (i, t, c) in enumerate(long(w, HAM))
    ]
    header = [
        "id",
        "timestamp",
        "trace_id",
        "observation_id",
        "name",
        "value",
        "data_type",
        "string_value",
        "source",
    ]
    return _labels(case(w, HAM, HAM), table(header, rows), "scores.csv")


def mechanical_turk(rng: Rng) -> Mess:
    w = world(rng)
    header = [
        "HITId",
        "Title",
        "Reward",
        "AssignmentId",
        "WorkerId",
        "AssignmentStatus",
        "Input.item",
        "Answer.label",
    ]
    rows = [
        [f"H{w.items.index(i)}", "Is it spam?", "$0.05", f"A{n}", t, "Approved", i, c]
        for n, (i, t, c) in enumerate(long(w, HAM))
    ]
    return _labels(replace(case(w, HAM, HAM), predictions=None), table(header, rows), "batch.csv")


def inspect_log(rng: Rng) -> Mess:
    w = world(rng, items=range(1, 51))
    samples = [
        {
            "id": i,
            "epoch": 1,
            "input": "?",
            "target": "x",
            "scores": {t: {"value": "IC"[w.labels[i, t]]} for t in w.labelers},
        }
        for i in w.items
    ]
    log = {
        "version": 2,
        "status": "success",
        "eval": {"task": "mail", "model": "m"},
        "samples": samples,
    }
    return _labels(
        replace(case(w, HAM, HAM), predictions=None), json.dumps(log).encode(), "log.json"
    )


def promptfoo(rng: Rng) -> Mess:
    w = world(rng, items=range(50))
    rows = []
    for i in w.items:
        parts = [
            {
                "pass": bool(w.labels[i, t]),
                "score": w.labels[i, t],
                "reason": "",
                "assertion": {"type": "llm-rubric", "metric": t},
            }
            for t in w.labelers
        ]
        rows.append(
            {
                "testIdx": i,
                "promptIdx": 0,
                "provider": {"id": "m"},
                "vars": {},
                "success": True,
                "gradingResult": {"pass": True, "componentResults": parts},
            }
        )
    whole = {"evalId": "e", "results": {"version": 3, "results": rows}}
    return _labels(
        replace(case(w, HAM, HAM), predictions=None), json.dumps(whole).encode(), "output.json"
    )


def deepeval(rng: Rng) -> Mess:
    w = world(rng)
    cases = [
        {
            "name": i,
            "input": "?",
            "metricsData": [
                {"name": t, "success": bool(w.labels[i, t]), "score": 0.5, "threshold": 0.5}
                for t in w.labelers
            ],
        }
        for i in w.items
    ]
    whole = {"testRunData": {"testCases": cases}}
    return _labels(
        replace(case(w, HAM, HAM), predictions=None), json.dumps(whole).encode(), "run.json"
    )


def lm_evaluation_harness(rng: Rng) -> Mess:
    w: World = world(rng, items=range(50))
    w.labelers = ["acc"]
    w.labels = {(i, "acc"): w.truth[i] for i in w.items}
    lines = [
        json.dumps(
            {
                "doc_id": i,
                "doc": {"q": "?"},
                "target": "A",
                "resps": [["A"]],
                "filtered_resps": ["A"],
                "filter": "none",
                "metrics": ["acc"],
                "acc": float(w.truth[i]),
            }
        )
        for i in w.items
    ]
    return _labels(
        replace(case(w, HAM, HAM), predictions=None),
        "\n".join(lines).encode(),
        "samples_mail.jsonl",
    )


KINDS = [
    semicolons_and_decimal_commas,
    a_byte_order_mark,
    utf_16,
    latin_1,
    carriage_returns_alone,
    text_over_several_lines,
    cut_inside_a_quoted_cell,
    separators_at_the_end,
    blank_lines,
    a_title_above,
    no_header,
    compressed,
    bars,
    blanks_after_commas,
    a_total_below,
    json_lines,
    json_list,
    parquet_with_types,
    excel,
    label_studio,
    label_studio_two_questions,
    label_studio_several_choices,
    langfuse,
    mechanical_turk,
    inspect_log,
    promptfoo,
    deepeval,
    lm_evaluation_harness,
]
