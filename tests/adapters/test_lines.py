"""Lines of text files: plain, packed, in several encodings, cut anywhere."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.adapters import lines as module
from chathpc.adapters import packed as packing
from chathpc.adapters.lines import lines
from chathpc.errors import AdapterError


def written(folder: Path, data: bytes) -> Path:
    (folder / "x.txt").write_bytes(data)
    return folder / "x.txt"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("packed", [False, True])
def test_lines_of_every_encoding(encoding: str, packed: bool, tmp_path: Path) -> None:
    text = "one é\r\ntwo\n\nfour"
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(encoding, b"")
    data = mark + text.encode(encoding)
    path = written(tmp_path, gzip.compress(data) if packed else data)
    assert list(lines(path)) == ["one é", "two", "", "four"]


@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\ufeff")), st.integers(1, 9), st.booleans()
)
def test_pieces_do_not_cut_lines_or_characters(text: str, piece: int, packed: bool) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing if packed else module, "PIECE", piece)
        data = text.encode()
        path = written(Path(folder), gzip.compress(data) if packed else data)
        assert "\n".join(lines(path)) == text.removesuffix("\n")


def test_several_members_of_gzip_are_one_text(tmp_path: Path) -> None:
    path = written(tmp_path, gzip.compress(b"a\nb") + gzip.compress(b"c\nd\n") + bytes(16))
    assert list(lines(path)) == ["a", "bc", "d"]


def test_what_is_no_text_is_replaced(tmp_path: Path) -> None:
    assert list(lines(written(tmp_path, b"a\xffb\n"))) == ["a\ufffdb"]
    assert list(lines(written(tmp_path, b""))) == []


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (gzip.compress(b"a\n" * 1000)[:-12], "ends too early"),
        (gzip.compress(b"a\n" * 1000)[:10] + b"\xff" * 30, "damaged gzip"),
        (gzip.compress(b"a\n" * (40 << 20)), "unpacks to more than"),
        (b"a" * 3000, "a line of more than"),
    ],
    ids=["cut", "noise", "bomb", "long line"],
)
def test_damage_and_bombs_are_refused(data: bytes, words: str, tmp_path: Path) -> None:
    with pytest.raises(AdapterError, match=words):
        list(lines(written(tmp_path, data), longest=2000))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AdapterError):
        list(lines(tmp_path / "nowhere"))


def test_members_without_content_are_refused_by_their_number(tmp_path: Path) -> None:
    with pytest.raises(AdapterError, match="gzip members"):
        list(lines(written(tmp_path, gzip.compress(b"") * 60_000)))
