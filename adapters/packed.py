"""Packed data: gzip, xz and zstd, known by their first bytes and unpacked piece by piece within bounds."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, Protocol

from chathpc.errors import AdapterError

#: Bytes that packed data may unpack to: a constant, and a multiple of its size (traces shrink to a hundredth at best).
UNPACKED, UNPACKED_PER_BYTE = 32 << 20, 128
#: Bytes unpacked at a time; and bytes given to the unpacker at first and at most: what a member leaves of them is copied.
PIECE, FEED, FEED_MOST = 4 << 20, 1 << 10, 1 << 20
#: Members of a file: a constant, and how many bytes each takes on average beyond it (the smallest of gzip has 20).
MEMBERS, BYTES_PER_MEMBER = 1_000, 64
#: Bytes to look back on, as a power of two: what zstd takes by default, and twice what the highest level of xz asks for.
WINDOW = 27

DAMAGED = "Copy the file again, or write it again."


def unreadable(error: OSError, path: Path) -> AdapterError:
    """The error for a file that the system does not give."""
    return AdapterError(error.strerror or "cannot be read", path=path, hint="Check the path and its permissions.")


class Unpacker(Protocol):
    """Unpacks one member; what lzma and zstd of the standard library share."""

    @property
    def eof(self) -> bool:
        """True behind the end of the member."""

    @property
    def needs_input(self) -> bool:
        """False while there is more to come from what was given."""

    @property
    def unused_data(self) -> bytes:
        """What was given and lies behind the end."""

    def decompress(self, data: bytes, max_length: int = -1, /) -> bytes:
        """At most `max_length` bytes more."""


class _Gzip:
    """zlib's object with the interface of the others."""

    def __init__(self) -> None:
        self._member = import_module("zlib").decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return bool(self._member.eof)

    @property
    def needs_input(self) -> bool:
        return not self._member.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return bytes(self._member.unused_data)

    def decompress(self, data: bytes, max_length: int = -1, /) -> bytes:
        return bytes(self._member.decompress(self._member.unconsumed_tail + data, max(0, max_length)))


def _gzip() -> tuple[Callable[[], Unpacker], type[Exception]]:
    return _Gzip, import_module("zlib").error


def _xz() -> tuple[Callable[[], Unpacker], type[Exception]]:
    lzma = import_module("lzma")
    return lambda: lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=1 << WINDOW), lzma.LZMAError


def _zstd() -> tuple[Callable[[], Unpacker], type[Exception]]:
    try:
        zstd = import_module("compression.zstd")
    except ImportError:
        zstd = import_module("backports.zstd")
    options = {zstd.DecompressionParameter.window_log_max: WINDOW}
    return lambda: zstd.ZstdDecompressor(options=options), zstd.ZstdError


@dataclass(frozen=True, slots=True)
class Packing:
    """A way of packing: its name, which is also that of its program, how its data begins, and what unpacks it here."""

    name: str
    magic: re.Pattern[bytes]
    unpackers: Callable[[], tuple[Callable[[], Unpacker], type[Exception]]]
    missing: str = "This Python was built without it: "

    @property
    def by_hand(self) -> str:
        """What to do without chathpc."""
        return f"unpack it with {self.name} -d, and give the result."

    def lacking(self) -> str:
        """What to do if nothing here unpacks it; empty if something does."""
        try:
            self.unpackers()
        except ImportError:
            return self.missing + self.by_hand
        return ""


#: What zstd writes begins with a frame, or with one to skip (RFC 8878, 3.1).
PACKINGS = (
    Packing("gzip", re.compile(rb"\x1f\x8b"), _gzip),
    Packing("xz", re.compile(rb"\xfd7zXZ\0"), _xz),
    Packing(
        "zstd", re.compile(rb"(?s:\(\xb5/\xfd|[\x50-\x5f]\x2a\x4d\x18)"), _zstd, "pip install 'chathpc[zstd]', or "
    ),
)


def packing_of(data: bytes) -> Packing | None:
    """How data that begins so is packed; None if it is not."""
    return next((packing for packing in PACKINGS if packing.magic.match(data)), None)


def glimpse(data: bytes, size: int) -> bytes:
    """The first `size` bytes of what `data` begins, as far as it is not damaged; `data` itself if nothing here unpacks it."""
    packing = packing_of(data)
    if packing is None or packing.lacking():
        return data[:size]
    content = b""
    with suppress(AdapterError):
        for piece in unpacked(io.BytesIO(data), len(data), Path(), feed=_STEP):
            content += piece
            if len(content) >= size:
                break
    return content[:size]


#: Bytes unpacked at a time for a glimpse: what lies before damage is seen to this much.
_STEP = 256


def unpack(data: bytes, path: Path) -> bytes:
    """`data` unpacked if it is packed (one member or several); AdapterError for damage and for bombs."""
    if packing_of(data) is None:
        return data
    whole = io.BytesIO()
    for piece in unpacked(io.BytesIO(data), len(data), path):
        whole.write(piece)
    return whole.getvalue()


def unpacked(file: BinaryIO, size: int, path: Path, *, feed: int = FEED_MOST) -> Iterator[bytes]:
    """The content of packed data (one member or several) of `size` bytes in pieces of at most PIECE bytes, `feed` bytes at a time at most.

    What follows the last member and is no member is ignored, as gzip does. AdapterError for damage, for what nothing here
    unpacks, for more than UNPACKED + UNPACKED_PER_BYTE × size bytes, and for members without number.
    """
    allowed = UNPACKED + UNPACKED_PER_BYTE * size
    source, members, total = _Source(file), 0, 0
    packing = packing_of(source.peek(8))
    if packing is None:
        return
    if lacking := packing.lacking():
        raise AdapterError(f"packed by {packing.name}, which is not supported here", path=path, hint=lacking)
    new, damage = packing.unpackers()
    while packing.magic.match(source.peek(8)):
        members += 1
        if members > MEMBERS + size // BYTES_PER_MEMBER:
            raise AdapterError(f"has more than {members - 1:,} {packing.name} members", path=path, hint=DAMAGED)
        try:
            for piece in _member(new(), source, packing, path, feed):
                total += len(piece)
                if total > allowed:
                    raise AdapterError(
                        f"unpacks to more than {allowed:,} bytes, over {UNPACKED_PER_BYTE} times its size",
                        path=path,
                        hint=f"This is not a profile. If it is, {packing.by_hand}",
                    )
                yield piece
        except damage as error:
            raise AdapterError(f"damaged {packing.name} data: {error}", path=path, hint=DAMAGED) from None


class _Source:
    """Bytes of a file that can be given back."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._held, self._at = file, b"", 0

    def peek(self, count: int) -> bytes:
        if len(self._held) - self._at < count:
            self._held, self._at = self._held[self._at :] + self._file.read(FEED_MOST), 0
        return self._held[self._at : self._at + count]

    def take(self, count: int) -> bytes:
        """At most `count` bytes; none at the end of the file."""
        self.peek(1)
        taken = self._held[self._at : self._at + count]
        self._at += len(taken)
        return taken

    def give_back(self, count: int) -> None:
        """The last `count` bytes of what was taken last were too many."""
        self._at -= count


def _member(member: Unpacker, source: _Source, packing: Packing, path: Path, most: int) -> Iterator[bytes]:
    """The pieces of the member that begins where `source` stands, which is left where the member ends."""
    feed = min(FEED, most)
    while not member.eof:
        hungry = member.needs_input
        rest = source.take(feed) if hungry else b""
        piece = member.decompress(rest, PIECE)
        if piece:
            yield piece
        elif hungry and not rest:
            raise AdapterError(f"the {packing.name} data ends too early", path=path, hint=DAMAGED)
        feed = min(2 * feed, most)
    source.give_back(len(member.unused_data))


@contextmanager
def plain_file(path: Path) -> Iterator[Path]:
    """A file with the content of the packed file at `path`, for as long as it is needed; AdapterError as `unpacked`."""
    with TemporaryDirectory(prefix="chathpc-unpacked-") as folder:
        # Adapters name what they read after its file or the folder around it.
        around = Path(folder, path.absolute().parent.name)
        around.mkdir(exist_ok=True)
        plain = around / (path.stem if path.suffix in (".gz", ".xz", ".zst", ".zstd") else path.name)
        try:
            with path.open("rb") as file, plain.open("wb") as whole:
                for piece in unpacked(file, path.stat().st_size, path):
                    whole.write(piece)
        except OSError as error:
            raise AdapterError(
                f"cannot be unpacked: {error.strerror}", path=path, hint="Set TMPDIR to a folder with free space."
            ) from None
        yield plain
