"""Which numbers of a sentence are of a gain, or of how sure a finding is.

`0.8 s instead of 1 s at best`, `0.2 s off the 1 s`, `20 % less time`, `25 % faster` say one bound in other numbers; `a confidence of 0.9` and `two signs`
count nothing that was measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from chathpc.grounding.evidence.assessed import ASSESSED, Kind
from chathpc.grounding.language.claims import Segment, Statement
from chathpc.grounding.language.quantities import IT, TOTAL, Quantity
from chathpc.grounding.language.tokens import Token
from chathpc.grounding.language.vocabulary import Vocabulary, stem, stem_set
from chathpc.grounding.numbers.gains import ROUGHLY, caps, is_little_more, is_upper, phrases, position_of

#: How far before a number the word stands that says what it is.
_FAR, _NEAR = 10, 4
_ABOUT = stem_set("about", "roughly", "approximately", "around", "some")
_CONFIDENCE = stem_set("confidence", "confident", "certain", "certainty", "sure")
_HEADROOM = stem_set("headroom")
_SIGN = stem_set("sign", "signs", "indication", "indications")
_THING = stem_set("thing", "things", "point", "points", "argument", "arguments", "objection", "objections")
_SINGLE = stem_set("single", "sole")
_KNOWN = stem_set("known", "accurate", "exact", "precise", "uncertainty", "error", "margin", "precision", "accuracy")
_WITHIN = stem_set("within", "±", "plus", "minus", "+/-", "to")
_SHRINKS = stem_set(
    "shrink", "shrinks", "drop", "fall", "reduce", "shorten", "cut", "bring", "go", "get", "come", "decrease", "lower"
)
_NEEDS = stem_set("need", "take", "remain", "run", "last", "leave", "require")
_STILL = stem_set("still", "then", "left", "remain", "remaining")
_SAVES = stem_set("save", "saving", "savings", "gain", "win", "won", "spare", "shave", "reclaim", "recover")
_SPARES = stem_set("save", "saves", "spare", "shave")
_WINS = _SPARES | stem_set("gain", "gains", "win", "wins")
_FEWEST = stem_set("least", "more", "less", "than", "no", "not", "under", "over")
_CUTS = stem_set("shrink", "drop", "fall", "reduce", "shorten", "cut", "decrease", "lower")
_GAINS = stem_set("gain", "gains", "win", "speedup", "improvement", "acceleration")
#: What a part that could go is a part of; of the waiting it would be another one.
_WHOLE = stem_set("run", "runtime", "program", "total", "whole", "overall", "elapsed", "execution", "application")
_FASTER = stem_set("faster", "quicker", "speedup", "gain")
_COST = frozenset({"what:cost"})
_GOES = stem_set("go", "vanish", "disappear", "avoided", "saved", "removed", "spared")
_SHORTER = stem_set("less", "shorter")
_CAN = stem_set("could", "can", "may", "might")
_PERHAPS = _CAN | stem_set("would", "if")
_BOUNDS = phrases(
    "bounded by",
    "bound of",
    "bound is",
    "bounded at",
    "limited to",
    "limit of",
    "limit is",
    "capped at",
    "cap of",
    "ceiling of",
    "maximum of",
    "maximum is",
)
_BOUND = stem_set("speed", "bound", "bounds")


def told(statement: Statement, words: Vocabulary) -> Statement:
    """The statement with its numbers of a gain or an assessment marked as such."""
    marked: dict[int, Quantity] = {}
    for quantity in statement.quantities:
        again = _capped(quantity, statement, words)
        marked[quantity.start] = _assessed(again, statement) or _bound(again, statement, marked) or again
    times = {q.noun for q in marked.values() if q.dimension == ASSESSED}
    for quantity in statement.quantities:
        if times & {"left", "saved"} and marked[quantity.start].dimension == "time" and _is_whole(quantity, statement):
            marked[quantity.start] = _as(quantity, "whole")
    segments = []
    for segment in statement.segments:
        spelt = list(_spelt(segment, statement, marked))
        quantities = (*(marked[q.start] for q in segment.quantities), *spelt)
        segments.append(replace(segment, quantities=tuple(sorted(quantities, key=lambda q: q.start))))
    return replace(statement, segments=tuple(segments))


def _capped(quantity: Quantity, statement: Statement, words: Vocabulary) -> Quantity:
    """The number of `won't give more than 1.2x`, which is no lower bound."""
    position = position_of(quantity, statement)
    if is_little_more(position, statement) and quantity.exactness == "above":
        return replace(quantity, exactness="about")
    if not any(one.stop == position for one in caps(statement)):
        return quantity
    near = set(statement.stems[max(0, position - _NEAR) : position])
    return replace(quantity, exactness="about" if near & _ABOUT else "below")


def _as(quantity: Quantity, kind: Kind, scale: float = 1.0) -> Quantity:
    low, high = quantity.interval
    return replace(
        quantity,
        dimension=ASSESSED,
        noun=kind,
        value=scale * quantity.value,
        interval=(scale * low, scale * high),
        base=None,
        is_base=False,
        per=None,
    )


def _assessed(quantity: Quantity, statement: Statement) -> Quantity | None:
    """The number as one of an assessment or a gain, None for any other."""
    position = position_of(quantity, statement)
    stems = statement.stems
    behind = stems[_end(quantity, statement) :]
    lead = _lead(quantity, statement, position)
    if quantity.dimension in ("bare", "share") and quantity.base is None:
        cue = next((w for w in reversed(lead) if w in _CONFIDENCE | _HEADROOM), "") or next(
            (w for w in behind[:2] if w in _CONFIDENCE | _HEADROOM), ""
        )
        scale = 100.0 if quantity.dimension == "bare" else 1.0
        if cue in _CONFIDENCE | _HEADROOM and scale * quantity.value <= 100:
            return _as(quantity, "confidence" if cue in _CONFIDENCE else "headroom", scale)
        points = bool(stem_set("point", "points") & set(behind[:2]))
        before = set(stems[max(0, position - _NEAR) : position])
        if points and before & (_WITHIN | _KNOWN) and _KNOWN & set(stems):
            return _as(quantity, "error")
    plain = [w for w in lead if w not in ROUGHLY | _FEWEST]
    free = not quantity.in_words and quantity.base in (None, TOTAL)
    if free and quantity.dimension in ("share", "time") and plain[-1:] and plain[-1] in _WINS:
        return _as(
            quantity, "saved" if quantity.dimension == "time" else "spared" if plain[-1] in _SPARES else "gained"
        )
    if not _PERHAPS & set(stems) and not is_upper(statement):
        return None
    if quantity.dimension == "share" and quantity.base in (_COST, IT) and _CAN & set(behind) and _GOES & set(behind):
        return _as(quantity, "headroom")  # `up to 90 % of its cost could go`
    if quantity.dimension == "share" and quantity.base in (None, TOTAL):
        return _part_won(quantity, lead, behind)
    if quantity.dimension == "time" and not (quantity.is_each or quantity.per or quantity.is_base):
        return _time_won(quantity, statement, position, lead, behind)
    return None


def _part_won(quantity: Quantity, lead: Sequence[str], behind: Sequence[str]) -> Quantity | None:
    """`gain less than 4 %`, `20 % faster`; `20 % less time`, `save up to 20 %`."""
    near = set(lead[-_NEAR - 2 :])
    if (
        _SHORTER & set(behind[:1])
        or (_CUTS & set(lead) and _WHOLE & set(lead) and "by" in lead[-_NEAR:] and quantity.base is None)
        or near & stem_set("save", "saving", "shave", "spare")
    ):
        return _as(quantity, "spared")
    if quantity.base is None and (_FASTER & set(behind[:2]) or near & _GAINS or _speeds_up(lead)):
        return _as(quantity, "gained")
    return None


def _speeds_up(lead: Sequence[str]) -> bool:
    return any(one == stem("speed") and "up" in lead[i + 1 : i + 4] for i, one in enumerate(lead))


def _time_won(
    quantity: Quantity, statement: Statement, position: int, lead: Sequence[str], behind: Sequence[str]
) -> Quantity | None:
    """`shrinks from 4 s to 1 s`, `1 s instead of 4 s`, `would still need 1 s`; `3 s off the 4 s`, `save up to 3 s`."""
    stems = statement.stems
    if tuple(behind[:2]) in (("instead", "of"), ("rather", "than")):
        return _as(quantity, "left")
    if _is_left(behind):
        return _as(quantity, "left")
    if tuple(behind[:1]) == ("off",) or _is_saved(behind):
        return _as(quantity, "saved")
    plain = [w for w in lead if w not in ROUGHLY | _FEWEST]
    last = [w for w in lead if w not in ROUGHLY or w == "to"]
    earlier = set(stems[max(0, position - 2 * _FAR) : position])
    if last[-1:] == ["to"] and earlier & _SHRINKS and "up" not in lead[-2:]:
        return _as(quantity, "left")
    if last[-2:] == ["down", "to"]:
        return _as(quantity, "left")
    if plain[-1:] and plain[-1] in _NEEDS and _PERHAPS & set(lead) and _STILL & earlier:
        return _as(quantity, "left")
    if plain[-1:] and plain[-1] in _SAVES:
        return _as(quantity, "saved")
    if lead[-1:] == ["by"] or ("by" in lead[-_NEAR:] and plain[-1:] == ["by"]):
        return _as(quantity, "saved") if earlier & _SHRINKS else None
    return None


def _is_left(behind: Sequence[str]) -> bool:
    """True for `1 s would remain`, `1 s of the 4 s could be left`."""
    remains = next((i for i, w in enumerate(behind[:_FAR]) if w in _REMAINS), None)
    return remains is not None and bool(_PERHAPS & set(behind[:remains]))


_REMAINS = stem_set("remain", "remains", "left")


def _is_saved(behind: Sequence[str]) -> bool:
    """True for `0.9 s could be saved`."""
    saved = next((i for i, w in enumerate(behind[:_FAR]) if w in _WINS | _SAVES), None)
    return saved is not None and bool(_CAN & set(behind[:saved]))


def _is_whole(quantity: Quantity, statement: Statement) -> bool:
    """True for the 4 s of `from 4 s to 1 s`, `1 s instead of 4 s`, `3 s off the 4 s`, `the 4 s could shrink to`."""
    position = position_of(quantity, statement)
    stems = statement.stems
    before = [w for w in stems[max(0, position - _NEAR - 1) : position] if w not in ROUGHLY - {"of"}]
    behind = stems[_end(quantity, statement) :][:4]
    return bool(
        before[-1:] in (["from"], ["off"], ["of"], ["versus"])
        or before[-2:] in (["instead", "of"], ["rather", "than"])
        or set(behind) & _CUTS
        or (set(before[-2:]) & _SHRINKS and "to" in behind)
    )


def _bound(quantity: Quantity, statement: Statement, earlier: dict[int, Quantity]) -> Quantity | None:
    """The number of `bounded by about 1.9` and, behind that, of `compared with 1.5` as factors."""
    if quantity.dimension != "bare":
        return None
    position = position_of(quantity, statement)
    stems = statement.stems
    lead = [w for w in stems[max(0, position - _FAR) : position] if w not in ROUGHLY - {"of", "to", "at"}]
    while lead and lead[-1] in ("at", "most"):
        lead.pop()
    of_gain = bool((_GAINS | _BOUND) & set(stems))
    if of_gain and (_ends(lead, _BOUNDS) or any(one.stop == position for one in caps(statement))):
        return replace(quantity, dimension="factor")
    last = list(earlier.values())[-1] if earlier else None
    if last is None or "." not in statement.tokens[position].text or statement.tokens[position].unit:
        return None
    if of_gain and last.dimension == "factor":  # `bounded by 1.9, compared with 1.5`, `1.9 for f and 1.5 for g`
        return replace(quantity, dimension="factor")
    if last.noun in ("confidence", "headroom") and last.dimension == ASSESSED and quantity.value <= 1:
        return _as(quantity, "confidence" if last.noun == "confidence" else "headroom", 100.0)
    return None


def _spelt(segment: Segment, statement: Statement, marked: dict[int, Quantity]) -> Iterable[Quantity]:
    """Counts of signs, of things against, and a headroom of zero, which are no numbers of anything else."""
    stems, tokens = statement.stems, statement.tokens
    for position in range(segment.first, segment.last):
        if stems[position] in stem_set("zero", "nil") and set(stems[max(0, position - _FAR) : position]) & _HEADROOM:
            yield _new(0.0, tokens[position], segment, "headroom")
        elif stems[position] in _SIGN and stems[position + 1 : position + 2] not in (("of",), ("that",)):
            yield from _counted(position, segment, statement, "signs", marked)
        elif stems[position] in _THING and stem("against") in stems[position + 1 : position + 3]:
            yield from _counted(position, segment, statement, "against", marked)


def _counted(
    position: int, segment: Segment, statement: Statement, kind: Kind, marked: dict[int, Quantity]
) -> Iterable[Quantity]:
    for before in range(position - 1, max(segment.first, position - _NEAR) - 1, -1):
        token = statement.tokens[before]
        if token.kind == "number" or token.stem in _NUMBERS:
            value = token.value if token.kind == "number" else _NUMBERS[token.stem]
            if token.start in marked:
                marked[token.start] = _as(replace(marked[token.start], value=value, interval=(value, value)), kind)
            else:
                yield _new(value, token, segment, kind)
            return


_NUMBERS = {
    stem(word): float(n)
    for n, words in enumerate((("no",), ("one", "single", "sole"), ("two",), ("three",), ("four",), ("five",)))
    for word in words
}


def _new(value: float, token: Token, segment: Segment, kind: Kind) -> Quantity:
    return Quantity(
        value, (value, value), ASSESSED, token.start, token.end, kind, own=segment.keys, names=segment.names
    )


def _lead(quantity: Quantity, statement: Statement, position: int) -> list[str]:
    """The words before a number, up to the number before it or the end of a clause."""
    lead: list[str] = []
    for before in range(position - 1, max(-1, position - _FAR - 1), -1):
        token = statement.tokens[before]
        if token.kind == "number" or token.text in (";", ":"):
            break
        lead.append(token.stem)
    return [word for word in reversed(lead) if word]


def _end(quantity: Quantity, statement: Statement) -> int:
    """The position behind a number and its unit."""
    return next((i for i, t in enumerate(statement.tokens) if t.start >= quantity.end), len(statement.tokens))


def _ends(stems: Sequence[str], phrases: Iterable[tuple[str, ...]]) -> bool:
    return any(tuple(stems[-len(p) :]) == p for p in phrases)
