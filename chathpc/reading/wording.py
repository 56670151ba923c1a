"""Whether a model's sentence may be printed: its numbers and places are slots, its names are known, and it orders nothing.

The wording is not judged. A slot is `{E3}` (a fact, printed as its value), `{P2}` (a place) or `{mesh.c:24}` (a shown line). What is
looked at is the text as it would be printed, with the names of the user in it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

from chathpc.diagnosis.catalogue import causes
from chathpc.privacy.words import is_library, lists

#: Longer sentences explain nothing.
LONGEST = 700
_SLOT = re.compile(r"\{([^{}\s]{1,120})\}")
_CODE = re.compile(r"`([^`\n]{1,200})`")
_NUMBER_WORDS = re.compile(
    r"\b(?:three|four|five|six|seven|eight|nine|tens?|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    r"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:-\w+)?|hundreds?|thousands?|(?:m|b|tr)illions?|dozens?|thirds?(?!-party)"
    r"|quarters?|fourths?|(?:fif|six|seven|eigh|nin|ten)th(?:s)?"
    r"|triples?|tripled|quadruples?|quadrupled|per ?cent|\w*fold|(?<!several )(?<!many )times as (?:fast|long|slow|much|many)|orders? of magnitude)\b",
    re.IGNORECASE,
)
#: `manifold`, `unfold`, `scaffold` are no multiples.
_NOT_FOLD = frozenset({"manifold", "unfold", "scaffold", "fold"})
#: A complexity: letters, log, sqrt, sums and products, exponents up to 9, in at most 24 characters. O(1) is constant cost.
_COST = re.compile(r"[OΘΩ]\((?:[^()]|\([^()]*\))*\)")
_COST_PARTS = re.compile(r"[OΘΩ]\((?:1|(?:[A-Za-z]|[+*()·\s]|\^[1-9](?!\d)|\^(?=[A-Za-z(])|[²³⁴-⁹])+)\)")
_LONGEST_COST = 24
_URL = re.compile(r"://|\bwww\.|\b[\w.-]+@[\w-]+\.\w", re.IGNORECASE)
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_FLAG = re.compile(r"(?<![\w-])--?[A-Za-z][\w+=.,:/-]*")
#: Signs of a shell, of data and of addresses, which no English sentence has.
_SHELL = re.compile(r"[$|\\{}@]|&&|>>|<<|\bsudo\b")
EDGES = "\"'()[],.;:!?…“”‘’–—*"
#: Marks by which a word is a name and no English: inside it, not at its edges.
_MARKED = re.compile(r"_|::|\w\(|[a-z][A-Z]|[A-Z]{2}[a-z]{2}|\w\.\w|/|\w:\w")
#: Words right before a number that say which one of a spread is meant.
_STATISTIC = re.compile(
    r"\b(?:(?P<most>at most|up to|most|maximum|as much as|no more than|busiest|slowest|longest)"
    r"|(?P<least>at least|least|minimum|fastest|shortest)|(?P<median>median)|(?P<mean>mean|average))\W+(?:(?:of|is|takes|only) )*$",
    re.IGNORECASE,
)
#: What joins words into one.
_JOINED = re.compile("[-–]")
#: A quantity: a number that a unit follows, and nothing else.
_QUANTITY = re.compile(r"[^\w]*\d[\d.,]*\s*(?:%|x|×|[nmuµ]?s|min|h|[kKMGT]?i?B|bytes|[kKMG]?Hz|times)?[^\w]*")
#: What is of a standard library: `std::lower_bound`, `#include <unordered_map>`.
_STANDARD = re.compile(r"std::(\w+)|#include <(\w+)")
_ENGLISH_MARKED = frozenset(
    {"e.g", "i.e", "and/or", "i/o", "read/write", "load/store", "vs", "a.k.a", "n/a", "either/or"}
)
_WORD = re.compile(r"[^\W\d_]+")
_STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """a an and are as at be been being by can do does each for from has have in into is it its more of on only or out over so some such
        than that the their them there these they this those through to up was were what when where which while who with would you your""",
    )
)
_ALL_FORMS = ("Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp")


@dataclass(frozen=True, slots=True)
class Amount:
    """What a fact's number is of, what it is made of, and of a spread the values by their labels."""

    topic: str = ""
    composition: str = ""
    statistics: Mapping[str, str] = field(default_factory=dict)

    def meant(self, before: str) -> str | None:
        """Which value of a spread is meant behind the words `before`; None where they do not tell."""
        asked = _STATISTIC.search(before)
        return None if asked is None or asked.lastgroup is None else self.statistics.get(asked.lastgroup)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a sentence may use: what a slot stands for (None: nothing), and the names and numbers of the code that was shown."""

    slot: Callable[[str], str | None]
    names: frozenset[str]
    numbers: frozenset[str]
    amounts: Mapping[str, Amount] = field(default_factory=dict)  #: of slots that are facts

    def knows(self, name: str) -> bool:
        """Whether a name is one of the shown code, of the catalogue, or of a public interface."""
        return name in self.names or _is_public(name)


@dataclass(frozen=True, slots=True)
class Printed:
    """A sentence as it is printed, with the slots that it used; or why it is not, in a clause."""

    text: str
    slots: tuple[str, ...] = ()
    wrong: str = ""


def printed(text: str, known: Vocabulary) -> Printed:
    """`text` with its slots filled, if it may be printed; a number of which the sentence does not say what it is of has that behind it."""
    flat = " ".join(text.split())
    if not flat:
        return Printed("", wrong="it says nothing")
    if len(flat) > LONGEST:
        return Printed(flat[:LONGEST], wrong=f"it has more than {LONGEST} characters")
    used: list[str] = []
    unknown: list[str] = []

    def resolved(found: re.Match[str]) -> str:
        stands_for = known.slot(found[1])
        (unknown if stands_for is None else used).append(found[1])
        if stands_for is None:
            return found[0]
        before, behind = flat[: found.start()], flat[found.end() :]
        of = known.amounts.get(found[1], Amount())
        stands_for = of.meant(before) or stands_for
        about = _meant(of.topic)
        notes = [note for note in ("" if about <= said else of.topic, of.composition) if note]
        said.update(about)
        if notes and before.count("(") <= before.count(")"):
            return f"{stands_for} ({', '.join(notes)})"
        if notes:
            return ", ".join((stands_for, *notes)) + ("" if behind[:1] in ",.;:)" else ",")
        unit = stands_for.partition(" ")[2]  # which who wrote the sentence may have written again
        again = bool(unit) and re.match(rf" {re.escape(unit)}(?!\w)", behind) is not None
        return stands_for.removesuffix(f" {unit}") if again else stands_for

    bare = _SLOT.sub(" ", flat)
    said = _meant(bare).union(*(_meant(known.slot(slot) or "") for slot in _SLOT.findall(flat)))
    told = _SLOT.sub(resolved, flat)
    if unknown:
        return Printed(told, wrong=f"{{{unknown[0]}}} stands for nothing")
    return Printed(told, tuple(dict.fromkeys(used)), _wrong(bare, known))


def unprintable(text: str) -> str:
    """Why no text may be printed that holds what this one does: addresses, signs of a shell, control or format characters."""
    if any(unicodedata.category(letter) in _ALL_FORMS for letter in text):
        return "it has a character that controls or formats"
    if _URL.search(text):
        return "it has an address"
    return "it reads like a command" if _SHELL.search(_CODE.sub(" ", text)) else ""


def number_words(text: str) -> list[str]:
    """The words of a text that are numbers from three up, parts or multiples."""
    return [word[0].lower() for word in _NUMBER_WORDS.finditer(text) if word[0].lower() not in _NOT_FOLD]


def content_words(text: str) -> list[str]:
    """The beginnings of the words of a text that say something."""
    return [word[:5] for each in _WORD.findall(text) if (word := each.lower()) not in _STOP_WORDS and len(word) > 1]


def _meant(text: str) -> set[str]:
    """What the words of a text are about, whatever their endings: `waits` and `waiting` are the same."""
    return {word[:4] for word in content_words(text)}


def is_marked(word: str) -> bool:
    """Whether a word is a name by its form and no English."""
    return bool(_MARKED.search(word)) and word.lower() not in _ENGLISH_MARKED


def trimmed(word: str) -> str:
    """A word without the punctuation around it; a bracket that belongs to it stays."""
    bare = word.strip(EDGES)
    return f"{bare})" if bare.count("(") > bare.count(")") else bare


def _wrong(text: str, known: Vocabulary) -> str:
    """Why a text without its slots may not be printed, in a clause; empty if it may."""
    text = unicodedata.normalize("NFKC", _COST.sub(_without_cost, text))
    wrong = unprintable(text)
    if wrong:
        return wrong
    for code in _CODE.findall(text):
        wrong = _wrong_code(code, known)
        if wrong:
            return wrong
    prose = _CODE.sub(" ", text)
    if "`" in prose:
        return "its code has no end"
    for flag in _FLAG.findall(prose):
        if flag.rstrip(EDGES) not in _catalogue_flags():
            return f"{flag.rstrip(EDGES)} is not an option that the catalogue knows"
    prose = _FLAG.sub(" ", prose)
    for number in number_words(prose):
        return f"“{number}” is a number that is no slot"
    for word in prose.split():
        wrong = _wrong_word(trimmed(word), known)
        if wrong:
            return wrong
    return ""


def _without_cost(found: re.Match[str]) -> str:
    return " " if len(found[0]) <= _LONGEST_COST and _COST_PARTS.fullmatch(found[0]) else found[0]


def _wrong_word(word: str, known: Vocabulary) -> str:
    names = _IDENTIFIER.findall(word)
    if _is_public(word) or (names and is_marked(word) and word in _catalogue_words()):  # a clause: schedule(dynamic,16)
        return ""
    if _JOINED.search(word):  # list_head-based
        return next((wrong for each in _JOINED.split(word) if (wrong := _wrong_word(trimmed(each), known))), "")
    if is_marked(word):
        unknown = next((name for name in names if not known.knows(name)), None)
        if unknown is not None:
            return f"{unknown} is not a name in what was shown"
    # What is left of a word without the names in it that are known holds no numeral.
    rest = _IDENTIFIER.sub(lambda found: "" if known.knows(found[0]) else found[0], word)
    if any(unicodedata.numeric(letter, None) is not None for letter in unicodedata.normalize("NFKC", rest)):
        return f"“{word}” is a number that is no slot"
    return ""


def _wrong_code(code: str, known: Vocabulary) -> str:
    """Why what stands between backticks may not be printed."""
    if code[:1] == "-":
        unknown = next((flag for flag in code.split() if flag.rstrip(EDGES) not in _catalogue_flags()), None)
        return "" if unknown is None else f"`{unknown}` is not an option that the catalogue knows"
    names = _IDENTIFIER.findall(code)
    unknown = next((name for name in names if not known.knows(name)), None)
    if unknown is not None:
        return f"{unknown} is not a name in what was shown"
    alone = not names or _QUANTITY.fullmatch(code)
    if alone and any(number not in known.numbers for number in re.findall(r"\d[\w.]*", code)):
        return f"`{code}` is a number that is not in the shown code"  # a number alone is no code
    if any(letter > "\x7f" and unicodedata.numeric(letter, None) is not None for letter in code):
        return f"`{code}` has a number that is no slot"
    return ""


@cache
def _is_public(name: str) -> bool:
    """Whether a name is in the table of public interfaces: of libraries and languages, of hardware, or what the catalogue writes."""
    known = (_public_names(), _catalogue_identifiers(), ("std",))
    return is_library(name) or name.lower() in lists().languages or any(name in names for names in known)


@cache
def _public_names() -> frozenset[str]:
    from chathpc.packaged import table

    return frozenset(name for names in table("chathpc.reading", "public_names.yaml").values() for name in names.split())


def _catalogue_texts() -> list[str]:
    told = []
    for each in causes():
        told += [each.title, each.what, each.why, *each.evidence, *each.speaks_against, each.gain]
        told += [each.next_measurement.command, each.next_measurement.tells]
        told += [advice.do for advice in each.advice]
    return told


@cache
def _catalogue_words() -> frozenset[str]:
    return frozenset(trimmed(word) for text in _catalogue_texts() for word in text.split())


@cache
def _catalogue_identifiers() -> frozenset[str]:
    """Names in the catalogue: of its commands, of words in its sentences that no English word looks like, and of the standard libraries
    in its examples, whose own functions are nobody's.
    """
    code = [each.next_measurement.command for each in causes()]
    code += [word for word in _catalogue_words() if _MARKED.search(word) and not _FLAG.search(word)]
    examples = [
        each
        for one in causes()
        for advice in one.advice
        for each in (advice.example_before, advice.example_after)
        if each
    ]
    code += [name for text in examples for pair in _STANDARD.findall(text) for name in pair]
    return frozenset(name for text in code for name in _IDENTIFIER.findall(text))


@cache
def _catalogue_flags() -> frozenset[str]:
    return frozenset(flag.rstrip(EDGES) for text in _catalogue_texts() for flag in _FLAG.findall(text))
