"""What HPCToolkit's metric names mean; the names are those of hpcrun's registration and of the manual."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.adapters.hpctoolkit.vocabulary import metric_for, metrics_for, split_name
from chathpc.profile.metric import Aggregation, Clock, Unit

#: (name in 2022–2024, name from 2025 on, id, unit)
BOTH_GENERATIONS = [
    ("GPUOP (sec)", "GPUOP (s)", "gpu.time", Unit.SECONDS),
    ("GKER (sec)", "GKER (s)", "gpu.kernel.time", Unit.SECONDS),
    ("GMEM (sec)", "GMEM (s)", "gpu.alloc.time", Unit.SECONDS),
    ("GMSET (sec)", "GMSET (s)", "gpu.memset.time", Unit.SECONDS),
    ("GXCOPY (sec)", "GXCOPY (s)", "gpu.copy.time", Unit.SECONDS),
    ("GICOPY (sec)", "GICOPY (s)", "gpu.implicit-copy.time", Unit.SECONDS),
    ("GSYNC (sec)", "GSYNC (s)", "gpu.sync.time", Unit.SECONDS),
    ("GXCOPY:H2D (B)", "GXCOPY:H2D (b)", "gpu.copy.h2d.bytes", Unit.BYTES),
    ("GMEM:DEV (B)", "GMEM:DEV (b)", "gpu.alloc.dev.bytes", Unit.BYTES),
    ("GKER:LMEM (B)", "GKER:LMEM (b)", "gpu.kernel.local-memory", Unit.BYTES),
    ("GKER:BLKS", "GKER:BLKS_AVG", "gpu.kernel.blocks", Unit.COUNT),
    ("GINS:STL_ANY", "GCYCLES:STL", "gpu.stall.any", Unit.CYCLES),
    ("GINS:STL_GMEM", "GCYCLES:STL:GMEM", "gpu.stall.memory", Unit.CYCLES),
    ("GINS:STL_SYNC", "GCYCLES:STL:SYNC", "gpu.stall.barrier", Unit.CYCLES),
    ("GINS:STL_IFET", "GCYCLES:STL:IFET", "gpu.stall.instruction-fetch", Unit.CYCLES),
    ("GINST:STL_IDEP", "GINS:STL_IDEP", "gpu.stall.dependency", Unit.CYCLES),
    ("GINST", "GINS", "gpu.instructions", Unit.COUNT),
]


@pytest.mark.parametrize(("old", "new", "identifier", "unit"), BOTH_GENERATIONS)
def test_both_generations_of_a_name_are_one_metric(old: str, new: str, identifier: str, unit: Unit) -> None:
    for name in (old, new):
        metric = metric_for(name)
        assert (metric.id, metric.unit, metric.scale, metric.source_name) == (identifier, unit, 1.0, name)
        assert metric.aggregation == Aggregation.SUM


@pytest.mark.parametrize(
    ("name", "identifier", "unit", "scale", "clock"),
    [
        ("CPUTIME (sec)", "cpu.time", Unit.SECONDS, 1.0, Clock.CPU),
        ("CPUTIME (usec)", "cpu.time", Unit.SECONDS, 1e-6, Clock.CPU),
        ("REALTIME (sec)", "cpu.time", Unit.SECONDS, 1.0, Clock.WALL),
        ("WALLCLOCK (usec)", "cpu.time", Unit.SECONDS, 1e-6, Clock.WALL),
        ("perf::cpu-clock", "cpu.time", Unit.SECONDS, 1e-9, Clock.CPU),
        ("perf::task-clock@f200", "cpu.time", Unit.SECONDS, 1e-9, Clock.CPU),
        ("perf::cycles@f200", "cpu.cycles", Unit.CYCLES, 1.0, None),
        ("cycles", "cpu.cycles", Unit.CYCLES, 1.0, None),
        ("PAPI_TOT_CYC", "cpu.cycles", Unit.CYCLES, 1.0, None),
        ("perf::instructions", "cpu.instructions", Unit.COUNT, 1.0, None),
        ("PAPI_TOT_INS", "cpu.instructions", Unit.COUNT, 1.0, None),
        ("perf::page-faults", "cpu.page-faults", Unit.COUNT, 1.0, None),
        ("perf::major-faults@f300", "cpu.page-faults.major", Unit.COUNT, 1.0, None),
        ("perf::context-switches", "cpu.context-switches", Unit.COUNT, 1.0, None),
        ("perf::cache-misses", "cpu.cache.misses", Unit.COUNT, 1.0, None),
        ("PAPI_L2_DCM", "papi.papi-l2-dcm", Unit.COUNT, 1.0, None),
        ("Bytes Allocated", "memory.allocated.bytes", Unit.BYTES, 1.0, None),
        ("Bytes Freed", "memory.freed.bytes", Unit.BYTES, 1.0, None),
        ("IO Bytes Read", "io.read.bytes", Unit.BYTES, 1.0, None),
        ("IO Bytes Written", "io.write.bytes", Unit.BYTES, 1.0, None),
        ("CPU_IDLE (sec)", "cpu.idle.time", Unit.SECONDS, 1.0, None),
        ("GKER:OCC_THR", "gpu.kernel.occupancy", Unit.PERCENT, 1.0, None),
        ("GKER:BLK_THR_ACUMU", "gpu.gker-blk-thr-acumu", Unit.COUNT, 1.0, None),
        ("GCYCLES", "gpu.cycles", Unit.CYCLES, 1.0, None),
        ("GCYCLES:ISU", "gpu.cycles.issued", Unit.CYCLES, 1.0, None),
        ("GGMEM:LDC (L2T)", "gpu.global-memory.ldc.transactions", Unit.COUNT, 1.0, None),
        ("GLMEM:LD (T)", "gpu.local-memory.ld.transactions", Unit.COUNT, 1.0, None),
        ("GXFER:XMIT_TP (GB)", "gpu.link.xmit-tp.bytes", Unit.BYTES, 1e9, None),
        ("GICOPY:CPU_PF", "gpu.implicit-copy.cpu-pf.events", Unit.COUNT, 1.0, None),
        ("EU_ACT (%)", "gpu.eu-act", Unit.PERCENT, 1.0, None),
        ("GPIPE:ISU:VEC", "gpu.gpipe-isu-vec", Unit.COUNT, 1.0, None),
        ("SQ_WAVES", "other.sq-waves", Unit.COUNT, 1.0, None),
        ("", "other.unnamed", Unit.COUNT, 1.0, None),
        ("→", "other.unnamed", Unit.COUNT, 1.0, None),
    ],
)  # fmt: skip
def test_a_name_has_an_id_a_unit_and_a_scale(
    name: str, identifier: str, unit: Unit, scale: float, clock: Clock | None
) -> None:
    metric = metric_for(name)
    assert (metric.id, metric.unit, metric.scale, metric.clock) == (identifier, unit, scale, clock)
    assert metric.source_name == name


def test_what_is_set_and_not_counted_is_never_added_up() -> None:
    for name in ("GSAMP:PER (cyc)", "GCYCLES:TIMESTAMP"):
        metric = metric_for(name)
        assert metric.aggregation == Aggregation.MAX
        assert metric.unit == Unit.CYCLES
        assert metric.hidden
    assert metric_for("GSAMP:TOT").aggregation == Aggregation.SUM


@pytest.mark.parametrize(
    ("name", "stem", "unit"),
    [
        ("GKER (sec)", "GKER", "sec"),
        ("GKER (sec):Sum (I)", "GKER", "sec"),
        ("CPUTIME (sec):Mean (E)", "CPUTIME", "sec"),
        ("perf::cycles@f200:Sum", "cycles", ""),
        ("GINST:STL_GMEM", "GINS:STL_GMEM", ""),
        ("a (b) (c)", "a (b)", "c"),
        ("two\nlines (sec)", "two\nlines", "sec"),
    ],
)
def test_a_name_is_a_stem_and_a_unit(name: str, stem: str, unit: str) -> None:
    assert split_name(name) == (stem, unit)


def test_a_wall_clock_beside_a_cpu_clock_has_an_id_of_its_own() -> None:
    for names in (["REALTIME (sec)", "CPUTIME (sec)"], ["CPUTIME (sec)", "REALTIME (sec)"]):
        ids = {metric.source_name: metric.id for metric in metrics_for(names)}
        assert ids == {"CPUTIME (sec)": "cpu.time", "REALTIME (sec)": "cpu.time.wall"}
        assert [metric.source_name for metric in metrics_for(names)] == names


def test_names_of_one_meaning_in_one_database_get_ids_of_their_own() -> None:
    names = ["perf::cycles", "PAPI_TOT_CYC", "CPUTIME (sec)", "perf::cpu-clock", "x", "x", "x"]
    assert [metric.id for metric in metrics_for(names)] == [
        "cpu.cycles", "cpu.cycles.papi-tot-cyc", "cpu.time", "cpu.time.cpu-clock", "other.x", "other.x.x", "other.x.x.2",
    ]  # fmt: skip


@given(st.lists(st.one_of(st.text(max_size=12), st.sampled_from([old for old, *_ in BOTH_GENERATIONS])), max_size=8))
def test_any_names_give_one_metric_each_with_unique_ids(names: list[str]) -> None:
    metrics = metrics_for(names)
    assert [metric.source_name for metric in metrics] == names
    assert len({metric.id for metric in metrics}) == len(names)


def test_the_two_metrics_of_waiting_for_memory_keep_their_ids_in_any_order() -> None:
    """AMD's samples fill the one, NVIDIA's the other; a database lists both."""
    names = ["GCYCLES:STL:GMEM", "GCYCLES:STL:MEM"]
    for order in (names, names[::-1]):
        ids = {metric.source_name: metric.id for metric in metrics_for(order)}
        assert ids == dict(zip(names, ("gpu.stall.memory", "gpu.stall.any-memory"), strict=True))
