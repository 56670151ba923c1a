"""Source files that lie beside a profile which carries no source text."""

from __future__ import annotations

from pathlib import Path

import pytest

import chathpc
from chathpc.adapters.sources import beside, lines_of_source
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
