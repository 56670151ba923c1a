"""Kernels with a planted fault, as Nsight Compute saw them on an H100 (tests/bench/planted_kernels.py)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chathpc.adapters.load import load
from chathpc.adapters.nsight_compute import native
from tests.diagnosis.parts import diagnosed

PLANTED = Path(__file__).parents[1] / "data/gpu/planted"
FAULTS: list[dict[str, Any]] = [
    each for each in json.loads((PLANTED / "truth.json").read_text("utf-8")) if each["fixed"]
]
#: Told something else than the author planted: atomics on one address, FP64 beside a part-filled wave, few blocks that last longest.
MISSED = {"plaq_action.cu", "cionize.cu", "rank_gather.cu"}


@pytest.mark.proprietary
@pytest.mark.parametrize("planted", FAULTS, ids=lambda each: each["file"])
def test_a_planted_fault_is_named_first(planted: dict[str, Any]) -> None:
    if not native.installed():
        pytest.skip("ncu-report is not installed")
    first = diagnosed(load(PLANTED / f"{Path(planted['file']).stem}.ncu-rep.xz")).findings[0]
    right = first.cause in (planted["cause"], *planted["also_accepted"])
    assert right is (planted["file"] not in MISSED)


def test_every_fault_costs_time_on_the_device() -> None:
    """Times by events, which no rule of ours has made."""
    assert len(FAULTS) == 18
    assert all(each["milliseconds"] > 1.4 * each["milliseconds_fixed"] for each in FAULTS)
