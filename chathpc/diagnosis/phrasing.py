"""The sentences of a diagnosis, fitted into others."""

from __future__ import annotations

import re

from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.records import Finding
from chathpc.profile import numbers

#: How the sentence on a gain begins.
GAIN = "Without this problem"

_EXAMPLES = re.compile(r" \([^()]*\)")


def as_clause(text: str) -> str:
    """Text to follow a colon: begins small unless it begins with a name or an acronym, ends with a full stop."""
    text = text.strip()
    plain = text[1:2].islower() or text.startswith("A ")
    if text[:1].isupper() and plain and " " in text and text.split()[0].isalpha():
        text = text[0].lower() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."


def gain_sentence(finding: Finding) -> str | None:
    """What could be won: at most, where the catalogue says what a repair can remove, else what measured repairs gave; None where neither is
    known.
    """
    if finding.speedup_bound is not None and finding.speedup_bound > common()["largest_bound"].value:
        return f"{GAIN}, nearly all of the time could go."
    if finding.speedup_bound is not None:
        return f"{GAIN}, the run could be at most {numbers.speedup(finding.speedup_bound)} as fast."
    found = finding.typical_gain
    if found is None or finding.headroom <= 0:
        return None
    low, high = numbers.speedup(found.low), numbers.speedup(found.high)
    times = low if low == high else f"{low} to {high}"
    return f"Such changes made runs {times} as fast ({found.cases} measured case{'s' if found.cases != 1 else ''})."


def meaning(cause_id: str) -> str:
    """What a cause means, for who knows the words: without the examples in brackets, of which most are not what the program does."""
    return _EXAMPLES.sub("", cause(cause_id).meaning)
