"""Doctests of the torch losses need torch: left out at home, where it may be absent; in CI it must be there."""

import importlib.util
import os

collect_ignore = []
if importlib.util.find_spec("torch") is None and os.environ.get("CI") != "true":
    collect_ignore.append("src/truthing/train/losses.py")
