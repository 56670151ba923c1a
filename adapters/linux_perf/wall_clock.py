"""Wall-clock time of threads, from the times of their samples and of their switches (perf record --switch-events).

From one sample of the CPU clock to the next, what the clock counted (the sample's period) belongs to the new sample's place. What a
thread ran beyond that, it ran in the kernel, where users without rights get no samples, and while it was blocked it did not run: both
lie somewhere behind the sample before. A call that blocks is short until it does, so that most of the samples before are of what was
computed on the way to it: of the blocks of a thread, those that began in a call that waits tell where the others did. Where switches
are sampled too, but not each of them, the time of those between two samples belongs to the place of the second, as with the clock.
Only the time in which a thread could run, but had no core, belongs to nothing that the program does.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

import numpy as np

from chathpc.adapters.linux_perf.events import event_of
from chathpc.adapters.linux_perf.frames import EXIT, SWITCH
from chathpc.adapters.stacks import Stacks
from chathpc.profile.activity import BLOCKED, KERNEL, MAY_BLOCK, OPENMP, Activity, activity_of, activity_of_module
from chathpc.profile.metric import NO_CORE, OTHERS_WITHOUT, Clock, Metric, Unit
from chathpc.profile.timeline import WITHOUT_CORE, Lane, Timeline
from chathpc.profile.tree import NodeKind

METRIC = Metric(
    "cpu.time.wall",
    Unit.SECONDS,
    "wall-clock time of the threads (sampled), including blocked ones",
    "samples and switches",
    "s",
    clock=Clock.WALL,
)
#: Beside it, what the switches tell of cores: they are no part of the wall-clock time, and a part of it.
BESIDE = (
    Metric(NO_CORE, Unit.SECONDS, "time in which threads were runnable but had no core", "switches", "s"),
    Metric(
        OTHERS_WITHOUT, Unit.SECONDS, "time of threads in which others were runnable but had no core", "switches", "s"
    ),
    replace(event_of("context-switches").metric(sampled=False), source_name="switches"),
)
_SWITCHES = BESIDE[-1].id
#: A sample of the event context-switches so shortly before its thread blocks (seconds) is that of this switch.
_AT_THE_SWITCH = 50e-6
#: Time beyond a sample's period that is no more than so many periods is that timers are late.
_LATE = 1.0
#: A block that took so many times as long as any that was seen to begin is of another kind: who syncs a file now and then may wait for
#: threads to the end.
_LONGER = 10.0
#: So many blocks have to begin in calls that wait before the others are taken to be of the same kinds.
_FEWEST_SEEN = 3
#: What runs without waiting, by the name of the function or its library; the program's own functions have to call something to wait.
_COMPUTES = (None, Activity.COMPUTE, Activity.MATH, Activity.COPY, Activity.ALLOCATION)
_WAITS = (*MAY_BLOCK, Activity.BLOCKED)
#: Processes with less than this part of the samples of the largest, and blocked for more than that of their time, only wait for it: shells,
#: launchers. What a program starts to work for it, such as gzip, may have few samples but is seldom blocked.
_LEAST_PART, _MOST_BLOCKED = 0.05, 0.5

Thread = tuple[int, int]
#: A context, and that of the process if the stack was cut short, else −1.
Place = tuple[int, int]


@dataclass(slots=True)
class _Thread:
    """Where a thread stands: its last sample, since when time is not yet counted, and why it does not run."""

    since: float
    node: int = -1
    cut: int = -1
    switched: float = float("-inf")  #: when the last sample was one of a switch
    samples: int = 0  #: those of switches apart, which a process that waits has many of
    away: str = ""  #: blocked, preempted, ended (until another thread gets its number), or empty while it runs
    exact: bool = False  #: blocked at the last sample, which is of this switch
    blocks: Place | None = None  #: the last of these
    longest: float = 0.0  #: of these, in seconds
    #: Blocks of another kind since the last sample: that, seconds, those with others without a core.
    longer: list[tuple[Place, float, float]] = field(default_factory=list)
    #: Since then, by the last sample before: seconds blocked, those with others without a core, how often.
    waited: dict[Place, tuple[float, float, int]] = field(default_factory=dict)
    lacking: float = 0.0  #: `_Team.lacking` when its time was counted last
    beside: float = 0.0  #: seconds of `ran` in which another thread of the process had no core
    ran: float = 0.0  #: seconds on a core since the last sample of the CPU clock
    blocked: float = 0.0  #: seconds of all
    present: float = 0.0
    spent: dict[int, float] = field(default_factory=dict)
    #: Where in its trace it got a core and was not sampled yet: what it ran since belongs to the next sample of the CPU clock.
    unsure: list[int] = field(default_factory=list)
    unclear: dict[Place, float] = field(default_factory=dict)  #: blocked where the stack was cut short

    def add(self, node: int, seconds: float) -> None:
        self.spent[node] = self.spent.get(node, 0.0) + seconds


@dataclass(slots=True)
class _Team:
    """The threads of a process: how many could run and have no core now, and the seconds in which there were such."""

    preempted: int = 0
    lacking: float = 0.0
    now: float = 0.0

    def until(self, at: float) -> float:
        """`lacking` at this moment; times that go back stand still."""
        self.lacking += max(at - self.now, 0.0) if self.preempted else 0.0
        self.now = max(at, self.now)
        return self.lacking


@dataclass(slots=True)
class WallClock:
    """Counts the time of all threads of a recording; `seen` is false where it has no records of switches."""

    stacks: Stacks
    seen: bool = False
    stretch: float = 1.0  #: a second of the recording is so many seconds here
    whole: bool = False  #: some stack reaches back to the beginning
    blocks: int = 0  #: switches by which a thread was blocked and that were sampled, so that they tell where it waited
    #: Processes that compute together, if such are known: a launcher may work much to start them.
    ranks: AbstractSet[int] = frozenset()
    beside: dict[tuple[str, Thread, int], float] = field(default_factory=dict)  #: values by metric, thread and context
    _teams: dict[int, _Team] = field(default_factory=dict)
    _trace: dict[Thread, tuple[array[int], array[int]]] = field(
        default_factory=dict
    )  #: since when (ns) a thread was at which context
    _threads: dict[Thread, _Thread] = field(default_factory=dict)

    def sample(
        self, thread: Thread, at: float, node: int, cut: int, clock: float | None = None, *, switch: bool = False
    ) -> None:
        """A sample at a context, in the order of time (seconds): of the CPU clock with the seconds that it stands for, or of a switch.

        `cut` is the context of the process if the stack does not reach back to the beginning of the program or thread, else −1.
        """
        known = self._at(thread, at)
        self._goes(thread, known, "")
        before = node if known.node < 0 else known.node
        if known.longer:
            self._between(thread, known, node)
        if clock is not None:
            beyond = known.ran - clock
            if beyond <= _LATE * clock:
                known.add(node, known.ran)
            else:
                known.add(node, clock)
                known.add(self._behind(before, KERNEL), beyond)
            self._beside(OTHERS_WITHOUT, thread, node, known.beside)
            known.ran = known.beside = 0.0
            for position in known.unsure:
                self._trace[thread][1][position] = node
            known.unsure.clear()
        known.node, known.cut, known.switched = node, cut, at if switch else float("-inf")
        known.samples += not switch
        self._seen_at(thread, at, node)
        self.whole |= cut < 0

    def record(self, text: str, thread: Thread, at: float) -> None:
        """A line of perf script that is no sample; what is no record of a switch is passed over."""
        if text.startswith(EXIT):
            self._goes(thread, self._at(thread, at), "ended")
            self._seen_at(thread, at, -1)
            return
        match = SWITCH.match(text)
        if match is None:
            return
        self._switched(thread, at, "" if match["way"] == "IN" else "preempted" if match["preempt"] else "blocked")

    def leaves(self, thread: Thread, at: float, process: int, *, preempted: bool) -> None:
        """A thread whose switch was sampled loses its core; what it ran since it came is somewhere in the program, the context `process`."""
        known = self._at(thread, at)
        known.add(process, known.ran)
        known.ran = 0.0
        self._switched(thread, at, "preempted" if preempted else "blocked")

    def comes(self, thread: Thread, at: float) -> None:
        """A thread gets a core."""
        self._switched(thread, at, "")

    def _switched(self, thread: Thread, at: float, away: str) -> None:
        self.seen = True
        known = self._at(thread, at)
        if known.away == "ended" and away:
            return  # its last switch
        if known.node >= 0:
            gone = WITHOUT_CORE if away == "preempted" else self._behind(known.node, BLOCKED)
            self._seen_at(thread, at, gone if away else known.node)
            if away:
                self._beside(_SWITCHES, thread, known.node, self.stretch)
            else:
                known.unsure.append(len(self._trace[thread][0]) - 1)
        self._goes(thread, known, away)
        known.exact = known.away == "blocked" and at - known.switched <= _AT_THE_SWITCH * self.stretch
        if known.exact:
            self.blocks += 1
            known.blocks = known.node, known.cut
            self._settle(thread, known)

    def _goes(self, thread: Thread, known: _Thread, away: str) -> None:
        self._teams[thread[0]].preempted += (away == "preempted") - (known.away == "preempted")
        known.away = away

    def _seen_at(self, thread: Thread, at: float, node: int) -> None:
        times, nodes = self._trace.setdefault(thread, (array("q"), array("i")))
        times.append(max(round(at * 1e9), times[-1] if times else 0))
        nodes.append(node)

    def lanes(self, location: Mapping[Thread, int]) -> Timeline | None:
        """Where each thread was over time, once the tree is made; −1 where it had not begun yet, or had ended."""
        waits = self._only_waiting()
        found = []
        for thread, (times, contexts) in self._trace.items():
            if thread[0] in waits or thread not in location:
                continue
            context = np.frombuffer(contexts, dtype=np.int32)
            node = np.where(context >= 0, self.stacks.nodes[context], context).astype(np.int32)
            found.append(Lane(location[thread], np.frombuffer(times, dtype=np.int64).astype(np.uint64), node))
        if not found:
            return None
        return Timeline(
            int(min(each.start[0] for each in found)), int(max(each.start[-1] for each in found)), tuple(found)
        )

    def _at(self, thread: Thread, at: float) -> _Thread:
        """The thread, its time counted up to this moment."""
        lacking = self._teams.setdefault(thread[0], _Team()).until(at)
        known = self._threads.get(thread)
        if known is None:
            known = self._threads[thread] = _Thread(at, lacking=lacking)
        begun, known.since = known.since, max(at, known.since)
        beside, known.lacking = lacking - known.lacking, lacking
        passed = known.since - begun
        if passed <= 0 or known.away == "ended":
            return known
        known.present += passed
        known.blocked += passed * (known.away == "blocked")
        if known.away == "preempted":
            self._beside(NO_CORE, thread, known.node, passed)
        elif known.away == "":
            known.ran += passed
            known.beside += beside
        elif known.node >= 0:  # before its first sample a thread only waits to begin
            place = known.node, known.cut
            if known.exact:
                known.longest = max(known.longest, passed)
                self._wait(thread, known, place, passed, beside)
            elif known.longest and passed > _LONGER * known.longest:
                known.longer.append((place, passed, beside))
            else:
                before = known.waited.get(place, (0.0, 0.0, 0))
                known.waited[place] = before[0] + passed, before[1] + beside, before[2] + 1
        return known

    def _between(self, thread: Thread, known: _Thread, after: int) -> None:
        """Blocks of another kind lie somewhere in what the samples before and after them are both in; the last one behind the sample before."""
        for (node, cut), seconds, beside in known.longer:
            both = self.stacks.common(node, after) if after >= 0 else node
            self._wait(thread, known, (self._behind(node if both < 0 else both, BLOCKED), cut), seconds, beside)
        known.longer = []

    def _settle(self, thread: Thread, known: _Thread) -> None:
        """Time blocked at switches that were not sampled: where the thread was seen to block, else behind the sample before."""
        waited, known.waited = known.waited, {}
        if not waited:
            return
        if known.blocks:
            for seconds, beside, _ in waited.values():
                self._wait(thread, known, known.blocks, seconds, beside)
            return
        for (node, cut), (seconds, beside, _) in self._told_by_calls(waited).items():
            self._wait(thread, known, (self._behind(node, BLOCKED), cut), seconds, beside)

    def _told_by_calls(
        self, waited: Mapping[Place, tuple[float, float, int]]
    ) -> Mapping[Place, tuple[float, float, int]]:
        """`waited` with what follows samples of computing shared among the calls that wait, in their proportions, if enough were seen."""
        # Text is put together before it is written.
        kinds = {
            place: None if "printf" in name else activity_of(name, module)
            for place, (name, module) in zip(waited, self.stacks.functions(node for node, _ in waited), strict=True)
            if name and not name.startswith("[")
        }
        calls = {place: waited[place] for place, kind in kinds.items() if kind in _WAITS}
        if sum(count for *_, count in calls.values()) < _FEWEST_SEEN:
            return waited
        moved = {place for place, kind in kinds.items() if kind in _COMPUTES}
        seen = sum(seconds for seconds, *_ in calls.values())
        of_all = 1 + sum(waited[place][0] for place in moved) / seen
        beside = sum(waited[place][1] for place in moved) / seen
        kept = {place: values for place, values in waited.items() if place not in moved}
        return kept | {
            place: (seconds * of_all, without + seconds * beside, count)
            for place, (seconds, without, count) in calls.items()
        }

    def _wait(self, thread: Thread, known: _Thread, place: Place, seconds: float, beside: float) -> None:
        node, cut = place
        if cut >= 0:
            known.unclear[place] = known.unclear.get(place, 0.0) + seconds
        else:
            known.add(node, seconds)
            self._beside(OTHERS_WITHOUT, thread, node, beside)

    def _beside(self, name: str, thread: Thread, node: int, value: float) -> None:
        if node >= 0 and value > 0:
            key = name, thread, node
            self.beside[key] = self.beside.get(key, 0.0) + value

    def _behind(self, node: int, name: str) -> int:
        return self.stacks.step(node, self.stacks.frame(name, kind=NodeKind.PLACEHOLDER))

    def _blocked(self, process: int) -> float:
        """The part of a process's time (0..1) in which its threads were blocked."""
        threads = [thread for (its, _), thread in self._threads.items() if its == process]
        present = sum(thread.present for thread in threads)
        return sum(thread.blocked for thread in threads) / present if present > 0 else 1.0

    def _only_waiting(self) -> set[int]:
        """The processes that only wait for another one."""
        samples: dict[int, int] = {}
        for (process, _), thread in self._threads.items():
            samples[process] = samples.get(process, 0) + thread.samples
        least = _LEAST_PART * max(samples.values(), default=0)
        few = {
            process for process, count in samples.items() if count < least or (self.ranks and process not in self.ranks)
        }
        return {process for process in few if self._blocked(process) > _MOST_BLOCKED}

    def of_cores(self) -> Iterator[tuple[Metric, Thread, int, float]]:
        """Metric of `BESIDE`, thread, context and value; of the same threads as `times`."""
        waits, metrics = self._only_waiting(), {metric.id: metric for metric in BESIDE}
        for (name, thread, node), value in self.beside.items():
            if thread[0] not in waits:
                yield metrics[name], thread, node, value

    def times(self) -> Iterator[tuple[Thread, int, float]]:
        """Thread, context and seconds; without processes that only wait for another one, and threads of which there is no sample."""
        waits = self._only_waiting()
        for key, thread in self._threads.items():
            if key[0] in waits or thread.node < 0:
                continue
            self._settle(key, thread)
            self._between(key, thread, -1)
            yield key, thread.node, thread.ran  # since the last sample
            for node, seconds in thread.spent.items():
                yield key, node, seconds
            for (node, process), seconds in thread.unclear.items():
                yield key, self._behind(process, BLOCKED) if self.whole and not self._tells(node) else node, seconds

    def _tells(self, node: int) -> bool:
        """True for a stack that tells why its thread waits although it has no beginning, which others have: if it holds a function of the
        program, or ends in OpenMP's runtime, whose threads wait for nothing but each other. Of a library's call without a caller
        nobody knows whose it is.
        """
        frames = [(name, module) for name, module in self.stacks.around(node) if module and not module.startswith("[")]
        if any(activity_of_module(module) is None for _, module in frames):
            return True
        return bool(frames) and activity_of(*frames[0]) in OPENMP
