"""AMD's profilers: one program in all their forms gives the same sums, and damage and secrets do no harm."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import chathpc
from chathpc.adapters.glance import Glance
from chathpc.adapters.rocprof import Kind, kind_of
from chathpc.adapters.rocprof.intake import facts_of, kernel_name
from chathpc.adapters.rocprof.system import positive, system_of
from chathpc.adapters.traced.operations import copy_lane, is_synchronisation, kernel_lane
from chathpc.adapters.traced.recording import integer
from chathpc.errors import AdapterError
from chathpc.profile import intervals
from chathpc.profile.profile import Profile
from chathpc.profile.timeline import DEVICE_LANES, LaneKind
from chathpc.profile.tree import NodeKind
from tests.adapters.contained import Server
from tests.adapters.samples.rocprof import write_samples
from tests.synthetic import rocprof
from tests.synthetic.rocprof import BUSY, BYTES, SECRETS, SUMS, WINDOW

#: Forms that hold the whole program, and what each does not tell.
WRITERS: dict[str, tuple[Callable[[Path], Path], tuple[str, ...]]] = {
    "csv": (lambda folder: rocprof.write_csv(folder / "out"), ("gpu.copy.h2d.bytes", "gpu.copy.d2h.bytes")),
    "json": (lambda folder: rocprof.write_json(folder / "x_results.json"), ()),
    "json, names last": (lambda folder: rocprof.write_json(folder / "x.json", names_last=True), ()),
    "rocpd": (lambda folder: rocprof.write_rocpd(folder / "x_results.db"), ()),
    "rpd": (lambda folder: rocprof.write_rpd(folder / "x.rpd"), ()),
    "legacy": (
        lambda folder: rocprof.write_legacy(folder / "results.db", trace=True),
        ("gpu.copy.h2d.bytes", "gpu.copy.d2h.bytes"),
    ),
}


def load(path: Path) -> Profile:
    profile = chathpc.load(path)
    profile.tree.check()
    return profile


def lines(profile: Profile) -> list[str]:
    depth = profile.tree.depth.tolist()
    return ["  " * depth[node] + profile.tree.label(node) for node in range(len(profile.tree))]


def caveat(profile: Profile, words: str) -> bool:
    return any(words in text for text in profile.caveats)


@pytest.mark.parametrize("form", WRITERS)
def test_every_form_of_one_program_gives_the_same_sums(tmp_path: Path, form: str) -> None:
    write, untold = WRITERS[form]
    profile = load(write(tmp_path))
    for metric, value in (SUMS | BYTES).items():
        if metric in untold:
            assert metric not in profile.metrics
        else:
            assert profile.total(metric) == pytest.approx(value, rel=1e-9), metric
    for metric in SUMS:
        assert profile.exclusive(metric).sum() == pytest.approx(profile.total(metric), rel=1e-9)


@pytest.mark.parametrize("form", WRITERS)
def test_every_form_gives_the_same_tree(tmp_path: Path, form: str) -> None:
    found = [line.strip() for line in lines(load(WRITERS[form][0](tmp_path)))]
    # The direction of copies goes by the names of each tool.
    renamed = ["copy" if "HOST" in name or name.startswith("Copy") else name for name in found]
    step = [
        "hipMemcpyAsync", "copy", "hipLaunchKernel", "saxpy(float*, float const*, float, int)", "ncclAllReduce",
        "hipLaunchKernel", "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", "hipStreamSynchronize",
    ]  # fmt: skip
    assert renamed == [
        f"process {rocprof.PID}", f"thread {rocprof.TID}", "step 0", *step, "step 1", *step, "hipMemcpy", "copy",
    ]  # fmt: skip


@pytest.mark.parametrize("form", WRITERS)
def test_every_form_gives_the_same_timeline(tmp_path: Path, form: str) -> None:
    profile = load(WRITERS[form][0](tmp_path))
    timeline = profile.timeline
    assert timeline is not None
    assert timeline.devices == (0,)
    assert timeline.end - timeline.begin == WINDOW
    assert intervals.length(timeline.busy(*DEVICE_LANES, device=0)) == BUSY
    counted = {kind: sum(map(len, timeline.of(kind))) for kind in LaneKind if timeline.of(kind)}
    assert counted == {
        LaneKind.COMPUTE: 2, LaneKind.COLLECTIVE: 2, LaneKind.H2D: 2, LaneKind.D2H: 1, LaneKind.API: 11, LaneKind.RANGE: 2,
    }  # fmt: skip


@pytest.mark.parametrize("form", ["csv", "json", "rocpd", "rpd"])
def test_launch_facts_are_read_where_they_are_recorded(tmp_path: Path, form: str) -> None:
    row = load(WRITERS[form][0](tmp_path)).kernels.set_index("name").loc["saxpy(float*, float const*, float, int)"]
    assert row["launches"] == 2
    assert row["gpu.kernel.blocks"] == rocprof.GRID / rocprof.GROUP
    assert row["gpu.kernel.threads-per-block"] == rocprof.GROUP
    assert row["gpu.kernel.shared-memory-per-block"] == rocprof.LOCAL
    if form != "rpd":
        assert row["gpu.kernel.registers"] == rocprof.VECTOR + rocprof.MATRIX


@pytest.mark.parametrize("form", ["csv", "json", "rocpd"])
def test_the_gpu_is_described(tmp_path: Path, form: str) -> None:
    device = load(WRITERS[form][0](tmp_path)).devices[0]
    assert device.name == "Example Accelerator"
    assert device.capability == "gfx90a"


def test_nothing_of_hosts_users_commands_and_environment_is_taken_in(tmp_path: Path) -> None:
    for path in write_samples(tmp_path):
        profile = load(path)
        told = repr(
            (profile.title, profile.run, profile.hardware, profile.caveats, profile.not_collected, profile.devices,
             list(profile.tree.names), list(profile.tree.files), [str(m) for m in profile.metrics.values()])
        )  # fmt: skip
        report = chathpc.explain(profile, llm="none").model_dump_json()
        for secret in SECRETS:
            assert secret not in told, path.name
            assert secret not in report, path.name


def test_kinds_are_told_by_content(tmp_path: Path) -> None:
    expected = {
        "csv": Kind.TRACES, "counted": Kind.TRACES, "more": Kind.TRACES, "statistics": Kind.TRACES,
        "results.json": Kind.SDK_JSON, "results.db": Kind.ROCPD, "trace.rpd": Kind.RPD, "legacy.db": Kind.LEGACY,
        "legacy-trace.db": Kind.LEGACY, "workload": Kind.COMPUTE, "workload-long": Kind.COMPUTE, "compute.db": Kind.COMPUTE_DB,
    }  # fmt: skip
    assert {path.name: kind_of(Glance(path)) for path in write_samples(tmp_path)} == expected
    (tmp_path / "other.csv").write_text('a,b\n"c')
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "wide.csv").write_text("a," * (1 << 20))
    for name in ("other.csv", "empty.csv", "wide.csv", "absent"):
        assert kind_of(Glance(tmp_path / name)) is None
    with pytest.raises(AdapterError, match="nothing that AMD"):
        chathpc.load(tmp_path / "other.csv", format="rocprof")
    single = tmp_path / "csv" / SECRETS[0] / f"{rocprof.PID}_kernel_trace.csv"
    assert load(single).total("gpu.kernel.time") == pytest.approx(SUMS["gpu.kernel.time"])


# -- counters, samples, statistics ---------------------------------------------------------------------------


def test_counters_become_metrics_of_their_kernels_and_gaps_mean_nothing(tmp_path: Path) -> None:
    folder = rocprof.write_counters(tmp_path / "c", {"SQ_INSTS": [10.0, 20.0], "MemUnitBusy_pct": [50.0, 70.0]})
    profile = load(folder)
    assert profile.total("other.sq-insts") == 30
    assert profile.exclusive("other.memunitbusy-pct").values.tolist() == [60.0]
    assert profile.exclusive("gpu.kernel.instructions").values.tolist() == [15.0]
    assert profile.total("gpu.kernel.count") == 2
    assert profile.total("gpu.kernel.time") == pytest.approx(20_000e-9)
    assert profile.timeline is None
    assert caveat(profile, "this serialises kernels")
    assert lines(profile)[-1].strip() == "saxpy(float*)"


def test_passes_of_one_program_are_one_run(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    rocprof.write_counters(folder, {"TCC_HIT_sum": [30.0, 10.0]}, run=1)
    rocprof.write_counters(folder, {"TCC_MISS_sum": [70.0, 90.0]}, run=2)
    profile = load(folder)
    assert profile.total("gpu.kernel.count") == 2
    assert profile.exclusive("gpu.kernel.l2-hit-rate").values.tolist() == pytest.approx([20.0])


def test_counters_without_times_have_no_time(tmp_path: Path) -> None:
    rocprof.write_rows(
        tmp_path / "1_counter_collection.csv",
        ("Dispatch_Id", "Agent_Id", "Kernel_Name", "Counter_Name", "Counter_Value"),
        [(1, "GPU 2", "k", "SQ_INSTS", 5.0), (1, "GPU 2", "k", "SQ_WAVES", "x"), ("?", "GPU 2", "k", "SQ_WAVES", 1)],
    )
    profile = load(tmp_path)
    assert profile.total("gpu.kernel.count") == 1
    assert "gpu.kernel.time" not in profile.metrics
    assert caveat(profile, "2 rows are damaged")


def test_counters_of_a_rocpd_database_and_its_allocations_are_read(tmp_path: Path) -> None:
    profile = load(rocprof.write_rocpd(tmp_path / "r.db", counters=True))
    assert profile.total("other.sq-insts") == 100 + 200 + 300 + 400
    assert profile.total("memory.allocated.bytes") == 4096
    node = int(profile.exclusive("memory.allocated.bytes").nodes[0])
    assert profile.tree.label(node) == "hipMemcpyAsync"


def test_samples_stand_at_the_instructions_of_their_kernel(tmp_path: Path) -> None:
    profile = load(rocprof.write_more(tmp_path / "m"))
    tree = profile.tree
    found = {}
    column = profile.exclusive("gpu.instructions")
    for node, value in zip(column.nodes.tolist(), column.values.tolist(), strict=True):
        assert tree.kind[node] == NodeKind.INSTRUCTION
        found[tree.label(node)] = (value, tree.place(node), tree.label(int(tree.parent[node])))
    assert found == {
        "s_waitcnt vmcnt(0)": (2.0, "saxpy.hip:12", "kernel of dispatch 1"),
        "v_fma_f32 v0, v1, v2, v3": (1.0, "", "kernel of dispatch 1"),
    }
    assert profile.total("memory.allocated.bytes") == 1024
    assert caveat(profile, "Scratch memory was allocated 1 times")


def test_samples_stand_below_the_named_kernel_where_there_is_a_trace(tmp_path: Path) -> None:
    folder = rocprof.write_csv(tmp_path / "out")
    more = rocprof.write_more(tmp_path / "more")
    host = folder / SECRETS[0]
    (more / "pc_sampling_host_trap.csv").rename(host / f"{rocprof.PID}_pc_sampling_host_trap.csv")
    (more / "memory_allocation_trace.csv").rename(host / f"{rocprof.PID}_memory_allocation_trace.csv")
    profile = load(folder)
    node = int(profile.exclusive("gpu.instructions").nodes[0])
    assert profile.tree.label(int(profile.tree.parent[node])).startswith("saxpy")
    assert profile.total("gpu.kernel.count") == SUMS["gpu.kernel.count"]


def test_statistics_alone_are_sums_without_a_timeline(tmp_path: Path) -> None:
    profile = load(rocprof.write_statistics(tmp_path / "s"))
    assert profile.format == "rocprofv3 statistics"
    assert profile.timeline is None
    assert profile.total("gpu.kernel.time") == pytest.approx(60_000e-9)
    assert profile.total("gpu.kernel.count") == 4
    assert profile.total("gpu.copy.h2d.time") == pytest.approx(20_000e-9)
    assert profile.total("host.time") == pytest.approx(8_000e-9)
    assert profile.total("other.range.time") == pytest.approx(190_000e-9)
    assert "timeline" in profile.not_collected
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "kernel_stats.csv").write_text('"Name","Calls","TotalDurationNs"\n"a",1,x\n"b"\n')
    assert load(tmp_path / "e").insufficient


def test_counters_and_samples_in_json_are_read(tmp_path: Path) -> None:
    data = rocprof.sdk_json()
    tool = data["rocprofiler-sdk-tool"][0]
    dispatches = tool["buffer_records"].pop("kernel_dispatch")
    tool["callback_records"]["counter_collection"] = [
        {
            "dispatch_data": {"dispatch_info": one["dispatch_info"], "correlation_id": one["correlation_id"],
                              "start_timestamp": one["start_timestamp"], "end_timestamp": one["end_timestamp"]},
            "records": [{"counter_id": {"handle": 77}, "value": 2.5}, {"counter_id": {"handle": 5}, "value": 1}, {"value": "x"}],
        }
        for one in dispatches
    ] + [{"dispatch_data": {"dispatch_info": {"dispatch_id": 99, "kernel_id": 1}}, "records": []}, {}]  # fmt: skip
    tool["buffer_records"]["pc_sample_host_trap"] = [
        {"record": {"dispatch_id": 1}, "inst_index": 0}, {"record": {"dispatch_id": 1}, "inst_index": 7}, {},
    ]  # fmt: skip
    tool["buffer_records"]["memory_allocation"] = [
        {"allocation_size": 64, "correlation_id": {"internal": 2}}, {"allocation_size": -1}, {},
    ]  # fmt: skip
    (tmp_path / "r.json").write_text(json.dumps(data))
    profile = load(tmp_path / "r.json")
    assert profile.total("gpu.kernel.time") == pytest.approx(SUMS["gpu.kernel.time"])
    assert profile.total("other.sq-insts") == 10
    assert profile.total("other.counter-5") == 4
    assert profile.total("gpu.instructions") == 2
    assert profile.total("memory.allocated.bytes") == 64
    assert profile.total("gpu.kernel.count") == 5
    assert profile.timeline is None


# -- rocprof-compute -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("long", [False, True])
def test_a_copy_kernel_is_at_its_roofline_and_computes_nothing(tmp_path: Path, long: bool) -> None:
    profile = load(rocprof.write_workload(tmp_path / "w", long=long))
    (row,) = profile.kernels.to_dict("records")
    seconds = 100_000e-9
    read = 64 * ((1 << 20) - (1 << 10)) + 32 * (1 << 10)
    written = 64 * (1 << 18) + 32 * ((1 << 19) - (1 << 18))
    rate = (read + written) / seconds
    expected = {
        "launches": 2,
        "time": 2 * seconds,
        "gpu.kernel.dram-rate": rate,
        "gpu.kernel.peak-dram-rate": 1200e9,
        "gpu.kernel.dram-throughput": 100 * rate / 1200e9,
        "gpu.kernel.l2-throughput": 100 * 128 * (1 << 20) / seconds / 5000e9,
        "gpu.kernel.l1-throughput": 100 * 64 * (1 << 22) / seconds / 9000e9,
        "gpu.kernel.memory-throughput": 100 * rate / 1200e9,
        "gpu.kernel.l2-hit-rate": 30.0,
        "gpu.kernel.l1-hit-rate": 50.0,
        "gpu.kernel.arithmetic-intensity": 0.0,
        "gpu.kernel.flops.fp64": 0.0,
        "gpu.kernel.peak-flops.fp32": 20e12,
        "gpu.kernel.instructions": 1e6,
        "gpu.kernel.pipe.alu": 100 * 750_000 / (150_000 * 100),
        "gpu.kernel.sm-throughput": 5.0,
        "gpu.kernel.achieved-occupancy": 100 * 4 * 60e6 / (150_000 * 32 * 100),
        "gpu.kernel.multiprocessors": 100,
        "gpu.kernel.blocks": 4096,
        "gpu.kernel.registers": rocprof.VECTOR + rocprof.MATRIX,
    }
    for metric, value in expected.items():
        assert row[metric] == pytest.approx(value, rel=1e-9), metric
    assert profile.timeline is None
    assert profile.devices[2].name == "AMD MI210"
    assert profile.devices[2].bandwidth == 1200e9
    if not long:
        assert profile.total("other.tcc-ea-x-sum") == 22  # channels without their sum are added up
    finding = chathpc.explain(profile, llm="none").findings[0]
    assert finding.cause == "gpu-memory-bandwidth"


def test_operations_are_counted_by_precision_and_unit(tmp_path: Path) -> None:
    profile = load(
        rocprof.write_workload(
            tmp_path / "w", SQ_INSTS_VALU_FMA_F64=1000.0, SQ_INSTS_VALU_ADD_F64=10.0, SQ_INSTS_VALU_MFMA_MOPS_F64=7.0
        )
    )
    (row,) = profile.kernels.to_dict("records")
    rate = (64 * (10 + 2 * 1000) + 512 * 7) / 100_000e-9
    assert row["gpu.kernel.flops.fp64"] == pytest.approx(rate)
    assert row["gpu.kernel.flops.fp32"] == 0
    assert row["gpu.kernel.arithmetic-intensity"] == pytest.approx(rate / row["gpu.kernel.dram-rate"])


def test_what_was_not_collected_has_no_value(tmp_path: Path) -> None:
    profile = load(rocprof.write_workload(tmp_path / "w", bare=True))
    absent = (
        "dram-throughput",
        "memory-throughput",
        "achieved-occupancy",
        "pipe.alu",
        "multiprocessors",
        "peak-flops.fp32",
    )
    assert not {f"gpu.kernel.{name}" for name in absent} & set(profile.metrics)
    assert "gpu.kernel.dram-rate" in profile.metrics
    assert caveat(profile, "peak memory bandwidth of the device is unknown")
    folder = rocprof.write_counters(tmp_path / "c", {"SQ_WAVES": [1.0]})
    assert not {name for name in load(folder).metrics if name.startswith("gpu.kernel.flops")}


def test_a_database_of_rocprof_compute_gives_the_tools_own_metrics(tmp_path: Path) -> None:
    profile = load(rocprof.write_compute_db(tmp_path / "c.db"))
    (row,) = profile.kernels.to_dict("records")
    expected = {
        "launches": 2, "time": 6_000e-9, "gpu.kernel.sm-throughput": 40.0, "gpu.kernel.pipe.alu": 12.5,
        "gpu.kernel.l2-hit-rate": 55.0, "gpu.kernel.l1-hit-rate": 66.0, "gpu.kernel.achieved-occupancy": 25.0,
        "gpu.kernel.dram-rate": 800e9, "gpu.kernel.dram-throughput": 50.0, "gpu.kernel.l2-throughput": 10.0,
        "gpu.kernel.memory-throughput": 50.0, "gpu.kernel.flops.fp32": 400e9, "gpu.kernel.peak-flops.fp32": 20e12,
        "gpu.kernel.arithmetic-intensity": 0.5, "gpu.kernel.blocks": 40, "gpu.kernel.registers": rocprof.VECTOR,
        "gpu.kernel.multiprocessors": 100,
    }  # fmt: skip
    for metric, value in expected.items():
        assert row[metric] == pytest.approx(value, rel=1e-9), metric
    assert profile.exclusive("other.else-strange-one").values.tolist() == [2.0]
    assert profile.total("gpu.instructions") == 100
    assert profile.sources[0].version == "3.5.0"
    assert profile.timeline is None


def test_the_peak_of_memory_is_known_for_accelerators_by_name() -> None:
    assert system_of({"gpu_model": "MI300X_A1"}, {}).memory_peak == 5300e9
    assert system_of({"gpu_model": "Something"}, {}).memory_peak is None
    assert system_of({}, {}).device() is None
    for nonsense in (True, "x", -1, None, "inf", [], "1e400", 0):
        assert positive(nonsense) is None


# -- databases -----------------------------------------------------------------------------------------------


def test_merged_runs_are_processes_of_one_profile(tmp_path: Path) -> None:
    runs = ("_0a1b2c3d_0000_1111_2222_333344445555", "_ffffffff_0000_1111_2222_333344445555")
    profile = load(rocprof.write_rocpd(tmp_path / "m.db", runs=runs))
    assert profile.total("gpu.kernel.time") == pytest.approx(2 * SUMS["gpu.kernel.time"])
    assert profile.where.counts().words().startswith("2 ranks")
    assert not caveat(profile, "cannot be joined")


def test_views_of_the_file_are_never_run(tmp_path: Path) -> None:
    path = rocprof.write_rocpd(tmp_path / "v.db")
    with sqlite3.connect(path) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'view'")]
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, i AS pid FROM n"
        for name in names:
            connection.execute(f'DROP VIEW "{name}"')
            connection.execute(f'CREATE VIEW "{name}" AS {endless}')
        connection.execute(f"CREATE VIEW rocpd_region_deadbeef AS {endless}")
    connection.close()
    with Server() as server:
        outcome = server.run(path)
    assert outcome.kind == "profile", outcome
    assert load(path).total("gpu.kernel.time") == pytest.approx(SUMS["gpu.kernel.time"])


def test_tables_that_are_views_or_lack_columns_give_no_rows(tmp_path: Path) -> None:
    path = rocprof.database(
        tmp_path / "x.db",
        {"rocpd_kernel_dispatch": ("id pid", [(1, 1)]), "rocpd_string": ("id string", [(1, "a")])},
        ["CREATE VIEW rocpd_region AS SELECT 1"],
    )
    assert load(path).insufficient
    path = rocprof.database(tmp_path / "y.db", {"rocpd_api": ("id", []), "rocpd_op": ("id", [])})
    assert load(path).insufficient
    path = rocprof.database(tmp_path / "z.db", {"KERN": ("x", [(1,)])})
    assert load(path).insufficient
    path = rocprof.database(tmp_path / "w.db", {"compute_workload": ("x", []), "compute_kernel": ("x", [])})
    assert load(path).insufficient


def test_values_of_wrong_types_are_left_out(tmp_path: Path) -> None:
    odd = (None, "x", b"\xff", 1.5, -1, 1 << 62, float("inf"))
    for writer, tables in (
        (
            rocprof.write_rocpd,
            ("rocpd_region", "rocpd_kernel_dispatch", "rocpd_memory_copy", "rocpd_event", "rocpd_string"),
        ),
        (rocprof.write_rpd, ("rocpd_api", "rocpd_op", "rocpd_api_ops", "rocpd_kernelapi", "rocpd_string")),
        (rocprof.write_legacy, ("KERN",)),
        (
            rocprof.write_compute_db,
            ("compute_dispatch", "compute_kernel_metric_value", "compute_kernel", "compute_workload"),
        ),
    ):
        path = writer(tmp_path / f"{writer.__name__}.db")  # type: ignore[operator]
        with sqlite3.connect(path) as connection:
            for (name,) in list(connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")):
                if not name.startswith(tables):
                    continue
                columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{name}")')]
                for number, column in enumerate(columns):
                    if column != "id":
                        connection.execute(
                            f'UPDATE "{name}" SET "{column}" = ? WHERE rowid % 5 = ?',
                            (odd[number % len(odd)], number % 5),
                        )
        connection.close()
        profile = load(path)
        assert np.isfinite([profile.total(m) for m in profile.metrics if m.startswith(("gpu.time", "host.time"))]).all()


def test_cyclic_stacks_and_one_stack_for_all_do_no_harm(tmp_path: Path) -> None:
    path = rocprof.write_rocpd(tmp_path / "c.db")
    with sqlite3.connect(path) as connection:
        connection.execute(f'UPDATE "rocpd_event{rocprof.RUN}" SET stack_id = 1, parent_stack_id = 1')
    connection.close()
    assert load(path).total("gpu.kernel.time") == pytest.approx(SUMS["gpu.kernel.time"])


# -- damage and bombs ----------------------------------------------------------------------------------------


def test_bombs_end_in_time_and_memory(tmp_path: Path) -> None:
    header = '"Kind","Agent_Id","Queue_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp"\n'
    call = '"Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp"\n'
    files = {
        "negative.csv": header + '"K","Agent 1",1,"k",1,100,50\n"K","Agent 1",1,"k",1,0,9223372036854775807\n',
        "huge.csv": header + f'"K","Agent {"9" * 400}",1,"{"k" * 200_000}",{"9" * 5000},1,2\n',
        "quote.csv": header + '"K","Agent 1",1,"k' + "x" * 300_000,
        "queues.csv": header + "".join(f'"K","Agent {n}",{n},"k",{n},{n},{n + 1}\n' for n in range(12_000)),
        "threads.csv": call + "".join(f'"D","f",{n},{n},{n},{n},{n + 1}\n' for n in range(12_000)),
        "nested.csv": call + "".join(f'"D","f",1,1,{n},{n},{90_000 - n}\n' for n in range(20_000)),
        "nothing.csv": header,
        "deep.json": '{"rocprofiler-sdk-tool": [{"agents": ' + "[" * 100_000,
        "odd.json": '{"rocprofiler-sdk-tool": [5, {"agents": 5, "strings": [], "kernel_symbols": {}, "buffer_records": 7}]}',
        "empty.json": '{"rocprofiler-sdk-tool": 7}',
        "cut.json": json.dumps(rocprof.sdk_json())[:-40],
        "odd-records.json": json.dumps(
            {
                "rocprofiler-sdk-tool": [
                    {"buffer_records": {"kernel_dispatch": [1, {}, {"dispatch_info": []}], "hip_api": 5}}
                ]
            }
        ),
    }
    outcomes = {}
    with Server() as server:
        for name, text in files.items():
            (tmp_path / name).write_text(text)
            outcomes[name] = server.run(tmp_path / name, cpu=4.0)
    assert not {name: outcome for name, outcome in outcomes.items() if not outcome.good}
    refused = {name for name, outcome in outcomes.items() if outcome.kind == "refused"}
    assert refused == {"quote.csv", "huge.csv", "queues.csv", "threads.csv", "deep.json", "empty.json", "cut.json"}
    assert all(outcomes[name].hint for name in refused)


def test_a_folder_without_tables_is_refused(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "pmc_perf.csv").mkdir()
    with pytest.raises(AdapterError, match=r"pmc_perf\.csv"):
        chathpc.load(tmp_path / "w")


# -- words of the format -------------------------------------------------------------------------------------


def test_names_tell_collectives_copies_and_waits() -> None:
    assert kernel_lane("ncclDevKernel_Generic_1(x)") is LaneKind.COLLECTIVE
    assert kernel_lane("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t") is LaneKind.COLLECTIVE
    assert kernel_lane("void rcclGenericKernel<3>(x)") is LaneKind.COLLECTIVE
    assert kernel_lane("_Z23ncclDevKernel_Generic_4v") is LaneKind.COLLECTIVE
    assert kernel_lane("gemm_reduce(ncclish)") is LaneKind.COMPUTE
    assert copy_lane("MEMORY_COPY_DEVICE_TO_DEVICE") is LaneKind.D2D
    assert copy_lane("nothing", "HtoD") is LaneKind.H2D
    assert copy_lane("[CUDA memcpy Device-to-Host]") is LaneKind.D2H
    assert copy_lane("[CUDA Unified Memory memcpy HtoD]") is LaneKind.UNIFIED
    assert copy_lane("nothing") is None
    assert is_synchronisation("hipDeviceSynchronize")
    assert not is_synchronisation("hipMemcpy")


def test_numbers_and_names_of_files_are_taken_as_they_are_meant() -> None:
    assert [integer(value) for value in (5, "7", "0x10", 3.0, True, None, "x", 1.5, 1 << 70, "9" * 30, [])] == [
        5, 7, 16, 3, None, None, None, None, None, None, None,
    ]  # fmt: skip
    assert kernel_name('"saxpy(float*) [clone .kd]"') == "saxpy(float*)"
    assert kernel_name("fill.kd") == "fill"
    assert kernel_name("") == "[unnamed kernel]"
    assert facts_of([100], [64], [8, 8], 0) == (2.0, 64.0, 16.0, 0.0)
    assert facts_of([None], [64], [], None) == (-1.0, 64.0, -1.0, -1.0)
    assert facts_of([5], [0], [-1], -5) == (-1.0, -1.0, -1.0, -1.0)
