"""Patches apply, files change whole or not at all, and a commit touches nothing that is checked out."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chathpc.errors import ChathpcError, UsageError
from chathpc.fix.patch import apply, commit, patched, unified

LINES = st.lists(st.text(alphabet="ab \t\r\x0c→é-+@", max_size=4), max_size=12)
BEFORE = {"a.c": "int a;\n", "sub/b.c": "one\ntwo\nthree"}
AFTER = {**BEFORE, "a.c": "int b;\n", "new.c": "new\n"}


def git(folder: Path, *words: str) -> str:
    environment = {
        **os.environ, "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "A",
        "GIT_COMMITTER_EMAIL": "a@example.org", "GIT_CONFIG_GLOBAL": "/dev/null",
    }  # fmt: skip
    return subprocess.run(
        ["git", *words], cwd=folder, env=environment, check=True, capture_output=True, text=True
    ).stdout


def write(folder: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode("utf-8", "surrogateescape"))


@settings(deadline=None, max_examples=25)
@given(LINES, LINES, st.booleans(), st.booleans())
def test_patch_and_git_make_of_the_old_text_the_new_one(
    tmp_path_factory: pytest.TempPathFactory, old: list[str], new: list[str], ends: bool, still_ends: bool
) -> None:
    before = "\n".join(old) + ("\n" if ends else "")
    after = "\n".join(new) + ("\n" if still_ends else "")
    text = unified({"f.c": before}, {"f.c": after})
    if before == after:
        assert text == ""
        return
    assert patched({"f.c": before}, text) == {"f.c": after}
    for command in (["patch", "-p1", "--binary", "-i", "p"], ["git", "apply", "p"]):
        folder = tmp_path_factory.mktemp("patch")
        write(folder, {"f.c": before, "p": text})
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
        assert done.returncode == 0, (command, done.stdout, done.stderr, text)
        content = (folder / "f.c").read_bytes() if (folder / "f.c").exists() else b""
        assert content == after.encode()


@settings(deadline=None, max_examples=25)
@given(LINES, LINES)
def test_what_diff_writes_is_read(tmp_path_factory: pytest.TempPathFactory, old: list[str], new: list[str]) -> None:
    folder = tmp_path_factory.mktemp("diff")
    before, after = "".join(f"{line}\n" for line in old), "".join(f"{line}\n" for line in new)
    write(folder, {"a/f.c": before, "b/f.c": after})
    text = subprocess.run(["diff", "-aU1", "a/f.c", "b/f.c"], cwd=folder, capture_output=True, check=False).stdout
    if before != after:
        assert patched({"f.c": before, "g.c": ""}, text.decode()) == {"f.c": after, "g.c": ""}


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        ("int b;\n", "is empty"),
        ("--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n-int c;\n+int b;\n", "does not fit a.c at line 1"),
        ("--- a/a.c\n+++ b/a.c\n@@ -2 +2 @@\n-int a;\n+int b;\n", "does not fit a.c at line 2"),
        ("--- a/a.c\n+++ b/a.c\n@@ -1,2 +1 @@\n-int a;\n", "ends too early"),
        ("--- a/a.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-int a;\n", "cannot be used"),
    ],
)
def test_a_patch_that_does_not_fit_is_refused(patch: str, said: str) -> None:
    with pytest.raises(ChathpcError, match=said):
        patched(BEFORE, patch)


def test_changes_of_files_that_are_not_there_are_left_out() -> None:
    other = unified({**BEFORE, "Makefile": "app:\n"}, {**AFTER, "Makefile": "app: a.c\n"})
    assert patched(BEFORE, other) == AFTER


def test_a_new_file_is_made(tmp_path: Path) -> None:
    write(tmp_path, {**BEFORE, "p": unified(BEFORE, AFTER)})
    subprocess.run(["patch", "-p1", "-i", "p"], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "new.c").read_text() == "new\n"
    assert (tmp_path / "a.c").read_text() == "int b;\n"


def test_files_change_and_keep_their_permissions(tmp_path: Path) -> None:
    write(tmp_path, BEFORE)
    (tmp_path / "a.c").chmod(0o640)
    assert apply(tmp_path, BEFORE, AFTER) == ["a.c", "new.c"]
    assert (tmp_path / "a.c").read_text() == "int b;\n"
    assert (tmp_path / "a.c").stat().st_mode & 0o777 == 0o640


def test_nothing_is_written_over_what_the_user_has_changed(tmp_path: Path) -> None:
    write(tmp_path, BEFORE)
    write(tmp_path, {"a.c": "my own\n"})
    with pytest.raises(ChathpcError, match=r"a\.c has changed"):
        apply(tmp_path, BEFORE, AFTER)
    assert not (tmp_path / "new.c").exists()
    (tmp_path / "a.c").unlink()
    write(tmp_path, {"real.c": "int a;\n"})
    (tmp_path / "a.c").symlink_to("real.c")
    with pytest.raises(ChathpcError, match="through a link"):
        apply(tmp_path, BEFORE, AFTER)
    assert (tmp_path / "real.c").read_text() == "int a;\n"


def test_a_commit_leaves_files_index_and_head_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "AUTHOR_NAME": "A",
        "AUTHOR_EMAIL": "a@b",
        "COMMITTER_NAME": "A",
        "COMMITTER_EMAIL": "a@b",
    }.items():
        monkeypatch.setenv(f"GIT_{name}", value)
    root = tmp_path / "repo" / "inner"
    write(root, BEFORE)
    (root / "a.c").chmod(0o755)
    git(tmp_path / "repo", "init", "-q")
    git(tmp_path / "repo", "add", ".")
    git(tmp_path / "repo", "commit", "-qm", "first")
    write(root, {"sub/b.c": "half done"})
    git(tmp_path / "repo", "add", "inner/sub/b.c")
    state = [git(root, *words) for words in (("status", "--porcelain"), ("rev-parse", "HEAD"), ("diff", "--cached"))]
    made = commit(root, "faster", BEFORE, AFTER, "Faster\n")
    assert state == [
        git(root, *words) for words in (("status", "--porcelain"), ("rev-parse", "HEAD"), ("diff", "--cached"))
    ]
    assert (root / "a.c").read_text() == "int a;\n"
    assert git(root, "rev-parse", "faster").strip() == made
    assert (
        git(root, "diff", "--stat", "--summary", "HEAD", "faster").split("\n")[-2].strip()
        == "create mode 100644 inner/new.c"
    )
    assert git(root, "ls-tree", "faster", "inner/a.c" if False else "a.c").startswith("100755")
    with pytest.raises(UsageError, match="exists"):
        commit(root, "faster", BEFORE, AFTER, "x")
    with pytest.raises(UsageError, match="has uncommitted changes"):
        commit(root, "other", {**BEFORE, "a.c": "int c;\n"}, AFTER, "x")
    with pytest.raises(UsageError, match="not a valid branch name"):
        commit(root, "a..b", BEFORE, AFTER, "x")


def test_without_a_repository_there_is_no_commit(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        commit(tmp_path, "x", BEFORE, AFTER, "x")
