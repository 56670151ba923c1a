"""Subroutines of Fortran that open a file, append a record to it and close it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.model import Kind
from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import children, field, nodes, text_of
from chathpc.fix.recipes.fortran.ranks import holder
from chathpc.fix.recipes.fortran.statements import beside, called, declaration, identifiers, is_only_statement, squeezed

if TYPE_CHECKING:
    from tree_sitter import Node

_PREFIX = re.compile(r"\b(?:module|recursive|bind|pure|elemental)\b")
_SETTINGS = {
    "status": ("old", "unknown"),
    "position": ("append",),
    "action": ("write", "readwrite"),
    "form": ("formatted", "unformatted"),
    "access": ("sequential", "stream"),
}
_LONGEST_NAME = 50
#: The model of the source keeps no more letters of a text.
_KEPT_LETTERS = 40


@dataclass(frozen=True, slots=True)
class Record:
    """The statements by which a subroutine adds to a file."""

    opened: Node
    closed: Node
    number: Node  #: `newunit=u`
    writes: tuple[Node, ...]  #: the unit in each
    file: str


def record_of(procedure: Procedure, program: Program) -> Record | None:
    """The statements of a subroutine that opens one file to append to it, writes and closes it, and has no other way out in between."""
    around = procedure.node.parent
    if (
        procedure.node.type != "subroutine"
        or around is None
        or around.type != "internal_procedures"
        or around.parent is None
        or around.parent.type not in ("module", "program")
        or _PREFIX.search(text_of(children(procedure.node)[0]).lower()) is not None
        or len(procedure.model.name) > _LONGEST_NAME
    ):
        return None
    opens, closes = list(procedure.all("open_statement")), list(procedure.all("close_statement"))
    if len(opens) != 1 or len(closes) != 1 or any(
        True for _ in procedure.all("internal_procedures", "statement_label", "inquire_statement", "file_position_statement")
    ):  # fmt: skip
        return None
    opened, closed = opens[0], closes[0]
    around_both = beside(opened)
    said, end = settings(opened), settings(closed)
    if said is None or end is None or closed not in around_both or is_only_statement(opened) or set(end) != {"unit"}:
        return None
    if not {"newunit", "file", "position"} <= set(said) <= {"newunit", "file", *_SETTINGS}:
        return None
    for name, values in _SETTINGS.items():
        if name in said and (said[name].type != "string_literal" or squeezed(said[name])[1:-1] not in values):
            return None
    file = file_name(said["file"], procedure, program)
    if file is None or not file or file.startswith("/dev/") or said["newunit"].type != "identifier":
        return None
    between = around_both[around_both.index(opened) + 1 : around_both.index(closed)]
    writes = _writes(between, said["newunit"], end["unit"], procedure)
    if writes is None or any(
        _is_way_out(each, between) for each in between for each in nodes(each, "keyword_statement", "stop_statement")
    ):
        return None
    return Record(opened, closed, said["newunit"], writes, file)


def _is_way_out(node: Node, between: list[Node]) -> bool:
    words = squeezed(node)
    one = node.parent
    while words in ("exit", "cycle") and one is not None and one not in between and one.type != "do_loop":
        one = one.parent
    return words not in ("continue",) and not (
        words in ("exit", "cycle")
        and one is not None
        and one.type == "do_loop"
        and one.start_byte >= between[0].start_byte
    )


def _writes(between: list[Node], number: Node, end: Node, procedure: Procedure) -> tuple[Node, ...] | None:
    """The unit in each `write`, if it stands nowhere else in the subroutine than there, where it is opened and where it is closed."""
    name = text_of(number).lower()
    found: list[Node] = []
    for one in between:
        for each in nodes(one, "write_statement"):
            first = children(each)[0]
            unit = field(first, "value") if first.type == "keyword_argument" else next(iter(children(first)), None)
            if unit is None or squeezed(unit) != name:
                continue
            words = {text_of(field(word, "name")).lower() for word in children(each) if word.type == "keyword_argument"}
            if not words <= {"unit", "fmt", "nml"}:
                return None
            found.append(unit)
    known = {number.id, end.id, *(each.id for each in found)}
    for node in identifiers(procedure.node, name):
        declared = node.parent is not None and node.parent.type == "variable_declaration"
        if node.id not in known and not declared:
            return None
    return tuple(found) or None


def file_name(node: Node, procedure: Procedure, program: Program) -> str | None:
    """The name of a file, if it is the same whenever the statement is reached."""
    if node.type == "string_literal":
        return text_of(node)[1:-1].rstrip() if text_of(node)[:1] in "'\"" else None
    if node.type != "identifier":
        return None
    name = text_of(node).lower()
    around = holder(name, procedure)
    if around is not None:
        found = [
            one for each in around.node.named_children if each.type == "variable_declaration" and "parameter" in text_of(each).lower()
            for one in nodes(each, "init_declarator") if text_of(children(one)[0]).lower() == name
        ]  # fmt: skip
        value = children(found[0])[-1] if len(found) == 1 else None
        return text_of(value)[1:-1].rstrip() if value is not None and value.type == "string_literal" else None
    declared = [each for one in program.sources.values() if (each := one.file.unit.variables.get(name)) is not None]
    if (
        len(declared) != 1
        or not declared[0].const
        or declared[0].value is None
        or declared[0].value.kind != Kind.STRING
    ):
        return None
    text = declared[0].value.text
    return text[1:-1].rstrip() if text[-1:] in "'\"" and len(text) < _KEPT_LETTERS else None


def settings(node: Node) -> dict[str, Node] | None:
    """What an open or close statement says, by keyword; a unit without one is `unit`."""
    found: dict[str, Node] = {}
    for each in children(node):
        if each.type == "unit_identifier":
            found["unit"] = children(each)[0] if children(each) else each
        elif each.type == "keyword_argument" and field(each, "value") is not None:
            found[text_of(field(each, "name")).lower()] = field(each, "value") or each
        else:
            return None
    return found


def is_alone(record: Record, procedure: Procedure, program: Program) -> bool:
    """True if nothing that the subroutine calls has to do with files, and its variable for the unit tells nobody else anything."""
    methods = any(
        True for one in program.sources.values() for _ in nodes(one.file.tree.root_node, "derived_type_procedures")
    )
    if methods and any(
        children(each)[0].type == "derived_type_member_expression"
        for each in procedure.all("call_expression", "subroutine_call")
    ):
        return False
    for one in program.below(procedure):
        if one is procedure:
            continue
        if any(True for _ in one.all("open_statement", "close_statement", "inquire_statement")) or any(
            called(each) == procedure.model.name for each in one.all("subroutine_call")
        ):
            return False
    name = text_of(record.number).lower()
    owner = holder(name, procedure)
    if owner is procedure:
        return name not in procedure.parameters
    return all(one is procedure or _opens_itself(one, name, owner) for one in program.procedures)


def _opens_itself(procedure: Procedure, name: str, owner: Procedure | None) -> bool:
    """True for a procedure that leaves such a variable alone, or opens a file with it before and closes it after all that it does."""
    if procedure is not owner and declaration(procedure, name) is not None:
        return True
    inner = [each for one in procedure.all("internal_procedures") for each in nodes(one, "subroutine", "function")]
    found = [
        one for one in identifiers(procedure.node, name)
        if not any(each.start_byte <= one.start_byte < each.end_byte for each in inner)
        and not (one.parent is not None and one.parent.type == "variable_declaration")
    ]  # fmt: skip
    if not found:
        return True
    statements = [_statement(each, procedure) for each in (found[0], found[-1])]
    return (
        [each.type for each in statements] == ["open_statement", "close_statement"]
        and (settings(statements[0]) or {}).get("newunit") == found[0]
        and sum(1 for each in found if _statement(each, procedure).type == "open_statement") == 1
    )


def _statement(node: Node, procedure: Procedure) -> Node:
    """The statement of the procedure's own block in which a node stands."""
    one = node
    while one.parent is not None and one.parent != procedure.node:
        one = one.parent
    return one
