"""How well ranks and threads use their cores, as evidence: POP's efficiencies, and ranks, threads and nodes that stand out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.cores import starved
from chathpc.diagnosis.draft import fact, part_of, spread_parts, time_fact, time_unit
from chathpc.diagnosis.efficiency import Efficiency, of_ranks, of_threads
from chathpc.diagnosis.fact import Bound, Fact, Form, Kind, Part, Quantity, told
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.message_facts import MessageFacts
from chathpc.diagnosis.phases import thread_phases
from chathpc.diagnosis.statistics import FEWEST, outliers
from chathpc.profile import numbers
from chathpc.profile.activity import GPU_RUNTIME, OPENMP, Activity
from chathpc.profile.metric import Clock
from chathpc.profile.tree import BoolArray, FloatArray, IntArray

_WAITING = (Activity.LOCK, Activity.SLEEP, Activity.BLOCKED, Activity.JOIN)
_NEITHER = (Activity.MPI_SETUP, Activity.HELPER, Activity.PROFILER)
#: Time of the host that belongs to a device: what is useful then is not the host's to tell.
_DEVICE = (*GPU_RUNTIME, Activity.GPU)
#: At most this many of what stands out is named.
_NAMED = 3


@dataclass(frozen=True, slots=True, eq=False)
class Times:
    """Useful and total time of each rank or thread; `name[i]` is what a reader calls it, `node[i]` its compute node or −1.
    `starts[i]` is True for the thread that starts the others: it has the serial code, and is no slow thread for that.
    """

    useful: FloatArray
    total: FloatArray
    process: IntArray
    name: tuple[str, ...]
    node: IntArray
    starts: BoolArray


def parallel_evidence(facts: Facts) -> tuple[Fact, ...]:
    """Efficiencies of MPI ranks and OpenMP threads where their times are known one by one, and who stands out. Where threads waited for those
    that had no core, efficiencies would be the machine's load, not the program's.
    """
    if not facts.has_host_time or facts.share(*_DEVICE) > 0:
        return ()
    if starved(facts):
        return standing_out(facts)
    ranks, threads = rank_times(facts), thread_times(facts)
    found: list[Fact] = []
    if facts.messages is not None:
        found += _of_messages(facts, facts.messages)
    elif ranks is not None and (efficiency := of_ranks(ranks.useful, ranks.total)) is not None:
        found += _efficiency(facts, efficiency, "rank", "communication")
    if threads is not None and (within := of_threads(threads.useful, threads.total, threads.process)) is not None:
        found += _efficiency(facts, within, "OpenMP thread", "synchronisation")
    return (*found, *standing_out(facts))


# -- times -----------------------------------------------------------------------------------------------------


def rank_times(facts: Facts) -> Times | None:
    """Of each MPI rank the time outside MPI and its total, MPI_Init and MPI_Finalize excluded; None without two ranks or
    without time in MPI. A rank's time is that of its longest thread, its time in MPI that of the thread with most of it.
    """
    if facts.rank_count < 2 or not facts.spent(Activity.MPI):
        return None
    total = facts.matrix.sum(axis=1) - facts.matrix[:, _NEITHER].sum(axis=1)
    ids, number = np.unique(facts.ranks, return_inverse=True)
    longest, in_mpi = np.zeros(len(ids)), np.zeros(len(ids))
    np.maximum.at(longest, number, total)
    np.maximum.at(in_mpi, number, facts.matrix[:, Activity.MPI])
    node = np.full(len(ids), -1, dtype=np.int64)
    node[number] = facts.profile.where.node[facts.locations]
    real = ids >= 0  # others are threads outside any rank: a launcher's daemon
    ids, longest, in_mpi, node = ids[real], longest[real], in_mpi[real], node[real]
    return Times(
        useful=np.maximum(longest - in_mpi, 0.0),
        total=longest,
        process=np.arange(len(ids), dtype=np.int32),
        name=tuple(f"rank {rank}" for rank in ids.tolist()),
        node=node.astype(np.int32),
        starts=np.zeros(len(ids), dtype=bool),
    )


def thread_times(facts: Facts) -> Times | None:
    """Of each thread of an OpenMP process its computing and its total time, time in MPI left out; None without two threads
    of a process that the OpenMP runtime was seen in. Threads of such a process that run as long as the others belong to it.
    """
    if not facts.spent(*OPENMP):
        return None
    where, rows, process = facts.profile.where, facts.locations, facts.processes
    total = facts.matrix.sum(axis=1) - facts.matrix[:, _NEITHER].sum(axis=1)
    longest = np.zeros(int(process.max(initial=0)) + 1)
    np.maximum.at(longest, process, total)
    # The busiest thread, and the one that starts the others, may never be seen in the runtime.
    member = (total >= common()["team_part"].value * longest[process]) | (facts.matrix[:, OPENMP].sum(axis=1) > 0)
    member &= (np.bincount(process, weights=facts.matrix[:, OPENMP].sum(axis=1)) > 0)[process]
    member &= np.bincount(process[member], minlength=int(process.max(initial=0)) + 1)[process] >= 2
    if not member.any():
        return None
    lost = facts.matrix[:, (*OPENMP, *_WAITING, Activity.MPI)].sum(axis=1)
    # While one thread of a process is in MPI the others wait for it: that is MPI's loss and not OpenMP's.
    in_mpi = np.zeros(int(process.max()) + 1)
    np.maximum.at(in_mpi, process, facts.matrix[:, Activity.MPI])
    useful = np.maximum(total - lost, 0.0)[member]
    return Times(
        useful=useful,
        total=np.maximum(total - in_mpi[process], 0.0)[member].clip(min=useful),
        process=process[member],
        name=tuple(where.label(int(row)) for row in rows[member]),
        node=where.node[rows][member].astype(np.int32),
        starts=(where.thread[rows] <= 0)[member],
    )


# -- efficiencies ----------------------------------------------------------------------------------------------


def _of_messages(facts: Facts, messages: MessageFacts) -> Iterator[Fact]:
    """The ranks' efficiencies from a trace with message partners; those of the steady state too where start-up is no small part."""
    if messages.efficiency is not None:
        when = "" if messages.is_whole else f" in the first {numbers.seconds(messages.elapsed)} of the trace"
        yield from _efficiency(facts, messages.efficiency, "rank", "communication", when)
    phases = thread_phases(facts)
    if phases is not None:
        steady, smallest = messages.between(phases[1].begin, phases[1].end), common()["min_start_up"].value
        if steady.efficiency is not None and steady.elapsed <= (1 - smallest) * messages.elapsed:
            when = f" in the {numbers.seconds(steady.elapsed)} of steady state"
            yield from _efficiency(facts, steady.efficiency, "rank", "communication", when)


def _efficiency(facts: Facts, found: Efficiency, who: str, waiting: str, when: str = "") -> Iterator[Fact]:
    limit = common()["pop_efficiency"].value
    value = found.parallel
    clock = facts.profile.metrics[facts.metric].clock
    # A thread that blocks has no CPU time: elapsed time is then at least what is seen, and efficiency at most.
    yield fact(
        facts,
        Kind.EFFICIENCY,
        value,
        subject=f"the parallel efficiency of {found.count} {who}s{when} (POP)",
        unit="ratio",
        bound=Bound.AT_MOST if clock == Clock.CPU else Bound.NONE,
        whole=Quantity(limit, "ratio", "parallel efficiency"),
        parts=(Part("load balance", found.balance, "ratio"), Part(waiting, found.waiting, "ratio")),
        how="POP standard metrics: mean / largest useful time × largest useful / elapsed time",
        error=facts.error(value),
    )
    if found.serialisation is not None and found.transfer is not None:
        yield fact(
            facts,
            Kind.EFFICIENCY,
            found.waiting,
            subject=f"the communication efficiency of {found.count} {who}s{when} (POP)",
            unit="ratio",
            parts=(Part("serialisation", found.serialisation, "ratio"), Part("transfer", found.transfer, "ratio")),
            how="POP standard metrics: busiest rank's work / replay on an ideal network × that / elapsed time; "
            "the replay lets each rank compute as long as it did, and wait only for sends and for members of collectives",
        )
    if value < limit:
        yield time_fact(
            facts,
            found.lost_to_imbalance,
            f"uneven load of {found.count} {who}s{when}",
            "count × (largest − mean useful time), of count × elapsed time",
            of=part_of(facts, found.count * found.elapsed, "their time"),
            error=0.0,
        )


# -- spread over threads ---------------------------------------------------------------------------------------


def spread_evidence(facts: Facts, nodes: Sequence[int]) -> tuple[Fact, ...]:
    """How the time of the functions at `nodes` is spread over all threads of the program, those without any counted as 0.

    Nothing with fewer than four threads: the rules tell of each of so few.
    """
    labels = list(dict.fromkeys(int(facts.caller_label[node]) for node in nodes if node >= 0))
    labels = [label for label in labels if label >= 0]
    if not labels or not facts.has_host_time or facts.thread_count < FEWEST:
        return ()
    group = np.full(len(facts.label_names) + 1, -1, dtype=np.int32)
    group[labels] = np.arange(len(labels))
    computing = ~facts.activities.of(*OPENMP, *_WAITING, *_NEITHER, Activity.MPI)
    times = facts.grouped(np.where(computing, group[facts.caller_label], -1).astype(np.int32), len(labels))
    return tuple(
        _spread(facts, facts.readable(facts.label_names[label]), times[:, i])
        for i, label in enumerate(labels)
        if times[:, i].any()
    )


def _spread(facts: Facts, name: str, times: FloatArray) -> Fact:
    median, without = float(np.median(times)), int((times == 0).sum())
    least, *others = spread_parts(facts, times)
    nothing = [Part(f"none on {told(without, 'threads')}")] if without else []
    return fact(
        facts,
        Kind.SPREAD,
        median,
        subject=name,
        form=Form.NAME,
        whole=Quantity(len(times), "threads"),
        parts=(least, Part("median", median, time_unit(facts)), *others, *nothing),
        how="time of the function and the libraries it calls, without waiting, by thread; threads without any counted as 0",
        error=0.0,
    )


# -- what stands out -------------------------------------------------------------------------------------------


def standing_out(facts: Facts) -> tuple[Fact, ...]:
    """Ranks, or else threads, that compute far longer than the others, by median and MAD; and compute nodes whose ranks do."""
    times = rank_times(facts) or thread_times(facts)
    if times is None:
        return ()
    entry = cause("mpi-load-imbalance")
    z, ratio = entry.threshold("outlier_deviations"), entry.threshold("outlier_ratio")
    who = "ranks" if times.name and times.name[0].startswith("rank ") and "thread" not in times.name[0] else "threads"
    median = float(np.median(times.useful)) if len(times.useful) else 0.0
    each = facts.samples * median / facts.total
    found = outliers(times.useful, z=z, min_ratio=ratio, samples_each=each)
    found = found[~times.starts[found]]
    beside = list(_slow_nodes(facts, times, who, z, ratio))
    if not len(found) or len(found) > len(times.useful) // FEWEST:
        return tuple(beside)
    worst = int(found[0])
    usual = np.delete(times.useful, found)
    level, others = float(np.median(times.useful)), len(usual)
    cost = (float(times.useful[worst]) - float(usual.max())) * others
    parts = [
        *(Part(times.name[int(i)], float(times.useful[i]), time_unit(facts)) for i in found[1:_NAMED]),
        Part(f"the {others} others wait", cost, time_unit(facts)),
    ]
    beside.append(
        fact(
            facts,
            Kind.COMPARISON,
            float(times.useful[worst]),
            subject=f"{times.name[worst]}{_on_node(times, worst)}",
            whole=part_of(facts, level, f"the median of {len(times.useful)} {who}"),
            parts=parts,
            how=f"more than {numbers.number(z)} robust standard deviations (1.4826 × MAD) above the median of the time outside the runtime",
            error=0.0,
        )
    )
    return tuple(beside)


def _slow_nodes(facts: Facts, times: Times, who: str, z: float, ratio: float) -> Iterator[Fact]:
    nodes, number = np.unique(times.node, return_inverse=True)
    if len(nodes) < FEWEST or bool((nodes < 0).any()):
        return
    means = np.bincount(number, weights=times.useful) / np.bincount(number)
    each = facts.samples * float(np.median(means)) / facts.total
    found = outliers(means, z=z, min_ratio=ratio, samples_each=each)
    if not len(found) or len(found) > len(nodes) // FEWEST:
        return
    level, worst = float(np.median(means)), int(found[0])
    members = int((number == worst).sum())
    yield fact(
        facts,
        Kind.COMPARISON,
        float(means[worst]),
        subject=f"computing of the {who} on node {int(nodes[worst])}",
        whole=part_of(facts, level, f"the median of {len(nodes)} nodes"),
        parts=(Part("", members, who),),
        how=f"mean over the {who} of each compute node, by median and MAD over nodes",
    )


def _on_node(times: Times, index: int) -> str:
    return f", on node {int(times.node[index])}," if len(np.unique(times.node)) > 1 else ""
