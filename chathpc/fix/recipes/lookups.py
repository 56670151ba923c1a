"""Searches that go through everything, and containers that are wrong for what is done with them (C++)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.fix.recipes.edits import Edit, indent, line_start
from chathpc.fix.recipes.effects import effects
from chathpc.fix.recipes.invariants import fresh_name
from chathpc.fix.recipes.loops import counted
from chathpc.fix.recipes.program import Program, Source, Spot
from chathpc.fix.recipes.recipe import Change, Context
from chathpc.fix.recipes.syntax import bare, children, field, is_container_use, line_of, nodes, statements, text_of
from chathpc.fix.recipes.types import is_arithmetic

if TYPE_CHECKING:
    from tree_sitter import Node

_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include[^\n]*\n", re.MULTILINE)
_STEADY = frozenset({"size", "empty", "begin", "end", "cbegin", "cend", "front", "back", "at", "reserve", "capacity"})
#: Members of a vector that a deque has as well, with the same meaning.
_OF_QUEUES = frozenset(
    {
        "push_back", "pop_back", "front", "back", "empty", "size", "begin",
        "end", "erase", "clear", "at", "emplace_back",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """A loop that looks for the first item whose key equals something, and what it does then."""

    loop: Node
    container: str
    key: str
    wanted: Node
    found: Node
    item: str
    is_index: bool


def indexed(context: Context, spot: Spot) -> Iterator[Change]:
    """A search through a vector that only grows looks its item up in a hash table beside it."""
    procedure, program, source = spot.procedure, context.program, spot.source
    if len(program.sources) != 1 or procedure.is_broken:
        return
    for loop in procedure.all("for_statement", "for_range_loop"):
        search = _search(loop, spot)
        if search is None:
            continue
        change = _with_table(search, source, program, spot)
        if change is not None:
            yield change


def _search(loop: Node, spot: Spot) -> Search | None:
    body = statements(field(loop, "body"))
    if len(body) != 1 or body[0].type != "if_statement" or field(body[0], "alternative") is not None:
        return None
    condition, found = bare(field(body[0], "condition")), field(body[0], "consequence")
    if (
        condition is None
        or found is None
        or condition.type != "binary_expression"
        or text_of(field(condition, "operator")) != "=="
    ):
        return None
    last = statements(found)[-1] if statements(found) else None
    if (
        last is None
        or last.type != "return_statement"
        or any(True for _ in nodes(found, "break_statement", "continue_statement"))
    ):
        return None
    if loop.type == "for_range_loop":
        item, right = field(loop, "declarator"), field(loop, "right")
        if item is None or right is None or item.type != "reference_declarator" or right.type != "identifier":
            return None
        name = text_of(next((each for each in nodes(item, "identifier")), None))
        container, access, is_index = text_of(right), name, False
    else:
        header = counted(loop, spot.procedure)
        match = re.fullmatch(r"(\w+)\.size\(\)", text_of(header.bound)) if header is not None else None
        if (
            header is None
            or match is None
            or text_of(header.start) != "0"
            or header.step != 1
            or header.operator not in ("<", "!=")
            or not header.own
        ):
            return None
        container, access, is_index = match[1], f"{match[1]}[{header.variable}]", True
        name = header.variable
    for key, wanted in (
        (field(condition, "left"), field(condition, "right")),
        (field(condition, "right"), field(condition, "left")),
    ):
        if key is None or wanted is None or key.type != "field_expression" or text_of(field(key, "argument")) != access:
            continue
        if name in {text_of(each) for each in nodes(wanted, "identifier")}:
            continue
        return Search(loop, container, text_of(field(key, "field")), wanted, found, name, is_index)
    return None


def _with_table(search: Search, source: Source, program: Program, spot: Spot) -> Change | None:
    home = [
        (record, one) for record in program.records.values() for one in record.fields if one.name == search.container
    ]
    if len(home) != 1 or search.container in spot.procedure.declarations:
        return None
    match = re.fullmatch(r"(?:std::)?vector<\s*(\w+)\s*>", home[0][1].type)
    record = program.records.get(match[1]) if match is not None else None
    key = next((one for one in record.fields if one.name == search.key), None) if record is not None else None
    if (
        key is None
        or key.pointers
        or key.dims
        or not (
            key.type in ("std::string", "string")
            or (is_arithmetic(key.type) and key.type not in ("float", "double", "long double"))
        )
    ):
        return None
    wanted = effects(search.wanted, spot.procedure, program)
    if not wanted.is_known or wanted.writes:
        return None
    text = source.text
    growing = _only_grows(search, source)
    declared = _member_declaration(search.container, source)
    includes = list(_INCLUDE.finditer(text))
    if growing is None or declared is None or not includes:
        return None
    table, slot = fresh_name(f"{search.container.rstrip('_')}_table", text), fresh_name("place", text)
    blank = indent(text, search.loop.start_byte)
    body = text[search.found.start_byte : search.found.end_byte]
    shown = text[search.wanted.start_byte : search.wanted.end_byte].decode()
    bound = (
        f"const size_t {search.item} = {slot}->second;"
        if search.is_index
        else f"auto &{search.item} = {search.container}[{slot}->second];"
    )
    new = (
        f"auto {slot} = {table}.find({shown});\n".encode()
        + blank
        + f"if ({slot} != {table}.end()) {{\n".encode()
        + blank
        + b"  "
        + bound.encode()
        + b"\n"
        + blank
        + b"  "
        + body
        + b"\n"
        + blank
        + b"}"
    )
    edits = [
        Edit(search.loop.start_byte, search.loop.end_byte, new),
        Edit(
            declared.end_byte,
            declared.end_byte,
            b"\n"
            + indent(text, declared.start_byte)
            + f"std::unordered_map<{'std::string' if 'string' in key.type else key.type}, size_t> {table};".encode(),
        ),
    ]
    if b"<unordered_map>" not in text:
        edits.append(Edit(includes[-1].end(), includes[-1].end(), b"#include <unordered_map>\n"))
    for statement in growing:
        line = f" {table}.emplace({search.container}.back().{search.key}, {search.container}.size() - 1);"
        edits.append(Edit(statement.end_byte, statement.end_byte, line.encode()))
    if search.loop.parent is None or search.loop.parent.type != "compound_statement":
        return None
    return Change(
        {source.path: tuple(edits)},
        line_of(search.loop),
        f"finds items of {search.container} by {search.key} in a hash table instead of going through all of them",
    )


def _member_declaration(name: str, source: Source) -> Node | None:
    found = [
        each
        for each in nodes(source.file.tree.root_node, "field_declaration")
        if any(text_of(one) == name for one in each.children_by_field_name("declarator"))
    ]
    return found[0] if len(found) == 1 else None


def _only_grows(search: Search, source: Source) -> list[Node] | None:
    """Statements that append to the container; None where it is changed in another way, or a key may be."""
    grows: list[Node] = []
    for node in nodes(source.file.tree.root_node, "identifier", "field_identifier"):
        if text_of(node) != search.container:
            continue
        one, parent = node, node.parent
        if node.type == "field_identifier" and parent is not None:
            if parent.type == "field_declaration":
                continue
            one, parent = parent, parent.parent
        if parent is None:
            return None
        if parent.type == "field_expression" and field(parent, "argument") == one:
            member = text_of(field(parent, "field"))
            call = parent.parent
            if call is None or call.type != "call_expression":
                return None
            if member in ("push_back", "emplace_back"):
                if (
                    call.parent is None
                    or call.parent.type != "expression_statement"
                    or call.parent.parent is None
                    or call.parent.parent.type != "compound_statement"
                ):
                    return None
                grows.append(call.parent)
            elif (
                member not in _STEADY
                or (member in ("front", "back", "at") and _writes_key(call, search.key))
                or (
                    member in ("begin", "end")
                    and not (call.parent is not None and call.parent.type in ("for_range_loop",))
                )
            ):
                return None
            continue
        if parent.type == "subscript_expression" and field(parent, "argument") == one:
            if _writes_key(parent, search.key):
                return None
            continue
        if parent.type == "for_range_loop" and field(parent, "right") == one:
            item = next((text_of(each) for each in nodes(field(parent, "declarator") or parent, "identifier")), "")
            body = field(parent, "body")
            if body is None or any(
                _target_key(each, item) == search.key or text_of(field(each, "left")) == item
                for each in nodes(body, "assignment_expression")
            ):
                return None
            continue
        return None
    # A reference that is handed out could change a key: only members of it other than the key may be assigned anywhere.
    for node in nodes(source.file.tree.root_node, "assignment_expression", "update_expression"):
        target = field(node, "left") or field(node, "argument")
        if target is not None and target.type == "field_expression" and text_of(field(target, "field")) == search.key:
            root = text_of(next((each for each in nodes(target, "identifier")), None))
            if root == search.container or "(" in text_of(target):
                return None
    return grows if grows else None


def _writes_key(access: Node, key: str) -> bool:
    """True if an access to an item is an assignment to the item or its key, or gives its address away."""
    one, parent = access, access.parent
    name = ""
    while parent is not None and parent.type == "field_expression" and field(parent, "argument") == one:
        name = name or text_of(field(parent, "field"))
        one, parent = parent, parent.parent
    if parent is None:
        return True
    if parent.type in ("assignment_expression", "update_expression"):
        target = field(parent, "left") or field(parent, "argument")
        return target == one and name in ("", key)
    if parent.type == "pointer_expression":
        return True
    if parent.type == "call_expression" and name:
        return name == key and text_of(field(one, "field")) not in ("size", "c_str", "empty", "compare", "length")
    return False


def _target_key(node: Node, item: str) -> str:
    target = field(node, "left")
    if target is None or target.type != "field_expression" or text_of(field(target, "argument")) != item:
        return ""
    return text_of(field(target, "field"))


def double_ended(context: Context, spot: Spot) -> Iterator[Change]:
    """A vector from whose front items are taken becomes a double-ended queue."""
    program, source, text = context.program, spot.source, spot.source.text
    if len(program.sources) != 1:
        return
    for call in spot.procedure.all("call_expression"):
        match = re.fullmatch(r"(\w+)\.erase\((\w+)\.begin\(\)\)", text_of(call))
        if match is None or match[1] != match[2]:
            continue
        name = match[1]
        declared = [
            each
            for each in nodes(source.file.tree.root_node, "field_declaration", "declaration", "parameter_declaration")
            if any(text_of(one) == name for one in each.children_by_field_name("declarator"))
        ]
        kind = field(declared[0], "type") if len(declared) == 1 else None
        if kind is None or not re.fullmatch(r"(?:std::)?vector<.*>", text_of(kind)):
            continue
        if not all(
            _is_queue_like(each)
            for each in nodes(source.file.tree.root_node, "identifier", "field_identifier")
            if text_of(each) == name
        ):
            continue
        includes = list(_INCLUDE.finditer(text))
        if not includes:
            continue
        written = text[kind.start_byte : kind.end_byte]
        edits = [Edit(kind.start_byte, kind.end_byte, written.replace(b"vector<", b"deque<", 1))]
        if b"<deque>" not in text:
            edits.append(Edit(includes[-1].end(), includes[-1].end(), b"#include <deque>\n"))
        for each in nodes(source.file.tree.root_node, "call_expression"):
            if (
                text_of(each) == f"{name}.erase({name}.begin())"
                and each.parent is not None
                and each.parent.type == "expression_statement"
            ):
                edits.append(Edit(each.start_byte, each.end_byte, f"{name}.pop_front()".encode()))
        yield Change(
            {source.path: tuple(edits)},
            line_of(call),
            f"makes {name} a double-ended queue, whose front is taken without moving the rest",
        )
        return


def _is_queue_like(node: Node) -> bool:
    """True for uses that a deque has as well, with the same meaning."""
    one, parent = node, node.parent
    if (
        node.type == "field_identifier"
        and parent is not None
        and parent.type == "field_expression"
        and field(parent, "field") == node
    ):
        one, parent = parent, parent.parent
    if parent is None:
        return False
    if parent.type in ("field_declaration", "declaration"):
        return True
    # From the address of an item a queue does not lead to the next one.
    is_item = parent.type == "subscript_expression"
    if is_item and parent.parent is not None and parent.parent.type == "pointer_expression":
        return False
    return is_container_use(one, _OF_QUEUES)


def appended(context: Context, spot: Spot) -> Iterator[Change]:
    """`text = text + part` appends in place instead of copying the text each time."""
    procedure, text = spot.procedure, spot.source.text
    for node in procedure.all("assignment_expression"):
        target, right = field(node, "left"), bare(field(node, "right"))
        if (
            target is None
            or right is None
            or target.type != "identifier"
            or text_of(field(node, "operator")) != "="
            or node.parent is None
            or node.parent.type != "expression_statement"
        ):
            continue
        own = procedure.declarations.get(text_of(target))
        if own is None or own.type not in ("std::string", "string") or own.pointers or own.dims:
            continue
        if own.reference or text_of(target) in procedure.addressed:
            continue  # what is added may be the text itself under another name
        parts: list[Node] = []
        one: Node | None = right
        while one is not None and one.type == "binary_expression" and text_of(field(one, "operator")) == "+":
            last = field(one, "right")
            if last is not None:
                parts.append(last)
            one = field(one, "left")
        if (
            one is None
            or text_of(one) != text_of(target)
            or not parts
            or any(text_of(target) == text_of(each) for part in parts for each in nodes(part, "identifier"))
        ):
            continue
        name = text_of(target)
        statement = "; ".join(f"{name} += {text[each.start_byte : each.end_byte].decode()}" for each in reversed(parts))
        alone = node.parent.parent is not None and node.parent.parent.type == "compound_statement"
        new = f"{statement};" if alone or len(parts) == 1 else f"{{ {statement}; }}"
        yield Change(
            {spot.source.path: (Edit(node.parent.start_byte, node.parent.end_byte, new.encode()),)},
            line_of(node),
            f"appends to {name} in place instead of copying it each time",
        )
    del context


def running_powers(context: Context, spot: Spot) -> Iterator[Change]:
    """`pow(x, k)` in a loop over k = 0, 1, 2 … is multiplied on from one iteration to the next."""
    from chathpc.fix.recipes.loops import is_invariant, loops_of

    procedure, program, text = spot.procedure, context.program, spot.source.text
    if procedure.is_broken or not context.may_round or program.named("pow") or "pow" in program.macros:
        return
    for loop in loops_of(procedure):
        header = counted(loop, procedure)
        if (
            header is None
            or header.step != 1
            or text_of(header.start) not in ("0", "1")
            or not header.own
            or loop.parent is None
            or loop.parent.type != "compound_statement"
        ):
            continue
        if any(True for _ in nodes(header.body, "continue_statement", "goto_statement")) or (
            loop.prev_named_sibling is not None and loop.prev_named_sibling.type == "preproc_call"
        ):
            continue
        if any(
            one.write and not one.memory and one.name == header.variable
            for one in effects(header.body, procedure, program).accesses
        ):
            continue
        calls = [
            each
            for each in nodes(header.body, "call_expression")
            if text_of(field(each, "function")) in ("pow", "std::pow") and _counts(each, header.variable)
        ]
        bases = {text_of(children(field(each, "arguments"))[0]) for each in calls}
        base = children(field(calls[0], "arguments"))[0] if len(bases) == 1 else None
        if base is None or base.type != "identifier" or not is_invariant(base, loop, procedure, program):
            continue
        kind = procedure.declarations.get(text_of(base))
        if kind is None or kind.type != "double" or kind.pointers or kind.dims:
            continue
        name, blank, start = (
            fresh_name(f"{text_of(base)}_power", text),
            indent(text, loop.start_byte),
            line_start(text, loop.start_byte),
        )
        if text[start : loop.start_byte].strip():
            continue
        first = "1.0" if text_of(header.start) == "0" else text_of(base)
        edits = [Edit(start, start, blank + f"double {name} = {first};\n".encode())]
        edits += [Edit(each.start_byte, each.end_byte, name.encode()) for each in calls]
        update = field(loop, "update")
        if update is None:
            continue
        edits.append(Edit(update.end_byte, update.end_byte, f", {name} *= {text_of(base)}".encode()))
        yield Change(
            {spot.source.path: tuple(edits)},
            line_of(calls[0]),
            f"multiplies the power of {text_of(base)} on from one iteration to the next instead of calling pow",
            "rounds differently",
        )


def _counts(call: Node, variable: str) -> bool:
    """True for `pow(x, k)` and `pow(x, (double)k)`."""
    listed = children(field(call, "arguments"))
    if len(listed) != 2:
        return False
    exponent = bare(listed[1])
    while (
        exponent is not None
        and exponent.type == "cast_expression"
        and text_of(field(exponent, "type")) in ("double", "int")
    ):
        exponent = bare(field(exponent, "value"))
    return exponent is not None and text_of(exponent) == variable
