"""Constants of code that a change leaves alone, altered on both sides alike: what is computed follows, what was written down does not.

The idea is that of metamorphic and differential testing (T. Y. Chen et al., Metamorphic testing: a new approach, 1998): nobody knows the
right answer of the altered program, but both sides must give the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np

from chathpc.fix.gates.text import code, value
from chathpc.fix.thresholds import threshold
from chathpc.profile.languages import kind_of

_REAL = re.compile(r"(?<![\w.])(?:\d+\.\d*|\.\d+)(?:[eEdD][+-]?\d+)?(?![\w.])")
_COUNT = re.compile(r"(?<![\w.])\d{2,7}(?![\w.])")
#: Lines that say how much memory there is, or what a text looks like, are left alone.
_LEFT = re.compile(
    r"\[|alloc|new |dimension|\ballocatable\b|printf|format|#|write|print|include|pragma|!\$|static|parameter",
    re.IGNORECASE,
)
_STRING = re.compile(r"\"|'")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One constant altered on both sides: the whole texts of the files, and what was altered. In `everywhere` it is also altered in lines
    that the change brings, which may do what the altered line did; None where these do not have it.
    """

    original: Mapping[str, str]
    changed: Mapping[str, str]
    statement: str
    everywhere: Mapping[str, str] | None = None


def mutants(original: Mapping[str, str], changed: Mapping[str, str], random: np.random.Generator) -> Iterator[Mutant]:
    """Mutants in random order, those of real numbers first. `original` and `changed` are all files that may be edited."""
    sites = [
        site for path in sorted(original) if path in changed for site in _sites(path, original[path], changed[path])
    ]
    for real in (True, False):
        some = [site for site in sites if site[4] == real]
        for at in random.permutation(len(some)).tolist():
            path, mine, theirs, number, _ = some[at]
            altered = _altered(number, real, random)
            if altered is None:
                continue
            text = _put(changed[path], theirs, number, altered)
            everywhere = _put_in_new(original[path], text, number, altered)
            yield Mutant(
                {**original, path: _put(original[path], mine, number, altered)},
                {**changed, path: text},
                f"{path}: {number} becomes {altered}",
                None if everywhere == text else {**changed, path: everywhere},
            )


def _sites(path: str, original: str, changed: str) -> Iterator[tuple[str, tuple[int, int], tuple[int, int], str, bool]]:
    """Numbers of lines that are the same on both sides: file, (line, column) on either side, number, whether it is a real one."""
    if kind_of(path) is None:
        return
    mine, theirs = original.split("\n"), changed.split("\n")
    plain = code(path, original).plain.split("\n")
    for block in SequenceMatcher(None, mine, theirs, autojunk=False).get_matching_blocks():
        for row in range(block.size):
            at, to = block.a + row, block.b + row
            line = mine[at]
            if _STRING.search(line) or (at < len(plain) and len(plain) == len(mine) and not plain[at].strip()):
                continue
            comment = re.search(r"//|/\*|!", line)
            line = line[: comment.start()] if comment else line
            for pattern, real in ((_REAL, True), (_COUNT, False)):
                if not real and _LEFT.search(line):
                    continue
                for match in pattern.finditer(line):
                    if (value(match[0]) or 0) != 0:
                        yield path, (at, match.start()), (to, match.start()), match[0], real


def _altered(number: str, real: bool, random: np.random.Generator) -> str | None:
    if not real:
        count = int(number)
        return None if count < threshold("altered_count") else str(count - int(random.integers(1, max(2, count // 8))))
    mantissa, mark, exponent = re.match(r"([\d.]+)([eEdD]?)(.*)", number).groups()  # type: ignore[union-attr]
    digits = len(mantissa.partition(".")[2]) + 3
    factor = random.uniform(threshold("altered_least"), threshold("altered_most"))
    altered = f"{float(mantissa) * factor:.{digits}f}"
    return f"{altered}{mark}{exponent}"


def _put(text: str, place: tuple[int, int], old: str, new: str) -> str:
    rows = text.split("\n")
    row, column = place
    rows[row] = rows[row][:column] + new + rows[row][column + len(old) :]
    return "\n".join(rows)


def _put_in_new(original: str, changed: str, old: str, new: str) -> str:
    """`changed` with a number altered in all lines that the original does not have."""
    known = {line.strip() for line in original.split("\n")}
    number = re.compile(rf"(?<![\w.]){re.escape(old)}(?![\w.])")
    rows = changed.split("\n")
    return "\n".join(row if row.strip() in known else number.sub(new, row) for row in rows)
