"""The honesty benchmark in small, on three real crowds: the link covers where the noise model alone does not."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def test_intervals_hold_the_truth_on_real_crowds(real_data: Path) -> None:
    from crowd_cases import crowd_cases
    from fit_link import fit

    cases = crowd_cases(("rte", "temporal", "music_genre"))
    others = fit(
        crowd_cases(("bluebird", "dog", "leaves", "labelme"))
    )  # learned elsewhere: nothing here is fitted to these sets
    from truthing.truth.link.counts import confusion_draws
    from truthing.truth.link.prior import draw_link, learned_level

    covered, widths, trusting = [], [], []
    for k, case in enumerate(cases):
        total, truth = len(case.truth), case.right.mean()
        for n_gold in (0, 50):
            if n_gold > total // 2:
                continue
            gold = np.full(total, -1)
            chosen = np.random.default_rng(k).permutation(total)[:n_gold]
            gold[chosen] = case.truth[chosen]
            link = draw_link(
                case.readings,
                learned_level(case.readings, others),
                gold,
                n_draws=1000,
                seed=k,
                prior=others,
            )
            low, high = np.quantile(
                np.trace(confusion_draws(link, case.readings, gold, k), axis1=1, axis2=2) / total,
                [0.025, 0.975],
            )
            covered.append(low <= truth <= high)
            widths.append(high - low)
        # the variational posterior of the noise model alone: fast, and as sure of itself as the sampler
        chance = case.readings.posterior[np.arange(total), case.predicted]
        half = 1.96 * np.sqrt((chance * (1 - chance)).sum()) / total
        trusting.append(abs(chance.mean() - truth) <= half)
    assert np.mean(covered) > 0.85
    assert np.mean(widths) < 0.3
    assert np.mean(trusting) < 0.6, (
        "the papers' assumption fails on these crowds: if it did not, the link would not be needed"
    )


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
    """Learned against true error, labelers with 20 labels or more; measured .80 (rte) and .97 (bluebird)."""
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


def test_class_shares_hold_the_truth_on_real_crowds(real_data: Path) -> None:
    """Two multi-class crowds and two of two classes, numbers learned from four others; 0 and 50 gold items."""
    from fit_shares import covered, fit, whole

    prior = fit([whole(name) for name in ("bluebird", "dog", "leaves", "labelme")])
    cases = [whole(name) for name in ("rte", "temporal", "music_genre", "adult")]
    for n_gold in (0, 50):
        found = np.array([np.mean(covered(case, prior, n_gold, seed=1), axis=0) for case in cases])
        assert found[:, 0].mean() >= 0.85
        assert found[:, 1].mean() < 0.25
