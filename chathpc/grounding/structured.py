"""The answer of the structured form: JSON `{"sentences": [{"text", "evidence"}]}`, with `{E3}` where code puts a value in."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chathpc.diagnosis.fact import Fact as Evidence
from chathpc.profile import numbers

_PLACEHOLDER = re.compile(r"\{(E[0-9]{1,6})\}(?P<unit>\s?(?:%|[A-Za-zµ/]{1,12}\b))?")
#: Sentences beyond this many are not looked at.
MOST_SENTENCES = 200


@dataclass(frozen=True, slots=True)
class Claimed:
    """A sentence as the model gave it, with the evidence ids that it names."""

    text: str
    evidence: tuple[str, ...] = ()


def parse(answer: str) -> tuple[Claimed, ...]:
    """The sentences of an answer; empty if it is not JSON of the schema. Text around the outermost braces is ignored."""
    first, last = answer.find("{"), answer.rfind("}")
    if first < 0 or last < first:
        return ()
    try:
        data = json.loads(answer[first : last + 1], strict=False)
    except (ValueError, RecursionError):
        return ()
    items = data.get("sentences") if isinstance(data, Mapping) else None
    if not isinstance(items, Sequence) or isinstance(items, str):
        return ()
    found = []
    for item in items[:MOST_SENTENCES]:
        if isinstance(item, Mapping) and isinstance(item.get("text"), str):
            ids = item.get("evidence")
            cited = tuple(id for id in ids if isinstance(id, str)) if isinstance(ids, list) else ()
            found.append(Claimed(item["text"], cited))
    return tuple(found)


def problem(answer: str) -> str:
    """Why nothing can be read from an answer, in one clause for the model that wrote it; empty if sentences can."""
    if parse(answer):
        return ""
    first, last = answer.find("{"), answer.rfind("}")
    if first < 0 or last < first:
        return "it is no JSON object"
    try:
        json.loads(answer[first : last + 1], strict=False)
    except json.JSONDecodeError as error:
        return f"it is not valid JSON ({error.msg} in line {error.lineno})"
    except (ValueError, RecursionError):
        return "it is not valid JSON"
    return 'the object has no "sentences", a list of objects with "text" and "evidence"'


def filled(text: str, evidence: Mapping[str, Evidence]) -> str | None:
    """`text` with values for its placeholders; None if one names no evidence. A unit that the model wrote behind one is dropped."""
    missing = False

    def value(match: re.Match[str]) -> str:
        nonlocal missing
        item = evidence.get(match.group(1))
        if item is None:
            missing = True
            return ""
        quantity, written = _quantity(item), match.group("unit") or ""
        unit = quantity.rsplit(" ", 1)[-1] if " " in quantity else quantity[-1]
        repeated = written.strip().lower() in (unit.lower(), "seconds", "percent", "bytes")
        return quantity if repeated else quantity + written

    result = _PLACEHOLDER.sub(value, text)
    return None if missing else result


def _quantity(item: Evidence) -> str:
    if item.unit in ("bytes/s", "B/s"):
        return f"{numbers.size(item.value)}/s"
    if item.unit == "ratio" and 0 <= item.value <= 1 and "%" in item.statement:
        return numbers.percent(item.value)
    return numbers.quantity(
        item.value, "count" if item.unit not in ("s", "bytes", "B", "percent", "ratio") else item.unit
    )
