"""How the test set was drawn: clusters, weights, strata, slices, chosen gold, another prevalence.

`design.py` reads what the user says of the items. Uses data and metrics; imported by `truth`, which
lets it widen and move intervals, and by the front doors.
"""
