"""Backward slices through arithmetic: the loads that an address is computed from."""

from __future__ import annotations

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
