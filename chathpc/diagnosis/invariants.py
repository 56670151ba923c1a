"""What the source says about a call of a mathematical library in a loop: do its arguments change from one iteration to the
next?

This is evidence from the source: weaker than a measurement, and only ever given together with the time of the line.
"""

from __future__ import annotations

from chathpc.diagnosis.fact import Fact
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.source.hot import source_evidence
from chathpc.diagnosis.source.invariant import invariant
from chathpc.diagnosis.source.text import read_file


def invariant_call(facts: Facts, line_node: int, callees: list[str]) -> Fact | None:
    """Evidence that the line of `line_node` calls one of `callees` with arguments that the innermost loop around it does not
    change; None if the source is not there or cannot be parsed, no such call is in the line, or an argument may change.
    """
    tree = facts.profile.tree
    name, line = tree.file_name(line_node), int(tree.line[line_node])
    file = read_file(facts.profile, name) if name is not None and line > 0 else None
    function = file.function_at(line) if file is not None else None
    loop = function.innermost(line) if function is not None else None
    if file is None or function is None or loop is None or function.is_broken(loop.first, loop.last):
        return None
    sign = next((found for callee in callees if (found := invariant(function, file, loop, line, callee))), None)
    if sign is None:
        return None
    return source_evidence(facts, facts.place(line_node, line_node=line_node), sign)
