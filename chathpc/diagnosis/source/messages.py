"""Messages of MPI in the source: those that carry an element or a few in each iteration of a loop over the elements."""

from __future__ import annotations

from chathpc.diagnosis.source.layout import value
from chathpc.diagnosis.source.model import Function, Loop, Unit
from chathpc.diagnosis.source.sign import UNROLLED, Sign

#: Of each call by which messages are sent or received (in small letters, as Fortran has them): which argument counts the elements; the
#: one before it is the buffer.
_COUNT = {
    f"mpi_{name}": 1
    for name in ("send", "ssend", "bsend", "rsend", "isend", "issend", "ibsend", "irsend", "recv", "irecv", "sendrecv", "bcast")
}  # fmt: skip


def by_element(function: Function, unit: Unit, own: Loop, line: int) -> Sign | None:
    """A message at the line with so few elements that a loop around it sends an array piece by piece: its buffer moves with the loop."""
    for call in function.calls_at(line):
        at = _COUNT.get(call.short.removeprefix("call ").lower())
        if at is None or len(call.parts) <= at:
            continue
        count, buffer = value(call.parts[at], unit.constants), call.parts[at - 1]
        loop = next((one for one in function.chain(own.index) if one.variable in buffer.names()), None)
        if loop is None or count is None or not 0 < count <= UNROLLED:
            continue
        size = "one element" if count == 1 else f"{count} elements"
        name = call.short.removeprefix("call ")
        here = line if loop.first <= line <= loop.last else loop.first  # else in a function that the loop calls
        return Sign(
            "mpi-small-messages", here, loop.first, loop.last,
            f"calls {name} with {size} in each iteration of the loop over {loop.variable}",
            f"sends or receives {size} a message in a loop over {loop.variable}",
            ("How many messages there were was not counted.",), calls=True, waits=True,
        )  # fmt: skip
    return None
