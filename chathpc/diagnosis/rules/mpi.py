"""MPI: whether ranks wait for a slower one, for a message, or move data."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from chathpc.diagnosis.catalogue import Cause, cause, common
from chathpc.diagnosis.cores import doubt, of_others, without_core
from chathpc.diagnosis.draft import Draft, Spread, fact, part_of, spread_parts, time_fact
from chathpc.diagnosis.fact import Bound, Fact, Form, Kind, Part, Quantity
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.message_facts import MessageFacts
from chathpc.diagnosis.records import Place
from chathpc.diagnosis.rules.mpi_trace import late_ranks, moving, told, traced
from chathpc.diagnosis.sampled_lanes import over_time
from chathpc.diagnosis.wait_states import Pattern
from chathpc.profile import numbers
from chathpc.profile.activity import Activity, base_name
from chathpc.profile.tree import BoolArray, FloatArray, IntArray, is_one_of

_COLLECTIVE = re.compile(
    r"p?mpi_i?(barrier|bcast|reduce|allreduce|gather|allgather|scatter|alltoall|scan|exscan|reduce_scatter|neighbor)",
    re.IGNORECASE,
)
_POINT_TO_POINT = re.compile(r"p?mpi_([ibsr]*send|i?m?recv|sendrecv|wait|test|m?probe|iprobe|start)", re.IGNORECASE)
#: Frames below an MPI call that move data instead of waiting for it.
_TRANSFER = re.compile(
    r"(\w+_)?mem(p?cpy|move)|process_vm_(readv|writev)|writev?$|readv?$|send(msg|to)?$|recv(msg|from)?$|opal_datatype|opal_convertor|opal_(un)?pack|ompi_op|copy_(content|function)"
)


def is_collective(name: str) -> bool:
    """True for an MPI call in which all ranks of a communicator take part."""
    return bool(_COLLECTIVE.match(public_name(name)))


#: Collectives that no rank leaves before all have come; the root of a broadcast and the senders of a reduction may go on.
_ALL = re.compile(r"MPI_(Barrier|Allreduce|Allgatherv?|Alltoall[vw]?|Reduce_scatter(_block)?)$")


def synchronises_all(facts: Facts) -> BoolArray:
    """True for nodes below calls of MPI that end for all ranks only when all have come."""
    tree, call = facts.profile.tree, facts.activities.call
    of_all = tree.where_name(lambda name: _ALL.match(public_name(name)) is not None)
    return np.asarray(facts.activities.of(Activity.MPI) & (call >= 0) & of_all[np.maximum(call, 0)])


@dataclass(frozen=True, slots=True, eq=False)
class Ranks:
    """Times per rank (all its threads): `compute`, `mpi`, and `call[r, c]` by MPI function."""

    ids: IntArray
    compute: FloatArray
    mpi: FloatArray
    calls: tuple[str, ...]
    call: FloatArray
    function_names: IntArray
    work: FloatArray  #: computing of each rank by function of the program
    coreless: FloatArray  #: time beside these in which it could compute and had no core, as far as it was measured
    computing: BoolArray  #: by node

    @property
    def lost(self) -> float:
        """What the ranks compute less than the busiest one."""
        return float((self.compute.max() - self.compute).sum())

    @property
    def most_for_a_core(self) -> float:
        """What ranks wait at most because others have no core."""
        return of_others(self.coreless, np.zeros(len(self.ids), dtype=np.int32))


def public_name(name: str) -> str:
    """`PMPI_Waitall_f08 [libmpi…]` → `MPI_Waitall`, and Open MPI's `ompi_waitall_f`, which has Fortran's name at the same address."""
    stem = re.sub(r"(_f08(ts)?|_)+$", "", base_name(name))
    stem = re.sub(r"^ompi_(\w+)_f$", r"mpi_\1", stem)
    stem = stem[1:] if stem[:1] in "Pp" and stem[1:5].lower() == "mpi_" else stem
    return "MPI_" + stem[4:5].upper() + stem[5:].lower() if stem.lower().startswith("mpi_") else stem


def call_names(facts: Facts) -> tuple[list[str], IntArray]:
    """The public names of all functions, an empty one last, and for each node the number of that of its library call; −1 without one."""
    tree, call = facts.profile.tree, facts.activities.call
    names = [public_name(name) for name in tree.names]
    return [*names, ""], np.where(call >= 0, tree.name[np.maximum(call, 0)], np.int32(-1)).astype(np.int32)


def ranks(facts: Facts) -> Ranks | None:
    """Times per MPI rank; None with fewer than two ranks or without time in MPI."""
    if facts.rank_count < 2 or facts.spent(Activity.MPI) == 0:
        return None
    activities = facts.activities
    in_mpi = activities.of(Activity.MPI)
    names, call_name = call_names(facts)
    used = np.unique(call_name[in_mpi & (call_name >= 0)])
    calls = tuple(sorted({names[name] for name in used.tolist()}))
    call_of_name = np.full(len(names), -1, dtype=np.int32)
    call_of_name[used] = [calls.index(names[name]) for name in used.tolist()]
    computing = ~is_one_of(
        activities.kind,
        (Activity.MPI, Activity.MPI_SETUP, Activity.HELPER, Activity.OMP_WAIT, Activity.SLEEP, Activity.BLOCKED),
    )
    caller_name = facts.caller_label
    weights = np.bincount(
        caller_name[computing & (caller_name >= 0)], weights=facts.time[computing & (caller_name >= 0)], minlength=1
    )
    least = cause("mpi-collective-wait").threshold("min_function_share")
    function_names = np.flatnonzero(weights > least * facts.total).astype(np.int32)
    function_of_name = np.full(len(facts.label_names) + 1, -1, dtype=np.int32)
    function_of_name[function_names] = np.arange(len(function_names))
    other = len(calls) + len(function_names)
    group = np.where(in_mpi, call_of_name[call_name], -1)
    chosen = np.where(
        computing, np.where(function_of_name[caller_name] >= 0, function_of_name[caller_name] + len(calls), other), -1
    )
    group = np.where(in_mpi, group, chosen).astype(np.int32)
    per_location = facts.grouped(group, other + 1)
    ids, rank = np.unique(facts.ranks, return_inverse=True)
    table = np.zeros((len(ids), other + 1))
    np.add.at(table, rank, per_location)
    coreless = np.bincount(rank, weights=without_core(facts, computing), minlength=len(ids)).astype(np.float64)
    if bool(ids[0] < 0):  # threads outside any rank: a launcher's daemon
        ids, table, coreless = ids[1:], table[1:], coreless[1:]
    return Ranks(
        ids=ids.astype(np.int32),
        compute=table[:, len(calls) :].sum(axis=1),
        mpi=table[:, : len(calls)].sum(axis=1),
        calls=calls,
        call=table[:, : len(calls)],
        function_names=function_names,
        work=table[:, len(calls) : other],
        coreless=coreless,
        computing=computing,
    )


def waiting(facts: Facts) -> Iterable[Draft]:
    """Explain the time in MPI: unequal work, one rank's extra work, late messages, or data."""
    unequal = cause("mpi-load-imbalance")
    smallest = unequal.threshold("min_share")
    spent = facts.spent(Activity.MPI)
    if not facts.above(spent / facts.total, smallest):
        return
    times = ranks(facts)
    if times is None:
        return
    lost = times.lost
    messages = facts.messages if facts.messages is not None and facts.messages.is_whole else None
    waited = spent if messages is None else messages.waited(*Pattern)
    cost = min(lost, waited)
    for_a_core = 0.0 if messages is not None else min(times.most_for_a_core, spent - cost)
    waited -= for_a_core
    shared = (
        time_fact(
            facts,
            spent,
            f"MPI on {len(times.ids)} ranks",
            "time below MPI calls of the program, MPI_Init and MPI_Finalize excluded",
            form=Form.NAME,
            parts=[
                *_main_calls(times),
                *(
                    [Part("waiting for ranks without a core at most", for_a_core / spent, "ratio")]
                    if for_a_core
                    else []
                ),
            ],
        ),
    )
    if cost >= unequal.threshold("min_explained") * waited and facts.above(cost / facts.total, smallest):
        yield _on_free_cores(facts, _unequal_work(facts, times, shared, cost, spent, messages), for_a_core)
        if messages is not None:
            yield from moving(facts, messages, shared)
        return
    if messages is not None:
        yield from traced(facts, messages, (*shared, _equal(facts, times)))
        return
    if for_a_core >= common()["most"].value * spent:
        return  # what the ranks wait for is another program's to tell
    transfer = _below_mpi(facts, _TRANSFER)
    collective = _share_of_calls(times, _COLLECTIVE)
    for draft in _equal_work(facts, times, shared, spent, transfer, collective, for_a_core):
        yield _on_free_cores(facts, draft, min(for_a_core, spent - draft.cost))


def _on_free_cores(facts: Facts, draft: Draft, for_a_core: float) -> Draft:
    """The finding with what a repair can remove of a run in which nobody waits for a core."""
    bounded = cause(draft.cause).bound != "none"
    return replace(draft, removable=draft.cost / (facts.total - for_a_core)) if bounded else draft


def _main_calls(times: Ranks) -> list[Part]:
    """The calls with most of the time in MPI, as parts of it."""
    total = times.call.sum()
    return [
        Part(times.calls[int(c)], float(times.call[:, c].sum() / total), "ratio")
        for c in np.argsort(-times.call.sum(axis=0))[:2]
        if times.call[:, c].sum() > common()["worth_a_line"].value * total
    ]


def _share_of_calls(times: Ranks, pattern: re.Pattern[str]) -> float:
    """Part of the time in calls that match; frames of the library whose caller was not recorded do not tell the call."""
    whole = sum(float(times.call[:, index].sum()) for index, name in enumerate(times.calls) if name.startswith("MPI_"))
    chosen = [index for index, name in enumerate(times.calls) if pattern.match(name)]
    return float(times.call[:, chosen].sum()) / whole if whole else 0.0


def _below_mpi(facts: Facts, pattern: re.Pattern[str]) -> float:
    """Time in frames below MPI calls whose own name matches."""
    tree = facts.profile.tree
    matching = tree.where_name(lambda name: pattern.match(base_name(name)) is not None)
    inside: BoolArray = facts.activities.of(Activity.MPI) & matching[tree.function]
    return float(facts.time[inside].sum())


_YIELD = re.compile(r"sched_yield")


def yielded(facts: Facts) -> float:
    """Time of MPI calls in sched_yield: MPI libraries give the core away when there are more ranks than cores."""
    return _below_mpi(facts, _YIELD)


def _doubts(facts: Facts) -> tuple[str, ...]:
    yields = yielded(facts) / facts.spent(Activity.MPI)
    if yields > cause("oversubscription").threshold("doubt_share"):
        return (
            f"{numbers.percent(yields)} of the MPI time is in sched_yield: the library found more ranks than cores, "
            "so part of the waiting is for a core.",
        )
    return doubt(facts)


def _call_place(facts: Facts, names: re.Pattern[str] | None = None) -> Place:
    """Where the program makes the MPI calls that cost most."""
    weight = facts.of(Activity.MPI)
    if names is not None:
        matching = facts.profile.tree.where_name(lambda name: names.match(public_name(name)) is not None)
        weight = np.where(matching[np.maximum(facts.activities.call, 0)], weight, 0.0)
    hot = facts.hot_place(weight)
    return Place() if hot is None else hot.place


def _unequal_work(
    facts: Facts,
    times: Ranks,
    shared: tuple[Fact, ...],
    cost: float,
    spent: float,
    messages: MessageFacts | None,
) -> Draft:
    busiest = int(np.argmax(times.compute))
    others = np.delete(np.arange(len(times.ids)), busiest)
    extra = times.work[busiest] - times.work[others].mean(axis=0)
    function = int(np.argmax(extra)) if len(extra) else -1
    # Extra work in functions that the other ranks hardly run at all is one rank's private job, not an uneven share.
    job = cause("mpi-collective-wait")
    private = times.work[others].max(axis=0) < job.threshold("max_others_ratio") * times.work[busiest]
    gained = np.maximum(extra, 0.0)
    private_part = float(gained[private].sum() / gained.sum()) if gained.sum() > 0 else 0.0
    is_private = private_part >= job.threshold("min_exclusive_part")
    entry = job if is_private else cause("mpi-load-imbalance")
    place, name = Place(), "the program"
    if function >= 0:
        weight = np.where(facts.activities.of(Activity.MPI), 0.0, facts.time)
        hot = facts.hot_place(weight, int(times.function_names[function]))
        if hot is not None:
            loop = facts.innermost_loop(hot.line)
            place = facts.place(hot.node, line_node=loop if loop >= 0 else hot.line)
        name = place.function or name
    rank = int(times.ids[busiest])
    mean = float(times.compute.mean())
    calls = _call_place(facts)
    leads = _leads(facts, times, busiest)
    evidence = [
        *shared,
        fact(
            facts,
            Kind.SPREAD,
            float(times.compute[busiest]),
            subject="computing of a rank",
            whole=Quantity(len(times.ids), "ranks"),
            parts=(*spread_parts(facts, times.compute), Part(f"most on rank {rank}"), *_tenths(leads)),
            how="time outside MPI per rank",
        ),
        time_fact(
            facts,
            cost,
            "waiting for the busiest rank",
            "sum over ranks of (busiest − rank), at most the MPI time",
            of=part_of(facts, spent, "MPI time"),
            error=0.0,
        ),
    ]
    if function >= 0:
        evidence.append(
            fact(
                facts,
                Kind.COMPARISON,
                float(times.work[busiest, function]),
                subject=f"{name} on rank {rank}",
                form=Form.NAME,
                whole=part_of(
                    facts,
                    float(times.work[others, function].mean()),
                    "the other ranks on average" if len(others) > 1 else "the other rank",
                ),
                how="time outside MPI per rank and function",
                where=place,
            )
        )
    if messages is not None:
        evidence += late_ranks(facts, messages, *Pattern)
    called = f" in {calls.function} ({calls.short})" if calls.function and calls.short else ""
    summary = (
        f"Only rank {rank} runs {name}; the other ranks wait for it in MPI{called}."
        if is_private
        else f"The work is unevenly distributed: rank {rank} has {numbers.number(float(times.compute[busiest]) / mean)} times the mean, "
        f"most of the difference in {name}; the others wait in MPI{called}."
    )
    return Draft(
        cause=entry.id,
        where=place,
        summary=summary,
        cost=cost,
        share=cost / facts.total,
        evidence=tuple(evidence),
        signs=3,
        against=_doubts(facts),
        spread=Spread(len(times.ids), "ranks"),
        # A trace has told already what the catalogue asks for: whether one rank has too much throughout.
        next_measurement=None if leads is None or is_private else _INSTRUCTIONS,
    )


#: Equal parts of the run in which the busiest rank is looked for, tenths in words.
_PARTS = 10
_INSTRUCTIONS = (
    "mpirun -np 4 hpcrun -e cycles -e instructions ./app (Whether the busiest rank executes more instructions or runs the same number more "
    "slowly.)"
)


def _tenths(leads: int | None) -> list[Part]:
    if leads is None:
        return []
    return [Part("in each tenth of the run") if leads == _PARTS else Part("in", leads, "tenths of the run")]


def _leads(facts: Facts, times: Ranks, busiest: int) -> int | None:
    """In how many equal parts of the run the rank that computes most in all does so too; None without a trace of each rank."""
    member = np.full(len(facts.profile.where), -1, dtype=np.int32)
    member[facts.locations] = np.where(facts.ranks < 0, -1, np.searchsorted(times.ids, facts.ranks))
    spent = over_time(facts, member, times.computing, _PARTS)
    return None if spent is None else int((spent.argmax(axis=0) == busiest).sum())


def _equal_work(
    facts: Facts,
    times: Ranks,
    shared: tuple[Fact, ...],
    spent: float,
    transfer: float,
    collective: float,
    for_a_core: float,
) -> Iterable[Draft]:
    bound = cause("mpi-communication-bound")
    # Whoever waits for a late rank waits while that one is outside MPI; where the clock stands still there, it is in MPI less than others.
    outside = facts.total - sum(facts.spent(kind) for kind in (Activity.MPI, Activity.MPI_SETUP, Activity.HELPER))
    late = (len(times.ids) - 1) * outside
    in_mpi = times.call.sum(axis=1)
    is_alike = bool(in_mpi.min() >= bound.threshold("min_common_part") * in_mpi.mean())
    is_alone = is_alike and late <= common()["worth_a_line"].value * spent
    is_moving = is_alone or transfer / spent >= bound.threshold("min_transfer_part")
    if is_moving:
        entry, place, part = bound, _call_place(facts), 1.0
    elif collective >= cause("mpi-collective-wait").threshold("min_collective_part"):
        entry, place, part = cause("mpi-collective-wait"), _call_place(facts, _COLLECTIVE), collective
    else:
        entry, place = cause("mpi-late-sender"), _call_place(facts, _POINT_TO_POINT)
        # Without names of calls that are known nothing but collectives can be told apart.
        part = _share_of_calls(times, _POINT_TO_POINT) or 1 - collective
    cost = spent if is_moving else (spent - for_a_core) * part
    share = cost / facts.total
    if not facts.above(share, entry.threshold("min_share")):
        return
    evidence = [*shared, _equal(facts, times)]
    against = _doubts(facts)
    if _sees_inside(facts):
        evidence.append(
            time_fact(
                facts,
                transfer,
                "copying and sending data",
                "time in copy and transfer functions below MPI calls",
                of=part_of(facts, spent, "MPI time"),
            )
        )
    else:
        against += (
            "The profile ends at the calls of MPI: waiting inside them cannot be distinguished from moving data.",
        )
    if is_alone:
        evidence.append(
            replace(
                time_fact(
                    facts,
                    late,
                    "waiting for a late rank",
                    "time outside MPI × (ranks − 1): whoever waits for a rank waits while it is outside MPI",
                    of=part_of(facts, spent, "MPI time"),
                    error=0.0,
                ),
                bound=Bound.AT_MOST,
            )
        )
    how = "hardly work between the calls" if is_alone else "much of it moves data"
    where = told(place)
    most, differ = float(times.compute.max()), float(times.compute.max() - times.compute.mean())
    alike = ", though each computes about the same" if differ <= common()["healthy_imbalance"].value * most else ""
    summary = {
        "mpi-communication-bound": f"The ranks spend {numbers.percent(share)} of their time communicating, and {how}: {where}.",
        "mpi-collective-wait": f"The ranks wait {numbers.percent(share)} of their time in collective operations called from {where}"
        f"{alike}.",
        "mpi-late-sender": f"The ranks spend {numbers.percent(share)} of their time in point-to-point calls from {where}, mostly waiting "
        f"for the partner{alike}.",
    }[entry.id]
    yield Draft(
        cause=entry.id,
        where=place,
        title="Ranks wait for each other in a collective" if alike and entry.id == "mpi-collective-wait" else "",
        summary=summary,
        cost=cost,
        share=share,
        evidence=tuple(evidence),
        signs=2,
        against=against,
        advice=without_late_rank(entry) if alike else (),
        own_advice=bool(alike) and entry.id == "mpi-collective-wait",
        spread=None if is_moving else Spread(len(times.ids), "ranks"),
    )


def without_late_rank(entry: Cause) -> tuple[str, ...]:
    """What helps a collective call that no rank is known to come late to."""
    if entry.id != "mpi-collective-wait":
        return ()
    return tuple(each.do for each in entry.advice if not re.search(r"(late|critical) rank", each.do))


def _equal(facts: Facts, times: Ranks) -> Fact:
    spread = float(times.compute.max() / times.compute.mean()) if times.compute.mean() else 1.0
    return fact(
        facts,
        Kind.COMPARISON,
        spread,
        subject="the computing time of the busiest rank",
        unit="times",
        whole=Quantity(of="the mean"),
        how="busiest / mean of the time outside MPI per rank",
    )


def _sees_inside(facts: Facts) -> bool:
    """True if frames below MPI's public calls may have been recorded; instrumentation sees the calls only."""
    if not facts.profile.timed:
        return True
    activities = facts.activities
    inside = activities.of(Activity.MPI) & (activities.call >= 0) & (activities.call != np.arange(len(activities.call)))
    return bool((facts.time[inside] > 0).any())


RULES = (waiting,)
