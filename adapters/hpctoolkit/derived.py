"""metrics/default.yaml: the metrics that exist only as formulas (occupancy, bytes leaked, GPU utilisation, …).

The file is read event by event into plain dictionaries, lists and strings: no objects are constructed, depth and size
are bounded, and aliases refer to one shared object however often they are used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from chathpc.errors import AdapterError
from chathpc.profile.text import clean
from chathpc.profile.tree import FloatArray

Tree: TypeAlias = str | list["Tree"] | dict[str, "Tree"]
Lookup: TypeAlias = Callable[[str], FloatArray]

#: The largest file of a real database is 0.12 MB; formulas are six levels deep.
LARGEST_FILE = 8 << 20
DEEPEST = 100

_OPERATORS: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "^": np.power,
    "min": np.minimum,
    "max": np.maximum,
}
#: Operators, with two operands, that leave what adds up adding up.
_LINEAR = (("+", 2), ("-", 2))
_FUNCTIONS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "sqrt": np.sqrt,
    "ln": np.log,
    "log": np.log10,
    "floor": np.floor,
    "ceil": np.ceil,
}


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula in postfix order: numbers, ids of metrics, and operators with their number of operands."""

    steps: tuple[float | str | tuple[str, int], ...]

    def evaluate(self, values: Lookup) -> FloatArray:
        """The formula on arrays of equal length that `values` gives for each metric id; division by zero gives NaN
        or infinity.
        """
        stack: list[FloatArray] = []
        with np.errstate(all="ignore"):
            for step in self.steps:
                if isinstance(step, float):
                    stack.append(np.asarray(step))
                elif isinstance(step, str):
                    stack.append(values(step))
                else:
                    operator, count = step
                    operands = stack[-count:]
                    del stack[-count:]
                    if operator in _FUNCTIONS:
                        stack.append(_FUNCTIONS[operator](operands[0]))
                        continue
                    result = operands[0]
                    if operator == "-" and count == 1:
                        result = -result
                    for operand in operands[1:]:
                        result = _OPERATORS[operator](result, operand)
                    stack.append(result)
        return np.atleast_1d(stack[0]).astype(np.float64)


@dataclass(frozen=True, slots=True)
class DerivedMetric:
    """A metric of default.yaml that is not measured but computed; either formula may be missing."""

    name: str
    description: str
    visible: bool
    inclusive: Formula | None
    exclusive: Formula | None

    @property
    def adds_up(self) -> bool:
        """True if it is a sum or difference of metrics, of which values add up as theirs do."""
        return all(
            formula is not None and all(isinstance(step, str) or step in _LINEAR for step in formula.steps)
            for formula in (self.inclusive, self.exclusive)
        )


def read_derived(path: Path, ids: Mapping[str, str]) -> tuple[list[DerivedMetric], frozenset[str]]:
    """Derived metrics of a default.yaml, and the names of those (derived or not) that it hides.

    `ids` maps names of measured metrics to their canonical ids. Formulas over other inputs than sums over locations
    (means, extremes) are left out: they are computed from the locations. AdapterError if the file cannot be read.
    """
    text = _read(path)
    if not _WORTH_PARSING.search(text):
        return [], frozenset()
    document = _parse(path, text)
    roots = document.get("roots") if isinstance(document, dict) else None
    if not isinstance(roots, list) or (roots and not any(isinstance(root, dict) for root in roots)):
        raise AdapterError("has no list of metrics", path=path)
    derived, hidden = [], set()
    for root in roots:
        if not isinstance(root, dict) or not isinstance(name := root.get("name"), str):
            continue
        visible = root.get("visible by default") not in ("false", "False", "no")
        if not visible:
            hidden.add(name)
        variants = root.get("variants")
        if name in ids or not isinstance(variants, dict):
            continue
        variant = variants.get("", variants.get("Sum"))
        formulas = variant.get("formula") if isinstance(variant, dict) else None
        if not isinstance(formulas, dict):
            continue
        compiled = {kind: _standard(formulas.get(kind), ids) for kind in ("inclusive", "exclusive")}
        if any(compiled.values()):
            description = root.get("description")
            derived.append(
                DerivedMetric(
                    name=name,
                    description=description if isinstance(description, str) else name,
                    visible=visible,
                    inclusive=compiled["inclusive"],
                    exclusive=compiled["exclusive"],
                )
            )
    return derived, frozenset(hidden)


def _standard(formulas: Tree | None, ids: Mapping[str, str]) -> Formula | None:
    if not isinstance(formulas, dict) or "standard" not in formulas:
        return None
    steps: list[float | str | tuple[str, int]] = []
    return Formula(tuple(steps)) if _compile(formulas["standard"], ids, steps, 0) else None


#: No formula is longer; aliases that double at every level are stopped by this.
_LONGEST_FORMULA = 10_000


def _compile(node: Tree, ids: Mapping[str, str], steps: list[float | str | tuple[str, int]], depth: int) -> bool:
    """Append `node` in postfix order; False if it is not a formula over sums."""
    if depth > DEEPEST or len(steps) > _LONGEST_FORMULA:
        return False
    if isinstance(node, str):
        try:
            steps.append(float(node))
        except ValueError:
            return False
        return True
    if not isinstance(node, dict):
        return False
    if "metric" in node:
        identifier = ids.get(name) if isinstance(name := node["metric"], str) else None
        if identifier is None or node.get("formula") != "$$" or node.get("combine") != "sum":
            return False
        steps.append(identifier)
        return True
    if len(node) != 1:
        return False
    operator, operands = next(iter(node.items()))
    if not isinstance(operands, list) or not operands:
        return False
    if operator in _FUNCTIONS and len(operands) != 1:
        return False
    if operator not in _FUNCTIONS and operator not in _OPERATORS:
        return False
    for operand in operands:
        if not _compile(operand, ids, steps, depth + 1):
            return False
    steps.append((operator, len(operands)))
    return True


#: Without a flow map, an operator as a key or a hidden metric there is nothing in the file that meta.db does not say, and
#: the YAML library, which takes longer to import than a small database takes to read, is not needed.
_WORTH_PARSING = re.compile(
    r"""\{|visible by default|^[\s-]*["']?(?:[-+*/^]|min|max|sqrt|ln|log|floor|ceil)["']?\s*:""", re.MULTILINE
)


def _read(path: Path) -> str:
    if not path.is_file():
        raise AdapterError("not a regular file", path=path)
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise AdapterError("is far larger than any metric description", path=path)
        return path.read_text("utf-8", errors="replace")
    except OSError as error:
        raise AdapterError(error.strerror or "cannot be read", path=path) from None


def _parse(path: Path, text: str) -> Tree:
    """The document as dictionaries, lists and strings (all scalars stay text)."""
    import yaml

    anchors: dict[str, Tree] = {}
    root: list[Tree] = []
    stack: list[Tree] = [root]
    keys: list[str | None] = [None]

    def put(value: Tree) -> None:
        top = stack[-1]
        if isinstance(top, list):
            top.append(value)
        elif isinstance(top, dict):
            key = keys[-1]
            if key is None:
                keys[-1] = value if isinstance(value, str) else "?"
            else:
                top[key] = value
                keys[-1] = None

    try:
        for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            value: Tree
            if isinstance(event, yaml.AliasEvent):
                if event.anchor not in anchors:
                    raise AdapterError(f"uses the undefined alias '{clean(str(event.anchor))}'", path=path)
                put(anchors[event.anchor])
            elif isinstance(event, yaml.ScalarEvent):
                value = clean(event.value)
                if event.anchor:
                    anchors[event.anchor] = value
                put(value)
            elif isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
                value = [] if isinstance(event, yaml.SequenceStartEvent) else {}
                if event.anchor:
                    anchors[event.anchor] = value
                put(value)
                stack.append(value)
                keys.append(None)
                if len(stack) > DEEPEST:
                    raise AdapterError("is nested too deeply", path=path)
            elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
                stack.pop()
                keys.pop()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark is not None else ""
        raise AdapterError(f"is not valid YAML{where}", path=path) from None
    return root[0] if root else {}
