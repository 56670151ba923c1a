"""What joined views of several tools say together and differently: belief in findings that several tools make, evidence of what
differs, and doubt about findings that rest on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import replace

from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.draft import Draft
from chathpc.diagnosis.fact import Fact, Kind, Quantity
from chathpc.diagnosis.facts import Facts, readable_function
from chathpc.diagnosis.records import Place
from chathpc.profile.profile import Profile
from chathpc.profile.remark import Disagreement

#: Why two tools may differ, by quantity.
_WHY = {
    "time of a launch": "a tool that replays kernels one by one at fixed clocks measures different times from one that observes the run",
    "part of the time": "their clocks or samples differ: one may count only running threads, the other waiting ones as well",
}


def disagreement_evidence(profile: Profile) -> tuple[Fact, ...]:
    """One item for each thing that two tools measured differently."""
    return tuple(_evidence(profile, item) for item in profile.disagreements)


def _evidence(profile: Profile, item: Disagreement) -> Fact:
    (one, first), (other, second) = item.values
    name = readable_function(item.subject)
    why = _WHY.get(item.quantity)
    tree = profile.tree
    where = Place(function=name)
    if item.node >= 0:
        kernel = item.subject if item.metric.startswith("gpu.") else None
        where = Place(function=name, kernel=kernel, file=tree.file_name(item.node), node=item.node)
    return Fact(
        id="",
        kind=Kind.COMPARISON,
        subject=f"{item.quantity} of {name} by {other}",
        value=second,
        unit=item.unit,
        whole=Quantity(first, item.unit, f"by {one}"),
        text=why or "",
        source=f"{one} and {other}, {item.metric}: both values",
        metric=item.metric,
        where=where,
        tool=f"{one}, {other}",
    )


def with_agreement(facts: Facts, drafts: Sequence[Draft]) -> list[Draft]:
    """`drafts`, those of which the tools of a joined profile find the same cause at the same place by themselves with the names
    of these tools, and with what the other one measured as evidence.
    """
    tools = {metric.tool for metric in facts.profile.metrics.values()} - {""}
    if len(tools) < 2:
        return list(drafts)
    from chathpc.diagnosis.rules.gpu_kernel import stalls_of_counted

    sampled = tuple(stalls_of_counted(facts))
    result = []
    for draft in drafts:
        found: dict[str, Fact] = {}
        for other in (*drafts, *(() if _from_samples(facts, draft) else sampled)):
            if (
                other.cause == draft.cause
                and _is_same_place(draft, other)
                and (named := _other_tool(draft, other, tools))
            ):
                found.setdefault(named, other.evidence[0])
        result.append(
            replace(
                draft, agreeing=tuple(sorted(found)), evidence=tuple(dict.fromkeys((*draft.evidence, *found.values())))
            )
            if found
            else draft
        )
    return result


def _other_tool(draft: Draft, other: Draft, tools: Set[str]) -> str:
    """Of `tools`, which measured, the one by which another draft knows what it says; empty where both rest on the same."""
    mine, its = ({item.tool for item in each.evidence} & tools for each in (draft, other))
    return min(its - mine or its, default="") if mine != its else ""


def _is_same_place(one: Draft, other: Draft) -> bool:
    """True for the same kernel or function; a log of files knows neither, and speaks about the run."""
    if one.where.kernel or other.where.kernel:
        return one.where.kernel == other.where.kernel
    if _of_files(one) != _of_files(other):
        return True
    return one.where.function is not None and one.where.function == other.where.function


def _of_files(draft: Draft) -> bool:
    return (draft.evidence[0].metric or "").startswith("io.")


def _from_samples(facts: Facts, draft: Draft) -> bool:
    """True if the reasons for waiting that a finding about counters names were no counters, but samples (Counted.stalls)."""
    return any(
        (item.metric or "").startswith("gpu.kernel.stall.") and item.metric not in facts.profile.metrics
        for item in draft.evidence
    )


def with_disagreements(drafts: Iterable[Draft], evidence: Sequence[Fact]) -> list[Draft]:
    """`drafts`, those about a kernel or function on which tools differ with that as evidence, and as a doubt."""
    result = []
    for draft in drafts:
        about = {readable_function(name) for name in (draft.where.kernel, draft.where.function) if name}
        # Of what devices wait for a kernel is the example: how long it takes itself does not matter.
        about = set() if cause(draft.cause).family == "gpu-system" else about
        mine = tuple(item for item in evidence if item.where is not None and item.where.function in about)
        if mine:
            doubts = tuple(
                f"The tools differ here: {item.statement}" for item in mine if item.metric in _metrics(draft)
            )
            draft = replace(draft, evidence=(*draft.evidence, *mine), against=(*draft.against, *doubts))
        result.append(draft)
    return result


def _metrics(draft: Draft) -> set[str]:
    """Metrics that a finding rests on."""
    return {item.metric for item in draft.evidence if item.metric}
