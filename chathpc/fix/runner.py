"""Builds and runs of one project: always in a fresh copy, in the sandbox, at one path, with one environment."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from chathpc.errors import BudgetSpentError, ChathpcError
from chathpc.fix.effects import Effects, Kind, Record
from chathpc.fix.lanes import Lanes, cores
from chathpc.fix.left_files import LeftFile, left_files, state
from chathpc.fix.outputs import Outputs
from chathpc.fix.project import Project, Run
from chathpc.fix.workspace import Workspace, listing, remove, write_files
from chathpc.sandbox import Completed, Request, Sandbox
from chathpc.sandbox.system import ALL_ADDRESSES

#: Variables that tell a compiler or a launcher where things are; of the caller's environment nothing else is handed on.
_HANDED_ON = re.compile(
    r"PATH|LD_LIBRARY_PATH|LIBRARY_PATH|CPATH|C_INCLUDE_PATH|CPLUS_INCLUDE_PATH|PKG_CONFIG_PATH|CMAKE_PREFIX_PATH"
    r"|CC|CXX|FC|F77|F90|MPICC|MPICXX|MPIFC|OMPI_(CC|CXX|FC)|I_MPI_ROOT|MKLROOT|CUDA_HOME|CUDA_PATH|NVHPC_ROOT|EBROOT\w+|\w+_DIR"
)
#: Open MPI refuses to run as root, and to start more ranks than cores, unless told; a sandbox may be both.
_ALWAYS = {
    "LC_ALL": "C",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}
#: Places that every sandbox shows.
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc")
#: The seed of runs that are timed and profiled: any number, but always the same.
_SEED = 12345
#: What a first command writes, to see whether strace tells of it.
_TRACED = "yes"
#: Output files with more are not read (bytes).
_LARGEST_OUTPUT = 1 << 30


@dataclass(frozen=True, slots=True)
class Built:
    """A built tree: its digest (of sources and flags), where it lies, and what the build said."""

    digest: str
    folder: Path
    flags: str | None
    completed: Completed
    files: Mapping[str, str]

    @property
    def warnings(self) -> int:
        """Warnings of the compiler."""
        return len(re.findall(rb"\bwarning:", self.completed.stdout + self.completed.stderr, re.IGNORECASE))


@dataclass(frozen=True, slots=True)
class Ran:
    """A run: how it ended, what it left to be compared, all files that are otherwise after it, and what it did if it was traced."""

    completed: Completed
    outputs: Outputs
    left: Mapping[str, LeftFile] = field(default_factory=dict)
    effects: Effects | None = None

    @property
    def seconds(self) -> float:
        """Wall time."""
        return self.completed.seconds


@dataclass(frozen=True, slots=True)
class Case:
    """One way to run: the input, a seed for it, the number of threads, more variables."""

    run: Run
    seed: int | None = None
    threads: int | None = None
    environment: tuple[tuple[str, str], ...] = ()
    sanitized: bool = False

    @classmethod
    def usual(cls, run: Run) -> Case:
        """A declared run as it is timed and profiled: with always the same seed, if it takes one."""
        return cls(run, seed=_SEED if run.seeded else None)

    @property
    def command(self) -> str:
        """The command with its seed."""
        return self.run.command.replace("{seed}", str(self.seed))

    @property
    def name(self) -> str:
        """For people."""
        words = [self.run.name]
        words += [f"seed {self.seed}"] if self.seed is not None else []
        words += [f"{self.threads} threads"] if self.threads is not None else []
        words += [f"{name}={value}" for name, value in self.environment]
        return ", ".join(words)


class Runner:
    """Project, sandbox and work folder together."""

    def __init__(
        self, project: Project, sandbox: Sandbox, workspace: Workspace, environ: Mapping[str, str] = os.environ
    ) -> None:
        self.project = project
        self.sandbox = sandbox
        self.workspace = workspace
        self._base = {name: value for name, value in environ.items() if _HANDED_ON.fullmatch(name)}
        self._base.setdefault("PATH", "/usr/local/bin:/usr/bin:/bin")
        named = ":".join(_named_folders(project))
        self.readable = _beyond_system({**self._base, "NAMED_PATH": named}, workspace.root)
        #: A GPU is one for all.
        self.lanes = Lanes(several=sandbox.relocates and not project.gpu)
        #: How the run that is timed ended when it was last alone, by the digest of the build.
        self.alone: dict[str, Completed] = {}
        #: Asked before each build and run; it may raise what ends the work.
        self.before_each: Callable[[], None] = lambda: None
        #: Builds and runs made, for whoever counts.
        self.builds = self.runs = 0

    # -- build -----------------------------------------------------------------------------------------------

    def digest(self, files: Mapping[str, str], flags: str | None) -> str:
        """What a build is known by: the texts that differ from the original, and the flags."""
        content = json.dumps([sorted(files.items()), flags, self.project.build], ensure_ascii=True)
        return hashlib.sha256(content.encode()).hexdigest()[:24]

    def sources(self, files: Mapping[str, str]) -> Path:
        """A fresh stage with the original and `files` over it."""
        stage = self._fresh(self.workspace.original)
        write_files(stage, files)
        return stage

    def build(self, files: Mapping[str, str], flags: str | None = None, *, more: str = "") -> Built:
        """The original with `files` over it, built with `flags` (None: the user's) and `more`; kept, and not made twice.

        Never raises for a build that fails: see `Built.completed`.
        """
        flags = self.flags(flags, more)
        digest = self.digest(files, flags)
        folder = self.workspace.built / digest
        said = self.workspace.built / f"{digest}.json"
        if folder.is_dir() and said.is_file():
            return Built(digest, folder, flags, _completed(json.loads(said.read_text("utf-8"))), dict(files))
        self.sources(files)
        completed = self._run(self.project.build, self._build_environment(flags), sanitized=bool(more))
        self.builds += 1
        self.workspace.keep(digest, self.lanes.number)
        unfinished = said.with_suffix(".part")
        unfinished.write_text(json.dumps(_plain(completed)), "utf-8")
        unfinished.rename(said)
        return Built(digest, folder, flags, completed, dict(files))

    def makes(self, paths: Sequence[str], rewritten: Mapping[str, str]) -> set[str]:
        """Those of `paths` that the original's build makes where they are missing: products of an earlier build, no sources.

        `rewritten` are texts of the original; make(1) takes such files for new.
        """
        stage = self.sources(rewritten)
        for path in paths:
            remove(stage / path)
        self._run(self.project.build, self._build_environment(self.flags(None)))
        self.builds += 1
        return {path for path in paths if os.path.lexists(stage / path)}

    def flags(self, flags: str | None, more: str = "") -> str | None:
        """The flags of a build; None where the project declares no place for them."""
        if self.project.flags is None:
            return None
        return " ".join(filter(None, (self.project.flags.value if flags is None else flags, more)))

    def _build_environment(self, flags: str | None) -> dict[str, str]:
        declared = self.project.flags
        return {**self._environment(), **({declared.variable: flags} if declared and flags is not None else {})}

    # -- run -------------------------------------------------------------------------------------------------

    def run(self, built: Built, case: Case, *, seconds: float | None = None, traced: bool = False) -> Ran:
        """One run in a fresh copy of the built tree, `traced` or not. Never raises for what the program does."""
        stage = self._fresh(built.folder)
        before = state(stage)
        record = Record(self.workspace.stage) if traced else None
        completed = self._run(
            self._launched(case.command),
            self._environment(case),
            stdin=self.stdin(case.run),
            seconds=seconds,
            sanitized=case.sanitized,
            record=record,
        )
        self.runs += 1
        if not traced and not self.lanes.number and case == Case.usual(self.project.run):
            if not self.alone:
                self.lanes.learn(completed)
            self.alone[built.digest] = completed
        contents: dict[str, bytes | None] = {}
        for name in self.project.check.outputs:
            if name in ("stdout", "stderr"):
                contents[name] = completed.stdout if name == "stdout" else completed.stderr
            else:
                contents[name] = _content(stage, name)
        outputs = Outputs(completed.code if completed.status == "exited" else -1, contents)
        return Ran(completed, outputs, left_files(stage, before), None if record is None else record.effects)

    @cached_property
    def traces(self) -> bool:
        """Whether strace works in this sandbox."""
        record = Record(self.workspace.stage)
        remove(self.workspace.stage)
        self.workspace.stage.mkdir(parents=True)
        try:
            done = self._run(f"echo {_TRACED} > traced", self._environment(), record=record)
        except BudgetSpentError:
            raise
        except ChathpcError:
            return False
        return (
            done.succeeded and record.effects.whole and record.effects.of(Kind.BYTES) == {"traced": len(f"{_TRACED}\n")}
        )

    def check_command(self, built: Built, ran: Ran) -> Completed | None:
        """What the project's own check says in a copy of a built tree, to which only the declared outputs of a run were brought; None where
        the project declares none.
        """
        command = self.project.check.command
        if command is None:
            return None
        stage = self._fresh(built.folder)
        stdout = b""
        for name, content in ran.outputs.contents.items():
            if name == "stdout":
                stdout = content or b""
            elif name != "stderr" and content is not None:
                target = stage / name
                if target.is_symlink():
                    target.unlink()
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
        return self._run(command, self._environment(), stdin=stdout)

    def tool(self, built: Built, command: str) -> Completed:
        """Run a tool such as nm on a built tree, in the sandbox as everything else."""
        self._fresh(built.folder)
        return self._run(command, self._environment())

    def _fresh(self, source: Path) -> Path:
        """What is to be run or built, a fresh copy of `source`, where this thread's lane really is."""
        return self.workspace.fresh_stage(source, self.lanes.number)

    def shell(self, command: str, case: Case) -> Completed:
        """Run a shell command on what is in the stage, as the project's runs are."""
        return self._run(command, self._environment(case))

    def _launched(self, command: str) -> str:
        return f"{self.project.launcher} {command}" if self.project.launcher else command

    def stdin(self, run: Run) -> bytes:
        """The declared input, always the original's."""
        if run.stdin is None:
            return b""
        content = _content(self.workspace.original, run.stdin)
        if content is None:
            raise ChathpcError(f"The input {run.stdin} does not exist.", hint="Correct 'stdin' in chathpc.yaml.")
        return content

    def environment(self, case: Case) -> dict[str, str]:
        """The whole environment of a run."""
        return self._environment(case)

    def _environment(self, case: Case | None = None) -> dict[str, str]:
        stage = self.workspace.stage
        found = {**_ALWAYS, **self._base, "HOME": str(stage), "PWD": str(stage)}
        threads = None if case is None else case.threads
        if threads is None and self.project.threads:
            # Where a launcher starts the program elsewhere, the cores of this machine say nothing.
            threads = timed_threads(self.project.threads, None if self.project.launcher else cores())
        if threads is not None:
            found["OMP_NUM_THREADS"] = str(threads)
        return {**found, **dict(case.environment if case is not None else ())}

    def _run(
        self,
        command: str,
        environment: Mapping[str, str],
        *,
        stdin: bytes = b"",
        seconds: float | None = None,
        sanitized: bool = False,
        record: Record | None = None,
    ) -> Completed:
        self.before_each()
        limits = self.project.limits
        if seconds is not None:
            limits = replace(limits, seconds=min(limits.seconds, seconds))
        if sanitized:
            limits = replace(limits, memory=ALL_ADDRESSES)
        return self.sandbox.run(
            Request(
                command=("/bin/sh", "-c", command),
                folder=self.workspace.lane(self.lanes.number),
                shown=self.workspace.stage if self.lanes.number else None,
                given_up=self.lanes.given_up,
                readable=self.readable,
                environment=environment,
                stdin=stdin,
                limits=limits,
                gpu=self.project.gpu,
                trace=None if record is None else record.feed,
            )
        )


def timed_threads(declared: Sequence[int], cores: int | None) -> int:
    """With how many of the declared numbers of threads a program is timed and profiled: as many as run at once on `cores`, if there
    are such. More than that take turns, and wait for what has no core; that is for checks.
    """
    return max((each for each in declared if cores is None or each <= cores), default=min(declared))


def _named_folders(project: Project) -> Iterator[str]:
    """Where programs lie that the project's commands name by an absolute path, such as a Python of its own, and where links lead from there."""
    for command in (project.build, project.run.command, *(run.command for run in project.inputs)):
        for word in command.split():
            if word.startswith("/") and os.access(word, os.X_OK) and os.path.isfile(word):
                yield from (os.path.dirname(word), os.path.dirname(os.path.realpath(word)))


def _beyond_system(environment: Mapping[str, str], work: Path) -> tuple[Path, ...]:
    """Folders of compilers and libraries outside the system's, as modules name them; of a home only what is named itself, and an environment
    of Python whole.

    Never one that holds `work`, as the folder of a job's submission may: runs would see who is judged, and there is no other
    place then for their stage.
    """
    found: list[Path] = []
    home, work = Path.home(), Path(os.path.realpath(work))
    for name, value in environment.items():
        if not name.endswith(("PATH", "_HOME", "_ROOT", "ROOT", "_DIR")):
            continue
        for part in value.split(":"):
            path = Path(os.path.realpath(part)) if part.startswith("/") else None
            if path is not None and path.name in ("bin", "lib", "lib64", "include"):
                beside = path.parent  # an installation needs what is beside them
                named_itself = path.is_relative_to(home) and not _is_python(beside)
                path = path if named_itself or work.is_relative_to(beside) else beside
            if path is None or len(path.parts) < 3 or not path.is_dir():
                continue
            if home.is_relative_to(path) or work.is_relative_to(path):
                continue
            if not any(path.is_relative_to(system) for system in _SYSTEM) and path not in found:
                found.append(path)
    return tuple(found)


def _is_python(folder: Path) -> bool:
    """Whether a folder is an environment of Python or an installation of it, by the files that Python itself goes by."""
    return (folder / "pyvenv.cfg").is_file() or any(folder.glob("lib/python3*/os.py"))


def _content(root: Path, name: str) -> bytes | None:
    """The bytes of a file below `root`; None if it is no such file, lies behind a link, or is too large."""
    path = root / name
    try:
        if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root)) or path.is_symlink():
            return None
        if not path.is_file() or path.stat().st_size > _LARGEST_OUTPUT:
            return None
        return path.read_bytes()
    except OSError:
        return None


def changed_inputs(built: Built, original: Path, allowed: Sequence[str]) -> list[str]:
    """Files of the original that a build has changed or removed, beside those that the candidate itself brought."""
    now = {entry.path: (entry.target, entry.digest) for entry in listing(built.folder)}
    return [
        entry.path
        for entry in listing(original)
        if entry.path not in allowed
        and now.get(entry.path) != (entry.target, entry.digest)
        and (entry.target is None or entry.path in now)
    ]


def _plain(completed: Completed) -> dict[str, object]:
    said = {name: getattr(completed, name).decode("utf-8", "replace") for name in ("stdout", "stderr")}
    return {**asdict(completed), **said}


def _completed(content: Mapping[str, Any]) -> Completed:
    return Completed(**{**content, "stdout": content["stdout"].encode(), "stderr": content["stderr"].encode()})
