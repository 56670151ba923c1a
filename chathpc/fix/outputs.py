"""Two outputs of a program compared: the same words, and numbers that are equal within tolerance and written alike."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from chathpc.fix.project import Check
from chathpc.fix.thresholds import threshold
from chathpc.profile.text import clean

Kind = Literal["none", "missing", "text", "number", "format", "poison", "length", "status", "binary"]

#: A number as C, C++ and Fortran print it (Fortran: `1.5D+03`, `1.234-101`), or what they print for none.
_NUMBER = re.compile(
    rb"(?<![A-Za-z_0-9.])[+-]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][+-]?\d+|(?<=[\d.])[+-]\d{3}(?!\d))?(?![A-Za-z_0-9])"
    rb"|(?<![A-Za-z_0-9])[+-]?(?:nan(?:\([^)]*\))?|inf(?:inity)?)(?![A-Za-z_0-9])",
    re.IGNORECASE,
)
_BARE_EXPONENT = re.compile(rb"(?<=[\d.])([+-]\d{3})\Z")
#: Of a text that is shown to a person (characters).
_SHOWN = 60
#: Outputs with more are compared byte by byte (bytes).
_MOST = 256 << 20
#: Magnitudes of numbers in binary files: as doubles, pairs of integers below 9 · 10^8 and most text are smaller.
_REAL = (1e-30, 1e30)


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs first, and by how much the numbers differ at most (relative; 0 if none was compared).

    `kind` "none": nothing differs. "poison": NaN or infinity where the original has a number.
    """

    kind: Kind
    statement: str = ""
    largest: float = 0.0
    numbers: int = 0

    @property
    def same(self) -> bool:
        """Nothing differs beyond tolerance."""
        return self.kind == "none"


@dataclass(frozen=True, slots=True)
class Outputs:
    """What one run left: exit status, and the bytes of what is compared, by name; None for a file that is not there."""

    code: int
    contents: dict[str, bytes | None] = field(default_factory=dict)


def compare(original: Outputs, changed: Outputs, check: Check) -> Difference:
    """The first difference beyond tolerance, over all that `check` declares; files in their order."""
    if original.code != changed.code:
        return Difference("status", f"the exit status is {changed.code}, the original's {original.code}")
    largest, numbers = 0.0, 0
    for name, mine in original.contents.items():
        theirs = changed.contents.get(name)
        if mine is None or theirs is None:
            if mine is not theirs:
                gone = "is not written" if theirs is None else "is written, unlike by the original"
                return Difference("missing", f"{clean(name)} {gone}")
            continue
        found = compare_bytes(name, mine, theirs, check)
        if not found.same:
            return found
        largest, numbers = max(largest, found.largest), numbers + found.numbers
    return Difference("none", "", largest, numbers)


def compare_bytes(name: str, original: bytes, changed: bytes, check: Check) -> Difference:
    """The first difference between two contents.

    Text is compared line by line without the lines that `check.ignore` names: words must be the same, blanks count as one,
    numbers may differ within tolerance, and have to be written as finely (`%g` leaves out a last zero, so one digit less is none).
    What holds NUL bytes is no text and must be equal, but for floating point numbers within tolerance at some alignment; so is what is no
    UTF-8, if that makes it the same.
    """
    if original == changed:
        return Difference("none", numbers=0)
    if len(original) == len(changed) <= _MOST and not (_is_text(original) and _is_text(changed)):
        found = _binary(original, changed, check)
        if found is not None:
            return found
    if b"\0" in original or b"\0" in changed or max(len(original), len(changed)) > _MOST:
        at = next(
            (i for i, (a, b) in enumerate(zip(original, changed, strict=False)) if a != b),
            min(len(original), len(changed)),
        )
        return Difference(
            "binary", f"{clean(name)} differs from byte {at} on ({len(original)} bytes, now {len(changed)})"
        )
    ignored = [re.compile(pattern.encode()) for pattern in check.ignore]
    mine, theirs = _lines(original, ignored), _lines(changed, ignored)
    largest, numbers = 0.0, 0
    for (number, line), (_, other) in zip(mine, theirs, strict=False):
        if line == other:
            continue
        found = _compare_line(f"{clean(name)} line {number}", line, other, check)
        if not found.same:
            return found
        largest, numbers = max(largest, found.largest), numbers + found.numbers
    if len(mine) != len(theirs):
        return Difference("length", f"{clean(name)} has {len(theirs)} lines, the original's {len(mine)}")
    fewer = most_digits(row for _, row in mine) - most_digits(row for _, row in theirs)
    if fewer >= threshold("coarser"):
        return Difference("format", f"{clean(name)}: numbers have {fewer} fewer digits")
    return Difference("none", "", largest, numbers)


def _is_text(content: bytes) -> bool:
    if b"\0" in content:
        return False
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _binary(original: bytes, changed: bytes, check: Check) -> Difference | None:
    """Nothing differs, if all words that differ are numbers that agree within tolerance: doubles or singles, at one alignment; else None.

    Numbers that programs compute lie within `_REAL`; two small integers side by side, read as a double, do not.
    """
    mine, theirs = np.frombuffer(original, dtype=np.uint8), np.frombuffer(changed, dtype=np.uint8)
    at = np.flatnonzero(mine != theirs)
    for kind in (np.dtype("<f8"), np.dtype("<f4")):
        size = kind.itemsize
        for shift in range(size):
            words = np.unique((at - shift) // size)
            if words[0] < 0 or shift + size * (words[-1] + 1) > len(mine):
                continue
            places = shift + size * words[:, None] + np.arange(size)
            with np.errstate(all="ignore"):
                first, second = (side[places].view(kind)[:, 0].astype(np.float64) for side in (mine, theirs))
                away, least = np.abs(second - first), np.minimum(np.abs(first), np.abs(second))
                real = (least >= _REAL[0]) & (np.maximum(np.abs(first), np.abs(second)) <= _REAL[1])
                if np.all(real & (away <= np.maximum(check.relative * np.abs(first), check.absolute))):
                    return Difference("none", "", float(np.max(away / np.abs(first))), len(words))
    return None


def _lines(text: bytes, ignored: Sequence[re.Pattern[bytes]]) -> list[tuple[int, bytes]]:
    """Numbered lines that count."""
    rows = ((number, b" ".join(row.split())) for number, row in enumerate(text.split(b"\n"), 1))
    return [(number, row) for number, row in rows if row and not any(pattern.search(row) for pattern in ignored)]


def _compare_line(where: str, original: bytes, changed: bytes, check: Check) -> Difference:
    mine, theirs = _NUMBER.findall(original), _NUMBER.findall(changed)
    if len(mine) != len(theirs) or _words(original) != _words(changed):
        return Difference("text", f"{where}: {_show(changed)} instead of {_show(original)}")
    largest = 0.0
    for text, other in zip(mine, theirs, strict=True):
        first, second = value_of(text), value_of(other)
        if not math.isfinite(first) or not math.isfinite(second):
            if first == second or (math.isnan(first) and math.isnan(second)):
                continue
            kind: Kind = "number" if not math.isfinite(first) else "poison"
            return Difference(kind, f"{where}: {_show(other)} instead of {_show(text)}")
        away = abs(second - first)
        if away > max(check.relative * abs(first), check.absolute):
            share = away / abs(first) if first else math.inf
            return Difference(
                "number",
                f"{where}: {_show(other)} instead of {_show(text)}, {share:.2g} away, allowed are {check.relative:g}",
                share,
            )
        largest = max(largest, away / abs(first) if first else away)
    return Difference("none", "", largest, len(mine))


def _words(line: bytes) -> bytes:
    """The line without its numbers, and without the blanks around them, which depend on the sign."""
    return re.sub(rb"\s*#\s*", b"#", _NUMBER.sub(b"#", line.replace(b"#", b"\\#")))


def value_of(text: bytes) -> float:
    """The value of a number as it is printed; NaN for `nan`."""
    lowered = text.lower()
    if b"n" in lowered:
        return math.nan if b"nan" in lowered else float(lowered)
    return float(_BARE_EXPONENT.sub(rb"e\1", lowered.replace(b"d", b"e")))


def most_digits(rows: Iterable[bytes]) -> int:
    """The most digits behind a point that any number of the text has."""
    numbers = (
        _BARE_EXPONENT.sub(b"", number.lower()).replace(b"d", b"e") for row in rows for number in numbers_in(row)
    )
    mantissas = (number.partition(b"e")[0] for number in numbers)
    return max((len(each.partition(b".")[2]) for each in mantissas), default=0)


def numbers_in(contents: bytes) -> list[bytes]:
    """All numbers of a text, as they are written."""
    return _NUMBER.findall(contents)


def _show(text: bytes) -> str:
    shown = clean(text.decode("utf-8", "replace"))
    return f"'{shown[:_SHOWN]}…'" if len(shown) > _SHOWN else f"'{shown}'"
