"""Reads an entry's YAML file and checks it: every key, its type, its limits; what is wrong is told by file and key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from chathpc.diagnosis.catalogue.entry import (
    ANY,
    BOUNDS,
    FAMILIES,
    GROUPS,
    MEASURES,
    TRAITS,
    UNITS,
    Advice,
    Cause,
    NextMeasurement,
    Refutation,
    Threshold,
)
from chathpc.diagnosis.catalogue.fields import HINT, Fields, parse
from chathpc.errors import ChathpcError

ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*\Z")

#: Languages that an example may be written in.
EXAMPLE_LANGUAGES = ("c", "c++", "fortran", "cuda", "hip", "python")


def read_cause(file: Path) -> Cause:
    """The entry in a file; a ChathpcError names file and key where it does not follow the schema."""
    fields = Fields(_load(file), file)
    cause = cause_of(fields, detected=fields.flag("detected"))
    fields.end()
    return cause


def cause_of(fields: Fields, *, detected: bool) -> Cause:
    """The entry whose keys `fields` holds, named like its file; the caller reads further keys and then calls `end()`."""
    name = fields.text("id")
    if not ID.match(name) or name != fields.file.stem:
        raise fields.error("id", f"{fields.file.stem!r}, the file's name", name)
    headroom = fields.section("headroom")
    bound = fields.section("bound") if fields.has("bound") else None
    following = fields.section("next_measurement")
    cause = Cause(
        id=name,
        title=fields.text("title"),
        family=fields.choice("family", FAMILIES),
        detected=detected,
        what=fields.text("what"),
        why=fields.text("why"),
        evidence=fields.texts("evidence"),
        speaks_against=fields.texts("speaks_against"),
        gain=fields.text("gain"),
        headroom=headroom.share("value"),
        headroom_source=headroom.text("source"),
        bound="none" if bound is None else bound.choice("removes", BOUNDS),
        bound_source="nothing is known of it" if bound is None else bound.text("source"),
        thresholds=thresholds_of(fields.section("thresholds")),
        advice=advice_of(fields),
        next_measurement=NextMeasurement(following.text("command"), following.text("tells")),
        references=fields.texts("references"),
        keywords=keywords_of(fields),
        refuted_by=refutations_of(fields),
        traits=fields.choices("traits", TRAITS),
        metrics=fields.texts("metrics") if fields.has("metrics") else (),
    )
    for each in (headroom, bound, following):
        if each is not None:
            each.end()
    return cause


def read_thresholds(file: Path) -> Mapping[str, Threshold]:
    """The thresholds in a file that holds nothing else, by name."""
    return thresholds_of(Fields(_load(file), file))


def _load(file: Path) -> object:
    try:
        data = file.read_bytes()
    except OSError as error:
        raise ChathpcError(f"{file.name}: cannot be read: {error.strerror}.", hint=HINT) from error
    return parse(data, file)


def thresholds_of(fields: Fields) -> Mapping[str, Threshold]:
    """Thresholds by name: value, unit (one of UNITS) and source of each."""
    found = {}
    for name, entry in fields.named_sections().items():
        unit = entry.choice("unit", UNITS)
        value = entry.share("value") if unit == "share" else entry.number("value")
        found[name] = Threshold(value, unit, entry.text("source"))
        entry.end()
    return MappingProxyType(found)


def _advice(fields: Fields) -> Advice:
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


def advice_of(fields: Fields) -> tuple[Advice, ...]:
    """The list of advice under the key `advice`."""
    return tuple(_advice(each) for each in fields.sections("advice"))


def refutations_of(fields: Fields) -> tuple[Refutation, ...]:
    """The rows under the key `refuted_by`, which may be absent."""
    found = []
    for each in fields.sections("refuted_by") if fields.has("refuted_by") else ():
        found.append(Refutation(each.choice("measure", MEASURES), each.number("below"), each.text("source")))
        each.end()
    return tuple(found)


def keywords_of(fields: Fields) -> tuple[str, ...]:
    """The words, in lower case, under the key `keywords`."""
    keywords = fields.texts("keywords")
    for i, word in enumerate(keywords):
        if word != word.lower():
            raise fields.error(f"keywords[{i}]", "lower case", word)
    return keywords
