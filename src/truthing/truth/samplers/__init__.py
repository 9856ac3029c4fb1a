"""Samplers of the truth given a noise model: one method, one file; `diagnostics` says whether they
mixed.

`draws.py` has what they share. Each takes labels and what is known, and gives draws; the seed
decides everything. Imported by `truth`, planning and people.
"""
