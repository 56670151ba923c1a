"""The calls in which a function waits: its own, and those of the functions of its file that it calls."""

from __future__ import annotations

from chathpc.diagnosis.source.model import Expr, Function, Kind, expressions
from chathpc.diagnosis.source.text import SourceFile
from chathpc.profile.activity import Activity, activity_of_name

_WAITING = (Activity.SLEEP, Activity.BLOCKED, Activity.JOIN, Activity.LOCK)
#: Of file operations only these wait for the device in any case: others mostly copy to and from the system's memory.
_SYNCING = frozenset({"fsync", "fdatasync", "msync", "sync", "syncfs", "sync_file_range"})


def waiting(function: Function, file: SourceFile) -> list[tuple[Function, Expr, Activity]]:
    """Calls that sleep, wait for something or force data to a device, each with the function that holds it and what it does."""
    found, todo, seen = [], [function], {function.first}
    while todo:
        holder = todo.pop()
        for one in expressions(holder.statements):
            if one.kind != Kind.CALL:
                continue
            own = file.functions_named(one.short)
            todo += [each for each in own if each.first not in seen]
            seen.update(each.first for each in own)
            activity = Activity.IO if one.short in _SYNCING else activity_of_name(one.text)
            if not own and activity is not None and (activity in _WAITING or one.short in _SYNCING):
                found.append((holder, one, activity))
    return found
