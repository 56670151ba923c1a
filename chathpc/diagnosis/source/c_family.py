"""Functions, records and variables of C, C++ and CUDA from nodes of tree-sitter."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.c_expressions import children, expression, last_line, line_of, text_of
from chathpc.diagnosis.source.model import (
    Declaration,
    Does,
    Expr,
    Fork,
    Function,
    Kind,
    Launch,
    Loop,
    Record,
    Region,
    Statement,
    Unit,
)

if TYPE_CHECKING:
    from tree_sitter import Node

#: Attributes of GCC and macros of its kind, which the grammars do not expect everywhere.
_ATTRIBUTE = re.compile(
    rb"__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)|\b__restrict(?:__)?\b|__extension__"
)
_ALIGNED = re.compile(r"(?:alignas|aligned)\s*\(\s*([\w:]+)")
#: What is aligned to a constant of the program's own, or to a type, is taken to be aligned to a cache line: nobody writes that for less.
_NAMED_ALIGNMENT = 64
#: Where a variable of a GPU's code lies (CUDA C++ Programming Guide, "Variable memory space specifiers"; HIP has the same).
_SPACE = re.compile(r"__(shared|constant|device|managed)__")
#: What runs on a GPU.
_ON_DEVICE = re.compile(r"\b__(global|device)__")
_PRAGMA = re.compile(r"omp\s+(.*)")
_INTEGER = re.compile(r"\(?\s*(0x[0-9a-fA-F]+|\d+)[uUlL]*\s*\)?\Z")
_SHIFT = re.compile(r"\(?\s*(\d+)[uUlL]*\s*<<\s*(\d+)\s*\)?\Z")
#: Nodes that hold functions and records.
_HOLDERS = frozenset(
    {
        "translation_unit", "namespace_definition", "declaration_list", "linkage_specification", "template_declaration",
        "class_specifier", "struct_specifier", "field_declaration_list", "preproc_ifdef", "preproc_if", "preproc_else",
        "preproc_elif", "type_definition", "declaration", "ERROR", "field_declaration",
    }
)  # fmt: skip
_LOOPS = frozenset({"for_statement", "while_statement", "do_statement", "for_range_loop"})
#: Statements that hold no others.
_SIMPLE = frozenset({"expression_statement", "declaration", "return_statement"})
_JUMPS = {
    "break_statement": Does.BREAK, "continue_statement": Does.CONTINUE, "goto_statement": Does.OTHER,
    "throw_statement": Does.OTHER,
}  # fmt: skip
_DECLARATORS = frozenset(
    {
        "pointer_declarator", "reference_declarator", "array_declarator", "init_declarator", "function_declarator",
        "parenthesized_declarator", "attributed_declarator",
    }
)  # fmt: skip


def prepared(text: bytes) -> bytes:
    """The text with attributes blanked, every line and column where it was."""
    return _ATTRIBUTE.sub(lambda match: re.sub(rb"[^\n]", b" ", match[0]), text)


def definitions(root: Node) -> Iterator[Node]:
    """The nodes that define functions, records, constants and variables outside functions, in the order of the text."""
    todo = [root]
    while todo:
        node = todo.pop()
        if node.type != "translation_unit":
            yield node
        if node.type in _HOLDERS:
            todo.extend(reversed(node.named_children))


def declarators(node: Node) -> list[Node]:
    """The declarators of a function's definition or declaration, from that of its result to that which has its name and parameters."""
    found: list[Node] = []
    one = node.child_by_field_name("declarator")
    while one is not None and (not found or found[-1].type != "function_declarator"):
        found.append(one)
        one = one.child_by_field_name("declarator") or next(
            (each for each in one.named_children if each.type in _DECLARATORS), None
        )
    return found


def declarator_of(node: Node) -> Node | None:
    """The declarator of a function with its name and parameters; None where it has none."""
    return next((one for one in declarators(node) if one.type == "function_declarator"), None)


def name_of(node: Node) -> str:
    """Name of a function definition without class and namespace; empty where it has none."""
    declarator = declarator_of(node)
    name = text_of(declarator.child_by_field_name("declarator")) if declarator is not None else ""
    return re.sub(r"<.*>", "", name).rsplit("::", 1)[-1].strip("()* ")


def unit(nodes: list[Node], original: bytes) -> Unit:
    """Records, variables of the file and constants; constants that are computed are left out."""
    found = Unit()
    for node in nodes:
        if node.type in ("struct_specifier", "class_specifier") and node.child_by_field_name("body") is not None:
            record = _record(node, original)
            if record.name:
                found.records[record.name] = record
        elif node.type == "preproc_def":
            value = constant(text_of(node.child_by_field_name("value")).split("//")[0].split("/*")[0])
            if value is not None:
                found.constants[text_of(node.child_by_field_name("name"))] = value
        elif node.type == "declaration":
            for one in declared(node):
                one = replace(one, aligned=_aligned(node, original))
                found.variables.setdefault(one.name, one)
                if one.const and one.value is not None and one.value.kind == Kind.NUMBER:
                    value = constant(one.value.text)
                    if value is not None:
                        found.constants[one.name] = value
        elif node.type == "enum_specifier":
            found.constants.update(_enumerated(node))
    return found


def _enumerated(node: Node) -> Iterator[tuple[str, int]]:
    """The enumerators that are known: one without a value is one more than that before it (C11 6.7.2.2 p3)."""
    following: int | None = 0
    for each in (node.child_by_field_name("body") or node).named_children:
        if each.type == "enumerator":
            written = each.child_by_field_name("value")
            number = following if written is None else constant(text_of(written))
            following = None if number is None else number + 1
            if number is not None:
                yield text_of(each.child_by_field_name("name")), number


def constant(text: str) -> int | None:
    """The integer that a text is, also as a shift of two; None for anything else."""
    text = text.strip()
    if match := _INTEGER.match(text):
        return (
            int(match[1], 0) if not match[1].startswith("0") or match[1].startswith("0x") or match[1] == "0" else None
        )
    if match := _SHIFT.match(text):
        return int(match[1]) << min(int(match[2]), 62)
    return None


def _aligned(node: Node, original: bytes) -> int:
    """Bytes that a declaration is aligned to; attributes stand in the original text, at its sides as well."""
    return _alignment(original[node.start_byte : node.end_byte + 80].split(b";")[0].decode("utf-8", "replace"))


def _alignment(text: str) -> int:
    match = _ALIGNED.search(text)
    if match is None:
        return 0
    return int(match[1]) if match[1].isdigit() else _NAMED_ALIGNMENT


def _record(node: Node, original: bytes) -> Record:
    body = node.child_by_field_name("body")
    name = text_of(node.child_by_field_name("name"))
    parent = node.parent
    if parent is not None and parent.type == "type_definition":
        name = text_of(parent.child_by_field_name("declarator")) or name
    fields = [
        replace(one, aligned=_aligned(each, original))
        for each in children(body)
        if each.type == "field_declaration"
        for one in declared(each)
    ]
    around = original[max(node.start_byte, 0) : (parent or node).end_byte].decode("utf-8", "replace")
    outside = around[: around.find("{")] + around[around.rfind("}") :]
    return Record(name.rsplit("::", 1)[-1], tuple(fields), _alignment(outside))


def declared(node: Node, loop: int = -1, *, inside: bool = False) -> Iterator[Declaration]:
    """The variables, fields or parameter that a node declares; no functions. `inside` a function's body."""
    kind = text_of(node.child_by_field_name("type"))
    words = {child.type: text_of(child) for child in node.children if child.type.endswith(("qualifier", "specifier"))}
    const = any(text_of(child) in ("const", "constexpr") for child in node.children if child.type == "type_qualifier")
    space = next((match[1] for child in node.children if (match := _SPACE.fullmatch(text_of(child)))), "")
    static = "static" in words.get("storage_class_specifier", "")
    declarators = node.children_by_field_name("declarator")
    if not declarators and node.type in ("parameter_declaration", "optional_parameter_declaration"):
        yield Declaration("", kind, const=const, line=line_of(node))
    for declarator in declarators:
        one = Declaration("", kind, const=const, static=static, loop=loop, line=line_of(declarator), space=space)
        found = _declarator(declarator, one)
        if found is None and inside:
            # `vector<double> v(n);` looks like a function to a grammar without types.
            name = declarator.child_by_field_name("declarator")
            found = replace(one, name=text_of(name)) if name is not None and name.type == "identifier" else None
        if found is not None and found.name:
            yield found


def _declarator(node: Node, one: Declaration) -> Declaration | None:
    dims: list[Expr | None] = []
    current: Node | None = node
    for _ in range(12):
        if current is None:
            return None
        match current.type:
            case "pointer_declarator" | "abstract_pointer_declarator":
                one = replace(one, pointers=one.pointers + 1)
            case "reference_declarator" | "abstract_reference_declarator":
                one = replace(one, reference=True)
            case "array_declarator":
                size = current.child_by_field_name("size")
                dims.append(expression(size) if size is not None else None)
            case "init_declarator":
                value = current.child_by_field_name("value")
                one = replace(one, value=expression(value))
            case "identifier" | "field_identifier" | "type_identifier":
                return replace(one, name=text_of(current), dims=tuple(reversed(dims)))
            case "function_declarator":
                inner = current.child_by_field_name("declarator")
                if inner is None or inner.type != "parenthesized_declarator":
                    return None
            case "structured_binding_declarator":
                return None
            case _:
                pass
        current = current.child_by_field_name("declarator") or next(
            (
                each
                for each in current.named_children
                if each.type in _DECLARATORS or each.type in ("identifier", "field_identifier")
            ),
            None,
        )
    return None


def function(node: Node, original: bytes) -> Function:
    """The model of a function definition."""
    kinds = [one.type for one in declarators(node)]
    pointers, reference = kinds.count("pointer_declarator"), "reference_declarator" in kinds
    declarator = declarator_of(node)
    listed = declarator.child_by_field_name("parameters") if declarator is not None else None
    parameters = [
        one for each in children(listed) if each.type.endswith("parameter_declaration") for one in declared(each)
    ]
    head = original[node.start_byte : node.start_byte + 300].split(b"{")[0].decode("utf-8", "replace")
    # Attributes may stand before what the grammar sees as the definition.
    before = original[max(node.start_byte - 80, 0) : node.start_byte].decode("utf-8", "replace")
    before = re.split(r"[;{}]", before)[-1]
    marks = {
        word
        for word in ("static", "inline", "virtual", "noinline")
        if re.search(rb"\b_*%s" % word.encode(), (before + head).encode())
    }
    marks |= set(_ON_DEVICE.findall(before + head))
    around = node.parent
    fixed: frozenset[str] = frozenset()
    if around is not None and around.type == "template_declaration":
        fixed = frozenset(
            one.name
            for each in children(around.child_by_field_name("parameters"))
            if each.type.endswith("parameter_declaration") and not each.type.startswith("type_")
            for one in declared(each)
        )
        around = around.parent
    if around is not None and around.type == "field_declaration_list":
        marks.add("member")
    result = text_of(node.child_by_field_name("type"))
    returns = None if result in ("void", "") and not pointers else Declaration("", result, pointers, reference)
    body = node.child_by_field_name("body")
    reader = _Body()
    if body is not None:
        reader.read(body)
    return Function(
        name=name_of(node),
        first=line_of(node),
        last=last_line(node),
        parameters=tuple(parameters),
        returns=returns,
        loops=tuple(reader.loops),
        statements=tuple(reader.statements),
        declarations=tuple(reader.declarations),
        regions=tuple(reader.regions),
        forks=tuple(reader.forks),
        launches=tuple(reader.launches),
        marks=frozenset(marks),
        fixed=fixed,
        broken=tuple(reader.broken),
    )


@dataclass(slots=True)
class _Body:
    """Reads a function's body, statement by statement, with a stack of its own: text may be nested as deep as it likes."""

    loops: list[Loop] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    declarations: list[Declaration] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    broken: list[int] = field(default_factory=list)
    forks: list[Fork] = field(default_factory=list)
    launches: list[Launch] = field(default_factory=list)

    def read(self, body: Node) -> None:
        todo: list[tuple[Node, int, int]] = [(body, -1, 0)]
        while todo:
            node, loop, branch = todo.pop()
            todo.extend(reversed(self._one(node, loop, branch)))

    def _one(self, node: Node, loop: int, branch: int) -> list[tuple[Node, int, int]]:
        """Notes one statement; the statements in it are returned."""
        kind, line = node.type, line_of(node)
        if kind == "ERROR" or node.is_missing or (kind in _SIMPLE and node.has_error):
            self.broken.append(line)
        condition = node.child_by_field_name("condition")
        if condition is not None and condition.has_error:
            self.broken.append(line)
        if kind in _LOOPS:
            if any(child.type == "ERROR" or child.is_missing for child in node.children):
                self.broken.append(line)
            return self._loop(node, loop, branch)
        if kind == "compound_statement":
            return self._block(node, loop, branch)
        if kind == "if_statement":
            self._note(Does.CONDITION, line, expression(condition), loop, branch)
            inner = [node.child_by_field_name(name) for name in ("consequence", "alternative")]
            arms = [_lines(each) for each in inner]
            if arms[0] is not None:
                self.forks.append(Fork(expression(condition), line, arms[0], arms[1], loop))
            return [(each, loop, branch + 1) for each in inner if each is not None]
        if kind == "switch_statement":
            self._note(Does.CONDITION, line, expression(condition), loop, branch)
            body = node.child_by_field_name("body")
            # A break in it leaves the switch, not the loop: what is inside is no search.
            self._note(Does.OTHER, line, None, loop, branch)
            return [(body, loop, branch + 1)] if body is not None else []
        if kind == "expression_statement":
            self._note(Does.EVALUATE, line, expression(node), loop, branch)
            self._launch(node, loop)
            return []
        if kind == "declaration":
            for one in declared(node, loop, inside=True):
                self.declarations.append(one)
                if one.value is not None:
                    target = Expr(Kind.NAME, one.name, line=line)
                    self._note(
                        Does.DECLARE, line, Expr(Kind.ASSIGN, "=", None, (target, one.value), line), loop, branch
                    )
            return []
        if kind == "return_statement":
            value = node.named_child(0) if node.named_child_count else None
            self._note(Does.RETURN, line, expression(value) if value is not None else None, loop, branch)
            return []
        if kind in _JUMPS:
            self._note(_JUMPS[kind], line, None, loop, branch)
            return []
        if kind in ("comment", "preproc_call"):
            return []
        return [(child, loop, branch) for child in node.named_children]

    def _note(self, does: Does, line: int, expr: Expr | None, loop: int, branch: int) -> None:
        self.statements.append(Statement(does, line, expr, loop, branch))

    def _launch(self, node: Node, loop: int) -> None:
        """Notes `kernel<<<blocks, threads>>>(…)`."""
        call = next(iter(node.named_children), None)
        how = next((each for each in children(call) if each.type == "kernel_call_syntax"), None)
        if call is None or how is None or how.named_child_count < 2:
            return
        grid, block = (expression(how.named_child(at)) for at in (0, 1))
        name = text_of(call.child_by_field_name("function")).split("<", 1)[0]
        self.launches.append(Launch(name.rsplit("::", 1)[-1], grid, block, line_of(node), loop))

    def _block(self, node: Node, loop: int, branch: int) -> list[tuple[Node, int, int]]:
        words, at = "", 0
        inner = []
        for child in node.named_children:
            if child.type == "preproc_call":
                match = _PRAGMA.match(text_of(child.child_by_field_name("argument")).replace("\\ ", ""))
                if match and not match[1].startswith(("barrier", "flush", "taskwait")):
                    words, at = match[1], line_of(child)
                continue
            if child.type == "comment":
                continue
            if words:
                self.regions.append(Region(words, at, last_line(child), loop))
                words = ""
            inner.append((child, loop, branch))
        return inner

    def _loop(self, node: Node, parent: int, branch: int) -> list[tuple[Node, int, int]]:
        index, line, field_of = len(self.loops), line_of(node), node.child_by_field_name
        loop = Loop(index, parent, line, last_line(node))
        body = field_of("body")
        if node.type == "for_range_loop":
            element = next(declared(node, index), None)
            container = expression(field_of("right"))
            names = [element.name] if element is not None else _bound(field_of("declarator"))
            loop = replace(
                loop, variable=next(iter(names), ""), container=container, element=element, updated=frozenset(names)
            )
            if element is not None:
                self.declarations.append(element)
        else:
            condition = field_of("condition")
            loop = replace(loop, condition=expression(condition) if condition is not None else None)
            if node.type == "for_statement":
                loop = self._header(node, loop)
        self.loops.append(loop)
        if loop.condition is not None:
            self._note(Does.CONDITION, line, loop.condition, index, 0)
        return [(body, index, 0)] if body is not None else []

    def _header(self, node: Node, loop: Loop) -> Loop:
        """The loop with variable, start and step of a `for`; steps that are no numbers stay unknown."""
        starts: dict[str, Expr] = {}
        initializer = node.child_by_field_name("initializer")
        if initializer is not None and initializer.type == "declaration":
            for one in declared(initializer, loop.index, inside=True):
                self.declarations.append(one)
                if one.value is not None:
                    starts[one.name] = one.value
        else:
            starts = {part.parts[0].text: part.parts[1] for part in _assignments(expression(initializer))}
        update = node.child_by_field_name("update")
        steps = _assignments(expression(update)) if update is not None else []
        updated = frozenset(part.parts[0].text for part in steps if part.parts[0].kind == Kind.NAME)
        for part in steps:
            target = part.parts[0]
            if target.kind != Kind.NAME:
                continue
            if loop.variable == "" or (loop.condition is not None and target.text in loop.condition.names()):
                loop = replace(
                    loop, variable=target.text, start=starts.get(target.text), step=step_of(part, target.text)
                )
        return replace(loop, updated=updated, updates=tuple(steps))


def _bound(node: Node | None) -> list[str]:
    """The names of a structured binding: `auto& [key, value]`."""
    while node is not None and node.type == "reference_declarator":
        node = next(iter(node.named_children), None)
    if node is None or node.type != "structured_binding_declarator":
        return []
    return [text_of(each) for each in node.named_children if each.type == "identifier"]


def _lines(node: Node | None) -> tuple[int, int] | None:
    """First and last line of a branch; of an `else` what stands behind the word."""
    if node is not None and node.type == "else_clause":
        node = next((each for each in node.named_children if each.type != "comment"), None)
    return None if node is None else (line_of(node), last_line(node))


def _assignments(expr: Expr) -> list[Expr]:
    """Assignments in a comma expression."""
    return [one for one in expr.walk() if one.kind == Kind.ASSIGN and len(one.parts) == 2]


def step_of(update: Expr, name: str) -> int | None:
    """The number that `i += 2`, `i--` or `i = i + 2` adds to a variable; None for anything else."""
    if update.kind != Kind.ASSIGN or update.parts[0].kind != Kind.NAME or update.parts[0].text != name:
        return None
    operator, value = update.text, update.parts[1]
    if operator == "=" and value.kind == Kind.BINARY and value.parts[0].text == name:
        operator, value = f"{value.text}=", value.parts[1]
    number = constant(value.text) if operator in ("+=", "-=") and value.kind == Kind.NUMBER else None
    return -number if number is not None and operator == "-=" else number
