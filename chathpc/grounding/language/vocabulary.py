"""The words that the claim check understands, from vocabulary.yaml, everyday.yaml and causes.yaml, by stem."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import Any

#: Forms that no ending tells.
_IRREGULAR = {
    "sent": "send", "spent": "spend", "took": "take", "taken": "take", "ran": "run", "lost": "lose", "held": "hold", "kept": "keep",
    "made": "make", "began": "begin", "copied": "copy", "tried": "try", "stood": "stand", "built": "build", "gave": "give", "given": "give",
    "note": "remark", "notes": "remark", "noted": "remark", "noting": "remark", "won": "win", "fell": "fall", "fallen": "fall", "rose": "rise", "led": "lead",
    "met": "meet", "paid": "pay", "brought": "bring", "caught": "catch", "thought": "think", "meant": "mean", "seen": "see", "saw": "see", "showed": "show",
    "shown": "show", "known": "know", "knew": "know", "drawn": "draw", "drew": "draw",
    "broke": "break", "broken": "break", "chose": "choose", "chosen": "choose",
    "ate": "eat", "eaten": "eat", "burnt": "burn",
    "went": "go", "going": "go", "doing": "do",
    "grew": "grow", "grown": "grow", "got": "get", "gpus": "gpu", "cpus": "cpu", "carried": "carry", "applied": "apply", "varied": "vary",
}  # fmt: skip
#: Words of at most this many letters are their own stem.
_SHORT = 3


#: American spellings: `synchronize`, `optimization`, `analyzed`, not `size`, `prize`, `seize`; `neighboring`, `behavior`.
_WITH_Z = re.compile(r"(?<=[a-z]{3})([iy])z(?=(?:e|ed|es|er|ers|ing|ation|ations)\Z)")
_WITHOUT_U = re.compile(r"\A(behavi|neighb|col|fav|lab)or(?!at|d)")


@cache
def stem(word: str) -> str:
    """A form that inflected forms of one English word share: `waits`, `waiting`, `waited` → `wait`; not always a word itself."""
    word = word.lower().replace("’", "'").removesuffix("'s").rstrip("'")
    word = _WITHOUT_U.sub(r"\1our", _WITH_Z.sub(r"\1s", _IRREGULAR.get(word, word)))
    if len(word) <= _SHORT or not word.isascii():
        return word
    for ending, kept in (
        ("ically", "ic"),
        ("ies", "y"),
        ("sses", "ss"),
        ("shes", "sh"),
        ("ches", "ch"),
        ("xes", "x"),
        ("zes", "z"),
    ):
        if word.endswith(ending):
            return word[: -len(ending)] + kept
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) > 2:
            word = word[: -len(ending)]
            if len(word) > _SHORT and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    return word[:-1] if word.endswith("e") and len(word) > _SHORT else word


def stem_set(*words: str) -> frozenset[str]:
    """The stems of some words."""
    return frozenset(map(stem, words))


def stems(phrase: str) -> tuple[str, ...]:
    """The stems of the words of a phrase; a hyphen separates words."""
    return tuple(stem(word) for word in phrase.replace("-", " ").split())


@dataclass(frozen=True, slots=True)
class Phrases:
    """Phrases, each with what it stands for; the longest one at a position counts."""

    table: Mapping[tuple[str, ...], frozenset[str]]
    longest: int

    @staticmethod
    def of(pairs: Iterable[tuple[str, str]]) -> Phrases:
        """Phrases from (words, meaning)."""
        table: dict[tuple[str, ...], frozenset[str]] = {}
        for words, meaning in pairs:
            table[stems(words)] = table.get(stems(words), frozenset()) | {meaning}
        return Phrases(table, max((len(key) for key in table), default=0))

    def at(self, words: Sequence[str], position: int) -> tuple[int, frozenset[str]]:
        """Number of stems of the longest phrase at `position` and its meanings; (0, {}) without one."""
        for length in range(min(self.longest, len(words) - position), 0, -1):
            meanings = self.table.get(tuple(words[position : position + length]))
            if meanings:
                return length, meanings
        return 0, frozenset()

    def found(self, words: Sequence[str]) -> list[tuple[int, frozenset[str]]]:
        """Position and meanings of each phrase in `words`, left to right, without overlap."""
        found, position = [], 0
        while position < len(words):
            length, meanings = self.at(words, position)
            if length:
                found.append((position, meanings))
            position += length or 1
        return found

    def positions(self, words: Sequence[str]) -> frozenset[int]:
        """The positions of all words that are part of a phrase."""
        return frozenset(
            position for start, _ in self.found(words) for position in range(start, start + self.at(words, start)[0])
        )


@dataclass(frozen=True, slots=True)
class Cause:
    """What words may be said about a cause: subjects that make the others happen, that follow, and their too high or low amounts."""

    reason: frozenset[str]
    effect: frozenset[str]
    levels: Mapping[str, str]
    absent: frozenset[str]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """All word lists; sets and keys of single words hold stems, units and scales are in small letters."""

    subjects: Phrases
    context: frozenset[str]
    levels: Mapping[str, str]
    comparisons: Phrases
    changes: Mapping[str, str]
    fractions: Mapping[str, tuple[float, float]]
    factors: Mapping[str, float]
    number_words: Mapping[str, float]
    approximations: Phrases
    units: Mapping[str, tuple[str, float]]
    scales: Mapping[str, float]
    evidence_units: Mapping[str, tuple[str, float]]
    counted: frozenset[str]
    same_count: Mapping[str, str]
    verbs: frozenset[str]
    whole: frozenset[tuple[str, ...]]
    own_scale: frozenset[str]
    negations: frozenset[str]
    idioms: Phrases  #: what looks like a negation and is none
    advice: frozenset[str]
    modal: frozenset[str]
    reasons: Phrases
    results: Phrases
    limits: Phrases
    plain: frozenset[str]  #: function words and what stands in any sentence about performance
    neutral: frozenset[str]  #: these and the wider words that mean nothing beside a number that is right
    beside: frozenset[str]  #: more words of that kind, which are no words of advice
    phrases: Phrases
    states: Phrases
    opposites: tuple[tuple[Phrases, Phrases], ...]
    remedies: frozenset[str]
    telling: frozenset[str]  #: of the wider words those that say how, or that something is said
    causes: Mapping[str, Cause]


def _load(name: str) -> Any:
    import yaml

    return yaml.safe_load((files(__package__) / name).read_text(encoding="utf-8"))


def _inverted(table: Mapping[str, Iterable[str]]) -> dict[str, str]:
    return {stem(word): meaning for meaning, words in table.items() for word in words}


def _meanings(table: Mapping[str, Iterable[str]]) -> Phrases:
    return Phrases.of((words, meaning) for meaning, phrases in table.items() for words in phrases)


@cache
def vocabulary() -> Vocabulary:
    """The vocabulary, read once."""
    words, everyday, causes = _load("vocabulary.yaml"), _load("everyday.yaml"), _load("causes.yaml")
    anywhere = [word for group in everyday["anywhere"].values() for word in group]
    beside = [word for group in everyday["beside numbers"].values() for word in group]
    groups = {**words["strict"], **words["context"]}
    subjects = [
        (phrase, f"{group}:{name}")
        for group, names in groups.items()
        for name, phrases in names.items()
        for phrase in phrases
    ]
    units = {unit: (dimension, factor) for dimension, table in words["units"].items() for unit, factor in table.items()}
    return Vocabulary(
        subjects=Phrases.of(subjects),
        context=frozenset(words["context"]) | {"word"},
        levels=_inverted({name: [w for w in phrases if " " not in w] for name, phrases in words["levels"].items()}),
        comparisons=_meanings(words["comparisons"]),
        changes=_inverted(words["changes"]),
        fractions={stem(word): (low, high) for word, (low, high) in words["fractions"].items()},
        factors={stem(word): value for word, value in words["factors"].items()},
        number_words={stem(word): value for word, value in words["number_words"].items()},
        approximations=_meanings(words["approximations"]),
        units=units,
        scales=words["scales"],
        evidence_units={unit: (dimension, factor) for unit, (dimension, factor) in words["evidence_units"].items()},
        counted=frozenset(stem(word) for word in words["counted"]),
        same_count={stem(word): stem(meant) for meant, more in words["same_count"].items() for word in (meant, *more)},
        verbs=frozenset(part for name in ("saying", "being") for word in words["speech"][name] for part in stems(word)),
        whole=frozenset(stems(phrase) for phrase in words["whole"]),
        own_scale=frozenset(words["own_scale"]),
        negations=frozenset(stem(word) for word in words["negations"]),
        idioms=Phrases.of((phrase, "idiom") for phrase in words["idioms"]),
        advice=frozenset(stem(word) for word in words["advice"]),
        modal=frozenset(stem(word) for word in words["modal"]),
        reasons=Phrases.of((phrase, "reason") for phrase in words["reasons"]),
        results=Phrases.of((phrase, "result") for phrase in words["results"]),
        limits=Phrases.of((phrase, "limit") for phrase in words["limits"]),
        plain=frozenset(part for word in words["neutral"] for part in stems(word)),
        neutral=frozenset(
            part for word in chain(words["neutral"], *words["speech"].values(), anywhere) for part in stems(word)
        ),
        beside=frozenset(part for word in beside for part in stems(word)),
        phrases=Phrases.of((phrase, cause) for cause, entry in causes.items() for phrase in entry["phrases"]),
        states=_meanings(words["states"]),
        opposites=tuple(
            (Phrases.of((one, "one") for one in ones), Phrases.of((other, "other") for other in others))
            for ones, others in words["opposites"]
        ),
        remedies=frozenset(part for word in words["remedies"] for part in stems(word)),
        telling=frozenset(
            part
            for word in chain(*(words["speech"][name] for name in ("saying", "degree")), anywhere)
            for part in stems(word)
        ),
        causes={
            cause: Cause(
                frozenset(entry["reason"]),
                frozenset(entry["effect"]),
                entry["levels"],
                frozenset(entry.get("absent", ())),
            )
            for cause, entry in causes.items()
        },
    )
