"""A report as one HTML file: no network, no other file, readable without JavaScript; only the
threshold's slider needs it.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from truthing import __version__
from truthing.class_codes import Array
from truthing.metrics.words import metric_words, percent
from truthing.render import svg
from truthing.render.methods import methods
from truthing.render.slices import slice_blocks
from truthing.render.summary import LEVELS, Line, Summary, scale, sensitivity_lines
from truthing.render.words import MEDICAL, gold_alone_line, next_step, number, one_line
from truthing.report import Report
from truthing.requirements import Verdict

FOLDER = Path(__file__).parent / "templates"


def to_html(
    report: Report,
    *,
    level: float = 0.95,
    sensitivity: bool = False,
    terms: str = "usual",
    requirements: Sequence[Verdict] = (),
) -> str:
    """The page. ``level`` is the one shown first; ``sensitivity`` adds the picture of what the
    assumptions do (a few runs).
    """
    levels = tuple(sorted({*LEVELS, level}))
    summary = Summary(report, levels, terms)
    script = (FOLDER / "report.js").read_text()
    paragraph, references = methods(report, level)
    return str(
        template("report.html").render(
            requirements=tuple(requirements),
            names=_names(summary),
            report=report,
            summary=summary,
            blocks=slice_blocks(report, level),
            levels=levels,
            shown=levels.index(level),
            version=__version__,
            css=(FOLDER / "report.css").read_text(),
            script=script,
            script_hash=fingerprint(script),
            verdicts=[report.verdict(each) for each in levels],
            densities=_densities(summary),
            curves=_curves(summary),
            points=_as_json(operating_points(report, levels)),
            sensitivity=_sensitivity(report, levels) if sensitivity else None,
            methods=paragraph,
            references=references,
            python=sys.version.split()[0],
            numpy=np.__version__,
            labeler_scale=(0.0, scale([labeler.error for labeler in summary.labelers])[1]),
            following=next_step(report),
            gold_alone=[gold_alone_line(report, each) for each in levels],
        )
    )


def framed(page: str) -> str:
    """The page inside a notebook: its own document, so that neither side's styles reach the
    other.
    """
    return (
        f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts" '
        'style="width:100%;height:44rem;border:0" title="truthing report"></iframe>'
    )


def fingerprint(script: str) -> str:
    """The only script that the page's security policy lets run."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


@cache
def template(name: str) -> Any:
    """A page's template, with what all of them use."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "is_number": lambda text: not text[:1].isalpha(),
        "number": number,
        "percent": percent,
        "short": one_line,
    }
    environment.globals |= {"track": svg.track}
    return environment.get_template(name)


def _as_json(value: Any) -> str:
    """JSON that cannot end the script element that holds it."""
    return json.dumps(value).replace("<", "\\u003c")


def _densities(summary: Summary) -> list[dict[str, Any]]:
    """The posteriors of the headline metrics on one axis, so that their spreads can be compared."""
    report, found = summary.report, []
    ends = svg.common_ends(
        [(report[name], report.at_face_value(name)) for name in summary.headline]
    )
    for name in summary.headline:
        estimate, title = report[name], summary.title(name)
        low, high = estimate.interval(0.95)
        picture = svg.density(
            estimate,
            summary.levels,
            report.at_face_value(name),
            ends,
            f"Posterior of {title}: most of it lies between {low:.3f} and {high:.3f}, its "
            f"mean is {estimate.mean:.3f}.",
        )
        found.append({"title": title, "picture": picture, "low": ends[0], "high": ends[1]})
    return found


def _curves(summary: Summary) -> list[dict[str, Any]]:
    report = summary.report
    if not _has_curves(report):
        return []
    names, found = _names(summary), []
    for curve, title, across, up in (
        (report.roc(), "ROC", names["false_alarm"], names["recall"]),
        (report.pr(), "Precision and recall", names["recall"], names["precision"]),
    ):
        area = curve.area
        line = (
            None
            if area is None
            else Line.of(
                "AUC" if curve.kind == "roc" else "average precision", area, summary.levels
            )
        )
        sentence = (
            f"{title} curve: {up} against {across} at every threshold, with a band at the chosen "
            "level."
        )
        point = report.operating_point(curve)
        found.append(
            {
                "title": title,
                "across": across,
                "up": up,
                "area": line,
                "picture": svg.curve(curve, summary.levels, point, sentence),
            }
        )
    return found


def _names(summary: Summary) -> dict[str, str]:
    usual = {name: metric_words(name) for name in MEDICAL}
    return MEDICAL if summary.terms == "medical" else usual


def _has_curves(report: Report) -> bool:
    return (
        report.curves is not None
        and report.positive is not None
        and len(svg.thinned(report.roc())) > 0
    )


def operating_points(report: Report, levels: tuple[float, ...]) -> dict[str, Any] | None:
    """Recall, false alarms and precision at each threshold on the page, with limits at each
    level.
    """
    if not _has_curves(report):
        return None
    roc, pr = report.roc(), report.pr()
    kept = svg.thinned(pr)
    bands = [(roc.bands(level), pr.bands(level)) for level in levels]
    here = report.operating_point(roc)
    return {
        "thresholds": [float(f"{t:.6g}") for t in roc.thresholds[kept]],
        "start": int(np.argmin(np.abs(roc.x[kept] - here[0]) + np.abs(roc.y[kept] - here[1]))),
        "recall": {
            "mean": _rounded(roc.y[kept]),
            "limits": [[_rounded(v[kept]) for v in both[0][1]] for both in bands],
        },
        "false_alarm": {
            "mean": _rounded(roc.x[kept]),
            "limits": [[_rounded(v[kept]) for v in both[0][0]] for both in bands],
        },
        "precision": {
            "mean": _rounded(pr.y[kept]),
            "limits": [[_rounded(v[kept]) for v in both[1][1]] for both in bands],
        },
    }


def _rounded(values: Array) -> list[float | None]:
    return [None if np.isnan(v) else round(float(v), 4) for v in values]


def _sensitivity(report: Report, levels: tuple[float, ...]) -> dict[str, Any]:
    """One block for each assumption: accuracy at each of its values."""
    found = report.sensitivity()
    blocks = sensitivity_lines(found, levels)
    return {
        "blocks": blocks,
        "bounds": found.bounds,
        "scale": scale([line for lines in blocks.values() for line in lines]),
    }
