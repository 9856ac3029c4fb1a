"""Before anything is imported: threads, and doctests that need torch.

Doctests of the torch losses are left out at home, where torch may be absent; CI must have it.
"""

import importlib.util
import os

# test runners fill the processors: threads of their own wait for each other, four times as long
for library in ("NUMBA", "OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

collect_ignore = []
if importlib.util.find_spec("torch") is None and os.environ.get("CI") != "true":
    collect_ignore.append("src/truthing/train/losses.py")
