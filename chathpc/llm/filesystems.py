"""Which file system a folder lies on: locks of a database hold on a disk of this machine, and not everywhere else."""

from __future__ import annotations

import os
import re
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")

#: File systems of this machine alone (proc(5), field "filesystem type"). Those of others (nfs, lustre, gpfs, beegfs, ceph, cifs,
#: fuse.sshfs, …), and what is not known, are taken for shared ones.
_OF_THIS_MACHINE = frozenset(
    {
        "bcachefs",
        "btrfs",
        "ext2",
        "ext3",
        "ext4",
        "f2fs",
        "jfs",
        "overlay",
        "ramfs",
        "reiserfs",
        "tmpfs",
        "ubifs",
        "xfs",
        "zfs",
    }
)
_ESCAPED = re.compile(r"\\([0-7]{3})")


def is_local(path: Path, mounts: Path = MOUNTS) -> bool:
    """Whether `path`, or the nearest folder above it that exists, is on a disk of this machine; False if that cannot be told."""
    return file_system(path, mounts) in _OF_THIS_MACHINE


def file_system(path: Path, mounts: Path = MOUNTS) -> str:
    """The type of the file system that holds `path`, as the kernel names it; the empty string if that cannot be told."""
    wanted = os.path.realpath(path)
    best, found = -1, ""
    try:
        text = mounts.read_text("utf-8", "surrogateescape")
    except OSError:
        return ""
    for line in text.splitlines():
        before, dash, after = line.partition(" - ")
        fields = before.split(" ")
        if not dash or len(fields) < 5:
            continue
        point = _ESCAPED.sub(lambda escaped: chr(int(escaped[1], 8)), fields[4])
        inside = wanted == point or wanted.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= best:  # of several on one point the last one is seen
            best, found = len(point), after.split(" ")[0]
    return found
