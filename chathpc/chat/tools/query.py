"""Queries in hatchet's object dialect on the hottest part of the tree.

hatchet evaluates the comparisons of a query as Python text, and takes names for regular expressions; both its dialects do. So
nothing of a query reaches it as it came: comparisons are numbers behind an operator, names are patterns as in a shell, and
everything else is refused.
"""

from __future__ import annotations

import fnmatch
import json
import re
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from chathpc.chat.session import Session
from chathpc.chat.tools.amounts import METRIC, has, limit, share_of, source_of
from chathpc.chat.tools.record import SHARE, Arguments, Column, FactList, Result
from chathpc.errors import UsageError
from chathpc.profile import numbers
from chathpc.profile.metric import Aggregation, Metric
from chathpc.profile.metric import Column as Values
from chathpc.profile.values import MemoryValues
from chathpc.prompts.untrusted import quote

if TYPE_CHECKING:
    import hatchet

#: hatchet's matching is quadratic in the tree, and exponential in the number of wildcards.
MOST_CONTEXTS = 200
DEEPEST = 100
_MOST_ELEMENTS = 6
_MOST_WILDCARDS = 3
_COMPARISON = re.compile(r"(<=|>=|==|!=|<|>)\s*(-?\d{1,30}(?:\.\d{1,30})?(?:[eE][+-]?\d{1,3})?)")
_TEXTS = ("name", "type", "file", "module", "relation")
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


def query(session: Session, asked: QueryArguments) -> Result:
    """Contexts of the hottest part of the tree on paths that match a hatchet query."""
    metric = session.metric(asked.metric)
    if metric.aggregation != Aggregation.SUM:
        raise UsageError(f"The values of '{metric.id}' do not add up over a tree.")
    frame, total_contexts = session.once(f"frame of {metric.id}", lambda: _hottest(session, metric))
    path = _checked(asked.query, frame)
    matched = _match(frame, path)
    total = session.total(metric)
    order = matched.sort_values(f"{metric.id} (inc)", ascending=False, kind="stable")
    facts = FactList(source_of(session, metric, f"hatchet query over {MOST_CONTEXTS} contexts at most"))
    rows = []
    for entry in order.head(asked.limit).to_dict("records"):
        label = quote(str(entry["name"]))
        inclusive, own = _number(entry[f"{metric.id} (inc)"]), _number(entry[metric.id])
        statement = has(label, own, inclusive, total, metric, first="inclusive")
        facts.add(statement, inclusive, metric.unit.value, label, metric=metric.id)
        rows.append((label, inclusive, own, share_of(inclusive, total)))
    facts.add(f"{numbers.count(len(matched))} contexts match the query.", len(matched), "contexts", "the query")
    text = f"{numbers.count(len(matched))} contexts are on matching paths."
    size = len(frame.dataframe)
    if size < total_contexts:
        searched = f"The query searched the {numbers.count(size)} largest of {numbers.count(total_contexts)} contexts."
        facts.add(searched, size, "contexts", "the query")
        text += f" {searched}"
    unit = metric.unit.value
    columns = (Column("context"), Column("inclusive", unit), Column("itself", unit), Column("share", SHARE))
    return Result(text, columns, tuple(rows), facts.all(), omitted=len(matched) - len(rows))


def _number(value: float) -> float:
    return 0.0 if np.isnan(value) else float(value)


def _hottest(session: Session, metric: Metric) -> tuple[hatchet.GraphFrame, int]:
    """The MOST_CONTEXTS largest functions and loops by inclusive value, and how many there were."""
    level = session.level("loop")
    own, inclusive = level.values(session.profile, metric)
    usable = np.flatnonzero((inclusive > 0) & (level.tree.depth < DEEPEST))
    kept = usable[np.lexsort((usable, -inclusive[usable]))][:MOST_CONTEXTS]
    keep = np.zeros(len(level.tree), dtype=bool)
    keep[kept] = True
    tree, home = level.tree.select(keep)
    moved = home >= 0
    values = np.bincount(home[moved], weights=own[moved], minlength=len(tree)).astype(np.float64)
    # What lies below a small context belongs to the context above it now, so exclusive values may be larger than measured.
    nodes = np.arange(len(tree), dtype=np.int32)
    stored = MemoryValues(tree, {metric.id: Values(nodes, values)}, {metric.id: Values(nodes, inclusive[keep])})
    frame = replace(session.measured, tree=tree, metrics={metric.id: metric}, values=stored).graphframe()
    for column in ("file", "module"):  # hatchet matches text with text only
        frame.dataframe[column] = frame.dataframe[column].fillna("")
    return frame, len(level.tree)


def _checked(text: str, frame: hatchet.GraphFrame) -> list[Any]:
    """The query with nothing in it that hatchet would run."""
    try:
        path = json.loads(text)
    except (ValueError, RecursionError):
        raise UsageError("The query is not JSON.", hint=_EXAMPLE) from None
    if not isinstance(path, list) or not 1 <= len(path) <= _MOST_ELEMENTS:
        raise UsageError(f"A query is a list of 1 to {_MOST_ELEMENTS} elements.", hint=_EXAMPLE)
    checked = [_element(element, frame) for element in path]
    several = sum(
        element in ("*", "+") or (isinstance(element, tuple) and element[0] in ("*", "+")) for element in checked
    )
    if several > _MOST_WILDCARDS:
        raise UsageError(f"A query has at most {_MOST_WILDCARDS} of '*' and '+'.", hint=_EXAMPLE)
    return checked


def _element(element: object, frame: hatchet.GraphFrame) -> Any:
    if isinstance(element, list) and len(element) == 2:  # quantifier and condition
        return (_quantifier(element[0]), _condition(element[1], frame))
    if isinstance(element, dict):
        return _condition(element, frame)
    return _quantifier(element)


def _quantifier(value: object) -> Any:
    if value in ("*", "+", ".") or (isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= DEEPEST):
        return value
    raise UsageError(
        f"'{quote(str(value)[:80])}' is no quantifier.", hint='Quantifiers are "*", "+", "." and numbers from 1.'
    )


def _condition(condition: object, frame: hatchet.GraphFrame) -> dict[str, Any]:
    if not isinstance(condition, dict) or not condition:
        raise UsageError("A condition is an object of attributes and what they must be.", hint=_EXAMPLE)
    return {key: _wanted(key, value, frame) for key, value in condition.items()}


def _wanted(key: str, value: object, frame: hatchet.GraphFrame) -> Any:
    """A pattern for text, a number or a comparison for the rest."""
    columns = [*map(str, frame.dataframe.columns), "depth"]
    if key not in columns:
        raise UsageError(f"Contexts have no attribute '{quote(key)}'.", hint=f"They have: {', '.join(columns[:12])}.")
    if key in _TEXTS:
        if not isinstance(value, str) or len(value) > 200:  # longer than names are shown
            raise UsageError(f"'{key}' is compared with a text of at most 200 characters.", hint=_EXAMPLE)
        return fnmatch.translate(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    match = _COMPARISON.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise UsageError(f"'{quote(str(value)[:80])}' is no comparison.", hint='Comparisons are such as "> 0.5".')
    return f"{match[1]} {float(match[2])!r}"


def _match(frame: hatchet.GraphFrame, path: list[Any]) -> Any:
    """Rows of the frame on matching paths."""
    from hatchet.query import ObjectQuery, QueryEngine

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nodes = QueryEngine().apply(ObjectQuery(path), frame.graph, frame.dataframe)
    return frame.dataframe.loc[list(nodes)]
