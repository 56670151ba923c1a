"""Text from a profile on its way into a prompt: data, marked as such, unable to end the mark or to speak as somebody else."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable

from chathpc.llm.backend import strip_template_tokens
from chathpc.profile.text import clean

#: What data ends with, before the marker.
MARK = "<<end"

#: A name is seldom longer, and nothing is lost for the explanation if it is.
LONGEST_TEXT = 200


def quote(text: str, *, longest: int = LONGEST_TEXT) -> str:
    """`text` on one line, normalised (NFKC), without control, formatting and chat-template tokens, cut at `longest` characters."""
    flat = " ".join(unicodedata.normalize("NFKC", text).split())
    flat = strip_template_tokens(clean(flat).replace("\N{REPLACEMENT CHARACTER}", ""))
    return flat if len(flat) <= longest else flat[: longest - 1] + "…"


def marker_of(lines: Iterable[str]) -> str:
    """A marker that depends on all `lines` (SHA-256): the same for the same data, and none that data could hold, for whoever
    writes one line into them changes it.
    """
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:8]


def block(name: str, lines: list[str], marker: str) -> str:
    """Lines of data between marks that hold `marker`, which no data can know."""
    body = "\n".join(line.replace(marker, "") for line in lines)
    return f"<<{name} {marker}>>\n{body}\n{MARK} {marker}>>"
