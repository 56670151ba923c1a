"""What a sentence denies, and what it takes away: `is not freed`, `without the imbalance the run could be 1.4x faster`."""

from __future__ import annotations

from chathpc.grounding.denials.denied import is_supported
from chathpc.grounding.evidence.assessed import ASSESSED
from chathpc.grounding.evidence.facts import World
from chathpc.grounding.language.claims import Statement
from chathpc.grounding.language.vocabulary import stem
from chathpc.grounding.numbers.gains import WON, covered, is_gain, is_lower, is_upper
from chathpc.grounding.relations.ranked import ranked
from chathpc.grounding.relations.related import is_quoted

#: What can be taken away without saying what it is.
_VAGUE = frozenset(map(stem, ("it", "this", "that", "bottleneck", "issue", "problem", "cost", "them", "these")))
_MAYBE = frozenset({"could", "can", "may", "might"})
_POSSIBLE = frozenset(
    map(
        stem,
        (
            "could",
            "can",
            "would",
            "may",
            "might",
            "most",
            "without",
            "if",
            "potential",
            "possible",
            "up",
            "bound",
            "limit",
            "best",
        ),
    )
)
_LONGEST_CONDITION = 10
#: What becomes faster begins where the condition ends.
_WHOLE = frozenset(map(stem, ("run", "program", "application", "kernels")))


def negation(statement: Statement, world: World) -> str:
    """What is wrong with the negations of a statement: none of them may say more than a trusted text or the verdict."""
    stems = statement.stems
    denied = [p for p, word in enumerate(stems) if word in world.words.negations and p not in covered(statement)]
    if world.healthy and "bottleneck" in stems:
        return "" if denied else "verdict"
    if is_gain(statement) and _takes_remedy(statement):
        return "negation"
    for position in denied:
        if is_gain(statement) and _is_condition(statement, position):
            if not _is_gain(statement, position, world):
                return "negation"
        elif not is_supported(statement, position, world):
            return "negation"
    return ""


def numerals(statement: Statement, world: World, *, advice: bool) -> bool:
    """False for a number in words that counts nothing known: `nine of ten loads`, `on two of the threads`, `thousands of items`."""
    known = {f.quantity.value for f in world.facts if f.quantity.dimension in ("count", "bare", "ratio", "factor")}
    known |= world.advice_numbers if advice else set()
    known |= {float(len(statement.names)), float(sum(bundle.cause is not None for bundle in world.bundles))}
    counted = [(q.start, q.end) for q in statement.quantities]
    for token in statement.tokens:
        value = world.words.number_words.get(token.stem, 0.0) if token.kind == "word" else 0.0
        if value < _LEAST_COUNTED + advice or any(first <= token.start < last for first, last in counted):
            continue
        if value not in known and token.stem not in (world.stems | (world.advice_stems if advice else frozenset())):
            return False
    return True


_LEAST_COUNTED = 2


def affirmed(statement: Statement, world: World) -> bool:
    """False if a sentence says what trusted texts only deny: `can work ahead` where these say `cannot work ahead`."""
    stems = statement.stems
    for position in range(len(stems) - 1):
        pair = (stems[position], stems[position + 1])
        if pair in world.denied and not world.words.negations & set(stems[max(0, position - 2) : position]):
            return False
    return True


def growth(statement: Statement, world: World) -> bool:
    """False if a sentence says that something changes: a profile is of one run, so only a trusted text can know."""
    won = any(
        q.dimension == ASSESSED and q.noun in WON for q in statement.quantities
    )  # `would shrink to 0.8 s at best`
    grows = [p for p, word in enumerate(statement.stems) if word in _GROWS and not (won and word in _SHRINKS)]
    return all(is_quoted(statement, p, world) for p in grows)


_SHRINKS = frozenset(map(stem, ("shrink", "decrease")))
_GROWS = frozenset(map(stem, ("grow", "grows", "increase", "decrease", "worsen", "rise", "shrink", "scale", "scales")))


def prediction(statement: Statement, world: World) -> str:
    """`prediction` if a sentence says what will or can be, and no trusted text does; a profile knows nothing of it."""
    belongs = covered(statement)
    if "will" not in world.stems and any(w == "will" and p not in belongs for p, w in enumerate(statement.stems)):
        return "prediction"
    gain = (
        any(q.dimension == ASSESSED for q in statement.quantities)
        or is_gain(statement)
        or bool(ranked(statement, world))
    )
    maybe = [p for p, word in enumerate(statement.stems) if word in _MAYBE]
    return "" if gain or all(is_quoted(statement, p, world) for p in maybe) else "prediction"


def promise(statement: Statement) -> str:
    """`gain` if a speed-up is told as a fact, as the least that would be won, or as a loss: it is a bound of what could be."""
    stems = statement.stems
    gains = [q for q in statement.quantities if q.dimension == "factor"]
    told = any("what:speedup" in q.keys for q in gains)
    if told and not _POSSIBLE & set(stems) and not is_upper(statement):
        return "gain"
    if gains and is_lower(statement):
        return "gain"
    if not _MODAL & set(stems):
        return ""
    least = any((q.exactness == "above" and not q.in_words) or set(stems) >= _AT_LEAST for q in gains)
    slower = any(t.stem == _SLOWER and 0 <= t.start - q.end < _BEHIND for q in gains for t in statement.tokens)
    return "gain" if least or slower else ""


_MODAL = frozenset({"could", "can", "would", "may", "might", "without"})
_AT_LEAST = frozenset({"at", "least"})
_SLOWER, _BEHIND = stem("slower"), 8


def _names_cause(own: set[str], cause: str, world: World) -> bool:
    """True for `faults` of page faults; not for `regions` of small regions, which are only small."""
    for phrase, meanings in world.words.phrases.table.items():
        missing = set(phrase) - own
        if cause in meanings and own <= set(phrase) and phrase[-1] in own and not missing & world.words.levels.keys():
            return True
    return False


def _is_condition(statement: Statement, position: int) -> bool:
    """True for `without X`, `if the threads did not X`: what is taken away."""
    stems = statement.stems
    segment = statement.segment_at(position)
    first = segment.first if segment else 0
    return stems[position] == "without" or (
        stems[position] in _NOT and "if" in (*stems[first:position], segment.joint if segment else "")
    )


_NOT = frozenset({"not", "didn't", "weren't", "no"})


def _takes_remedy(statement: Statement) -> bool:
    """True for a gain of what is not there yet, or beside what is: `without this fix 2x faster`, `2x faster than without the problem`."""
    stems = statement.stems
    for position, word in enumerate(stems):
        if word != "without":
            continue
        if stems[max(0, position - 1) : position] == ("than",) and _SLOWER not in stems:
            return True
        behind = stems[position + 1 : position + 1 + _LONGEST_REMEDY]
        noun = next((word for word in behind if word not in _SOME), "")
        if noun in _REMEDIES and behind[0] in _SOME:
            return True
    return False


#: `this` optimisation is the one that is advised; without `any` change of the code is said of a remedy as well.
_SOME = frozenset(
    map(
        stem,
        ("this", "the", "that", "these", "those", "such", "suggested", "proposed", "recommended", "advised", "first"),
    )
)
_REMEDIES = frozenset(
    map(stem, ("optimization", "optimisation", "fix", "change", "improvement", "remedy", "adjustment", "solution", "tuning", "modification", "advice",
               "recommendation", "correction"))
)  # fmt: skip
_LONGEST_REMEDY = 4


def _is_gain(statement: Statement, position: int, world: World) -> bool:
    """True for `without X` beside a speed-up, where X is what a finding costs."""
    end = position + 1
    while end < len(statement.tokens) and end < position + _LONGEST_CONDITION:
        token = statement.tokens[end]
        if token.text == "," or (token.stem in _WHOLE and end > position + 1) or token.kind == "number":
            break
        end += 1
    marks = [m for s in statement.segments for m in s.marks if position < m.position < end]
    keys = frozenset(key for m in marks for key in m.keys)
    own = {w for w in statement.stems[position + 1 : end] if w} - world.words.plain - set(map(stem, world.plain_names))
    if statement.stems[position + 1] in ("this", "these") and any(
        bundle.cause and own <= bundle.stems for bundle in world.bundles
    ):
        return True
    if own and any(_names_cause(own, cause, world) for cause in world.causes):
        return True
    if not keys:
        return bool(_VAGUE & set(statement.stems[position + 1 : end]))
    return any(
        keys & (world.words.causes[cause].reason | world.words.causes[cause].effect)
        for cause in world.causes
        if cause in world.words.causes
    )
