"""Functions and the calls between them, without call paths, as a tree whose sums are true.

A call graph says how often, and at what cost, one function calls another; it does not say which part of a shared function's
cost belongs to which path. So a function is put below the innermost function through which all of its calls go, directly or
not: its immediate dominator in the call graph (T. Lengauer, R. E. Tarjan: A fast algorithm for finding dominators in a
flowgraph, ACM TOPLAS 1, 1979). Whatever stands below a function then was spent on its behalf, nothing is split by guess,
and exclusive values add up to the total. What several functions share stands beside them, below what calls them all. Where
a file tells what each call costs and nothing else, `divided` splits by that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

#: Calls that together carry less than this part of a function's cost do not decide where it stands.
STRAY = 0.01
#: What a reader has to know about such a tree.
CAVEAT = (
    "The file has calls between functions and no call paths: a function with several callers is shown below the one "
    "through which all its calls go, so a caller's time may omit part of what it called."
)


def carrying(inclusive: Mapping[tuple[int, int], float]) -> list[tuple[int, int]]:
    """The arcs, each with its inclusive cost, without the smallest of each callee that together carry at most STRAY of its cost.

    One call of malloc at the start of a program must not move millions of others away from the function that makes them.
    """
    received: dict[int, list[tuple[float, tuple[int, int]]]] = {}
    for arc, cost in inclusive.items():
        if arc[0] != arc[1]:
            received.setdefault(arc[1], []).append((cost, arc))
    stray: set[tuple[int, int]] = set()
    for calls in received.values():
        left = STRAY * sum(cost for cost, _ in calls)
        for cost, arc in sorted(calls):
            left -= cost
            if left <= 0:
                break
            stray.add(arc)
    return [arc for arc in inclusive if arc not in stray]


def below(
    count: int, arcs: Iterable[tuple[int, int]], weight: Sequence[float], entries: Iterable[int] = ()
) -> tuple[list[int], list[int]]:
    """For each of `count` functions the one that it stands below (−1: none), and an order with parents before children.

    `arcs` are (caller, callee). `entries` are known to be called from outside as well. Functions that nobody outside their recursion
    calls are entered where their `weight` is largest.
    """
    called: list[list[int]] = [[] for _ in range(count)]
    callers: list[list[int]] = [[] for _ in range(count)]
    for caller, callee in dict.fromkeys(arcs):
        if caller != callee:
            called[caller].append(callee)
            callers[callee].append(caller)
    starts = list(dict.fromkeys((*entries, *(function for function in range(count) if not callers[function]))))
    known = frozenset(starts)
    starts += sorted((f for f in range(count) if callers[f]), key=lambda f: -weight[f])
    vertex: list[int] = []  # functions in the order of a depth-first walk
    number = [-1] * count
    above = [-1] * count  # in the tree of that walk
    entered = [False] * count
    for start in starts:
        if number[start] >= 0 and start not in known:
            continue
        entered[start] = True
        pending = [(start, -1)]
        while pending:
            function, caller = pending.pop()
            if number[function] >= 0:
                continue
            number[function], above[function] = len(vertex), caller
            vertex.append(function)
            pending += [(callee, function) for callee in reversed(called[function]) if number[callee] < 0]
    return _dominators(vertex, number, above, callers, entered), vertex


#: Contexts of a divided graph; one with more paths is not divided.
MOST_CONTEXTS = 20_000
#: What a reader has to know about a divided graph.
DIVIDED = (
    "The file has calls between functions and no call paths: what a function with several callers calls is divided in the ratio of its "
    "costs from each, as gprof does, so times along paths are estimates."
)


def divided(count: int, costs: Mapping[tuple[int, int], float]) -> list[tuple[int, int, float]] | None:
    """Contexts as (number of the one above or −1, function, part of the function's cost), parents first: each function once for each path
    to it, its cost divided as that of its calls is. None where there are too many paths. Calls back into what runs already are left out.
    """
    called: list[list[int]] = [[] for _ in range(count)]
    for (caller, callee), cost in costs.items():
        if caller != callee and cost > 0:
            called[caller].append(callee)
    callees = {callee for each in called for callee in each}
    order: list[int] = []  # callees before callers
    state = [0] * count  # 1: on the way, 2: done
    callers: list[list[int]] = [[] for _ in range(count)]
    for start in sorted(range(count), key=lambda function: function in callees):
        pending = [(start, -1)]
        while pending:
            function, caller = pending.pop()
            if caller == -2:
                state[function] = 2
                order.append(function)
                continue
            if caller >= 0 and state[function] != 1:
                callers[function].append(caller)
            if state[function] == 0:
                state[function] = 1
                pending.append((function, -2))
                pending += [(callee, function) for callee in called[function]]
    contexts: list[tuple[int, int, float]] = []
    places: list[list[int]] = [[] for _ in range(count)]
    for function in reversed(order):
        begin, whole = len(contexts), sum(costs[caller, function] for caller in callers[function])
        if not callers[function]:
            contexts.append((-1, function, 1.0))
        for caller in callers[function]:
            ratio = costs[caller, function] / whole
            contexts += [(above, function, ratio * contexts[above][2]) for above in places[caller]]
            if len(contexts) > MOST_CONTEXTS:
                return None
        places[function] = list(range(begin, len(contexts)))
    return contexts


def _dominators(
    vertex: list[int], number: list[int], above: list[int], callers: list[list[int]], entered: list[bool]
) -> list[int]:
    """Immediate dominators below a root that calls what was `entered`; −1 for that root. The simple form, O(E log V)."""
    # Places in the walk, from 1; 0 is the root.
    count = len(vertex)
    parent = [0] + [number[above[function]] + 1 if above[function] >= 0 else 0 for function in vertex]
    semi = list(range(count + 1))
    label = list(range(count + 1))
    ancestor = [-1] * (count + 1)
    idom = [0] * (count + 1)
    bucket: list[list[int]] = [[] for _ in range(count + 1)]

    def smallest(place: int) -> int:
        """The place with the smallest semidominator on the way up to the root of its tree in the forest; shortens the way."""
        way = []
        step = place
        while ancestor[step] >= 0 and ancestor[ancestor[step]] >= 0:
            way.append(step)
            step = ancestor[step]
        for step in reversed(way):
            if semi[label[ancestor[step]]] < semi[label[step]]:
                label[step] = label[ancestor[step]]
            ancestor[step] = ancestor[ancestor[step]]
        return label[place]

    for place in range(count, 0, -1):
        function = vertex[place - 1]
        if entered[function]:
            semi[place] = 0
        for caller in callers[function]:
            semi[place] = min(semi[place], semi[smallest(number[caller] + 1)])
        bucket[semi[place]].append(place)
        ancestor[place] = parent[place]
        for other in bucket[parent[place]]:
            best = smallest(other)
            idom[other] = best if semi[best] < semi[other] else parent[place]
        bucket[parent[place]].clear()
    found = [-1] * count
    for place in range(1, count + 1):
        if idom[place] != semi[place]:
            idom[place] = idom[idom[place]]
        found[vertex[place - 1]] = vertex[idom[place] - 1] if idom[place] else -1
    return found
