"""What a sentence claims: clauses with their subjects, and numbers with unit, base and what they are about.

Trusted statements are read by the same functions as a model's sentences, so that both come out in the same terms.
A subject is a key `group:name` of vocabulary.yaml; `who:rank 5` is one that carries its number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from chathpc.grounding.quantities import DETERMINERS, IT, NONE, TOTAL, Keys, Quantity, quantity_at
from chathpc.grounding.tokens import Token
from chathpc.grounding.vocabulary import Vocabulary, stem

#: Groups of which a clause can only mean one member, so that what an earlier clause said must not contradict.
EXCLUSIVE = ("who", "act", "direction", "operation", "level")
_INSTANCES = frozenset(map(stem, ("thread", "rank", "process", "gpu", "device", "node", "stream")))
_UNITS = frozenset(map(stem, ("bytes", "seconds", "minutes", "percent", "milliseconds", "microseconds")))
#: Shorter words are none of their own.
_SHORTEST_TOPIC = 3
_ACTS: Keys = frozenset({"act:wait", "act:work"})
_AGENTS: Keys = frozenset({"in:host", "in:device"})
_INSTEAD = ["instead", "of"]
_SEPARATORS = frozenset(",;:–—=×")
_CONJUNCTIONS = frozenset(
    map(stem, ("while", "whereas", "but", "and", "which", "where", "when", "if", "although", "though"))
)


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
            quantity = quantity_at(kept, stems, position, words, used)
            if quantity:
                raw.append((position, quantity))
    marks = instances + _marks(kept, stems, words, used)
    bounds = _bounds(kept, stems, words)
    segments: list[Segment] = []
    for first, last, joint in bounds:
        inside = tuple(sorted((m for m in marks if first <= m.position < last), key=lambda m: m.position))
        segment = Segment(first, last, joint, inside, ())
        inherited, names = _inherited(segments, segment)
        around = next((q.agent for s in reversed(segments) for q in reversed(s.quantities) if q.agent), None)
        if around is None and segments:
            around = next((who for s in reversed(segments) if (who := agent(s, kept[-1].end + 1, kept))), None)
        quantities = tuple(
            _named(
                _placed(_based(q, segments), segment, inherited, names, stems[first:last], kept, around),
                segment,
                position,
                stems,
                len([p for p, _ in raw if first <= p < last]),
            )
            for position, q in raw
            if first <= position < last
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
            # A function called `kernel` is a name, and the word may be meant as well.
            keys = words.subjects.at(stems, position)[1] if token.stem and token.text.islower() else NONE
            marks.append(Mark(position, keys, frozenset({token.text})))
        elif stems[max(0, position - 2) : position] == _INSTEAD:
            pass  # what is not done instead
        elif token.kind == "word":
            found, keys = words.subjects.at(stems, position)
            if found and position not in used:
                marks.append(Mark(position, keys))
            elif not found and position not in used and is_topic(token.stem, words):
                marks.append(Mark(position, frozenset({f"word:{token.stem}"})))
            length = found or 1
        position += length
    return marks


def is_topic(word: str, words: Vocabulary) -> bool:
    """True for a word that has a meaning of its own but no entry: `gap`, `sector`, `window`."""
    return not (
        len(word) < _SHORTEST_TOPIC
        or word in words.neutral
        or word in words.levels
        or word in words.number_words
        or word in words.fractions
        or word in words.factors
        or word in words.changes
        or word in words.negations
        or word in words.advice
        or word in words.modal
        or word in words.units
        or word in _UNITS
        or words.comparisons.at((word,), 0)[0]
        or words.approximations.at((word,), 0)[0]
    )


def _bounds(tokens: Sequence[Token], stems: Sequence[str], words: Vocabulary) -> list[tuple[int, int, str]]:
    """First and last word of each clause, and how it is joined: reason, result, or the conjunction."""
    bounds, first, joint, position = [], 0, "", 0
    while position < len(tokens):
        reason, _ = words.reasons.at(stems, position)
        result, _ = words.results.at(stems, position)
        length = reason or result
        parts = tokens[position].text in _SEPARATORS or stems[position] in _CONJUNCTIONS
        if not length and _begins_relative(tokens, stems, position):
            length = 1
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


def _begins_relative(tokens: Sequence[Token], stems: Sequence[str], position: int) -> bool:
    """True for the `that` of `3.2 s that the threads could work` and the `with` of `in 12 calls with a mean of 512 bytes`."""
    if stems[position] == "that":
        return position > 0 and tokens[position - 1].kind == "number"
    if stems[position] != "with":
        return False
    before, after = tokens[max(0, position - 4) : position], tokens[position + 1 : position + 7]
    return any(t.kind == "number" for t in before) and any(t.kind == "number" for t in after)


def _joins_nouns(tokens: Sequence[Token], stems: Sequence[str], position: int, words: Vocabulary) -> bool:
    """True for the `and` of `pow and sqrt` and `the kernels and the copies`, which are one subject."""
    if stems[position] != "and" or not 0 < position < len(tokens) - 1:
        return False
    after = position + 1
    while after < len(tokens) - 1 and stems[after] in DETERMINERS:
        after += 1
    before = tokens[position - 1]
    if before.kind == "code" and tokens[after].kind == "code":
        return True
    ending = next(
        (p for p in (position - 3, position - 2) if p >= 0 and words.subjects.at(stems, p)[0] == position - p), 0
    )
    nouns = [words.subjects.at(stems, p)[1] for p in (ending or position - 1, after)]
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


def _named(quantity: Quantity, segment: Segment, position: int, stems: Sequence[str], numbers: int) -> Quantity:
    """Of several names in a clause with several numbers the one that a number stands beside: `f (50 s)`, `25 s in g`."""
    named = [m for m in segment.marks if m.names]
    if numbers < 2 or len(named) < 2 or quantity.is_base:
        return quantity
    behind = [m for m in named if m.position == position + 2 and stems[position + 1] in ("in", "for", "by")]
    before = [m for m in named if m.position < position]
    own = behind or before[-1:]
    return replace(quantity, names=own[0].names) if own else quantity


def _based(quantity: Quantity, before: Sequence[Segment]) -> Quantity:
    """A percentage without a base beside one that has it: `61 % of the accesses hit in L2 and 30.7 % in L1`."""
    if quantity.dimension != "share" or quantity.base is not None:
        return quantity
    last = next((q for s in reversed(before) for q in reversed(s.quantities)), None)
    if last is None or last.dimension != "share" or last.base is None:
        return quantity
    return replace(quantity, base=last.base)


def agent(segment: Segment, before: int, tokens: Sequence[Token]) -> str | None:
    """Who of host and device waits or works in a clause, by the last such verb before a place in the sentence."""
    found = None
    for mark in segment.marks:
        if tokens[mark.position].start >= before:
            break
        if mark.keys & _ACTS:
            who = [m for m in segment.marks if m.position < mark.position and m.keys & _AGENTS]
            found = next(iter(who[-1].keys & _AGENTS)) if who else found
    return found


def _placed(
    quantity: Quantity,
    segment: Segment,
    inherited: Keys,
    names: Keys,
    stems: Sequence[str],
    tokens: Sequence[Token],
    around: str | None,
) -> Quantity:
    base = quantity.base
    if base == IT:
        base = frozenset(key for key in inherited if key.startswith(("in:mpi", "in:openmp", "act:", "what:"))) or IT
    own = segment.keys
    return replace(
        quantity,
        own=TOTAL if quantity.is_base and quantity.dimension != "count" else own,
        names=segment.names,
        inherited=inherited,
        inherited_names=names,
        base=base,
        agent=agent(segment, quantity.start, tokens) or around,
        is_each=quantity.is_each or ("each" in stems and quantity.dimension != "count"),
    )
