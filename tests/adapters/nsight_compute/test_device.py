"""A report of our own kernels on an H100 (tests/fix/gpu/device_checks.py; Nsight Compute 2025.3, driver 580): what arithmetic says of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from chathpc.adapters.load import load
from chathpc.adapters.nsight_compute import native
from chathpc.profile.profile import Profile
from chathpc.profile.tree import NodeKind
from tests.diagnosis.parts import diagnosed, statements

REPORT = Path(__file__).parents[2] / "data/gpu/smooth.ncu-rep.xz"
#: Threads of each kernel in warps; smooth loads eight doubles that lie 33 apart from those of its neighbour, and stores one beside its.
WARPS, LOADS = (1 << 22) // 32, 8
pytestmark = pytest.mark.proprietary


@pytest.fixture
def profile() -> Profile:
    if not native.installed():
        pytest.skip("ncu-report is not installed")
    return load(REPORT)


def fact(profile: Profile, kernel: str, name: str) -> float:
    (node,) = (
        node for node in range(len(profile.tree))
        if profile.tree.kind[node] == NodeKind.GPU_KERNEL and profile.tree.label(node).startswith(kernel)
    )  # fmt: skip
    value = profile.exclusive(f"gpu.kernel.{name}").at(node)
    assert value is not None
    return value


def test_sectors_are_those_of_the_source(profile: Profile) -> None:
    """A warp's load of doubles that lie apart touches 32 sectors and uses 8 bytes of each; 8 would do."""
    touched, needed = WARPS * (LOADS * 32 + 8), WARPS * (LOADS * 8 + 8)
    assert fact(profile, "smooth", "excessive-sectors") == pytest.approx((touched - needed) / touched)
    assert fact(profile, "smooth", "sectors-per-request.global-load") == 32
    assert fact(profile, "smooth", "sector-use.global-load") == 8 / 32
    assert fact(profile, "smooth", "sector-use.global-store") == 1
    assert fact(profile, "sums", "sectors-per-request.global-load") == 8
    assert fact(profile, "sums", "sector-use.global-store") == 8 / 32  # one thread of a block


def test_the_launch_is_that_of_the_source(profile: Profile) -> None:
    assert fact(profile, "smooth", "blocks") == (1 << 22) / 256
    assert fact(profile, "smooth", "threads-per-block") == 256
    assert fact(profile, "smooth", "multiprocessors") == 132


def test_each_kernel_is_told_its_own_fault_at_its_line(profile: Profile) -> None:
    diagnosis = diagnosed(profile)
    smooth, sums = diagnosis.findings
    assert (smooth.cause, smooth.where.line) == ("gpu-uncoalesced-access", 11)
    assert "What its global loads use is 25.0 % of the bytes of their sectors." in statements(diagnosis, smooth.cause)
    assert (sums.title, sums.where.line) == ("Limited by the bandwidth of shared memory", 22)
