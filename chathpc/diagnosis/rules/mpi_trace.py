"""MPI in traces with message partners: waiting is measured call by call, so what is left of a call moves data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.draft import Draft, fact, part_of, time_fact, time_unit
from chathpc.diagnosis.fact import Fact, Form, Kind, Part
from chathpc.diagnosis.facts import Facts, HotPlace
from chathpc.diagnosis.message_facts import MessageFacts
from chathpc.diagnosis.records import Place
from chathpc.diagnosis.wait_states import COLLECTIVES, POINT_TO_POINT, Pattern
from chathpc.profile import numbers

_WORDS = {
    Pattern.LATE_SENDER: "for messages that are sent later (late sender)",
    Pattern.LATE_RECEIVER: "to send to ranks that receive later (late receiver)",
    Pattern.COLLECTIVE: "in collectives until the last rank arrives",
    Pattern.LATE_ROOT: "in broadcasts and scatters until the root arrives (late broadcast)",
    Pattern.EARLY_ROOT: "as the root of reductions and gathers (early reduce)",
}
_MEANS = ("messages", "collectives")


def late_ranks(facts: Facts, messages: MessageFacts, *patterns: Pattern) -> Iterator[Fact]:
    """Waiting by pattern; who is late, and what they do meanwhile. There must be waiting with one of the patterns."""
    parts = [(pattern, messages.waited(pattern)) for pattern in patterns]
    waited = sum(spent for _, spent in parts)
    yield time_fact(
        facts,
        waited,
        "waiting for late ranks",
        "each call's time until the rank it waited for arrived (Scalasca's patterns), summed",
        of=part_of(facts, max(messages.in_mpi, waited), "MPI time"),
        parts=[
            Part(_WORDS[pattern], spent, time_unit(facts))
            for pattern, spent in sorted(parts, key=lambda part: -part[1])
            if spent >= common()["worth_a_line"].value * waited
        ],
    )
    found = messages.delay(*patterns)
    worst = int(np.argmax(found.by_member))
    order = np.argsort(-found.by_label, kind="stable")[:2]
    meanwhile = [
        Part(
            f"meanwhile {facts.readable(facts.label_names[int(label)])}",
            float(found.by_label[label]) / waited,
            "ratio",
        )
        for label in order.tolist()
        if found.by_label[label] >= common()["worth_a_line"].value * waited
    ]
    if found.in_mpi >= common()["worth_a_line"].value * waited:
        meanwhile.append(Part("meanwhile MPI, where it waits itself,", found.in_mpi / waited, "ratio"))
    stands_out = float(found.by_member[worst]) >= waited * cause("mpi-late-sender").threshold("late_rank") / len(
        found.by_member
    )
    who = messages.name(worst) if stands_out else "any one rank at most"
    yield time_fact(
        facts,
        float(found.by_member[worst]),
        f"waiting for {who}",
        "waiting by the rank whose call ended it; functions by what its trace shows from the start of the wait",
        of=part_of(facts, waited, "waiting for late ranks"),
        parts=meanwhile,
    )


def traced(facts: Facts, messages: MessageFacts, shared: tuple[Fact, ...]) -> Iterable[Draft]:
    """Late messages, late members of collectives, and the time in MPI in which nobody waits."""
    of_kind = {"mpi-late-sender": POINT_TO_POINT, "mpi-collective-wait": COLLECTIVES}
    for name, patterns in of_kind.items():
        others = COLLECTIVES if patterns is POINT_TO_POINT else POINT_TO_POINT
        entry, waited = cause(name), messages.waited(*patterns)
        # Waiting for a rank that is late because it waits itself is the other one's.
        caused, passed = messages.passed_on(others, patterns), messages.passed_on(patterns, others)
        cost = waited - passed + caused
        share = cost / facts.total
        hot = facts.hot_place(messages.waited_at(*patterns))
        if hot is None or not facts.above(share, entry.threshold("min_share")):
            continue
        here, there = _MEANS if patterns is POINT_TO_POINT else _MEANS[::-1]
        calls = "point-to-point" if patterns is POINT_TO_POINT else "collective"
        yield Draft(
            cause=entry.id,
            where=hot.place,
            summary=f"The ranks wait {numbers.percent(waited / facts.total)} of their time in {calls} calls from {told(hot.place)} for late "
            f"ranks{_elsewhere(facts, waited, caused, passed, there)}, though each computes about the same in all.",
            cost=cost,
            share=share,
            evidence=(
                *shared,
                *late_ranks(facts, messages, *patterns),
                _here(facts, hot, waited),
                *_passed(facts, waited, caused, passed, here, there),
            ),
            signs=3,
            against=(messages.doubt,) if messages.doubt else (),
        )
    yield from moving(facts, messages, shared)


def _elsewhere(facts: Facts, waited: float, caused: float, passed: float, there: str) -> str:
    """What of the cost is elsewhere, and what of the waiting is no cost of it, in words."""
    more = (
        f", and {numbers.percent(caused / facts.total)} more in {there} because of it"
        if caused >= common()["worth_a_line"].value * waited
        else ""
    )
    less = (
        f" ({numbers.percent(passed / facts.total)} because these wait in {there})"
        if passed >= common()["worth_a_line"].value * waited
        else ""
    )
    return less + more


def _passed(facts: Facts, waited: float, caused: float, passed: float, here: str, there: str) -> Iterator[Fact]:
    """What this waiting makes other ranks wait elsewhere, and what of it others cause."""
    how = "part of each wait in which the late rank waited itself (indirect waiting: Böhme et al., ICPP 2010)"
    if caused >= common()["worth_a_line"].value * waited:
        yield fact(
            facts, Kind.AMOUNT, caused, subject=f"waiting in {there} for ranks that come late from {here}", how=how
        )
    if passed >= common()["worth_a_line"].value * waited:
        yield time_fact(
            facts,
            passed,
            f"waiting in {here} for ranks that come late from {there}",
            how,
            of=part_of(facts, waited, f"waiting in {here}"),
        )


def moving(facts: Facts, messages: MessageFacts, shared: tuple[Fact, ...]) -> Iterable[Draft]:
    """Time in MPI in which nobody waits for another rank: it moves data, or is the cost of the calls."""
    entry = cause("mpi-communication-bound")
    weight = messages.at_node
    spent = float(weight.sum())
    share = spent / facts.total
    hot = facts.hot_place(weight)
    if hot is None or not facts.above(share, entry.threshold("min_share")):
        return
    yield Draft(
        cause=entry.id,
        where=hot.place,
        summary=f"The ranks spend {numbers.percent(share)} of their time in MPI while nobody is late, mostly in calls from "
        f"{told(hot.place)}: it moves data.",
        cost=spent,
        share=share,
        evidence=(
            *shared,
            time_fact(
                facts,
                spent,
                "MPI without waiting for late ranks",
                "time in MPI calls less waiting for late ranks, by Scalasca's patterns",
            ),
            *_volume(facts, messages),
        ),
        signs=2,
        against=(messages.doubt,) if messages.doubt else (),
    )


def _volume(facts: Facts, messages: MessageFacts) -> Iterator[Fact]:
    sent = messages.communication.messages
    if not len(sent):
        return
    size, count = float(sent.bytes.sum()), len(sent)
    yield fact(
        facts,
        Kind.AMOUNT,
        size,
        subject="the data sent in messages",
        unit="bytes",
        parts=(Part("", count, "messages"), Part("each on average", size / count, "bytes")),
        how="messages in the trace",
    )


def _here(facts: Facts, hot: HotPlace, waited: float) -> Fact:
    return time_fact(
        facts,
        hot.weight,
        f"calls from {told(hot.place)}",
        "waiting by calling function",
        of=part_of(facts, waited, "waiting for late ranks"),
        form=Form.MANY,
        where=hot.place,
    )


def told(place: Place) -> str:
    """A place in a sentence: its function, and the line where that is known."""
    return f"{place.function} ({place.short})" if place.function and place.short else place.function or "the program"
