"""What the source says of the host's calls of a GPU's runtime: further signs of what a timeline or sums of times show, and memory
that is allocated in loops where only the host's time is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.draft import Draft, time_fact
from chathpc.diagnosis.fact import Fact, Form
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.host_calls import HostCall, classes
from chathpc.diagnosis.source.device_calls import in_loop, pageable
from chathpc.diagnosis.source.hot import Hot, source_evidence
from chathpc.diagnosis.source.sign import Sign
from chathpc.profile import numbers
from chathpc.profile.tree import NodeKind, is_one_of

#: Lines with calls that are looked at, those with most time first.
_MOST_LINES = 40
_KINDS = (HostCall.LAUNCH, HostCall.WAIT, HostCall.COPY, HostCall.ALLOCATION)
#: Calls that also wait for the device, whose time is so in part its work.
_FREES = "Calls that free memory wait until the device is done, so that part of their time may be its work."


@dataclass(frozen=True, slots=True)
class _Call:
    """A sign at a line with the host's time in the calls there (0 where it was not measured)."""

    sign: Sign
    node: int
    cost: float


def with_host_calls(facts: Facts, drafts: Sequence[Draft]) -> list[Draft]:
    """`drafts` about the use of a device with what the source says of the calls; where there is no timeline, also memory that is
    allocated in a loop for at least `min_share` of the host's time.
    """
    hot = Hot(facts)
    best: dict[str, _Call] = {}
    costs: dict[str, float] = {}
    for call in _calls(hot):
        name = call.sign.cause
        costs[name] = costs.get(name, 0.0) + call.cost
        if name not in best or call.cost > best[name].cost:
            best[name] = call
    result = list(drafts)
    for name, call in best.items():
        known = any(draft.cause == name for draft in result)
        result = [draft.backed(_evidence(hot, call)) if draft.cause == name else draft for draft in result]
        if not known and name == "gpu-allocation-in-loop" and facts.timeline is None:
            result += _allocating(hot, call, costs[name])
    return result


def _calls(hot: Hot) -> Iterator[_Call]:
    """The signs at lines that call the runtime, one for each line and kind of call."""
    facts, tree = hot.facts, hot.facts.profile.tree
    kinds = classes(tree.names)[tree.name]
    parent = np.maximum(tree.parent, 0)
    nodes = np.flatnonzero(
        is_one_of(kinds, _KINDS)
        & is_one_of(tree.kind, (NodeKind.FUNCTION, NodeKind.INLINED))
        & (tree.parent >= 0)
        & (tree.kind[parent] == NodeKind.LINE)
        & (tree.line[parent] > 0)
    )
    if not len(nodes):
        return
    cost = facts.inclusive[nodes] if facts.profile.time is not None else np.zeros(len(nodes))
    keys = (
        (tree.file[parent[nodes]].astype(np.int64) << 36)
        | (tree.line[parent[nodes]].astype(np.int64) << 4)
        | kinds[nodes]
    )
    known, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    sums = np.bincount(inverse, weights=cost, minlength=len(known))
    for index in np.argsort(-sums, kind="stable")[:_MOST_LINES].tolist():
        node = int(nodes[first[index]])
        line = int(parent[node])
        held = hot.at(int(tree.file[line]), int(tree.line[line]))
        if held is None or held[1].is_broken(held[1].first, held[1].last):
            continue
        file, function = held
        kind, number = HostCall(int(kinds[node])), int(tree.line[line])
        for sign in (
            in_loop(function, file.unit, number, kind),
            pageable(function, number) if kind == HostCall.COPY else None,
        ):
            if sign is not None:
                yield _Call(sign, line, float(sums[index]))


def _evidence(hot: Hot, call: _Call) -> Fact:
    return source_evidence(hot.facts, hot.facts.place(call.node, line_node=call.node), call.sign)


def _allocating(hot: Hot, call: _Call, cost: float) -> Iterator[Draft]:
    facts, entry = hot.facts, cause(call.sign.cause)
    if not facts.has_host_time or not facts.total:
        return
    share = cost / facts.total
    if not facts.above(share, entry.threshold("min_share")):
        return
    place = facts.place(call.node, line_node=call.node)
    yield Draft(
        cause=entry.id,
        where=place,
        summary=f"{place.function} {call.sign.summary}, as its source shows: {numbers.percent(share)} of {facts.whole}.",
        cost=cost,
        share=share,
        evidence=(
            time_fact(
                facts,
                cost,
                "calls that allocate or free memory of the device in loops",
                "time of the calls at lines that are in a loop by their source",
                form=Form.MANY,
                where=place,
            ),
            _evidence(hot, call),
        ),
        derived=True,
        against=(_FREES,),
    )
