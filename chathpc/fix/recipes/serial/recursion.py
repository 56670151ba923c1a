"""Recursion that computes the same again: results are kept in a table, with the arguments that they belong to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.model import Declaration
from chathpc.fix.recipes.analysis.edits import Edit, fresh_name
from chathpc.fix.recipes.analysis.effects import summary
from chathpc.fix.recipes.analysis.program import Spot
from chathpc.fix.recipes.analysis.syntax import children, field, line_of, nodes, text_of, walk
from chathpc.fix.recipes.analysis.types import Type, of_declaration, plain
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node

#: Results that are kept, a power of two: with three arguments some 10 MB, which a run touches as far as it needs them.
_KEPT = 1 << 18
_THREADS = re.compile(rb"\b(?:pthread_create|std::thread|std::async|omp\s+parallel|thrd_create)\b")


def remembered(context: Context, spot: Spot) -> Iterator[Change]:
    """A function that calls itself, changes nothing and takes whole numbers and pointers looks its results up in a table.

    Entries hold all arguments, so that nothing is mixed up; where the function reads memory, every call from outside begins
    with an empty table, for the memory may have changed.
    """
    procedure, program, text = spot.procedure, context.program, spot.source.text
    model, name = procedure.model, procedure.model.name
    if (
        procedure.body is None
        or not model.parameters
        or model.returns is None
        or name in program.handed_on
        or len(program.named(name)) != 1
    ):
        return
    around = procedure.node.parent
    member = around is not None and around.type == "field_declaration_list"
    if around is None or not (member or around.type == "translation_unit") or (member and _is_open(procedure.node)):
        return
    calls = [each for each in procedure.all("call_expression") if text_of(field(each, "function")) == name]
    if not calls or any(
        name == text_of(each)
        for each in nodes(procedure.body, "identifier")
        if each.parent is None or field(each.parent, "function") != each
    ):
        return
    outward = summary(procedure, program)
    kinds = [of_declaration(one) for one in model.parameters]
    result = of_declaration(model.returns)
    if (
        outward is None
        or not result.is_arithmetic
        or any(
            (one.reference and not one.const) or not (kind.is_integer or kind.depth or _is_handed_on(one, calls))
            for one, kind in zip(model.parameters, kinds, strict=True)
        )
    ):
        return
    if not any(kind.is_integer for kind in kinds) or any(
        _THREADS.search(each.text) for each in program.sources.values()
    ):
        return
    head = text[procedure.node.start_byte : procedure.body.start_byte].rstrip()
    written = _parameters(procedure.node, text)
    if written is None or len(written) != len(model.parameters):
        return
    by_address = frozenset(
        one.name for one, kind in zip(model.parameters, kinds, strict=True) if one.reference and not kind.is_integer
    )
    yield _table(spot, calls, head, written, kinds, by_address, forgets=bool(outward.accesses), member=member)


def _is_open(node: Node) -> bool:
    """True for a member of a template, or one that another class may replace."""
    one: Node | None = node
    while one is not None:
        if one.type == "template_declaration":
            return True
        one = one.parent
    return any(each.type in ("virtual_specifier", "virtual") for each in walk(node))


def _is_handed_on(one: Declaration, calls: list[Node]) -> bool:
    """True for a reference that every call inside the function hands on as it is: an address tells it from others."""
    return one.reference and all(
        any(text_of(each) == one.name for each in children(field(call, "arguments"))) for call in calls
    )


def _parameters(node: Node, text: bytes) -> list[str] | None:
    declarator = field(node, "declarator")
    while declarator is not None and declarator.type != "function_declarator":
        declarator = field(declarator, "declarator")
    listed = field(declarator, "parameters")
    if listed is None:
        return None
    found = [
        text[each.start_byte : each.end_byte].decode()
        for each in listed.named_children
        if each.type == "parameter_declaration"
    ]
    return None if any("[" in each or "(" in each for each in found) else found


def _table(
    spot: Spot,
    calls: list[Node],
    head: bytes,
    written: list[str],
    kinds: list[Type],
    by_address: frozenset[str],
    *,
    forgets: bool,
    member: bool,
) -> Change:
    procedure, text = spot.procedure, spot.source.text
    name = procedure.model.name
    names = [one.name for one in procedure.model.parameters]
    computed, known, table, round_ = (
        fresh_name(f"{name}_{each}", text) for each in ("computed", "known", "table", "round")
    )
    pattern = re.compile(rb"\b%s(?=\s*\()" % name.encode())
    given, handed = ", ".join(written), ", ".join(names)
    result_text = plain(procedure.model.returns.type) if procedure.model.returns is not None else "int"
    hashed = "0"
    for one, kind in zip(names, kinds, strict=True):
        where = "&" if one in by_address else ""
        value = f"(unsigned long)(size_t){where}{one}" if kind.depth or where else f"(unsigned long){one}"
        hashed = f"({hashed} * 1000003UL + {value})"
    values = {one: f"&{one}" if one in by_address else one for one in names}
    same = " && ".join(f"slot->{one} == {value}" for one, value in values.items())
    keep = " ".join(f"slot->{one} = {value};" for one, value in values.items())
    fields = " ".join(f"{_kept_as(each, by_address)};" for each in written)
    cast = f"{table}_entry"
    before = (
        f"static {result_text} {known}({given});\n\n".encode() + pattern.sub(computed.encode(), head, count=1) + b" "
    )
    if member:
        before = pattern.sub(computed.encode(), head, count=1) + b" "
        return _in_class(
            spot, calls, head, before, (known, computed, round_), (given, handed), (fields, same, keep, hashed)
        )
    if len(kinds) == 1 and not by_address:
        return _by_number(spot, calls, head, before, given, names[0], known, computed, result_text, forgets=forgets)
    after = f"""

typedef struct {{ {fields} unsigned long round; {result_text} value; }} {cast};
static {cast} {table}[{_KEPT}];
static unsigned long {round_} = 1;

static {result_text} {known}({given}) {{
  unsigned long hash = {hashed};
  {cast} *slot = &{table}[(hash ^ hash >> 17) & {_KEPT - 1}];
  if (slot->round == {round_} && {same}) return slot->value;
  {result_text} value = {computed}({handed});
  slot->round = {round_};
  {keep}
  slot->value = value;
  return value;
}}

"""
    after += _entry(head, known, handed, round_ if forgets else "")
    did = f"keeps results of {name} in a table with their arguments instead of computing them again"
    return _change(spot, calls, before, after, known, did)


def _kept_as(written: str, by_address: frozenset[str]) -> str:
    """A parameter as a member of the table's entries: a pointer for a reference, and no reference to a number."""
    name = re.findall(r"\w+", written)[-1]
    return re.sub(r"\s*&\s*", " *" if name in by_address else " ", written)


def _in_class(
    spot: Spot,
    calls: list[Node],
    head: bytes,
    before: bytes,
    names: tuple[str, str, str],
    arguments: tuple[str, str],
    parts: tuple[str, str, str, str],
) -> Change:
    """The same for a member function, whose results belong to the object as well."""
    known, computed, round_ = names
    given, handed = arguments
    fields, same, keep, hashed = parts
    returns = spot.procedure.model.returns
    result = plain(returns.type) if returns is not None else "int"
    constant = " const" if head.rstrip().endswith(b"const") else ""
    name = spot.procedure.model.name
    after = f"""
  {result} {known}({given}){constant} {{
    struct Entry {{ const void *self; {fields} unsigned long round; {result} value; }};
    static Entry table[{_KEPT}];
    unsigned long hash = {hashed};
    Entry *slot = &table[(hash ^ hash >> 17) & {_KEPT - 1}];
    if (slot->round == {round_}() && slot->self == this && {same}) return slot->value;
    {result} value = {computed}({handed});
    slot->round = {round_}();
    slot->self = this;
    {keep}
    slot->value = value;
    return value;
  }}
  static unsigned long &{round_}() {{
    static unsigned long round = 1;
    return round;
  }}
  {head.decode("utf-8", "surrogateescape")} {{
    {round_}()++;
    return {known}({handed});
  }}"""
    did = f"keeps results of {name} in a table with their arguments instead of computing them again"
    return _change(spot, calls, before, after, known, did)


def _by_number(
    spot: Spot,
    calls: list[Node],
    head: bytes,
    before: bytes,
    given: str,
    argument: str,
    known: str,
    computed: str,
    result: str,
    *,
    forgets: bool,
) -> Change:
    """With one whole number as argument the table is indexed by it; numbers beyond its end are computed each time."""
    name, text = spot.procedure.model.name, spot.source.text
    table, round_ = (fresh_name(f"{name}_{each}", text) for each in ("table", "round"))
    after = f"""

static struct {{ unsigned round; {result} value; }} {table}[{4 * _KEPT}];
static unsigned {round_} = 1;

static {result} {known}({given}) {{
  if ((unsigned long){argument} >= {4 * _KEPT}) return {computed}({argument});
  if ({table}[{argument}].round == {round_}) return {table}[{argument}].value;
  {result} value = {computed}({argument});
  {table}[{argument}].round = {round_};
  {table}[{argument}].value = value;
  return value;
}}

"""
    after += _entry(head, known, argument, round_ if forgets else "")
    did = f"keeps results of {name} in a table instead of computing them again"
    return _change(spot, calls, before, after, known, did)


def _entry(head: bytes, known: str, handed: str, round_: str) -> str:
    """The function under its own name, which asks the table; with `round_` every call from outside begins with an empty one."""
    forget = f"  {round_}++;\n" if round_ else ""
    return f"{head.decode('utf-8', 'surrogateescape')} {{\n{forget}  return {known}({handed});\n}}"


def _change(spot: Spot, calls: list[Node], before: bytes, after: str, known: str, did: str) -> Change:
    """`before` takes the place of the function's head, `after` follows its body, and the function calls `known` instead of itself."""
    node, body = spot.procedure.node, spot.procedure.body
    end = body.start_byte if body is not None else node.start_byte
    edits = [
        Edit(node.start_byte, end, before),
        Edit(node.end_byte, node.end_byte, after.encode("utf-8", "surrogateescape")),
    ]
    for call in calls:
        called = field(call, "function")
        if called is not None:
            edits.append(Edit(called.start_byte, called.end_byte, known.encode()))
    return Change({spot.source.path: tuple(edits)}, line_of(node), did)
