"""Lines of free-form Fortran that a change made too long."""

from __future__ import annotations

import re

#: Characters of a line (Fortran 2018, 6.3.2.1); Fortran 2023 allows more, compilers do not yet.
LONGEST = 132
_STRING_OR_COMMENT = re.compile(rb"'(?:[^']|'')*'?|\"(?:[^\"]|\"\")*\"?|(?P<comment>!.*)")
_DIRECTIVE = re.compile(rb"[ \t]*!\$(?:omp|acc)\b", re.IGNORECASE)
#: A line is best broken behind one of these.
_BREAKS = b" ,+*/()=-"


def folded(text: bytes, original: bytes) -> bytes:
    """`text` with what is new against `original` and longer than LONGEST continued on the next line."""
    if all(len(line) <= LONGEST for line in text.split(b"\n")):
        return text
    known = set(original.split(b"\n"))
    return b"\n".join(line if line in known else _folded(line) for line in text.split(b"\n"))


def _folded(line: bytes) -> bytes:
    """The line in as many as it takes. With an ampersand at its beginning a line goes on where the one before broke off, be it in a word
    (Fortran 2018, 6.3.2.4)."""
    directive = _DIRECTIVE.match(line)
    first = len(line) - len(line.lstrip())
    begin = (directive.group() if directive else b" " * min(first + 4, 40)) + b"&"
    parts = []
    while len(line) > LONGEST and len(_code(line, directive is not None)) > LONGEST - 1:
        at = _place(line, directive is not None)
        parts.append(line[:at] + b"&")
        line = begin + line[at:]
    return b"\n".join([*parts, line])


def _code(line: bytes, directive: bool) -> bytes:
    """The line without a comment behind it."""
    skip = line.find(b"!") + 1 if directive else 0
    for match in _STRING_OR_COMMENT.finditer(line, skip):
        if match["comment"] is not None:
            return line[: match.start()].rstrip()
    return line


def _place(line: bytes, directive: bool) -> int:
    """Where to break: behind an operator or blank in the last third, outside of texts in quotes; anywhere if there is none."""
    skip = line.find(b"!") + 1 if directive else 0
    quoted = [match.span() for match in _STRING_OR_COMMENT.finditer(line, skip)]
    for at in range(LONGEST - 1, LONGEST * 2 // 3, -1):
        if line[at - 1] in _BREAKS and not any(start < at < end for start, end in quoted):
            return at
    return LONGEST - 1
