from __future__ import annotations

from pathlib import Path

import pytest

import truthing as tr
from truthing.reproduce import datasets, lam_stork


def test_table_3_is_within_two_images(real_data: Path) -> None:
    for pair, ours in lam_stork.table_3().items():
        printed = lam_stork.PRINTED_3[pair]
        assert ours[:2] == printed[:2], (
            "1-nearest-neighbour gives the printed labeler errors exactly"
        )
        assert all(abs(a - b) <= 2 for a, b in zip(ours, printed))


def test_absent_and_altered_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRUTHING_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(tr.InputError, match="TRUTHING_DATA"):
        datasets.find("optdigits/optdigits.tra")
    (tmp_path / "optdigits").mkdir()
    (tmp_path / "optdigits" / "optdigits.tra").write_text("0")
    with pytest.raises(tr.InputError, match="SHA-256 differs"):
        datasets.find("optdigits/optdigits.tra")
