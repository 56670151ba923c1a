"""What the machine code of hot loops says of their waiting for memory and of vector instructions, with the samples at each instruction: without
counters and source.

What was measured wins: nothing is said where counters tell otherwise, where the run never held more than the last cache, or where
something else explains the place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from chathpc.diagnosis.assembly.loop import Loop, ScalarLoop, hottest_loop, scalar_loops
from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.draft import BESIDE_HOT, UNEXPLAINED, Draft, fact, share_fact, time_fact
from chathpc.diagnosis.fact import Fact, Form, Kind
from chathpc.diagnosis.facts import Facts, readable_function
from chathpc.diagnosis.records import Place
from chathpc.diagnosis.rules.compiler import LOOPS, told_first
from chathpc.diagnosis.source.hot import Hot
from chathpc.diagnosis.source.traffic import SCATTERED
from chathpc.diagnosis.statistics import is_above
from chathpc.diagnosis.tuned_libraries import in_tuned_libraries
from chathpc.profile import numbers
from chathpc.profile.activity import Activity
from chathpc.profile.compiler import Obstacle
from chathpc.profile.machine_code import SampledCode
from chathpc.profile.run import PEAK_MEMORY
from chathpc.profile.tree import BoolArray, NodeKind

LATENCY, BANDWIDTH, SCALAR = "memory-latency", "memory-bandwidth", "not-vectorised"
_HOW = "machine code with the samples at each instruction"
_MEMORY = "How much memory the loop uses is unknown: data in the cache would cause little waiting."
_LIMIT = "Data beyond the caches would come no faster for vector instructions."
_ORDER = "The order of the addresses is unknown: sequential access would be fast."


def with_machine_code(facts: Facts, drafts: Sequence[Draft]) -> list[Draft]:
    """`drafts`, and findings about hot loops that nothing else explains."""
    found = list(drafts)
    for code in facts.profile.sampled_code:
        mine = _nodes(facts, code)
        found += _of_code(facts, code, mine, found)
        found += _scalar(facts, code, mine, found)
    return found


def _of_code(facts: Facts, code: SampledCode, mine: BoolArray, drafts: Sequence[Draft]) -> Iterator[Draft]:
    loop, hot = hottest_loop(code), Hot(facts)
    place = facts.hot_place(np.where(mine, facts.time, 0.0))
    if loop is None or place is None or hot.in_cache or _is_explained(drafts, place.place):
        return
    if hot.few_misses(mine) or hot.many_instructions(mine):
        return
    time, name = loop.share * float(facts.time[mine].sum()), place.place.function or code.function
    samples = code.samples * loop.share
    entry = cause(LATENCY)

    def is_most(part: float) -> bool:
        return is_above(part, entry.threshold("min_waiting_samples"), samples, common()["sigma"].value)

    if is_most(loop.chased):
        does = "goes from item to item, each address coming from the previous item"
        waiting = _waiting(facts, "loads along a chain of addresses", loop.chased, name, place.place)
        yield from _draft(facts, LATENCY, place.place, does, time, waiting, part=loop.chased)
    elif is_most(loop.chased + loop.gathered):
        part = min(loop.chased + loop.gathered, 1.0)
        does = "reads memory at addresses that it has loaded just before"
        waiting = _waiting(facts, "loads whose address the loop has loaded just before", part, name, place.place)
        yield from _draft(
            facts,
            LATENCY,
            place.place,
            does,
            time,
            waiting,
            part=part,
            against=(_ORDER,),
            limit=loop.beside,
            advice=SCATTERED,
        )
    elif _streams(loop):
        operations = f"{loop.operations or 'no'} operation{'s' if loop.operations != 1 else ''}"
        streams = fact(
            facts, Kind.CODE, loop.streamed, subject=f"the machine code of the loop in {name}", unit="bytes", where=place.place, how="machine code",
            text=f"moves {loop.streamed} bytes for {operations} in each iteration, with unit stride",
        )  # fmt: skip
        does = "streams through memory with little arithmetic"
        yield from _draft(facts, BANDWIDTH, place.place, does, time, streams, limit=True)


def _scalar(facts: Facts, code: SampledCode, mine: BoolArray, drafts: Sequence[Draft]) -> Iterator[Draft]:
    """The hottest loop without vector instructions that could have them: of its source lines, which nothing else explains."""
    time = float(facts.time[mine].sum())
    if facts.profile.has("cpu.instructions") and not Hot(facts).many_instructions(mine):
        return  # it waits
    for loop in scalar_loops(code, int(cause(SCALAR).threshold("min_operations"))):
        place = facts.hot_place(np.where(mine & _at(facts, loop), facts.time, 0.0))
        if place is None or _is_explained(drafts, place.place):
            continue
        name = place.place.function or code.function
        does = fact(
            facts, Kind.CODE, loop.operations, subject=f"the machine code of the loop in {name}", unit="operations", where=place.place, how="machine code",
            text=f"does {loop.operations} operations in an iteration, none of them with a vector, though no iteration needs another's results and "
            f"memory is walked with unit stride{'; it may end in its middle' if loop.leaves else ''}",
        )  # fmt: skip
        obstacle = Obstacle.TRIP_COUNT if loop.leaves else Obstacle.ALIASING if loop.writes else Obstacle.LEVEL
        yield from _draft(
            facts, SCALAR, place.place, "computes with one number at a time", loop.share * time, does, against=(_LIMIT,),
            advice=told_first(cause(SCALAR), LOOPS[obstacle], place.place.file),
        )  # fmt: skip
        return


def _at(facts: Facts, loop: ScalarLoop) -> BoolArray:
    """The nodes at a loop's source lines; all, where they are not known."""
    tree, lines = facts.profile.tree, dict[str, list[int]]()
    for file, line in loop.lines:
        lines.setdefault(file, []).append(line)
    found = np.full(len(tree.kind), not lines)
    for file, numbers_of in lines.items():
        found |= tree.where_file(partial(_is_called, file)) & np.isin(tree.line, numbers_of)
    return found


def _is_called(name: str, path: str) -> bool:
    return path.rsplit("/", 1)[-1] == name


def _streams(loop: Loop) -> bool:
    least = cause(BANDWIDTH).threshold("min_streamed_bytes_per_operation")
    return loop.streamed >= least * max(loop.operations, 1) and not (loop.elsewhere or loop.divides or loop.calls)


def _nodes(facts: Facts, code: SampledCode) -> BoolArray:
    """The nodes that compute in the function, with what was inlined into it; none of a tuned library."""
    tree = facts.profile.tree
    owner = tree.nearest(tree.kind == NodeKind.FUNCTION)
    name = readable_function(code.function)
    named = tree.where_name(lambda each: readable_function(each) == name)
    in_module = tree.where_module(lambda path: path.rsplit("/", 1)[-1] == code.module)
    own = (named & in_module)[owner] & (owner >= 0)
    computes = facts.activities.of(Activity.COMPUTE, Activity.LIBRARY)
    return np.asarray(own & computes & ~in_tuned_libraries(tree))


def _is_explained(drafts: Sequence[Draft], place: Place) -> bool:
    """True if something is said or suspected of the place already."""
    return any(
        each.where.function == place.function
        and (bool(each.suspected) or each.cause not in (*UNEXPLAINED, *BESIDE_HOT))
        for each in drafts
    )


def _waiting(facts: Facts, what: str, part: float, function: str, place: Place) -> Fact:
    of = f"the samples of the loop in {function}"
    return share_fact(facts, part, f"{what}, with what waits for them,", of, _HOW, where=place, form=Form.MANY)


def _draft(
    facts: Facts, identifier: str, place: Place, does: str, loop: float, evidence: Fact, *, part: float = 1.0,
    against: tuple[str, ...] = (), limit: bool = False, advice: tuple[str, ...] = (),
) -> Iterator[Draft]:  # fmt: skip
    """The finding of a loop that takes `loop`, of which `part` (0..1) is the cost."""
    entry, cost = cause(identifier), part * loop
    share = cost / facts.total
    if not facts.above(share, entry.threshold("min_share")):
        return
    time = time_fact(facts, loop, f"the loop in {place.function}", "time of the function by its instructions' samples", where=place)  # fmt: skip
    yield Draft(
        cause=entry.id,
        where=place,
        summary=f"{place.function} {does}, as its machine code shows: {numbers.percent(share)} of {facts.whole}.",
        cost=cost,
        share=share,
        evidence=(time, evidence),
        headroom=entry.threshold("headroom_at_limit") if limit else None,
        # What a run held at most tells only that it is more than the cache, where it was measured.
        against=(*(() if PEAK_MEMORY in facts.profile.run else (_MEMORY,)), *against),
        advice=advice,
        own_advice=bool(advice),
        derived=True,
        read_in="machine code",
    )
