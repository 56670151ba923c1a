"""The floating-point operations of a launch by three typed questions to a model: which statements, which values, how often.

The model never adds up: it names lines with what one execution does, the values that decide how often they run, and a formula for each;
code checks all of it against the source and computes the sum. Lines are given by number, so that no answer copies source.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from chathpc.bench.predict.questions import DEADLINE, Program, launch_lines, source_lines
from chathpc.llm.backend import Request
from chathpc.predict.alone import evaluate
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


def chain(program: Program, ask: Ask) -> float | None:
    """The operations of a launch by three questions; None where one has no usable answer."""
    files = {each.name: len(each.text.splitlines()) for each in program.source}
    first = _request("predict_flops_statements", program)
    statements = _answer(ask, "flops statements", first, lambda text: read_statements(text, files))
    if not statements:
        return None if statements is None else 0.0
    told = [f"S{number}: {each.file}:{each.line} ({each.precision})" for number, each in enumerate(statements, 1)]
    second = _request("predict_flops_values", program, ("statements", told))
    values = _answer(ask, "flops values", second, read_values)
    if values is None:
        return None
    known = [f"{name} = {value:.12g}" for name, value in values.items()]
    last = _request("predict_flops_times", program, ("statements", told), ("values", known))
    return _answer(ask, "flops times", last, lambda text: read_times(text, statements, values))


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
        if any(type(row[name]) is not int or row[name] < 0 for name in costs):
            raise ValueError("operations are whole numbers")
        operations = sum(cost * row[name] for name, cost in costs.items())
        if operations > _MOST_OPERATIONS:
            raise ValueError(f"line {line} does too much at once")
        found.append(Statement(file, line, str(precision), operations))
    return tuple(found)


def read_values(text: str) -> dict[str, float]:
    """The values of an answer by their names; ValueError, in one clause, for what cannot be."""
    found: dict[str, float] = {}
    for row in _rows(text, "values"):
        name = row["name"]
        if not isinstance(name, str) or not name.isidentifier() or not name.isascii():
            raise ValueError(f"{quote(str(name))} is no identifier")
        numbers = [row["value"], row["low"], row["high"]]
        if any(type(each) not in (int, float) or not math.isfinite(each) for each in numbers):
            raise ValueError(f"the value of {name} is no number")
        value, low, high = map(float, numbers)
        if not low <= value <= high:
            raise ValueError(f"{name} does not lie between its bounds")
        if name in found:
            raise ValueError(f"{name} is there twice")
        found[name] = value
    return found


def read_times(text: str, statements: Sequence[Statement], values: Mapping[str, float]) -> float:
    """All operations, by how often each statement runs; ValueError, in one clause, for what cannot be."""
    left = {f"S{number}": each for number, each in enumerate(statements, 1)}
    total = 0.0
    for row in _rows(text, "times"):
        which, formula, share = str(row["statement"]), str(row["executions"]), row["share"]
        if which not in left:
            raise ValueError(f"{quote(which)} is no statement, or is there twice")
        if type(share) not in (int, float) or not 0 <= share <= 1:
            raise ValueError(f"the share of {which} is not between 0 and 1")
        times = evaluate(formula, values, powers=True) * share
        if not 0 <= times <= _MOST_EXECUTIONS:
            raise ValueError(f"{which} cannot run {times:g} times")
        total += times * left.pop(which).operations
    if left:
        raise ValueError(f"{next(iter(left))} is missing")
    return total


def _rows(text: str, name: str) -> Sequence[Mapping[str, Any]]:
    try:
        rows = json.loads(text)[name]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError(f"it is not JSON with {name}") from None
    required = template(f"predict_flops_{name}").schema or {}
    keys = required["properties"][name]["items"]["required"]  # type: ignore[index]
    if not isinstance(rows, list) or not all(isinstance(row, dict) and set(keys) <= set(row) for row in rows):
        raise ValueError(f"an entry of {name} lacks a part")
    return rows


def _request(name: str, program: Program, *more: tuple[str, list[str]]) -> Request:
    form = template(name)
    parts = [("launch", launch_lines(program.label)), ("source", source_lines(program.source, numbered=True)), *more]
    marker = marker_of(line for _, lines in parts for line in lines)
    user = "\n\n".join([*(block(title, lines, marker) for title, lines in parts), form.task])
    return Request(form.system, user, form.max_output_tokens, json_schema=form.schema, deadline=DEADLINE)
