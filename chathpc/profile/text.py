"""Text that comes from a profile is data: whatever could act on a terminal or mislead a reader is made visible."""

from __future__ import annotations

import math
import unicodedata

#: Unicode categories that never belong in a name: control, format (bidi, zero-width, tags), surrogate, private,
#: separators.
_REFUSED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
#: What shows nothing though its category is that of letters or marks (Unicode's Default_Ignorable_Code_Point): variation selectors
#: can carry a whole text that nobody sees.
_INVISIBLE = frozenset(
    map(chr, (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, *range(0x180B, 0x1810), *range(0xFE00, 0xFE10)))
) | frozenset(map(chr, range(0xE0100, 0xE01F0)))
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
#: Characters per token of a model's text with names and numbers, a cautious figure; English prose has about four.
CHARACTERS_PER_TOKEN = 3.5


def clean(text: str) -> str:
    """`text` with control, formatting, invisible, private and unassigned characters replaced by U+FFFD; printable text is unchanged."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(REPLACEMENT if c in _INVISIBLE or unicodedata.category(c) in _REFUSED else c for c in text)


def estimate_tokens(text: str) -> int:
    """Tokens of `text`, estimated from its length."""
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)
