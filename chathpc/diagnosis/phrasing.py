"""The sentences of a diagnosis, fitted into others."""

from __future__ import annotations

import re

from chathpc.diagnosis.catalogue import cause
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


def gain_sentence(bound: float) -> str:
    """What could be won at most: `bound` is how many times as fast the run could be."""
    return f"{GAIN}, the run could be at most {numbers.speedup(bound)} as fast."


def meaning(cause_id: str) -> str:
    """What a cause means, for who knows the words: without the examples in brackets, of which most are not what the program does."""
    return _EXAMPLES.sub("", cause(cause_id).meaning)
