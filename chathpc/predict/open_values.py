"""Values that the machine could not determine (a size, a trip count, how often a branch is taken), asked of a model that reads source.

The model answers one typed value with a range. Code checks that it can be, and it stands in the prediction as an assumption under the
model's name; what fails the check is not used.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Literal

from chathpc.llm.backend import Request
from chathpc.predict.counts import Range
from chathpc.prompts.loader import template
from chathpc.prompts.untrusted import block, marker_of, quote

#: What is open: bytes or elements of an array, iterations of a loop at each arrival, or the share of arrivals at which a branch is taken.
Sort = Literal["size", "trips", "probability"]
UNITS: dict[Sort, str] = {
    "size": "elements",
    "trips": "iterations each time the loop is reached",
    "probability": "share, 0 to 1",
}

#: Device memory of the largest GPUs holds fewer bytes, and a kernel that iterates more often does not end in a minute.
MOST = float(1 << 40)
#: A range whose ends differ by more says nothing: the class of a kernel is lost beyond a factor of ten between its ends.
WIDEST = 100.0
#: Seconds for an answer.
DEADLINE = 120.0


@dataclass(frozen=True, slots=True)
class Gap:
    """A value that is open: what it is called, its sort, where it stands, the launch in words, and bounds that are known (none: 0 and null)."""

    name: str
    sort: Sort
    file: str
    line: int
    launch: str
    least: float = 0.0
    most: float | None = None

    @property
    def limits(self) -> tuple[float, float]:
        """Between which any answer must lie."""
        ceiling = 1.0 if self.sort == "probability" else MOST
        return max(self.least, 0.0), ceiling if self.most is None else min(self.most, ceiling)


@dataclass(frozen=True, slots=True)
class OpenValue:
    """An estimate that passed the check, with the model's reason and name."""

    gap: Gap
    estimate: Range
    why: str
    by: str

    def assumption(self) -> str:
        """The sentence that stands with the prediction."""
        found, gap = self.estimate, self.gap
        reason = f": {self.why.rstrip('.')}" if self.why else ""
        return (
            f"{quote(gap.name)} at {quote(gap.file)}:{gap.line} is taken as {found.value:.4g} {UNITS[gap.sort]} "
            f"({found.low:.4g} to {found.high:.4g}), estimated by {self.by}{reason}."
        )


@dataclass(frozen=True, slots=True)
class Refused:
    """An answer that cannot be used, and why, in one clause."""

    gap: Gap
    reason: str


def question(gap: Gap, source: Sequence[tuple[int, str]], known: Sequence[str] = ()) -> Request:
    """The question about `gap`: numbered lines of source around its place, and what is known of the launch, in sentences."""
    form = template("predict_open_value")
    low, high = gap.limits
    asked = [
        f"name: {quote(gap.name)}",
        f"unit: {UNITS[gap.sort]}",
        f"place: {quote(gap.file)}, line {gap.line}",
        f"it lies between {low:g} and {high:g}",
    ]
    launch = [quote(gap.launch, longest=1000), *(quote(each, longest=300) for each in known)]
    nearest = sorted(sorted(source, key=lambda one: abs(one[0] - gap.line))[: form.key_lines])
    lines = [f"{number}: {text}" for number, text in nearest]
    marker = marker_of([*asked, *launch, *lines])
    parts = [
        block("open value", asked, marker),
        block("launch", launch, marker),
        block("source", lines, marker),
        form.task,
    ]
    return Request(form.system, "\n\n".join(parts), form.max_output_tokens, json_schema=form.schema, deadline=DEADLINE)


def problem(gap: Gap, text: str) -> str:
    """What is wrong with an answer's form or its numbers, in one clause; empty if nothing is."""
    found = check(gap, text, "")
    return found.reason if isinstance(found, Refused) else ""


def check(gap: Gap, text: str, by: str) -> OpenValue | Refused:
    """The value in an answer of the model `by`, or why it is none.

    It is one JSON object; the value lies in its range and the range within the limits of the gap; counts are whole; the ends of a range
    that does not begin at 0 differ by a factor of WIDEST at most. Of a range that begins at 0 the value bounds the other end.
    """
    try:
        data = json.loads(text)
        numbers = [data["value"], data["low"], data["high"]]
        why = data["why"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return Refused(gap, "it is not JSON with value, low, high and why")
    if not isinstance(why, str) or any(isinstance(each, bool) or not isinstance(each, int | float) for each in numbers):
        return Refused(gap, "a value has the wrong type")
    try:
        value, low, high = map(float, numbers)
    except OverflowError:
        return Refused(gap, "a number is too large")
    if not all(map(isfinite, (value, low, high))):
        return Refused(gap, "a number is not finite")
    least, most = gap.limits
    if not low <= value <= high:
        return Refused(gap, "the value does not lie between low and high")
    if low < least or high > most:
        return Refused(gap, f"the range leaves {least:g} to {most:g}")
    if gap.sort != "probability" and value != int(value) and value >= 1:
        return Refused(gap, "a count is a whole number")
    if gap.sort != "probability" and high > WIDEST * max(low, 1.0 if low > 0 else value, 1.0):
        return Refused(gap, f"the range spans more than a factor of {WIDEST:g}")
    return OpenValue(gap, Range(value, low, high), quote(why, longest=300).strip(), by)
