"""What packs data, by the name of the packing; zstd only where something here unpacks it."""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec

_ZSTD = next(
    (name for name in ("compression.zstd", "backports.zstd") if find_spec(name.partition(".")[0]) and find_spec(name)),
    "",
)


def _zstd(data: bytes) -> bytes:
    return bytes(import_module(_ZSTD).compress(data))


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda data: gzip.compress(data, mtime=0),
    "xz": lambda data: lzma.compress(data, preset=0),
    **({"zstd": _zstd} if _ZSTD else {}),
}
