"""Sums under a lock or in a critical section: gathered in variables of the thread's own and added once behind the loop."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.layout import value
from chathpc.fix.recipes.analysis.aliases import may_overlap
from chathpc.fix.recipes.analysis.directives import THREADS, Directive, directive
from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent, line_start
from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.loops import loops_of
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import field, inside, nodes, text_of
from chathpc.fix.recipes.analysis.types import Type, declared, field_of, type_of
from chathpc.fix.recipes.recipe import Change, Context, Semantics
from chathpc.fix.recipes.threads.openmp_sums import Update, updates_of
from chathpc.fix.recipes.threads.own_elements import LEAVING, is_named_by_callees, line_at, place_before
from chathpc.fix.recipes.threads.protection import Section, sections, without

if TYPE_CHECKING:
    from tree_sitter import Node

#: Elements of a thread's own copy of an array.
_MOST = 4096
_VECTOR = re.compile(r"(?:std::)?vector<\s*([\w:\s]+?)\s*>\Z")
#: Clauses that belong to the sharing of the loop, not to the region.
_OF_LOOP = re.compile(r"\b(schedule\s*\([^)]*\)|lastprivate\s*\([^)]*\)|linear\s*\([^)]*\))")
#: What tells that somebody waits for a value, or looks at each of them.
_WATCHED = re.compile(r"\b(?:compare_exchange\w*|exchange|wait|notify_\w+|__sync_bool_\w+|__sync_val_\w+)\b")


@dataclass(frozen=True, slots=True)
class Own:
    """A variable of the thread's own: what it stands for, its declaration, and how it is added."""

    shown: str
    label: str
    first: str
    last: str


def locked_once(context: Context, spot: Spot) -> Iterator[Change]:
    """Sums that a loop adds in protected sections are gathered in variables of the thread's own and added once, behind it."""
    procedure, program = spot.procedure, context.program
    if procedure.is_broken or not program.has_threads or THREADS.search(_text(procedure)):
        return
    done: list[Node] = []
    for loop in loops_of(procedure):
        body = field(loop, "body")
        if body is None or any(inside(loop, each) for each in done) or any(True for _ in nodes(loop, *LEAVING)):
            continue
        found = sections(body)
        if not found or len({each.name for each in found}) != 1 or found[0].word == "ordered":
            continue
        updates = [updates_of(each) for each in found]
        if any(each is None for each in updates):
            continue
        change = _gathered(loop, found, [one for each in updates for one in each or ()], spot, context)
        if change is not None:
            done.append(loop)
            yield change


def _text(procedure: Procedure) -> bytes:
    return procedure.source.text[procedure.node.start_byte : procedure.node.end_byte]


def _gathered(loop: Node, found: list[Section], updates: list[Update], spot: Spot, context: Context) -> Change | None:
    procedure, program, text = spot.procedure, context.program, spot.source.text
    shared = _directive_of(loop)
    if found[0].word != "lock" and shared is None:
        return None
    if shared is not None and (
        shared.has("nowait")
        or not shared.is_loop
        or shared.clause("collapse")
        or shared.has("simd")
        or shared.has("ordered")
    ):
        return None
    owns: dict[str, Own] = {}
    kinds: list[Type] = []
    edits: list[Edit] = []
    for update in updates:
        base = field(update.target, "argument") if update.target.type == "subscript_expression" else update.target
        kind = type_of(update.target, procedure, program)
        if base is None or kind is None or not kind.is_arithmetic or update.operator == "*":
            return None
        shown = text_of(base)
        if shown not in owns:
            own = _own(update, base, kind, update.operator, procedure, program)
            if own is None or own.label in {each.label for each in owns.values()}:
                return None
            owns[shown] = own
        elif f" {update.operator}= " not in owns[shown].last:
            return None
        kinds.append(kind)
        edits.append(Edit(base.start_byte, base.end_byte, owns[shown].label.encode()))
    if (
        shared is not None
        and shared.has("parallel")
        and all("\n" not in one.last and "for (" not in one.last for one in owns.values())
    ):
        return None  # a reduction does that
    if not _are_alone(loop, found, updates, spot, program):
        return None
    exact = all(kind.is_integer for kind in kinds)
    if not exact and not context.may_round:
        return None
    placed = _placed(loop, found, list(owns.values()), shared, text)
    if placed is None:
        return None
    edits += [*placed, *(edit for each in found for edit in each.edits(text))]
    semantics: Semantics = "exact" if exact else "reassociates floating point"
    return Change(
        {spot.source.path: tuple(edits)},
        found[0].line,
        f"gathers {', '.join(owns)} in variables of the thread's own and takes the lock once behind the loop",
        semantics,
    )


def _directive_of(loop: Node) -> Directive | None:
    before = loop.prev_named_sibling
    return directive(before) if before is not None and before.type == "preproc_call" else None


def _own(update: Update, base: Node, kind: Type, operator: str, procedure: Procedure, program: Program) -> Own | None:
    """The variable that takes the place of what is updated; None for memory of which it is not known how much there is."""
    text, shown = procedure.source.text, text_of(base)
    if base.type not in ("identifier", "field_expression") or any(
        True for _ in nodes(base, "subscript_expression", "call_expression")
    ):
        return None
    names = re.findall(r"[A-Za-z_]\w*", shown)
    label = fresh_name(f"own_{names[-1]}", text)
    neutral = "~0" if operator == "&" else "0"
    if update.target is base:
        return Own(shown, label, f"{kind.name} {label} = {neutral};", f"{shown} {operator}= {label};")
    one = declared(shown, procedure, program) if base.type == "identifier" else field_of(base, procedure, program)
    if one is None or operator == "&" or (base.type == "identifier" and shown in procedure.parameters and one.dims):
        return None
    at = fresh_name("at", text)
    vector = _VECTOR.match(one.type)
    if vector is not None and not one.pointers and not one.dims and vector[1] != "bool":
        first = f"{one.type} {label}({shown}.size());"
        last = f"for (size_t {at} = 0; {at} < {label}.size(); {at}++) {shown}[{at}] {operator}= {label}[{at}];"
        return Own(shown, label, first, last)
    extent = value(one.dims[0], procedure.source.file.unit.constants) if len(one.dims) == 1 else None
    if extent is None or extent > _MOST or one.pointers:
        return None
    zero = "{}" if procedure.source.is_cpp else "{0}"
    last = f"for (int {at} = 0; {at} < {extent}; {at}++) {shown}[{at}] {operator}= {label}[{at}];"
    return Own(shown, label, f"{kind.name} {label}[{extent}] = {zero};", last)


def _are_alone(loop: Node, found: list[Section], updates: list[Update], spot: Spot, program: Program) -> bool:
    """True if nothing else in the loop touches what is updated or the lock, as far as the source tells."""
    procedure = spot.procedure
    targets = [one.target for one in updates]
    for target in targets:
        base = field(target, "argument") if target.type == "subscript_expression" else target
        last = [text_of(each) for each in nodes(base or target, "identifier", "field_identifier")][-1]
        uses = [each for each in nodes(loop, "identifier", "field_identifier") if text_of(each) == last]
        if any(not any(inside(each, one) for one in targets) for each in uses):
            return False
        if is_named_by_callees(last, loop, program) or _is_watched(last, program):
            return False
    spans = [(node.start_byte, node.end_byte) for each in found for node in each.taken]
    bare = without(program, spot.source.path, spans)
    again = next(
        (
            one
            for one in bare.procedures
            if one.source.path == spot.source.path and one.node.start_byte == procedure.node.start_byte
        ),
        None,
    )
    node = next((each for each in again.all(loop.type) if each.start_byte == loop.start_byte), None) if again else None
    if again is None or node is None:
        return False
    whole = effects(node, again, bare)
    spots = {(each.start_byte, each.end_byte) for each in targets}
    mine = [one for one in whole.accesses if one.write and (one.node.start_byte, one.node.end_byte) in spots]
    others = [
        one
        for one in whole.accesses
        if not any(start <= one.node.start_byte and one.node.end_byte <= end for start, end in spots)
    ]
    if whole.opaque or not mine:
        return False
    return not any(may_overlap(one, other, bare) for one in mine for other in others)


def _placed(
    loop: Node, found: list[Section], owns: list[Own], shared: Directive | None, text: bytes
) -> list[Edit] | None:
    """The declarations before the loop and the additions behind it, with what protects these."""
    blank = indent(text, loop.start_byte).decode()
    opening, taking, leaving = _around(found[0])
    if shared is not None and shared.has("parallel"):
        if found[0].word == "lock":
            return None
        head = region_around(shared, "".join(f"{blank}{one.first}\n" for one in owns), text)
        if head is None:
            return None
        last = "".join(f"\n{blank}{one.last}" for one in owns)
        return [
            head,
            Edit(loop.end_byte, loop.end_byte, f"\n{opening}{blank}{{{last}\n{blank}}}\n{blank}}}".encode()),
        ]
    place = place_before(loop, text)
    if place is None:
        return None
    before = b"".join(line_at(one.first, place, blank, text) for one in owns)
    inner = "".join(f"\n{blank}  {one}" for one in (*taking, *(each.last for each in owns), *leaving))
    return [
        Edit(place, place, before),
        Edit(loop.end_byte, loop.end_byte, f"\n{opening}{blank}{{{inner}\n{blank}}}".encode()),
    ]


def region_around(shared: Directive, first: str, text: bytes) -> Edit | None:
    """`parallel for` becomes a region with some lines before the loop, which is shared in it; the caller ends the region."""
    node = shared.node
    start, blank = line_start(text, node.start_byte), indent(text, shared.statement.start_byte).decode()
    words = text[node.start_byte : shared.end(text)].decode()
    if text[start : node.start_byte].strip() or "\\" in words or shared.statement.parent is None:
        return None
    of_loop = " ".join(_OF_LOOP.findall(shared.words))
    region = re.sub(r"\s*\bfor\b", "", _OF_LOOP.sub("", words), count=1).rstrip()
    region = re.sub(r"  +", " ", region)
    head = f"{region}\n{blank}{{\n{first}{_pragma(words)} for {of_loop}".rstrip() + " nowait"
    return Edit(node.start_byte, shared.end(text), head.encode())


def _pragma(words: str) -> str:
    match = re.match(r"#\s*pragma\s+omp", words)
    return match[0] if match else "#pragma omp"


def _around(section: Section) -> tuple[str, list[str], list[str]]:
    """What protects the block of additions: a directive before it, or statements at its beginning and its end."""
    if section.word == "lock":
        return "", [text_of(section.taken[0])], [text_of(each) for each in section.taken[1:]]
    name = section.name.removeprefix("critical").strip() if section.word == "critical" else ""
    return f"#pragma omp critical{f' ({name})' if name else ''}\n", [], []


def _is_watched(name: str, program: Program) -> bool:
    """True if somebody may wait for the value: it stands in the condition of a loop, or where values are exchanged."""
    for one in program.procedures:
        if one.source.is_fortran:
            continue
        for node in one.all("while_statement", "do_statement", "for_statement"):
            condition = field(node, "condition")
            if condition is not None and any(
                text_of(each) == name for each in nodes(condition, "identifier", "field_identifier")
            ):
                return True
        for node in one.all("call_expression"):
            if _WATCHED.search(text_of(field(node, "function"))) and any(
                text_of(each) == name for each in nodes(node, "identifier", "field_identifier")
            ):
                return True
    return False
