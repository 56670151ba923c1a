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
from chathpc.profile.profile import Profile
from chathpc.profile.tree import NodeKind

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
#: An index or a list of arguments: brackets with at most one more level inside.
_INDEX = r"(?:\[(?:[^\[\]=]|\[[^\[\]=]*\])*\]|\((?:[^()=]|\([^()=]*\))*\))"
#: `a = `, `a[i] += `, `a[b[i]] = `, Fortran's `a(i) = `, `c->flux[k] *= `, `++i`, `i--`, `&i` (an address that is passed on);
#: not `==`, `<=`.
_ASSIGNED = re.compile(
    rf"([A-Za-z_]\w*)\s*(?:{_INDEX}\s*)*(?:[-+*/%&|^]|<<|>>)?=(?![=])|(?:\+\+|--|&)\s*([A-Za-z_]\w*)|([A-Za-z_]\w*)\s*(?:\+\+|--)"
)
_FORTRAN_DO = re.compile(r"^\s*(?:\w+\s*:\s*)?do\s+(?:\d+\s+)?([a-z_]\w*)\s*=", re.IGNORECASE)
_FORTRAN_CALL = re.compile(r"\bcall\s+\w+\s*\((.*)", re.IGNORECASE)
_FORTRAN_READ = re.compile(r"\bread\s*\([^)]*\)(.*)", re.IGNORECASE)
#: What stands before the colon of `for (auto& [a, b] : list)`, and the right sides of `stream >> a >> b`.
_RANGE_FOR = re.compile(r"\bfor\s*\(([^;:()]*(?:::[^;:()]*)*[^;:()]):(?!:)")
_EXTRACTED = re.compile(r">>\s*([A-Za-z_]\w*)")
#: A line that begins a loop; compilers may record a line of the body for it instead.
_BEGINS_LOOP = {False: re.compile(r"\b(for|while|do)\b"), True: re.compile(r"^\s*(\w+\s*:\s*)?do\b", re.IGNORECASE)}
#: So many lines above the recorded one are searched for the line that begins the loop.
_ABOVE = 5
_ENDS_DO = re.compile(r"^\s*(end\s*do\b|\d+\s+continue\b)", re.IGNORECASE)
_FORTRAN_FILE = re.compile(r"\.(f|for|f77|f90|f95|f03|f08)$", re.IGNORECASE)
_CALLED = re.compile(r"([A-Za-z_]\w*)\s*\(")
#: Functions of their arguments alone, which may stand inside an argument.
_PURE = frozenset(
    {"abs", "fabs", "min", "max", "fmin", "fmax", "sqrt", "exp", "log", "pow", "sin", "cos", "tan", "floor", "ceil"}
)
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
    known to be `pure` (the program's own) count only if all arguments are numbers, for what a pointer points to may
    change, and if the result is used: a call whose result nobody wants is made for its effects.
    """
    tree = facts.profile.tree
    file, line = tree.file_name(line_node), int(tree.line[line_node])
    header = int(tree.line[loop])
    if file is None or line <= 0 or header <= 0 or tree.file_name(loop) != file:
        return None
    inside = slice(loop, int(tree.end[loop]))
    lines = tree.line[inside][
        (tree.file[inside] == tree.file[loop])
        & (tree.function[inside] == tree.function[loop])
        & np.isin(tree.kind[inside], (NodeKind.LINE, NodeKind.LOOP))
    ]
    last = int(max(lines.max(initial=line), line))
    fortran = bool(_FORTRAN_FILE.search(file))
    read = _loop_text(facts.profile, file, min(header, line), last, fortran)
    if read is None:
        return None
    first, texts = read
    changing = assigned(texts, fortran=fortran)
    call = invariant_argument(_code(texts[line - first], fortran), callees, changing, fortran=fortran)
    if call is None:
        return None
    if not pure and not (
        _uses_result(texts[line - first], call) and _NUMBERS.fullmatch(call.split("(", 1)[1].rstrip(")"))
    ):
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


def _loop_text(profile: Profile, file: str, first: int, last: int, fortran: bool) -> tuple[int, list[str]] | None:
    """Number of the line that begins the loop, and the loop's lines up to its end; None if they are not all there.

    Only lines with samples are known from the profile, and what changes an argument may have none: so the loop is read
    from the word that begins it, at or above line `first`, to its closing bracket or `end do`, but at least to `last`.
    """

    def text(number: int) -> str | None:
        found = profile.read_source(file, number, 0) if number > 0 else None
        return found.lines[0] if found is not None and found.lines else None

    for begin in range(first, max(first - _ABOVE, 1) - 1, -1):
        header = text(begin)
        if header is None:
            return None
        if _BEGINS_LOOP[fortran].search(_code(header, fortran)):
            break
    else:
        return None
    lines: list[str] = []
    depth = 0
    opened = False
    for number in range(begin, begin + _LONGEST_LOOP):
        one = text(number)
        if one is None:
            return (begin, lines) if number > last else None
        lines.append(one)
        code = _code(one, fortran)
        if fortran:
            depth += bool(_BEGINS_LOOP[True].match(code)) - bool(_ENDS_DO.match(code))
            opened = True
        else:
            depth += code.count("{") - code.count("}")
            opened = opened or "{" in code or code.rstrip().endswith(";")
        if number >= last and opened and depth <= 0:
            return begin, lines
    return None


def _code(text: str, fortran: bool) -> str:
    """A line without its strings and its comment."""
    return re.sub(r"\"[^\"]*\"|'[^']*'|!.*" if fortran else r"\"[^\"]*\"|//.*|/\*.*?(\*/|$)", " ", text)


def assigned(lines: list[str], *, fortran: bool = False) -> set[str]:
    """Names that a loop may change, its control variables among them; a member counts by its own name (`c->flux[k]` → `flux`).

    Rather a name too many than one too few: what is passed by address, to a Fortran subroutine, or read counts as changed.
    """
    names: set[str] = set()
    for text in lines:
        code = _code(text, fortran)
        for match in _ASSIGNED.finditer(code):
            names.update(name for name in match.groups() if name)
        if fortran:
            for pattern in (_FORTRAN_DO, _FORTRAN_CALL, _FORTRAN_READ):
                for match in pattern.finditer(code):
                    names.update(_IDENTIFIER.findall(match[1]))
        else:
            for match in _RANGE_FOR.finditer(code):
                names.update(_IDENTIFIER.findall(match[1]))
            names.update(_EXTRACTED.findall(code))
    return {name.lower() for name in names} if fortran else names


def invariant_argument(text: str, callees: list[str], changing: set[str], *, fortran: bool = False) -> str | None:
    """The first call of one of `callees` in `text` none of whose argument names is in `changing`, as it is written;
    None without one. An argument that calls a function whose result may differ each time (`log(uniform())`) does not count.
    """
    pure = {*callees, *_PURE, *_WORDS}
    for callee in callees:
        for match in re.finditer(rf"\b(?:std::)?{re.escape(callee)}f?l?\s*\(", text, re.IGNORECASE if fortran else 0):
            arguments = _arguments(text, match.end())
            if arguments is None:
                continue
            names = set(_IDENTIFIER.findall(arguments.lower() if fortran else arguments)) - _WORDS
            # In Fortran `f(x)` may be an array, and functions are expected to have no side effects.
            varies = not fortran and not set(_CALLED.findall(arguments)) <= pure
            if not names & changing and not varies and "++" not in arguments and "--" not in arguments:
                return f"{callee}({arguments.strip()})"
    return None


def _uses_result(text: str, call: str) -> bool:
    """True if `call` stands in an expression of the line: behind an operator, an assignment, a bracket or `return`."""
    before = text[: max(text.find(call.split("(", 1)[0]), 0)].rstrip()
    before = re.sub(
        r"(?:\w+\s*::\s*)+$", "", before
    ).rstrip()  # a namespace; a call through an object depends on the object
    return bool(re.search(r"(?:[-+*/%=<>&|,(\[]|\breturn)$", before)) and not before.endswith(("->", "for (", ") ("))


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
