"""Su, "On Truthing Issues in Supervised Classification": Figures 6-8 and Section 5.5 on labelers,
and the testing examples, Tables 10-15, Figures 9-18.
"""

from __future__ import annotations

from truthing.reproduce import su_channel, su_examples, su_main, su_points, su_trials

SLOW = ("Sampling (Alg. 2)", "Full Bayes")


def main(*, figures: str, quick: bool = False) -> None:
    """The paper shows one draw of each example; we show what many draws do, the printed number
    beside them.
    """
    su_channel.figures_6_to_8(figures)
    su_channel.section_5_5(10 if quick else 200, figures)
    su_main.table_10(20 if quick else 200)
    su_main.figures(figures)
    su_points.show_11(quick)
    grid = su_points.GRID[::2] if quick else su_points.GRID
    first = su_points.operating_points(grid, range(1), (*su_trials.QUICK, *SLOW))
    more = su_points.operating_points(grid, range(1, 2 if quick else 8), su_trials.QUICK)
    su_points.show_12(first + more, len(grid) ** 2)
    su_points.show_14(first + more, len(grid) ** 2, figures)
    su_examples.two_examples(30 if quick else 200, figures)
    su_examples.tables_13_to_15(2 if quick else 15)
