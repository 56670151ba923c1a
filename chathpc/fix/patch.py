"""The accepted change as a patch, as files of the user's tree, or as a commit on a branch of its own."""

from __future__ import annotations

import difflib
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from chathpc.errors import ChathpcError, UsageError
from chathpc.profile.text import clean

_NO_NEWLINE = "\\ No newline at end of file\n"
_GIT_SECONDS = 60.0
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_FORM = "Create it again with diff -u or git diff, with paths for patch -p1."


def unified(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Unified diff of texts by path, as `git apply` and `patch -p1` take it; a path that `before` lacks is a new file."""
    parts = []
    for path in sorted(after):
        if before.get(path) == after[path]:
            continue
        old, new = _rows(before.get(path, "")), _rows(after[path])
        first = f"a/{path}" if path in before else "/dev/null"
        rows = list(difflib.unified_diff(old, new, first, f"b/{path}", n=3))
        head = [f"diff --git a/{path} b/{path}\n"] + ([] if path in before else ["new file mode 100644\n"])
        parts += [*head, *(row if row.endswith("\n") else f"{row}\n{_NO_NEWLINE}" for row in rows)]
    return "".join(parts)


def patched(before: Mapping[str, str], patch: str) -> dict[str, str]:
    """Texts by path after a unified diff with paths as of `patch -p1`; those that it does not name are as they were.

    What it changes in files that `before` lacks is left out. Old lines must stand exactly where the diff says. ChathpcError where they do
    not, and for a text that is no diff or removes a file.
    """
    after = dict(before)
    for path, hunks in _hunks(patch):
        if path not in before and any(taken for _, taken, _ in hunks):
            continue
        old, new, read = _rows(before.get(path, "")), list[str](), 0
        for first, taken, put in hunks:
            start = first - 1 if taken else first
            if start < read or old[start : start + len(taken)] != taken:
                raise ChathpcError(f"A patch does not fit {clean(path)} at line {first}.", hint=_FORM)
            new += [*old[read:start], *put]
            read = start + len(taken)
        after[path] = "".join(new + old[read:])
    return after


def _hunks(patch: str) -> list[tuple[str, list[tuple[int, list[str], list[str]]]]]:
    """Of each file its path, and of each hunk the first old line (counted from 1), the old lines and the new ones."""
    rows: list[str] = []
    for row in _rows(patch):
        if row.startswith("\\") and rows:
            rows[-1] = rows[-1].removesuffix("\n")
        else:
            rows.append(row)
    found: list[tuple[str, list[tuple[int, list[str], list[str]]]]] = []
    at = 0
    while at < len(rows):
        heading = _HUNK.match(rows[at])
        if heading and found:
            wanted, taken, put = [int(heading[2] or 1), int(heading[3] or 1)], list[str](), list[str]()
            while [len(taken), len(put)] != wanted and at + 1 < len(rows):
                at += 1
                taken += [rows[at][1:]] * (rows[at][0] in " -")
                put += [rows[at][1:]] * (rows[at][0] in " +")
            if [len(taken), len(put)] != wanted:
                raise ChathpcError(f"A patch of {clean(found[-1][0])} ends too early.", hint=_FORM)
            found[-1][1].append((int(heading[1]), taken, put))
        elif rows[at].startswith("+++ "):
            path = rows[at][4:].rstrip("\n").partition("\t")[0]
            if "/" not in path or path == "/dev/null":
                raise ChathpcError(f"A patch cannot be used: {clean(rows[at].strip())}.", hint=_FORM)
            found.append((path.partition("/")[2], []))
        at += 1
    if not any(hunks for _, hunks in found):
        raise ChathpcError("The patch is empty.", hint=_FORM)
    return found


def _rows(text: str) -> list[str]:
    """Lines with their ends; only a line feed ends one, as for patch."""
    rows = text.split("\n")
    return [f"{row}\n" for row in rows[:-1]] + ([rows[-1]] if rows[-1] else [])


def apply(root: Path, before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Write the changed texts into the user's tree, each file whole or not at all; the paths.

    ChathpcError, before anything is written, if a file is not as it was when the work began, or is reached through a link.
    """
    from chathpc.reports.write import write_atomically

    changed = {path: text for path, text in after.items() if before.get(path) != text}
    for path in changed:
        _unchanged(root, path, before.get(path))
    for path, text in sorted(changed.items()):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(root / path, text)
    return sorted(changed)


def _unchanged(root: Path, path: str, text: str | None) -> None:
    target = root / path
    for each in (target, *target.parents):
        if each == root:
            break
        if each.is_symlink():
            raise ChathpcError(f"{clean(path)} is reached through a link.", hint="Apply the patch manually.")
    try:
        now = target.read_bytes()
    except FileNotFoundError:
        now = None
    if now != (None if text is None else text.encode("utf-8", "surrogateescape")):
        raise ChathpcError(
            f"{clean(path)} has changed since the work started.",
            hint="Apply the patch manually, or start over with --fresh.",
        )


def head_for(root: Path, branch: str) -> tuple[Path, str]:
    """The repository that holds `root`, and the commit that a new branch of it would begin at; UsageError if there can be none."""
    top = Path(_git(root, "rev-parse", "--show-toplevel").strip())
    _git(root, "check-ref-format", f"refs/heads/{branch}", problem=f"'{clean(branch)}' is not a valid branch name.")
    if _git(root, "rev-parse", "--verify", "--quiet", f"refs/heads/{branch}", fails=True):
        raise UsageError(f"The branch {clean(branch)} exists.", hint="Choose another branch name with --branch.")
    return top, _git(root, "rev-parse", "--verify", "HEAD", problem="The repository has no commit yet.").strip()


def commit(root: Path, branch: str, before: Mapping[str, str], after: Mapping[str, str], message: str) -> str:
    """Commit the change on a new branch of the repository that holds `root`; the hash of the commit.

    Neither the checked-out files nor the index are touched: the commit is made from HEAD in an index of its own. UsageError if there is
    no repository, the branch exists, or a file that is changed is in HEAD other than in the folder.
    """
    top, head = head_for(root, branch)
    git_folder = Path(_git(root, "rev-parse", "--absolute-git-dir").strip())
    index = git_folder / f"chathpc-index-{os.getpid()}"
    environment = {"GIT_INDEX_FILE": str(index)}
    prefix = Path(os.path.realpath(root)).relative_to(os.path.realpath(top))
    try:
        _git(root, "read-tree", head, environment=environment)
        for path, text in sorted(after.items()):
            if before.get(path) == text:
                continue
            inside = (prefix / path).as_posix()
            old = _git(root, "show", f"{head}:{inside}", fails=True, binary=True)
            if path in before and old != before[path]:
                raise UsageError(
                    f"{clean(path)} has uncommitted changes.", hint="Commit it first, or apply the patch manually."
                )
            listed = _git(
                root, "ls-tree", "--full-tree", head, "--", inside, environment={"GIT_LITERAL_PATHSPECS": "1"}
            )
            mode = listed.split()[0] if listed.split() else "100644"
            blob = _git(root, "hash-object", "-w", "--stdin", stdin=text).strip()
            _git(root, "update-index", "--add", "--cacheinfo", f"{mode},{blob},{inside}", environment=environment)
        tree = _git(root, "write-tree", environment=environment).strip()
        made = _git(root, "commit-tree", tree, "-p", head, stdin=message).strip()
        _git(root, "update-ref", f"refs/heads/{branch}", made, "0" * len(made))
    finally:
        index.unlink(missing_ok=True)
        index.with_name(f"{index.name}.lock").unlink(missing_ok=True)
    return made


def _git(
    root: Path,
    *words: str,
    environment: Mapping[str, str] | None = None,
    stdin: str = "",
    fails: bool = False,
    binary: bool = False,
    problem: str = "",
) -> str:
    """What git says; "" if it fails and `fails`. UsageError else."""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *words], input=stdin.encode("utf-8", "surrogateescape"), capture_output=True,  # noqa: S607  # the user's own
            timeout=_GIT_SECONDS, check=False, env={**os.environ, **(environment or {})},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"git cannot be run: {error}.", hint="Apply the patch manually.") from error
    if done.returncode:
        if fails:
            return ""
        said = clean(done.stderr.decode("utf-8", "replace").strip().split("\n")[-1])[:200]
        raise UsageError(problem or f"git {words[0]}: {said}", hint="--branch needs a git repository with a commit.")
    return done.stdout.decode("utf-8", "surrogateescape" if binary else "replace")
