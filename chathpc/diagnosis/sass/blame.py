"""Samples of stalled instructions are given to the instructions that they wait for.

After Zhou, Meng, Sai and Mellor-Crummey, "GPA: A GPU performance advisor based on instruction sampling", CGO 2021 (the
instruction blamer): from a stalled instruction backwards to the instructions that write its operands; those that cannot cause
this kind of stall, that are too far away, or whose result another instruction has waited for on the way, are dropped; several
that remain share the samples by how often they were issued and by the inverse of their distance. Where the scheduling bits are
known, scoreboards replace registers: they tell exactly what an instruction waits for.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from chathpc.diagnosis.catalogue import common
from chathpc.diagnosis.sass.flow import Program
from chathpc.diagnosis.sass.opcodes import BARRIERS, FENCES, Result


class Link(StrEnum):
    """Why an instruction is blamed."""

    RESULT = "result"  #: the stalled instruction needs its result
    OPERANDS = "operands"  #: it still reads registers that the stalled instruction writes, or writes them as well
    ORDER = "order"  #: the stalled instruction waits for what this began (barrier, fence, stores)
    ITSELF = "itself"  #: nothing else can be blamed


@dataclass(frozen=True, slots=True)
class Blame:
    """`samples` of the instruction `stalled` for which `cause` is blamed; both count from the beginning of the kernel.

    `distance` is the number of instructions from the cause on the shortest way: 1 if it is the one before, 0 for itself.
    """

    stalled: int
    cause: int
    samples: float
    link: Link
    distance: int = 0


#: Reason (`gpu.stall.<key>`) → the kinds of results that warps wait for. Reasons that are not here speak of the stalled
#: instruction itself: a queue or a pipe that takes no more, its constants, its own text.
WAITED: Mapping[str, frozenset[Result]] = {
    "memory": frozenset((Result.LONG,)),
    "short-scoreboard": frozenset((Result.SHORT,)),
    "dependency": frozenset((Result.FIXED,)),
    "warpgroup": frozenset((Result.MATRIX,)),
    "barrier": frozenset(),
    "drain": frozenset(),
    "memory-fence": frozenset(),
}
_ORDER = frozenset(("barrier", "drain", "memory-fence"))
#: What "dependency" means where shared memory and special functions are not told apart (CUPTI, and so HPCToolkit).
EARLIER = frozenset((Result.FIXED, Result.SHORT))
_REACH = {Result.FIXED: "sass_reach_fixed", Result.SHORT: "sass_reach_short"}


def blame(
    program: Program,
    stalled: Mapping[int, float],
    reason: str,
    issued: Sequence[float] | None = None,
    waited: frozenset[Result] | None = None,
) -> list[Blame]:
    """Who is blamed for the samples of one stall reason at each stalled instruction. The samples of all Blames of an instruction
    add up to its own. `issued` tells how often each instruction was issued; `waited` replaces WAITED[reason].
    """
    kinds = WAITED.get(reason, frozenset()) if waited is None else waited
    found = []
    for at, samples in stalled.items():
        if samples <= 0 or not 0 <= at < len(program.instructions):
            continue
        causes, link = _causes(program, at, reason, kinds)
        weights = _weights(causes, issued)
        if not weights:
            found.append(Blame(at, at, samples, Link.ITSELF))
            continue
        whole = sum(weights.values())
        found += [
            Blame(at, cause, samples * weight / whole, link, causes[cause]) for cause, weight in sorted(weights.items())
        ]
    return found


def _weights(causes: Mapping[int, int], issued: Sequence[float] | None) -> dict[int, float]:
    """Weight of each cause: how often it was issued / its distance. Those that never were count only if none was."""
    if issued is not None:
        weights = {cause: weight for cause, distance in causes.items() if (weight := issued[cause] / distance) > 0}
        if weights:
            return weights
    return {cause: 1 / distance for cause, distance in causes.items()}


def _causes(program: Program, at: int, reason: str, kinds: frozenset[Result]) -> tuple[dict[int, int], Link]:
    """Instructions to blame → their distance (1: the instruction before), and why."""
    if reason in _ORDER:
        return _began(program, at, reason), Link.ORDER
    if not kinds:
        return {}, Link.ITSELF
    by_scoreboard = _set_scoreboards(program, at, kinds)
    if by_scoreboard[0]:
        return by_scoreboard
    found = _wrote_operands(program, at, kinds)
    if not found and Result.LONG in kinds:
        found = _copied(program, at)
    if found:
        return found, Link.RESULT
    return (_holds_registers(program, at, kinds), Link.OPERANDS) if kinds != {Result.FIXED} else ({}, Link.ITSELF)


def _began(program: Program, at: int, reason: str) -> dict[int, int]:
    """What began the wait for a barrier, a fence or the end of stores. Such samples carry the address behind the instruction that
    waits (seen in all reports of ours: none is at a BAR, nearly all directly behind one).
    """
    instructions, far = program.instructions, _reach(Result.LONG)
    if reason == "drain":
        leaves = next((i for i in (at, at - 1) if i >= 0 and instructions[i].opcode == "EXIT"), -1)
        if leaves < 0:
            return {}
        found = program.backwards(leaves, program.stores, lambda event: False, far)
        return {cause: distance + at - leaves for cause, distance in found.items()}
    places = program.barriers if reason == "barrier" else program.fences
    found = program.backwards(at, places, lambda event: True, far)
    waits = instructions[at].opcode in (BARRIERS if reason == "barrier" else FENCES)
    return {} if waits and found and min(found.values()) > 1 else found


@cache
def _reach(kind: Result) -> int:
    """Instructions after which a result of this kind is there."""
    return int(common()[_REACH.get(kind, "sass_reach_long")].value)


def _near(program: Program, found: Mapping[int, int], kinds: frozenset[Result]) -> dict[int, int]:
    """Of the instructions found those of the right kind that are not too far away."""
    kept = {}
    for cause, distance in found.items():
        kind = program.instructions[cause].result
        if kind in kinds and distance <= _reach(kind):
            kept[cause] = distance
    return kept


def _furthest(kinds: frozenset[Result]) -> int:
    return max(_reach(kind) for kind in kinds)


def _set_scoreboards(program: Program, at: int, kinds: frozenset[Result]) -> tuple[dict[int, int], Link]:
    """Who set the scoreboards that an instruction waits for, back to the last instruction that waited for them."""
    instructions = program.instructions
    results: dict[int, int] = {}
    operands: dict[int, int] = {}
    for number in instructions[at].waits:

        def ends(event: int, number: int = number) -> bool:
            return number in instructions[event].waits and instructions[event].opcode != "DEPBAR"

        found = program.backwards(at, program.setters.get(number, ()), ends, _furthest(kinds))
        for cause, distance in _near(program, found, kinds).items():
            control = instructions[cause].control
            if control is not None and control.written == number:
                results[cause] = min(distance, results.get(cause, distance))
            elif control is not None and control.read == number:
                operands[cause] = min(distance, operands.get(cause, distance))
    return (results, Link.RESULT) if results else (operands, Link.OPERANDS)


def _copied(program: Program, at: int) -> dict[int, int]:
    """The asynchronous copies to shared memory that a DEPBAR waits for; as with barriers, the samples stand behind it.

    `DEPBAR.LE SB0, n` lets the n newest groups of copies go on; LDGDEPBAR ends a group.
    """
    instructions = program.instructions
    waits = next((i for i in (at, at - 1) if i >= 0 and instructions[i].opcode == "DEPBAR"), -1)
    if waits < 0 or program.block[waits] != program.block[at]:
        return {}
    far = _reach(Result.LONG)
    copies = program.backwards(waits, program.copies, lambda event: False, far)
    groups = sorted(program.backwards(waits, program.groups, lambda event: False, far).values())
    newest = instructions[waits].count
    begin = groups[newest] if newest < len(groups) else 0
    return {copy: distance + at - waits for copy, distance in copies.items() if distance > begin} or copies


def _wrote_operands(program: Program, at: int, kinds: frozenset[Result]) -> dict[int, int]:
    """Who wrote what an instruction reads and nobody before it has waited for."""
    instructions = program.instructions
    stalled = instructions[at]
    nearest: dict[int, int] = {}
    for register in stalled.reads:

        def ends(event: int, register: int = register) -> bool:
            one = instructions[event]
            # A reader on the way has waited already; what is written under another condition may leave an earlier value.
            return (
                register in one.reads or one.guard < 0 or (one.guard, one.negated) == (stalled.guard, stalled.negated)
            )

        found = program.backwards(at, program.users.get(register, ()), ends, _furthest(kinds))
        for cause, distance in _near(program, found, kinds).items():
            one = instructions[cause]
            opposite = one.guard >= 0 and one.guard == stalled.guard and one.negated != stalled.negated
            if register in one.writes and not (opposite and register != stalled.guard):
                nearest[cause] = min(distance, nearest.get(cause, distance))
    open_ = {cause: distance for cause, distance in nearest.items() if not _awaited(program, cause, at)}
    return open_ or nearest


def _awaited(program: Program, cause: int, at: int) -> bool:
    """True if the result has been waited for in the block of the stalled instruction, by a reader of another part of it."""
    begin = program.first[program.block[at]]
    begin = cause + 1 if begin <= cause < at else begin
    for register in program.instructions[cause].writes:
        users = program.users[register]
        for index in range(bisect_left(users, begin), bisect_left(users, at)):
            if register in program.instructions[users[index]].reads:
                return True
    return False


def _holds_registers(program: Program, at: int, kinds: frozenset[Result]) -> dict[int, int]:
    """Who still reads, or will write, a register that an instruction writes."""
    nearest: dict[int, int] = {}
    for register in program.instructions[at].writes:
        for events in (program.late_readers.get(register, ()), program.writers.get(register, ())):
            found = program.backwards(at, events, lambda event: True, _furthest(kinds))
            for cause, distance in _near(program, found, kinds).items():
                nearest[cause] = min(distance, nearest.get(cause, distance))
    nearest.pop(at, None)
    return nearest
