"""What a sentence claims: clauses with their subjects, and numbers with unit, base and what they are about.

Trusted statements are read by the same functions as a model's sentences, so that both come out in the same terms.
A subject is a key `group:name` of vocabulary.yaml; `who:rank 5` is one that carries its number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chathpc.grounding.language.clauses import SEPARATORS, bounds
from chathpc.grounding.language.pairing import beside, paired
from chathpc.grounding.language.quantities import DETERMINERS, IT, NONE, OF_NUMBER, TOTAL, Keys, Quantity, quantity_at
from chathpc.grounding.language.segments import Mark, Segment, Statement, group
from chathpc.grounding.language.tokens import Token
from chathpc.grounding.language.vocabulary import Vocabulary, stem

__all__ = ["EXCLUSIVE", "Mark", "Segment", "Statement", "agent", "group", "is_topic", "read"]

#: Groups of which a clause can only mean one member, so that what an earlier clause said must not contradict.
EXCLUSIVE = ("who", "act", "direction", "operation", "level")
_INSTANCES = frozenset(map(stem, ("thread", "rank", "process", "gpu", "device", "node", "stream")))
_UNITS = frozenset(map(stem, ("bytes", "seconds", "minutes", "percent", "milliseconds", "microseconds")))
_SHORTEST_TOPIC = 3  # shorter words are none of their own
_ACTS: Keys = frozenset({"act:wait", "act:work"})
_AGENTS: Keys = frozenset({"in:host", "in:device"})
_LIST_OF_NUMBERS = ("and", "or", ",", "to", "through", "–")
_REQUEST: Keys = frozenset({"in:request"})
_PROCESS: Keys = frozenset({"in:process"})
_SPEED: Keys = frozenset({"what:speed"})
_BESIDE_GAPS: Keys = frozenset({"what:kernel", "what:launch", "what:copy"})
_GAPS = [[noun, "between"] for noun in map(stem, ("gap", "gaps", "pause", "pauses"))]
_INSTEAD = ["instead", "of"]


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
            told_last = segments[-1].marks[-1]
            inherited, names = told_last.keys, told_last.names or segments[-1].names
        around = next((q.agent for s in reversed(segments) for q in reversed(s.quantities) if q.agent), None)
        if around is None and segments:
            around = next((who for s in reversed(segments) if (who := agent(s, kept[-1].end + 1, kept))), None)
        quantities = tuple(
            beside(
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
    return Statement(kept, paired(_of_these(tuple(segments), stems), kept, stems), lines)


def _of_these(segments: tuple[Segment, ...], stems: Sequence[str]) -> tuple[Segment, ...]:
    """The clauses behind `Of the 71 copies, …` and `Of the MPI time, …`, whose numbers count those, or are parts of that."""
    if len(segments) < 2 or stems[segments[0].first] != "of":
        return segments
    first, changed = segments[0], []
    counted = next((q for q in first.quantities if q.dimension == "count"), None)
    base: Keys | None = frozenset(k for k in first.keys if k.startswith(("in:", "what:", "act:")))
    base = base or frozenset(f"name:{name}" for name in first.names) or None
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
    if {"neither", "nor"} & set(stems[max(0, position - 2) : position]) and "" in stems[position + 1 : position + 3]:
        return False  # `neither A (41 %) nor B (36 %)`
    return bool(_ABSENT & set(stems[max(0, position - 2) : position]))


_BUSY_WITH: Keys = frozenset({"what:kernel", "what:copy"})
_IDLE: Keys = frozenset({"act:wait", "in:device"})
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
    if denied >= _BUSY_WITH:  # `with neither a kernel nor a copy` the device is idle
        own = (own - _ACTS) | _IDLE
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
