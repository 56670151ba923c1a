"""The header policy of each file of a database, and reads that never leave a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from chathpc.adapters.hpctoolkit import read
from chathpc.adapters.hpctoolkit import structures as st
from chathpc.adapters.hpctoolkit.binary import LONGEST_STRING, DatabaseFile
from chathpc.errors import AdapterError
from tests.adapters.hpctoolkit.bombs import File
from tests.synthetic import programs
from tests.synthetic.hpctoolkit_v4 import TIME, Options, write
from tests.synthetic.v4_meta import Shape

FILES = ("meta.db", "profile.db", "cct.db", "trace.db")
NEEDED = FILES[:2]
each_file = pytest.mark.parametrize("name", FILES)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return write(tmp_path / "db", programs.small()).path


def expect_refusal(database: Path, name: str, words: str) -> AdapterError:
    """The file is refused with `words`; so is the database if the file is needed, else a caveat says why it is not used."""
    with pytest.raises(AdapterError, match=words) as caught:
        DatabaseFile(database / name)
    assert caught.value.path == database / name
    assert caught.value.hint
    if name in NEEDED:
        with pytest.raises(AdapterError, match=words):
            read(database)
    else:
        profile = read(database)
        assert any(caveat.startswith(f"{name} cannot be used") for caveat in profile.caveats)
        assert profile.total(TIME) == 20.875  # by hand, from the seconds in programs.small
        assert profile.location_totals(TIME).tolist() == [7.875, 13.0]
    return caught.value


@each_file
@pytest.mark.parametrize("length", [0, 7, 15, 0x1F])
def test_a_file_that_ends_inside_its_header_is_refused(database: Path, name: str, length: int) -> None:
    (database / name).write_bytes((database / name).read_bytes()[:length])
    expect_refusal(database, name, "ends inside its header")


@each_file
def test_a_file_that_was_cut_off_is_refused(database: Path, name: str) -> None:
    data = (database / name).read_bytes()
    (database / name).write_bytes(data[: len(data) - 20])
    error = expect_refusal(database, name, "does not end with")
    assert error.offset == len(data) - 28


@each_file
def test_a_file_of_another_magic_is_refused(database: Path, name: str) -> None:
    with File(database / name) as file:
        file.data[:10] = b"HPCTOOLBOX"
    expect_refusal(database, name, "not an HPCToolkit database file")


@each_file
def test_a_file_of_another_kind_is_refused_with_both_kinds(database: Path, name: str) -> None:
    with File(database / name) as file:
        file.data[10:14] = b"tra\x1b"
    expect_refusal(database, name, f"holds 'tra\N{REPLACEMENT CHARACTER}' where '{st.FILES[name][0].decode()}'")


@each_file
@pytest.mark.parametrize("major", [3, 5])
def test_a_file_of_another_major_version_is_refused(database: Path, name: str, major: int) -> None:
    with File(database / name) as file:
        file.data[14] = major
    expect_refusal(database, name, rf"format version {major}\.0, and chathpc reads 4\.x")


@each_file
def test_a_file_of_a_newer_minor_version_is_read_with_one_caveat(database: Path, name: str) -> None:
    with File(database / name) as file:
        file.data[15] = 3
    assert DatabaseFile(database / name).newer
    profile = read(database)
    assert [c for c in profile.caveats if "newer" in c] == [
        "Format 4.3 is newer than chathpc knows (4.0); what is new in it was not read."
    ]
    assert profile.total(TIME) == 20.875


def test_structures_that_a_newer_version_made_longer_are_read_by_their_stride(tmp_path: Path) -> None:
    plain = read(write(tmp_path / "plain", programs.small()).path)
    grown = read(write(tmp_path / "grown", programs.small(), Options(Shape(minor=1, grow=24))).path)
    assert grown.format == "HPCToolkit v4.1"
    assert sum("newer" in caveat for caveat in grown.caveats) == 1
    for column in ("parent", "end", "kind", "relation", "name", "file", "line", "module", "offset", "source_id"):
        np.testing.assert_array_equal(getattr(grown.tree, column), getattr(plain.tree, column))
    nodes = np.arange(len(plain.tree), dtype=np.int32)
    for metric in plain.metrics:
        np.testing.assert_array_equal(
            grown.values.per_location(metric, nodes), plain.values.per_location(metric, nodes)
        )
    assert plain.timeline is not None
    assert grown.timeline is not None
    assert [lane.node.tolist() for lane in grown.timeline.lanes] == [
        lane.node.tolist() for lane in plain.timeline.lanes
    ]


@pytest.mark.parametrize(("name", "byte"), [("meta.db", 0x0C), ("profile.db", 0x0C)])
def test_a_stride_that_is_shorter_than_its_structure_is_refused(database: Path, name: str, byte: int) -> None:
    section = {"meta.db": 0x68, "profile.db": 0x18}[name]  # load modules; profiles
    with File(database / name) as file:
        file.put(file.u64(section) + byte, "B", 8)
    with pytest.raises(AdapterError, match="structures of 8 bytes where at least"):
        read(database)


def test_the_development_version_without_meta_db_is_called_by_its_name(database: Path) -> None:
    (database / "profile.db").write_bytes(b"HPCPROF-profdb__" + bytes(100))
    (database / "meta.db").unlink()
    with pytest.raises(AdapterError, match="pre-release layout") as caught:
        read(database)
    assert "2022.10" in caught.value.hint


@pytest.mark.parametrize("name", NEEDED)
def test_a_pointer_into_the_header_is_refused(database: Path, name: str) -> None:
    section = {"meta.db": 0x48, "profile.db": 0x18}[name]
    with File(database / name) as file:
        file.put(file.u64(section), "Q", 8)
    with pytest.raises(AdapterError, match="points into the file's own header"):
        read(database)


def test_a_section_that_is_too_small_for_its_header_is_refused(database: Path) -> None:
    with File(database / "meta.db") as file:
        file.put(0x40, "Q", 4)
    with pytest.raises(AdapterError, match="too small for its header"):
        read(database)


@each_file
@pytest.mark.parametrize(("size", "offset"), [(0x20, 1 << 62), (1 << 62, 0x80), ((1 << 64) - 1, (1 << 64) - 1)])
def test_a_section_beyond_the_end_of_the_file_is_refused(database: Path, name: str, size: int, offset: int) -> None:
    with File(database / name) as file:
        file.put(0x10, "QQ", size, offset)
    expect_refusal(database, name, "section reaches beyond the end of the file")


def test_a_section_header_at_the_very_end_of_the_file_is_refused(database: Path) -> None:
    # Its fields fit into the section, its padding does not fit into the file.
    with File(database / "profile.db") as file:
        file.put(0x10, "QQ", 0x0D, len(file.data) - 0x0D)
    with pytest.raises(AdapterError, match="section header reaches beyond the end of the file"):
        read(database)


def test_strings_are_read_whole_and_only_up_to_the_end_of_the_file(database: Path) -> None:
    path = database / "trace.db"
    texts = [b"", b"short", b"x" * 63, b"y" * 64, b"z" * 5000, "résumé".encode(), b"\xff\xfe\x07"]
    start = path.stat().st_size - 8
    image = path.read_bytes()[:start] + b"\0".join(texts) + b"\0no end" + b"trace.db"
    path.write_bytes(image)
    file = DatabaseFile(path)
    places = [image.index(text + b"\0", start) for text in texts[1:]]
    assert [file.string(place) for place in places] == ["short", "x" * 63, "y" * 64, "z" * 5000, "résumé", "\ufffd" * 3]
    with pytest.raises(AdapterError, match="no end"):
        file.string(len(image) - 12)
    for outside in (0, len(image), 1 << 40):
        with pytest.raises(AdapterError, match="outside the file"):
            file.string(outside)


def test_a_string_longer_than_a_mebibyte_is_damage(database: Path) -> None:
    path = database / "trace.db"
    start = path.stat().st_size - 8
    path.write_bytes(path.read_bytes()[:-8] + b"a" * (8 * LONGEST_STRING) + b"\0" + b"trace.db")
    with pytest.raises(AdapterError, match="longer than 1 MiB"):
        DatabaseFile(path).string(start)


@each_file
def test_a_missing_permission_or_file_is_told_in_the_words_of_the_system(database: Path, name: str) -> None:
    (database / name).unlink()
    with pytest.raises(AdapterError, match="No such file or directory") as caught:
        DatabaseFile(database / name)
    assert "permissions" in caught.value.hint


def test_a_count_beyond_the_end_of_the_file_is_refused_before_it_is_read(database: Path) -> None:
    file = DatabaseFile(database / "profile.db")
    size = len(file.data)
    assert len(file.array(size - 0x30, st.PROFILE, 1)) == 1
    for offset, count in ((size - 0x2F, 1), (0x10, size), (0x10, -1), (1 << 62, 1)):
        with pytest.raises(AdapterError, match="do not fit into the file"):
            file.array(offset, st.PROFILE, count)
    assert len(file.array(1 << 62, st.PROFILE, 0)) == 0
