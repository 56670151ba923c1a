"""More threads than there are cores: regions in regions, and numbers of threads that the source asks for."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from chathpc.diagnosis.source.c_expressions import expression
from chathpc.diagnosis.source.layout import value
from chathpc.fix.recipes.analysis.directives import THREADS, directives
from chathpc.fix.recipes.analysis.edits import Edit, without_line
from chathpc.fix.recipes.analysis.program import Procedure, Spot
from chathpc.fix.recipes.analysis.syntax import children, field, line_of, text_of
from chathpc.fix.recipes.recipe import Change, Context

_NUMBER = re.compile(rb"[ \t,]*\bnum_threads\s*\(\s*(\w+)\s*\)")
_NESTED = ("omp_set_nested", "omp_set_max_active_levels")


def default_threads(context: Context, spot: Spot) -> Iterator[Change]:
    """As many threads as the environment says, and not a number of the source that is above that of the cores; no regions in regions."""
    program = context.program
    if any(THREADS.search(source.text) for source in program.sources.values()):
        return
    edits: dict[str, tuple[Edit, ...]] = {}
    what: list[str] = []
    for procedure in program.procedures:
        if procedure.source.is_fortran or procedure.is_broken:
            continue
        found = [*_calls(procedure, what), *_clauses(procedure, what)]
        if found:
            edits[procedure.source.path] = (*edits.get(procedure.source.path, ()), *found)
    if edits:
        line = line_of(spot.procedure.node)
        yield Change(
            edits, line, f"leaves the number of threads to the environment: no {', '.join(dict.fromkeys(what))}",
            "reassociates floating point",
        )  # fmt: skip


def _is_too_many(text: str, procedure: Procedure) -> bool:
    unit = procedure.source.file.unit
    own = [one for one in procedure.model.declarations if one.name == text and one.const and one.value is not None]
    number = int(text) if text.isdigit() else value(own[0].value, unit.constants) if own else unit.constants.get(text)
    return number is not None and number > len(os.sched_getaffinity(0))


def _calls(procedure: Procedure, what: list[str]) -> Iterator[Edit]:
    text = procedure.source.text
    for node in procedure.all("expression_statement"):
        call = next(iter(children(node)), None)
        name = text_of(field(call, "function"))
        listed = children(field(call, "arguments")) if call is not None and call.type == "call_expression" else []
        if len(listed) != 1 or node.parent is None or node.parent.type != "compound_statement":
            continue
        number = value(expression(listed[0]), procedure.source.file.unit.constants)
        if (name == "omp_set_num_threads" and _is_too_many(text_of(listed[0]), procedure)) or (
            name in _NESTED and number is not None and number > (name != "omp_set_nested")
        ):
            what.append(name)
            yield without_line(node, text)


def _clauses(procedure: Procedure, what: list[str]) -> Iterator[Edit]:
    text = procedure.source.text
    for one in directives(procedure):
        match = _NUMBER.search(text[one.node.start_byte : one.end(text)])
        if match is not None and _is_too_many(match[1].decode(), procedure):
            what.append("num_threads")
            yield Edit(one.node.start_byte + match.start(), one.node.start_byte + match.end(), b"")
