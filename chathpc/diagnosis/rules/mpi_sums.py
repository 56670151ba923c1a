"""MPI in profiles without times of single ranks: sums over all of them, perhaps with the smallest and largest, or one rank alone.

Who comes late cannot be seen there. What can: which calls from which function cost how much, and, where the extremes over
ranks are known, how much of a call is waiting. The rank that comes last to a collective spends only what the operation
itself takes; what the others spend more is waiting for it. Where calls and bytes were counted, time per call and bytes per call tell
latency from volume.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.draft import Draft, Spread, fact, time_fact, time_text, time_unit
from chathpc.diagnosis.fact import Fact, Form, Kind, Part, Quantity
from chathpc.diagnosis.facts import Facts, HotPlace
from chathpc.diagnosis.rules.mpi import call_names, is_collective, without_late_rank
from chathpc.diagnosis.statistics import largest_first
from chathpc.profile import numbers
from chathpc.profile.activity import Activity
from chathpc.profile.profile import RANKS
from chathpc.profile.tree import FloatArray

Ids = NDArray[np.int32]
#: Metrics with the smallest, mean and largest value of a rank, where a tool kept these.
_EXTREMES = ("cpu.time.rank-min", "cpu.time.rank-mean", "cpu.time.rank-max")
NEXT = "times of each rank"
#: Titles of what costs time, where nothing tells whether it is waiting.
_UNKNOWN_WAIT = {
    "mpi-collective-wait": "Collective MPI calls take time",
    "mpi-late-sender": "Point-to-point MPI calls take time",
}


@dataclass(frozen=True, slots=True)
class _Site:
    """Calls of one family from one function: `names` are the public names of those with most of the time, the costliest first, `node` the
    first one's.
    """

    hot: HotPlace
    node: int
    names: tuple[str, ...]
    here: float
    everywhere: float

    @property
    def calls(self) -> str:
        """The calls in a sentence."""
        return " and ".join(self.names)


@dataclass(frozen=True, slots=True)
class _Spread:
    """Smallest, mean and largest time of a rank at one node, seconds."""

    least: float
    mean: float
    most: float

    @property
    def parts(self) -> tuple[Part, ...]:
        """As parts of a fact."""
        return Part("least", self.least, "s"), Part("mean", self.mean, "s"), Part("most", self.most, "s")


def ranks_of(facts: Facts) -> int:
    """Number of ranks of the run, 0 if the profile does not tell it."""
    return facts.profile.told(RANKS) or facts.rank_count


def sums(facts: Facts) -> Iterable[Draft]:
    """The calls that cost most, where no values of single ranks are there to explain them."""
    if facts.thread_count > 1:
        return
    spent = facts.spent(Activity.MPI)
    if not facts.above(spent / facts.total, cause("mpi-collective-wait").threshold("min_share")):
        return
    weight = facts.of(Activity.MPI)
    public, call_name = call_names(facts)
    collective = np.array([is_collective(name) for name in public])
    common = _in_all(facts, weight, public, call_name, spent)
    for chosen, wait in ((collective, "mpi-collective-wait"), (~collective, "mpi-late-sender")):
        site = _site(facts, np.where(chosen[call_name], weight, 0.0), public, call_name)
        if site is not None:
            yield from _explained(facts, site, wait, common)


def _site(facts: Facts, weight: FloatArray, public: list[str], call_name: Ids) -> _Site | None:
    hot = facts.hot_place(weight)
    if hot is None:
        return None
    mine = facts.in_function(hot.label, weight)
    call = facts.activities.call
    counted = np.flatnonzero(mine > 0)
    node = int(np.argmax(np.bincount(call[counted], weights=mine[counted])))
    least = common()["worth_a_line"].value * float(mine.sum())
    others = [name for name, time in _costliest(mine, public, call_name) if time > least]
    names = tuple(dict.fromkeys((public[int(call_name[node])], *others)))
    return _Site(hot, node, names, float(mine.sum()), float(weight.sum()))


def _costliest(weight: FloatArray, public: list[str], call_name: Ids) -> list[tuple[str, float]]:
    """The two calls with most of the time, and how much."""
    nodes = np.flatnonzero(weight > 0)
    return largest_first((public[name] for name in call_name[nodes].tolist()), weight[nodes].tolist())[:2]


def _first_call(advice: str) -> str:
    """The MPI call that an advice names first; empty where it names none."""
    found = re.search(r"MPI_\w+", advice)
    return found[0] if found else ""


def _in_all(facts: Facts, weight: FloatArray, public: list[str], call_name: Ids, spent: float) -> Fact:
    return time_fact(
        facts,
        spent,
        "MPI",
        "time in MPI calls of the program, MPI_Init and MPI_Finalize excluded",
        parts=[Part(name, time, time_unit(facts)) for name, time in _costliest(weight, public, call_name)],
    )


def _explained(facts: Facts, site: _Site, wait: str, common: Fact) -> Iterable[Draft]:
    spread = _spread(facts, site.node)
    bound = cause("mpi-communication-bound")
    least = bound.threshold("min_common_part")
    moving = spread is not None and spread.mean > 0 and spread.least / spread.mean >= least
    entry = bound if moving else cause(wait)
    share = site.here / facts.total
    if not facts.above(share, entry.threshold("min_share")):
        return
    caller = site.hot.place.function or "the program"
    evidence = [common, _calls(facts, site, caller)]
    signs, against = 1, ["The profile has no times of single ranks, so which of them is late, and why, is unknown."]
    if spread is None:
        against = ["The profile has no times of single ranks, so waiting and moving data cannot be distinguished."]
    else:
        evidence.append(_waiting(facts, site, caller, spread))
        signs += 1
        uneven = None if moving else _uneven(facts, spread)
        if uneven is not None:
            evidence.append(uneven)
            signs += 1
    command = facts.profile.not_collected.get(NEXT)
    yield Draft(
        cause=entry.id,
        where=site.hot.place,
        title=_UNKNOWN_WAIT.get(entry.id, "") if spread is None else "",
        summary=_summary(facts, site, caller, share, spread, moving=moving),
        cost=site.here,
        share=share,
        evidence=tuple(evidence),
        signs=signs,
        against=tuple(against),
        advice=without_late_rank(entry) if spread is None else (),
        own_advice=spread is None and entry.id == "mpi-collective-wait",
        spread=Spread(ranks_of(facts), "ranks") if spread is not None and not moving and ranks_of(facts) > 1 else None,
        next_measurement=f"{command} (Which rank comes late, and what it does meanwhile.)" if command else None,
    )


def _summary(facts: Facts, site: _Site, caller: str, share: float, spread: _Spread | None, *, moving: bool) -> str:
    ranks = ranks_of(facts)
    mean = f" ({time_text(facts, site.here / ranks)} per rank on average)" if ranks > 1 else ""
    whose = "The ranks spend" if ranks > 1 else "The program spends"
    start = f"{whose} {numbers.percent(share)} of the time{mean} in {site.calls} called from {caller}"
    if spread is None:
        return f"{start}."
    if moving:
        return f"{start}, all of them about equally: it moves data, or all wait alike."
    part = numbers.percent(1 - spread.least / spread.mean)
    of = "that" if len(site.names) == 1 else f"the time in {site.names[0]}"
    return f"{start}, and {part} of {of} exceeds the minimum over the ranks: waiting for late ranks."


def _calls(facts: Facts, site: _Site, caller: str) -> Fact:
    ranks = ranks_of(facts)
    other = site.everywhere - site.here
    parts = []
    if ranks > 1:
        parts.append(Part("per rank on average", site.here / ranks, time_unit(facts)))
    if other > common()["min_elsewhere"].value * site.here:
        parts.append(Part("such calls from other places", other, time_unit(facts)))
    return time_fact(
        facts,
        site.here,
        f"{site.calls} called from {caller}",
        "time in MPI calls by calling function",
        form=Form.NAME if len(site.names) == 1 else Form.MANY,
        parts=parts,
        where=site.hot.place,
    )


def _spread(facts: Facts, node: int) -> _Spread | None:
    metrics = facts.profile.metrics
    if not all(name in metrics for name in _EXTREMES):
        return None
    values = [facts.profile.exclusive(name).at(node) for name in _EXTREMES]
    if any(value is None for value in values):
        return None
    least, mean, most = (float(value or 0.0) for value in values)
    return _Spread(least, mean, most) if 0 <= least <= mean <= most else None


def _waiting(facts: Facts, site: _Site, caller: str, spread: _Spread) -> Fact:
    return fact(
        facts,
        Kind.SPREAD,
        spread.mean,
        subject=f"{site.names[0]} called from {caller}",
        form=Form.NAME,
        unit="s",
        parts=spread.parts,
        whole=Quantity(ranks_of(facts), "ranks"),
        metric=_EXTREMES[1],
        how="smallest, mean and largest of the ranks",
        where=site.hot.place,
    )


def _uneven(facts: Facts, spread: _Spread) -> Fact | None:
    """The computing region, without MPI below it, whose ranks differ most."""
    tree = facts.profile.tree
    quiet = tree.inclusive(facts.of(Activity.MPI, Activity.MPI_SETUP)) == 0
    least, mean, most = (facts.profile.exclusive(name).dense(len(tree), missing=np.nan) for name in _EXTREMES)
    extra = np.where(quiet & ~np.isnan(least), most - mean, 0.0)
    node = int(np.nanargmax(extra)) if len(extra) else -1
    least_part = cause("mpi-load-imbalance").threshold("min_region_part")
    if node < 0 or not extra[node] >= least_part * (spread.mean - spread.least) > 0:
        return None
    place = facts.place(node)
    return fact(
        facts,
        Kind.SPREAD,
        float(most[node]),
        subject=str(place.function),
        form=Form.NAME,
        unit="s",
        parts=_Spread(float(least[node]), float(mean[node]), float(most[node])).parts,
        whole=Quantity(ranks_of(facts), "ranks"),
        metric=_EXTREMES[2],
        how="the region that only computes and differs most between ranks: smallest, mean and largest of the ranks",
        where=place,
    )


#: Metrics that count bytes of messages; a message is counted where it is sent.
_BYTES = ("mpi.message.bytes", "mpi.sent.bytes")
_CALLS = "calls.count"


def small_messages(facts: Facts) -> Iterable[Draft]:
    """Time in MPI that is the latency of very many calls with few bytes each."""
    entry = cause("mpi-small-messages")
    traced = facts.messages
    spent = facts.spent(Activity.MPI)
    if traced is not None and traced.is_whole:  # then waiting for late ranks is known, and is no latency
        spent = float(traced.at_node.sum())
    metrics = facts.profile.metrics
    if _CALLS not in metrics or not facts.in_seconds:
        return
    # Another tool may count other calls.
    tool = metrics[_CALLS].tool
    sent = next((name for name in _BYTES if facts.profile.has(name) and metrics[name].tool == tool), None)
    share = spent / facts.total
    activities = facts.activities
    called = activities.of(Activity.MPI) & (activities.call == np.arange(len(activities.call)))
    calls = float(facts.profile.exclusive(_CALLS).dense(len(called))[called].sum())
    if not facts.above(share, entry.threshold("min_share")) or calls < entry.threshold("min_calls"):
        return
    each, size = spent / calls, None if sent is None else facts.profile.total(sent) / calls
    if each > entry.threshold("max_seconds_per_call") or (size is not None and size > entry.threshold("max_bytes")):
        return
    hot = facts.hot_place(facts.of(Activity.MPI))
    if hot is None:
        return
    where = hot.place.function or "the program"
    public, call_name = call_names(facts)
    largest = _costliest(facts.of(Activity.MPI), public, call_name)
    collective = bool(largest) and is_collective(largest[0][0])
    yield Draft(
        cause=entry.id,
        where=hot.place,
        title="Many small collective calls" if collective else "",
        summary=f"{numbers.percent(share)} of the time is in {numbers.count(calls)} MPI calls of {numbers.seconds(each)}"
        + (f" and {numbers.size(size)}" if size is not None else "")
        + f" each, most of it called from {where}: latency, not volume.",
        cost=spent,
        share=share,
        evidence=(
            _in_all(facts, facts.of(Activity.MPI), public, call_name, facts.spent(Activity.MPI)),
            fact(
                facts,
                Kind.MEAN,
                each,
                subject="an MPI call",
                unit="s",
                whole=Quantity(calls, "calls"),
                how="time in MPI calls / number of calls",
            ),
            *(
                ()
                if size is None
                else (
                    fact(
                        facts,
                        Kind.MEAN,
                        size,
                        subject="the data sent in an MPI call",
                        unit="bytes",
                        whole=Quantity(calls, "calls"),
                        metric=sent,
                        how="bytes sent / number of MPI calls",
                    ),
                )
            ),
        ),
        signs=1 if size is None else 2,
        against=("How much data they move was not measured.",) if size is None else (),
        # Of the advice what begins with a call of the same family; the rest is about messages to one rank.
        advice=tuple(each.do for each in entry.advice if collective and is_collective(_first_call(each.do))),
        own_advice=collective,
        replaces=("mpi-collective-wait", "mpi-late-sender", "mpi-communication-bound"),
    )


RULES = (sums, small_messages)
