"""The joint tree of a comparison as a page draws it: both sides' values at each context."""

from __future__ import annotations

import numpy as np

from chathpc.comparison.matching import Joint, Part
from chathpc.comparison.sides import Sides
from chathpc.pruners.cold import drop_cold, fold_chains
from chathpc.pruners.pruned import PrunedTree
from chathpc.view.records import DrawnTree, View
from chathpc.view.tables import GROUPS, OTHER, Tables, metric_drawn, rounded
from chathpc.view.trees import LONGEST_CHAIN, bounded

_REST = "everything else"


def view_of(sides: Sides, joint: Joint) -> View:
    """The tree with the mean of the runs of each side, pruned to what can be seen on either."""
    size = len(joint.tree)
    own = {"before": joint.own[: sides.count].mean(axis=0), "after": joint.own[sides.count :].mean(axis=0)}
    own = {side: np.maximum(values, 0.0) for side, values in own.items()}
    pruned = PrunedTree(
        tree=joint.tree,
        exclusive=own,
        origin=np.arange(size, dtype=np.int32),
        home=np.arange(size, dtype=np.int32),
        contexts=np.ones(size, dtype=np.int64),
        totals={side: float(values.sum(dtype=np.longdouble)) for side, values in own.items()},
        labels={},
    )
    smaller = bounded(lambda share: fold_chains(drop_cold(pruned, share), share, longest=LONGEST_CHAIN))
    tables = Tables()
    metric = sides.metric
    # The first context is the run, which a page has above everything anyway.
    inner = np.arange(1, len(smaller))
    origin = smaller.origin
    names = [smaller.labels.get(node) or joint.name(int(origin[node])) or _REST for node in inner.tolist()]
    group = np.full(len(smaller), OTHER)
    named = origin >= 0
    group[named] = np.where(joint.part[origin[named]] == Part.CALL, GROUPS.index("library"), GROUPS.index("own"))
    rest = {side: float(values[0]) for side, values in smaller.exclusive.items()}
    more = any(value > 0 for value in rest.values())
    tail = [0] if more else []
    tree = DrawnTree(
        parent=[*(smaller.tree.parent[1:] - 1).tolist(), *(-1 for _ in tail)],
        name=[tables.names.add(name) for name in (*names, *(_REST for _ in tail))],
        file=[-1] * (len(inner) + len(tail)),
        line=[0] * (len(inner) + len(tail)),
        group=[*group[1:].tolist(), *(OTHER for _ in tail)],
        values={metric.id: rounded(np.append(smaller.exclusive["after"][1:], [rest["after"]] * len(tail)))},
        before={metric.id: rounded(np.append(smaller.exclusive["before"][1:], [rest["before"]] * len(tail)))},
        contexts=size - 1,
    )
    return View(
        metrics=[metric_drawn(metric, smaller.totals["after"])],
        names=tables.names.texts,
        files=[],
        modules=[],
        groups=list(GROUPS),
        tree=tree if len(tree.parent) else None,
    )
