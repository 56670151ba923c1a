"""Values of a YAML file key by key: what is missing, too much or of the wrong kind is told by file and key."""

from __future__ import annotations

import re
from collections.abc import Collection
from math import isfinite
from pathlib import Path

import yaml

from chathpc.errors import ChathpcError
from chathpc.packaged import FastLoader

_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")

#: Longest line of a text: what a terminal, a prompt and a diff can still show.
LONGEST_LINE = 400

#: Characters of a parser's complaint that are shown.
_LONGEST_REASON = 300

#: An entry nests its values so deep at most, with room to spare (an example in a piece of advice: 4 levels).
_DEEPEST = 12

#: What to do about a file that is wrong.
HINT = "Correct the file, or install chathpc again if you have not changed it."


class _Loader(FastLoader):
    """Plain values only, and no key twice in a mapping (YAML would keep the last)."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:
        seen = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key.value!r} appears twice", key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)  # type: ignore[no-any-return,unused-ignore]


def parse(data: bytes, file: Path) -> object:
    """The plain values that a YAML document holds; ChathpcError where it is none. `file` is named in errors."""
    try:
        value: object = yaml.load(data, Loader=_Loader)  # noqa: S506, TID251 (derived from CSafeLoader)
    except (yaml.YAMLError, TypeError, ValueError, RecursionError) as error:
        # PyYAML lets through what Python says of keys that are lists, days that no month has and numbers without end.
        raise ChathpcError(f"{file.name}: not valid YAML: {_reason(error, data)}.", hint=HINT) from error
    return value


def _reason(error: Exception, data: bytes) -> str:
    """What the parser says, and where: of a tab before a key it says only that some character is wrong."""
    mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
    if mark is None or not isinstance(error, yaml.MarkedYAMLError):
        return " ".join(str(error).split())[:_LONGEST_REASON]
    line = data.splitlines()[mark.line : mark.line + 1]
    if line and b"\t" in line[0][: len(line[0]) - len(line[0].lstrip())]:
        return f"line {mark.line + 1} is indented by a tab; use spaces"
    said = ", ".join(part for part in (error.context, error.problem) if part)
    return f"{' '.join(said.split())[:_LONGEST_REASON]} (line {mark.line + 1})"


def check_plain(data: bytes, file: Path) -> None:
    """Refuse, with a ChathpcError, what an entry never has and what could make a small file large or deep: aliases, and nesting without end."""
    depth = 0
    try:
        for event in yaml.parse(data, Loader=FastLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if isinstance(event, yaml.AliasEvent) or depth > _DEEPEST:
                what = "an alias (*name)" if isinstance(event, yaml.AliasEvent) else f"more than {_DEEPEST} levels"
                line = 0 if event.start_mark is None else event.start_mark.line + 1
                raise ChathpcError(f"{file.name}: line {line}: {what}, which no entry needs.")
    except (yaml.YAMLError, ValueError) as error:
        raise ChathpcError(f"{file.name}: not valid YAML: {_reason(error, data)}.") from error


class Fields:
    """A mapping that is read key by key; `end()` refuses those that nobody asked for."""

    def __init__(self, raw: object, file: Path, at: str = "") -> None:
        self.file = file
        self._at = at
        if not isinstance(raw, dict):
            raise self.error("", "a mapping", raw)
        self._raw = raw
        self._taken: set[object] = set()

    def error(self, key: str, expected: str, found: object) -> ChathpcError:
        """The error that tells what was expected at `key` of this mapping, and what was found."""
        path = ".".join(part for part in (self._at, key) if part) or "the file"
        shown = repr(found)
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        return ChathpcError(f"{self.file.name}: {path}: expected {expected}, found {shown}.", hint=HINT)

    def has(self, key: str) -> bool:
        """True if the key is there."""
        return key in self._raw

    def take(self, key: str, expected: str) -> object:
        """The value at `key`, whatever it is; it counts as asked for."""
        if key not in self._raw:
            raise self.error(key, expected, "nothing")
        self._taken.add(key)
        value: object = self._raw[key]
        return value

    def text(self, key: str) -> str:
        """A text that is not empty and that a terminal can show."""
        return self._text(key, self.take(key, "a text"))

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of at least one such text."""
        values = self._list(key)
        return tuple(self._text(f"{key}[{i}]", value) for i, value in enumerate(values))

    def choice(self, key: str, choices: Collection[str]) -> str:
        """One of the given texts."""
        value = self.text(key)
        self._check(key, value, choices)
        return value

    def choices(self, key: str, choices: Collection[str]) -> tuple[str, ...]:
        """A list of some of the given texts; none where the key is not there."""
        values = self.texts(key) if self.has(key) else ()
        for value in values:
            self._check(key, value, choices)
        return values

    def _check(self, key: str, value: str, choices: Collection[str]) -> None:
        if value not in choices:
            raise self.error(key, f"one of {', '.join(sorted(choices))}", value)

    def flag(self, key: str) -> bool:
        """True or false."""
        value = self.take(key, "true or false")
        if not isinstance(value, bool):
            raise self.error(key, "true or false", value)
        return value

    def number(self, key: str) -> float:
        """A finite number."""
        value = self.take(key, "a number")
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            # YAML 1.1 reads 1e6 as a text.
            raise self.error(key, "a number (1.0e+6, not 1e6)", value)
        return float(value)

    def share(self, key: str) -> float:
        """A number from 0 to 1."""
        value = self.number(key)
        if not 0 <= value <= 1:
            raise self.error(key, "a number from 0 to 1", value)
        return value

    def section(self, key: str) -> Fields:
        """The mapping at `key`."""
        return Fields(self.take(key, "a mapping"), self.file, ".".join(part for part in (self._at, key) if part))

    def sections(self, key: str) -> list[Fields]:
        """The mappings in the list at `key`, at least one."""
        return [Fields(value, self.file, f"{key}[{i}]") for i, value in enumerate(self._list(key))]

    def named_sections(self) -> dict[str, Fields]:
        """All keys of this mapping, each a name for a mapping."""
        found = {}
        for key in self._raw:
            if not isinstance(key, str) or not _NAME.match(key):
                raise self.error(str(key), "a name in lower_case", key)
            found[key] = self.section(key)
        return found

    def end(self) -> None:
        """Refuse keys that nobody asked for."""
        for key in self._raw:
            if key not in self._taken:
                raise self.error(str(key), f"only {', '.join(sorted(map(str, self._taken)))}", key)

    def _list(self, key: str) -> list[object]:
        value = self.take(key, "a list")
        if not isinstance(value, list) or not value:
            raise self.error(key, "a list with at least one element", value)
        return value

    def _text(self, key: str, value: object) -> str:
        if not isinstance(value, str) or not value.strip():
            raise self.error(key, "a text", value)
        if not value.replace("\n", "").isprintable():
            raise self.error(key, "a text without tabs and control characters", value)
        if max(map(len, value.splitlines())) > LONGEST_LINE:
            raise self.error(key, f"lines of at most {LONGEST_LINE} characters", value)
        return value
