"""promptfoo's results: each model-graded assertion is a judge, a person's assertion is gold."""

from __future__ import annotations

from typing import Any

from truthing.tables.table import Table
from truthing.tables.tools.rows import Rows, chosen, require_known

JUDGED = (
    *("llm-rubric", "model-graded-closedqa", "model-graded-factuality", "factuality", "g-eval"),
    *("answer-relevance", "context-faithfulness", "context-recall", "context-relevance"),
    *("conversation-relevance", "pi", "search-rubric", "agent-rubric", "moderation"),
)


def matches(whole: Any) -> bool:
    if not isinstance(whole, dict):
        return False
    results = whole.get("results")
    return isinstance(results, dict) and isinstance(results.get("results"), list)


def matches_lines(records: list[Any]) -> bool:
    return all(isinstance(r, dict) and {"testIdx", "gradingResult"} <= set(r) for r in records[:20])


def read(results: list[Any], name: str, question: str | None) -> Table:
    rows = Rows(name, "promptfoo results")
    found = [r for r in results if isinstance(r, dict)]
    sides = {(r.get("promptIdx"), _provider(r.get("provider"))) for r in found}
    parts = [(r, _components(r)) for r in found]
    wanted = chosen(question)
    names = [_judge(parts_, n) for _, parts_ in parts for n in range(len(parts_))]
    require_known(name, wanted, names)
    seen: dict[str, None] = {}
    for result, components in parts:
        item: Any = result.get("testIdx")
        if len(sides) > 1:
            provider = _provider(result.get("provider"))
            item = f"{item}, prompt {result.get('promptIdx')}, {provider}"
        rows.items.setdefault(item)
        for n, component in enumerate(components):
            assertion = component.get("assertion") or {}
            kind = str(assertion.get("type", "")).removeprefix("not-")
            judge = _judge(components, n)
            if kind == "human":
                rows.human(item, component.get("pass"))
            elif wanted is not None and judge not in wanted:
                continue
            elif kind not in JUDGED and wanted is None:
                rows.left_out["checks by rule, not by a model"] += 1
            elif (component.get("metadata") or {}).get("graderError"):
                rows.left_out["answers that the grader failed to judge"] += 1
            else:
                seen.setdefault(judge)
                rows.label(item, judge, component.get("pass"))
    if len(seen) > 1:
        rows.checks.append(
            f"{name}: the assertions are taken for judges of one question: pass or not. Choose "
            f"those that are with `question={','.join(seen)!r}`."
        )
    return rows.table()


def _components(result: dict[str, Any]) -> list[dict[str, Any]]:
    grading = result.get("gradingResult") or {}
    return [c for c in grading.get("componentResults") or [] if isinstance(c, dict)]


def _judge(components: list[dict[str, Any]], n: int) -> str:
    """The assertion's metric, else its type, with its place where the type comes again."""
    assertion = components[n].get("assertion") or {}
    if assertion.get("metric"):
        return str(assertion["metric"])
    kind = str(assertion.get("type", "assertion"))
    same = [
        k
        for k, c in enumerate(components)
        if (c.get("assertion") or {}).get("type") == assertion.get("type")
    ]
    return kind if len(same) == 1 else f"{kind} {same.index(n) + 1}"


def _provider(provider: Any) -> str:
    return (
        str(provider.get("label") or provider.get("id"))
        if isinstance(provider, dict)
        else str(provider)
    )
