"""The line that a kernel's warps wait for, as the place of a finding and as evidence; the stalled line stays in the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chathpc.diagnosis.draft import fact
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.records import Evidence, Place
from chathpc.diagnosis.sass.blame import Link
from chathpc.diagnosis.stall_causes import StallCause, node_at, stall_cause
from chathpc.profile import numbers
from chathpc.profile.machine_code import CodeLine
from chathpc.profile.names import shorten
from chathpc.profile.text import clean
from chathpc.profile.tree import IntArray

#: Characters of an instruction in a sentence.
_LONGEST = 60
#: How the stalled place depends on the one that is waited for.
_LINKS = {
    Link.RESULT: "whose result is used {}",
    Link.OPERANDS: "whose registers are needed again {}",
    Link.ORDER: "which they have reached {}",
}


def blamed(
    facts: Facts, kernel: str, name: str, nodes: IntArray, metrics: Sequence[str], what: str, stalled: Place
) -> tuple[Place, list[Evidence], StallCause | None]:
    """The line that stalls counted by `metrics` are blamed on, and the evidence for it; `stalled` and nothing where the profile
    shows no machine code, or the stalled instructions wait for nothing but themselves.

    `kernel` is the name in the profile, `name` as it stands in a sentence, `what` says what the metrics count.
    """
    cause = stall_cause(facts.profile, kernel, nodes, metrics)
    if cause is None or not cause.elsewhere:
        return stalled, [], None
    profile = facts.profile
    place = stalled
    if cause.place.line:
        node = node_at(profile, nodes, cause.place)
        file = profile.tree.file_name(node) if node >= 0 else None
        place = replace(stalled, file=file or cause.place.file, line=cause.place.line, node=node if node >= 0 else stalled.node)
    subject = place.short or _said(cause.place)
    evidence = [
        fact(
            facts,
            f"{numbers.percent(cause.part)} of the {what} in {name} wait for {cause.words} {_at(cause.place)}, "
            f"{_LINKS[cause.link].format(_use(cause))}.",
            cause.part, unit="ratio", metric=metrics[0], subject=subject,
            how="samples of stalled instructions, given to the instructions that their operands come from (Zhou et al., GPA, CGO 2021)",
            where=place,
        )
    ]  # fmt: skip
    if cause.link == Link.RESULT:
        between = cause.distance - 1
        count = f"{numbers.count(between)} instruction{'s' if between != 1 else ''}" if between else "no instruction"
        evidence.append(
            fact(
                facts, f"Between {_said(cause.place)} and {_said(cause.used)}, which needs its result, there "
                f"{'is' if between < 2 else 'are'} {count}.",
                between, unit="count", metric=metrics[0], subject=subject, how="machine code", where=place,
            )
        )  # fmt: skip
    if cause.address is not None:
        evidence.append(
            fact(
                facts, f"Its address is computed from what the load {_at(cause.address)} brings: one wait follows the other.", 1.0,
                unit="count", metric=metrics[0], subject=subject, how="machine code, followed backwards", where=place,
            )
        )  # fmt: skip
    return place, evidence, cause


def _said(line: CodeLine) -> str:
    return clean(shorten(" ".join(line.text.split()), _LONGEST))


def _short(line: CodeLine) -> str:
    return f"{clean(line.file).replace(chr(92), '/').rsplit('/', 1)[-1]}:{line.line}"


def _at(line: CodeLine) -> str:
    return f"at {_short(line)}" if line.line else f"at +{line.offset:#x} ({_said(line)})"


def _use(cause: StallCause) -> str:
    if cause.used.line and (cause.used.file, cause.used.line) == (cause.place.file, cause.place.line):
        return "in the same line"
    return _at(cause.used)
