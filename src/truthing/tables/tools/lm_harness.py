"""Samples of lm-evaluation-harness: each metric that says right or wrong is a judge."""

from __future__ import annotations

from typing import Any

from truthing.tables.table import Table
from truthing.tables.tools.rows import Rows, chosen, require_known


def matches(records: list[Any]) -> bool:
    return all(
        isinstance(r, dict) and {"doc_id", "target", "filtered_resps"} <= set(r)
        for r in records[:20]
    )


def read(records: list[Any], name: str, question: str | None) -> Table:
    """``doc_id`` comes again for each filter: a metric under another filter is another judge."""
    rows = Rows(name, "lm-evaluation-harness samples", "metric")
    metrics = list(dict.fromkeys(m for r in records for m in r.get("metrics") or _guess(r)))
    filters = list(dict.fromkeys(str(r.get("filter", "none")) for r in records))
    judges = {(m, f): m if len(filters) == 1 else f"{m} ({f})" for m in metrics for f in filters}
    wanted = chosen(question)
    require_known(name, wanted, list(judges.values()))
    for metric in metrics:
        values = [r[metric] for r in records if metric in r]
        if not all(isinstance(v, bool | int | float) and v in (0, 1) for v in values):
            rows.left_out[f"metric {metric!r}, which does not say right or wrong"] += 1
            continue
        for record in records:
            judge = judges[metric, str(record.get("filter", "none"))]
            if metric in record and (wanted is None or judge in wanted):
                rows.label(record["doc_id"], judge, int(record[metric]))
    return rows.table()


def _guess(record: dict[str, Any]) -> list[str]:
    known = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"}
    return [k for k, v in record.items() if k not in known and isinstance(v, bool | int | float)]
