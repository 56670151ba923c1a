"""Which words may leave the machine: those that chathpc writes itself, those of languages and standard libraries."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.machinery import SourceFileLoader
from importlib.util import find_spec
from inspect import CO_NEWLOCALS
from pathlib import Path
from types import CodeType

#: Typographic signs of our own texts; every other character beyond ASCII counts as a letter, so that no name is made of
#: characters that nobody looks at.
_SIGNS = "×±–—…≤≥≈·→←↑↓“”‘’«»²³≠∞%‰°▏▎▍▌▋▊▉█▇│├└─┬"
LETTER = rf"[^\x00-#%-/:-@\[-^`{{-\x7f\s{_SIGNS}]"
#: Letters in a row, with dots, hyphens and @ between them: `heat.c`, `node-012`, `libm.so.6`, `who@host.org`, `3.17`.
GROUP = re.compile(rf"{LETTER}+(?:[.\-@]+{LETTER}+)*")
WORD = re.compile(rf"{LETTER}+")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z]+|\d+")
#: Numbers, with a power of ten or a hexadecimal address, and the ids of evidence and places.
NUMBER = re.compile(
    r"\d+(?:\.\d+)*(?:[eE][-+]?\d+)?|0[xX][0-9a-fA-F]{1,16}[uUlL]{0,3}|\d{1,20}[uUlL]{1,3}|[Ee]\d{1,4}|[Pp]\d{1,2}"
)
_NUMBER_AND_UNIT = re.compile(r"(\d+(?:\.\d+)*)([^\W\d_]{1,6})")


#: Files of words that chathpc understands but does not write: what a user may ask or a model may say is no reason to let a name leave.
_UNDERSTOOD = frozenset({"public_names.yaml", "examples.yaml", "words.yaml", "devices.yaml"})
#: Folders whose texts are in no sentence of ours: programs' code.
_SPEECHLESS = frozenset({"recipes", "pieces"})


@dataclass(frozen=True, slots=True)
class _Lists:
    neutral: frozenset[str]
    languages: frozenset[str]
    extensions: frozenset[str]
    exact: frozenset[str]
    prefixes: tuple[str, ...]
    parts: frozenset[str]


@cache
def lists() -> _Lists:
    """The words of public.yaml, in lower case."""
    from chathpc.packaged import table

    data = {key: value.lower().split() for key, value in table("chathpc.privacy", "public.yaml").items()}
    prefixes = tuple(sorted(data.pop("prefixes"), key=len, reverse=True))
    return _Lists(prefixes=prefixes, **{key: frozenset(words) for key, words in data.items()})


def is_neutral(word: str) -> bool:
    """Whether `word` says nothing about whose program it is: numbers, grammar, units, keywords."""
    lower = word.lower()
    if len(word) == 1 or lower in lists().neutral or lower in lists().languages or NUMBER.fullmatch(word):
        return True
    both = _NUMBER_AND_UNIT.fullmatch(word)
    return both is not None and both[2].lower() in lists().neutral


def is_library(word: str) -> bool:
    """Whether `word` is a name of a standard library or runtime, such as MPI_Wait, cudaMemcpyAsync, memcpy, libgomp."""
    word = word.removeprefix("__GI_")  # internal aliases of the C library
    known, lower = lists(), word.lower()
    if lower in known.exact or lower.lstrip("_") in known.exact:
        return True
    for prefix in known.prefixes:
        rest = word[len(prefix) :]
        begins = prefix.endswith(("_", "5")) or rest[:1].isupper()
        if lower.startswith(prefix) and rest and begins and _is_api(rest):
            return True
    return False


def _is_api(rest: str) -> bool:
    """Whether what stands behind a prefix is made of the words of an interface: `MemcpyAsync`, `get_thread_num`."""
    parts = lists().parts
    for part in filter(None, rest.split("_")):
        pieces = [piece.lower() for piece in _CAMEL.findall(part)]
        if part.lower() not in parts and ("".join(pieces) != part.lower() or not all(one in parts for one in pieces)):
            return False
    return True


@cache
def own_words() -> frozenset[str]:
    """Every word that chathpc's own code and data hold, in lower case: what its sentences are made of.

    Read from the compiled modules, so that a sentence that is added later is known at once. What cannot be read is missing
    here, and is then replaced like a name.
    """
    found: set[str] = set()
    for text in _own_texts():
        for group in GROUP.findall(text.lower()):
            found.add(group)
            found.update(WORD.findall(group))
    return frozenset(found)


def _own_texts() -> Iterator[str]:
    package = find_spec("chathpc")
    for top in (package and package.submodule_search_locations) or ():
        for folder, folders, files in os.walk(top, followlinks=True):
            folders[:] = [each for each in folders if each not in _SPEECHLESS]
            for name in files:
                path = os.path.join(folder, name)
                if name.endswith(".py"):
                    yield from _constants(SourceFileLoader("own", path).get_code("own"))
                elif name.endswith(".yaml") and name not in _UNDERSTOOD:
                    lines = Path(path).read_text("utf-8").splitlines()
                    yield "\n".join(line for line in lines if not line.lstrip().startswith("#"))


def _constants(code: CodeType | None) -> Iterator[str]:
    """The texts in a module's code, those of its functions among them."""
    pending: list[object] = [code]
    while pending:
        item = pending.pop()
        if isinstance(item, CodeType):
            documented = item.co_consts and isinstance(item.co_consts[0], str) and item.co_flags & CO_NEWLOCALS
            # What a function is documented with is in no sentence, and full of names of examples.
            pending += item.co_consts[1:] if documented and not item.co_name.startswith("<") else item.co_consts
        elif isinstance(item, tuple | frozenset):
            pending += item
        elif isinstance(item, str):
            yield item
