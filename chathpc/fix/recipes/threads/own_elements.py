"""Elements and members that one thread adds to in a loop while others write next to them: kept in a variable during the loop."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.aliases import may_overlap
from chathpc.fix.recipes.analysis.directives import directive
from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent, line_start
from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.loops import loops_of
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import children, field, inside, line_of, nodes, text_of
from chathpc.fix.recipes.analysis.types import Type, type_of
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node

_ADDING = frozenset({"+=", "-=", "|=", "^="})
LEAVING = ("return_statement", "goto_statement", "throw_statement", "labeled_statement", "lambda_expression")
_BRANCHES = frozenset(
    {"if_statement", "conditional_expression", "switch_statement", "while_statement", "for_statement", "do_statement"}
)
_NUMBER = re.compile(rb"(\w+)\s*=\s*omp_get_thread_num\s*\(")


def kept_in_variables(context: Context, spot: Spot) -> Iterator[Change]:
    """An element that a loop adds to goes to a variable of the thread's own for the time of the loop."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    if procedure.is_broken or procedure.unstable or not program.has_threads:
        return
    done: list[tuple[Node, str]] = []
    for loop in loops_of(procedure):
        place = place_before(loop, text)
        if place is None or any(True for _ in nodes(loop, *LEAVING)):
            continue
        if any(True for _ in nodes(field(loop, "body") or loop, "preproc_call")):
            continue
        for shown, targets in _targets(loop).items():
            if any(shown == other and inside(loop, around) for around, other in done):
                continue
            edits = _kept(loop, place, targets, procedure, program)
            if edits:
                done.append((loop, shown))
                yield Change(
                    {spot.source.path: edits},
                    line_of(targets[0]),
                    f"keeps {shown} in a variable of the thread's own during the loop: others write next to it",
                )


def volatile_names(text: bytes) -> set[str]:
    """Names in declarations with `volatile` and of atomic types."""
    if b"volatile" not in text and b"tomic" not in text:
        return set()
    return {
        name.decode()
        for line in re.findall(rb"\b(?:volatile|_Atomic|(?:std::)?atomic\w*)\b[^;{}()]*", text)
        for name in re.findall(rb"[A-Za-z_]\w*", line)
    }


def place_before(loop: Node, text: bytes) -> int | None:
    """Where a line may be put before the loop and the directive that shares its iterations; None where there is no such place."""
    if loop.parent is None or loop.parent.type != "compound_statement":
        return None
    first = loop
    before = loop.prev_named_sibling
    while before is not None and before.type in ("preproc_call", "comment"):
        if before.type == "preproc_call":
            one = directive(before)
            if one is None or one.has("parallel") or one.has("task") or one.has("simd") or not one.is_loop:
                return None
            first = before
        before = before.prev_named_sibling
    start = line_start(text, first.start_byte)
    if not text[start : first.start_byte].strip():
        return start
    return first.start_byte if first is loop else None


def line_at(statement: str, place: int, blank: str, text: bytes) -> bytes:
    """A statement as a line of its own, or in front of what stands in the same line."""
    return f"{blank}{statement}\n".encode() if line_start(text, place) == place else f"{statement} ".encode()


def _targets(loop: Node) -> dict[str, list[Node]]:
    """Elements and members that statements of the loop add to, by how they are written."""
    found: dict[str, list[Node]] = {}
    for node in nodes(field(loop, "body") or loop, "assignment_expression", "update_expression"):
        target = field(node, "left") or field(node, "argument")
        if (
            target is None
            or target.type not in ("subscript_expression", "field_expression", "pointer_expression")
            or node.parent is None
            or node.parent.type not in ("expression_statement", "for_statement")
            or (node.type == "assignment_expression" and text_of(field(node, "operator")) not in _ADDING)
        ):
            continue
        found.setdefault(text_of(target), []).append(target)
    return found


def _kept(
    loop: Node, place: int, targets: list[Node], procedure: Procedure, program: Program
) -> tuple[Edit, ...] | None:
    text = procedure.source.text
    kind = type_of(targets[0], procedure, program)
    shown = text_of(targets[0])
    if kind is None or not kind.is_arithmetic or any(True for _ in nodes(targets[0], "call_expression")):
        return None
    names = {text_of(each) for each in nodes(targets[0], "identifier", "field_identifier")}
    if any(name in names for source in program.sources.values() for name in volatile_names(source.text)):
        return None
    every = [each for each in nodes(loop, targets[0].type) if text_of(each) == shown]
    if not _is_apart(targets[0], every, loop, procedure, program):
        return None
    only_added = len(every) == len(targets)
    always = any(_runs_always(each, loop) for each in targets)
    if not always and not _is_of_thread(targets[0], procedure):
        if not (only_added and kind.is_integer):
            return None
        return _added(loop, place, every, kind, text, shown)
    label = fresh_name("own_" + label_of(shown), text)
    blank = indent(text, loop.start_byte).decode()
    return (
        Edit(place, place, line_at(f"{kind.name} {label} = {shown};", place, blank, text)),
        *(Edit(each.start_byte, each.end_byte, label.encode()) for each in every),
        Edit(loop.end_byte, loop.end_byte, f"\n{blank}{shown} = {label};".encode()),
    )


def _added(loop: Node, place: int, every: list[Node], kind: Type, text: bytes, shown: str) -> tuple[Edit, ...] | None:
    """What is added is gathered, and added behind the loop only if it is something: nothing is written that was not written before."""
    signs = {text_of(field(each.parent, "operator")) for each in every if each.parent is not None}
    if not signs <= {"+=", "-=", "++", "--"}:
        return None
    label = fresh_name("own_" + label_of(shown), text)
    blank = indent(text, loop.start_byte).decode()
    return (
        Edit(place, place, line_at(f"{kind.name} {label} = 0;", place, blank, text)),
        *(Edit(each.start_byte, each.end_byte, label.encode()) for each in every),
        Edit(loop.end_byte, loop.end_byte, f"\n{blank}if ({label} != 0) {shown} += {label};".encode()),
    )


def label_of(shown: str) -> str:
    """The last name outside brackets: `jobs[t].odd` → `odd`."""
    bare = re.sub(r"\[[^\]]*\]", "", shown)
    names = re.findall(r"[A-Za-z_]\w*", bare)
    return names[-1] if names else "sum"


def _runs_always(target: Node, loop: Node) -> bool:
    """True if the statement is done in each iteration."""
    one: Node | None = target
    while one is not None and one != loop:
        if one.type in _BRANCHES:
            return False
        one = one.parent
    return not any(True for _ in nodes(loop, "continue_statement", "break_statement"))


def _is_of_thread(target: Node, procedure: Procedure) -> bool:
    """True if the element is chosen by the number of the thread."""
    text = procedure.source.text[procedure.node.start_byte : procedure.node.end_byte]
    numbers = {each.decode() for each in _NUMBER.findall(text)}
    for node in nodes(target, "subscript_expression"):
        index = field(node, "index") or field(node, "indices")
        if index is not None and {text_of(each) for each in nodes(index, "identifier")} & numbers:
            return True
    return False


def _is_apart(target: Node, every: list[Node], loop: Node, procedure: Procedure, program: Program) -> bool:
    """True if the loop always means the same element by these words, and reaches it by no others."""
    whole = effects(loop, procedure, program)
    if whole.is_known and not whole.jumps & {"goto", "label", "throw", "return"}:
        roots = [_record(each) for each in every]
        writes = [one for one in whole.accesses if one.write and one.node in every]
        others = [one for one in whole.accesses if one.node not in every and one.node not in roots]
        inner = effects(target, procedure, program)
        reads = [one for one in inner.accesses if one.node != target and one.node not in roots]
        return (
            bool(writes)
            and inner.is_known
            and not {text_of(each) for each in nodes(target, "identifier")} & whole.declared
            and not any(may_overlap(writes[0], other, program) for other in others)
            and not any(may_overlap(read, one, program) for read in reads for one in others if one.write)
        )
    return _is_reached_by_name(target, every, loop, procedure, program)


def _record(target: Node) -> Node | None:
    """The record whose member is meant, where no pointer leads to it: its other members are other memory."""
    one: Node | None = target
    while one is not None and one.type == "field_expression" and text_of(field(one, "operator")) == ".":
        one = field(one, "argument")
    return one if one is not target else None


def _is_reached_by_name(target: Node, every: list[Node], loop: Node, procedure: Procedure, program: Program) -> bool:
    """The same for an array of which no pointer is made anywhere: whatever the loop calls reaches it only by its name."""
    base, index = field(target, "argument"), field(target, "index") or field(target, "indices")
    index = children(index)[0] if index is not None and index.type == "subscript_argument_list" else index
    if target.type != "subscript_expression" or base is None or index is None:
        return False
    if base.type != "identifier" or index.type not in ("identifier", "number_literal"):
        return False
    name, chosen = text_of(base), text_of(index)
    if not is_only_indexed(name, procedure, program) or not stays(chosen, loop, procedure):
        return False
    if any(text_of(each) == name and each.parent not in every for each in nodes(loop, "identifier")):
        return False
    return name in procedure.declarations or not is_named_by_callees(name, loop, program)


def is_only_indexed(name: str, procedure: Procedure, program: Program) -> bool:
    """True for an array that is nowhere used but by its elements."""
    is_local = name in procedure.declarations
    one = procedure.declarations.get(name) if is_local else program.variables.get(name)
    if one is None or one.pointers or one.reference or len(one.dims) != 1 or name in procedure.parameters:
        return False
    homes = (procedure,) if is_local else program.procedures
    if not is_local and any(
        text_of(each) == name
        for source in program.sources.values()
        for each in nodes(source.file.tree.root_node, "preproc_arg", "pointer_expression")
        if each.type == "preproc_arg" and name in text_of(each)
    ):
        return False
    for home in homes:
        for each in home.identifiers.get(name, ()):
            parent = each.parent
            if parent is None:
                return False
            if parent.type in ("array_declarator",) and field(parent, "declarator") == each:
                continue
            if parent.type != "subscript_expression" or field(parent, "argument") != each:
                return False
            if parent.parent is not None and (
                parent.parent.type == "pointer_expression"
                or (
                    parent.parent.type == "init_declarator"
                    and home.source.is_cpp
                    and "&" in text_of(field(parent.parent, "declarator"))
                )
                or (home.source.is_cpp and parent.parent.type == "argument_list" and not is_local)
            ):
                return False
    return True


def stays(name: str, loop: Node, procedure: Procedure, *, known: bool = False) -> bool:
    """True for a number, or a variable that is neither changed nor declared in the loop and whose address nobody has; with `known` its
    address is of no account.
    """
    if name.isdigit():
        return True
    if not known and (name in procedure.addressed or name not in procedure.declarations):
        return False
    for node in nodes(loop, "assignment_expression", "update_expression", "init_declarator", "parameter_declaration"):
        target = field(node, "left") or field(node, "argument") or field(node, "declarator")
        if target is not None and text_of(target) == name:
            return False
    return not any(
        text_of(each) == name
        for node in nodes(loop, "declaration")
        for each in node.children_by_field_name("declarator")
    )


def is_named_by_callees(name: str, loop: Node, program: Program) -> bool:
    """True if a function that the loop may reach uses the array."""
    todo = [text_of(field(each, "function")) for each in nodes(loop, "call_expression")]
    seen: set[str] = set()
    while todo:
        called = todo.pop().split("<", 1)[0].rsplit("::", 1)[-1].rsplit(".", 1)[-1].rsplit(">", 1)[-1]
        if called in seen:
            continue
        seen.add(called)
        if called in program.macros or called in program.unread:
            return True
        for one in program.named(called):
            if name in one.identifiers:
                return True
            todo += [text_of(field(each, "function")) for each in one.all("call_expression")]
        if not program.named(called) and called in program.variables:
            return True  # called through a pointer
    return False
