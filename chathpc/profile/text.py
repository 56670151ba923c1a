"""Text that comes from a profile is data: whatever could act on a terminal or mislead a reader is made visible."""

from __future__ import annotations

import unicodedata

#: Unicode categories that never belong in a name: control, format (bidi, zero-width, tags), surrogate, private,
#: separators.
_REFUSED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def clean(text: str) -> str:
    """`text` with control, formatting, private and unassigned characters replaced by U+FFFD; printable text is
    unchanged.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(REPLACEMENT if unicodedata.category(c) in _REFUSED else c for c in text)
