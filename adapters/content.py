"""Whole files read within bounds: a small file that unpacks to gigabytes, or nests without end, is refused."""

from __future__ import annotations

import filecmp
import json
import os
import stat
from pathlib import Path
from typing import Any, BinaryIO

from chathpc.adapters.glance import encoding_of
from chathpc.adapters.packed import DAMAGED as DAMAGED
from chathpc.adapters.packed import unpack, unreadable
from chathpc.errors import AdapterError
from chathpc.profile.text import clean

#: The largest file that is read into memory as a whole. Formats that grow beyond it are read in pieces.
LARGEST = 4 << 30


def damaged(path: Path, what: str) -> AdapterError:
    """The error for a file with damage."""
    return AdapterError(what, path=path, hint=DAMAGED)


def same_bytes(one: Path, other: Path) -> bool:
    """True for two files with the same bytes, and for two folders whose own files have the same names and bytes; what lies in folders
    below, such as copies of source, does not count. False for what cannot be read.
    """
    try:
        names, others = _files_in(one), _files_in(other)
        pairs = [(one / name, other / name) for name in names] if names or others else [(one, other)]
        if names != others or not all(file.is_file() for pair in pairs for file in pair):
            return False
        return all(filecmp.cmp(*pair, shallow=False) for pair in pairs)
    except OSError:
        return False


def _files_in(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir() if entry.is_file()} if folder.is_dir() else set()


def read_bytes(path: Path, *, largest: int = LARGEST) -> bytes:
    """All of a file, unpacked if it is packed (by content, not by name); AdapterError beyond the bounds or if it is damaged."""
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            if size > largest:
                what = f"has {size:,} bytes; at most {largest:,} are read at once"
                raise AdapterError(what, path=path, hint="Record a shorter run.")
            data = file.read(size)
        return unpack(data, path)
    except OSError as error:
        raise unreadable(error, path) from None
    except MemoryError:
        raise AdapterError("needs more memory than is available", path=path, hint="Record a shorter run.") from None


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading; AdapterError for anything else: a pipe would block, a device never end."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise AdapterError("is not a regular file", path=path, hint="Give a file, not a pipe, device or folder.")
        return open(path, "rb", opener=_no_wait)
    except OSError as error:
        raise unreadable(error, path) from None
    except ValueError:  # a zero byte
        raise AdapterError("is not a path", path=clean(str(path)), hint="Check the path.") from None


def _no_wait(path: str, flags: int) -> int:
    """Open without waiting for the other end of a pipe."""
    return os.open(path, flags | os.O_NONBLOCK)


def read_text(path: Path, *, largest: int = LARGEST) -> str:
    """All of a text file, unpacked if need be: UTF-16 with a byte order mark, else UTF-8; bytes that are no text are replaced."""
    data = read_bytes(path, largest=largest)
    mark, encoding = encoding_of(data)
    return data[len(mark) :].decode(encoding, "replace")


def read_json(path: Path, *, largest: int = LARGEST) -> Any:
    """The JSON value in a file, unpacked if need be; AdapterError for damage and for nesting without end."""
    return parse_json(read_text(path, largest=largest), path)


def object_in(text: object, longest: int = 1 << 20) -> dict[str, Any]:
    """The JSON object in a text of at most so many characters; empty for anything else."""
    try:
        value = json.loads(text) if isinstance(text, str) and len(text) <= longest else None
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def parse_json(text: str, path: Path) -> Any:
    """The JSON value of `text`, which was read from `path`."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        offset = len(text[: error.pos].encode("utf-8", "surrogatepass"))
        raise AdapterError(f"damaged JSON: {error.msg}", path=path, offset=offset, hint=DAMAGED) from None
    except RecursionError:
        raise AdapterError("the JSON is nested too deeply", path=path, hint="This is not a profile.") from None
    except ValueError as error:  # a number with thousands of digits
        raise AdapterError(f"damaged JSON: {error}", path=path, hint=DAMAGED) from None
    except MemoryError:
        raise AdapterError("needs more memory than is available", path=path, hint="Record a shorter run.") from None
