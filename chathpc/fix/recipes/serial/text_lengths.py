"""Loops that replace characters of a text by others that do not end it, so that its length stays the same (C and C++)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.accesses import Access
from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.loops import around, counted
from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import bare, children, field, nodes, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

#: What tells of a character, and what changes its case and gives the end of a text for the end alone.
_TELLING = frozenset(
    {"isalpha", "isdigit", "isspace", "isupper", "islower", "isalnum", "ispunct", "isprint", "isgraph", "isxdigit"}
)
_CASES = frozenset({"tolower", "toupper"})
_CHARACTERS = frozenset({"char", "int", "unsigned char", "signed char"})
_ENDS = ("'\\0'", "'\\x00'", "'\\00'", "'\\000'")


def keeps_text(call: Node, program: Program) -> bool:
    """True for a call that changes no memory: it asks about a character or gives another one for it."""
    name = _called(call)
    if name in _TELLING | _CASES:
        return True
    callee = _only(name, program)
    if callee is None or callee.body is None or any(one.static for one in callee.model.declarations):
        return False
    inner = effects(callee.body, callee, program)
    own = {one.name for one in callee.model.parameters if not one.reference} | inner.declared
    return (
        not inner.opaque
        and not inner.jumps & {"goto", "label", "throw"}
        and all(_called(each) in _TELLING | _CASES for each in inner.calls)
        and all(one.name in own and not one.memory for one in inner.writes)
    )


def keeps_length(write: Access, call: Node, program: Program) -> bool:
    """True for the write of one character that cannot be the end of a text whose length `call` asks for."""
    target = write.node.parent
    if target is None or target.type != "assignment_expression" or write.node.type != "subscript_expression":
        return False
    value = _uncast(field(target, "right"))
    if value is None or text_of(field(target, "operator")) != "=":
        return False
    if _is_no_end(value) or _keeps_end(value, text_of(write.node)):
        return True
    callee = _only(_called(value), program) if value.type == "call_expression" else None
    listed = children(field(value, "arguments"))
    at = next((k for k, each in enumerate(listed) if text_of(_uncast(each)) == text_of(write.node)), None)
    if callee is None or at is None or at >= len(callee.model.parameters):
        return False
    # What the function gives for the end of the text does not matter: the loop stops before it.
    return _is_before_end(write, call) and _gives_no_end(callee, callee.model.parameters[at].name)


def _called(call: Node) -> str:
    return text_of(field(call, "function")).removeprefix("std::")


def _only(name: str, program: Program) -> Procedure | None:
    own = program.named(name)
    return own[0] if len(own) == 1 and own[0].body is not None and not own[0].is_broken else None


def _uncast(value: Node | None) -> Node | None:
    value = bare(value)
    while value is not None:
        inner = None
        if value.type == "cast_expression":
            inner = field(value, "value")
        elif text_of(field(value, "function")) in (
            "static_cast<char>",
            "static_cast<unsigned char>",
            "static_cast<int>",
        ):
            inner = next(iter(children(field(value, "arguments"))), None)
        if inner is None:
            return value
        value = bare(inner)
    return value


def _is_no_end(value: Node) -> bool:
    """True for a character that is not the end of a text."""
    if value.type == "char_literal":
        return text_of(value) not in _ENDS
    if value.type == "binary_expression" and text_of(field(value, "operator")) in ("+", "-"):
        return _is_letter_near(field(value, "left"), bare(field(value, "right")))
    return False


def _keeps_end(value: Node, character: str) -> bool:
    """True for the character itself, in another case perhaps: it is an end only where it was one."""
    if value.type == "call_expression" and _called(value) in _CASES:
        return text_of(_uncast(next(iter(children(field(value, "arguments"))), None))) == character
    return value.type == "identifier" and text_of(value) == character


def _is_letter_near(letter: Node | None, rest: Node | None) -> bool:
    """True for `'a' + … % 26`: what is added lies between -25 and 25, so that the sum is a character other than 0."""
    if letter is None or rest is None or letter.type != "char_literal" or len(text_of(letter)) != 3:
        return False
    if rest.type != "binary_expression" or text_of(field(rest, "operator")) != "%":
        return False
    radix = text_of(field(rest, "right"))
    code = ord(text_of(letter)[1])
    return radix.isdigit() and code > int(radix) and code + int(radix) < 128


def _is_before_end(write: Access, call: Node) -> bool:
    """True where a loop counts the place of what is written up to the length of the same text, and nothing else moves it."""
    index = field(write.node, "index") or next(iter(children(field(write.node, "indices"))), None)
    asked = text_of(next(iter(children(field(call, "arguments"))), None))
    header = counted(next(around(call, write.procedure), None), write.procedure)
    if index is None or header is None or header.operator != "<" or _uncast(header.bound) != call:
        return False
    return (
        text_of(index) == header.variable
        and text_of(field(write.node, "argument")) == asked
        and not any(
            text_of(field(each, "left") or field(each, "argument")) == header.variable
            for each in nodes(header.body, "assignment_expression", "update_expression")
        )
        and header.variable not in write.procedure.addressed
    )


def _gives_no_end(callee: Procedure, character: str) -> bool:
    """True for a function that gives the character itself, in another case, or one that is known not to be the end."""
    told = next(one for one in callee.model.parameters if one.name == character)
    kinds = [told, *([callee.model.returns] if callee.model.returns is not None else [])]
    if len(kinds) != 2 or any(one.type not in _CHARACTERS or one.pointers or one.reference for one in kinds):
        return False
    if character in callee.addressed or any(
        text_of(field(each, "argument")) == character for each in callee.all("update_expression")
    ):
        return False
    given = [next(iter(children(each)), None) for each in callee.all("return_statement")]
    for each in callee.all("assignment_expression"):
        if text_of(field(each, "left")) == character:
            if text_of(field(each, "operator")) != "=":
                return False
            given.append(field(each, "right"))
    return bool(given) and all(_is_never_end(each, character) for each in given)


def _is_never_end(value: Node | None, character: str) -> bool:
    value = _uncast(value)
    if value is None:
        return False
    if value.type == "conditional_expression":
        return all(_is_never_end(field(value, each), character) for each in ("consequence", "alternative"))
    return _is_no_end(value) or _keeps_end(value, character)
