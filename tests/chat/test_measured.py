"""Questions that name a quantity are answered with what was measured of it; numbers by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from chathpc.adapters.darshan import profile as darshan_log
from chathpc.adapters.hpctoolkit.vocabulary import metric_for
from chathpc.chat.conversation import Conversation
from chathpc.chat.index import short_name
from chathpc.chat.intents import match
from chathpc.chat.quantities import named, opposite
from chathpc.chat.render import written
from chathpc.chat.session import Session
from chathpc.chat.tools import Column, call
from chathpc.diagnosis.catalogue import causes
from chathpc.diagnosis.catalogue.search import about
from chathpc.profile import numbers
from chathpc.profile.location import Locations
from chathpc.profile.metric import Aggregation, Metric, Unit
from chathpc.profile.metric import Column as Values
from chathpc.profile.profile import RANKS_ADDED, Profile
from chathpc.profile.remark import Device
from chathpc.profile.run import PEAK_MEMORY
from chathpc.profile.values import MemoryValues
from tests.chat.profiles import calls, ints
from tests.chat.questions import session as example
from tests.diagnosis.kernels import one, report
from tests.profile.build import build, entry, kernel, nested
from tests.profile.build import call as function


@pytest.fixture(scope="module")
def session() -> Session:
    return Session(calls())


def counted() -> Session:
    """The profile of `calls`, with 7 and 21 calls of solve and dot, 12 context switches in dot, and the occupancy of dot, 48 %."""
    before = calls()
    tree = before.tree
    metrics = {
        "calls.count": Metric("calls.count", Unit.COUNT, "calls", "ncalls"),
        "cpu.context-switches": Metric("cpu.context-switches", Unit.COUNT, "context switches", "context-switches"),
        "gpu.kernel.occupancy": Metric(
            "gpu.kernel.occupancy", Unit.PERCENT, "theoretical occupancy: warps that fit", "occ", aggregation=Aggregation.DERIVED
        ),
    }  # fmt: skip
    values = {
        "calls.count": Values(ints(1, 3), np.array([7.0, 21.0])),
        "cpu.context-switches": Values(ints(3), np.array([12.0])),
    }
    occupancy = {"gpu.kernel.occupancy": Values(ints(3), np.array([48.0]))}
    whole = {id: Values(np.arange(6, dtype=np.int32), tree.inclusive(one.dense(6))) for id, one in values.items()}
    own = {id: before.values.exclusive(id) for id in before.metrics}
    below = {id: before.values.inclusive(id) for id in before.metrics}
    times = {"cpu.time": before.values.per_location("cpu.time", np.arange(6, dtype=np.int32), inclusive=False)}
    both = MemoryValues(tree, {**own, **values, **occupancy}, {**below, **whole}, 2, times)
    return Session(replace(before, metrics={**before.metrics, **metrics}, values=both))


def ask(session: Session, question: str) -> str:
    return Conversation(session).ask(question).text


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("how many bytes are written?", "Bytes written: 4.10 kB (io.write.bytes)."),  # 4,096 by io_write
        ("how much data is written", "Bytes written: 4.10 kB (io.write.bytes)."),
        ("io.write.bytes of solve", "Bytes written of solve: 0 B (io.write.bytes)."),
        ("bytes written in io_write", "Bytes written of io_write: 4.10 kB (io.write.bytes)."),
        ("how many context switches were there", "Context switches: 12 (cpu.context-switches)."),
        ("context switches?", "Context switches: 12 (cpu.context-switches)."),
        ("how often is dot called?", "Calls of dot: 21 (calls.count)."),
        ("how many bytes did each rank write?", "Bytes written: 4.10 kB (io.write.bytes)."),
        ("what is the theoretical occupancy?", "Theoretical occupancy of dot: 48.0 % (gpu.kernel.occupancy)."),
        ("what is the occupancy?", "Theoretical occupancy of dot: 48.0 % (gpu.kernel.occupancy)."),
    ],
)
def test_a_question_that_names_a_metric_is_answered_with_its_value(question: str, told: str) -> None:
    assert ask(counted(), question) == told


@pytest.mark.parametrize(
    "question", ["how much data was read?", "how many bytes were read?", "how many fsync calls were there?"]
)
def test_another_quantity_is_none(question: str) -> None:
    told = ask(counted(), question)
    assert "written" not in told
    assert "21" not in told


def test_what_a_place_has_itself_is_told_apart_from_what_it_calls() -> None:
    told = call(
        Session(calls()), "measured", {"metric": "cpu.time", "place": "solve"}
    ).text  # of its own 2, its line 6, dot 10
    assert told == "Time of the threads of solve: 8.00 s itself, 18.0 s with all that it calls (cpu.time)."


def test_launches_that_differ_are_told_with_their_range() -> None:
    # The same kernel from two places, with 100 and 300 blocks.
    ways = [
        function(name, kernel("k", values={"gpu.kernel.blocks": blocks}))
        for name, blocks in (("a", 100.0), ("b", 300.0))
    ]
    told = call(
        Session(build(function("main", *ways, time=1.0))), "measured", {"metric": "gpu.kernel.blocks", "place": "k"}
    ).text
    assert "200 on average, 100 to 300" in told


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("which kernel has the lowest gpu.kernel.occupancy?", "of l: 20 ("),
        ("which kernel has the highest gpu.kernel.occupancy?", "of k: 60 ("),
        ("which kernel is the fastest?", "least gpu.kernel.time"),
    ],
)
def test_what_has_most_or_least_of_a_metric_comes_first(question: str, first: str) -> None:
    kernels = [("k", 2.0, 60.0), ("m", 5.0, 40.0), ("l", 1.0, 20.0)]
    each = (
        kernel(name, values={"gpu.kernel.time": time, "gpu.kernel.occupancy": part, "gpu.kernel.count": 3.0})
        for name, time, part in kernels
    )
    assert first in ask(Session(build(function("main", *each, time=1.0))), question)


def test_the_opposite_of_a_metric_is_asked_for_with_one_word() -> None:
    assert opposite("bytes written", "and read?") == "bytes read"
    assert opposite("bytes written", "and in all?") == ""


def test_the_time_of_metadata_is_measured() -> None:
    metrics = {
        id: Metric(id, Unit.SECONDS, words, id)
        for id, words in {"io.time": "input and output", "io.meta.time": "opens and stats"}.items()
    }
    assert [one.id for one in named(Session(replace(calls(), metrics=metrics)), "metadata time")] == ["io.meta.time"]


def test_the_time_of_all_kernels_is_told() -> None:
    both = (kernel(name, values={"gpu.kernel.time": time}) for name, time in (("k", 2.0), ("l", 5.0)))
    assert (
        "All kernels have 7.00 s."
        in call(Session(build(function("main", *both, time=1.0))), "top", {"by": "kernel"}).text
    )


def test_what_a_block_size_and_precisions_are_called() -> None:
    names = {"gpu.kernel.blocks": "blocks per launch (grid size)", "gpu.kernel.threads-per-block": "threads per block"}
    names |= {
        "gpu.kernel.pipe.fp64": "busy part of the FP64 pipe",
        "gpu.kernel.flops.fp64": "double precision operations per second",
    }
    metrics = {id: Metric(id, Unit.COUNT, words, id) for id, words in names.items()}
    asked = Session(replace(calls(), metrics=metrics))
    for words, id in (("block size", "threads-per-block"), ("grid size", "blocks"), ("FP64 operations", "flops.fp64")):
        assert [one.id for one in named(asked, words)] == [f"gpu.kernel.{id}"]


def test_a_short_name_means_all_that_have_it() -> None:
    one, other = (
        kernel(f"void k<{kind}>(int)", values={"gpu.kernel.count": count})
        for kind, count in (("int", 2.0), ("float", 5.0))
    )
    profile = build(function("main", one, other, time=1.0))
    intent = match("how much time does k take?", Session(profile))
    assert len(Session(profile).find(str(intent.arguments["place"])).nodes) == 2


def test_a_name_that_is_too_long_to_be_read_is_short_without_its_template_arguments() -> None:
    parts = ", ".join(f"lib::Part<lib::Shape<(int){size}, (int)64>, lib::TensorOp>" for size in range(100))
    assert short_name(f"void lib::Gemm<lib::Tile<{parts}>>(T1::Params)") == "Gemm"


@pytest.mark.parametrize("defined", ["malloc", "__GI___libc_malloc"])
def test_a_function_of_a_library_is_meant_with_the_stub_by_which_it_is_called(defined: str) -> None:
    profile = build(
        function(
            "main", function("fill", function(defined, time=1.0)), function("grow", function("malloc@plt", time=0.5))
        )
    )
    told = ask(Session(profile), "who calls malloc?")
    assert "is called by 2 functions" in told
    assert "was taken for" not in told


def test_a_term_that_was_measured_is_told_with_its_value_before_its_definition(session: Session) -> None:
    told = ask(counted(), "what is occupancy?")
    assert told.startswith("Theoretical occupancy of dot: 48.0 % (gpu.kernel.occupancy). Occupancy: Active warps")
    assert ask(session, "what is occupancy?").startswith("Occupancy: Active warps")


def test_a_rank_has_its_own_value() -> None:
    # Of the 20 s rank 0 has 0.5 + 1 + 2 + 3 + 1 + 0.5.
    told = call(Session(calls()), "measured", {"metric": "cpu.time", "who": "rank 0"})
    assert told.text == "Time of the threads of rank 0: 8.00 s (cpu.time)."
    assert call(Session(calls()), "measured", {"metric": "cpu.time", "who": "rank 7"}).error


def test_words_name_the_metrics_that_have_them_all_else_those_of_each_word(session: Session) -> None:
    assert [one.id for one in named(counted(), "context switches")] == ["cpu.context-switches"]
    assert [one.id for one in named(counted(), "calls written")] == ["calls.count", "io.write.bytes"]
    assert named(session, "time") == []  # all could have that
    assert named(session, "cache misses") == []


def test_how_long_calls_take_is_not_how_many_they_are() -> None:
    assert match("how much time do the calls take", counted()).tool != "measured"
    assert match("who calls dot", counted()).tool == "callers"


def test_a_problem_is_told_with_what_was_found_of_it_first() -> None:
    omp = example("omp")
    number, found = next(
        (at, one) for at, one in enumerate(omp.diagnosis.findings, 1) if one.cause == "omp-load-imbalance"
    )
    told = call(omp, "catalogue", {"words": "omp-load-imbalance"})
    assert told.text.startswith(f"Found here, as finding {number}: {found.summary}")
    assert told.lines[0] == f"Do: {found.advice[0]}"
    assert [line for line in told.lines if line.startswith("Against it")] == [
        f"Against it: {each}" for each in found.against
    ]
    assert told.lines[-1] == f"Next: {found.next_measurement}"
    assert " It was not found in this run." in call(omp, "catalogue", {"words": "false-sharing"}).text
    assert " This profile cannot show it." in call(omp, "catalogue", {"words": "gpu-low-occupancy"}).text


def test_variants_of_a_library_function_are_found_by_its_name() -> None:
    mathematics = Session(calls(("main", "solve", "__sin_fma", "io_write")))
    assert ask(mathematics, "who calls sin?").startswith("__sin_fma is called by 2 functions.")  # solve, and itself


def test_a_program_that_is_not_known_gets_no_command_to_measure_it() -> None:
    unknown = call(Session(calls()), "scaling")  # two ranks, by a reader that tells no command
    assert unknown.lines[0].startswith("Measure the same problem on 2 and on 4 ranks as this run was measured")
    assert not any("srun" in line for line in unknown.lines)
    named = call(
        example("mpi"), "scaling"
    ).lines  # an HPCToolkit database tells no arguments; ranks are started as all commands start them
    assert named[0].startswith("Measure the same problem on 4 and on 8 ranks, with the program's own arguments")
    assert named[1:3] == tuple(f"    mpirun -n {ranks} hpcrun -e REALTIME -t ./mpi_imb" for ranks in (4, 8))


@pytest.mark.parametrize(
    ("value", "unit", "text"), [(1, "samples", "1 sample"), (1, "processes", "1 process"), (2, "samples", "2 samples")]
)
def test_one_of_something_is_no_plural(value: float, unit: str, text: str) -> None:
    assert numbers.quantity(value, unit) == text


def log() -> Profile:
    """Two ranks for 10 s: 6 GB written in 3 s by 4 writes, 1 GB read in 1 s; a.dat has all writes, b.dat the reads, and 2 s of opens."""
    writes = function(
        "write", values={"io.time": 3.0, "io.write.time": 3.0, "io.write.bytes": 6e9, "io.write.count": 4.0}
    )
    reads = function("read", values={"io.time": 1.0, "io.read.time": 1.0, "io.read.bytes": 1e9, "io.read.count": 1.0})
    opens = function("open", values={"io.time": 2.0, "io.meta.time": 2.0, "io.meta.count": 7.0})
    files = (nested("a.dat", writes, values={"io.files": 1.0}), nested("b.dat", reads, opens, values={"io.files": 1.0}))
    run = {"processes": "2", "seconds": "10"}
    found = build(entry("job", *files, values={"run.time": 20.0}), locations=Locations.of(1), run=run)
    known = {one.id: one for one in darshan_log.METRICS}
    return replace(found, metrics={id: known[id] for id in found.metrics})


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("what is the write bandwidth?", ": 2.00 GB a second"),  # 6 GB in 3 s
        ("read bandwidth", ": 1.00 GB a second"),
        ("whats the average write size", "Mean size of writes: 1.50 GB"),  # 6 GB in 4 writes
        ("how much data was written", "Bytes written: 6.00 GB"),
    ],
)
def test_rates_and_means_follow_from_what_was_measured(question: str, told: str) -> None:
    assert told in ask(Session(log()), question)


def test_a_rate_of_ranks_is_told_of_all_over_the_run_too() -> None:
    # Bytes and times of ranks are sums: 6 GB in 3 s of the ranks, and in the 10 s that the run took.
    two = replace(log(), where=Locations.of(2, rank=np.arange(2)))
    text = call(Session(two), "measured", {"metric": "io.write.bandwidth"}).text
    assert "2.00 GB a second in each process; of all, over the 10.0 s of the run, 600 MB a second" in text


def test_instructions_per_cycle_are_told_or_what_would_count_them() -> None:
    counts = {"cpu.instructions": 3e9, "cpu.cycles": 2e9}
    assert (
        ask(Session(build(function("f", values=counts))), "what is the ipc?")
        == "Instructions per cycle: 1.50 (IPC; cpu.ipc)."
    )
    text = ask(Session(build(function("f", time=1.0))), "what is the ipc?")
    assert text.startswith("Not measured in this run; to measure it: perf stat -e cycles,instructions ./app")
    of_kernels = {"gpu.time": 1.0, "gpu.kernel.time": 1.0}  # which perf cannot count
    text = ask(Session(build(kernel("k", values=of_kernels))), "what is the ipc?")
    assert text.startswith("Not measured in this run; to measure it: ncu --set full ./app")
    assert "Instructions that a core completes per clock cycle" in text
    text = ask(Session(build(kernel("k", values=of_kernels))), "how much memory does it use?")
    assert "ncu" not in text  # which measures no memory of the process
    assert "Not measured" not in ask(Session(calls()), "what is a cache line?")


def test_what_is_little_beside_the_largest_stands_in_a_unit_of_its_own() -> None:
    columns = (Column("of"), Column("time", "s"))
    assert [row[1] for row in written(columns, [("a", 36000.0), ("b", 7200.0), ("c", 49.0), ("d", 0.0)])] == [
        "10.0 h",
        "2.0 h",
        "49.0 s",
        "0 s",
    ]


def test_where_nothing_was_found_the_fix_is_no_missing_finding() -> None:
    quiet = Session(build(function("f", values={"cpu.time": 1e-6})))
    assert not quiet.diagnosis.findings
    assert ask(quiet, "how do i fix it") == quiet.diagnosis.headline
    assert ask(quiet, "how long was spent in io") != ""


def test_time_in_files_that_is_no_part_of_the_run_is_answered_as_the_diagnosis_says() -> None:
    wrong = Session(
        build(entry("job", function("open", values={"io.time": 90.0, "io.meta.time": 90.0}), values={"run.time": 20.0}))
    )
    assert ask(wrong, "how long was spent in io") == wrong.diagnosis.headline


@pytest.mark.parametrize(
    ("question", "told", "rows"),
    [
        (
            "which file takes longest?",
            "Of 2 files a.dat takes longest: time 3.00 s (50.0 % of all)",
            ["a.dat", "b.dat"],
        ),
        ("which file is written most?", "a.dat is written most", ["a.dat", "b.dat"]),
        (
            "where does it read most of its data from?",
            "b.dat is read most: time 3.00 s (50.0 % of all), read 1.00 GB (100 % of all)",
            ["b.dat", "a.dat"],
        ),
        ("which file is the largest?", "a.dat has most data read and written", ["a.dat", "b.dat"]),
        ("which file is opened most?", "b.dat is opened", ["b.dat", "a.dat"]),
    ],
)
def test_files_of_a_log_are_told_by_what_was_asked(question: str, told: str, rows: list[str]) -> None:
    (step,) = Conversation(Session(log())).ask(question).steps
    assert told in step.text
    assert [row[0] for row in step.rows] == rows


def test_without_a_log_files_are_those_of_the_source(session: Session) -> None:
    assert [row[:2] for row in call(session, "files").rows] == [("heat.c", 20.0)]  # all of it
    assert "Darshan" in call(session, "files", {"by": "written"}).hint


def test_which_gpu_it_was_is_told_as_the_profile_describes_it(session: Session) -> None:
    one = Device(
        "NVIDIA A100", multiprocessors=108, memory=40_000_000_000, bandwidth=1.5e12, clock=1.41e9, capability="8.0"
    )
    text = ask(Session(replace(calls(), devices={0: one, 1: one})), "which gpu was it?")
    assert text.startswith(
        "It ran on 2 x NVIDIA A100 (108 multiprocessors, 40.0 GB of memory with 1.50 TB a second at most, 1,410 MHz"
    )
    assert ask(session, "which gpu?") == "The profile has nothing of a GPU."


def test_what_was_measured_of_a_problem_comes_before_that_it_was_not_found() -> None:
    values = {"gpu.time": 1.0, "gpu.kernel.time": 1.0, "gpu.kernel.occupancy": 98.0, "gpu.kernel.registers": 24.0}
    one = Session(build(kernel("k", values=values)))
    text = ask(one, "is the occupancy low?")
    assert text.index("98") < text.index("24") < text.index("No finding of 'Low occupancy'")
    assert call(one, "catalogue", {"words": "low occupancy"}).facts[0].value == 98.0
    assert "the rest of the run is not in the profile" in ask(one, "how much of the run is this kernel?")
    # A profile of kernels alone has nothing of the memory of the host.
    assert not any("likwid" in line for line in call(one, "findings", {"words": "memory bandwidth"}).lines)


def test_accesses_that_are_coalesced_or_not_are_the_same_question() -> None:
    assert [one.id for one in about("coalesced", causes(), keywords=False)] == ["gpu-uncoalesced-access"]
    assert not about("mem", causes(), keywords=False)  # short words are no parts of others


def test_how_much_memory_was_used_is_told_or_how_to_measure_it(session: Session) -> None:
    assert "to measure it: /usr/bin/time -v ./app" in ask(session, "how much memory does it use?")
    held = Session(replace(calls(), run={PEAK_MEMORY: "3e9"}))
    assert ask(held, "how much memory does it use?").startswith("A process held 3.00 GB at most.")


def test_times_added_up_over_ranks_are_no_balance() -> None:
    text = ask(Session(build(function("f", time=8.0), run={RANKS_ADDED: "4"})), "how good is the load balance?")
    assert "added up over 4 ranks, so that their balance is not known" in text


def test_functions_without_lines_are_no_lines() -> None:
    bare = Session(build(function("f", time=8.0)))
    assert call(bare, "top", {"by": "line"}).error == "The profile has no line with cpu.time."


def test_american_spelling_names_the_same_problem() -> None:
    assert about("vectorized", causes(), keywords=False) == about("vectorised", causes(), keywords=False) != ()


@pytest.mark.parametrize("question", ["how much data is copied?", "how many bytes are copied to the device?"])
def test_a_metric_that_the_profiler_hides_is_told_where_no_other_one_is_meant(question: str) -> None:
    """HPCToolkit hides the bytes of copies; without them the nearest was the static memory of kernels."""
    values = {"gpu.copy.count": 3.0, "gpu.copy.h2d.bytes": 2.88e9, "gpu.kernel.static-memory": 16.0}
    plain = build(function("main", time=1.0, values=values))
    metrics = {name: replace(one, hidden=name.startswith("gpu.copy.h2d")) for name, one in plain.metrics.items()}
    one = Session(replace(plain, metrics=metrics))
    assert "2.88 GB" in ask(one, question)
    assert "gpu.copy.h2d.bytes" in call(one, "metrics", {"search": "copy"}).text + str(
        call(one, "metrics", {"search": "copy"}).rows
    )


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("question", ["how much memory is allocated?", "how much GPU memory was allocated?"])
def test_memory_that_is_allocated_on_a_gpu_is_told_in_bytes(question: str, hidden: bool) -> None:
    """Memory sets were told, whose name has `memory`, too."""
    values = {"gpu.alloc.time": 0.25, "gpu.alloc.count": 6.0, "gpu.alloc.dev.bytes": 3e9, "gpu.memset.count": 9.0}
    plain = build(function("main", time=1.0, values=values))
    named_so = ["GMEM (sec)", "GMEM:COUNT", "GMEM:DEV (B)", "GMSET:COUNT"]
    metrics = {one.id: replace(one, hidden=hidden and one.unit == Unit.BYTES) for one in map(metric_for, named_so)}
    text = ask(Session(replace(plain, metrics={**plain.metrics, **metrics})), question)
    assert "memory sets" not in text
    if hidden:  # what a profiler shows is told before what it hides
        assert text.startswith("GPU memory allocations and releases: 6 (gpu.alloc.count)")
        alone = {id: one for id, one in metrics.items() if not id.startswith("gpu.alloc.") or one.hidden}
        text = ask(Session(replace(plain, metrics={"cpu.time": plain.metrics["cpu.time"], **alone})), question)
    assert text.startswith("Bytes of GPU memory allocated or released: 3.00 GB (gpu.alloc.dev.bytes)")


@pytest.mark.parametrize(
    "question",
    ["are tensor cores used?", "do the kernels use the tensor cores?", "how well are the tensor cores used?"],
)
def test_whether_tensor_cores_are_used_is_told_as_it_was_measured(question: str) -> None:
    values = {"gpu.time": 1.0, "gpu.kernel.time": 1.0}
    for id, value, words, unit, told in (
        ("gpu.kernel.pipe.tensor", 12.5, "busy part of the tensor pipe", Unit.PERCENT, "12.5 %"),
        ("gpu.kernel.flops.tensor", 5e12, "operations of tensor instructions per second", Unit.COUNT, "5.00 T"),
    ):
        plain = build(kernel("gemm<TensorOp>", values={**values, id: value}))
        metrics = {**plain.metrics, id: Metric(id, unit, words, id, aggregation=Aggregation.DERIVED)}
        assert told in ask(Session(replace(plain, metrics=metrics)), question)
    steps = Conversation(Session(build(kernel("k", values=values)))).ask(question).steps
    assert any("ncu --section ComputeWorkloadAnalysis" in line for step in steps for line in step.lines)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("how many bytes go from host to device?", "2.62 G"),
        ("how much data goes over PCIe?", "2.62 G"),
        ("what is the main stall reason?", "GPU stalls, waiting for a barrier: 9"),
        ("which transfer bandwidth is achieved?", "per second"),
        ("do we have bank conflicts?", "No finding of 'Bank conflicts in shared memory'"),
    ],
)
def test_a_quantity_is_found_by_the_words_that_people_use(question: str, told: str) -> None:
    described = {
        "gpu.copy.h2d.bytes": ("bytes copied from host to device", 2.62e9),
        "gpu.copy.h2d.time": ("time of copies from host to device", 0.25),
        "gpu.stall.other": ("GPU stalls: waiting for other reasons", 3.0),
        "gpu.stall.barrier": ("GPU stalls: waiting for a barrier", 9.0),
        "gpu.kernel.bank-conflicts": ("additional wavefronts through bank conflicts", 0.0),
    }
    values = {"gpu.time": 1.0, "gpu.kernel.time": 1.0} | {id: value for id, (_, value) in described.items()}
    plain = build(kernel("k", values=values))
    metrics = {id: replace(plain.metrics[id], description=words) for id, (words, _) in described.items()}
    assert told in ask(Session(replace(plain, metrics={**plain.metrics, **metrics})), question)


def test_who_asks_for_a_quantity_by_its_name_is_told_that_and_not_the_finding_that_has_the_word() -> None:
    few = {"occupancy": 25.0, "achieved_occupancy": 24.0, "eligible_warps": 0.3}
    asked = Session(report(one(**few, sm_throughput=20.0, memory_throughput=20.0)))
    assert asked.diagnosis.findings[0].title == "Low occupancy"
    for question in ("what is the achieved occupancy?", "what is the achieved occupancy and what limits it?"):
        assert "24.0 % (gpu.kernel.achieved-occupancy)" in ask(asked, question)
    assert "1. Low occupancy" in ask(asked, "what about the occupancy?")


def test_whether_copies_are_pinned_and_rates_in_their_unit_are_found() -> None:
    pageable = "bytes copied from or to host memory that was not pinned"
    described = {
        "gpu.copy.pageable.bytes": (pageable, Unit.BYTES, 3_000.0),
        "gpu.copy.count": ("copies between host and device", Unit.COUNT, 7.0),
        "gpu.kernel.dram-rate": ("bytes per second from and to device memory", Unit.BYTES, 2.33e11),
        "gpu.kernel.dram-throughput": ("throughput of device memory, of peak", Unit.PERCENT, 53.4),
    }
    values = {"gpu.time": 1.0, "gpu.kernel.time": 1.0} | {id: value for id, (*_, value) in described.items()}
    plain = build(kernel("k", values=values))
    metrics = {
        id: Metric(id, unit, words, id, aggregation=Aggregation.DERIVED if "kernel" in id else Aggregation.SUM)
        for id, (words, unit, _) in described.items()
    }
    asked = Session(replace(plain, metrics={**plain.metrics, **metrics}))
    for question in ("are the copies pinned?", "do the copies use pinned memory?"):
        assert "not pinned: 3.00 kB" in ask(asked, question)
    assert "233 GB a second" in ask(asked, "what is the DRAM bandwidth in GB/s?")


def test_whether_a_host_computes_is_not_looked_for_in_kernels() -> None:
    answer = Conversation(example("omp")).ask("is it compute bound?")
    assert "'Limited by arithmetic throughput'. This profile cannot show it." in answer.text  # which is of GPUs
    assert not any("ncu" in line for line in answer.steps[0].lines)
    assert any("-e instructions" in line for line in answer.steps[0].lines)


def test_of_limits_the_lowest_is_told_first() -> None:
    limits = {"gpu.kernel.limit.blocks": 32.0, "gpu.kernel.limit.warps": 16.0, "gpu.kernel.limit.registers": 2.0}
    plain = build(kernel("k", values={"gpu.kernel.time": 1.0, **limits}))
    metrics = {
        id: Metric(id, Unit.COUNT, id, id.replace("gpu.kernel.", "launch__occupancy_"), aggregation=Aggregation.DERIVED)
        for id in limits
    }
    asked = Session(replace(plain, metrics={**plain.metrics, **metrics}))
    assert ask(asked, "what limits the occupancy?").index("registers") < 30
    assert match("what limits the kernel?", asked).tool == "findings"


def test_a_metric_that_was_not_collected_is_told_with_what_would() -> None:
    found = call(example("omp"), "metrics", {"search": "cache"})
    assert found.error == "No metric has 'cache' in its name."
    assert found.hint.startswith("Not collected: hardware counters (cache misses")


def test_the_time_of_what_is_counted_as_well_is_told_where_time_is_asked_for() -> None:
    values = {"gpu.copy.count": 3.0, "gpu.copy.time": 0.25}
    assert "250 ms" in ask(
        Session(build(function("main", time=1.0, values=values))), "how much time is spent in copies?"
    )


def test_who_calls_the_one_function_of_a_library_that_allocates_is_told() -> None:
    """Of 8 MB that malloc has allocated, copy_in asked for 6 and set_up for 2."""
    nodes = [
        function(
            caller, function("malloc [libc.so.6]", values={"memory.allocated.bytes": size}, module="/usr/lib/libc.so.6")
        )
        for caller, size in (("copy_in", 6e6), ("set_up", 2e6))
    ]
    rows = call(Session(build(entry("main", *nodes, time=1.0))), "measured", {"metric": "memory.allocated.bytes"}).rows
    assert rows == (("copy_in", 6e6), ("set_up", 2e6))
