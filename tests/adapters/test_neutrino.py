"""Neutrino traces: sums and pages counted by hand, and headers that do not fit refused with words."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import chathpc
from chathpc.adapters.glance import Glance
from chathpc.adapters.neutrino import recognises
from chathpc.errors import AdapterError
from chathpc.profile.tree import NodeKind
from tests.synthetic.neutrino import accesses, example_module, schedule, small, writer

RESULT = "0.250000.bin"


@pytest.mark.parametrize("older", [False, True])
def test_both_layouts_give_the_same_profile(tmp_path: Path, older: bool) -> None:
    profile = chathpc.load(small(tmp_path / "trace", older=older))
    profile.tree.check()
    (kernel,) = np.flatnonzero(profile.tree.kind == NodeKind.GPU_KERNEL).tolist()
    assert profile.tree.function_name(kernel) == "saxpy(int, float, float*, float*)"
    assert profile.total("gpu.kernel.count") == 2
    assert profile.total("gpu.kernel.time") == pytest.approx(0.75e-3)
    assert profile.total("gpu.memory.accesses") == 2 * 4
    assert profile.total("gpu.memory.sync.bytes") == 2 * 64 * 16
    assert profile.total("gpu.memory.async.bytes") == 2 * 4 * 32
    facts = {name: profile.exclusive(name).at(kernel) for name in profile.metrics if name.startswith("gpu.kernel.")}
    assert facts["gpu.kernel.unique-pages"] == 3
    assert facts["gpu.kernel.footprint"] == 3 * 4096
    assert facts["gpu.kernel.accesses-per-page"] == pytest.approx(4 / 3)
    assert facts["gpu.kernel.multiprocessors-used"] == 2
    assert facts["gpu.kernel.multiprocessor-imbalance"] == 300 / 200
    assert (facts["gpu.kernel.blocks"], facts["gpu.kernel.threads-per-block"]) == (2, 32)
    (density,) = profile.accesses
    assert (density.node, density.accesses.sum(), density.accesses[0], density.accesses[-1]) == (kernel, 4, 2, 1)
    assert density.pages[0] == 2
    assert "not what limits them" in profile.insufficient
    assert any("the overhead of the probes" in caveat for caveat in profile.caveats)


def test_a_benchmarked_launch_counts_without_its_probes(tmp_path: Path) -> None:
    moved = np.zeros((32, 1), dtype=writer.GMEM_BYTES.record)
    launch = writer.Launch("k", (1, 1, 1), (32, 1, 1), [moved], milliseconds=9.0, original=2.0)
    profile = chathpc.load(writer.write_trace(tmp_path / "t", [writer.GMEM_BYTES], [launch]))
    assert profile.total("gpu.kernel.time") == pytest.approx(2e-3)
    assert not profile.caveats
    assert "not what limits them" in profile.insufficient
    assert "neutrino -t dmat ./app" in profile.not_collected.values()


def test_launches_of_another_shape_are_another_node(tmp_path: Path) -> None:
    launches = [
        writer.Launch("k", (1, 1, 1), (threads, 1, 1), [np.zeros((threads, 1), dtype=writer.GMEM_BYTES.record)])
        for threads in (32, 64, 32)
    ]
    profile = chathpc.load(writer.write_trace(tmp_path / "t", [writer.GMEM_BYTES], launches))
    assert sorted(profile.exclusive("gpu.kernel.count").values.tolist()) == [1.0, 2.0]


def test_a_block_that_is_no_multiple_of_a_warp_is_read_where_the_offsets_hold(tmp_path: Path) -> None:
    spans = schedule([(10, 5, 0), (10, 7, 0)])
    launch = writer.Launch("k", (1, 1, 1), (33, 1, 1), [spans])
    profile = chathpc.load(writer.write_trace(tmp_path / "t", [writer.BLOCK_SCHED], [launch]))
    assert profile.exclusive("gpu.kernel.multiprocessors-used").values.tolist() == [1.0]


def test_without_a_log_kernels_have_the_names_of_their_files(tmp_path: Path) -> None:
    trace = small(tmp_path / "trace")
    (trace / "event.log").unlink()
    profile = chathpc.load(trace)
    assert f"<kernel of {RESULT}>" in profile.tree.names
    assert "event.log is missing" in profile.caveats[0]
    assert "gpu.kernel.time" not in profile.metrics


def test_failed_launches_and_an_empty_trace_are_told(tmp_path: Path) -> None:
    trace = small(tmp_path / "trace")
    with (trace / "event.log").open("a") as log:
        log.write("[exec] funcmap-find 0x1 fail\n[exec] failed 700\n")
    assert any(caveat.startswith("2 launches could not be probed") for caveat in chathpc.load(trace).caveats)
    for file in (trace / "result").iterdir():
        file.unlink()
    assert "no launch" in chathpc.load(trace).insufficient


def test_the_command_line_in_the_log_is_not_taken_in(tmp_path: Path) -> None:
    moved = np.zeros((32, 1), dtype=writer.GMEM_BYTES.record)
    launch = writer.Launch("k", (1, 1, 1), (32, 1, 1), [moved])
    trace = writer.write_trace(tmp_path / "t", [writer.GMEM_BYTES], [launch], command="./app --token=SECRET")
    assert "SECRET" not in chathpc.explain(chathpc.load(trace), llm="none").model_dump_json()


def patched(trace: Path, offset: int, form: str, *values: int) -> None:
    file = trace / "result" / RESULT
    data = bytearray(file.read_bytes())
    struct.pack_into(form, data, offset, *values)
    file.write_bytes(data)


@pytest.mark.parametrize(
    ("offset", "form", "values", "words"),
    [
        (0, "<I", (0,), "a launch of 0 blocks"),
        (12, "<I", (1 << 31,), "a launch of 2 blocks of 2147483648 threads is impossible"),
        (28, "<I", (2,), "has 2 sections, but probe.toml describes 3"),
        (28, "<I", (1 << 30,), "sections, but probe.toml"),
        (32 + 8, "<Q", (1 << 63,), "claims to begin at byte 9223372036854775808"),
        (32 + 16 + 8, "<Q", (80,), "section 2 \\(block_sched\\) claims to begin at byte 80"),
        (32, "<I", (40,), "bytes for 64 rows"),
        (32, "<I", (4096,), "section 2"),
        (32 + 32, "<I", (1 << 31,), "its sections end at byte"),
        (0, "<I", (3,), "was launched as|claims to begin"),
    ],
)  # fmt: skip
def test_headers_that_do_not_fit_are_refused(
    tmp_path: Path, offset: int, form: str, values: tuple[int, ...], words: str
) -> None:
    trace = small(tmp_path / "trace")
    patched(trace, offset, form, *values)
    with pytest.raises(AdapterError, match=words) as caught:
        chathpc.load(trace)
    assert caught.value.hint


def test_a_launch_that_the_log_tells_otherwise_is_refused(tmp_path: Path) -> None:
    trace = small(tmp_path / "trace")
    log = trace / "event.log"
    log.write_text(log.read_text().replace("grid 2 1 1 block 32", "grid 1 2 1 block 32"))
    with pytest.raises(AdapterError, match=r"the log says it was launched as .* its header"):
        chathpc.load(trace)
    trace = small(tmp_path / "other")
    log = trace / "event.log"
    log.write_text(log.read_text().replace(" size ", " size 1"))
    with pytest.raises(AdapterError, match=r"event\.log says"):
        chathpc.load(trace)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "describes no probe"),
        ("author = 'x'\n[map.A]\nlevel='thread'", "fields of 'A' are none"),
        ("[map.A]\nlevel='lane'\n[map.A.regs]\nx='u64'", "no level"),
        ("[map.A]\nlevel='warp'\n[map.A.regs]\nx='u8'", "unknown type"),
        ("[map.A]\nlevel='warp'\nregs=[['x','u64'],['x','u64']]", "not distinct"),
        ("[a]\ndatamodel='lane:8'", "unknown data model"),
        ("map = [", "damaged TOML"),
        ("a = " + "[" * 5000, "nested too deeply|damaged TOML"),
        ("".join(f"[map.A{i}]\nlevel='warp'\n[map.A{i}.regs]\nx='u64'\n" for i in range(70)), "describes 70 probes"),
    ],
)  # fmt: skip
def test_descriptions_of_probes_that_say_nothing_are_refused(tmp_path: Path, text: str, words: str) -> None:
    trace = small(tmp_path / "trace")
    (trace / "probe.toml").write_text(text)
    with pytest.raises(AdapterError, match=words):
        chathpc.load(trace)


def test_registers_may_be_a_list_of_tables(tmp_path: Path) -> None:
    trace = small(tmp_path / "trace")
    text = (trace / "probe.toml").read_text()
    head, _, _ = text.partition("[map.GMEM") if "[map.GMEM" in text else text.partition("[map.gmem_bytes]")
    fields = "regs = [{name='sync_bytes', dtype='u32'}, {name='async_bytes', type=['u32', 0]}]"
    (trace / "probe.toml").write_text(f"{head}[map.gmem_bytes]\nlevel='thread'\n{fields}\n")
    assert chathpc.load(trace).total("gpu.memory.sync.bytes") == 2 * 64 * 16


def test_short_and_missing_files_are_refused(tmp_path: Path) -> None:
    trace = small(tmp_path / "trace")
    (trace / "result" / RESULT).write_bytes(b"\x01\0\0\0")
    with pytest.raises(AdapterError, match="its header alone has 32"):
        chathpc.load(trace)
    (trace / "probe.toml").unlink()
    with pytest.raises(AdapterError, match=r"probe\.toml is missing"):
        chathpc.load(trace)


def test_only_trace_folders_are_recognised(tmp_path: Path) -> None:
    trace = small(tmp_path / "trace")
    assert recognises(Glance(trace))
    (trace / "probe.toml").unlink()
    assert recognises(Glance(trace))
    (trace / "event.log").write_text("something else")
    assert not recognises(Glance(trace))
    assert not recognises(Glance(tmp_path))


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(st.lists(st.tuples(st.integers(1, 10**6), st.integers(1, 1 << 20)), max_size=6), min_size=1, max_size=8)
)
def test_counts_are_those_of_the_records(
    tmp_path_factory: pytest.TempPathFactory, threads: list[list[tuple[int, int]]]
) -> None:
    rows = len(threads)
    launch = writer.Launch("k", (1, 1, 1), (rows, 1, 1), [accesses(rows, threads)])
    profile = chathpc.load(writer.write_trace(tmp_path_factory.mktemp("t") / "t", [writer.DMAT], [launch]))
    pairs = [pair for thread in threads for pair in thread]
    assert profile.total("gpu.memory.accesses") == len(pairs)
    if pairs:
        assert profile.exclusive("gpu.kernel.unique-pages").values.tolist() == [len({a // 4096 for _, a in pairs})]
        (density,) = profile.accesses
        assert density.accesses.sum() == len(pairs)
        first = min(clock for clock, _ in pairs)
        per_bin: dict[int, set[int]] = {}
        for clock, address in pairs:
            per_bin.setdefault(min(int((clock - first) / density.cycles), 63), set()).add(address // 4096)
        assert {b: n for b, n in enumerate(density.pages.tolist()) if n} == {b: len(p) for b, p in per_bin.items()}


def test_a_report_tells_what_was_recorded_and_concludes_nothing_else(tmp_path: Path) -> None:
    report = chathpc.explain(small(tmp_path / "trace"), llm="none")
    assert report.verdict == "insufficient-data"
    assert report.findings == []
    name = "saxpy"
    assert [item.statement for item in report.evidence] == [
        f"Memory that {name} accesses in each launch is 12.3 kB: 4 accesses, 1.33 to each page of 4 KiB.",
        f"The data that {name} moves by sync accesses in each launch is 1.02 kB, its footprint 12.3 kB (0.0833 times as much).",
        f"The data that {name} moves by async accesses in each launch is 128 B, its footprint 12.3 kB (0.0104 times as much).",
        f"The work of the busiest of 2 multiprocessors that ran {name} is 1.50 times the mean.",
        f"The part of its threads' time with half of the accesses of {name} is 1.56 %.",
    ]


def test_attention_in_three_ways_moves_what_the_algorithms_say(tmp_path: Path) -> None:
    example = example_module("make_traces")
    example.main(tmp_path)
    n, d, heads, tiles, e, v = 256, 64, 2, 4, 2, 16
    matrix, scores = n * d * e * heads, n * n * e * heads  # bytes of one of Q, K, V, O, and of the scores
    moved = {
        # Q and K are read once for each tile of the other; scores written, read, written and read; V for each tile of Q.
        "naive": 2 * tiles * matrix + 4 * scores + tiles * matrix + matrix,
        "flash-v1": 2 * matrix + tiles * matrix + 2 * tiles * matrix,
        "flash-v2": 2 * matrix + 2 * tiles * matrix,
    }
    for name, total in moved.items():
        profile = chathpc.load(tmp_path / name)
        assert profile.total("gpu.memory.sync.bytes") == total
        assert profile.total("gpu.memory.accesses") == total / v
    assert chathpc.load(tmp_path / "naive").exclusive("gpu.kernel.footprint").values.max() == 2 * scores
    for name in ("flash-v1", "flash-v2"):
        assert chathpc.load(tmp_path / name).exclusive("gpu.kernel.footprint").values.tolist() == [4 * matrix]
