"""Names and texts from a profile are data: made harmless before a model sees them.

NFKC, no control, bidirectional, zero-width or tag characters, no chat-template tokens, at most 200 characters, JSON escapes; blocks stand
behind a marker that a profile's author cannot know. This lowers the chance of an injection and is no boundary: what a model says is
checked (chathpc.grounding), and it has no authority (OWASP LLM01; spotlighting: Hines et al., arXiv 2403.14720).
"""

from __future__ import annotations

import json
import re
import unicodedata

from chathpc.errors import UsageError

#: Characters of a name or text that are kept.
LONGEST = 200
#: The same for sentences of ours that hold names.
LONGEST_SENTENCE = 400
#: Multiple of the limit that is looked at: invisible characters and tokens that are taken out must not eat what follows them.
_LOOKED_AT = 4
_REMOVED = ("Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp")
_TOKENS = re.compile(
    r"<\|[^<>|]{0,40}\|?>?|\|>|\[/?(?:INST|SYS|TOOL_CALLS|AVAILABLE_TOOLS|TOOL_RESULTS|IMG|SYSTEM_PROMPT)\]|<</?SYS>>|</?s>"
    r"|</?(?:start_of_turn|end_of_turn|bos|eos|pad|unk|mask|tool_call|tool_response|think|system|assistant|user)>"
    r"|(?:^|\s)###\s*(?:instruction|response|system|user|assistant)\b:?",
    re.IGNORECASE,
)
_MARKER = re.compile(r"[A-Za-z0-9]{8,64}\Z")


def quote(text: str, *, limit: int = LONGEST) -> str:
    """`text` as a JSON string without its outer quotation marks, on one line, free of template tokens, of at most `limit` characters.

    Applying it to a clean name changes nothing: names stay as the tool recorded them.
    """
    return json.dumps(clean(text, limit=limit), ensure_ascii=False)[1:-1].replace('\\"', '"')


def sentence(text: str) -> str:
    """A sentence that chathpc made with names from a profile in it, harmless like a name but longer."""
    return quote(text, limit=LONGEST_SENTENCE)


def clean(text: str, *, limit: int = LONGEST) -> str:
    """`text` normalised, on one line, without invisible characters and template tokens, cut at `limit` characters."""
    text = unicodedata.normalize("NFKC", text[: _LOOKED_AT * limit])
    text = "".join(" " if c in "\n\r\t\v\f\x85" else c for c in text if c in "\n\r\t\v\f\x85" or unicodedata.category(c) not in _REMOVED)
    text = _without_tokens(" ".join(text.split()))
    return text if len(text) <= limit else text[: limit - 1] + "…"


def clean_lines(text: str, *, width: int = LONGEST) -> str:
    """Source code: each line cleaned by itself, its indentation kept."""
    lines = []
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip(" \t"))
        lines.append(" " * min(len(line[:indent].expandtabs(4)), 40) + clean(line, limit=width))
    return "\n".join(lines)


def block(name: str, text: str, marker: str) -> str:
    """A block of data between lines that hold the request's random marker; `text` must have been cleaned.

    Raises UsageError for a marker that is not 8 to 64 letters and digits, or that the text already holds.
    """
    if not _MARKER.match(marker) or marker in text:
        raise UsageError(
            "The marker of a prompt's data blocks must be 8 to 64 letters and digits that occur nowhere in the data.",
            hint="Use secrets.token_hex(8), anew for each request.",
        )
    return f"<<{name} {marker}\n{text}\n{name} {marker}>>"


def _without_tokens(text: str) -> str:
    """Removing one token can put another one together (`<|<|x|>im_end|>`), so until nothing changes; each round shortens the text."""
    while True:
        shorter = _TOKENS.sub("", text)
        if shorter == text:
            return text.strip()
        text = shorter
