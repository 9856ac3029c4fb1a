"""The bundled example, made by our own simulator: 600 messages, five annotators with gaps, one spam filter.

Ben is careful, Chloe guesses a lot, Dev rarely has time; nobody knows the truth except for 50 messages that an expert looked at.
"""

from pathlib import Path

import polars as pl

import truthing as tr

FOLDER = Path(__file__).parent.parent / "src" / "truthing" / "examples" / "spam"
NAMES = {"w1": "ana", "w2": "ben", "w3": "chloe", "w4": "dev", "w5": "eli"}


def main() -> None:
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
    item = [f"msg-{i + 1:03d}" for i in data.labels.items]
    labels = pl.DataFrame(
        {
            "message": [item[i] for i in data.labels.item],
            "annotator": [NAMES[data.labels.labelers[t]] for t in data.labels.labeler],
            "label": [data.labels.classes[c] for c in data.labels.label],
        }
    )
    predictions = pl.DataFrame(
        {"message": item, "prediction": data.predictions, "score": data.scores.round(3)}
    )
    gold = pl.DataFrame(
        {
            "message": [item[i] for i in data.gold(50, seed=5)],
            "truth": list(data.gold(50, seed=5).values()),
        }
    )
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, frame in (("labels", labels), ("predictions", predictions), ("gold", gold)):
        frame.rename({"message": "item"}).write_csv(FOLDER / f"{name}.csv")
    print("true accuracy", (data.predictions == data.truth).mean())


if __name__ == "__main__":
    main()
