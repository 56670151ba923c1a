"""What limits the kernels of real Nsight Compute reports, against what a careful reader concludes from each.

The conclusions stand in the samples' INDEX.md, drawn from NVIDIA's own reader; here they are causes of the catalogue. Where
the report cannot decide, several causes or none are right, and the report must say what would decide.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from chathpc.adapters.load import load
from chathpc.diagnosis.diagnose import diagnose
from chathpc.diagnosis.records import Diagnosis
from chathpc.diagnosis.rules.gpu_counters import undecided
from chathpc.profile.profile import Profile

REPOSITORY = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("CHATHPC_TEST_DATA", REPOSITORY.parent / "shared" / "data")) / "profiles"
NATIVE = find_spec("ncu_report") is not None


@dataclass(frozen=True)
class Expected:
    """Causes that may stand first (none: nothing may be concluded), others that must be told as well, words of the first
    finding or of the verdict."""

    first: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    verdicts: tuple[str, ...] = ("bottleneck",)


EXPECTED = {
    "ncu/mistic_node_a100_full.ncu-rep": Expected(("gpu-memory-latency",), words=("67.6 %",)),
    "ncu/mistic_node2_a100_full.ncu-rep": Expected(("gpu-memory-latency",), words=("74.1 %",)),
    "ncu/mistic_ilp_smallblocks_a100_full.ncu-rep": Expected(
        ("gpu-low-occupancy",), words=("50.0 %", "number of blocks")
    ),
    "ncu/mistic_154kernels_a100_basic.ncu-rep": Expected(("gpu-memory-latency",), words=("99.9 %",)),
    "ncu/mistic_nan_failed_a100.ncu-rep": Expected(verdicts=("insufficient-data",), words=("Profiling failed",)),
    "ncu/esmm_gemm_ladder_a10g_basic.ncu-rep": Expected(("gpu-uncoalesced-access",), words=("97.5 %",)),
    "ncu/indexspaces_julia_a40_full.ncu-rep": Expected(
        ("gpu-compute-bound",), also=("gpu-memory-bandwidth",), words=("ALU",)
    ),
    "ncu/cutlass_smallgrid_a100_full.ncu-rep": Expected(("gpu-small-grid",), words=("96 blocks", "108 multiprocessors")),
    "ncu/mojo_divergence_gtx1660ti_basic.ncu-rep": Expected(
        ("gpu-small-grid", "gpu-launch-bound"), words=("1 block of 64 threads", "reveals nothing")
    ),
    "ncu/speedyscan_rtx3070.ncu-rep": Expected(("gpu-barrier-stall",), words=("at a barrier",)),
    "ncu/sglang_h800_full.ncu-rep": Expected(("gpu-tail-effect",), words=("1.33 waves",)),
    "ncu/nukexc_l1bound_gh200.ncu-rep": Expected(
        ("gpu-uncoalesced-access", "gpu-shared-bank-conflicts"), words=("99.6 %", "memory tables would show which")
    ),
    "ncu/extrap_exgpu_s10_a100.ncu-rep": Expected(("gpu-small-grid",), words=("1 block of 10 threads",)),
    "ncu/extrap_exgpu_s1000_a100.ncu-rep": Expected(("gpu-small-grid",), words=("1 block of 10 threads",)),
    "ncu_csv/kernel_0001_details.csv": Expected(("gpu-small-grid",), words=("0.700 of a wave",)),
    "ncu_csv/kernel_0002_details.csv": Expected(("gpu-memory-latency",)),
    "ncu_csv/kernel_0003_details.csv": Expected(
        ("gpu-memory-bandwidth",), words=("L2 cache", "61.8 %")
    ),
}  # fmt: skip


def needs(name: str) -> pytest.MarkDecorator:
    """The mark that skips a sample that cannot be read here, with the reason."""
    missing = not (DATA / name).is_file()
    native = name.endswith(".ncu-rep") and not NATIVE
    reason = "needs the package ncu-report" if native else f"needs {name} (CHATHPC_TEST_DATA, or ../shared/data)"
    return pytest.mark.skipif(missing or native, reason=reason)


each_sample = pytest.mark.parametrize("name", [pytest.param(name, marks=needs(name)) for name in EXPECTED])


@cache
def profile_of(name: str) -> Profile:
    return load(DATA / name)


@cache
def diagnosis_of(name: str) -> Diagnosis:
    return diagnose(profile_of(name))


@each_sample
def test_the_first_finding_is_what_a_careful_reader_concludes(name: str) -> None:
    expected, diagnosis = EXPECTED[name], diagnosis_of(name)
    assert diagnosis.verdict in expected.verdicts
    causes = [finding.cause for finding in diagnosis.findings]
    assert causes[:1] == [cause for cause in expected.first if cause in causes[:1]]
    assert set(expected.also) <= set(causes)
    for words in expected.words:
        assert words in diagnosis.headline


@each_sample
def test_only_what_has_a_cause_of_its_own_is_told_of_a_kernel(name: str) -> None:
    told = [(finding.where.kernel, finding.cause) for finding in diagnosis_of(name).findings]
    assert len(set(told)) == len(told)
    few = {kernel for kernel, cause in told if cause == "gpu-low-occupancy"}
    assert not few & {kernel for kernel, cause in told if cause in ("gpu-memory-latency", "gpu-dependency-stall")}
    assert "gpu-kernel-bound" not in [cause for _, cause in told]


@each_sample
def test_every_number_is_evidence_of_the_report_itself(name: str) -> None:
    diagnosis = diagnosis_of(name)
    assert all(item.source.startswith("Nsight Compute") for item in diagnosis.evidence)
    assert all(0 <= finding.share <= 1 and 0 <= finding.headroom <= 1 for finding in diagnosis.findings)


@pytest.mark.parametrize(
    "name", [pytest.param(f"ncu_csv/kernel_0001_{section}.csv", marks=needs(f"ncu_csv/kernel_0001_{section}.csv"))
             for section in ("Occupancy",)]
)  # fmt: skip
def test_one_section_of_a_kernel_is_too_little_and_names_the_option_for_more(name: str) -> None:
    assert "ncu --section" in undecided(profile_of(name))
    assert not diagnosis_of(name).findings


@pytest.mark.parametrize("name", [pytest.param(name, marks=needs(name)) for name in EXPECTED if "nukexc" in name])
def test_what_a_basic_report_cannot_tell_is_asked_for_by_option_and_kernel(name: str) -> None:
    finding = diagnosis_of(name).findings[0]
    following = str(finding.next_measurement)
    assert "--section MemoryWorkloadAnalysis_Tables" in following
    # The launcher of Kokkos has one name for all kernels; what it runs tells them apart.
    assert r"--kernel-name-base demangled -k 'regex:\bbenchmark_collocation\b.*instance 5\b' " in following


@pytest.mark.parametrize("name", [pytest.param(name, marks=needs(name)) for name in EXPECTED if "sglang" in name])
def test_a_kernel_without_data_is_named(name: str) -> None:
    assert any("no measurements of" in text for text in diagnosis_of(name).findings[0].against)


@pytest.mark.parametrize("name", [pytest.param(name, marks=needs(name)) for name in EXPECTED if "indexspaces" in name])
def test_the_fill_at_the_limit_of_device_memory_has_hardly_any_headroom(name: str) -> None:
    (fill,) = (finding for finding in diagnosis_of(name).findings if finding.cause == "gpu-memory-bandwidth")
    assert fill.headroom < 0.05
    assert "95.7 % of the peak" in fill.summary
