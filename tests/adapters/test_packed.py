"""Packed data of every kind is unpacked within the same bounds, and every format is read from it."""

from __future__ import annotations

import gzip
import lzma
import os
import struct
import sys
import time
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chathpc
from chathpc.adapters import packed
from chathpc.adapters.glance import HEAD, Glance
from chathpc.adapters.packed import PACKINGS, packing_of, unpack
from chathpc.errors import AdapterError
from tests.adapters import mutations
from tests.adapters.packings import PACKERS
from tests.adapters.samples.nsight_systems import write_samples

HERE = Path("profile.json")
every_packing = pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)
needs_zstd = pytest.mark.skipif("zstd" not in PACKERS, reason="needs the extra zstd")
#: A frame of zstd that is skipped, and an empty one with a window of 2^31 bytes (RFC 8878, 3.1.1 and 3.1.2).
SKIPPED = b"\x50\x2a\x4d\x18" + struct.pack("<I", 4) + b"abcd"
WIDE = b"\x28\xb5\x2f\xfd" + bytes([0x00, (31 - 10) << 3]) + b"\x01\x00\x00"


def saved(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.binary(max_size=300), st.integers(1, 4_000), st.integers(0, 9)), max_size=6),
    st.binary(max_size=20),
)
def test_any_members_unpack_as_gzip_unpacks_them(parts: list[tuple[bytes, int, int]], rest: bytes) -> None:
    whole = b"".join(part * times for part, times, _ in parts)
    data = b"".join(gzip.compress(part * times, level) for part, times, level in parts)
    assert gzip.decompress(data) == whole
    if data and not rest.startswith(b"\x1f\x8b"):
        data += rest  # gzip ignores what is no member
        assert unpack(data, HERE) == whole


@every_packing
@pytest.mark.parametrize("piece", [1, 7, 1 << 10])
def test_pieces_of_any_size_make_the_same(
    pack: Callable[[bytes], bytes], piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = os.urandom(5_000) + bytes(50_000) + os.urandom(100)
    monkeypatch.setattr(packed, "PIECE", piece)
    monkeypatch.setattr(packed, "FEED", 3)
    assert unpack(pack(data) + pack(b"") + pack(data), HERE) == data + data


@every_packing
def test_the_beginning_is_seen_before_all_is_unpacked(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    data = b'{"traceEvents": [' + os.urandom(4 * HEAD)
    look = Glance(saved(tmp_path / "a", pack(data)))
    assert look.content == data[:HEAD]
    many = Glance(saved(tmp_path / "b", pack(b"") + pack(b"ab") + pack(b"c") + b"no member"))
    assert many.content == b"abc"


@every_packing
@pytest.mark.parametrize("cut", [7, 11, 30, -9, -1])
def test_what_is_cut_off_is_an_error(pack: Callable[[bytes], bytes], cut: int) -> None:
    with pytest.raises(AdapterError, match="too early"):
        unpack(pack(os.urandom(5_000))[:cut], HERE)


@every_packing
def test_every_damaged_byte_ends_in_data_or_an_error(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    data = pack(b"the quick brown fox " * 20)
    for position in range(len(data)):
        damaged = bytearray(data)
        damaged[position] ^= 0xFF
        with suppress(AdapterError):
            unpack(bytes(damaged), HERE)
        assert isinstance(Glance(saved(tmp_path / "a", bytes(damaged))).content, bytes)


@every_packing
def test_a_bomb_is_refused_before_it_fills_the_memory(
    pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(packed, "UNPACKED", 1 << 20)
    bomb = pack(bytes(64 << 20))
    path = saved(tmp_path / "a", bomb)
    tracemalloc.start()
    for read in (chathpc.load, lambda path: unpack(bomb, path)):
        with pytest.raises(AdapterError, match="times its size"):
            read(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 40 << 20


@every_packing
def test_a_bomb_in_many_members_is_refused(
    pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(packed, "UNPACKED", 1 << 20)
    with pytest.raises(AdapterError, match="times its size"):
        unpack(pack(bytes(1 << 20)) * 20, HERE)
    nothing = saved(tmp_path / "a", pack(b"") * 60_000)
    began = time.process_time()
    with pytest.raises(AdapterError, match="members"):
        chathpc.load(nothing)
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("bomb", "words"),
    [
        (
            lzma.compress(b"a", filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 30}]),
            "damaged xz data: Memory usage",
        ),
        pytest.param(WIDE, "damaged zstd data: .*too much memory", marks=needs_zstd),
    ],
    ids=["xz", "zstd"],
)
def test_what_asks_for_gigabytes_to_look_back_on_is_refused(bomb: bytes, words: str) -> None:
    with pytest.raises(AdapterError, match=words):
        unpack(bomb, HERE)


@needs_zstd
def test_frames_that_are_skipped_may_come_first() -> None:
    assert unpack(SKIPPED + PACKERS["zstd"](b"abc") + SKIPPED + PACKERS["zstd"](b"d"), HERE) == b"abcd"


def test_a_highly_compressible_small_file_is_no_bomb() -> None:
    assert len(unpack(gzip.compress(bytes(8 << 20)), HERE)) == 8 << 20


def test_unpacking_holds_the_result_about_once() -> None:
    data = os.urandom(1 << 20) * 16
    whole = gzip.compress(data, 1)
    tracemalloc.start()
    assert len(unpack(whole, HERE)) == len(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.4 * len(data) + (8 << 20)


@every_packing
@pytest.mark.parametrize("format", mutations.formats())
def test_every_format_is_read_packed(pack: Callable[[bytes], bytes], format: str, tmp_path: Path) -> None:
    if format == "otf2":
        pytest.importorskip("otf2", reason="needs the package otf2")
    for base in mutations.write_bases(format, tmp_path / "bases"):
        if base.is_dir() or packing_of(base.read_bytes()) is not None:
            continue
        path = saved(base.with_name(f"{base.name}.gz"), pack(base.read_bytes()))
        plain, profile = chathpc.load(base), chathpc.load(path)
        assert profile.format == plain.format
        assert profile.title.partition(".")[0] == plain.title.partition(".")[0]
        assert {name: profile.total(name) for name in profile.metrics} == {
            name: plain.total(name) for name in plain.metrics
        }
        assert [source.path for source in profile.sources] == [path]
        return  # one of each format


def test_a_file_in_a_format_of_its_own_is_told_by_the_name_that_was_given(tmp_path: Path) -> None:
    database = write_samples(tmp_path)[0]
    damaged = database.read_bytes()[:5000]
    path = saved(tmp_path / "run.sqlite.gz", gzip.compress(damaged))
    with pytest.raises(AdapterError) as caught:
        chathpc.load(path)
    assert caught.value.path == path
    assert str(path) in caught.value.message
    assert "chathpc-unpacked" not in str(caught.value)


def test_where_nothing_unpacks_it_the_remedy_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("compression", "compression.zstd", "backports", "backports.zstd", "lzma"):
        monkeypatch.setitem(sys.modules, name, None)
    for data, remedy in (
        (WIDE, "pip install 'chathpc[zstd]', or unpack it with zstd -d"),
        (lzma.compress(b"a"), "unpack it with xz -d"),
    ):
        with pytest.raises(AdapterError, match="which is not supported here") as caught:
            chathpc.load(saved(tmp_path / "a", data))
        assert remedy in caught.value.hint


def test_packings_are_told_apart() -> None:
    names = [packing_of(data).name for data in (gzip.compress(b""), lzma.compress(b""), WIDE, SKIPPED)]  # type: ignore[union-attr]
    assert names == ["gzip", "xz", "zstd", "zstd"]
    assert packing_of(b"") is None
    assert [packing.name for packing in PACKINGS] == ["gzip", "xz", "zstd"]
