"""Pictures of the README from the bundled example: the report as Chromium shows it, and two of its
figures.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

import truthing as tr

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE, FOLDER = ROOT / "src" / "truthing" / "examples" / "spam", ROOT / "docs" / "images"
CHROMIUM = (
    "/usr/bin/chromium",
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1040,1130",
)


def main() -> None:
    report = tr.grade(
        EXAMPLE / "predictions.csv", EXAMPLE / "labels.csv", gold=EXAMPLE / "gold.csv"
    )
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        page = Path(scratch) / "report.html"
        report.to_html(page)
        subprocess.run(
            [
                *CHROMIUM,
                f"--user-data-dir={scratch}/profile",
                f"--screenshot={FOLDER / 'report.png'}",
                page.as_uri(),
            ],
            check=True,
            capture_output=True,
        )
    figure, axes = pyplot.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
    for kind, ax in zip(("density", "confusion", "roc"), axes):
        report.plot(kind, ax)
    figure.savefig(FOLDER / "figures.png", dpi=100)


if __name__ == "__main__":
    main()
