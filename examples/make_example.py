"""The bundled examples, made by our own simulator: six folders, one for each kind of user;
simulated, and marked so.

Run it to make them again: python examples/make_example.py. What each is and which commands to try
stands in its README.txt.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import truthing as tr

FOLDER = Path(__file__).parent.parent / "src" / "truthing" / "examples"


def write(example: str, **frames: pl.DataFrame) -> None:
    """CSV files of one example."""
    (FOLDER / example).mkdir(parents=True, exist_ok=True)
    for name, frame in frames.items():
        frame.write_csv(FOLDER / example / f"{name}.csv")


def long(data: Any, items: list[str], people: list[str], who: str = "labeler") -> pl.DataFrame:
    """One row for each label."""
    panel = data.labels
    return pl.DataFrame(
        {
            "item": [items[i] for i in panel.item],
            who: [people[t] for t in panel.labeler],
            "label": [panel.classes[c] for c in panel.label],
        }
    )


def wide(data: Any, items: list[str], people: list[str]) -> pl.DataFrame:
    """One column for each labeler."""
    grid, classes = data.labels.matrix(), data.labels.classes
    cells = {
        name: [None if c < 0 else classes[c] for c in grid[:, t]] for t, name in enumerate(people)
    }
    return pl.DataFrame({"item": items, **cells})


def gold(data: Any, items: list[str], count: int, seed: int) -> pl.DataFrame:
    """The truth of some random items."""
    known = data.gold(count, seed=seed)
    return pl.DataFrame({"item": [items[i] for i in known], "truth": list(known.values())})


def predictions(data: Any, items: list[str]) -> pl.DataFrame:
    return pl.DataFrame(
        {"item": items, "prediction": data.predictions, "score": data.scores.round(3)}
    )


def spam() -> None:
    """600 messages, five annotators with gaps, one spam filter: Ben is careful, Chloe guesses a
    lot, Dev rarely has time.
    """
    data = tr.simulate(
        600,
        5,
        prior=[0.75, 0.25],
        operating_point=(0.80, 0.12),
        difficulty=(1, 8),
        fallibility=(0.25, 0.06, 0.45, 0.20, 0.15),
        availability=(0.75, 0.85, 0.55, 0.25, 0.60),
        classes=("ham", "spam"),
        seed=11,
    )
    items = [f"msg-{i + 1:03d}" for i in data.labels.items]
    people = ["ana", "ben", "chloe", "dev", "eli"]
    labels = long(data, items, people, "annotator")
    write(
        "spam", labels=labels, predictions=predictions(data, items), gold=gold(data, items, 50, 5)
    )


def judges() -> None:
    """400 answers of an assistant, three language models as judges who share mistakes, 80 answers
    checked by a person.
    """
    data = tr.simulate(
        400,
        3,
        prior=[0.18, 0.82],
        difficulty=(1, 12),
        fallibility=(0.15, 0.25, 0.35),
        shared_difficulty=0.15,
        classes=("fail", "pass"),
        seed=21,
    )
    items = [f"answer-{i + 1:03d}" for i in data.labels.items]
    verdicts = wide(data, items, ["judge_a", "judge_b", "judge_c"])
    write("judges", verdicts=verdicts, gold=gold(data, items, 80, 3))


def readers() -> None:
    """300 scans, four readers of whom each saw most, an algorithm with a score, 60 scans with a
    biopsy.
    """
    data = tr.simulate(
        300,
        4,
        prior=[0.7, 0.3],
        operating_point=(0.90, 0.10),
        difficulty=(1, 10),
        fallibility=(0.10, 0.15, 0.20, 0.30),
        availability=(0.9, 0.9, 0.8, 0.8),
        classes=("benign", "malignant"),
        seed=31,
    )
    items = [f"scan-{i + 1:03d}" for i in data.labels.items]
    reads = wide(data, items, ["reader_1", "reader_2", "reader_3", "reader_4"])
    write(
        "readers",
        reads=reads,
        algorithm=predictions(data, items),
        biopsies=gold(data, items, 60, 7),
    )


def crowd() -> None:
    """300 photographs of three animals, ten workers: one guesses, one copies, one swaps cats and
    dogs.
    """
    wrong = [0.1, 0.12, 0.15, 0.18, 0.2, 0.25, 0.45, 1.0, 0.15, 0.2]
    data = tr.simulate(
        300,
        10,
        prior=[0.4, 0.4, 0.2],
        fallibility=wrong,
        availability=0.5,
        classes=("cat", "dog", "fox"),
        seed=41,
    )
    items = [f"photo-{i + 1:03d}" for i in data.labels.items]
    people = ["ada", "bo", "cem", "dita", "edo", "fay", "gil", "hank", "ivy", "jo"]
    labels = long(data, items, people, "worker").to_dicts()
    said = {(row["item"], row["worker"]): row["label"] for row in labels}
    swap, draw = {"cat": "dog", "dog": "cat", "fox": "fox"}, np.random.default_rng(42)
    for row in labels:
        if row["worker"] == "ivy":
            row["label"] = swap[row["label"]]
        elif row["worker"] == "jo" and (row["item"], "ada") in said and draw.random() < 0.9:
            row["label"] = said[row["item"], "ada"]
    write("crowd", labels=pl.DataFrame(labels), gold=gold(data, items, 40, 2))


def compare() -> None:
    """500 reviews, four annotators, the old model and the new one that is somewhat better, 100
    reviews checked.
    """
    data = tr.simulate(
        500,
        4,
        prior=[0.45, 0.55],
        operating_point=(0.88, 0.14),
        difficulty=(1, 9),
        fallibility=(0.12, 0.2, 0.25, 0.3),
        availability=0.8,
        classes=("negative", "positive"),
        seed=51,
    )
    items = [f"review-{i + 1:03d}" for i in data.labels.items]
    draw = np.random.default_rng(52)
    worse = np.where(draw.random(500) < 0.16, 1, 0).astype(bool)
    flipped = np.where(data.predictions == "negative", "positive", "negative")
    old = pl.DataFrame({"item": items, "prediction": np.where(worse, flipped, data.predictions)})
    new = predictions(data, items).drop("score")
    labels = long(data, items, ["kim", "lee", "mio", "noa"], "annotator")
    write("compare", labels=labels, old=old, new=new, gold=gold(data, items, 100, 4))


def prefer() -> None:
    """50 prompts, three assistants in pairs, three judges in both orders who lean to the first
    shown and like the long answers of "large"; a person compared 60 of the 150 pairs of answers.
    """
    draw = np.random.default_rng(61)
    systems, strength = ("base", "tuned", "large"), (-0.6, 0.5, 0.1)
    leans = {"gpt-4o-mini": 0.12, "claude-3-haiku": 0.06, "llama-3-8b": 0.3}
    rows, truths = [], []
    for a, b in ((0, 1), (0, 2), (1, 2)):
        for n in range(50):
            better = a if draw.random() < 1 / (1 + np.exp(strength[b] - strength[a])) else b
            better = -1 if draw.random() < 0.15 else better
            seems = 2 if b == 2 and draw.random() < 0.2 else better
            pair = {"item": f"prompt-{n + 1:02d}", "system_a": systems[a], "system_b": systems[b]}
            word = {a: "A", b: "B", -1: "tie"}
            truths.append({**pair, "truth": word[better]})
            for judge, lean in leans.items():
                for order, first in (("AB", a), ("BA", b)):
                    said = seems if draw.random() > 0.12 else draw.choice([a, b, -1])
                    said = first if draw.random() < lean else said
                    rows.append({**pair, "judge": judge, "order": order, "verdict": word[said]})
    known = draw.choice(150, 60, replace=False)
    checked = [truths[n] for n in sorted(known)]
    write("prefer", verdicts=pl.DataFrame(rows), gold=pl.DataFrame(checked))
    for a, b in (("base", "tuned"), ("base", "large"), ("tuned", "large")):
        mine = [t["truth"] for t in truths if (t["system_a"], t["system_b"]) == (a, b)]
        print(a, b, {word: mine.count(word) for word in ("A", "B", "tie")})


def main() -> None:
    for make in (spam, judges, readers, crowd, compare, prefer):
        make()
    size = sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file())
    print(f"{size / 1000:.0f} kB in {FOLDER}")


if __name__ == "__main__":
    main()
