"""Text files read line by line, however long they are: plain, packed, UTF-8 or UTF-16, within bounds."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path

from chathpc.adapters.glance import encoding_of
from chathpc.adapters.packed import packing_of, unpacked, unreadable
from chathpc.errors import AdapterError

#: Bytes read at a time.
PIECE = 1 << 20
#: Characters that a line may have: a call stack of a hundred thousand frames needs some megabytes.
LONGEST = 64 << 20


def lines(path: Path, *, longest: int = LONGEST) -> Iterator[str]:
    r"""The lines of a text file without their ends (`\n` or `\r\n`), unpacked if it is packed.

    UTF-16 with a byte order mark, else UTF-8; bytes that are no text are replaced. AdapterError for a file that cannot be
    read, for damaged packed data, for bombs and for lines of more than `longest` characters.
    """
    rest = ""
    for text in texts(path):
        whole = (rest + text).split("\n")
        rest = whole.pop()
        if len(rest) > longest:
            raise AdapterError(
                f"has a line of more than {longest:,} characters", path=path, hint="This is not a profile."
            )
        for line in whole:
            yield line.removesuffix("\r")
    if rest:
        yield rest.removesuffix("\r")


def texts(path: Path) -> Iterator[str]:
    """The text of a file in pieces, as `lines` reads it."""
    decoder: codecs.IncrementalDecoder | None = None
    for piece in pieces(path):
        if decoder is None:
            mark, encoding = encoding_of(piece)
            decoder, piece = codecs.getincrementaldecoder(encoding)("replace"), piece[len(mark) :]
        yield decoder.decode(piece)
    if decoder is not None:
        yield decoder.decode(b"", final=True)


def pieces(path: Path) -> Iterator[bytes]:
    """The content of a file in pieces of about a megabyte, unpacked if it is packed."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            first = file.read(PIECE)
            if packing_of(first) is None:
                while first:
                    yield first
                    first = file.read(PIECE)
                return
            file.seek(0)
            yield from unpacked(file, size, path)
    except OSError as error:
        raise unreadable(error, path) from None
