"""What a run does beside its answer, read from strace's record: files written, synced, renamed, children, peers, processes.

What is counted is compared between two programs, and only where two runs of the original agree. What a file holds in the end is no
matter of the record: stores through mmap make no call (`chathpc.fix.left_files`).
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from chathpc.profile.text import clean


class Kind(StrEnum):
    """What is counted, each for a subject: a file below the project's folder, a command line, an address, or all (an empty subject)."""

    BYTES = "bytes written"
    CALLS = "calls that write"
    SYNCED = "synced"
    REWRITTEN = "written anew"
    RENAMED = "replaced by renaming"
    REMOVED = "removed"
    LOCKED = "locked"
    MARKED = "owner, times or attributes set"
    READ = "opened to be read"
    CHILD = "children"
    PEER = "peers"
    PROCESS = "processes"
    UNSEEN = "written asynchronously"


@dataclass(frozen=True, slots=True)
class Effects:
    """What one run did. `counts` by kind and subject; `whole` if the record came to its end; `reached` names what of the record's own the
    program touched; `written` are the bytes of all calls that write, whatever they wrote to.
    """

    counts: Mapping[tuple[Kind, str], int]
    whole: bool
    reached: str
    written: int

    def of(self, kind: Kind) -> dict[str, int]:
        """The counts of a kind by subject."""
        return {subject: count for (each, subject), count in self.counts.items() if each is kind}


_LINE = re.compile(r"(\d+) +(.*)")
_CALL = re.compile(r"(\w+)\((.*)\) += (-?\d+|\?|0x[0-9a-f]+)(?:<((?:[^>\\]|\\.)*)>)?(?: .*)?\Z", re.DOTALL)
_RESUMED = re.compile(r"<\.\.\. \w+ resumed>")
_DESCRIPTOR = re.compile(r"(AT_FDCWD|-?\d+)(?:<((?:[^>\\]|\\.)*)>)?")
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"(?:\.\.\.)?')
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|.)", re.DOTALL)
_LETTERS = {"n": b"\n", "t": b"\t", "r": b"\r", "v": b"\v", "f": b"\f"}
_DELETED = " (deleted)"
#: Of more files and calls no account is kept: a program that has so many is not understood by counting.
_MOST = 1_000_000
#: What would let a program find out that it is traced, or reach strace: all of a process by its number in /proc, some of its own.
_TRACERS = re.compile(
    r"/proc/(?:\d+/.+|(?:self|thread-self)(?:/task/\d+)?/(?:status|stat|mem|io|syscall|wchan|stack|fd(?:/.*)?))\Z"
)
_REACHING = frozenset(("ptrace", "process_vm_writev", "pidfd_getfd"))
_WRITING = frozenset(("write", "writev", "pwrite64", "pwritev", "pwritev2"))
#: Calls that move bytes from one descriptor to another, and which of their descriptors is written to.
_MOVING = {"sendfile": 0, "copy_file_range": 1, "splice": 1, "tee": 1, "vmsplice": 0}
_SYNCING = frozenset(("fsync", "fdatasync", "sync_file_range", "syncfs", "sync", "msync"))
#: Calls that force more than one file to disk, and what.
_AT_ONCE = {"msync": "what is mapped", "sync": "all that was written", "syncfs": "all that was written"}
_STARTING = frozenset(("fork", "vfork", "clone", "clone3"))
_MARKING = frozenset(
    ("chown", "fchown", "fchownat", "lchown", "utime", "utimes", "futimesat", "utimensat", "setxattr", "fsetxattr", "lsetxattr")
)  # fmt: skip


class Record:
    """Reads strace's record piece by piece."""

    def __init__(self, folder: Path) -> None:
        """`folder` is where the command is run: only files below it last."""
        self._folders = tuple(dict.fromkeys((str(folder), os.path.realpath(folder))))
        self._counts: Counter[tuple[Kind, str]] = Counter()
        self._rest = b""
        self._own = ""
        self._first = ""
        self._waiting: dict[str, str] = {}
        self._at: dict[str, str] = {}
        self._whole = False
        self._reached = ""
        self._written = 0
        self._read: dict[str, Callable[[str, str, int, str], None]] = {
            **dict.fromkeys(_WRITING, self._write),
            **dict.fromkeys(_MOVING, self._move),
            **dict.fromkeys(_SYNCING, self._sync),
            **dict.fromkeys(("open", "openat", "creat"), self._open),
            **dict.fromkeys(("rename", "renameat", "renameat2"), self._rename),
            **dict.fromkeys(("unlink", "unlinkat"), self._remove),
            **dict.fromkeys(_STARTING, self._start),
            **dict.fromkeys(("execve", "execveat"), self._execute),
            **dict.fromkeys(_MARKING, self._mark),
            **dict.fromkeys(("chdir", "fchdir"), self._change_folder),
            **dict.fromkeys(("truncate", "ftruncate"), self._cut),
            **dict.fromkeys(("readlink", "readlinkat"), self._read_link),
            "flock": self._lock,
            "connect": self._connect,
            "io_submit": self._unseen,
        }

    def feed(self, data: bytes) -> None:
        """The next piece; its first line names the pipe that the record comes through."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._line(line.decode("utf-8", "surrogateescape"))

    @property
    def effects(self) -> Effects:
        """All that was read so far."""
        return Effects(dict(self._counts), self._whole and not self._rest, self._reached, self._written)

    # -- lines -----------------------------------------------------------------------------------------------

    def _line(self, line: str) -> None:
        if not self._own:
            self._own = line
            return
        found = _LINE.match(line)
        if found is None:
            return
        pid, text = found.groups()
        self._first = self._first or pid
        if self._own in text:
            self._reached = self._reached or "the record of its system calls"
        if text.startswith("+++ "):
            self._whole = self._whole or pid == self._first
            return
        if text.endswith(" <unfinished ...>"):
            self._waiting[pid] = text.removesuffix(" <unfinished ...>")
            return
        resumed = _RESUMED.match(text)
        if resumed is not None:
            text = self._waiting.pop(pid, "") + text[resumed.end() :]
        called = _CALL.match(text)
        if called is None:
            return
        name, arguments, value, where = called.groups()
        if name in _REACHING:
            self._reached = self._reached or f"other processes ({name})"
        if len(self._counts) > _MOST:
            self._reached = self._reached or "more files than are counted"
            return
        reader = self._read.get(name)
        if reader is not None and not value.startswith("-") and value != "?":
            self._name = name
            reader(pid, arguments, int(value, 0), _plain(where or ""))

    # -- calls -----------------------------------------------------------------------------------------------

    def _write(self, pid: str, arguments: str, value: int, where: str) -> None:
        self._wrote(_descriptor(arguments), value)

    def _move(self, pid: str, arguments: str, value: int, where: str) -> None:
        found = _DESCRIPTOR.findall(arguments)
        at = _MOVING[self._name]
        self._wrote(_plain(found[at][1]) if len(found) > at else "", value)

    def _wrote(self, path: str, count: int) -> None:
        self._written += count
        subject = self._below(path)
        self._count(Kind.BYTES, subject, count)
        self._count(Kind.CALLS, subject)

    def _count(self, kind: Kind, subject: str | None, times: int = 1) -> None:
        """Count what was done to a file, unless that is none that lasts."""
        if subject:
            self._counts[kind, subject] += times

    def _sync(self, pid: str, arguments: str, value: int, where: str) -> None:
        if self._name == "msync" and "MS_SYNC" not in arguments:
            return
        self._count(Kind.SYNCED, _AT_ONCE.get(self._name) or self._below(_descriptor(arguments)))

    def _open(self, pid: str, arguments: str, value: int, where: str) -> None:
        named = self._path(pid, arguments)
        # What was opened may lie behind a link; it is its own process then, or told by the name.
        self._look_at(named if _TRACERS.match(named) else re.sub(r"\A/proc/\d+", "/proc/self", where))
        subject = self._below(where or named)
        flags = _TEXT.sub("", arguments)
        if self._name == "creat" or "O_TRUNC" in flags:
            self._count(Kind.REWRITTEN, subject)
        if "O_SYNC" in flags or "O_DSYNC" in flags:
            self._count(Kind.SYNCED, subject)
        if "O_RDONLY" in flags:
            self._count(Kind.READ, subject)

    def _read_link(self, pid: str, arguments: str, value: int, where: str) -> None:
        self._look_at(self._path(pid, arguments))

    def _look_at(self, path: str) -> None:
        if _TRACERS.match(path):
            self._counts[Kind.PEER, re.sub(r"\d+", "#", path)] += 1

    def _rename(self, pid: str, arguments: str, value: int, where: str) -> None:
        names = [self._below(path) for path in self._paths(pid, arguments)]
        if len(names) == 2:
            self._count(Kind.RENAMED, names[1])

    def _remove(self, pid: str, arguments: str, value: int, where: str) -> None:
        self._count(Kind.REMOVED, self._below(self._path(pid, arguments)))

    def _mark(self, pid: str, arguments: str, value: int, where: str) -> None:
        # The text of fsetxattr is no path.
        named = self._name != "fsetxattr" and _TEXT.search(arguments)
        self._count(Kind.MARKED, self._below(self._path(pid, arguments) if named else _descriptor(arguments)))

    def _cut(self, pid: str, arguments: str, value: int, where: str) -> None:
        named = self._name == "truncate"
        self._count(Kind.REWRITTEN, self._below(self._path(pid, arguments) if named else _descriptor(arguments)))

    def _lock(self, pid: str, arguments: str, value: int, where: str) -> None:
        if "LOCK_UN" not in arguments:
            self._count(Kind.LOCKED, self._below(_descriptor(arguments)))

    def _start(self, pid: str, arguments: str, value: int, where: str) -> None:
        if "CLONE_THREAD" not in arguments:
            self._counts[Kind.PROCESS, ""] += 1
            self._at.setdefault(str(value), self._at.get(pid, self._folders[0]))

    def _execute(self, pid: str, arguments: str, value: int, where: str) -> None:
        # The variables are an address, or a text that is cut; what is run and with which arguments stands before them.
        line = arguments[: arguments.rfind("], ") + 1] or arguments
        for folder in self._folders:
            line = line.replace(folder, ".")
        self._counts[Kind.CHILD, line] += 1

    def _connect(self, pid: str, arguments: str, value: int, where: str) -> None:
        self._counts[Kind.PEER, arguments.partition(", ")[2].rpartition(", ")[0]] += 1

    def _unseen(self, pid: str, arguments: str, value: int, where: str) -> None:
        self._counts[Kind.UNSEEN, ""] += 1

    def _change_folder(self, pid: str, arguments: str, value: int, where: str) -> None:
        self._at[pid] = self._path(pid, arguments) if self._name == "chdir" else _descriptor(arguments)

    # -- paths -----------------------------------------------------------------------------------------------

    def _path(self, pid: str, arguments: str) -> str:
        return next(iter(self._paths(pid, arguments)), "")

    def _paths(self, pid: str, arguments: str) -> list[str]:
        """The paths of a call, absolute: each begins at the folder that stands before it, or where its process is."""
        found, end = [], 0
        for each in _TEXT.finditer(arguments):
            folders = _DESCRIPTOR.findall(arguments[end : each.start()])
            folder = _plain(folders[-1][1]) if folders and folders[-1][1] else self._at.get(pid, self._folders[0])
            found.append(os.path.normpath(os.path.join(folder, _plain(each[1]))))
            end = each.end()
        return found

    def _below(self, path: str) -> str | None:
        """The path from the project's folder on; None outside of it, where nothing lasts, and of a file that has no name any more."""
        if path.endswith(_DELETED):
            return None
        for folder in self._folders:
            if path.startswith(f"{folder}/"):
                return path[len(folder) + 1 :]
        return None


def _descriptor(arguments: str) -> str:
    """The path that strace gives for the first descriptor of a call."""
    found = _DESCRIPTOR.match(arguments)
    return _plain(found[2] or "") if found is not None else ""


def _plain(text: str) -> str:
    """A text of strace's without its escapes, whose octal ones are bytes."""
    if "\\" not in text:
        return text

    def meant(found: re.Match[bytes]) -> bytes:
        code = found[1].decode("latin-1")
        if code[0].isdigit():
            return bytes([int(code, 8) % 256])
        return _LETTERS.get(code, found[1])

    return _ESCAPE.sub(meant, text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")


# -- comparison ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Compared:
    """What a change does otherwise, in sentences without a point: `lost` and `added` end its trial, `durability` makes it depend on what its
    user can do without, `batched` is fine. `unexamined` is that on which the original does not agree with itself.
    """

    lost: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    durability: tuple[str, ...] = ()
    batched: tuple[str, ...] = ()
    unexamined: tuple[str, ...] = ()


#: What a crash would show: how often something was made safe, in words.
_SAFE = {
    Kind.SYNCED: "is synced to disk {after} instead of {before}",
    Kind.REWRITTEN: "is rewritten {after} instead of {before}",
    Kind.RENAMED: "is replaced atomically (by renaming) {after} instead of {before}",
    Kind.LOCKED: "is locked {after} instead of {before}",
}


@dataclass(slots=True)
class _Comparison:
    first: Effects
    second: Effects
    changed: Effects
    sizes: Mapping[str, tuple[int, int]]
    found: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in Compared.__slots__})

    def agreed(self, kind: Kind) -> dict[str, tuple[int, int]]:
        """What both runs of the original count alike, and what the change counts, by subject."""
        mine, again, theirs = (effects.of(kind) for effects in (self.first, self.second, self.changed))
        unsteady = sorted(subject for subject in {*mine, *again} if mine.get(subject, 0) != again.get(subject, 0))
        self.found["unexamined"] += [f"{kind.value}: {_name(subject)}" for subject in unsteady]
        return {
            subject: (mine.get(subject, 0), theirs.get(subject, 0))
            for subject in sorted({*mine, *theirs})
            if subject not in unsteady
        }

    def scratch(self, subject: str) -> bool:
        """A file that the original itself reads again, and that is gone in the end: it holds nothing that anybody could miss."""
        return subject not in self.sizes and (Kind.READ, subject) in self.first.counts

    def outside(self) -> None:
        """Children, peers, processes and files that are read: what the original does there is done, and nothing else."""
        for kind, missing, more in (
            (Kind.CHILD, "it does not run {name}", "it runs {name}"),
            (Kind.PEER, "it does not contact {name}", "it contacts {name}"),
            (Kind.PROCESS, "", "it starts {after} processes instead of {before}"),
        ):
            steady = self.first.of(kind) == self.second.of(kind)
            for subject, (before, after) in self.agreed(kind).items():
                told = {"name": _name(subject), "before": before, "after": after}
                if after < before and missing:
                    times = f" as often ({after} times instead of {before})" if after else ""
                    self.found["lost"].append(missing.format(**told) + times)
                elif after > before and steady:
                    self.found["added"].append(more.format(**told))

        for subject, (before, after) in self.agreed(Kind.READ).items():
            if after and not before and (Kind.BYTES, subject) not in self.changed.counts:
                self.found["added"].append(f"it reads {_name(subject)}")

    def files(self) -> None:
        """What happens to files before they are as they are in the end."""
        for subject, (before, after) in self.agreed(Kind.MARKED).items():
            if before and not after:
                self.found["lost"].append(f"owner, times or attributes of {_name(subject)} are not set")
        for kind, words in _SAFE.items():
            for subject, (before, after) in self.agreed(kind).items():
                if after < before and not self.scratch(subject):
                    said = words.format(before=_times(before), after=_times(after))
                    self.found["durability"].append(f"{_name(subject)} {said}")
        fewer = self.agreed(Kind.CALLS)
        for subject, (before, after) in self.agreed(Kind.BYTES).items():
            if self.scratch(subject):
                continue
            size, now = self.sizes.get(subject, (0, 0))
            # Numbers of another length make each writing so much shorter.
            shorter = before * max(0, size - now) / size if size else 0.0
            if after < before - shorter:
                self.found["durability"].append(f"{_name(subject)} receives {after} bytes in total instead of {before}")
            elif subject in fewer and fewer[subject][1] < fewer[subject][0]:
                calls, less = fewer[subject]
                self.found["batched"].append(f"{_name(subject)} is written in {_calls(less)} instead of {calls}")
        if (Kind.UNSEEN, "") in self.first.counts:
            self.found["unexamined"].append(f"{Kind.UNSEEN.value}: {self.first.counts[Kind.UNSEEN, '']} calls")


def compare_effects(
    first: Effects, second: Effects, changed: Effects, sizes: Mapping[str, tuple[int, int]]
) -> Compared:
    """What a change does otherwise than the original, of which there are two runs; `sizes` are those of the files that both leave (path →
    bytes that the original leaves, bytes that the change leaves).
    """
    comparison = _Comparison(first, second, changed, sizes)
    comparison.outside()
    comparison.files()
    return Compared(**{name: tuple(texts) for name, texts in comparison.found.items()})


def _name(subject: str) -> str:
    return clean(subject) if subject else "all"


def _calls(count: int) -> str:
    return "one call" if count == 1 else f"{count} calls"


def _times(count: int) -> str:
    return "never" if count == 0 else "once" if count == 1 else f"{count} times"
