"""Labelers as a channel: what a label is worth, who adds what, who copies whom."""
