"""Builds without optimisation, seen by functions of one statement in the program's own source that are called all the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.draft import UNEXPLAINED, Draft, fact, time_unit, total
from chathpc.diagnosis.fact import Form, Kind, Part
from chathpc.diagnosis.facts import readable_function
from chathpc.diagnosis.source import calls
from chathpc.diagnosis.source.hot import Hot
from chathpc.diagnosis.source.sign import DERIVED
from chathpc.profile.activity import Activity
from chathpc.profile.tree import NodeKind


def with_accessors(hot: Hot, drafts: list[Draft]) -> list[Draft]:
    """With an unoptimised build, where functions of one line that any compiler inlines are called instead."""
    if not hot.any_source:
        return drafts
    facts, tree = hot.facts, hot.facts.profile.tree
    entry = cause("unoptimised-build")
    labels, names = tree.function_labels
    own = (facts.activities.kind == Activity.COMPUTE) & (facts.time > 0) & (tree.function >= 0)
    frame = np.maximum(tree.function, 0)
    called = own & (tree.kind[frame] == NodeKind.FUNCTION) & (labels >= 0)
    sums = np.bincount(labels[called], weights=facts.time[called], minlength=1)
    found: list[tuple[float, int]] = []
    for label in np.argsort(-sums, kind="stable")[:40].tolist():
        if sums[label] < common()["hardly_any"].value * facts.total:
            break
        node = int(frame[np.flatnonzero(called & (labels == label))[0]])
        file = hot.source(int(tree.file[node])) if tree.file[node] >= 0 else None
        function = file.function_at(int(tree.line[node])) if file is not None else None
        if (
            file is not None
            and function is not None
            and function.name == _short(names[label])
            and calls.accessor(function, file)
        ):
            found.append((float(sums[label]), node))
    cost = sum(time for time, _ in found)
    if not facts.above(cost / facts.total, entry.threshold("min_share")):
        return drafts
    node = found[0][1]
    place = facts.place(node, line_node=node)
    evidence = (
        fact(
            facts,
            Kind.AMOUNT,
            cost,
            subject="functions of one statement that were not inlined",
            form=Form.MANY,
            whole=total(facts),
            parts=[
                Part(readable_function(tree.function_name(each)), time, time_unit(facts)) for time, each in found[:3]
            ],
            how="exclusive time of called functions",
            where=place,
        ),
        fact(
            facts,
            Kind.SOURCE,
            float(place.line or 0),
            subject=place.short,
            unit="line",
            text="shows a one-statement function, which any optimising compiler inlines",
            how=DERIVED,
            where=place,
        ),
    )
    at = next((n for n, draft in enumerate(drafts) if draft.cause == entry.id), None)
    if at is not None:
        joined = replace(drafts[at], evidence=(*drafts[at].evidence, *evidence), signs=drafts[at].signs + 1)
        return [*drafts[:at], joined, *drafts[at + 1 :]]
    computing = facts.spent(Activity.COMPUTE, Activity.LIBRARY)
    hot_place = facts.hot_place(facts.of(Activity.COMPUTE))
    return [
        *drafts,
        Draft(
            cause=entry.id,
            where=hot_place.place if hot_place is not None else place,
            summary="The program seems to be compiled without optimisation: its own one-statement functions were not inlined.",
            cost=computing,
            share=computing / facts.total,
            threshold=entry.threshold("min_share"),
            evidence=evidence,
            signs=2,
            against=("A profiler's build or a flag such as -fno-inline would show the same.",),
            replaces=UNEXPLAINED,
        ),
    ]


def _short(name: str) -> str:
    return (
        readable_function(name).split("<")[0].rsplit("::", 1)[-1]
        if "operator" not in name
        else "operator" + name.split("operator", 1)[1].split("(")[0]
    )
