"""The lines of a callgrind file: costs by function and line, and calls."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from chathpc.errors import AdapterError

#: (object file, source file, function).
Key = tuple[str, str, str]

_NUMBERED = re.compile(r"\((\d{1,9})\)(?:\s+(.*))?", re.DOTALL)
_HOW = "Write it again: callgrind_annotate shows whether the file is complete."
#: Counts beyond this are damage: a 5 GHz processor needs a century for as many instructions.
_MOST = 10**19


@dataclass(slots=True)
class Call:
    """Calls from one line of a function to another function: number, and cost of the first event including all below the callee."""

    caller: Key
    file: str
    line: int
    callee: Key
    count: int = 0
    inclusive: float = 0.0


@dataclass(slots=True)
class Callgrind:
    """What a file holds. `costs` maps (function, source file, line) to the cost of each event there."""

    events: list[str] = field(default_factory=list)
    words: dict[str, str] = field(default_factory=dict)
    costs: dict[tuple[Key, str, int], list[float]] = field(default_factory=dict)
    calls: dict[tuple[Key, str, int, Key], Call] = field(default_factory=dict)
    summary: list[float] = field(default_factory=list)
    creator: str = ""
    program: str = ""
    command: str = ""
    invalid: int = 0
    parts: int = 0


@dataclass(slots=True)
class _Place:
    """Where the parser is."""

    object: str = ""
    file: str = ""
    home: str = ""  #: file of the function itself; `file` may be one that was inlined from
    function: str | None = None
    called_object: str | None = None
    called_file: str | None = None
    called: str | None = None
    line: int = 0
    addresses: int = 0  #: positions of a cost line that stand before the line number


def parse(text: Iterable[str], path: Path) -> Callgrind:
    """The content of a file of the format; AdapterError if it has no events or no costs. Broken lines are counted."""
    found = Callgrind()
    place = _Place()
    names: dict[str, dict[str, str]] = {"ob": {}, "fl": {}, "fn": {}}
    columns: list[int] = []
    has_line = True
    pending: tuple[str, int] | None = None  # what the next line of costs belongs to: calls and their number, or a jump
    for raw in text:
        row = raw.strip()
        if not row or row.startswith("#"):
            continue
        first = row[0]
        if first.isdigit() or first in "+-*":
            cost = _cost(row, place, has_line)
            if cost is None or place.function is None or not columns:
                found.invalid += 1
            elif pending is None:
                _add_cost(found, place, cost, columns)
            elif pending[0] == "calls":
                _add_call(found, place, pending[1], cost[0] if cost else 0)
            pending = None
            continue
        key, equals, value = row.partition("=")
        if equals and key.isalpha():
            pending = _specification(found, place, names, key, value, pending)
            continue
        key, colon, value = row.partition(":")
        if not colon:
            found.invalid += 1
            continue
        value = value.strip()
        if key == "events":
            columns = [_column(found, event) for event in value.split()[:64]]
        elif key == "positions":
            kinds = value.split()
            has_line = "line" in kinds or not kinds
            place.addresses = kinds.index("line") if "line" in kinds else len(kinds)
        else:
            _header(found, key, value, columns)
            if key == "part":
                place.line = 0
    if not found.events:
        raise AdapterError("names no events", path=path, hint=_HOW)
    if not found.costs:
        raise AdapterError("has no costs", path=path, hint=_HOW)
    return found


def _column(found: Callgrind, event: str) -> int:
    """The place of an event among all; parts of one file may name them in different orders."""
    if event not in found.events:
        found.events.append(event)
    return found.events.index(event)


def _header(found: Callgrind, key: str, value: str, columns: list[int]) -> None:
    if key == "creator":
        found.creator = value[:100]
    elif key == "cmd" and value:
        found.command = value
        found.program = value.split()[0].rsplit("/", 1)[-1][:100]
    elif key == "part":
        found.parts += 1
    elif key == "event":  # event: name : words, or event: name = formula : words
        name, _, words = value.partition(":")
        found.words[name.partition("=")[0].strip()] = words.strip()[:200]
    elif key in ("totals", "summary"):
        numbers = [_number(text) for text in value.split()]
        if columns and None not in numbers and (key == "totals" or not found.summary):
            found.summary = [float(number or 0) for number in numbers]


def _specification(
    found: Callgrind,
    place: _Place,
    names: dict[str, dict[str, str]],
    key: str,
    value: str,
    pending: tuple[str, int] | None,
) -> tuple[str, int] | None:
    """A line `key=value` that says where the following costs belong."""
    if key == "fn":
        place.function, place.home = _named(names["fn"], value), place.file
    elif key == "fl":
        place.file = place.home = _named(names["fl"], value)
    elif key in ("fi", "fe"):
        place.file = _named(names["fl"], value)
    elif key == "ob":
        place.object = _named(names["ob"], value)
    elif key == "cfn":
        place.called = _named(names["fn"], value)
    elif key in ("cfi", "cfl"):
        place.called_file = _named(names["fl"], value)
    elif key == "cob":
        place.called_object = _named(names["ob"], value)
    elif key == "calls":
        words = value.split()
        count = _number(words[0]) if words else None
        if count is None:
            found.invalid += 1
            return None
        return "calls", count
    elif key in ("jump", "jcnd"):
        return "jump", 0
    elif key == "jfi":
        _named(names["fl"], value)
    elif key == "jfn":
        _named(names["fn"], value)
    return pending


def _named(names: dict[str, str], value: str) -> str:
    """The name of `(3) solve`, which is from now on `(3)`, or of a name that is written out."""
    value = value.strip()
    match = _NUMBERED.fullmatch(value)
    if match is None:
        return value
    if match[2]:
        names[match[1]] = match[2]
    return names.get(match[1], f"({match[1]})")


def _number(text: str) -> int | None:
    """A number, decimal or hexadecimal, else None."""
    try:
        value = int(text, 16) if text[:2] in ("0x", "0X") else int(text) if len(text) < 25 and text.isascii() else None
    except ValueError:
        return None
    return value if value is not None and abs(value) < _MOST else None


def _cost(row: str, place: _Place, has_line: bool) -> list[int] | None:
    """The costs of a line, whose positions move `place`; None if it is broken."""
    words = row.split()
    positions = place.addresses + has_line
    if len(words) < positions:
        return None
    if has_line:
        text = words[place.addresses]
        if text == "*":
            line: int | None = place.line
        elif text[0] in "+-":
            step = _number(text[1:])
            line = None if step is None else place.line + (step if text[0] == "+" else -step)
        else:
            line = _number(text)
        if line is None or abs(line) > 2**31:
            return None
        place.line = line
    numbers = [_number(word) for word in words[positions:]]
    return None if None in numbers else [number for number in numbers if number is not None]


def _add_cost(found: Callgrind, place: _Place, cost: list[int], columns: list[int]) -> None:
    function = (place.object, place.home, str(place.function))
    key = (function, place.file, max(place.line, 0))
    sums = found.costs.get(key)
    if sums is None:
        sums = found.costs[key] = []
    if len(sums) < len(found.events):
        sums += [0.0] * (len(found.events) - len(sums))
    for column, value in zip(columns, cost, strict=False):
        sums[column] += value


def _add_call(found: Callgrind, place: _Place, count: int, inclusive: int) -> None:
    caller = (place.object, place.home, str(place.function))
    if place.called is not None:
        callee = (
            place.object if place.called_object is None else place.called_object,
            place.file if place.called_file is None else place.called_file,
            place.called,
        )
        key = (caller, place.file, max(place.line, 0), callee)
        call = found.calls.get(key)
        if call is None:
            call = found.calls[key] = Call(caller, place.file, max(place.line, 0), callee)
        call.count += count
        call.inclusive += inclusive
    place.called = place.called_file = place.called_object = None
