"""More threads or ranks than cores: as the number of cores tells, or as MPI libraries noticed themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.cores import cores, crowd
from chathpc.diagnosis.draft import Draft, fact, part_of, time_fact, time_unit
from chathpc.diagnosis.fact import Fact, Form, Kind, Part, told
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.records import Place
from chathpc.diagnosis.rules.mpi import ranks, yielded
from chathpc.diagnosis.rules.openmp import team, too_small
from chathpc.profile import numbers
from chathpc.profile.activity import OMP_WAITING, Activity
from chathpc.profile.metric import NO_CORE

#: What threads wait for that share too few cores: with even work it is their turn.
_TURNS = (
    "mpi-collective-wait",
    "mpi-late-sender",
    "mpi-communication-bound",
    "omp-barrier-wait",
    "omp-fine-grained-regions",
)


def oversubscribed(facts: Facts) -> Iterable[Draft]:
    """Waiting in MPI and OpenMP, beyond what unequal work explains, of threads that share too few cores."""
    entry = cause("oversubscription")
    threads = crowd(facts)
    if not threads and 0 < facts.thread_count <= cores(facts):
        return  # a library that yields always, or other programs beside this one
    yields = yielded(facts) if facts.rank_count > 1 else 0.0
    if threads and _too_small(facts):
        return  # each would wait as often with a core of its own
    cost = _turns(facts) if threads else yields
    share = cost / facts.total
    if not facts.above(share, entry.threshold("min_share")):
        return
    hot = facts.hot_place(facts.of(Activity.MPI, *OMP_WAITING))
    place = Place() if hot is None else hot.place
    who = "ranks" if facts.rank_count == threads else "threads"
    yield Draft(
        cause=entry.id,
        where=place,
        summary=f"{threads} {who} share {told(cores(facts), 'cores')}, and wait {numbers.percent(share)} of their time for each other."
        if threads
        else f"The MPI library yields its core while it waits ({numbers.percent(share)} of the time in sched_yield), "
        "which it does when there are more ranks than cores.",
        cost=cost,
        share=share,
        evidence=tuple(_evidence(facts, threads, cost, yields, place)),
        signs=2 if threads else 1,
        against=()
        if threads
        else ("The number of cores is not in the profile; some MPI libraries are set up to yield always.",),
        replaces=_TURNS if threads or yields > common()["most"].value * facts.spent(Activity.MPI) else (),
    )


def _too_small(facts: Facts) -> bool:
    """True where the entries of parallel regions were counted, and take longer than all that their threads do in them."""
    threads = team(facts)
    counted = None if threads is None else too_small(facts, threads, facts.spent(*OMP_WAITING))
    return counted is not None and counted.kind == Kind.MEAN


def _turns(facts: Facts) -> float:
    """Waiting in MPI and OpenMP that neither unequal work nor serial code accounts for."""
    found, threads, times = 0.0, team(facts), ranks(facts)
    if threads is not None:
        explained = float(threads.imbalance.sum()) + threads.serial_cost
        found += max(facts.spent(*OMP_WAITING) - explained, 0.0)
    if times is not None:
        found += max(facts.spent(Activity.MPI) - times.lost, 0.0)
    return found


def _evidence(facts: Facts, threads: int, cost: float, yields: float, place: Place) -> Iterator[Fact]:
    if threads:
        yield fact(
            facts,
            Kind.COUNT,
            threads,
            subject="the program",
            form=Form.ONE,
            unit="threads at work",
            parts=(Part("cores", cores(facts), "count"),),
            how="threads with about as much time as the busiest; cores by the profile",
        )
        yield time_fact(
            facts,
            cost,
            "waiting for each other with even work",
            "time in calls of MPI and in the OpenMP runtime, less what unequal work and serial code account for",
            where=place,
        )
    lacked = facts.profile.total(NO_CORE) if NO_CORE in facts.profile.metrics else 0.0
    if threads and lacked:
        yield fact(
            facts,
            Kind.AMOUNT,
            lacked,
            subject="time without a core",
            unit=time_unit(facts),
            metric=NO_CORE,
            how="from preempted to running again, summed over threads; no part of the time above",
        )
    if yields:
        yield time_fact(
            facts,
            yields,
            "sched_yield in MPI calls",
            "time in sched_yield below MPI calls",
            of=part_of(facts, facts.spent(Activity.MPI), "MPI time"),
            form=Form.NAME,
            where=place,
        )


RULES = (oversubscribed,)
