"""Mess in columns: what is no label beside what is, ids that differ, scores that mislead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from messy.world import Mess, Rng, World, case, checked, guesses, long, table, wide, world

HAM = ["ham", "spam"]


def _with(
    w: World, names: Sequence[str], columns: dict[str, Any], first: bool = False, item: str = "item"
) -> Mess:
    """A wide file with more columns than labelers, and predictions."""
    rows, extra = wide(w, names), list(columns.values())
    for n, row in enumerate(rows):
        more = [column[n] for column in extra]
        row[:] = [*more, *row] if first else [*row, *more]
    header = [*columns, item, *w.labelers] if first else [item, *w.labelers, *columns]
    files = {
        "labels.csv": table(header, rows),
        "predictions.csv": table([item, "prediction"], guesses(w, names)),
    }
    return Mess(files, predictions="predictions.csv", meaning=w)


def system_column(rng: Rng) -> Mess:
    w = world(rng)
    return _with(w, HAM, {"system": rng.choice(["baseline", "candidate"], len(w.items))})


def system_column_alone(rng: Rng) -> Mess:
    return replace(system_column(rng), predictions=None)


def patient_id(rng: Rng) -> Mess:
    w = world(rng, items=[1000 + 7 * i for i in range(50)])
    return _with(w, HAM, {}, item="patient_id")


def patient_and_visit(rng: Rng) -> Mess:
    w = world(rng)
    return _with(w, HAM, {"patient_id": [3000 + n // 2 for n in range(len(w.items))]})


def unnamed_index(rng: Rng) -> Mess:
    w = world(rng)
    return _with(
        w, HAM, {["", "Unnamed: 0"][int(rng.integers(2))]: range(len(w.items))}, first=True
    )


def text_and_date(rng: Rng) -> Mess:
    w = world(rng)
    text = [f"Dear {n}, you won, or not" for n in range(len(w.items))]
    date = [f"2024-03-{1 + n % 28:02}" for n in range(len(w.items))]
    return replace(_with(w, HAM, {"text": text, "date": date}), predictions=None)


def numbers_beside_names(rng: Rng) -> Mess:
    w = world(rng)
    age, length = rng.integers(18, 30, len(w.items)), rng.integers(5, 900, len(w.items))
    return _with(w, HAM, {"age": age, "length": length})


def numbers_beside_numbers(rng: Rng) -> Mess:
    w = world(rng, 3)
    return replace(
        _with(w, list("123"), {"age": rng.integers(18, 30, len(w.items))}), predictions=None
    )


def a_flag(rng: Rng) -> Mess:
    w = world(rng)
    return _with(
        w,
        ["0", "1"],
        {["is_test", "has_image"][int(rng.integers(2))]: rng.integers(0, 2, len(w.items))},
    )


def the_majority_too(rng: Rng) -> Mess:
    w = world(rng)
    vote = [HAM[round(np.mean([w.labels[i, t] for t in w.labelers]))] for i in w.items]
    return _with(w, HAM, {["majority", "consensus", "final_label"][int(rng.integers(3))]: vote})


def a_model_among_people(rng: Rng) -> Mess:
    w = world(rng)
    mess = _with(w, HAM, {"bert_prediction": [HAM[w.predicted[i]] for i in w.items]})
    return replace(mess, predictions=None)


def a_split(rng: Rng) -> Mess:
    w = world(rng)
    return replace(
        _with(w, HAM, {"split": rng.choice(["train", "test"], len(w.items))}), predictions=None
    )


def comments_of_labelers(rng: Rng) -> Mess:
    w = world(rng)
    said = {
        f"{t}_comment": ["" if rng.random() < 0.9 else f"hard {n}" for n in range(len(w.items))]
        for t in w.labelers
    }
    return _with(w, HAM, said)


def a_prediction_file_of_tickets(rng: Rng) -> Mess:
    w = world(rng)
    mess = case(w, HAM, HAM)
    mess.files["predictions.csv"] = table(["Ticket", "Bot Intent"], guesses(w, HAM))
    return mess


def a_prediction_file_with_text(rng: Rng) -> Mess:
    w = world(rng)
    rows = [[i, f"text, {n}", p, round(w.score[i], 2)] for n, (i, p) in enumerate(guesses(w, HAM))]
    mess = case(w, HAM, HAM)
    mess.files["predictions.csv"] = table(["id", "text", "predicted_label", "latency"], rows)
    return mess


def each_annotation_has_an_id(rng: Rng) -> Mess:
    w = world(rng)
    rows = [[5000 + n, *row] for n, row in enumerate(long(w, HAM))]
    mess = case(w, HAM, HAM)
    mess.files["labels.csv"] = table(
        ["id", ["item_id", "task_id"][int(rng.integers(2))], "annotator", "label"], rows
    )
    return mess


def long_with_much_else(rng: Rng) -> Mess:
    w = world(rng)
    rows = [
        [*row, f"2024-05-0{1 + n % 9}T10:00", round(float(rng.gamma(2, 3)), 2), ""]
        for n, row in enumerate(long(w, HAM))
    ]
    mess = case(w, HAM, HAM)
    mess.files["labels.csv"] = table(
        ["task", "worker", "answer", "created_at", "seconds", "comment"], rows
    )
    return mess


def label_beside_raters(rng: Rng) -> Mess:
    w = world(rng)
    mess = _with(w, HAM, {"label": [HAM[w.truth[i]] for i in w.items]})
    return replace(mess, predictions=None, meaning=None)


def zeros_lost_in_ids(rng: Rng) -> Mess:
    w = world(rng, items=[f"{990 + n:05}" for n in range(50)])
    mess = case(w, HAM, HAM)
    mess.files["predictions.csv"] = table(
        ["item", "prediction"], [[int(i), p] for i, p in guesses(w, HAM)]
    )
    return mess


def blanks_in_ids(rng: Rng) -> Mess:
    w = world(rng)
    rows = [[f"{i} " if rng.random() < 0.3 else i, p] for i, p in guesses(w, HAM)]
    mess = case(w, HAM, HAM)
    mess.files["predictions.csv"] = table(["item", "prediction"], rows)
    return mess


def ids_as_floats(rng: Rng) -> Mess:
    w = world(rng, items=range(100, 150))
    mess = case(w, HAM, HAM)
    mess.files["predictions.csv"] = table(
        ["item", "prediction"], [[f"{i}.0", p] for i, p in guesses(w, HAM)]
    )
    return mess


def ids_in_capitals(rng: Rng) -> Mess:
    w = world(rng)
    mess = case(w, HAM, HAM)
    mess.files["predictions.csv"] = table(
        ["item", "prediction"], [[i.upper(), p] for i, p in guesses(w, HAM)]
    )
    return mess


def no_ids_in_labels(rng: Rng) -> Mess:
    w = world(rng, items=range(1, 51))
    files = {
        "labels.csv": table(w.labelers, [row[1:] for row in wide(w, HAM)]),
        "predictions.csv": table(["item", "prediction"], guesses(w, HAM)),
    }
    return Mess(files, predictions="predictions.csv", meaning=w)


def an_item_predicted_twice(rng: Rng) -> Mess:
    w = world(rng)
    mess = case(w, HAM, HAM)
    rows = guesses(w, HAM)
    mess.files["predictions.csv"] = table(
        ["item", "prediction"], [*rows, [rows[4][0], "ham"], [rows[4][0], "spam"]]
    )
    return replace(mess, meaning=None)


def blanks_in_labelers(rng: Rng) -> Mess:
    w = world(rng)
    rows = [[i, f"{t} " if rng.random() < 0.3 else t, c] for i, t, c in long(w, HAM)]
    mess = case(w, HAM, HAM)
    mess.files["labels.csv"] = table(["item", "rater", "rating"], rows)
    return mess


def everything_in_one_long_file(rng: Rng) -> Mess:
    w = world(rng)
    gold = {i: HAM[k] for i, k in w.gold.items()}
    rows = [[*row, HAM[w.predicted[row[0]]], gold.get(row[0], "")] for row in long(w, HAM)]
    files = {"all.csv": table(["item", "labeler", "label", "prediction", "gold"], rows)}
    return Mess(files, "all.csv", "all.csv", "all.csv", w)


def everything_in_one_wide_file(rng: Rng) -> Mess:
    w = world(rng)
    gold = {i: HAM[k] for i, k in w.gold.items()}
    rows = [
        [*row, HAM[w.predicted[row[0]]], gold.get(row[0], ""), f"mail {n}"]
        for n, row in enumerate(wide(w, HAM))
    ]
    files = {"all.csv": table(["id", *w.labelers, "prediction", "truth", "subject"], rows)}
    return Mess(files, "all.csv", "all.csv", "all.csv", w)


def a_contradiction(rng: Rng) -> Mess:
    w = world(rng)
    rows = long(w, HAM)
    mess = case(w, HAM, HAM)
    rows.append([rows[0][0], rows[0][1], "spam" if rows[0][2] == "ham" else "ham"])
    mess.files["labels.csv"] = table(["item", "labeler", "label"], rows)
    return replace(mess, meaning=None)


def gold_with_empty_cells(rng: Rng) -> Mess:
    w = world(rng)
    mess = case(w, HAM, HAM, HAM)
    rows = [*checked(w, HAM), *([i, ""] for i in w.items if i not in w.gold)]
    mess.files["gold.csv"] = table(["item", "expert"], rows)
    return mess


def _scored(rng: Rng, name: str, change: Any, ending: Any = str) -> Mess:
    w = world(rng)
    mess = case(w, ["0", "1"], ["0", "1"])
    rows = [[i, p, ending(change(w.score[i], w.predicted[i]))] for i, p in guesses(w, ["0", "1"])]
    mess.files["predictions.csv"] = table(["item", "prediction", name], rows)
    return mess


def confidence_of_the_prediction(rng: Rng) -> Mess:
    return _scored(
        rng, ["confidence", "score"][int(rng.integers(2))], lambda s, p: round(s if p else 1 - s, 3)
    )


def flipped_scores(rng: Rng) -> Mess:
    return _scored(
        rng, ["score", "probability"][int(rng.integers(2))], lambda s, p: round(1 - s, 3)
    )


def percentages(rng: Rng) -> Mess:
    return _scored(rng, "score", lambda s, p: round(100 * s, 1))


def percentages_cut_at_a_half(rng: Rng) -> Mess:
    return replace(_scored(rng, "score", lambda s, p: round(100 * s, 1)), threshold=0.5)


def percent_signs(rng: Rng) -> Mess:
    return _scored(rng, "score", lambda s, p: f"{100 * s:.1f}%")


def logits(rng: Rng) -> Mess:
    return _scored(rng, "score", lambda s, p: round(float(np.log(s / (1 - s))), 4))


def a_column_for_each_class(rng: Rng) -> Mess:
    w = world(rng)
    mess = case(w, HAM, HAM)
    rows = [[i, p, round(1 - w.score[i], 3), w.score[i]] for i, p in guesses(w, HAM)]
    mess.files["predictions.csv"] = table(["item", "prediction", "prob_ham", "prob_spam"], rows)
    return mess


def vote_counts(rng: Rng) -> Mess:
    return _counts(rng, ["count_", "n_", ""][int(rng.integers(3))])


def vote_counts_with_an_empty_cell(rng: Rng) -> Mess:
    mess = _counts(rng, "count_")
    lines = mess.files["labels.csv"].decode().splitlines()
    row = next(n for n, line in enumerate(lines) if n and ",0" in line)
    lines[row] = lines[row].replace(",0", ",", 1)
    return replace(mess, files={**mess.files, "labels.csv": ("\n".join(lines) + "\n").encode()})


def _counts(rng: Rng, prefix: str) -> Mess:
    w = world(rng, 3)
    names = ["cat", "dog", "fish"]
    rows = []
    for i in w.items:
        said = [w.labels[i, t] for t in w.labelers]
        rows.append([i, *(said.count(k) for k in range(3))])
    files = {
        "labels.csv": table(["item", *(prefix + c for c in names)], rows),
        "predictions.csv": table(["item", "prediction"], guesses(w, names)),
    }
    return Mess(files, predictions="predictions.csv", meaning=w, votes=True)


def star_ratings(rng: Rng) -> Mess:
    w = world(rng, 5)
    return Mess({"labels.csv": table(["item", *w.labelers], wide(w, list("12345")))}, meaning=w)


def star_ratings_from_zero(rng: Rng) -> Mess:
    w = world(rng, 5)
    return Mess({"labels.csv": table(["item", *w.labelers], wide(w, list("01234")))}, meaning=w)


def star_ratings_beside_predictions(rng: Rng) -> Mess:
    w = world(rng, 5)
    return _with(w, list("12345"), {"minutes": rng.integers(1, 5, len(w.items))})


KINDS = [
    system_column,
    system_column_alone,
    patient_id,
    patient_and_visit,
    unnamed_index,
    text_and_date,
    numbers_beside_names,
    numbers_beside_numbers,
    a_flag,
    the_majority_too,
    a_model_among_people,
    a_split,
    comments_of_labelers,
    a_prediction_file_of_tickets,
    a_prediction_file_with_text,
    each_annotation_has_an_id,
    long_with_much_else,
    label_beside_raters,
    zeros_lost_in_ids,
    blanks_in_ids,
    ids_as_floats,
    ids_in_capitals,
    no_ids_in_labels,
    an_item_predicted_twice,
    blanks_in_labelers,
    everything_in_one_long_file,
    everything_in_one_wide_file,
    a_contradiction,
    gold_with_empty_cells,
    confidence_of_the_prediction,
    flipped_scores,
    percentages,
    percentages_cut_at_a_half,
    percent_signs,
    logits,
    a_column_for_each_class,
    vote_counts,
    vote_counts_with_an_empty_cell,
    star_ratings,
    star_ratings_from_zero,
    star_ratings_beside_predictions,
]
