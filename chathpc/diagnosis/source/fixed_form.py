"""Fixed-form Fortran as free form: every statement keeps its line and its columns.

Columns 1 to 5 hold a label, a character in column 6 continues the statement of the line before, and what stands behind column 72
is no part of it (Fortran 2018, 6.3.3). Compilers read further with an option that the text does not tell, so a file with
statements behind column 72 is taken to be meant so.
"""

from __future__ import annotations

import re

_LABELS, _MARK, _END = 5, 5, 72
#: With what a line of comment begins; D is one of debugging lines, which compilers leave out.
_COMMENT = re.compile(rb"[cC*!dD]")
_DIRECTIVE = re.compile(rb"[cC*!]\$(?:[oO][mM][pP]|[aA][cC][cC])(?P<mark>.)")
#: What stood behind column 72 on punched cards: a number of the card; and the `&` of text meant for both forms.
_CARD = re.compile(rb"[ \w.+-]{0,8}\s*|&\s*")
#: Statements in the columns of labels: text that is free form whatever its file is called.
_FREE = re.compile(rb"[ \d]{0,4}[A-Za-z_]\w*[ (=:]")


def looks_fixed(text: bytes) -> bool:
    """False for free form in a file that is named like fixed form: statements stand in the columns of labels."""
    return not any(
        _FREE.match(line) and not _COMMENT.match(line) and not line.startswith(b"#") for line in text.split(b"\n")
    )


def free_form(text: bytes) -> bytes:
    """The text in free form, with as many lines; only comments between continued lines are lost."""
    lines = [line.rstrip(b"\r") for line in text.split(b"\n")]
    behind = (line[: _statement_end(line)][_END:] for line in lines if len(line) > _END and not _is_comment(line))
    longest = _END if all(_CARD.fullmatch(each) for each in behind) else None
    result: list[bytes] = []
    last = -1  # the line that a continuation continues
    between: list[int] = []  # comments since then
    for number, line in enumerate(lines):
        directive = _DIRECTIVE.match(line)
        if directive is not None:
            goes_on = directive["mark"] not in b" 0"
            result.append(b"!$" + line[2:5] + (b"&" if goes_on else b" ") + line[6:longest])
            continue
        if _is_comment(line):
            result.append(b"!" + line[1:] if line.strip() and not line.startswith(b"#") else line)
            between.append(number)
            continue
        line = line[:longest] if _statement_end(line) > _END else line
        if len(line) > _MARK and line[_MARK : _MARK + 1] not in b" 0" and not line[:_LABELS].strip() and last >= 0:
            result[last] = _continued(result[last])
            for each in between:
                result[each] = b""
            line = b" " * (_MARK + 1) + line[_MARK + 1 :]
        elif line[_MARK : _MARK + 1] == b"0":
            line = line[:_MARK] + b" " + line[_MARK + 1 :]
        result.append(line)
        last, between = number, []
    return b"\n".join(result)


def _is_comment(line: bytes) -> bool:
    """True for comments, lines of the preprocessor and empty lines."""
    return bool(_COMMENT.match(line)) or line.startswith(b"#") or not line.strip() or line.lstrip().startswith(b"!")


def _continued(line: bytes) -> bytes:
    """The line with `&` behind its statement; a comment behind that is dropped."""
    return line[: _statement_end(line)].rstrip() + b" &"


def _statement_end(line: bytes) -> int:
    """Where a comment behind a statement begins, else the end of the line."""
    quote = 0
    for at, letter in enumerate(line):
        if quote:
            quote = 0 if letter == quote else quote
        elif letter in b"'\"":
            quote = letter
        elif letter == 0x21 and at > _MARK:  # !
            return at
    return len(line)
