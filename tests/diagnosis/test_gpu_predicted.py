"""What was predicted of kernels without counters is evidence for a suspicion, marked as predicted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chathpc.profile.profile import Profile
from chathpc.profile.remark import PredictedKernel
from tests.diagnosis.parts import diagnosed, finding, statements
from tests.diagnosis.test_gpu import launch, program, timed

FOUND = PredictedKernel(
    "saxpy",
    "NVIDIA A100",
    "bandwidth",
    0.987,
    "memory",
    (5e-3, 4e-3, 6e-3),
    kind="fp32",
    intensity=0.167,
    balance=12.5,
    used=1.0,
)


def busy(*predicted: PredictedKernel, kernel: str = "saxpy") -> Profile:
    return replace(program(launch(timed(kernel, 6.0)), launch(timed("sum", 3.0))), predicted=predicted)


def test_a_busy_kernel_without_counters_gets_the_predicted_limiter_as_a_suspicion() -> None:
    diagnosis = diagnosed(busy(FOUND))
    found = finding(diagnosis, "gpu-kernel-bound")
    assert found.suspected == ("gpu-memory-bandwidth",)
    assert statements(diagnosis, "gpu-kernel-bound")[-1] == (
        "Predicted for saxpy on NVIDIA A100, not measured: bandwidth-bound (99 % likely), 0.167 fp32 operations per byte of device memory "
        "(balance point 12.5); 5.00 ms (4.00 ms to 6.00 ms) a launch, most of it for device memory. "
        "Threads use 100 % of the sectors of device memory that they touch."
    )
    assert diagnosis.verdict == "suspected"
    assert "Predicted, not measured: " in diagnosis.headline


@pytest.mark.parametrize(
    ("limiter", "used", "cause"),
    [
        ("latency", 1.0, "gpu-memory-latency"), ("fp64", None, "gpu-fp64-bound"), ("issue", 1.0, "gpu-compute-bound"),
        ("memory", 0.2, "gpu-uncoalesced-access"), ("l1", 0.2, "gpu-uncoalesced-access"), ("l1", 1.0, None),
    ],
)  # fmt: skip
def test_the_cause_follows_from_the_predicted_limiter(limiter: str, used: float | None, cause: str | None) -> None:
    found = finding(diagnosed(busy(replace(FOUND, limiter=limiter, used=used))), "gpu-kernel-bound")
    assert found.suspected == (() if cause is None else (cause,))


def test_an_instance_is_found_by_its_own_name_only_if_that_is_the_only_one() -> None:
    one, other = replace(FOUND, kernel="saxpy<float>"), replace(FOUND, kernel="saxpy<double>")
    assert finding(diagnosed(busy(one)), "gpu-kernel-bound").suspected
    assert not finding(diagnosed(busy(one, other)), "gpu-kernel-bound").suspected
    assert finding(diagnosed(busy(one, other, kernel="saxpy<double>")), "gpu-kernel-bound").suspected


def test_a_prediction_of_other_kernels_changes_nothing() -> None:
    with_it, without = diagnosed(busy(replace(FOUND, kernel="other"))), diagnosed(busy())
    assert (with_it.verdict, with_it.headline, with_it.findings) == (
        without.verdict,
        without.headline,
        without.findings,
    )
