"""Chrome traces: what is read, where it is put, what is left out, and what damage does."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chathpc
from chathpc.adapters.chrome_trace.trace import to_nanoseconds
from chathpc.adapters.traced.nesting import DEEPEST, nest
from chathpc.errors import AdapterError
from chathpc.profile import intervals
from chathpc.profile.profile import Profile
from chathpc.profile.run import run_facts
from chathpc.profile.timeline import DEVICE_LANES, LaneKind, Timeline
from chathpc.profile.tree import NodeKind
from tests.adapters.contained import Server
from tests.synthetic.chrome_trace import PROCESS, THREAD, TRAINING, Trace, nested, training


def load(path: Path, content: str | bytes) -> Profile:
    """A profile of a file with that content."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    profile = chathpc.load(path)
    profile.tree.check()
    return profile


def lines(profile: Profile) -> list[str]:
    """The tree as lines, one level deeper by two spaces."""
    depth = profile.tree.depth.tolist()
    return ["  " * depth[node] + profile.tree.label(node) for node in range(len(profile.tree))]


def timeline_of(profile: Profile) -> Timeline:
    timeline = profile.timeline
    assert timeline is not None
    return timeline


@pytest.fixture
def trained(tmp_path: Path) -> Profile:
    return load(tmp_path / "t.json", training().text())


def test_all_times_counts_and_bytes_of_a_training_are_those_that_were_written(trained: Profile) -> None:
    assert trained.format == "PyTorch profiler (Kineto)"
    assert trained.title == "python3"
    expected = {
        "host.time": TRAINING["host"] * 1e-6,
        "gpu.kernel.time": TRAINING["kernel"] * 1e-6,
        "gpu.collective.time": TRAINING["collective"] * 1e-6,
        "gpu.copy.time": TRAINING["copy"] * 1e-6,
        "gpu.copy.h2d.time": TRAINING["copy"] * 1e-6,
        "gpu.copy.h2d.bytes": TRAINING["copy.bytes"],
        "gpu.copy.pageable.bytes": TRAINING["copy.bytes"],
        "gpu.memset.time": TRAINING["memset"] * 1e-6,
        "gpu.time": (TRAINING["kernel"] + TRAINING["copy"] + TRAINING["memset"]) * 1e-6,
        "gpu.sync.time": TRAINING["sync"] * 1e-6,
        "gpu.kernel.count": TRAINING["kernels"],
        "gpu.copy.count": 2,
    }
    for metric, value in expected.items():
        assert trained.total(metric) == pytest.approx(value, rel=1e-9), metric
    assert trained.timed
    assert not trained.insufficient


def test_kernels_hang_below_the_call_that_launched_them_and_calls_below_operators_and_python(trained: Profile) -> None:
    assert lines(trained) == [
        "python3",
        "  thread main",
        "    ProfilerStep",
        "      step",
        "        forward",
        "          aten::to",
        "            cudaMemcpyAsync",
        "              Memcpy HtoD (Pageable -> Device)",
        "          <built-in method mm of Tensor object>",
        "            aten::mm",
        "              cudaLaunchKernel",
        "                void gemm<float>(float*)",
        "              cudaMemsetAsync",
        "                Memset (Device)",
        "        cudaLaunchKernel",
        "          gemm_backward",
        "        cudaLaunchKernelExC",
        "          ncclDevKernel_AllReduce_Sum_f32_RING_LL",
        "        cudaDeviceSynchronize",
    ]
    kinds = {trained.tree.label(node): NodeKind(int(trained.tree.kind[node])) for node in range(len(trained.tree))}
    assert kinds["ProfilerStep"] == NodeKind.REGION
    assert kinds["aten::mm"] == NodeKind.FUNCTION
    assert kinds["gemm_backward"] == NodeKind.GPU_KERNEL
    assert kinds["Memset (Device)"] == NodeKind.GPU_OP
    step = lines(trained).index("      step")
    assert trained.tree.place(step) == "train.py:12"


def test_lanes_hold_what_each_stream_and_thread_did(trained: Profile) -> None:
    timeline = timeline_of(trained)
    found = {(lane.kind, lane.device): len(lane) for lane in timeline.intervals}
    assert found == {
        (LaneKind.COMPUTE, 0): 4, (LaneKind.COLLECTIVE, 0): 2, (LaneKind.H2D, 0): 2, (LaneKind.MEMSET, 0): 2,
        (LaneKind.API, -1): 12, (LaneKind.RANGE, -1): 6,
    }  # fmt: skip
    (copies,) = timeline.of(LaneKind.H2D)
    assert copies.bytes is not None
    assert copies.bytes.tolist() == [4096, 4096]
    assert copies.pageable is not None
    assert copies.pageable.all()
    assert (copies.end - copies.start).tolist() == [10_000, 10_000]
    assert trained.where.label(copies.location) == "GPU context 0 stream 13"
    for lane in timeline.intervals:
        assert np.all(np.diff(lane.start) >= 0)


def test_only_devices_that_did_something_are_counted(tmp_path: Path) -> None:
    trace = training()
    trace.header["deviceProperties"].append({"id": 1, "name": "Example GPU"})
    profile = chathpc.load(trace.write(tmp_path / "a.json"))
    assert tuple(profile.devices) == timeline_of(profile).devices == (0,)
    assert run_facts(profile).gpus == 1


def test_the_only_device_is_the_one_described_whatever_its_number(tmp_path: Path) -> None:
    trace = training()
    trace.header["deviceProperties"][0]["id"] = 5  # agents of ROCm are numbered behind the CPUs
    profile = chathpc.load(trace.write(tmp_path / "a.json"))
    assert [(number, device.name) for number, device in profile.devices.items()] == [(0, "Example GPU")]


def test_the_window_reaches_from_the_devices_first_operation_to_its_last(trained: Profile) -> None:
    timeline = timeline_of(trained)
    assert timeline.seconds == pytest.approx(TRAINING["window"] * 1e-6)
    # Busy: 12 to 22, 30 to 62, 62 to 82 joined with 80 to 95, in each step.
    assert intervals.length(timeline.busy(*DEVICE_LANES, device=0)) == 2 * (10_000 + 65_000)


def test_launch_facts_and_the_device_are_read(trained: Profile) -> None:
    row = trained.kernels.set_index("name").loc["gemm_backward"]
    assert row["gpu.kernel.blocks"] == 128
    assert row["gpu.kernel.threads-per-block"] == 128
    assert row["gpu.kernel.registers"] == 40
    assert row["gpu.kernel.shared-memory-per-block"] == 1024
    device = trained.devices[0]
    assert (device.name, device.multiprocessors, device.memory, device.capability) == (
        "Example GPU",
        100,
        1 << 34,
        "9.0",
    )


def test_compressed_and_plain_traces_are_the_same(tmp_path: Path, trained: Profile) -> None:
    packed = chathpc.load(training().write(tmp_path / "x.json.gz"))
    assert lines(packed) == lines(trained)
    assert packed.total("gpu.time") == trained.total("gpu.time")


def test_the_rank_is_kept_and_nothing_else_of_the_metadata(tmp_path: Path) -> None:
    trace = training(rank=3)
    secrets = ["node17.secret.example", "alice-secret", "hunter2-secret", "/home/alice-secret/run.py", "sk-secret-key"]
    trace.header["distributedInfo"] |= {"hostname": secrets[0], "pg_config": [{"host": secrets[0]}]}
    trace.header |= {
        "username": secrets[1],
        "environment": {"TOKEN": secrets[2]},
        "command": secrets[3],
        "key": secrets[4],
    }
    trace.header["INFO"] = [f"started by {secrets[1]} on {secrets[0]}"]
    trace.named("process_labels", secrets[0], key="labels")
    profile = load(tmp_path / "t.json", trace.text())
    assert profile.run == {"rank": "3 of 8"}
    assert profile.where.label(0) == "rank 3 thread 0"
    everything = repr(
        (profile.title, profile.run, profile.hardware, profile.caveats, profile.not_collected, profile.devices,
         list(profile.tree.names), list(profile.tree.files), [str(m) for m in profile.metrics.values()])
    )  # fmt: skip
    report = chathpc.explain(profile, llm="none").model_dump_json()
    for secret in secrets:
        assert secret not in everything
        assert secret not in report


def test_a_kernel_without_a_known_call_hangs_below_its_operator(tmp_path: Path) -> None:
    trace = Trace()
    number = trace.operator("aten::mm", 10, 20)
    trace.kernel("gemm", 40, 5, correlation=999, **{"External id": number})
    profile = load(tmp_path / "t.json", trace.text())
    assert lines(profile)[2:] == ["    aten::mm", "      gemm"]


def test_a_kernel_without_numbers_is_joined_by_its_arrow(tmp_path: Path) -> None:
    trace = Trace()
    trace.call("cudaLaunchKernel", 10, 5)
    trace.call("cuLaunchKernel", 20, 5)
    trace.complete("kernel", "gemm", 40, 5, process=0, thread=7, device=0, stream=7)
    trace.arrow(77, (PROCESS, THREAD, 20), (0, 7, 40))
    profile = load(tmp_path / "t.json", trace.text())
    assert lines(profile)[2:] == ["    cudaLaunchKernel", "    cuLaunchKernel", "      gemm"]


def test_a_kernel_whose_launch_was_not_recorded_is_kept_apart_and_said(tmp_path: Path) -> None:
    trace = training()
    trace.kernel("lost", 1190, 4, correlation=123456)
    profile = load(tmp_path / "t.json", trace.text())
    assert lines(profile)[-2:] == ["[unattributed]", "  lost"]
    assert any("1 of 11 operations" in caveat for caveat in profile.caveats)


def test_kernels_of_one_graph_share_their_launch(tmp_path: Path) -> None:
    trace = Trace()
    number = trace.call("hipGraphLaunch", 10, 5)
    for index in range(3):
        trace.kernel(f"part{index}", 20 + 10 * index, 5, correlation=number)
    profile = load(tmp_path / "t.json", trace.text())
    assert lines(profile)[2:] == ["    hipGraphLaunch", "      part0", "      part1", "      part2"]


def test_one_correlation_of_two_processes_goes_to_the_call_just_before_the_kernel(tmp_path: Path) -> None:
    trace = Trace()
    for process, start in ((1, 100), (2, 500)):
        trace.complete("cuda_runtime", "cudaLaunchKernel", start, 5, process=process, thread=1, correlation=1)
        trace.complete("kernel", f"of {process}", start + 50, 5, process=0, thread=7, device=0, stream=7, correlation=1)
    profile = load(tmp_path / "t.json", trace.text())
    assert [line.strip() for line in lines(profile)] == [
        "process 1", "thread 1", "cudaLaunchKernel", "of 1", "process 2", "thread 1", "cudaLaunchKernel", "of 2",
    ]  # fmt: skip


def test_python_frames_of_a_nameless_thread_belong_to_the_profiled_process(tmp_path: Path) -> None:
    trace = training()
    trace.named("process_labels", "GPU 0", process=0, key="labels")
    trace.named("process_name", "python3", process=0)
    trace.complete("python_function", "threading.py(9): wait", 1000, 150, process=0, thread=0, **{"Python id": 90})
    profile = load(tmp_path / "t.json", trace.text())
    assert profile.title == "python3"
    assert [label for label in lines(profile) if not label.startswith(" ")] == ["python3"]
    assert profile.where.counts().words() == "2 threads × 3 GPU streams"


def test_a_trace_of_the_host_alone_says_so_and_has_no_gpu_metric(tmp_path: Path) -> None:
    trace = Trace()
    trace.operator("aten::mm", 10, 20)
    profile = load(tmp_path / "t.json", trace.text())
    assert not [metric for metric in profile.metrics if metric.startswith("gpu.")]
    assert "GPU activity" in profile.not_collected
    assert not profile.insufficient
    assert timeline_of(profile).devices == ()


def test_kernels_replayed_for_counters_have_counters_and_no_time(tmp_path: Path) -> None:
    trace = Trace()
    trace.call("cudaLaunchKernel", 10, 5)
    for value in (3, 5):
        trace.complete(
            "cuda_profiler_range",
            "gemm",
            20,
            5,
            process=0,
            thread=0,
            **{"smsp__inst.sum": value, "l2_hit.pct": 10.0 * value},
        )
    profile = load(tmp_path / "t.json", trace.text())
    assert profile.total("gpu.kernel.count") == 2
    assert "gpu.kernel.time" not in profile.metrics
    assert profile.total("other.smsp-inst-sum") == 8
    assert profile.exclusive("other.l2-hit-pct").values.tolist() == [40.0]
    assert profile.timeline is None


def test_times_of_traces_of_before_have_other_names(tmp_path: Path) -> None:
    trace = Trace()
    trace.complete("Operator", "aten::mm", 0, 50, **{"External id": 1})
    trace.complete("Runtime", "cudaLaunchKernel", 10, 5, correlation=4)
    trace.complete("Kernel", "gemm", 20, 5, process=0, thread=7, device=0, stream=7, correlation=4)
    trace.complete("Memset", "Memset (Device)", 30, 5, process=0, thread=7, device=0, stream=7, correlation=4)
    profile = load(tmp_path / "t.json", trace.text())
    assert lines(profile)[2:] == ["    aten::mm", "      cudaLaunchKernel", "        gemm", "        Memset (Device)"]


@pytest.mark.parametrize(
    ("name", "arguments", "lane"),
    [
        ("Memcpy HtoD (Pinned -> Device)", {}, LaneKind.H2D),
        ("Memcpy DtoH (Device -> Pageable)", {}, LaneKind.D2H),
        ("Memcpy DtoD (Device -> Device)", {}, LaneKind.D2D),
        ("Memcpy PtoP (Device -> Device)", {}, LaneKind.P2P),
        ("CopyHostToDevice", {}, LaneKind.H2D),
        ("Memcpy", {"kind": "DtoH"}, LaneKind.D2H),
    ],
)
def test_the_direction_of_a_copy_is_told_by_its_name_or_kind(
    tmp_path: Path, name: str, arguments: dict[str, Any], lane: LaneKind
) -> None:
    trace = Trace()
    trace.copy(name, 10, 5, 100, **arguments)
    timeline = timeline_of(load(tmp_path / "t.json", trace.text()))
    assert [each.kind for each in timeline.intervals] == [lane]


def test_a_copy_that_hides_its_direction_is_said(tmp_path: Path) -> None:
    trace = Trace()
    trace.copy("Memcpy", 10, 5, 100)
    profile = load(tmp_path / "t.json", trace.text())
    assert any("have no recorded direction" in caveat for caveat in profile.caveats)


# -- other traces --------------------------------------------------------------------------------------------


def test_a_plain_array_gives_one_tree_for_each_process(tmp_path: Path) -> None:
    events = [
        {"ph": "M", "pid": 1, "tid": 0, "name": "process_name", "args": {"name": "server"}},
        {"ph": "X", "pid": 1, "tid": 1, "name": "a", "ts": 0, "dur": 10},
        {"ph": "X", "pid": 1, "tid": 1, "name": "b", "ts": 2, "dur": 3},
        {"ph": "X", "pid": "two", "tid": "x", "name": "c", "ts": "5.5", "dur": "1.25"},
    ]
    profile = load(tmp_path / "t.json", json.dumps(events))
    assert profile.format == "Chrome trace"
    assert lines(profile) == ["server", "  thread 1", "    a", "      b", "process two", "  thread x", "    c"]
    assert profile.total("host.time") == pytest.approx(11.25e-6)
    assert profile.locations["host.time"].tolist() == pytest.approx([10e-6, 1.25e-6])
    assert profile.exclusive("host.time").at(2) == pytest.approx(7e-6)


def test_longer_events_hold_those_that_begin_with_them(tmp_path: Path) -> None:
    events = [
        {"ph": "X", "pid": 1, "tid": 1, "name": "inner", "ts": 5, "dur": 1},
        {"ph": "X", "pid": 1, "tid": 1, "name": "outer", "ts": 5, "dur": 2},
    ]
    assert lines(load(tmp_path / "t.json", json.dumps(events)))[2:] == ["    outer", "      inner"]


def test_beginnings_and_ends_make_the_same_tree_as_durations(tmp_path: Path) -> None:
    events = [
        {"ph": "B", "pid": 1, "tid": 1, "name": "a", "ts": 0},
        {"ph": "B", "pid": 1, "tid": 1, "name": "b", "ts": 2},
        {"ph": "E", "pid": 1, "tid": 1, "ts": 5},
        {"ph": "E", "pid": 1, "tid": 1, "name": "a", "ts": 10},
        {"ph": "E", "pid": 1, "tid": 1, "ts": 11},
        {"ph": "B", "pid": 1, "tid": 1, "name": "c", "ts": 12},
        {"ph": "B", "pid": 1, "tid": 1, "name": "d", "ts": 14},
        {"ph": "E", "pid": 1, "tid": 1, "name": "c", "ts": 15},
        {"ph": "E", "pid": 1, "tid": 1, "name": "d", "ts": 16},
    ]
    profile = load(tmp_path / "t.json", json.dumps(events))
    assert lines(profile)[2:] == ["    a", "      b", "    c", "      d"]
    assert profile.total("host.time") == pytest.approx(14e-6)
    assert profile.exclusive("host.time").values.tolist() == pytest.approx([7e-6, 3e-6, 2e-6, 2e-6])
    assert any("1 events without a matching begin" in caveat for caveat in profile.caveats)


def test_a_range_that_is_opened_in_one_call_and_closed_in_another_holds_what_is_between(tmp_path: Path) -> None:
    trace = Trace()
    trace.python("a.py(1): train", 0, 100)
    trace.python("<built-in function enter>", 10, 3)
    trace.annotation("epoch", 11, 80)
    trace.python("a.py(9): work", 20, 60)
    trace.python("<built-in function exit>", 90, 4)
    profile = load(tmp_path / "t.json", trace.text())
    assert lines(profile)[2:] == [
        "    train", "      <built-in function enter>", "      epoch", "        work", "      <built-in function exit>",
    ]  # fmt: skip
    assert profile.total("host.time") == pytest.approx(100e-6)


def test_an_event_that_sticks_out_by_rounding_stays_inside(tmp_path: Path) -> None:
    trace = Trace()
    trace.operator("outer", 0, 50)
    trace.operator("inner", 40, 11)
    assert lines(load(tmp_path / "t.json", trace.text()))[2:] == ["    outer", "      inner"]


def test_an_array_may_lack_its_end(tmp_path: Path) -> None:
    whole = '[{"ph":"X","pid":1,"tid":1,"name":"a","ts":0,"dur":5},\n'
    assert load(tmp_path / "a.json", whole).total("host.time") == pytest.approx(5e-6)
    profile = load(tmp_path / "b.json", whole + '{"ph":"X","pid":1,"ti')
    assert profile.total("host.time") == pytest.approx(5e-6)
    assert "The trace ends in the middle of an event." in profile.caveats


def test_an_object_that_ends_too_early_is_refused(tmp_path: Path) -> None:
    text = training().text()
    with pytest.raises(AdapterError, match="damaged JSON") as caught:
        load(tmp_path / "a.json", text[: len(text) // 2])
    assert caught.value.offset is not None
    assert caught.value.hint


def test_sums_that_a_compiler_adds_to_its_trace_are_left_out(tmp_path: Path) -> None:
    events = [
        {"ph": "X", "pid": 1, "tid": 1, "name": "ExecuteCompiler", "ts": 0, "dur": 100},
        {
            "ph": "X",
            "pid": 1,
            "tid": 9,
            "name": "Total Frontend",
            "ts": 0,
            "dur": 60,
            "args": {"count": 5, "avg ms": 12},
        },
    ]
    profile = load(tmp_path / "t.json", json.dumps({"traceEvents": events}))
    assert profile.total("host.time") == pytest.approx(100e-6)


def test_a_trace_without_any_duration_is_insufficient(tmp_path: Path) -> None:
    assert load(tmp_path / "t.json", '{"traceEvents": [{"ph": "i", "ts": 1}]}').insufficient
    assert load(tmp_path / "u.json", '{"traceEvents": []}').insufficient


def test_nanoseconds_are_rounded_and_durations_stay_exact(tmp_path: Path) -> None:
    assert to_nanoseconds(1712195495505583.2) == round(1712195495505583.2 * 1000)
    assert to_nanoseconds("12.3456") == 12346
    for nonsense in (True, None, [], {}, "x", float("nan"), float("inf"), 10**40, "1e400"):
        assert to_nanoseconds(nonsense) is None
    trace = Trace()
    trace.header["baseTimeNanoseconds"] = 1_700_000_000_000_000_000
    for index in range(1000):
        trace.kernel("k", 1712195495505583.2 + 10 * index, 1.001)
    profile = load(tmp_path / "t.json", trace.text())
    assert profile.total("gpu.kernel.time") == pytest.approx(1000 * 1.001e-6, rel=1e-12)


# -- damage --------------------------------------------------------------------------------------------------


def test_events_that_cannot_be_are_left_out_and_counted(tmp_path: Path) -> None:
    trace = Trace()
    trace.call("good", 10, 5)
    for change in ({"dur": -1}, {"ts": None}, {"dur": "x"}, {"ts": 1e300}, {"ts": [1]}, {"dur": float("inf")}):
        trace.events.append({**trace.complete("cuda_runtime", "bad", 1, 1), **change})
        trace.events.pop(-2)
    trace.events += [{"ph": 5}, {}, {"ph": "B", "ts": None}, {"ph": "M", "args": 3}]  # type: ignore[dict-item]
    trace.events.insert(0, "no event")  # type: ignore[arg-type]
    profile = load(tmp_path / "t.json", trace.text())
    assert profile.total("calls.count") == 1
    assert "7 events with impossible times are excluded." in profile.caveats
    assert "2 events without a phase are excluded." in profile.caveats


def test_identifiers_of_any_type_do_no_harm(tmp_path: Path) -> None:
    trace = Trace()
    for odd in (None, [1], {"a": 1}, 1.5, True, "x" * 1000, 1 << 80, -(1 << 80)):
        trace.complete("kernel", "k", 10, 5, process=odd, thread=odd, device=odd, stream=odd, correlation=odd)
        trace.complete("cuda_runtime", "c", 10, 5, process=odd, thread=odd, correlation=odd)
        trace.events.append({"ph": "s", "cat": "ac2g", "id": odd, "pid": odd, "tid": odd, "ts": 10})
        trace.complete("gpu_memcpy", "m", 10, 5, device=odd, stream=odd, bytes=odd)
        trace.complete("kernel", "k", 10, 5, device=0, grid=odd, block=[odd, odd, odd], **{"shared memory": odd})
    assert load(tmp_path / "t.json", trace.text()).total("gpu.kernel.count") == 16


def test_names_that_are_no_text_or_no_unicode_do_no_harm(tmp_path: Path) -> None:
    trace = Trace()
    for name in (5, None, [], "", "\ud800", "\x1b[31mred", "a\nb", "x" * 100_000):
        trace.complete("kernel", name, 10, 5, device=0, stream=1)  # type: ignore[arg-type]
        trace.complete("cpu_op", name, 10, 5)  # type: ignore[arg-type]
    profile = load(tmp_path / "t.json", trace.text())
    for name in profile.tree.names:
        name.encode()
        assert name.isprintable()


@pytest.mark.parametrize(
    "text",
    [
        '{"traceEvents": [' + "[" * 200_000,
        '{"traceEvents": [{"ph": "X", "ts": ' + "9" * 10_000 + "}]}",
        '{"traceEvents": [{"ph": "X"} {"ph": "X"}]}',
        '{"traceEvents": [] "a": 1}',
        '{"traceEvents": [], 5: 1}',
        '{"traceEvents": [{"ph": "X"},]',
        '{"traceEvents": [tru',
    ],
)
def test_damaged_json_is_refused_with_a_hint(tmp_path: Path, text: str) -> None:
    with pytest.raises(AdapterError) as caught:
        load(tmp_path / "t.json", text)
    assert caught.value.hint


def test_bombs_end_in_time_and_memory(tmp_path: Path) -> None:
    cyclic = Trace()
    for number in range(1, 2000):
        cyclic.complete(
            "python_function",
            f"f.py({number}): f",
            number,
            5000,
            **{"Python id": number, "Python parent id": 2000 - number},
        )
    many = json.dumps([{"ph": "X", "pid": 1, "tid": t, "name": "a", "ts": 1, "dur": 1} for t in range(20_000)])
    same = Trace()
    for number in range(3000):
        same.complete("cuda_runtime", "c", number, 1, correlation=1)
        same.complete("kernel", "k", number, 1, device=0, stream=1, correlation=1)
    bombs: dict[str, tuple[bytes, str]] = {
        "cyclic parents of Python": (cyclic.text().encode(), "profile"),
        "twenty thousand threads": (many.encode(), "refused"),
        "one correlation for all": (same.text().encode(), "profile"),
        "nothing but open ranges": (nested(20_000, ends=False).encode(), "profile"),
        "a gzip bomb": (gzip.compress(b'{"traceEvents": [' + b" " * (150 << 20) + b"]}", mtime=0), "refused"),
        "a million spaces": (b'{"traceEvents": [' + b" " * 1_000_000 + b"]}", "profile"),
        "devices without end": (
            json.dumps(
                [
                    {"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": 1, "args": {"device": d, "stream": d}}
                    for d in range(12_000)
                ]
            ).encode(),
            "refused",
        ),
    }
    with Server() as server:
        for name, (content, expected) in bombs.items():
            path = tmp_path / "bomb.json"
            path.write_bytes(content)
            outcome = server.run(path, cpu=6.0)
            assert outcome.kind == expected, f"{name}: {outcome}"


def test_a_million_nested_ranges_are_read(tmp_path: Path) -> None:
    (tmp_path / "deep.json").write_text(nested(1_000_000))
    profile = chathpc.load(tmp_path / "deep.json")
    assert int(profile.tree.depth.max()) == DEEPEST + 1
    assert profile.total("calls.count") == 1_000_000
    assert profile.total("host.time") == pytest.approx((2_000_000 - 1) * 1e-6)
    assert any("are nested in more than" in caveat for caveat in profile.caveats)


# -- nesting -------------------------------------------------------------------------------------------------

slices = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 60), st.integers(0, 30), st.integers(0, 3)), min_size=1, max_size=40
)


@given(slices)
@settings(max_examples=200, deadline=None)
def test_own_times_of_a_thread_add_up_to_the_union_of_its_slices(rows: list[tuple[int, int, int, int]]) -> None:
    thread = np.array([row[0] for row in rows], dtype=np.int32)
    start = np.array([row[1] for row in rows], dtype=np.int64)
    end = start + np.array([row[2] for row in rows], dtype=np.int64)
    frame = np.array([row[3] for row in rows], dtype=np.int32)
    nodes = nest(thread, start, end, frame, [0, 1, 2], [10, 11, 12], [-1, -1, -1])
    for one in range(3):
        mine = thread == one
        union = set()
        for begin, stop in zip(start[mine].tolist(), end[mine].tolist(), strict=True):
            union |= set(range(begin, stop))
        assert int(nodes.own[mine].sum()) == len(union)
    assert all(parent < number for number, parent in enumerate(nodes.parent))
    assert [nodes.frame[node] for node in nodes.node.tolist()] == frame.tolist()


@given(slices)
@settings(max_examples=50, deadline=None)
def test_any_slices_make_a_tree_whose_parts_add_up(tmp_path_factory: pytest.TempPathFactory, rows: list[Any]) -> None:
    trace = Trace()
    for thread, start, length, name in rows:
        trace.complete("cpu_op", f"op{name}", start, length, thread=thread)
        trace.kernel(f"k{name}", start, length, stream=thread)
    path = tmp_path_factory.mktemp("any") / "t.json"
    profile = load(path, trace.text())
    for metric in ("host.time", "gpu.kernel.time", "calls.count"):
        total = profile.total(metric)
        assert profile.exclusive(metric).sum() == pytest.approx(total, rel=1e-9, abs=1e-15)
    assert profile.total("gpu.kernel.time") == pytest.approx(sum(row[2] for row in rows) * 1e-6)
