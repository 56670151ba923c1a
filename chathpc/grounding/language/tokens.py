"""Words, numbers with their units, and names of code in a sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from chathpc.grounding.language.contractions import expanded
from chathpc.grounding.language.vocabulary import Vocabulary, stem, stems
from chathpc.profile.languages import ENDINGS

#: What follows the dot of a file's name: the endings of languages that are read, and of others and of libraries.
_SUFFIXES = "|".join(map(re.escape, sorted(ENDINGS | {"cl", "m", "go", "java", "so", "d"}, key=len, reverse=True)))
_TOKEN = re.compile(
    rf"""(?P<template>[A-Za-z_][\w:]{{0,80}}<[^<>\n]{{0,80}}>(?:\([^()\n]{{0,80}}\))?)
    |(?P<call>[A-Za-z_][\w:]{{0,80}}\([^()\n]{{0,80}}\))
    |(?P<file>[A-Za-z_][\w./+-]{{0,200}}\.(?i:{_SUFFIXES})(?::[0-9]{{1,9}})?(?![\w]))
    |(?P<flag>(?<!\S)--?[A-Za-z][\w-]*(?:=[\w.,:-]+)?)
    |(?P<number>(?<![\w.])[0-9][0-9,]*(?:\.[0-9]+)*(?:[eE][+-]?[0-9]{{1,3}}(?:\.[0-9]+)*)?)
    |(?P<word>[A-Za-zµμ_][\w]*(?:(?:::|->)~?[A-Za-z_]\w*)+|[A-Za-zµμ_]\w*(?:['’][A-Za-z]+)?)
    |(?P<punctuation>\S)""",
    re.VERBOSE,
)
#: A unit directly behind a number or after one space.
_UNIT = re.compile(r"[ \u00a0\u202f]?-?(%|×|[A-Za-zµμ]{1,12}(?:/(?:second|sec|s))?)(?![\w])")
_CODE_WORD = re.compile(r"_|::|->|[0-9]|[a-z][A-Z]|^[A-Z]{2,}[a-z]")
#: Words with digits or capitals inside that are language.
_LANGUAGE = frozenset(
    [
        "openmp",
        "mpi",
        "gpu",
        "gpus",
        "cpu",
        "cpus",
        "h2d",
        "d2h",
        "d2d",
        "io",
        "cuda",
        "hip",
        "ipc",
        "simd",
        "fp64",
        "fp32",
        "numa",
    ]
)


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a sentence: `kind` is word, number, code, file or punctuation; `stem` of words."""

    kind: str
    text: str
    start: int
    end: int
    stem: str = ""
    value: float = 0.0
    half: float = 0.0  #: half a unit of the last written digit, in the written unit
    unit: str | None = None
    quantity_end: int = field(default=0)  #: where the unit ends


def is_code(word: str) -> bool:
    """True for a word that only a program has: an underscore, a scope, a digit or a capital inside."""
    return bool(_CODE_WORD.search(word)) and word.lower().removesuffix("s") not in _LANGUAGE


def normal_code(name: str) -> str:
    """A name for comparison: without spaces, an empty argument list and folders."""
    name = "".join(name.split()).removesuffix("()").rstrip(".,;:")
    return name.rsplit("/", 1)[-1] if "(" not in name else name


def plain_code(name: str) -> str:
    """A function's name without return type, template arguments and parameters: `void a::f<float>(int)` → a::f."""
    name = name.split("<", 1)[0].split("(", 1)[0].strip()
    return name.rsplit(" ", 1)[-1]


def tokenize(
    sentence: str,
    words: Vocabulary,
    names: frozenset[str] = frozenset(),
    short: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Token, ...]:
    """The tokens of a sentence of at most some hundred characters.

    `names` are plain words that are names in this profile, `short` the last parts of qualified names with these: `f` for `space::f`.
    """
    tokens: list[Token] = []
    position = 0
    while match := _TOKEN.search(sentence, position):
        kind, text, position = str(match.lastgroup), match.group(), match.end()
        if (
            kind == "word"
            and text.endswith(("'s", "’s"))
            and (is_code(text[:-2]) or text[:-2] in names or text[:-2] in short)
        ):
            text = text[:-2]
        if kind == "number":
            token = _number(sentence, match, words)
            position = token.end if token.unit is None else token.quantity_end
            tokens.append(token)
        elif kind == "template":
            name = short.get(plain_code(text), plain_code(text))
            tokens.append(Token("code", name, match.start(), match.end(), stem(name)))
        elif kind in ("call", "flag") or (kind == "word" and (is_code(text) or text in names or text in short)):
            name = short.get(normal_code(text), normal_code(text))
            tokens.append(Token("code", name, match.start(), match.end(), stem(text)))
        elif kind == "file":
            tokens.append(Token("file", normal_code(text), match.start(), match.end()))
        elif kind == "word" and (full := expanded(text)):
            ends = (*(match.start() + first for _, first in full[1:]), match.end())
            tokens += (
                Token("word", word, match.start() + first, end, stem(word))
                for (word, first), end in zip(full, ends, strict=True)
            )
        else:
            tokens.append(Token(kind, text, match.start(), match.end(), stem(text) if kind == "word" else ""))
    return tuple(tokens)


def _number(sentence: str, match: re.Match[str], words: Vocabulary) -> Token:
    text = match.group()
    written = text.rstrip(",")
    end = match.start() + len(written)
    digits = written.replace(",", "")
    mantissa, _, exponent = digits.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    # What only looks like a number (1e-3.5, 1.2.3) has no value, and so agrees with none.
    try:
        value, half = float(digits), 0.5 * 10.0 ** (int(exponent or 0) - decimals)
    except (OverflowError, ValueError):
        value, half = float("inf"), 0.0
    unit, stop = None, end
    found = _UNIT.match(sentence, end)
    if found and found.group(1).lower() in words.scales and found.group(1) not in ("k", "m", "g"):
        scale = words.scales[found.group(1).lower()]
        value, half, stop = value * scale, half * scale, found.end()
        end = stop
        found = _UNIT.match(sentence, stop)
    if found and (unit_name := _unit_name(found.group(1), words)) is not None:
        unit, stop = unit_name, found.end()
    return Token("number", sentence[match.start() : stop], match.start(), end, "", value, half, unit, stop)


def _unit_name(text: str, words: Vocabulary) -> str | None:
    lower = text.lower()
    for ending in ("/second", "/sec"):
        lower = lower.replace(ending, "/s")
    return lower if lower in words.units else None


def word_stems(text: str) -> frozenset[str]:
    """The stems of all words of a trusted text."""
    return frozenset(part for word in re.findall(r"[A-Za-z][A-Za-z'’-]*", text) for part in stems(word))
