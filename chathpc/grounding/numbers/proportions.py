"""Whether parts and wholes of a sentence go together: `43 % of the mean of 394 ms`, `the other four of four devices`, `100 %, and the rest`."""

from __future__ import annotations

from chathpc.grounding.evidence.facts import World
from chathpc.grounding.language.claims import Statement
from chathpc.grounding.language.quantities import NONE, Keys, Quantity
from chathpc.grounding.language.tokens import Token
from chathpc.grounding.language.vocabulary import stem

_INSTANCES = frozenset(map(stem, ("rank", "thread", "process", "gpu", "device", "stream", "node")))
_REST = frozenset(map(stem, ("rest", "remainder", "remaining", "others")))
#: What a percentage right before these words is a change of, which no profile of one run measures.
_CHANGES = frozenset(
    map(stem, ("overhead", "slowdown", "reduction", "improvement", "increase", "decrease", "penalty", "speedup", "slower", "faster", "drop"))
)  # fmt: skip
_ALL = 99.95
#: Characters between a percentage and the number that it is a part of: ` of the mean of `.
_REACH = 24
_EACH_WAY = 0.01


def fit_together(statement: Statement, world: World) -> bool:
    """False if the parts and wholes in a sentence contradict each other or what is known of them."""
    return (
        all(_is_part_of_number(q, statement, world) for q in statement.quantities)
        and _leaves_a_rest(statement)
        and not _is_change(statement, world)
        and _are_as_many(statement, world)
        and not any(_is_of_the_others(q, statement, world) for q in statement.quantities)
    )


def _is_part_of_number(share: Quantity, statement: Statement, world: World) -> bool:
    """False for `294 ms …, 43 % of the mean of 394 ms`: of a number that is not the whole run the part must be there and have that share."""
    if share.dimension != "share":
        return True
    whole = next(
        (q for q in statement.quantities if q.dimension in ("time", "bytes") and 0 < q.start - share.end <= _REACH),
        None,
    )
    if whole is None or not _is_of(share, whole, statement):
        return True
    if any(f.quantity.is_base and abs(f.quantity.value - whole.value) <= _EACH_WAY * whole.value for f in world.facts):
        return True
    parts = [q.value for q in statement.quantities if q.dimension == whole.dimension and q is not whole]
    low, high = share.interval
    return not parts or any(low - 1 <= 100 * part / whole.value <= high + 1 for part in parts if whole.value)


def _is_of(share: Quantity, whole: Quantity, statement: Statement) -> bool:
    between = [t for t in statement.tokens if share.end <= t.start and t.end <= whole.start]
    ends = [share.end, *(t.end for t in between)]
    joined = all(start - end == 1 for end, start in zip(ends, [*(t.start for t in between), whole.start], strict=True))
    return bool(between) and between[0].stem == "of" and joined


def _leaves_a_rest(statement: Statement) -> bool:
    """False for `100 % of the MPI time, and the rest of it is waiting`."""
    full = next(
        (q for q in statement.quantities if q.dimension == "share" and q.value >= _ALL and not q.in_words), None
    )
    if full is None or full.exactness == "below" or full.nearly:
        return True
    return not any(t.stem in _REST and t.start > full.end for t in statement.tokens)


def _is_change(statement: Statement, world: World) -> bool:
    """True for `a 51.9 % overhead`: a part of the run that is called a change of it."""
    for quantity in statement.quantities:
        following = next((t for t in statement.tokens if t.start >= quantity.end), None)
        if quantity.dimension == "share" and following is not None and following.stem in _CHANGES - world.said:
            return True
    return False


def _are_as_many(statement: Statement, world: World) -> bool:
    """False for `on two of the threads` where nothing counts two of them, and for `the other four devices` of four."""
    stems = statement.stems
    for position, noun in enumerate(stems):
        if noun not in _INSTANCES:
            continue
        before = stems[max(0, position - 3) : position]
        token = next((t for t in reversed(statement.tokens[max(0, position - 3) : position]) if _value(t, world)), None)
        if token is None:
            continue
        value = _value(token, world)
        known = {
            f.quantity.value for f in world.facts if f.quantity.dimension == "count" and f.quantity.noun in (noun, None)
        }
        known |= {
            f.quantity.value for f in world.facts if f.quantity.dimension == "count" and f.quantity.noun in _INSTANCES
        }
        of_them = before[-2:] in (("of", "the"), ("of", "all")) and statement.tokens[max(0, position - 3)] is token
        if of_them and value not in known | {max(known, default=0.0) - one for one in known}:
            return False
        if "other" in before and known and value >= max(known):
            return False
    return True


def _value(token: Token, world: World) -> float:
    """What a number without a unit counts, in digits or words; 0 for all else."""
    if token.kind == "number":
        return 0.0 if token.unit else token.value
    return world.words.number_words.get(token.stem, 0.0)


def _is_of_the_others(quantity: Quantity, statement: Statement, world: World) -> bool:
    """True where a sentence gives a share to what the others are."""
    said = frozenset(statement.stems)
    return quantity.dimension == "share" and any(
        abs(one.share.value - quantity.value) < 1e-9 * max(1.0, quantity.value)
        and (
            (bool(_telling(quantity.keys) & _telling(one.others)) and not _telling(quantity.keys) & _telling(one.own))
            or (len(said & one.other_words - _FILLING) >= _SEVERAL and not said & one.own_words - _FILLING)
        )
        for one in world.readings.complements
    )


#: Words that say nothing of what a share is of.
_FILLING = frozenset(
    map(
        stem,
        (
            "the",
            "others",
            "rest",
            "for",
            "that",
            "is",
            "are",
            "in",
            "of",
            "a",
            "wait",
            "to",
            "it",
            "or",
            "too",
            "time",
            "with",
        ),
    )
)
_SEVERAL = 2


def _telling(keys: Keys) -> Keys:
    return frozenset(key for key in keys if key.startswith(("what:", "word:"))) or NONE
