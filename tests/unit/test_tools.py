"""What evaluation and annotation tools write, with the traps of each."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

import truthing as tr
from truthing.tables import Reading, inspect


def saved(folder: Path, content: Any, name: str = "export.json") -> Path:
    path = folder / name
    if isinstance(content, list) and name.endswith(".jsonl"):
        path.write_text("\n".join(json.dumps(line) for line in content))
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def said(reading: Reading) -> dict[tuple[Any, Any], Any]:
    labels = reading.labels
    return {
        (labels.items[i], labels.labelers[t]): labels.classes[c]
        for i, t, c in zip(labels.item, labels.labeler, labels.label)
    }


def inspect_samples() -> list[dict[str, Any]]:
    edit = [
        {"value": "I", "provenance": None},
        {"value": "C", "provenance": {"author": "jo", "timestamp": "2026-01-01"}},
    ]
    scores = {
        "a": {"model": {"value": "C", "history": []}, "match": {"value": 1.0}},
        "b": {"model": {"value": "C", "history": edit}, "match": {"value": 0}},
        "c": {
            "model": {"value": float("nan")},
            "match": {"value": True},
            "parts": {"value": {"x": 1}},
        },
    }
    return [{"id": item, "epoch": 1, "scores": found} for item, found in scores.items()]


def test_inspect_json_and_eval(tmp_path: Path) -> None:
    samples = inspect_samples()
    log = {"version": 2, "eval": {"task": "t"}, "samples": samples}
    packed = tmp_path / "log.eval"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        for sample in samples:
            archive.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
    for path in (saved(tmp_path, log), packed):
        reading = inspect(path)
        assert reading.table.kind.startswith("Inspect log, 2 scorers, 1 human label")
        assert said(reading) == {
            ("a", "model"): "C", ("a", "match"): "C", ("b", "model"): "I", ("b", "match"): "I",
            ("c", "match"): "C",
        }  # fmt: skip
        assert reading.gold.as_dict() == {"b": "C"}
        assert any("'parts'" in note for note in reading.labels.notes.remarks)
    assert said(inspect(packed, question="match")) == {
        ("a", "match"): "C", ("b", "match"): "I", ("c", "match"): "C",
    }  # fmt: skip
    with pytest.raises(tr.InputError, match="no question 'no'"):
        inspect(packed, question="no")


def test_inspect_epochs_are_items_of_their_own(tmp_path: Path) -> None:
    samples = [{"id": 1, "epoch": e, "scores": {"m": {"value": "CI"[e - 1]}}} for e in (1, 2)]
    reading = inspect(saved(tmp_path, {"eval": {}, "samples": samples}))
    assert said(reading) == {("1 (epoch 1)", "m"): "C", ("1 (epoch 2)", "m"): "I"}


def component(kind: str, passed: bool, **more: Any) -> dict[str, Any]:
    return {"pass": passed, "score": 1, "reason": "", "assertion": {"type": kind}, **more}


def test_promptfoo(tmp_path: Path) -> None:
    rows = [
        {
            "testIdx": i, "promptIdx": 0, "provider": {"id": "m"}, "vars": {},
            "gradingResult": {"componentResults": [
                component("llm-rubric", i % 2 == 0),
                component("factuality", True, metadata={"graderError": True} if i == 0 else {}),
                component("contains", False),
                *([component("human", True)] if i == 1 else []),
            ]},
        }
        for i in range(3)
    ]  # fmt: skip
    whole = saved(tmp_path, {"results": {"version": 3, "results": rows}})
    lines = saved(tmp_path, rows, "results.jsonl")
    for path in (whole, lines):
        reading = inspect(path)
        assert said(reading) == {
            (0, "llm-rubric"): True, (1, "llm-rubric"): False, (2, "llm-rubric"): True,
            (1, "factuality"): True, (2, "factuality"): True,
        }  # fmt: skip
        assert reading.gold.as_dict() == {1: True}
        assert any("checks by rule" in note for note in reading.labels.notes.remarks)


def test_lm_evaluation_harness(tmp_path: Path) -> None:
    rows = [
        {"doc_id": i, "doc": {"q": 1}, "target": "A", "resps": [["A"]], "filtered_resps": ["A"],
         "filter": f, "metrics": ["exact_match", "bleu"], "exact_match": float(i % 2), "bleu": 0.37}
        for i in range(4) for f in ("strict", "flexible")
    ]  # fmt: skip
    reading = inspect(saved(tmp_path, rows, "samples_gsm8k.jsonl"))
    assert reading.labels.labelers == ("exact_match (strict)", "exact_match (flexible)")
    assert reading.labels.n_items == 4
    assert reading.labels.n_labels == 8
    assert any("'bleu'" in note for note in reading.labels.notes.remarks)


def langfuse_rows() -> list[dict[str, Any]]:
    def row(n: int, trace: str, name: str, word: str, source: str = "EVAL") -> dict[str, Any]:
        what = {"data_type": "CATEGORICAL", "string_value": word, "value": None}
        where = {"id": f"s{n}", "trace_id": trace, "observation_id": None}
        return {**where, "name": name, **what, "source": source}

    text = {**row(9, "t1", "why", "because"), "data_type": "TEXT", "value": 0}
    return [
        row(1, "t1", "gpt", "good"), row(2, "t2", "gpt", "bad"), row(3, "t1", "claude", "good"),
        row(4, "t2", "human", "bad", "ANNOTATION"), text,
    ]  # fmt: skip


def test_langfuse(tmp_path: Path) -> None:
    rows = langfuse_rows()
    header = ",".join(rows[0])
    table = "\n".join(",".join("" if v is None else str(v) for v in r.values()) for r in rows)
    for path in (
        saved(tmp_path, f"{header}\n{table}\n", "scores.csv"),
        saved(tmp_path, rows, "scores.jsonl"),
        saved(tmp_path, {"data": rows}),
    ):
        reading = inspect(path)
        assert said(reading) == {
            ("t1", "gpt"): "good",
            ("t2", "gpt"): "bad",
            ("t1", "claude"): "good",
        }
        assert reading.gold.as_dict() == {"t2": "bad"}
        assert any("texts" in note for note in reading.labels.notes.remarks)
    numbers = {**rows[0], "name": "speed", "data_type": "NUMERIC", "value": 7, "string_value": None}
    with pytest.raises(tr.InputError, match="scores that share no class"):
        inspect(saved(tmp_path, [*rows, numbers], "scores.jsonl"))


def test_deepeval(tmp_path: Path) -> None:
    cases = [
        {"name": f"test_case_{i}", "metricsData": [
            {"name": "Relevancy", "evaluationModel": "gpt", "success": i % 2 == 0, "score": 0.5},
            {"name": "Relevancy", "evaluationModel": "claude", "success": True, "score": 0.5},
            {"name": "Bias", "evaluationModel": "gpt", "success": None, "error": "timeout"},
        ]}
        for i in range(3)
    ]  # fmt: skip
    reading = inspect(saved(tmp_path, {"testRunData": {"testCases": cases}}))
    assert reading.labels.labelers == ("Relevancy (gpt)", "Relevancy (claude)")
    assert said(reading)["test_case_1", "Relevancy (gpt)"] is False
    assert any("ended in an error" in note for note in reading.labels.notes.remarks)


def test_mlflow_and_phoenix(tmp_path: Path) -> None:
    def assessment(
        trace: str, kind: str, who: str, value: Any, name: str = "correct"
    ) -> dict[str, Any]:
        source = {"source_type": kind, "source_id": who}
        return {"trace_id": trace, "name": name, "source": source, "feedback": {"value": value}}

    rows = [
        assessment("t1", "LLM_JUDGE", "gpt", True), assessment("t2", "LLM_JUDGE", "gpt", False),
        assessment("t1", "CODE", "rule", True), assessment("t1", "HUMAN", "jo", False),
    ]  # fmt: skip
    reading = inspect(saved(tmp_path, rows))
    assert said(reading) == {("t1", "gpt"): True, ("t2", "gpt"): False, ("t1", "rule"): True}
    assert reading.gold.as_dict() == {"t1": False}
    other = assessment("t1", "LLM_JUDGE", "gpt", "low", "risk")
    with pytest.raises(tr.InputError, match="several questions: correct, risk"):
        inspect(saved(tmp_path, [*rows, other]))
    judge, person = ({"annotator_kind": kind} for kind in ("LLM", "HUMAN"))
    spans = [
        {"span_id": "s1", "name": "gpt", **judge, "result": {"label": "ok", "score": 1}},
        {"span_id": "s2", "name": "gpt", **judge, "result": {"label": "bad", "score": 0}},
        {"span_id": "s1", "name": "review", **person, "result": {"label": "bad"}},
    ]
    reading = inspect(saved(tmp_path, spans))
    assert said(reading) == {("s1", "gpt"): "ok", ("s2", "gpt"): "bad"}
    assert reading.gold.as_dict() == {"s1": "bad"}


def choice(question: str, *names: str) -> dict[str, Any]:
    return {"from_name": question, "type": "choices", "value": {"choices": list(names)}}


def test_label_studio_questions_and_choices(tmp_path: Path) -> None:
    def task(i: int, *results: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": i,
            "annotations": [{"completed_by": w, "result": list(results)} for w in (1, 2)],
        }

    both = [task(i, choice("tone", "calm"), choice("kind", "ham" if i else "spam")) for i in (0, 1)]
    path = saved(tmp_path, both)
    with pytest.raises(tr.InputError, match="several questions: tone, kind"):
        tr.read_labels(path)
    assert tr.read_labels(path, question="kind").classes == ("ham", "spam")
    with pytest.raises(tr.InputError, match="one answer names several classes"):
        tr.read_labels(saved(tmp_path, [task(0, choice("kind", "ham", "urgent"))]))
    deep = {"from_name": "q", "value": {"taxonomy": [["animal", "cat"]]}}
    assert tr.read_labels(saved(tmp_path, [task(0, deep)])).classes == ("animal / cat",)
    stars = {"from_name": "q", "value": {"rating": 4}}
    assert tr.read_labels(saved(tmp_path, [task(0, stars)])).classes == (4,)
    with pytest.raises(tr.InputError, match="shaped otherwise"):
        tr.read_labels(saved(tmp_path, [{"annotations": [3]}]))


def test_annotation_tools(tmp_path: Path) -> None:
    argilla = [
        {
            "id": item,
            "fields": {},
            "responses": {"q": [{"value": value, "user_id": who}]},
            "suggestions": suggested,
        }
        for item, value, who, suggested in (
            ("r1", "a", "u", {"q": {"value": "b"}}),
            ("r2", "b", "v", {}),
        )
    ]
    reading = inspect(saved(tmp_path, argilla))
    assert said(reading) == {("r1", "u"): "a", ("r2", "v"): "b"}
    assert reading.predictions.items == ("r1",)
    prodigy = [
        {"_input_hash": 7, "answer": "accept", "label": "SPAM", "_annotator_id": "x", "text": "."},
        {"_input_hash": 8, "answer": "reject", "label": "SPAM", "_annotator_id": "x", "text": "."},
        {"_input_hash": 9, "answer": "ignore", "label": "SPAM", "_annotator_id": "x", "text": "."},
    ]
    reading = inspect(saved(tmp_path, prodigy, "p.jsonl"))
    assert said(reading) == {(7, "x"): "accept", (8, "x"): "reject"}
    doccano = [{"id": i, "text": ".", "label": ["pos" if i else "neg"]} for i in range(3)]
    assert inspect(saved(tmp_path, doccano, "d.jsonl")).labels.classes == ("neg", "pos")


def test_mechanical_turk(tmp_path: Path) -> None:
    text = (
        "HITId,AssignmentId,WorkerId,AssignmentStatus,Input.url,Answer.spam\n"
        "h1,a1,w1,Approved,x,yes\nh1,a2,w2,Rejected,x,no\nh2,a3,w1,Approved,y,no\n"
    )
    reading = inspect(saved(tmp_path, text, "batch.csv"))
    assert said(reading) == {("h1", "w1"): "yes", ("h2", "w1"): "no"}
    two = text.replace("Answer.spam\n", "Answer.spam,Answer.tone\n").replace("yes\n", "yes,a\n")
    two = two.replace("no\n", "no,b\n")
    with pytest.raises(tr.InputError, match="several answers: spam, tone"):
        inspect(saved(tmp_path, two, "batch.csv"))
    assert len(said(inspect(saved(tmp_path, two, "batch.csv"), question="tone"))) == 2
