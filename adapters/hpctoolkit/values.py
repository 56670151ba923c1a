"""Metric values of an HPCToolkit database: sums over all locations at once, values per location when they are asked
for.

HPCToolkit writes each value several times, propagated up the tree in different ways ("scopes"). Two of them matter
here:
`execution` is the inclusive value, and `function` is the value of everything up to, and without, calls. A line has in
`function` what its (elided) instructions have, a loop what its lines and inner loops have, a function all of that. So
the value
of a node itself is its `function` value without those of its children that propagate to it; these sum to the total
also where one function is nested in another (outlined OpenMP regions of gfortran).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from chathpc.adapters.hpctoolkit import structures as st
from chathpc.adapters.hpctoolkit.derived import DerivedMetric
from chathpc.adapters.hpctoolkit.meta import RawMetric
from chathpc.adapters.hpctoolkit.profiles import Block, ContextDatabase, ContextNodes, ProfileDatabase
from chathpc.errors import AdapterError
from chathpc.profile.metric import EMPTY_COLUMN, Aggregation, Column, column_of
from chathpc.profile.sparse import rolled_up
from chathpc.profile.tree import BoolArray, CallTree, FloatArray, IntArray

#: What is left after subtracting the children of a node is rounding if it is smaller than this part of the node's
#: value.
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class MetricScopes:
    """Ids of one metric's values: in the profiles of locations (prop) and in the summary profile (stat)."""

    inclusive_prop: int | None
    function_prop: int | None
    inclusive_stat: int | None
    function_stat: int | None
    scale: float
    propagation_bit: int
    counted: bool = True  #: False for values that are set at a place, such as the period of sampling


def scopes_of(metric: RawMetric, scale: float, *, counted: bool = True) -> MetricScopes:
    """The ids of the inclusive (`execution`) and the function scope of a metric."""
    execution = metric.of_type(st.SCOPE_EXECUTION)
    function = metric.scopes.get("function") or metric.of_type(st.SCOPE_TRANSITIVE)
    return MetricScopes(
        execution.prop, function.prop, execution.sum, function.sum, scale, propagation_bit=function.bit, counted=counted
    )


@dataclass(slots=False, eq=False)
class DatabaseValues:
    """Implements chathpc.profile.values.Values on the files of a database.

    `contexts` is None where cct.db is missing or damaged: then profile.db is searched instead.
    """

    tree: CallTree
    propagation: NDArray[np.uint16]
    nodes_of: ContextNodes
    profiles: ProfileDatabase
    contexts: ContextDatabase | None
    metrics: Mapping[str, MetricScopes]
    from_summary: bool
    derived: Mapping[str, DerivedMetric] = field(default_factory=dict)
    _columns: dict[tuple[str, bool], Column] = field(default_factory=dict)
    _function_scope: dict[str, Column] = field(default_factory=dict)
    _propagates: dict[int, BoolArray] = field(default_factory=dict)

    # -- sums over all locations ---------------------------------------------------------------------------

    def load(self, summary: Block | None) -> None:
        """Take the sums of all metrics from the summary, or add them up where there is none."""
        raw = self._summed_columns() if summary is None else self._columns_of(summary)
        for name, scopes in self.metrics.items():
            inclusive_id = scopes.inclusive_stat if self.from_summary else scopes.inclusive_prop
            function_id = scopes.function_stat if self.from_summary else scopes.function_prop
            inclusive = raw.get(inclusive_id, EMPTY_COLUMN) if inclusive_id is not None else EMPTY_COLUMN
            function = raw.get(function_id, EMPTY_COLUMN) if function_id is not None else EMPTY_COLUMN
            if scopes.scale != 1.0:
                inclusive = Column(inclusive.nodes, inclusive.values * scopes.scale)
                function = Column(function.nodes, function.values * scopes.scale)
            self._columns[name, True] = inclusive
            self._function_scope[name] = function
            self._columns[name, False] = self._own(function, scopes.propagation_bit)
            if not scopes.counted and len(function) and scopes.function_prop is not None:
                self._columns[name, False], self._columns[name, True] = self._largest(scopes.function_prop, scopes)

    def _largest(self, function_prop: int, scopes: MetricScopes) -> tuple[Column, Column]:
        """Exclusive and inclusive values of what is set, not counted: the largest of any location, and of any node
        below; the sums that hpcprof writes mean nothing.
        """
        own = np.zeros(len(self.tree))
        wanted = np.zeros(1 << 16, dtype=bool)
        wanted[function_prop] = True
        for _, block in self.profiles.blocks():
            for function in _columns_by_metric(block, self.nodes_of, wanted, len(self.tree)).values():
                column = self._own(function, scopes.propagation_bit)
                own[column.nodes] = np.maximum(own[column.nodes], column.values * scopes.scale)
        return column_of(own), rolled_up(self.tree, column_of(own), Aggregation.MAX)

    def _wanted(self) -> NDArray[np.bool_]:
        """Which ids of values are the inclusive or function scope of a metric: a table indexed by 16-bit id."""
        wanted = np.zeros(1 << 16, dtype=bool)
        for scopes in self.metrics.values():
            ids = (
                (scopes.inclusive_stat, scopes.function_stat)
                if self.from_summary
                else (scopes.inclusive_prop, scopes.function_prop)
            )
            wanted[[identifier for identifier in ids if identifier is not None]] = True
        return wanted

    def _columns_of(self, block: Block) -> dict[int, Column]:
        return _columns_by_metric(block, self.nodes_of, self._wanted(), len(self.tree))

    def _summed_columns(self) -> dict[int, Column]:
        """The sums that a database without a summary (hpcprof -M none) lacks."""
        n = len(self.tree)
        wanted = self._wanted()
        sums: dict[int, FloatArray] = {}
        for _, block in self.profiles.blocks():
            for metric, column in _columns_by_metric(block, self.nodes_of, wanted, n).items():
                if metric not in sums:
                    sums[metric] = np.zeros(n)
                sums[metric][column.nodes] += column.values
        return {metric: column_of(dense) for metric, dense in sums.items()}

    def _own(self, function: Column, bit: int) -> Column:
        """Values of nodes themselves: function-scope values without those of children that propagate into them."""
        if not len(function):
            return EMPTY_COLUMN
        nodes, values = function.nodes, function.values
        passes = self.propagates(bit)[nodes]
        below = np.bincount(self.tree.parent[nodes[passes]], weights=values[passes], minlength=len(self.tree))[nodes]
        own = values - below
        kept = np.abs(own) > ROUNDING * np.abs(values)
        return Column(nodes[kept], own[kept])

    def propagates(self, bit: int) -> BoolArray:
        """True for nodes whose function-scope value is part of that of their parent."""
        if bit not in self._propagates:
            self._propagates[bit] = ((self.propagation >> bit) & 1).astype(bool) & (self.tree.parent >= 0)
        return self._propagates[bit]

    def exclusive(self, metric: str) -> Column:
        return self._column(metric, inclusive=False)

    def inclusive(self, metric: str) -> Column:
        return self._column(metric, inclusive=True)

    def _column(self, metric: str, *, inclusive: bool) -> Column:
        found = self._columns.get((metric, inclusive))
        if found is None and metric in self.derived:
            formula = self.derived[metric].inclusive if inclusive else self.derived[metric].exclusive
            found = EMPTY_COLUMN
            if formula is not None:
                own = self.derived[metric].adds_up and not inclusive
                values = formula.evaluate(lambda name: self._dense(name, inclusive=inclusive, own=own))
                found = column_of(np.where(np.isfinite(values), values, 0.0))
            self._columns[metric, inclusive] = found
        return EMPTY_COLUMN if found is None else found

    def _dense(self, metric: str, *, inclusive: bool, own: bool) -> FloatArray:
        column = self._columns[metric, inclusive] if inclusive or own else self._function_scope[metric]
        return column.dense(len(self.tree))

    def derived_total(self, metric: str) -> float:
        """A derived metric of the whole run: its formula on the totals of the metrics that it is made of."""
        derived = self.derived.get(metric)
        formula = None if derived is None else derived.inclusive or derived.exclusive
        if formula is None:
            return float("nan")
        roots = self.tree.roots
        return float(
            formula.evaluate(lambda name: np.array([self._columns[name, True].dense(len(self.tree))[roots].sum()]))[0]
        )

    # -- values per location -------------------------------------------------------------------------------

    def _added(self, metric: str, of: Callable[[str], FloatArray]) -> FloatArray | None:
        """What a derived metric that adds up has, from what `of` gives for those that it is made of; None for others."""
        found = None if metric in self.metrics else self.derived.get(metric)
        return found.exclusive.evaluate(of) if found is not None and found.adds_up and found.exclusive else None

    def per_location(self, metric: str, nodes: IntArray, *, inclusive: bool = True) -> FloatArray:
        added = self._added(metric, lambda name: self.per_location(name, nodes, inclusive=inclusive))
        if added is not None:
            return added
        scopes = self.metrics.get(metric)
        result = np.zeros((len(self.profiles.locations), len(nodes)), order="F")
        prop = None if scopes is None else scopes.inclusive_prop if inclusive else scopes.function_prop
        if scopes is None or prop is None:
            return result
        passes = self.propagates(scopes.propagation_bit)
        for position, node in enumerate(nodes.tolist()):
            result[:, position] = whole = self._at_node(node, prop)
            below = [] if inclusive else [child for child in self.tree.children(node) if passes[child]]
            for child in below:
                result[:, position] -= self._at_node(child, prop)
            if below:
                result[np.abs(result[:, position]) <= ROUNDING * np.abs(whole), position] = 0.0
        return result if scopes.scale == 1.0 else result * scopes.scale

    def _at_node(self, node: int, prop: int) -> FloatArray:
        return self._at_context(int(self._context_id[node]), prop)

    def _at_context(self, context: int, prop: int) -> FloatArray:
        if self.contexts is not None:
            return self.contexts.values(context, prop)
        result = np.zeros(len(self.profiles.locations))
        for location, block in self.profiles.blocks():
            metrics, values = block.of_context(context)
            block.check(values)
            result[location] = values[metrics == prop].sum()
        return result

    @property
    def _context_id(self) -> NDArray[np.int64]:
        if self.tree.source_id is None:
            raise AdapterError("the tree lost its context ids")
        return self.tree.source_id

    def grouped(self, metric: str, group: IntArray, groups: int) -> FloatArray:
        added = self._added(metric, lambda name: self.grouped(name, group, groups))
        if added is not None:
            return added
        scopes = self.metrics.get(metric)
        if scopes is None or scopes.function_prop is None:
            return np.zeros((len(self.profiles.locations), groups))
        # A node's own value is F(node) − ΣF(children that propagate to it). Summed over a group, F of a node counts for
        # the group of the node and against the group of its parent; within a group the two cancel.
        passes = self.propagates(scopes.propagation_bit)
        against = np.where(passes, group[self.tree.parent], np.int32(-1))
        changing = group != against
        # Each read costs about the same: of all values of a location, or of those of a context.
        few = np.count_nonzero(changing) < len(self.profiles.locations)
        if self.contexts is not None and self.profiles.is_large and few:
            result = np.zeros((groups, len(self.profiles.locations)))
            for node in np.flatnonzero(changing).tolist():
                values = self._at_node(node, scopes.function_prop)
                if group[node] >= 0:
                    result[group[node]] += values
                if against[node] >= 0:
                    result[against[node]] -= values
            return _rounded(result.T) * scopes.scale
        result = np.zeros((len(self.profiles.locations), groups))
        matters = np.append(changing, False)  # the last entry is for contexts that are not in the tree

        def add(location: int, block: Block) -> None:
            chosen = np.flatnonzero(block.metric == scopes.function_prop)
            nodes = block.at_nodes(self.nodes_of)[chosen]
            used = matters[nodes]
            nodes, values = nodes[used], block.value[chosen[used]]
            block.check(values)
            gain, loss = group[nodes], against[nodes]
            result[location] = np.bincount(gain[gain >= 0], weights=values[gain >= 0], minlength=groups)
            result[location] -= np.bincount(loss[loss >= 0], weights=values[loss >= 0], minlength=groups)

        self.profiles.each(add)
        return _rounded(result) * scopes.scale

    def location_totals(self, metric: str) -> FloatArray:
        added = self._added(metric, lambda name: np.nan_to_num(self.location_totals(name)))
        if added is not None:
            return np.where(added != 0, added, np.nan)
        scopes = self.metrics.get(metric)
        if scopes is None or scopes.inclusive_prop is None:
            return np.full(len(self.profiles.locations), np.nan)
        totals = self._at_context(0, scopes.inclusive_prop) * scopes.scale
        return np.where(totals != 0, totals, np.nan)


def _rounded(rows: FloatArray) -> FloatArray:
    """Without what is left of a row's values by rounding."""
    rows[np.abs(rows) < ROUNDING * np.abs(rows).sum(axis=1, keepdims=True)] = 0.0
    return rows


#: With more metrics than this, sorting the values by metric is cheaper than looking for each metric's.
FEW_METRICS = 12


def _columns_by_metric(
    block: Block, nodes_of: ContextNodes, wanted: NDArray[np.bool_], tree_size: int
) -> dict[int, Column]:
    """The values with `wanted` ids as one column per id, without those of contexts that are not in the tree."""
    nodes = block.at_nodes(nodes_of)
    metric = np.ascontiguousarray(block.metric)
    known = nodes >= 0
    few = np.flatnonzero(wanted).tolist()
    if len(few) <= FEW_METRICS:
        chosen_of = {one: np.flatnonzero((metric == one) & known) for one in few}
    else:
        order = np.flatnonzero(known & wanted[metric])
        order = order[np.argsort(metric[order], kind="stable")]  # 16-bit keys: a radix sort
        counts = np.bincount(metric[order], minlength=1)
        ends = np.cumsum(counts)
        chosen_of = {one: order[ends[one] - counts[one] : ends[one]] for one in np.flatnonzero(counts).tolist()}
    columns = {}
    for identifier, chosen in chosen_of.items():
        if not len(chosen):
            continue
        at = nodes[chosen]
        values = block.value[chosen]
        block.check(values)
        if len(at) > tree_size // 16:  # many: place them by node instead of sorting
            position = np.full(tree_size, -1, dtype=np.int32)
            position[at] = np.arange(len(at), dtype=np.int32)
            by_node: NDArray[np.int64] = position[position >= 0].astype(np.int64)
        else:
            by_node = np.argsort(at, kind="stable")
        columns[identifier] = Column(at[by_node], values[by_node])
    return columns
