"""The long studies' code is what the small seeded tests run."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "studies"))
