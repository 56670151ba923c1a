"""Text files read line by line, however long they are: plain, gzip, UTF-8 or UTF-16, within bounds."""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Iterator
from pathlib import Path

from chathpc.adapters.content import DAMAGED, UNPACKED, UNPACKED_PER_BYTE
from chathpc.adapters.glance import GZIP, encoding_of
from chathpc.errors import AdapterError

#: Bytes read at a time, and the most that are unpacked at a time.
PIECE = 1 << 20
#: Characters that a line may have: a call stack of a hundred thousand frames needs some megabytes.
LONGEST = 64 << 20


def lines(path: Path, *, longest: int = LONGEST) -> Iterator[str]:
    r"""The lines of a text file without their ends (`\n` or `\r\n`), unpacked if it is gzip.

    UTF-16 with a byte order mark, else UTF-8; bytes that are no text are replaced. AdapterError for a file that cannot be
    read, for damaged gzip data, for bombs and for lines of more than `longest` characters.
    """
    decoder: codecs.IncrementalDecoder | None = None
    rest = ""
    for piece in pieces(path):
        if decoder is None:
            mark, encoding = encoding_of(piece)
            decoder, piece = codecs.getincrementaldecoder(encoding)("replace"), piece[len(mark) :]
        whole = (rest + decoder.decode(piece)).split("\n")
        rest = whole.pop()
        if len(rest) > longest:
            raise AdapterError(f"has a line of more than {longest:,} characters", path=path, hint="This is no profile.")
        for line in whole:
            yield line.removesuffix("\r")
    if decoder is not None:
        rest += decoder.decode(b"", final=True)
    if rest:
        yield rest.removesuffix("\r")


def pieces(path: Path) -> Iterator[bytes]:
    """The content of a file in pieces of about a megabyte, unpacked if it is gzip (one member or several)."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            first = file.read(PIECE)
            if not first.startswith(GZIP):
                while first:
                    yield first
                    first = file.read(PIECE)
                return
            allowed = UNPACKED + UNPACKED_PER_BYTE * size
            member, data = zlib.decompressobj(wbits=31), first
            while True:
                try:
                    piece = member.decompress(data, PIECE)
                except zlib.error as error:
                    raise AdapterError(f"damaged gzip data: {error}", path=path, hint=DAMAGED) from None
                allowed -= len(piece)
                if allowed < 0:
                    raise AdapterError(
                        f"unpacks to more than {UNPACKED + UNPACKED_PER_BYTE * size:,} bytes",
                        path=path,
                        hint="This is no profile. If it is, unpack it with gunzip and give the result.",
                    )
                if piece:
                    yield piece
                data = member.unused_data if member.eof else member.unconsumed_tail
                if not data:
                    data = file.read(PIECE)
                if not data:
                    if not member.eof:
                        raise AdapterError("the gzip data ends too early", path=path, hint=DAMAGED)
                    return
                if member.eof:
                    if not data.startswith(GZIP[: len(data)]):
                        return  # what follows the last member is padding
                    member = zlib.decompressobj(wbits=31)
    except OSError as error:
        raise AdapterError(
            error.strerror or "cannot be read", path=path, hint="Check the path and its permissions."
        ) from None
