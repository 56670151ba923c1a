"""Critical sections and locks around too much: what only computes is done before them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.aliases import may_overlap
from chathpc.fix.recipes.analysis.directives import directive, region_of
from chathpc.fix.recipes.analysis.edits import Edit, indent, line_end, line_start
from chathpc.fix.recipes.analysis.effects import Access, Effects, effects
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import C_LOOPS, field, line_of, nodes, statements, text_of
from chathpc.fix.recipes.recipe import Change, Context
from chathpc.fix.recipes.threads.protection import Section, locked

if TYPE_CHECKING:
    from tree_sitter import Node


def narrowed(context: Context, spot: Spot) -> Iterator[Change]:
    """Statements at the beginning of a protected section that read nothing that threads change, and write what is theirs, go before it."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    if procedure.is_broken or procedure.body is None:
        return
    for section in _sections(procedure):
        before = _first_ones(section, procedure, program)
        if not before or len(before) == len(section.statements) or not any(_is_work(each) for each in before):
            continue
        if _names_meet(before, section, procedure):
            continue
        edits = _moved(section, before, text)
        if edits is not None:
            yield Change(
                {spot.source.path: edits},
                line_of(section.taken[0]),
                f"computes what needs no protection before the {section.word} section",
            )


def _sections(procedure: Procedure) -> Iterator[Section]:
    for node in procedure.all("preproc_call"):
        one = directive(node)
        if one is not None and one.has("critical") and one.statement.type == "compound_statement":
            yield Section("critical", one.words, "", (node,), tuple(statements(one.statement)))
    if procedure.body is not None:
        for each in locked(procedure.body):
            if each is not None:
                yield each


def _first_ones(section: Section, procedure: Procedure, program: Program) -> list[Node]:
    """The statements from the first on that only compute: they call nothing with effects and have only variables of the thread's own."""
    own = _own_names(section.taken[0], procedure)
    found: list[Node] = []
    declared: set[str] = set()
    for node in section.statements:
        if node.type not in ("declaration", "expression_statement", *C_LOOPS):
            break
        inner = effects(node, procedure, program)
        if not inner.is_known or inner.jumps - {"continue", "break"} or inner.pragmas:
            break
        mine = own | declared | inner.declared
        if any(not _is_own(one, mine, procedure) for one in inner.writes):
            break
        if any(_may_change(one, mine, procedure, program) for one in inner.reads):
            break
        declared |= inner.declared
        found.append(node)
    return found


def _own_names(node: Node, procedure: Procedure) -> frozenset[str]:
    """Variables of the thread's own at a section: of its region, or of the function where that runs in the thread."""
    one = directive(node)
    around = region_of(node, procedure)
    if one is not None and around is None:
        return frozenset()
    if around is None:
        return frozenset(
            each.name for each in procedure.model.declarations if not each.static and not each.reference
        ) | frozenset(each.name for each in procedure.model.parameters if not each.reference)
    names: set[str] = set(around.private) | around.listed("reduction")
    for block in nodes(around.statement, "declaration"):
        if "static" in text_of(block).split():
            continue
        names |= {
            text_of(each)
            for part in block.children_by_field_name("declarator")
            for each in list(nodes(part, "identifier"))[:1]
        }
    return frozenset(names)


def _is_own(one: Access, mine: frozenset[str] | set[str], procedure: Procedure) -> bool:
    if not one.memory:
        return one.name in mine and one.name not in procedure.addressed
    root = next((text_of(each) for each in nodes(one.node, "identifier")), "")
    kept = procedure.declarations.get(root)
    return (
        root in mine and kept is not None and bool(kept.dims) and not kept.pointers and root not in procedure.parameters
    )


def _may_change(one: Access, mine: frozenset[str] | set[str], procedure: Procedure, program: Program) -> bool:
    """True if another thread may change what is read: something in the program but `main`'s beginning writes it."""
    if _is_own(one, mine, procedure) or (not one.memory and one.name in mine):
        return False
    if any(may_overlap(one, write, program) for write in _writes(procedure, program)):
        return True
    names = {text_of(each) for each in nodes(one.node, "identifier", "field_identifier")}
    return any(
        names & _written_names(other)
        for other in program.procedures
        if other is not procedure and other.model.name != "main"
    )


def _writes(procedure: Procedure, program: Program) -> list[Access]:
    """What the function writes inside loops and regions; all of it where it is not known."""
    if procedure.body is None:
        return []
    found: Effects = effects(procedure.body, procedure, program)
    if procedure.model.name != "main":
        return found.writes
    regions = [(one.start_byte, one.end_byte) for one in _regions(procedure)]
    return [one for one in found.writes if any(start <= one.node.start_byte < end for start, end in regions)]


def _regions(procedure: Procedure) -> Iterator[Node]:
    for node in procedure.all("preproc_call"):
        one = directive(node)
        if one is not None and one.has("parallel"):
            yield one.statement
    yield from procedure.all("lambda_expression")


def _written_names(procedure: Procedure) -> set[str]:
    if procedure.source.is_fortran:
        return set()
    return {
        text_of(each)
        for node in procedure.all("assignment_expression", "update_expression")
        for target in [field(node, "left") or field(node, "argument")]
        if target is not None
        for each in nodes(target, "identifier", "field_identifier")
        if text_of(each) not in procedure.declarations or target.type != "identifier"
    }


def _is_work(node: Node) -> bool:
    return any(True for _ in nodes(node, "call_expression", *C_LOOPS))


def _names_meet(before: list[Node], section: Section, procedure: Procedure) -> bool:
    """True if a name that the statements declare is declared elsewhere in the block that they come to."""
    names = {
        text_of(each)
        for node in before
        if node.type == "declaration"
        for part in node.children_by_field_name("declarator")
        for each in list(nodes(part, "identifier"))[:1]
    }
    return any(
        name
        in {text_of(each) for part in node.children_by_field_name("declarator") for each in nodes(part, "identifier")}
        for name in names
        for node in procedure.all("declaration")
        if node not in before
    ) or any(one.name in names for one in procedure.model.parameters)


def _moved(section: Section, before: list[Node], text: bytes) -> tuple[Edit, ...] | None:
    first, last = before[0], before[-1]
    start, end = line_start(text, first.start_byte), line_end(text, last.end_byte - 1)
    if text[start : first.start_byte].strip() or text[last.end_byte : end].strip():
        return None
    taken = section.taken[0]
    place = line_start(text, taken.start_byte)
    if text[place : taken.start_byte].strip() or taken.parent is None or taken.parent.type != "compound_statement":
        return None
    if section.word == "lock":
        lock_end = line_end(text, taken.end_byte - 1)
        if text[taken.end_byte : lock_end].strip() or lock_end > start:
            return None
        return Edit(place, lock_end, b""), Edit(end, end, text[place:lock_end])
    inner = indent(text, first.start_byte)
    outer = indent(text, section.taken[0].next_named_sibling.start_byte) if section.taken[0].next_named_sibling else b""
    lines = text[start:end].split(b"\n")
    block = b"\n".join(outer + one[len(inner) :] if one.startswith(inner) else one for one in lines)
    return Edit(place, place, block), Edit(start, end, b"")
