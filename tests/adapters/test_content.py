"""Whole files: compressed, encoded or damaged in any way, within bounds."""

from __future__ import annotations

import errno
import gzip
import json
import os
import time
import zlib
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chathpc.adapters import content
from chathpc.adapters.content import parse_json, read_bytes, read_json, read_text
from chathpc.errors import AdapterError

HERE = Path("profile.json")


def saved(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_a_plain_file_is_read_as_it_is(tmp_path: Path) -> None:
    assert read_bytes(saved(tmp_path / "a", b"\x00\xffabc")) == b"\x00\xffabc"
    assert read_bytes(saved(tmp_path / "b", b"")) == b""


def test_gzip_is_told_by_content_not_by_name(tmp_path: Path) -> None:
    assert read_bytes(saved(tmp_path / "a.json", gzip.compress(b"abc"))) == b"abc"
    assert read_bytes(saved(tmp_path / "b.gz", b"abc")) == b"abc"


def test_a_file_too_large_is_refused_unread(tmp_path: Path) -> None:
    path = saved(tmp_path / "a", b"abc")
    with pytest.raises(AdapterError, match="3 bytes; at most 2"):
        read_bytes(path, largest=2)
    os.truncate(path, 1 << 40)  # a sparse file
    with pytest.raises(AdapterError, match="at most"):
        read_text(path)


def test_what_is_no_file_is_an_error(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "missing", tmp_path, tmp_path / "pipe", Path("/dev/zero"), tmp_path / "a\0b"):
        with pytest.raises(AdapterError):
            read_bytes(path)


def test_an_unreadable_file_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object) -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    path = saved(tmp_path / "a", b"abc")
    monkeypatch.setattr(content, "_no_wait", denied)  # the file's own permissions do not bind root
    with pytest.raises(AdapterError, match="denied"):
        read_bytes(path)


def test_too_little_memory_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> bytes:
        raise MemoryError

    path = saved(tmp_path / "a", gzip.compress(b"abc"))
    monkeypatch.setattr(content, "unpack", full)
    with pytest.raises(AdapterError, match="memory"):
        read_bytes(path)
    monkeypatch.setattr(json, "loads", full)
    with pytest.raises(AdapterError, match="memory"):
        parse_json("{}", HERE)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("a→b".encode(), "a→b"),
        ("\ufeffa→b".encode(), "a→b"),
        ("\ufeffa→b".encode("utf-16-le"), "a→b"),
        ("\ufeffa→b".encode("utf-16-be"), "a→b"),
        ("\ufeffab".encode("utf-16-le")[:-1], "a\N{REPLACEMENT CHARACTER}"),
        (b"a\xffb", "a\N{REPLACEMENT CHARACTER}b"),
        (b"\xff\xfe\x00\xd8", "\N{REPLACEMENT CHARACTER}"),
        (b"", ""),
    ],
)
def test_text_of_any_encoding_is_read(tmp_path: Path, data: bytes, text: str) -> None:
    assert read_text(saved(tmp_path / "a", data)) == text
    assert read_text(saved(tmp_path / "b", gzip.compress(data))) == text


def test_json_is_read_whatever_it_is_wrapped_in(tmp_path: Path) -> None:
    value = {"name": "é", "values": [1, 2.5, None]}
    text = json.dumps(value, ensure_ascii=False)
    for data in (text.encode(), gzip.compress(text.encode()), ("\ufeff" + text).encode("utf-16-le")):
        assert read_json(saved(tmp_path / "a", data)) == value


@pytest.mark.parametrize("text", ["", "{", '{"a": 1,}', '{"a" 1}', "nul", "[1, 2", '"\\x"', '"a\nb"', "{} {}", "\x00"])
def test_damaged_json_is_an_error(text: str) -> None:
    with pytest.raises(AdapterError, match="damaged JSON") as caught:
        parse_json(text, HERE)
    assert caught.value.path == HERE


def test_the_place_of_damage_is_counted_in_bytes() -> None:
    with pytest.raises(AdapterError) as caught:
        parse_json('{"é→": x', HERE)
    assert caught.value.offset == len('{"é→": '.encode())


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":'])
def test_nesting_without_end_is_an_error(opening: str) -> None:
    with pytest.raises(AdapterError):
        parse_json(opening * 200_000, HERE)
    closing = "".join({"[": "]", "{": "}"}[c] for c in reversed(opening) if c in "[{")
    with pytest.raises(AdapterError, match="nested too deeply"):
        parse_json(opening * 200_000 + "1" + closing * 200_000, HERE)


def test_a_number_of_thousands_of_digits_is_an_error() -> None:
    began = time.process_time()
    with pytest.raises(AdapterError, match="damaged JSON"):
        parse_json("[" + "9" * 1_000_000 + "]", HERE)
    assert time.process_time() - began < 2
    assert parse_json("[1e999, -1e999]", HERE) == [float("inf"), float("-inf")]


def test_half_a_surrogate_pair_is_kept_for_the_adapter_to_clean() -> None:
    from chathpc.profile.text import clean

    (name,) = parse_json('["a\\ud800b"]', HERE)
    assert clean(name) == "a\N{REPLACEMENT CHARACTER}b"
    with pytest.raises(AdapterError, match="damaged JSON"):
        parse_json("\ud800" + "{", HERE)


@settings(max_examples=200)
@given(st.binary(max_size=200))
def test_any_bytes_are_text_and_json_or_an_error(data: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        for k, stored in enumerate((data, b"\x1f\x8b" + data, b"\x1f\x8b\x08\x00" + data, zlib.compress(data))):
            path = saved(Path(folder) / str(k), stored)
            for read in (read_text, read_json):
                with suppress(AdapterError):
                    read(path)
