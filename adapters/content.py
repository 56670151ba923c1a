"""Whole files read within bounds: a small file that unpacks to gigabytes, or nests without end, is refused."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

from chathpc.adapters.glance import GZIP
from chathpc.errors import AdapterError

#: The largest file that is read into memory as a whole. Formats that grow beyond it are read in pieces.
LARGEST = 4 << 30
#: Bytes that a compressed file may unpack to: a constant, and a multiple of its size (traces shrink to a hundredth at best).
UNPACKED, UNPACKED_PER_BYTE = 32 << 20, 128
#: Bytes unpacked at a time.
PIECE = 4 << 20

DAMAGED = "Copy the file again, or write it again."


def read_bytes(path: Path, *, largest: int = LARGEST) -> bytes:
    """All of a file, unpacked if it is gzip (by content, not by name); AdapterError beyond the bounds or if it is damaged."""
    try:
        size = path.stat().st_size
        if size > largest:
            raise AdapterError(
                f"has {size:,} bytes; at most {largest:,} are read at once", path=path, hint="Record a shorter run."
            )
        data = path.read_bytes()
    except OSError as error:
        raise AdapterError(
            error.strerror or "cannot be read", path=path, hint="Check the path and its permissions."
        ) from None
    except MemoryError:
        raise AdapterError("needs more memory than there is", path=path, hint="Record a shorter run.") from None
    return unpack(data, path) if data.startswith(GZIP) else data


def unpack(data: bytes, path: Path) -> bytes:
    """`data`, which is gzip (one member or several), unpacked; AdapterError for damage and for bombs."""
    allowed = UNPACKED + UNPACKED_PER_BYTE * len(data)
    pieces, length, rest = [], 0, data
    while rest.startswith(GZIP):
        member = zlib.decompressobj(wbits=31)
        while not member.eof:
            try:
                piece = member.decompress(rest, PIECE)
            except zlib.error as error:
                raise AdapterError(f"damaged gzip data: {error}", path=path, hint=DAMAGED) from None
            rest = member.unconsumed_tail or member.unused_data
            if not piece and not member.eof:
                raise AdapterError("the gzip data ends too early", path=path, hint=DAMAGED)
            length += len(piece)
            if length > allowed:
                raise AdapterError(
                    f"unpacks to more than {allowed:,} bytes, over {UNPACKED_PER_BYTE} times its size",
                    path=path,
                    hint="This is no profile. If it is, unpack it with gunzip and give the result.",
                )
            pieces.append(piece)
        rest = member.unused_data
    return b"".join(pieces)


def read_text(path: Path, *, largest: int = LARGEST) -> str:
    """All of a text file, unpacked if need be: UTF-16 with a byte order mark, else UTF-8; bytes that are no text are replaced."""
    data = read_bytes(path, largest=largest)
    for mark, encoding in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"), (b"\xef\xbb\xbf", "utf-8")):
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    return data.decode("utf-8", "replace")


def read_json(path: Path, *, largest: int = LARGEST) -> Any:
    """The JSON value in a file, unpacked if need be; AdapterError for damage and for nesting without end."""
    return parse_json(read_text(path, largest=largest), path)


def parse_json(text: str, path: Path) -> Any:
    """The JSON value of `text`, which was read from `path`."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise AdapterError(f"damaged JSON: {error.msg}", path=path, offset=error.pos, hint=DAMAGED) from None
    except RecursionError:
        raise AdapterError("the JSON is nested too deeply", path=path, hint="This is no profile.") from None
    except ValueError as error:  # a number with thousands of digits
        raise AdapterError(f"damaged JSON: {error}", path=path, hint=DAMAGED) from None
    except MemoryError:
        raise AdapterError("needs more memory than there is", path=path, hint="Record a shorter run.") from None
