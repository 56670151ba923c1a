"""Waiting in a library's code is told at the line of the program that calls it: with inlining from a disassembly, or from the call tree."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from chathpc.adapters.load import load
from chathpc.adapters.nvdisasm import read
from chathpc.diagnosis.sampled_code import called_at, short
from chathpc.profile.build import TreeBuilder
from chathpc.profile.location import Locations
from chathpc.profile.machine_code import CodeLine, MachineCode
from chathpc.profile.metric import Metric, Unit
from chathpc.profile.profile import Profile, Source
from chathpc.profile.tree import NodeKind
from tests.diagnosis.parts import diagnosed, finding, statements
from tests.diagnosis.sass.listings import FOLDER
from tests.synthetic.nsight_compute import STUB, Run, report

INLINED = FOLDER / "inlined"
#: In total.cu these lines call block_sum, which synchronises at line 13 of block_sum.cuh.
FIRST, SECOND = 7, 9


def code() -> MachineCode:
    (found,) = read(INLINED / "total.sass").code
    return found


def at(offset: int) -> CodeLine:
    return next(line for line in code().lines if line.offset == offset)


def test_the_sources_are_those_that_the_lines_speak_of() -> None:
    lines = (INLINED / "total.cu").read_text().splitlines()
    assert [number for number, text in enumerate(lines, 1) if "block_sum(" in text] == [FIRST, SECOND]
    header = (INLINED / "include/cub/block/block_sum.cuh").read_text().splitlines()
    assert "__syncthreads" in header[12]
    assert "__shfl_down_sync" in header[4]
    assert [number for number, text in enumerate(header, 1) if "warp_sum(" in text] == [4, 11, 14]


@pytest.mark.parametrize(("offset", "line"), [(0xA0, FIRST), (0xC0, SECOND), (0x240, FIRST), (0x280, SECOND)])
def test_an_instruction_of_a_library_has_the_program_s_line(offset: int, line: int) -> None:
    assert called_at(at(offset)) == ("/src/total.cu", line)


def test_all_callers_are_read_from_the_innermost_on() -> None:
    # A shuffle: NVIDIA's intrinsic in warp_sum's loop, called by block_sum, called by the kernel.
    assert at(0xC0).text.startswith("SHFL.DOWN")
    assert at(0xC0).file.endswith("/sm_30_intrinsics.hpp")
    library = "/src/include/cub/block/block_sum.cuh"
    assert at(0xC0).callers == ((library, 5), (library, 11), ("/src/total.cu", SECOND))
    # The load of x is the program's own.
    assert (at(0x70).callers, called_at(at(0x70)), short(at(0x70))) == ((), None, "total.cu:6")
    assert short(at(0x240)) == "block_sum.cuh:13 (called at total.cu:7)"


def test_a_library_without_a_known_caller_stays_where_it_is() -> None:
    alone = replace(at(0x240), callers=())
    assert called_at(alone) is None
    assert called_at(replace(alone, callers=(("/usr/include/thrust/for_each.h", 3),))) is None
    assert short(alone) == "block_sum.cuh:13"


def reported(tmp_path: Path, stalled: dict[int, float], *, lines: bool = True) -> Path:
    """A report of the kernel, with samples that wait at a barrier."""
    base = 0x7F0000001000
    named = "smsp__pcsamp_warps_issue_stalled_barrier"
    samples = {base + offset: value for offset, value in stalled.items()}
    run = Run(
        "total(const float *, float *, float *)",
        {
            "gpu__time_duration.sum": (4e6, "ns"), "sm__throughput.avg.pct_of_peak_sustained_elapsed": (10.0, "%"),
            "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed": (30.0, "%"),
        },
        code={base + line.offset: (line.text, line.file if lines else "", line.line if lines else 0) for line in code().lines},
        base=base,
        located={
            "smsp__pcsamp_sample_count": samples, named: samples,
            "inst_executed": {base + line.offset: 1.0 for line in code().lines},
        },
    )  # fmt: skip
    path = tmp_path / "report.ncu-rep"
    path.write_bytes(report([run]))
    return path


@pytest.mark.parametrize("lines", [True, False])
def test_a_barrier_of_a_library_is_told_at_the_line_that_calls_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: bool
) -> None:
    monkeypatch.syspath_prepend(str(STUB))
    # Samples of a barrier stand behind it: 700 behind that of the first call, 300 behind that of the second.
    path = reported(tmp_path, {0x250: 700.0, 0x290: 300.0}, lines=lines)
    alone = finding(diagnosed(load(path)), "gpu-barrier-stall")
    # The report itself tells the innermost line only.
    assert alone.where.short == ("block_sum.cuh:13" if lines else "")
    diagnosis = diagnosed(load(path, INLINED / "total.sass"))
    found = finding(diagnosis, "gpu-barrier-stall")
    assert (found.where.file, found.where.line) == ("/src/total.cu", FIRST)
    assert any(
        each.startswith("Waiting for the barrier at block_sum.cuh:13 (called at total.cu:7) has 70.0 %")
        for each in statements(diagnosis, "gpu-barrier-stall")
    )


def test_a_hot_line_of_a_library_is_named_with_its_caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(STUB))
    # Where the two barriers are themselves sampled, they are one line of the library with two callers.
    path = reported(tmp_path, {0x240: 300.0, 0x280: 700.0})
    diagnosis = diagnosed(load(path, INLINED / "total.sass"))
    found = finding(diagnosis, "gpu-barrier-stall")
    assert found.where.short == "total.cu:9"
    assert any(
        each.startswith("block_sum.cuh:13 (called at total.cu:9 and elsewhere) has 100 %")
        for each in statements(diagnosis, "gpu-barrier-stall")
    )


def test_inlined_functions_of_the_call_tree_tell_the_caller() -> None:
    builder = TreeBuilder()
    top = builder.node(-1, NodeKind.GPU_KERNEL, "total")
    call = builder.node(top, NodeKind.LINE, file="total.cu", line=FIRST)
    inner = builder.node(
        call, NodeKind.INLINED, "cub::BlockReduce::Sum", file="/usr/include/cub/block/sum.cuh", line=90
    )
    hot = builder.node(inner, NodeKind.LINE, file="/usr/include/cub/block/sum.cuh", line=94)
    names = {
        "gpu.kernel.time": (top, Unit.SECONDS, 1.0), "gpu.time": (top, Unit.SECONDS, 1.0), "gpu.instructions": (hot, Unit.SAMPLES, 900.0),
        "gpu.stall.any": (hot, Unit.SAMPLES, 900.0), "gpu.stall.memory": (hot, Unit.SAMPLES, 900.0),
    }  # fmt: skip
    for name, (node, _, value) in names.items():
        builder.add(name, node, value)
    metrics = {name: Metric(name, unit, name, name) for name, (_, unit, _) in names.items()}
    tree, values, _ = builder.finish(metrics.values())
    profile = Profile(
        format="test", title="test", tree=tree, metrics=metrics, values=values, where=Locations.single(),
        sources=(Source(Path("test"), "test"),),
    )  # fmt: skip
    diagnosis = diagnosed(profile)
    assert finding(diagnosis, "gpu-memory-latency").where.short == "total.cu:7"
    said = statements(diagnosis, "gpu-memory-latency")
    assert "sum.cuh:94 (called at total.cu:7) has 100 % of these stalls." in said
