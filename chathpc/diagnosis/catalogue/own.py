"""A user's own patterns: a folder of YAML files beside the settings, each a new entry or a change of a built-in one.

    id: acme-fft-plans          a new entry: all keys of the schema; found where `found_by.functions` take time
    id: omp-load-imbalance      another entry in place of the built-in one: only with `overrides: true`
    extends: omp-load-imbalance advice, keywords and references beside the built-in ones; thresholds with `overrides: true`

Files come from people: whatever is wrong is told by file and key, and nothing in a file can make reading it slow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from chathpc.diagnosis.catalogue.entry import Cause, Threshold
from chathpc.diagnosis.catalogue.fields import Fields, check_plain, parse
from chathpc.diagnosis.catalogue.schema import (
    advice_of,
    cause_of,
    keywords_of,
    thresholds_of,
)
from chathpc.errors import ChathpcError, UsageError

#: Limits of a user's folder: the largest built-in entry has 9 kB, and the whole catalogue some 60.
MOST_FILES = 500
LARGEST_FILE = 262_144

#: The share of the time from which an entry with `found_by` is reported.
SHARE = "min_share"


def read_folder(folder: Path, built_in: Callable[[str], Cause], known: tuple[str, ...]) -> Mapping[str, Cause]:
    """New and changed entries by id, from the *.yaml files of `folder` in the order of their names.

    `built_in(id)` is a built-in entry, `known` their ids. UsageError names the file and the key that is wrong.
    """
    try:
        files = sorted(file for file in folder.iterdir() if file.suffix in (".yaml", ".yml"))
    except OSError as error:
        raise UsageError(
            f"The folder of patterns {folder} cannot be read: {error.strerror}.",
            hint="Name another with --patterns, CHATHPC_PATTERNS or the setting 'patterns'.",
        ) from error
    if len(files) > MOST_FILES:
        raise UsageError(f"{folder} holds {len(files):,} patterns; at most {MOST_FILES} are read.")
    found: dict[str, Cause] = {}
    changes = []
    for file in files:
        fields = _fields(file)
        try:
            if fields.has("extends"):
                changes.append((file, fields, _extended(fields, known, files)))
                continue
            cause = _entry(fields, built_in, known)
        except ChathpcError as error:
            raise _wrong(file, error) from error
        if cause.id in found:
            raise UsageError(f"{file}: id: another file of this folder has the entry {cause.id!r} already.")
        found[cause.id] = replace(cause, origin=(str(file),))
    for file, fields, id in changes:
        try:
            found[id] = _changed(found.get(id) or built_in(id), fields, file)
        except ChathpcError as error:
            raise _wrong(file, error) from error
    return MappingProxyType(found)


def _wrong(file: Path, error: ChathpcError) -> UsageError:
    return UsageError(f"{file.parent}/{error.message}", hint="Correct the file, or remove it from the folder.")


def _fields(file: Path) -> Fields:
    try:
        if not file.is_file():
            raise UsageError(f"{file} is not a file.", hint="Remove it from the patterns folder.")
        with file.open("rb") as stream:
            data = stream.read(LARGEST_FILE + 1)
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}.") from error
    if len(data) > LARGEST_FILE:
        raise UsageError(f"{file}: larger than {LARGEST_FILE:,} bytes; this is not a catalogue entry.")
    try:
        check_plain(data, file)
        return Fields(parse(data, file), file)
    except ChathpcError as error:
        raise _wrong(file, error) from error


def _flag(fields: Fields, key: str) -> bool:
    return fields.flag(key) if fields.has(key) else False


def _entry(fields: Fields, built_in: Callable[[str], Cause], known: tuple[str, ...]) -> Cause:
    """A whole entry: a new one, or one in the place of a built-in one that its rule goes on to find."""
    functions = _functions(fields)
    overrides = _flag(fields, "overrides")
    cause = cause_of(fields, detected=bool(functions))
    if _flag(fields, "detected") and not functions and cause.id not in known:
        raise fields.error("detected", "found_by with the names of functions: no rule finds this cause", True)
    if cause.id in known:
        if not overrides:
            raise fields.error("id", f"'overrides: true' beside it: {cause.id} is built in", cause.id)
        if functions:
            raise fields.error("found_by", "nothing: a rule of chathpc finds this cause", list(functions))
        cause = replace(cause, detected=built_in(cause.id).detected)
        _check_thresholds(fields, cause.thresholds, built_in(cause.id).thresholds, whole=True)
    elif functions and (SHARE not in cause.thresholds or cause.thresholds[SHARE].unit != "share"):
        raise fields.error(f"thresholds.{SHARE}", "a share from which the entry is reported", None)
    fields.end()
    return replace(cause, functions=functions)


def _functions(fields: Fields) -> tuple[str, ...]:
    if not fields.has("found_by"):
        return ()
    section = fields.section("found_by")
    functions = section.texts("functions")
    for i, name in enumerate(functions):
        if not name.strip("*? "):
            raise section.error(f"functions[{i}]", "a pattern that does not match every name", name)
    section.end()
    return functions


def _extended(fields: Fields, known: tuple[str, ...], files: list[Path]) -> str:
    id = fields.text("extends")
    if id not in known and id not in {file.stem for file in files if file != fields.file}:
        raise fields.error("extends", "the id of an entry", id)
    return id


def _changed(cause: Cause, fields: Fields, file: Path) -> Cause:
    """An entry with what a file adds to it: its advice comes before what was there."""
    overrides = _flag(fields, "overrides")
    if fields.has("advice"):
        cause = replace(cause, advice=(*advice_of(fields), *cause.advice))
    if fields.has("keywords"):
        cause = replace(cause, keywords=tuple(dict.fromkeys((*cause.keywords, *keywords_of(fields)))))
    if fields.has("references"):
        cause = replace(cause, references=(*cause.references, *fields.texts("references")))
    if fields.has("thresholds"):
        mine = thresholds_of(fields.section("thresholds"))
        if not overrides:
            raise fields.error("thresholds", "'overrides: true' beside it: rules decide by these numbers", list(mine))
        _check_thresholds(fields, mine, cause.thresholds, whole=False)
        cause = replace(cause, thresholds=MappingProxyType({**cause.thresholds, **mine}))
    fields.end()
    return replace(cause, origin=(*cause.origin, str(file)))


def _check_thresholds(
    fields: Fields, mine: Mapping[str, Threshold], theirs: Mapping[str, Threshold], *, whole: bool
) -> None:
    """A rule reads its thresholds by name and in one unit: those given must be known, and in that unit."""
    for name, threshold in mine.items():
        if name not in theirs:
            raise fields.error(f"thresholds.{name}", f"one of {', '.join(theirs) or 'none'}", name)
        if threshold.unit != theirs[name].unit:
            raise fields.error(f"thresholds.{name}.unit", repr(theirs[name].unit), threshold.unit)
    missing = sorted(set(theirs) - set(mine))
    if whole and missing:
        raise fields.error(f"thresholds.{missing[0]}", "a threshold, as a rule reads it", None)
