"""Writing a report to a file: whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from chathpc.errors import ChathpcError, UsageError

#: Files that are being written end so; nothing else in chathpc does.
UNFINISHED = ".part"
#: Longest file name that every file system takes (POSIX NAME_MAX on Linux), in bytes.
_NAME_MAX = 255


def write_atomically(path: str | Path, content: str | bytes) -> None:
    """Write `content`, text as UTF-8, so that `path` holds either what it held before or all of it, also after a crash.

    The text goes to a new file in the same folder, to the disk, and is then renamed. A link is followed; an existing
    file keeps its permissions; a device or pipe is written to directly. UsageError if the folder does not exist or `path`
    is a folder, ChathpcError if the file cannot be written.
    """
    data = content if isinstance(content, bytes) else content.encode("utf-8")
    # What the path of a pipe (/dev/stdout, >(command)) resolves to has no name by which it can be opened.
    target = Path(path) if _is_special(_mode(Path(path))) else Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise UsageError(f"There is no folder {target.parent}.", hint="Create it, or name another file.")
    if target.is_dir():
        raise UsageError(f"{path} is a folder.", hint="Name a file in it.")
    try:
        mode = _mode(target)
        if _is_special(mode):
            with target.open("wb") as stream:
                stream.write(data)
            return
        _replace(target, target.with_name(_unfinished(target.name)), data, mode)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ChathpcError(f"Cannot write {path}: {reason}.", hint="Name another file.") from error


def write_folder(parent: Path, texts: Mapping[str, str], names: Iterable[str], *, tag: str = "") -> Path:
    """Write `texts` by the names of their files as a new folder in `parent`, whole or not at all; its path.

    It takes the first of `names` that nothing has yet, so that nothing is replaced, whoever else writes at the same time. ChathpcError
    if it cannot be written.
    """
    names = iter(names)
    name, at = next(names), ""
    unfinished = parent / _unfinished(name, tag)
    try:
        unfinished.mkdir()
        try:
            for file, text in texts.items():
                at = file
                with (unfinished / file).open("xb") as stream:
                    stream.write(text.encode("utf-8"))
                    stream.flush()
                    os.fsync(stream.fileno())
            _sync_folder(unfinished)
            at = ""
            while not _claimed(unfinished, parent / name):
                name = next(names)
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise
        _sync_folder(parent)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ChathpcError(
            f"Cannot write {parent / name / at}: {reason}.", hint="Name another folder with -o."
        ) from error
    return parent / name


def _claimed(unfinished: Path, target: Path) -> bool:
    """Whether the folder could be given its name; it cannot where anything has it already."""
    if os.path.lexists(target):
        return False
    try:
        unfinished.rename(target)
    except OSError as error:
        if error.errno in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
            return False
        raise
    return True


def link_atomically(link: Path, target: str, *, tag: str = "") -> None:
    """Make `link` lead to `target`, in place of what it led to; a file or folder that is no link stays. OSError where there are no links."""
    if link.exists() and not link.is_symlink():
        return
    unfinished = link.with_name(_unfinished(link.name, tag))
    unfinished.symlink_to(target)
    try:
        unfinished.replace(link)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def remove_unfinished(folder: Path, tag: str) -> None:
    """Remove from `folder` what a process that was killed had begun to write under `tag`."""
    for entry in folder.glob(f".*.{tag}-*{UNFINISHED}"):
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)


def _unfinished(name: str, tag: str = "") -> str:
    """A name that no other process uses, on this machine or on another that shares the file system."""
    tail = f".{tag}-{secrets.token_hex(6)}{UNFINISHED}"
    room = _NAME_MAX - len(tail) - 1
    return f".{os.fsencode(name)[:room].decode('utf-8', 'ignore')}{tail}"


def _mode(target: Path) -> int | None:
    try:
        return target.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None


def _is_special(mode: int | None) -> bool:
    """True for a device or pipe."""
    return mode is not None and not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _replace(target: Path, unfinished: Path, data: bytes, mode: int | None) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with open(os.open(unfinished, flags, 0o666), "wb") as stream:
        try:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
            if mode is not None:
                os.fchmod(stream.fileno(), stat.S_IMODE(mode))
            os.replace(unfinished, target)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Make the rename durable where the file system can; the file is whole in any case."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass  # some network file systems cannot sync a folder
    finally:
        os.close(descriptor)
