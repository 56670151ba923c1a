"""Values in the unit that a question asks for: `how long does solve take in milliseconds`, or only `in percent?` after an answer."""

from __future__ import annotations

import re

from chathpc.chat.tools.record import Result
from chathpc.diagnosis.fact import Fact, Form
from chathpc.profile import numbers

#: What of a unit people write, what a value in the base unit is divided by, and the base unit.
_UNITS = (
    (r"µs|us|microseconds?", "µs", 1e-6, "s"), (r"ms|milliseconds?", "ms", 1e-3, "s"), (r"s|sec|seconds?", "s", 1.0, "s"),
    (r"min|minutes?", "min", 60.0, "s"), (r"h|hours?", "h", 3600.0, "s"), (r"kb|kilobytes?", "kB", 1e3, "bytes"),
    (r"mb|megabytes?", "MB", 1e6, "bytes"), (r"gb|gigabytes?", "GB", 1e9, "bytes"), (r"tb|terabytes?", "TB", 1e12, "bytes"),
    (r"kib", "KiB", 2.0**10, "bytes"), (r"mib", "MiB", 2.0**20, "bytes"), (r"gib", "GiB", 2.0**30, "bytes"),
    (r"percent|per cent|%", "%", 0.01, "ratio"),
)  # fmt: skip
_ASKED = re.compile(
    rf",?\s*(?:\b(?:and|by how much)\s+)*\b(?:in|how many)\s+(?P<unit>{'|'.join(each[0] for each in _UNITS)})[\s?.!]*$",
    re.IGNORECASE,
)
#: Facts that are told after an answer with many, and significant digits.
_TOLD, _DIGITS = 5, 4


def split_unit(question: str) -> tuple[str, str]:
    """The question without the unit that it asks for at its end, and that unit; empty without one."""
    asked = _ASKED.search(question)
    return (question[: asked.start()], asked["unit"].casefold()) if asked else (question, "")


def in_unit(result: Result, unit: str, *, most: int = _TOLD) -> str:
    """The first values of a result in a unit, a sentence each; empty where none can be told in it."""
    name, factor, base = next(each[1:] for each in _UNITS if re.fullmatch(each[0], unit))
    said = [
        f"{fact.subject if fact.form == Form.NAME else fact.subject[:1].upper() + fact.subject[1:]}: {numbers.number(value / factor, _DIGITS)} {name}."
        for fact in result.facts
        if (value := _value(fact, base)) is not None
    ]
    return " ".join(list(dict.fromkeys(said))[:most])


def _value(fact: Fact, base: str) -> float | None:
    if base == "ratio":
        return fact.share
    return fact.value if fact.unit == base else None
