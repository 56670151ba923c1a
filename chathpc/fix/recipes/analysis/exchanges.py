"""Pointers that never lead to the same memory, since they only ever change places, or by what all calls hand over."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.origins import origins, united
from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import children, field, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_SWAP = re.compile(rb"\b(\w+)\s*=\s*(\w+)\s*;\s*\2\s*=\s*(\w+)\s*;\s*\3\s*=\s*\1\s*;")


def are_apart(one: Node, other: Node, procedure: Procedure, program: Program) -> bool:
    """True for two pointers that lead to memory of their own and are only ever exchanged (`w = a; a = b; b = w;`), and for two
    parameters for which all calls of the program hand over two such, or memory of different origin.
    """
    names = text_of(one), text_of(other)
    if one.type != "identifier" or other.type != "identifier":
        return False
    if procedure.parameters.isdisjoint(names):
        return _are_swapped(*names, procedure, program)
    own, calls = procedure.model.name, program.calls.get(procedure.model.name, [])
    if not procedure.parameters.issuperset(names) or any(procedure.assigned.get(name) for name in names):
        return False
    if not calls or own in program.handed_on or len(program.named(own)) != 1 or not program.named("main"):
        return False
    listed = [each.name for each in procedure.model.parameters]
    for caller, call in calls:
        given = children(field(call, "arguments"))
        if len(given) != len(listed):
            return False
        mine, its = (given[listed.index(name)] for name in names)
        ours, theirs = origins(mine, caller, program), origins(its, caller, program)
        known = ours is not None and theirs is not None and not ours & theirs
        if not known and not _are_swapped(text_of(mine), text_of(its), caller, program):
            return False
    return True


def _are_swapped(one: str, other: str, procedure: Procedure, program: Program) -> bool:
    """True if two local pointers begin with memory of their own and then only change places."""
    names = {one, other}
    if len(names) != 2 or not names <= procedure.declarations.keys() - procedure.parameters - procedure.addressed:
        return False
    moved = 0
    begun = []
    for name in names:
        values = procedure.assigned.get(name, [])
        made = [each for each in values if each is None or each.type != "identifier"]
        moved += len(values) - len(made)
        begun.append(united([origins(each, procedure, program) for each in made]))
    swaps = [{match[2].decode(), match[3].decode()} for match in _SWAP.finditer(procedure.node.text or b"")]
    return moved == 2 * swaps.count(names) and all(begun) and not (begun[0] or set()) & (begun[1] or set())
