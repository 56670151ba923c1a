"""Arrays that are copied back at the end of each step: the two change places instead (C and C++)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent
from chathpc.fix.recipes.analysis.loops import around, counted
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import bare, children, field, inside, line_of, nodes, statements, text_of
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node

_VECTOR = re.compile(r"(?:std::)?vector<.*>\Z", re.DOTALL)
_CASTS = re.compile(r"\((?:size_t|std::size_t|unsigned long)\)|static_cast<(?:std::)?size_t>")
_READS = frozenset({"size", "empty", "begin", "end"})
_DEEPEST = 3


def exchanged(context: Context, spot: Spot) -> Iterator[Change]:
    """`memcpy(u, v, …)`, a loop of `u[i] = v[i]` or `u = v` as the last of a step: u and v change places.

    The next step has to write all of v that it or the others read. That nothing in it reads v before is seen in the source; that
    it writes all that counts, the answers of the changed program tell.
    """
    procedure, program, text = spot.procedure, context.program, spot.source.text
    if procedure.is_broken or program.has_threads:
        return
    for loop in procedure.all("for_statement", "while_statement", "do_statement"):
        listed = statements(field(loop, "body"))
        copy = listed[-1] if len(listed) > 1 else None
        names = _copied(copy, procedure, program) if copy is not None else None
        if copy is None or names is None:
            continue
        to, source, kind = names
        if not all(_may_swap(name, loop, procedure) for name in (to, source)):
            continue
        if not _is_only_written(source, [*listed[:-1]], procedure, program, 0):
            continue
        if _VECTOR.match(kind):
            new = f"{to}.swap({source});"
        else:
            other = fresh_name(f"{to}_before", text)
            blank = indent(text, copy.start_byte).decode()
            new = f"{kind} *{other} = {to};\n{blank}{to} = {source};\n{blank}{source} = {other};"
        yield Change(
            {spot.source.path: (Edit(copy.start_byte, copy.end_byte, new.encode()),)},
            line_of(copy),
            f"exchanges {to} and {source} instead of copying one to the other",
        )


def _copied(node: Node, procedure: Procedure, program: Program) -> tuple[str, str, str] | None:
    """Names of the arrays and their type, of a statement that copies all of one to the other."""
    one = bare(node)
    if one is None:
        return None
    if one.type == "assignment_expression" and text_of(field(one, "operator")) == "=":
        to, source = text_of(field(one, "left")), text_of(field(one, "right"))
        kinds = {_kind(name, procedure) for name in (to, source)}
        kind = kinds.pop() if len(kinds) == 1 else ""
        return (to, source, kind) if kind and _VECTOR.match(kind) else None
    if one.type == "call_expression" and text_of(field(one, "function")) in ("memcpy", "std::memcpy", "memmove"):
        listed = [text_of(each) for each in children(field(one, "arguments"))]
        return _whole(listed[0], listed[1], listed[2], procedure) if len(listed) == 3 else None
    header = counted(node, procedure)
    if header is None or header.step != 1 or header.operator != "<" or text_of(header.start) != "0":
        return None
    body = statements(header.body)
    inner = bare(body[0]) if len(body) == 1 else None
    if inner is None or inner.type != "assignment_expression" or text_of(field(inner, "operator")) != "=":
        return None
    sides = [re.fullmatch(rf"(\w+)\[{header.variable}\]", text_of(field(inner, side))) for side in ("left", "right")]
    if sides[0] is None or sides[1] is None:
        return None
    return _whole(sides[0][1], sides[1][1], f"{text_of(header.bound)} * sizeof(*{sides[0][1]})", procedure)


def _kind(name: str, procedure: Procedure) -> str:
    own = procedure.declarations.get(name)
    return "" if own is None or own.pointers else own.type


def _whole(to: str, source: str, size: str, procedure: Procedure) -> tuple[str, str, str] | None:
    """The same, if both were allocated in this function with just that size."""
    sizes = {_factors(size, to, procedure), _allocated(to, procedure), _allocated(source, procedure)}
    own, other = procedure.declarations.get(to), procedure.declarations.get(source)
    if (
        own is None
        or other is None
        or own.type != other.type
        or own.pointers != 1
        or other.pointers != 1
        or own.const
        or other.const
    ):
        return None
    return (to, source, own.type) if len(sizes) == 1 and None not in sizes else None


def _allocated(name: str, procedure: Procedure) -> tuple[str, ...] | None:
    """Factors of the size with which a local pointer was allocated, its only value."""
    values = procedure.assigned.get(name, [])
    made = bare(values[0]) if len(values) == 1 else None
    while made is not None and made.type == "cast_expression":
        made = bare(field(made, "value"))
    called = text_of(field(made, "function")).removeprefix("std::")
    if made is None or name in procedure.parameters:
        return None
    if made.type == "new_expression":
        length = field(field(made, "declarator"), "length")
        return _factors(f"{text_of(length)} * sizeof(*{name})", name, procedure) if length is not None else None
    if called not in ("malloc", "calloc"):
        return None
    return _factors(" * ".join(text_of(each) for each in children(field(made, "arguments"))), name, procedure)


def _factors(size: str, name: str, procedure: Procedure) -> tuple[str, ...] | None:
    own = procedure.declarations.get(name)
    plain = _CASTS.sub("", size)
    if own is None or re.search(r"[+\-/?]", re.sub(r"\w+->", "", plain)):
        return None
    plain = re.sub(rf"sizeof ?\(?(?:{re.escape(own.type)}|\*\w+|\w+\[0\])\)?", "SIZE", plain)
    return tuple(sorted(each.strip(" ()") for each in plain.split("*")))


def _may_swap(name: str, loop: Node, procedure: Procedure) -> bool:
    """True for a variable that nobody else has: no other pointer is made from it, and it keeps its value in the loop."""
    own = procedure.declarations.get(name)
    if (
        own is None
        or own.static
        or name in procedure.addressed
        or (own.pointers and (own.reference or name in procedure.parameters))
    ):
        return False
    if name in procedure.parameters and not own.reference:
        return not own.pointers
    for each in procedure.identifiers.get(name, ()):
        parent = each.parent
        if parent is None:
            return False
        if parent.type in ("init_declarator", "assignment_expression"):
            value = field(parent, "value") or field(parent, "right")
            target = field(parent, "left")
            if value == each and own.pointers:
                return False
            if target == each and inside(each, loop) and own.pointers:
                return False
        if own.pointers and parent.type in ("return_statement", "initializer_list", "conditional_expression"):
            return parent.type == "return_statement" and not any(True for _ in around(each, procedure))
    return True


def _is_only_written(name: str, where: list[Node], procedure: Procedure, program: Program, depth: int) -> bool:
    """True if elements of the array are only given values there, also by functions that it is handed to."""
    if depth > _DEEPEST:
        return False
    found = False
    for node in (each for one in where for each in nodes(one, "identifier") if text_of(each) == name):
        parent = node.parent
        if parent is None:
            return False
        if parent.type == "subscript_expression" and field(parent, "argument") == node:
            one = parent
            while (
                one.parent is not None
                and one.parent.type == "subscript_expression"
                and field(one.parent, "argument") == one
            ):
                one = one.parent
            around_ = one.parent
            if around_ is None or around_.type != "assignment_expression" or field(around_, "left") != one:
                return False
            if text_of(field(around_, "operator")) != "=":
                return False
            found = True
            continue
        if parent.type == "field_expression" and text_of(field(parent, "field")) in _READS:
            continue
        call = parent.parent
        own = (
            program.named(text_of(field(call, "function")))
            if parent.type == "argument_list" and call is not None
            else []
        )
        if len(own) != 1 or own[0].body is None or own[0].is_broken:
            return False
        at = children(parent).index(node)
        if at >= len(own[0].model.parameters) or text_of(children(parent)[at]) != name:
            return False
        inner = own[0].model.parameters[at]
        if not (inner.pointers or inner.reference or inner.dims):
            return False
        if not _is_only_written(inner.name, [own[0].body], own[0], program, depth + 1):
            return False
        found = True
    return found
