"""Sizes that the machine could not determine (parameters of a kernel, arguments of a program), asked of a model that reads source.

The model answers one typed value with a range. Code checks that it can be, and it stands in the prediction as an assumption under the
model's name; what fails the check is not used.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite

from chathpc.llm.backend import Request
from chathpc.predict.counts import Range
from chathpc.prompts.loader import template
from chathpc.prompts.untrusted import block, marker_of, quote

#: What any size lies between: device memory of the largest GPUs holds fewer bytes.
LEAST, MOST = 1.0, float(1 << 40)
#: A range whose ends differ by more says nothing: the class of a kernel is lost beyond a factor of ten between its ends.
WIDEST = 100.0
#: Seconds for an answer.
DEADLINE = 120.0


@dataclass(frozen=True, slots=True)
class Gap:
    """A size that is open: what it is called, where it stands, and the launch in words."""

    name: str
    file: str
    line: int
    launch: str


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
            f"{quote(gap.name)} at {quote(gap.file)}:{gap.line} is taken as {found.value:.4g} elements "
            f"({found.low:.4g} to {found.high:.4g}), estimated by {self.by}{reason}."
        )


#: Asks a model for a value, showing it numbered lines of source; None where it gave none that can be used.
Estimate = Callable[[Gap, Sequence[tuple[int, str]]], OpenValue | None]


def question(gap: Gap, source: Sequence[tuple[int, str]]) -> Request:
    """The question about `gap`: numbered lines of source around its place."""
    form = template("predict_open_value")
    asked = [
        f"name: {quote(gap.name)}",
        "unit: elements",
        f"place: {quote(gap.file)}, line {gap.line}",
        f"it lies between {LEAST:g} and {MOST:g}",
    ]
    launch = [quote(gap.launch, longest=1000)]
    nearest = sorted(sorted(source, key=lambda one: abs(one[0] - gap.line))[: form.key_lines])
    lines = [f"{number}: {text}" for number, text in nearest]
    marker = marker_of([*asked, *launch, *lines])
    parts = [block(name, told, marker) for name, told in (("open value", asked), ("launch", launch), ("source", lines))]
    user = "\n\n".join([*parts, form.task])
    return Request(form.system, user, form.max_output_tokens, json_schema=form.schema, deadline=DEADLINE)


def problem(gap: Gap, text: str) -> str:
    """What is wrong with an answer's form or its numbers, in one clause; empty if nothing is."""
    try:
        check(gap, text, "")
    except ValueError as error:
        return str(error)
    return ""


def check(gap: Gap, text: str, by: str) -> OpenValue:
    """The value in an answer of the model `by`. ValueError, in one clause, for what cannot be used.

    It is one JSON object; the value is whole and lies in its range, that within LEAST and MOST, and its ends differ by a factor of
    WIDEST at most.
    """
    try:
        data = json.loads(text)
        numbers = [data["value"], data["low"], data["high"]]
        why = data["why"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError("it is not JSON with value, low, high and why") from None
    if not isinstance(why, str) or any(isinstance(each, bool) or not isinstance(each, int | float) for each in numbers):
        raise ValueError("a value has the wrong type")
    try:
        value, low, high = map(float, numbers)
    except OverflowError:
        raise ValueError("a number is too large") from None
    faults = {
        "a number is not finite": not all(map(isfinite, (value, low, high))),
        "the value does not lie between low and high": not low <= value <= high,
        f"the range leaves {LEAST:g} to {MOST:g}": low < LEAST or high > MOST,
        "a count is a whole number": not value.is_integer(),
        f"the range spans more than a factor of {WIDEST:g}": high > WIDEST * low,
    }
    if fault := next((fault for fault, found in faults.items() if found), ""):
        raise ValueError(fault)
    return OpenValue(gap, Range(value, low, high), quote(why, longest=300).strip(), by)
