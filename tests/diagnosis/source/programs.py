"""Profiles of small programs in which one line has the time: `// HOT` marks it, `// HOT name` the line that calls name."""

from __future__ import annotations

import re
from dataclasses import dataclass

from chathpc.diagnosis.records import Diagnosis
from chathpc.diagnosis.source.model import Function
from chathpc.diagnosis.source.text import parsed
from tests.diagnosis.parts import diagnosed, function, libc, libm, main, source, thread
from tests.profile.build import build, line, loop

_MARK = re.compile(r"(?://|!) HOT(?: (\w+))?")
_LIBM = {"pow", "exp", "log", "sin", "cos"}
_LIBC = {"malloc", "free", "memcpy", "memmove", "strlen", "strcmp", "strcat", "fsync", "fopen"}


@dataclass(frozen=True)
class Case:
    """A program and the first cause that its diagnosis must name; an empty one for none but hot code."""

    name: str
    cause: str
    text: str


def case(name: str, cause: str, text: str) -> Case:
    return Case(name, cause, text.strip("\n") + "\n")


def diagnosis_of(text: str, file: str, *, once: bool = False, threads: int = 1) -> Diagnosis:
    """The diagnosis of a profile in which all time lies at the marked lines; the function is called in a loop of main,
    unless `once`.
    """
    parse = parsed(file, text.encode())
    assert parse is not None
    places: dict[str, list] = {}
    for number, one in enumerate(text.splitlines(), 1):
        mark = _MARK.search(one)
        if mark is None:
            continue
        holder = parse.function_at(number) or Function("f", 1, len(text.splitlines()))  # where it cannot be parsed
        each = (1.0,) * threads if threads > 1 else 1.0
        called = mark[1]
        if called is None:
            node = line(f"{file}:{number}", time=each)
        elif called in _LIBM:
            node = line(f"{file}:{number}", libm(called, time=each))
        elif called in _LIBC:
            node = line(f"{file}:{number}", libc(called, time=each))
        else:
            (first,) = (one.first for one in parse.functions_named(called))
            own = line(f"{file}:{first + 1}", time=each)
            node = line(f"{file}:{number}", function(called, own, at=f"{file}:{first}"))
        around = holder.innermost(number)
        if around is not None:
            node = loop(f"{file}:{around.first}", node)
        places.setdefault(holder.name, []).append(node)
    tops = []
    for name, nodes in places.items():
        first = next((one.first for one in parse.functions_named(name)), 1)
        tops.append(function(name, *nodes, at=f"{file}:{first}"))
    if not once:
        tops = [loop("driver.c:5", line("driver.c:6", *tops))]
    root = main(*tops, at="driver.c:1")
    more = [thread(function("idle", time=(0.0, 1e-3), at="driver.c:20"))] if threads > 1 else []
    return diagnosed(build(root, *more, read_source=source({file: text})))


def first_cause(text: str, file: str) -> str:
    """The first cause that is named, or that hot code is suspected of; empty where there is none."""
    once = "ONCE" in text
    threads = 2 if "omp" in text else 1
    findings = diagnosis_of(text, file, once=once, threads=threads).findings
    named = [one.cause for one in findings if one.cause not in ("hot-compute", "library-call", "omp-load-imbalance")]
    suspected = [
        "omp-false-sharing" for one in findings if any("It may be false sharing" in each for each in one.against)
    ]
    return next(iter(suspected + named), "")
