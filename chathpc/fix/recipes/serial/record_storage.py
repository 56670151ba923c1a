"""Where functions of C make records of one type, and give them back: allocations and arrays."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

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
_MADE_UP = frozenset({"call_expression", "update_expression", "assignment_expression"})


@dataclass(frozen=True, slots=True)
class Storage:
    """A place where `count` records begin to exist at `first`, behind the byte `at`; or, without a count, cease to, in front of it."""

    path: str
    at: int
    first: str
    count: str
    blank: bytes

    def edit(self, attach: str, member: str) -> Edit:
        """What is said there: each record gets its other half, or the halves are given back."""
        if self.count:
            new = f"\n{self.blank.decode()}{attach}({self.first}, {self.count});"
        else:
            new = f"if ({self.first}) free({self.first}->{member});\n{self.blank.decode()}"
        return Edit(self.at, self.at, new.encode())


def array(node: Node, source: Source, program: Program) -> Storage | None:
    """`S all[N];` outside functions or in `main`: it begins to exist when `main` does."""
    declarator = field(node, "declarator")
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
    sizes = sizes_of(name, home, program)
    for node in home.all("call_expression"):
        called = text_of(field(node, "function"))
        if called in FREEING:
            freed = _freed(node, name, home, program)
            if freed is None:
                return None
            found += freed
        if called not in ALLOCATING | _OTHERS:
            continue
        mine = [each for each in sizes if inside(each, node)]
        target = _target(node, home, program)
        if not mine and (target is None or target[1] != Type(name, 1)):
            continue
        count = _count(node, mine)
        if target is None or target[1] != Type(name, 1) or called in _OTHERS or count is None:
            return None
        sizes = [each for each in sizes if each not in mine]
        first, _, statement = target
        found.append(
            Storage(home.source.path, statement.end_byte, first, count, indent(home.source.text, statement.start_byte))
        )
    return None if sizes else found


def allocates(name: str, home: Procedure, program: Program) -> bool:
    """True if the function may allocate records without constructing them."""
    for node in home.all("call_expression"):
        if text_of(field(node, "function")) in ALLOCATING | _OTHERS:
            target = _target(node, home, program)
            if target is None or target[1] is None or target[1].name == name:
                return True
    return False


def sizes_of(name: str, home: Procedure, program: Program) -> list[Node]:
    """Where the function asks for the size of a record."""
    return [node for node in home.all("sizeof_expression") if _is_size(node, name, home, program)]


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
        kind = None if known is None else of_declaration(known)
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


def _freed(node: Node, name: str, home: Procedure, program: Program) -> list[Storage] | None:
    """What is given back, if it is of the type; None where it is not plain which."""
    listed = children(field(node, "arguments"))
    if len(listed) != 1 or listed[0].type == "cast_expression":
        return None
    kind = type_of(listed[0], home, program)
    if kind is None or kind.name != name or kind.depth > 1:
        return []
    statement = node.parent
    if (
        not _SIMPLE.match(text_of(listed[0]))
        or statement is None
        or statement.type != "expression_statement"
        or block_of(statement) != statement
    ):
        return None
    blank = indent(home.source.text, statement.start_byte)
    return [Storage(home.source.path, statement.start_byte, text_of(listed[0]), "", blank)]
