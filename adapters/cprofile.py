"""Python's cProfile and profile: .pstats files, read without Python's marshal module, which trusts its input.

The dictionary maps (file, line, name) to (calls that are no recursion, calls, own seconds, seconds with all below, callers);
callers maps the same keys to what they caused: (calls, calls that are no recursion, own seconds, seconds with all below), or calls
alone. Lib/cProfile.py, Lib/profile.py and Lib/pstats.py of Python.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import TypeAlias

from chathpc.adapters.adapter import Adapter
from chathpc.adapters.call_graph import CAVEAT, OUTSIDE, Arc, put
from chathpc.adapters.content import DAMAGED, read_bytes
from chathpc.adapters.glance import Glance
from chathpc.adapters.protobuf import Damaged
from chathpc.adapters.stacks import Stacks, too_short
from chathpc.errors import AdapterError
from chathpc.profile.activity import Activity, activity_of_name
from chathpc.profile.metric import Clock, Metric, Unit
from chathpc.profile.profile import Profile
from chathpc.profile.tree import NodeKind


def recognises(glance: Glance) -> bool:
    """True for a marshalled dictionary whose first key is a tuple of three."""
    head = glance.head
    if len(head) < 8 or head[0] & ~_FLAG != ord("{"):
        return False
    kind = head[1] & ~_FLAG
    return (kind == ord(")") and head[2] == 3) or (kind == ord("(") and head[2:6] == b"\x03\0\0\0")


Key = tuple[str, int, str]

_TIME = Metric("cpu.time", Unit.SECONDS, "wall-clock time of the functions", "tottime", "s", clock=Clock.WALL)
_CALLS = Metric("calls.count", Unit.COUNT, "calls", "ncalls")
#: More seconds than any run lasts (a century).
_LONGEST = 3.2e9


@dataclass(frozen=True, slots=True)
class _Cost:
    """What calls of a function cost: `own` seconds, and `whole` with all that they called."""

    calls: int
    own: float
    whole: float


@dataclass(slots=True)
class _Functions:
    """Functions by number; `arcs` is what a caller (first) caused in a function (second)."""

    number: dict[Key, int] = field(default_factory=dict)
    costs: list[_Cost] = field(default_factory=list)
    arcs: dict[tuple[int, int], _Cost] = field(default_factory=dict)


def read(path: Path) -> Profile:
    """The profile of a .pstats file; AdapterError if it is damaged or holds no time."""
    try:
        value = decode(read_bytes(path))
    except Damaged as error:
        raise AdapterError(f"damaged statistics: {error}", path=path, offset=error.offset, hint=DAMAGED) from None
    functions, faults = _functions(value.items() if isinstance(value, dict) else ())
    if not any(cost.own > 0 for cost in functions.costs):
        raise AdapterError("contains no time of any function", path=path, hint="Profile a longer run.")
    stacks = Stacks()
    _put(functions, stacks, stacks.step(-1, stacks.frame(path.name.split(".")[0], kind=NodeKind.REGION)))
    caveats = [
        CAVEAT,
        "cProfile adds overhead to each call, so frequently called functions look slower than they are; it sees only one "
        "thread, and built-in functions only as a whole.",
    ]
    if faults:
        caveats.append(f"{faults:,} entries are not functions and were skipped.")
    return replace(
        stacks.profile(path, (_TIME, _CALLS), format="cProfile", tool="cProfile"),
        caveats=tuple(caveats),
        not_collected={
            "call paths": "python -m pyinstrument -r json -o profile.json app.py",
            "source lines, loops and inlined functions": "py-spy record -f raw -o stacks.txt -- ./app",
            "threads, and time in extensions by function": "py-spy record --native -f speedscope -o x.json -- ./app",
        },
        timed=True,
        insufficient=too_short(sum(cost.own for cost in functions.costs)),
    )


def _functions(rows: Iterable[tuple[Value, Value]]) -> tuple[_Functions, int]:
    """The functions of the file, and how many entries are none."""
    found, faults = _Functions(), 0
    called: list[tuple[Key, int, _Cost]] = []
    for key, facts in rows:
        function, cost = _key(key), _cost(facts)
        if function is None or cost is None or function in found.number:
            faults += 1
            continue
        place = found.number[function] = len(found.costs)
        found.costs.append(cost)
        callers = facts[4] if isinstance(facts, tuple) else None
        if isinstance(callers, dict):
            called += [
                (caller, place, _caused(of)) for other, of in callers.items() if (caller := _key(other)) is not None
            ]
    found.arcs.update({(found.number[one], place): cost for one, place, cost in called if one in found.number})
    return found, faults


def _put(functions: _Functions, stacks: Stacks, root: int) -> None:
    """Put the functions below `root`."""
    costs, frames = functions.costs, []
    arcs = {arc: Arc(cost.whole, cost.calls) for arc, cost in functions.arcs.items()}
    seen = [Arc()] * len(costs)
    for (_, callee), arc in arcs.items():
        seen[callee] = Arc(seen[callee].cost + arc.cost, seen[callee].calls + arc.calls)
    for index, (file, line, name) in enumerate(functions.number):
        known = "" if file.startswith(("~", "<")) else file
        kind = NodeKind.FUNCTION if known else _kind(name)
        frames.append(stacks.frame(name or "[unknown]", file=known, line=line, kind=kind))
        # Whoever is called more often than by those whom the profiler saw was called by what started the profile.
        if costs[index].calls > seen[index].calls:
            rest = max(costs[index].whole - seen[index].cost, 0.0)
            arcs[OUTSIDE, index] = Arc(rest, costs[index].calls - seen[index].calls)
    for cost, parts in zip(costs, put(stacks, root, frames, [cost.own for cost in costs], arcs), strict=True):
        for node, part in parts.items():
            if cost.own * part:
                stacks.add("cpu.time", node, cost.own * part)


def _kind(name: str) -> NodeKind:
    """Built-in functions that wait are states of the runtime, not work of the program."""
    waits = (Activity.SLEEP, Activity.LOCK, Activity.BLOCKED, Activity.JOIN, Activity.IO)
    return NodeKind.PLACEHOLDER if activity_of_name(name) in waits else NodeKind.FUNCTION


def _key(value: Value) -> Key | None:
    if not isinstance(value, tuple) or len(value) != 3:
        return None
    file, line, name = value
    if isinstance(file, str) and isinstance(line, int) and isinstance(name, str):
        return file, line, name
    return None


def _cost(value: Value) -> _Cost | None:
    """What a function's entry tells; None if it is none."""
    if not isinstance(value, tuple) or len(value) != 5:
        return None
    count, own = value[1], _seconds(value[2])
    if not isinstance(count, int) or not 0 <= count < 1 << 63 or own is None:
        return None
    return _Cost(count, own, _seconds(value[3]) or 0.0)


def _caused(value: Value) -> _Cost:
    """What a caller caused in a function; where only calls are told, these stand for what they cost."""
    numbers = value if isinstance(value, tuple) and len(value) == 4 else (value, 0, 0.0, None)
    count = numbers[0] if isinstance(numbers[0], int) and 0 <= numbers[0] < 1 << 63 else 0
    whole = _seconds(numbers[3])
    return _Cost(count, _seconds(numbers[2]) or 0.0, float(count) if whole is None else whole)


def _seconds(value: Value) -> float | None:
    if not isinstance(value, int | float):
        return None
    seconds = float(value) if abs(value) < _LONGEST else float("nan")
    return max(seconds, 0.0) if isfinite(seconds) else None


# -- the part of Python's marshal format that statistics consist of: dictionaries, tuples, text, numbers ------------
#
# Python's own marshal module may crash on damaged data and can make code objects, so it is not used. The layout is that of
# Python/marshal.c, versions 0 to 4. Anything else than these types is refused.

Value: TypeAlias = "bool | int | float | str | tuple[Value, ...] | dict[Value, Value] | _Null | None"

_FLAG = 0x80
#: Statistics are five levels deep: dictionary, tuple, dictionary, tuple, number.
_DEEPEST = 8
#: 15-bit digits of a number: 300 bits are enough for any count.
_DIGITS = 20


class _Null:
    """What ends a dictionary."""


NULL = _Null()


def decode(data: bytes) -> Value:
    """The value that `data` begins with; Damaged for anything that is none of the types above."""
    return _Decoder(data).value(0)


class _Decoder:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.known: list[Value] = []  #: what later parts may refer to
        self.interned: list[Value] = []  #: the same of Python 2, for names only

    def take(self, size: int) -> bytes:
        if size < 0 or size > len(self.data) - self.at:
            raise Damaged("the data end too early", self.at)
        self.at += size
        return self.data[self.at - size : self.at]

    def int32(self) -> int:
        return int.from_bytes(self.take(4), "little", signed=True)

    def value(self, depth: int) -> Value:
        if depth > _DEEPEST:
            raise Damaged("values are nested too deeply", self.at)
        begin = self.at
        code = self.take(1)[0]
        kind = chr(code & ~_FLAG)
        place = -1
        if code & _FLAG and kind in "([{)isuafgltzZAI":
            place = len(self.known)
            self.known.append(NULL)
        found = self.of_kind(kind, depth, begin)
        if place >= 0:
            self.known[place] = found
        return found

    def of_kind(self, kind: str, depth: int, begin: int) -> Value:
        if kind == "i":
            return self.int32()
        if kind == "I":
            return int.from_bytes(self.take(8), "little", signed=True)
        if kind == "g":
            number: float = struct.unpack("<d", self.take(8))[0]
            return number
        if kind in ")(":
            count = self.take(1)[0] if kind == ")" else self.int32()
            if not 0 <= count <= len(self.data) - self.at:
                raise Damaged(f"a tuple claims {count:,} parts", begin)
            return tuple(self.value(depth + 1) for _ in range(count))
        if kind in "zZ":
            return self.take(self.take(1)[0]).decode("utf-8", "replace")
        if kind in "aAust":
            text = self.take(self.int32()).decode("utf-8", "replace")
            if kind == "t":
                self.interned.append(text)
            return text
        if kind in "rR":
            table = self.known if kind == "r" else self.interned
            index = self.int32()
            if not 0 <= index < len(table) or table[index] is NULL:
                raise Damaged("a reference to nothing", begin)
            return table[index]
        if kind == "{":
            return self.dictionary(depth)
        return self.rare(kind, begin)

    def rare(self, kind: str, begin: int) -> Value:
        if kind == "0":
            return NULL
        if kind == "N":
            return None
        if kind in "TF":
            return kind == "T"
        if kind == "f":
            try:
                return float(self.take(self.take(1)[0]))
            except ValueError:
                raise Damaged("an invalid number", begin) from None
        if kind == "l":
            count = self.int32()
            if abs(count) > _DIGITS:
                raise Damaged("a number that is too large", begin)
            digits = [int.from_bytes(self.take(2), "little") for _ in range(abs(count))]
            value = sum(digit << 15 * place for place, digit in enumerate(digits))
            return -value if count < 0 else value
        raise Damaged(f"a value of a type that statistics never contain ({kind!r})", begin)

    def dictionary(self, depth: int) -> Value:
        found: dict[Value, Value] = {}
        while True:
            begin = self.at
            key = self.value(depth + 1)
            if key is NULL:
                return found
            # Only plain keys: the hash of a tuple of tuples of tuples, each given twice, would never be done.
            if not isinstance(key, tuple) or not all(isinstance(part, str | int | float) for part in key):
                raise Damaged("a key that is not a function", begin)
            found[key] = self.value(depth + 1)


ADAPTER = Adapter(
    name="cprofile",
    reads="statistics of Python's cProfile (.pstats, .prof)",
    recognises=recognises,
    read=read,
    order=30,
)
