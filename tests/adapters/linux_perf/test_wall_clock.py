"""Wall-clock time from switches: what a schedule spent where, told by arithmetic on the schedule itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.adapters.glance import Glance
from chathpc.adapters.linux_perf import recognises
from chathpc.adapters.linux_perf.script import profile_of
from chathpc.diagnosis.diagnose import diagnose
from chathpc.profile.activity import Activity
from chathpc.profile.classification import classify
from chathpc.profile.metric import Clock
from chathpc.profile.profile import Profile
from chathpc.profile.timeline import WITHOUT_CORE
from tests.synthetic.perf_script import SCHEDULER

#: Nanoseconds that a sample of the CPU clock stands for.
PERIOD = 1_000_000


@dataclass
class Recording:
    """The text of perf script of a schedule; times in microseconds."""

    lines: list[tuple[int, int, str]] = field(default_factory=list)

    def _put(self, at: int, text: str) -> None:
        self.lines.append((at, len(self.lines), text))

    def sample(self, at: int, *stack: str, tid: int = 7, pid: int = 7, event: str = "cpu-clock:u") -> Recording:
        frames = "".join(f"\n\t{1000 + n:>16x} {frame}" for n, frame in enumerate(reversed(stack)))
        self._put(at, f"app {pid}/{tid} {at / 1e6:.6f}: {PERIOD} {event}: {frames}\n")
        return self

    def out(self, at: int, *, tid: int = 7, pid: int = 7, preempt: bool = False) -> Recording:
        self._put(at, f"app {pid}/{tid} {at / 1e6:.6f}: PERF_RECORD_SWITCH OUT {'preempt' if preempt else '       '}")
        return self

    def back(self, at: int, *, tid: int = 7, pid: int = 7) -> Recording:
        self._put(at, f"app {pid}/{tid} {at / 1e6:.6f}: PERF_RECORD_SWITCH IN         ")
        return self

    def ends(self, at: int, *, tid: int = 7, pid: int = 7) -> Recording:
        self._put(at, f"app {pid}/{tid} {at / 1e6:.6f}: PERF_RECORD_EXIT({pid}:{tid}):({pid}:{pid})")
        return self.out(at + 10, tid=tid, pid=pid)

    @property
    def text(self) -> str:
        return "\n".join(text for *_, text in sorted(self.lines)) + "\n"

    def profile(self) -> Profile:
        profile = profile_of(self.text.split("\n"), Path("perf.txt"))
        profile.tree.check()
        return profile


def spent(profile: Profile) -> dict[str, int]:
    """Microseconds by call path."""
    column, tree = profile.exclusive("cpu.time.wall"), profile.tree
    found: dict[str, int] = {}
    for node, value in zip(column.nodes.tolist(), column.values.tolist(), strict=True):
        path = "/".join(tree.label(step) for step in tree.path(node))
        found[path] = found.get(path, 0) + round(value * 1e6)
    return {path: value for path, value in found.items() if value}


MAIN, WORK = "main (/opt/app)", "work (/opt/app)"


def test_time_without_a_sample_is_behind_the_last_one() -> None:
    recording = Recording().back(0).sample(1000, MAIN, WORK).sample(2000, MAIN, WORK)
    recording.out(2400).back(9400).sample(10000, MAIN).sample(15000, MAIN, WORK).out(15500)
    profile = recording.profile()
    assert spent(profile) == {
        "app/main/work": 1000 + 1000 + 1000 + 500,
        "app/main/work/<blocked>": 7000,
        "app/main": 1000,
        # 5 ms on a core, of which the clock of the user's own code counted one.
        "app/main/<kernel>": 4000,
    }
    metric = profile.metrics["cpu.time.wall"]
    assert (metric.clock, profile.time) == (Clock.WALL, metric)
    assert profile.sees_waiting
    assert "waiting (blocked and sleeping threads)" not in profile.not_collected


def test_a_sample_of_the_switch_itself_is_the_place_where_the_thread_blocks() -> None:
    futex = ("__futex_wait (/lib/libc.so.6)",)
    recording = Recording().back(0).sample(1000, MAIN, WORK)
    recording.sample(1300, MAIN, *futex, event="context-switches").out(1310).back(5310).sample(6010, MAIN, WORK)
    recording.sample(6010, MAIN, WORK, event="page-faults")
    profile = recording.profile()
    assert spent(profile) == {
        "app/main/__futex_wait": 4000,
        "app/main/work": 1000 + 1010,
    }
    assert profile.sample_count == 3  # two of the clock and one of waiting; page faults tell no time


def test_a_thread_blocks_where_it_was_seen_to_block_and_not_in_the_loop_beside() -> None:
    """Of switches that are sampled seldom each sample stands for those before it; one for lack of a core stands for none."""
    sync = (MAIN, "fsync (/lib/libc.so.6)")
    recording = Recording().back(0)
    for begin in range(0, 60_000, 10_000):
        recording.sample(begin + 1000, MAIN, WORK)
        if begin in (20_000, 40_000):
            recording.sample(begin + 1990, MAIN, *sync[1:], event="context-switches")
        recording.out(begin + 2000).back(begin + 9000)
    recording.sample(60_990, MAIN, WORK, event="context-switches").out(61_000, preempt=True).back(62_000)
    found = spent(recording.profile())
    assert found["app/main/fsync"] == 6 * 7000
    assert not [path for path in found if path.endswith("<blocked>")]


def test_a_thread_that_waits_much_longer_than_it_was_ever_seen_to_waits_for_something_else() -> None:
    """Two short syncs in open are seen, and after them one wait that is not: the next sample is in run."""
    opened, ran, sync = "open (/opt/app)", "run (/opt/app)", "fsync (/lib/libc.so.6)"
    recording = Recording().back(0)
    for begin in (0, 10_000):
        recording.sample(begin + 1000, MAIN, opened, WORK)
        recording.sample(begin + 1990, MAIN, opened, sync, event="context-switches")
        recording.out(begin + 2000).back(begin + 9000)
    recording.out(19_500).back(919_500).sample(920_000, MAIN, ran).out(921_000).back(2_021_000)
    found = spent(recording.profile())
    assert found["app/main/open/fsync"] == 2 * 7000
    assert found["app/main/<blocked>"] == 900_000
    assert found["app/main/run/<blocked>"] == 1_100_000


def test_a_thread_that_has_ended_does_not_wait_until_another_one_has_its_number() -> None:
    recording = Recording().back(0).sample(1000, MAIN).sample(90_000, MAIN)
    for begin in (1000, 80_000):
        recording.back(begin, tid=8).sample(begin + 1000, WORK, tid=8).sample(begin + 2000, WORK, tid=8).ends(
            begin + 2500, tid=8
        )
    recording.lines.append((0, 0, "app 0/0 0.000000: PERF_RECORD_COMM: app:7/7"))
    assert float(recording.profile().run["seconds"]) < 1  # records of other kinds may have no time
    found = spent(recording.profile())
    assert found["app/work"] == 2 * 2500
    assert not [path for path in found if path.endswith("<blocked>")]


def polling(seen: int, call: str = "usleep (/lib/libc.so.6)") -> Recording:
    """A loop that computes a sine for 1 ms and waits for 9: of 200 waits `seen` begin with a sample of the call, the others with one of the sine."""
    recording = Recording().back(0)
    for turn in range(200):
        begin = 10_000 * turn
        recording.sample(begin + 1000, MAIN, "sin (/lib/libm.so.6)")
        if turn < seen:
            recording.sample(begin + 1001, MAIN, call)
        recording.out(begin + 1001).back(begin + 10_000)
    return recording


def test_calls_that_wait_tell_where_a_thread_blocked_after_it_computed() -> None:
    found = spent(polling(3).profile())
    assert found["app/main/usleep/<blocked>"] == 200 * 8999
    assert not [path for path in found if path.endswith("sin/<blocked>")]
    (first, *_) = diagnose(polling(3).profile()).findings
    assert (first.cause, first.where.function) == ("blocking-wait", "main")
    assert "waits in usleep" in first.summary
    device = spent(polling(3, "cudaDeviceSynchronize (/usr/lib/libcudart.so.12)").profile())
    assert device["app/main/cudaDeviceSynchronize/<blocked>"] == 200 * 8999


def test_a_few_calls_tell_nothing_of_the_others_and_nobody_waits_in_a_sine() -> None:
    found = spent(polling(2).profile())
    assert found["app/main/usleep/<blocked>"] == 2 * 8999
    assert found["app/main/sin/<blocked>"] == 198 * 8999
    assert "waits in sin" not in diagnose(polling(0).profile()).findings[0].summary
    text = Recording().back(0)
    for begin in range(0, 2_000_000, 10_000):
        text.sample(begin + 1000, MAIN, "snprintf (/lib/libc.so.6)").out(begin + 1001).back(begin + 10_000)
    assert "waits in snprintf" not in diagnose(text.profile()).findings[0].summary


def test_why_a_thread_blocks_is_not_known_where_its_stack_was_cut_short() -> None:
    start = "_start (/opt/app)"
    recording = Recording().back(0).sample(1000, "usleep (/lib/libc.so.6)").out(1000).back(9000)
    recording.sample(10_000, start, MAIN).out(10_000).back(12_000).sample(13_000, start, MAIN)
    assert spent(recording.profile()) == {
        "app/usleep": 1000,
        "app/<blocked>": 8000,
        "app/_start/main": 2000,
        "app/_start/main/<blocked>": 2000,
    }
    # A function of the program below says who waits, and a thread of OpenMP's runtime waits for nothing but the others.
    for stack in ((WORK, "usleep (/lib/libc.so.6)"), ("[unknown] (/lib/libgomp.so.1)",)):
        recording = Recording().back(0).sample(1000, *stack).out(1000).back(9000).sample(10_000, start, MAIN)
        path = "/".join(("app", *(frame.split(" ")[0] for frame in stack)))
        assert spent(recording.profile())[f"{path}/<blocked>"] == 8000
    # Where no stack has a beginning, none is worse than the others.
    recording = Recording().back(0).sample(1000, WORK).out(1000).back(9000).sample(10_000, WORK)
    assert spent(recording.profile()) == {"app/work": 2000, "app/work/<blocked>": 8000}


def test_a_thread_that_could_run_waits_for_nothing_of_the_program() -> None:
    recording = Recording().back(0).sample(1000, MAIN).out(1500, preempt=True).back(7500).sample(8000, MAIN).out(8000)
    profile = recording.profile()
    assert spent(profile) == {"app/main": 2000}
    assert [note for note in (*profile.caveats, *diagnose(profile).notes) if "had no core" in note] == [
        "Runnable threads had no core for 6.00 ms: other programs were running, or the threads are bound to too few cores; measure again on an idle machine."
    ]
    assert profile.total("cpu.time.no-core") == pytest.approx(0.006)
    assert profile.dense("cpu.time.no-core")[profile.tree.named("main")].sum() == pytest.approx(0.006)


@pytest.mark.parametrize(("step", "shares"), [(0, True), (20_000, False)])
def test_threads_share_cores_only_while_they_are_there_together(step: int, shares: bool) -> None:
    """Three threads that each run for 10 ms and have no core for 10 ms, beside each other or one after another, on two cores."""
    recording = Recording()
    for number in range(3):
        begin, tid = number * step, 7 + number
        recording.back(begin, tid=tid)
        for at in range(1000, 10_001, 1000):
            recording.sample(begin + at, MAIN, tid=tid)
        recording.out(begin + 10_000, tid=tid, preempt=True).back(begin + 20_000, tid=tid)
        recording.sample(begin + 20_001, MAIN, tid=tid).ends(begin + 20_001, tid=tid)
    profile = profile_of(["# nrcpus online : 2", *recording.text.split("\n")], Path("perf.txt"))
    (note,) = [note for note in diagnose(profile).notes if "had no core" in note]
    assert ("3 of the program share 2 cores" in note) == shares
    assert ("other programs were running" in note) != shares


def test_what_one_thread_does_while_another_has_no_core_is_told_beside_its_time() -> None:
    recording = Recording().back(0).sample(1000, MAIN).out(1500, preempt=True).back(7500).sample(8500, MAIN)
    # The other thread runs all the time, but for 2 ms in which it sleeps; 6 ms of it the first has no core.
    for at in range(1000, 5000, 1000):
        recording.sample(at, MAIN, WORK, tid=8)
    recording.out(4000, tid=8).back(6000, tid=8).sample(7000, MAIN, WORK, tid=8).sample(9000, MAIN, WORK, tid=8)
    profile = recording.profile()
    lacking = profile.exclusive("cpu.time.others-without-core")
    told = {
        profile.tree.label(node): round(value * 1e3, 3)
        for node, value in zip(lacking.nodes.tolist(), lacking.values.tolist(), strict=True)
    }
    assert told == {"work": 4.0, "<blocked>": 2.0}
    lanes = {lane.location: lane for lane in profile.timeline.lanes}
    assert sorted(lanes) == [0, 1]
    names = [profile.tree.label(int(node)) if node >= 0 else int(node) for node in lanes[0].node]
    assert list(zip((lanes[0].start // 1_000).tolist(), names, strict=True)) == [
        (1000, "main"),
        (1500, WITHOUT_CORE),
        (7500, "main"),
        (8500, "main"),
    ]


def test_what_a_thread_runs_after_it_waited_is_that_of_its_next_sample_in_the_trace_too() -> None:
    wait = "futex_wait (/lib/libc.so.6)"
    recording = Recording().back(0).sample(1000, MAIN, WORK).sample(2000, MAIN, wait, event="context-switches:u")
    recording.out(2010).back(5000).sample(6500, MAIN, WORK).sample(7500, MAIN)
    (lane,) = recording.profile().timeline.lanes
    tree = recording.profile().tree
    at = dict(zip((lane.start // 1_000).tolist(), [tree.label(int(node)) for node in lane.node], strict=True))
    assert (at[2010], at[5000], at[6500]) == ("<blocked>", "work", "work")


def test_a_thread_has_ended_until_another_one_gets_its_number() -> None:
    recording = Recording().back(0).sample(1000, MAIN).sample(2000, MAIN).sample(9000, MAIN)
    recording.back(0, tid=8).sample(1000, MAIN, WORK, tid=8).ends(1500, tid=8)
    recording.back(7000, tid=8).sample(8000, MAIN, WORK, tid=8).ends(8500, tid=8)
    profile = recording.profile()
    lane = next(each for each in profile.timeline.lanes if len(each.start) > 3)
    gone = lane.start[lane.node == -1] // 1_000
    assert gone.tolist() == [1500, 8500]


def test_a_process_that_waits_for_the_program_is_left_out() -> None:
    recording = (
        Recording().back(0, pid=3, tid=3).sample(500, "wait4 (/lib/libc.so.6)", pid=3, tid=3).out(600, pid=3, tid=3)
    )
    recording.back(600)
    for number in range(40):
        recording.sample(1000 + 1000 * number, MAIN)
    recording.back(50_000, pid=3, tid=3).out(50_100, pid=3, tid=3)
    assert spent(recording.profile()) == {"app/main": 40_000 + 400 - 1000}


def test_a_process_that_wakes_often_to_wait_again_is_left_out() -> None:
    recording = (
        Recording().back(0, pid=3, tid=3).sample(500, "poll (/lib/libc.so.6)", pid=3, tid=3).out(600, pid=3, tid=3)
    )
    recording.back(600)
    for number in range(40):
        recording.sample(1000 + 1000 * number, MAIN)
    for at in range(50_000, 60_000, 500):
        recording.back(at, pid=3, tid=3).sample(at + 5, "poll (/lib/libc.so.6)", event="context-switches", pid=3, tid=3)
        recording.out(at + 6, pid=3, tid=3)
    assert spent(recording.profile()) == {"app/main": 40_000 + 400 - 1000}


def test_a_short_process_that_works_for_the_program_counts() -> None:
    recording = Recording().back(0)
    for number in range(40):
        recording.sample(1000 + 1000 * number, MAIN)
    recording.back(41_000, pid=9, tid=9).sample(42_000, "deflate (/bin/gzip)", pid=9, tid=9).out(42_300, pid=9, tid=9)
    assert spent(recording.profile()) == {"app/main": 40_000, "app/deflate": 1300}


def test_without_records_of_switches_nothing_changes() -> None:
    profile = Recording().sample(1000, MAIN).sample(9000, MAIN).profile()
    assert set(profile.metrics) == {"cpu.time"}
    assert profile.time is not None
    assert profile.time.clock == Clock.CPU
    assert "waiting (blocked and sleeping threads)" in profile.not_collected


def test_records_of_switches_alone_are_known_for_what_they_are(tmp_path: Path) -> None:
    recording = Recording()
    for number in range(2000):
        recording.back(number * 10).out(number * 10 + 5)
    file = tmp_path / "perf.txt"
    file.write_text(recording.sample(30_000, MAIN).text)
    assert recognises(Glance(file))


@pytest.mark.parametrize(
    ("stack", "activity"),
    [
        ((MAIN, "fsync (/lib/libc.so.6)"), Activity.IO),
        ((MAIN, "GOMP_parallel (/lib/libgomp.so.1)", "solve._omp_fn.0 (/opt/app)"), Activity.OMP_WAIT),
        ((MAIN, "clone (/lib/libc.so.6)", "[unknown] (/lib/libgomp.so.1)"), Activity.OMP_WAIT),
        ((MAIN, "sin (/lib/libm.so.6)"), Activity.BLOCKED),
        ((MAIN, WORK), Activity.BLOCKED),
        ((MAIN, "MPI_Recv (/lib/libmpi.so.40)"), Activity.MPI),
        # Threads that a library runs for itself, and the loader before `main`, wait for nothing of the program.
        (("clone (/lib/libc.so.6)", "poll_loop (/lib/libevent.so.2)", "free (/lib/libc.so.6)"), Activity.HELPER),
        (("clone (/lib/libc.so.6)", "start_thread", "free (/lib/libc.so.6)"), Activity.HELPER),
        (("_start (/lib/ld.so)", "_dl_start", "dlopen_implementation"), Activity.HELPER),
    ],
)
def test_blocked_for_what_the_library_does_in_which_the_sample_is(stack: tuple[str, ...], activity: Activity) -> None:
    profile = Recording().back(0).sample(1000, *stack).out(1500).back(9000).sample(10_000, *stack).profile()
    tree = profile.tree
    node = next(n for n in range(len(tree)) if tree.label(n) == "<blocked>")
    assert Activity(int(classify(tree).kind[node])) == activity


def test_uneven_threads_are_found_though_they_sleep_at_the_barrier() -> None:
    """Two threads share a loop: one computes 200 ms, the other 100 ms, and then sleeps."""
    region = (MAIN, "GOMP_parallel (/lib/libgomp.so.1)", "solve._omp_fn.0 (/opt/app)")
    barrier = (MAIN, "GOMP_parallel (/lib/libgomp.so.1)", "[unknown] (/lib/libgomp.so.1)")
    recording = Recording().back(0, tid=7).back(0, tid=8)
    for number in range(200):
        recording.sample(1000 + 1000 * number, *region, tid=7)
    for number in range(100):
        recording.sample(1000 + 1000 * number, *region, tid=8)
    recording.sample(101_000, *barrier, tid=8).out(101_500, tid=8).back(200_000, tid=8).out(200_100, tid=8)
    recording.out(200_500, tid=7)
    first = diagnose(recording.profile()).findings[0]
    assert first.cause == "omp-load-imbalance"
    assert first.seconds == pytest.approx(0.1, rel=0.02)


STEPS = st.lists(
    st.tuples(st.sampled_from(["sample", "block", "preempt", "switch"]), st.integers(1, 9000), st.sampled_from("abc")),
    min_size=1,
    max_size=40,
)


@given(st.lists(STEPS, min_size=1, max_size=3))
def test_the_whole_is_the_life_of_each_thread_without_what_it_had_no_core_for_and_waited_to_begin(
    threads: list[list[tuple[str, int, str]]],
) -> None:
    recording, lives, without_core = Recording(), 0, 0
    for tid, steps in enumerate(threads, 11):
        at, lacked, sampled = 0, 0, False
        recording.back(0, tid=tid)
        for step, gap, name in steps:
            at += gap
            if step == "sample":
                recording.sample(at, MAIN, f"{name} (/opt/app)", tid=tid)
                sampled = True
            elif step == "switch":
                recording.sample(at, MAIN, f"{name} (/opt/app)", tid=tid, event="context-switches")
                sampled = True
            else:
                recording.out(at, tid=tid, preempt=step == "preempt").back(at + gap, tid=tid)
                at += gap
                lacked += gap if step == "preempt" or not sampled else 0
        if sampled:
            lives, without_core = lives + at, without_core + lacked
    if not any(step in ("sample", "switch") for steps in threads for step, *_ in steps):
        return
    assert sum(spent(recording.profile()).values()) == pytest.approx(lives - without_core, abs=100)


def test_the_schedulers_events_tell_where_the_program_blocks() -> None:
    """30 ms in fsync, 20 and 10 ms on a core, 5 ms without one; what else the machine did is excluded."""
    profile = profile_of(SCHEDULER.split("\n"), Path("perf.txt"))
    assert spent(profile) == {"heat/fsync/schedule": 30_000, "heat": 30_000}
    assert profile.total("cpu.time.no-core") == pytest.approx(0.005)
    assert profile.run["command"] == "./heat 9"
    assert profile.total("cpu.time.wall") == pytest.approx(0.06)


def test_switches_are_counted_where_they_were_not_sampled() -> None:
    recording = Recording().back(0).sample(1000, MAIN, WORK).out(1100).back(1200).out(1300, preempt=True).back(1400)
    profile = recording.sample(2000, MAIN, WORK).profile()
    assert profile.total("cpu.context-switches") == 2
    recording.sample(1090, MAIN, WORK, event="context-switches")
    assert recording.profile().total("cpu.context-switches") == PERIOD  # what the kernel counted
