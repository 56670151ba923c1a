"""What would be: only what a finding advises has an effect that can be told, and only as far as a trusted text tells it."""

from __future__ import annotations

from chathpc.grounding.evidence.facts import World
from chathpc.grounding.language.claims import Statement
from chathpc.grounding.language.vocabulary import stem
from chathpc.grounding.relations.related import is_quoted
from chathpc.grounding.relations.states import denies_absent

_WOULD = frozenset({"would", "will"})
_SKIPPED = frozenset(
    map(
        stem,
        (
            "also",
            "then",
            "still",
            "even",
            "only",
            "just",
            "probably",
            "likely",
            "certainly",
            "surely",
            "thus",
            "therefore",
            "not",
            "again",
            "soon",
        ),
    )
)
#: Comparisons with what nobody has measured: `just as long`, `even more`, `the same gain as`.
_ALIKE = (
    (stem("even"), "more"),
    (stem("even"), "less"),
    ("just", "as"),
    ("no", "longer"),
    ("far", "more"),
    ("much", "more"),
)
_COMPARED = frozenset(
    map(stem, ("faster", "slower", "worse", "quicker", "cheaper", "longer", "shorter", "higher", "lower"))
)
#: What can be said of a remedy without a number.
_GOOD = frozenset(
    map(stem, ("good", "better", "best", "helpful", "useful", "worth", "worthwhile", "sensible", "possible", "advisable", "wise", "reasonable", "easier",
               "to", "a", "an", "the", "at", "up", "by", "well", "one", "first"))
)  # fmt: skip
#: What harms a program: nobody measured what a change would break.
HARMS = frozenset(
    map(stem, ("break", "damage", "ruin", "hurt", "harm", "crash", "corrupt", "fail", "kill", "worsen", "impair"))
)
#: What happens to a program by itself is not foretold.
_HAPPENS = HARMS | frozenset(
    map(stem, ("overflow", "exceed", "abort", "suffer", "stay", "remain", "become", "vanish", "disappear", "double",
               "triple", "continue", "saturate", "dominate", "grow", "starve", "stall", "scale", "collapse", "deadlock"))
)  # fmt: skip


def foretells(statement: Statement, world: World) -> bool:
    """True for `would be limited by the bandwidth`, `would hurt even more`, `will also vectorise`, `the same gain as`."""
    stems = statement.stems
    gain = any(q.dimension == "factor" and not q.in_words for q in statement.quantities)
    for position, word in enumerate(stems):
        counted = position > 0 and statement.tokens[position - 1].kind == "number"  # `where 4 would be enough`
        if word not in _WOULD or gain or counted or is_quoted(statement, position, world):
            continue
        following = [p for p in range(position + 1, len(stems)) if stems[p] not in _SKIPPED][:2]
        if not following:
            continue
        verb = stems[following[0]]
        behind = stems[position + 1 :]
        if word == "will" and "will" not in world.stems:
            return True
        if verb in _HAPPENS and verb not in world.stems | world.advice_stems:
            return True
        if verb == "be" and len(following) > 1 and not _is_told(statement, following[1], world):
            return True
        if _is_compared(behind):
            return True
    return False


_SAME = stem("same")


def _is_told(statement: Statement, position: int, world: World) -> bool:
    """True for the `float` of `would be a float`, the `helpful` of `would be helpful`."""
    word = statement.stems[position]
    return word in _GOOD or statement.tokens[position].kind == "number" or is_quoted(statement, position, world)


def _is_compared(words: tuple[str, ...]) -> bool:
    if any(words[p : p + 2] in _ALIKE for p in range(len(words))):
        return True
    if _SAME in words and "as" in words[words.index(_SAME) :]:
        return True
    return bool(_COMPARED & set(words[:4]))


def denies_state(statement: Statement, world: World) -> bool:
    """True for `the program is not vectorised` where only advice speaks of it: what to look for is not yet found."""
    stems = statement.stems
    for position in range(len(stems) - 2):
        if stems[position] in _IS and stems[position + 1] in _NOT and statement.tokens[position + 2].kind == "word":
            state = stems[position + 2]
            advised = any(state in words for words in world.advised_words)
            told = any(
                pair in world.told for pair in (("not", state), ("not", stems[min(position + 3, len(stems) - 1)]))
            )
            if advised and not told and state not in world.said and not denies_absent(statement, position + 1, world):
                return True
    return False


_IS = frozenset({"is", "are", "was", "were"})
_NOT = frozenset(map(stem, ("not", "never")))
