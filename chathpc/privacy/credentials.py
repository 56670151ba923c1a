"""Keys, passwords and tokens taken out of a text: they are of no use to anybody who reads it, and cannot be put back."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cache

#: What stands in the place of a credential.
REDACTED = "[key]"

_KNOWN = re.compile(
    r"""
      \b(?:sk|pk|rk)[-_][A-Za-z0-9_\-]{8,}                          # OpenAI, Anthropic, Stripe and kin
    | \b(?:A3T|AKIA|ASIA|AGPA|AIDA|AROA)[A-Z0-9]{12,}               # Amazon
    | \bgh[pousr]_[A-Za-z0-9]{20,} | \bgithub_pat_\w{20,}           # GitHub
    | \bgl(?:pat|dt|rt|cbt)-[A-Za-z0-9_\-]{16,}                     # GitLab
    | \bhf_[A-Za-z0-9]{16,} | \bnvapi-[A-Za-z0-9_\-]{16,}           # Hugging Face, NVIDIA
    | \bxox[abeoprs]-[A-Za-z0-9\-]{10,}                             # Slack
    | \bAIza[A-Za-z0-9_\-]{30,} | \bya29\.[A-Za-z0-9_\-]{20,}       # Google
    | \b(?:npm|pypi|dop_v1|tskey|wandb)[-_][A-Za-z0-9_\-]{20,}
    | \beyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]*  # JSON web tokens (RFC 7519)
    | -----BEGIN[ ][A-Z ]*PRIVATE[ ]KEY-----[\s\S]*?(?:-----END[ ][A-Z ]*PRIVATE[ ]KEY-----|\Z)
    """,
    re.VERBOSE,
)
_HEADER = re.compile(
    r"(\b(?:Bearer|Basic|Token)\s+)([A-Za-z0-9+/=_\-.~]{8,})|(\bAuthorization\s*:\s*)(\S+)", re.IGNORECASE
)
_IN_URL = re.compile(r"(\b[a-z][a-z0-9+.\-]{1,20}://)([^\s/@:'\"]*:)?([^\s/@'\"]+)@", re.IGNORECASE)
_WORDS = (
    r"pass(?:word|wd|phrase)|passwd|pwd|secret(?:[_-]?(?:access)?[_-]?key)?|api[_-]?key|access[_-]?(?:key|token)|auth[_-]?token"
    r"|private[_-]?key|client[_-]?secret|credential|token"
)
#: `--password hunter2`, `DB_PASSWORD=hunter2`, `api_key: "…"`; not `token::next`, and no call such as `token(`.
_ASSIGNED = re.compile(
    rf"((?:--?|\b)[A-Za-z0-9_]*(?:{_WORDS})[A-Za-z0-9_]*\s*(?:=|:(?!:))\s*[\"']?|--?[A-Za-z0-9-]*(?:{_WORDS})\s+)"
    r"([^\s\"'()<>,;]{4,})",
    re.IGNORECASE,
)
_SECRET_VARIABLE = re.compile(
    r"(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|CREDENTIALS?|APIKEY)(?:$|_)", re.IGNORECASE
)
#: Values of variables that are shorter than this are no secrets, and their text would be found in many others.
_SHORTEST_VALUE = 8
#: Of longer texts, the parts are looked at one after the other; patterns do not reach over this many characters.
_MARKS = ("-", "_", "=", ":", "@", " ")


def redact(text: str, environ: Mapping[str, str] | None = None) -> str:
    """`text` with what is or looks like a credential replaced by `[key]`, among them the values of variables of this process
    whose names say that they hold one.
    """
    values = _values(os.environ if environ is None else environ)
    for value in values:
        if value in text:
            text = text.replace(value, REDACTED)
    if not any(mark in text for mark in _MARKS):
        return text
    text = _KNOWN.sub(REDACTED, text)
    text = _HEADER.sub(lambda found: f"{found[1] or found[3]}{REDACTED}", text)
    text = _IN_URL.sub(rf"\g<1>{REDACTED}@", text)
    return _ASSIGNED.sub(rf"\g<1>{REDACTED}", text)


def _values(environ: Mapping[str, str]) -> tuple[str, ...]:
    named = {value for name, value in environ.items() if _SECRET_VARIABLE.search(name)}
    return _longest_first(
        frozenset(value for value in named if len(value) >= _SHORTEST_VALUE and not value.startswith("/"))
    )


@cache
def _longest_first(values: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(values, key=len, reverse=True))
