"""Arrays of Fortran whose rows are handed over: they lie with their rows together when the two dimensions change places everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import children, field, line_of, text_of
from chathpc.fix.recipes.fortran.accesses import is_safe
from chathpc.fix.recipes.fortran.dummy_uses import is_one_number
from chathpc.fix.recipes.fortran.statements import (
    arguments,
    called,
    declaration,
    identifiers,
    is_single,
    mentions,
    squeezed,
)
from chathpc.fix.recipes.recipe import Change, Context, Semantics

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST = 24
_ASKING = frozenset({"size", "lbound", "ubound"})


def swapped(context: Context, spot: Spot) -> Iterator[Change]:
    """`a(n, m)`, of which `a(i, :)` is handed over in a loop, becomes `a(m, n)` with `a(:, i)`, wherever it is used."""
    procedure, program = spot.procedure, context.program
    if any(not each.is_fortran for each in program.sources.values()) or program.unread:
        return
    done: set[str] = set()
    for node in procedure.all("call_expression"):
        name = called(node)
        if not name or name in done or not _is_row(node) or not _is_handed_over(node, procedure):
            continue
        done.add(name)
        found = _Swap(program)
        if found.follow(procedure, name) and not found.columns and (context.may_round or not found.sums):
            semantics: Semantics = "reassociates floating point" if found.sums else "exact"
            yield Change(
                {path: tuple(sorted(each)) for path, each in found.edits.items()},
                line_of(node),
                f"stores {name} with its two dimensions the other way round, so that what is handed over lies together",
                semantics,
            )


def _is_row(node: Node) -> bool:
    listed = arguments(node)
    return len(listed) == 2 and listed[0].type != "extent_specifier" and listed[1].type == "extent_specifier"


def _is_handed_over(node: Node, procedure: Procedure) -> bool:
    """True for an argument of a procedure's call in a loop."""
    listed = node.parent
    call = listed.parent if listed is not None and listed.type == "argument_list" else None
    name = called(call)
    if call is None or not name or declaration(procedure, name) is not None:
        return False
    one: Node | None = call
    while one is not None and one != procedure.node:
        if one.type == "do_loop":
            return True
        one = one.parent
    return False


class _Swap:
    """All edits that let an array have its dimensions the other way round, and what stands against it."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.edits: dict[str, set[Edit]] = {}
        self.columns = False
        self.sums = False
        self._todo: list[tuple[Procedure, str]] = []
        self._seen: set[tuple[int, str]] = set()

    def follow(self, procedure: Procedure, name: str) -> bool:
        """True if all uses of the array, and of the arguments that it is handed over for, can change."""
        self._todo = [(procedure, name)]
        while self._todo:
            one, own = self._todo.pop()
            if (id(one), own) in self._seen:
                continue
            self._seen.add((id(one), own))
            if len(self._seen) > _MOST or not self._all_uses(one, own):
                return False
        return True

    def _all_uses(self, procedure: Procedure, name: str) -> bool:
        known = declaration(procedure, name)
        if (
            known is None
            or known.rank != 2
            or not is_safe(procedure)
            or known.type.lower().startswith(("type", "class", "character"))
        ):
            return False
        if any("dimension" in each or "parameter" in each for each in known.attributes):
            return False
        if procedure.model.returns is not None and procedure.model.returns.name == name:
            return False
        inner = [
            one
            for one in self.program.procedures
            if one is not procedure and one.source is procedure.source and _is_in(one, procedure)
        ]
        if any(name in {each.name for each in (*one.model.declarations, *one.model.parameters)} for one in inner):
            return False
        if name in procedure.parameters and not self._callers(procedure, name):
            return False
        return all(self._one_use(node, procedure) for node in identifiers(procedure.node, name))

    def _note(self, procedure: Procedure, node: Node, new: bytes) -> None:
        self.edits.setdefault(procedure.source.path, set()).add(Edit(node.start_byte, node.end_byte, new))

    def _exchange(self, procedure: Procedure, pair: list[Node], name: str) -> bool:
        if len(pair) != 2 or any(
            mentions(each, name) or squeezed(each) == "*" or each.type == "keyword_argument" for each in pair
        ):
            return False
        text = procedure.source.text
        first, second = (text[each.start_byte : each.end_byte] for each in pair)
        self._note(procedure, pair[0], second)
        self._note(procedure, pair[1], first)
        return True

    def _one_use(self, node: Node, procedure: Procedure) -> bool:
        parent, name = node.parent, text_of(node).lower()
        if parent is None or parent.type == "parameters":
            return parent is not None
        if parent.type == "call_expression" and children(parent)[0] == node:
            listed = arguments(parent)
            sections = [each.type == "extent_specifier" for each in listed]
            self.columns = self.columns or sections == [True, False]
            if not any(sections) and not is_one_number(parent, procedure, self.program):
                return False
            return sections != [True, True] and self._exchange(procedure, listed, name)
        if parent.type in ("sized_declarator", "sized_allocation"):
            return self._exchange(procedure, children(children(parent)[-1]), name)
        if parent.type == "deallocate_statement":
            return True
        if parent.type == "assignment_statement" and field(parent, "left") == node:
            return is_single(field(parent, "right"), procedure)
        return (
            parent.type == "argument_list"
            and parent.parent is not None
            and self._handed(node, parent.parent, procedure)
        )

    def _handed(self, node: Node, call: Node, procedure: Procedure) -> bool:
        """The array as a whole: for an intrinsic function that does not care, or a procedure that changes as well."""
        word, listed = called(call), arguments(call)
        named = self.program.named(word)
        if not named:
            if word in _ASKING and listed[0] == node:
                if len(listed) == 2 and squeezed(listed[1]) in ("1", "2"):
                    self._note(procedure, listed[1], b"2" if squeezed(listed[1]) == "1" else b"1")
                    return True
                return word == "size" and len(listed) == 1
            self.sums = self.sums or word == "sum"
            return len(listed) == 1 and word in ("sum", "maxval", "minval", "allocated")
        place = listed.index(node)
        dummies = [each.name for each in named[0].model.parameters]
        if len(named) != 1 or place >= len(dummies) or any(each.type == "keyword_argument" for each in listed):
            return False
        self._todo.append((named[0], dummies[place]))
        return True

    def _callers(self, procedure: Procedure, dummy: str) -> bool:
        """True if all who call hand over a whole array, which then changes as well."""
        name, place = procedure.model.name, [each.name for each in procedure.model.parameters].index(dummy)
        if len(self.program.named(name)) != 1:
            return False
        for one in self.program.procedures:
            if any(
                _is_in(other, one) and identifiers(other.node, name)
                for other in self.program.procedures
                if other is not one and other.source is one.source
            ):
                continue
            for node in identifiers(one.node, name):
                call = node.parent
                if call is None or called(call) != name or call.type not in ("subroutine_call", "call_expression"):
                    return False
                listed = arguments(call)
                if place >= len(listed) or listed[place].type != "identifier":
                    return False
                self._todo.append((one, text_of(listed[place]).lower()))
        return True


def _is_in(inner: Procedure, outer: Procedure) -> bool:
    return outer.node.start_byte < inner.node.start_byte and inner.node.end_byte <= outer.node.end_byte
