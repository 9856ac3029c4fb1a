"""Compressed content, with a bound: a small file must not become gigabytes."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable

from truthing.errors import InputError

SMALL = 64_000_000  # bytes that any file may become
TIMES = 100  # and how much a larger one may grow


def gunzip(data: bytes, name: str) -> bytes:
    """What a gzip file holds, all of its members."""
    limit = max(SMALL, TIMES * len(data))
    parts: list[bytes] = []
    size, rest = 0, data
    try:
        while rest[:2] == b"\x1f\x8b":
            stream = zlib.decompressobj(wbits=31)
            part = stream.decompress(rest, limit - size + 1)
            size += len(part)
            if size > limit:
                raise InputError(
                    f"{name} becomes more than {limit // 1_000_000:,} MB when unpacked, over "
                    f"{TIMES} times its size: refused. Unpack it yourself if you trust it."
                )
            if not stream.eof:
                raise EOFError
            parts.append(part)
            rest = stream.unused_data
        if rest.strip(b"\x00"):  # zeros fill up tapes; anything else may be a lost member
            raise EOFError
    except (EOFError, zlib.error):
        raise InputError(
            f"{name} looks gzip-compressed but is damaged or cut short: copy or compress it again."
        ) from None
    return b"".join(parts)


def is_zip(data: bytes) -> bool:
    return data[:4] in (b"PK\x03\x04", b"PK\x05\x06")


class Archive:
    """The members of a zip file; each is read within the bound on the whole."""

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self.left = max(SMALL, TIMES * len(data))
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            self._infos = {info.filename: info for info in self._zip.infolist()}
            self.members = list(self._infos)
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, IndexError):
            raise self._damaged() from None

    def _damaged(self) -> InputError:
        return InputError(f"{self.name} looks like a zip file but is damaged or cut short.")

    def read(self, member: str) -> bytes:
        info = self._infos[member]
        try:
            if info.compress_type == 93:
                data = self._zstandard(info)
            else:
                with self._zip.open(info) as stream:
                    data = stream.read(self.left + 1)
        except InputError:
            raise
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError):
            raise self._damaged() from None
        self.left -= len(data)
        if self.left < 0:
            raise InputError(
                f"{self.name} becomes more than {TIMES} times its size when unpacked: refused."
            )
        return data

    def _zstandard(self, info: zipfile.ZipInfo) -> bytes:
        """Method 93, which Python's zipfile learned late."""
        known = _zstd()
        if known is None:
            raise InputError(
                f"{self.name} is compressed with Zstandard: install its reader "
                'with pip install "truthing[inspect]", or write the log as .json.'
            )
        raw = self._zip.fp
        assert raw is not None
        raw.seek(info.header_offset + 26)
        lengths = raw.read(4)
        skip = int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little")
        raw.seek(info.header_offset + 30 + skip)
        packed = raw.read(info.compress_size)
        decompress, damaged = known
        try:
            data = decompress(packed, min(self.left, info.file_size) + 1)
        except damaged:
            raise self._damaged() from None
        if len(data) <= self.left and zlib.crc32(data) != info.CRC:
            raise self._damaged()
        return data


def _zstd() -> tuple[Callable[[bytes, int], bytes], type[Exception]] | None:
    """A function from packed bytes and a limit to bytes, and what it raises; None without one."""
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]

        return lambda packed, limit: zstd.ZstdDecompressor().decompress(packed, limit), (
            zstd.ZstdError
        )
    except ImportError:
        pass
    try:
        import zstandard  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return None
    return lambda packed, limit: zstandard.ZstdDecompressor().stream_reader(packed).read(limit), (
        zstandard.ZstdError
    )
