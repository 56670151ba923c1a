"""The forms of gperftools: words of CPU profiles, texts of heap, contention and counts."""

from __future__ import annotations

from math import exp
from pathlib import Path

import pytest

from chathpc.adapters.pprof import ADAPTER, read
from chathpc.adapters.pprof.legacy import layout
from chathpc.errors import AdapterError
from tests.adapters.opened import opened
from tests.synthetic.pprof import MAPS, gperftools, heap

RECORDS = ((30, (0x402000, 0x401000)), (20, (0x7F05, 0x7F05, 0x401000)), (50, (0x401000,)))


def written(folder: Path, data: bytes | str) -> Path:
    (folder / "x").write_bytes(data.encode() if isinstance(data, str) else data)
    return folder / "x"


@pytest.mark.parametrize("words", ["<Q", "<I", ">Q", ">I"])
def test_words_of_every_size_and_order(words: str, tmp_path: Path) -> None:
    profile = opened(ADAPTER, written(tmp_path, gperftools(RECORDS, words=words, maps=MAPS)))
    assert profile.total("cpu.samples") == 100
    assert profile.total("cpu.time") == pytest.approx(1.0)
    assert profile.sample_count == 100
    tree = profile.tree
    assert sorted(tree.label(node) for node in range(len(tree))) == ["heat+0x2000", "heat+0x3000", "libc.so.6+0x5"]
    assert tree.module_name(0) == "/opt/heat"
    table = profile.table("module", "cpu.samples")
    modules = dict(zip(table["name"], table["exclusive"], strict=True))
    assert [value for name, value in modules.items() if name.endswith("libc.so.6")] == [20]


def test_without_a_map_addresses_stay_what_they_are(tmp_path: Path) -> None:
    profile = opened(ADAPTER, written(tmp_path, gperftools(RECORDS)))
    assert "unknown module+0x401000" in [profile.tree.label(node) for node in range(len(profile.tree))]


def test_a_file_without_its_end_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    profile = opened(ADAPTER, written(tmp_path, gperftools(RECORDS, end=False)))
    assert profile.total("cpu.samples") == 100
    assert "The end of the file is missing" in profile.caveats[0]


def test_symbols_at_the_end_are_used(tmp_path: Path) -> None:
    table = "0x402000 com.example.Grid.solve (Grid.java:12)\n0x401000 main\n"
    profile = opened(ADAPTER, written(tmp_path, gperftools(RECORDS, maps=table)))
    assert [profile.tree.label(node) for node in range(3)] == ["main", "com.example.Grid.solve", "Grid.java:12"]


@pytest.mark.parametrize("record", [(5, 0), (5, 1 << 40), (1, 3)])
def test_records_beyond_the_end_are_refused(record: tuple[int, int], tmp_path: Path) -> None:
    data = gperftools(RECORDS, end=False) + b"".join(n.to_bytes(8, "little") for n in (*record, 7))
    with pytest.raises(AdapterError, match="frames") as caught:
        read(written(tmp_path, data))
    assert caught.value.offset == len(data) - 24


def test_the_header_tells_the_layout() -> None:
    assert layout(gperftools(RECORDS)) == "<u8"
    assert layout(bytes(200)) is None
    assert layout(b"\0" * 8 + b"\3" + b"\0" * 7) is None


def test_heap_texts_are_scaled_to_what_was_not_sampled(tmp_path: Path) -> None:
    rows = [((2, 2048, 5, 5120), (0x402000, 0x401000)), ((0, 0, 1, 1 << 20), ())]
    plain = opened(ADAPTER, written(tmp_path, heap(rows, "heapprofile") + "MAPPED_LIBRARIES:\n" + MAPS))
    assert plain.total("memory.in-use.bytes") == 2048
    assert plain.total("memory.in-use.count") == 2
    assert plain.total("memory.allocated.bytes") == 5120 + (1 << 20)
    for kind, rate in (("heap_v2/524288", 524288), ("heap/1048576", 524288)):
        profile = opened(ADAPTER, written(tmp_path, heap(rows, kind)))
        assert profile.total("memory.in-use.bytes") == pytest.approx(2048 / (1 - exp(-1024 / rate)))
        assert profile.total("memory.allocated.count") == pytest.approx(
            5 / (1 - exp(-1024 / rate)) + 1 / (1 - exp(-(1 << 20) / rate))
        )
    assert "host time" in plain.not_collected
    assert any("has no information about time" in caveat for caveat in plain.caveats)


def test_contention_is_time_waited_for_locks(tmp_path: Path) -> None:
    java = "--- contentionz 1 ---\nformat = java\nresolution = microseconds\nsampling period = 100\n"
    java += " 14 1 @ 0x1 0x2\n 2 3 @ 0x3\n\n 0x1 a.b.Lock.take (Lock.java:7)\n"
    profile = opened(ADAPTER, written(tmp_path, java))
    assert profile.total("lock.wait.time") == pytest.approx(1600e-6)
    assert profile.total("lock.wait.count") == 400
    assert "a.b.Lock.take" in profile.tree.names
    native = "--- contention:\ncycles/second = 2000000000\nsampling period = 10\n400 2 @ 0x1\n"
    profile = opened(ADAPTER, written(tmp_path, native))
    assert profile.total("lock.wait.time") == pytest.approx(400 * 10 / 2e9)
    unknown = opened(ADAPTER, written(tmp_path, "--- mutex:\n400 2 @ 0x1\n"))
    assert unknown.total("lock.wait.count") == 2
    assert "lock.wait.time" not in unknown.metrics


def test_counts_of_goroutines(tmp_path: Path) -> None:
    profile = opened(ADAPTER, written(tmp_path, "goroutine profile: total 5\n3 @ 0x1 0x2\n2 @ 0x3\n"))
    assert profile.total("other.goroutine") == 5


@pytest.mark.parametrize(
    "text",
    ["heap profile: 0: 0 [0: 0] @ heap/1\n", "--- contention:\n", "goroutine profile: total 0\n", "--- heapz 1 ---\n"],
)
def test_texts_without_a_stack_are_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(AdapterError) as caught:
        read(written(tmp_path, text))
    assert caught.value.hint
