"""The user's tree is read and never written, and nothing in a copy leads back to it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from chathpc.errors import ChathpcError, UsageError
from chathpc.fix import workspace
from chathpc.fix.project import Project, Run
from chathpc.fix.runner import Runner
from chathpc.fix.workspace import Workspace, copy_tree, remove, tree_hash, work_folder, write_files
from tests.fix.parts import Unguarded


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "prog"
    (root / "src").mkdir(parents=True)
    (root / "src/a.c").write_text("int a;\n")
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    (root / "inner").symlink_to("src/a.c")
    (root / ".git").mkdir()
    (root / ".git/config").write_text("secret")
    (tmp_path / "outside").write_text("outside")
    (root / "outer").symlink_to("../outside")
    (root / "absolute").symlink_to(tmp_path / "outside")
    os.mkfifo(root / "pipe")
    return root


def test_a_copy_has_contents_modes_times_and_inner_links_alone(tree: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy_tree(tree, copy)
    assert sorted(path.relative_to(copy).as_posix() for path in copy.rglob("*")) == [
        "inner",
        "run.sh",
        "src",
        "src/a.c",
    ]
    assert (copy / "inner").read_text() == "int a;\n"
    assert os.access(copy / "run.sh", os.X_OK)
    assert (copy / "src/a.c").stat().st_mtime_ns == (tree / "src/a.c").stat().st_mtime_ns
    assert (copy / "src/a.c").stat().st_ino != (tree / "src/a.c").stat().st_ino
    assert tree_hash(copy) == tree_hash(tree)


def test_writing_in_a_copy_in_place_changes_nothing_else(tree: Path, tmp_path: Path) -> None:
    before = tree_hash(tree)
    copy = tmp_path / "copy"
    copy_tree(tree, copy)
    with (copy / "src/a.c").open("r+") as stream:
        stream.write("XXX")
    assert tree_hash(tree) == before != tree_hash(copy)


def test_the_hash_sees_contents_names_and_who_may_run(tree: Path) -> None:
    seen = {tree_hash(tree)}
    (tree / "src/a.c").write_text("int b;\n")
    seen.add(tree_hash(tree))
    (tree / "src/a.c").rename(tree / "src/b.c")
    seen.add(tree_hash(tree))
    (tree / "run.sh").chmod(0o644)
    seen.add(tree_hash(tree))
    assert len(seen) == 4


def test_no_text_is_written_through_a_link(tree: Path, tmp_path: Path) -> None:
    (tree / "folder").symlink_to(tmp_path)
    for path in ("outer", "folder/new.c"):
        with pytest.raises(ChathpcError, match="through a link"):
            write_files(tree, {path: "changed"})
    assert (tmp_path / "outside").read_text() == "outside"
    assert not (tmp_path / "new.c").exists()


def test_a_tree_of_too_many_files_is_refused(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "MOST_FILES", 2)
    with pytest.raises(UsageError, match="too much to copy"):
        tree_hash(tree)


def test_a_folder_goes_also_where_its_rights_were_taken(tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    (folder / "in").mkdir(parents=True)
    (folder / "in/file").write_text("x")
    (folder / "in").chmod(0o500)
    remove(folder)
    assert not folder.exists()
    (tmp_path / "link").symlink_to(tmp_path)
    remove(tmp_path / "link")
    assert tmp_path.exists()
    remove(tmp_path / "nothing")


def test_a_stage_holds_one_copy_and_is_kept_whole(tree: Path) -> None:
    space = Workspace(work_folder(tree))
    space.prepare(tree)
    assert tree_hash(space.original) == tree_hash(tree)
    (space.fresh_stage(space.original) / "left").write_text("by an earlier run")
    assert not (space.fresh_stage(space.original) / "left").exists()
    kept = space.keep("abc")
    assert not space.stage.exists()
    assert tree_hash(kept) == tree_hash(tree)


def test_one_works_in_a_folder_at_a_time(tree: Path) -> None:
    space = Workspace(work_folder(tree))
    with space.locked(), pytest.raises(ChathpcError, match="Another chathpc"), space.locked():
        pass


def test_a_folder_that_cannot_be_made_is_told(tree: Path) -> None:
    with pytest.raises(ChathpcError, match="Cannot work in"):
        Workspace(tree / "run.sh" / "work").prepare(tree)


def test_a_python_that_a_command_names_can_be_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a home as well, where else no more than the named folder is shown."""
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    installed, environment, other = tmp_path / "python", tmp_path / "venv", tmp_path / "other"
    for folder in (installed, environment, other):
        (folder / "bin").mkdir(parents=True)
        (folder / "bin/real").write_text("#!/bin/sh\n")
        (folder / "bin/real").chmod(0o755)
    (installed / "lib/python3.11").mkdir(parents=True)
    (installed / "lib/python3.11/os.py").touch()
    (environment / "pyvenv.cfg").touch()
    (environment / "bin/python").symlink_to(installed / "bin/real")
    inputs = (Run("small", f"{other}/bin/real 3"), Run("gone", f"{tmp_path}/gone/bin/real"))
    project = Project(
        tmp_path / "prog", "true", Run("run", f"{environment}/bin/python app.py"), ("*.py",), inputs=inputs
    )
    runner = Runner(project, Unguarded(), Workspace(tmp_path / "work"), environ={})
    assert {environment, installed, other / "bin"} == {*runner.readable}
