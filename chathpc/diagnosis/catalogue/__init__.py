"""The catalogue of causes: one YAML file a cause, `common.yaml` for thresholds that several rules share.

    cause("omp-load-imbalance").threshold("min_share")     0.05
    cause("page-faults").advice_for("c", "openmp")         sentences, the most specific first
    common()["min_samples"].value                          100.0

A file is read when its cause is first asked for, and once. Inside `with extended(folder):` a user's own patterns stand
beside the built-in ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from types import MappingProxyType

from chathpc.diagnosis.catalogue.entry import FAMILIES, Advice, Cause, NextMeasurement, Threshold, Thresholds
from chathpc.errors import UsageError

__all__ = [
    "Advice",
    "Cause",
    "NextMeasurement",
    "Threshold",
    "Thresholds",
    "cause",
    "causes",
    "common",
    "extended",
    "ids",
    "own_causes",
]

_FOLDER = Path(__file__).parent
_COMMON = "common"

#: Thresholds that do not belong to one cause.
common = Thresholds(_FOLDER / f"{_COMMON}.yaml")

#: Entries of the user that are in force, by id. A context variable: two threads may explain with different folders.
_OWN: ContextVar[Mapping[str, Cause]] = ContextVar("own patterns", default=MappingProxyType({}))


@contextmanager
def extended(folder: Path | None) -> Iterator[None]:
    """While this lasts, the user's patterns in `folder` are part of the catalogue; None adds nothing.

    UsageError, which names the file and the key, where one of them does not follow the schema.
    """
    from chathpc.diagnosis.catalogue.own import read_folder

    own = {} if folder is None else read_folder(folder, built_in, built_in_ids())
    token = _OWN.set(own)
    try:
        yield
    finally:
        _OWN.reset(token)


@cache
def built_in_ids() -> tuple[str, ...]:
    """Ids of the built-in causes, sorted; no file is read."""
    return tuple(sorted(file.stem for file in _FOLDER.glob("*.yaml") if file.stem != _COMMON))


@cache
def built_in(id: str) -> Cause:
    """The built-in cause with that id; ChathpcError for a file that breaks the schema."""
    from chathpc.diagnosis.catalogue.schema import read_cause

    return read_cause(_FOLDER / f"{id}.yaml")


def ids() -> tuple[str, ...]:
    """Ids of all causes, sorted; no file is read."""
    return tuple(sorted({*built_in_ids(), *_OWN.get()}))


def cause(id: str) -> Cause:
    """The cause with that id; UsageError for an unknown one, ChathpcError for a file that breaks the schema."""
    if (own := _OWN.get().get(id)) is not None:
        return own
    if id in built_in_ids():
        return built_in(id)
    from difflib import get_close_matches

    close = get_close_matches(id, ids())
    raise UsageError(
        f"The catalogue has no cause {id!r}.",
        hint=f"Did you mean {' or '.join(close)}?" if close else "List them: chathpc patterns list",
    )


def causes() -> tuple[Cause, ...]:
    """All causes, by family and id."""
    order = list(FAMILIES)
    return tuple(sorted(map(cause, ids()), key=lambda each: (order.index(each.family), each.id)))


def own_causes() -> tuple[Cause, ...]:
    """New and changed entries of the user, by id."""
    return tuple(own for _, own in sorted(_OWN.get().items()))
