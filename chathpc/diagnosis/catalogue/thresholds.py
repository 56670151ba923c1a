"""A room's own thresholds: a YAML file beside its code that holds nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from chathpc.diagnosis.catalogue.entry import Threshold


class Thresholds:
    """The thresholds of `file` by name; it is read once, when the first is asked for.

    thresholds = Thresholds(Path(__file__).with_name("thresholds.yaml"))
    thresholds()["confidence"].source    where it comes from
    thresholds.value("confidence")       0.95
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._read: Mapping[str, Threshold] | None = None

    def __call__(self) -> Mapping[str, Threshold]:
        """All of them; ChathpcError for a file that breaks the schema."""
        if self._read is None:
            from chathpc.diagnosis.catalogue.schema import read_thresholds

            self._read = read_thresholds(self._file)
        return self._read

    def value(self, name: str) -> float:
        """Value of a threshold, in the unit that the file gives; KeyError for an unknown one."""
        return self()[name].value
