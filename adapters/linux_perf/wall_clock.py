"""Wall-clock time of threads, from the times of their samples and of their switches (perf record --switch-events).

From one sample of the CPU clock to the next, what the clock counted (the sample's period) belongs to the new sample's place. What a
thread ran beyond that, it ran in the kernel, where users without rights get no samples, and while it was blocked it did not run: both
lie somewhere behind the sample before. Where switches are sampled too, but not each of them, the time of those between two samples
belongs to the place of the second, as with the clock. Only the time in which a thread could run, but had no core, belongs to nothing
that the program does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from chathpc.adapters.linux_perf.layout import SWITCH
from chathpc.adapters.stacks import Stacks
from chathpc.profile.activity import BLOCKED, KERNEL
from chathpc.profile.metric import Clock, Metric, Unit
from chathpc.profile.tree import NodeKind

METRIC = Metric(
    "cpu.time.wall",
    Unit.SECONDS,
    "wall-clock time of the threads (sampled), blocked ones as well",
    "samples and switches",
    "s",
    clock=Clock.WALL,
)
#: A sample of the event context-switches so shortly before its thread blocks (seconds) is that of this switch.
_AT_THE_SWITCH = 50e-6
#: Time beyond a sample's period that is no more than so many periods is that timers are late.
_LATE = 1.0
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
    samples: int = 0
    away: str = ""  #: blocked, preempted, or empty while it runs
    exact: bool = False  #: blocked at the last sample, which is of this switch
    blocks: Place | None = None  #: the last of these
    waited: dict[Place, float] = field(default_factory=dict)  #: blocked since then, by the last sample before
    ran: float = 0.0  #: seconds on a core since the last sample of the CPU clock
    blocked: float = 0.0  #: seconds of all
    present: float = 0.0
    spent: dict[int, float] = field(default_factory=dict)
    unclear: dict[Place, float] = field(default_factory=dict)  #: blocked where the stack was cut short

    def add(self, node: int, seconds: float) -> None:
        self.spent[node] = self.spent.get(node, 0.0) + seconds

    def wait(self, place: Place, seconds: float) -> None:
        if place[1] >= 0:
            self.unclear[place] = self.unclear.get(place, 0.0) + seconds
        else:
            self.add(place[0], seconds)


@dataclass(slots=True)
class WallClock:
    """Counts the time of all threads of a recording; `seen` is false where it has no records of switches."""

    stacks: Stacks
    seen: bool = False
    whole: bool = False  #: some stack reaches back to the beginning
    preempted: float = 0.0
    _threads: dict[Thread, _Thread] = field(default_factory=dict)

    def sample(
        self, thread: Thread, at: float, node: int, cut: int, clock: float | None = None, *, switch: bool = False
    ) -> None:
        """A sample at a context, in the order of time (seconds): of the CPU clock with the seconds that it stands for, or of a switch.

        `cut` is the context of the process if the stack does not reach back to the beginning of the program or thread, else −1.
        """
        known = self._at(thread, at)
        known.away = ""
        before = node if known.node < 0 else known.node
        if clock is not None:
            beyond = known.ran - clock
            if beyond <= _LATE * clock:
                known.add(node, known.ran)
            else:
                known.add(node, clock)
                known.add(self._behind(before, KERNEL), beyond)
            known.ran = 0.0
        known.node, known.cut, known.switched = node, cut, at if switch else float("-inf")
        known.samples += 1
        self.whole |= cut < 0

    def record(self, text: str, thread: Thread, at: float) -> None:
        """A line of perf script that is no sample; what is no record of a switch is passed over."""
        match = SWITCH.match(text)
        if match is None:
            return
        self.seen = True
        known = self._at(thread, at)
        known.away = "" if match["way"] == "IN" else "preempted" if match["preempt"] else "blocked"
        known.exact = known.away == "blocked" and at - known.switched <= _AT_THE_SWITCH
        if known.exact:
            known.blocks = known.node, known.cut
            self._settle(known)

    def _at(self, thread: Thread, at: float) -> _Thread:
        """The thread, its time counted up to this moment."""
        known = self._threads.get(thread)
        if known is None:
            known = self._threads[thread] = _Thread(at)
        begun, known.since = known.since, max(at, known.since)
        passed = known.since - begun
        if passed <= 0:
            return known
        known.present += passed
        known.blocked += passed * (known.away == "blocked")
        if known.away == "preempted":
            self.preempted += passed
        elif known.away == "":
            known.ran += passed
        elif known.node >= 0:  # before its first sample a thread only waits to begin
            place = known.node, known.cut
            if known.exact:
                known.wait(place, passed)
            else:
                known.waited[place] = known.waited.get(place, 0.0) + passed
        return known

    def _settle(self, known: _Thread) -> None:
        """Time blocked at switches that were not sampled: where the thread was seen to block, else behind the sample before."""
        for (node, cut), seconds in known.waited.items():
            known.wait(known.blocks or (self._behind(node, BLOCKED), cut), seconds)
        known.waited.clear()

    def _behind(self, node: int, name: str) -> int:
        return self.stacks.step(node, self.stacks.frame(name, kind=NodeKind.PLACEHOLDER))

    def _blocked(self, process: int) -> float:
        """The part of a process's time (0..1) in which its threads were blocked."""
        threads = [thread for (its, _), thread in self._threads.items() if its == process]
        present = sum(thread.present for thread in threads)
        return sum(thread.blocked for thread in threads) / present if present > 0 else 1.0

    def times(self) -> Iterator[tuple[Thread, int, float]]:
        """Thread, context and seconds; without processes that only wait for another one, and threads of which there is no sample."""
        samples: dict[int, int] = {}
        for (process, _), thread in self._threads.items():
            samples[process] = samples.get(process, 0) + thread.samples
        least = _LEAST_PART * max(samples.values(), default=0)
        few = {process for process, count in samples.items() if count < least}
        waits = {process for process in few if self._blocked(process) > _MOST_BLOCKED}
        for key, thread in self._threads.items():
            if key[0] in waits or thread.node < 0:
                continue
            self._settle(thread)
            yield key, thread.node, thread.ran  # since the last sample
            for node, seconds in thread.spent.items():
                yield key, node, seconds
            for (node, process), seconds in thread.unclear.items():
                # Where other stacks have a beginning, the callers of one that has none, and so the reason to wait, are not known.
                yield key, self._behind(process, BLOCKED) if self.whole else node, seconds
