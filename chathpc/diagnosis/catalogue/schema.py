"""Reads an entry's YAML file and checks it: every key, its type, its limits; what is wrong is told by file and key."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from math import isfinite
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import yaml

from chathpc.diagnosis.catalogue.entry import (
    ANY,
    FAMILIES,
    GROUPS,
    UNITS,
    Advice,
    Cause,
    NextMeasurement,
    Threshold,
)
from chathpc.errors import ChathpcError

if TYPE_CHECKING:
    from yaml import SafeLoader as FastLoader
else:
    # libyaml parses ten times faster; PyYAML can be built without it.
    FastLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*\Z")
_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")

#: Longest line of a text: what a terminal, a prompt and a diff can still show.
LONGEST_LINE = 400

#: Languages that an example may be written in.
EXAMPLE_LANGUAGES = ("c", "c++", "fortran", "cuda", "hip", "python")

_HINT = "Correct the file, or install chathpc again if you have not changed it."


class _Loader(FastLoader):
    """Plain values only, and no key twice in a mapping (YAML would keep the last)."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:
        seen = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key.value!r} is there twice", key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)  # type: ignore[no-any-return,unused-ignore]


class _Fields:
    """A mapping that is read key by key; `end()` refuses those that nobody asked for."""

    def __init__(self, raw: object, file: Path, at: str = "") -> None:
        self._file = file
        self._at = at
        if not isinstance(raw, dict):
            raise self.error("", "a mapping", raw)
        self._raw = raw
        self._taken: set[object] = set()

    def error(self, key: str, expected: str, found: object) -> ChathpcError:
        path = ".".join(part for part in (self._at, key) if part) or "the file"
        shown = repr(found)
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        return ChathpcError(f"{self._file.name}: {path}: expected {expected}, found {shown}.", hint=_HINT)

    def has(self, key: str) -> bool:
        return key in self._raw

    def take(self, key: str, expected: str) -> object:
        if key not in self._raw:
            raise self.error(key, expected, "nothing")
        self._taken.add(key)
        value: object = self._raw[key]
        return value

    def text(self, key: str) -> str:
        return self._text(key, self.take(key, "a text"))

    def texts(self, key: str) -> tuple[str, ...]:
        values = self._list(key)
        return tuple(self._text(f"{key}[{i}]", value) for i, value in enumerate(values))

    def choice(self, key: str, choices: Collection[str]) -> str:
        value = self.text(key)
        if value not in choices:
            raise self.error(key, f"one of {', '.join(sorted(choices))}", value)
        return value

    def flag(self, key: str) -> bool:
        value = self.take(key, "true or false")
        if not isinstance(value, bool):
            raise self.error(key, "true or false", value)
        return value

    def number(self, key: str) -> float:
        value = self.take(key, "a number")
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            # YAML 1.1 reads 1e6 as a text.
            raise self.error(key, "a number (1.0e+6, not 1e6)", value)
        return float(value)

    def share(self, key: str) -> float:
        value = self.number(key)
        if not 0 <= value <= 1:
            raise self.error(key, "a number from 0 to 1", value)
        return value

    def section(self, key: str) -> _Fields:
        return _Fields(self.take(key, "a mapping"), self._file, ".".join(part for part in (self._at, key) if part))

    def sections(self, key: str) -> list[_Fields]:
        return [_Fields(value, self._file, f"{key}[{i}]") for i, value in enumerate(self._list(key))]

    def named_sections(self) -> dict[str, _Fields]:
        """All keys of this mapping, each a name for a mapping."""
        found = {}
        for key in self._raw:
            if not isinstance(key, str) or not _NAME.match(key):
                raise self.error(str(key), "a name in lower_case", key)
            found[key] = self.section(key)
        return found

    def end(self) -> None:
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
        if not all(character.isprintable() or character == "\n" for character in value):
            raise self.error(key, "a text without tabs and control characters", value)
        if max(map(len, value.splitlines())) > LONGEST_LINE:
            raise self.error(key, f"lines of at most {LONGEST_LINE} characters", value)
        return value


def read_cause(file: Path) -> Cause:
    """The entry in a file; a ChathpcError names file and key where it does not follow the schema."""
    fields = _Fields(_load(file), file)
    name = fields.text("id")
    if not ID.match(name) or name != file.stem:
        raise fields.error("id", f"{file.stem!r}, the file's name", name)
    headroom = fields.section("headroom")
    following = fields.section("next_measurement")
    cause = Cause(
        id=name,
        title=fields.text("title"),
        family=fields.choice("family", FAMILIES),
        detected=fields.flag("detected"),
        what=fields.text("what"),
        why=fields.text("why"),
        evidence=fields.texts("evidence"),
        speaks_against=fields.texts("speaks_against"),
        gain=fields.text("gain"),
        headroom=headroom.share("value"),
        headroom_source=headroom.text("source"),
        thresholds=_thresholds(fields.section("thresholds")),
        advice=tuple(_advice(each) for each in fields.sections("advice")),
        next_measurement=NextMeasurement(following.text("command"), following.text("tells")),
        references=fields.texts("references"),
        keywords=_keywords(fields),
    )
    for each in (headroom, following, fields):
        each.end()
    return cause


def read_thresholds(file: Path) -> Mapping[str, Threshold]:
    """The thresholds in a file that holds nothing else, by name."""
    return _thresholds(_Fields(_load(file), file))


def _load(file: Path) -> object:
    try:
        value: object = yaml.load(file.read_bytes(), Loader=_Loader)  # noqa: S506, TID251 (derived from CSafeLoader)
    except OSError as error:
        raise ChathpcError(f"{file.name}: cannot be read: {error.strerror}.", hint=_HINT) from error
    except yaml.YAMLError as error:
        raise ChathpcError(f"{file.name}: not valid YAML: {' '.join(str(error).split())}.", hint=_HINT) from error
    return value


def _thresholds(fields: _Fields) -> Mapping[str, Threshold]:
    found = {}
    for name, entry in fields.named_sections().items():
        unit = entry.choice("unit", UNITS)
        value = entry.share("value") if unit == "share" else entry.number("value")
        found[name] = Threshold(value, unit, entry.text("source"))
        entry.end()
    return MappingProxyType(found)


def _advice(fields: _Fields) -> Advice:
    applies = fields.texts("applies")
    allowed = {ANY}.union(*GROUPS)
    for name in applies:
        if name not in allowed:
            raise fields.error("applies", f"names of {', '.join(sorted(allowed))}", name)
    if ANY in applies and len(applies) > 1:
        raise fields.error("applies", "any, or names, not both", list(applies))
    do = fields.text("do")
    advice = Advice(applies, do)
    if fields.has("example"):
        example = fields.section("example")
        advice = Advice(
            applies, do, example.choice("language", EXAMPLE_LANGUAGES), example.text("before"), example.text("after")
        )
        example.end()
    fields.end()
    return advice


def _keywords(fields: _Fields) -> tuple[str, ...]:
    keywords = fields.texts("keywords")
    for i, word in enumerate(keywords):
        if word != word.lower():
            raise fields.error(f"keywords[{i}]", "lower case", word)
    return keywords
