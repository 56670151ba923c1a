"""The message of profile.proto, written by an encoder of our own."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chathpc.adapters.glance import Glance
from chathpc.adapters.pprof import ADAPTER, looks_like_profile, read
from chathpc.adapters.protobuf import Damaged, fields, signed, varint
from chathpc.errors import AdapterError
from chathpc.pipeline import explain
from chathpc.profile.metric import Clock, Unit
from chathpc.profile.tree import NodeKind
from tests.adapters.opened import opened
from tests.synthetic import pprof
from tests.synthetic.pprof import HOT, SAMPLES, TYPES, Line, Location, message


def written(folder: Path, data: bytes, *, packed: bool = False) -> Path:
    (folder / "cpu.pb").write_bytes(gzip.compress(data, mtime=0) if packed else data)
    return folder / "cpu.pb"


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("zipped", [True, False])
def test_stacks_lines_and_inlined_functions(packed: bool, zipped: bool, tmp_path: Path) -> None:
    profile = opened(ADAPTER, written(tmp_path, message(TYPES, SAMPLES, HOT, packed=packed), packed=zipped))
    assert profile.total("cpu.time") == pytest.approx(5.0)
    assert profile.metrics["cpu.time"].clock == Clock.CPU
    assert profile.sample_count == 500
    functions = profile.table("function", "cpu.time").set_index("name")["inclusive"]
    assert functions["main.solve"] == pytest.approx(5.0)
    lines = profile.table("line", "cpu.time").groupby("line")["exclusive"].sum()
    assert {int(n): v for n, v in lines.items() if n and v} == pytest.approx({3: 3.0, 14: 1.5})
    (square,) = (n for n in range(len(profile.tree)) if profile.tree.label(n) == "main.square")
    assert profile.tree.kind[square] == NodeKind.INLINED
    (bare,) = (n for n in range(len(profile.tree)) if profile.tree.kind[n] == NodeKind.INSTRUCTION)
    assert profile.tree.label(bare) == "heat+0x5000"  # 0x404000 − start 0x400000 + file offset 0x1000
    assert any("without symbols" in caveat for caveat in profile.caveats)
    hot = explain(profile, llm="none").findings[0]
    assert (hot.where.file, hot.where.line) == ("heat.go", 3)


def test_sample_types_have_ids_and_units(tmp_path: Path) -> None:
    kinds = [
        ("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_space", "kilobytes"), ("contentions", "count"),
        ("delay", "microseconds"), ("wall", "nanoseconds"), ("cpu", "milliseconds"), ("samples", "count"),
        ("goroutine", "count"), ("", ""), ("goroutine", "count"), ("cpu", "furlongs"),
    ]  # fmt: skip
    profile = opened(ADAPTER, written(tmp_path, message(kinds, [((0,), tuple(range(1, 13)))], HOT)))
    assert {name: profile.total(name) for name in profile.metrics} == pytest.approx(
        {
            "memory.allocated.count": 1, "memory.allocated.bytes": 2, "memory.in-use.bytes": 3072, "lock.wait.count": 4,
            "lock.wait.time": 5e-6, "cpu.time.wall": 6e-9, "cpu.time": 7e-3, "cpu.samples": 8, "other.goroutine": 9,
            "other.unnamed": 10, "other.goroutine-2": 11, "other.cpu": 12,
        }
    )  # fmt: skip
    assert profile.metrics["cpu.samples"].unit == Unit.SAMPLES
    assert profile.sees_waiting


def test_a_heap_profile_has_no_time_and_concludes_nothing_about_it(tmp_path: Path) -> None:
    path = written(tmp_path, message([("inuse_space", "bytes")], [((1, 0), (4096,))], HOT))
    report = explain(opened(ADAPTER, path), llm="none")
    assert report.verdict == "insufficient-data"
    assert report.tree is not None
    assert "main.square" in [row.label for row in report.tree.rows]


def test_labels_and_comments_are_not_taken_in(tmp_path: Path) -> None:
    data = message(TYPES, SAMPLES, HOT, comments=["secret"], labels=[("user", "secret")])
    profile = opened(ADAPTER, written(tmp_path, data))
    tree = profile.tree
    assert "secret" not in repr((tree.names, tree.files, tree.modules, profile.run, profile.caveats))


def test_missing_locations_functions_and_strings_are_unknown(tmp_path: Path) -> None:
    body = pprof.data(1, pprof.number(1, 99) + pprof.number(2, 98))
    body += pprof.data(2, pprof.data(1, pprof.varint(7)) + pprof.data(2, pprof.varint(5)))
    body += pprof.data(2, pprof.data(2, pprof.varint(2)))
    body += (
        pprof.data(4, pprof.number(1, 8)) + pprof.data(6, b"") + pprof.data(2, pprof.number(1, 8) + pprof.number(2, 1))
    )
    profile = opened(ADAPTER, written(tmp_path, body))
    assert profile.total("other.unnamed") == 8
    assert set(profile.tree.names) == {"[unknown]"}
    assert profile.caveats[0] == "1 locations of its samples are missing."


def test_a_deep_recursion_is_read(tmp_path: Path) -> None:
    profile = read(written(tmp_path, message(TYPES, [((1,) * 50_000 + (0,), (5, 50))], HOT)))
    assert int(profile.tree.depth.max()) == 4 * 50_000 + 1


def test_a_location_that_unfolds_into_millions_of_contexts_is_refused(tmp_path: Path) -> None:
    wide = Location(1, tuple(Line("f", line=1 + n % 7) for n in range(2000)))
    with pytest.raises(AdapterError, match="calling contexts"):
        read(written(tmp_path, message(TYPES, [((0,) * 20_000, (1, 1))], [wide])))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (message(TYPES, SAMPLES, HOT)[:-1], "cut off"),
        (message(TYPES, [], HOT), "no sample"),
        (message([], SAMPLES, HOT), "no sample"),
        (message(TYPES, [((0,), (0, 0))], HOT), "no sample with a value"),
        (message(TYPES, SAMPLES, HOT) + b"\x00", "number 0"),
        (message(TYPES, SAMPLES, HOT) + b"\x0b", "wire type"),
        (message(TYPES, SAMPLES, HOT) + b"\xff" * 11, "too long"),
        (message(TYPES, SAMPLES, HOT) + b"\x12\xff\xff\xff\xff\x0f", "longer than"),
    ],
)
def test_damage_is_refused(data: bytes, words: str, tmp_path: Path) -> None:
    with pytest.raises(AdapterError, match=words) as caught:
        read(written(tmp_path, data))
    assert caught.value.hint


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"hello\n",
        b'{"a": 1}',
        b"\x0a\x04\x08\x01\x10\x02",
        b"\x0a\x20" + bytes(32),
        b"\x0a\x02hi" * 5,
        bytes(100),
    ],
)
def test_other_bytes_are_not_taken_for_it(data: bytes, tmp_path: Path) -> None:
    assert not ADAPTER.recognises(Glance(written(tmp_path, data)))


def test_the_wire() -> None:
    assert varint(b"\xac\x02", 0, 2) == (300, 2)
    assert signed((1 << 64) - 5) == -5
    assert list(fields(b"\x0d\x01\x00\x00\x00\x11" + bytes(8), 0, 14)) == [(1, 5, 1, 0), (2, 1, 0, 0)]
    for cut in (b"\x0d\x01", b"\x11\x00", b"\x80"):
        with pytest.raises(Damaged):
            list(fields(cut, 0, len(cut)))
    assert looks_like_profile(message(TYPES, SAMPLES, HOT)[:200], whole=False)


@given(st.integers(-(2**63), 2**63 - 1))
def test_numbers_come_back(value: int) -> None:
    encoded = pprof.varint(value)
    assert signed(varint(encoded, 0, len(encoded))[0]) == value


stacks = st.lists(
    st.tuples(
        st.lists(st.integers(0, 3), min_size=1, max_size=6).map(tuple),
        st.tuples(st.integers(1, 99), st.integers(1, 10**9)),
    ),
    min_size=1,
    max_size=15,
)


@given(stacks, st.booleans())
@settings(max_examples=50, deadline=None)
def test_any_samples_come_back(samples: list[pprof.Sample], packed: bool) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        profile = opened(ADAPTER, written(Path(folder), message(TYPES, samples, HOT, packed=packed)))
    assert profile.total("cpu.samples") == sum(values[0] for _, values in samples)
    own = Counter[str]()
    for stack, (_, time) in samples:
        inner = HOT[stack[0]].lines
        own[inner[0].name if inner else "<insn> heat"] += time * 1e-9
    table = profile.table("function", "cpu.time")
    found = {name: value for name, value in zip(table["name"], table["exclusive"], strict=True) if value}
    assert found == pytest.approx(dict(own))
