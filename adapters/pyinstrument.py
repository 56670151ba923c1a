"""pyinstrument: the JSON of its renderer and of its saved sessions, of versions 3 to 5.

A tree of frames with inclusive seconds: `root_frame` with function, file_path, line_no, time, children; since version 4.4 a
frame may have an `identifier` instead, "function, NUL, file, NUL, line"; sessions call the tree `frame_tree`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from chathpc.adapters.adapter import Adapter
from chathpc.adapters.content import read_json
from chathpc.adapters.glance import Glance
from chathpc.adapters.stacks import Stacks
from chathpc.errors import AdapterError
from chathpc.profile import numbers
from chathpc.profile.activity import Activity, activity_of_name
from chathpc.profile.metric import Clock, Metric, Unit
from chathpc.profile.profile import Profile
from chathpc.profile.tree import CallTree, FloatArray, NodeKind

#: Frames that stand for their parent's own time.
_SELF = ("[self]",)
_HOW = "Write it again: python -m pyinstrument -r json -o profile.json PROGRAM.py"


def recognises(glance: Glance) -> bool:
    """True for JSON with the tree of frames and the number of samples, or with a session and its tree."""
    text = glance.text
    if not text.lstrip().startswith("{"):
        return False
    if '"root_frame"' in text:
        return '"sample_count"' in text or '"duration"' in text
    return '"session"' in text[:4096] and ('"frame_tree"' in text or '"start_call_stack"' in text)


def read(path: Path) -> Profile:
    """The profile in the file; AdapterError for what is no tree of frames."""
    document = read_json(path)
    document = document if isinstance(document, dict) else {}
    root = document.get("root_frame", document.get("frame_tree"))
    session = document.get("session")
    facts = session if isinstance(session, dict) else document
    if not isinstance(root, dict):
        raise AdapterError("has no tree of frames", path=path, hint=_HOW)
    stacks = Stacks()
    faults, rounded = _add(stacks, root)
    if not stacks.has("cpu.time"):
        raise AdapterError("contains no time of any frame", path=path, hint=_HOW)
    metric = Metric("cpu.time", Unit.SECONDS, "wall-clock time of the thread (sampled)", "time", "s", clock=Clock.WALL)
    profile = stacks.profile(path, [metric], format="pyinstrument", tool="pyinstrument")
    own = profile.everything.dense(metric.id)
    caveats = ["pyinstrument sees one thread, and extensions written in C only as the Python function that calls them."]
    if faults:
        caveats.append(f"{faults:,} damaged frames were skipped.")
    if rounded > 0.01 * own.sum():
        caveats.append("Some frames have less time than their children.")
    imports = _imports(profile.tree, own)
    if imports:
        caveats.append(imports)
    samples = _number(facts.get("sample_count"))
    run = {}
    for key, words in (("duration", "seconds"), ("cpu_time", "processor seconds")):
        number = _number(facts.get(key))
        if number is not None:
            run[words] = f"{number:.6g}"
    return replace(
        profile,
        caveats=tuple(caveats),
        not_collected={
            "threads, and time in extensions by function": "py-spy record --native -f speedscope -o x.json -- ./app",
            "source lines, loops and inlined functions": "py-spy record -f raw -o stacks.txt -- ./app",
            "hardware counters (cache misses, instructions per cycle)": (
                "perf stat -e cycles,instructions,cache-misses ./app"
            ),
        },
        run=run,
        sample_count=samples,
    )


def _add(stacks: Stacks, root: dict[str, Any]) -> tuple[int, float]:
    """Add all frames; how many were damaged, and the seconds by which frames have less than those below them."""
    faults, rounded = 0, 0.0
    pending: list[tuple[dict[str, Any], int]] = [(root, -1)]
    while pending:
        frame, parent = pending.pop()
        time = _number(frame.get("time"))
        children = frame.get("children")
        children = children if isinstance(children, list) else []
        below = [child for child in children if isinstance(child, dict)]
        faults += len(children) - len(below) + (time is None)
        name, file, line = _place(frame)
        node = parent
        if name not in _SELF or parent < 0:
            node = stacks.step(parent, _frame(stacks, name, file, line))
        own = (time or 0.0) - sum(_number(child.get("time")) or 0.0 for child in below)
        if own > 0:
            stacks.add("cpu.time", node, own)
        rounded += max(-own, 0.0)
        pending += [(child, node) for child in reversed(below)]
    return faults, rounded


#: Part of the time from which importing is worth a sentence: with less, other things come first.
_IMPORTS = 0.1


def _imports(tree: CallTree, own: FloatArray) -> str:
    """What importing modules takes: code at the top level of modules that others import."""
    module = tree.names.index("<module>") if "<module>" in tree.names else -1
    imported = np.flatnonzero((tree.name == module) & (tree.parent >= 0) & (module >= 0)).astype(np.int32)
    outer = tree.outermost(imported)
    seconds, total = float(tree.inclusive(own)[outer].sum()), float(own.sum())
    if seconds < _IMPORTS * total:
        return ""
    alone = float(own[imported].sum())
    return (
        f"Importing modules takes {numbers.seconds(seconds)} of {numbers.seconds(total)} "
        f"({numbers.percent(seconds / total)}), {numbers.seconds(alone)} of it in the modules' own top-level code (<module>)."
    )


def _place(frame: dict[str, Any]) -> tuple[str, str, int]:
    """Function, file and line of a frame."""
    name, file, line = frame.get("function"), frame.get("file_path"), frame.get("line_no")
    identifier = frame.get("identifier")
    if not isinstance(name, str) and isinstance(identifier, str):
        parts = identifier.split("\0")
        name = parts[0]
        file = parts[1] if len(parts) > 1 else ""
        line = (
            int(parts[2]) if len(parts) > 2 and parts[2].isascii() and parts[2].isdigit() and len(parts[2]) < 10 else 0
        )
    return (
        name if isinstance(name, str) and name else "[unknown]",
        file if isinstance(file, str) else "",
        line if type(line) is int and 0 <= line < 1 << 31 else 0,
    )


def _frame(stacks: Stacks, name: str, file: str, line: int) -> int:
    if file.startswith("<built-in>") or not file:
        waits = (Activity.SLEEP, Activity.LOCK, Activity.BLOCKED, Activity.JOIN, Activity.IO)
        waiting = activity_of_name(name) in waits or name == "[await]"
        return stacks.frame(name, kind=NodeKind.PLACEHOLDER if waiting else NodeKind.FUNCTION)
    return stacks.frame(name, file=file, line=line)


def _number(value: object) -> float | None:
    return float(value) if type(value) in (int, float) and -1e12 < float(value) < 1e12 else None  # type: ignore[arg-type]


ADAPTER = Adapter(
    name="pyinstrument",
    reads="pyinstrument's JSON and saved sessions",
    recognises=recognises,
    read=read,
    order=50,
)
