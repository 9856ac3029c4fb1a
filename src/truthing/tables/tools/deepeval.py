"""DeepEval's test run: each metric (of each evaluating model) is a judge."""

from __future__ import annotations

from typing import Any

from truthing.tables.table import Table
from truthing.tables.tools.rows import Rows, chosen, require_known


def matches(whole: Any) -> bool:
    return isinstance(whole, dict) and isinstance(_cases(whole), list)


def _cases(whole: dict[str, Any]) -> Any:
    inner = whole.get("testRunData", whole)
    if not isinstance(inner, dict):
        return None
    cases = inner.get("testCases")
    if isinstance(cases, list) and any(isinstance(c, dict) and "metricsData" in c for c in cases):
        return cases
    return None


def read(whole: dict[str, Any], name: str, question: str | None) -> Table:
    rows = Rows(name, "DeepEval test run", "metric")
    cases = [c for c in _cases(whole) if isinstance(c, dict)]
    names = [c.get("name") for c in cases]
    distinct = None not in names and len(set(map(str, names))) == len(names)
    found = [
        (m.get("name"), m.get("evaluationModel")) for c in cases for m in c.get("metricsData") or []
    ]
    models: dict[Any, set[Any]] = {}
    for metric, model in found:
        models.setdefault(metric, set()).add(model)
    wanted = chosen(question)
    require_known(name, wanted, [str(m) for m in models])
    for position, case in enumerate(cases):
        item = case.get("name") if distinct else position
        rows.items.setdefault(item)
        for metric in case.get("metricsData") or []:
            if wanted is not None and str(metric.get("name")) not in wanted:
                continue
            judge = metric.get("name")
            if len(models[judge]) > 1:
                judge = f"{judge} ({metric.get('evaluationModel')})"
            if metric.get("error"):
                rows.left_out["metrics that ended in an error"] += 1
            else:
                rows.label(item, judge, metric.get("success"))
    if len(models) > 1 and wanted is None:
        rows.checks.append(
            f"{name}: the metrics are taken for judges of one question. Choose those that are with "
            f"`question={','.join(map(str, models))!r}`."
        )
    return rows.table()
