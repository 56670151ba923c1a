"""Real GPU timelines against the conclusion that a careful reader drew from each by SQL and own arithmetic.

For each file: the verdict, the causes of which the first finding must name one, further causes that must be among the
findings, causes that must not, and words of the headline. What was measured independently is compared as a share.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from chathpc.adapters.load import load
from chathpc.diagnosis.diagnose import diagnose
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.records import Diagnosis
from chathpc.errors import AdapterError
from chathpc.profile import intervals
from chathpc.profile.profile import Profile
from tests.diagnosis.parts import check

REPOSITORY = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("CHATHPC_TEST_DATA", REPOSITORY.parent / "shared" / "data")) / "profiles"
pytestmark = pytest.mark.skipif(
    not DATA.is_dir(),
    reason="needs public sample profiles (CHATHPC_TEST_DATA, or ../shared/data beside the repository)",
)


@dataclass(frozen=True)
class Truth:
    """What a file shows; `share` is that of the first finding, known to ± `within`."""

    file: str
    verdict: str
    first: tuple[str, ...] = ()
    among: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    share: float | None = None
    within: float = 0.01

    @property
    def id(self) -> str:
        return self.file.rsplit("/", 1)[-1].split(".")[0]


COPY, KERNEL, IDLE, LAUNCH = "gpu-h2d-copy-bound", "gpu-kernel-bound", "gpu-idle-host-bound", "gpu-launch-bound"
SYNC, JIT, NCCL, GRID, PAGEABLE = (
    "gpu-sync-overuse",
    "jit-compilation",
    "nccl-bound",
    "gpu-small-grid",
    "gpu-pageable-copies",
)

TRUTHS = (
    # Nsight Systems
    Truth("nsys/nsysai_h100_2gpu_1s.sqlite", "bottleneck", (COPY,), never=(IDLE, SYNC, PAGEABLE), share=0.95),
    Truth("nsys/nsysai_healthy_1pct.sqlite", "healthy", (KERNEL,), words=("0.988 %", "tuned libraries"), share=0.99),
    Truth(
        "nsys/nsysai_mfu_2gpu_before.sqlite", "healthy", (KERNEL,), never=(SYNC, NCCL), words=("9.78 %", "tuned libraries"),
        share=0.85,
    ),
    Truth("nsys/flameox_cudagraph_2025.5.sqlite", "insufficient-data"),
    Truth("nsys/fuser_matmul_h200_2024.6.sqlite", "bottleneck", (JIT,), never=(KERNEL,), words=("Nvrtc",), share=0.8, within=0.12),
    Truth(
        "nsys/pipit_cloverleaf_a100_2024.5.scrubbed.sqlite", "healthy", (KERNEL,), never=(SYNC, "gpu-allocation-in-loop"),
        words=("par_ranged2d_kernel",), share=0.86,
    ),
    Truth(
        "nsys/pipit_saxpy_mpi_a100_2022.2.scrubbed.sqlite", "bottleneck", (IDLE, PAGEABLE, COPY),
        among=(COPY, PAGEABLE, GRID, "mpi-communication-bound"),
    ),
    Truth("nsys/extrap_concurrent_s1_gtx1060_2022.1.scrubbed.sqlite", "bottleneck", (IDLE,), words=("init_data",)),
    Truth("nsys/extrap_exgpu_s10_a100_2021.scrubbed.sqlite", "bottleneck", ("gpu-start-up",), words=("first launches",)),
    Truth("nsys/extrap_exgpu_s1000_a100_2021.scrubbed.sqlite", "bottleneck", ("gpu-start-up",), words=("first launches",)),
    Truth("nsys/lte_gemm_nokernels_5060ti_2025.1.scrubbed.sqlite", "insufficient-data"),
    # PyTorch
    Truth("kineto/bert_small_h100.json.gz", "bottleneck", (LAUNCH, IDLE), never=(KERNEL,)),
    Truth("kineto/bert_small_mi300.json.gz", "bottleneck", (LAUNCH, IDLE), never=(KERNEL,)),
    Truth("kineto/hta_ns_resolution_rank0.json.gz", "healthy", (KERNEL,), share=0.98),
    Truth("kineto/hta_dist_rank0.json.gz", "bottleneck", (NCCL,), share=336 / 1223),
    Truth("kineto/hta_dist_rank1.json.gz", "bottleneck", (NCCL,), share=299 / 1230),
    Truth("kineto/hta_cpu_only.json.gz", "insufficient-data"),
    Truth("kineto/sglang_qwen3_decode.json.gz", "insufficient-data", words=("missing",)),
    # AMD
    Truth("rocprof_json/908_results.json.gz", "bottleneck", (NCCL,), words=("ncclDevKernel",)),
    Truth("rpd/matmul_result.rpd", "bottleneck", (IDLE, COPY), among=(IDLE, COPY), share=0.938),
    Truth("rocprof_legacy/finite_difference_results.db", "healthy", (KERNEL,), words=("laplacian_kernel",), share=0.986),
)  # fmt: skip


@cache
def read(file: str) -> Profile:
    return load(DATA / file)


def diagnosis_of(truth: Truth) -> Diagnosis:
    if not (DATA / truth.file).exists():
        pytest.skip(f"needs {truth.file}")
    try:
        return diagnose(read(truth.file))
    except AdapterError as error:
        if "not a profile that chathpc knows" in str(error):
            pytest.skip("the reader of this format is not installed")
        raise


each_file = pytest.mark.parametrize("truth", TRUTHS, ids=lambda truth: truth.id)


@each_file
def test_the_conclusion_is_that_of_a_careful_reader(truth: Truth) -> None:
    diagnosis = diagnosis_of(truth)
    causes = [finding.cause for finding in diagnosis.findings]
    # One kernel that fills the device is no fault, and not known to be as fast as it can be.
    allowed = ("healthy", "hot-spot") if truth.verdict == "healthy" else (truth.verdict,)
    assert diagnosis.verdict in allowed, (diagnosis.headline, causes)
    assert not truth.first or (causes and causes[0] in truth.first), causes
    assert set(truth.among) <= set(causes)
    assert not set(truth.never) & set(causes)
    assert all(word in diagnosis.headline for word in truth.words), diagnosis.headline
    if truth.share is not None:
        assert diagnosis.findings[0].share == pytest.approx(truth.share, abs=truth.within)


@each_file
def test_what_is_said_holds_together(truth: Truth) -> None:
    check(diagnosis_of(truth))


@each_file
def test_busy_and_idle_make_up_the_window(truth: Truth) -> None:
    diagnosis_of(truth)
    facts = Facts(read(truth.file)).timeline
    if facts is None:
        assert truth.verdict == "insufficient-data"
        return
    for device in facts.devices:
        assert intervals.length(device.busy) + intervals.length(device.idle) == facts.end - facts.begin
    assert 0 <= facts.share(facts.busy) <= 1
