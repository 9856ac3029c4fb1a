"""Labelers as a channel: what a label is worth, who adds what, who copies whom.

`labelers.py` is the front door. Uses everything up to `grading`; imported by render, app and cli.
"""
