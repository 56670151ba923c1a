"""What the source of hot kernels adds to what was measured of them, and where it says nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import chathpc
from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.draft import belief
from chathpc.diagnosis.records import Finding
from chathpc.profile.profile import Profile
from tests.accuracy.draw import Draw
from tests.accuracy.gpu_sources import database
from tests.diagnosis.kernels import one, report
from tests.diagnosis.parts import diagnosed, finding, function, main, source, statements
from tests.diagnosis.test_gpu import launch, runtime, sampled, timed
from tests.diagnosis.test_gpu_memory import BUSY
from tests.profile.build import Node, build, line

FAR = "gpu-uncoalesced-access"
#: The accesses to b are far apart; those of `near` are not.
TEXT = """\
__global__ void product(float* c, const float* a, const float* b, int n)
{
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k++)
    sum += a[row * n + k] * b[k];
  c[row] = sum;
}
__global__ void near(float* c, const float* a, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < n; k++)
    c[i] += a[k * n + i];
}
"""
NAME = "product(float*, float const*, float const*, int)"


def profile(*kernels: Node, text: str = TEXT, file: str = "kernels.cu", **more: Any) -> Profile:
    tree = main(function("solve", *(launch(each) for each in kernels), *more.pop("host", ()), at="app.cu:3"))
    return build(tree, format="HPCToolkit v4", read_source=source({file: text}), **more)


def only(found: Profile) -> Finding:
    (one_,) = diagnosed(found).findings
    return one_


def test_the_source_says_why_a_kernel_of_which_only_the_time_is_known_is_slow() -> None:
    diagnosis = diagnosed(profile(timed(NAME, 8.0), timed("near(float*, float const*, int)", 2.0)))
    assert diagnosis.verdict == "suspected"
    found = finding(diagnosis, FAR)
    assert (found.where.kernel, found.where.short, found.seconds) == (NAME, "kernels.cu:6", 8.0)
    assert found.share == pytest.approx(0.8)
    # One sign that was read and not measured; against it, that L1 may help and that the lines were not measured.
    assert found.confidence == round(belief(1, 2, derived=True), 2)
    assert "derived from the source" in found.confidence_reason
    said = statements(diagnosis, FAR)
    assert said[0].endswith("takes 8.00 s of the 10.0 s of busy time of the device (80.0 %).")
    assert said[1].startswith("The source at kernels.cu:6 reads a[row * n + k], where neighbouring threads")
    assert all(each.cause != "gpu-kernel-bound" for each in diagnosis.findings)


def test_a_kernel_whose_accesses_are_near_is_left_as_it_was() -> None:
    assert only(profile(timed("near(float*, float const*, int)", 8.0))).cause == "gpu-kernel-bound"


def test_nothing_is_said_without_source_time_or_a_part_worth_looking_at() -> None:
    small = common()["min_kernel_share"].value * 9
    cases = (
        profile(timed(NAME, 8.0), text=""),
        profile(timed(NAME, 8.0), file="other.cu"),
        replace(profile(timed(NAME, 8.0)), read_source=build(main()).read_source),
        profile(timed("another(float*)", 8.0)),
        profile(timed(NAME, small), timed("near(float*, float const*, int)", 100.0 - small)),
        profile(timed(NAME, 8.0), text=TEXT.replace("for (int k", "for (int k ;;; (")),
    )
    for one_ in cases:
        assert all(each.cause != FAR for each in diagnosed(one_).findings)


def test_a_kernel_is_found_in_any_file_of_the_profile() -> None:
    tree = main(function("solve", launch(timed(NAME, 8.0)), line("lib/device.cuh:3", time=1e-3), at="app.cu:3"))
    found = build(tree, format="HPCToolkit v4", read_source=source({"lib/device.cuh": TEXT}))
    assert finding(diagnosed(found), FAR).where.short == "device.cuh:6"


def test_stalls_at_the_lines_of_a_sign_are_a_sign_of_their_own() -> None:
    lines = (sampled("kernels.cu:6", 900.0, memory=600.0), sampled("kernels.cu:7", 100.0, memory=20.0))
    diagnosis = diagnosed(profile(timed(NAME, 10.0, *lines, more={"gpu.samples.period": 1.0})))
    first = diagnosis.findings[0]
    assert (first.cause, first.where.short) == (FAR, "kernels.cu:6")
    assert first.share == pytest.approx(0.6)
    assert first.seconds == pytest.approx(6.0)
    assert first.confidence == round(belief(2, 1), 2)
    assert "60.0 % of the warp samples of product" in statements(diagnosis, FAR)[0]
    # What was measured stays beside it.
    assert "gpu-memory-latency" in [each.cause for each in diagnosis.findings]


@pytest.mark.parametrize(
    "lines",
    [
        (sampled("kernels.cu:6", 100.0, memory=60.0), sampled("kernels.cu:20", 900.0, memory=700.0)),  # elsewhere
        (sampled("kernels.cu:6", 900.0, dependency=600.0),),  # of another kind
        (sampled("kernels.cu:6", 900.0, memory=200.0),),  # few
        (sampled("kernels.cu:6", 9.0, memory=6.0),),  # too few to tell
    ],
    ids=["elsewhere", "other stalls", "few stalls", "few samples"],
)
def test_stalls_that_do_not_fit_contradict_the_source(lines: tuple[Node, ...]) -> None:
    found = profile(timed(NAME, 10.0, *lines, more={"gpu.samples.period": 1.0}))
    assert FAR not in [each.cause for each in diagnosed(found).findings]


def test_stalls_at_a_barrier_and_their_source_are_one_finding() -> None:
    text = (
        "__global__ void step(float* a, int n)\n{\n  __shared__ float s[256];\n  for (int k = 0; k < n; k++) {\n"
        "    s[threadIdx.x] += a[k * n + threadIdx.x];\n    __syncthreads();\n  }\n}\n"
    )
    lines = (sampled("kernels.cu:6", 900.0, barrier=500.0),)
    diagnosis = diagnosed(
        profile(timed("step(float*, int)", 10.0, *lines, more={"gpu.samples.period": 1.0}), text=text)
    )
    found = finding(diagnosis, "gpu-barrier-stall")
    assert any("waits at __syncthreads() in each iteration" in each for each in statements(diagnosis, found.cause))
    assert found.confidence == round(belief(3), 2)  # the stalls, their line, and the source


def counted(**facts: float) -> Profile:
    found = report(one(NAME, 5.0, **facts))
    tree = replace(found.tree, files=("kernels.cu",))
    return replace(found, tree=tree, read_source=source({"kernels.cu": TEXT}))


def test_a_counter_wins_over_the_source() -> None:
    """Nsight Compute counts 4 sectors for each request: the accesses are coalesced, whatever their text looks like."""
    found = counted(**BUSY, sectors_per_request_global_load=4.0)
    assert FAR not in [each.cause for each in diagnosed(found).findings]


def test_the_source_of_what_a_counter_says_is_one_sign_more() -> None:
    counted_ = counted(**BUSY, sectors_per_request_global_load=32.0)
    plain = finding(diagnosed(replace(counted_, read_source=build(main()).read_source)), FAR)
    diagnosis = diagnosed(counted_)
    found = finding(diagnosis, FAR)
    assert found.confidence >= plain.confidence
    assert len(found.evidence) == len(plain.evidence) + 1
    assert any("The source at kernels.cu:6" in each for each in statements(diagnosis, FAR))


def test_a_launch_of_few_blocks_is_seen_in_the_source_where_no_tool_tells_it() -> None:
    text = TEXT + "void run(float* a, int n) {\n  product<<<1, 256>>>(a, a, a, n);\n  near<<<n, 256>>>(a, a, n);\n}\n"
    name = "near(float*, float const*, int)"
    assert only(profile(timed(name, 8.0), text=text)).cause == "gpu-kernel-bound"
    diagnosis = diagnosed(profile(timed(name, 8.0), text=text.replace("near<<<n,", "near<<<2,")))
    found = finding(diagnosis, "gpu-small-grid")
    assert found.where.short == "kernels.cu:17"
    assert "2 blocks" in found.summary
    many = profile(timed(name, 8.0, more={"gpu.kernel.blocks": 4000.0}), text=text.replace("near<<<n,", "near<<<2,"))
    assert "gpu-small-grid" not in [each.cause for each in diagnosed(many).findings]  # what was measured wins


def test_two_findings_about_one_kernel_do_not_win_twice() -> None:
    text = TEXT.replace("    sum += a[row * n + k] * b[k];", "    sum += a[row * n + k] * 0.1;")
    diagnosis = diagnosed(profile(timed(NAME, 8.0), text=text))
    assert [each.cause for each in diagnosis.findings] == [FAR, "gpu-fp64-bound"]
    first, second = diagnosis.findings
    assert second.headroom <= 0.9 * first.headroom == pytest.approx(0.9 * cause(FAR).headroom)


def test_samples_of_a_kernel_without_time_are_enough() -> None:
    lines = (sampled("kernels.cu:6", 900.0, memory=600.0),)
    node = timed(NAME, 0.0, *lines, more={"gpu.samples.period": 1.0})
    assert finding(diagnosed(profile(node)), FAR).share > 0.5


def test_runtime_calls_beside_do_no_harm() -> None:
    found = profile(timed(NAME, 8.0), host=(line("app.cu:9", runtime("cudaDeviceSynchronize", time=1.0)),))
    assert FAR in [each.cause for each in diagnosed(found).findings]


@pytest.mark.parametrize(
    ("body", "cause_"),
    [
        ("  for (int j = 0; j < m; ++j)\n    a[i] += b[i * m + j];", FAR),
        ("  for (int j = 0; j < m; ++j)\n    a[i] += b[j * n + i];", ""),
    ],
    ids=["rows", "columns"],
)
def test_a_database_with_the_source_in_it_from_file_to_report(tmp_path: Path, body: str, cause_: str) -> None:
    kernel, file, part = database(Draw.of("end to end"), tmp_path, body)
    result = chathpc.explain(chathpc.load(tmp_path / "database"), llm="none")
    assert result.verdict == ("suspected" if cause_ else "hot-spot")
    first = result.findings[0]
    assert first.cause == (cause_ or "gpu-kernel-bound")
    if cause_:
        text = (tmp_path / "database" / "src" / file).read_text().split("\n")
        assert (first.where.kernel, first.where.file) == (kernel, file)
        assert "b[i * m + j]" in text[(first.where.line or 0) - 1]
        assert first.share == pytest.approx(part)
