"""Sentences that tell what to do: allowed where they say what a finding advises."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from chathpc.grounding.denials.foretold import HARMS
from chathpc.grounding.denials.needless import is_done_already
from chathpc.grounding.denials.retold import is_retold
from chathpc.grounding.evidence.facts import World
from chathpc.grounding.language.claims import Statement
from chathpc.grounding.language.quantities import DETERMINERS, NONE
from chathpc.grounding.language.tokens import Token, plain_code
from chathpc.grounding.language.vocabulary import stem
from chathpc.grounding.numbers.gains import is_gain
from chathpc.grounding.numbers.match import EVENNESS
from chathpc.grounding.relations.ranked import ranked

#: Words of advice that begin statements as well: `File writes take …`.
_ALSO_NOUNS = frozenset(
    map(stem, ("can", "may", "need", "write", "help", "register", "schedule", "using", "move", "fix"))
)
#: What doing something does, where a sentence of advice begins with it: `Sorting once would …`.
_HELPS = frozenset(map(stem, ("would", "could", "can", "may", "might", "avoids", "helps", "improves", "reduces")))
_SAYS = frozenset(
    [
        "takes",
        "is",
        "has",
        "spends",
        "calls",
        "accounts",
        "makes",
        "costs",
        "needs",
        "waits",
        "runs",
        "was",
        "are",
        "dominates",
        "uses",
    ]
)
_WAS = frozenset({"was", "were", "has", "been"})
_MAY = frozenset({"can", "may"})
#: Also in words these say what would be won.
_GAINED, _NEARLY_ALL = ("share", "factor"), 70
#: Words of the advice that a paraphrase must share, unless it holds a directive, flag or function from it.
_SHARED = 2


def is_advice(statement: Statement, world: World) -> bool:
    """True for an imperative, a modal verb, or `to fix this, …`."""
    if ranked(statement, world):
        return False  # `the larger gain can be expected from f`
    stems = statement.stems
    opening = next((t for t in statement.tokens if t.kind == "word"), None)
    first = _base_form(opening) if opening else ""
    gerund = opening is not None and opening.text.lower().endswith("ing")
    gain = is_gain(statement)
    if opening is not None and gerund and set(stems) & _HELPS and not gain:
        return opening.stem in world.advice_stems | world.words.remedies | world.words.advice
    asks = set(stems) & world.words.modal or _begins(statement, first, world)
    if not asks and statement.names - world.names and _WAS & {t.text.lower() for t in statement.tokens}:
        return False  # `was built with -O0` tells what is
    denied = [p for p, word in enumerate(stems) if word in world.words.negations]
    if any(is_done_already(statement, p, world) for p in denied):
        return False
    if not statement.quantities and any(one in _MAY and other == "be" for one, other in pairwise(stems)):
        return True  # `can be replaced by`
    if statement.names and not statement.names <= world.names and statement.names <= world.names | world.advice_names:
        return True
    if echoes(statement, world) or _is_worth_doing(statement, world):
        return True
    return (bool(set(stems) & world.words.modal) and not gain) or _begins(statement, first, world)


def echoes(statement: Statement, world: World) -> bool:
    """True for one piece of the findings' advice in other words: an instruction of which most words, and all that count, are in it."""
    words, tokens = world.words, statement.tokens
    opened = [t for before, t in pairwise(tokens) if before.kind == "punctuation" or before.stem in ("and", "to")]
    begun = {_base_form(t) for t in (*tokens[:1], *opened)} - {""}
    said = {t.stem for t in tokens if t.kind == "word"}
    content = {t.stem for t in tokens if t.kind == "word" and (t.stem not in words.plain or t.stem in words.changes)}
    strict = {w for w in said if (len(w) == 1 and w != "a") or w in words.levels or w in words.negations}
    strict |= {w for w in said if w in words.changes or words.comparisons.at((w,), 0)[0]} - _PURPOSES
    content -= _PURPOSES
    strict |= statement.names | {f"={t.value:g}" for t in tokens if t.kind == "number"}
    return any(
        strict <= told
        and len(content & told) >= max(_SHARED, _MOSTLY * len(content - (words.neutral - told)))
        and begun & (told - words.plain | words.advice | _INSTRUCTIONS)
        for told in world.advised_words
    )


_PURPOSES = frozenset(map(stem, ("improve", "reduce", "avoid", "better")))
_INSTRUCTIONS = frozenset(
    map(stem, ("get", "hand", "open", "swap", "exchange", "cut", "deal", "treat", "launch", "work", "see"))
)
_MOSTLY = 0.66


def _begins(statement: Statement, first: str, world: World) -> bool:
    """True if the sentence, or a clause of it behind a comma, `so` or `then`, begins with an imperative."""
    imperative = world.words.advice - _ALSO_NOUNS
    tokens = statement.tokens
    if len(tokens) > 1 and tokens[1].text.lower() in _SAYS:
        return False  # `write takes 2.11 s` begins with a noun
    opened = (t for before, t in pairwise(tokens) if before.stem in ("so", "then") or before.kind == "punctuation")
    begun = [_base_form(token) for token in opened]
    if begun and first in _CONDITIONS:  # `To improve performance, share …`, `If you want to tune f, compile …`
        return any(one in imperative | world.openers for one in begun)
    return first in imperative | world.openers or any(one in imperative for one in begun)


_CONDITIONS = frozenset({"to", "if", "when"})


def _is_worth_doing(statement: Statement, world: World) -> bool:
    """True for `it is worth compiling the file with -O3`: a recommendation of something that is advised."""
    return any(
        one.stem == _WORTH and other.text.lower().endswith("ing") and other.stem in world.advice_stems
        for one, other in pairwise(statement.tokens)
    )


_WORTH = stem("worth")


def _base_form(token: Token) -> str:
    """The stem of a word that can be an imperative; none of `Copies take` and `Calls of pow`."""
    text = token.text.lower()
    inflected = text.endswith(("s", "ed", "ing")) and not text.endswith(("ss", "need", "embed"))
    return "" if inflected else token.stem


def supported(statement: Statement, world: World) -> str:
    """An empty string if a sentence paraphrases the findings' advice, else what is wrong with it."""
    own = {t.stem for t in statement.tokens if t.kind == "word"}
    if _contrary(own, world):
        return "direction"
    if echoes(statement, world):
        return ""
    known = world.advice_names
    names = statement.names
    if any(not {name, name.removeprefix("std::")} & (known | world.names) for name in names):
        return "name"
    if own & HARMS - world.advice_stems:
        return "prediction"  # nobody measured what a change would break
    if any(not {name, plain_code(name)} & known for name in _put_in_place(statement)):
        return "direction"  # what there is already is nothing to change it to
    unknown = world.words.negations - _nearest(own, world)
    if any(word in unknown and not is_retold(statement, p, world) for p, word in enumerate(statement.stems)):
        return "negation"
    content = own & world.advice_stems - (world.words.neutral - world.words.advice - world.words.remedies)
    if not names & known and len(content) < _SHARED and not (content and _serves(statement, world)):
        return "advice"
    if not names & known and not content - (world.said - world.words.remedies):
        return "advice"  # words of what is, none of what to do
    told = [q for q in statement.quantities if not q.in_words or (q.dimension in _GAINED and q.value < _NEARLY_ALL)]
    wrong = [q for q in told if q.value not in world.advice_numbers]
    if wrong:
        return "number"
    if "than" in statement.stems and not {"than", "rather"} & (world.advice_stems | set(statement.stems)) - {"than"}:
        return "comparison"  # what would be faster than what nobody measured
    return "" if _changes(statement, world) else "direction"


def _put_in_place(statement: Statement) -> Iterable[str]:
    """The names that something is to be changed to or replaced by: `b(x)` of `change the call of a(x) to b(x)`."""
    changing = False
    for position, token in enumerate(statement.tokens):
        if token.kind == "punctuation":
            changing = False
        changing = changing or token.stem in _CHANGING
        before = [word for word in statement.stems[max(0, position - 3) : position] if word not in DETERMINERS]
        if changing and token.kind == "code" and before and before[-1] in _BY:
            yield token.text


_CHANGING = frozenset(map(stem, ("change", "changing", "replace", "replacing", "switch", "turn", "convert")))
_BY = frozenset({"to", "by", "with", "into"})


def _nearest(own: set[str], world: World) -> frozenset[str]:
    """The words of the piece of advice that a sentence is most like."""
    return max(world.advised_words, key=lambda words: len(own & words - world.words.plain), default=frozenset())


def _contrary(own: set[str], world: World) -> bool:
    """True for advice that says `after the loop`, `the first index` where the piece that it is most like says the opposite."""
    told = _nearest(own, world)
    for pair in _OPPOSITES:
        for mine, other in (pair, pair[::-1]):
            if own & mine and not own & other and told & other and not told & mine:
                return True
    return False


_OPPOSITES = tuple(
    (frozenset(map(stem, one)), frozenset(map(stem, other)))
    for one, other in (
        (("first",), ("last",)),
        (("before",), ("after",)),
        (("inner", "innermost"), ("outer", "outermost")),
        (("large", "larger", "big", "bigger"), ("small", "smaller")),
        (("early", "earlier"), ("late", "later")),
        (("float",), ("double",)),
    )
)


def _serves(statement: Statement, world: World) -> bool:
    """True if a sentence names what a finding is about as what would change: `… would improve the balance`."""
    keys = frozenset(k for s in statement.segments for k in s.keys)
    known = [world.words.causes[c] for c in world.causes if c in world.words.causes]
    purpose = frozenset(k for one in known for k in one.reason | one.effect)
    return bool(keys & (purpose | (EVENNESS if purpose & EVENNESS else NONE)))


def _changes(statement: Statement, world: World) -> bool:
    """False if the sentence promises to raise what is too high or to lower what is too low."""
    for segment in statement.segments:
        for position in range(segment.first, segment.last):
            change = world.words.changes.get(statement.tokens[position].stem)
            following = [m for m in segment.marks if position < m.position <= position + 4]
            if change is None or not following:
                continue
            keys = frozenset(k for m in following for k in m.keys)
            between = statement.stems[position + 1 : following[0].position]
            if change == "reduce" and any(world.words.levels.get(word) in ("low", "small") for word in between):
                continue  # `avoid the small writes`
            wrong = {(key, "high" if change == "raise" else "low") for key in keys}
            right = {(key, "low" if change == "raise" else "high") for key in keys}
            if wrong & world.levels and not right & world.levels:
                return False
    return True
