"""Options that belong together: a frozen dataclass of them, spread into a command's own and
collected again.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any, get_type_hints


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose parameters that are dataclasses of options become those options, in their
    place.

    >>> @dataclasses.dataclass(frozen=True)
    ... class Both:
    ...     first: int = 1
    ...     second: int = 2
    >>> def add(more: Both) -> None:
    ...     print(more.first + more.second)
    >>> add.__annotations__ = {"more": Both, "return": None}
    >>> print(inspect.signature(spread(add)))
    (*, first: int = 1, second: int = 2) -> None
    >>> spread(add)(second=5)
    6
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        kind = hints[name]
        if not dataclasses.is_dataclass(kind):
            parameters.append(
                parameter.replace(annotation=kind, kind=inspect.Parameter.KEYWORD_ONLY)
            )
            continue
        groups[name] = kind
        inside = get_type_hints(kind, include_extras=True)
        for field in dataclasses.fields(kind):
            parameters.append(
                inspect.Parameter(
                    field.name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=field.default,
                    annotation=inside[field.name],
                )
            )

    @functools.wraps(command)
    def collected(**given: Any) -> None:
        for name, kind in groups.items():
            members = [field.name for field in dataclasses.fields(kind)]
            given[name] = kind(**{m: given.pop(m) for m in members if m in given})
        command(**given)

    collected.__signature__ = inspect.Signature(parameters, return_annotation=None)  # type: ignore[attr-defined]
    collected.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": None}
    del collected.__wrapped__
    return collected
