"""Public data sets that we may not ship: where to put them, and whether they are the right ones."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from truthing.errors import InputError

CHECKSUMS = {
    "ionosphere/ionosphere.csv": "9d1dac13ab7a4ba1a0aaafec6a96789b54c46b7526be204e35fec1933dd5f56f",
    "optdigits/optdigits.tra": "e1b683cc211604fe8fd8c4417e6a69f31380e0c61d4af22e93cc21e9257ffedd",
    "optdigits/optdigits.tes": "6ebb3d2fee246a4e99363262ddf8a00a3c41bee6014c373ed9d9216ba7f651b8",
    "cifar10h/cifar10h-counts.npy": "9b36b4550349af56c79083356312eb4af856cc5fd3caf1f669d40b9d0bbb69ff",
    "cifar10h/cifar10_test_labels.npy": "8fba587d5b11011df52b2a20eb4a272eeaf20c2d162554059f714d4b78d23aed",
    "cifar10h/cifar10_test_cv_pred_probs.npy": "c445b25cee680e3919b4bd81d230a5c7c2179ed556609d84e000ee046bb44b49",
    "fashion_mnist_h/fmh_counts.csv": "bec7efff5d6f901a6224758d71caadb436dbd8de1284b0be7089d193be94ddbc",
    "iclr_reviews/iclr_2017.csv": "e690d22c5d341473464c38c6f746687f4a640e5d87619d4ea7d912031ecdac3b",
    "iclr_reviews/iclr_2018.csv": "36728d1f3f1d9ec329db2d0d9139270ff544ae88ba0d4a08ac41b9049a5db2be",
    "iclr_reviews/iclr_2019.csv": "d68960ff85fa602c19af04b331010449aa223386fac3cb440e38bd4dcf6316de",
    "iclr_reviews/iclr_2020.csv": "fdefd916db2670c9062303eb57c38f14f0ab918198fe0facc5edbab1b738d1db",
    "iclr_reviews/iclr_2021.csv": "6a18448719aa6d87c7776329c9079a5650e15140cbd4be9999c7ba1f715833eb",
    "iclr_reviews/iclr_2022.csv": "0f16325c57e8a4703081689b3fa88ebd0239f6e26b6db017a456e281ddbf941a",
    "iclr_reviews/iclr_2023.csv": "8bfc39ddf1fc5d123debfab4c5df1994c9ee0ff7851c666da1154e9528529cd2",
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
                    f"{path} is not the file this reproduction was checked with (SHA-256 "
                    f"differs): get {name} again."
                )
            return path
    places = " or ".join(str(folder / name) for folder in folders())
    raise InputError(
        f"{name} is needed and not here: put it at {places}, or set TRUTHING_DATA to the "
        "folder that holds it."
    )
