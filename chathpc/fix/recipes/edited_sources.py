"""Sources with changes made in them."""

from __future__ import annotations

from collections.abc import Sequence

from chathpc.fix.recipes.analysis.edits import Edit, applied
from chathpc.fix.recipes.analysis.program import Program
from chathpc.fix.recipes.fortran.free_form import folded
from chathpc.fix.recipes.recipe import Change


def edited(program: Program, changes: Sequence[Change]) -> dict[str, str] | None:
    """New texts by path; None where changes meet."""
    edits: dict[str, list[Edit]] = {}
    shared: set[tuple[str, Edit]] = set()
    for change in changes:
        for path, each in change.edits.items():
            known = edits.setdefault(path, [])
            known.extend(one for one in each if (path, one) not in shared)
            shared.update((path, one) for one in each if is_shared(one))
    result = {}
    for path, listed in edits.items():
        new = applied(program.sources[path].text, listed)
        if new is None:
            return None
        if program.sources[path].is_fortran:
            new = folded(new, program.sources[path].text)
        result[path] = new.decode("utf-8", "surrogateescape")
    return result


def is_shared(one: Edit) -> bool:
    """True for whole lines that several changes put in the same place, as a small function that all of them call."""
    return one.start == one.end and one.new.endswith(b"\n")
