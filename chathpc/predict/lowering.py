"""SASS as text → the records that the interpreter (machine/interpreter.c) runs.

What an operation does is described in NVIDIA's CUDA Binary Utilities only by name; the meaning of operands here was found by
the code that the compiler makes of known C, and is tested against that (tests/predict/test_interpreter.py).
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.resources import files
from pathlib import Path

from chathpc.diagnosis.sass.opcodes import matrix_shape
from chathpc.diagnosis.sass.text import REGISTER_NAME, is_predicate, operands, written
from chathpc.predict.cubin import Cubin, Variable
from chathpc.profile.machine_code import CodeLine, MachineCode


def _numbered(names: str | Iterable[str]) -> dict[str, int]:
    """Names with their place in the list, as the interpreter's own lists have them."""
    return {name: number for number, name in enumerate(names.split() if isinstance(names, str) else names)}


#: Numbers of the operations, as machine/operations.h orders them.
OPERATIONS = _numbered(
    re.findall(r"OP\((\w+)\)", files("chathpc.predict").joinpath("machine/operations.h").read_text())
)
MAGIC = 0x31504843
NONE, REGISTER, UNIFORM, IMMEDIATE, CONSTANT, PREDICATE, UNIFORM_PREDICATE, BARRIER = range(8)
_NEGATE, _ABSOLUTE, _INVERT, _LOW, _HIGH, _WIDE, _BYTE, _SECOND = 1, 2, 4, 8, 16, 32, 64, 128
_CARRY, _SIGNED, _HI, _WRAP, _LEFT, _LONG, _EXTEND = 1, 2, 4, 8, 16, 32, 64
_SATURATE, _BFLOAT, _FLOAT, _EX, _ONES, _SHIFT, _HALF, _BY_ADDRESS = 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536
_TYPES = _numbered("U8 S8 U16 S16 U32 S32 U64 S64 F16 F32 F64 BF16 S4 U4")
_BYTES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}
_COMPARE = _numbered("F LT EQ LE GT NE GE NUM NAN LTU EQU LEU GTU NEU GEU T MAX MIN")
_BOOLEAN = {"AND": 0, "OR": 1, "XOR": 2}
_ROUND = {"RP": 1, "CEIL": 1, "RM": 2, "FLOOR": 2, "RZ": 3, "TRUNC": 3}
_FUNCTIONS = _numbered("RCP RSQ SQRT EX2 LG2 SIN COS TANH RCP64H RSQ64H")
_ATOMICS = _numbered("ADD MIN MAX INC DEC AND OR XOR EXCH CAS CAST POPC") | {"SUM": 0}
_SPECIAL = {
    "SR_TID.X": 0, "SR_TID.Y": 1, "SR_TID.Z": 2, "SR_CTAID.X": 3, "SR_CTAID.Y": 4, "SR_CTAID.Z": 5, "SR_LANEID": 6,
    "SR_CLOCKLO": 7, "SR_CLOCKHI": 13, "SR_EQMASK": 8, "SR_LTMASK": 9, "SR_LEMASK": 10, "SR_GTMASK": 11, "SR_GEMASK": 12,
    "SRZ": 13, "SR_VIRTID": 14, "SR_SMID": 14, "SR_WARPID": 15, "SR_SWINHI": 17, "SR_LWINHI": 18, "SR_TID": 19,
    "SR_GLOBALTIMERLO": 7,
}  # fmt: skip
#: What accesses to memory are for the interpreter, and where they go: global (0), shared (1), local memory (2), or wherever the address says (4).
_ACCESSES = {
    "LDG": ("LOAD", 0), "LDS": ("LOAD", 1), "LDL": ("LOAD", 2), "LD": ("LOAD", 4), "STG": ("STORE", 0), "STS": ("STORE", 1), "STL": ("STORE", 2),
    "ST": ("STORE", 4), "ATOMG": ("ATOM", 0), "RED": ("ATOM", 0), "ATOMS": ("ATOM", 1), "ATOM": ("ATOM", 4), "LDSM": ("LDSM", 1),
}  # fmt: skip
#: The way that an operation works, by its modifiers; 0 for others.
_WAYS = {
    "SHFL": {"UP": 1, "DOWN": 2, "BFLY": 3}, "MATCH": {"ANY": 1}, "VOTE": {"ANY": 1, "EQ": 2}, "IDP": {"LO": 1, "HI": 2},
    "VABSDIFF": {"ACC": 1}, "LDSM": {"2": 2, "4": 4}, "BAR": {"ARV": 1, "POPC": 2, "AND": 3, "OR": 4}, "QSPC": {"S": 1, "L": 2},
}  # fmt: skip
#: Operations of the uniform datapath are those of the others on other registers.
_UNIFORM = "IADD3 IMAD LEA LOP3 SHF MOV SEL ISETP PRMT FLO POPC BREV BMSK SGXT PLOP3 LDC F2FP IABS"
_UNIFORM_OF = {f"U{name}": name for name in _UNIFORM.split()}
_UNIFORM_OF |= {"VOTEU": "VOTE", "S2UR": "S2R", "CS2UR": "CS2R", "LDCU": "LDC", "UP2UR": "P2R"}
#: A kernel that calls itself has no bound for its stack; so much do we give.
_RECURSION = 1 << 14

#: Functions that the device's runtime brings: the interpreter's number of the first, and their names in its order.
_BUILT_IN = 0x07000000
_FUNCTIONS_OF_DEVICE = ("vprintf", "malloc", "free", "__assertfail")

_CONSTANT = re.compile(r"c\[(0x[0-9a-f]+)\]\s*\[(.*)\]$")
_HEX = re.compile(r"-?0x[0-9a-f]+$", re.IGNORECASE)
_LABEL = re.compile(r"`\(([^()]+)\)")
_LINKED = re.compile(r"32@(lo|hi)\(\(?([^()+]+?)(?:\s*\+\s*([^()@]+)(?:@srel)?)?\)?\)")
#: What means something else in each function: labels, addresses, its literals, jumps.
_OF_ITS_PLACE = re.compile(r"`|32@|c\[0x2\]|\b(BR[AX]|JM[PX]|CALL|RET)")
_SPECIALS = {"INF": 0x7F800000, "QNAN": 0x7FC00000, "SNAN": 0x7F800001, "NAN": 0x7FC00000}


@dataclass(frozen=True, slots=True)
class Operand:
    """A value or place: kind, what is done to it, the number of the register (bank for constants), immediate or offset."""

    kind: int = NONE
    modifiers: int = 0
    index: int = 0
    value: int = 0


_NOTHING = Operand()
_ZERO = Operand(REGISTER, 0, 255)


@dataclass(slots=True)
class Record:
    """An instruction for the interpreter; the fields are those of its `struct instruction`."""

    operation: str = "NOP"
    guard: int = 7
    negated: bool = False
    flags: int = 0
    sub: int = 0
    sub2: int = 0
    type: int = 0
    width: int = 0
    target: int = 0
    operands: list[Operand] = field(default_factory=list)

    def pack(self) -> bytes:
        """Its 80 bytes."""
        flat: list[int] = []
        for operand in [*self.operands, *([_NOTHING] * (8 - len(self.operands)))]:
            flat += (operand.kind, operand.modifiers, operand.index, operand.value & 0xFFFFFFFF)
        return struct.pack(
            "<HBBIBBBBi" + "BBHI" * 8, OPERATIONS[self.operation], self.guard, self.negated, self.flags, self.sub, self.sub2,
            self.type, self.width, self.target, *flat,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Place:
    """Where the code of a function begins among all instructions, and its labels."""

    entry: int
    labels: Mapping[str, int]
    literals: int


@dataclass(frozen=True, slots=True)
class Lowered:
    """All code of a program: what the interpreter loads, its kernels, and functions one behind the other; instructions that are not known."""

    data: bytes
    kernels: tuple[str, ...]
    code: tuple[MachineCode, ...]
    unknown: Mapping[str, int]

    def instructions(self) -> Iterator[tuple[int, CodeLine]]:
        """All instructions with their places in the code."""
        return enumerate(line for code in self.code for line in code.lines)


def operand(text: str, *, real: bool = False, wide: bool = False) -> Operand:
    """The operand that a piece of text is; a number is the bits of a float where `real`, the upper half of a double where `wide`."""
    text = text.strip()
    modifiers = 0
    if text[:1] in "-~!" and not _is_number(text):
        modifiers |= {"-": _NEGATE, "~": _INVERT, "!": _INVERT}[text[0]]
        text = text[1:].strip()
    if text.startswith("|"):
        modifiers |= _ABSOLUTE
        text = text.replace("|", "", 2)
    text = text.replace(".reuse", "")
    if match := REGISTER_NAME.fullmatch(text):
        kind, constant = _KINDS[match[1]]
        modifiers |= _SUFFIXES.get(match[3].removesuffix(".64"), 0)
        return Operand(kind, modifiers, int(match[2]) if match[2].isdigit() else constant)
    if match := _CONSTANT.match(text):
        inner = match[2].strip()
        return Operand(CONSTANT, modifiers, int(match[1], 16), int(inner, 16) if _HEX.match(inner) else 0)
    return Operand(IMMEDIATE, modifiers, 0, _number(text, real, wide))


#: What is written behind a register: a half for both, or a part of it.
_SUFFIXES = {
    ".H0_H0": _LOW, ".H1_H1": _HIGH, ".B1": _BYTE | _SECOND, ".B2": _BYTE | _HIGH, ".H1": _BYTE | _HIGH, ".B3": _BYTE | _HIGH | _SECOND,
}  # fmt: skip
#: Kinds of registers, and the number of the one that holds zeros, or is true.
_KINDS = {
    "R": (REGISTER, 255),
    "UR": (UNIFORM, 63),
    "P": (PREDICATE, 7),
    "UP": (UNIFORM_PREDICATE, 7),
    "B": (BARRIER, 0),
}


def _is_number(text: str) -> bool:
    return text[1:2].isdigit() or text[1:].strip().rstrip() in _SPECIALS


def _number(text: str, real: bool, wide: bool) -> int:
    """The bits of a number."""
    if _HEX.match(text):
        return int(text, 16) & 0xFFFFFFFF
    sign = 0x80000000 if text.startswith("-") else 0
    word = text.lstrip("+-").strip()
    if word in _SPECIALS:
        return sign | ({"INF": 0x7FF00000}.get(word, 0x7FF80000) if wide else _SPECIALS[word])
    try:
        value = float(text)
    except ValueError:
        return 0
    if wide:
        return int.from_bytes(struct.pack("<d", value)[4:], "little")
    if real:
        try:
            return int.from_bytes(struct.pack("<f", value), "little")
        except OverflowError:
            return sign | _SPECIALS["INF"]
    return int(value) & 0xFFFFFFFF


def _halves(high: str, low: str, bfloat: bool) -> Operand:
    """Two immediates of 16 bits, the upper first."""

    def half(text: str) -> int:
        bits = _number(text, True, False)
        if bfloat:
            return bits >> 16
        try:
            return int.from_bytes(struct.pack("<e", *struct.unpack("<f", struct.pack("<I", bits))), "little")
        except OverflowError:  # infinite
            return 0x7C00 | bits >> 16 & 0x8000

    return Operand(IMMEDIATE, 0, 0, half(high) << 16 | half(low))


def address(text: str) -> tuple[Operand, Operand, Operand]:
    """Register, uniform register and offset of an address in brackets: `[R2.64+UR4+0x10]`, `[R9.X4+0x8]`, `desc[UR4][R2.64]`."""
    inner = text[text.rindex("[") + 1 : text.rindex("]")]
    base, uniform, offset = _ZERO, _NOTHING, 0
    for sign, part in re.findall(r"([+-]*)\s*([^+-]+)", inner):
        match = re.match(r"(U?)R(\d+|Z)((?:\.\w+)*)", part)
        wide = _WIDE if ".64" in part else 0
        if match is None:
            offset += -int(part, 16) if "-" in sign else int(part, 16)
        elif match[1] and match[2] != "Z":
            # The base comes before it: a pair or, where that is said to be of 32 bits, the lower part of the sum.
            uniform = Operand(
                UNIFORM, wide or base.modifiers & _WIDE or (_WIDE if ".U32" in inner else 0), int(match[2])
            )
        elif not match[1]:
            scale = re.search(r"\.X(\d+)", part)
            shift = int(scale[1]).bit_length() - 1 if scale else 0
            base = Operand(REGISTER, wide, 255 if match[2] == "Z" else int(match[2]), shift)
    return base, uniform, Operand(IMMEDIATE, 0, 0, offset & 0xFFFFFFFF)


def _predicates(parts: list[str]) -> list[Operand]:
    return [operand(each) for each in parts if is_predicate(each)]


def _result(text: str) -> Operand:
    """A predicate that is written; PT is none."""
    found = operand(text)
    return _NOTHING if found.index == 7 else found


def _filled(found: list[Operand], count: int) -> list[Operand]:
    return [*found[:count], *[_NOTHING] * (count - len(found))]


def _arranged(parts: list[str], numbers: Callable[[list[str]], list[Operand]], *, result: bool = True) -> list[Operand]:
    """The eight places of an instruction: result, three sources, two predicates that are written and two that are read."""
    left = list(parts)
    written: list[Operand] = []
    first = _NOTHING
    for behind in (False, True):
        if behind and result:
            first = operand(left.pop(0))
        while left and is_predicate(left[0]) and len(written) < 2:
            written.append(_result(left.pop(0)))
    read: list[Operand] = []
    while left and is_predicate(left[-1]):
        read.insert(0, operand(left.pop()))
    return [first, *_filled(numbers(left), 3), *_filled(written, 2), *_filled(read, 2)]


def _operands(parts: list[str], *, real: bool = False, wide: bool = False) -> list[Operand]:
    return [operand(each, real=real, wide=wide) for each in parts]


#: What numbers are among operands: whole, floats, upper halves of doubles as they stand.
_integers, _reals, _upper_halves = _operands, partial(_operands, real=True), partial(_operands, wide=True)


def _doubles(parts: list[str]) -> list[Operand]:
    """An immediate of a double holds its upper half."""
    found = _upper_halves(parts)
    return [replace(each, modifiers=each.modifiers | _WIDE) if each.kind == IMMEDIATE else each for each in found]


def _half_pairs(parts: list[str], bfloat: bool = False) -> list[Operand]:
    """Sources of half precision: immediates come in pairs."""
    found, at = [], 0
    while at < len(parts):
        each = operand(parts[at], real=True)
        if each.kind == IMMEDIATE and at + 1 < len(parts):
            each = _halves(parts[at], parts[at + 1], bfloat)
            at += 1
        found.append(each)
        at += 1
    return found


#: Operations whose operands stand in the usual order, and what their numbers are.
_USUAL: dict[str, Callable[[list[str]], list[Operand]]] = {
    **dict.fromkeys(
        "IADD3 IMAD SHF IABS POPC BREV FLO MOV PRMT R2P BMSK SGXT SEL IMNMX ISETP MATCH REDUX SHFL I2IP LEA LOP3 IDP VABSDIFF".split(),
        _integers,
    ),
    **dict.fromkeys("FADD FMUL FFMA MUFU FCHK FSETP FSEL FMNMX FSET F2FP".split(), _reals),
    **dict.fromkeys("DADD DMUL DFMA DSETP".split(), _doubles),
    **dict.fromkeys("HADD2 HMUL2 HFMA2 HMNMX2 HSET2 HSETP2".split(), _half_pairs),
}
_RENAMED = {
    "VIADD": "IADD3", "IADD": "IADD3", "VIMNMX": "IMNMX", "VIADDMNMX": "IMNMX", "VIMNMX3": "IMNMX", "R2UR": "MOV", "VABSDIFF4": "VABSDIFF", "REDG": "RED",
}  # fmt: skip
#: Operations that write no register but predicates.
_NO_RESULT = frozenset("ISETP FSETP DSETP HSETP2 FCHK".split())
_FLAGS = {
    "X": _CARRY, "EX": _EX, "SH": _SHIFT, "RELU": _SHIFT, "SAT": _SATURATE, "W": _WRAP, "BF": _ONES, "HI": _HI, "L": _LEFT, "BF16": _BFLOAT,
    "BF16_V2": _BFLOAT, "SX32": _EXTEND, "U64": _LONG, "S64": _LONG, "F32": _FLOAT, "16x2": _HALF, "S16x2": _HALF, "U16x2": _HALF,
}  # fmt: skip


def _first(modifiers: tuple[str, ...], numbers: Mapping[str, int], default: int = 0) -> int:
    return next((numbers[each] for each in modifiers if each in numbers), default)


def _usual(record: Record, modifiers: tuple[str, ...], parts: list[str]) -> list[Operand]:
    name, numbers = record.operation, _USUAL[record.operation]
    record.sub2 = _first(modifiers, _ROUND)
    if "SETP" in name or name == "FSET" or numbers is _half_pairs:
        record.sub, record.sub2 = _first(modifiers, _COMPARE), _first(modifiers, _BOOLEAN)
    elif name == "IMAD" and ("WIDE" in modifiers or "HI" in modifiers):
        record.operation = "IMAD_WIDE" if "WIDE" in modifiers else "IMAD_HI"
    elif name in ("LEA", "LOP3"):
        # The last number is the shift, or the table of the function. What LEA shifts may have an upper word, before it.
        at = max(n for n, each in enumerate(parts) if not is_predicate(each))
        record.sub = int(parts.pop(at), 16)
        record.operation = "LEA_HI" if name == "LEA" and "HI" in modifiers else name
    elif name == "REDUX":
        record.sub = _first(modifiers, _ATOMICS, _ATOMICS["AND"])
        record.flags &= ~(0 if "S32" in modifiers else _SIGNED)
    elif name == "I2IP":
        record.type = _TYPES[modifiers[0]]
    elif name == "IDP":
        first, second = (each for each in modifiers if each[1:].isdigit() and each[0] in "US")
        record.flags = (_SIGNED if first[0] == "S" else 0) | (_EXTEND if second[0] == "S" else 0)
    elif name == "MUFU":
        record.sub = _FUNCTIONS[modifiers[0]]
        numbers = _upper_halves if modifiers[0].endswith("64H") else numbers
    if record.flags & _BFLOAT and numbers is _half_pairs:
        numbers = partial(_half_pairs, bfloat=True)
    return _arranged(parts, numbers, result=name not in _NO_RESULT)


def _computed(record: Record, modifiers: tuple[str, ...], parts: list[str]) -> list[Operand]:
    """Operations on numbers and predicates that are written in an order of their own."""
    match record.operation:
        case "PLOP3":
            x, y, z = _integers(parts[2:5])
            record.sub, record.sub2 = int(parts[5], 16), int(parts[6], 16)
            return [_NOTHING, _NOTHING, _NOTHING, z, _result(parts[0]), _result(parts[1]), x, y]
        case "P2R":
            record.sub = next((8 * int(each[1]) for each in modifiers if re.match(r"B\d", each)), 0)
            # the first of the predicates, uniform ones follow the others
            record.sub2 = 8 if parts[1].strip() == "UPR" else 0
            return _integers([parts[0], *parts[2:4]])
        case "S2R" | "CS2R":
            record.flags |= _LONG if record.operation == "CS2R" and "32" not in modifiers else 0
            record.operation = "S2R"
            record.sub = _SPECIAL.get(parts[1].strip(), 13)
            return [operand(parts[0])]
        case "VOTE":
            value = _NOTHING if is_predicate(parts[0]) else operand(parts.pop(0))
            written = _result(parts[0]) if len(parts) > 1 else _NOTHING
            return [value, _NOTHING, _NOTHING, _NOTHING, written, _NOTHING, operand(parts[-1])]
        case "HMMA" | "IMMA" | "DMMA":
            return _matrix(record, modifiers, parts)
        case _:
            return _converted(record, modifiers, parts)


def _converted(record: Record, modifiers: tuple[str, ...], parts: list[str]) -> list[Operand]:
    types = [each for each in modifiers if each in _TYPES]
    whole = [each for each in types if "F" not in each]
    real = [each for each in types if "F" in each]
    record.flags, record.sub2 = 0, _first(modifiers, _ROUND)
    into, source = (types or ["F32"])[0], (types[1:] or types or ["F32"])[0]
    if record.operation in ("I2F", "I2FP"):
        into, source = (real or ["F32"])[0], (whole or ["S32"])[0]
    elif record.operation == "F2I":
        into, source = (whole or ["S32"])[0], (real or ["F32"])[0]
    elif record.operation == "FRND":
        into = source = (real or ["F32"])[0]
        record.flags = _EXTEND
    record.operation = "CONVERT"
    record.type, record.sub = _TYPES[into], _TYPES[source]
    numbers = _doubles if source == "F64" else _reals if "F" in source else _integers
    return [operand(parts[0]), *numbers(parts[-1:])]


def _matrix(record: Record, modifiers: tuple[str, ...], parts: list[str]) -> list[Operand]:
    rows, depth = matrix_shape(modifiers) or (0, 0)
    types = [each for each in modifiers if each in ("U8", "S8", "U4", "S4", "BF16")] or [
        "F32" if "TF32" in modifiers else "F16"
    ]
    if record.operation == "DMMA":
        types = ["F64"]
    elif record.operation == "HMMA" and "F16" in modifiers:
        record.flags |= _HALF
    record.operation = "MATRIX" if rows and "SP" not in modifiers else "UNKNOWN"
    record.width, record.sub2, record.type, record.sub = rows, depth, _TYPES[types[0]], _TYPES[types[-1]]
    return _integers(parts[:4])


def _accessed(record: Record, modifiers: tuple[str, ...], parts: list[str]) -> list[Operand]:
    """Accesses to memory, and what is asked of addresses."""
    if record.operation in ("LOAD", "STORE", "LDC", "LDGSTS"):
        name = next((each for each in modifiers if each in _BYTES), "")
        record.width, record.type = _BYTES.get(name, 4), _TYPES.get(name, _TYPES["U32"])
    match record.operation:
        case "LOAD":
            place = next(each for each in parts if "[" in each)
            return [operand(next(each for each in parts if not is_predicate(each))), *address(place)]
        case "STORE":
            return [operand(parts[-1]), *address(parts[0])]
        case "ATOM":
            return _atomic(record, modifiers, parts)
        case "LDC":
            match = re.match(r"c\[(0x[0-9a-f]+)\]\s*(\[.*\])", parts[1].strip())
            if match is None:
                raise ValueError(parts[1])
            record.sub = int(match[1], 16)
            return [operand(parts[0]), *address(match[2])]
        case "LDGSTS":
            base, _, offset = address(parts[0])
            read = _predicates(parts[2:])
            return [replace(base, value=offset.value), *address(parts[1]), _NOTHING, _NOTHING, *read[:1]]
        case "LDSM":
            record.sub = record.sub or 1
            record.flags |= _WRAP if any(each.startswith("MT") for each in modifiers) else 0
            return [operand(parts[0]), *address(parts[1])]
        case "QSPC":
            base, *rest = address(parts[2])
            return [_NOTHING, replace(base, modifiers=_WIDE), *rest, _result(parts[0])]
        case _:  # textures and surfaces
            stores = record.operation.startswith(("SUST", "SURED"))
            record.operation, record.sub = "TEXTURE", 2
            results = [operand(each) for each in parts if re.match(r"R\d+$", each)]
            return [] if stores else results[:1]


def _atomic(record: Record, modifiers: tuple[str, ...], parts: list[str]) -> list[Operand]:
    record.sub = _first(modifiers, {name: _ATOMICS[name] for name in ("CAST", "POPC")}, _first(modifiers, _ATOMICS))
    halves = {"F16x2": "F16", "BF16x2": "BF16", "BF16_V2": "BF16"}
    name = next((halves.get(each, each) for each in modifiers if halves.get(each, each) in _TYPES), "")
    wide = "64" in modifiers or name in ("U64", "S64", "F64")
    record.type = _TYPES[name or ("U64" if wide else "U32")]
    record.width = 8 if wide else 4
    predicate = _result(parts.pop(0)) if is_predicate(parts[0]) else _NOTHING
    at = next(number for number, each in enumerate(parts) if "[" in each)
    result = operand(parts[0]) if at else _ZERO
    base, uniform, offset = address(parts[at])
    if "E" in modifiers and not uniform.kind:  # some are printed without the .64 of their address
        base = replace(base, modifiers=_WIDE)
    values = [*_integers(parts[at + 1 : at + 3]), _ZERO, _ZERO]
    return [result, base, uniform, offset, predicate, *values[:2]]


def _joined(record: Record, modifiers: tuple[str, ...], parts: list[str]) -> list[Operand]:
    """Where lanes, warps and blocks wait for each other, and what they keep for that."""
    match record.operation:
        case "BSSY" | "BSYNC" | "BREAK":
            barrier = next((operand(each) for each in parts if re.match(r"B\d", each)), Operand(BARRIER))
            predicates = _predicates(parts) if record.operation == "BREAK" else []
            return [barrier, *[_NOTHING] * 5, *predicates[:1]]
        case "BMOV":
            record.operation = "BMOV_IN" if re.match(r"B\d", parts[0]) else "BMOV_OUT"
            record.flags |= _WRAP if "CLEAR" in modifiers else 0
            return _integers(parts[:2])
        case "BAR":
            numbers = _filled([operand(each) for each in parts if not is_predicate(each)], 3)
            return [_NOTHING, *numbers, _NOTHING, _NOTHING, *_predicates(parts)[:1]]
        case "WARPSYNC":
            values = [each for each in parts if not is_predicate(each) and "`" not in each]
            return [_NOTHING, operand(values[0]) if values else Operand(IMMEDIATE, 0, 0, 0xFFFFFFFF)]
        case _:  # what B2R and LEPC take
            written = [_result(each) for each in parts[1:2] if is_predicate(each)]
            return [operand(parts[0]), _NOTHING, _NOTHING, _NOTHING, *written]


#: Where operands stand, by opcode.
_ARRANGEMENTS: dict[str, Callable[[Record, tuple[str, ...], list[str]], list[Operand]]] = {
    **dict.fromkeys(_USUAL, _usual),
    **dict.fromkeys("PLOP3 P2R S2R CS2R VOTE HMMA IMMA DMMA F2F F2I I2F I2FP FRND I2I".split(), _computed),
    **dict.fromkeys(_ACCESSES, _accessed),
    **dict.fromkeys("LDC LDGSTS QSPC TEX TLD TLD4 TXQ TXD TMML SULD SUST SURED SUATOM".split(), _accessed),
    **dict.fromkeys("BSSY BSYNC BREAK BMOV BAR WARPSYNC B2R LEPC".split(), _joined),
}
_PASSES = frozenset(
    "NOP YIELD NANOSLEEP MEMBAR ERRBAR CCTL CCTLL DEPBAR LDGDEPBAR PMTRIG KILL WARPSYNCALL FENCE ACQBULK CGAERRBAR ENDCOLLECTIVE PREEXIT".split()
)


def record_of(
    text: str, index: int, function: str, places: Mapping[str, Place]
) -> tuple[Record, list[tuple[int, int, str, int]]]:
    """The record of one instruction, `index` among all; and addresses to be put in: operand, half (1: upper), variable, addend."""
    record, one = Record(), written(text)
    record.negated = one.negated
    if one.guard:
        if one.guard[-1] == "T" and one.negated:
            return Record(), []
        record.guard = 7 if one.guard[-1] == "T" else int(one.guard[-1]) + (8 if one.guard[0] == "U" else 0)
    opcode, *modifiers = one.word.split(".")
    rest = one.rest
    uniform = _UNIFORM_OF.get(opcode)
    opcode = uniform or opcode
    here = places[function]
    if opcode == "BPT":  # a trap
        opcode = "EXIT"
    if opcode in ("BRA", "JMP", "CALL", "RET", "BRX", "JMX", "BRXU", "EXIT"):
        _branch(record, opcode, tuple(modifiers), rest, index, function, places)
        return record, []
    if opcode in _PASSES:
        record.operation = "YIELD"
        return record, []
    opcode = _RENAMED.get(opcode, opcode)
    arranged = _ARRANGEMENTS.get(opcode)
    if arranged is None:
        record.operation = "UNKNOWN"
        return record, []
    record.operation, record.sub2 = _ACCESSES.get(opcode, (opcode, 0))
    for each in modifiers:
        record.flags |= _FLAGS.get(each, 0)
    record.flags |= 0 if {"U32", "U64", "U8", "U16x2"} & set(modifiers) else _SIGNED
    record.flags |= _WRAP if one.opcode == "VABSDIFF4" else 0
    fixes: list[tuple[int, int, str, int]] = []
    linked = _LINKED.search(rest)
    if linked is not None:
        rest = rest[: linked.start()] + "0x0" + rest[linked.end() :]
    record.sub = {"VIADDMNMX": 1, "VIMNMX3": 2}.get(one.opcode, _first(tuple(modifiers), _WAYS.get(opcode, {})))
    record.operands = arranged(record, tuple(modifiers), operands(rest))
    if record.operation not in OPERATIONS:
        record.operation = "UNKNOWN"
    if opcode == "LEPC" and (named := _LABEL.search(rest)):
        record.sub, record.target = 1, here.labels[named[1]]
    if linked is not None:
        part = 1 if linked[1] == "hi" else 0
        slot = next((n for n, each in enumerate(record.operands) if n and each.kind == IMMEDIATE and not each.value), 1)
        symbol = linked[2].strip()
        if symbol in places:
            label = (linked[3] or "").strip()
            target = places[symbol].labels.get(label, places[symbol].entry)
            value = target * 16
            record.operands[slot] = Operand(IMMEDIATE, 0, 0, value >> 32 if part else value & 0xFFFFFFFF)
        else:
            fixes.append((slot, part, symbol, int(linked[3], 16) if linked[3] else 0))
    record.operands = [
        replace(each, value=each.value + here.literals) if each.kind == CONSTANT and each.index == 2 else each
        for each in record.operands
    ]
    if opcode == "LDC" and record.sub == 2:
        record.operands[3] = replace(record.operands[3], value=record.operands[3].value + here.literals)
    return record, fixes


def _branch(
    record: Record,
    opcode: str,
    modifiers: tuple[str, ...],
    rest: str,
    index: int,
    function: str,
    places: Mapping[str, Place],
) -> None:
    here = places[function]
    record.operation = {"JMP": "BRA", "JMX": "BRX", "BRXU": "BRX"}.get(opcode, opcode)
    if opcode == "EXIT":
        return
    label = _LABEL.search(rest)
    parts = [each for each in operands(rest[: label.start()] if label else rest) if each]
    if opcode == "RET":
        symbol = label[1] if label else function
        record.operands = [_NOTHING, operand(parts[0].split()[0])]
        if "ABS" in modifiers or symbol not in places:
            record.flags |= _BY_ADDRESS
        else:
            record.target = places[symbol].entry
        return
    target = None
    if label is not None:
        entry = places[label[1]].entry if label[1] in places else _built_in(label[1])
        target = here.labels.get(label[1], entry)
    elif parts and _HEX.match(parts[-1]):
        target = here.entry + int(parts.pop(), 16) // 16
    if opcode in ("BRX", "JMX", "BRXU"):
        match = re.match(r"(U?R\d+)\s*(-?0x[0-9a-f]+)?", rest.strip())
        record.operands = [_NOTHING, operand(match[1])] if match else []
        record.target = int(match[2], 16) if match and match[2] else 0
        return
    registers = [operand(each) for each in parts if re.match(r"~?U?R(\d+|Z)", each)]
    if opcode == "CALL" and registers:
        record.operands = [_NOTHING, registers[0]]
        if "ABS" in modifiers or target is None:
            record.flags |= _BY_ADDRESS
        else:
            record.target = target
        return
    predicates = _predicates(parts)
    record.operands = [_NOTHING, *_filled(registers, 5), *(predicates[:1] if opcode != "CALL" else [])]
    record.sub = _first(modifiers, {"DIV": 1, "CONV": 2})
    record.target = target if target is not None else index + 1


def _built_in(name: str) -> int | None:
    """The interpreter's number of a function that the device's runtime brings; None if it does not."""
    return _BUILT_IN + _FUNCTIONS_OF_DEVICE.index(name) if name in _FUNCTIONS_OF_DEVICE else None


def _named(code: Iterable[MachineCode], cubin: Cubin, first: int) -> tuple[dict[str, Place], int, bytes]:
    """Where each function begins, counted from `first`, and the literals of all laid one behind the other."""
    places, at, data = {}, first, b""
    for one in code:
        content = cubin.constants.get(one.kernel, b"")
        labels = {label: at + n for n, line in enumerate(one.lines) for label in line.labels}
        places[one.kernel] = Place(at, labels, len(data))
        data += content + bytes(-len(content) % 16)
        at += len(one.lines)
    return places, at, data


def lower(modules: Sequence[tuple[Cubin, Sequence[MachineCode]]]) -> Lowered:
    """All cubins of a program with their disassembly, as the interpreter reads them."""
    records: list[bytes] = []
    bounds: list[tuple[int, int]] = []
    variables: list[bytes] = []
    fixes: list[bytes] = []
    kernels: list[bytes] = []
    names: list[str] = []
    unknown: Counter[str] = Counter()
    packed: dict[str, bytes] = {}
    at = 0
    for number, (cubin, code) in enumerate(modules):
        places, end, literals = _named(code, cubin, at)
        known: dict[str, int] = {}
        for variable in cubin.variables:
            known.setdefault(variable.name, len(variables))
            variables.append(_variable(number, variable))
        if literals:
            variables.append(_variable(number, Variable("", len(literals), 2, 0, literals)))
        for one in cubin.addresses:
            source, value = 0xFFFFFFFF, one.addend
            if one.symbol in known:
                source = known[one.symbol]
            elif one.symbol in places:
                value += places[one.symbol].entry * 16
            else:
                value = 16 * (_built_in(one.symbol) or _BUILT_IN + 255)
            where = (2, known[one.holder]) if one.holder else (0, number << 8 | one.bank)
            fixes.append(struct.pack("<IIIIIQ", *where, one.place, 2, source, value & (2**64 - 1)))
        for one_code in code:
            for n, line in enumerate(one_code.lines):
                index = places[one_code.kernel].entry + n
                if line.text in packed:
                    records.append(packed[line.text])
                    continue
                try:
                    record, wanted = record_of(line.text, index, one_code.kernel, places)
                    records.append(record.pack())
                except (ValueError, IndexError, KeyError, StopIteration, struct.error):
                    record, wanted = Record("UNKNOWN"), []
                    records.append(record.pack())
                if record.operation == "UNKNOWN":
                    unknown[written(line.text).opcode] += 1
                elif not _OF_ITS_PLACE.search(line.text):
                    packed[line.text] = records[-1]
                for slot, part, symbol, addend in wanted:
                    if symbol in known:
                        fixes.append(struct.pack("<IIIIIQ", 1, index, slot, part, known[symbol], addend))
        for kernel in cubin.kernels.values():
            if kernel.name not in places:
                continue
            stack = kernel.stack if kernel.stack < 1 << 30 else _RECURSION
            head = _text(kernel.name.encode()) + struct.pack(
                "<IIIIIIII", number, places[kernel.name].entry, kernel.registers, kernel.shared, stack, kernel.max_threads,
                kernel.base, len(kernel.parameters),
            )  # fmt: skip
            kernels.append(head + b"".join(struct.pack("<II", *one) for one in kernel.parameters))
            names.append(kernel.name)
        bounds.append((at, end - at))
        at = end
    data = b"".join(
        (
            struct.pack("<II", MAGIC, len(records)), *records,
            struct.pack("<I", len(bounds)), *(struct.pack("<II", *one) for one in bounds),
            struct.pack("<I", len(variables)), *variables,
            struct.pack("<I", len(fixes)), *fixes,
            struct.pack("<I", len(kernels)), *kernels,
        )
    )  # fmt: skip
    return Lowered(data, tuple(names), tuple(one for _, code in modules for one in code), unknown)


def _text(content: bytes) -> bytes:
    return struct.pack("<I", len(content)) + content


def _variable(module: int, of: Variable) -> bytes:
    place = struct.pack("<IQII", module, of.size, 0xFFFFFFFF if of.bank is None else of.bank, of.offset)
    return _text(of.name.encode()) + place + _text(of.content)


def disassembled(path: Path) -> Iterator[MachineCode]:
    """The functions in a disassembly that nvdisasm wrote."""
    from chathpc.adapters.lines import lines
    from chathpc.adapters.nvdisasm import functions

    for one in functions(lines(path), path):
        if one.lines:
            yield MachineCode(one.name, tuple(one.lines), architecture=one.architecture)
