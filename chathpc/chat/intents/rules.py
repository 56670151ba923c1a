"""Reads the rules and word lists of `rules.yaml`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to ask for a tool: any of `patterns`, none of `unless`, all of `needs`."""

    tool: str
    patterns: tuple[re.Pattern[str], ...]
    unless: tuple[re.Pattern[str], ...]
    needs: frozenset[str]
    arguments: Mapping[str, object]

    def fits(self, text: str, named: frozenset[str]) -> bool:
        """True if `text` asks in this way, and `named` holds what is needed."""
        if not self.needs <= named:
            return False
        return any(one.search(text) for one in self.patterns) and not any(one.search(text) for one in self.unless)


@dataclass(frozen=True, slots=True)
class Words:
    """Word lists; see rules.yaml."""

    generic: frozenset[str]
    before: frozenset[str]
    after: frozenset[str]
    slots: frozenset[str]
    plain: frozenset[str]
    ordinals: Mapping[str, int]
    numbers: Mapping[str, int]
    factors: Mapping[str, float]
    nothing: re.Pattern[str]
    aliases: Mapping[str, str]
    fillers: frozenset[str]
    spelled: tuple[str, ...]


@cache
def _data() -> dict[str, Any]:
    import yaml

    data: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "rules.yaml").read_text("utf-8"))
    return data


@cache
def rules() -> tuple[Rule, ...]:
    """The rules, in the order in which they are tried."""
    return tuple(
        Rule(
            each["tool"],
            tuple(map(re.compile, each["any"])),
            tuple(map(re.compile, each.get("unless", ()))),
            frozenset(each.get("needs", ())),
            each.get("arguments", {}),
        )
        for entry in _data()["rules"]
        for each in _expanded(entry)
    )


def _expanded(entry: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    """A rule as it is, or, with `each`, one for each value of an argument, its words in the place of WORK."""
    if "each" not in entry:
        yield entry
        return
    argument = entry["each"]["argument"]
    for value, words in entry["each"]["WORK"].items():
        yield {
            **entry,
            "any": [pattern.replace("WORK", words) for pattern in entry["any"]],
            "arguments": {argument: value},
        }


@cache
def words() -> Words:
    """The word lists."""
    data = _data()
    generic, before, after, slots, plain = (
        frozenset(map(str, data[key])) for key in ("generic", "before", "after", "slots", "plain")
    )
    nothing = re.compile(r"\b(?:" + "|".join(data["nothing"]) + ")")
    return Words(
        generic,
        before,
        after,
        slots,
        plain,
        data["ordinals"],
        data["numbers"],
        data["factors"],
        nothing,
        {str(key): str(value) for key, value in data["aliases"].items()},
        frozenset(map(str, data["fillers"])),
        tuple(map(str, data["spelled"])),
    )
