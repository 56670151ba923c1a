from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from chathpc.errors import AdapterError, ChathpcError, UsageError
from chathpc.mcp import opened
from chathpc.mcp.opened import OpenProfiles
from tests.mcp.questions import HOSTILE, IMBALANCE, TRIANGLE
from tests.synthetic import collapsed


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder `root` with profiles, beside one that nobody named."""
    for folder in ("root/runs", "elsewhere"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "heat.folded").write_text(collapsed.write(collapsed.HEAT))
    (tmp_path / "root" / "other.folded").write_text(collapsed.write([(("main", "other"), 5)]))
    return tmp_path / "root"


def test_paths_are_views_of_one_run_and_others_are_for_comparison() -> None:
    profiles = OpenProfiles([TRIANGLE], compare=[IMBALANCE])
    assert profiles.session.measured.title == profiles.title == "stencil_omp"
    assert list(profiles.session.others) == [str(IMBALANCE)]
    assert profiles.session.paths == (TRIANGLE,)


def test_nothing_is_open_until_something_is_opened(root: Path) -> None:
    profiles = OpenProfiles(roots=[root])
    assert profiles.title == ""
    with pytest.raises(UsageError, match="No profile is open"):
        _ = profiles.session


@pytest.mark.parametrize("name", ["runs/heat.folded", "./runs/../runs/heat.folded"])
def test_a_profile_below_a_root_is_opened_by_its_relative_path(root: Path, name: str) -> None:
    assert OpenProfiles(roots=[root]).open(name).measured.total("cpu.samples") == 504


def test_a_profile_below_a_root_is_opened_by_its_absolute_path(root: Path) -> None:
    assert OpenProfiles(roots=[root]).open(str(root / "runs" / "heat.folded")).measured.total("cpu.samples") == 504


def test_what_was_open_stays_open_for_comparison_and_is_read_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []
    load = opened.load
    monkeypatch.setattr(opened, "load", lambda path, *more, **given: read.append(path) or load(path, *more, **given))
    profiles = OpenProfiles([TRIANGLE], roots=[root])
    profiles.open("other.folded")
    profiles.open("runs/heat.folded")
    session = profiles.open("other.folded")
    assert list(session.others) == [str(TRIANGLE), str(root / "runs" / "heat.folded")]
    assert session.measured.total("cpu.samples") == 5
    assert read == [TRIANGLE, root / "other.folded", root / "runs" / "heat.folded"]


def test_no_more_than_a_few_profiles_are_kept(root: Path) -> None:
    profiles = OpenProfiles(roots=[root])
    for number in range(opened.MOST_OTHERS + 4):
        (root / f"{number}.folded").write_text(collapsed.write([(("main", "f"), number + 1)]))
        session = profiles.open(f"{number}.folded")
    assert [Path(name).stem for name in session.others] == [str(n) for n in range(3, opened.MOST_OTHERS + 3)]


@pytest.mark.parametrize(
    "name",
    ["../elsewhere/heat.folded", "..", "/", "runs/../../elsewhere/heat.folded", "../root-other/heat.folded", *HOSTILE],
)
def test_nothing_outside_of_a_root_is_opened(root: Path, name: str) -> None:
    (root.parent / "root-other").mkdir()
    shutil.copy(root / "other.folded", root.parent / "root-other" / "heat.folded")
    profiles = OpenProfiles(roots=[root])
    with pytest.raises(ChathpcError) as raised:
        profiles.open(name)
    assert "elsewhere" not in raised.value.hint


@pytest.mark.parametrize("several", [False, True])
def test_the_answer_does_not_tell_whether_something_is_there_outside_of_a_root(root: Path, several: bool) -> None:
    (root.parent / "second").mkdir()
    profiles = OpenProfiles(roots=[root, root.parent / "second"] if several else [root])
    told = []
    for name in ("../elsewhere/heat.folded", "../elsewhere/nothing"):
        with pytest.raises(UsageError) as raised:
            profiles.open(name)
        told.append(str(raised.value).replace(name, ""))
    assert told[0] == told[1]


def test_a_link_out_of_the_root_is_not_followed(root: Path) -> None:
    (root / "link").symlink_to(root.parent / "elsewhere")
    (root / "file").symlink_to(root.parent / "elsewhere" / "heat.folded")
    profiles = OpenProfiles(roots=[root])
    for name in ("link", "link/heat.folded", "file"):
        with pytest.raises(UsageError, match="is nothing below"):
            profiles.open(name)


def test_a_database_with_a_link_out_of_the_root_is_not_opened(root: Path) -> None:
    shutil.copytree(TRIANGLE, root / "db")
    profiles = OpenProfiles(roots=[root])
    assert profiles.open("db").measured.title == "stencil_omp"
    (root / "db" / "src" / "secret.c").symlink_to(root.parent / "elsewhere" / "heat.folded")
    with pytest.raises(UsageError, match=r"secret\.c in it is a link out"):
        profiles.open("db")


def test_a_link_that_stays_inside_and_a_root_that_is_a_link_are_fine(root: Path) -> None:
    (root / "link").symlink_to(root / "runs" / "heat.folded")
    (root.parent / "alias").symlink_to(root)
    assert OpenProfiles(roots=[root.parent / "alias"]).open("link").measured.total("cpu.samples") == 504


def test_a_folder_of_too_many_files_is_not_searched(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opened, "_MOST_ENTRIES", 3)
    for number in range(4):
        (root / "runs" / str(number)).touch()
    with pytest.raises(AdapterError, match="too many files"):
        OpenProfiles(roots=[root]).open("runs")


def test_several_roots_are_searched_in_order(root: Path) -> None:
    profiles = OpenProfiles(roots=[root, root.parent / "elsewhere"])
    assert profiles.open("heat.folded").paths == (root.parent / "elsewhere" / "heat.folded",)
    assert profiles.open("other.folded").paths == (root / "other.folded",)


def test_a_root_must_be_a_folder_and_without_one_nothing_is_opened(root: Path) -> None:
    with pytest.raises(UsageError, match="is not a folder"):
        OpenProfiles(roots=[root / "other.folded"])
    with pytest.raises(UsageError, match="No folder was named"):
        OpenProfiles([TRIANGLE]).open("other.folded")


def test_a_profile_is_given_once() -> None:
    with pytest.raises(UsageError, match="given twice"):
        OpenProfiles([TRIANGLE], compare=[TRIANGLE])
