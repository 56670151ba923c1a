"""What a sentence claims: clauses with their subjects, and numbers with unit, base and what they are about.

Trusted statements are read by the same functions as a model's sentences, so that both come out in the same terms.
A subject is a key `group:name` of vocabulary.yaml; `who:rank 5` is one that carries its number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from chathpc.grounding.tokens import Token
from chathpc.grounding.vocabulary import Vocabulary, stem

Keys = frozenset[str]
NONE: Keys = frozenset()
TOTAL: Keys = frozenset({"who:total"})
#: Groups of which a clause can only mean one member, so that what an earlier clause said must not contradict.
EXCLUSIVE = ("who", "act", "direction", "operation", "level")
_INSTANCES = frozenset(map(stem, ("thread", "rank", "process", "gpu", "device", "node", "stream")))
_SEPARATORS = frozenset(",;:–—")
_CONJUNCTIONS = frozenset(
    map(stem, ("while", "whereas", "but", "and", "which", "where", "when", "if", "although", "though"))
)
_DETERMINERS = frozenset({"the", "a", "an", "its", "their", "this", "that", "all", "our", "your"})
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
        ],
    )
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
    earlier clauses leave standing. `base` is what a share is a part of.
    """

    value: float
    interval: tuple[float, float]
    dimension: str
    start: int
    end: int
    noun: str | None = None
    exactness: str = "exact"
    in_words: bool = False
    own: Keys = NONE
    names: Keys = NONE
    inherited: Keys = NONE
    inherited_names: Keys = NONE
    base: Keys | None = None
    is_base: bool = False
    is_each: bool = False
    per: str | None = None

    @property
    def keys(self) -> Keys:
        """All subjects, also those of earlier clauses."""
        return self.own | self.inherited


@dataclass(frozen=True, slots=True)
class Mark:
    """A subject or name at a position of the sentence's words."""

    position: int
    keys: Keys
    names: Keys = NONE


@dataclass(frozen=True, slots=True)
class Segment:
    """A clause: its words `tokens[first:last]`, what it is about, its numbers, and the word that joins it to the one before."""

    first: int
    last: int
    joint: str
    marks: tuple[Mark, ...]
    quantities: tuple[Quantity, ...]

    @property
    def keys(self) -> Keys:
        """What the clause is about."""
        return frozenset(key for mark in self.marks for key in mark.keys)

    @property
    def names(self) -> Keys:
        """Names from the program in the clause."""
        return frozenset(name for mark in self.marks for name in mark.names)


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence taken apart; `tokens` are its words, numbers and separators."""

    tokens: tuple[Token, ...]
    segments: tuple[Segment, ...]
    lines: tuple[int, ...]

    @property
    def stems(self) -> tuple[str, ...]:
        """The stem of each token; empty for numbers and separators."""
        return tuple(token.stem for token in self.tokens)

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """The numbers of all clauses."""
        return tuple(quantity for segment in self.segments for quantity in segment.quantities)

    @property
    def names(self) -> Keys:
        """Names and files from the program."""
        return frozenset(token.text for token in self.tokens if token.kind in ("code", "file"))


def group(keys: Keys, name: str) -> Keys:
    """The keys of one group."""
    return frozenset(key for key in keys if key.startswith(name + ":"))


def read(tokens: Sequence[Token], words: Vocabulary) -> Statement:
    """Take a sentence apart."""
    kept = tuple(t for t in tokens if t.kind != "punctuation" or t.text in _SEPARATORS)
    stems = [token.stem for token in kept]
    used: set[int] = set()
    instances, lines = _instances(kept, used)
    raw: list[tuple[int, Quantity]] = []
    for position in range(len(kept)):
        if position not in used:
            quantity = _quantity(kept, stems, position, words, used)
            if quantity:
                raw.append((position, quantity))
    marks = instances + _marks(kept, stems, words, used)
    bounds = _bounds(kept, stems, words)
    segments: list[Segment] = []
    for first, last, joint in bounds:
        inside = tuple(sorted((m for m in marks if first <= m.position < last), key=lambda m: m.position))
        segment = Segment(first, last, joint, inside, ())
        inherited, names = _inherited(segments, segment)
        quantities = tuple(
            _placed(q, segment, inherited, names, stems[first:last]) for position, q in raw if first <= position < last
        )
        segments.append(replace(segment, quantities=quantities))
    return Statement(kept, tuple(segments), lines)


def _instances(tokens: Sequence[Token], used: set[int]) -> tuple[list[Mark], tuple[int, ...]]:
    """`thread 3`, `ranks 2 and 5`, and the numbers of `line 47`."""
    marks, lines = [], []
    for position, token in enumerate(tokens[:-1]):
        if token.kind != "word" or not (token.stem in _INSTANCES or token.stem in ("lin", "line")):
            continue
        following = position + 1
        while following < len(tokens):
            number = tokens[following]
            if number.kind != "number" or number.unit or not number.value.is_integer() or "." in number.text:
                break
            used.add(following)
            if token.stem in _INSTANCES:
                marks.append(Mark(following, frozenset({f"who:{token.stem} {int(number.value)}"})))
            else:
                lines.append(int(number.value))
            following += 2 if following + 1 < len(tokens) and tokens[following + 1].text in ("and", "or", ",") else 1
    return marks, tuple(lines)


def _marks(tokens: Sequence[Token], stems: Sequence[str], words: Vocabulary, used: set[int]) -> list[Mark]:
    marks, position = [], 0
    while position < len(tokens):
        token = tokens[position]
        length = 1
        if token.kind in ("code", "file"):
            marks.append(Mark(position, NONE, frozenset({token.text})))
        elif token.kind == "word":
            found, keys = words.subjects.at(stems, position)
            if found and position not in used:
                marks.append(Mark(position, keys))
            length = found or 1
        position += length
    return marks


def _bounds(tokens: Sequence[Token], stems: Sequence[str], words: Vocabulary) -> list[tuple[int, int, str]]:
    """First and last word of each clause, and how it is joined: reason, result, or the conjunction."""
    bounds, first, joint, position = [], 0, "", 0
    while position < len(tokens):
        reason, _ = words.reasons.at(stems, position)
        result, _ = words.results.at(stems, position)
        length = reason or result
        parts = tokens[position].text in _SEPARATORS or stems[position] in _CONJUNCTIONS
        if not length and parts and not _joins_nouns(tokens, stems, position, words):
            length = 1
        if length:
            if position > first:
                bounds.append((first, position, joint))
                joint = ""
            kind = "reason" if reason else "result" if result else stems[position] or tokens[position].text
            joint = kind if kind in ("reason", "result") or joint not in ("reason", "result") else joint
            first = position + length
        position += length or 1
    if first < len(tokens):
        bounds.append((first, len(tokens), joint))
    return bounds


def _joins_nouns(tokens: Sequence[Token], stems: Sequence[str], position: int, words: Vocabulary) -> bool:
    """True for the `and` of `pow and sqrt` and `the kernels and the copies`, which are one subject."""
    if stems[position] != "and" or not 0 < position < len(tokens) - 1:
        return False
    after = position + 1
    while after < len(tokens) - 1 and stems[after] in _DETERMINERS:
        after += 1
    before = tokens[position - 1]
    if before.kind == "code" and tokens[after].kind == "code":
        return True
    nouns = [words.subjects.at(stems, p)[1] for p in (position - 1, after)]
    return all(any(key.startswith("what:") for key in keys) for keys in nouns)


def _inherited(before: Sequence[Segment], segment: Segment) -> tuple[Keys, Keys]:
    """Subjects of earlier clauses in groups that this one says nothing about, and names if it has none."""
    keys: set[str] = set()
    taken = {key.split(":")[0] for key in segment.keys}
    names = NONE
    for earlier in reversed(before):
        new = {key for key in earlier.keys if key.split(":")[0] not in taken}
        keys |= new
        taken |= {key.split(":")[0] for key in new}
        names = names or earlier.names
    return frozenset(keys), names


def _placed(quantity: Quantity, segment: Segment, inherited: Keys, names: Keys, stems: Sequence[str]) -> Quantity:
    base = quantity.base
    if base == frozenset({"it"}):
        base = frozenset(key for key in inherited if key.startswith(("in:mpi", "in:openmp", "act:", "what:"))) or None
    own = segment.keys
    return replace(
        quantity,
        own=TOTAL if quantity.is_base and quantity.dimension != "count" else own,
        names=segment.names,
        inherited=inherited,
        inherited_names=names,
        base=base,
        is_each=quantity.is_each or (stems[:1] == ["each"] and quantity.dimension != "count"),
    )


def _quantity(
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
    quantity = replace(quantity, exactness=exactness)
    if after < len(tokens) and stems[after] == "each":
        quantity = replace(quantity, is_each=True)
    follow = after
    while follow < len(tokens) and follow < after + 2 and tokens[follow].kind == "word" and stems[follow] != "per":
        follow += 1
    if follow + 1 < len(tokens) and stems[follow] == "per":
        quantity = replace(quantity, per=stems[follow + 1])
    if position >= 2 and _is_base(tokens, stems, position, quantity, words):
        quantity = replace(quantity, is_base=True)
    if quantity.dimension == "share" and after < len(tokens) and stems[after] == "of":
        base, end = _base(tokens, stems, after + 1, words)
        used.update(range(after, end))
        quantity = replace(quantity, base=base)
    return quantity


def _digits(tokens: Sequence[Token], stems: Sequence[str], position: int, words: Vocabulary) -> tuple[Quantity, int]:
    token = tokens[position]
    after = position + 1
    dimension, factor = words.units[token.unit] if token.unit else ("bare", 1.0)
    noun = None
    following = stems[after] if after < len(tokens) else ""
    if token.unit == "times" and following not in _FACTOR_FOLLOWERS:
        dimension, noun = "count", "call"
    if dimension == "bare":
        noun = _noun(tokens, stems, after, words)
        dimension = "count" if noun else "bare"
    value, half = token.value * factor, token.half * factor
    quantity = Quantity(
        value, (value - half, value + half), dimension, token.start, max(token.end, token.quantity_end), noun
    )
    return quantity, after


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
            return "copy" if stems[position] in ("copy", "copi") else stems[position]
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
    if word in words.fractions and (following == "of" if word in ("most", "majority", "majoriti", "all") else True):
        before = stems[position - 1] if position else ""
        if word in ("third", "quarter", "fifth", "tenth") and before not in ("a", "on", "one"):
            return None
        low, high = words.fractions[word]
        return _share(low, high, start, token.end), after
    if word in words.factors:
        value = words.factors[word]
        return Quantity(value, (0.9 * value, 1.1 * value), "factor", start, token.end, in_words=True), after
    if word in words.number_words and (word not in ("on", "one") or following in words.units):
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


def _share(low: float, high: float, start: int, end: int) -> Quantity:
    return Quantity((low + high) / 2, (low, high), "share", start, end, in_words=True)


def _exactness(stems: Sequence[str], tokens: Sequence[Token], position: int, words: Vocabulary) -> str:
    for length in (3, 2, 1):
        for skipped in (0, 1):  # `about a third`
            start = position - length - skipped
            if start >= 0 and (not skipped or stems[position - 1] in ("a", "on")):
                found, meaning = words.approximations.at(stems, start)
                if found == length:
                    return next(iter(meaning))
    return "exact"


def _is_base(
    tokens: Sequence[Token], stems: Sequence[str], position: int, quantity: Quantity, words: Vocabulary
) -> bool:
    """True for the second number of `3.17 s of 9.01 s` and `7 of 8 threads`."""
    before = position - 1
    while before > 0 and stems[before] in _DETERMINERS | {"total"}:
        before -= 1
    if stems[before] != "of" or before < 1 or tokens[before - 1].kind != "number":
        return False
    unit = tokens[before - 1].unit
    return (words.units[unit][0] if unit else "count") == quantity.dimension


def _base(tokens: Sequence[Token], stems: Sequence[str], position: int, words: Vocabulary) -> tuple[Keys | None, int]:
    """What a share is part of, and where its words end: `of the MPI time` → in:mpi; the whole run → who:total."""
    while position < len(tokens) and stems[position] in _DETERMINERS:
        position += 1
    if position < len(tokens) and stems[position] in ("it", "them"):
        return frozenset({"it"}), position + 1
    for length in (3, 2, 1):
        if tuple(stems[position : position + length]) in words.whole and length <= len(tokens) - position:
            follower = stems[position + length] if position + length < len(tokens) else ""
            if follower not in ("tim", "time"):
                return TOTAL, position + length
    end = position
    while (
        end < len(tokens)
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
    return keys | names or None, end
