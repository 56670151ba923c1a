"""Functions of numbers that are asked the same again and again: the last result is kept with its arguments (C and C++)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.model import Declaration
from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent, indent_step, line_end
from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.functions_of_arguments import is_function_of_arguments
from chathpc.fix.recipes.analysis.heads import has_plain_head, included, is_cpp
from chathpc.fix.recipes.analysis.loops import around, is_repeated_on_purpose
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot, plain_name
from chathpc.fix.recipes.analysis.repeats import is_repeated
from chathpc.fix.recipes.analysis.syntax import C_LOOPS, children, field, line_of
from chathpc.fix.recipes.analysis.types import of_declaration, plain, type_of
from chathpc.fix.recipes.recipe import Change, Context
from chathpc.fix.recipes.serial.invariants import is_cheap, outermost

if TYPE_CHECKING:
    from tree_sitter import Node

#: More arguments cost more to compare than most functions to compute.
_MOST_PARAMETERS = 8
_WIDEST_LINE = 100
#: Callers of callers, each of which might keep its result itself, that are asked at most.
_DEEPEST = 8
#: By these a program asks how it was computed, changes how the processor rounds, or leaves a function in the middle of it.
_WATCHES = re.compile(
    rb"<c?fenv(?:\.h)?>|<c?signal(?:\.h)?>|\b(?:std::)?signal\s*\(|\bsigaction\b|\berrno\s*=(?!=)|\bsigngam\b|\bFENV_ACCESS\b"
    rb"|\b_MM_SET_\w+|\b_mm_setcsr\b|\b__builtin_ia32_ldmxcsr\b|\b_control(?:fp|87)\w*"
)
#: What says that iterations, or copies of a function on other processors, have nothing in common.
_INDEPENDENT = re.compile(
    rb"pragma\s+(?:omp\b(?:[^\n\\]|\\[\s\S])*\b(?:simd|target|variant)\b|(?:[^\n\\]|\\[\s\S])*\b(?:ivdep|assume_safety)\b|acc\b|simd\b)"
    rb"|\b(?:par_)?unseq\b"
)
_THREADS = re.compile(r"openmp|pthread|-fiopenmp|-mp\b|tbb")


def kept(context: Context, spot: Spot) -> Iterator[Change]:
    """An expensive function of numbers alone keeps the arguments and the result of its last call, and gives it back for the same.

    Looked at are the place itself and the functions that it calls, in whatever file they are.
    """
    looked_at = [(spot.procedure, spot.procedure.model.first)]
    for call in spot.procedure.all("call_expression"):
        looked_at += [
            (one, line_of(call))
            for one in context.program.named(plain_name(field(call, "function")))
            if all(one is not each for each, _ in looked_at)
        ]
    for procedure, line in looked_at:
        body, returns = procedure.body, procedure.model.returns
        if body is not None and returns is not None and _is_worthwhile(procedure, context.program):
            yield _change(procedure, body, returns, line, context)


def _is_worthwhile(procedure: Procedure, program: Program, depth: int = 0) -> bool:
    """True for a function that may keep its last result, that costs something, and is asked the same again and again."""
    question = f"last result {procedure.source.path}:{procedure.node.start_byte}"
    if question not in program.known_facts:
        if depth > _DEEPEST:
            return False
        program.known_facts[question] = False  # for a caller that asks about itself
        program.known_facts[question] = (
            _is_function_of_numbers(procedure, program)
            and is_function_of_arguments(procedure, program)
            and _is_expensive(procedure, program)
            and is_repeated(
                procedure,
                program,
                lambda call, loop, home: _is_left(call, loop, home, program),
                lambda caller: _is_worthwhile(caller, program, depth + 1),
            )
        )
    return program.known_facts[question]


def _is_left(call: Node, loop: Node, home: Procedure, program: Program) -> bool:
    """True where a benchmark repeats its work in a loop that no other is around, or the call can be moved out of the loop."""
    if is_repeated_on_purpose(loop, home) and next(around(loop, home), None) is None:
        return True
    return outermost(call, home, program) is not None


def _is_function_of_numbers(procedure: Procedure, program: Program) -> bool:
    """True for a function of its own with numbers as arguments and result, of which all is seen that decides how it is compiled."""
    model, text = procedure.model, procedure.source.text
    if (
        procedure.source.is_fortran
        or procedure.body is None
        or procedure.is_broken
        or sum(1 for _ in procedure.all("function_definition")) > 1
        or model.returns is None
        or model.name == "main"
        or len(program.named(model.name)) != 1
        or {"memcmp", "memcpy", "std", model.name} & program.macros
        or program.named("memcmp")
        or program.named("memcpy")
        or is_cpp(procedure.source, program) is None
        or not has_plain_head(procedure, program)
    ):
        return False
    if not 0 < procedure.arity == len(model.parameters) <= _MOST_PARAMETERS:
        return False
    for one in (*model.parameters, model.returns):
        kind = of_declaration(one)
        # Of a `long double` some bytes are never set.
        if not kind.is_arithmetic or kind.name == "long double" or one.reference or one.dims:
            return False
    if any(not one.name for one in model.parameters) or procedure.parameters & procedure.addressed:
        return False
    if {"memcmp", "memcpy"} & set(procedure.declarations):
        return False
    return (
        not any(_WATCHES.search(each.text) for each in program.sources.values())
        and not _is_called_independently(procedure, program)
        and not re.search(
            rb"\b(?:volatile|_Atomic|register)\b", text[procedure.node.start_byte : procedure.node.end_byte]
        )
        and all(_value_of(each, procedure, program) is not None for each in procedure.all("return_statement"))
    )


def _is_called_independently(procedure: Procedure, program: Program) -> bool:
    """True if a loop may call it whose iterations are promised to have nothing in common, or it may run on another processor."""
    for source in program.sources.values():
        for match in _INDEPENDENT.finditer(source.text):
            home = next(
                (one for one in source.procedures if one.node.start_byte <= match.start() < one.node.end_byte), None
            )
            if home is None or home is procedure or procedure in program.below(home):
                return True
    return False


def _is_expensive(procedure: Procedure, program: Program) -> bool:
    """True if it, or what it calls, calls mathematics of more than one instruction or has a loop."""
    for one in (procedure, *program.below(procedure)):
        if any(True for _ in one.all(*C_LOOPS)):
            return True
        for call in effects(one.body, one, program, 1).pure_calls if one.body is not None else ():
            if not program.named(plain_name(field(call, "function"))) and not is_cheap(call, program):
                return True
    return False


def _value_of(statement: Node, procedure: Procedure, program: Program) -> Node | None:
    """What is returned; None where it cannot be kept: nothing, a list, or what becomes a `float` in another way than by a `double`."""
    listed = children(statement)
    if len(listed) != 1 or listed[0].type == "initializer_list" or procedure.model.returns is None:
        return None
    if of_declaration(procedure.model.returns).name == "float" and _is_mixed(program):
        kind = type_of(listed[0], procedure, program)
        return listed[0] if kind is not None and kind.name in ("float", "double") and not kind.depth else None
    return listed[0]


def _is_mixed(program: Program) -> bool:
    """True for a program of both precisions: more variables of the lower one would look as if it computed in that."""
    return any(re.search(rb"\bdouble\b", one.text) for one in program.sources.values())


def _has_threads(context: Context) -> bool:
    """True unless all is seen that might start threads."""
    project = context.project
    told = " ".join([project.build, project.run.command, project.flags.value if project.flags is not None else ""])
    return context.program.has_threads or not context.program.named("main") or _THREADS.search(told) is not None


def _change(procedure: Procedure, body: Node, returns: Declaration, line: int, context: Context) -> Change:
    text, program = procedure.source.text, context.program
    cpp, mixed = bool(is_cpp(procedure.source, program)), _is_mixed(program)
    storage = "static" + ((" thread_local" if cpp else " _Thread_local") if _has_threads(context) else "")
    std = "std::" if cpp else ""
    known = b"\n".join(each.text for each in program.sources.values())
    result, flag = fresh_name("last_result", known), fresh_name("has_last", known)
    variables: dict[str, list[str]] = {}
    same, keeps = [flag], []
    for one in procedure.model.parameters:
        name, kind = one.name, " ".join(plain(one.type).split())
        last = fresh_name(f"last_{name}", known)
        if kind == "float" and mixed:
            variables.setdefault("unsigned char", []).append(f"{last}[sizeof({name})]")
            same.append(f"{std}memcmp({last}, &{name}, sizeof({name})) == 0")
            keeps.append(f"{std}memcpy({last}, &{name}, sizeof({name}));")
            continue
        variables.setdefault(kind, []).append(last)
        floating = of_declaration(one).is_floating
        same.append(f"{std}memcmp(&{last}, &{name}, sizeof({name})) == 0" if floating else f"{last} == {name}")
        keeps.append(f"{last} = {name};")
    kind = " ".join(plain(returns.type).split())
    variables.setdefault("double" if kind == "float" and mixed else kind, []).append(result)
    variables.setdefault("bool" if cpp else "int", []).append(flag)
    step = indent_step(text)
    blank = indent(text, procedure.node.start_byte) + step
    deeper = (blank + step).decode()
    tests = " && ".join(same)
    if len(blank) + len(tests) > _WIDEST_LINE:
        tests = f"\n{deeper}&& ".join(same)
    lines = [
        *(f"{storage} {kind} {', '.join(names)};" for kind, names in variables.items()),
        f"if ({tests})",
        f"{step.decode()}return {result};",
        *keeps,
        f"{flag} = {'true' if cpp else '1'};",
    ]
    edits = [_at_beginning(body, text, b"".join(blank + each.encode() + b"\n" for each in lines), blank)]
    for each in procedure.all("return_statement"):
        value = children(each)[0]
        blank_before = b"" if text[value.start_byte - 1 : value.start_byte].isspace() else b" "
        comma = value.type == "comma_expression"
        before = blank_before + f"{result} = ".encode() + (b"(" if comma else b"")
        edits.append(Edit(value.start_byte, value.start_byte, before))
        edits += [Edit(value.end_byte, value.end_byte, b")")] if comma else []
    if any("memcmp" in each for each in same):
        edits += included("cstring" if cpp else "string.h", procedure)
    did = f"keeps the last result of {procedure.model.name} with its arguments instead of computing it again"
    return Change({procedure.source.path: tuple(edits)}, line, did)


def _at_beginning(body: Node, text: bytes, lines: bytes, blank: bytes) -> Edit:
    """The lines behind the bracket that opens a function, before what else stands there."""
    start, end = body.start_byte + 1, line_end(text, body.start_byte)
    rest = text[start:end].strip()
    if not rest or (rest.startswith(b"//") and not rest.endswith(b"\\")):
        return Edit(end, end, lines)
    return Edit(start, start + (text[start : start + 1] == b" "), b"\n" + lines + blank)
