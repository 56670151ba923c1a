"""Critical sections, and locks of OpenMP, that protect nothing but updates of numbers: each update becomes an atomic one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.directives import directive
from chathpc.fix.recipes.analysis.edits import Edit, indent, line_start
from chathpc.fix.recipes.analysis.effects import Access, effects
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import children, field, nodes, text_of
from chathpc.fix.recipes.analysis.types import type_of
from chathpc.fix.recipes.recipe import Change, Context, Semantics
from chathpc.fix.recipes.threads.openmp_sums import Update, update_of
from chathpc.fix.recipes.threads.protection import Section, locked
from chathpc.fix.recipes.threads.regions import all_directives, reaches
from chathpc.fix.recipes.threads.unwatched import are_unwatched, last_name

if TYPE_CHECKING:
    from tree_sitter import Node

#: Types that processors update at once or by a compare-and-swap, and that are not promoted in between.
_TYPES = re.compile(r"(?:std::)?(?:u?int(?:32|64)_t|s?size_t|ptrdiff_t)|(?:unsigned|signed|long|int| )+|float|double")
_PACKED = re.compile(rb"\bpacked\b|\bpragma\s+pack\b|\balignas\s*\(\s*1\s*\)")
_LOCKS = ("omp_init_lock", "omp_init_lock_with_hint", "omp_destroy_lock")
_WHOLE = ("&", "|", "^")


@dataclass(frozen=True, slots=True, eq=False)
class Gathered:
    """A section with the updates that are all it does, and what it writes."""

    procedure: Procedure
    section: Section
    updates: tuple[Update, ...]
    written: tuple[Access, ...]


def atomic_elements(context: Context, spot: Spot) -> Iterator[Change]:
    """Sections that update elements of arrays: threads seldom mean the same one."""
    program = context.program
    if spot.procedure.is_broken or not program.has_only_openmp or program.unread:
        return
    if program.has_unions or any(one.is_fortran for one in program.sources.values()):
        return  # one memory under two types; what Fortran calls, and its sections of the same names
    for group in (*_critical(spot.procedure, program), *_locked(spot.procedure, program)):
        gathered = [only_updates(procedure, one, program) for procedure, one in group]
        found = [one for one in gathered if one is not None]
        if not found or len(found) < len(gathered):
            continue
        updates = [(one.procedure, each) for one in found for each in one.updates]
        if not any(is_element(each.target) for _, each in updates):
            continue
        exact = all(is_exact(each, procedure, program) for procedure, each in updates)
        if not exact and not context.may_round:
            continue
        regions, written = reaches(program), [access for one in found for access in one.written]
        if regions is None or not are_unwatched(_places(found), written, regions, program):
            continue
        edits: dict[str, tuple[Edit, ...]] = {}
        for one in found:
            path = one.procedure.source.path
            edits[path] = (*edits.get(path, ()), *_edits(one))
        first = next(one for one in found if one.procedure is spot.procedure)
        semantics: Semantics = "exact" if exact else "reassociates floating point"
        shown = ", ".join(dict.fromkeys(text_of(each.target) for each in first.updates))
        instead = "in a critical section" if first.section.word == "critical" else "under a lock"
        yield Change(edits, first.section.line, f"updates {shown} by atomic operations instead of {instead}", semantics)


#: Sections of which one thread at a time is in one, with the functions that they are in.
_Group = list[tuple[Procedure, Section]]


def _critical(procedure: Procedure, program: Program) -> Iterator[_Group]:
    """Critical sections by name, of which the function has one, with those of that name in all files."""
    if not any(True for _ in procedure.all("preproc_call")):
        return
    found = [
        (home, Section("critical", one.words, (one.clause("critical") or "").strip(), (one.node,), (one.statement,)))
        for home, one in all_directives("critical", program) or ()
    ]
    for name in dict.fromkeys(one.name for home, one in found if home is procedure):
        yield [(home, one) for home, one in found if one.name == name]


def _locked(procedure: Procedure, program: Program) -> Iterator[_Group]:
    """What stands under each lock of OpenMP that the function takes, with all that stands under it elsewhere."""
    if "omp_set_lock" not in procedure.identifiers:
        return
    found: _Group = []
    for home in program.procedures:
        for one in locked(home.body) if home.body is not None and not home.source.is_fortran else ():
            if one is None or home.is_broken:
                return
            found.append((home, one))
    for name in dict.fromkeys(lock_name(one) for home, one in found if home is procedure):
        group = [(home, one) for home, one in found if lock_name(one) == name]
        if _is_only_taken(name, group, program):
            yield group


def lock_name(one: Section) -> str:
    """The lock's variable or member, without its record."""
    return re.split(r"\.|->", one.name)[-1]


def _is_only_taken(name: str, group: _Group, program: Program) -> bool:
    """True for a lock of OpenMP that is known by one name, and is made, taken in these sections, left and thrown away."""
    uses = 0
    for home, one in group:
        if text_of(one.taken[0]).split("(")[0].strip() != "omp_set_lock" or name in home.parameters:
            return False
    for source in program.sources.values():
        for each in nodes(source.file.tree.root_node, "identifier", "field_identifier", "preproc_arg"):
            around = each.parent
            if each.type == "preproc_arg":
                if around is not None and around.type != "preproc_call" and re.search(rf"\b{name}\b", text_of(each)):
                    return False  # a macro may take it
                continue
            if text_of(each) != name:
                continue
            while around is not None and around.type in ("field_expression", "pointer_expression", "argument_list"):
                around = around.parent
            called = text_of(field(around, "function"))
            if called in ("omp_set_lock", "omp_unset_lock"):
                uses += 1
            elif called not in _LOCKS and (around is None or around.type not in ("declaration", "field_declaration")):
                return False
    return uses == 2 * len(group)


def _places(sections: Sequence[Gathered]) -> list[tuple[Procedure, Node]]:
    """Where what is updated stands: on the left, and of `x = x + e` also on the right."""
    return [
        (one.procedure, place)
        for one in sections
        for each in one.updates
        for place in (each.target, _again(each))
        if place is not None
    ]


def _again(one: Update) -> Node | None:
    expr = next(iter(children(one.statement)), None)
    whole = field(expr, "right") if expr is not None and text_of(field(expr, "operator")) == "=" else None
    return next(
        (side for side in (field(whole, "left"), field(whole, "right")) if side is not None and side != one.value), None
    )


def is_element(target: Node) -> bool:
    """True for an element whose index is no constant."""
    return any(
        True
        for each in nodes(target, "subscript_expression")
        for index in [field(each, "index") or field(each, "indices")]
        if index is not None and any(True for _ in nodes(index, "identifier"))
    )


def is_exact(update: Update, procedure: Procedure, program: Program) -> bool:
    """True if a whole number is updated by a whole number."""
    kinds = [type_of(each, procedure, program) for each in (update.target, update.value) if each is not None]
    return all(kind is not None and kind.is_integer for kind in kinds)


def only_updates(procedure: Procedure, one: Section, program: Program) -> Gathered | None:
    """The section with its updates; None if it does anything else."""
    around = one.taken[0].parent
    if around is None or around.type != "compound_statement" or not _is_plain(one):
        return None
    updates = _updates(one.statements)
    if not updates or not all(_is_number(each.target, procedure, program) for each in updates):
        return None
    places = {(each.target.start_byte, each.target.end_byte) for each in updates}
    written: list[Access] = []
    own: set[str] = set()
    for statement in one.statements:
        whole = effects(statement, procedure, program)
        if not whole.is_known or whole.jumps or whole.pragmas:
            return None
        written += whole.writes
        own |= whole.declared
    if {(each.node.start_byte, each.node.end_byte) for each in written} != places:
        return None
    if any(each.procedure is not procedure for each in written) or any(
        last_name(each.target) in own for each in updates
    ):
        return None
    return Gathered(procedure, one, tuple(updates), tuple(written))


def _is_plain(one: Section) -> bool:
    """True where nothing stands between a directive and its statement, and in it nothing but a name and a hint."""
    if one.word != "critical":
        return True
    following = one.taken[0].next_named_sibling
    while following is not None and following.type == "comment":
        following = following.next_named_sibling
    words = r"critical\s*(?:\(\s*\w+\s*\))?\s*(?:hint\s*\(.*\))?"
    return following == one.statements[0] and re.fullmatch(words, one.words) is not None


def _updates(listed: Sequence[Node]) -> list[Update] | None:
    """All that statements do, where that is updates, conditions around them, and variables of their own."""
    found: list[Update] = []
    todo = list(reversed(listed))
    while todo:
        node = todo.pop()
        if node.type in ("compound_statement", "else_clause"):
            todo.extend(reversed(children(node)))
        elif node.type == "if_statement":
            arms = [field(node, "alternative"), field(node, "consequence")]
            todo.extend(each for each in arms if each is not None)
        elif node.type == "declaration":
            continue
        else:
            one = update_of(node) or _written_out(node)
            if one is None or not _is_update(one):
                return None
            found.append(one)
    return found


def _is_update(one: Update) -> bool:
    parent = one.statement.parent
    return parent is not None and parent.type in ("compound_statement", "if_statement", "else_clause")


def _written_out(statement: Node) -> Update | None:
    """`x = x + e` and `x = e + x`."""
    expr = next(iter(children(statement)), None) if statement.type == "expression_statement" else None
    if expr is None or expr.type != "assignment_expression" or text_of(field(expr, "operator")) != "=":
        return None
    target, value = field(expr, "left"), field(expr, "right")
    if target is None or value is None or value.type != "binary_expression":
        return None
    sides = [field(value, "left"), field(value, "right")]
    sign = text_of(field(value, "operator"))
    own = _squeezed(target)
    at = next((each for each, side in enumerate(sides) if _squeezed(side) == own), None)
    if at is None or (sign == "-" and at) or sign not in ("+", "-", "*", *_WHOLE):
        return None
    other = sides[1 - at]
    return None if other is None else Update(target, "+" if sign == "-" else sign, other, statement)


def _squeezed(node: Node | None) -> str:
    return "".join(text_of(node).split()) if node is not None else ""


def _is_number(target: Node, procedure: Procedure, program: Program) -> bool:
    """True for a scalar, element or member of a type that is updated as it is."""
    if any(
        text_of(field(each, "function", "field")) != "size"
        for each in nodes(target, "call_expression", "cast_expression", "update_expression", "assignment_expression")
    ):
        return False
    kind = type_of(target, procedure, program)
    if kind is None or kind.depth or not _TYPES.fullmatch(kind.name) or "double" in kind.name.split()[:-1]:
        return False
    name = last_name(target)
    return (
        bool(name)
        and not any(_is_marked(name, one.text) for one in program.sources.values())
        and not any(
            text_of(each.parent).split(":")[0].split()[-1] == name
            for source in program.sources.values()
            if not source.is_fortran
            for each in nodes(source.file.tree.root_node, "bitfield_clause")
            if each.parent is not None
        )
    )


def _is_marked(name: str, text: bytes) -> bool:
    """True where the name may be declared volatile, atomic or without its alignment."""
    if _PACKED.search(text):
        return True
    if not re.search(rb"\bvolatile\b|atomic", text):
        return False
    bare = re.sub(rb"^[ \t]*#[ \t]*pragma[^\n]*", b"", text, flags=re.MULTILINE)
    return any(
        re.search(rb"\btypedef\b|\busing\b|\b%s\b" % name.encode(), each) is not None
        for each in re.split(rb"[;{}]", bare)
        if re.search(rb"\bvolatile\b|\b_Atomic\b|\batomic(?:_\w+)?\b", each)
    )


def _edits(one: Gathered) -> list[Edit]:
    """What protects the section goes, and each update gets its own directive."""
    text, node = one.procedure.source.text, one.section.taken[0]
    if one.section.word == "critical" and one.section.statements[0].type == "expression_statement":
        whole = directive(node)
        end = node.end_byte if whole is None else whole.end(text)
        return [Edit(node.start_byte, end, b"#pragma omp atomic")]
    edits = one.section.edits(text)
    for each in one.updates:
        edits += _behind_directive(each.statement, text)
    return edits


def _behind_directive(statement: Node, text: bytes) -> list[Edit]:
    """`#pragma omp atomic` in a line of its own before a statement, which stands in a block."""
    parent = statement.parent
    start, blank = line_start(text, statement.start_byte), indent(text, statement.start_byte)
    is_first = not text[start : statement.start_byte].strip()
    if parent is not None and parent.type == "compound_statement":
        if is_first:
            return [Edit(start, start, b"#pragma omp atomic\n")]
        return [Edit(statement.start_byte, statement.start_byte, b"\n#pragma omp atomic\n" + blank)]
    outer = indent(text, parent.start_byte) if parent is not None else blank
    closing = Edit(statement.end_byte, statement.end_byte, b"\n" + outer + b"}")
    if is_first:
        return [Edit(start, start, outer + b"{\n#pragma omp atomic\n"), closing]
    head = b"{\n#pragma omp atomic\n" + blank + b"  "
    return [Edit(statement.start_byte, statement.start_byte, head), closing]
