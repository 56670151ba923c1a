"""The text of a hash table of places: which item of an array has a key (C)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import children, field, nodes, text_of
from chathpc.fix.recipes.analysis.types import Type, type_of

if TYPE_CHECKING:
    from tree_sitter import Node

#: Types that are an int in every comparison (C11 6.3.1.1).
_NARROW = frozenset(
    {
        "char", "signed char", "unsigned char", "short", "short int", "unsigned short", "unsigned short int", "signed short",
        "bool", "_Bool", "int8_t", "uint8_t", "int16_t", "uint16_t",
    }
)  # fmt: skip
_UNSIGNED = ("unsigned", "size_t", "uint", "ulong", "uchar")
_LONG = ("long", "64", "size_t", "ptr", "max", "off_t")


@dataclass(frozen=True, slots=True)
class Table:
    """Names in the table's functions, and how the array is written there."""

    shown: str
    place: str
    slot: str
    slots: str
    room: str
    used: str
    known: str
    owner: str  #: the parameter that tells which array it is; empty for one that is always the same
    owned: str
    key: str
    at: str
    items: str
    wide: str
    kind: str  #: the type in which keys are compared
    number: str
    counter: str
    array: str
    member: str
    count: str
    given: tuple[str, ...]
    handed: tuple[str, ...]


def declarations(table: Table) -> str:
    """What those places need that tell that the array begins anew."""
    return f"static size_t {table.known}; /* items of {table.shown} that are in the table of their places */\n"


def definitions(table: Table) -> str:
    """Two functions: the slot in which a key is or would be, and the place of the first item with a key, or the number of items.

    An open-addressing table with linear probing, at most half full (D. Knuth, The Art of Computer Programming 3, 6.4); the hash is
    the upper part of a product with the golden ratio's fraction. Up to eight items, and without memory, it is a search as before.
    """
    t = table
    kept = "size_t" if any(each in t.number for each in _LONG) else "unsigned"
    given = "".join(f"{each}, " for each in t.given)
    handed = "".join(f"{each}, " for each in t.handed)
    bits = f"(size_t){t.key}" if "*" in t.kind else t.key

    def item(at: str) -> str:
        return f"({t.kind}){t.array}[{at}]{t.member}"

    owner = f"static const void *{t.owned}; /* whose items they are */\n" if t.owner else ""
    owned = (
        f"  if ({t.owned} != (const void *){t.owner}) {{\n    {t.owned} = {t.owner};\n    {t.known} = 0;\n  }}\n"
        if t.owner
        else ""
    )
    return f"""static {kept} *{t.slots}; /* places of items, from 1 on; 0 is a free slot */
static size_t {t.room}, {t.used};
{owner}
static size_t {t.slot}({given}{t.kind} {t.key})
{{
  size_t {t.at} = (size_t)((unsigned long long){bits} * 11400714819323198485ull >> 24) & ({t.used} - 1);
  while ({t.slots}[{t.at}] != 0 && {item(f"{t.slots}[{t.at}] - 1")} != {t.key}) {t.at} = ({t.at} + 1) & ({t.used} - 1);
  return {t.at};
}}

static {t.counter} {t.place}({given}{t.kind} {t.key})
{{
  const size_t {t.items} = (size_t){t.count};
  size_t {t.at};
{owned}  if ({t.items} > 8 && ({t.known} == 0 || 2 * {t.items} > {t.used})) {{
    size_t {t.wide} = 16;
    while ({t.wide} < 4 * {t.items}) {t.wide} *= 2;
    if ({t.wide} > {t.room}) {{
      free({t.slots});
      {t.slots} = malloc({t.wide} * sizeof *{t.slots});
      {t.room} = {t.slots} != NULL ? {t.wide} : 0;
    }}
    {t.used} = {t.room} != 0 ? {t.wide} : 0;
    {t.known} = 0;
    if ({t.used} != 0) memset({t.slots}, 0, {t.used} * sizeof *{t.slots});
  }}
  if ({t.items} <= 8 || {t.used} == 0) {{
    for ({t.at} = 0; {t.at} < {t.items} && {item(t.at)} != {t.key};) {t.at}++;
    return ({t.counter}){t.at};
  }}
  while ({t.known} < {t.items}) {{
    {t.at} = {t.slot}({handed}{item(t.known)});
    {t.known}++;
    if ({t.slots}[{t.at}] == 0) {t.slots}[{t.at}] = ({kept}){t.known};
  }}
  {t.at} = {t.slot}({handed}{t.key});
  return ({t.counter})({t.slots}[{t.at}] != 0 ? {t.slots}[{t.at}] - 1 : {t.items});
}}

"""


def key_type(item: Node, wanted: Node, procedure: Procedure, program: Program) -> str | None:
    """The type in which both sides of a comparison are equal just where they are equal as they are; None where there is none."""
    one, other = (_resolved(type_of(each, procedure, program), program) for each in (item, wanted))
    if one is None or other is None:
        return None
    if one.depth or other.depth:
        return "const void *" if (one == other and one.name != "void") or one == other == Type("void", 1) else None
    if one == other and _is_enumeration(one.name, program):
        return "long long"
    if not one.is_integer or not other.is_integer:
        return None
    if wanted.type == "number_literal":
        other = one if text_of(wanted).isdigit() else None
    kinds = {_sign(each) for each in (one, other) if each is not None}
    if other is None or kinds >= {"signed", "unsigned"}:
        return None
    if "unsigned" in kinds:
        narrow = {each.name for each in (one, other) if _sign(each) == "narrow"}
        return "unsigned long long" if all(each.startswith("u") for each in narrow) else None
    return "long long"


def _sign(kind: Type) -> str:
    if kind.name in _NARROW:
        return "narrow"
    return "unsigned" if any(each in kind.name and "ssize" not in kind.name for each in _UNSIGNED) else "signed"


def _resolved(kind: Type | None, program: Program) -> Type | None:
    """A type behind its other names."""
    for _ in range(8):
        found = None if kind is None else _definition(kind.name, program)
        if kind is None or found is None:
            return kind
        kind = Type(found, kind.depth)
    return None


def _definition(name: str, program: Program) -> str | None:
    for source in program.sources.values():
        for node in nodes(source.file.tree.root_node, "type_definition"):
            if text_of(field(node, "declarator")) == name:
                of = field(node, "type")
                if of is not None and of.type in ("primitive_type", "sized_type_specifier", "type_identifier"):
                    return " ".join(text_of(of).split())
    return None


def _is_enumeration(name: str, program: Program) -> bool:
    last = name.split()[-1]
    return any(
        (text_of(field(node, "name")) == last and name.startswith("enum "))
        or (
            node.parent is not None
            and node.parent.type == "type_definition"
            and [text_of(each) for each in children(node.parent)[1:]] == [name]
        )
        for source in program.sources.values()
        for node in nodes(source.file.tree.root_node, "enum_specifier")
        if field(node, "body") is not None
    )
