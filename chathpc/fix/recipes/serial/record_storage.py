"""Where functions of C and C++ make records of one type, and give them back: allocations, arrays, vectors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.model import Declaration
from chathpc.fix.recipes.analysis.edits import Edit, indent
from chathpc.fix.recipes.analysis.loops import around
from chathpc.fix.recipes.analysis.program import Procedure, Program, Source
from chathpc.fix.recipes.analysis.syntax import block_of, children, field, inside, nodes, text_of
from chathpc.fix.recipes.analysis.types import Type, of_declaration, plain, type_of

if TYPE_CHECKING:
    from tree_sitter import Node

ALLOCATING = frozenset({"malloc", "calloc", "std::malloc", "std::calloc"})
FREEING = frozenset({"free", "std::free"})
_OTHERS = frozenset({"realloc", "aligned_alloc", "posix_memalign", "mmap", "memalign", "_mm_malloc", "alloca"})
_SIMPLE = re.compile(r"\w+(?:(?:\.|->)\w+)*\Z")
_VECTOR = re.compile(r"(?:std::)?vector<\s*(?:struct )?([\w:]+)\s*>\Z")
_OF_VECTORS = frozenset({"size", "begin", "end", "cbegin", "cend", "data", "empty", "front", "back"})
_MADE_UP = frozenset({"call_expression", "update_expression", "assignment_expression"})


@dataclass(frozen=True, slots=True)
class Storage:
    """A place where `count` records begin to exist at `first`, behind the byte `at`; or, without a count, cease to, in front of it."""

    path: str
    at: int
    first: str
    count: str
    blank: bytes
    freed: str = ""  #: what gives the memory back

    def edits(self, attach: str, member: str) -> tuple[Edit, ...]:
        """What is said there: each record gets its other half, or the halves are given back."""
        if self.count:
            new = b"\n" + self.blank + f"{attach}({self.first}, {self.count});".encode()
        else:
            new = (
                f"if ({self.first}) {self.freed}{self.first}->{member}{')' if '(' in self.freed else ''};\n".encode()
                + self.blank
            )
        return (Edit(self.at, self.at, new),)


def array(node: Node, source: Source, program: Program) -> Storage | None:
    """`S all[N];` outside functions or in `main`: it begins to exist when `main` does."""
    declarator = field(node, "declarator")
    if node.type == "parameter_declaration":
        return None
    if declarator is None or declarator.type != "array_declarator" or node.type != "declaration":
        return None
    if field(declarator, "declarator") is None or field(declarator, "declarator", "declarator") is not None:
        return None
    name = text_of(field(declarator, "declarator"))
    if field(declarator, "size") is None or "extern" in text_of(node).split():
        return None
    mains = [one for one in program.named("main") if one.source is source]
    main, body = (mains[0], mains[0].body) if len(mains) == 1 else (None, None)
    if main is None or body is None:
        return None
    count = f"sizeof {name} / sizeof *{name}"
    if inside(node, body):
        if any(True for _ in around(node, main)) or text_of(node).startswith("static"):
            return None
        return Storage(source.path, node.end_byte, name, count, indent(source.text, node.start_byte))
    if any(inside(node, one.node) for one in source.procedures) or name in main.declarations:
        return None
    first = children(body)
    if not first:
        return None
    return Storage(source.path, body.start_byte + 1, name, count, indent(source.text, first[0].start_byte))


def made(name: str, home: Procedure, program: Program) -> list[Storage] | None:
    """What the function allocates and frees of them; None where it is not understood."""
    found: list[Storage] = []
    sizes = [node for node in home.all("sizeof_expression") if _is_size(node, name, home, program)]
    for node in home.all("call_expression", "new_expression", "delete_expression"):
        called = text_of(field(node, "function"))
        if node.type == "delete_expression" or called in FREEING:
            freed = _freed(node, name, home, program)
            if freed is None:
                return None
            found += freed
            continue
        is_new = node.type == "new_expression"
        if is_new and plain(text_of(field(node, "type"))) != name:
            continue
        mine = [each for each in sizes if inside(each, node)]
        target = _target(node, home, program)
        if not is_new and called not in ALLOCATING | _OTHERS:
            continue
        if not is_new and not mine and (target is None or target[1] != Type(name, 1)):
            continue
        if target is None or (target[1] != Type(name, 1)) or called in _OTHERS:
            return None
        count = _count_of_new(node) if is_new else _count(node, mine)
        if count is None:
            return None
        sizes = [each for each in sizes if each not in mine]
        first, _, statement = target
        found.append(
            Storage(home.source.path, statement.end_byte, first, count, indent(home.source.text, statement.start_byte))
        )
    vectors = _vectors(name, home, program)
    return None if sizes or vectors is None else found + vectors


def _is_size(node: Node, name: str, home: Procedure, program: Program) -> bool:
    # `sizeof(S)` may be a type or a variable for the parser, which knows no names.
    if plain(text_of(node).removeprefix("sizeof").strip(" ()")) == name:
        return True
    return type_of(field(node, "value"), home, program) == Type(name)


def _target(node: Node, home: Procedure, program: Program) -> tuple[str, Type | None, Node] | None:
    """The variable or member that gets what is allocated, its type, and the statement; None for anything more entangled."""
    one = node
    while one.parent is not None and one.parent.type in ("cast_expression", "parenthesized_expression"):
        one = one.parent
    parent = one.parent
    if parent is None:
        return None
    if parent.type == "init_declarator":
        label = text_of(next(nodes(field(parent, "declarator") or parent, "identifier"), None))
        known = home.declarations.get(label)
        statement = parent.parent
        kind = of_declaration(known) if isinstance(known, Declaration) else None
    elif parent.type == "assignment_expression" and field(parent, "right") == one:
        left = field(parent, "left")
        label, kind, statement = text_of(left), type_of(left, home, program), parent.parent
        if not _SIMPLE.match(label) or text_of(field(parent, "operator")) != "=":
            return None
    else:
        return None
    if (
        statement is None
        or statement.type not in ("declaration", "expression_statement")
        or block_of(statement) != statement
    ):
        return None
    return label, kind, statement


def _count(call: Node, sizes: list[Node]) -> str | None:
    """How many records an allocation asks for: its factors without the size of one."""
    if len(sizes) != 1:
        return None
    factors = [each for argument in children(field(call, "arguments")) for each in _factors(argument)]
    rest = [each for each in factors if each != sizes[0]]
    if len(rest) != len(factors) - 1 or any(any(True for _ in nodes(each, *_MADE_UP)) for each in rest):
        return None
    if any(each.type == "binary_expression" for each in rest):
        return None
    if not rest:
        return "1"
    wide = "" if len(rest) == 1 or rest[0].type == "cast_expression" else "(size_t)"
    return wide + " * ".join(text_of(each) for each in rest)


def _factors(node: Node) -> Iterator[Node]:
    if node.type == "binary_expression" and text_of(field(node, "operator")) == "*":
        for side in ("left", "right"):
            inner = field(node, side)
            if inner is not None:
                yield from _factors(inner)
        return
    while (
        node.type == "parenthesized_expression"
        and len(children(node)) == 1
        and children(node)[0].type == "sizeof_expression"
    ):
        node = children(node)[0]
    yield node


def _count_of_new(node: Node) -> str | None:
    """The length of `new S[n]`, 1 for `new S`; None with values for its members."""
    given = field(node, "arguments")
    if given is not None and (given.type != "argument_list" or children(given)):
        return None
    length = field(node, "declarator", "length")
    if field(node, "declarator") is None:
        return "1"
    return None if length is None or any(True for _ in nodes(length, *_MADE_UP)) else text_of(length)


def _freed(node: Node, name: str, home: Procedure, program: Program) -> list[Storage] | None:
    """What is given back, if it is of the type; None where it is not plain which."""
    listed = children(field(node, "arguments")) if node.type == "call_expression" else children(node)
    if len(listed) != 1:
        return None
    kind = type_of(listed[0], home, program)
    if kind is None and node.type == "call_expression" and listed[0].type == "cast_expression":
        return None
    if kind is None or kind.name != name:
        return []
    statement = node.parent
    if (
        kind.depth != 1
        or not _SIMPLE.match(text_of(listed[0]))
        or statement is None
        or statement.type != "expression_statement"
        or block_of(statement) != statement
    ):
        return [] if kind.depth > 1 else None
    freed = "delete[] " if home.source.is_cpp else "free("
    blank = indent(home.source.text, statement.start_byte)
    return [Storage(home.source.path, statement.start_byte, text_of(listed[0]), "", blank, freed)]


def _vectors(name: str, home: Procedure, program: Program) -> list[Storage] | None:
    """Vectors of the type that the function makes with all their items; None where one may grow or be copied."""
    found: list[Storage] = []
    for label, one in home.declarations.items():
        match = _VECTOR.match(one.type) if one is not None else None
        if one is None or match is None or match[1] != name:
            if one is None and any("vector" in text_of(each.parent) for each in home.identifiers.get(label, ())):
                return None
            continue
        if one.pointers or one.dims:
            return None
        is_parameter = label in home.parameters
        if is_parameter and not one.reference:
            return None
        for each in home.identifiers.get(label, ()):
            parent = each.parent
            if parent is None:
                return None
            if parent.type in ("init_declarator", "reference_declarator") and field(parent, "value") != each:
                continue
            if not _is_plain_use(each, program):
                return None
        if not is_parameter:
            made = _made_whole(label, home)
            if made is None:
                return None
            found.append(made)
    return found


def _is_plain_use(node: Node, program: Program) -> bool:
    """True where a vector is indexed, visited, asked for its size, or handed on by reference to functions of the program."""
    parent = node.parent
    if parent is None:
        return False
    match parent.type:
        case "subscript_expression":
            return field(parent, "argument") == node
        case "field_expression":
            return text_of(field(parent, "field")) in _OF_VECTORS
        case "for_range_loop":
            declarator = text_of(field(parent, "declarator"))
            return field(parent, "right") == node and declarator.startswith("&")
        case "argument_list":
            call = parent.parent
            own = program.named(text_of(field(call, "function"))) if call is not None else []
            at = children(parent).index(node)
            return len(own) == 1 and at < len(own[0].model.parameters) and own[0].model.parameters[at].reference
        case _:
            return False


def _made_whole(label: str, home: Procedure) -> Storage | None:
    """`std::vector<S> label(n);`"""
    for node in home.all("declaration"):
        listed = node.children_by_field_name("declarator")
        if len(listed) != 1 or listed[0].type != "init_declarator" or text_of(field(listed[0], "declarator")) != label:
            continue
        value = field(listed[0], "value")
        if value is None or value.type != "argument_list" or len(children(value)) != 1 or block_of(node) != node:
            return None
        if text_of(node).startswith("static") or any(True for _ in around(node, home)):
            return None
        blank = indent(home.source.text, node.start_byte)
        return Storage(home.source.path, node.end_byte, f"{label}.data()", f"{label}.size()", blank)
    return None
