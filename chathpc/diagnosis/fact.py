"""A measured fact as data, and the one place where it becomes a sentence.

Rules say what kind of fact it is, about what, how much and of which whole; `sentence` writes it down, in the same words wherever it is
told. Nothing reads these sentences back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf, isfinite
from typing import TYPE_CHECKING

from chathpc.profile import numbers

if TYPE_CHECKING:
    from chathpc.diagnosis.records import Place


#: A short form behind a name: `(POP)`.
_BRACKET = re.compile(r" \([A-Z]+\)")


class Kind(StrEnum):
    """What a fact says; each has a template."""

    AMOUNT = "amount"  #: time or bytes of a subject, of a whole where that is known; parts are its largest parts
    SHARE = "share"  #: part (0..1) of a whole of which only the name is known
    VALUE = "value"  #: a property and its value, of what the whole names
    COUNT = "count"  #: how many of what the unit names the subject has
    RATE = "rate"  #: so much a second; parts are what it is computed from
    MEAN = "mean"  #: each on average; the whole is over how many
    SPREAD = "spread"  #: parts labelled least, median, mean, most, over the locations that the whole counts
    COMPARISON = (
        "comparison"  #: the subject and what it is compared with, which is the whole; `text` says why they may differ
    )
    EFFICIENCY = "efficiency"  #: a product, of which parts are the factors; the whole is the value that is asked for
    PATH = "path"  #: the longest chain of work, of a window; parts are what is on it
    CODE = "code"  #: what machine code shows: `text`, with the value
    SOURCE = "source"  #: what the source at the place does: `text`
    REMARK = "remark"  #: what another tool said: `text`, with its words; the value counts them


class Form(StrEnum):
    """The subject's grammar."""

    ONE = "one"
    MANY = "many"
    NAME = "name"  #: begins with a name as the program spells it


class Bound(StrEnum):
    """How the value stands to the true one."""

    NONE = ""
    AT_MOST = "at most"
    AT_LEAST = "at least"
    ABOUT = "about"


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value in a unit, and of what it is ("the time in MPI"); `value` is None where only that is known."""

    value: float | None = None
    unit: str = ""
    of: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """One of several quantities of a fact, by its label, which may be a name `of_program`; without a value where only the name is known."""

    label: str
    value: float | None = None
    unit: str = ""
    of_program: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """One measured fact.

    `subject` is the noun phrase that it is about, in the grammar `form`; `value` the number that matters, in `unit`, unrounded; `whole`
    what it is a part of, or what it is compared with, as the kind says; `parts` further quantities. `text` is what the source does or
    a tool said. `source` names the file, the metric and how the value was computed; `tool` is what measured it; `error` the standard
    error of the value from sampling, in `unit`; None where it was measured or is not known.
    """

    id: str
    kind: Kind
    subject: str
    value: float
    unit: str
    source: str
    whole: Quantity | None = None
    parts: tuple[Part, ...] = ()
    text: str = ""
    form: Form = Form.ONE
    bound: Bound = Bound.NONE
    metric: str | None = None
    where: Place | None = None
    tool: str = ""
    error: float | None = None

    @property
    def statement(self) -> str:
        """The fact's sentence."""
        return sentence(self)

    @property
    def share(self) -> float | None:
        """The value as a part (0..1) of the whole; None where it is no such part."""
        if self.kind == Kind.SHARE:
            return self.value
        whole = self.whole
        if self.kind not in (Kind.AMOUNT, Kind.PATH) or whole is None or not whole.value or whole.unit != self.unit:
            return None
        return self.value / whole.value

    def renamed(self, change: Callable[[str], str]) -> Fact:
        """The fact with `change` made to all texts that its sentence is made of."""
        whole = None if self.whole is None else replace(self.whole, of=change(self.whole.of))
        parts = tuple(replace(part, label=change(part.label)) for part in self.parts)
        return replace(self, subject=change(self.subject), text=change(self.text), whole=whole, parts=parts)

    @property
    def says(self) -> tuple[object, ...]:
        """All that tells two facts apart, whoever measured them."""
        place = self.where.short if self.kind == Kind.SOURCE and self.where is not None else ""
        return (
            self.kind, self.subject, self.value, self.unit, self.whole, self.parts, self.text, self.bound, self.metric, place,
        )  # fmt: skip


def sentence(fact: Fact) -> str:
    """The sentence that says a fact: the template of its kind, filled in. The only author of such sentences."""
    return _TEMPLATES[fact.kind](fact)


def amount(fact: Fact) -> str:
    """The fact's number as it stands in another sentence: with its unit and bound, of a spread the least and the most; the place of what
    only the source says.
    """
    if fact.kind == Kind.SOURCE and fact.where is not None:
        return fact.where.short
    ends = [part for part in fact.parts if part.label in ("least", "most") and part.value is not None]
    if fact.kind == Kind.SPREAD and len(ends) == 2:
        return " to ".join(told(part.value or 0.0, part.unit or fact.unit) for part in ends)
    return f"{fact.bound} {told(fact.value, fact.unit)}".lstrip()


def topic(fact: Fact) -> str:
    """What the fact's number is of, in a few words: its line where it is about one, else its subject. Empty where the number is beside what
    the fact says, as with what a tool or the source says, and of counts, whose units are nouns.
    """
    if fact.kind in (Kind.CODE, Kind.SOURCE, Kind.REMARK, Kind.COUNT):
        return ""
    line = "" if fact.where is None or not fact.where.line else fact.where.short
    return line if line and line in fact.subject else _BRACKET.sub("", fact.subject).rstrip(", ")


def composition(fact: Fact) -> str:
    """What the fact's number is made of, where it is a sum of many or a path over several: `317 launches, each 1.02 ms`."""
    is_sum = any(part.label.startswith("each") for part in fact.parts)
    return ", ".join(map(_part, fact.parts)) if fact.kind == Kind.PATH or is_sum else ""


def statistics(fact: Fact) -> Mapping[str, str]:
    """The values of a spread by their labels (least, median, mean, most); none of other facts."""
    if fact.kind != Kind.SPREAD:
        return {}
    return {
        part.label: told(part.value, part.unit)
        for part in fact.parts
        if part.label in _STATISTICS and part.value is not None
    }


def told(value: float, unit: str) -> str:
    """A value with its unit as it stands in a sentence: `1.2 s`, `45.2 %`, `12 MB a second`, `1 thread`."""
    if unit == "ratio":
        return numbers.percent(value)
    if unit == "x":
        return numbers.speedup(value)
    if unit == "times":
        return f"{numbers.number(value)} times"
    if unit == "bytes/s":
        return f"{numbers.size(value)} a second"
    if value == 1 and unit not in ("s", "bytes"):
        noun, _, rest = unit.partition(" ")
        unit = _single(unit) if unit.endswith("s") else f"{_single(noun)} {rest}" if noun.endswith("s") else unit
    return numbers.quantity(value, unit)


def _single(plural: str) -> str:
    """The singular of what ends with its noun: `launch`, `copy`, `source line`."""
    if plural.endswith("ies"):
        return f"{plural[:-3]}y"
    return plural[:-2] if plural.endswith(("ches", "shes", "sses", "xes")) else plural[:-1]


# -- parts of sentences ------------------------------------------------------------------------------------------


def _subject(fact: Fact) -> str:
    """The subject at the begin of a sentence."""
    return fact.subject if fact.form == Form.NAME else fact.subject[:1].upper() + fact.subject[1:]


def _verb(fact: Fact, one: str, many: str) -> str:
    return many if fact.form == Form.MANY else one


def _takes(fact: Fact) -> str:
    """The verb: time is taken, sizes and shares are, counts are had."""
    if fact.unit not in ("s", "bytes", "ratio", "times", "percent", "bytes/s", "x"):
        return _verb(fact, "has", "have")
    if fact.unit in ("bytes", "ratio", "times", "percent", "bytes/s"):
        return _verb(fact, "is", "are")
    return _verb(fact, "takes", "take")


def _value(fact: Fact) -> str:
    value = told(fact.value, fact.unit)
    return f"{fact.bound} {value}" if fact.bound else value


def _of_whole(fact: Fact) -> str:
    """` of 9.01 s (35.2 %)`, ` of the 4.36 s of waiting (35.2 %)`."""
    whole = fact.whole
    if whole is None:
        return ""
    if whole.value is None:
        return f" of {whole.of}"
    if fact.unit == whole.unit == "percent" and not whole.of:
        return " of the whole"  # its share would say the same again
    amount = told(whole.value, whole.unit)
    share = "" if fact.share is None or fact.kind == Kind.SHARE else f" ({numbers.percent(fact.share)})"
    return f" of the {amount} of {whole.of}{share}" if whole.of else f" of {amount}{share}"


def _part(part: Part) -> str:
    amount = "" if part.value is None else told(part.value, part.unit)
    return f"{part.label} {amount}".strip()


def _parts(fact: Fact) -> str:
    """`: write 1.2 s, read 0.3 s`; a single name is what it mostly is."""
    if len(fact.parts) == 1 and fact.parts[0].value is None:
        return f", mostly {fact.parts[0].label}"
    return f": {', '.join(map(_part, fact.parts))}" if fact.parts else ""


# -- templates ---------------------------------------------------------------------------------------------------


#: The verbs of those that have no other grammar.
_VERBS = {Kind.SHARE: ("has", "have"), Kind.VALUE: ("is", "are"), Kind.COUNT: ("has", "have")}


def _plain(fact: Fact) -> str:
    verb = _verb(fact, *_VERBS[fact.kind]) if fact.kind in _VERBS else _takes(fact)
    return f"{_subject(fact)} {verb} {_value(fact)}{_of_whole(fact)}{_parts(fact)}."


def _rate(fact: Fact) -> str:
    """What it is computed from, an amount and a time, stands behind it."""
    of = f" ({' in '.join(map(_part, fact.parts))})" if fact.parts else ""
    return f"{_subject(fact)} {_verb(fact, 'is', 'are')} {_value(fact)}{of}."


def _over(fact: Fact) -> str:
    return "" if fact.whole is None or fact.whole.value is None else f", over {told(fact.whole.value, fact.whole.unit)}"


def _mean(fact: Fact) -> str:
    return f"{_subject(fact)} {_takes(fact)} {_value(fact)} on average{_over(fact)}{_parts(fact)}."


#: Label of a part → how its value is said.
_STATISTICS = {"least": "at least", "median": "in the median", "mean": "on average", "most": "at most"}


def _spread(fact: Fact) -> str:
    said = [
        f"{told(part.value, part.unit)} {_STATISTICS[part.label]}"
        for part in fact.parts
        if part.label in _STATISTICS and part.value is not None
    ]
    further = "".join(f", {_part(part)}" for part in fact.parts if part.label not in _STATISTICS)
    return f"{_subject(fact)} {_takes(fact)} {' and '.join((', '.join(said[:-1]), said[-1]))}{_over(fact)}{further}."


def _comparison(fact: Fact) -> str:
    whole = fact.whole or Quantity()
    if fact.unit == "times" or whole.value is None:
        return f"{_subject(fact)} {_verb(fact, 'is', 'are')} {_value(fact)} {whole.of}{_parts(fact)}."
    ratio = fact.value / whole.value if whole.value else inf
    times = f" ({numbers.number(ratio)} times as much)" if isfinite(ratio) else ""
    why = f"; {fact.text}" if fact.text else ""
    return f"{_subject(fact)} {_takes(fact)} {_value(fact)}, {whole.of} {told(whole.value, whole.unit)}{times}{_parts(fact)}{why}."


def _efficiency(fact: Fact) -> str:
    factors = " × ".join(map(_part, fact.parts))
    asked = fact.whole.value if fact.whole is not None else None
    limit = "" if asked is None or fact.value >= asked else f", below the {numbers.percent(asked)} that POP recommends"
    return f"{_subject(fact)} {_verb(fact, 'is', 'are')} {_value(fact)} = {factors}{limit}."


def _path(fact: Fact) -> str:
    return f"{_subject(fact)} takes {_value(fact)}{_of_whole(fact)}{_parts(fact)}. Work off this path costs no time."


def _code(fact: Fact) -> str:
    return f"{_subject(fact)} {fact.text}{_parts(fact)}."


def _source(fact: Fact) -> str:
    return f"The source at {fact.where.short if fact.where is not None else fact.subject} {fact.text}."


def _remark(fact: Fact) -> str:
    """Whose words they are, and these; words of nobody stand for themselves."""
    if not fact.tool:
        return fact.text
    further = "".join(f"; {_part(part)}" for part in fact.parts)
    said = f"{told(fact.value, fact.unit)} of {fact.tool}: {fact.text}{further}"
    return said if said.endswith((".”", "…”")) else f"{said}."


_TEMPLATES: Mapping[Kind, Callable[[Fact], str]] = {
    **dict.fromkeys((Kind.AMOUNT, *_VERBS), _plain),
    Kind.RATE: _rate,
    Kind.MEAN: _mean,
    Kind.SPREAD: _spread,
    Kind.COMPARISON: _comparison,
    Kind.EFFICIENCY: _efficiency,
    Kind.PATH: _path,
    Kind.CODE: _code,
    Kind.SOURCE: _source,
    Kind.REMARK: _remark,
}
