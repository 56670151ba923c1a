"""The samples of `perf script` as a profile: process > frames, one location a thread."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePath

import numpy as np

from chathpc.adapters.linux_perf.annotate import COMMENT, annotated
from chathpc.adapters.linux_perf.events import Event, event_of, unlike
from chathpc.adapters.linux_perf.frames import EXIT, UNKNOWN, Chain, Frame, Inlined, frame, head, source_line
from chathpc.adapters.linux_perf.switches import Windows, bounded, windows_of
from chathpc.adapters.linux_perf.wall_clock import METRIC as WALL
from chathpc.adapters.linux_perf.wall_clock import WallClock
from chathpc.adapters.stacks import Stacks
from chathpc.errors import AdapterError
from chathpc.profile import numbers
from chathpc.profile.activity import BLOCKED, KERNEL, STARTERS, THREAD_STARTERS
from chathpc.profile.launcher import recorded, split
from chathpc.profile.location import Locations
from chathpc.profile.metric import Metric
from chathpc.profile.profile import Profile, Source, no_timeline
from chathpc.profile.run import told_command
from chathpc.profile.tree import NodeKind

#: Lines longer than this are no line of perf script.
_LONGEST = 1 << 20
#: Frames of one stack; perf itself records at most 127 unless told otherwise.
_DEEPEST = 1_000_000
#: Lines of perf annotate that are kept.
_MOST_CODE = 50_000
_HOW = (
    "Give perf.data itself, or its samples as text: "
    "perf script -F +pid,+srcline --show-switch-events --show-lost-events > samples.txt"
)
_KEEP = "A lower rate (perf record -F, chathpc measure --rate) or a larger buffer (perf record -m) keeps more."
#: Comments that chathpc measure puts before the samples of each rank: ids of processes, and times, are those of its node.
_MARKS = ("rank", "node")
#: By so much the ids of a rank's processes are moved: beyond all that kernels have (PID_MAX_LIMIT is 2^22).
_OF_RANK = 1 << 32
#: Where a larger part of the samples was lost perf itself warns (tools/perf/util/session.c). Switches, of which it may lose some, are
#: short: it is samples for which there is no room.
_MOST_LOST = 0.05
_LOST = re.compile(r"PERF_RECORD_(?P<kind>LOST|LOST_SAMPLES) lost (?P<count>\d{1,15})\s*")
#: Libraries that a caveat names.
_NAMED = 3
#: Facts about the machine in the header that are kept; host name, command line and paths are not.
_HARDWARE = {"cpudesc": "processor", "nrcpus online": "processors", "total memory": "memory", "arch": "architecture"}


@dataclass(slots=True)
class _Counted:
    """What was seen of one event."""

    event: Event
    with_period: bool
    metric: Metric
    samples: int = 0


@dataclass(slots=True)
class _Reading:
    path: Path
    stacks: Stacks = field(default_factory=Stacks)
    threads: dict[tuple[int, int], int] = field(default_factory=dict)
    events: dict[str, _Counted] = field(default_factory=dict)
    comms: Counter[str] = field(default_factory=Counter)
    inlined: Inlined = field(default_factory=Inlined)
    idle: int = 0
    chains: int = 0
    invalid: int = 0
    written: int = 0  #: samples of any kind
    #: Those that perf could not write, as two kinds of records count them.
    lost: Counter[str] = field(default_factory=Counter)
    without_period: int = 0
    seconds: tuple[float, float] | None = None
    ends: tuple[str, str] = ("", "")  #: the times of the first and the last sample as they were written
    hardware: dict[str, str] = field(default_factory=dict)
    version: str = ""
    command: tuple[str, ...] = ()  #: what perf ran
    program: str = ""  #: its name as the kernel knows it
    own: set[int] = field(default_factory=set)  #: processes of the program, where the whole machine was recorded
    by_number: dict[int, tuple[int, int]] = field(default_factory=dict)  #: threads by their own number alone
    wall_seconds: float = 0.0
    begins: set[int] = field(default_factory=set)  #: frames with which a whole stack begins
    outermost: set[int] = field(default_factory=set)  #: frames that nothing calls
    of_mpi: set[int] = field(default_factory=set)  #: frames that are calls of MPI
    programs: dict[int, str] = field(default_factory=dict)  #: what a process ran when it was seen last
    using_mpi: set[int] = field(default_factory=set)  #: processes in calls of MPI
    code: list[str] = field(default_factory=list)  #: lines of perf annotate
    rank: int = -1  #: of the samples that follow, where marks tell it
    node: int = -1
    nodes: dict[int, int] = field(default_factory=dict)  #: rank → node
    ahead: dict[int, float] = field(default_factory=dict)  #: node → seconds that its clock is ahead of the first one's
    first: float | None = None  #: the time of the first record
    windows: Windows | None = None  #: in which switches were read, where they are too many
    clock: WallClock = field(init=False)

    def __post_init__(self) -> None:
        self.clock = WallClock(self.stacks)


def read(path: Path) -> Profile:
    """The profile of the text of perf script at `path`, plain or gzip; AdapterError if it holds no sample."""
    return profile_of(bounded(path, longest=_LONGEST), path)


def profile_of(text: Iterable[str], path: Path) -> Profile:
    """The profile of lines of perf script; `path` is what the user named."""
    reading = _Reading(path)
    _samples(reading, text)
    if not reading.events:
        if reading.idle:
            raise AdapterError("all samples are of idle processors", path=path, hint="Record while the program runs.")
        if reading.lost:
            raise AdapterError("perf lost all samples", path=path, hint=_KEEP)
        raise AdapterError("contains no sample of perf script", path=path, hint=_HOW)
    return _profile(reading)


def _samples(reading: _Reading, text: Iterable[str]) -> None:
    begun: re.Match[str] | None = None
    chain = Chain(reading.stacks, reading.inlined)
    known: dict[str, Frame | tuple[str, int, bool]] = {}  # what lines of frames are, which repeat
    for line in text:
        told = known.get(line) if begun is not None else None
        if told is None and begun is not None and line[:1] in (" ", "\t") and line.strip():
            told = _frame(reading, line) or source_line(line)
            if told is not None:
                known[line] = told
        if isinstance(told, Frame):
            chain.add(told)
            if len(chain.numbers) > _DEEPEST:
                raise AdapterError(f"has a stack of more than {_DEEPEST:,} frames", path=reading.path, hint=_HOW)
            continue
        if told is not None and chain.numbers:
            file, number, inlined = told
            if file != "??" and number > 0:
                chain.at(file, number)
            if inlined:
                chain.called_inlined()
            continue
        if not line.strip():
            _finish(reading, begun, chain)
            begun = None
            continue
        if line.startswith("#"):
            if not line.startswith(COMMENT):
                _finish(reading, begun, chain)
                begun = None
                _header(reading, line)
            elif len(reading.code) < _MOST_CODE:
                reading.code.append(line.removeprefix(COMMENT))
            continue
        match = head(line)
        if match is None:
            # A message of perf among the samples, or a line that is no sample; other records (--show-mmap-events) are no fault.
            reading.invalid += "PERF_RECORD_" not in line
            continue
        _finish(reading, begun, chain)
        begun = None
        if match["rest"].startswith("PERF_RECORD_") or (match["event"] or "").startswith("PERF_RECORD_"):
            if match["time"] and match["rest"].startswith(("PERF_RECORD_SWITCH", EXIT)):  # others may stand at time 0
                reading.clock.record(match["rest"], _thread(reading, match), _time(reading, match))
            elif (lost := _LOST.match(match["rest"])) is not None:
                reading.lost[lost["kind"]] += int(lost["count"])
            continue
        reading.written += 1
        begun = match
        if match["rest"]:
            found = _frame(reading, match["rest"])
            if found is not None:
                chain.add(found)
    _finish(reading, begun, chain)


#: Of these every stack that was not cut short has one.
_BEGINS = STARTERS | {"main", "MAIN__"}
#: Nothing calls these: what stands above them is what lay on the stack.
_FIRST = THREAD_STARTERS - {"start_thread"} | {"_start"}
_OF_MPI = ("MPI_", "PMPI_")
#: What the scheduler's event tells of a switch (sched:sched_switch): how the thread goes, and which one comes. Names have 15 letters.
_SCHED, _COMM = "sched:sched_switch", 15
_SCHEDULED = re.compile(r"prev_comm=.* prev_state=(?P<state>\S+) ==> next_comm=.* next_pid=(?P<next>\d{1,9})\b.*")


def _frame(reading: _Reading, line: str) -> Frame | None:
    """The frame that `line` is, None if it is none."""
    found = frame(line)
    if found is None:
        return None
    symbol, module, address = found
    if module == "inlined":
        return Frame(reading.stacks.frame(symbol, kind=NodeKind.INLINED), symbol, module, address)
    number = reading.stacks.frame(symbol, module=module)
    if symbol in _BEGINS:
        reading.begins.add(number)
    if symbol in _FIRST:
        reading.outermost.add(number)
    if symbol.startswith(_OF_MPI):
        reading.of_mpi.add(number)
    return Frame(number, symbol, module, address)


def _finish(reading: _Reading, begun: re.Match[str] | None, chain: Chain) -> None:
    """Add the sample that began with `begun` and has the frames of `chain`; empties `chain`."""
    if begun is None:
        chain.clear()
        return
    comm, thread, name = begun["comm"], _thread(reading, begun), begun["event"] or ""
    scheduled = _SCHEDULED.match(begun["rest"]) if name == _SCHED else None
    if name.startswith("sched:") and (scheduled is None or not _is_own(reading, comm, thread)):
        if scheduled is not None:
            _comes(reading, scheduled, begun)
        chain.clear()
        return
    if comm == "swapper" and not int(begun["tid"] or begun["pid"]):
        reading.idle += 1
        chain.clear()
        return
    counted = reading.events.get(name)
    if counted is None:
        event = event_of(name)
        with_period = begun["period"] is not None and event.is_known
        metric = event.metric(sampled=True) if with_period else event.samples()
        metric = unlike(metric, metric.source_name, (other.metric for other in reading.events.values()))
        counted = reading.events[name] = _Counted(event, with_period, metric)
    period = begun["period"]
    if counted.with_period and period is None:
        reading.without_period += 1
        chain.clear()
        return
    counted.samples += 1
    reading.comms[comm] += 1
    reading.chains += len(chain.numbers) > 1
    if thread[0] == thread[1] or thread[0] not in reading.programs:
        reading.programs[thread[0]] = comm
    if not reading.of_mpi.isdisjoint(chain.numbers):
        reading.using_mpi.add(thread[0])
    location = reading.threads.setdefault(thread, len(reading.threads))
    stacks = reading.stacks
    # A region, not an entry point: a stack that was cut short must not look like a thread that a library runs for itself.
    process = stacks.step(-1, stacks.frame(comm, kind=NodeKind.REGION))
    if chain.pending:
        chain.settle(None)
    if chain.numbers and chain.numbers[-1] not in reading.outermost and not reading.outermost.isdisjoint(chain.numbers):
        del chain.numbers[next(at for at, number in enumerate(chain.numbers) if number in reading.outermost) + 1 :]
    node = stacks.walk(reversed(chain.numbers), process)
    # The scheduler's stacks are made by frame pointers, which few programs keep: what the last call was is known all the same.
    cut = process if scheduled is None and reading.begins.isdisjoint(chain.numbers) else -1
    chain.clear()
    value = float(period) * counted.metric.scale if counted.with_period else 1.0
    stacks.add(counted.metric.id, node, value, location)
    if begun["time"]:
        at = _time(reading, begun)
        first, last = reading.seconds or (at, at)
        begin, end = reading.ends
        reading.ends = (begin if begin and first <= at else begun["time"], end if end and last >= at else begun["time"])
        reading.seconds = (min(first, at), max(last, at))
        counts = counted.metric.id == "cpu.time" and counted.with_period
        switch = scheduled is not None or counted.event.name == "context-switches"
        stands_for = value if reading.windows is None else value / reading.windows.part
        reading.clock.sample(thread, at, node, cut, stands_for if counts else None, switch=switch)
        if scheduled is not None:
            reading.clock.leaves(thread, at, process, preempted=scheduled["state"].startswith("R"))
            _comes(reading, scheduled, begun)


def _is_own(reading: _Reading, comm: str, thread: tuple[int, int]) -> bool:
    """True for threads of the program that perf ran, if that is known: the scheduler's events are recorded of the whole machine."""
    if comm == reading.program:
        reading.own.add(thread[0])
    reading.by_number[thread[1]] = thread
    return comm != "swapper" and (not reading.program or thread[0] in reading.own)


def _comes(reading: _Reading, scheduled: re.Match[str], begun: re.Match[str]) -> None:
    """The thread that a switch gives the core to, if it is one of the program's that was seen."""
    thread = reading.by_number.get(int(scheduled["next"]) + _moved(reading))
    if thread in reading.threads and begun["time"]:
        reading.clock.comes(thread, _time(reading, begun))


def _thread(reading: _Reading, match: re.Match[str]) -> tuple[int, int]:
    """(process, thread) of a line; −1 for a process that it does not tell."""
    moved = _moved(reading)
    return (int(match["pid"]) + moved, int(match["tid"]) + moved) if match["tid"] else (-1, int(match["pid"]) + moved)


def _moved(reading: _Reading) -> int:
    """What is added to the ids of the processes and threads of the rank that is read, so that they differ from all others'."""
    return (reading.rank + 1) * _OF_RANK


def _time(reading: _Reading, match: re.Match[str]) -> float:
    """Seconds by the clock of the first node. Each counts from its own start; the first ranks on all nodes are taken to begin together."""
    at = float(match["time"])
    if reading.windows is not None:
        at = reading.windows.stretched(at)
    if reading.node not in reading.ahead:
        reading.first = at if reading.first is None else reading.first
        reading.ahead[reading.node] = at - reading.first
    return at - reading.ahead[reading.node]


def _header(reading: _Reading, line: str) -> None:
    """A line of the header that perf script --header writes, or of ours."""
    windows = windows_of(line)
    if windows is not None:
        reading.windows, reading.clock.stretch = windows, 1 / windows.part
    key, colon, value = line.lstrip("# ").partition(":")
    key = key.strip()
    if key == "cmdline":
        reading.command = recorded(value.split())
        _, words = split(reading.command, lambda word: not word.isdecimal())
        reading.program = PurePath(words[0]).name[:_COMM] if words else ""
    value = value.strip()[:200]
    if key in _MARKS and value.isdecimal() and len(value) < 10:
        reading.rank, reading.node = (int(value), -1) if key == "rank" else (reading.rank, int(value))
        reading.nodes[reading.rank] = reading.node
    elif colon and key in _HARDWARE:
        reading.hardware.setdefault(_HARDWARE[key], value)
    elif key == "perf version":
        reading.version = value


def _profile(reading: _Reading) -> Profile:
    counted = list(reading.events.values())
    metrics = {found.metric.id: found.metric for found in counted if found.samples}
    if not metrics:
        raise AdapterError("its samples have no period", path=reading.path, hint=_HOW)
    main = min(counted, key=lambda found: (_RANK.get(found.metric.id, 9), -found.samples))
    samples = float(main.samples)
    ranks = _ranks(reading)
    if reading.clock.seen:
        reading.clock.ranks = ranks.keys()
        for thread, node, seconds in reading.clock.times():
            location = reading.threads.setdefault(thread, len(reading.threads))
            reading.stacks.add(WALL.id, node, seconds, location)
            reading.wall_seconds += seconds
        sampled = {WALL.id: WALL, **metrics}
        metrics = dict(sampled)
        for metric, thread, node, value in reading.clock.of_cores():
            if metric.id not in sampled:
                reading.stacks.add(metric.id, node, value, reading.threads[thread])
                metrics[metric.id] = metric
        samples += reading.clock.blocks
    reading.inlined.settle(reading.stacks)
    title = reading.comms.most_common(1)[0][0]
    where = _locations(reading, ranks)
    profile = reading.stacks.profile(
        reading.path, metrics.values(), where, format="Linux perf", tool="Linux perf", title=title
    )
    return replace(
        profile,
        metrics=metrics,
        sources=(Source(reading.path, "Linux perf", reading.version),),
        caveats=(*_caveats(reading, main), *(_ORDER if ranks and reading.rank < 0 else ())),
        not_collected=_not_collected(reading, main),
        run={"events": ", ".join(found.event.source or "samples" for found in counted)}
        | told_command(reading.command)
        | ({} if reading.seconds is None else {"seconds": f"{reading.seconds[1] - reading.seconds[0]:.3f}"}),
        hardware=_of_all_nodes(reading),
        sample_count=samples,
        recording=_recording(reading),
        sampled_code=tuple(code for event, code in annotated(reading.code) if event_of(event).name == main.event.name),
        read_timeline=partial(reading.clock.lanes, reading.threads) if reading.clock.seen else no_timeline,
    )


def _of_all_nodes(reading: _Reading) -> dict[str, str]:
    """The hardware with the processors of all nodes, which are taken to be alike."""
    told = reading.hardware.get("processors", "")
    return reading.hardware | (
        {"processors": str(int(told) * (len(set(reading.nodes.values())) or 1))} if told.isdecimal() else {}
    )


def _recording(reading: _Reading) -> str:
    """The time of the first and the last sample, of the clock since the machine started, and their number. Microseconds, which
    perf script writes unless it is asked for more (perf-script(1), --ns).
    """
    if reading.seconds is None:
        return ""
    first, last = (f"{time.partition('.')[0]}.{time.partition('.')[2][:6]:0<6}" for time in reading.ends)
    return f"perf: {sum(found.samples for found in reading.events.values())} samples from {first} to {last}"


_ORDER = ("perf does not record MPI ranks: processes that call MPI are numbered in the order of their process ids.",)


def _ranks(reading: _Reading) -> dict[int, int]:
    """Process id → number, for processes of programs that call MPI (no launcher does), and where marks tell ranks those of the program with
    most samples whether a call of MPI was seen or not; empty without one, and for a process alone.
    """
    programs = {reading.programs[pid] for pid in reading.using_mpi}
    if reading.rank >= 0 and not programs:
        programs = {name for name, _ in reading.comms.most_common(1)}
    processes = sorted(pid for pid, program in reading.programs.items() if pid >= 0 and program in programs)
    numbers = {pid: pid // _OF_RANK - 1 if pid >= _OF_RANK else at for at, pid in enumerate(processes)}
    return numbers if len(processes) > 1 else {}


def _locations(reading: _Reading, ranks: Mapping[int, int]) -> Locations:
    """One location a thread: numbered over the whole recording, or inside its rank."""
    number, seen = {}, Counter[int]()
    for pid, tid in sorted(reading.threads):
        group = ranks.get(pid, -1)
        number[pid, tid] = seen[group]
        seen[group] += 1
    thread = np.array([number[key] for key in reading.threads], dtype=np.int64)
    rank = np.array([ranks.get(pid, -1) for pid, _ in reading.threads], dtype=np.int64)
    node = np.array([reading.nodes.get(pid // _OF_RANK - 1, -1) for pid, _ in reading.threads], dtype=np.int64)
    return Locations.of(len(thread), thread=thread, rank=rank, node=node)


#: Of several events the first of these is what the time is explained by.
_RANK = {"cpu.time": 0, "cpu.cycles": 1, "cpu.samples": 2, "cpu.instructions": 3}


def _caveats(reading: _Reading, main: _Counted) -> tuple[str, ...]:
    found, recording = [], []
    lost = max(reading.lost.values(), default=0)
    if lost > _MOST_LOST * (lost + reading.written):
        part = numbers.percent(lost / (lost + reading.written))
        recording.append(f"perf lost {part} of its samples: times are less sure than their errors say. {_KEEP}")
    if reading.windows is not None:
        recording.append(reading.windows.said)
    if recording:  # what all values rest on stands first, as the first screen has room for few
        found.append(" ".join(recording))
    if not main.with_period and main.metric.id == "cpu.samples":
        found.append(
            "The samples do not say how much time each represents, so shares are known but seconds are not; "
            "perf script -F +period adds it; perf.data itself has it."
        )
    if not reading.chains:
        found.append("The samples have no call paths: who called whom is unknown.")
    nameless = sorted({PurePath(module).name for module in reading.stacks.modules_of(UNKNOWN)} - {""})
    if nameless and reading.clock.whole:
        shown = ", ".join(nameless[:_NAMED]) + (", …" if len(nameless) > _NAMED else "")
        found.append(f"Some frames have no symbol, as {shown} {'was' if len(nameless) == 1 else 'were'} stripped.")
    elif reading.stacks.has_name(UNKNOWN):
        found.append(
            "Some frames have no symbol: the program or a library was stripped, or was compiled without frame pointers "
            "(-fno-omit-frame-pointer, or record with --call-graph dwarf)."
        )
    if reading.idle:
        found.append(f"{reading.idle:,} samples of idle processors (swapper) are excluded.")
    if len(reading.comms) > 1:
        found.append(f"Samples of {len(reading.comms)} differently named processes and threads were merged.")
    if reading.invalid:
        found.append(f"{reading.invalid:,} lines are not part of a sample and were skipped.")
    clock = reading.clock
    if clock.seen:
        found.append(
            f"Where no sample was taken, time is counted after the thread's last one: {BLOCKED} while it waited, {KERNEL} while it ran "
            "in the kernel. What the program was doing there is near that sample, not necessarily at it."
        )
    if reading.without_period:
        found.append(f"{reading.without_period:,} samples have no period, unlike the others, and were skipped.")
    return tuple(found)


def _not_collected(reading: _Reading, main: _Counted) -> dict[str, str]:
    found: dict[str, str] = {}
    if not reading.chains:
        found["call paths"] = "perf record --call-graph dwarf ./app"
    if main.metric.id == "cpu.samples":
        found["host time"] = "perf record -e cpu-clock -g ./app"
    elif not reading.clock.seen:
        found["waiting (blocked and sleeping threads)"] = (
            "perf record --switch-events -e cpu-clock,context-switches -g ./app"
        )
    counters = {"cpu.cycles", "cpu.instructions", "cpu.cache.misses"}
    if not counters & {counted.metric.id for counted in reading.events.values()}:
        found["hardware counters (cache misses, instructions per cycle)"] = (
            "perf record -e cycles,instructions,cache-misses -g ./app"
        )
    if not reading.stacks.has_kind(NodeKind.LINE):
        found["source lines, loops and inlined functions"] = "perf record -g ./app (program with -g)"
    return found
