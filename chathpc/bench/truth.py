"""Reads labels: `truth.json` beside a profile (docs/labelled-profiles.md), and `NOTES.json` of measured applications."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from chathpc import validation
from chathpc.adapters.content import read_json
from chathpc.bench.case import HEALTHY, HOT_SPOT, INSUFFICIENT, SUSPECTED, Case, Label, Split, Spot, split_of
from chathpc.errors import AdapterError

TRUTH, NOTES = "truth.json", "NOTES.json"
#: Where a profile lies unless the label says otherwise, and the one of the repaired program.
DATABASE, REPAIRED = "database", "database-fixed"
#: Labels are written by people; more than this (bytes) is none.
LARGEST = 1 << 20
SCHEMA_HINT = "The format of labels is described in docs/labelled-profiles.md."

#: A cause of the catalogue, `healthy` or `insufficient-data`; ids that the catalogue lacks are allowed, and never found.
CauseId = Annotated[str, Field(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$", max_length=60)]
Name = Annotated[str, Field(min_length=1, max_length=2000)]
Line = Annotated[int, Field(ge=1, le=10_000_000)]


class _Label(BaseModel):
    """Labels may hold more than is scored (how the program was built, shares, notes): other keys are left alone."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, label: object) -> object:
        """What is null is not there."""
        return {key: value for key, value in label.items() if value is not None} if isinstance(label, dict) else label


class PlaceLabel(_Label):
    """A place in the source."""

    function: Name | None = None
    kernel: Name | None = None
    file: Name | None = None
    lines: list[Line] | None = Field(default=None, min_length=2, max_length=2)

    @field_validator("lines")
    @classmethod
    def _in_order(cls, lines: list[int] | None) -> list[int] | None:
        if lines is not None and lines[0] > lines[1]:
            raise ValueError("the first line stands behind the last")
        return lines

    def spot(self) -> Spot:
        """The place as it is compared."""
        first, last = self.lines or (None, None)
        return Spot(self.function or self.kernel, self.file, first, last)


class SecondLabel(_Label):
    """The smaller fault of a program that has two."""

    cause: CauseId
    where: PlaceLabel | None = None
    either_first: bool = False


class TruthLabel(_Label):
    """`truth.json`."""

    cause: CauseId
    kind: str | None = None
    acceptable: list[CauseId] = []
    wrong: list[CauseId] = []
    where: PlaceLabel | None = None
    acceptable_functions: list[Name] = []
    other_places: list[PlaceLabel] = []
    second: SecondLabel | None = None
    healthy: bool = False
    visible_in_profile: bool = True
    profiles: list[Name] = Field(default=[DATABASE], min_length=1, max_length=16)
    format: Name | None = None
    family: Name | None = None
    split: Literal["seen", "held-out"] | None = None

    @field_validator("profiles")
    @classmethod
    def _inside(cls, profiles: list[str]) -> list[str]:
        for name in profiles:
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts or "\0" in name:
                raise ValueError(f"{name!r} is not in the folder of the label")
        return profiles


class NotesLabel(_Label):
    """`NOTES.json` of an application that was measured: what an expert concludes."""

    expected_causes: list[CauseId] = []
    acceptable_causes: list[CauseId] = []
    wrong_causes: list[CauseId] = []

    @model_validator(mode="after")
    def _one_at_least(self) -> Self:
        if not self.expected_causes and not self.acceptable_causes:
            raise ValueError("expected_causes and acceptable_causes are empty")
        return self


#: Kinds of labels that no single profile answers.
SERIES = "scaling-series"


def is_labelled(folder: Path) -> bool:
    """True if a label lies in the folder."""
    return any((folder / name).is_file() for name in (TRUTH, NOTES))


def read_label(folder: Path, group: str) -> list[Case]:
    """The case in `folder`, and the repaired twin if there is one; empty for a series, which no single profile answers.

    AdapterError for a label that breaks the schema.
    """
    if (folder / TRUTH).is_file():
        truth = _read(folder / TRUTH, TruthLabel)
        return [] if truth.kind == SERIES else _planted(folder, group, truth)
    return [_expert(folder, group, _read(folder / NOTES, NotesLabel))]


AnyLabel = TypeVar("AnyLabel", TruthLabel, NotesLabel)


def _read(file: Path, schema: type[AnyLabel]) -> AnyLabel:
    value = read_json(file, largest=LARGEST)
    try:
        return schema.model_validate(value)
    except ValidationError as error:
        raise AdapterError(validation.words(error), path=file, hint=SCHEMA_HINT) from None


def _planted(folder: Path, group: str, truth: TruthLabel) -> list[Case]:
    healthy = truth.healthy or truth.cause == HEALTHY
    right = {truth.cause, *truth.acceptable}
    if healthy:
        right |= {HEALTHY, HOT_SPOT}  # that the time is at a place blames nothing
    if not truth.visible_in_profile:
        # To name what cannot be seen is a guess, however right; to claim nothing is all that can be done. It is not healthy.
        right = (right - {truth.cause}) | {HOT_SPOT, SUSPECTED, INSUFFICIENT}
    places = [truth.where, *truth.other_places]
    if truth.second and truth.second.either_first:
        right.add(truth.second.cause)
        places.append(truth.second.where)
    spots = [place.spot() for place in places if place is not None]
    spots += [Spot(name) for name in truth.acceptable_functions]
    case = Case(
        name=folder.name,
        group=group,
        paths=tuple(folder / name for name in truth.profiles),
        label=Label.PLANTED,
        cause=truth.cause,
        right=frozenset(right),
        family=family_of(truth.cause, healthy=healthy),
        origin=truth.family or group,
        split=Split(truth.split) if truth.split else split_of(folder.name),
        second=truth.second.cause if truth.second else None,
        wrong=frozenset(truth.wrong),
        spots=tuple(spots),
        healthy=healthy,
        visible=truth.visible_in_profile,
        format=truth.format or "",
    )
    twin = folder / REPAIRED
    if healthy or truth.profiles != [DATABASE] or not twin.is_dir():
        return [case]
    repaired = replace(
        case, name=f"{folder.name}/{REPAIRED}", paths=(twin,), label=Label.TWIN, right=frozenset(), second=None,
        wrong=frozenset({truth.cause}), spots=(), visible=True,
    )  # fmt: skip
    return [case, repaired]


def _expert(folder: Path, group: str, notes: NotesLabel) -> Case:
    right = (*notes.expected_causes, *notes.acceptable_causes)
    first = right[0]
    return Case(
        name=folder.name,
        group=group,
        paths=(folder / DATABASE,),
        label=Label.EXPERT,
        cause=first,
        right=frozenset({*right, *([HOT_SPOT] if HEALTHY in right else [])}),
        family=family_of(first, healthy=first == HEALTHY),
        origin=group,
        split=split_of(folder.name),
        wrong=frozenset(notes.wrong_causes),
        healthy=first == HEALTHY,
    )


def family_of(cause: str, *, healthy: bool) -> str:
    """Family of the catalogue that a cause belongs to; `healthy` and `insufficient-data` are their own, `other` is for what the
    catalogue lacks.
    """
    from chathpc.diagnosis.catalogue import cause as entry
    from chathpc.diagnosis.catalogue import ids

    if healthy:
        return HEALTHY
    if cause == INSUFFICIENT:
        return INSUFFICIENT
    return entry(cause).family if cause in ids() else "other"
