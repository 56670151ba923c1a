"""Where the program computes, and the kinds of waste in computing that calls and lines can show."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from chathpc.diagnosis.catalogue import Cause, cause, common
from chathpc.diagnosis.command import APP
from chathpc.diagnosis.draft import Draft, fact, part_of, share_here, time_fact, time_unit
from chathpc.diagnosis.fact import Fact, Form, Kind, Part, Quantity
from chathpc.diagnosis.facts import Facts, HotPlace
from chathpc.diagnosis.insufficient import NAMELESS
from chathpc.diagnosis.records import Place
from chathpc.diagnosis.rules.hot_spots import spot_advice
from chathpc.diagnosis.rules.python import array_advice, line_advice
from chathpc.diagnosis.source.calls import chained
from chathpc.diagnosis.source.hot import Hot, source_evidence
from chathpc.diagnosis.source.invariant import invariant
from chathpc.diagnosis.source.model import Function, Loop
from chathpc.diagnosis.source.sign import Sign
from chathpc.diagnosis.source.text import SourceFile
from chathpc.diagnosis.statistics import largest_first
from chathpc.profile import numbers
from chathpc.profile.activity import KERNEL, Activity, base_name, is_system, public_name
from chathpc.profile.classification import in_python_libraries
from chathpc.profile.languages import Language, language_of
from chathpc.profile.source_text import no_source
from chathpc.profile.tree import BoolArray, CallTree, FloatArray, NodeKind

_COMPUTING = (Activity.COMPUTE, Activity.MATH, Activity.LIBRARY)
#: At most this many hot functions are listed.
_LISTED = 3


def hot_compute(facts: Facts) -> Iterable[Draft]:
    """The functions that compute longest, with their hottest line, or the library's function that they call for it. Not a fault by itself:
    time does not tell efficiency.
    """
    entry, library = cause("hot-compute"), cause("library-call")
    computing = np.where(_is_system(facts), 0.0, facts.of(*_COMPUTING))
    names, times = facts.by_function(computing)
    importing = _importing(facts)
    # The outlined regions of one function are one place in the source.
    merged: dict[str, list[tuple[int, float]]] = {}
    for name, time in zip(names.tolist(), times.tolist(), strict=True):
        merged.setdefault(facts.readable(facts.label_names[name]), []).append((name, time))
    ranked = sorted(merged.items(), key=lambda item: -sum(time for _, time in item[1]))
    for readable, parts in ranked[:_LISTED]:
        cost = sum(time for _, time in parts)
        share = cost / facts.total
        if not facts.above(share, entry.threshold("min_share")):
            break
        name = max(parts, key=lambda part: part[1])[0]
        hot = facts.hot_place(computing, name)
        if hot is None:
            continue
        mine = facts.in_function(name, computing)
        called = _called_most(facts, mine, cost)
        at_line = line_advice(facts, hot)
        draft = (
            _computing(facts, entry, readable, cost, hot) if called is None else _calling(facts, library, hot, *called)
        )
        if called is None or at_line:
            advice = at_line or array_advice(facts, name, cost) or spot_advice(facts, hot, readable, mine)
            draft = replace(draft, advice=advice, own_advice=bool(advice))
        imported = float(mine[importing].sum())
        if called is None and imported >= common()["most"].value * cost:
            told = time_fact(facts, imported, "importing modules", "time in and below modules that others import")
            draft = replace(draft, cause=library.id, cost=imported, share=imported / facts.total)
            draft = _import(facts, replace(draft, evidence=(told, *draft.evidence[1:])))
        yield draft


def _importing(facts: Facts) -> BoolArray:
    """True in and below modules of Python that another one imports: their top-level code runs below its, but for what runpy starts."""
    tree = facts.profile.tree
    top = tree.where_name(lambda name: name == _TOP) & (tree.kind == NodeKind.FUNCTION)
    above = np.maximum(tree.parent, 0)
    started = tree.where_file(lambda file: file.endswith("runpy.py"))
    inner = top & (tree.parent >= 0) & (tree.nearest(top)[above] >= 0) & ~started[tree.function[above]]
    return np.asarray(tree.nearest(inner) >= 0)


def _import(facts: Facts, draft: Draft) -> Draft:
    """A finding whose time is that of imports."""
    share, place = numbers.percent(draft.share), draft.where
    at = f"at {place.short}" if place.line else f"from {place.function}"
    return replace(
        draft, title=f"Imports have {share} of {facts.whole}", advice=_IMPORTING, own_advice=True, next_measurement=_IMPORT_TIMES,
        summary=f"Importing modules {at} has {share} of {facts.whole}, a cost of each start.",
    )  # fmt: skip


def _is_system(facts: Facts) -> BoolArray:
    """True for what the kernel and the dynamic loader do: no work of the function around it."""
    tree = facts.profile.tree
    return np.asarray(tree.where_module(is_system) | tree.named(KERNEL))


def _computing(facts: Facts, entry: Cause, readable: str, cost: float, hot: HotPlace) -> Draft:
    place, at_line, share = hot.place, hot.at_line, cost / facts.total
    loop = facts.innermost_loop(hot.line)
    evidence = [
        time_fact(
            facts,
            cost,
            readable,
            "exclusive time of the function and of the computing libraries that it calls",
            form=Form.NAME,
            where=place,
        )
    ]
    if hot.line >= 0:
        loop_words = (
            f", in the loop at {facts.profile.tree.place(loop)}" if loop >= 0 and facts.profile.tree.place(loop) else ""
        )
        evidence.append(
            time_fact(
                facts,
                at_line,
                f"the hottest line of {readable}, {place.short}{loop_words},",
                "time by source line, library calls counted for the calling line",
                where=place,
            )
        )
    return Draft(
        cause=entry.id,
        where=place,
        title=f"Hot spot: {numbers.percent(share)} of {facts.whole} in one place",
        summary=f"{readable} has {numbers.percent(share)} of {facts.whole}"
        + (f", most of it at {place.short}." if hot.line >= 0 and at_line > common()["most"].value * cost else "."),
        cost=cost,
        share=share,
        evidence=tuple(evidence),
        signs=2,
    )


def _called_most(facts: Facts, weight: FloatArray, cost: float) -> tuple[str, float, str] | None:
    """The library's function that has most of what a function computes, with its time and its file (empty where that is not told); None
    where the function does so itself.
    """
    tree, call = facts.profile.tree, facts.activities.call
    # The native functions of Python's packages are none that a program calls by their names.
    inner = tree.where_module(in_python_libraries)
    counted = np.flatnonzero((weight > 0) & (call >= 0) & ~inner[np.maximum(call, 0)])
    names, files = [], dict[str, str]()
    for node in call[counted].tolist():
        file = tree.file_name(node) or ""
        # Underscores are a part of Python's names (__getitem__), not what a library of C adds to its own.
        written = tree.function_name(node)
        names.append(
            written if language_of(file) == Language.PYTHON or file.startswith(_FROZEN) else public_name(written)
        )
        files.setdefault(names[-1], file)
    name, most = next(iter(largest_first(names, weight[counted].tolist())), ("", 0.0))
    return (name, most, files[name]) if most >= common()["most"].value * cost and name.isidentifier() else None


#: Modules that are a part of Python's interpreter, those of them that import others, and packages that work on whole arrays.
_FROZEN, _IMPORTS, _TOP, _ON_ARRAYS = "<frozen ", "<frozen importlib", "<module>", re.compile(r"(^|/)(numpy|scipy)/")
_IMPORTING = (
    "An import is paid once a run and weighs less in longer ones. Import less: omit what is not used, and move what is seldom used into the "
    "function that uses it. Start one process for many cases, not one for each.",
)
_IMPORT_TIMES = (
    f"python -X importtime {APP} (How long each import takes, with those that it makes itself, in microseconds.)"
)
_KEPT_RESULT = (
    "Check whether the same arguments come again, and keep the result (@functools.cache, or read a file once and hand on what was read); else ask "
    "whether one call can do the work of many (a whole column instead of each row).",
)


def _calling(facts: Facts, entry: Cause, hot: HotPlace, name: str, cost: float, file: str) -> Draft:
    """What a function calls for, by the line that calls; where that is a loop's condition, it is said, and where it is an import."""
    place, share = hot.place, cost / facts.total
    at = f"at {place.short}" if place.line else f"from {place.function}"
    draft = Draft(
        cause=entry.id,
        where=place,
        title=f"One library function has {numbers.percent(share)} of {facts.whole}",
        summary=f"{name}, called {at}{_in_condition(facts, hot, name)}, has {numbers.percent(share)} of {facts.whole}.",
        cost=cost,
        share=share,
        evidence=(
            time_fact(
                facts,
                cost,
                f"{name} called from {place.function}",
                "time in the library's function by calling function",
                form=Form.NAME,
                where=place,
            ),
        ),
        signs=2,
    )
    if file.startswith(_IMPORTS):
        return _import(facts, draft)
    if language_of(file) == Language.PYTHON and not _ON_ARRAYS.search(file):
        return replace(draft, advice=_KEPT_RESULT, own_advice=True)
    return draft


def _in_condition(facts: Facts, hot: HotPlace, name: str) -> str:
    """That the call stands in the condition of a loop, in words, where the source is there; else empty."""
    if hot.line < 0 or facts.profile.read_source is no_source:
        return ""
    line = int(facts.profile.tree.line[hot.line])
    held = Hot(facts).at(int(facts.profile.tree.file[hot.line]), line)
    loop = held[1].innermost(line) if held is not None else None
    if loop is None or loop.condition is None or not any(each.short == name for each in loop.condition.calls()):
        return ""
    return f" in the condition of the loop at line {loop.first}"


def math_in_loops(facts: Facts) -> Iterable[Draft]:
    """Hot calls of math functions below a loop: expensive, or even the same in every iteration."""
    expensive, same = cause("expensive-math"), cause("loop-invariant-work")
    math = facts.of(Activity.MATH)
    least = expensive.threshold("min_share")
    if not facts.above(float(math.sum()) / facts.total, least):
        return
    hot = _calling_math(facts, math, least)
    called = _called_math(facts, math if hot is None else facts.in_function(hot.label, math))
    found = None
    if hot is not None and hot.line >= 0 and facts.profile.read_source is not no_source:
        found = invariant_call(facts, hot.line, called)
    if hot is not None and found is not None:
        yield Draft(
            cause=same.id,
            where=hot.place,
            summary=f"{hot.place.function} calls math functions with arguments that do not change in the innermost loop.",
            cost=hot.at_line,
            share=hot.at_line / facts.total,
            evidence=(*_math_evidence(facts, math, hot, called), found),
            signs=2,
        )
        math = np.where(facts.at_line(hot.line), 0.0, math)
        rest = facts.hot_place(math)
        if rest is None or not facts.above(float(math.sum()) / facts.total, least):
            return
        hot = rest
    yield _expensive_math(facts, math, hot)


def invariant_call(facts: Facts, line_node: int, callees: list[str]) -> Fact | None:
    """Evidence that the line of `line_node` calls one of `callees` with arguments that the innermost loop around it does not
    change; None if the source is not there or cannot be parsed, no such call is in the line, or an argument may change.
    """

    def found(function: Function, file: SourceFile, loop: Loop, line: int) -> Sign | None:
        signs = (invariant(function, file, loop, line, callee) for callee in callees)
        return next((each for each in signs if each is not None), None)

    return _in_loop(facts, line_node, found)


def _in_loop(
    facts: Facts, line_node: int, find: Callable[[Function, SourceFile, Loop, int], Sign | None]
) -> Fact | None:
    """What is found in the innermost loop around a line, as evidence."""
    tree = facts.profile.tree
    line = int(tree.line[line_node])
    held = Hot(facts).at(int(tree.file[line_node]), line) if line > 0 else None
    loop = held[1].innermost(line) if held is not None else None
    if held is None or loop is None or held[1].is_broken(loop.first, loop.last):
        return None
    sign = find(held[1], held[0], loop, line)
    return None if sign is None else source_evidence(facts, facts.place(line_node, line_node=line_node), sign)


def _calling_math(facts: Facts, math: FloatArray, least: float) -> HotPlace | None:
    """Where the program calls most of `math`; None where stacks that end before its code leave too little of it with a caller."""
    return (
        facts.hot_place(math) if facts.above(float(math[facts.caller_label >= 0].sum()) / facts.total, least) else None
    )


def _math_evidence(facts: Facts, math: FloatArray, hot: HotPlace | None, called: list[str]) -> tuple[Fact, ...]:
    cost = float(math.sum())
    everywhere = time_fact(
        facts,
        cost,
        "math library functions",
        "time in libm below the program's code" if hot is not None else "time in libm",
        form=Form.MANY,
        parts=[Part(name) for name in called[:4]],
    )
    if hot is None:
        return (everywhere,)
    return (
        everywhere,
        time_fact(
            facts,
            hot.weight,
            f"calls from {hot.place.function}",
            "time in libm by calling function",
            of=part_of(facts, cost, "math library functions"),
            form=Form.MANY,
            parts=[Part(hot.place.short, hot.at_line, time_unit(facts))] if hot.line >= 0 else (),
            where=hot.place,
        ),
    )


#: A doubt that the source may dispel, where the profile tells no loops.
UNSEEN_LOOP = "The calls were not seen inside a loop."


def _expensive_math(facts: Facts, math: FloatArray, hot: HotPlace | None) -> Draft:
    entry = cause("expensive-math")
    total = float(math.sum())
    loop = -1 if hot is None else facts.innermost_loop(hot.line)
    in_loop = loop >= 0 or (hot is not None and facts.below_loop(hot.node))
    called = _called_math(facts, math if hot is None else facts.in_function(hot.label, math))
    listed = ", ".join(called[:4]) or "math functions"
    serial = None
    if hot is not None and hot.line >= 0 and facts.profile.read_source is not no_source:
        serial = _in_loop(facts, hot.line, lambda function, _, loop, line: chained(function, loop, line, called))
    loop_place = facts.profile.tree.place(loop) if loop >= 0 else ""
    summary = (
        f"Calls of {listed} take {share_here(facts, total, total)}; the stacks do not tell which function makes them."
    )
    if hot is not None:
        summary = f"Calls of {listed} in {hot.place.function} take {share_here(facts, hot.weight, total)}" + (
            f", in the loop at {loop_place}." if loop_place else "."
        )
    return Draft(
        cause=entry.id,
        where=Place() if hot is None else hot.place,
        summary=summary,
        cost=total,
        share=total / facts.total,
        evidence=(*_math_evidence(facts, math, hot, called), *([serial] if serial else [])),
        signs=2 if in_loop else 1,
        against=() if in_loop else (UNSEEN_LOOP,),
        advice=_told_first(entry, called, hot.place.file if hot else None, serial=serial is not None),
        own_advice=serial is not None,
        next_measurement=_AFTER if serial else None,
    )


_AFTER = f"chathpc measure -- {APP} (After changing the calls: whether the time in libm falls and the results stay within the tolerance.)"


def _told_first(entry: Cause, called: list[str], file: str | None, *, serial: bool) -> tuple[str, ...]:
    """What helps any function, in C and C++, where none of those called is pow: the catalogue begins with that. All that helps `serial` calls."""
    language = language_of(file or "")
    has_pow = any(name.startswith("pow") for name in called)
    if serial:
        fits = (advice.do for advice in entry.advice if {str(language), "any"} & {*advice.applies})
        return tuple(each for each in fits if "vector version" not in each and (has_pow or "pow" not in each))
    if language not in (Language.C, Language.CPP) or has_pow:
        return ()
    return tuple(advice.do for advice in entry.advice if "c" in advice.applies and "pow" not in advice.do)


def _called_math(facts: Facts, weight: FloatArray) -> list[str]:
    """Names of the public math functions called, the most costly first: `pow`, `exp`. What else stands above them in a call (the loader,
    where a stack is broken) is not what is called.
    """
    tree, call = facts.profile.tree, facts.activities.call
    math = facts.activities.of(Activity.MATH)
    above = np.maximum(tree.parent, 0)
    first = tree.nearest(math & ((tree.parent < 0) | ~math[above] | (call[above] != call)))
    counted = np.flatnonzero((weight > 0) & (call >= 0) & (first >= 0))
    names = (public_name(tree.function_name(node)) for node in first[counted].tolist())
    return [name for name, _ in largest_first(names, weight[counted].tolist()) if name]


def deep_recursion(facts: Facts) -> Iterable[Draft]:
    """A function that calls itself, directly or through others, many levels deep."""
    entry = cause("deep-recursion")
    tree = facts.profile.tree
    if int(tree.depth.max(initial=0)) < entry.threshold("min_depth"):
        return
    hot = facts.inclusive > 0
    function = (tree.kind == NodeKind.FUNCTION) & (tree.name >= 0) & hot & (facts.activities.call < 0)
    # Two frames without a name, one in the other, need not be the same function.
    function &= ~tree.where_name(lambda name: name in NAMELESS, nameless=True)
    nodes = np.flatnonzero(function).astype(np.int32)
    if not len(nodes):
        return
    levels = _levels(tree.name[nodes], nodes, tree.end[nodes])
    deepest = int(np.argmax(levels))
    level = int(levels[deepest])
    if level < entry.threshold("min_depth"):
        return
    name = int(tree.name[nodes[deepest]])
    outermost = tree.outermost(nodes[tree.name[nodes] == name])
    # What they call beside each other takes as long from a loop.
    ring = _names_between(tree, int(nodes[deepest]), name)
    own_time = np.where(tree.inside(outermost) & np.isin(tree.name[tree.function], ring), facts.time, 0.0)
    cost = float(own_time.sum())
    share = cost / facts.total
    if not facts.above(share, entry.threshold("min_share")):
        return
    label = int(tree.function_labels[0][outermost[0]])
    own = facts.hot_place(own_time, label)
    place = facts.place(
        int(outermost[np.argmax(facts.inclusive[outermost])]), line_node=-1 if own is None else own.line
    )
    others = [tree.names[each] for each in ring if each != name]
    through = f"through {base_name(others[0])} " if len(others) == 1 else "through others " if others else ""
    yield Draft(
        cause=entry.id,
        where=place,
        summary=f"{place.function} calls itself {through}{level} levels deep and holds {numbers.percent(share)} of {facts.whole}.",
        cost=cost,
        share=share,
        evidence=(
            time_fact(
                facts,
                cost,
                str(place.function),
                "time of the functions that call each other, without that of others that they call",
                form=Form.NAME,
                where=place,
            ),
            fact(
                facts,
                Kind.COUNT,
                level,
                subject=str(place.function),
                form=Form.NAME,
                whole=Quantity(of="the deepest call path"),
                unit="frames",
                how="largest number of frames of the function on one path",
                where=place,
            ),
        ),
        signs=2,
    )


def _names_between(tree: CallTree, node: int, name: int) -> list[int]:
    """Names of the functions from `node` up to the outermost frame of the same `name`: those that call each other."""
    found, above = [], []
    while node >= 0:
        if tree.kind[node] == NodeKind.FUNCTION:
            above.append(int(tree.name[node]))
            if above[-1] == name:
                found += above
                above = []
        node = int(tree.parent[node])
    return list(dict.fromkeys(found))


def _levels(name: np.ndarray, node: np.ndarray, end: np.ndarray) -> np.ndarray:
    """How many frames of the same name each of `node` (ascending) has on its path, itself included."""
    order = np.lexsort((node, name))
    sorted_name, begin, stop = name[order], node[order], end[order]
    # Within a name: earlier nodes minus those whose subtree ended before this node begins.
    first = np.flatnonzero(np.append(True, sorted_name[1:] != sorted_name[:-1]))
    group = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(order))))
    big = int(end.max()) + 1
    ends_sorted = np.sort(stop.astype(np.int64) + group.astype(np.int64) * big)
    ended = (
        np.searchsorted(ends_sorted, begin.astype(np.int64) + group.astype(np.int64) * big, side="right") - first[group]
    )
    levels = np.empty(len(order), dtype=np.int64)
    levels[order] = np.arange(len(order)) - first[group] - ended + 1
    return levels


RULES = (hot_compute, math_in_loops, deep_recursion)
