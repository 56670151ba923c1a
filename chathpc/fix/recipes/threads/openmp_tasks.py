"""Recursive OpenMP tasks that go on down to the smallest ones: below some levels the work is done without tasks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.directives import THREADS, Directive, directives
from chathpc.fix.recipes.analysis.edits import Edit, applied, fresh_name, indent, line_end, line_start
from chathpc.fix.recipes.analysis.program import Procedure, Spot
from chathpc.fix.recipes.analysis.syntax import C_LOOPS, children, enclosing, field, nodes, statements, text_of
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node

#: Levels with tasks: 2^10 tasks of two calls each are enough for any number of cores; of calls in a loop there are more in each level.
_LEVELS, _IN_LOOPS = 10, 3
_CHANGING = ("assignment_expression", "update_expression", "lambda_expression")


def cut_off(context: Context, spot: Spot) -> Iterator[Change]:
    """A function whose tasks call it again does so without tasks from some level on."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    name, node, body = procedure.model.name, procedure.node, procedure.body
    if procedure.is_broken or body is None or "member" in procedure.model.marks or len(program.named(name)) != 1:
        return
    if (
        THREADS.search(text[node.start_byte : node.end_byte])
        or node.parent is None
        or node.parent.type == "template_declaration"
    ):
        return
    listed = list(directives(procedure))
    lines = list(procedure.all("preproc_call"))
    tasks = [one for one in listed if one.has("task")]
    if not tasks or any(not _is_plain(one, name) for one in tasks) or any(not _is_task(each, tasks) for each in lines):
        return
    declarator = next(iter(nodes(node, "function_declarator")), None)
    label, parameters = field(declarator, "declarator"), field(declarator, "parameters")
    names = [one.name for one in procedure.model.parameters]
    calls = [each for each in procedure.all("call_expression") if text_of(field(each, "function")) == name]
    mentions = [each for each in procedure.identifiers.get(name, ()) if each.start_byte >= body.start_byte]
    if label is None or parameters is None or label.type != "identifier" or not names or len(mentions) != len(calls):
        return
    if any(each.type != "parameter_declaration" for each in children(parameters)) or len(children(parameters)) != len(
        names
    ):
        return
    in_loops = any(enclosing(one.node, C_LOOPS, node) is not None for one in tasks)
    edits = _written(procedure, label, parameters, body, calls, lines, names, _IN_LOOPS if in_loops else _LEVELS)
    if edits is not None:
        yield Change(
            {spot.source.path: edits},
            procedure.model.first,
            f"makes tasks in the first {_IN_LOOPS if in_loops else _LEVELS} levels of {name} only, and goes on without below them",
        )


def _is_plain(one: Directive, name: str) -> bool:
    """True for a task that is one call of the function, whose result goes to what is shared."""
    if one.listed("private", "depend", "in_reduction") or one.clause("if") or one.clause("final"):
        return False
    listed = statements(one.statement)
    if one.clause("default") not in (None, "shared") or len(listed) != 1 or listed[0].type != "expression_statement":
        return False
    expr = next(iter(children(listed[0])), None)
    if expr is not None and expr.type == "assignment_expression":
        target = field(expr, "left")
        if target is None or text_of(field(expr, "operator")) != "=":
            return False
        if (
            target.type == "identifier"
            and text_of(target) not in one.listed("shared")
            and one.clause("default") != "shared"
        ):
            return False
        expr = field(expr, "right")
    if expr is None or expr.type != "call_expression" or text_of(field(expr, "function")) != name:
        return False
    return not any(True for each in children(field(expr, "arguments")) for _ in nodes(each, *_CHANGING))


def _is_task(line: Node, tasks: list[Directive]) -> bool:
    words = text_of(line).split()
    return any(one.node == line for one in tasks) or words[-1:] == ["taskwait"]


def _written(
    procedure: Procedure,
    label: Node,
    parameters: Node,
    body: Node,
    calls: list[Node],
    lines: list[Node],
    names: list[str],
    levels: int,
) -> tuple[Edit, ...] | None:
    """The function three times: without tasks, with tasks and the level, and as it is called from elsewhere."""
    text, node, name = procedure.source.text, procedure.node, procedure.model.name
    serial, parallel, level = (fresh_name(each, text) for each in (f"{name}_serial", f"{name}_tasks", "level"))
    start = node.start_byte
    static = b"" if text[start : label.start_byte].split()[:1] == [b"static"] else b"static "
    whole = text[start : node.end_byte]
    functions = [field(each, "function") for each in calls]

    def at(one: Node, new: str) -> Edit:
        return Edit(one.start_byte - start, one.end_byte - start, new.encode())

    without = [at(label, serial), *(at(each, serial) for each in functions if each is not None)]
    for each in lines:
        first, last = line_start(text, each.start_byte), line_end(text, max(each.start_byte, each.end_byte - 1))
        without.append(Edit(first - start, last - start, b""))
    back = "" if procedure.model.returns is None else "return "
    ends = [field(each, "arguments") for each in calls]
    listed = ", ".join(names)
    leave = f"{back}{serial}({listed});"
    inner = children(body)[0]
    blank = indent(text, inner.start_byte).decode() if line_start(text, inner.start_byte) > body.start_byte else ""
    leave = f"if ({level} >= {levels}) {leave}" if back else f"if ({level} >= {levels}) {{ {leave} return; }}"
    leave = f"\n{blank}{leave}" if blank else f" {leave}"
    with_tasks = [
        at(label, parallel),
        Edit(parameters.end_byte - 1 - start, parameters.end_byte - 1 - start, f", int {level}".encode()),
        Edit(body.start_byte + 1 - start, body.start_byte + 1 - start, leave.encode()),
        *(at(each, parallel) for each in functions if each is not None),
        *(
            Edit(each.end_byte - 1 - start, each.end_byte - 1 - start, f", {level} + 1".encode())
            for each in ends
            if each is not None
        ),
    ]
    first_text, second_text = applied(whole, without), applied(whole, with_tasks)
    if first_text is None or second_text is None:
        return None
    head = static + first_text + b"\n\n" + static + second_text + b"\n\n"
    call = f"{{ {back}{parallel}({listed}, 0); }}"
    return Edit(start, start, head), Edit(body.start_byte, body.end_byte, call.encode())
