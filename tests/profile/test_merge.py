"""Views of one run joined: nothing lost, nothing counted twice, and what differs is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.profile.build import TreeBuilder
from chathpc.profile.gpu_counters import counter
from chathpc.profile.location import Locations
from chathpc.profile.merge import merge
from chathpc.profile.metric import Clock, Metric, Unit
from chathpc.profile.profile import Profile, Source
from chathpc.profile.remark import Device, Remark
from chathpc.profile.timeline import WITHOUT_CORE, IntervalLane, Lane, LaneKind, Timeline
from chathpc.profile.tree import NodeKind
from tests.profile.strategies import profiles

HOST = Metric("cpu.time", Unit.SECONDS, "time", "REALTIME", clock=Clock.WALL)
TRACED = Metric("host.time", Unit.SECONDS, "time of calls", "duration")
KERNEL = Metric("gpu.kernel.time", Unit.SECONDS, "time of kernels", "duration")
COUNT = Metric("gpu.kernel.count", Unit.COUNT, "launches", "launches")
SAMPLES = Metric("gpu.instructions", Unit.COUNT, "samples", "samples")
DRAM = counter("gpu.kernel.dram-throughput", "dram")
REGISTERS = counter("gpu.kernel.registers", "registers")


def profile(tool, builder, *metrics, where=None, **facts):
    tree, values, place = builder.finish(metrics, locations=1 if where is None else len(where))
    source = Source(Path(tool.lower()), tool)
    found = Profile(
        tool, "app", tree, {m.id: m for m in metrics}, values, where or Locations.single(), (source,), **facts
    )
    found.tree.check()
    return found, place


def host_view():
    b = TreeBuilder()
    main = b.node(-1, NodeKind.ENTRY, "main")
    b.add("cpu.time", b.node(main, NodeKind.FUNCTION, "solve", file="a.c", line=3), 2.0)
    b.add("cpu.time", b.node(main, NodeKind.FUNCTION, "init", file="a.c", line=9), 1.0)
    return profile("HPCToolkit", b, HOST, caveats=("Few samples.",), sample_count=600.0)[0]


def trace_view(seconds=(0.5, 0.25)):
    b = TreeBuilder()
    process = b.node(-1, NodeKind.ENTRY, "process 7")
    for name, value in zip(("step", "warm-up"), seconds, strict=True):
        launch = b.node(b.node(process, NodeKind.REGION, name), NodeKind.FUNCTION, "cudaLaunchKernel")
        b.add("host.time", launch, 0.125)
        kernel = b.node(launch, NodeKind.GPU_KERNEL, "void axpy<4, float>(float*, int)")
        b.add("gpu.kernel.time", kernel, value)
        b.add("gpu.kernel.count", kernel, 1)
        b.add("gpu.kernel.registers", kernel, 32)
    lane = IntervalLane(
        LaneKind.COMPUTE, 0, 0, np.array([0, 9]), np.array([5, 12]), np.array([kernel] * 2, dtype=np.int32)
    )
    found, place = profile("Nsight Systems", b, TRACED, KERNEL, COUNT, REGISTERS, devices={0: Device("H100", 132)})
    lane = replace(lane, node=place[lane.node])
    return replace(found, read_timeline=lambda: Timeline(0, 20, (), (lane,)))


def counter_view(name="axpy<(int)4, float>(float *, int)", seconds=1.5, registers=32.0):
    b = TreeBuilder()
    top = b.node(-1, NodeKind.ENTRY, "app")
    kernel = b.node(top, NodeKind.GPU_KERNEL, name)
    b.add("gpu.kernel.time", kernel, seconds)
    b.add("gpu.kernel.count", kernel, 1)
    b.add(DRAM.id, kernel, 91.0)
    b.add(REGISTERS.id, kernel, registers)
    line = b.node(kernel, NodeKind.LINE, file="/src/axpy.cu", line=12)
    b.add("gpu.instructions", b.node(line, NodeKind.INSTRUCTION, "LDG", offset=16), 40.0)
    found, place = profile("Nsight Compute", b, KERNEL, COUNT, DRAM, REGISTERS, SAMPLES)
    remark = Remark("Nsight Compute", "SOLBottleneck", "optimization", "Memory bound", "…", int(place[kernel]))
    return replace(found, remarks=(remark,))


def kernels_of(found):
    return [n for n in range(len(found.tree)) if found.tree.kind[n] == NodeKind.GPU_KERNEL]


def test_a_single_view_is_itself():
    view = host_view()
    assert merge([view]) is view


def test_counters_come_to_every_place_of_the_kernel_and_samples_to_the_heaviest():
    joined = merge([counter_view(), trace_view()])
    joined.tree.check()
    first, second = kernels_of(joined)
    assert [joined.exclusive(DRAM.id).at(node) for node in (first, second)] == [91.0, 91.0]
    assert joined.exclusive("gpu.kernel.time").at(first) == 0.5, "the trace's time, not that of the replayed kernel"
    line = next(n for n in range(len(joined.tree)) if joined.tree.kind[n] == NodeKind.LINE)
    assert joined.tree.parent[line] == first
    assert joined.inclusive("gpu.instructions").at(0) == 40.0
    assert joined.remarks[0].node == first
    assert joined.format == "Nsight Systems + Nsight Compute"


def test_every_number_keeps_the_name_of_its_tool():
    joined = merge([trace_view(), counter_view(), host_view()])
    assert {name: metric.tool for name, metric in joined.metrics.items()} == {
        "cpu.time": "HPCToolkit",
        "host.time": "Nsight Systems",
        "gpu.kernel.time": "Nsight Systems",
        "gpu.kernel.count": "Nsight Systems",
        "gpu.kernel.registers": "Nsight Systems",
        "gpu.kernel.dram-throughput": "Nsight Compute",
        "gpu.instructions": "Nsight Compute",
        "nsight-compute.gpu.kernel.time": "Nsight Compute",
        "nsight-compute.gpu.kernel.count": "Nsight Compute",
        "nsight-compute.gpu.kernel.registers": "Nsight Compute",
    }
    assert joined.total("cpu.time") == 3.0
    assert joined.total("gpu.kernel.time") == 0.75
    assert joined.total("nsight-compute.gpu.kernel.time") == 1.5
    assert joined.caveats == ("HPCToolkit: Few samples.",)
    assert joined.sample_count == 600.0
    assert [source.tool for source in joined.sources] == ["HPCToolkit", "Nsight Systems", "Nsight Compute"]


def test_what_two_tools_measured_differently_is_told_and_not_averaged():
    joined = merge([trace_view(), counter_view(registers=64.0)])
    told = {item.metric: item for item in joined.disagreements}
    assert told["gpu.kernel.time"].values == (("Nsight Systems", 0.375), ("Nsight Compute", 1.5))
    assert told["gpu.kernel.registers"].values == (("Nsight Systems", 32.0), ("Nsight Compute", 64.0))
    assert joined.tree.function_name(told["gpu.kernel.time"].node) == "void axpy<4, float>(float*, int)"
    agreeing = merge([trace_view((0.5, 0.5)), counter_view(seconds=0.52)])
    assert agreeing.disagreements == ()


def test_host_profiles_that_see_other_functions_disagree():
    b = TreeBuilder()
    b.add("cpu.time", b.node(-1, NodeKind.FUNCTION, "solve"), 10.0)
    b.add("cpu.time", b.node(-1, NodeKind.FUNCTION, "init"), 30.0)
    joined = merge([host_view(), profile("perf", b, HOST)[0]])
    shares = {item.subject: item.values for item in joined.disagreements}
    assert shares["solve"] == (("HPCToolkit", pytest.approx(2 / 3)), ("perf", 0.25))


def test_a_kernel_of_another_template_instance_is_another_kernel():
    joined = merge([trace_view(), counter_view("axpy<8, float>(float *, int)")])
    assert len(kernels_of(joined)) == 3
    short = merge([trace_view(), counter_view("axpy")])
    assert len(kernels_of(short)) == 2, "a name without template arguments is that of the only instance"


def test_ranks_of_one_tool_add_up_and_their_lanes_lie_side_by_side():
    one, two = trace_view((0.5, 0.25)), trace_view((1.0, 0.5))
    joined = merge([one, two])
    assert set(joined.metrics) == set(one.metrics)
    assert joined.total("gpu.kernel.time") == 2.25
    assert len(joined.where) == 2
    timeline = joined.timeline
    assert timeline is not None
    assert timeline.devices == (0, 1)
    assert {lane.location for lane in timeline.intervals} == {0, 1}
    assert joined.location_totals("gpu.kernel.time").tolist() == [0.75, 1.5]


def test_the_timeline_points_into_the_joined_tree():
    joined = merge([host_view(), trace_view()])
    timeline = joined.timeline
    assert timeline is not None
    for lane in timeline.intervals:
        assert {int(joined.tree.kind[node]) for node in lane.node} == {NodeKind.GPU_KERNEL}
    assert merge([host_view(), counter_view()]).timeline is None
    assert joined.devices[0].multiprocessors == 132


def test_who_is_idle_or_without_a_core_is_so_in_the_joined_tree():
    one, two = trace_view((0.5, 0.25)), trace_view((1.0, 0.5))
    node = np.array([1, -1, WITHOUT_CORE, 1], dtype=np.int32)
    lane = Lane(0, np.arange(4, dtype=np.uint64), node)
    views = [replace(each, read_timeline=lambda: Timeline(0, 20, (lane,))) for each in (one, two)]
    timeline = merge(views).timeline
    assert timeline is not None
    assert [lane.node[1:3].tolist() for lane in timeline.lanes] == [[-1, WITHOUT_CORE]] * 2


def test_the_same_rank_and_thread_is_one_location():
    def view(tool, metric):
        b = TreeBuilder()
        top = b.node(-1, NodeKind.FUNCTION, "main")
        for row in range(2):
            b.add(metric.id, top, 1.0 + row, location=row)
        ranks = np.array([0, 1], dtype=np.int64)
        return profile(tool, b, metric, where=Locations.of(2, rank=ranks, thread=np.zeros(2, dtype=np.int64)))[0]

    reads = Metric("io.read.bytes", Unit.BYTES, "bytes read", "bytes")
    joined = merge([view("HPCToolkit", HOST), view("Darshan", reads)])
    assert len(joined.where) == 2
    assert joined.location_totals("cpu.time").tolist() == [1.0, 2.0]
    assert joined.location_totals("io.read.bytes").tolist() == [1.0, 2.0]
    every = np.arange(len(joined.tree), dtype=np.int32)
    assert joined.values.per_location("io.read.bytes", every, inclusive=False).sum(axis=1).tolist() == [1.0, 2.0]


def test_ranks_of_a_view_that_tells_no_nodes_are_those_of_one_that_does():
    def view(tool, metric, **told):
        b = TreeBuilder()
        b.add(metric.id, b.node(-1, NodeKind.FUNCTION, "main"), 1.0)
        b.add(metric.id, b.node(-1, NodeKind.FUNCTION, "main"), 2.0, location=1)
        return profile(tool, b, metric, where=Locations.of(2, rank=np.array([0, 1]), thread=np.array([0, 0]), **told))[
            0
        ]

    reads = Metric("io.read.bytes", Unit.BYTES, "bytes read", "bytes")
    joined = merge([view("Linux perf", HOST, node=np.array([7, 9])), view("Darshan", reads)])
    assert joined.where.node.tolist() == [7, 9]
    assert joined.location_totals("io.read.bytes").tolist() == [1.0, 2.0]


def test_counters_of_the_whole_run_are_no_place_and_no_thread_of_the_tool_that_has_places():
    """perf stat counts 4 s and cannot say where, a profiler samples 3 s and can: 2 s are in solve."""
    b = TreeBuilder()
    b.add(HOST.id, b.node(-1, NodeKind.REGION, "run"), 4.0)
    cycles = Metric("cpu.cycles", Unit.COUNT, "cycles", "cycles")
    b.add(cycles.id, 0, 1e9)
    whole = profile("A counter", b, HOST, cycles, insufficient="It counts the run as a whole.", timed=True)[0]
    for joined in (merge([whole, host_view()]), merge([host_view(), whole])):
        assert joined.total("cpu.time") == 3.0
        assert joined.table("function").iloc[0][["name", "exclusive"]].tolist() == ["solve", 2.0]
        assert joined.total("a-counter.cpu.time") == 4.0
        assert joined.total("a-counter.cpu.cycles") == 1e9
        assert (joined.timed, joined.sample_count, joined.counts.threads) == (False, 600.0, 1)


def test_a_place_without_a_name_is_no_thread_beside_those_with_one():
    assert Locations.of(3, thread=np.array([0, 1, -1])).counts().threads == 2


def test_how_the_time_was_taken_is_told_by_the_tool_whose_time_it_is():
    """One tool counted instructions from beginning to end, the other sampled the time."""
    b = TreeBuilder()
    instructions = Metric("cpu.instructions", Unit.COUNT, "instructions", "Ir")
    b.add(instructions.id, b.node(-1, NodeKind.FUNCTION, "main"), 1e6)
    joined = merge([profile("Callgrind", b, instructions, timed=True)[0], host_view()])
    assert joined.time == replace(HOST, tool="HPCToolkit")
    assert (joined.timed, joined.sample_count) == (False, 600.0)


def test_views_without_conclusion_leave_their_reason_as_a_caveat():
    empty = replace(counter_view(), insufficient="Profiling failed.")
    joined = merge([trace_view(), empty])
    assert joined.insufficient == ""
    assert "Nsight Compute: Profiling failed." in joined.caveats
    both = merge([replace(trace_view(), insufficient="Nothing ran."), empty])
    assert both.insufficient == "Nothing ran."


@given(profiles(locations=None), profiles(locations=None), st.booleans())
def test_totals_of_all_views_are_conserved(one, other, same_tool):
    one = replace(one, sources=(Source(Path("a"), "A"),), format="A")
    name = "A" if same_tool else "B"
    other = replace(other, sources=(Source(Path("b"), name),), format=name)
    joined = merge([one, other])
    joined.tree.check()
    every = np.arange(len(joined.tree), dtype=np.int32)
    group = (every % 3 - 1).astype(np.int32)
    for metric in joined.metrics:
        own = joined.exclusive(metric).dense(len(every))
        matrix = joined.values.per_location(metric, every, inclusive=False)
        assert np.allclose(matrix.sum(axis=0), own, rtol=1e-12, atol=1e-9)
        assert np.allclose(
            joined.values.per_location(metric, every).sum(axis=0), joined.tree.inclusive(own), rtol=1e-12, atol=1e-9
        )
        assert joined.exclusive(metric).sum() == pytest.approx(joined.total(metric), rel=1e-12)
        assert np.nansum(joined.location_totals(metric)) == pytest.approx(joined.total(metric), rel=1e-12)
        grouped = joined.values.grouped(metric, group, 2)
        assert grouped.sum(axis=0).tolist() == pytest.approx([own[group == g].sum() for g in range(2)])
    for view, tool in ((one, "a"), (other, "b")):
        for metric in view.metrics:
            both = [v.total(metric) for v in (one, other) if metric in v.metrics]
            found = [joined.total(m) for m in (metric, f"{tool}.{metric}") if m in joined.metrics]
            expected = sum(both) if same_tool else view.total(metric)
            assert any(total == pytest.approx(expected, rel=1e-12) for total in found)
