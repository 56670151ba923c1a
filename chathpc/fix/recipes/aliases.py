"""Whether two accesses of C or C++ may be to the same memory: by names, types, members, restrict, and where pointers come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chathpc.fix.recipes.effects import Access, _local_array
from chathpc.fix.recipes.program import Procedure, Program
from chathpc.fix.recipes.syntax import children, field, nodes, text_of
from chathpc.fix.recipes.types import Type, declared, field_of, of_declaration, type_of

if TYPE_CHECKING:
    from tree_sitter import Node

#: Where memory was made: a call of an allocator, or a declared array. None: it may be anywhere.
Origins = frozenset[str] | None
_FRESH = frozenset({"malloc", "calloc", "realloc", "aligned_alloc", "valloc", "memalign"})
_NOTHING: frozenset[str] = frozenset()
_DEEPEST = 8
_BYTES = frozenset({"char", "unsigned char", "signed char", "uint8_t", "int8_t", "void", "std::byte"})


def may_overlap(one: Access, other: Access, program: Program) -> bool:
    """True unless the two are proved to be different variables or different memory. (Strict aliasing: C11 6.5 p7.)"""
    if not one.memory and not other.memory:
        return one.name == other.name
    if not one.memory or not other.memory:
        variable, memory = (one, other) if not one.memory else (other, one)
        return _name_meets_memory(variable, memory, program)
    return _memory_meets(one, other, program)


def _name_meets_memory(variable: Access, memory: Access, program: Program) -> bool:
    root_name = _local_array(memory.node, memory.procedure)
    if root_name is not None:  # memory of a local array or record
        return root_name == variable.name
    one = declared(variable.name, variable.procedure, program)
    if one is None:
        return variable.name not in program.sources and _may_be_pointed_at(variable, memory, program)
    if _root(memory.node) == variable.name and one.pointers == 0:
        return True  # of a global array or record, or a container
    return _may_be_pointed_at(variable, memory, program)


def _may_be_pointed_at(variable: Access, memory: Access, program: Program) -> bool:
    is_local = variable.name in variable.procedure.declarations
    addressed = variable.procedure.addressed if is_local else program.addressed
    one = declared(variable.name, variable.procedure, program)
    if one is None and not is_local:
        return variable.name in program.addressed
    if variable.name not in addressed:
        return False
    kind = type_of(memory.node, memory.procedure, program)
    return kind is None or one is None or _same_type(kind, of_declaration(one))


def _root(node: Node | None) -> str:
    while node is not None and node.type in (
        "subscript_expression",
        "field_expression",
        "parenthesized_expression",
        "pointer_expression",
    ):
        node = field(node, "argument") if node.type != "parenthesized_expression" else next(iter(children(node)), None)
    return "" if node is None else text_of(node)


def _same_type(one: Type, other: Type) -> bool:
    if one.depth != other.depth:
        return (one.depth == 0 and one.name in _BYTES) or (other.depth == 0 and other.name in _BYTES)
    if (one.name in _BYTES and one.depth == 0) or (other.name in _BYTES and other.depth == 0):
        return True
    return _family(one.name) == _family(other.name)


#: Signed and unsigned are one type here, and names of the same width on 64-bit Linux.
_FAMILIES = {
    "int": "i4", "unsigned": "i4", "unsigned int": "i4", "int32_t": "i4", "uint32_t": "i4", "signed": "i4",
    "long": "i8", "unsigned long": "i8", "size_t": "i8", "std::size_t": "i8", "int64_t": "i8", "uint64_t": "i8", "long long": "i8", "unsigned long long": "i8",
    "ssize_t": "i8", "ptrdiff_t": "i8", "long int": "i8", "short": "i2", "unsigned short": "i2", "int16_t": "i2", "uint16_t": "i2",
    "float": "float", "double": "double", "long double": "long double",
}  # fmt: skip


def _family(name: str) -> str:
    """A name that two types share if an access by one may be to an object of the other; unknown names (typedefs) share one."""
    return _FAMILIES.get(name, name if name in _BYTES else "?" + name)


def _memory_meets(one: Access, other: Access, program: Program) -> bool:
    first, second = type_of(one.node, one.procedure, program), type_of(other.node, other.procedure, program)
    if first is not None and second is not None and not _same_type(first, second):
        known = all(
            _family(each.name)[0] != "?" or each.depth or each.name in program.records for each in (first, second)
        )
        if known:
            return False
    members = [_member(each, program) for each in (one, other)]
    if not program.has_unions and not _has_record_casts(program):
        if members[0] and members[1] and members[0] != members[1]:
            return False
        for mine, its in (members, members[::-1]):
            if mine and not its and mine not in program.addressed:
                # A member is reached by its record, or by its address if somebody took it, or as a part of a whole record.
                whole = second if mine == members[0] else first
                if whole is not None and whole.name not in program.records and whole.name not in _BYTES:
                    return False
    left, right = (_base(each) for each in (one, other))
    for own, foreign in ((left, right), (right, left)):
        if (
            own is not None
            and foreign is not None
            and own.type == "identifier"
            and text_of(own) in one.procedure.restricted
            and one.procedure is other.procedure
            and not _leads_from(own, foreign, one.procedure)
        ):
            return False
    if left is None or right is None:
        return True
    if one.procedure is other.procedure and _are_exchanged(left, right, one.procedure, program):
        return False
    ours, theirs = origins(left, one.procedure, program), origins(right, other.procedure, program)
    return ours is None or theirs is None or bool(ours & theirs)


def _has_record_casts(program: Program) -> bool:
    """True where the address of a record may become that of its first member by a cast."""
    if "record casts" not in program.known_facts:
        program.known_facts["record casts"] = any(
            _is_record_cast(node, one, program)
            for one in program.procedures
            if not one.source.is_fortran
            for node in one.all("cast_expression", "call_expression")
        )
    return program.known_facts["record casts"]


def _is_record_cast(node: Node, procedure: Procedure, program: Program) -> bool:
    called = text_of(field(node, "function"))
    value = field(node, "value") or next(iter(children(field(node, "arguments"))), None)
    target = called if node.type == "call_expression" else text_of(field(node, "type"))
    if value is None or "*" not in target or (called and not called.startswith("reinterpret_cast")):
        return False
    if text_of(field(value, "function")).rsplit("::", 1)[-1] in _FRESH:
        return False
    of = type_of(value, procedure, program)
    return of is None or of.name in program.records


def _leads_from(own: Node, foreign: Node, procedure: Procedure) -> bool:
    """True if a pointer may have been made from a restricted one, whose memory it may then reach (C11 6.7.3.1 p3)."""
    name, todo, seen = text_of(own), [_root(foreign)], set[str]()
    if name in procedure.stored:
        return True
    while todo:
        each = todo.pop()
        if each == name or not each:
            return True
        if each not in seen:
            seen.add(each)
            todo += [
                text_of(one)
                for value in procedure.assigned.get(each, ())
                if value
                for one in nodes(value, "identifier")
            ]
    return False


def _member(one: Access, program: Program) -> str:
    """Name of the scalar member that is accessed; empty for anything else."""
    if one.node.type != "field_expression":
        return ""
    declared_as = field_of(one.node, one.procedure, program)
    return "" if declared_as is None or declared_as.dims else text_of(field(one.node, "field"))


def _base(one: Access) -> Node | None:
    """The pointer or array through which memory is accessed."""
    node: Node | None = one.node
    if node is None or node.type == "identifier":
        return node
    if node.type == "field_expression":
        while node is not None and node.type == "field_expression" and text_of(field(node, "operator")) == ".":
            node = field(node, "argument")
        if node is not None and node.type == "field_expression":
            return field(node, "argument")
        if node is not None and node.type == "identifier":
            return node
        return None if node is None else field(node, "argument")
    return field(node, "argument")


def origins(
    node: Node | None, procedure: Procedure, program: Program, depth: int = 0, seen: frozenset[str] = frozenset()
) -> Origins:
    """Where the memory was made that a pointer or array leads to, over all of the program; None where that is not known."""
    if node is None or depth > _DEEPEST:
        return None
    if depth == 0:
        key = procedure.node.start_byte, procedure.source.path, node.start_byte, node.end_byte
        if key not in program.known_origins:
            program.known_origins[key] = origins(node, procedure, program, 1, seen)
        return program.known_origins[key]

    def of(child: Node | None) -> Origins:
        return origins(child, procedure, program, depth + 1, seen)

    match node.type:
        case "number_literal" | "null" | "nullptr":
            return _NOTHING
        case "parenthesized_expression" | "cast_expression":
            return of(field(node, "value") or next(iter(children(node)), None))
        case "conditional_expression":
            return _union([of(field(node, "consequence")), of(field(node, "alternative"))])
        case "assignment_expression":
            return of(field(node, "right"))
        case "binary_expression":
            if text_of(field(node, "operator")) not in ("+", "-"):
                return None
            sides = [field(node, "left"), field(node, "right")]
            kinds = [type_of(side, procedure, program) for side in sides]
            pointing = [side for side, kind in zip(sides, kinds, strict=True) if kind is not None and kind.depth > 0]
            return of(pointing[0]) if len(pointing) == 1 and None not in kinds else None
        case "pointer_expression":
            if text_of(field(node, "operator")) != "&":
                return None
            inner = field(node, "argument")
            if inner is not None and inner.type == "subscript_expression":
                return of(field(inner, "argument"))
            if inner is not None and inner.type == "identifier":
                return frozenset({_object(text_of(inner), procedure)})
            return None
        case "subscript_expression":
            kind = type_of(field(node, "argument"), procedure, program)
            base = field(node, "argument")
            one = (
                declared(text_of(base), procedure, program) if base is not None and base.type == "identifier" else None
            )
            nested = one is not None and ((len(one.dims) > 1 and not one.pointers) or "vector" in one.type)
            return of(base) if nested and kind is not None else None
        case "call_expression":
            return _made(node, procedure, program, depth, seen)
        case "new_expression":
            return frozenset({_site(node, procedure)})
        case "identifier":
            return _of_name(text_of(node), procedure, program, depth, seen)
        case "field_expression":
            return _of_member(node, procedure, program, depth, seen)
        case _:
            return None


def _site(node: Node, procedure: Procedure) -> str:
    return f"{procedure.source.path}:{node.start_byte}"


def _object(name: str, procedure: Procedure) -> str:
    return (
        f"{procedure.source.path}:{procedure.node.start_byte}:{name}"
        if name in procedure.declarations
        else f"global:{name}"
    )


def _union(parts: list[Origins]) -> Origins:
    if not parts or any(part is None for part in parts):
        return None
    return frozenset().union(*(part for part in parts if part is not None))


def _made(node: Node, procedure: Procedure, program: Program, depth: int, seen: frozenset[str]) -> Origins:
    name = text_of(field(node, "function")).rsplit("::", 1)[-1]
    own = program.named(name)
    if name in _FRESH and not own:
        return frozenset({_site(node, procedure)})
    if len(own) != 1 or f"call {name}" in seen:
        return None
    seen = seen | {f"call {name}"}
    callee = own[0]
    returned = [next(iter(children(each)), None) for each in callee.all("return_statement")]
    parts = [origins(each, callee, program, depth + 1, seen) for each in returned]
    merged = _union(parts)
    if merged is not None and merged and all(_is_inner_allocation(each, callee, program) for each in merged):
        return frozenset({_site(node, procedure)})  # each call makes its own
    return merged


def _is_inner_allocation(origin: str, callee: Procedure, program: Program) -> bool:
    """True for memory that the function itself allocates and keeps nowhere else."""
    path, _, at = origin.rpartition(":")
    if path != callee.source.path or not at.isdigit() or not callee.node.start_byte <= int(at) < callee.node.end_byte:
        return False
    for each in callee.all("assignment_expression"):
        left, right = field(each, "left"), field(each, "right")
        if left is None or right is None or (left.type == "identifier" and text_of(left) in callee.declarations):
            continue
        kind = type_of(right, callee, program)
        if kind is None or kind.depth:
            return False  # a pointer is kept somewhere
    return not any(one.static for one in callee.model.declarations)


def _of_name(name: str, procedure: Procedure, program: Program, depth: int, seen: frozenset[str]) -> Origins:
    one = declared(name, procedure, program)
    if one is None:
        return None
    is_local = name in procedure.declarations
    key = _object(name, procedure)
    if key in seen:
        return _NOTHING
    seen = seen | {key}
    is_parameter = name in procedure.parameters
    if (
        not is_parameter
        and not one.reference
        and not one.pointers
        and (one.dims or of_declaration(one).depth or not is_local)
    ):
        return frozenset({key})
    if is_parameter and not one.reference and not one.pointers and not one.dims and of_declaration(one).depth:
        return frozenset({key})  # a container handed over by value
    if not is_parameter and not one.reference and not one.pointers and is_local:
        return frozenset({key})
    if one.reference and not is_parameter:
        return None
    if name in (procedure.addressed if is_local else program.addressed) and one.pointers:
        return None
    parts: list[Origins] = []
    if is_parameter:
        parts.append(_handed_in(name, procedure, program, depth, seen))
    given = [(procedure, each) for each in _assigned(name, procedure)] if is_local else program.assigned.get(name, ())
    parts += [origins(value, home, program, depth + 1, seen) for home, value in given]
    if not is_local and one.value is not None and one.value.text not in ("0", "NULL", "nullptr"):
        return None
    return _union(parts)


def _assigned(name: str, procedure: Procedure) -> list[Node | None]:
    """All values that a variable is given in a function; one None for a change that is not understood."""
    return procedure.assigned.get(name, [])


def _handed_in(name: str, procedure: Procedure, program: Program, depth: int, seen: frozenset[str]) -> Origins:
    """What all calls in the program hand over for a parameter."""
    if (
        procedure.model.name in program.handed_on
        or procedure.model.marks & {"virtual", "global"}
        or len(program.named(procedure.model.name)) != 1
    ):
        return None
    if not (program.named("main") or "static" in procedure.model.marks):
        return None  # there are callers that nobody has shown
    at = [one.name for one in procedure.model.parameters].index(name)
    parts: list[Origins] = []
    one = procedure.declarations.get(name)
    for caller, call in program.calls.get(procedure.model.name, []):
        arguments = children(field(call, "arguments"))
        if at >= len(arguments):
            return None
        argument: Node | None = arguments[at]
        if one is not None and one.reference and argument is not None and argument.type == "identifier":
            parts.append(_of_name(text_of(argument), caller, program, depth + 1, seen))
        else:
            parts.append(origins(argument, caller, program, depth + 1, seen))
    return _union(parts)


def _of_member(node: Node, procedure: Procedure, program: Program, depth: int, seen: frozenset[str]) -> Origins:
    one = field_of(node, procedure, program)
    if one is None:
        return None
    name = one.name
    key = f"member:{name}"
    if key in seen:
        return _NOTHING
    seen = seen | {key}
    of = of_declaration(one)
    if not one.pointers and not one.reference and of.depth:
        base = field(node, "argument")
        if one.dims:  # an array inside a record: as far away from others as the record's members are
            return frozenset({key}) if name not in program.addressed and base is not None else None
        return frozenset({key})
    if one.reference or name in program.addressed or _is_listed(name, program):
        return None
    given = [*_first_values(name, program), *program.assigned_members.get(name, ())]
    return _union([origins(value, home, program, depth + 1, seen) for home, value in given])


def _is_listed(name: str, program: Program) -> bool:
    """True where the member may get its value by a constructor, or by a list outside functions or without an order."""
    question = f"listed {name}"
    if question not in program.known_facts:
        program.known_facts[question] = any(_may_list(node, name, program) for node in program.lists)
    return program.known_facts[question]


def _may_list(node: Node, name: str, program: Program) -> bool:
    holders = program.holders.get(name, {})
    if node.type == "field_initializer":
        return text_of(next(iter(children(node)), None)) == name
    if node.type == "compound_literal_expression":
        return any(word in holders for word in text_of(field(node, "type")).split())
    return bool(
        _listed_type(node) & set(holders)
        and not _is_local_list(node)
        and any(text_of(each) not in ("0", "NULL", "{0}") for each in children(node))
    )


def _listed_type(node: Node) -> set[str]:
    """Words of the type that a list initialises."""
    one: Node | None = node
    while one is not None and one.type in (
        "initializer_list",
        "init_declarator",
        "initializer_pair",
        "array_declarator",
    ):
        one = one.parent
    return set(text_of(field(one, "type")).split()) if one is not None and one.type == "declaration" else set()


def _is_local_list(node: Node) -> bool:
    """True for `Record name = {…}` in a function, with values in the order of the members."""
    one = node.parent
    if one is None or one.type != "init_declarator" or any(each.type == "initializer_pair" for each in children(node)):
        return False
    name = field(one, "declarator")
    while one is not None and one.type != "function_definition":
        one = one.parent
    return one is not None and name is not None and name.type == "identifier"


def _first_values(name: str, program: Program) -> list[tuple[Procedure, Node | None]]:
    """What a member gets from lists in functions."""
    holders = program.holders.get(name, {})
    found: list[tuple[Procedure, Node | None]] = []
    for home in program.procedures:
        for node in home.all("initializer_list"):
            listed = children(node)
            for each in _listed_type(node) & set(holders):
                if len(listed) > holders[each]:
                    found.append((home, listed[holders[each]]))
    return found


def is_fresh(node: Node, procedure: Procedure, program: Program) -> bool:
    """True for a pointer that is always the beginning of memory of its own, and so the same as another such one or apart from it."""
    found = origins(node, procedure, program)
    return found is not None and bool(found)


def _are_exchanged(one: Node, other: Node, procedure: Procedure, program: Program) -> bool:
    """True for two pointers that lead to memory of their own and are only ever exchanged (`w = a; a = b; b = w;`): never the same."""
    if one.type != "identifier" or other.type != "identifier" or text_of(one) == text_of(other):
        return False
    names = [text_of(one), text_of(other)]
    if not all(name in procedure.parameters for name in names):
        return not any(name in procedure.parameters for name in names) and _is_permutation(names, procedure, program)
    if procedure.model.name in program.handed_on or len(program.named(procedure.model.name)) != 1:
        return False
    if not program.named("main") or any(_assigned(name, procedure) for name in names):
        return False
    listed = [each.name for each in procedure.model.parameters]
    places = [listed.index(name) for name in names]
    calls = program.calls.get(procedure.model.name, [])
    for caller, call in calls:
        arguments = children(field(call, "arguments"))
        if max(places) >= len(arguments) or any(arguments[at].type != "identifier" for at in places):
            return False
        handed = [text_of(arguments[at]) for at in places]
        if len(set(handed)) != len(handed) or any(name in caller.parameters for name in handed):
            return False
        if not _is_permutation(handed, caller, program):
            return False
    return bool(calls)


def _is_permutation(names: list[str], procedure: Procedure, program: Program) -> bool:
    """True if local pointers, and those that they are exchanged with, begin with memory of their own and only change places."""
    own = set(names)
    key = procedure.source.path, procedure.node.start_byte
    if key not in program.known_runs:
        program.known_runs[key] = _runs(procedure)
    runs = program.known_runs[key]
    for _ in range(4):
        for run in runs:
            touched = {target for target, _ in run}
            if touched & own:
                own |= {target for target, _ in run} - _temporary(run)
    if any(
        name not in procedure.declarations or name in procedure.addressed or name in procedure.parameters
        for name in own
    ):
        return False
    for run in runs:
        values = {name: name for name in own}
        for target, value in run:
            values[target] = values.get(value, value)
        if sorted(values[name] for name in own) != sorted(own):
            return False
    begun: list[frozenset[str]] = []
    for name in sorted(own):
        made = [each for each in _assigned(name, procedure) if each is None or each.type != "identifier"]
        found = [origins(each, procedure, program) for each in made]
        merged = _union(found)
        if not merged or any(merged & each for each in begun):
            return False
        begun.append(merged)
    moved = sum(sum(target in own for target, _ in run) for run in runs)
    named = sum(each is not None and each.type == "identifier" for name in own for each in _assigned(name, procedure))
    return moved == named


def _temporary(run: list[tuple[str, str]]) -> set[str]:
    """What holds a pointer only while others are exchanged: it gets its value first and is the last to be read."""
    return {target for target, _ in run[:1]} if len(run) > 1 and run[-1][1] == run[0][0] else set()


def _runs(procedure: Procedure) -> list[list[tuple[str, str]]]:
    """Statements `x = y;` of pointers that stand directly behind each other."""
    found: list[list[tuple[str, str]]] = []
    for block in procedure.all("compound_statement"):
        run: list[tuple[str, str]] = []
        for statement in [*children(block), None]:
            pair = _moved_name(statement, procedure)
            if pair is not None:
                run.append(pair)
            elif run:
                found.append(run)
                run = []
    return found


def _moved_name(statement: Node | None, procedure: Procedure) -> tuple[str, str] | None:
    if statement is None:
        return None
    target: Node | None = None
    value: Node | None = None
    if statement.type == "expression_statement":
        inner = next(iter(children(statement)), None)
        if inner is not None and inner.type == "assignment_expression" and text_of(field(inner, "operator")) == "=":
            target, value = field(inner, "left"), field(inner, "right")
    elif statement.type == "declaration" and len(statement.children_by_field_name("declarator")) == 1:
        declarator = field(statement, "declarator")
        if declarator is not None and declarator.type == "init_declarator":
            target, value = field(declarator, "declarator"), field(declarator, "value")
            while target is not None and target.type == "pointer_declarator":
                target = field(target, "declarator")
    if target is None or value is None or target.type != "identifier" or value.type != "identifier":
        return None
    own = procedure.declarations.get(text_of(target))
    return (text_of(target), text_of(value)) if own is not None and own.pointers else None
