"""Questions of a form: how each is asked, and what its answer is to the library and on the
command line.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from truthing.errors import OPTION_NAMES, InputError


@dataclass(frozen=True)
class Field:
    """One question. ``kind``: choice, class (one of two classes), answer (any that labels hold),
    column (of the files), names (split by commas), number, percent, yes or noise.
    """

    name: str
    words: str
    kind: str
    hint: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    rare: bool = False  # folded away: most people leave it as it is
    default: str = ""  # what the form shows at first
    when: str = ""  # asked only with "files", or only with "no files"

    def value(self, form: Mapping[str, Any]) -> Any:
        """The answer as the library takes it; None where nothing was said."""
        if self.kind == "noise":
            return self._noise(form)
        if self.kind == "yes":
            return True if form.get(self.name) else None
        text = str(form.get(self.name, "")).strip()
        if self.kind == "names":
            return [name.strip() for name in text.split(",") if name.strip()] or None
        if not text or self.kind in ("choice", "class", "answer", "column"):
            return text or None
        return self._number(text, percent=self.kind == "percent")

    def _noise(self, form: Mapping[str, Any]) -> float | tuple[float, float] | None:
        answer = form.get(self.name, "")
        rate, low, high = (
            str(form.get(f"{self.name}-{part}", "")).strip() for part in ("rate", "low", "high")
        )
        if answer == "right":
            return 0.0
        if answer == "rate":
            return self._number(rate, percent=True)
        if answer == "range":
            return self._number(low, percent=True), self._number(high, percent=True)
        return None

    def _number(self, text: str, *, percent: bool) -> float:
        try:
            number = float(text.removesuffix("%").replace(",", "."))
        except ValueError:
            what = self.words.rstrip("?")
            raise InputError(
                f"{what}: {text!r} is not a number." if text else f"{what}: the number is missing."
            ) from None
        return round(number / 100, 8) if percent else number


def option(name: str, value: Any) -> list[str]:
    """An option as one types it.

    >>> option("panel_error", 0.05), option("noise", (0.02, 0.08)), option("positive",
    ...     "not spam"), option("sensitivity", True)
    (['--panel-error', '0.05'], ['--noise', '0.02-0.08'], ['--positive', "'not spam'"],
    ['--sensitivity'])
    >>> option("trained_on_labels", ["a", "b"])
    ['--trained-on-labels', 'a', '--trained-on-labels', 'b']
    """
    if isinstance(value, list):
        return [part for one in value for part in option(name, one)]
    flag = f"--{OPTION_NAMES.get(name, name).replace('_', '-')}"
    return [flag] if value is True else [flag, _spelt(value)]


def _spelt(value: Any) -> str:
    if isinstance(value, tuple):
        return "-".join(map(_spelt, value))
    return shlex.quote(value) if isinstance(value, str) else f"{value:.8g}"
