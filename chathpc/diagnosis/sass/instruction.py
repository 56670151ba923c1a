"""One SASS instruction, parsed: what it reads and writes, in single registers, where it may branch to, and what it waits for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from chathpc.diagnosis.sass.opcodes import (
    CARRY,
    LEADING,
    TWO_RESULTS,
    VOTES,
    Result,
    address_width,
    data_width,
    has_result,
    may_be_fixed,
    reaches_memory,
    result_of,
    widths,
)
from chathpc.diagnosis.sass.text import REGISTER_NAME, is_predicate, operands, written
from chathpc.profile.machine_code import CodeLine

#: Numbers of single registers in one space: R0…, UR0…, P0…, UP0…, B0…, SB0….
_FIRST = {"R": 0, "UR": 256, "P": 512, "UP": 528, "B": 544, "SB": 560}
_COUNT = {"R": 255, "UR": 255, "P": 7, "UP": 7, "B": 16, "SB": 6}
PREDICATES, CONVERGENCE, SCOREBOARDS = range(512, 544), range(544, 560), range(560, 566)
#: Longer text is no instruction.
LONGEST = 600

_OPCODE = re.compile(r"[A-Z][A-Z0-9_]*")
_TARGET = re.compile(r"0x([0-9a-fA-F]{1,16})$")
_LABEL = re.compile(r"(?:\.L|\$)[\w.$]+")
#: Operands among which predicates may follow a result: itself and two carries.
_CARRIES = 3
_DESCRIPTORS = ("desc[", "gdesc[", "tmem[")
_TRAPS = str.maketrans("", "", "|~")


@dataclass(frozen=True, slots=True)
class Control:
    """How the compiler schedules an instruction: cycles until the next, the barriers that it sets (−1: none), those it waits for.

    Layout of the 21 bits, from the lowest: 4 stall cycles, 1 yield, 3 barrier set with the result, 3 barrier set when the
    operands were read (7: none), 6 barriers waited for, 4 reuse (Jia et al. 2018, section 2.1).
    """

    cycles: int
    written: int
    read: int
    waits: int


def control_of(bits: int) -> Control | None:
    """The scheduling bits; None where they are not known."""
    if not 0 <= bits < 1 << 21:
        return None
    written, read = bits >> 5 & 7, bits >> 8 & 7
    return Control(bits & 15, written if written < 6 else -1, read if read < 6 else -1, bits >> 11 & 63)


@dataclass(frozen=True, slots=True)
class Instruction:
    """A SASS instruction. `reads` and `writes` hold numbers of single registers (`register`), `guard` that of its predicate, −1
    for none; `targets` are offsets that it may branch to, `named` labels; `result` tells how others wait for it; `count` is the
    number that a DEPBAR names.
    """

    opcode: str
    modifiers: tuple[str, ...]
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    guard: int = -1
    negated: bool = False
    targets: tuple[int, ...] = ()
    named: tuple[str, ...] = ()
    result: Result = Result.NONE
    control: Control | None = None
    count: int = 0

    @property
    def waits(self) -> list[int]:
        """Scoreboards 0…5 that it waits for."""
        named = [number - SCOREBOARDS[0] for number in self.reads if number in SCOREBOARDS]
        bits = 0 if self.control is None else self.control.waits
        return [*named, *(number for number in range(6) if bits >> number & 1)]


def register(name: str) -> int:
    """Number of a single register: `register("UR4")`; −1 for those that hold nothing (RZ, PT) and for what is none."""
    match = REGISTER_NAME.fullmatch(name)
    return _number(match[1], match[2]) if match else -1


def _number(kind: str, index: str) -> int:
    return _FIRST[kind] + int(index) if index.isdigit() and int(index) < _COUNT[kind] else -1


_BRANCHES = frozenset(["BRA", "BRX", "BRXU", "JMP", "JMX", "JMXU", "CALL", "BSSY", "SSY", "PBK", "PCNT", "PRET"])
#: Branches by a register: what stands in the text is no target.
_BY_TABLE = frozenset(["BRX", "BRXU", "JMX", "JMXU"])
_NOTHING = Instruction("", (), (), ())


def parse(line: CodeLine, base: int = 0) -> Instruction:
    """The instruction of a line; one without opcode, reads and writes for text that is none. `base` is subtracted from absolute
    targets. Never fails, in time linear in the text.
    """
    if len(line.text) > LONGEST:
        return _NOTHING
    text = written(line.text)
    kind = _kind(text.word)
    if kind is None:
        return _NOTHING
    guard, parts = register(text.guard), operands(text.rest.translate(_TRAPS))
    reads, writes = _operands(kind, parts)
    if guard >= 0:
        reads.append(guard)
    control = control_of(line.control)
    targets, named = _targets(kind.opcode, line.text, parts, base) if kind.opcode in _BRANCHES else ((), ())
    result = kind.result
    if (
        control is not None
        and result == Result.SHORT
        and control.written < 0
        and control.read < 0
        and may_be_fixed(kind.opcode)
    ):
        result = Result.FIXED
    return Instruction(
        kind.opcode, kind.modifiers, tuple(dict.fromkeys(reads)), tuple(dict.fromkeys(writes)), guard, text.negated, targets, named,
        result, control, _count(parts) if kind.opcode == "DEPBAR" else 0,
    )  # fmt: skip


def _count(operands: list[str]) -> int:
    """The small number that the last operand is; 0 for anything else."""
    match = _TARGET.search(operands[-1]) if operands else None
    return min(int(match[1], 16), 63) if match else 0


@dataclass(frozen=True, slots=True)
class _Kind:
    """What opcode and modifiers tell: widths in registers of the result, the sources and an address in brackets."""

    opcode: str
    modifiers: tuple[str, ...]
    result: Result
    writes: bool
    memory: bool
    width: int
    sources: tuple[int, int, int]
    address: int


@lru_cache(maxsize=2048)
def _kind(word: str) -> _Kind | None:
    opcode, *words = word.split(".")
    if not _OPCODE.fullmatch(opcode):
        return None
    modifiers = tuple(words)
    memory = reaches_memory(opcode)
    width, *sources = (data_width(opcode, modifiers), 1, 1, 1) if memory else widths(opcode, modifiers)
    return _Kind(
        opcode, modifiers, result_of(opcode), has_result(opcode), memory, width, (sources[0], sources[1], sources[2]),
        address_width(opcode, modifiers),
    )  # fmt: skip


def _targets(opcode: str, rest: str, operands: list[str], base: int) -> tuple[tuple[int, ...], tuple[str, ...]]:
    labels = tuple(_LABEL.findall(rest))
    match = _TARGET.search(operands[-1]) if operands and opcode not in _BY_TABLE else None
    if match is None:
        return (), labels
    address = int(match[1], 16)
    return (address - base if address >= base else address,), labels


def _operands(kind: _Kind, operands: list[str]) -> tuple[list[int], list[int]]:
    """Registers read and written."""
    opcode = kind.opcode
    results = _results(kind, operands) if kind.writes else 0
    reads: list[int] = []
    writes: list[int] = []
    source = 0
    for index, operand in enumerate(operands):
        if index < results:
            writes += _registers(operand, kind.width, 1)
        elif kind.memory:
            shared = opcode == "LDGSTS" and index == 0  # the first address of a copy lies in shared memory
            reads += _registers(operand, 1 if "[" in operand else kind.width, 1 if shared else kind.address)
        elif is_predicate(operand):
            reads += _registers(operand, 1, 1)
        else:
            reads += _registers(operand, kind.sources[min(source, 2)], 1)
            source += 1
    if opcode == "R2P":
        writes += PREDICATES[:7]
    elif opcode == "P2R":
        reads += PREDICATES[:7]
    return reads, writes


def _results(kind: _Kind, operands: list[str]) -> int:
    """How many of the first operands are results."""
    if not operands:
        return 0
    opcode = kind.opcode
    if kind.memory and "256" in kind.modifiers:
        return 2
    first, count = _may_be_written(operands[0]), len(operands)
    if "SETP" in opcode or opcode in ("PLOP3", "UPLOP3"):
        return 2 if count > 1 and _may_be_written(operands[1]) else 1
    if opcode in TWO_RESULTS:
        return 3 if first else 2
    if opcode in VOTES:
        return 2 if not first and count > 2 and _may_be_written(operands[1]) else 1
    if first:
        return 2 if opcode in LEADING and count > 2 else 1
    found = 1
    if opcode in CARRY:
        while found < min(count - 1, _CARRIES) and _may_be_written(operands[found]):
            found += 1
    return found


def _may_be_written(operand: str) -> bool:
    """True for a predicate alone that is not negated."""
    return operand[:1] != "!" and is_predicate(operand)


@lru_cache(maxsize=1 << 14)
def _registers(operand: str, width: int, address: int) -> tuple[int, ...]:
    """The single registers of an operand: `width` of one that stands alone, `address` of one in brackets."""
    found: list[int] = []
    inside = "[" in operand
    descriptor = inside and operand.startswith(_DESCRIPTORS)
    for match in REGISTER_NAME.finditer(operand):
        kind, parts = match[1], match[3]
        number = _number(kind, match[2])
        if number < 0:
            continue
        count = 1
        if kind in ("R", "UR"):
            if not inside:
                count = 1 if "H0_H0" in parts or "H1_H1" in parts else width
            elif ".64" in parts:
                count = 2
            elif kind == "UR":
                count = 2 if descriptor and match.start() < operand.find("]") else 1
            elif ".U32" not in parts and ".X" not in parts and not descriptor and "UR" not in operand:
                count = address
        found.extend(range(number, min(number + count, _FIRST[kind] + _COUNT[kind])))
    return tuple(found)
