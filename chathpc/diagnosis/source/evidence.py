"""What the source says as an item of evidence, marked as not measured."""

from __future__ import annotations

from chathpc.diagnosis.draft import fact
from chathpc.diagnosis.fact import Fact, Kind
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.records import Place
from chathpc.diagnosis.source.sign import DERIVED, Sign

#: Longer words are names that no author wrote.
_LONGEST = 300


def source_evidence(facts: Facts, place: Place, sign: Sign, *, metric: str | None = None) -> Fact:
    """`The source at app.c:7 …`, at that place; `metric` is what was measured there, by default the time."""
    return fact(
        facts,
        Kind.SOURCE,
        float(place.line or sign.line),
        subject=place.short,
        unit="line",
        text=shortened(sign.says, _LONGEST),
        metric=metric,
        how=DERIVED,
        where=place,
    )


def shortened(text: str, most: int) -> str:
    """The text, cut where the program's names in it are longer than any author's."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
