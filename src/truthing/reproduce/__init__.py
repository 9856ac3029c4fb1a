"""The papers' tables and figures: one short file each, ours beside the printed numbers.

Uses the whole library below cli; nothing but cli imports it.
"""

from __future__ import annotations

import importlib

PAPERS = {
    "lam-stork": "Lam & Stork 2003: Tables 1-3, Figures 1 and 2",
    "ishida": "Ishida et al. 2023: Figures 1-4, Fashion-MNIST-H, Table 1 (ICLR)",
    "su": "Su, On Truthing Issues: labelers, Figures 6-8 and Section 5.5; testing, Tables 10-15, "
    "Figures 9-18",
    "su-training": "Su, On Truthing Issues: training on UCI Ionosphere, Figures 19-23",
}


def run(name: str, *, figures: str, quick: bool = False) -> None:
    """Print one paper's reproduction and write its figures."""
    module = importlib.import_module(f"truthing.reproduce.{name.replace('-', '_')}")
    module.main(figures=figures, quick=quick)
