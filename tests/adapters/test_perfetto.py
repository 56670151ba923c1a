"""Perfetto traces: their slices, threads, clocks and GPU queues come back; damage and bombs are refused."""

from __future__ import annotations

import time
import tracemalloc
import zlib
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

import chathpc
from chathpc.adapters import packed
from chathpc.adapters.glance import Glance
from chathpc.adapters.perfetto import ADAPTER
from chathpc.errors import AdapterError
from chathpc.profile.profile import Profile
from tests.adapters.opened import opened
from tests.synthetic.perfetto import BOOT, OWN, Trace, heat, rocprof, text
from tests.synthetic.pprof import data, number


def profile_of(content: bytes, folder: Path) -> Profile:
    (folder / "a.pftrace").write_bytes(content)
    assert ADAPTER.recognises(Glance(folder / "a.pftrace"))
    return opened(ADAPTER, folder / "a.pftrace")


def seconds(profile: Profile) -> dict[str, float]:
    table = profile.table("function", "host.time")
    return {row.name: round(row.exclusive * 1e6, 6) for row in table.itertuples() if row.exclusive}


@pytest.mark.parametrize("compressed", [False, True])
def test_slices_of_threads_are_told_with_their_own_time(compressed: bool, tmp_path: Path) -> None:
    trace = heat(10)
    profile = profile_of(trace.compressed() if compressed else trace.bytes(), tmp_path)
    assert profile.format == "Perfetto"
    assert profile.title == "heat"
    assert seconds(profile) == {"main": 400.0, "solve": 600.0, "wait": 400.0}
    assert len(profile.locations) == 2
    assert "secret" not in str(profile)


def test_kernels_and_copies_of_amd_are_told_with_the_calls_that_launched_them(tmp_path: Path) -> None:
    profile = profile_of(rocprof(10).bytes(), tmp_path)
    assert profile.total("gpu.kernel.time") == pytest.approx(500e-6)
    assert profile.total("gpu.copy.h2d.time") == pytest.approx(200e-6)
    assert profile.total("gpu.copy.h2d.bytes") == 4 << 20
    (kernel,) = (node for node in range(len(profile.tree)) if profile.tree.label(node).startswith("gemm("))
    assert profile.tree.label(int(profile.tree.parent[kernel])) == "hipLaunchKernel"
    assert chathpc.load(tmp_path / "a.pftrace").total("gpu.kernel.time") == pytest.approx(500e-6)


def test_clocks_of_a_writer_are_put_into_the_traces_own(tmp_path: Path) -> None:
    """A step of 3 units of 1000 ns after the snapshot at 5 ms, beside a slice on the trace's clock."""
    trace = Trace()
    trace.thread(2, 1, 1)
    trace.thread(3, 1, 2)
    trace.clocks([(BOOT, 5_000_000, 1, False), (OWN, 100, 1000, True)])
    trace.slice(5_000_000, 5_004_000, "outer", 2)
    trace.defaults(track=3, clock=OWN)
    trace.begin(3, "inner")
    trace.end(4)
    profile = profile_of(trace.bytes(), tmp_path)
    assert seconds(profile) == {"outer": 4.0, "inner": 4.0}
    timeline = profile.timeline
    assert timeline is not None
    assert timeline.end - timeline.begin == 7_000  # 5,000,000 … 5,007,000


def test_names_that_are_said_once_hold_until_they_are_cleared(tmp_path: Path) -> None:
    trace = Trace()
    trace.thread(2, 1, 1)
    named = number(9, 1) + number(11, 2) + number(10, 7)
    trace.packet(number(8, 10) + data(11, named) + data(12, data(2, number(1, 7) + text(2, "solve"))))
    trace.end(20, 2)
    trace.packet(number(8, 30) + data(11, named) + number(13, 1))
    trace.end(50, 2)
    assert seconds(profile_of(trace.bytes(), tmp_path)) == {"solve": 0.01, "[unnamed]": 0.02}


def test_whole_slices_of_older_writers_are_read(tmp_path: Path) -> None:
    trace = Trace()
    trace.thread(2, 1, 1)
    legacy = number(2, ord("X")) + number(3, 25)
    trace.packet(number(8, 1000) + data(11, number(11, 2) + text(23, "Layout") + data(6, legacy)))
    assert seconds(profile_of(trace.bytes(), tmp_path)) == {"Layout": 25.0}


def test_tracks_of_no_thread_count_only_where_there_are_no_threads(tmp_path: Path) -> None:
    trace = Trace()
    trace.process(1, 77, "app")
    trace.track(8, "phases", above=1)
    trace.slice(0, 9_000, "set-up", 8)
    assert seconds(profile_of(trace.bytes(), tmp_path)) == {"set-up": 9.0}
    trace.thread(2, 77, 77, above=1)
    trace.slice(0, 5_000, "main", 2)
    profile = profile_of(trace.bytes(), tmp_path)
    assert seconds(profile) == {"main": 5.0}
    assert "1 events on tracks of no thread are excluded." in profile.caveats


def test_what_is_open_at_the_end_and_what_is_not_read_is_told(tmp_path: Path) -> None:
    trace = heat(1)
    trace.begin(1_000_200_000, "finish", 2)
    trace.end(1_000_300_000, 3)
    trace.packet(number(8, 5) + data(66, number(1, 0)))
    trace.packet(data(11, number(9, 1)))
    trace.packet(number(8, 5) + data(11, b"\xff"))
    profile = profile_of(trace.bytes() + b"\0\x0a\x7f", tmp_path)
    assert seconds(profile)["finish"] == 100.0
    for words in (
        "1 events that never end", "1 events without a matching begin", "1 packets with samples of perf",
        "1 events without a time", "1 events in damaged packets", "ends in the middle",
    ):  # fmt: skip
        assert any(words in caveat for caveat in profile.caveats), words


def test_a_trace_without_slices_says_so(tmp_path: Path) -> None:
    trace = Trace()
    trace.packet(number(8, 5) + data(1, number(1, 0)))
    profile = profile_of(trace.bytes(), tmp_path)
    assert profile.insufficient
    assert "1 packets with events of the Linux kernel were not read." in profile.caveats


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"\n\n\n\n\n\n", b"\n#include <stdio.h>\n", bytes(200), b"\x0a\x03\x08\xff\x01" * 9, b'{"a": 1}'],
)
def test_what_only_looks_like_it_is_not_recognised(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(content)
    assert not ADAPTER.recognises(Glance(tmp_path / "a"))


def test_a_first_packet_of_any_length_is_recognised(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(data(1, data(50, bytes(100_000))))
    (tmp_path / "b").write_bytes(data(1, data(51, bytes(100_000))))
    assert ADAPTER.recognises(Glance(tmp_path / "a"))
    assert not ADAPTER.recognises(Glance(tmp_path / "b"))


def bomb_of_packets() -> bytes:
    """Ten packets that unpack to 20 MB each."""
    inner = data(1, number(8, 1) + text(99, "x" * 20_000_000))
    return data(1, number(10, 1) + data(50, zlib.compress(inner, 9))) * 10


def bomb_in_a_bomb() -> bytes:
    """Packets in packets in packets, each a hundred times."""
    content = heat(1).bytes()
    for _ in range(4):
        content = data(1, data(50, zlib.compress(content * 100, 9)))
    return content + heat(1).bytes()


@pytest.mark.parametrize(("bomb", "refused"), [(bomb_of_packets, True), (bomb_in_a_bomb, False)])
def test_a_bomb_ends_soon_and_within_bounds(bomb: Callable[[], bytes], refused: bool, tmp_path: Path) -> None:
    content = bomb()
    (tmp_path / "a").write_bytes(content)
    tracemalloc.start()
    began = time.process_time()
    with pytest.raises(AdapterError, match="unpack to too many bytes") if refused else nullcontext():
        chathpc.load(tmp_path / "a")
    assert time.process_time() - began < 5
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < packed.UNPACKED + packed.UNPACKED_PER_BYTE * len(content) + (40 << 20)


def test_many_slices_with_one_long_name_share_it(tmp_path: Path) -> None:
    trace = Trace()
    trace.thread(2, 1, 1)
    trace.packet(data(12, data(2, number(1, 1) + text(2, "x" * 1_000_000))))
    for at in range(5_000):
        trace.packet(number(8, 2 * at) + data(11, number(9, 1) + number(11, 2) + number(10, 1)))
        trace.end(2 * at + 1, 2)
    began = time.process_time()
    profile = profile_of(trace.bytes(), tmp_path)
    assert profile.total("calls.count") == 5_000
    assert time.process_time() - began < 3


def test_tracks_that_are_above_each_other_end(tmp_path: Path) -> None:
    trace = Trace()
    trace.track(8, "a", above=9)
    trace.track(9, "b", above=8)
    trace.slice(0, 9_000, "loop", 8)
    assert seconds(profile_of(trace.bytes(), tmp_path)) == {"loop": 9.0}
