"""Public names loaded when first used: a package's ``__init__.pyi`` lists them once, for people,
type checkers and this loader.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def attach(
    package: str, init: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package, from the imports of the stub
    beside its ``__init__.py``.
    """
    homes = _homes(package, Path(init).with_suffix(".pyi"))

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home, own = homes[name]
        value = (
            getattr(importlib.import_module(home), own) if own else importlib.import_module(home)
        )
        setattr(sys.modules[package], name, value)
        return value

    public = sorted(name for name in homes if not name.startswith("_"))
    return load, lambda: list(public), public


def _homes(package: str, stub: Path) -> dict[str, tuple[str, str | None]]:
    """Each public name's module, and its name there (None: it is the module)."""
    found: dict[str, tuple[str, str | None]] = {}
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                module = node.module == package
                home = f"{package}.{alias.name}" if module else node.module
                found[alias.asname or alias.name] = (home, None if module else alias.name)
    return found
