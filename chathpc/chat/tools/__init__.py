"""The read-only tools: what may be asked of a profile, by a person, by a model, by another program.

    session = Session(chathpc.load("db/"))
    result = call(session, "top", {"by": "line", "limit": 5})
    result.error or result.as_text()

`call` never raises for what it is asked: the answer then says what was wrong. No tool changes anything, opens a file that the
profile does not name, or runs anything.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import TypeVar

from pydantic import ValidationError

from chathpc import validation
from chathpc.chat.session import Session
from chathpc.chat.tools import (
    activities,
    calls,
    catalogue,
    compare,
    devices,
    files,
    lanes,
    lines,
    locations,
    measured,
    of_run,
    query,
    summary,
    top,
    tree,
    what_if,
    why,
)
from chathpc.chat.tools.record import Arguments, Column, NoArguments, Result, Tool, refused
from chathpc.errors import ChathpcError

__all__ = ["TOOLS", "Arguments", "Column", "Result", "Session", "Tool", "call"]

#: Characters of the JSON text of arguments; a model that sends more has lost its way.
_LONGEST_ARGUMENTS = 20_000
Asked = TypeVar("Asked", bound=Arguments)

_ALL = (
    Tool("summary", "Say what was measured and the verdict; or ranks and threads, time, tool.", summary.SummaryArguments, summary.summary),
    Tool("findings", "List the performance problems found, or one in full, its fix, its confidence.", summary.FindingArguments, summary.findings),
    Tool("evidence", "Show a measured fact behind the findings by its id.", summary.EvidenceArguments, summary.evidence),
    Tool("top", "List the functions, lines, loops, load modules or GPU kernels with most of a metric.", top.TopArguments, top.top),
    Tool("activities", "Say how much time goes into computing, MPI, OpenMP, waiting, files or memory.", activities.ActivityArguments, activities.activities),
    Tool("tree", "Show the calling context tree, or the part of it below a place.", tree.TreeArguments, tree.tree),
    Tool("callers", "List who calls a function, with its time below each caller.", calls.CallArguments, calls.callers),
    Tool("callees", "List what a function calls, with the time of each.", calls.CallArguments, calls.callees),
    Tool("loops", "Say in which loops a function is called.", calls.CallArguments, calls.loops),
    Tool("source", "Show the source lines of a function, file or line with their time.", lines.SourceArguments, lines.source),
    Tool("why", "Say why a place is slow: its time, findings, callers, and lines or calls.", why.WhyArguments, why.why, to_models=False),
    Tool("locations", "Show how time is spread over ranks and threads; or compare one with the others.", locations.LocationArguments, locations.locations),
    Tool("what_if", "Compute how much faster the run would be if a place were faster (Amdahl's law).", what_if.WhatIfArguments, what_if.what_if),
    Tool("compare", "Compare with another loaded profile: what changed beyond noise.", compare.CompareArguments, compare.compare),
    Tool("metrics", "List the metrics that were measured, with units and totals.", summary.MetricArguments, summary.metrics),
    Tool("measured", "Say how much of a metric the run, a place, a rank or a kernel has.", measured.MeasuredArguments, measured.measured, to_models=False),
    Tool("missing", "Say what the profile cannot show and which command would measure it.", NoArguments, summary.missing),
    Tool("examined", "Say which checks the diagnosis ran, which it could not run, and the caveats.", NoArguments, of_run.examined),
    Tool("scaling", "Say what one run shows about more ranks or threads, and what to measure.", NoArguments, of_run.scaling),
    Tool("timeline", "Show how long GPUs and calls were busy or idle in a recorded trace.", lanes.TimelineArguments, lanes.timeline),
    Tool("files", "List the files with most time, bytes or opens.", files.FileArguments, files.files, to_models=False),
    Tool("devices", "Say which GPUs the run used.", NoArguments, devices.devices, to_models=False),
    Tool("catalogue", "Look up a performance problem (signs, what to do) or a term (roofline).", catalogue.CatalogueArguments, catalogue.catalogue),
    Tool("query", "Find contexts by a hatchet query on the hottest part of the tree.", query.QueryArguments, query.query),
)  # fmt: skip

#: All tools by name.
TOOLS: Mapping[str, Tool] = MappingProxyType({tool.name: tool for tool in _ALL})
#: The same for a series of runs.
_OF_SERIES: Mapping[str, Tool] = MappingProxyType(
    {
        **TOOLS,
        "scaling": Tool(
            "scaling",
            "Say where these runs lose time when they are scaled, and predict another scale.",
            of_run.ScalingArguments,
            of_run.at_scale,
        ),
    }
)


def tools_of(session: Session) -> Mapping[str, Tool]:
    """The tools that there are for a conversation, by name."""
    return _OF_SERIES if session.series else TOOLS


def call(session: Session, name: str, arguments: Mapping[str, object] | str | None = None) -> Result:
    """What the tool `name` answers to `arguments`, an object or its JSON text.

    What is wrong with the question (no such tool, arguments that do not fit the schema, a name that the profile does not have)
    is said in `Result.error`, with the nearest names in `Result.hint`.
    """
    tool = tools_of(session).get(name)
    if tool is None:
        near = get_close_matches(str(name)[:80], TOOLS, n=3)
        return refused(f"There is no tool '{str(name)[:80]}'.", f"There are: {', '.join(near or TOOLS)}.")
    given = validated(name, tool.arguments, arguments)
    if isinstance(given, Result):
        return given
    try:
        return tool.run(session, given)
    except ChathpcError as error:
        return refused(error.message, error.hint)


def validated(
    name: str, kind: type[Asked], arguments: Mapping[str, object] | str | None, longest: int = _LONGEST_ARGUMENTS
) -> Asked | Result:
    """The arguments of a call of the tool `name`, an object or its JSON text of at most `longest` characters; what is wrong with them."""
    try:
        return kind.model_validate(_parsed(arguments, longest))
    except ValidationError as error:
        return refused(_invalid(name, error), _expected(kind, error))
    except (ValueError, RecursionError):
        return refused(f"The arguments of {name} are not a JSON object.", "For example {}.")


def _parsed(arguments: Mapping[str, object] | str | None, longest: int) -> dict[str, object]:
    if isinstance(arguments, str):
        if len(arguments) > longest:
            raise ValueError("too long")
        arguments = json.loads(arguments) if arguments.strip() else {}
    if arguments is None:
        return {}
    if not isinstance(arguments, Mapping):
        raise ValueError("no object")
    return dict(arguments)


def _invalid(name: str, error: ValidationError) -> str:
    problem = validation.first_problem(error)
    return f"{name}: argument '{validation.place(problem)}': {validation.expected(problem)}."


def _expected(kind: type[Arguments], error: ValidationError) -> str:
    where = ".".join(map(str, validation.first_problem(error)["loc"][:1]))
    fields = kind.model_fields
    near = validation.nearest(where, fields)
    known = ", ".join(fields) or "no arguments"
    return f"Did you mean '{near}'? It takes: {known}." if near and where not in fields else f"It takes: {known}."
