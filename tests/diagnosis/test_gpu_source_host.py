"""What the source says of the host's calls of a GPU's runtime."""

from __future__ import annotations

import pytest

from chathpc.diagnosis.host_calls import HostCall
from chathpc.diagnosis.source.device_calls import in_loop, pageable
from chathpc.diagnosis.source.text import parsed
from chathpc.profile.profile import Profile
from tests.diagnosis.parts import diagnosed, finding, function, main, source, statements
from tests.diagnosis.test_gpu import launch, runtime, timed
from tests.profile.build import build, line

ALLOCATION, SYNC, LAUNCHES = "gpu-allocation-in-loop", "gpu-sync-overuse", "gpu-launch-bound"
TEXT = """\
void solve(float* a, int n, int steps)
{
  float* once; cudaMalloc(&once, n);
  for (int t = 0; t < steps; t++) {
    float* d;
    cudaMalloc(&d, n * sizeof(float));
    step<<<n / 256, 256>>>(a, d, n);
    cudaDeviceSynchronize();
    cudaMemcpy(a, d, n, cudaMemcpyDeviceToHost);
    cudaMemcpyAsync(a, d, n, cudaMemcpyDeviceToHost, s);
    cudaFree(d);
  }
  for (int g = 0; g < 4; g++)
    cudaMalloc(&a, n);
}
"""


@pytest.mark.parametrize(
    ("number", "kind", "cause"),
    [
        (3, HostCall.ALLOCATION, ""),  # once
        (6, HostCall.ALLOCATION, ALLOCATION),
        (7, HostCall.LAUNCH, LAUNCHES),
        (8, HostCall.WAIT, SYNC),
        (9, HostCall.COPY, SYNC),
        (10, HostCall.COPY, ""),  # goes on while it copies
        (11, HostCall.ALLOCATION, ALLOCATION),
        (14, HostCall.ALLOCATION, ""),  # for each of four devices
        (6, HostCall.WAIT, ""),
        (6, HostCall.MPI, ""),
    ],
)
def test_calls_in_loops(number: int, kind: HostCall, cause: str) -> None:
    file = parsed("app.cu", TEXT.encode())
    assert file is not None
    sign = in_loop(file.everything()[0], file.unit, number, kind)
    assert (sign.cause if sign is not None else "") == cause
    if sign is not None:
        assert "in each iteration of the loop over t" in sign.says


@pytest.mark.parametrize(
    ("how", "is_pageable"),
    [
        ("float* h = (float*)malloc(n); cudaMemcpyAsync(d, h, n, k, s);", True),
        ("float* h = new float[n]; cudaMemcpy(h, d, n, k);", True),
        ("std::vector<float> h(7); cudaMemcpyAsync(d, h.data(), n, k, s);", True),
        ("float* h; cudaMallocHost(&h, n); cudaMemcpyAsync(d, h, n, k, s);", False),
        ("float* h = (float*)malloc(n); cudaHostRegister(h, n, 0); cudaMemcpyAsync(d, h, n, k, s);", False),
        ("float* h = get(n); cudaMemcpyAsync(d, h, n, k, s);", False),
        ("cudaMemcpyAsync(d, h, n, k, s);", False),
        ("float* h = (float*)malloc(n); if (q) h = pinned(n); cudaMemcpyAsync(d, h, n, k, s);", False),
    ],
)
def test_memory_that_is_not_pinned(how: str, is_pageable: bool) -> None:
    file = parsed("app.cu", f"void f(float* d, int n) {{ {how} }}\n".encode())
    assert file is not None
    assert (pageable(file.everything()[0], 1) is not None) == is_pageable


def program(*, text: str = TEXT, allocating: float = 3.0, launches: float = 10.0, seconds: float = 1.0) -> Profile:
    name = "step(float*, float*, int)"
    tree = main(
        function(
            "solve",
            line("app.cu:6", runtime("cudaMalloc", time=allocating)),
            launch(timed(name, seconds, launches=launches), at="app.cu:7"),
            line("app.cu:8", runtime("cudaDeviceSynchronize", time=2.0)),
            line("app.cu:9", time=10.0 - allocating),
            at="app.cu:1",
        )
    )
    return build(tree, format="HPCToolkit v4", read_source=source({"app.cu": text}))


def test_memory_that_is_allocated_in_a_loop_is_a_finding_with_the_time_of_the_calls() -> None:
    diagnosis = diagnosed(program())
    found = finding(diagnosis, ALLOCATION)
    assert found.where.short == "app.cu:6"
    assert found.share == pytest.approx(3 / 12)
    assert "derived from the source" in found.confidence_reason
    assert statements(diagnosis, ALLOCATION)[1] == (
        "The source at app.cu:6 calls cudaMalloc in each iteration of the loop over t."
    )


def test_nothing_is_said_where_it_is_no_loop_or_costs_nothing() -> None:
    for profile in (
        program(text=TEXT.replace("for (int t = 0; t < steps; t++)", "if (steps)")),
        program(allocating=0.1),
        program(text=""),
    ):
        assert ALLOCATION not in [each.cause for each in diagnosed(profile).findings]


def test_launches_in_a_loop_are_a_further_sign_of_kernels_that_are_too_short() -> None:
    def found(text: str) -> tuple[float, list[str]]:
        diagnosis = diagnosed(program(text=text, launches=1e6, seconds=1.0))
        return finding(diagnosis, LAUNCHES).confidence, statements(diagnosis, LAUNCHES)

    with_loop, said = found(TEXT)
    without, _ = found(TEXT.replace("for (int t = 0; t < steps; t++)", "if (steps)"))
    assert said[-1] == "The source at app.cu:7 launches step in each iteration of the loop over t."
    assert with_loop > without


def test_waiting_is_never_a_finding_by_the_time_of_the_wait() -> None:
    assert SYNC not in [each.cause for each in diagnosed(program()).findings]
