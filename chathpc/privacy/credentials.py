"""Keys, passwords and tokens taken out of a text: they are of no use to anybody who reads it, and cannot be put back."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping

#: In marked text (chathpc.prompts.untrusted) this stands for a blank.
_MARK = "\N{MODIFIER LETTER CIRCUMFLEX ACCENT}"
#: A blank, and what is none; `\\b` below is the end of a word of ASCII, so that a mark ends one, too.
_B, _S = rf"[\s{_MARK}]", rf"[^\s{_MARK}]"

#: What stands in the place of a credential.
REDACTED = "[key]"

#: Names of functions may begin like keys (rk_step, hf_exchange), so what may be a name must look like nothing else than a key.
_KNOWN = re.compile(
    r"""
      \b(?:sk|pk|rk)-[A-Za-z0-9_\-]{8,} | \b(?:sk|pk|rk|whsec)_(?:live|test)_[A-Za-z0-9]{8,}   # OpenAI, Anthropic; Stripe
    | \b(?:A3T|AKIA|ASIA|AGPA|AIDA|AROA)[A-Z0-9]{12,}               # Amazon
    | \bgh[pousr]_[A-Za-z0-9]{30,} | \bgithub_pat_\w{20,}           # GitHub
    | \bgl(?:pat|dt|rt|cbt)-[A-Za-z0-9_\-]{16,}                     # GitLab
    | \b(?:hf|npm)_(?=[A-Za-z]*\d)[A-Za-z0-9]{30,} | \bnvapi-[A-Za-z0-9_\-]{16,}  # Hugging Face, npm, NVIDIA
    | \bxox[abeoprs]-[A-Za-z0-9\-]{10,}                             # Slack
    | \bAIza[A-Za-z0-9_\-]{30,} | \bya29\.[A-Za-z0-9_\-]{20,}       # Google
    | \b(?:pypi|tskey)-[A-Za-z0-9_\-]{20,}
    | \beyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]*  # JSON web tokens (RFC 7519)
    | -----BEGIN[ ][A-Z ]*PRIVATE[ ]KEY-----[\s\S]*?(?:-----END[ ][A-Z ]*PRIVATE[ ]KEY-----|\Z)
    """,
    re.VERBOSE | re.ASCII,
)
#: Without any of these no key of _KNOWN is in a text; by a character that they have, for which is looked first. That takes a hundredth of
#: the time of the pattern, which matters for names of megabytes.
_BEGINNINGS = {
    "-": ("sk-", "pk-", "rk-", "glpat-", "gldt-", "glrt-", "glcbt-", "nvapi-", "pypi-", "tskey-", "-----BEGIN"),
    "_": ("sk_", "pk_", "rk_", "whsec_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "hf_", "npm_"),
    "A": ("A3T", "AKIA", "ASIA", "AGPA", "AIDA", "AROA", "AIza"),
    ".": ("ya29.",),
    "x": ("xox",),
    "J": ("eyJ",),
}
_HEADER = re.compile(
    rf"(\bAuthorization[\"']?{_B}*[:=]{_B}*[\"']?(?:(?:Bearer|Basic|Token|Digest){_B}+)?|\bBearer{_B}+(?={_S}*\d))[A-Za-z0-9+/=_\-.~]{{8,}}",
    re.IGNORECASE | re.ASCII,
)
_IN_URL = re.compile(
    rf"(\b[a-z][a-z0-9+.\-]{{1,20}}://)([^\s{_MARK}/@:'\"]*:)?([^\s{_MARK}/@'\"]+)@", re.IGNORECASE | re.ASCII
)
_WORDS = (
    r"pass(?:word|wd|phrase)|passwd|pwd|secret(?:[_-]?(?:access)?[_-]?key)?|api[_-]?key|access[_-]?(?:key|token)|auth[_-]?token"
    r"|private[_-]?key|client[_-]?secret|credential|token"
)
_PARTS_OF_WORDS = ("pass", "pwd", "secret", "key", "token", "credential")
#: `DB_PASSWORD=hunter2`, `api_key: "…"`, `--password hunter2`; not `token::next`, `next_token: 3.2 s` and `multi-token kernels`.
_ASSIGNED = re.compile(
    rf"(\b[A-Za-z0-9_-]{{0,40}}(?:{_WORDS})[A-Za-z0-9_]{{0,40}}[\"']?{_B}*(?:=|:(?!:)(?={_B}*{_S}*[A-Za-z])){_B}*[\"']?"
    rf"|(?<!{_S})--?[A-Za-z0-9-]{{0,40}}(?:{_WORDS}){_B}+)([^\s{_MARK}\"'()<>,;]{{4,}})",
    re.IGNORECASE | re.ASCII,
)
_SECRET_VARIABLE = re.compile(
    r"(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|CREDENTIALS?|APIKEY)(?:$|_)", re.IGNORECASE
)
#: What is shorter is no secret, or cannot be told from parts of words.
SHORTEST_VALUE = 8


def redact(text: str, environ: Mapping[str, str] | None = None) -> str:
    """`text` with what is or looks like a credential replaced by `[key]`, among them the values of variables of this process
    whose names say that they hold one.
    """
    return redactor(environ)(text)


def redactor(environ: Mapping[str, str] | None = None) -> Callable[[str], str]:
    """`redact` for many texts: the environment is looked through once."""
    values = _values(os.environ if environ is None else environ)

    def redacted(text: str) -> str:
        for value in values:
            if value in text:
                text = text.replace(value, REDACTED)
        if any(letter in text and any(each in text for each in those) for letter, those in _BEGINNINGS.items()):
            text = _KNOWN.sub(REDACTED, text)
        if "://" in text and "@" in text:
            text = _IN_URL.sub(rf"\g<1>{REDACTED}@", text)
        small = text.lower()
        if "bearer" in small or "authorization" in small:
            text = _HEADER.sub(rf"\g<1>{REDACTED}", text)
        if any(each in small for each in _PARTS_OF_WORDS):
            text = _ASSIGNED.sub(rf"\g<1>{REDACTED}", text)
        return text

    return redacted


def _values(environ: Mapping[str, str]) -> list[str]:
    """Values of variables that hold secrets, the longest first."""
    named = {value for name, value in environ.items() if _SECRET_VARIABLE.search(name)}
    secret = {value for value in named if len(value) >= SHORTEST_VALUE and not value.startswith("/")}
    secret |= {value.replace(" ", _MARK) for value in secret}
    return sorted(secret, key=lambda value: (-len(value), value))
