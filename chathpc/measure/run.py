"""A measurement from its command to its folder: the plain run, the run under a profiler, what makes a profile of it, the record."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from chathpc.errors import ChathpcError, MeasurementError, UsageError
from chathpc.measure import machine
from chathpc.measure.binary import binary
from chathpc.measure.command import behind_env, program_file, split_launcher
from chathpc.measure.files import fresh_folder, put, remove
from chathpc.measure.perf import Perf
from chathpc.measure.profiler import NoSampleError, Plan, Profiler, ProfilerError, reason, sampling_rate
from chathpc.measure.py_spy import PySpy, imports_gpu, runs_python
from chathpc.measure.record import RECORD, SCHEMA, TOOLS, Measured, Overhead, Runner, Step, Tool
from chathpc.measure.sources import copy_sources, folders_of, put_producers
from chathpc.profile import numbers
from chathpc.profile.run import PRODUCERS
from chathpc.sandbox import Completed, Limits, Request

#: Making a profile of what was recorded takes no longer (wall seconds).
_FINISHING = 600.0
#: A run of so many seconds may have ended before the profiler saw it: the next one may do better, and costs little.
_SHORT_RUN = 2.0
#: Runs of a program of which no sample is taken.
_TRIES = 3
#: Runs alone and under the profiler, if those beyond the first take no longer than so many seconds together.
_TURNS, _MOST_TURNS = 3, 5.0
#: No configuration of the user's.
_NO_CONFIG = {"PERF_CONFIG": os.devnull}
#: Folders that are named by themselves.
_MOST_FOLDERS = 10_000


def measure(
    command: Sequence[str],
    folder: Path,
    *,
    runner: Runner,
    output: Path | None = None,
    tool: Tool = "auto",
    launcher: Sequence[str] | None = None,
    environment: Mapping[str, str] | None = None,
    readable: tuple[Path, ...] = (),
    stdin: bytes = b"",
    limits: Limits = Limits(),  # noqa: B008  # frozen
    shown: Runner | None = None,
    overhead: bool = True,
    repeat: bool = True,
    plain: Completed | None = None,
    rate: int | None = None,
    kernel: str | None = None,
    launches: int = 1,
    gpu: bool | None = None,
    sources: Path | None = None,
    raw: bool = True,
    progress: Callable[[str], None] = lambda stage: None,
) -> Measured:
    """Run `command` in `folder` under the best profiler that is there, and keep all of it in one new folder.

    `runner` runs every command (Request → Completed), `shown` the run under the profiler if its output is to be seen. `launcher`
    stands before the program; None looks for one at the beginning of `command`. `environment` is that of the program (default: this
    process's). A plain run comes first, for the overhead and to choose the sampling rate, unless `overhead` is false or a `plain`
    one was made already; where both runs are short they are made in turns, three of each. Without `overhead` and `repeat` the program is run
    only once, however few its samples. `rate` is in samples a second and thread.
    `kernel` and `launches` choose what ncu measures, `gpu` says whether the program uses one (default: what its file tells, or a script's imports). Sources
    below `sources` (default: `folder`) and where the program lies that the profile names are put beside it. `raw` keeps what the profiler itself wrote.
    `output` is the folder of the result (default: chathpc-measure-NAME-N in `folder`); it appears when all is there, and is never
    overwritten.

    UsageError for a program that there is not, and an `output` that exists. MeasurementError where no profiler is there or none did its
    work, with the reason of each.
    """
    env = dict(os.environ if environment is None else environment)
    folder = folder.resolve()
    start, program = split_launcher(command, folder, env) if launcher is None else (tuple(launcher), tuple(command))
    file = _program(program, folder, env)
    facts = binary(file)
    target = None if output is None else _target(output)
    parent = folder if target is None else target.parent
    work = parent / f".chathpc-measure-{secrets.token_hex(6)}.part"
    try:
        work.mkdir()
    except OSError as error:
        raise ChathpcError(
            f"Cannot write to {parent}: {error.strerror}.", hint="Name another folder with -o."
        ) from error
    uses_gpu = facts.uses_gpu or imports_gpu(program, folder) if gpu is None else gpu
    request = Request(
        command=(), folder=folder, writable=(work,), readable=readable, environment=env, stdin=stdin, limits=limits,
        gpu=uses_gpu,
    )  # fmt: skip
    run = _Run(request, runner, shown or runner, progress, rate is None and repeat, plain is None)
    plan = Plan(start, program, facts, folder, work, env, 0, kernel, launches)
    try:
        candidates = [(each, each.lacks(env)) for each in _candidates(tool, plan, uses_gpu)]
        if all(lack for _, lack in candidates):
            raise _unmeasured([lack for _, lack in candidates], run.remarks)
        if plain is None and overhead:
            progress("running the program alone")
            plain = run.program("plain run", (*start, *program), runner)
        if plain is not None and not plain.succeeded:
            run.remarks.append(f"Without the profiler, the program ended with {_ending(plain.code)}.")
        chosen = sampling_rate(None) if plain is None else sampling_rate(_cpu_seconds(plain, start), _served(plain))
        plan = replace(plan, rate=rate or chosen)
        measured = _first_that_works(candidates, plan, run, plain)
        if measured.tool in ("perf", "py-spy"):
            roots = folders_of(program, file, folder)
            copy_sources(measured.path, [sources or folder, *roots], measured.path.parent, facts.paths)
        if not raw:
            _drop_raw(work, measured.path)
        put_producers(file, work / PRODUCERS)
        _write_record(work, measured, (*start, *program), folder)
        final = _settle(work, target, folder, file.name)
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise
    return replace(
        measured,
        folder=final,
        path=final / measured.path.relative_to(work),
        steps=_moved(run.steps, str(work), str(final)),
    )


@dataclass(slots=True)
class _Run:
    """What has been run so far."""

    request: Request
    runner: Runner
    shown: Runner
    progress: Callable[[str], None]
    free_rate: bool  #: the user has not chosen how often to sample
    takes_turns: bool  #: the program may be run several times
    steps: list[Step] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def program(
        self, name: str, command: tuple[str, ...], runner: Runner, more: Mapping[str, str] | None = None
    ) -> Completed:
        """A run of the program, with its standard input."""
        environment = {**self.request.environment, **(more or {})}
        idle = machine.idle_seconds()
        done = runner(replace(self.request, command=command, environment=environment))
        lacked = machine.without_core(done.seconds, done.cpu_seconds, idle, machine.idle_seconds(), done.queued)
        return self._keep(name, command, replace(done, without_core=lacked))

    def __call__(self, name: str, command: tuple[str, ...], more: Mapping[str, str]) -> Completed:
        """A step of a profiler."""
        self.progress(name)
        limits = replace(self.request.limits, seconds=_FINISHING, output=10 << 20)
        asked = replace(
            self.request, command=command, stdin=b"", limits=limits, environment={**self.request.environment, **more}
        )
        return self._keep(name, command, self.runner(asked))

    def _keep(self, name: str, command: tuple[str, ...], done: Completed) -> Completed:
        self.steps.append(Step(name, command, round(done.seconds, 6), done.status, done.code))
        return done


def _cpu_seconds(plain: Completed, launcher: tuple[str, ...]) -> float:
    """Of all threads; what a launcher's ranks on other machines used is not known, but the run took that long."""
    return max(plain.cpu_seconds, plain.seconds) if launcher else plain.cpu_seconds


def _served(done: Completed) -> float:
    """Wall seconds of a run without those in which it lacked a core: what other programs took is neither waiting nor the profiler's."""
    return done.seconds - done.without_core


def _candidates(tool: Tool, plan: Plan, gpu: bool) -> list[Profiler]:
    """The profilers to try, best first."""
    from chathpc.measure.hpctoolkit import HPCToolkit
    from chathpc.measure.nsight import NsightCompute, NsightSystems

    every: list[Profiler] = [NsightSystems(), PySpy(), HPCToolkit(gpu=gpu), Perf(), NsightCompute()]
    if tool not in TOOLS:
        raise UsageError(f"There is no tool '{tool}'.", hint=f"Tools are {', '.join(TOOLS)}.")
    if tool != "auto":
        return [one for one in every if one.name == tool]
    if plan.kernel is not None:
        return [one for one in every if one.name == "ncu"]
    special: dict[Tool, bool] = {
        "nsys": gpu, "py-spy": runs_python(plan.program, plan.folder, plan.environment), "ncu": False
    }  # fmt: skip
    return [one for one in every if special.get(one.name, True)]


def _first_that_works(
    candidates: Sequence[tuple[Profiler, str]], plan: Plan, run: _Run, plain: Completed | None
) -> Measured:
    """By the first profiler, each with what it lacks, under which the program gives a profile."""
    reasons, code = [], 0
    for profiler, lack in candidates:
        if lack:
            reasons.append(lack)
            continue
        try:
            measured = _under(profiler, plan, run, plain)
        except ProfilerError as error:
            reasons.append(f"{profiler.name}: {error}")
            if isinstance(error, NoSampleError):  # then it is the program's
                code = next(step.code for step in reversed(run.steps) if step.name == "run")
            _empty(plan.work)
            continue
        remarks = [*(f"Not measured with {why}." for why in reasons if ": " in why), *run.remarks, *measured.remarks]
        return replace(measured, remarks=tuple(remarks))
    raise _unmeasured(reasons, run.remarks, code if plain is None else plain.code)


def _unmeasured(reasons: Sequence[str], remarks: Sequence[str], code: int = 0) -> MeasurementError:
    """With the program's `code`, which is that of the command line where the program failed by itself."""
    ended = [f"The program ended with {_ending(code)}."] if code and not remarks else []
    told = " ".join(["; ".join(reasons) + ".", *remarks, *ended]).rstrip(".")
    return MeasurementError(
        f"The program could not be measured: {told}.",
        hint="See docs/measure.md for the profilers and where to get them.",
        code=code,
    )


def _under(profiler: Profiler, plan: Plan, run: _Run, plain: Completed | None) -> Measured:
    plan = profiler.prepare(plan, run)
    runner, version = run.shown, ""
    for left in reversed(range(_TRIES)):
        try:
            done = _recorded(profiler, plan, run, plain, runner)
            version = version or profiler.version(plan, run)
            path = profiler.finish(plan, run, version)
            break
        except NoSampleError:  # a run of some milliseconds may end before the first one, and the next one not
            if not left or not run.free_rate:
                raise
            runner = run.runner
    more = profiler.again(plan, path) if run.free_rate else None
    if more is not None:
        try:
            done = _recorded(profiler, more, run, plain, run.runner)
            plan, path = more, profiler.finish(more, run, version)
        except ProfilerError as error:
            run.remarks.append(f"Measured only once, with few samples: {error}.")
    put(plan.work / "stdout.txt", done.stdout)
    put(plan.work / "stderr.txt", done.stderr)
    sampled = profiler.name in ("perf", "py-spy", "hpctoolkit")
    remarks = []
    if done.code != 0 and (plain is None or plain.code != done.code):
        remarks.append(f"The program ended with {_ending(done.code)}.")
    return Measured(
        folder=plan.work, path=path, tool=profiler.name, version=version, events=profiler.events(plan),
        code=done.code, seconds=done.seconds, overhead=_overhead(profiler, plan, run, plain, done),
        rate=plan.rate if sampled else None, steps=tuple(run.steps), remarks=tuple(remarks), machine=machine.facts(),
        page_fault=machine.page_fault(), peak_memory=(plain or done).peak or None,
    )  # fmt: skip


def _overhead(profiler: Profiler, plan: Plan, run: _Run, plain: Completed | None, done: Completed) -> Overhead | None:
    """Of the profiler, from these two runs, and where they are short from more of either in turns."""
    if plain is None or plain.code != done.code or not plain.seconds:
        return None

    def turn(plan: Plan, alone: Completed, under: Completed) -> tuple[float, float | None, float]:
        ran = profiler.ran(plan, run)
        if ran is not None:
            # The waits that were seen are the program's; others are spread over all that was run.
            ran = ran * _served(under) / under.seconds if under.queued is None else max(ran - under.without_core, 0.0)
        return _served(alone), ran, _served(under)

    turns = [turn(plan, plain, done)]
    again = replace(plan, work=plan.work / "overhead")
    if run.takes_turns and (_TURNS - 1) * (plain.seconds + done.seconds) <= _MOST_TURNS:
        for _ in range(_TURNS - 1):
            alone = run.program("plain run", (*plan.launcher, *plan.program), run.runner)
            fresh_folder(again.work)
            under = run.program("run", profiler.record(again), run.runner, _NO_CONFIG)
            if (alone.code, under.code) != (plain.code, done.code):
                break
            turns.append(turn(again, alone, under))
        remove(again.work)
    known = [whole - ran for _, ran, whole in turns if ran is not None]
    start_up = sum(known) / len(known) if len(known) == len(turns) else None
    return Overhead(
        tuple(alone for alone, *_ in turns),
        tuple(whole if start_up is None or ran is None else ran for _, ran, whole in turns),
        start_up,
    )


def _recorded(profiler: Profiler, plan: Plan, run: _Run, plain: Completed | None, runner: Runner) -> Completed:
    """The program's run under the profiler; ProfilerError if it leaves nothing."""
    run.progress(f"running the program under {profiler.name}")
    done = run.program("run", profiler.record(plan), runner, _NO_CONFIG)
    recorded = profiler.recorded(plan)
    if not recorded and done.succeeded:
        why = f"it left no profile of a run of {numbers.seconds(done.seconds)}, in which the program ended well"
        raise (NoSampleError if done.seconds < _SHORT_RUN else ProfilerError)(why)
    if not recorded or (plain is not None and plain.succeeded and done.code != 0 and done.code != plain.code):
        raise ProfilerError(f"the program ended with {_ending(done.code)} under it ({reason(done)})")
    return done


def _ending(code: int) -> str:
    return f"status {code}" if code >= 0 else f"signal {-code}"


def _program(program: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Path:
    if not program:
        raise UsageError("There is no program to measure.", hint="For example: chathpc measure -- ./app 1000")
    found = program_file(behind_env(program)[0], folder, environment)
    if found is None:
        name = behind_env(program)[0]
        raise UsageError(
            f"'{name}' is not an executable program in {folder}.",
            hint="Build it first." if "/" in name else "Build it first, or prefix it with ./ if it is in this folder.",
        )
    return found


def _target(output: Path) -> Path:
    target = Path(os.path.abspath(output))
    if not target.parent.is_dir():
        raise UsageError(f"There is no folder {target.parent}.", hint="Create it, or name another with -o.")
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise UsageError(f"{output} exists.", hint="A result is never overwritten: name another folder with -o.")
    return target


def _settle(work: Path, target: Path | None, folder: Path, name: str) -> Path:
    """Give the finished folder its name: all of it appears at once, over nothing but an empty folder."""
    plain_name = "".join(letter if letter.isalnum() or letter in "._-" else "-" for letter in name)[:60] or "program"
    free = [folder / f"chathpc-measure-{plain_name}-{n}" for n in range(1, _MOST_FOLDERS)]
    names = free if target is None else [target]
    for wanted in names:
        if target is None and wanted.exists():
            continue
        try:
            os.rename(work, wanted)
        except OSError:
            continue
        return wanted
    raise ChathpcError(f"Cannot give the result the name {names[-1]}.", hint="Name another folder with -o.")


def _empty(work: Path) -> None:
    for entry in work.iterdir():
        remove(entry)


def _drop_raw(work: Path, path: Path) -> None:
    """Remove what only the profiler itself reads."""
    kept = path.relative_to(work).parts[0]
    for entry in work.iterdir():
        if entry.name not in (kept, "stdout.txt", "stderr.txt"):
            remove(entry)


def _moved(steps: Sequence[Step], work: str, now: str) -> tuple[Step, ...]:
    """The steps with another name for the folder that they worked in."""
    return tuple(replace(step, command=tuple(word.replace(work, now) for word in step.command)) for step in steps)


def _write_record(work: Path, measured: Measured, command: tuple[str, ...], folder: Path) -> None:
    """measure.json, with paths relative to its own folder, and the folder itself called DIR in commands."""
    cost = measured.overhead
    as_it_is = ("tool", "version", "code", "events", "rate", "remarks", "machine", "page_fault", "peak_memory")
    record = {
        "schema": SCHEMA,
        **{name: getattr(measured, name) for name in as_it_is},
        "profile": measured.path.relative_to(work).as_posix(),
        "command": command,
        "folder": os.path.relpath(folder, work.resolve()),
        "seconds": round(measured.seconds, 6),
        "start_up": None if cost is None or cost.start_up is None else round(cost.start_up, 6),
        "plain_seconds": None if cost is None else round(cost.seconds, 6),
        "overhead": None if cost is None else round(cost.share, 6),
        "overhead_interval": None if cost is None else cost.interval,
        "runs": 1 if cost is None else len(cost.under),
        "steps": [asdict(step) for step in _moved(measured.steps, str(work), "DIR")],
    }
    put(work / RECORD, (json.dumps(record, indent=2) + "\n").encode())
