"""From the bytes of a text file to UTF-8: byte-order marks, UTF-16, and Western text of old
programs.
"""

from __future__ import annotations

import codecs
import re

from truthing.errors import InputError
from truthing.notes import NOTHING, Notes

# what speaks against Windows-1252: bytes that it lacks or that hardly a Western text holds, what
# is UTF-8 after all, words of foreign letters, and signs in the middle of words
_AGAINST = re.compile(
    rb"[\x81\x83\x86-\x8b\x8d-\x90\x98\x9a\x9b\x9d-\x9f]"
    rb"|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
    rb"|[\xc0-\xff]{3}"
    rb"|(?<![A-Za-z\xc0-\xff])[\xc0-\xff]{2}(?![A-Za-z\xc0-\xff])"
    rb"|[A-Za-z\xc0-\xff][\xa1-\xac\xae-\xb6\xb8-\xbf\xd7\xf7][A-Za-z\xc0-\xff]"
)
# and what speaks for it: accents beside plain letters, or the apostrophe of English words
_FOR = re.compile(
    rb"\w*(?:[A-Za-z][\xc0-\xff]|[\xc0-\xff][A-Za-z])[A-Za-z\xc0-\xff]*"
    rb"|[A-Za-z]+\x92(?:s|t|re|ll|ve|d|m)\b"
)


def to_utf_8(data: bytes, name: str) -> tuple[bytes, Notes]:
    """UTF-8 bytes without a byte-order mark and what was assumed, or a sentence on why not."""
    data = _from_utf_16(data, name)
    if b"\x00" in data:
        line = data[: data.index(b"\x00")].count(b"\n") + 1
        raise InputError(
            f"{name} line {line} holds a NUL byte: this is not a text file, or it is damaged. "
            "Export it again as UTF-8 CSV."
        )
    try:
        data.decode()
    except UnicodeDecodeError as problem:
        utf_8 = data.startswith(codecs.BOM_UTF8) or "end of data" in problem.reason
        example = None if utf_8 else _western(data)
        if example is not None:
            sentence = (
                f"{name} is not UTF-8: it was read as Windows-1252 (Western European), for "
                f"example {example!r}. If that looks wrong, save it as UTF-8."
            )
            return data.decode("cp1252").encode(), Notes(remarks=(sentence,))
        line = data[: problem.start].count(b"\n") + 1
        raise InputError(
            f"{name} line {line} is not UTF-8 (byte 0x{data[problem.start]:02x}), and it cannot be "
            'told what else it is. Save it as UTF-8; Excel calls that "CSV UTF-8".'
        ) from None
    return data.removeprefix(codecs.BOM_UTF8), NOTHING


def _western(data: bytes) -> str | None:
    """A word with an accent where the bytes can hardly be anything but Windows-1252, else None.

    >>> _western("item,label\\n1,café\\n".encode("latin1"))
    'café'
    >>> _western("item,label\\n1,да\\n".encode("cp1251")) is None
    True
    """
    if _AGAINST.search(data):
        return None
    found = _FOR.search(data)
    return None if found is None else found[0].decode("cp1252")


def _from_utf_16(data: bytes, name: str) -> bytes:
    """UTF-16, as Excel's "Unicode text" has it: by its mark, or by a zero in every second byte."""
    coding = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}.get(data[:2])
    head = data[:200]
    if coding is None and len(head) >= 20 and not len(head) % 2:
        if head[1::2].count(0) > 0.9 * len(head) / 2 and not head[::2].count(0):
            coding = "utf-16-le"
        elif head[::2].count(0) > 0.9 * len(head) / 2 and not head[1::2].count(0):
            coding = "utf-16-be"
    if coding is None:
        return data
    try:
        return data.decode(coding).encode()
    except UnicodeError:
        raise InputError(
            f"{name} begins like UTF-16 text but is damaged: save it again as UTF-8."
        ) from None
