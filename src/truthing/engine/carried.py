"""New items beside sums of earlier ones: what was added up before is not read again."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from truthing.engine.base import Engine, Kernel


class Carried(Engine):
    """An engine for new items whose sums begin where those of earlier items ended.

    ``sums`` are results of kernels on the earlier items, by the kernel's name. They stay as they
    were: earlier items keep the posterior of their own fit.
    """

    def __init__(self, engine: Engine, sums: Mapping[str, Any]) -> None:
        self.engine, self.sums, self.n_classes = engine, sums, engine.n_classes

    def map(self, kernel: Kernel, *shared: Any) -> Iterator[Any]:
        return self.engine.map(kernel, *shared)

    def add(self, kernel: Kernel, *shared: Any) -> Any:
        earlier = self.sums.get(kernel.__name__)
        found = self.engine.add(kernel, *shared)
        if earlier is None:
            return found
        total = copy.deepcopy(earlier)
        total += found
        return total
