"""Mutexes that protect nothing but updates of whole numbers: each update becomes an atomic one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.aliases import may_overlap
from chathpc.fix.recipes.analysis.edits import Edit, without_line
from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.program import Procedure, Program, Source, Spot
from chathpc.fix.recipes.analysis.syntax import children, field, inside, nodes, text_of
from chathpc.fix.recipes.analysis.types import type_of
from chathpc.fix.recipes.recipe import Change, Context
from chathpc.fix.recipes.threads.atomic_updates import Gathered, is_exact, lock_name, only_updates
from chathpc.fix.recipes.threads.openmp_sums import Update
from chathpc.fix.recipes.threads.protection import Section, locked
from chathpc.fix.recipes.threads.unwatched import last_name

if TYPE_CHECKING:
    from tree_sitter import Node

_MUTEXES = re.compile(r"pthread_(?:mutex|spinlock)_t|mtx_t|std::mutex")
_TAKES = re.compile(
    r"(?:pthread_(?:mutex|spin)_lock|mtx_lock)\(|std::(?:lock_guard|scoped_lock|unique_lock)\b|.*\block\(\)"
)
#: What makes a mutex and throws it away.
_KEEPS = frozenset({"pthread_mutex_init", "pthread_mutex_destroy", "pthread_spin_init", "pthread_spin_destroy", "mtx_init", "mtx_destroy"})  # fmt: skip
_BUILTINS = {"+": "add", "-": "sub", "|": "or", "&": "and", "^": "xor"}


def atomic_whole_numbers(context: Context, spot: Spot) -> Iterator[Change]:
    """Whole numbers that are updated under a mutex are updated by atomic operations of the processor, and the mutex goes."""
    program = context.program
    if spot.procedure.is_broken or program.unread or program.has_unions:
        return
    found: list[tuple[Procedure, Section]] = []
    for home in program.procedures:
        for one in locked(home.body) if home.body is not None and not home.source.is_fortran else ():
            if one is None or home.is_broken:
                return
            found.append((home, one))
    for name in dict.fromkeys(lock_name(one) for home, one in found if home is spot.procedure):
        group = [(home, one) for home, one in found if lock_name(one) == name]
        declared = _only_declared(name, group, program)
        if declared is None:
            continue
        gathered = [only_updates(home, one, program) for home, one in group]
        sections = [one for one in gathered if one is not None]
        looks = [(home, one) for (home, one), each in zip(group, gathered, strict=True) if each is None]
        reads = [node for home, one in looks if (node := _looked_at(home, one, sections, program)) is not None]
        if len(reads) < len(looks) or not _are_apart(sections, program):
            continue
        if reads and any(len(one.updates) > 1 for one in sections):
            continue  # who looks may see the first without the second
        order = "__ATOMIC_SEQ_CST" if reads else "__ATOMIC_RELAXED"
        edits: dict[str, tuple[Edit, ...]] = {}
        for (home, section), node in zip(looks, reads, strict=True):
            new = f"__atomic_load_n(&{text_of(node)}, {order})".encode()
            gone = (without_line(taken, home.source.text) for taken in section.taken)
            path = home.source.path
            edits[path] = (*edits.get(path, ()), *gone, Edit(node.start_byte, node.end_byte, new))
        for each in sections:
            mine, path = _edits(each, order), each.procedure.source.path
            if mine is None:
                return
            edits[path] = (*edits.get(path, ()), *mine)
        for source, node in declared:
            edits[source.path] = (*edits.get(source.path, ()), without_line(node, source.text))
        first = next((each for each in sections if each.procedure is spot.procedure), None)
        if first is None:
            continue
        shown = ", ".join(dict.fromkeys(text_of(one.target) for one in first.updates))
        yield Change(edits, first.section.line, f"updates {shown} by atomic operations instead of under a mutex")


def _only_declared(
    name: str, group: list[tuple[Procedure, Section]], program: Program
) -> list[tuple[Source, Node]] | None:
    """The declaration of a mutex that is only taken and left in these sections, where nothing else names it (it may go as well); None for
    a mutex that is used in any other way.
    """
    for home, one in group:
        if not _TAKES.match(text_of(one.taken[0])) or name in home.parameters or name in home.declarations:
            return None
    declared: list[tuple[Source, Node]] = []
    is_kept = False
    for source in program.sources.values():
        taken = [node for home, one in group if home.source is source for node in one.taken]
        for each in nodes(
            source.file.tree.root_node, "identifier", "field_identifier", "type_identifier", "preproc_arg"
        ):
            if each.type == "preproc_arg":
                if re.search(rf"\b{name}\b", text_of(each)):
                    return None  # a macro may take it
                continue
            if text_of(each) != name or any(inside(each, node) for node in taken):
                continue
            around = each.parent
            if around is not None and around.type == "init_declarator" and field(around, "declarator") == each:
                around = around.parent
            if around is not None and around.type in ("declaration", "field_declaration"):
                if not _MUTEXES.fullmatch(text_of(field(around, "type"))):
                    return None
                declared.append((source, around))
                continue
            while around is not None and around.type in ("field_expression", "pointer_expression", "argument_list"):
                around = around.parent
            if text_of(field(around, "function")) not in _KEEPS:
                return None
            is_kept = True
    if len(declared) != 1:
        return None
    alone = len(declared[0][1].children_by_field_name("declarator")) == 1 and not is_kept
    return declared if alone and not _is_listed(declared[0][1]) else []


def _is_listed(declaration: Node) -> bool:
    """True for a member of a structure, which a list of values may count."""
    record = declaration.parent.parent if declaration.parent is not None else None
    return declaration.type == "field_declaration" and (record is None or record.type != "class_specifier")


def _are_apart(sections: list[Gathered], program: Program) -> bool:
    """True if all that is updated are whole numbers, and no update reads what another one writes: their order is of no account."""
    written = [access for one in sections for access in one.written]
    for one in sections:
        if not all(each.operator in _BUILTINS and is_exact(each, one.procedure, program) for each in one.updates):
            return False
        places = {(each.node.start_byte, each.node.end_byte) for each in one.written}
        again = {(side.start_byte, side.end_byte) for each in one.updates if (side := _own_side(each)) is not None}
        for statement in one.section.statements:
            for access in effects(statement, one.procedure, program).accesses:
                place = (access.node.start_byte, access.node.end_byte)
                is_asked = text_of(field(access.node.parent, "field")) == "size"  # no update changes how many there are
                if place in places or place in again or is_asked:
                    continue
                if any(may_overlap(each, access, program) for each in written):
                    return False
    return True


def _own_side(one: Update) -> Node | None:
    """The `x` on the right of `x = x + e`."""
    expr = next(iter(children(one.statement)), None)
    if expr is None or text_of(field(expr, "operator")) != "=":
        return None
    whole = field(expr, "right")
    return next((side for side in (field(whole, "left"), field(whole, "right")) if side != one.value), None)


def _looked_at(home: Procedure, one: Section, sections: list[Gathered], program: Program) -> Node | None:
    """The number that is all that a section reads, to return it or keep it in a variable of the function; None for anything else."""
    inner = next(iter(children(one.statements[0])), None) if len(one.statements) == 1 else None
    if inner is None:
        return None
    parts = [each for each in children(one.statements[0]) if each.type == "init_declarator"]
    if one.statements[0].type == "return_statement":
        value: Node | None = inner
    elif len(parts) == 1 and len(one.statements[0].children_by_field_name("declarator")) == 1:
        value = field(parts[0], "value") if text_of(field(parts[0], "declarator")).isidentifier() else None
    else:
        return None
    kind = type_of(value, home, program)
    if value is None or value.type not in ("identifier", "field_expression", "subscript_expression"):
        return None
    if kind is None or not kind.is_integer or any(True for _ in nodes(value, "call_expression", "update_expression")):
        return None
    same = {last_name(each.target) for section in sections for each in section.updates}
    named = [text_of(each) for each in nodes(value, "identifier", "field_identifier") if text_of(each) in same]
    return value if named == [last_name(value)] and last_name(value) not in home.declarations else None


def _edits(one: Gathered, order: str) -> list[Edit] | None:
    """The mutex goes, and each update is one call of what compilers have for it."""
    text = one.procedure.source.text
    edits = [without_line(each, text) for each in one.section.taken]
    for each in one.updates:
        expr = next(iter(children(each.statement)), None)
        if expr is None:
            return None
        does = "sub" if _subtracts(expr) else _BUILTINS[each.operator]
        value = text_of(each.value) if each.value is not None else "1"
        new = f"__atomic_fetch_{does}(&{text_of(each.target)}, {value}, {order})"
        edits.append(Edit(expr.start_byte, expr.end_byte, new.encode()))
    return edits


def _subtracts(expr: Node) -> bool:
    if expr.type == "update_expression" or text_of(field(expr, "operator")) != "=":
        return text_of(field(expr, "operator")) in ("--", "-=")
    return text_of(field(field(expr, "right"), "operator")) == "-"
