"""The numbers of a sentence: value, unit, how exact it claims to be, and what a share is a part of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from chathpc.grounding.tokens import Token
from chathpc.grounding.vocabulary import Vocabulary, stem

Keys = frozenset[str]
NONE: Keys = frozenset()
TOTAL: Keys = frozenset({"who:total"})
#: The base of a share `of it`, where nothing in the sentence says of what.
IT: Keys = frozenset({"it"})
DETERMINERS = frozenset({"the", "a", "an", "its", "their", "this", "that", "all", "our", "your"})
_BASE_ENDS = frozenset(
    map(
        stem,
        [
            "in",
            "at",
            "on",
            "for",
            "by",
            "to",
            "from",
            "is",
            "are",
            "was",
            "were",
            "that",
            "and",
            "or",
            "when",
            "because",
            "since",
            "spent",
            "spend",
            "go",
            "goes",
            "come",
            "take",
            "takes",
            "with",
            "while",
            "which",
            "all",
        ],
    )
)
#: `one node` counts nodes, `one place` nothing.
_NEARLY = frozenset(map(stem, ("almost", "nearly", "close", "practically", "virtually", "up")))
_ONE_OF = frozenset(map(stem, ("node", "core", "gpu", "socket")))
#: Verbs behind the noun that a share is a part of.
_BASE_VERBS = frozenset(
    map(stem, ("hit", "wait", "move", "has", "have", "reach", "run", "stay", "never", "not", "works"))
)
_FACTOR_FOLLOWERS = frozenset(
    map(
        stem,
        [
            "the",
            "as",
            "more",
            "faster",
            "slower",
            "longer",
            "larger",
            "higher",
            "less",
            "bigger",
            "its",
            "that",
            "slow",
            "fast",
            "long",
            "speedup",
        ],
    )
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in a sentence, in SI units (shares in percent). `text[start:end]` of the sentence is the number with its unit.

    `interval` is what a value must lie in for the number to be a right rounding of it. `own` are the subjects of its clause, `inherited` those that
    earlier clauses leave standing. `base` is what a share is a part of, `agent` who of host and device waits or works for it.
    """

    value: float
    interval: tuple[float, float]
    dimension: str
    start: int
    end: int
    noun: str | None = None
    exactness: str = "exact"
    nearly: bool = False
    in_words: bool = False
    own: Keys = NONE
    names: Keys = NONE
    inherited: Keys = NONE
    inherited_names: Keys = NONE
    base: Keys | None = None
    is_base: bool = False
    is_each: bool = False
    per: str | None = None
    agent: str | None = None

    @property
    def keys(self) -> Keys:
        """All subjects, also those of earlier clauses."""
        return self.own | self.inherited


def quantity_at(
    tokens: Sequence[Token], stems: Sequence[str], position: int, words: Vocabulary, used: set[int]
) -> Quantity | None:
    """The number that begins at a word, in digits or words; marks the words of its base as used."""
    token = tokens[position]
    if token.kind == "number":
        quantity, after = _digits(tokens, stems, position, words)
    elif token.kind == "word":
        found = _in_words(tokens, stems, position, words)
        if found is None:
            return None
        quantity, after = found
        used.update(range(position, after))
    else:
        return None
    exactness = _exactness(stems, tokens, position, words)
    quantity = replace(
        quantity, exactness=exactness, nearly=bool(_NEARLY & set(stems[max(0, position - 2) : position]))
    )
    if after < len(tokens) and stems[after] == "each":
        quantity = replace(quantity, is_each=True)
    follow = after
    while follow < len(tokens) and follow < after + 2 and tokens[follow].kind == "word" and stems[follow] != "per":
        follow += 1
    if follow + 1 < len(tokens) and stems[follow] == "per":
        quantity = replace(quantity, per=stems[follow + 1])
    if position >= 1 and _is_base(tokens, stems, position, quantity, words):
        quantity = replace(quantity, is_base=True)
    if quantity.dimension == "share" and after < len(tokens) and stems[after] == "of":
        base, end = _base(tokens, stems, after + 1, words)
        used.update(range(after, end))
        quantity = replace(quantity, base=base)
    return quantity


def _digits(tokens: Sequence[Token], stems: Sequence[str], position: int, words: Vocabulary) -> tuple[Quantity, int]:
    token = tokens[position]
    after = position + 1
    unit = token.unit or _unit_behind(tokens, stems, position)
    dimension, factor = words.units[unit] if unit else ("bare", 1.0)
    noun = None
    following = stems[after] if after < len(tokens) else ""
    if token.unit == "times" and following not in _FACTOR_FOLLOWERS:
        dimension, noun = "count", "call"
    if dimension == "bare":
        noun = _noun(tokens, stems, after, words)
        dimension = "count" if noun else "bare"
    if dimension == "bare" and _is_factor(stems, position):
        dimension = "factor"
    value, half = token.value * factor, token.half * factor
    quantity = Quantity(
        value, (value - half, value + half), dimension, token.start, max(token.end, token.quantity_end), noun
    )
    return quantity, after


def _is_factor(stems: Sequence[str], position: int) -> bool:
    """True for the number of `a factor of 1.2` and `a speed-up of up to 1.88`."""
    before = [word for word in stems[max(0, position - 6) : position] if word not in _AT_MOST]
    named = "speedup" in before or ("speed", "up") in pairwise(stems[max(0, position - 6) : position])
    return named or before[-2:] == ["factor", "of"]


_AT_MOST = frozenset({"up", "to", "at", "most", "about"})


def _unit_behind(tokens: Sequence[Token], stems: Sequence[str], position: int) -> str | None:
    """The unit that a number shares with the next one: `22.8 of 22.9 s`, `between 10.7 and 11.1 s`, `3, 4 and 5 ms`."""
    after = position + 1
    while after < len(tokens) and after < position + _LONGEST_SHARED:
        token = tokens[after]
        if token.kind == "number":
            if token.unit is not None:
                return token.unit
        elif token.text != "," and stems[after] not in _BETWEEN_NUMBERS:
            return None
        after += 1
    return None


_LONGEST_SHARED = 8
_BETWEEN_NUMBERS = DETERMINERS | {"of", "out", "and", "to", "or", "total", "versus", "vs", "from"}


def _noun(tokens: Sequence[Token], stems: Sequence[str], after: int, words: Vocabulary) -> str | None:
    """The noun that a number counts: within three words, `8 ranks`, `5 of 8 threads`, `12 busy threads`."""
    for position in range(after, min(after + 3, len(tokens))):
        if (
            stems[position] == "of"
            and position == after
            and after + 1 < len(tokens)
            and tokens[after + 1].kind == "number"
        ):
            return _noun(tokens, stems, after + 2, words)
        if tokens[position].kind != "word" or stems[position] in ("of", "in", "for", "to", "and", "is", "on"):
            return None
        if stems[position] in words.counted:
            following = stems[position + 1] if position + 1 < len(stems) else ""
            return words.same_count.get(following if following in words.counted else stems[position], stems[position])
    return None


def _in_words(
    tokens: Sequence[Token], stems: Sequence[str], position: int, words: Vocabulary
) -> tuple[Quantity, int] | None:
    token, word = tokens[position], stems[position]
    after = position + 1
    following = stems[after] if after < len(tokens) else ""
    start = token.start
    if word in words.multiples and following in words.fractions:
        low, high = words.fractions[following]
        times = words.multiples[word]
        return _share(times * low, times * high, start, tokens[after].end), after + 1
    whole = following in DETERMINERS and word in ("half", "all") and tuple(stems[after + 1 : after + 2]) in words.whole
    if word in words.fractions and (
        following == "of" or whole if word in ("most", "majority", "majoriti", "all") else True
    ):
        before = stems[position - 1] if position else ""
        if word in _ORDINALS and before not in ("a", "on", "one"):
            return None
        low, high = words.fractions[word]
        return _share(low, high, start, token.end), after
    if word in words.factors:
        value = words.factors[word]
        return Quantity(value, (0.9 * value, 1.1 * value), "factor", start, token.end, in_words=True), after
    halves = tuple(stems[after : after + 3]) == _AND_A_HALF and word in words.number_words
    if halves and after + 3 < len(tokens) and tokens[after + 3].text.lower() in words.units:
        dimension, factor = words.units[tokens[after + 3].text.lower()]  # `two and a half times`
        value = (words.number_words[word] + 0.5) * factor
        interval = (value * 0.9, value * 1.1) if dimension == "factor" else (value * 0.95, value * 1.05)
        return Quantity(value, interval, dimension, start, tokens[after + 3].end, in_words=True), after + 4
    if word in words.number_words and (word not in ("on", "one") or following in words.units or following in _ONE_OF):
        unit = tokens[after].text.lower() if after < len(tokens) else ""
        value = words.number_words[word]
        if unit in words.units:
            dimension, factor = words.units[unit]
            return Quantity(
                value * factor,
                (value * factor * 0.95, value * factor * 1.05),
                dimension,
                start,
                tokens[after].end,
                in_words=True,
            ), after + 1
        noun = _noun(tokens, stems, after, words)
        if noun:
            return Quantity(value, (value, value), "count", start, token.end, noun, in_words=True), after
    return None


#: Parts of a whole only behind `a` or `one`: the third one is none.
_ORDINALS = frozenset(map(stem, ("third", "quarter", "fifth", "sixth", "seventh", "eighth", "tenth")))
_AND_A_HALF = ("and", "a", "half")


def _share(low: float, high: float, start: int, end: int) -> Quantity:
    return Quantity((low + high) / 2, (low, high), "share", start, end, in_words=True)


def _exactness(stems: Sequence[str], tokens: Sequence[Token], position: int, words: Vocabulary) -> str:
    for length in (4, 3, 2, 1):
        for skipped in (0, 1):  # `about a third`
            start = position - length - skipped
            if start >= 0 and (not skipped or stems[position - 1] in ("a", "on", "the")):
                found, meaning = words.approximations.at(stems, start)
                if found == length:
                    return next(iter(meaning))
    return "exact"


def _is_base(
    tokens: Sequence[Token], stems: Sequence[str], position: int, quantity: Quantity, words: Vocabulary
) -> bool:
    """True for the whole that a part is of: `3.17 s of 9.01 s`, `7 of 8 threads`, `a quarter of the 200 s`, `a window of 917 ms`."""
    sized = quantity.dimension in ("time", "bytes")
    if sized and position + 1 < len(stems) and stems[position + 1] in _WHOLES:
        return True
    before = position - 1
    while before > 0 and stems[before] in DETERMINERS | {"total"} | _ROUGH:
        before -= 1
    if stems[before] != "of":
        return sized and stems[before] == "in" and position - before > 1 and "trac" in stems[position : position + 4]
    if (
        before
        and sized
        and (
            stems[before - 1] in _WHOLES
            or (stems[before - 1] == "total" and "of" in stems[max(0, before - 4) : before - 1])
        )
    ):
        return True
    if before and stems[before - 1] == "out":
        before -= 1
    if before >= 1 and (stems[before - 1] in words.fractions or stems[before - 1] == "percent"):
        return sized
    if before < 1 or tokens[before - 1].kind != "number":
        return before == 0 and sized  # `Of 32.0 s that the threads could work, …`
    unit = tokens[before - 1].unit or _unit_behind(tokens, stems, before - 1)
    dimension = words.units[unit][0] if unit else "count"
    return dimension == quantity.dimension or (dimension == "share" and sized)


_WHOLES = frozenset(map(stem, ("window", "trace", "timeline", "run", "runtime", "execution")))
_ROUGH = frozenset(map(stem, ("about", "roughly", "some", "approximately", "overall", "whole", "entire")))


def _base(tokens: Sequence[Token], stems: Sequence[str], position: int, words: Vocabulary) -> tuple[Keys | None, int]:
    """What a share is part of, and where its words end: `of the MPI time` → in:mpi; the whole run → who:total."""
    while position < len(tokens) and stems[position] in DETERMINERS:
        position += 1
    if stems[position : position + 1] == ["total"] and stems[position + 1 : position + 2] == ["kernel"]:
        position += 1  # `of the total kernel time`
    if position < len(tokens) and stems[position] in ("it", "them", "these", "those", "which"):
        return IT, position + 1
    for length in (3, 2, 1):
        if tuple(stems[position : position + length]) in words.whole and length <= len(tokens) - position:
            follower = stems[position + length] if position + length < len(tokens) else ""
            behind = position + length + 1
            if follower == "of" and behind < len(tokens) and tokens[behind].kind == "code":
                return frozenset({f"name:{tokens[behind].text}"}), behind + 1  # `a fifth of the time of f`
            inner = _inside(tokens, stems, position + length, words)
            if inner is not None:
                return inner
            if follower not in ("tim", "time"):
                return TOTAL, position + length
    end = position
    while (
        end < len(tokens)
        and not (end > position and (stems[end] in _BASE_VERBS or stems[end] in words.verbs))
        and end < position + 5
        and tokens[end].kind in ("word", "code")
        and stems[end] not in _BASE_ENDS
    ):
        end += 1
        if stems[end - 1] in ("tim", "time"):
            break
    if end < len(tokens) and end == position and tokens[end].kind == "number":
        return TOTAL, position  # `35 % of the 9.01 s`: that number is checked by itself
    keys = frozenset(key for _, found in words.subjects.found(stems[position:end]) for key in found)
    names = frozenset(f"name:{token.text}" for token in tokens[position:end] if token.kind == "code")
    if not keys | names:
        known = words.neutral - {"trac", "trace"}
        keys = frozenset(f"word:{word}" for word in stems[position:end] if word and word not in known)
    if end + 1 < len(stems) and stems[end] in ("in", stem("inside")):
        _, within = words.subjects.at(stems, end + 1)
        keys |= within & _MEASURED_PARTS  # `all of the waiting in MPI`
    return keys | names or None, end


def _inside(tokens: Sequence[Token], stems: Sequence[str], position: int, words: Vocabulary) -> tuple[Keys, int] | None:
    """The base `MPI` of `… of the time in MPI` and `… of the time spent in MPI`."""
    if {"spend", "wait"} & set(stems[: max(0, position - 3)]):
        return None  # `the ranks spend a third of their time in MPI`
    if position < len(stems) and stems[position] == "spend":
        position += 1
    if position + 1 >= len(stems) or stems[position] not in ("in", stem("inside"), "within"):
        return None
    position += 1
    while position < len(stems) and stems[position] in DETERMINERS:
        position += 1
    following = stems[position + 1] if position + 1 < len(stems) else ""
    if position < len(tokens) and tokens[position].kind == "code" and following in ("is", "are", "was"):
        return frozenset({f"name:{tokens[position].text}"}), position + 1  # `77 % of the time in f is …`
    length, keys = words.subjects.at(stems, position)
    if length and keys & _MEASURED_PARTS:
        return keys, position + length
    return None


#: Parts of the run that have a time of their own, of which there are parts again.
_MEASURED_PARTS: Keys = frozenset({"in:mpi", "in:openmp", "what:serial", "in:io"})
