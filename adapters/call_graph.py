"""Functions and the calls between them, without call paths, as a call tree.

A call graph says how often, and at what cost, one function calls another; it does not say which part of a shared function's cost belongs to
which path. As in gprof, what a function costs is divided among its callers in the ratio of the costs of their calls (S. L. Graham, P. B.
Kessler, M. K. McKusick: gprof: a call graph execution profiler, SIGPLAN Symposium on Compiler Construction, 1982). So own costs add up to the
total, callers are those of the file, and their calls cost with all below them what the file tells; how that goes on along a path is an estimate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from chathpc.adapters.stacks import Stacks

#: What a reader has to know about such a tree.
CAVEAT = (
    "The file has calls between functions and no call paths: what a function with several callers calls is divided in the ratio of its "
    "costs from each, as gprof does, so times along paths are estimates."
)
#: A call that costs less than this part of the whole along one path counts for the dearest path to its caller; for more of the whole where
#: there are still more contexts than these: paths may be countless.
SMALL, MOST_CONTEXTS = 1e-6, 50_000


@dataclass(frozen=True, slots=True)
class Arc:
    """Calls of one function by another: what they cost with all below them, and their number."""

    cost: float = 0.0
    calls: float = 0.0


#: By caller and callee; the caller OUTSIDE is none of the functions.
Arcs = Mapping[tuple[int, int], Arc]
OUTSIDE = -1


@dataclass(frozen=True, slots=True)
class Context:
    """A function below the context number `above` of its caller (OUTSIDE: of nothing), with a part (0..1) of its cost, and calls from there."""

    above: int
    caller: int
    function: int
    part: float
    calls: float


def contexts(own: Sequence[float], arcs: Arcs) -> list[Context]:
    """The functions, whose own costs are `own`, below their callers, these first.

    A call back into what runs already stands below its caller, and costs nothing there. What such calls cost beyond the others, of which
    they are a part in a recursion, is put below nothing.
    """
    order, callers, back = _forward(own, arcs)
    whole = list(own)
    for (caller, callee), arc in arcs.items():
        if caller not in (OUTSIDE, callee):
            whole[caller] += arc.cost
    entering = [{caller: arcs[caller, callee] for caller in each} for callee, each in enumerate(callers)]
    for callee in {callee for _, callee in back}:
        rest = whole[callee] - sum(arc.cost for arc in entering[callee].values())
        if rest > 0 and OUTSIDE not in entering[callee]:
            entering[callee][OUTSIDE] = Arc(rest)
    most, least = max(MOST_CONTEXTS, 2 * len(arcs) + 2 * len(own)), SMALL * sum(own)
    while (made := _along_paths(order, entering, least, most)) is None:
        least *= 10
    found, places = made
    found += [Context(_dearest(places[arc[0]]), *arc, 0.0, arcs[arc].calls) for arc in back]
    return found


def _along_paths(
    order: Sequence[int], entering: Sequence[Mapping[int, Arc]], least: float, most: int
) -> tuple[list[Context], list[dict[int, float]]] | None:
    """The contexts without recursion, and those of each function with their parts; None if they are too many."""
    found: list[Context] = []
    places: list[dict[int, float]] = [{} for _ in order]
    for function in order:
        calls = entering[function] or {OUTSIDE: Arc()}
        cost = sum(arc.cost for arc in calls.values())
        for caller, arc in calls.items():
            ratio = arc.cost / cost if cost > 0 else 1 / len(calls)
            paths = {OUTSIDE: 1.0}
            if caller != OUTSIDE:
                dearest = _dearest(places[caller])
                paths = {at: part for at, part in places[caller].items() if at == dearest or part * arc.cost >= least}
                paths[dearest] += 1 - sum(paths.values())
            for above, part, count in zip(paths, paths.values(), divided(arc.calls, paths.values()), strict=True):
                places[function][len(found)] = ratio * part
                found.append(Context(above, caller, function, ratio * part, count))
            if len(found) > most:
                return None
    return found, places


def _dearest(places: Mapping[int, float]) -> int:
    return max(places, key=places.__getitem__)


def divided(number: float, parts: Iterable[float]) -> Iterator[int]:
    """A whole number divided in the ratio of `parts`, which add up to 1, into whole numbers that add up to it."""
    end, done = 0.0, 0
    for part in parts:
        end += part
        given = round(number * end) - done
        done += given
        yield given


def _forward(own: Sequence[float], arcs: Arcs) -> tuple[list[int], list[list[int]], list[tuple[int, int]]]:
    """The functions with callers before callees, the callers of each, and the arcs that had to be left out for that: of a recursion those
    that cost least, as that of its functions comes first of whose costs the largest part is of calls from before.
    """
    from networkx import DiGraph, condensation, topological_sort  # slow to import

    graph = DiGraph(arc for arc in arcs if arc[0] != OUTSIDE)
    graph.add_nodes_from(range(len(own)))
    recursions = condensation(graph)
    stage = {
        function: number
        for number, one in enumerate(topological_sort(recursions))
        for function in recursions.nodes[one]["members"]
    }
    least = sum(own) * 1e-12 or 1.0  # of calls that cost nothing each counts alike
    called: list[list[tuple[int, float]]] = [[] for _ in own]
    # What calls of a function cost, and those by functions that are still to come.
    whole, ahead = [least] * len(own), [0.0] * len(own)
    for (caller, callee), arc in arcs.items():
        if caller != callee:
            whole[callee] += arc.cost + least
        if caller not in (OUTSIDE, callee):
            called[caller].append((callee, arc.cost + least))
            ahead[callee] += arc.cost + least

    def rank(function: int) -> tuple[int, float, float, int]:
        part = ahead[function] / whole[function]
        return stage[function], part, -own[function] if part else 0.0, function

    queue = [rank(function) for function in range(len(own))]
    heapify(queue)
    place: dict[int, int] = {}
    while queue:
        *_, function = heappop(queue)
        if function in place:
            continue
        place[function] = len(place)
        for callee, cost in called[function]:
            ahead[callee] -= cost
            heappush(queue, rank(callee))
    place[OUTSIDE] = -1
    callers: list[list[int]] = [[] for _ in own]
    back = []
    for caller, callee in arcs:
        if place[caller] < place[callee]:
            callers[callee].append(caller)
        elif caller != callee:
            back.append((caller, callee))
    del place[OUTSIDE]
    return list(place), callers, back


def put(
    stacks: Stacks,
    root: int,
    frames: Sequence[int],
    own: Sequence[float],
    arcs: Arcs,
    site: Callable[[int, int, int], int] = lambda context, *_: context,
) -> list[dict[int, float]]:
    """Put the functions below `root`, with their numbers of calls; the contexts of each, with the parts of its own cost that belong there.

    `site` gives the context of a call: that of its caller (first), or what stands in that, such as its line.
    """
    parts: list[dict[int, float]] = [{} for _ in frames]
    places: list[int] = []
    for one in contexts(own, arcs):
        above = root if one.above == OUTSIDE else site(places[one.above], one.caller, one.function)
        at = stacks.step(above, frames[one.function])
        places.append(at)
        again = arcs.get((one.function, one.function)) if not parts[one.function] else None  # its calls of itself
        parts[one.function][at] = parts[one.function].get(at, 0.0) + one.part
        if calls := one.calls + (again.calls if again else 0):
            stacks.add("calls.count", at, calls)
    return parts
