"""Records of which the hot loops use little: the other members go to records of their own (hot/cold splitting, C and C++)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.layout import elements, type_size
from chathpc.diagnosis.source.model import Declaration, Unit
from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent, indent_step, line_end, line_start
from chathpc.fix.recipes.analysis.loops import around
from chathpc.fix.recipes.analysis.program import Procedure, Program, Source, Spot
from chathpc.fix.recipes.analysis.syntax import (
    enclosing,
    field,
    line_of,
    nodes,
    record_definition,
    record_name,
    record_nodes,
    text_of,
)
from chathpc.fix.recipes.analysis.types import is_arithmetic, type_of
from chathpc.fix.recipes.recipe import Change, Context
from chathpc.fix.recipes.serial.record_storage import Storage
from chathpc.fix.recipes.serial.record_uses import is_only_a_value, storage_of

if TYPE_CHECKING:
    from tree_sitter import Node

#: A record is worth splitting if what the loops use of it, with the pointer to the rest, is at most half of it, and it is at
#: least half a cache line: below that, neighbours in memory come with it anyway.
_LEAST = 32
_POINTER = 8
_DEEPEST = 3
_FUNCTIONS = frozenset({"function_definition"})


@dataclass(frozen=True, slots=True)
class _Parts:
    """The names of a record's members that go, and the texts of the declarations that stay and that go."""

    cold: frozenset[str]
    stays: tuple[str, ...]
    goes: tuple[str, ...]


def split(context: Context, spot: Spot) -> Iterator[Change]:
    """The members that the function's loops do not use move to a second record, to which the first one points."""
    procedure, program = spot.procedure, context.program
    sources = [one for one in program.sources.values() if not one.is_fortran]
    if program.unread or program.has_unions or any(one.file.tree.root_node.has_error for one in sources):
        return
    if any(re.search(rb"\b(?:template|offsetof|MPI_Type_\w+|__attribute__|alignas)\b", one.text) for one in sources):
        return
    is_cpp = any(one.is_cpp and not one.path.endswith((".h", ".hh", ".hpp")) for one in sources)
    for source in sources:
        for node in record_nodes(source.file.tree.root_node):
            name = record_name(node)
            used = _used_in_loops(name, procedure, program)
            parts = _parts(node, name, used, source) if used else None
            if parts is None or _in_macros(name, parts.cold, sources):
                continue
            apart = is_cpp and _are_numbers(name, parts.cold, source) and is_only_a_value(name, node, program)
            storage = [] if apart else storage_of(name, node, program)
            edits = _edits(name, node, source, parts, storage, program) if storage is not None else None
            if edits:
                yield Change(
                    edits,
                    line_of(node),
                    f"keeps {_listed(used)} of {name} together and puts what the loops do not use into a record of its own",
                )


def _listed(names: frozenset[str]) -> str:
    first, *rest = sorted(names)
    return first if not rest else f"{', '.join([first, *rest[:-1]])} and {rest[-1]}"


def _used_in_loops(name: str, procedure: Procedure, program: Program) -> frozenset[str]:
    """Members of the record that loops of the function use, also in functions that they call."""
    found: set[str] = set()
    seen: set[int] = set()

    def look(home: Procedure, depth: int) -> None:
        for node in home.all("field_expression", "call_expression"):
            if depth == 0 and not any(True for _ in around(node, home)):
                continue
            if node.type == "field_expression":
                if _is_member(node, name, home, program):
                    found.add(text_of(field(node, "field")))
                continue
            for one in program.named(text_of(field(node, "function"))):
                if depth < _DEEPEST and id(one) not in seen:
                    seen.add(id(one))
                    look(one, depth + 1)

    look(procedure, 0)
    return frozenset(found)


def _is_member(node: Node, record: str, procedure: Procedure, program: Program) -> bool:
    """True for `one.member` of a record; where the type of `one` is not known, if no other record has such a member."""
    of = type_of(field(node, "argument"), procedure, program)
    if of is not None and of.name in program.records:
        return of.name == record
    return set(program.holders.get(text_of(field(node, "field")), ())) == {record}


def _bytes_of(one: Declaration, unit: Unit) -> int | None:
    own, count = _POINTER if one.pointers else type_size(one.type, unit), elements(one, unit)
    return None if own is None or count is None else own * count


def _parts(node: Node, name: str, used: frozenset[str], source: Source) -> _Parts | None:
    """How the record is split; None where it holds more than plain members, or where that would not make it half as large."""
    unit, body = source.file.unit, field(node, "body")
    record = unit.records.get(name)
    if record is None or body is None or record.aligned or enclosing(node, _FUNCTIONS) is not None:
        return None
    if any(each.type == "base_class_clause" for each in node.children):
        return None
    sizes = {one.name: _bytes_of(one, unit) for one in record.fields}
    known = {each: size for each, size in sizes.items() if size is not None}
    if len(known) < len(sizes) or not used <= set(known):
        return None
    whole, kept = sum(known.values()), sum(known[each] for each in used) + _POINTER
    if whole < _LEAST or 2 * kept > whole:
        return None
    cold = frozenset(known) - used
    stays: list[str] = []
    goes: list[str] = []
    last, row = stays, -1
    for child in body.named_children:
        if child.type == "comment":
            if child.start_point[0] == row and last:
                last[-1] += f"  {text_of(child)}"
            else:
                stays.append(text_of(child))
            continue
        listed = child.children_by_field_name("declarator")
        if child.type != "field_declaration" or not listed or field(child, "default_value") is not None:
            return None
        if any(
            each.type in ("bitfield_clause", "function_declarator", "storage_class_specifier")
            for each in child.children
        ):
            return None
        kind = source.text[child.start_byte : listed[0].start_byte].decode()
        for part, belongs in ((stays, False), (goes, True)):
            mine = [each for each in listed if (_declared(each) in cold) == belongs]
            if mine:
                last, row = part, child.end_point[0]
                part.append(kind + ", ".join(text_of(each) for each in mine) + ";")
        if any(_declared(each) not in known for each in listed):
            return None
    if re.search(rf"\b{re.escape(name)}\b", " ".join(goes)):
        return None  # it is not known yet where they would stand
    return _Parts(cold, tuple(stays), tuple(goes))


def _are_numbers(name: str, members: frozenset[str], source: Source) -> bool:
    """True for members that are copied whichever way the record goes: what is moved from elsewhere may be empty afterwards."""
    listed = source.file.unit.records[name].fields
    return all(one.pointers or is_arithmetic(one.type) for one in listed if one.name in members)


def _declared(declarator: Node) -> str:
    return text_of(next(nodes(declarator, "field_identifier"), None))


def _in_macros(name: str, members: frozenset[str], sources: Sequence[Source]) -> bool:
    """True if a macro may name the record or one of the members."""
    pattern = re.compile(rf"(?:\.|->)\s*(?:{'|'.join(sorted(members))})\b|\b{re.escape(name)}\b")
    return any(
        pattern.search(text_of(field(node, "value")))
        for source in sources
        for node in nodes(source.file.tree.root_node, "preproc_def", "preproc_function_def")
    )


def _edits(
    name: str, node: Node, source: Source, parts: _Parts, storage: Sequence[Storage], program: Program
) -> dict[str, tuple[Edit, ...]] | None:
    """All edits: the record, the second one, what gives each its other half, and every use of a member that went."""
    if _outside_functions(parts.cold, node, program):
        return None
    everything = b"\n".join(one.text for one in program.sources.values())
    rest = fresh_name(f"{name}Rest" if name[:1].isupper() else f"{name.removesuffix('_t')}_rest", everything)
    member, attach = fresh_name("rest", everything), fresh_name("with_rest" if storage else "Apart", everything)
    edits: dict[str, list[Edit]] = {}
    for home in program.procedures:
        if home.source.is_fortran:
            continue
        for each in home.all("field_expression"):
            named = field(each, "field")
            if named is not None and text_of(named) in parts.cold and _is_member(each, name, home, program):
                edits.setdefault(home.source.path, []).append(
                    Edit(named.start_byte, named.start_byte, f"{member}->".encode())
                )
    for one in storage:
        edits.setdefault(one.path, []).append(one.edit(attach, member))
    edits.setdefault(source.path, []).extend(_record(name, rest, member, attach, node, source, parts, storage))
    return {path: tuple(dict.fromkeys(each)) for path, each in edits.items()}


def _outside_functions(names: frozenset[str], record: Node, program: Program) -> bool:
    """True if a member is named where no function is, or with a dot in a list in braces."""
    inside = {each.id for home in program.procedures for each in home.all("field_identifier")}
    within = {each.id for each in nodes(record, "field_identifier")}
    for source in program.sources.values():
        if source.is_fortran:
            continue
        for each in nodes(source.file.tree.root_node, "field_identifier"):
            if text_of(each) not in names or each.id in within or _is_of_another_record(each):
                continue
            if each.id not in inside or each.parent is None or each.parent.type != "field_expression":
                return True
    return False


def _is_of_another_record(node: Node) -> bool:
    one = node.parent
    while one is not None and one.type.endswith("declarator"):
        one = one.parent
    return one is not None and one.type == "field_declaration"


def _record(
    name: str,
    rest: str,
    member: str,
    attach: str,
    node: Node,
    source: Source,
    parts: _Parts,
    storage: Sequence[Storage],
) -> list[Edit]:
    """The two records in the place of the one, with a function that gives each of the first its own of the second."""
    text, body = source.text, field(node, "body")
    whole = record_definition(node)
    if body is None:
        return []
    blank, step = indent(text, whole.start_byte).decode(), indent_step(text).decode()

    def block(lines: Sequence[str]) -> str:
        return "{\n" + "".join(f"{blank}{step}{each}\n" for each in lines) + f"{blank}}}"

    above = whole.prev_named_sibling
    is_told = above is not None and above.type == "comment" and above.end_point[0] + 1 == whole.start_point[0]
    first = line_start(text, above.start_byte if above is not None and is_told else whole.start_byte)
    behind = line_end(text, text.index(b";", node.end_byte))
    second = f"{blank}struct {rest} {block(parts.goes)};\n\n"
    if not storage:
        return [
            Edit(first, first, (_APART.format(name=attach) + second).encode()),
            Edit(body.start_byte, body.end_byte, block([*parts.stays, f"{attach}<{rest}> {member};"]).encode()),
        ]
    told = name if whole is not node else f"struct {text_of(field(node, 'name'))}"
    include = "" if b"stdlib" in text else "#include <stdlib.h>\n\n"
    helper = f"""
{blank}static inline void {attach}({told} *all, size_t count) {{
{blank}{step}struct {rest} *{member} = (struct {rest} *)calloc(count, sizeof(struct {rest}));
{blank}{step}for (size_t i = 0; all && {member} && i < count; i++) all[i].{member} = &{member}[i];
{blank}}}
"""
    helper += "" if text[behind : behind + 1] in (b"\n", b"") else "\n"
    return [
        Edit(first, first, (include + second).encode()),
        Edit(body.start_byte, body.end_byte, block([*parts.stays, f"struct {rest} *{member};"]).encode()),
        Edit(behind, behind, helper.encode()),
    ]


#: What holds the other half of a record in C++: it is made, copied and destroyed with it.
_APART = """template <class T> class {name} {{
  T *one = new T();

public:
  {name}() = default;
  {name}(const {name} &other) : one(new T(*other.one)) {{}}
  {name} &operator=(const {name} &other) {{
    *one = *other.one;
    return *this;
  }}
  ~{name}() {{ delete one; }}
  T *operator->() const {{ return one; }}
}};

"""
