"""Inline SVG for the page, drawn here so that it shows without JavaScript; each limit is drawn once
for each level, and CSS shows one of them.

Places are shares of the picture's width and height, in percent, so that lines and words keep their
size on a phone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup, escape

from truthing.class_codes import Array
from truthing.metrics.curves import Curve
from truthing.metrics.estimate import Estimate
from truthing.render.summary import MOST_POINTS, Line

TICKS = (0, 0.25, 0.5, 0.75, 1)
ARROW = 0.008  # shorter corrections are a dot, not an arrow


def element(tag: str, *inside: str, **attributes: object) -> Markup:
    """One SVG element, everything escaped; ``class_`` is class, ``stroke_width`` stroke-width.

    >>> print(element("text", "<script>", class_="name"))
    <text class="name">&lt;script&gt;</text>
    """
    named = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
    )
    return Markup(f"<{tag}{named}>") + Markup("").join(inside) + Markup(f"</{tag}>")


def place(value: float, low: float = 0.0, high: float = 1.0) -> str:
    """
    >>> place(0.25), place(7)
    ('25%', '100%')
    """
    share = (min(max(value, low), high) - low) / (high - low)
    return f"{100 * share:.2f}".rstrip("0").rstrip(".") + "%"


def track(line: Line, caption: str, low: float = 0.0, high: float = 1.0) -> Markup:
    """Interval and estimate on a line from ``low`` to ``high``, and above it an arrow from face
    value to estimate.
    """
    parts = [
        element("line", x1=x, x2=x, y1="0", y2="100%", class_="grid")
        for x in (place(low + t * (high - low), low, high) for t in TICKS)
    ]
    if line.known:
        for k, (left, right) in enumerate(line.limits):
            parts.append(
                element(
                    "line",
                    x1=place(left, low, high),
                    x2=place(right, low, high),
                    y1="26",
                    y2="26",
                    class_=f"limits at at-{k}",
                )
            )
        if line.face_value == line.face_value:
            start, end = place(line.face_value, low, high), place(line.mean, low, high)
            if abs(line.face_value - line.mean) > ARROW * (high - low):
                parts.append(
                    element(
                        "line",
                        x1=start,
                        x2=end,
                        y1="10",
                        y2="10",
                        class_="arrow",
                        marker_end="url(#arrow)",
                    )
                )
            parts.append(element("circle", cx=start, cy="10", r="3.5", class_="face"))
        parts.append(
            element("circle", cx=place(line.mean, low, high), cy="26", r="5", class_="estimate")
        )
    return element("svg", element("title", caption), *parts, class_="track", role="img")


def common_ends(estimates: Sequence[tuple[Estimate, float]]) -> tuple[float, float]:
    """One axis for several posteriors and their face values, at round twentieths."""
    ends = []
    for estimate, face_value in estimates:
        grid, height = estimate.density()
        kept = grid[height > height.max() * 1e-3]
        ends += [float(kept[0]), float(kept[-1])] + [face_value] * (face_value == face_value)
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    low, high = np.floor(20 * low) / 20, np.ceil(20 * high) / 20
    return float(low), float(max(high, low + 0.05))


def density(
    estimate: Estimate,
    levels: Sequence[float],
    face_value: float,
    ends: tuple[float, float],
    caption: str,
) -> Markup:
    """The posterior as a hill between the ends of an axis, its interval filled, face value a dashed
    line.
    """
    grid, height = estimate.density()
    keep = np.flatnonzero(height > height.max() * 1e-3)
    grid, height = grid[keep[0] : keep[-1] + 1], height[keep[0] : keep[-1] + 1]
    low, high = ends
    few = np.linspace(grid[0], grid[-1], 100)
    height = np.interp(few, grid, height) / height.max()
    hill = [element("path", d=_hill(few, height, low, high), class_="hill")]
    for k, level in enumerate(levels):
        left, right = estimate.interval(level)
        inside = np.concatenate([[left], few[(few > left) & (few < right)], [right]])
        hill.append(
            element(
                "path",
                d=_hill(inside, np.interp(inside, few, height), low, high),
                class_=f"inside at at-{k}",
            )
        )
    parts = [
        element(
            "svg",
            *hill,
            viewBox="0 0 100 100",
            preserveAspectRatio="none",
            width="100%",
            height="100%",
        )
    ]
    if face_value == face_value:
        x = place(face_value, low, high)
        parts.append(element("line", x1=x, x2=x, y1="0", y2="100%", class_="face-line"))
    x = place(estimate.mean, low, high)
    parts.append(element("line", x1=x, x2=x, y1="8%", y2="100%", class_="mean-line"))
    return element("svg", element("title", caption), *parts, class_="density", role="img")


def _hill(x: Array, y: Array, low: float, high: float) -> str:
    across = 100 * (x - low) / (high - low)
    points = " ".join(f"{a:.1f},{100 - 92 * b:.1f}" for a, b in zip(across, y))
    return f"M{across[0]:.1f},100 L{points} L{across[-1]:.1f},100 Z"


def curve(found: Curve, levels: Sequence[float], point: tuple[float, float], label: str) -> Markup:
    """A ROC or PR curve with its band; a square where the predictions as given are, a ring that
    follows the threshold.
    """
    kept = thinned(found)
    x, y = found.x[kept], found.y[kept]
    drawn = [
        element("path", d="M0,100 L100,0", class_="chance") if found.kind == "roc" else "",
    ]
    for k, level in enumerate(levels):
        low, high = found.band(level)
        drawn.append(
            element(
                "path",
                d=_band(x, low[kept], high[kept], closed=found.kind == "roc"),
                class_=f"band at at-{k}",
            )
        )
    line = _points(x, y)
    drawn.append(
        element("path", d=f"M{'0,100 ' if found.kind == 'roc' else ''}{line}", class_="curve")
    )
    ticks = []
    for t in TICKS:
        here = place(t)
        ticks.append(element("line", x1=here, x2=here, y1="0", y2="100%", class_="grid"))
        ticks.append(element("line", x1="0", x2="100%", y1=here, y2=here, class_="grid"))
    for t in (0, 0.5, 1):
        ticks.append(element("text", f"{t:g}", x=place(t), y="100%", dy="16", class_="tick across"))
        ticks.append(
            element("text", f"{t:g}", x="0", y=place(1 - t), dx="-8", dy="4", class_="tick up")
        )
    marks = [element("circle", class_="moving", r="7", cx="-100%", cy="0")]
    if point[0] == point[0] and point[1] == point[1]:
        marks.append(
            element(
                "svg",
                element("rect", x="-5", y="-5", width="10", height="10", class_="chosen"),
                x=place(point[0]),
                y=place(1 - point[1]),
                overflow="visible",
            )
        )
    inner = element(
        "svg",
        *drawn,
        viewBox="0 0 100 100",
        preserveAspectRatio="none",
        width="100%",
        height="100%",
    )
    return element(
        "svg",
        element("title", label),
        *ticks,
        inner,
        *marks,
        class_="curve-picture",
        role="img",
        data_kind=found.kind,
    )


def thinned(found: Curve) -> Array:
    """Thresholds that are drawn: all, or as many as can be seen; those without a value are left
    out.
    """
    known = np.flatnonzero(~(np.isnan(found.x) | np.isnan(found.y)))
    return known[
        np.unique(np.linspace(0, len(known) - 1, min(MOST_POINTS, len(known))).round().astype(int))
    ]


def _points(x: Array, y: Array) -> str:
    return " ".join(f"{100 * a:.1f},{100 - 100 * b:.1f}" for a, b in zip(x, y))


def _band(x: Array, low: Array, high: Array, *, closed: bool) -> str:
    known = ~(np.isnan(low) | np.isnan(high))
    x, low, high = x[known], low[known], high[known]
    order = np.argsort(x, kind="stable")
    there, back = _points(x[order], high[order]), _points(x[order[::-1]], low[order[::-1]])
    return f"M{'0,100 ' if closed else ''}{there} {back} Z"
