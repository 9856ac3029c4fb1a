"""The methods as published: Lam & Stork's closed forms, Su's algorithms and their foils, Ishida's
estimators.

Uses data, noise, metrics and truth; imported by `grading` (methods by name), planning and
reproduce.
"""
