"""Kernels with a planted fault, as Nsight Compute saw them on an H100 (tests/bench/planted_kernels.py)."""

from __future__ import annotations

from typing import Any

import pytest

from chathpc.adapters.nsight_compute import native
from tests.bench.planted_kernels import FAULTS, TRUTH, answer

#: Tuned kernels that are said to have room: two of arithmetic at three quarters of the peak, and one whose copies to rows of shared memory
#: at odd multiples of 16 bytes move half as many sectors again.
ROOM = {
    "sgemm_tiled.cu": "gpu-compute-bound",
    "nbody_tiles.cu": "gpu-compute-bound",
    "hgemm_wmma.cu": "gpu-uncoalesced-access",
}


@pytest.mark.proprietary
@pytest.mark.parametrize("planted", TRUTH, ids=lambda each: each["file"])
def test_a_planted_fault_is_named_first_and_streams_are_healthy(planted: dict[str, Any]) -> None:
    if not native.installed():
        pytest.skip("ncu-report is not installed")
    told = answer(planted)
    if planted["fixed"]:
        assert told.exact or told.as_good
    else:
        assert told.exact is (planted["file"] not in ROOM)
        assert told.cause == ROOM.get(planted["file"], "gpu-memory-bandwidth")


def test_every_fault_costs_time_on_the_device() -> None:
    """Times by events, which no rule of ours has made."""
    assert len(FAULTS) == 18
    assert all(each["milliseconds"] > 1.4 * each["milliseconds_fixed"] for each in FAULTS)
