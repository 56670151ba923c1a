"""Functions, subroutines and derived types of Fortran from nodes of tree-sitter. Names are in lower case."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.c_expressions import DEEPEST, children, last_line, line_of, text_of
from chathpc.diagnosis.source.model import (
    Declaration,
    Does,
    Expr,
    Function,
    Kind,
    Loop,
    Record,
    Region,
    Statement,
    Unit,
)

if TYPE_CHECKING:
    from tree_sitter import Node


#: Loops that one labelled statement may end.
_MOST_SHARED = 16
_LABELLED_END = "end_do_label_loop_statement"


def terminal(node: Node) -> list[Node]:
    """The statement with a label that ends a loop of Fortran 77 and is executed in it; in the innermost of several such loops."""
    if any(_end_of(each) is not None for each in node.named_children if each.type == "do_loop" and _is_shared(each)):
        return []
    one: Node | None = node
    for _ in range(_MOST_SHARED):
        if one is None or not _is_shared(one):
            break
        one = one.parent
    end = _end_of(one) if one is not None else None
    return [each for each in children(end) if each.type != "statement_label"]


def _end_of(node: Node) -> Node | None:
    last = node.named_child(node.named_child_count - 1) if node.named_child_count else None
    return last if last is not None and last.type == _LABELLED_END else None


def _is_shared(node: Node) -> bool:
    """True for a loop that ends with the statement that ends the one around it."""
    end = _end_of(node)
    return end is not None and any(each.type == "do_label_virtual" for each in end.named_children)


def ends_loop(node: Node) -> bool:
    """True for a jump to the end of a loop around it, which is what `cycle` does."""
    label = next((text_of(each) for each in node.named_children if each.type == "statement_label_reference"), "")
    above = node.parent
    for _ in range(DEEPEST):
        if above is None or not label:
            return False
        if above.type == "do_loop":
            marks = above.named_children[0].named_children if above.named_child_count else []
            if any(each.type == "statement_label_reference" and text_of(each) == label for each in marks):
                return True
        above = above.parent
    return False


_BINARY = frozenset({"math_expression", "relational_expression", "logical_expression", "concatenation_expression"})
_PROCEDURES = frozenset({"subroutine", "function", "program", "module_procedure"})
_HOLDERS = frozenset(
    {"translation_unit", "module", "submodule", "internal_procedures", "program", "subroutine", "function"}
)
#: Statements that hold no others.
_SIMPLE = frozenset({"assignment_statement", "subroutine_call", "do_statement"})
#: Statements that are calls of the runtime.
_CALLS = frozenset({
    "allocate_statement", "deallocate_statement", "open_statement", "close_statement", "write_statement", "read_statement",
    "print_statement", "flush_statement", "file_position_statement",
})  # fmt: skip
_DIRECTIVE = re.compile(r"!\$omp\b([^!]*)", re.IGNORECASE)
#: Directives that stand alone, and so hold no lines.
_ALONE = ("barrier", "flush", "taskwait", "threadprivate")


def definitions(root: Node) -> Iterator[Node]:
    """Procedures, derived types and declarations outside procedures' bodies, in the order of the text."""
    todo = [root]
    while todo:
        node = todo.pop()
        if node.type not in ("translation_unit", "module", "internal_procedures"):
            yield node
        if node.type in _HOLDERS:
            todo.extend(reversed(node.named_children))


def is_procedure(node: Node) -> bool:
    """True for a procedure or main program."""
    return node.type in _PROCEDURES


def name_of(node: Node) -> str:
    """Name of a procedure or program, in lower case."""
    head = node.named_child(0)
    if head is None:
        return ""
    name = head.child_by_field_name("name") or next((each for each in head.named_children if each.type == "name"), None)
    return text_of(name).lower()


def unit(nodes: list[Node]) -> Unit:
    """Derived types, variables of modules and of a main program with procedures of its own, and constants that are whole numbers."""
    found = Unit()
    for node in nodes:
        if node.type == "derived_type_definition":
            name = text_of(
                next((each for each in node.named_children[0].named_children if each.type == "type_name"), None)
            ).lower()
            fields = tuple(
                one for each in node.named_children if each.type == "variable_declaration" for one in declared(each)
            )
            found.records[name] = Record(name, fields)
        elif node.type == "parameter_statement":  # Fortran 77 says so in a statement of its own
            for left, right in (each.named_children for each in node.named_children if each.named_child_count == 2):
                if text_of(right).isdigit():
                    found.constants[text_of(left).lower()] = int(text_of(right))
        elif node.type == "variable_declaration":
            for one in declared(node):
                if node.parent is not None and node.parent.type == "module":
                    found.variables[one.name] = one
                elif node.parent is not None and _has_own_procedures(node.parent):
                    found.variables.setdefault(one.name, one)
                if one.const and one.value is not None and one.value.kind == Kind.NUMBER and one.value.text.isdigit():
                    found.constants[one.name] = int(one.value.text)
    return found


def _has_own_procedures(node: Node) -> bool:
    """True for a main program whose variables are those of the procedures behind its `contains` as well (Fortran 2018, 19.5.1.4)."""
    return node.type == "program" and any(each.type == "internal_procedures" for each in node.named_children)


def declared(node: Node) -> Iterator[Declaration]:
    """The variables of a declaration; `type` is in lower case, without blanks (`real(dp)`, `real(8)`, `type(cell)`)."""
    kind = text_of(node.child_by_field_name("type")).lower().replace(" ", "")
    attributes = node.children_by_field_name("attribute")
    words = [text_of(each).lower() for each in attributes]
    shared: tuple[Expr | None, ...] = ()
    for each in attributes:
        if text_of(each).lower().startswith("dimension"):
            shared = _dims(next((child for child in each.named_children if child.type == "argument_list"), None))
    const, allocatable, saved = (word in words for word in ("parameter", "allocatable", "save"))
    pointer = int("pointer" in words)
    for one in node.children_by_field_name("declarator"):
        value = None
        if one.type == "init_declarator":
            value = expression(one.child_by_field_name("right") or one.named_child(one.named_child_count - 1))
            one = one.child_by_field_name("left") or one.named_child(0)
        dims = shared
        name = text_of(one)
        if one is not None and one.type == "sized_declarator":
            name = text_of(one.named_child(0))
            dims = _dims(one.named_child(1)) or shared
        yield Declaration(
            name.lower(), kind, pointer, const=const, dims=dims, value=value, line=line_of(node), static=saved,
            allocatable=allocatable,
        )  # fmt: skip


def _dimensioned(node: Node) -> Iterator[Declaration]:
    """Arrays of a `dimension` or `common` statement; their types may be declared elsewhere."""
    groups = [each for each in node.named_children if each.type == "variable_group"] or [node]
    for one in (each for group in groups for each in group.named_children if each.type == "sized_declarator"):
        yield Declaration(text_of(one.named_child(0)).lower(), "", dims=_dims(one.named_child(1)), line=line_of(node))


def _together(declarations: list[Declaration]) -> list[Declaration]:
    """One declaration for each name: its type from one statement, its sizes from another."""
    found: dict[str, Declaration] = {}
    for one in declarations:
        known = found.get(one.name)
        if known is None:
            found[one.name] = one
        elif not known.dims and one.dims:
            found[one.name] = replace(known, dims=one.dims)
        elif not known.type and one.type:
            found[one.name] = replace(one, dims=known.dims)
    # What no statement gives a type has one by its first letter (Fortran 2018, 8.7).
    return [
        one if one.type else replace(one, type="integer" if one.name[:1] in "ijklmn" else "real")
        for one in found.values()
    ]


def _dims(node: Node | None) -> tuple[Expr | None, ...]:
    unknown = ("extent_specifier", "assumed_rank")
    return tuple(None if each.type in unknown else expression(each) for each in children(node))


def expression(node: Node | None, depth: int = 0) -> Expr:
    """The expression that a node stands for. `a(i)` is an index or a call: see `resolved`."""
    if node is None:
        return Expr(Kind.OTHER)
    line, deeper = line_of(node), depth + 1
    if depth > DEEPEST:
        return Expr(Kind.OTHER, line=line)
    kind = node.type
    if kind in ("identifier", "name", "type_member"):
        return Expr(Kind.NAME, text_of(node).lower(), line=line)
    if kind == "number_literal":
        return Expr(Kind.NUMBER, text_of(node).lower(), line=line)
    if kind == "string_literal":
        return Expr(Kind.STRING, text_of(node)[:40], line=line)
    if kind == "parenthesized_expression" and node.named_child_count == 1:
        return expression(node.named_child(0), deeper)
    field_of = node.child_by_field_name
    if kind in _BINARY and field_of("left") is None:  # .not.
        return Expr(Kind.UNARY, "!", None, (expression(field_of("argument"), deeper),), line)
    if kind in _BINARY:
        sides = expression(field_of("left"), deeper), expression(field_of("right"), deeper)
        operator = text_of(field_of("operator"))
        return Expr(Kind.BINARY, _OPERATORS.get(operator.lower(), operator), None, sides, line)
    if kind == "unary_expression":
        return Expr(Kind.UNARY, text_of(field_of("operator")), None, (expression(field_of("argument"), deeper),), line)
    if kind == "derived_type_member_expression":
        owner, member = node.named_child(0), node.named_child(node.named_child_count - 1)
        return Expr(Kind.MEMBER, text_of(member).lower(), expression(owner, deeper), (), line)
    if kind == "call_expression":
        called = node.named_child(0)
        listed = node.named_child(node.named_child_count - 1)
        parts = tuple(expression(each, deeper) for each in children(listed))
        base = expression(called, deeper)
        if base.kind == Kind.NAME:
            return Expr(Kind.CALL, base.text, None, parts, line)
        return Expr(Kind.INDEX, "", base, parts, line)
    if kind == "extent_specifier":
        return Expr(Kind.OTHER, kind, None, _extent(node, deeper), line)
    inside = tuple(expression(each, deeper) for each in children(node))
    return Expr(Kind.OTHER, kind, None, inside, line)


def _extent(node: Node, depth: int) -> tuple[Expr, ...]:
    """Lower bound, upper bound and, where it is written, step of `low:high:step`; what is left out is OTHER without a text."""
    parts = [Expr(Kind.OTHER, line=line_of(node))]
    for each in node.children:
        if each.type.startswith(":"):
            parts += [Expr(Kind.OTHER, line=line_of(node))] * len(each.type)
        elif each.is_named and each.type != "comment":
            parts[-1] = expression(each, depth)
    return tuple(parts)


#: Fortran's words for operators → those of C, as the model has them.
_OPERATORS = {
    ".eq.": "==", ".ne.": "!=", "/=": "!=", ".lt.": "<", ".le.": "<=", ".gt.": ">", ".ge.": ">=", ".and.": "&&", ".or.": "||",
}  # fmt: skip


def resolved(expr: Expr, arrays: frozenset[str]) -> Expr:
    """The expression with `a(i)` as an index where `a` is one of the arrays."""
    base = resolved(expr.base, arrays) if expr.base is not None else None
    parts = tuple(resolved(part, arrays) for part in expr.parts)
    if expr.kind == Kind.CALL and base is None and expr.text in arrays:
        return Expr(Kind.INDEX, "", Expr(Kind.NAME, expr.text, line=expr.line), parts, expr.line)
    return replace(expr, base=base, parts=parts)


def function(node: Node, around: Unit) -> Function:
    """The model of a procedure."""
    reader = _Body()
    reader.read(node)
    head = node.named_child(0)
    listed = head.child_by_field_name("parameters") if head is not None else None
    names = [text_of(each).lower() for each in children(listed)]
    declarations = _together(reader.declarations)
    local = {one.name: one for one in declarations}
    arrays = frozenset(name for name, one in {**around.variables, **local}.items() if one.dims)
    # What is assigned to like `a(i) = …` is an array, wherever it was declared.
    targets = {
        one.expr.parts[0].text
        for one in reader.statements
        if one.does == Does.EVALUATE and one.expr and one.expr.kind == Kind.ASSIGN
    }
    arrays |= frozenset(targets - set(local) - {""})
    parameters = tuple(local.get(name, Declaration(name, "")) for name in names)
    result = None
    own = name_of(node)
    if node.type == "function":
        said = head.child_by_field_name("type") if head is not None else None
        match = re.search(r"result\s*\(\s*(\w+)\s*\)", text_of(head).lower())
        variable = match[1] if match else own
        result = Declaration(variable, local[variable].type if variable in local else text_of(said).lower())
    return Function(
        name=own,
        first=line_of(node),
        last=last_line(node),
        parameters=parameters,
        returns=result,
        loops=tuple(
            replace(loop, start=_resolve(loop.start, arrays), condition=_resolve(loop.condition, arrays))
            for loop in reader.loops
        ),
        statements=tuple(replace(one, expr=_resolve(one.expr, arrays)) for one in reader.statements),
        declarations=tuple(one for one in declarations if one.name not in names),
        regions=tuple(reader.regions),
        broken=tuple(reader.broken),
        fortran=True,
    )


def _resolve(expr: Expr | None, arrays: frozenset[str]) -> Expr | None:
    return None if expr is None else resolved(expr, arrays)


@dataclass(slots=True)
class _Body:
    """Reads a procedure's statements with a stack of its own, however deep they are nested."""

    loops: list[Loop] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    declarations: list[Declaration] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    broken: list[int] = field(default_factory=list)
    _open: list[tuple[str, int, int]] = field(default_factory=list)
    _going_on: tuple[str, int] | None = None

    def read(self, body: Node) -> None:
        todo: list[tuple[Node, int, int]] = [(child, -1, 0) for child in reversed(body.named_children[1:])]
        while todo:
            node, loop, branch = todo.pop()
            todo.extend(reversed(self._one(node, loop, branch)))
        last = last_line(body)
        for words, first, loop in self._open:  # directives for the statement that follows
            following = [one.last for one in self.loops if one.first > first and one.parent == loop]
            self.regions.append(Region(words, first, min(following[0] if following else first + 1, last), loop))
        self.regions.sort(key=lambda region: (region.first, -region.last))

    def _one(self, node: Node, loop: int, branch: int) -> list[tuple[Node, int, int]]:
        kind, line = node.type, line_of(node)
        if kind == "ERROR" or node.is_missing or (kind in _SIMPLE and node.has_error):
            self.broken.append(line)
        if kind == "internal_procedures":
            return []
        if kind == "do_loop":
            return self._loop(node, loop)
        if kind == "variable_declaration":
            self.declarations.extend(declared(node))
            return []
        if kind == "common_statement" or (kind == "variable_modification" and _is_dimension(node)):
            self.declarations.extend(_dimensioned(node))
            return []
        if kind == "assignment_statement":
            sides = expression(node.child_by_field_name("left")), expression(node.child_by_field_name("right"))
            self._note(Does.EVALUATE, line, Expr(Kind.ASSIGN, "=", None, sides, line), loop, branch)
            return []
        if kind == "subroutine_call":
            name = expression(node.child_by_field_name("subroutine"))
            listed = next((each for each in node.named_children if each.type == "argument_list"), None)
            parts = tuple(expression(each) for each in children(listed))
            last = int(node.end_point[0]) + 1  # to which gfortran's line table says that the call belongs
            call = Expr(Kind.CALL, f"call {name.text}", name.base, parts, line, last)
            self._note(Does.EVALUATE, line, call, loop, branch)
            return []
        if kind in ("if_statement", "elseif_clause"):
            return self._conditional(node, loop, branch)
        if kind == "keyword_statement":
            word = text_of(node).lower().split()[0]
            if word in ("goto", "go") and ends_loop(node):
                word = "cycle"
            does = {"exit": Does.BREAK, "cycle": Does.CONTINUE, "return": Does.RETURN, "continue": None}.get(
                word, Does.OTHER
            )
            if does is not None:
                self._note(does, line, None, loop, branch)
            return []
        if kind == "comment":
            self._directive(text_of(node), line, loop)
            return []
        if kind in _CALLS:
            called = Expr(
                Kind.CALL, kind.removesuffix("_statement"), None, tuple(map(expression, children(node))), line
            )
            self._note(Does.EVALUATE, line, called, loop, branch)
            return []
        deeper = branch + (kind in ("else_clause", "select_case_statement", "where_statement"))
        return [(child, loop, deeper) for child in node.named_children]

    def _conditional(self, node: Node, loop: int, branch: int) -> list[tuple[Node, int, int]]:
        children = [each for each in node.named_children if not each.type.startswith("end_")]
        condition = next((each for each in children if each.type == "parenthesized_expression"), None)
        if condition is None:
            return [(each, loop, branch + 1) for each in children]
        self._note(Does.CONDITION, line_of(node), expression(condition), loop, branch)
        return [(each, loop, branch + 1) for each in children if each != condition]

    def _note(self, does: Does, line: int, expr: Expr | None, loop: int, branch: int) -> None:
        self.statements.append(Statement(does, line, expr, loop, branch))

    def _directive(self, text: str, line: int, loop: int) -> None:
        match = _DIRECTIVE.match(text)
        if match is None:
            return
        words = match[1].strip().lower()
        if self._going_on is None and words.startswith("&") and self._open:  # in fixed form the mark stands here alone
            self._going_on = self._open.pop()[:2]
        if self._going_on is not None:  # the line before ended with `&`, and this one may begin with one
            before, line = self._going_on
            further = words if words == "&" else words.removeprefix("&").lstrip()
            words, self._going_on = f"{before} {further}".strip(), None
        if words.endswith("&"):
            self._going_on = words[:-1].rstrip(), line
            return
        if words.startswith(_ALONE):
            return
        if not words.startswith("end"):
            self._open.append((words, line, loop))
            return
        ended = words.removeprefix("end").strip()
        for at in range(len(self._open) - 1, -1, -1):
            if self._open[at][0].startswith(ended.split()[0] if ended else ""):
                opened, first, outer = self._open.pop(at)
                self.regions.append(Region(opened, first, line, outer))
                return

    def _loop(self, node: Node, parent: int) -> list[tuple[Node, int, int]]:
        index, line = len(self.loops), line_of(node)
        loop = Loop(index, parent, line, last_line(node))
        head = node.named_child(0)
        # The last of several indices of `do concurrent` varies as the compiler likes: only one alone is a loop.
        if control := _below(head, "loop_control_expression") or _below(head, "concurrent_control"):
            parts = [expression(each) for each in control[0].named_children]
            if len(control) == 1 and len(parts) >= 3 and parts[0].kind == Kind.NAME:
                loop = _counting(loop, *parts[:4])
        else:
            condition = _below(head, "parenthesized_expression")
            loop = replace(loop, condition=expression(condition[0]) if condition else None)
        self.loops.append(loop)
        if loop.condition is not None:
            self._note(Does.CONDITION, line, loop.condition, index, 0)
        inner = [each for each in node.named_children[1:] if not each.type.startswith("end_do")]
        return [(each, index, 0) for each in (*inner, *terminal(node))]


def _is_dimension(node: Node) -> bool:
    return text_of(next(iter(node.named_children), None)).lower() == "dimension"


def _counting(loop: Loop, variable: Expr, start: Expr, end: Expr, step: Expr | None = None) -> Loop:
    count: int | None = 1
    if step is not None:
        negative = step.kind == Kind.UNARY and step.text == "-"
        number = step.parts[0].text if negative else step.text
        count = (-int(number) if negative else int(number)) if number.isdigit() else None
    condition = Expr(Kind.BINARY, "<=" if count is None or count > 0 else ">=", None, (variable, end), loop.first)
    return replace(
        loop, variable=variable.text, start=start, condition=condition, step=count, updated=frozenset({variable.text})
    )


def _below(node: Node | None, kind: str) -> list[Node]:
    """Nodes of a kind at most four levels below."""
    found: list[Node] = []
    level = [node] if node is not None else []
    for _ in range(4):
        level = [child for each in level for child in each.named_children]
        found.extend(each for each in level if each.type == kind)
    return found
