"""What the compiler did to the hot places: loops without vector instructions, calls of small functions, no optimisation at all.

Records say that something was not done; only the time at the place makes it worth a word.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.catalogue.entry import Cause
from chathpc.diagnosis.compiled import Compiled, HotLoop
from chathpc.diagnosis.draft import Draft, fact, time_unit, total
from chathpc.diagnosis.fact import Fact, Form, Kind, Part
from chathpc.diagnosis.facts import Facts, readable_function
from chathpc.diagnosis.obstacles import CALLS, LOOPS, Words
from chathpc.diagnosis.records import Place
from chathpc.diagnosis.rules.compute import unoptimised as small_calls
from chathpc.profile import numbers
from chathpc.profile.activity import Activity
from chathpc.profile.compiler import CompilerRecord, Obstacle
from chathpc.profile.languages import Language, language_of
from chathpc.profile.tree import NodeKind

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


def _told_first(entry: Cause, words: Words, file: str | None) -> tuple[str, ...]:
    """The catalogue's advice for an obstacle, in the language of a file: told before the rest."""
    language = "fortran" if language_of(file or "") == Language.FORTRAN else "c"
    return tuple(
        advice.do for advice in entry.advice if words.advice in advice.do and ({"any", language} & set(advice.applies))
    )[:1]


# -- loops -------------------------------------------------------------------------------------------------------


def not_vectorised(facts: Facts) -> Iterable[Draft]:
    """Hot loops that the compiler left without vector instructions, with its reason."""
    records = facts.compiled
    if records is None or facts.total == 0:
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
        threshold=entry.threshold("min_share"),
        headroom=entry.headroom * entry.threshold(words.effort),
        evidence=(loop_time(facts, loop), loop_said(loop)),
        signs=2 if loop.exact else 1,
        against=tuple(against),
        advice=_told_first(entry, words, loop.file),
    )


def loop_time(facts: Facts, loop: HotLoop) -> Fact:
    """The time of a loop of the records."""
    return fact(
        facts,
        Kind.AMOUNT,
        loop.cost,
        subject=f"the loop at {loop.short}",
        whole=total(facts),
        parts=(Part(loop.place.short, loop.at_place, time_unit(facts)),),
        how="time of its source lines, library calls counted for the calling line",
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
    if records is None or facts.total == 0 or not records.refused:
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
    subject = readable_function(facts.label_names[name])
    share = time / facts.total
    return Draft(
        cause=entry.id,
        where=hot.place,
        summary=f"{subject}, a small function with {numbers.percent(share)} of {facts.whole}, was not inlined: {words.why}.",
        cost=time,
        share=share,
        threshold=entry.threshold("min_share"),
        headroom=entry.headroom * entry.threshold(words.effort),
        evidence=(
            fact(
                facts,
                Kind.AMOUNT,
                time,
                subject=subject,
                form=Form.NAME,
                whole=total(facts),
                how="exclusive time of the function",
                where=hot.place,
            ),
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
        advice=_told_first(entry, words, hot.place.file),
    )


def _sites(records: tuple[CompilerRecord, ...]) -> str:
    places = dict.fromkeys(f"{record.file.rsplit('/', 1)[-1]}:{record.line}" for record in records)
    listed = list(places)
    return ", ".join(listed[:3]) + (", …" if len(listed) > 3 else "")


def _line_count(facts: Facts, name: int) -> int:
    """Number of source lines with time of the function with that number."""
    tree = facts.profile.tree
    site = facts.activities.site[(facts.caller_label == name) & (facts.time > 0)]
    site = site[(site >= 0) & np.isin(tree.kind[np.maximum(site, 0)], (NodeKind.LINE, NodeKind.INSTRUCTION))]
    return len(np.unique(tree.line[site][tree.line[site] > 0]))


# -- no optimisation ---------------------------------------------------------------------------------------------


def unoptimised(facts: Facts) -> Iterable[Draft]:
    """Code compiled without optimisation: by the calls of small functions in the profile, by what compilers say, or by both.

    From records that are not there nothing follows.
    """
    seen = next(iter(small_calls(facts)), None)
    records = facts.compiled
    nodes, units = (None, ()) if records is None or facts.total == 0 else records.without_optimisation()
    if nodes is None or not units:
        if seen is not None:
            yield seen
        return
    entry = cause("unoptimised-build")
    computing = np.where(nodes, facts.of(Activity.COMPUTE), 0.0)
    cost = float(computing.sum())
    share = cost / facts.total
    hot = facts.hot_place(computing)
    if hot is None or not facts.above(share, entry.threshold("min_share")):
        if seen is not None:
            yield seen
        return
    count = len(units)
    files = ", ".join(unit.file.rsplit("/", 1)[-1] or "the program" for unit in units[:3])
    options = units[0].options or "no -O option"
    said = Fact(
        id="", kind=Kind.REMARK, value=float(count), unit="files", subject="files compiled without optimisation",
        text=f"compiled without optimisation ({files}): "
        f"{options if units[0].options or units[0].told_by.startswith(('the comm', 'the prod')) else 'no message of an optimising pass'}, "
        f"by {units[0].told_by}",
        source=f"{units[0].told_by} of {units[0].compiler}", where=hot.place, tool=units[0].compiler,
    )  # fmt: skip
    time = fact(
        facts,
        Kind.AMOUNT,
        cost,
        subject="code compiled without optimisation",
        whole=total(facts),
        how="time of the lines of these files",
        where=hot.place,
    )
    if seen is not None:
        yield replace(seen, evidence=(*seen.evidence, time, said), signs=seen.signs + 1)
        return
    yield Draft(
        cause=entry.id,
        where=hot.place,
        summary=f"Code with {numbers.percent(share)} of {facts.whole} was compiled without optimisation ({files}).",
        cost=cost,
        share=share,
        threshold=entry.threshold("min_share"),
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
