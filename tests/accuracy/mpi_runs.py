"""Generated traces of MPI programs with a known fault: each rank is a list of steps, and a simulation says who waits when."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tests.accuracy.draw import Draw
from tests.accuracy.recipes import Truth, place, recipe, truth
from tests.synthetic.mpi_program import Event, Network, Step, simulate
from tests.synthetic.otf2 import write_otf2

MPI, OTF2 = "mpi", "OTF2"
#: Ticks of a millisecond.
MS = 1000
Programs = Mapping[int, Sequence[Step]]


def traced(
    draw: Draw, folder: Path, programs: Programs, network: Network, file: str, lines: Mapping[str, int]
) -> tuple[dict[int, list[Event]], list[str]]:
    """The trace of a program with set-up work: its events, and the names of the profiles."""
    start = draw.names.function()
    programs = {
        rank: [
            ("call", "MPI_Init", 40 * MS), ("compute", start, round(draw.near(6 * MS))), ("collective", "BARRIER", None, 0),
            *steps, ("call", "MPI_Finalize", 2 * MS),
        ]
        for rank, steps in programs.items()
    }  # fmt: skip
    events = simulate(programs, network)
    places = {name: (file, line) for name, line in {**lines, start: 20, "main": 88}.items()}
    write_otf2(folder / "trace", events, lines=places)
    return events, ["trace"]


def part_of(events: Mapping[int, Iterable[Event]], *names: str) -> float:
    """Part of the ranks' time that is in calls with these names."""
    inside = whole = 0
    for own in events.values():
        begun: dict[str, int] = {}
        for at, what, given in own:
            if what == "enter":
                begun[given] = at
            elif what == "leave" and given in (*names, "main"):
                spent = at - begun[given]
                inside, whole = (inside, whole + spent) if given == "main" else (inside + spent, whole)
    return inside / whole


def within(function: str, *steps: Step) -> list[Step]:
    return [("enter", function), *steps, ("leave", function)]


@recipe("mpi-late-sender", MPI, 2)
def taking_turns(draw: Draw, folder: Path) -> Truth:
    ranks, count, file = draw.width(4, 8), draw.steps(30, 60), draw.names.file()
    first, inner, step = (draw.names.function() for _ in range(3))
    edge, rest, size = draw.real(6, 12) * MS, draw.real(2, 5) * MS, draw.whole(100, 2000)
    programs: dict[int, list[Step]] = {rank: [] for rank in range(ranks)}
    for _ in range(count):
        for rank in range(ranks):
            work = [("compute", first, round(draw.near(edge, 0.02))), ("compute", inner, round(draw.near(rest, 0.02)))]
            other = rank + 1 if rank % 2 == 0 else rank - 1
            order = [work[0], ("send", other, size), work[1], ("recv", other, size)]
            if rank % 2:
                order = [("recv", other, size), *work, ("send", other, size)]
            programs[rank] += within(step, *order)
    network = Network(latency=3, per_byte=0.0001, overhead=1)
    events, profiles = traced(draw, folder, programs, network, file, {first: 30, inner: 40, step: 60})
    why = f"pairs of ranks take turns: each needs what the other sends only after {first}, so that one of the two always waits in MPI_Recv"
    return truth("mpi-late-sender", OTF2, profiles, part_of(events, "MPI_Recv"), why, where=place(step, file=file),
                 functions=(step, first, inner, "main"))  # fmt: skip


@recipe("mpi-late-sender", MPI, 2)
def serial_pipeline(draw: Draw, folder: Path) -> Truth:
    ranks, count, file = draw.width(4, 6), draw.steps(8, 16), draw.names.file()
    work, sweep = (draw.names.function() for _ in range(2))
    each, size = draw.real(12, 25) * MS, draw.whole(1000, 8000)
    programs: dict[int, list[Step]] = {rank: [] for rank in range(ranks)}
    for _ in range(count):
        for rank in range(ranks):
            steps: list[Step] = [("recv", rank - 1, size)] if rank else []
            steps.append(("compute", work, round(draw.near(each, 0.02))))
            steps += [("send", rank + 1, size)] if rank < ranks - 1 else []
            programs[rank] += [*within(sweep, *steps), ("collective", "ALLREDUCE", None, 8)]
    network = Network(latency=3, per_byte=0.0001, overhead=1, transfer=10)
    events, profiles = traced(draw, folder, programs, network, file, {work: 30, sweep: 60})
    why = "each rank begins when the one before it is done, so that one works at a time; the reduction after it waits for the last"
    return truth("mpi-late-sender", OTF2, profiles, part_of(events, "MPI_Recv", "MPI_Allreduce"), why,
                 where=place(sweep, file=file), acceptable=("mpi-collective-wait",), functions=(sweep, work, "main"))  # fmt: skip


@recipe("mpi-collective-wait", MPI, 2)
def changing_last(draw: Draw, folder: Path) -> Truth:
    ranks, count, file = draw.width(4, 8), draw.steps(6, 12), draw.names.file()
    work, step = (draw.names.function() for _ in range(2))
    usual, extra = draw.real(8, 15) * MS, draw.real(0.5, 1.0)
    call = draw.choice("ALLREDUCE", "BARRIER", "ALLTOALL")
    programs: dict[int, list[Step]] = {rank: [] for rank in range(ranks)}
    for number in range(count * ranks):
        for rank in range(ranks):
            own = draw.near(usual, 0.02) * (1 + extra * (number % ranks == rank))
            programs[rank] += within(step, ("compute", work, round(own)), ("collective", call, None, 64))
    events, profiles = traced(draw, folder, programs, Network(transfer=15), file, {work: 30, step: 60})
    name = f"MPI_{call.capitalize()}"
    why = f"in each step another rank has more to do and all wait for it in {name}, although all do the same in all"
    return truth("mpi-collective-wait", OTF2, profiles, part_of(events, name), why, where=place(step, file=file),
                 acceptable=("mpi-load-imbalance",), functions=(step, work, "main"))  # fmt: skip


@recipe("mpi-load-imbalance", MPI, 2)
def always_the_same_last(draw: Draw, folder: Path) -> Truth:
    ranks, count, file = draw.width(4, 8), draw.steps(30, 60), draw.names.file()
    work, step = (draw.names.function() for _ in range(2))
    least, spread = draw.real(6, 12) * MS, draw.real(0.8, 1.6)
    programs: dict[int, list[Step]] = {rank: [] for rank in range(ranks)}
    for _ in range(count):
        for rank in range(ranks):
            own = draw.near(least, 0.02) * (1 + spread * rank / (ranks - 1))
            programs[rank] += within(step, ("compute", work, round(own)), ("collective", "ALLREDUCE", None, 8))
    events, profiles = traced(draw, folder, programs, Network(transfer=10), file, {work: 30, step: 60})
    why = "the work of the ranks grows steadily with their number, and all wait for the last in a reduction"
    return truth("mpi-load-imbalance", OTF2, profiles, part_of(events, "MPI_Allreduce"), why,
                 where=place(work, file=file), acceptable=("mpi-collective-wait",), functions=(work, step, "main"))  # fmt: skip


@recipe("mpi-communication-bound", MPI, 2)
def slow_exchange(draw: Draw, folder: Path) -> Truth:
    ranks, count, file = draw.width(4, 8), draw.steps(30, 60), draw.names.file()
    work, swap = (draw.names.function() for _ in range(2))
    own, size = draw.real(5, 10) * MS, draw.whole(2_000_000, 5_000_000)
    per_byte = own * draw.real(0.5, 1.2) / size
    programs: dict[int, list[Step]] = {rank: [] for rank in range(ranks)}
    for _ in range(count):
        for rank in range(ranks):
            programs[rank] += within(
                swap, ("compute", work, round(draw.near(own, 0.02))), ("irecv", (rank - 1) % ranks, size),
                ("isend", (rank + 1) % ranks, size), ("waitall",),
            )  # fmt: skip
    network = Network(latency=5, per_byte=per_byte, overhead=2)
    events, profiles = traced(draw, folder, programs, network, file, {work: 30, swap: 60})
    why = "all ranks send at the same time, and the messages travel about as long as the ranks compute"
    return truth("mpi-communication-bound", OTF2, profiles, part_of(events, "MPI_Waitall"), why,
                 where=place(swap, file=file), acceptable=(), functions=(swap, "main"))  # fmt: skip


@recipe("healthy", MPI, 2)
def overlapped_exchange(draw: Draw, folder: Path) -> Truth:
    ranks, count, file = draw.width(4, 8), draw.steps(30, 60), draw.names.file()
    edge, inner, step = (draw.names.function() for _ in range(3))
    own, size = draw.real(8, 15) * MS, draw.whole(10_000, 50_000)
    programs: dict[int, list[Step]] = {rank: [] for rank in range(ranks)}
    for number in range(count):
        for rank in range(ranks):
            programs[rank] += within(
                step, ("compute", edge, round(draw.near(own * 0.1, 0.02))), ("irecv", (rank - 1) % ranks, size),
                ("isend", (rank + 1) % ranks, size), ("compute", inner, round(draw.near(own, 0.002))), ("waitall",),
                *([("collective", "ALLREDUCE", None, 8)] if number % 10 == 9 else []),
            )  # fmt: skip
    network = Network(latency=5, per_byte=0.0001, overhead=2, transfer=15)
    _, profiles = traced(draw, folder, programs, network, file, {edge: 30, inner: 40, step: 60})
    why = "messages travel while the ranks compute what needs none, and all compute equally long"
    return truth("healthy", OTF2, profiles, 0.97, why, acceptable=("hot-compute",))  # fmt: skip
