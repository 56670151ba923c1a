"""The sentences of a diagnosis, fitted into others."""

from __future__ import annotations

import re

from chathpc.diagnosis.records import Place


def placed(summary: str, where: Place) -> str:
    """`summary` with file and line behind the name of the function, unless it says where that is."""
    name, file = where.function, where.short.partition(":")[0]
    if not name or not file or file in summary:
        return summary
    return re.sub(
        rf"(?<![\w:]){re.escape(name)}(?= |:|\.$)", lambda found: f"{found[0]} ({where.short})", summary, count=1
    )


def as_clause(text: str) -> str:
    """Text to follow a colon: begins small unless it begins with a name or an acronym, ends with a full stop."""
    text = text.strip()
    if len(text) > 1 and text[0].isupper() and text[1].islower() and " " in text and text.split()[0].isalpha():
        text = text[0].lower() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."
