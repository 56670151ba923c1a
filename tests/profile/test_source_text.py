"""Source text of places: which file a recorded path means, and where it may come from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chathpc
from chathpc.profile import source_text
from chathpc.profile.source_text import (
    Provenance,
    beside,
    best_match,
    files_of,
    lines_of_source,
    no_source,
    recorded_parts,
    with_sources,
)
from tests.profile.build import build, entry, line
from tests.synthetic.perf_script import Fields, heat, write

TEXT = "int main(void)\n{\n\treturn 0;\n}\n"


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "heat.c").write_text(TEXT)
    (folder / "notes.txt").write_text("secret\n")
    (tmp_path / "other.c").write_text("secret\n")
    (folder / "linked.c").symlink_to(tmp_path / "other.c")
    path = folder / "samples.txt"
    path.write_text(write(heat(), Fields(lines=True)))
    return path


@pytest.mark.parametrize("file", ["heat.c", "/opt/build/src/heat.c", "C:\\build\\heat.c", "../../heat.c"])
def test_a_file_beside_a_profile_is_found_by_the_last_part_of_its_path(profile: Path, file: str) -> None:
    found = chathpc.load(profile).read_source(file, 3, 1)
    assert found is not None
    assert (found.file, found.first, found.lines) == (file, 2, ("{", "    return 0;", "}"))


@pytest.mark.parametrize(
    "file", ["../other.c", "other.c", "linked.c", "notes.txt", "samples.txt", "", "..", "a\0.c", "run"]
)
def test_nothing_else_is_opened(profile: Path, file: str) -> None:
    assert beside(profile)(file, 1, 0) is None


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        ("\tX = 1", "      X = 1"),  # a tab leads to the statement
        ("\t1 + Y", "     1 + Y"),  # and to the mark of a continuation before a digit
        ("10\tCONTINUE", "10    CONTINUE"),
        ("      X\t= 1", "      X = 1"),
        ("C\tcomment", "C   comment"),
    ],
)
def test_tabs_in_fixed_form_lead_to_the_columns_of_statements(line: str, seen: str) -> None:
    assert lines_of_source("a.f", line) == [seen]
    assert lines_of_source("a.f90", line) == [line.expandtabs(4)]


PARTS = st.lists(st.sampled_from(["a", "b", "src"]), max_size=4)


@given(recorded=PARTS, candidates=st.lists(st.tuples(PARTS, st.sampled_from("123")), max_size=6))
def test_the_longest_common_end_is_that_of_a_naive_search(
    recorded: list[str], candidates: list[tuple[list[str], str]]
) -> None:
    path = [*recorded, "x.c"]
    paths = [[*folders, "x.c"] for folders, _ in candidates]
    expected = None
    for length in range(len(path), 0, -1):  # the longest end that any candidate ends with
        fitting = [at for at, one in enumerate(paths) if one[-length:] == path[-length:] and len(one) >= length]
        if fitting:
            if len({candidates[at][1] for at in fitting}) == 1:
                expected = fitting[0]
            break
    assert best_match(path, paths, [file for _, file in candidates]) == expected


@pytest.mark.parametrize(
    ("recorded", "parts"),
    [
        ("/a/b/x.c", ["a", "b", "x.c"]),
        ("a/../b/x.c", ["b", "x.c"]),
        ("../../x.c", ["x.c"]),
        ("..", []),
        ("./a//x.c", ["a", "x.c"]),
        ("C:\\a\\x.c", ["C:", "a", "x.c"]),
        ("", []),
    ],
)
def test_a_recorded_path_is_taken_apart(recorded: str, parts: list[str]) -> None:
    assert recorded_parts(recorded) == parts


def test_a_link_to_a_file_that_is_below_the_folder_too_is_that_file(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    (tmp_path / "one" / "x.c").write_text("text")
    (tmp_path / "two" / "x.c").symlink_to("../one/x.c")
    assert with_sources(no_source, below=tmp_path)("x.c", 1, 0) is not None
    (tmp_path / "two" / "x.c").unlink()
    (tmp_path / "two" / "x.c").write_text("text")
    assert with_sources(no_source, below=tmp_path)("x.c", 1, 0) is None
    found = with_sources(no_source, below=tmp_path)("/elsewhere/two/x.c", 1, 0)
    assert found is not None


@pytest.mark.parametrize(("measured", "provenance"), [(True, Provenance.PROFILE), (False, Provenance.FOUND)])
def test_a_file_beside_a_profile_is_its_own_where_chathpc_measure_put_it_there(
    profile: Path, measured: bool, provenance: Provenance
) -> None:
    if measured:
        (profile.parent / "measure.json").write_text("{}")
    found = chathpc.load(profile).read_source("heat.c", 1, 0)
    assert found is not None
    assert found.provenance == provenance


def test_the_working_folder_is_not_searched_until_a_file_is_sought(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[Path] = []
    monkeypatch.setattr(source_text, "source_files", lambda root, bounds: searched.append(root) or [])
    reader = with_sources(no_source, below=tmp_path)
    assert reader("/etc/passwd", 1, 0) is None
    assert searched == []
    assert reader("a.c", 1, 0) is None
    assert reader("b.c", 1, 0) is None
    assert searched == [tmp_path]


def test_what_others_are_shown_has_no_arguments_of_the_program() -> None:
    profile = replace(
        build(entry("<program root>", line("a.c:1", time=1.0))), run={"command": "./solve --user me", "seconds": "2"}
    )
    assert profile.only_shown().run == {"seconds": "2"}


def test_files_of_one_name_are_told_where_none_of_them_can_be_chosen(tmp_path: Path) -> None:
    for name in ("mpi", "omp"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.c").write_text("int a;\n")
    (tmp_path / "b.c").write_text("int b;\n")
    files = files_of(with_sources(no_source, [tmp_path]))
    assert (files("a.c", 1, 0), files.rivals("a.c")) == (None, ["mpi/a.c", "omp/a.c"])
    for known in ("src/omp/a.c", "b.c"):
        assert files(known, 1, 0) is not None
        assert files.rivals(known) == []


def test_of_files_of_one_name_that_in_the_named_folder_itself_is_meant(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "a.c").write_text("int old;\n")
    (tmp_path / "a.c").write_text("int now;\n")
    files = files_of(with_sources(no_source, [tmp_path]))
    shown = [each and each.lines for each in (files("a.c", 1, 0), files("old/a.c", 1, 0), files("new/a.c", 1, 0))]
    assert shown == [("int now;",), ("int old;",), None]
    assert (files.rivals("a.c"), sorted(files.rivals("new/a.c"))) == ([], ["a.c", "old/a.c"])
    assert files_of(with_sources(no_source, below=tmp_path))("a.c", 1, 0) is None
