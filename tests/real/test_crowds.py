"""The honesty benchmark in small, on three real crowds: the link covers where the noise model alone
does not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest


def test_intervals_hold_the_truth_on_real_crowds(
    real_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers learned on four crowds, checked on three others, which played no part in them."""
    from fit_link import fit, observe
    from panels import crowd_cases

    import truthing as tr
    from truthing.truth.link import prior as link_prior

    elsewhere = crowd_cases(("bluebird", "dog", "leaves", "labelme"))
    numbers = fit([observe(case) for case in elsewhere], "people")
    monkeypatch.setitem(link_prior.DEFAULT, "people", numbers)
    held, widths, alone, trusting = [], [], [], []
    for k, case in enumerate(crowd_cases(("rte", "temporal", "music_genre"))):
        total, truth, classes = len(case.truth), case.right.mean(), case.labels.classes
        said = [classes[c] for c in case.predicted]
        for n_gold in (0, 25, 50):
            if n_gold > total // 2:
                continue
            chosen = np.random.default_rng(k).permutation(total)[:n_gold]
            gold = {case.labels.items[i]: classes[case.truth[i]] for i in chosen} or None
            asked = {"gold": gold, "panel": "people", "draws": 1000, "seed": k}
            report = tr.grade(said, case.labels, **asked)
            low, high = report["accuracy"].interval(0.95)
            held.append(low <= truth <= high)
            if gold:
                widths.append(high - low)
                alone.append(np.ptp(report.gold_alone["accuracy"].interval(0.95)))
        # the noise model alone is as sure of itself as its sampler
        chance = case.views.posterior[np.arange(total), case.predicted]
        half = 1.96 * np.sqrt((chance * (1 - chance)).sum()) / total
        trusting.append(abs(chance.mean() - truth) <= half)
    assert np.mean(held) > 0.87
    assert np.mean(widths) < 0.85 * np.mean(alone)
    assert np.mean(trusting) < 0.6, "if the papers' assumption held here, no link would be needed"


def test_the_true_share_of_wrong_labels_narrows_and_holds(
    real_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given noise that was trusted held .21 to .33 on real crowds. Numbers of four other crowds; if
    .95 of single cases are held, fewer than 12 of 15 are once in 200 times."""
    from fit_link import fit, observe, wrong_labels
    from panels import crowd_cases

    import truthing as tr
    from truthing.truth.link import prior as link_prior

    elsewhere = crowd_cases(("bluebird", "dog", "leaves", "labelme"))
    numbers = fit([observe(case) for case in elsewhere], "people")
    monkeypatch.setitem(link_prior.DEFAULT, "people", numbers)
    held, widths, plain = [], [], []
    for case in crowd_cases(("rte", "temporal", "music_genre"))[::2]:
        said = [case.labels.classes[c] for c in case.predicted]
        asked = {"panel": "people", "draws": 500}
        wrong = wrong_labels(case.labels, case.truth)
        told = tr.grade(said, case.labels, noise=wrong, **asked)["accuracy"]
        low, high = told.interval(0.95)
        held.append(low <= case.right.mean() <= high)
        widths.append(high - low)
        plain.append(np.ptp(tr.grade(said, case.labels, **asked)["accuracy"].interval(0.95)))
    assert len(held) >= 10
    assert np.mean(held) >= 0.8
    assert np.mean(widths) < 0.95 * np.mean(plain)


def test_rte_grades_end_to_end(real_data: Path) -> None:
    import truthing as tr

    labels = tr.read_labels(real_data / "crowd" / "rte" / "labels.csv")
    gold = tr.read_gold(real_data / "crowd" / "rte" / "truth.csv")
    busiest = labels.labelers[int(np.argmax(labels.per_labeler))]
    mine = labels.select([busiest]).matrix()[:, 0]
    others = labels.select([w for w in labels.labelers if w != busiest])
    some = dict(list(gold.as_dict().items())[:100])
    report = tr.grade(mine, others, gold=some, draws=1000)
    truth = np.mean([gold.as_dict()[i] == m for i, m in zip(labels.items, mine)])
    low, high = report["accuracy"].interval(0.99)
    assert low <= truth <= high
    assert report.noise.confusion.shape == (163, 2, 2)


def test_labelers_are_put_in_the_right_order(real_data: Path) -> None:
    """Learned against true error, labelers with 20 labels or more; measured .80 (rte) and .97
    (bluebird)."""
    from scipy.stats import spearmanr

    import truthing as tr

    for name, least in (("rte", 0.7), ("bluebird", 0.9)):
        labels = tr.read_labels(real_data / "crowd" / name / "labels.csv")
        truth = tr.read_gold(real_data / "crowd" / name / "truth.csv").as_dict()
        known = np.array([labels.classes.index(truth[i]) for i in labels.items])
        wrong = np.bincount(
            labels.labeler[known[labels.item] != labels.label], minlength=labels.n_labelers
        )
        report = tr.labelers(labels, draws=400)
        used = labels.per_labeler >= 20
        rank = spearmanr((wrong / labels.per_labeler)[used], report.error.mean(axis=0)[used])[0]
        assert rank > least, name
        worst = [t for t, kind in enumerate(report.kinds) if kind == "spammer"]
        assert worst
        assert (wrong[worst] / labels.per_labeler[worst] > 0.35).mean() > 0.7


def test_class_shares_hold_the_truth_on_real_crowds(
    real_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers learned from four crowds, class shares of four others; 0 and 50 gold items."""
    from fit_link import fit, observe
    from panels import own_cases, panels

    import truthing as tr
    from truthing.truth.link import prior as link_prior

    names = ("bluebird", "dog", "leaves", "labelme")
    elsewhere = [c for p in panels("people") if p.name in names for c in own_cases(p)]
    numbers = fit([observe(case) for case in elsewhere], "people")
    monkeypatch.setitem(link_prior.OWN_LABELS, "people", numbers)
    checked = ("rte", "temporal", "music_genre", "adult")
    for n_gold in (0, 50):
        held, widths = [], []
        for panel in (p for p in panels("people") if p.name in checked):
            labels, truth = panel.labels, panel.truth
            chosen = np.random.default_rng(1).permutation(len(truth))[:n_gold]
            gold = {labels.items[i]: labels.classes[truth[i]] for i in chosen} or None
            found = tr.prevalence(labels, gold=gold, panel="people", draws=1000)
            for c, name in enumerate(labels.classes):
                low, high = found[name].interval(0.95)
                held.append(low <= (truth == c).mean() <= high)
                widths.append(high - low)
        assert np.mean(held) >= 0.8
        assert np.mean(widths) < (0.35 if n_gold == 0 else 0.2)
