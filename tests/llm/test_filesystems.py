"""The type of a file system is read from the kernel's table of mounts."""

from __future__ import annotations

from pathlib import Path

import pytest

from chathpc.llm.filesystems import file_system, is_local

# proc_pid_mountinfo(5): id, parent, major:minor, root, mount point, options, optional fields, -, type, source, options.
TABLE = r"""22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:40 / /home rw - nfs4 server:/home rw
31 22 0:41 / /scratch rw master:2 - lustre mgs:/scratch rw
32 22 0:42 / /with\040blank rw - gpfs fs1 rw
33 22 0:43 / /srv rw - xfs /dev/sdb rw
34 22 0:44 / /twice rw - ext4 /dev/sdc rw
35 34 0:45 / /twice rw - fuse.sshfs host: rw
36 22 0:46 / /cephfs rw - ceph mon:/ rw
37 22 0:47 / /beeg rw - beegfs beegfs_nodev rw
broken line
"""


@pytest.fixture
def mounts(tmp_path: Path) -> Path:
    (tmp_path / "mountinfo").write_text(TABLE)
    return tmp_path / "mountinfo"


@pytest.mark.parametrize(
    ("path", "kind", "local"),
    [
        ("/var/x", "ext4", True),
        ("/home/user/.local/state", "nfs4", False),
        ("/homestead", "ext4", True),
        ("/srv/u", "xfs", True),
        ("/scratch/u", "lustre", False),
        ("/with blank/u", "gpfs", False),
        ("/twice/u", "fuse.sshfs", False),
        ("/cephfs", "ceph", False),
        ("/beeg/u", "beegfs", False),
    ],
)
def test_the_nearest_mount_counts(path: str, kind: str, local: bool, mounts: Path) -> None:
    assert file_system(Path(path), mounts) == kind
    assert is_local(Path(path), mounts) is local


def test_what_cannot_be_told_is_taken_for_shared(tmp_path: Path) -> None:
    assert file_system(Path("/"), tmp_path / "absent") == ""
    assert not is_local(Path("/"), tmp_path / "absent")


def test_this_machine_has_a_root(tmp_path: Path) -> None:
    assert file_system(tmp_path) == file_system(tmp_path / "not" / "there") != ""
