"""A report on the terminal: a sentence, the metrics with bars, the confusion matrix, labelers, and every doubt in words."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from truthing.metrics.estimate import Estimate
from truthing.rate import Prevalence
from truthing.render.console import safe
from truthing.report import Report

NAMES = {
    "false_alarm": "false alarms",
    "f1": "F1",
    "mcc": "MCC",
    "kappa": "κ",
    "auc": "AUC",
    "balanced_accuracy": "balanced accuracy",
    "average_precision": "average precision",
}
PER_CLASS = ("precision", "recall", "false_alarm", "specificity", "f1")
MOST_CLASSES, MOST_LABELERS, MOST_METRICS = 12, 15, 40


def show(report: Report, console: Console, level: float = 0.95) -> None:
    console.print(Text(safe(report.verdict(level), 1000), style="bold"))
    console.print()
    console.print(metrics_table(report, level, console.width), soft_wrap=False)
    if len(report.classes) <= MOST_CLASSES:
        console.print()
        console.print(confusion_table(report, level), soft_wrap=False)
    if report.noise.confusion is not None and len(report.noise.labelers) > 1:
        console.print()
        console.print(labelers_table(report, level), soft_wrap=False)
    console.print()
    for title, lines in (("Assumed", report.assumptions), ("Check", report.warnings)):
        for line in lines:
            console.print(Text.assemble((f"{title}  ", "bold"), safe(line, 1000)))


def metrics_table(report: Report, level: float, width: int) -> Table:
    bar = max(10, min(30, width - 70))
    table = Table(box=None, pad_edge=False, header_style="")
    table.add_column("")
    table.add_column("estimate", justify="right")
    table.add_column(f"{level:.0%} interval", justify="center")
    table.add_column(Text("0" + " " * (bar - 2) + "1"), no_wrap=True)
    table.add_column("at face value", justify="right")
    names = report.metrics
    for name in names[:MOST_METRICS]:
        estimate = report[name]
        naive = report.at_face_value(name)
        shown = NAMES.get(name, name)
        if report.positive is not None and name in PER_CLASS:
            shown += f" ({report.classes[report.positive]})"
        table.add_row(safe(shown, 40), *cells(estimate, level, bar), "" if naive != naive else f"{naive:.3f}")
    if len(names) > MOST_METRICS:
        table.add_row(f"… {len(names) - MOST_METRICS} more: --json shows all")
    return table


def cells(estimate: Estimate, level: float, bar: int) -> tuple[str, str, str]:
    """Estimate, interval and a bar from 0 to 1."""
    if len(estimate.values) == 0:
        return "–", "undefined", ""
    low, high = estimate.interval(level)
    note = f" ({estimate.undefined:.0%} undefined)" if estimate.undefined > 0.005 else ""
    return f"{estimate.mean:.3f}", f"{low:.3f} – {high:.3f}{note}", drawn_bar(low, estimate.mean, high, bar)


def drawn_bar(low: float, mean: float, high: float, width: int) -> str:
    """
    >>> drawn_bar(0.2, 0.5, 0.8, 11)
    '  ━━━●━━━  '
    """
    place = [round(min(max(v, 0), 1) * (width - 1)) for v in (low, mean, high)]
    line = [" "] * width
    for k in range(place[0], place[2] + 1):
        line[k] = "━"
    line[place[1]] = "●"
    return "".join(line)


def confusion_table(report: Report, level: float) -> Table:
    low, high = report.confusion.interval(level)
    mean = report.confusion.mean
    table = Table(
        box=None, pad_edge=False, header_style="", title="truth ↓  predicted →", title_justify="left", title_style=""
    )
    table.add_column("")
    for name in report.classes:
        table.add_column(safe(name, 16), justify="right")
    for k, name in enumerate(report.classes):
        table.add_row(
            safe(name, 16),
            *(f"{mean[k, j]:.0f} ({low[k, j]:.0f}–{high[k, j]:.0f})" for j in range(len(report.classes))),
        )
    return table


def labelers_table(report: Report, level: float) -> Table:
    noise = report.noise
    assert noise.confusion is not None
    table = Table(
        box=None, pad_edge=False, header_style="", title="labelers, best first", title_justify="left", title_style=""
    )
    for column in ("", "error", f"{level:.0%} interval", *(f"right on {safe(c, 12)}" for c in report.classes[:6])):
        table.add_column(column, justify="left" if not column else "right")
    error = 1 - (noise.prior[:, None] * noise.confusion.diagonal(axis1=1, axis2=2).T).sum(axis=0)
    order = error.argsort()
    interval = noise.error_interval(level)
    for t in order[:MOST_LABELERS]:
        limits = f"{interval[0][t]:.3f} – {interval[1][t]:.3f}" if interval is not None else "given"
        table.add_row(
            safe(noise.labelers[t], 24),
            f"{error[t]:.3f}",
            limits,
            *(f"{noise.confusion[t, c, c]:.2f}" for c in range(min(len(report.classes), 6))),
        )
    if len(order) > MOST_LABELERS:
        table.add_row(f"… {len(order) - MOST_LABELERS} more")
    return table


def show_rate(result: Prevalence, console: Console, level: float = 0.95) -> None:
    """Shares of the classes, for the terminal."""
    best = max(result.classes[:2] if len(result.classes) == 2 else result.classes, key=lambda c: result[c].mean)
    low, high = result[best].interval(level)
    where = f"these {result.sizes['items']:,} items" if result.target == "sample" else "new data like these"
    console.print(
        Text(
            safe(
                f"{best} on {result[best].mean:.0%} of {where}; {level:.0%} sure it is between {low:.1%} and {high:.1%}."
            ),
            style="bold",
        )
    )
    console.print()
    table = Table(box=None, pad_edge=False, header_style="")
    for column in ("", "share", f"{level:.0%} interval", "0" + " " * 28 + "1", "at face value"):
        table.add_column(column, justify="left" if column in ("", "0" + " " * 28 + "1") else "right", no_wrap=True)
    for k, name in enumerate(result.classes[:MOST_METRICS]):
        table.add_row(safe(name, 40), *cells(result[name], level, 30), f"{result.face_value[k]:.3f}")
    console.print(table, soft_wrap=False)
    console.print()
    for title, lines in (("Assumed", result.assumptions), ("Check", result.warnings)):
        for line in lines:
            console.print(Text.assemble((f"{title}  ", "bold"), safe(line, 1000)))
