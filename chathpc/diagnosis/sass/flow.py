"""The control-flow graph of a kernel's SASS, what reaches an instruction backwards along it, and backward slices.

Blocks end at branches and begin at their targets. A call goes on behind it and into the function; where a function returns to
is not followed, so that what it computes is not seen from behind the call. Branches by a table are followed where the text
names their targets.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from itertools import islice

from chathpc.diagnosis.sass.instruction import CONVERGENCE, Instruction, parse
from chathpc.diagnosis.sass.opcodes import BARRIERS, FENCES, STORES, Result
from chathpc.profile.machine_code import MachineCode

#: Branches after which nothing follows unless they have a condition; those whose operand is a condition.
_ENDS = frozenset(["BRA", "BRX", "BRXU", "JMP", "JMX", "JMXU", "EXIT", "RET", "KILL", "BRK", "CONT", "SYNC"])
_CONDITIONAL = frozenset(("BRA", "JMP"))
#: Instructions that name where a later one continues → that later one.
_CONVERGES = {"BSSY": "BSYNC", "SSY": "SYNC", "PBK": "BRK", "PCNT": "CONT"}
#: So many blocks are followed for one operand; it bounds the work on code with very many short blocks.
_BLOCKS = 256


@dataclass(frozen=True, slots=False, eq=False)
class Program:
    """Parsed instructions with their flow. `block[i]` is the block of instruction i, `first[b]` the first instruction of a block,
    with the number of instructions at its end; `before[b]` are its predecessors.
    """

    code: MachineCode
    instructions: tuple[Instruction, ...]
    block: Sequence[int]
    first: Sequence[int]
    before: Sequence[Sequence[int]]

    @cached_property
    def writers(self) -> Mapping[int, Sequence[int]]:
        """Register → the instructions that write it, ascending."""
        return _index(one.writes for one in self.instructions)

    @cached_property
    def users(self) -> Mapping[int, Sequence[int]]:
        """Register → the instructions that read or write it, ascending."""
        return _index(
            (*one.reads, *(each for each in one.writes if each not in one.reads)) for one in self.instructions
        )

    @cached_property
    def late_readers(self) -> Mapping[int, Sequence[int]]:
        """Register → the instructions of variable latency that read it, ascending."""
        late = (Result.SHORT, Result.LONG, Result.MATRIX)
        return _index(one.reads if one.result in late else () for one in self.instructions)

    @cached_property
    def setters(self) -> Mapping[int, Sequence[int]]:
        """Scoreboard 0…5 → the instructions that set it or wait for it, ascending; empty where scheduling is not shown."""
        return _index(_scoreboards(one) for one in self.instructions)

    @cached_property
    def stores(self) -> Sequence[int]:
        """Instructions that store."""
        return [i for i, one in enumerate(self.instructions) if one.opcode in STORES and one.result == Result.LONG]

    @cached_property
    def copies(self) -> Sequence[int]:
        """Asynchronous copies from global to shared memory."""
        return [i for i, one in enumerate(self.instructions) if one.opcode == "LDGSTS"]

    @cached_property
    def groups(self) -> Sequence[int]:
        """Ends of groups of such copies."""
        return [i for i, one in enumerate(self.instructions) if one.opcode == "LDGDEPBAR"]

    @cached_property
    def barriers(self) -> Sequence[int]:
        """Instructions at which the warps of a block wait for each other."""
        return [i for i, one in enumerate(self.instructions) if one.opcode in BARRIERS]

    @cached_property
    def fences(self) -> Sequence[int]:
        """Memory fences."""
        return [i for i, one in enumerate(self.instructions) if one.opcode in FENCES]

    def backwards(self, start: int, events: Sequence[int], ends: Callable[[int], bool], reach: int) -> dict[int, int]:
        """Those of `events` (ascending) that control can come from to `start` without passing one that `ends` the way → the
        number of instructions from it on the shortest way, at most `reach`.
        """
        found: dict[int, int] = {}
        if not events:
            return found
        block = self.block[start]
        heap = [(0, block, start)]
        seen: set[int] = set()
        while heap and len(seen) < _BLOCKS:
            distance, block, stop = heappop(heap)
            if stop == self.first[block + 1]:
                if block in seen:
                    continue
                seen.add(block)
            begin = self.first[block]
            at = bisect_left(events, stop) - 1
            ended = False
            while at >= 0 and events[at] >= begin:
                event = events[at]
                way = distance + stop - event
                if way > reach:
                    break
                found[event] = min(way, found.get(event, way))
                if ends(event):
                    ended = True
                    break
                at -= 1
            way = distance + stop - begin
            if not ended and way < reach:
                for previous in islice(self.before[block], _BLOCKS):
                    if previous not in seen:
                        heappush(heap, (way, previous, self.first[previous + 1]))
        return found


def program(code: MachineCode) -> Program:
    """The program of a kernel's code, in time linear in it (and in its branches)."""
    instructions = tuple(parse(line, code.base) for line in code.lines)
    count = len(instructions)
    if not count:
        return Program(code, (), (), (0,), ())
    place = {line.offset: i for i, line in enumerate(code.lines)}
    labels = {label: i for i, line in enumerate(code.lines) for label in line.labels}
    targets: list[Sequence[int]] = [()] * count
    converging: dict[tuple[str, int], list[int]] = {}
    leaders = {0}
    for i, one in enumerate(instructions):
        if one.targets or one.named:
            known = [place[target] for target in one.targets if target in place]
            known += [labels[label] for label in one.named if label in labels]
            leaders.update(known)
            if one.opcode in _CONVERGES:
                converging.setdefault((_CONVERGES[one.opcode], _token(one)), []).extend(known)
            else:
                targets[i] = known
        if (one.opcode in _ENDS or one.opcode in ("CALL", "BSYNC")) and i + 1 < count:
            leaders.add(i + 1)
    first = sorted(leaders)
    block = [0] * count
    for number, (begin, end) in enumerate(zip(first, [*first[1:], count], strict=True)):
        block[begin:end] = [number] * (end - begin)
    for joined in converging.values():
        joined.sort()
    before: list[list[int]] = [[] for _ in first]
    for number, end in enumerate([*first[1:], count]):
        last = instructions[end - 1]
        after = {block[target] for target in targets[end - 1]}
        key = (last.opcode, _token(last))
        # Many regions may share a barrier register: a block follows where it is joined, not wherever any of them is.
        after.update(block[target] for target in _next(converging.get(key, ()), end - 1))
        if end < count and not _never_continues(last):
            after.add(number + 1)
        for following in after:
            before[following].append(number)
    return Program(code, instructions, block, [*first, count], before)


def _token(instruction: Instruction) -> int:
    """The convergence barrier (B0…) that an instruction names; −1 without one."""
    return next((number for number in (*instruction.writes, *instruction.reads) if number in CONVERGENCE), -1)


def _next(targets: Sequence[int], at: int) -> Sequence[int]:
    """The nearest of `targets` (ascending) behind an instruction: where its region is joined."""
    behind = bisect_right(targets, at)
    return targets[behind : behind + 1]


def _never_continues(instruction: Instruction) -> bool:
    """True if the instruction behind is not reached from this one."""
    if instruction.opcode not in _ENDS or instruction.guard >= 0:
        return False
    return not (instruction.opcode in _CONDITIONAL and instruction.reads)


def _index(registers: Iterable[Sequence[int]]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for i, each in enumerate(registers):
        for number in each:
            found.setdefault(number, []).append(i)
    return found


def _scoreboards(instruction: Instruction) -> Sequence[int]:
    """Scoreboards that an instruction sets or waits for."""
    control = instruction.control
    if control is None:
        return ()
    return sorted({*instruction.waits, *(number for number in (control.written, control.read) if number >= 0)})


#: Instructions that are looked at: addresses take a handful of them.
_STEPS = 64


def loads_behind(program: Program, at: int) -> dict[int, int]:
    """Loads from memory whose results the operands of an instruction are computed from, through instructions of fixed latency
    only → how many instructions before it they stand, on the way that was followed. Empty if none is found within some dozens.
    """
    found: dict[int, int] = {}
    seen = {at}
    todo = [(at, 0)]
    for one, behind in todo:
        if len(seen) > _STEPS:
            break
        for register in program.instructions[one].reads:
            writers = program.backwards(one, program.writers.get(register, ()), lambda event: True, _STEPS * 4)
            for writer, distance in writers.items():
                if writer in seen:
                    continue
                seen.add(writer)
                instruction = program.instructions[writer]
                if instruction.result == Result.LONG and instruction.writes:
                    found[writer] = behind + distance
                elif instruction.result == Result.FIXED:
                    todo.append((writer, behind + distance))
    return found


def work_before(program: Program, barrier: int) -> set[int]:
    """Instructions between a barrier and those before it, on any way, and the barrier: what warps do before they have come to it."""
    found = {barrier}
    barriers = program.barriers
    todo, seen = [(program.block[barrier], barrier)], set()
    while todo:
        block, stop = todo.pop()
        if (block, stop) in seen:
            continue
        seen.add((block, stop))
        at = bisect_left(barriers, stop) - 1
        begin = program.first[block]
        ended = at >= 0 and barriers[at] >= begin
        found.update(range(barriers[at] + 1 if ended else begin, stop))
        if not ended:
            todo += [(previous, program.first[previous + 1]) for previous in program.before[block]]
    return found
