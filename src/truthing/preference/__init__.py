"""Preferences between two answers: verdicts A, B or tie in both orders; win rates, ranking, and
what each judge's position bias is. On top of the link of `truth`; imported by front doors only.
"""
