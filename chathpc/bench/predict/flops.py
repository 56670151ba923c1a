"""The floating-point operations of a launch by three typed questions to a model: which statements, which values, how often.

The model never adds up: it names lines with what one execution does, the values that decide how often they run, and a formula for each;
code checks all of it against the source and computes the sum. Lines are given by number, so that no answer copies source.
"""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from chathpc.bench.predict.labels import Label
from chathpc.bench.predict.questions import DEADLINE, Program, launch_lines, source_lines
from chathpc.bench.predict.sources import SourceFile
from chathpc.llm.backend import Request
from chathpc.prompts.loader import template
from chathpc.prompts.untrusted import block, marker_of, quote

#: The launches of the paper's table with the operations that it reports, by program and kernel.
TABLE = {
    ("resize-cuda", "resize"): 16_779_307,
    ("zerocopy-cuda", "vectorAddGPU"): 1_050_389,
    ("iso2dfd-cuda", "iso_2dfd_kernel"): 54_419_825,
    ("nlll-cuda", "nll_loss_forward_reduce2d_kernel"): 6_006,
    ("backprop-cuda", "kernel_layerforward"): 3_080_240,
}

#: Operations of the profiler (adds, multiplies, twice the multiply-adds) in what nvcc 13 makes of one of these for sm_86 without -use_fast_math,
#: counted in the disassembly along the usual path: a/b five FFMA; sqrtf two FMUL, two FFMA; expf four FFMA, FADD, FMUL; logf eleven FFMA, FADD,
#: FMUL; in double precision a/b seven DFMA, DMUL; sqrt five DFMA, three DMUL; exp 14 DFMA, DADD; log 16 DFMA, eight DADD, four DMUL.
COSTS: Mapping[str, Mapping[str, int]] = {
    "fp32": {"adds": 1, "multiplies": 1, "divisions": 10, "roots": 6, "exponentials": 10, "logarithms": 24, "other": 1},
    "fp64": {
        "adds": 1,
        "multiplies": 1,
        "divisions": 15,
        "roots": 13,
        "exponentials": 29,
        "logarithms": 44,
        "other": 1,
    },
}
#: Operations of one execution of a line, executions of a line: beyond these it is a mistake.
_MOST_OPERATIONS = 10_000
_MOST_EXECUTIONS = 1e16
#: Longest formula; its tree is then no deeper than Python follows.
_LONGEST = 300

#: Puts a question; `problem` finds fault with an answer's form, and then it is put once more. None where there is no answer.
Ask = Callable[[str, Request, Callable[[str], str]], str | None]
Read = TypeVar("Read")


@dataclass(frozen=True, slots=True)
class Statement:
    """A line that computes, and the operations of one execution by one thread."""

    file: str
    line: int
    precision: str
    operations: int


@dataclass(frozen=True, slots=True)
class Value:
    """A value at the launch, with the bounds that the model gives it."""

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Times:
    """How often a statement runs over all threads, already computed, and the formula."""

    statement: Statement
    executions: float
    formula: str


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the chain of questions came to."""

    parts: tuple[Times, ...]

    @property
    def flops(self) -> float:
        """All floating-point operations of the launch."""
        return sum(each.executions * each.statement.operations for each in self.parts)


def chain(program: Program, ask: Ask) -> Estimate | None:
    """The operations of a launch by three questions; None where one has no usable answer."""
    files = {each.name: len(each.text.splitlines()) for each in program.source}
    first = statements_question(program)
    statements = _answer(ask, "flops statements", first, lambda text: read_statements(text, files))
    if not statements:
        return None if statements is None else Estimate(())
    values = _answer(ask, "flops values", values_question(program, statements), read_values)
    if values is None:
        return None
    last = times_question(program, statements, values)
    times = _answer(ask, "flops times", last, lambda text: read_times(text, statements, values))
    return None if times is None else Estimate(times)


def _answer(ask: Ask, kind: str, request: Request, read: Callable[[str], Read]) -> Read | None:
    """What `read` makes of the answer; None where there is none or it cannot be."""

    def fault(text: str) -> str:
        try:
            read(text)
        except ValueError as error:
            return str(error)
        return ""

    text = ask(kind, request, fault)
    return None if text is None or fault(text) else read(text)


def statements_question(program: Program) -> Request:
    """Which lines compute, and what one execution of each does."""
    return _request("predict_flops_statements", program)


def values_question(program: Program, statements: Sequence[Statement]) -> Request:
    """Which values decide how often they run, and what these are."""
    return _request("predict_flops_values", program, ("statements", _statement_lines(statements)))


def times_question(program: Program, statements: Sequence[Statement], values: Sequence[Value]) -> Request:
    """How often each runs, as a formula of the values."""
    known = [f"{each.name} = {each.value:.12g}" for each in values]
    return _request("predict_flops_times", program, ("statements", _statement_lines(statements)), ("values", known))


def read_statements(text: str, files: Mapping[str, int]) -> tuple[Statement, ...]:
    """The statements of an answer; `files` are lines by file. ValueError, in one clause, for what cannot be."""
    found = []
    for row in _rows(text, "statements"):
        file, line, precision = row["file"], row["line"], row["precision"]
        if not isinstance(file, str) or file not in files or not isinstance(line, int) or not 1 <= line <= files[file]:
            raise ValueError(f"there is no line {quote(str(line))} of {quote(str(file))}")
        if precision not in COSTS:
            raise ValueError("precision is fp32 or fp64")
        costs = COSTS[str(precision)]
        operations = sum(cost * _whole(row[name]) for name, cost in costs.items())
        if operations > _MOST_OPERATIONS:
            raise ValueError(f"line {line} does too much at once")
        found.append(Statement(file, line, str(precision), operations))
    return tuple(found)


def read_values(text: str) -> tuple[Value, ...]:
    """The values of an answer; ValueError, in one clause, for what cannot be."""
    found: dict[str, Value] = {}
    for row in _rows(text, "values"):
        name = row["name"]
        numbers = [row["value"], row["low"], row["high"]]
        if not isinstance(name, str) or not name.isidentifier() or not name.isascii():
            raise ValueError(f"{quote(str(name))} is no identifier")
        if any(
            isinstance(each, bool) or not isinstance(each, int | float) or not math.isfinite(each) for each in numbers
        ):
            raise ValueError(f"the value of {name} is no number")
        value, low, high = (float(str(each)) for each in numbers)
        if not low <= value <= high:
            raise ValueError(f"{name} does not lie between its bounds")
        if name in found:
            raise ValueError(f"{name} is there twice")
        found[name] = Value(name, value, low, high)
    return tuple(found.values())


def read_times(text: str, statements: Sequence[Statement], values: Sequence[Value]) -> tuple[Times, ...]:
    """How often each statement runs; ValueError, in one clause, for what cannot be."""
    ids = {f"S{number}": each for number, each in enumerate(statements, 1)}
    names = {each.name: each.value for each in values}
    found: dict[str, Times] = {}
    for row in _rows(text, "times"):
        which, formula, share = row["statement"], row["executions"], row["share"]
        if which not in ids or which in found:
            raise ValueError(f"{quote(str(which))} is no statement, or is there twice")
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
            raise ValueError(f"the share of {which} is not between 0 and 1")
        times = evaluate(str(formula), names) * share
        if not 0 <= times <= _MOST_EXECUTIONS:
            raise ValueError(f"{which} cannot run {times:g} times")
        found[str(which)] = Times(ids[str(which)], times, str(formula))
    missing = [each for each in ids if each not in found]
    if missing:
        raise ValueError(f"{missing[0]} is missing")
    return tuple(found.values())


def evaluate(formula: str, names: Mapping[str, float]) -> float:
    """The value of a formula of numbers, names, + - * / // % **, min, max, ceil, floor and log2; ValueError for anything else."""
    if len(formula) > _LONGEST:
        raise ValueError("a formula is too long")
    try:
        return _value(ast.parse(formula, mode="eval").body, names)
    except (SyntaxError, ZeroDivisionError, OverflowError, RecursionError, MemoryError):
        raise ValueError(f"{quote(formula)} has no value") from None


_OPERATORS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
    ast.Pow: lambda a, b: math.pow(a, b),
}
_FUNCTIONS: Mapping[str, Callable[..., float]] = {
    "min": min,
    "max": max,
    "ceil": math.ceil,
    "floor": math.floor,
    "log2": math.log2,
}


def _value(node: ast.expr, names: Mapping[str, float]) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return float(node.value)
    if isinstance(node, ast.Name) and node.id in names:
        return names[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, names)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.left, names), _value(node.right, names))
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in _FUNCTIONS
        and not node.keywords
    ):
        arguments = [_value(each, names) for each in node.args]
        if len(arguments) != (2 if node.func.id in ("min", "max") else 1):
            raise ValueError(f"{node.func.id} has the wrong number of arguments")
        return float(_FUNCTIONS[node.func.id](*arguments))
    raise ValueError(
        f"a formula has only the names of values, numbers and simple arithmetic: {quote(ast.unparse(node))}"
    )


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("operations are whole numbers")
    return value


def _rows(text: str, name: str) -> Sequence[Mapping[str, object]]:
    try:
        rows = json.loads(text)[name]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError(f"it is not JSON with {name}") from None
    required = template(f"predict_flops_{name}").schema or {}
    keys = required["properties"][name]["items"]["required"]  # type: ignore[index]
    if not isinstance(rows, list) or not all(isinstance(row, dict) and set(keys) <= set(row) for row in rows):
        raise ValueError(f"an entry of {name} lacks a part")
    return rows


def _statement_lines(statements: Sequence[Statement]) -> list[str]:
    return [f"S{number}: {each.file}:{each.line} ({each.precision})" for number, each in enumerate(statements, 1)]


def _request(name: str, program: Program, *more: tuple[str, list[str]]) -> Request:
    form = template(name)
    source: Sequence[SourceFile] = program.source
    label: Label = program.label
    parts = [("launch", launch_lines(label)), ("source", source_lines(source, numbered=True)), *more]
    marker = marker_of(line for _, lines in parts for line in lines)
    user = "\n\n".join([*(block(title, lines, marker) for title, lines in parts), form.task])
    return Request(form.system, user, form.max_output_tokens, json_schema=form.schema, deadline=DEADLINE)
