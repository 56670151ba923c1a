"""Statistics of cProfile as a profile: a function's own time, calls, and who called it.

The dictionary maps (file, line, name) to (calls that are no recursion, calls, own seconds, seconds with all below, callers);
callers maps the same keys to what they caused. Lib/pstats.py of Python.
"""

from __future__ import annotations

from math import isfinite
from pathlib import Path

from chathpc.adapters.call_graph import CAVEAT, below
from chathpc.adapters.content import DAMAGED, read_bytes
from chathpc.adapters.cprofile.marshalled import Damaged, Value, decode
from chathpc.adapters.enough import too_short
from chathpc.adapters.stacks import Stacks
from chathpc.errors import AdapterError
from chathpc.profile.location import Locations
from chathpc.profile.metric import Clock, Metric, Unit
from chathpc.profile.profile import Profile, Source
from chathpc.profile.tree import NodeKind

Key = tuple[str, int, str]

_TIME = Metric("cpu.time", Unit.SECONDS, "wall-clock time of the functions", "tottime", "s", clock=Clock.WALL)
_CALLS = Metric("calls.count", Unit.COUNT, "calls", "ncalls")
#: More seconds than any run lasts (a century).
_LONGEST = 3.2e9


def read(path: Path) -> Profile:
    """The profile of a .pstats file; AdapterError if it is damaged or holds no time."""
    try:
        value = decode(read_bytes(path))
    except Damaged as error:
        raise AdapterError(f"damaged statistics: {error}", path=path, offset=error.offset, hint=DAMAGED) from None
    rows = value.items() if isinstance(value, dict) else ()
    number: dict[Key, int] = {}
    times: list[float] = []
    calls: list[int] = []
    arcs: list[tuple[Key, int]] = []
    faults = 0
    for key, facts in rows:
        function = _key(key)
        own = _fields(facts)
        if function is None or own is None or function in number:
            faults += 1
            continue
        number[function] = len(number)
        times.append(own[1])
        calls.append(own[0])
        callers = facts[4] if isinstance(facts, tuple) else None
        if isinstance(callers, dict):
            arcs += [(caller, number[function]) for other in callers if (caller := _key(other)) is not None]
    if not any(time > 0 for time in times):
        raise AdapterError("contains no time of any function", path=path, hint="Profile a longer run.")
    parent, order = below(len(number), ((number[a], b) for a, b in arcs if a in number), times)
    stacks = Stacks()
    title = path.name.split(".")[0]
    root = stacks.step(-1, stacks.frame(title, kind=NodeKind.REGION))
    keys, place = list(number), [root] * len(number)
    for index in order:
        file, line, name = keys[index]
        known = "" if file.startswith(("~", "<")) else file
        frame = stacks.frame(
            name or "[unknown]", file=known, line=line, kind=NodeKind.FUNCTION if known else _kind(name)
        )
        place[index] = stacks.step(root if parent[index] < 0 else place[parent[index]], frame)
        if times[index]:
            stacks.add("cpu.time", place[index], times[index])
        if calls[index]:
            stacks.add("calls.count", place[index], calls[index])
    metrics = [metric for metric in (_TIME, _CALLS) if stacks.has(metric.id)]
    tree, values = stacks.finish(metrics)
    caveats = [
        CAVEAT,
        "cProfile adds overhead to each call, so frequently called functions look slower than they are; it sees only one "
        "thread, and built-in functions only as a whole.",
    ]
    if faults:
        caveats.append(f"{faults:,} entries are not functions and were skipped.")
    return Profile(
        format="cProfile",
        title=title,
        tree=tree,
        metrics={metric.id: metric for metric in metrics},
        values=values,
        where=Locations.single(),
        sources=(Source(path, "cProfile"),),
        caveats=tuple(caveats),
        not_collected={
            "call paths": "python -m pyinstrument -r json -o profile.json app.py",
            "source lines, loops and inlined functions": "py-spy record -f raw -o stacks.txt -- ./app",
            "threads, and time in extensions by function": "py-spy record --native -f speedscope -o x.json -- ./app",
        },
        timed=True,
        insufficient=too_short(sum(times)),
    )


def _kind(name: str) -> NodeKind:
    """Built-in functions that wait are states of the runtime, not work of the program."""
    from chathpc.profile.activity import Activity, activity_of_name

    waits = (Activity.SLEEP, Activity.LOCK, Activity.BLOCKED, Activity.JOIN, Activity.IO)
    return NodeKind.PLACEHOLDER if activity_of_name(name) in waits else NodeKind.FUNCTION


def _key(value: Value) -> Key | None:
    if not isinstance(value, tuple) or len(value) != 3:
        return None
    file, line, name = value
    if isinstance(file, str) and isinstance(line, int) and isinstance(name, str):
        return file, line, name
    return None


def _fields(value: Value) -> tuple[int, float] | None:
    """(calls, own seconds) of a function's entry; None if it is none."""
    if not isinstance(value, tuple) or len(value) != 5:
        return None
    count, own = value[1], value[2]
    if isinstance(count, int) and isinstance(own, int | float) and 0 <= count < 1 << 63:
        seconds = float(own) if abs(own) < _LONGEST else float("nan")
        return (count, max(seconds, 0.0)) if isfinite(seconds) else None
    return None
