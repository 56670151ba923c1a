"""What the compiler did to the hot places: loops without vector instructions, calls of small functions, no optimisation at all.

Records say that something was not done; only the time at the place makes it worth a word. Builds without optimisation are also told by
small functions that are called all the same: those of the C++ standard library, and those of one statement in the program's source.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.catalogue.entry import Cause
from chathpc.diagnosis.compiled import COMPUTING, Compiled, HotLoop
from chathpc.diagnosis.draft import UNEXPLAINED, Draft, fact, time_fact, time_unit
from chathpc.diagnosis.fact import Fact, Form, Kind, Part
from chathpc.diagnosis.facts import Facts, readable_function
from chathpc.diagnosis.records import Place
from chathpc.diagnosis.source import calls
from chathpc.diagnosis.source.hot import Hot
from chathpc.diagnosis.source.sign import DERIVED
from chathpc.profile import numbers
from chathpc.profile.activity import Activity
from chathpc.profile.classification import (
    in_standard_headers,
    is_of_standard_templates,
    is_one_liner,
    template_library,
)
from chathpc.profile.compiler import CompilerRecord, Obstacle
from chathpc.profile.languages import Language, language_of
from chathpc.profile.names import shorten
from chathpc.profile.tree import NodeKind, is_one_of


@dataclass(frozen=True, slots=True)
class Words:
    """`why` completes "…: "; `effort` names the threshold of the catalogue that says how much of the gain is within reach (`unlikely`: too
    little for a finding);
    `advice` is a word by which the catalogue's advice for this obstacle is known, to be told first.
    """

    why: str
    effort: str
    advice: str


LOOPS: dict[Obstacle, Words] = {
    Obstacle.ALIASING: Words("it cannot rule out that the arrays overlap", "within_reach", "restrict"),
    Obstacle.REDUCTION_ORDER: Words(
        "vectorising would reorder floating-point additions, which it must not do", "last_digits", "reduction("
    ),
    Obstacle.COST: Words("its cost model predicts too little gain from vector instructions", "with_changes", "-O3"),
    Obstacle.LEVEL: Words(
        "at this optimisation level it skips loops that need a run-time check or a remainder loop", "within_reach", "-O3"
    ),
    Obstacle.MATH_CALL: Words("the loop calls a mathematical function whose vector version it may not use", "last_digits", "-ffast-math"),
    Obstacle.CALL: Words("the loop calls a function that it cannot analyse", "with_changes", "declare simd"),
    Obstacle.TRIP_COUNT: Words("the number of iterations is not known before the loop begins", "with_changes", "break"),
    Obstacle.CONTROL_FLOW: Words("the loop has branches or exits that cannot become masked instructions", "with_changes", "branch"),
    Obstacle.ACCESS: Words("the loop does not access memory contiguously", "with_changes", "structure of arrays"),
    Obstacle.DEPENDENCE: Words("an iteration may depend on an earlier one", "unlikely", "iterations"),
    Obstacle.UNSTATED: Words(
        "it does not say why (GCC at -O2 skips loops that need a run-time check or a remainder loop; at -O3 it does not)", "unlikely", "-O3"
    ),
}  # fmt: skip

CALLS: dict[Obstacle, Words] = {
    Obstacle.BODY_ELSEWHERE: Words("the function's body is in another file", "within_reach", "-flto"),
    Obstacle.TOO_LARGE: Words("the code would grow more than its limit", "with_changes", "always_inline"),
    Obstacle.FORBIDDEN: Words("an attribute or an option forbids it", "within_reach", "noinline"),
    Obstacle.UNSTATED: Words("it does not say why", "with_changes", "-flto"),
}


#: Findings of one kind that are told.
_MOST = 3


def record_evidence(statement: str, records: tuple[CompilerRecord, ...], subject: str, where: Place) -> Fact:
    """An item of evidence that compilers' records are; its value is their number."""
    names = " and ".join(dict.fromkeys(record.compiler for record in records))
    count = len(records)
    words = dict.fromkeys(f"“{record.text}”" for record in records if record.text)
    quoted = f" ({'; '.join(list(words)[:2])})" if words else ""
    return Fact(
        id="",
        kind=Kind.REMARK,
        text=f"{statement}{quoted}",
        value=float(count),
        unit="records",
        source=f"optimisation records of {names}: number of records about the place",
        subject=subject,
        where=where,
        tool=names,
    )


def told_first(entry: Cause, words: Words, file: str | None) -> tuple[str, ...]:
    """The catalogue's advice for an obstacle, in the language of a file: told before the rest."""
    language = "fortran" if language_of(file or "") == Language.FORTRAN else "c"
    return tuple(
        advice.do for advice in entry.advice if words.advice in advice.do and ({"any", language} & set(advice.applies))
    )[:1]


# -- loops -------------------------------------------------------------------------------------------------------


def not_vectorised(facts: Facts) -> Iterable[Draft]:
    """Hot loops that the compiler left without vector instructions, with its reason."""
    records = facts.compiled
    if records is None:
        return
    entry = cause("not-vectorised")
    count = 0
    for loop in records.hot_loops:
        share = loop.cost / facts.total
        if not facts.above(share, entry.threshold("min_share")) or count == _MOST:
            return
        words = _reason(loop)[0]
        if loop.missed and not loop.vectorised and words.effort != "unlikely":
            count += 1
            yield _loop_draft(facts, entry, loop, share, words)


def _reason(loop: HotLoop) -> tuple[Words, tuple[CompilerRecord, ...]]:
    """Why a loop was not vectorised, and the records that say so.

    Several loops may begin at one line. GCC has "control flow" for every loop around another: it counts where nothing else is said.
    """
    obstacles = dict.fromkeys(record.obstacle or Obstacle.UNSTATED for record in loop.missed)
    chosen = next((each for each in obstacles if each != Obstacle.CONTROL_FLOW), Obstacle.CONTROL_FLOW)
    mine = tuple(record for record in loop.missed if (record.obstacle or Obstacle.UNSTATED) == chosen)
    return LOOPS.get(chosen, LOOPS[Obstacle.UNSTATED]), mine


def _loop_draft(facts: Facts, entry: Cause, loop: HotLoop, share: float, words: Words) -> Draft:
    against = []
    if not loop.exact:
        against.append(
            f"The profile has no loops: that the hot lines belong to the loop at {loop.short} is inferred from their order."
        )
    return Draft(
        cause=entry.id,
        where=loop.place,
        summary=f"The compiler did not vectorise the loop at {loop.short} in {loop.place.function}, which has "
        f"{numbers.percent(share)} of {facts.whole}: {words.why}.",
        cost=loop.cost,
        share=share,
        headroom=entry.headroom * entry.threshold(words.effort),
        evidence=(loop_time(facts, loop), loop_said(loop)),
        signs=2 if loop.exact else 1,
        against=tuple(against),
        advice=told_first(entry, words, loop.file),
    )


def loop_time(facts: Facts, loop: HotLoop) -> Fact:
    """The time of a loop of the records."""
    return time_fact(
        facts,
        loop.cost,
        f"the loop at {loop.short}",
        "time of its source lines, library calls counted for the calling line",
        parts=(Part(loop.place.short, loop.at_place, time_unit(facts)),),
        where=loop.place,
    )


def loop_said(loop: HotLoop) -> Fact:
    """What the compiler says of a loop."""
    if loop.missed and not loop.vectorised:
        words, mine = _reason(loop)
        at = next((record.at for record in mine if record.at), 0)
        where = f", because of line {at}" if at else ""
        said = f"the loop at {loop.short} was not vectorised{where}: {words.why}"
        return record_evidence(said, mine, loop.short, loop.place)
    also = ", not in every copy of it" if loop.missed else ""
    return record_evidence(f"the loop at {loop.short} was vectorised{also}", loop.vectorised, loop.short, loop.place)


# -- calls -------------------------------------------------------------------------------------------------------


def not_inlined(facts: Facts) -> Iterable[Draft]:
    """Hot small functions whose calls the compiler did not inline."""
    records = facts.compiled
    if records is None or not records.refused:
        return
    entry = cause("not-inlined")
    computing = facts.of(Activity.COMPUTE)
    names, times = facts.by_function(computing)
    count = 0
    for name, time in zip(names.tolist(), times.tolist(), strict=True):
        share = time / facts.total
        if not facts.above(share, entry.threshold("min_share")) or count == _MOST:
            return
        draft = _call_draft(facts, records, entry, name, time)
        if draft is not None:
            count += 1
            yield draft


def _call_draft(facts: Facts, records: Compiled, entry: Cause, name: int, time: float) -> Draft | None:
    tree = facts.profile.tree
    calls = tuple(record for record in records.calls_of(facts.label_names[name]) if record.obstacle in CALLS)
    hot = facts.hot_place(facts.of(Activity.COMPUTE), name) if calls else None
    lines = _line_count(facts, name)
    if hot is None or not 0 < lines <= entry.threshold("max_lines") or records.loops_itself(hot.line):
        return None
    own = np.flatnonzero((facts.caller_label == name) & (facts.time > 0) & (facts.activities.caller >= 0))
    functions = np.unique(facts.activities.caller[own])
    outer = [int(tree.parent[node]) for node in functions[:200].tolist() if tree.kind[node] == NodeKind.FUNCTION]
    in_loop = any(node >= 0 and facts.below_loop(node) for node in outer)
    obstacle = calls[0].obstacle or Obstacle.UNSTATED
    words = CALLS[obstacle]
    mine = tuple(record for record in calls if record.obstacle == obstacle)
    subject = facts.readable(facts.label_names[name])
    share = time / facts.total
    return Draft(
        cause=entry.id,
        where=hot.place,
        summary=f"{subject}, a small function with {numbers.percent(share)} of {facts.whole}, was not inlined: {words.why}.",
        cost=time,
        share=share,
        headroom=entry.headroom * entry.threshold(words.effort),
        evidence=(
            time_fact(facts, time, subject, "exclusive time of the function", form=Form.NAME, where=hot.place),
            fact(
                facts,
                Kind.COUNT,
                lines,
                subject=subject,
                form=Form.NAME,
                unit="source lines",
                how="number of source lines of the function with time",
                where=hot.place,
            ),
            record_evidence(
                f"calls of {subject} ({_sites(mine)}) were not inlined: {words.why}", mine, subject, hot.place
            ),
        ),
        signs=2 if in_loop else 1,
        against=() if in_loop else ("The profile does not show whether a loop calls it.",),
        advice=told_first(entry, words, hot.place.file),
    )


def _sites(records: tuple[CompilerRecord, ...]) -> str:
    places = dict.fromkeys(f"{record.file.rsplit('/', 1)[-1]}:{record.line}" for record in records)
    listed = list(places)
    return ", ".join(listed[:3]) + (", …" if len(listed) > 3 else "")


def _line_count(facts: Facts, name: int) -> int:
    """Number of source lines with time of the function with that number."""
    tree = facts.profile.tree
    site = facts.activities.site[(facts.caller_label == name) & (facts.time > 0)]
    site = site[(site >= 0) & is_one_of(tree.kind[np.maximum(site, 0)], (NodeKind.LINE, NodeKind.INSTRUCTION))]
    return len(np.unique(tree.line[site][tree.line[site] > 0]))


# -- no optimisation ---------------------------------------------------------------------------------------------


def unoptimised(facts: Facts) -> Iterable[Draft]:
    """Code compiled without optimisation: by the calls of small functions in the profile, by what compilers say, or by both.

    From records that are not there nothing follows; those of an optimised build outweigh what calls suggest.
    """
    seen, told = _by_small_calls(facts), _by_records(facts)
    if told is None and facts.compiled is not None and facts.compiled.optimised:
        return
    if seen is not None and told is not None:
        yield replace(seen, evidence=(*seen.evidence, *told.evidence), signs=seen.signs + 1)
    elif (either := seen or told) is not None:
        yield either


def _by_small_calls(facts: Facts) -> Draft | None:
    """That C++ code, in which nothing at all was inlined although it calls one-liners of the standard library, is not optimised."""
    entry = cause("unoptimised-build")
    tree = facts.profile.tree
    frame = np.maximum(tree.function, 0)
    own = (facts.activities.kind == Activity.COMPUTE) & (tree.function >= 0)
    called = own & template_library(tree)[frame] & (tree.kind[frame] == NodeKind.FUNCTION)
    # Large ones are called at -O3 as well; where these are not inlined, none is.
    small = float(facts.time[called & tree.where_name(is_one_liner)[frame]].sum())
    # Lines of a header in a function that is none of the library's were inlined, where the profiler has no frames for that.
    lines = own & ~tree.where_name(is_of_standard_templates)[frame] & (tree.kind == NodeKind.LINE)
    lines &= tree.where_file(in_standard_headers) & ~tree.where_file(in_standard_headers)[frame]
    frames = tree.outermost(np.flatnonzero((tree.kind == NodeKind.INLINED) & own).astype(np.int32))
    inlined = float(facts.inclusive[frames].sum())
    cost_called = float(facts.time[called].sum())
    if (
        not facts.above(small / facts.total, entry.threshold("min_share"))
        or max(inlined, float(facts.time[lines].sum())) > entry.threshold("max_inlined_part") * small
    ):
        return None
    computing = facts.spent(*COMPUTING)
    labels, label_names = tree.function_labels
    sums = np.bincount(labels[called], weights=facts.time[called], minlength=1)
    distinct = int((sums > 0).sum())
    names = np.argsort(-sums, kind="stable")[:distinct]
    hot = facts.hot_place(facts.of(Activity.COMPUTE))
    if hot is None:
        return None
    place = hot.place
    few = time_fact(facts, inlined, "inlined functions", "inclusive time of inlined frames", form=Form.MANY)
    # Samples of Nsight Systems never tell what is inlined.
    known = () if facts.profile.format.startswith("Nsight Systems") else (few,)
    return Draft(
        cause=entry.id,
        where=place,
        summary="The program seems to be compiled without optimisation: one-line functions of the C++ standard library were not inlined.",
        cost=computing,
        share=computing / facts.total,
        evidence=(
            time_fact(
                facts,
                cost_called,
                "small functions of the C++ standard library",
                "exclusive time of called functions whose source is a standard header",
                form=Form.MANY,
                parts=[Part(shorten(label_names[name], 40)) for name in names[:3].tolist()],
            ),
            *known,
        ),
        signs=1 + len(known),
        replaces=UNEXPLAINED,
    )


def _by_records(facts: Facts) -> Draft | None:
    """That compilers left hot code without optimisation, by their own words."""
    records = facts.compiled
    nodes, units = (None, ()) if records is None else records.without_optimisation()
    if nodes is None or not units:
        return None
    entry = cause("unoptimised-build")
    computing = np.where(nodes, facts.of(Activity.COMPUTE), 0.0)
    cost = float(computing.sum())
    share = cost / facts.total
    hot = facts.hot_place(computing)
    if hot is None or not facts.above(share, entry.threshold("min_share")):
        return None
    count = len(units)
    files = ", ".join(unit.file.rsplit("/", 1)[-1] or "the program" for unit in units[:3])
    options = units[0].options or "no -O option"
    compilers = " and ".join(dict.fromkeys(unit.compiler for unit in units))
    said = Fact(
        id="", kind=Kind.REMARK, value=float(count), unit="files", subject="files compiled without optimisation",
        text=f"compiled without optimisation ({files}): "
        f"{options if units[0].options or units[0].told_by.startswith(('the comm', 'the prod')) else 'no message of an optimising pass'}, "
        f"by {units[0].told_by}",
        source=f"{units[0].told_by} of {compilers}", where=hot.place, tool=compilers,
    )  # fmt: skip
    time = time_fact(
        facts, cost, "code compiled without optimisation", "time of the lines of these files", where=hot.place
    )
    return Draft(
        cause=entry.id,
        where=hot.place,
        summary=f"Code with {numbers.percent(share)} of {facts.whole} was compiled without optimisation ({files}).",
        cost=cost,
        share=share,
        headroom=entry.threshold("headroom_by_records"),
        evidence=(time, said),
        signs=2,
        replaces=("hot-compute", "not-vectorised", "not-inlined") if share >= common()["most"].value else (),
    )


def with_loops(facts: Facts, drafts: Iterable[Draft]) -> list[Draft]:
    """`drafts`, those about computing in a hot loop with what the compiler says of that loop as evidence."""
    records = facts.compiled
    if records is None or not facts.has_host_time:
        return list(drafts)
    every = list(drafts)
    loops = [records.loop_of(draft.where) if draft.cause in (*_IN_LOOPS, _MISSED) else None for draft in every]
    # What costs the time of a loop explains why it is scalar, and its remedy comes first.
    explained = {
        id(loop) for draft, loop in zip(every, loops, strict=True) if loop is not None and draft.cause in _FIRST
    }
    return [
        replace(draft, evidence=(*draft.evidence, loop_said(loop))) if loop is not None and draft.cause in _IN_LOOPS else draft
        for draft, loop in zip(every, loops, strict=True)
        if draft.cause != _MISSED or id(loop) not in explained
    ]  # fmt: skip


_MISSED = "not-vectorised"
_FIRST = ("expensive-math", "loop-invariant-work", "strided-access")
#: Causes about computing, to which it matters whether the loop was vectorised.
_IN_LOOPS = (*_FIRST, "hot-compute", "memory-bandwidth", "memory-latency")
REMARKED = (not_vectorised, not_inlined)


def with_accessors(hot: Hot, drafts: list[Draft]) -> list[Draft]:
    """With an unoptimised build, where functions of one line that any compiler inlines are called instead."""
    if not hot.any_source or (hot.facts.compiled is not None and hot.facts.compiled.optimised):
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
        held = hot.at(int(tree.file[node]), int(tree.line[node]))
        if held is not None and held[1].name == _short(names[label]) and calls.accessor(held[1], held[0]):
            found.append((float(sums[label]), node))
    cost = sum(time for time, _ in found)
    if not facts.above(cost / facts.total, entry.threshold("min_share")):
        return drafts
    node = found[0][1]
    place = facts.place(node, line_node=node)
    evidence = (
        time_fact(
            facts,
            cost,
            "functions of one statement that were not inlined",
            "exclusive time of called functions",
            form=Form.MANY,
            parts=[Part(facts.readable(tree.function_name(each)), time, time_unit(facts)) for time, each in found[:3]],
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
