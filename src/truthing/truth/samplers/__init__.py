"""Samplers of the truth given a noise model: one method, one file; `diagnostics` says whether they mixed."""
