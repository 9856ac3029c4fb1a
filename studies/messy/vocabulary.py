"""Mess in names of classes: one thing in many spellings, and things that look alike."""

from __future__ import annotations

from dataclasses import replace

from messy.world import Mess, Rng, case, guesses, long, table, wide, world

HAM = ["ham", "spam"]


def booleans_and_numbers(rng: Rng) -> Mess:
    return case(world(rng), ["0", "1"], ["False", "True"])


def numbers_and_booleans(rng: Rng) -> Mess:
    return case(world(rng), ["false", "true"], ["0", "1"], ["0.0", "1.0"])


def gold_in_capitals(rng: Rng) -> Mess:
    return case(world(rng), ["0", "1"], ["0", "1"], ["FALSE", "TRUE"])


def gold_yes_no(rng: Rng) -> Mess:
    return case(world(rng), ["0", "1"], ["0", "1"], ["No", "Yes"])


def yes_no_letters(rng: Rng) -> Mess:
    return case(world(rng), ["n", "y"], ["no", "yes"], ["No", "Yes"])


def case_and_blanks(rng: Rng) -> Mess:
    w = world(rng)
    spell = [["ham", "Ham", "ham ", "HAM"], ["spam", " spam", "Spam", "SPAM"]]
    rows = [[i, t, spell[k][int(rng.integers(4))]] for (i, t), k in w.labels.items()]
    mess = case(w, HAM, HAM)
    mess.files["labels.csv"] = table(["item", "labeler", "label"], rows)
    return mess


def whole_floats(rng: Rng) -> Mess:
    return case(world(rng, 4), ["1.0", "2.0", "3.0", "4.0"], ["1", "2", "3", "4"])


def floats_and_integers_mixed(rng: Rng) -> Mess:
    w = world(rng, 3)
    rows = [[i, t, f"{k}.0" if rng.random() < 0.3 else k] for (i, t), k in w.labels.items()]
    mess = case(w, ["0", "1", "2"], ["0", "1", "2"])
    mess.files["labels.csv"] = table(["item", "labeler", "label"], rows)
    return mess


def a_stray_gold_class(rng: Rng) -> Mess:
    w = world(rng)
    odd = next(iter(w.gold))
    mess = case(w, HAM, HAM, HAM)
    w.gold[odd] = 2
    w.n_classes = 3
    rows = [[i, [*HAM, "phishing"][k]] for i, k in w.gold.items()]
    mess.files["gold.csv"] = table(["item", "truth"], rows)
    return mess


def a_misspelt_gold_class(rng: Rng) -> Mess:
    w = world(rng)
    mess = case(w, HAM, HAM, HAM)
    rows = [[i, "spam." if n == 0 else HAM[k]] for n, (i, k) in enumerate(w.gold.items())]
    mess.files["gold.csv"] = table(["item", "truth"], rows)
    return replace(mess, meaning=None)


def numbers_for_names(rng: Rng) -> Mess:
    return replace(case(world(rng), HAM, ["0", "1"]), meaning=None)


def counted_from_zero(rng: Rng) -> Mess:
    return replace(case(world(rng, 5), list("12345"), list("01234")), meaning=None)


def minus_one_and_zero(rng: Rng) -> Mess:
    return replace(case(world(rng), ["0", "1"], ["-1", "1"]), meaning=None)


def a_typing_error(rng: Rng) -> Mess:
    w = world(rng)
    rows = long(w, HAM)
    for n in rng.choice(len(rows), 2, replace=False):
        rows[n][2] = {"ham": "hamm", "spam": "spamm"}[rows[n][2]]
    mess = case(w, HAM, HAM)
    mess.files["labels.csv"] = table(["item", "labeler", "label"], rows)
    return replace(mess, meaning=None)


def one_and_l(rng: Rng) -> Mess:
    w = world(rng)
    rows = [[i, t, "l" if k and rng.random() < 0.1 else k] for (i, t), k in w.labels.items()]
    mess = case(w, ["0", "1"], ["0", "1"])
    mess.files["labels.csv"] = table(["item", "labeler", "label"], rows)
    return replace(mess, meaning=None)


def dashes_and_underscores(rng: Rng) -> Mess:
    return replace(
        case(world(rng), ["not spam", "spam"], ["not_spam", "spam"], ["not-spam", "spam"]),
        meaning=None,
    )


def plurals(rng: Rng) -> Mess:
    return replace(
        case(world(rng, 3), ["cat", "dog", "fish"], ["cats", "dogs", "fish"]), meaning=None
    )


def short_forms(rng: Rng) -> Mess:
    return replace(case(world(rng), ["positive", "negative"], ["pos", "neg"]), meaning=None)


def another_language(rng: Rng) -> Mess:
    return replace(case(world(rng), ["nein", "ja"], ["no", "yes"]), meaning=None)


def half_overlapping(rng: Rng) -> Mess:
    return replace(case(world(rng), ["spam", "ham"], ["spam", "legitimate"]), meaning=None)


def a_class_called_none(rng: Rng) -> Mess:
    names = ["mild", "none", "severe"]
    return case(world(rng, 3), names, names)


def a_class_called_na(rng: Rng) -> Mess:
    w = world(rng, 3)
    files = {"labels.csv": table(["item", *w.labelers], wide(w, ["NA", "EU", "ASIA"]))}
    return Mess(files, meaning=w)


def a_few_errors(rng: Rng) -> Mess:
    w = world(rng)
    word = ["ERROR", "N/A", "null", "nan"][int(rng.integers(4))]
    lost = [key for key in w.labels if rng.random() < 0.015]
    for key in lost:
        del w.labels[key]
    files = {
        "labels.csv": table(["item", *w.labelers], wide(w, HAM, word)),
        "predictions.csv": table(["item", "prediction"], guesses(w, HAM)),
    }
    return Mess(files, predictions="predictions.csv", meaning=w)


def much_is_na(rng: Rng) -> Mess:
    w = world(rng, full=False)
    return Mess({"labels.csv": table(["item", *w.labelers], wide(w, HAM, "NA"))}, meaning=w)


def dashes_for_missing(rng: Rng) -> Mess:
    w = world(rng, full=False)
    return Mess({"labels.csv": table(["item", *w.labelers], wide(w, HAM, "-"))}, meaning=w)


def an_error_as_prediction(rng: Rng) -> Mess:
    w = world(rng)
    rows = guesses(w, HAM)
    rows[3][1] = "ERROR"
    mess = case(w, HAM, HAM)
    mess.files["predictions.csv"] = table(["item", "prediction"], rows)
    return replace(mess, meaning=None)


KINDS = [
    booleans_and_numbers,
    numbers_and_booleans,
    gold_in_capitals,
    gold_yes_no,
    yes_no_letters,
    case_and_blanks,
    whole_floats,
    floats_and_integers_mixed,
    a_stray_gold_class,
    a_misspelt_gold_class,
    numbers_for_names,
    counted_from_zero,
    minus_one_and_zero,
    a_typing_error,
    one_and_l,
    dashes_and_underscores,
    plurals,
    short_forms,
    another_language,
    half_overlapping,
    a_class_called_none,
    a_class_called_na,
    a_few_errors,
    much_is_na,
    dashes_for_missing,
    an_error_as_prediction,
]
