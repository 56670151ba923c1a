"""What a finding knows beside its texts: how sure it is and why, and what could be won at most, as facts of their own kinds.

These numbers are no measurements: none of them may support a sentence about a time or a share, so that they stand apart from the facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from chathpc.diagnosis import catalogue
from chathpc.diagnosis.records import Finding
from chathpc.grounding.evidence.facts import Assessment, Fact
from chathpc.grounding.language.quantities import NONE, Keys, Quantity
from chathpc.grounding.language.tokens import word_stems
from chathpc.grounding.language.vocabulary import stem

#: The dimension of numbers that are compared with assessments; `noun` is their kind.
ASSESSED = "assessed"
Kind = Literal[
    "confidence",
    "headroom",
    "signs",
    "against",
    "error",
    "samples",
    "gained",
    "spared",
    "left",
    "saved",
    "whole",
    "bound",
]
#: Words that speak of findings and gains, and in other sentences of something else.
ASSESSING = frozenset(
    stem(word)
    for word in (
        *(
            "headroom",
            "saving",
            "promise",
            "accurate",
            "precise",
            "error",
            "uncertainty",
            "margin",
            "basis",
            "support",
            "certain",
            "sure",
        ),
        *(
            "confident",
            "confidence",
            "explanation",
            "potential",
            "sign",
            "indication",
            "doubt",
            "reliable",
            "rest",
            "bound",
            "cap",
            "ceiling",
        ),
    )
)
_SIGNS = re.compile(r"(\d+) (?:independent )?signs?\b")
_AGAINST = re.compile(r"(\d+) things? against\b")
_ERROR = re.compile(r"± ([\d.]+) % points from ([\d,]+) samples")
_NO_WORD = re.compile(r"[^A-Za-z_]+")
_SPEEDUP: Keys = frozenset({"what:speedup"})


def assessment(finding: Finding, index: int, near: Keys) -> Assessment:
    """The assessment of a finding."""
    title = catalogue.cause(finding.cause).title if finding.cause in catalogue.ids() else ""
    return Assessment(
        word_stems(
            " ".join(
                (finding.title, title, finding.cause.replace("-", " "), *(_NO_WORD.sub(" ", name) for name in near))
            )
        ),
        near,
        finding.confidence,
        finding.headroom,
        finding.speedup_bound,
        word_stems(finding.confidence_reason),
        tuple(_facts(finding, index, near)),
    )


def _facts(finding: Finding, index: int, near: Keys) -> Iterable[Fact]:
    for kind, value, printed in _numbers(finding):
        half = _half(printed)
        quantity = Quantity(value, (value - half, value + half), ASSESSED, 0, 0, noun=kind, own=_SPEEDUP)
        exact = None if half else value
        yield Fact(quantity, exact, printed, finding.evidence, _SPEEDUP, NONE, near, frozenset({index}))


def _numbers(finding: Finding) -> Iterable[tuple[Kind, float, str]]:
    """Kind, value (parts in percent), and the text where it is known only as printed."""
    yield "confidence", 100 * finding.confidence, ""
    yield "headroom", 100 * finding.headroom, ""
    reason = finding.confidence_reason
    if signs := _SIGNS.search(reason):
        yield "signs", float(signs[1]), ""
    against = _AGAINST.search(reason)
    yield "against", float(against[1]) if against else float(len(finding.against)), ""
    if error := _ERROR.search(reason):
        yield "error", float(error[1]), error[1]
        yield "samples", float(error[2].replace(",", "")), ""
    if finding.speedup_bound is None:
        return
    yield "bound", finding.speedup_bound, ""
    yield "gained", 100 * (finding.speedup_bound - 1), ""
    yield "spared", 100 * (1 - 1 / finding.speedup_bound), ""
    if finding.seconds and finding.share:
        whole = finding.seconds / finding.share
        yield "whole", whole, ""
        yield "left", whole / finding.speedup_bound, ""
        yield "saved", whole * (1 - 1 / finding.speedup_bound), ""


def _half(printed: str) -> float:
    """Half a unit of the last printed digit."""
    _, point, digits = printed.partition(".")
    return 0.5 * 10 ** -len(digits) if point else 0.5 if printed else 0.0
