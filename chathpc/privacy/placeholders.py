"""Names and the placeholders that stand for them: a mapping that can be undone, and leaves nothing of the names behind.

A text is taken apart into groups of letters (`heat.c`, `node-012`, `_ZN4heatE`). A group stays as it is only if it is known to
be nobody's: a number, a word of grammar or of a language, a word that chathpc itself writes, and, in mode `default`, a name
of a standard library. Everything else is replaced as a whole, known to the profile or not; so what was forgotten is hidden.
A word that is also a name in the profile is replaced wherever it stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, get_args

from chathpc.privacy.words import GROUP, LETTER, WORD, is_library, is_neutral, lists, own_words

Mode = Literal["default", "all", "none"]
Kind = Literal["fn", "file", "dir", "host", "user", "job", "name"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_KINDS = "|".join(KINDS)
_PLACEHOLDER = re.compile(rf"(?:{_KINDS})_\d+", re.IGNORECASE)
#: A placeholder in an answer. It may follow an escaped line break of JSON, and an `s` or `_kernel` of the model's may follow it.
_IN_ANSWER = re.compile(rf"(?:(?<!{LETTER})|(?<=\\[nrt]))((?:{_KINDS})_\d+)(?!\d)", re.IGNORECASE)
#: The end of a text that could be the beginning of a placeholder.
_UNFINISHED = re.compile(rf"{LETTER}+\Z")
#: Endings that English adds; `Solvers` is the name `solver`.
_ENDINGS = ("'s", "s", "es", "ed", "d", "ing", "er", "ers", "r", "rs", "ly", "n", "en")
#: What compilers and file systems put behind a name, kept behind its placeholder. Longer numbers may be those of jobs.
_COMPILER = re.compile(
    r"(?:\.(?:_omp_fn|omp_outlined|isra|constprop|part|cold|lto_priv|llvm|localalias|kd|clone)(?:\.\d{1,3})*)+\Z"
)
_ENDING = re.compile(r"\.([A-Za-z][A-Za-z0-9+]{0,4})(?:\.\d{1,3})*\Z")
#: Groups of letters, and addresses of version 6 (RFC 4291) and of hardware, which are several of them.
_TOKEN = re.compile(rf"(?<![\w:])(?:[0-9A-Fa-f]{{0,4}}:){{3,7}}[0-9A-Fa-f]{{0,4}}(?![\w:])|{GROUP.pattern}")
_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}|.*:.*")
_CUT = "…"


def stems(word: str) -> Iterable[str]:
    """`word` in lower case, and what is left of it without an ending of English."""
    lower = word.lower()
    yield lower
    for ending in _ENDINGS:
        if lower.endswith(ending) and len(lower) > len(ending) + 1:
            yield lower[: -len(ending)]


class Placeholders:
    """The mapping for one profile, in one mode.

    `names` are the words of its names in lower case, with their kind; a name's number is its place among those of its kind, so
    it is the same in every text and in every session. `free` words (of the hardware) stay in mode `default`.
    """

    def __init__(self, mode: Mode, names: Mapping[str, Kind] | None = None, free: frozenset[str] = frozenset()) -> None:
        self.mode = mode
        self._names = dict(names or {})
        self._free = free
        self._given: dict[str, str] = {}
        self._meant: dict[str, str] = {}
        self._next = dict.fromkeys(KINDS, 1)
        self._numbers: dict[str, int] = {}
        for name, kind in self._names.items():
            self._numbers[name] = self._next[kind]
            self._next[kind] += 1

    def conceal(self, text: str) -> str:
        """`text` with placeholders for every name; itself in mode `none`."""
        return text if self.mode == "none" else _TOKEN.sub(self._replaced, text)

    def restore(self, text: str) -> str:
        """`text` with the names back: `restore(conceal(text)) == text`. Placeholders that were never given stay."""
        if not self._meant:
            return text
        return _IN_ANSWER.sub(lambda match: self._meant.get(match[1].lower(), match[1]), text)

    def _replaced(self, match: re.Match[str]) -> str:
        text = match.string
        return self._hidden(match[0], text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1])

    def _hidden(self, token: str, before: str, after: str) -> str:
        """`token`, which stands between two characters, with placeholders for what is somebody's."""
        if _ADDRESS.fullmatch(token):
            return self._placeholder(token, "host")
        if is_neutral(token) and token.lower() not in self._names:
            return token
        in_path = "/" in (before, after)
        if self._may_stay(token, in_path) and _CUT not in (before, after):
            return token
        base, dot, member = token.rpartition(".")
        if base and self.mode == "default" and not in_path and is_library(member) and after in ("(", "."):
            return self._hidden(base, before, dot) + dot + member  # `cells.push_back(`: the object is somebody's
        stem, ending = parted(token)
        return self._placeholder(stem, self._kind(token, stem, ending, before, after)) + ending

    def _may_stay(self, token: str, in_path: bool) -> bool:
        """Whether `token` is known to be nobody's. Words that name folders are names in a path only: `work` is a word, too."""
        lower = token.lower()
        if _PLACEHOLDER.fullmatch(token) or (token.isdigit() and lower in self._names):  # the number of a job
            return False
        if is_neutral(token):
            return True
        words = WORD.findall(token)
        if len(words) > 1:
            ours = "." not in token and "@" not in token and lower in own_words()  # such as fopt-info-vec-missed
            library = self.mode == "default" and is_library(parted(token)[0])
            known = self._is_name(lower, in_path) and not library
            return not known and (ours or self._together(token, words, in_path))
        if self.mode == "default" and (is_library(token) or lower in self._free):
            return True
        if any(self._is_name(stem, in_path) and not (stem != lower and _says_nothing(stem)) for stem in stems(token)):
            return False
        return lower in own_words()

    def _is_name(self, word: str, in_path: bool) -> bool:
        kind = self._names.get(word)
        return kind is not None and (kind != "dir" or in_path)

    def _together(self, token: str, words: list[str], in_path: bool) -> bool:
        """`omp-load-imbalance`, `libm.so.6`, `e.g`; not `node-012`, `hpc.example.org`: words that tell nothing alone may together."""
        if "@" in token or not all(self._may_stay(word, in_path) for word in words):
            return False
        plain = "." not in token and not any(word[0].isdigit() for word in words[1:])
        return plain or token.lower() in own_words() or is_library(parted(token)[0])

    def _kind(self, token: str, stem: str, ending: str, before: str, after: str) -> Kind:
        for known in (token.lower(), *stems(stem)):
            if known in self._names:
                return self._names[known]
        if "@" in token:
            return "user"
        if after == "/":
            return "dir"
        return "file" if before == "/" or (ending and not _COMPILER.match(ending)) else "name"

    def _placeholder(self, name: str, kind: Kind) -> str:
        if name in self._given:
            return self._given[name]
        given = f"{kind}_{self._numbers.get(name.lower(), 0)}"
        while (
            given.endswith("_0") or given in self._meant or given in self._names
        ):  # the last: readers would take it for the name
            given = f"{kind}_{self._next[kind]}"
            self._next[kind] += 1
        self._given[name] = given
        self._meant[given] = name
        return given


def _says_nothing(stem: str) -> bool:
    """Whether a word with this stem is no form of a user's name: `timed`, `frees`."""
    return is_neutral(stem) or is_library(stem)


def parted(token: str) -> tuple[str, str]:
    """The name in a group of letters, and what compilers and file systems put behind it."""
    made = _COMPILER.search(token)
    if made is not None and made.start() > 0:
        return token[: made.start()], made[0]
    ending = _ENDING.search(token)
    if ending is not None and ending.start() > 0 and ending[1].lower() in lists().extensions:
        return token[: ending.start()], ending[0]
    return token, ""


class Restorer:
    """Puts names back into an answer that arrives in pieces; a placeholder may be cut between two of them."""

    def __init__(self, placeholders: Placeholders, told: Callable[[str], None]) -> None:
        self._placeholders = placeholders
        self._told = told
        self._held = ""
        self._before = ""

    def __call__(self, piece: str) -> None:
        """Take the next piece and pass on what is complete."""
        text = self._held + piece
        end = _UNFINISHED.search(text)
        whole = len(text) if end is None or len(text) - end.start() > 64 else end.start()
        self._held = text[whole:]
        self._tell(text[:whole])

    def finish(self) -> None:
        """Pass on the rest."""
        held, self._held = self._held, ""
        self._tell(held)

    def _tell(self, text: str) -> None:
        if text:
            # What stands before decides whether a placeholder begins here.
            known = len(self._before)
            restored = self._placeholders.restore(self._before + text)
            self._before = (self._before + text)[-2:]
            self._told(restored[known:] if known else restored)
