"""Readers as a random sample (multi-reader multi-case): what other readers would reach on other
cases, by the analysis of Obuchowski and Rockette. On top of tables; imported by front doors only.
"""
