"""What a cubin (an ELF file of NVIDIA's compiler) tells beside its instructions: kernels, their parameters and resources, variables."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chathpc.errors import AdapterError

#: Attributes of `.nv.info` that are used: their numbers as cuobjdump -elf names them.
_PARAM_CBANK, _KPARAM_INFO, _REGCOUNT, _FRAME_SIZE, _MIN_STACK_SIZE, _MAX_THREADS = 0x0A, 0x17, 0x2F, 0x11, 0x12, 0x05
#: Formats of an attribute: no value, one byte, two bytes, or so many bytes as its size says.
_SIZED = 4
_ENTRY = 0x10
#: Kinds of sections and symbols.
_NOBITS, _RELA, _REL = 8, 4, 9
_OBJECT = 1
_HINT = "Compile it again: nvcc -cubin."


@dataclass(frozen=True, slots=True)
class Kernel:
    """An entry point: parameters as (offset, bytes) from `base` in constant bank 0, bytes of shared memory and of a thread's stack."""

    name: str
    parameters: tuple[tuple[int, int], ...]
    base: int
    registers: int
    shared: int
    stack: int
    max_threads: int


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the device: in global memory if `bank` is None, else at `offset` of that constant bank; `content` may be shorter."""

    name: str
    size: int
    bank: int | None
    offset: int
    content: bytes


@dataclass(frozen=True, slots=True)
class AddressOf:
    """The address of a symbol that a constant bank, or the variable `holder` if that is named, holds at `place`."""

    bank: int
    place: int
    symbol: str
    addend: int
    holder: str = ""


@dataclass(frozen=True, slots=True)
class Cubin:
    """`constants` are the literals of single functions in bank 2."""

    kernels: Mapping[str, Kernel]
    variables: Sequence[Variable]
    addresses: Sequence[AddressOf]
    constants: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class _Section:
    name: str
    kind: int
    data: bytes
    size: int
    link: int
    info: int


@dataclass(frozen=True, slots=True)
class _Symbol:
    name: str
    value: int
    size: int
    section: int
    kind: int
    other: int


def read(path: Path) -> Cubin:
    """Read a cubin. AdapterError for a file that is none or is cut off."""
    try:
        return _read(path.read_bytes())
    except (struct.error, IndexError, KeyError, ValueError, OverflowError) as error:
        raise AdapterError(f"is no whole cubin ({error})", path=path, hint=_HINT) from error
    except OSError as error:
        raise AdapterError(f"cannot be read ({error.strerror})", path=path, hint=_HINT) from error


def _read(data: bytes) -> Cubin:
    sections = _sections(data)
    symbols = _symbols(sections)
    numbers = {section.name: number for number, section in enumerate(sections)}
    registers, stacks = _resources(sections, symbols)
    kernels = {}
    for symbol in symbols:
        if symbol.kind != 2 or not symbol.other & _ENTRY or not symbol.section:
            continue
        base, parameters, most = _launch_facts(sections, numbers.get(f".nv.info.{symbol.name}"))
        shared = numbers.get(f".nv.shared.{symbol.name}")
        kernels[symbol.name] = Kernel(
            symbol.name, parameters, base, registers.get(symbol.name, 255),
            sections[shared].size if shared is not None else 0, stacks.get(symbol.name, 0), most,
        )  # fmt: skip
    constants = {
        section.name.removeprefix(".nv.constant2."): section.data
        for section in sections
        if section.name.startswith(".nv.constant2.")
    }
    return Cubin(kernels, _variables(sections, symbols), _addresses(sections, symbols), constants)


def _sections(data: bytes) -> list[_Section]:
    if data[:4] != b"\x7fELF" or data[4:5] != b"\x02":
        raise IndexError("not an ELF file of 64 bits")
    begin = struct.unpack_from("<Q", data, 40)[0]
    size, count, names = struct.unpack_from("<HHH", data, 58)
    heads = [struct.unpack_from("<IIQQQQIIQQ", data, begin + size * number) for number in range(count)]
    table = data[heads[names][4] : heads[names][4] + heads[names][5]]
    found = []
    for head in heads:
        body = b"" if head[1] == _NOBITS else data[head[4] : head[4] + head[5]]
        if head[1] != _NOBITS and len(body) < head[5]:
            raise IndexError("a section ends behind the file")
        found.append(_Section(_text(table, head[0]), head[1], body, head[5], head[6], head[7]))
    return found


def _text(table: bytes, at: int) -> str:
    return table[at : table.index(0, at)].decode() if at < len(table) else ""


def _symbols(sections: Sequence[_Section]) -> list[_Symbol]:
    table = next((section for section in sections if section.kind == 2), None)
    if table is None:
        return []
    names = sections[table.link].data
    return [
        _Symbol(_text(names, name), value, size, section, info & 15, other)
        for name, info, other, section, value, size in struct.iter_unpack("<IBBHQQ", table.data)
    ]


def _attributes(data: bytes) -> list[tuple[int, bytes]]:
    """Attributes of a section `.nv.info` with their values."""
    at, found = 0, []
    while at + 4 <= len(data):
        form, attribute, size = struct.unpack_from("<BBH", data, at)
        at += 4
        if form == _SIZED:
            found.append((attribute, data[at : at + size]))
            at += size
        else:
            found.append((attribute, struct.pack("<H", size)))
    return found


def _resources(sections: Sequence[_Section], symbols: Sequence[_Symbol]) -> tuple[dict[str, int], dict[str, int]]:
    """Registers of a thread and bytes of its stack, by function."""
    registers: dict[str, int] = {}
    stacks: dict[str, int] = {}
    for section in sections:
        if section.name != ".nv.info":
            continue
        for attribute, value in _attributes(section.data):
            if attribute in (_REGCOUNT, _FRAME_SIZE, _MIN_STACK_SIZE) and len(value) >= 8:
                symbol, amount = struct.unpack_from("<II", value)
                into = registers if attribute == _REGCOUNT else stacks
                into[symbols[symbol].name] = max(amount, into.get(symbols[symbol].name, 0))
    return registers, stacks


def _launch_facts(sections: Sequence[_Section], number: int | None) -> tuple[int, tuple[tuple[int, int], ...], int]:
    """Where the parameters begin in bank 0, their offsets and sizes, and the most threads of a block (0: not said)."""
    base, found, most = 0x160, {}, 0
    for attribute, value in _attributes(sections[number].data) if number is not None else ():
        if attribute == _PARAM_CBANK:
            base = struct.unpack_from("<H", value, 4)[0]
        elif attribute == _KPARAM_INFO:
            _, ordinal, offset, bits = struct.unpack_from("<IHHI", value)
            found[ordinal] = (offset, bits >> 18)
        elif attribute == _MAX_THREADS:
            x, y, z = struct.unpack_from("<III", value)
            most = x * y * z
    return base, tuple(found[ordinal] for ordinal in sorted(found)), most


def _variables(sections: Sequence[_Section], symbols: Sequence[_Symbol]) -> list[Variable]:
    found = []
    for number, section in enumerate(sections):
        if section.name == ".nv.constant3":
            found.append(Variable("", section.size, 3, 0, section.data))
        if section.name not in (".nv.constant3", ".nv.global", ".nv.global.init"):
            continue
        for symbol in symbols:
            if symbol.section != number or symbol.kind != _OBJECT:
                continue
            if section.name == ".nv.constant3":
                found.append(Variable(symbol.name, symbol.size, 3, symbol.value, b""))
            else:
                content = section.data[symbol.value : symbol.value + symbol.size]
                found.append(Variable(symbol.name, symbol.size, None, 0, content))
    return found


def _addresses(sections: Sequence[_Section], symbols: Sequence[_Symbol]) -> list[AddressOf]:
    found = []
    for section in sections:
        name = sections[section.info].name if section.kind in (_REL, _RELA) else ""
        constant = re.match(r"\.nv\.constant([1-9])", name)
        if constant is None and name != ".nv.global.init":
            continue
        held = [] if constant else [one for one in symbols if one.section == section.info and one.kind == _OBJECT]
        form = "<QQ" if section.kind == _REL else "<QQq"
        for place, info, *addend in struct.iter_unpack(form, section.data):
            symbol, more = symbols[info >> 32].name, addend[0] if addend else 0
            if constant:
                found.append(AddressOf(int(constant[1]), place, symbol, more))
            for one in held:
                if one.value <= place <= one.value + one.size - 8:
                    found.append(AddressOf(0, place - one.value, symbol, more, one.name))
    return found
