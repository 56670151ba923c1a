"""Queries in hatchet's object dialect on the largest contexts of the tree.

hatchet itself evaluates the comparisons of a query as Python text, takes names for regular expressions, and searches node by node. Here
comparisons are numbers behind an operator, names are patterns as in a shell, everything else is refused, and `matching` finds
the same contexts on columns. So a query needs no hatchet, which takes a second to import.
"""

from __future__ import annotations

import fnmatch
import json
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from pydantic import Field

from chathpc.chat.session import Session
from chathpc.chat.tools.record import METRIC, SHARE, Arguments, Column, Result, facts_on, held, limit, share_of
from chathpc.diagnosis.fact import Form, Kind, Quantity
from chathpc.errors import UsageError
from chathpc.profile import numbers
from chathpc.profile.metric import Aggregation, Metric
from chathpc.profile.tree import BoolArray, CallTree, FloatArray, IntArray, NodeKind, Relation
from chathpc.prompts.untrusted import quote

#: Contexts that a query searches, the largest ones: the condition on each name is looked up for each different name.
MOST_CONTEXTS = 10_000
#: A number in a query stands for so many contexts one below the other.
DEEPEST = 100
_MOST_ELEMENTS = 6
_MOST_WILDCARDS = 3
_COMPARISON = re.compile(r"(<=|>=|==|!=|<|>)\s*(-?\d{1,30}(?:\.\d{1,30})?(?:[eE][+-]?\d{1,3})?)")
_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = MappingProxyType(
    {"<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge, "==": operator.eq, "!=": operator.ne}
)
#: hatchet's word for a leaf: a depth that no context has.
_LEAF = -1
_EXAMPLE = 'For example ["*", {"name": "solve*"}].'


class QueryArguments(Arguments):
    """A query for paths of the tree."""

    query: str = Field(
        min_length=2,
        max_length=2_000,
        description='Path in hatchet\'s object dialect as JSON: a list of "*", "+", ".", numbers, {attribute: condition} or [quantifier, '
        '{attribute: condition}]; conditions are names with * and ?, or comparisons such as "> 0.5". ' + _EXAMPLE,
    )
    metric: str = METRIC
    limit: int = limit(20)


@dataclass(frozen=True, slots=True, eq=False)
class Searched:
    """The contexts that a query searches, their attributes by name, and how many contexts there are in all."""

    tree: CallTree
    texts: Mapping[str, Sequence[str]]
    figures: Mapping[str, FloatArray]
    contexts: int

    @property
    def attributes(self) -> list[str]:
        """Names of what a condition can be about."""
        return [*self.texts, *self.figures]


def query(session: Session, asked: QueryArguments) -> Result:
    """Contexts of the hottest part of the tree on paths that match a hatchet query."""
    metric = session.metric(asked.metric)
    if metric.aggregation != Aggregation.SUM:
        raise UsageError(f"The values of '{metric.id}' cannot be summed over a tree.")
    searched = session.once(f"contexts of {metric.id}", lambda: hottest(session, metric))
    found = np.flatnonzero(matching(searched.tree, steps(asked.query, searched)))
    total = session.total(metric)
    own, inclusive = searched.figures[metric.id], searched.figures[f"{metric.id} (inc)"]
    facts = facts_on(session, metric, f"hatchet query over {MOST_CONTEXTS} contexts at most")
    rows = []
    for node in found[np.argsort(-inclusive[found], kind="stable")][: asked.limit].tolist():
        label = quote(searched.texts["name"][node])
        value, itself = float(inclusive[node]), float(own[node])
        facts.amount(label, value, parts=held(itself, value, metric, first="inclusive"))
        rows.append((label, value, itself, share_of(value, total)))
    count = numbers.count(len(found))
    lie = "context is" if len(found) == 1 else "contexts are"
    facts.count("the query", len(found), "matching contexts")
    text = f"{count} {lie} on matching paths."
    size = len(searched.tree)
    if size < searched.contexts:
        of = f"of {numbers.count(searched.contexts)} contexts"
        largest = f"largest {of}" if size >= MOST_CONTEXTS else f"{of} that have {metric.id}"
        text += f" The query searched the {numbers.count(size)} {largest}."
        whole = Quantity(searched.contexts, "contexts")
        facts.add(Kind.COUNT, "the part that was searched", size, "contexts", form=Form.ONE, whole=whole)
    unit = metric.unit.value
    columns = (Column("context"), Column("inclusive", unit), Column("itself", unit), Column("share", SHARE))
    return Result(text, columns, tuple(rows), facts.all(), omitted=len(found) - len(rows))


def hottest(session: Session, metric: Metric) -> Searched:
    """The MOST_CONTEXTS largest functions and loops by inclusive value."""
    level = session.level("loop")
    own, inclusive = level.values(session.measured, metric)
    usable = np.flatnonzero(inclusive > 0)
    kept = usable[np.lexsort((usable, -inclusive[usable]))][:MOST_CONTEXTS]
    keep = np.zeros(len(level.tree), dtype=bool)
    keep[kept] = True
    tree, home = level.tree.select(keep)
    moved = home >= 0
    nodes = range(len(tree))
    # What lies below a small context belongs to the context above it now, so exclusive values may be larger than measured.
    added = np.bincount(home[moved], weights=own[moved], minlength=len(tree)).astype(np.float64)
    return Searched(
        tree,
        {
            "name": [tree.label(node) for node in nodes],
            "type": [NodeKind(kind).text for kind in tree.kind.tolist()],
            "file": [tree.file_name(node) or "" for node in nodes],
            "module": [tree.module_name(node) or "" for node in nodes],
            "relation": [Relation(value).name.lower() for value in tree.relation.tolist()],
        },
        {
            "line": tree.line.astype(np.float64),
            metric.id: added,
            f"{metric.id} (inc)": inclusive[keep],
            "depth": tree.depth.astype(np.float64),
        },
        len(level.tree),
    )


def steps(text: str, searched: Searched) -> list[Step]:
    """The query with the contexts that fulfil each of its conditions; UsageError for what is none."""
    try:
        path = json.loads(text)
    except (ValueError, RecursionError):
        raise UsageError("The query is not JSON.", hint=_EXAMPLE) from None
    if not isinstance(path, list) or not 1 <= len(path) <= _MOST_ELEMENTS:
        raise UsageError(f"A query is a list of 1 to {_MOST_ELEMENTS} elements.", hint=_EXAMPLE)
    pairs = [_element(element, searched) for element in path]
    if sum(quantifier in ("*", "+") for quantifier, _ in pairs) > _MOST_WILDCARDS:
        raise UsageError(f"A query has at most {_MOST_WILDCARDS} of '*' and '+'.", hint=_EXAMPLE)
    if sum(quantifier for quantifier, _ in pairs if isinstance(quantifier, int)) > DEEPEST:
        raise UsageError(f"The numbers of a query add up to {DEEPEST} contexts at most.", hint=_EXAMPLE)
    return [step for quantifier, fulfilled in pairs for step in _steps_of(quantifier, fulfilled)]


def _steps_of(quantifier: str | int, fulfilled: BoolArray) -> list[Step]:
    if isinstance(quantifier, int):
        return [(".", fulfilled)] * quantifier
    return [(".", fulfilled), ("*", fulfilled)] if quantifier == "+" else [(quantifier, fulfilled)]


def _element(element: object, searched: Searched) -> tuple[str | int, BoolArray]:
    if isinstance(element, list) and len(element) == 2:  # quantifier and condition
        return _quantifier(element[0]), _fulfilled(element[1], searched)
    if isinstance(element, dict):
        return ".", _fulfilled(element, searched)
    return _quantifier(element), np.ones(len(searched.tree), dtype=bool)


def _quantifier(value: object) -> str | int:
    if isinstance(value, str) and value in ("*", "+", "."):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= DEEPEST:
        return value
    raise UsageError(
        f"'{quote(str(value)[:80])}' is no quantifier.", hint='Quantifiers are "*", "+", "." and numbers from 1.'
    )


def _fulfilled(condition: object, searched: Searched) -> BoolArray:
    if not isinstance(condition, dict) or not condition:
        raise UsageError("A condition is an object of attributes and what they must be.", hint=_EXAMPLE)
    found = np.ones(len(searched.tree), dtype=bool)
    for key, value in condition.items():
        found &= _wanted(key, value, searched)
    return found


def _wanted(key: str, value: object, searched: Searched) -> BoolArray:
    """The contexts whose attribute fits a pattern, for text, or a number or comparison, for the rest."""
    if key not in searched.attributes:
        known = ", ".join(searched.attributes)
        raise UsageError(f"Contexts have no attribute '{quote(key)}'.", hint=f"They have: {known}.")
    if key in searched.texts:
        if not isinstance(value, str) or len(value) > 200:  # longer than names are shown
            raise UsageError(f"'{key}' is compared with a text of at most 200 characters.", hint=_EXAMPLE)
        fits = re.compile(fnmatch.translate(value)).match
        known_texts = {text: fits(text) is not None for text in set(searched.texts[key])}
        return np.array([known_texts[text] for text in searched.texts[key]], dtype=bool)
    figures = searched.figures[key]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        leaves = np.asarray(searched.tree.end == np.arange(1, len(searched.tree) + 1))
        return leaves if key == "depth" and value == _LEAF else np.asarray(figures == _float(value))
    match = _COMPARISON.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise UsageError(f"'{quote(str(value)[:80])}' is no comparison.", hint='Comparisons are such as "> 0.5".')
    return np.asarray(_OPERATORS[match[1]](figures, float(match[2])))


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number of hundreds of digits
        return float("inf")


#: A step: ".", exactly one context, or "*", any number of them; and which contexts fulfil its condition.
Step = tuple[str, BoolArray]


@dataclass(frozen=True, slots=True, eq=False)
class _Shape:
    """The tree as the matching goes through it: parents (0 for roots, which nothing looks up), leaves, nodes by depth."""

    parent: IntArray
    leaf: BoolArray
    below: BoolArray
    levels: tuple[IntArray, ...]

    @classmethod
    def of(cls, tree: CallTree) -> _Shape:
        order = np.argsort(tree.depth, kind="stable").astype(np.int32)
        starts = np.flatnonzero(np.diff(tree.depth[order], prepend=-1))
        return cls(
            np.maximum(tree.parent, 0),
            np.asarray(tree.end == np.arange(1, len(tree) + 1)),
            np.asarray(tree.parent >= 0),
            tuple(np.split(order, starts[1:])),
        )

    def have_child(self, chosen: BoolArray) -> BoolArray:
        """Nodes with a child that is `chosen`."""
        found = np.zeros(len(chosen), dtype=bool)
        found[self.parent[chosen & self.below]] = True
        return found


def matching(tree: CallTree, steps: Sequence[Step]) -> BoolArray:
    """The nodes on paths that match `steps` as a whole, on whole columns of the tree: O(nodes x steps), without recursion.

    What matches is what hatchet's `QueryEngine` matches (llnl-hatchet 2024.1 and later), with its own reading of `*`: it ends as soon as a
    context fulfils the next step's condition. Tests compare both on random trees and queries.
    """
    shape = _Shape.of(tree)
    count = len(steps)
    whole = np.ones(len(tree), dtype=bool)
    # can[i]: a path that ends here can be completed with the steps from i on; below[i]: here as the next context of a "*".
    can = [whole] * (count + 1)
    below: list[BoolArray] = [whole] * count
    for at in range(count - 1, -1, -1):
        if steps[at][0] == ".":
            can[at] = shape.have_child(steps[at][1] & can[at + 1])
        else:
            below[at] = _several(shape, steps, at, can[at + 1])
            can[at] = np.where(shape.leaf, can[at + 1], shape.have_child(below[at]))
    found = np.zeros(len(tree), dtype=bool)
    reached = [np.zeros(len(tree), dtype=bool) for _ in range(count + 1)]
    for first in (0, 1) if steps[0][0] == "*" and count > 1 else (0,):
        after = 0 if steps[first][0] == "*" else first + 1
        begun = steps[first][1] & can[after]
        found |= begun
        reached[after] |= begun
    for at, (quantifier, fulfilled) in enumerate(steps):
        if quantifier == ".":
            taken = fulfilled & can[at + 1] & shape.below & reached[at][shape.parent]
            found |= taken
            reached[at + 1] |= taken
        else:
            _follow(shape, steps, at, below[at], reached, found)
    return found


def _next(steps: Sequence[Step], at: int) -> BoolArray:
    """The contexts at which the "*" at `at` ends, since they fulfil the next step."""
    return steps[at + 1][1] if at + 1 < len(steps) else np.zeros_like(steps[at][1])


def _several(shape: _Shape, steps: Sequence[Step], at: int, after: BoolArray) -> BoolArray:
    """Whether the "*" at `at` leads to a match where a node comes next; `after`: what can be completed behind it."""
    last = at + 1 == len(steps)
    ends = _next(steps, at)
    inside = steps[at][1] & ~ends
    leads = np.where(ends, after[shape.parent], last)
    leads[inside & ~shape.leaf] = False
    for level in reversed(shape.levels[1:]):
        good = level[leads[level]]
        above = shape.parent[good]
        leads[above[inside[above]]] = True
    return leads


def _follow(
    shape: _Shape, steps: Sequence[Step], at: int, leads: BoolArray, reached: Sequence[BoolArray], found: BoolArray
) -> None:
    """Take the "*" at `at` from where paths have `reached`: marks what it holds as `found`, and where it ends."""
    ends = _next(steps, at)
    inside = steps[at][1] & ~ends
    start = reached[at]
    reached[at + 1][start & shape.leaf] = True
    on = np.zeros(len(start), dtype=bool)
    for level in shape.levels[1:]:
        above = shape.parent[level]
        on[level] = leads[level] & (start[above] | (on[above] & inside[above]))
    found |= on & inside
    reached[at + 1][shape.parent[on & ends]] = True
    reached[at + 1][on & inside & shape.leaf] = True
