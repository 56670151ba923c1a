"""What the source says at hot places: further signs of what was measured, and findings of their own where time alone tells
only where the program computes. Nothing is said without the time of the lines that it is said about.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.command import COUNT_CALLS
from chathpc.diagnosis.cores import starved
from chathpc.diagnosis.draft import UNEXPLAINED, Draft, part_of, time_fact
from chathpc.diagnosis.fact import Fact, Form
from chathpc.diagnosis.facts import Facts, readable_function
from chathpc.diagnosis.records import Place
from chathpc.diagnosis.rules.compiler import with_accessors
from chathpc.diagnosis.rules.compute import UNSEEN_LOOP
from chathpc.diagnosis.rules.memory import MAYBE_ONCE
from chathpc.diagnosis.source import (
    calls,
    copies,
    footprint,
    fresh,
    inlining,
    invariant,
    parallel,
    python,
    recursion,
    searches,
    sections,
    sharing,
    shifts,
    strides,
    traffic,
)
from chathpc.diagnosis.source.hot import Hot, HotLine, shortened, source_evidence
from chathpc.diagnosis.source.languages import is_python
from chathpc.diagnosis.source.model import Function, Loop
from chathpc.diagnosis.source.sign import Sign, effective
from chathpc.diagnosis.source.text import SourceFile
from chathpc.profile import numbers
from chathpc.profile.activity import Activity, base_name
from chathpc.profile.tree import NodeKind

#: Causes that the source of hot places is searched for.
CAUSES = (
    "allocation-churn",
    "expensive-math",
    "io-bound",
    "loop-invariant-work",
    "memory-bandwidth",
    "memory-latency",
    "mpi-small-messages",
    "omp-critical-contention",
    "omp-false-sharing",
    "omp-fine-grained-regions",
    "page-faults",
    "quadratic-algorithm",
    "redundant-copies",
    "redundant-recursion",
    "strided-access",
)
#: What only counters of the processor show.
COUNTED = ("cache misses",)


@dataclass(frozen=True, slots=True)
class _Found:
    """A sign with its file and cost; `where` is the hottest of its lines."""

    sign: Sign
    file: int
    cost: float
    where: Place
    beside: float = 0.0  #: cost of the same in other loops of the function
    waited: float = 0.0  #: part of the cost that another finding explains

    @property
    def whole(self) -> float:
        """Cost in all loops of the function."""
        return self.cost + self.beside - self.waited


def with_source(facts: Facts, drafts: Sequence[Draft]) -> list[Draft]:
    """`drafts` with what the source says about them, and findings of causes that only the source shows.

    A sign joins a finding of the same cause in the same function. It makes one of its own where its lines have the share
    of the time that the catalogue asks for, and that stands far enough above the sampling error.
    """
    hot = Hot(facts)
    result = [_in_order(hot, _seen_in_loop(hot, draft)) for draft in drafts]
    signs = _unique(_signs(hot))
    explained = {found.where.function for found in signs if found.sign.alone}
    explained |= {draft.where.function for draft in drafts if draft.cause not in UNEXPLAINED}
    for found in (*signs, *_unique(one for one in _lookups(hot) if one.where.function not in explained)):
        found = _without_waiting(facts, result, found) if found.sign.waits else found
        at = next((n for n, draft in enumerate(result) if _is_same(draft, found)), None)
        if at is not None:
            result[at] = _joined(facts, result[at], found, hot)
        elif found.sign.alone and _is_worth(facts, found):
            result = [*_giving_way(hot, result, found), _draft(facts, hot, _named(hot, found))]
        elif found.sign.suspected and (
            not found.sign.limit or _is_worth(facts, replace(found, beside=_elsewhere(signs, found)))
        ):
            result = _suspecting(hot, result, found)
    return with_accessors(hot, result)


def _seen_in_loop(hot: Hot, draft: Draft) -> Draft:
    """The finding without the doubt that its calls are in no loop, where its source or that of its callers has one."""
    tree, where = hot.facts.profile.tree, draft.where
    doubts = {UNSEEN_LOOP, MAYBE_ONCE}.intersection(draft.against)
    if not doubts or where.node < 0 or where.file not in tree.files:
        return draft
    line = where.line or 0
    held = hot.at(tree.files.index(where.file), line)
    if (held is None or held[1].innermost(line) is None) and not _is_called_in_loop(hot, where.node):
        return draft
    return replace(draft, against=tuple(each for each in draft.against if each not in doubts), signs=draft.signs + 1)


def _in_order(hot: Hot, draft: Draft) -> Draft:
    """A serial part whose loop the source shows to go in order, with advice that allows for it."""
    where, files = draft.where, hot.facts.profile.tree.files
    held = (
        hot.at(files.index(where.file), where.line or 0)
        if draft.cause == "omp-serial-fraction" and where.file in files
        else None
    )
    sign = None if held is None else parallel.in_order(held[1], held[0].unit, where.line or 0)
    if sign is None:
        return draft
    there = replace(where, line=sign.line)
    return replace(
        draft, evidence=(*draft.evidence, source_evidence(hot.facts, there, sign)), advice=sign.advice, own_advice=True
    )


def _without_waiting(facts: Facts, drafts: Sequence[Draft], found: _Found) -> _Found:
    """What was found without the waiting for the busiest rank in its calls, as their part of MPI's time: a finding of its own has that."""
    waited = sum(draft.cost for draft in drafts if draft.cause == "mpi-load-imbalance")
    return replace(found, waited=found.cost * waited / facts.spent(Activity.MPI))


def _elsewhere(signs: Sequence[_Found], found: _Found) -> float:
    """What is suspected of the same cause in all other loops of the program costs: many small ones are one problem."""
    same = [each for each in signs if each.sign.cause == found.sign.cause and each.sign.suspected]
    return sum(each.whole for each in same) - found.cost


def _is_worth(facts: Facts, found: _Found) -> bool:
    """True if the lines of a sign have the share of the time that the catalogue asks for, by more than sampling explains."""
    return facts.above(min(found.whole / facts.total, 1.0), cause(found.sign.cause).threshold("min_share"))


#: Findings that leave open why a loop takes its time.
_UNEXPLAINED = (*UNEXPLAINED, "memory-bandwidth")


def _suspecting(hot: Hot, drafts: Sequence[Draft], found: _Found) -> list[Draft]:
    """`drafts`, those of code at the place that is hot for no known reason with what its source makes one suspect, and the
    measurement that would tell.
    """
    entry = cause(found.sign.cause)
    measure = entry.next_measurement
    tree = hot.facts.profile.tree
    inside = tree.inside(hot.line_nodes(found.file, found.sign.first, found.sign.last))
    holder = tree.nearest(tree.kind == NodeKind.FUNCTION)

    def is_there(place: Place) -> bool:
        """In the lines, or in a function that they call themselves, which their pointers are handed to."""
        if place.function == found.where.function:
            return True
        if place.node < 0 or not inside[place.node]:
            return False
        mine = int(holder[place.node])
        above = int(holder[tree.parent[mine]]) if mine >= 0 and tree.parent[mine] >= 0 else -1
        wanted = int(holder[found.where.node])
        return wanted >= 0 and int(tree.name[wanted]) in (int(tree.name[each]) for each in (mine, above) if each >= 0)

    return [
        replace(
            draft,
            evidence=(*draft.evidence, _evidence(hot.facts, hot, found)),
            against=(
                *draft.against,
                f"It may be {entry.title[0].lower()}{entry.title[1:]}, which only counters can show.",
            ),
            next_measurement=f"{measure.command} ({measure.tells})",
            suspected=(*draft.suspected, entry.id),
        )
        if draft.cause in _UNEXPLAINED and is_there(draft.where) and not (found.sign.limit and draft.suspected)
        else draft
        for draft in drafts
    ]


def _is_same(draft: Draft, found: _Found) -> bool:
    return draft.cause == found.sign.cause and draft.where.function == found.where.function


def _unique(signs: Iterable[_Found]) -> list[_Found]:
    """The most costly sign of each cause in each function, with what other loops of it cost for the same, the most costly first."""
    best: dict[tuple[str, str | None, bool], list[_Found]] = {}
    for found in signs:
        best.setdefault((found.sign.cause, found.where.function, found.sign.alone), []).append(found)
    whole = [_together(each) for each in best.values()]
    return sorted(
        whole,
        key=lambda found: (found.sign.suspected, found.sign.limit, -found.whole, found.sign.cause, found.sign.line),
    )


def _together(signs: list[_Found]) -> _Found:
    """The most costly of some signs of one cause in one function; those about loops beside its own, and of Python about other lines, add
    their cost to it.
    """
    first = max(signs, key=lambda found: found.cost)
    lines = [(first.sign.first, first.sign.last)]
    beside = 0.0
    for found in sorted(signs, key=lambda one: -one.cost):
        adds = found.sign.limit or is_python(found.where.file or "")
        if adds and all(found.sign.last < begin or end < found.sign.first for begin, end in lines):
            lines.append((found.sign.first, found.sign.last))
            beside += found.cost
    return replace(first, beside=beside)


def _signs(hot: Hot) -> Iterator[_Found]:
    """All signs at hot lines and hot calls."""
    seen: set[tuple[int, str, int]] = set()
    loops: set[tuple[int, int, int]] = set()
    for line, file, function in _readable(hot):
        for sign in _at_line(hot, file, function, line, loops):
            key = line.file, sign.cause, sign.first
            if key not in seen:
                seen.add(key)
                yield from _costed(hot, line.file, sign)
    yield from _at_calls(hot, seen)
    yield from _in_scripts(hot)


def _in_scripts(hot: Hot) -> Iterator[_Found]:
    """What the source of Python says about hot lines, and about those that are hot for what they call."""
    tree = hot.facts.profile.tree
    nodes = {(line.file, line.line): line.node for line in hot.lines}
    for node in tree.parent[hot.calls].tolist():
        nodes.setdefault((int(tree.file[node]), int(tree.line[node])), node)
    for (file, line), node in nodes.items():
        script = hot.script(file)
        if script is not None:
            above = ((hot.script(int(tree.file[each])), int(tree.line[each])) for each in tree.path(node)[:-1])
            repeated = any(one is not None and one.is_repeated(at) for one, at in above)
            for sign in python.signs(script, line, repeated=repeated):
                for found in _costed(hot, file, sign):
                    own = hot.interpreted_time(file, sign.first, sign.last) if sign.interpreted else found.cost
                    if own < common()["most"].value * found.cost:
                        continue
                    yield replace(found, where=replace(found.where, line=sign.line)) if sign.of_function else found


def _lookups(hot: Hot) -> Iterator[_Found]:
    """Reads at scattered places, by functions or loops that repeat them: what is left to say of a line that nothing else explains."""
    for line, file, function in _readable(hot):
        found = traffic.lookup(function, file.unit, line.line)
        own = function.innermost(line.line)
        if found is None or (own is None and not _is_called_in_loop(hot, line.node)):
            continue
        if own is not None:
            found = replace(found, first=own.first, last=own.last)
        sign = footprint.weighed(found, function, file, hot.in_cache)
        if sign is not None and not _is_refuted(hot, line, sign):
            yield from _costed(hot, line.file, sign)


def _readable(hot: Hot) -> Iterator[tuple[HotLine, SourceFile, Function]]:
    """The hot lines with their file and function, as far as the text near them could be parsed."""
    for line in hot.lines:
        held = hot.at(line.file, line.line)
        if held is not None and not _is_broken(held[1], line.line):
            yield line, *held


def _is_broken(function: Function, line: int) -> bool:
    """True if the text near the line could not be parsed, in the loop around it or beside it."""
    loop = function.innermost(line)
    first, last = (loop.first, loop.last) if loop is not None else (line - 1, line + 1)
    return function.is_broken(first, last)


def _costed(hot: Hot, file: int, sign: Sign, cost: float | None = None) -> Iterator[_Found]:
    facts = hot.facts
    if cost is None and sign.kernel:
        cost = hot.kernel_time(file, sign.first, sign.last)
    if cost is None and sign.waits:
        inside = facts.profile.tree.inside(hot.line_nodes(file, sign.first, sign.last))
        cost = float(facts.of(Activity.MPI)[inside].sum())
    if cost is None:
        callee = sign.callee.rsplit("::", 1)[-1]
        lines = file, sign.first, sign.last
        cost = hot.time(*lines, without=callee) if sign.calls else hot.own_time(*lines)
    node = hot.hottest(file, sign.first, sign.last, calls=sign.calls)
    if node >= 0 and cost > 0:
        yield _Found(sign, file, cost, facts.place(node, line_node=node))


def _at_line(
    hot: Hot, file: SourceFile, function: Function, line: HotLine, loops: set[tuple[int, int, int]]
) -> Iterator[Sign]:
    """What the recognisers say about a hot line, and about the innermost loop around it where that is not in `loops`."""
    facts = hot.facts
    yield from _some(
        recursion.redundant(function, file)
        or recursion.chained(function, file)
        or recursion.descending(function, file),
        calls.simple_power(function, line.line),
        copies.value_parameter(function, file, line.line),
        copies.range_copy(function, file, line.line),
        copies.returned_copy(function, file, line.line),
        sections.packed(function, (file, *(hot.others(line.file) if file.is_fortran else ())), line.line),
    )
    several = _has_threads(facts)
    beside = []
    if several:
        yield from _some(parallel.region_in_loop(function, line.line))
        beside = [sign for sign in sharing.false_sharing(function, file) if sign.first <= line.line <= sign.last]
        yield from beside
    own = function.innermost(line.line)
    repeated = list(
        _some(
            shifts.shifting(function, file.unit, line.line, in_loop=own is not None),
            shifts.grown(function, file.unit, line.line),
            copies.rebuilt(function, line.line),
        )
    )
    if repeated and (own is not None or _is_called_in_loop(hot, line.node)):
        yield from repeated
    called = _in_callers(hot, file, function, line.node)
    outer = called.loops[next((one.loop for one in called.statements if one.line == line.line), 0)] if called else None
    if facts.spent(Activity.MPI) and called is not None and outer is not None:
        yield from _some(parallel.by_element(called, file.unit, outer, line.line))
    # Places that threads have for themselves, one beside the other, are not fought for.
    if several and not beside and (own is not None or _is_called_in_loop(hot, line.node)):
        yield from _some(parallel.atomic(function, file.unit, own, line.line))
    if own is None:
        if called is not None and outer is not None:
            strided = strides.strided(inlining.expanded(called, file), file.unit, outer)
            yield from _some(replace(strided, calls=True) if strided is not None else None)
        if _is_called_in_loop(hot, line.node):
            yield from _some(searches.library_search(function, file.unit, None, line.line))
        return
    yield from _some(
        copies.allocation(function, own, line.line),
        calls.synchronous(function, own, line.line),
        searches.library_search(function, file.unit, own, line.line),
        parallel.by_element(function, file.unit, own, line.line) if facts.spent(Activity.MPI) else None,
        *(invariant.invariant(function, file, own, line.line, name) for name in sorted(invariant.LENGTHS)),
    )
    loop = effective(function, own, file.unit)
    key = line.file, function.first, loop.index
    if hot.facts.spent(Activity.MATH) == 0:
        yield from _some(calls.functions_in_loop(function, file.unit, loop, line.line))
    if key not in loops:
        loops.add(key)
        yield from _fresh(hot, file, function, loop, line)
        yield from _at_loop(hot, file, function, loop, line, called)


def _fresh(hot: Hot, file: SourceFile, function: Function, loop: Loop, line: HotLine) -> Iterator[Sign]:
    """First writes to memory that is fresh each time. Where page faults were counted, or the kernel's time for them was sampled, these
    decide, and the source only supports them; where the profile tells the kernel's time and not for what, that of the function does.
    """
    found = fresh.touched(function, file, loop)
    if found is None or not (found[1] or _is_called_in_loop(hot, line.node)):
        return
    sign = found[0]
    supports = replace(sign, alone=False, suspected=False)
    if "cpu.page-faults" in hot.facts.profile.metrics or hot.facts.spent(Activity.PAGE_FAULT) > 0:
        yield supports
    elif hot.tells_kernel:
        kernel = replace(sign, first=function.first, last=function.last, alone=True, suspected=False, kernel=True)
        cost = hot.kernel_time(line.file, function.first, function.last)
        worth = hot.facts.above(min(cost / hot.facts.total, 1.0), cause(sign.cause).threshold("min_share"))
        yield replace(kernel, against=(_NEAR,)) if worth else supports
    else:
        yield sign


#: The kernel's time is told behind the last sample before.
_NEAR = "What the program was doing while the kernel worked is near these lines, not necessarily at them."


def _has_threads(facts: Facts) -> bool:
    """True if several threads of one process work."""
    return bool(np.unique(facts.ranks, return_counts=True)[1].max(initial=0) > 1)


def _at_loop(
    hot: Hot, file: SourceFile, function: Function, loop: Loop, line: HotLine, called: Function | None
) -> Iterator[Sign]:
    """The first thing that explains the loop; one loop has one finding. `called` is the function in the loops of its callers, if it is."""
    unit = file.unit
    search = (
        searches.linear_search(function, unit, loop)
        or searches.pairs(function, unit, loop)
        or searches.sorting(function, unit, loop)
        or shifts.shift_loop(function, unit, loop)
    )
    if search is not None:
        if loop.parent >= 0 or _is_called_in_loop(hot, line.node):
            yield search
        return
    first = (
        strides.strided(inlining.expanded(function, file), unit, loop)
        or _strided_in(called, file, loop)
        or traffic.chase(function, unit, loop)
        or traffic.nodes(function, unit, loop)
        or traffic.gather(function, unit, loop)
        or traffic.random_access(function, unit, loop)
        or traffic.bisection(function, unit, loop)
        or traffic.bandwidth(function, unit, loop, cause("memory-bandwidth").threshold("min_bytes_per_operation"))
    )
    if first is not None:
        first = footprint.weighed(first, function, file, hot.in_cache)
    if first is not None and _is_refuted(hot, line, first):
        first = None
    division = None if first is not None else calls.invariant_division(function, unit, loop)
    if division is not None and traffic.stream(function, unit, loop) is not None:
        division = replace(division, against=(*division.against, _ALSO_STREAMS))
    yield from _some(first, division)


def _is_refuted(hot: Hot, line: HotLine, sign: Sign) -> bool:
    """True if counters, or the memory that the run held at most, tell that the lines of a sign do not wait for memory, which the source
    suggests: what was measured wins.
    """
    where = line.file, sign.first, sign.last
    if sign.cause == "memory-bandwidth" and hot.in_cache:
        return True
    waits = bool(sign.memory) or sign.cause in ("memory-latency", "memory-bandwidth")
    return waits and ((bool(sign.memory) and hot.has_few_misses(*where)) or hot.computes(*where))


def _strided_in(called: Function | None, file: SourceFile, loop: Loop) -> Sign | None:
    """Steps by rows in a function's loop, where a loop of a caller would step to neighbours."""
    same = (
        next((one for one in called.loops if (one.first, one.last) == (loop.first, loop.last)), None)
        if called
        else None
    )
    return strides.strided(inlining.expanded(called, file), file.unit, same) if called and same else None


#: What else may take the time of a loop over whole arrays.
_ALSO_STREAMS = "The loop also streams through memory, whose bandwidth may be the limit instead."


def _some(*signs: Sign | None) -> Iterator[Sign]:
    return (sign for sign in signs if sign is not None)


def _is_called_in_loop(hot: Hot, node: int) -> bool:
    """True if a loop stands above the function that holds the node: in the profile, or around a call in the source."""
    facts, tree = hot.facts, hot.facts.profile.tree
    function = int(tree.function[node])
    above = int(tree.parent[function]) if function >= 0 else -1
    if above < 0:
        return False
    return facts.below_loop(above) or any(_calls_in_loop(hot, step) for step in tree.path(above))


def _in_callers(
    hot: Hot, file: SourceFile, function: Function, node: int, inner: frozenset[int] = frozenset()
) -> Function | None:
    """The function that holds the node as it stands in the loops of those that call it, in the same file; None where these have none. Who
    calls is looked for up to a function that is there already (`inner`: first lines), as deep as functions may call each other.
    """
    tree = hot.facts.profile.tree
    own = int(tree.function[node])
    site = int(tree.parent[own]) if own >= 0 else -1
    line = int(tree.line[site]) if site >= 0 and tree.kind[site] == NodeKind.LINE else 0
    caller = file.function_at(line) if line > 0 and tree.file[site] == tree.file[node] else None
    inner |= {function.first}
    if caller is None or caller.first in inner:
        return None
    return inlining.within(function, _in_callers(hot, file, caller, site, inner) or caller, line)


def _calls_in_loop(hot: Hot, node: int) -> bool:
    """True if a context is a source line inside a loop."""
    tree = hot.facts.profile.tree
    line = int(tree.line[node])
    if tree.kind[node] != NodeKind.LINE or line <= 0:
        return False
    held = hot.at(int(tree.file[node]), line)
    return held is not None and held[1].innermost(line) is not None


def _at_calls(hot: Hot, seen: set[tuple[int, str, int]]) -> Iterator[_Found]:
    """What is said about lines that are hot for the functions that they call."""
    facts, tree = hot.facts, hot.facts.profile.tree
    for node in hot.calls.tolist():
        parent = int(tree.parent[node])
        place, line = int(tree.file[parent]), int(tree.line[parent])
        held = hot.at(place, line) if tree.kind[parent] == NodeKind.LINE else None
        if held is None or _is_broken(held[1], line):
            continue
        file, function = held
        callee = base_name(readable_function(tree.function_name(node))).rsplit("::", 1)[-1]
        found = [copies.value_parameter(function, file, line)]
        if _has_threads(facts):
            found += [sign for sign in sharing.false_sharing(function, file) if sign.first <= line <= sign.last]
            found.append(parallel.region_in_loop(function, line))
        own = function.innermost(line)
        if own is not None:
            found.append(searches.library_search(function, file.unit, own, line))
            called = invariant.invariant(function, file, own, line, callee) if callee else None
            same = np.flatnonzero((tree.parent == parent) & (tree.name == tree.name[node]))
            cost = float(facts.inclusive[same].sum())
            if (
                called is not None
                and facts.above(
                    min(cost / facts.total, 1.0), cause("loop-invariant-work").threshold("min_called_share")
                )
                and (place, called.cause, line) not in seen
            ):
                seen.add((place, called.cause, line))
                yield from _costed(hot, place, called, cost)
        for sign in _some(*found):
            if (place, sign.cause, sign.first) not in seen:
                seen.add((place, sign.cause, sign.first))
                yield from _costed(hot, place, sign)


def _evidence(facts: Facts, hot: Hot, found: _Found) -> Fact:
    name = hot.facts.profile.tree.files[found.file]
    place = Place(found.where.function, name, found.sign.line, None, found.where.path, found.where.node)
    return source_evidence(facts, place, found.sign)


def _time(facts: Facts, found: _Found) -> Fact:
    """The time of the lines, with its sampling error: no sign goes without it."""
    sign, base = found.sign, str(found.where.file).rsplit("/", 1)[-1]
    lines = f"line {sign.first}" if sign.first == sign.last else f"lines {sign.first} to {sign.last}"
    lines = f"{lines} of {base}" if not sign.waits else f"MPI in {lines} of {base}"
    lines = str(found.where.function) if sign.of_function else lines
    how = f"time of the {'function' if sign.of_function else 'lines'}" + (
        " in MPI"
        if sign.waits
        else " with all that they call"
        if sign.calls
        else " itself"
        if sign.of_function
        else " themselves"
    )
    how += f", but {sign.callee}" if sign.callee else ""
    form = Form.NAME if sign.waits or sign.of_function else Form.ONE if sign.first == sign.last else Form.MANY
    if sign.kernel:
        lines, how, form = f"the kernel's work for {lines}", "time in the kernel behind samples of the lines", Form.ONE
    return time_fact(facts, min(found.cost, facts.total), lines, how, form=form, where=found.where)


def _joined(facts: Facts, draft: Draft, found: _Found, hot: Hot) -> Draft:
    evidence = _evidence(facts, hot, found)
    if found.sign.title and found.sign.advice:
        draft = replace(draft, advice=found.sign.advice, own_advice=True)
    if any(
        item.where is not None and item.unit == "line" and item.where.line == found.sign.line for item in draft.evidence
    ):
        return draft  # the same line was read already
    more = (evidence,) if found.cost >= draft.cost or not found.sign.alone else (_time(facts, found), evidence)
    return draft.backed(*more)


def _named(hot: Hot, found: _Found) -> _Found:
    """What was found, with the name of the function that holds the line in the source, where the profile has that of another function of
    the file: tools lose the names of functions that were put in place of their calls.
    """
    file = hot.source(found.file)
    holding = file.function_at(found.sign.line) if file is not None else None
    if file is None or holding is None or not holding.name:
        return found
    told = base_name(found.where.function or "").rsplit("::", 1)[-1]
    others = file.functions_named(told)
    if not others or any(each.first <= found.sign.line <= each.last for each in others):
        return found
    return replace(found, where=replace(found.where, function=holding.name))


_FOR_A_CORE = "Part of it may be waiting for ranks that had no core."


def _draft(facts: Facts, hot: Hot, found: _Found) -> Draft:
    sign, entry = found.sign, cause(found.sign.cause)
    cost = min(found.whole, facts.total)
    share = cost / facts.total
    beside: tuple[Fact, ...] = (
        (
            time_fact(
                facts,
                found.beside,
                f"other {'loops' if sign.limit else 'lines'} of {found.where.function} that do the same",
                f"time of the lines {'themselves' if sign.limit else 'with all that they call'}",
                form=Form.MANY,
            ),
        )
        if found.beside
        else ()
    )
    if found.waited:
        beside += (
            time_fact(
                facts,
                found.waited,
                "waiting there for the busiest rank",
                "that of all MPI, by the lines' part of its time",
                of=part_of(facts, found.cost, "MPI in them"),
                error=0.0,
            ),
        )
    in_python = is_python(found.where.file or "")
    advice = sign.advice or (tuple(each.do for each in entry.advice if "python" in each.applies) if in_python else ())
    return Draft(
        cause=entry.id,
        where=found.where,
        summary=f"{found.where.function} {shortened(sign.summary, 150)}, as its source shows: {numbers.percent(share)} of {facts.whole}.",
        cost=cost,
        share=share,
        evidence=(_time(facts, found), *beside, _evidence(facts, hot, found)),
        headroom=entry.threshold("headroom_at_limit") if sign.limit else None,
        against=(*sign.against, *([_FOR_A_CORE] if sign.waits and starved(facts) else [])),
        derived=True,
        replaces=(),
        removable=None if sign.bounded else 0.0,
        title=sign.title,
        advice=advice,
        own_advice=bool(advice),
        next_measurement=COUNT_CALLS if in_python else None,
        fits=sign.fits,
    )


#: Cause of a sign and of a finding that it explains → what the finding measured, which then lies below the lines of the sign.
_PARTS = {
    ("redundant-copies", "allocation-churn"): Activity.ALLOCATION,
    ("quadratic-algorithm", "redundant-copies"): Activity.COPY,
    ("io-small-requests", "io-bound"): Activity.IO,
    **{
        ("mpi-small-messages", f"mpi-{name}"): Activity.MPI
        for name in ("late-sender", "collective-wait", "communication-bound")
    },
}


def _giving_way(hot: Hot, drafts: Sequence[Draft], found: _Found) -> list[Draft]:
    """`drafts` without those that the sign explains: hot code in its lines; the allocations that a copy makes; the copies by which a list
    is moved.
    """
    facts, tree = hot.facts, hot.facts.profile.tree
    inside = tree.inside(hot.line_nodes(found.file, found.sign.first, found.sign.last))
    kept = []
    for draft in drafts:
        if draft.cause in UNEXPLAINED and draft.where.node >= 0 and inside[draft.where.node]:
            continue
        part = _PARTS.get((found.sign.cause, draft.cause))
        if part is not None and float(facts.of(part)[inside].sum()) >= common()["most"].value * draft.cost:
            continue
        kept.append(draft)
    return kept
