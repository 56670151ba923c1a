"""Own values from inclusive ones, for tools that store what a node has together with all below it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chathpc.profile.tree import BoolArray, CallTree, FloatArray

#: A negative difference below this part of the node's value comes from rounded numbers: tools print six digits.
ROUNDING = 1e-5


@dataclass(frozen=True, slots=True, eq=False)
class Own:
    """Exclusive values of nodes, and how far the inclusive ones contradict each other.

    Shapes: `values` as what was given, NaN where not measured. `excess` is what nodes lack to the sum of what stands
    next below them (children measured on other clocks, or damaged numbers), beyond rounding; those nodes have 0.
    """

    values: FloatArray
    excess: float


def own_values(tree: CallTree, inclusive: FloatArray) -> Own:
    """Exclusive values of `inclusive`: shape (nodes,) or (nodes, locations), NaN where not measured.

    What the measured nodes next below have is taken from their nearest measured ancestor. No value is negative: where
    the nodes below have more, the node itself has nothing, and its inclusive value is theirs.
    """
    wide = inclusive.reshape(len(tree), -1)
    there: BoolArray = ~np.isnan(wide)
    somewhere: BoolArray = np.asarray(there.any(axis=1))
    nearest = tree.nearest(somewhere)
    inner = np.flatnonzero(somewhere & (tree.parent >= 0))
    above = nearest[tree.parent[inner]]
    inner, above = inner[above >= 0], above[above >= 0]
    amounts = np.where(there, wide, 0.0)
    own = amounts.copy()
    for location in range(wide.shape[1]):
        own[:, location] -= np.bincount(above, weights=amounts[inner, location], minlength=len(tree))
    lacking = np.where(own < -ROUNDING * np.maximum(np.abs(amounts), amounts - own), -own, 0.0)
    own = np.where(there, np.maximum(own, 0.0), np.nan)
    lacking = np.where(there, lacking, 0.0)
    return Own(own.reshape(inclusive.shape), float(lacking.sum()))
