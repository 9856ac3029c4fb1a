"""CVAT, SageMaker Ground Truth, and Label Studio's reviews, with the traps of each."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

import truthing as tr
from truthing.asking import prepare
from truthing.tables import Reading, inspect


def saved(folder: Path, content: Any, name: str = "export.json") -> Path:
    path = folder / name
    if name.endswith(("jsonl", "manifest")):
        content = "\n".join(json.dumps(line) for line in content)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def said(reading: Reading) -> dict[tuple[Any, Any], Any]:
    labels = reading.labels
    return {
        (labels.items[i], labels.labelers[t]): labels.classes[c]
        for i, t, c in zip(labels.item, labels.labeler, labels.label)
    }


XML = """<?xml version="1.0" encoding="utf-8"?>
<annotations><version>1.1</version>
<meta><task><assignee><username>ann</username></assignee></task></meta>
<image id="0" name="a.png" width="9" height="9"><tag label="cat" source="manual"></tag></image>
<image id="1" name="b.png" width="9" height="9">
  <tag label="dog" source="manual"></tag><box label="dog" xtl="0" ytl="0" xbr="1" ybr="1"/></image>
<image id="2" name="c.png" width="9" height="9"><tag label="dog" source="auto"></tag></image>
</annotations>"""


def test_cvat_xml(tmp_path: Path) -> None:
    path = saved(tmp_path, XML, "annotations.xml")
    packed = tmp_path / "export.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("annotations.xml", XML)
        archive.writestr("images/a.png", b"")
    for place in (path, packed):
        reading = inspect(place)
        assert reading.table.kind == "CVAT export, 1 labeler"
        assert said(reading) == {("a.png", "ann"): "cat", ("b.png", "ann"): "dog"}
        assert any(
            "1 shapes on parts of images" in n and "1 tags that CVAT gave by itself" in n
            for n in reading.labels.notes.remarks
        )


def test_cvat_attributes_and_refusals(tmp_path: Path) -> None:
    mark = '<tag label="{}" source="manual"><attribute name="{}">{}</attribute></tag>'
    head, tail = "<annotations>", "</annotations>"

    def images(*tags: str) -> str:
        return "".join(f'<image id="{n}" name="{n}.png">{t}</image>' for n, t in enumerate(tags))

    one = head + images(mark.format("photo", "quality", "good"),
                        mark.format("photo", "quality", "bad")) + tail  # fmt: skip
    found = said(inspect(saved(tmp_path, one, "a.xml")))
    assert found == {("0.png", "labeler"): "good", ("1.png", "labeler"): "bad"}
    two = head + images(mark.format("cat", "quality", "good"),
                        mark.format("dog", "quality", "bad")) + tail  # fmt: skip
    path = saved(tmp_path, two, "b.xml")
    with pytest.raises(tr.InputError, match="several questions: label, quality"):
        inspect(path)
    assert inspect(path, question="label").labels.classes == ("cat", "dog")
    assert inspect(path, question="quality").labels.classes == ("bad", "good")
    both = head + images('<tag label="cat"/><tag label="dog"/>') + tail
    with pytest.raises(tr.InputError, match=r"image 0\.png: several classes"):
        inspect(saved(tmp_path, both, "c.xml"))
    for content, words in {
        "<annotations><image>": "not readable XML",
        "<?xml version='1.0'?><coco/>": "only CVAT's <annotations> is known",
        "<!doctype html><html><body>Log in</body></html>": "is a web page",
        '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b">]><annotations/>': "refused",
    }.items():
        with pytest.raises(tr.InputError, match=words):
            inspect(saved(tmp_path, content, "d.xml"))


def test_cvat_json(tmp_path: Path) -> None:
    box = {"id": 1, "type": "bbox", "bbox": [0, 0, 1, 1], "label_id": 0, "attributes": {}}
    whole = {
        "info": {},
        "categories": {"label": {"labels": [{"name": "cat"}, {"name": "dog"}]}},
        "items": [
            {"id": "a", "annotations": [{"type": "label", "label_id": 1, "attributes": {}}, box]},
            {"id": "b", "annotations": [{"type": "label", "label_id": 0, "attributes": {}}]},
        ],
    }
    reading = inspect(saved(tmp_path, whole))
    assert reading.table.kind == "CVAT export (Datumaro), 1 labeler"
    assert said(reading) == {("a", "labeler"): "dog", ("b", "labeler"): "cat"}

    def tag(frame: int, label: str, source: str = "manual") -> dict[str, Any]:
        return {"frame": frame, "label": label, "group": 0, "source": source, "attributes": []}

    tags = [tag(0, "cat"), tag(1, "dog"), tag(2, "dog", "auto")]
    backup = [{"version": 0, "tags": tags, "shapes": [{}], "tracks": []}]
    reading = inspect(saved(tmp_path, backup))
    assert said(reading) == {(0, "labeler"): "cat", (1, "labeler"): "dog"}
    # one file for each labeler: the file's name is the labeler's
    for name in ("ann", "bob"):
        saved(tmp_path, backup, f"{name}.json")
    both = prepare(None, [tmp_path / "ann.json", tmp_path / "bob.json"], gold=None).labels
    assert (both.labelers, both.n_labels) == (("ann", "bob"), 4)


def line(n: int, human: str = "yes", **more: Any) -> dict[str, Any]:
    about = {
        "class-name": ("cat", "dog")[n % 2], "confidence": 0.9, "job-name": "kind",
        "type": "groundtruth/image-classification", "human-annotated": human, **more,
    }  # fmt: skip
    return {"source-ref": f"s3://b/{n}.png", "kind": n % 2, "kind-metadata": about}


def test_ground_truth_manifest_is_one_labeler_and_no_gold(tmp_path: Path) -> None:
    path = saved(tmp_path, [line(0), line(1), line(2, "no")], "output.manifest")
    reading = inspect(path)
    assert reading.table.kind == "Ground Truth manifest, 1 labeler"
    assert said(reading) == {
        ("s3://b/0.png", "workers together"): "cat", ("s3://b/1.png", "workers together"): "dog",
    }  # fmt: skip
    assert not reading.has_gold
    assert any("1 labels given by the machine alone" in n for n in reading.labels.notes.remarks)
    assert any("consolidated from several workers" in n for n in reading.labels.notes.checks)
    two = {**line(0), "tone-metadata": line(0)["kind-metadata"], "tone": 0}
    with pytest.raises(tr.InputError, match="several labeling jobs: kind, tone"):
        inspect(saved(tmp_path, [two], "output.manifest"))
    several = line(0) | {"kind-metadata": {"class-map": {}, "human-annotated": "yes"}}
    with pytest.raises(tr.InputError, match="several classes"):
        inspect(saved(tmp_path, [several], "output.manifest"))


def test_ground_truth_workers(tmp_path: Path) -> None:
    def answer(worker: str, label: Any, key: str = "label") -> dict[str, Any]:
        content = json.dumps({"crowd-classifier": {key: label}})
        return {"workerId": worker, "annotationData": {"content": content}}

    requests = [
        {"datasetObjectId": str(n), "dataObject": {"s3Uri": "s3://b"},
         "annotations": [answer("w1", "cat"), answer("w2", ("cat", "dog")[n])]}
        for n in range(2)
    ]  # fmt: skip
    reading = inspect(saved(tmp_path, requests))
    assert reading.table.kind == "Ground Truth workers' answers, 2 workers"
    assert said(reading) == {
        ("0", "w1"): "cat", ("0", "w2"): "cat", ("1", "w1"): "cat", ("1", "w2"): "dog",
    }  # fmt: skip
    everybody = [
        {"source-ref": f"s3://b/{n}", "job": {"annotationsFromAllWorkers": r["annotations"]},
         "job-metadata": {"type": "groundtruth/custom", "human-annotated": "yes"}}
        for n, r in enumerate(requests)
    ]  # fmt: skip
    custom = inspect(saved(tmp_path, everybody, "output.manifest"))
    assert said(custom)["s3://b/1", "w2"] == "dog"
    responses = [
        {"answers": [{"workerId": "w1", "answerContent": {"kind": {"label": "cat"}}}]},
        {"answers": [{"workerId": "w1", "answerContent": {"kind": {"label": "dog"}}}]},
    ]
    numbered = inspect(saved(tmp_path, responses, "answers.jsonl"))
    assert said(numbered) == {(0, "w1"): "cat", (1, "w1"): "dog"}
    with pytest.raises(tr.InputError, match="about one item, which only its folder names"):
        inspect(saved(tmp_path, responses[0]))
    many = [{"datasetObjectId": "0", "annotations": [answer("w1", ["a", "b"], "labels")]}]
    with pytest.raises(tr.InputError, match="several classes"):
        inspect(saved(tmp_path, many))
    broken = [{"datasetObjectId": "0", "annotations": [
        {"workerId": "w", "annotationData": {"content": "{"}}]}]  # fmt: skip
    with pytest.raises(tr.InputError, match="shaped otherwise"):
        inspect(saved(tmp_path, broken))


def test_label_studio_reviews_are_no_gold_and_no_labels(tmp_path: Path) -> None:
    def choice(name: str) -> list[dict[str, Any]]:
        return [{"from_name": "q", "type": "choices", "value": {"choices": [name]}}]

    def task(n: int, now: str, *reviews: dict[str, Any], **more: Any) -> dict[str, Any]:
        made = {"completed_by": 1, "result": choice(now), "reviews": list(reviews), **more}
        return {"id": n, "annotations": [made]}

    fixed = {
        "accepted": True, "created_by": 9, "fixed_annotation_history": 35,
        "previous_annotation_history_result": choice("ham"),
        "fixed_annotation_history_result": choice("spam"),
    }  # fmt: skip
    lost = {"accepted": True, "created_by": 9, "fixed_annotation_history": 36}
    tasks = [
        task(0, "ham", {"accepted": True, "created_by": 9, "fixed_annotation_history": None}),
        task(1, "spam", {"accepted": False, "created_by": 9}),
        task(2, "spam", fixed),
        task(3, "spam", lost),
        task(4, "spam", ground_truth=True),
    ]
    reading = inspect(saved(tmp_path, tasks))
    assert said(reading) == {(0, 1): "ham", (1, 1): "spam", (2, 1): "ham"}
    assert reading.gold.as_dict() == {4: "spam"}
    note = next(n for n in reading.labels.notes.remarks if "reviews are left out" in n)
    assert "1 accepted, 1 rejected, 2 changed" in note
