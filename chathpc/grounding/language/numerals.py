"""Numbers as they are written: in digits with a unit or a noun, or in words (`two and a half times`, `four fifths`, `half a second`)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from chathpc.grounding.language.quantity import DETERMINERS, Quantity
from chathpc.grounding.language.tokens import Token
from chathpc.grounding.language.vocabulary import Vocabulary, stem

#: `one node` counts nodes, `one place` nothing.
_ONE_OF = frozenset(map(stem, ("node", "core", "gpu", "socket")))
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


def digits(tokens: Sequence[Token], stems: Sequence[str], position: int, words: Vocabulary) -> tuple[Quantity, int]:
    """The number in digits at a position, with its unit or the noun that it counts, and the position behind it."""
    token = tokens[position]
    after = position + 1
    unit = token.unit or unit_behind(tokens, stems, position)
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
    named = "speedup" in before or _SPEED_UP in pairwise(stems[max(0, position - 6) : position])
    return named or before[-2:] == ["factor", "of"]


_SPEED_UP = (stem("speed"), "up")
_AT_MOST = frozenset(
    {
        *map(
            stem,
            (
                "up",
                "to",
                "at",
                "most",
                "about",
                "roughly",
                "around",
                "no",
                "not",
                "more",
                "than",
                "under",
                "less",
                "only",
                "just",
                "nearly",
                "almost",
            ),
        )
    }
)


def unit_behind(tokens: Sequence[Token], stems: Sequence[str], position: int) -> str | None:
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
    """The noun that a number counts: within three words, `8 ranks`, `5 of the 8 threads`, `12 busy threads`."""
    for position in range(after, min(after + 3, len(tokens))):
        if position == after and stems[position] in ("of", "out"):
            whole = position + 1
            while whole < len(tokens) and (stems[whole] in DETERMINERS or stems[whole] == "of"):
                whole += 1
            if whole < len(tokens) and tokens[whole].kind == "number":
                return _noun(tokens, stems, whole + 1, words)
        if tokens[position].kind != "word" or stems[position] in ("of", "in", "for", "to", "and", "is", "on"):
            return None
        if stems[position] in words.counted:
            following = stems[position + 1] if position + 1 < len(stems) else ""
            return words.same_count.get(following if following in words.counted else stems[position], stems[position])
    return None


def in_words(
    tokens: Sequence[Token], stems: Sequence[str], position: int, words: Vocabulary
) -> tuple[Quantity, int] | None:
    """The number in words that begins at a position, and the position behind it; None where none does."""
    found = _fraction(tokens, stems, position, words)
    if found is not None:
        return found
    word, start = stems[position], tokens[position].start
    behind = stems[position + 1] if position + 1 < len(stems) else ""
    if word in words.factors and (word not in _ALSO_NOUNS or behind in DETERMINERS | _FACTOR_FOLLOWERS | {""}):
        value = words.factors[word]
        return Quantity(
            value, (0.9 * value, 1.1 * value), "factor", start, tokens[position].end, in_words=True
        ), position + 1
    cardinal = _cardinal(stems, position, words)
    if word == "a" and _has_unit(tokens, position + 1, words) and exactness(stems, tokens, position, words) != "exact":
        cardinal = 1.0, position + 1  # `less than a percent`
    if cardinal is None:
        return None
    value, after = cardinal
    low, high = value, value
    if tuple(stems[after : after + 3]) == _AND_A_HALF and _has_unit(tokens, after + 3, words):
        value, after = value + 0.5, after + 3  # `two and a half times`
        low, high = value, value
    elif (
        stems[after : after + 1] in (["to"], ["or"])
        and (upper := _cardinal(stems, after + 1, words))
        and upper[0] > value
        and _has_unit(tokens, upper[1], words)
    ):  # `five to six times`
        value, high, after = (value + upper[0]) / 2, upper[0], upper[1]
    if _has_unit(tokens, after, words):
        dimension, factor = words.units[tokens[after].text.lower()]
        slack = 0.1 if dimension == "factor" else 0.05
        interval = (low * factor * (1 - slack), high * factor * (1 + slack))
        return Quantity(value * factor, interval, dimension, start, tokens[after].end, in_words=True), after + 1
    following = stems[after] if after < len(tokens) else ""
    if word in ("on", "one") and after == position + 1 and following not in _ONE_OF:
        return None
    noun = _noun(tokens, stems, after, words)
    if noun is None:
        return None
    return Quantity(value, (value, value), "count", start, tokens[after - 1].end, noun, in_words=True), after


def _has_unit(tokens: Sequence[Token], position: int, words: Vocabulary) -> bool:
    return position < len(tokens) and tokens[position].kind == "word" and tokens[position].text.lower() in words.units


def _cardinal(stems: Sequence[str], position: int, words: Vocabulary) -> tuple[float, int] | None:
    """A whole number in words, and the position behind it: `twelve`, `twenty five`, `two hundred`, `three million`."""
    if position >= len(stems) or stems[position] not in words.number_words:
        return None
    total, current, after = 0.0, words.number_words[stems[position]], position + 1
    while after < len(stems) and stems[after] in words.number_words:
        following = words.number_words[stems[after]]
        if following >= _HUNDRED:
            current *= following
        elif current >= _TENS and current % _TENS == 0 and following < _TENS:
            current += following
        else:
            break
        if following >= _THOUSAND:
            total, current = total + current, 0.0
        after += 1
    return total + current, after


def _fraction(
    tokens: Sequence[Token], stems: Sequence[str], position: int, words: Vocabulary
) -> tuple[Quantity, int] | None:
    """A part in words: `half`, `a third`, `four fifths`, `most of`; of a unit (`half a second`) it is an amount of that."""
    word, after = stems[position], position + 1
    following = stems[after] if after < len(stems) else ""
    start = tokens[position].start
    if word in words.number_words and following in words.fractions and following in _ORDINALS:
        times = words.number_words[word]
        low, high = words.fractions[following]
        part = times * (low + high) / 2
        half = min(0.1 * part, _NEXT_PART * (low + high) / 2) if times > 1 else (high - low) / 2
        if not 0 < part < 100:
            return None
        return _of_unit(_share(part - half, part + half, start, tokens[after].end), tokens, stems, after + 1, words)
    if word not in words.fractions:
        return None
    whole = following in DETERMINERS and word in ("half", "all") and tuple(stems[after + 1 : after + 2]) in words.whole
    if word == "most" and following in _WORKERS:
        return Quantity(75, words.fractions[word], "share", start, tokens[position].end, in_words=True), after
    if word in ("most", "majority", "majoriti", "all") and not (following == "of" or whole):
        return None
    before = stems[position - 1] if position else ""
    if word in _ORDINALS and before not in ("a", "an", "on", "one"):
        return None
    low, high = words.fractions[word]
    return _of_unit(_share(low, high, start, tokens[position].end), tokens, stems, after, words)


def _of_unit(
    share: Quantity, tokens: Sequence[Token], stems: Sequence[str], after: int, words: Vocabulary
) -> tuple[Quantity, int]:
    """`Half a second`, `a tenth of a percent`, `three quarters of a millisecond`: that part of the unit."""
    behind = after + (stems[after : after + 1] == ["of"])
    if stems[behind : behind + 1] in (["a"], ["an"], ["one"]) and _has_unit(tokens, behind + 1, words):
        dimension, factor = words.units[tokens[behind + 1].text.lower()]
        low, high = (bound / 100 * factor for bound in share.interval)
        end = tokens[behind + 1].end
        return Quantity((low + high) / 2, (low, high), dimension, share.start, end, in_words=True), behind + 2
    return share, after


#: Parts of a whole only behind `a`, `one` or a number: the third one is none.
_ORDINALS = frozenset(
    map(stem, ("third", "quarter", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "twelfth", "twentieth", "hundredth"))
)  # fmt: skip
_AND_A_HALF = ("and", "a", "half")
_WORKERS = frozenset(map(stem, ("thread", "rank", "process", "gpu", "device")))
_TENS, _HUNDRED, _THOUSAND = 10, 100, 1000
#: Four fifths may be a third of the way to three or five.
_NEXT_PART = 0.3
#: A double is a kind of number as well.
_ALSO_NOUNS = frozenset(map(stem, ("double", "triple", "quadruple")))


def _share(low: float, high: float, start: int, end: int) -> Quantity:
    return Quantity((low + high) / 2, (low, high), "share", start, end, in_words=True)


def exactness(stems: Sequence[str], tokens: Sequence[Token], position: int, words: Vocabulary) -> str:
    """What the words before a number make of it: `exact`, `about`, or a bound that it is `above` or `below`."""
    for length in (4, 3, 2, 1):
        for skipped in (0, 1):  # `about a third`
            start = position - length - skipped
            if start >= 0 and (not skipped or stems[position - 1] in ("a", "on", "the")):
                found, meaning = words.approximations.at(stems, start)
                if found == length:
                    return next(iter(meaning))
    return "exact"
