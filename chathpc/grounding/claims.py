"""What a sentence claims: clauses with their subjects, and numbers with unit, base and what they are about.

Trusted statements are read by the same functions as a model's sentences, so that both come out in the same terms.
A subject is a key `group:name` of vocabulary.yaml; `who:rank 5` is one that carries its number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from chathpc.grounding.clauses import SEPARATORS, bounds
from chathpc.grounding.quantities import DETERMINERS, IT, NONE, OF_NUMBER, TOTAL, Keys, Quantity, quantity_at
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
_LIST_OF_NUMBERS = ("and", "or", ",", "to", "through", "–")
_REQUEST: Keys = frozenset({"in:request"})
_PROCESS: Keys = frozenset({"in:process"})
_SPEED: Keys = frozenset({"what:speed"})
_BESIDE_GAPS: Keys = frozenset({"what:kernel", "what:launch", "what:copy"})
_GAPS = [[noun, "between"] for noun in map(stem, ("gap", "gaps", "pause", "pauses"))]
_INSTEAD = ["instead", "of"]


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
    kept = tuple(t for t in tokens if t.kind != "punctuation" or t.text in SEPARATORS)
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
    limits = bounds(kept, stems, words, frozenset(used))
    segments: list[Segment] = []
    for first, last, joint in limits:
        inside = tuple(sorted((m for m in marks if first <= m.position < last), key=lambda m: m.position))
        segment = Segment(first, last, joint, _both_ways(inside), ())
        inherited, names = _inherited(segments, segment, together="together" in stems[first:last])
        within = [q for p, q in raw if first <= p < last]
        if joint == "which" and segments and segments[-1].marks and not _named_group(inside):
            inherited, names = segments[-1].marks[-1].keys, segments[-1].marks[-1].names
        around = next((q.agent for s in reversed(segments) for q in reversed(s.quantities) if q.agent), None)
        if around is None and segments:
            around = next((who for s in reversed(segments) if (who := agent(s, kept[-1].end + 1, kept))), None)
        quantities = tuple(
            _named(
                _placed(_based(q, segments, within), segment, inherited, names, stems[first:last], kept, around),
                segment,
                position,
                stems,
                len(
                    [
                        p
                        for p, other in raw
                        if first <= p < last
                        and other.dimension == q.dimension
                        and not (other.is_base or other.in_words)
                    ]
                ),
            )
            for position, q in raw
            if first <= position < last
        )
        segments.append(replace(segment, quantities=quantities))
    return Statement(kept, _paired(_of_these(tuple(segments), stems), kept, stems), lines)


def _of_these(segments: tuple[Segment, ...], stems: Sequence[str]) -> tuple[Segment, ...]:
    """The clauses behind `Of the 71 copies, …` and `Of the MPI time, …`, whose numbers count those, or are parts of that."""
    if len(segments) < 2 or stems[segments[0].first] != "of":
        return segments
    first, changed = segments[0], []
    counted = next((q for q in first.quantities if q.dimension == "count"), None)
    base = frozenset(k for k in first.keys if k.startswith(("in:", "what:", "act:"))) or None
    for segment in segments[1:]:
        quantities = []
        for quantity in segment.quantities:
            if quantity.dimension == "bare" and counted is not None:
                quantity = replace(quantity, dimension="count", noun=counted.noun)
            elif quantity.dimension == "share" and quantity.base is None and not first.quantities:
                quantity = replace(quantity, base=base)
            quantities.append(quantity)
        changed.append(replace(segment, quantities=tuple(quantities)))
    return first, *changed


def _both_ways(marks: tuple[Mark, ...]) -> tuple[Mark, ...]:
    """Reading and writing in one clause is input and output."""
    if not frozenset({"operation:read", "operation:write"}) <= frozenset(k for m in marks for k in m.keys):
        return marks
    return tuple(
        replace(m, keys=frozenset({"in:io"})) if any(k.startswith("operation:") for k in m.keys) and not m.names else m
        for m in marks
    )


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
            following += 2 if following + 1 < len(tokens) and tokens[following + 1].text in _LIST_OF_NUMBERS else 1
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
            if found == 1 and (
                token.text.lower() in ("means", "meaning") or stems[position : position + 2] == ["lack", "of"]
            ):
                pass  # `this means that`, `meaning that` is no mean, and a lack of blocks no imbalance
            elif found and position not in used:
                if {"in:block", "act:wait"} <= keys:  # a block is nothing that waits
                    keys -= {"in:block" if token.text.lower() == "blocked" else "act:wait"}
                if keys == _PROCESS and token.text.lower() == "process":
                    keys = NONE  # `this process involves …`; ranks are processes, in the plural
                if keys == _SPEED and "up" in stems[position + 1 : position + 5]:
                    keys = frozenset({"what:speedup"})  # `speed the program up`
                if keys & _BESIDE_GAPS and _is_gap(stems, position):
                    keys = NONE  # gaps between kernels are gaps
                if keys == _REQUEST and token.text.lower() not in ("request", "requests"):
                    keys = frozenset({f"word:{token.stem}"})  # memory is requested as well
                marks.append(Mark(position, keys))
            elif not found and position not in used and is_topic(token.stem, words):
                marks.append(Mark(position, frozenset({f"word:{token.stem}"})))
            length = found or 1
        position += length
    return marks


def _is_gap(stems: Sequence[str], position: int) -> bool:
    """True for the kernels of `the gaps between the kernels`."""
    before = [word for word in stems[max(0, position - 4) : position] if word not in DETERMINERS]
    return before[-2:] in _GAPS


def is_topic(word: str, words: Vocabulary) -> bool:
    """True for a word that has a meaning of its own but no entry: `gap`, `sector`, `window`."""
    return not (
        len(word) < _SHORTEST_TOPIC
        or word in words.plain
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


def _inherited(before: Sequence[Segment], segment: Segment, *, together: bool) -> tuple[Keys, Keys]:
    """Subjects of earlier clauses in groups that this one says nothing about, and names if it has none.

    What several things have `together` is no mean.
    """
    keys: set[str] = set()
    taken = {key.split(":")[0] for key in segment.keys}
    names = NONE
    for earlier in reversed(before):
        new = {key for key in earlier.keys if key.split(":")[0] not in taken}
        if together:
            new -= {"who:mean"}
        keys |= new
        taken |= {key.split(":")[0] for key in new}
        names = names or earlier.names
    return frozenset(keys), names


def _named_group(marks: Sequence[Mark]) -> bool:
    return any(mark.names or any(key.startswith("what:") for key in mark.keys) for mark in marks)


def _named(quantity: Quantity, segment: Segment, position: int, stems: Sequence[str], numbers: int) -> Quantity:
    """Of several things in a clause with several numbers the one that a number stands beside: `f (50 s)`, `25 s in g`."""
    told = [m for m in segment.marks if _tells(m)]
    if numbers < 2 or len(told) < 2 or quantity.is_base:
        return quantity
    behind = []
    noun = position + (quantity.dimension == "count")  # `3 launches of f`
    if noun + 1 < len(stems) and stems[noun + 1] in _OF_WHOM:
        behind = [m for m in told if noun + 1 < m.position <= noun + 4][:1]
    before = [m for m in told if m.position < position]
    own = behind or before[-1:]
    if not own:
        return quantity
    others = frozenset(k for m in told if m is not own[0] for k in m.keys if k.startswith(_TELLING))
    keys = quantity.own - (others - own[0].keys)
    return replace(quantity, own=keys, names=own[0].names or (NONE if any(m.names for m in told) else quantity.names))


#: Groups that tell one thing from another in one clause, and words before the thing that a number is of.
_TELLING = ("who:", "what:", "direction:", "operation:")
_OF_WHOM = ("in", "for", "by", "on", "at", "to", "of")
_UNTELLING: Keys = frozenset({"what:cost", "what:calls", "what:speedup", "what:size", "what:speed", "who:total"})


def _tells(mark: Mark) -> bool:
    return bool(mark.names) or any(key.startswith(_TELLING) for key in mark.keys - _UNTELLING)


def _paired(segments: tuple[Segment, ...], tokens: Sequence[Token], stems: Sequence[str]) -> tuple[Segment, ...]:
    """The clauses with the numbers of a list given to the things of a list, one by one: `f and g take 3 s and 2 s`."""
    numbers = _runs([p for p, t in enumerate(tokens) if t.kind == "number"], stems, tokens, _AND | _AGAINST)
    by_start = {q.start: q for s in segments for q in s.quantities if not q.is_base}
    marks = sorted((m for s in segments for m in s.marks if _tells(m)), key=lambda m: m.position)
    things = _runs([m.position for m in marks], stems, tokens, _AND)
    named = [m.position for m in marks if m.names]
    if len(named) == 2 and _COMPARED & set(stems[named[0] : named[1]]):
        things.append(named)  # `f takes twice as long as g (3 s versus 1.5 s)`
    at = {m.position: m for m in marks}
    changed: dict[int, Quantity] = {}
    for run in numbers:
        found = [by_start.get(tokens[p].start) for p in run]
        fitting = [t for t in things if len(t) == len(run) and (t[-1] < run[0] or run[-1] < t[0])]
        if len(run) < 2 or None in found or not fitting:
            continue
        nearest = min(fitting, key=lambda t: min(abs(run[0] - t[-1]), abs(t[0] - run[-1])))
        listed = frozenset(k for p in nearest for k in at[p].keys)
        shared = frozenset(k for s in segments for m in s.marks if m.position not in nearest for k in m.keys)
        sizes = [q.value for q in found if q is not None]
        if min(sizes) >= _EQUAL * max(sizes):
            shared -= _BALANCE  # `f and g take about the same, 1.23 s and 1.20 s`
        bases = [q.base for q in found if q is not None and q.base]
        for position, quantity in zip(nearest, found, strict=True):
            if quantity is not None:
                keys = (shared - listed) | at[position].keys
                base = quantity.base or (bases[-1] if quantity.dimension == "share" and bases else None)
                changed[quantity.start] = replace(
                    quantity, own=keys, names=at[position].names, inherited=NONE, inherited_names=NONE, base=base
                )
    if not changed:
        return segments
    return tuple(replace(s, quantities=tuple(changed.get(q.start, q) for q in s.quantities)) for s in segments)


_BALANCE: Keys = frozenset({"what:balance"})
#: What is called equal may differ by a tenth.
_EQUAL = 0.9
_AND = frozenset({"and", "or"})
_AGAINST = frozenset(map(stem, ("versus", "vs", "against", "compared", "with")))
_COMPARED = frozenset({"as", "than"})


def _runs(
    positions: Sequence[int], stems: Sequence[str], tokens: Sequence[Token], joints: frozenset[str]
) -> list[list[int]]:
    """Positions that are items of one list: nothing between them but commas, `and` and articles."""
    runs: list[list[int]] = []
    for position in positions:
        between = range(runs[-1][-1] + 1, position) if runs else range(0)
        if runs and between and all(stems[p] in DETERMINERS | joints or tokens[p].text == "," for p in between):
            runs[-1].append(position)
        else:
            runs.append([position])
    return [run for run in runs if len(run) > 1]


def _based(quantity: Quantity, before: Sequence[Segment], within: Sequence[Quantity]) -> Quantity:
    """A percentage without a base beside one that has it: `61 % of the accesses hit in L2 and 30.7 % in L1`."""
    if quantity.dimension != "share" or quantity.base is not None:
        return quantity
    earlier = [q for q in within if q.start < quantity.start]
    last = next(reversed(earlier), None) or next((q for s in reversed(before) for q in reversed(s.quantities)), None)
    if last is None or last.dimension != "share" or last.base in (None, OF_NUMBER):
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


def _is_denied(mark: Mark, stems: Sequence[str], first: int) -> bool:
    """True for the kernel of `without a kernel beside them`: what is not there is not what a number is about."""
    position = mark.position - first
    return bool(_ABSENT & set(stems[max(0, position - 2) : position]))


_ABSENT = frozenset({"without", "neither", "nor", "no"})


def _has_each(stems: Sequence[str]) -> bool:
    """True for the `each` of `each rank`, not for that of `wait for each other`."""
    return any(
        word == "each" and tuple(stems[p + 1 : p + 2]) not in (("other",), ("others",)) for p, word in enumerate(stems)
    )


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
    each_of_one = any(
        tokens[p].kind == "number" and tokens[p + 1].stem == "each" for p in range(segment.first, segment.last - 1)
    )
    denied = frozenset(key for mark in segment.marks if _is_denied(mark, stems, segment.first) for key in mark.keys)
    if base == IT:
        base = frozenset(key for key in inherited if key.startswith(("in:mpi", "in:openmp", "act:", "what:"))) or IT
    own = segment.keys - (
        denied - frozenset(k for m in segment.marks if not _is_denied(m, stems, segment.first) for k in m.keys)
    )
    return replace(
        quantity,
        own=TOTAL if quantity.is_base and quantity.dimension != "count" else own,
        names=segment.names,
        inherited=inherited,
        inherited_names=names,
        base=base,
        agent=agent(segment, quantity.start, tokens) or around,
        is_each=quantity.is_each or (_has_each(stems) and not each_of_one and quantity.dimension != "count"),
    )
