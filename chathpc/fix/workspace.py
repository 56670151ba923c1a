"""Copies of the user's tree, all below one work folder; the tree itself is only read."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from chathpc.errors import ChathpcError, UsageError
from chathpc.profile.text import clean

#: Names that are never copied: histories and what chathpc itself keeps.
_LEFT_OUT = frozenset({".git", ".hg", ".svn"})
_OURS = ".chathpc-fix"
#: A tree with more is not a program's source; copies would take minutes.
MOST_BYTES, MOST_FILES = 4 << 30, 100_000
#: ioctl that makes a file share another's blocks until one of them is written (btrfs, XFS; ioctl_ficlonerange(2)).
_FICLONE = 0x40049409
_CANNOT_CLONE = {errno.EOPNOTSUPP, errno.ENOTTY, errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EPERM, errno.ETXTBSY}


@dataclass(frozen=True, slots=True)
class Entry:
    """A file or link below a root: its path there, who may run it, the target of a link, the hash of a file's content."""

    path: str
    mode: int
    target: str | None
    digest: str


def entries(root: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Files and links below `root` in a fixed order, with their paths from there; links are not followed.

    UsageError if they are too many.
    """
    todo, count, size = [""], 0, 0
    while todo:
        folder = todo.pop()
        with os.scandir(root / folder) as found:
            children = sorted(found, key=lambda child: child.name, reverse=True)
        below = []
        for child in children:
            path = f"{folder}/{child.name}" if folder else child.name
            if child.name in _LEFT_OUT or child.name.startswith(_OURS) or child.name.endswith(_OURS):
                continue
            status = child.stat(follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                below.append(path)
            elif stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode):
                count, size = count + 1, size + status.st_size
                if count > MOST_FILES or size > MOST_BYTES:
                    raise UsageError(
                        f"{root} holds more than {MOST_FILES:,} files or {MOST_BYTES >> 30} GiB, too much to copy.",
                        hint="Give the program's own folder, and keep its data elsewhere.",
                    )
                yield path, status
        todo += below


def listing(root: Path) -> tuple[Entry, ...]:
    """Everything below `root` that a copy has, with hashes (SHA-256)."""
    return tuple(
        Entry(
            path,
            status.st_mode & 0o111,
            os.readlink(root / path) if stat.S_ISLNK(status.st_mode) else None,
            "" if stat.S_ISLNK(status.st_mode) else digest_of(root / path),
        )
        for path, status in entries(root)
        if not stat.S_ISLNK(status.st_mode) or stays_inside(root, path)
    )


def tree_hash(root: Path) -> str:
    """One hash of all names, modes, links and contents below `root`."""
    whole = hashlib.sha256()
    for entry in listing(root):
        whole.update(repr((entry.path, entry.mode, entry.target, entry.digest)).encode())
    return whole.hexdigest()


def digest_of(path: Path) -> str:
    """SHA-256 of a file's content."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def copy_tree(source: Path, target: Path) -> None:
    """Copy `source` to `target`, which does not exist yet: contents, modes, times; blocks are shared where the disk can.

    Hard links would be faster, but a program that writes into a file in place would then change the original. A link
    that leads out of the tree is not copied: what runs on the copy must not reach the user's files through it.
    """
    target.mkdir(parents=True)
    made = {""}
    for path, status in entries(source):
        folder = str(PurePosixPath(path).parent)
        if folder not in made and folder != ".":
            (target / folder).mkdir(parents=True, exist_ok=True)
            made.add(folder)
        if stat.S_ISLNK(status.st_mode):
            if stays_inside(source, path):
                os.symlink(os.readlink(source / path), target / path)
        else:
            _copy_file(source / path, target / path, status)


def stays_inside(root: Path, path: str) -> bool:
    """Whether a link below `root` leads to something below it, by a relative path."""
    target = os.readlink(root / path)
    if os.path.isabs(target):
        return False
    real = os.path.realpath(root)
    return os.path.realpath(root / path).startswith(real + os.sep)


def _copy_file(source: Path, target: Path, status: os.stat_result) -> None:
    with source.open("rb") as reading, target.open("xb") as writing:
        try:
            fcntl.ioctl(writing.fileno(), _FICLONE, reading.fileno())
        except OSError as error:
            if error.errno not in _CANNOT_CLONE:
                raise
            shutil.copyfileobj(reading, writing, 1 << 20)
    os.chmod(target, stat.S_IMODE(status.st_mode) | stat.S_IWUSR)
    # make(1) decides by times.
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))


def write_files(root: Path, files: Mapping[str, str]) -> None:
    """Put the texts `files` (path below `root` → text) in place; through no link. ChathpcError if a folder is one."""
    for path, text in files.items():
        target = root / path
        for parent in (target, *target.parents):
            if parent == root:
                break
            if parent.is_symlink():
                raise ChathpcError(f"{clean(path)} is reached through a link.", hint="Edit the file it links to.")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode("utf-8", "surrogateescape"))


def remove(folder: Path) -> None:
    """Remove a folder and all in it, also where a program took away the right to."""
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    elif folder.exists():
        try:
            shutil.rmtree(folder)
        except OSError:
            for path, _, _ in os.walk(folder):
                with suppress(OSError):
                    os.chmod(path, 0o700)
            shutil.rmtree(folder)


@dataclass(frozen=True, slots=True)
class Workspace:
    """The work folder. Every build and every run finds itself at one path, `stage`, whoever's side it is: a program cannot tell
    from where it lies whether it is the original, is checked, timed or profiled. What goes on beside that lies in other lanes, which a
    sandbox shows as `stage`.
    """

    root: Path

    @property
    def original(self) -> Path:
        """The user's tree as it was when the work began."""
        return self.root / "original"

    @property
    def stage(self) -> Path:
        """Where things are built and run."""
        return self.root / "stage"

    def lane(self, number: int) -> Path:
        """Where what lies in `stage`, to those inside, really is: lane 0 is `stage` itself."""
        return self.root / f"stage-{number}" if number else self.stage

    @property
    def built(self) -> Path:
        """Built trees, by their digest."""
        return self.root / "built"

    @property
    def profiles(self) -> Path:
        """Profiles, by the digest of the build."""
        return self.root / "profiles"

    @property
    def ledger(self) -> Path:
        """What was done and found out."""
        return self.root / "ledger.jsonl"

    def prepare(self, tree: Path) -> None:
        """Make the folder and the copy of `tree`, unless it is there already. ChathpcError if it cannot be made."""
        try:
            self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
            for folder in (self.built, self.profiles):
                folder.mkdir(exist_ok=True)
            if not self.original.exists():
                unfinished = self.root / "original.part"
                remove(unfinished)
                copy_tree(tree, unfinished)
                unfinished.rename(self.original)
        except OSError as error:
            raise ChathpcError(
                f"Cannot work in {self.root}: {error.strerror}.", hint="Name another folder with --work."
            ) from error

    def fresh_stage(self, source: Path, lane: int = 0) -> Path:
        """A lane, holding a copy of `source` and nothing else."""
        stage = self.lane(lane)
        remove(stage)
        copy_tree(source, stage)
        return stage

    def keep(self, name: str, lane: int = 0) -> Path:
        """Move what is in a lane to `built` under `name`, whole or not at all."""
        target = self.built / name
        remove(target)
        self.lane(lane).rename(target)
        return target

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder alone. ChathpcError if another chathpc works in it."""
        self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (self.root / "lock").open("w") as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise ChathpcError(
                    f"Another chathpc is working in {self.root}.",
                    hint="Wait for it, or name another folder with --work.",
                ) from error
            yield


def work_folder(root: Path) -> Path:
    """Where the work on the program at `root` is kept unless another place is named: beside it."""
    return root.parent / f"{root.name}{_OURS}"
