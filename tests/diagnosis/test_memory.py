from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from chathpc.profile.timeline import Lane, Timeline
from tests.diagnosis.parts import causes, diagnosed, finding, function, libc, main, statements, sure, thread
from tests.profile.build import build, call, line, loop

REST = function("rest", line("app.c:40", time=5.0), at="app.c:39")


def churning(*calls: object, in_loop: bool = True):
    body = line("app.c:11", *calls)
    return function("grow", loop("app.c:10", body) if in_loop else body, at="app.c:9")


@pytest.mark.parametrize(
    ("name", "cause", "words"),
    [
        ("malloc", "allocation-churn", "grow allocates and releases memory in a loop: 50.0 % of the time."),
        ("_int_free", "allocation-churn", "grow allocates and releases memory in a loop: 50.0 % of the time."),
        ("__memmove_avx_unaligned_erms", "redundant-copies", "grow copies memory in a loop: 50.0 % of the time."),
    ],
)
def test_time_in_a_memory_function_counts_for_its_caller(name: str, cause: str, words: str) -> None:
    diagnosis = diagnosed(build(main(churning(libc(name, time=5.0)), REST)))
    found = finding(diagnosis, cause)
    assert (found.where.function, found.where.short) == ("grow", "app.c:11")
    assert (found.share, found.seconds, found.summary, found.against) == (0.5, 5.0, words, ())
    first, second = statements(diagnosis, cause)
    assert first.endswith("takes 5.00 s of 10.0 s (50.0 %).")
    what = "copying and setting" if "copies" in cause else "allocating and releasing"
    assert second == f"Calls from grow take 5.00 s of the 5.00 s of {what} memory (100 %)."


def test_outside_of_loops_it_may_happen_once() -> None:
    found = finding(diagnosed(build(main(churning(libc("malloc", time=5.0), in_loop=False), REST))), "allocation-churn")
    assert found.against == ("It was not seen inside a loop: it may happen once.",)
    assert found.summary == "grow allocates and releases memory: 50.0 % of the time."
    assert found.confidence == sure(1, against=1)


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("malloc", "app.c"),
        ("malloc", "app.f90"),
        ("malloc", "app.py"),
        ("malloc", "app.rs"),
        ("runtime.mallocgc", "app.go"),
    ],
)
def test_another_allocator_is_for_programs_that_call_malloc(name: str, file: str) -> None:
    """Go's runtime asks the kernel for memory itself (runtime/malloc.go), so that no preloaded allocator is ever called."""
    allocator = libc(name, time=5.0) if name == "malloc" else call(name, time=5.0)
    grow = function("main.grow", line(f"{file}:11", allocator), at=f"{file}:9")
    found = finding(diagnosed(build(main(grow))), "allocation-churn")
    told = " ".join((*found.advice, found.next_measurement or ""))
    assert ("jemalloc" in told) == (name == "malloc")
    assert ("GODEBUG=gctrace=1" in told) == (name != "malloc")


def test_less_than_a_tenth_is_no_finding() -> None:
    assert causes(build(main(churning(libc("malloc", time=0.5)), REST))) == ["hot-compute"]


def test_what_several_functions_allocate_is_not_put_down_to_one() -> None:
    other = function("shrink", loop("app.c:20", line("app.c:21", libc("free", time=2.0))), at="app.c:19")
    found = finding(diagnosed(build(main(churning(libc("malloc", time=3.0)), other, REST))), "allocation-churn")
    assert found.where.function == "grow"
    assert found.summary == "grow allocates and releases memory in a loop: 30.0 % of the time (50.0 % program-wide)."


def test_memory_functions_of_no_known_caller_are_no_finding() -> None:
    assert causes(build(main(REST), thread(libc("malloc", time=5.0)))) == ["hot-compute"]


@pytest.mark.parametrize(("allocated_at", "goes"), [("app.c:11", True), ("app.c:12", False)])
def test_with_a_copy_goes_the_memory_that_it_was_allocated(allocated_at: str, goes: bool) -> None:
    """Without 4 s of copies and 2 s of the memory for them, 11 s are 5 s."""
    memory = function("grow", line(allocated_at, libc("malloc", time=1.0), libc("free", time=1.0)), at="app.c:9")
    found = finding(diagnosed(build(main(churning(libc("memmove", time=4.0)), memory, REST))), "redundant-copies")
    assert found.share == pytest.approx(4 / 11)
    assert found.speedup_bound is not None
    assert (found.speedup_bound >= 11 / 5) is goes


# -- memory-leak ---------------------------------------------------------------------------------------------


def session(allocated: float, freed: float | None, *, elsewhere: float = 0.0):
    def amounts(a: float, f: float | None):
        return {"memory.allocated.bytes": a} | ({} if f is None else {"memory.freed.bytes": f})

    window = function("window", line("app.c:31", libc("malloc", values=amounts(allocated, freed))), at="app.c:30")
    table = function("table", line("app.c:61", libc("malloc", values=amounts(elsewhere, elsewhere))), at="app.c:60")
    return build(main(REST, window, table))


def test_memory_that_stays_is_a_leak_where_it_was_allocated() -> None:
    diagnosis = diagnosed(session(8e6, 6e6, elsewhere=12e6))
    first = diagnosis.findings[0]
    assert (first.cause, first.where.function, first.where.short) == ("memory-leak", "window", "app.c:31")
    assert (first.seconds, first.share, first.impact, first.weight) == (0.0, 0.0, 0.1, 0.1)
    assert first.speedup_bound is None
    assert first.confidence_reason == "2 independent signs, times measured, not sampled, 1 thing against it"
    assert statements(diagnosis, "memory-leak") == [
        "Memory that is never freed is 2.00 MB of the 20.0 MB of allocated memory (10.0 %).",
        "Memory allocated in window is 2.00 MB of the 2.00 MB of memory that is never freed (100 %).",
    ]


def test_a_leak_was_counted_so_few_samples_do_not_hide_it() -> None:
    values = {"memory.allocated.bytes": 8e6, "memory.freed.bytes": 2e6}
    window = function("window", line("app.c:31", libc("malloc", time=0.1, values=values)), at="app.c:30")
    diagnosis = diagnosed(build(main(window)))
    assert (diagnosis.verdict, [each.cause for each in diagnosis.findings]) == ("bottleneck", ["memory-leak"])
    assert diagnosis.notes[0].startswith("About 20 samples are too few for any percentage")


def test_without_a_count_of_what_was_freed_nothing_was() -> None:
    assert finding(diagnosed(session(8e6, None)), "memory-leak").impact == 1.0


@pytest.mark.parametrize(
    ("allocated", "freed"),
    [(900_000.0, 0.0), (8e6, 8e6), (8e6, 9e6), (100e6, 98.5e6)],  # below 1 MB; nothing; more freed; 1.5 %
)
def test_little_that_stays_is_no_leak(allocated: float, freed: float) -> None:
    assert "memory-leak" not in causes(session(allocated, freed))


def test_a_leak_of_nobody_known_is_no_finding() -> None:
    worker = thread(libc("malloc", values={"memory.allocated.bytes": 8e6}))
    assert "memory-leak" not in causes(build(main(REST), worker))


# -- page-faults ---------------------------------------------------------------------------------------------


def touching(faults: float, *, time: str = "cpu.time", in_loop: bool = True):
    amounts = {"cpu.page-faults": faults, time: 4.0}
    body = line("app.c:20", values=amounts)
    edges = function("edges", loop("app.c:19", body) if in_loop else body, at="app.c:18")
    rest = function("rest", line("app.c:40", values={time: 6.0, "cpu.page-faults": faults / 4}))
    return build(main(edges, rest))


def test_page_faults_cost_at_least_half_a_microsecond_each() -> None:
    # 4,000,000 and a quarter as many at half a microsecond: 2.5 s of 10 s.
    diagnosis = diagnosed(touching(4e6))
    found = finding(diagnosis, "page-faults")
    assert (found.where.function, found.share, found.seconds) == ("edges", 0.25, 2.5)
    assert statements(diagnosis, "page-faults") == [
        "Page faults take at least 2.50 s of 10.0 s (25.0 %): 5.00 M faults, each 500 ns.",
        "edges has 80.0 % of the page faults.",
    ]
    assert found.confidence == sure(2, against=1)


def test_page_faults_cost_what_one_costs_on_the_machine_where_that_was_measured() -> None:
    # 1,250,000 at 2.4 µs are 3 s; at half a microsecond they would be no finding.
    profile = replace(touching(1e6), run={"page_fault": "2.4e-06"})
    diagnosis = diagnosed(profile)
    found = finding(diagnosis, "page-faults")
    assert (found.share, found.against) == (pytest.approx(0.3), ())
    assert statements(diagnosis, "page-faults")[0] == (
        "Page faults take about 3.00 s of 10.0 s (30.0 %): 1.25 M faults, each 2.40 µs."
    )
    assert "page-faults" not in causes(replace(profile, run={"page_fault": "nan"}))


def test_page_faults_never_cost_more_than_the_run() -> None:
    assert finding(diagnosed(touching(4e9)), "page-faults").share == 1.0


def test_page_faults_outside_of_loops_are_one_sign_only() -> None:
    assert finding(diagnosed(touching(4e6, in_loop=False)), "page-faults").confidence == sure(1, against=1)


def test_few_page_faults_or_a_time_without_seconds_are_no_finding() -> None:
    assert "page-faults" not in causes(touching(1e6))  # 0.625 s of 10 s
    assert "page-faults" not in causes(touching(4e6, time="cpu.cycles"))


def test_page_faults_of_nobody_known_are_no_finding() -> None:
    worker = thread(libc("memset", values={"cpu.page-faults": 4e6}))
    assert "page-faults" not in causes(build(main(REST), worker))


# -- page faults in samples of the kernel ------------------------------------------------------------------------


@pytest.mark.parametrize("module", ["[kernel.kallsyms]", None])
def test_time_of_the_kernel_for_pages_counts_for_the_line_that_touches_them(module: str | None) -> None:
    clear = call("clear_page_erms", module=module, time=3.0)
    fault = call("asm_exc_page_fault", call("handle_mm_fault", clear, module=module, time=2.0), module=module)
    diagnosis = diagnosed(build(main(churning(fault), REST)))
    found = finding(diagnosis, "page-faults")
    assert (found.where.function, found.where.short, found.share, found.against) == ("grow", "app.c:11", 0.5, ())
    assert statements(diagnosis, "page-faults") == [
        "The kernel's handling of page faults takes 5.00 s of 10.0 s (50.0 %).",
        "Calls from grow take 5.00 s of the 5.00 s of the kernel's handling of page faults (100 %).",
    ]


def test_time_of_the_kernel_tells_the_cost_of_faults_that_were_counted_too() -> None:
    # 2,000,000 faults in 5 s are 2.5 µs each, five times what one costs at least.
    fault = call("asm_exc_page_fault", module="[kernel.kallsyms]", time=5.0, values={"cpu.page-faults": 2e6})
    diagnosis = diagnosed(build(main(churning(fault), REST)))
    found = finding(diagnosis, "page-faults")
    assert (found.where.short, found.share, found.confidence) == ("app.c:11", 0.5, sure(3))
    assert statements(diagnosis, "page-faults")[0] == (
        "The kernel's handling of page faults takes 5.00 s of 10.0 s (50.0 %): 2.00 M faults, each 2.50 µs."
    )


def test_memory_that_is_supplied_more_often_than_it_is_held_is_no_first_touch() -> None:
    # 2,000,000 faults of 4,096 bytes are 8.19 GB, 20.5 times the 400 MB that were held.
    fault = call("asm_exc_page_fault", module="[kernel.kallsyms]", time=5.0, values={"cpu.page-faults": 2e6})
    profile = build(main(churning(fault, in_loop=False), REST))
    once = finding(diagnosed(profile), "page-faults")
    assert (once.summary, len(once.against)) == ("grow touches memory for the first time: 50.0 % of the time.", 1)
    diagnosis = diagnosed(replace(profile, run={"peak_memory": "400000000"}))
    again = finding(diagnosis, "page-faults")
    assert again.summary == "grow touches memory for the first time again and again: 50.0 % of the time."
    assert (again.against, again.confidence) == ((), sure(3))
    assert statements(diagnosis, "page-faults")[2] == (
        "The memory that page faults supplied is 8.19 GB, and no process of the program held more than 400 MB (20.5 times as much)."
    )
    assert finding(diagnosed(replace(profile, run={"peak_memory": "5e9"})), "page-faults").against == once.against
    counted = replace(touching(4e6, in_loop=False), run={"peak_memory": "1e9", "page_fault": "1e-6"})
    assert finding(diagnosed(counted), "page-faults").confidence == sure(2)


@pytest.mark.parametrize("early", [True, False])
def test_memory_that_a_trace_shows_to_be_touched_once_is_no_cause(early: bool) -> None:
    """Four of ten samples are in the page fault handler: the first four, or every second one of the first eight."""
    fault = call("asm_exc_page_fault", module="[kernel.kallsyms]", time=4.0)
    profile = build(main(churning(fault, in_loop=False), REST))
    tree = profile.tree
    touch, work = (int(np.flatnonzero(tree.named(name))[0]) for name in ("asm_exc_page_fault", "rest"))
    order = [touch] * 4 + [work] * 6 if early else [touch, work] * 4 + [work] * 2
    node = np.repeat(order, 20).astype(np.int32)
    start = np.arange(len(node), dtype=np.uint64) * 10_000_000
    timeline = Timeline(0, int(start[-1]), (Lane(0, start, node),))
    traced = replace(profile, sample_count=float(len(node)), read_timeline=lambda: timeline)
    assert ("page-faults" in causes(traced)) == (not early)


def test_page_faults_below_a_copy_belong_to_the_copy_and_those_of_setting_memory_to_themselves() -> None:
    fault = call("asm_exc_page_fault", module="[kernel.kallsyms]", time=4.0)
    copying = churning(libc("__memmove_avx_unaligned_erms", fault, time=1.0))
    assert causes(build(main(copying, REST)))[0] == "redundant-copies"
    setting = churning(libc("__memset_avx2_unaligned_erms", fault, time=1.0))
    assert causes(build(main(setting, REST)))[0] == "page-faults"
