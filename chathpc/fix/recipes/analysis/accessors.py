"""Functions of one expression put in place of their calls: `image.at(x, y)` as `image.v[y * image.n + x]` (C and C++)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.macros import Piece
from chathpc.fix.recipes.analysis.edits import Edit, applied
from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import bare, children, field, nodes, statements, text_of
from chathpc.fix.recipes.analysis.types import of_declaration, owner, type_of

if TYPE_CHECKING:
    from tree_sitter import Node

_DEEPEST = 4
#: What an accessor's expression may hold: nothing that changes anything.
_PLAIN = frozenset(
    {
        "identifier", "field_identifier", "number_literal", "primitive_type", "type_identifier", "sized_type_specifier",
        "type_descriptor", "this", "field_expression", "subscript_expression", "subscript_argument_list", "binary_expression",
        "parenthesized_expression", "cast_expression", "call_expression", "argument_list", "template_function",
        "template_argument_list", "qualified_identifier", "namespace_identifier", "pointer_expression", "unary_expression",
    }
)  # fmt: skip
_ASKED = frozenset({"size", "length"})
_ATOMS = frozenset(
    {"identifier", "number_literal", "field_expression", "subscript_expression", "parenthesized_expression"}
)
#: `static_cast<std::size_t>(y)` and `size_t(y)`.
_CAST = re.compile(r"static_cast<[\w:\s]+>\Z|(?:std::)?(?:size_t|ptrdiff_t|u?int\d+_t|int|long|unsigned)\Z")
_ADDRESS = re.compile(rb"\(&(\w+)\)")
_PATHS = frozenset({"identifier", "field_expression", "subscript_expression"})


def inlined(source_path: str, program: Program) -> tuple[bytes, list[Piece]]:
    """The text of a file with calls of accessors replaced, every line where it was, and the pieces that were replaced."""
    source = program.sources[source_path]
    text = source.text
    parts: list[bytes] = []
    pieces: list[Piece] = []
    at = size = 0
    for one in source.procedures:
        if one.body is None or one.node.start_byte < at:
            continue
        for start, end, new in _calls_in(one.body, one, program, 0):
            lines = text.count(b"\n", start, end)
            if lines and not new.endswith((b")", b"]")):
                continue
            new = new[:-1] + b"\n" * lines + new[-1:]
            parts += [text[at:start], new]
            size += start - at
            pieces.append(Piece(start, end, size, size + len(new)))
            size, at = size + len(new), end
    return b"".join([*parts, text[at:]]), pieces


def row_lengths(program: Program) -> frozenset[str]:
    """Members by which accessors of two arguments multiply one of them: different arguments are different elements."""
    found: set[str] = set()
    for one in program.procedures:
        expr = _returned(one)
        if expr is None or len(one.model.parameters) < 2:
            continue
        for index in nodes(expr, "binary_expression"):
            if text_of(field(index, "operator")) != "*":
                continue
            names = [
                text_of(field(each, "field") or each)
                for each in map(_uncast, (field(index, "left"), field(index, "right")))
            ]
            mine = [each for each in names if each in one.parameters]
            found.update(each for each in names if len(mine) == 1 and each not in mine and each.isidentifier())
    return frozenset(found)


def _uncast(node: Node | None) -> Node | None:
    node = bare(node)
    while node is not None:
        if node.type == "cast_expression":
            node = bare(field(node, "value"))
        elif node.type == "call_expression" and _CAST.match(text_of(field(node, "function"))):
            node = bare(next(iter(children(field(node, "arguments"))), None))
        else:
            break
    return node


def _calls_in(node: Node, procedure: Procedure, program: Program, depth: int) -> list[tuple[int, int, bytes]]:
    """Calls of accessors, outermost only, each with what it stands for."""
    found: list[tuple[int, int, bytes]] = []
    todo = [node]
    while todo:
        one = todo.pop()
        if one.type == "call_expression" and depth < _DEEPEST:
            new = _stands_for(one, procedure, program, depth)
            if new is not None:
                found.append((one.start_byte, one.end_byte, new))
                continue
        todo.extend(reversed(one.children))
    return found


def _shown(node: Node, procedure: Procedure, program: Program, depth: int) -> bytes | None:
    """The text of an expression with accessors replaced; None where evaluating it twice would not be the same."""
    found = _calls_in(node, procedure, program, depth + 1)
    hidden = [(start, end) for start, end, _ in found]
    for each in nodes(
        node, "call_expression", "assignment_expression", "update_expression", "lambda_expression", "new_expression"
    ):
        if any(start <= each.start_byte and each.end_byte <= end for start, end in hidden):
            continue
        called = field(each, "function")
        if each.type != "call_expression" or not (
            (called is not None and called.type == "field_expression" and text_of(field(called, "field")) in _ASKED)
            or _CAST.match(text_of(called))
        ):
            return None
    text = procedure.source.text[node.start_byte : node.end_byte]
    return applied(text, [Edit(start - node.start_byte, end - node.start_byte, new) for start, end, new in found])


def _stands_for(call: Node, procedure: Procedure, program: Program, depth: int) -> bytes | None:
    called, listed = field(call, "function"), children(field(call, "arguments"))
    if called is None:
        return None
    base: Node | None = None
    arrow = b"."
    if called.type == "field_expression":
        base, name = field(called, "argument"), text_of(field(called, "field"))
        arrow = text_of(field(called, "operator")).encode()
    else:
        name = text_of(called)
        of = (
            type_of(called, procedure, program)
            if called.type in ("identifier", "field_expression", "parenthesized_expression")
            else None
        )
        if of is not None and not of.depth and of.name in program.records:
            base, name = called, "operator"
    candidates = [one for one in program.named(name) if len(one.model.parameters) == len(listed)]
    if not candidates or len(candidates) > 4:
        return None
    if base is not None:
        of = type_of(base, procedure, program)
        if of is None or of.name not in program.records or of.depth != (arrow == b"->"):
            return None
        candidates = [one for one in candidates if owner(one) == of.name]
    else:
        candidates = [one for one in candidates if not owner(one) or owner(one) == owner(procedure)]
    shown = _shown(base, procedure, program, depth) if base is not None else b""
    statement = call.parent is not None and call.parent.type == "expression_statement"
    candidates = [one for one in candidates if statement or one.model.returns is not None]
    arguments = [_argument(each, at, candidates, procedure, program, depth) for at, each in enumerate(listed)]
    if shown is None or any(each is None for each in arguments) or not candidates:
        return None
    if base is not None and base.type not in _ATOMS:
        return None
    before = shown + arrow if base is not None else b""
    values = [each for each in arguments if each is not None]
    found = {_body(one, before, values, procedure, program, depth) for one in candidates}
    new = found.pop() if len(found) == 1 else None
    return new if new is None or len(new) < 2_000 else None


def _argument(
    node: Node, at: int, candidates: list[Procedure], procedure: Procedure, program: Program, depth: int
) -> bytes | None:
    kind = type_of(node, procedure, program)
    taken = [of_declaration(one.model.parameters[at]) for one in candidates]
    if kind is not None and kind.is_floating and not all(each.is_floating for each in taken):
        return None  # it may lose its fraction on the way
    if node.type not in _ATOMS and all(each.is_floating for each in taken):
        # The value of an assignment stands there once: it may call what it likes.
        found = _calls_in(node, procedure, program, depth + 1)
        text = procedure.source.text[node.start_byte : node.end_byte]
        if any(True for _ in nodes(node, "assignment_expression", "update_expression", "lambda_expression")):
            return None
        new = applied(text, [Edit(start - node.start_byte, end - node.start_byte, each) for start, end, each in found])
        return None if new is None else b"(" + new + b")"
    shown = _shown(node, procedure, program, depth)
    return shown if shown is None or node.type in _ATOMS else b"(" + shown + b")"


def _returned(one: Procedure) -> Node | None:
    """What a function returns that does nothing else."""
    listed = statements(one.body)
    if (
        len(listed) != 1
        or listed[0].type not in ("return_statement", "expression_statement")
        or one.model.marks & {"virtual", "global"}
        or one.has_errors
    ):
        return None
    expr = next(iter(children(listed[0])), None)
    if expr is None or (expr.type == "assignment_expression") != (listed[0].type == "expression_statement"):
        return None
    if any(each.is_named and each.type not in _PLAIN and each != expr for each in _all(expr)):
        return None
    return expr


def _sets(expr: Node, callee: Procedure, program: Program) -> bool:
    """True for `items[k] = value`, the value being a parameter of the item's type."""
    left, right = field(expr, "left"), field(expr, "right")
    if left is None or right is None or left.type not in _PATHS or text_of(right) not in callee.parameters:
        return False
    if text_of(field(expr, "operator")) not in ("=", "+=", "-=", "*="):
        return False
    of, given = type_of(left, callee, program), type_of(right, callee, program)
    uses = [each for each in nodes(expr, "identifier") if text_of(each) == text_of(right)]
    return of is not None and of.is_arithmetic and of == given and len(uses) == 1


def _all(node: Node) -> list[Node]:
    found, todo = [], [node]
    while todo:
        one = todo.pop()
        found.append(one)
        todo.extend(one.named_children)
    return found


def _body(
    callee: Procedure, before: bytes, arguments: list[bytes], caller: Procedure, program: Program, depth: int
) -> bytes | None:
    """What the function returns, in the caller's words."""
    expr = _returned(callee)
    if expr is None or depth > _DEEPEST:
        return None
    if expr.type == "assignment_expression":
        return _put(expr, callee, before, arguments, caller, program, depth) if _sets(expr, callee, program) else None
    if callee.model.returns is None:
        return None
    whole, told = type_of(expr, callee, program), of_declaration(callee.model.returns)
    path = bare(expr)
    is_path = path is not None and path.type in _PATHS
    if whole is None or not (
        (whole.is_integer and told.is_integer) or (is_path and (whole.name, whole.depth) == (told.name, told.depth))
    ):
        return None
    returned = callee.model.returns
    if not (told.is_arithmetic or (told.depth and returned.pointers) or returned.reference):
        return None  # a copy of an object is none of it
    if any(
        not (kind := of_declaration(each)).is_integer and not kind.depth and kind.name not in program.records
        for each in callee.model.parameters
    ):
        return None
    new = _put(expr, callee, before, arguments, caller, program, depth)
    return new if new is None or is_path else b"(" + new + b")"


def _put(
    expr: Node,
    callee: Procedure,
    before: bytes,
    arguments: list[bytes],
    caller: Procedure,
    program: Program,
    depth: int,
) -> bytes | None:
    """The expression with arguments for parameters, and the object before its members."""
    record = program.records.get(owner(callee))
    members = {one.name for one in record.fields} if record is not None else set()
    values = dict(zip((one.name for one in callee.model.parameters), arguments, strict=True))
    text = callee.source.text
    start = expr.start_byte
    edits: list[Edit] = []
    todo = [expr]
    while todo:
        one = todo.pop()
        if one.type == "call_expression":
            called = field(one, "function")
            if _CAST.match(text_of(called)):
                todo.extend(children(field(one, "arguments")))
                continue
            if called is not None and called.type == "template_function":
                return None
            if called is not None and called.type == "field_expression":
                if text_of(field(called, "field")) not in _ASKED or children(field(one, "arguments")):
                    return None
            else:
                new = _nested(one, callee, before, values, caller, program, depth)
                if new is None:
                    return None
                edits.append(Edit(one.start_byte - start, one.end_byte - start, new))
                continue
        if one.type == "field_expression" and (field(one, "argument") or one).type == "this":
            argument, name = field(one, "argument"), field(one, "field")
            if argument is None or name is None:
                return None
            edits.append(Edit(argument.start_byte - start, name.start_byte - start, before))
            continue
        if one.type == "this":
            return None
        if one.type == "field_expression" and text_of(field(one, "operator")) == "->":
            argument, name = field(one, "argument"), field(one, "field")
            given = (
                values.get(text_of(argument), b"") if argument is not None and argument.type == "identifier" else b""
            )
            if argument is not None and name is not None and (match := _ADDRESS.fullmatch(given)) is not None:
                edits.append(Edit(argument.start_byte - start, name.start_byte - start, match[1] + b"."))
                continue
        if one.type == "identifier":
            name_ = text_of(one)
            if name_ in values:
                edits.append(Edit(one.start_byte - start, one.end_byte - start, values[name_]))
            elif name_ in members:
                edits.append(Edit(one.start_byte - start, one.start_byte - start, before))
            elif name_ in caller.declarations or not (
                name_ in program.variables or name_ in callee.source.file.unit.constants
            ):
                return None  # another one of the caller, or of a class above
        todo.extend(one.named_children)
    new_text = applied(text[start : expr.end_byte], edits)
    if new_text is None:
        return None
    return b" ".join(new_text.split())


def _nested(
    call: Node,
    callee: Procedure,
    before: bytes,
    values: dict[str, bytes],
    caller: Procedure,
    program: Program,
    depth: int,
) -> bytes | None:
    """A call that an accessor makes of another one of its class, or of a function, with the arguments handed on."""
    name = text_of(field(call, "function"))
    listed = children(field(call, "arguments"))
    found = [
        one
        for one in program.named(name)
        if len(one.model.parameters) == len(listed) and owner(one) in ("", owner(callee))
    ]
    if len(found) != 1 or depth > _DEEPEST:
        return None
    handed = []
    for each in listed:
        if any(True for _ in nodes(each, "call_expression", "this")):
            return None
        edits = [
            Edit(one.start_byte - each.start_byte, one.end_byte - each.start_byte, values[text_of(one)])
            for one in nodes(each, "identifier")
            if text_of(one) in values
        ]
        if any(text_of(one) not in values for one in nodes(each, "identifier")):
            return None
        new = applied(callee.source.text[each.start_byte : each.end_byte], edits)
        if new is None:
            return None
        handed.append(new if each.type in _ATOMS else b"(" + new + b")")
    return _body(found[0], before, handed, caller, program, depth + 1)
