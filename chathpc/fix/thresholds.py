"""The numbers by which a change is judged: `thresholds.yaml`, each with its unit and where it comes from.

threshold("min_pairs")      10
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from chathpc.diagnosis.catalogue import Threshold

_FILE = Path(__file__).with_name("thresholds.yaml")


@cache
def thresholds() -> Mapping[str, Threshold]:
    """All thresholds by name; read once, when the first is asked for."""
    from chathpc.diagnosis.catalogue.schema import read_thresholds

    return read_thresholds(_FILE)


def threshold(name: str) -> float:
    """Value of a threshold, in the unit that the file gives; KeyError for an unknown one."""
    return thresholds()[name].value
