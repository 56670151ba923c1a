"""What the source says about a call in a loop: do its arguments change from one iteration to the next?

Read as text, not compiled: identifiers in the arguments are compared with everything that is assigned in the loop. This
is
evidence from the source: weaker than a measurement, and only ever given together with the time of the line.
"""

from __future__ import annotations

import re

import numpy as np

from chathpc.diagnosis.draft import fact
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.records import Evidence
from chathpc.profile.tree import NodeKind

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
#: `a = `, `a[i] += `, `c->flux[k] *= `, `++i`, `i--`; not `==`, `<=`.
_ASSIGNED = re.compile(
    r"([A-Za-z_]\w*)\s*(?:\[[^\]=]*\]\s*)*(?:[-+*/%&|^]|<<|>>)?=(?![=])|(?:\+\+|--)\s*([A-Za-z_]\w*)|([A-Za-z_]\w*)\s*(?:\+\+|--)"
)
_FORTRAN_DO = re.compile(r"^\s*do\s+(?:\d+\s+)?([a-z_]\w*)\s*=", re.IGNORECASE)
_WORDS = frozenset(
    {
        "sizeof",
        "double",
        "float",
        "int",
        "long",
        "unsigned",
        "const",
        "static_cast",
        "return",
        "auto",
        "if",
        "for",
        "while",
    }
)
_NUMBERS = re.compile(r"[\d.eE+\-*/ ,]*\d[\d.eE+\-*/ ,fFlLuU]*")
#: A loop longer than this is not read.
_LONGEST_LOOP = 120


def invariant_call(
    facts: Facts, loop: int, line_node: int, callees: list[str], *, pure: bool = True
) -> Evidence | None:
    """Evidence that the line of `line_node` calls one of `callees` with arguments that the loop at node `loop` does not
    change.

    None if the source is not there, the call is not found in the line, or an argument may change. Functions that are not
    known to be `pure` (the program's own) count only if all arguments are numbers: what a pointer points to may change.
    """
    tree = facts.profile.tree
    file, line = tree.file_name(line_node), int(tree.line[line_node])
    header = int(tree.line[loop])
    if file is None or line <= 0 or header <= 0 or tree.file_name(loop) != file:
        return None
    inside = slice(loop, int(tree.end[loop]))
    lines = tree.line[inside][
        (tree.file[inside] == tree.file[loop]) & np.isin(tree.kind[inside], (NodeKind.LINE, NodeKind.LOOP))
    ]
    last = int(max(lines.max(initial=line), line))
    first = min(header, line)
    if last - first > _LONGEST_LOOP:
        return None
    excerpt = facts.profile.read_source(file, first, 0)
    body = [facts.profile.read_source(file, number, 0) for number in range(first, last + 1)]
    if excerpt is None or any(one is None for one in body):
        return None
    texts = [one.lines[0] for one in body if one is not None]
    changing = assigned(texts, header_offset=header - first)
    call = invariant_argument(texts[line - first], callees, changing)
    if call is None or (not pure and not _NUMBERS.fullmatch(call.split("(", 1)[1].rstrip(")"))):
        return None
    place = facts.place(line_node, line_node=line_node)
    return fact(
        facts,
        f"The source of {place.short} calls {call}, and nothing in it changes in the loop at {tree.place(loop)}.",
        float(line),
        unit="line",
        subject=place.short,
        how="read from the source text, not measured",
        where=place,
    )


def assigned(lines: list[str], *, header_offset: int = 0) -> set[str]:
    """Names that a loop assigns, with those of its control variable; a member counts by its own name (`c->flux[k]`
    → `flux`).
    """
    names: set[str] = set()
    for offset, text in enumerate(lines):
        code = re.sub(r'"[^"]*"|//.*|!.*$', "", text) if offset != header_offset else text
        for match in _ASSIGNED.finditer(code):
            names.update(name for name in match.groups() if name)
        if do := _FORTRAN_DO.match(code):
            names.add(do[1])
    return names


def invariant_argument(text: str, callees: list[str], changing: set[str]) -> str | None:
    """The first call of one of `callees` in `text` none of whose argument names is in `changing`, as it is written;
    None without one.
    """
    for callee in callees:
        for match in re.finditer(rf"\b(?:std::)?{re.escape(callee)}f?l?\s*\(", text):
            arguments = _arguments(text, match.end())
            if arguments is None:
                continue
            names = {name for name in _IDENTIFIER.findall(arguments) if name not in _WORDS}
            if not names & changing and "++" not in arguments and "--" not in arguments:
                return f"{callee}({arguments.strip()})"
    return None


def _arguments(text: str, begin: int) -> str | None:
    """Text between the bracket that opened before `begin` and its partner; None if it does not close in the line."""
    depth = 1
    for position in range(begin, len(text)):
        if text[position] == "(":
            depth += 1
        elif text[position] == ")":
            depth -= 1
            if depth == 0:
                return text[begin:position]
    return None
