"""The catalogue of causes: one YAML file a cause, `common.yaml` for thresholds that several rules share.

    cause("omp-load-imbalance").threshold("min_share")     0.05
    cause("page-faults").advice_for("c", "openmp")         sentences, the most specific first
    common()["min_samples"].value                          100.0

A file is read when its cause is first asked for, and once.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from chathpc.diagnosis.catalogue.entry import FAMILIES, Advice, Cause, NextMeasurement, Threshold
from chathpc.errors import UsageError

__all__ = [
    "Advice",
    "Cause",
    "NextMeasurement",
    "Threshold",
    "cause",
    "causes",
    "common",
    "ids",
    "to_markdown",
]

_FOLDER = Path(__file__).parent
_COMMON = "common"


@cache
def ids() -> tuple[str, ...]:
    """Ids of all causes, sorted; no file is read."""
    return tuple(sorted(file.stem for file in _FOLDER.glob("*.yaml") if file.stem != _COMMON))


@cache
def cause(id: str) -> Cause:
    """The cause with that id; UsageError for an unknown one, ChathpcError for a file that breaks the schema."""
    if id not in ids():
        from difflib import get_close_matches

        close = get_close_matches(id, ids())
        raise UsageError(
            f"The catalogue has no cause {id!r}.", hint=f"Did you mean {' or '.join(close)}?" if close else ""
        )
    from chathpc.diagnosis.catalogue.schema import read_cause

    return read_cause(_FOLDER / f"{id}.yaml")


@cache
def causes() -> tuple[Cause, ...]:
    """All causes, by family and id."""
    order = list(FAMILIES)
    return tuple(sorted(map(cause, ids()), key=lambda each: (order.index(each.family), each.id)))


@cache
def common() -> Mapping[str, Threshold]:
    """Thresholds that do not belong to one cause, by name."""
    from chathpc.diagnosis.catalogue.schema import read_thresholds

    return read_thresholds(_FOLDER / f"{_COMMON}.yaml")


def to_markdown() -> str:
    """The whole catalogue as a page of the documentation."""
    from chathpc.diagnosis.catalogue.render import markdown

    return markdown(causes())
