"""Backward slices: the loads that an address is computed from, and the work between two barriers."""

from __future__ import annotations

from bisect import bisect_left

from chathpc.diagnosis.sass.flow import Program
from chathpc.diagnosis.sass.opcodes import Result

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
