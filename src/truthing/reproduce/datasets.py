"""Public data sets that we may not ship: where to put them, and whether they are the right ones."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from truthing.errors import InputError

CHECKSUMS = {
    "optdigits/optdigits.tra": "e1b683cc211604fe8fd8c4417e6a69f31380e0c61d4af22e93cc21e9257ffedd",
    "optdigits/optdigits.tes": "6ebb3d2fee246a4e99363262ddf8a00a3c41bee6014c373ed9d9216ba7f651b8",
}


def folders() -> list[Path]:
    """Where data sets are looked for: TRUTHING_DATA first, then the cache folder."""
    named = os.environ.get("TRUTHING_DATA")
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "truthing"
    return [*([Path(named)] if named else []), cache]


def find(name: str) -> Path:
    """A data file by its name, checksum verified; otherwise a sentence on where to put it."""
    for folder in folders():
        path = folder / name
        if path.is_file():
            wanted = CHECKSUMS.get(name)
            if wanted is not None and hashlib.sha256(path.read_bytes()).hexdigest() != wanted:
                raise InputError(
                    f"{path} is not the file this reproduction was checked with (SHA-256 differs): get {name} again."
                )
            return path
    places = " or ".join(str(folder / name) for folder in folders())
    raise InputError(
        f"{name} is needed and not here: put it at {places}, or set TRUTHING_DATA to the folder that holds it."
    )
