"""What a program's file tells before it is run: its libraries, whether it has device code and frame pointers.

Tables of the ELF format as in the System V ABI, chapters 4 and 5 (https://refspecs.linuxfoundation.org/elf/gabi4+/contents.html).
Counts and offsets are checked against the file's size; what is no ELF file tells nothing.
"""

from __future__ import annotations

import mmap
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

_MAGIC = b"\x7fELF"
#: Bytes of the header of 64-bit files.
_HEADER = 64
_DYNAMIC, _NOBITS, _NEEDED, _COMPRESSED = 6, 8, 1, 0x800
#: A text with a slash and without blanks, brackets and commas, which names of templates and options have.
_PATH = re.compile(rb"(?<=\0)[^\0/ <(,]{0,255}/[^\0 <(,]{0,4000}(?=\0)")
_MOST_SECTIONS, _MOST_ENTRIES = 10_000, 10_000
#: Of the strings of the debug information that are searched for the compiler's options (bytes).
_MOST_STRINGS = 256 << 20
#: e_machine of those whose ABI keeps frame pointers unless told otherwise (AArch64).
_KEEPS_FRAMES = frozenset({183})


@dataclass(frozen=True, slots=True)
class Binary:
    """A program's file. `frame_pointers`: whether its code keeps them, as far as the compiler's options in it say. `paths`: what its debug
    information names with a slash: sources as the compiler was given them, and the folders that it ran in.
    """

    libraries: tuple[str, ...] = ()
    device_code: bool = False
    frame_pointers: bool = False
    paths: tuple[str, ...] = ()

    def links(self, *names: str) -> bool:
        """Whether it needs one of these libraries, by the beginning of their names (`libmpi`)."""
        return any(library.startswith(names) for library in self.libraries)

    @property
    def uses_gpu(self) -> bool:
        """It was built by nvcc, also with a CUDA runtime linked in, or it needs NVIDIA's libraries."""
        return self.device_code or self.links(
            "libcudart", "libcuda.so", "libcublas", "libcufft", "libnccl", "libaccinj"
        )

    @property
    def uses_mpi(self) -> bool:
        """It needs a library of MPI."""
        return self.links("libmpi", "libmpich", "libmpifort", "libfmpi", "libmpi_cray")

    @property
    def uses_openmp(self) -> bool:
        """It needs a run-time library of OpenMP."""
        return self.links("libgomp", "libomp", "libiomp")


def binary(file: Path) -> Binary:
    """What the file at `file` tells; nothing for what is no ELF file, is damaged or cannot be read. Raises nothing."""
    try:
        with file.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _read(data)
    except (OSError, ValueError, struct.error):
        return Binary()


@dataclass(frozen=True, slots=True)
class _Section:
    name: bytes
    kind: int
    flags: int
    offset: int
    size: int
    link: int


def _read(data: mmap.mmap) -> Binary:
    if len(data) < _HEADER or data[:4] != _MAGIC or data[4] != 2:
        return Binary()
    order = "<" if data[5] == 1 else ">"
    machine = struct.unpack_from(f"{order}H", data, 18)[0]
    sections = _sections(data, order)
    names = {section.name for section in sections}
    texts = [one for one in sections if one.name in (b".debug_str", b".debug_line_str") and not one.flags & _COMPRESSED]
    options = b"\0".join(data[one.offset : one.offset + min(one.size, _MOST_STRINGS)] for one in texts)
    return Binary(
        libraries=tuple(dict.fromkeys(_needed(data, order, sections))),
        device_code=any(name.startswith((b".nv_fatbin", b".nvFatBin", b"__nv_relfatbin")) for name in names),
        frame_pointers=machine in _KEEPS_FRAMES or b"-fno-omit-frame-pointer" in options,
        paths=tuple(
            found.group().decode("utf-8", "replace") for found in islice(_PATH.finditer(options), _MOST_ENTRIES)
        ),
    )


def _sections(data: mmap.mmap, order: str) -> list[_Section]:
    (table,) = struct.unpack_from(f"{order}Q", data, 40)
    size, count, names_at = struct.unpack_from(f"{order}3H", data, 58)
    if size != 64 or count > _MOST_SECTIONS or table + size * count > len(data) or names_at >= count:
        return []
    rows = [struct.unpack_from(f"{order}2I4Q2I2Q", data, table + size * number) for number in range(count)]
    names = _text(data, rows[names_at][4], rows[names_at][5])
    found = []
    for name, kind, flags, _, offset, length, link, *_ in rows:
        inside = kind != _NOBITS and offset + length <= len(data)
        end = names.find(b"\0", name)
        found.append(_Section(names[name:end], kind, flags, offset if inside else 0, length if inside else 0, link))
    return found


def _needed(data: mmap.mmap, order: str, sections: list[_Section]) -> Iterator[str]:
    for section in sections:
        if section.kind != _DYNAMIC or section.link >= len(sections):
            continue
        texts = _text(data, sections[section.link].offset, sections[section.link].size)
        for number in range(min(section.size // 16, _MOST_ENTRIES)):
            tag, value = struct.unpack_from(f"{order}2Q", data, section.offset + 16 * number)
            if tag == 0:
                break
            if tag == _NEEDED and value < len(texts):
                yield texts[value : texts.find(b"\0", value)][:255].decode("utf-8", "replace")


def _text(data: mmap.mmap, offset: int, size: int) -> bytes:
    return data[offset : offset + min(size, 64 << 20)]
