"""What trusted texts say of single things beside their numbers: who does what, what they deny, which lines are the hottest, which way advice goes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from chathpc.grounding.evidence.ways import Ways, ordered, ways
from chathpc.grounding.language.claims import Statement
from chathpc.grounding.language.quantities import Keys, Quantity
from chathpc.grounding.language.quotation import Quotable
from chathpc.grounding.language.tokens import plain_code
from chathpc.grounding.language.vocabulary import Vocabulary, stem

#: `a.cols` and `all->next`, and the `tile` of `tile[32]`.
_MEMBER = re.compile(r"(?<![\w.:<])[A-Za-z_]\w*(?:(?:\.|->)[A-Za-z_]\w*)+|(?<![\w.])[A-Za-z_]\w*(?=\[)")
#: `x*x*x`, `(x*x)*(x*x)` and `x * sqrt(x)`.
_FACTOR = r"(?:[A-Za-z_]\w*(?:(?:\.|->)[A-Za-z_]\w*)*(?:\[[^\]]{0,40}\])*(?:\([^()]{0,40}\))?|\d+(?:\.\d+)?(?:e[+-]?\d+)?|\([^()]{0,40}\))"
_PRODUCT = re.compile(rf"(?<![\w*.>])(?<!\d ){_FACTOR}(?:\s?[*/]\s?{_FACTOR})+")
_LETTER = re.compile(r"\b[A-Za-z]\b")
#: Words that deny the verb behind them.
_NOT = frozenset(map(stem, ("not", "never", "cannot", "can't", "doesn't", "don't", "isn't", "aren't")))
_HOTTEST = stem("hottest")
_THEM = frozenset({"it", "them", "these"})
_NOTHING = frozenset(map(stem, ("nothing", "none", "nobody", "neither")))
#: Words between `hottest line` or `loop` and the line.
_FAR = 4


@dataclass(frozen=True, slots=True)
class Complement:
    """A share with what it is of, and what only the others are: `5.35 % wait for a queue, the others for data`."""

    share: Quantity
    own: Keys
    others: Keys
    own_words: frozenset[str]
    other_words: frozenset[str]


@dataclass(frozen=True, slots=True)
class Readings:
    """What the trusted texts of a diagnosis say of single things."""

    doers: Mapping[str, frozenset[str]]  #: for each word that stands behind a name of the program, these names
    denied: frozenset[str]  #: words that stand only behind a negation
    hottest: frozenset[str]  #: lines that are called the hottest ones
    loops: frozenset[str]  #: lines that are only told as where a loop is
    members: frozenset[str]  #: `a.cols`, and arrays with an index
    products: frozenset[str]  #: `x*x*x*x`, without spaces and brackets
    siblings: Mapping[
        tuple[str, str], tuple[frozenset[str], frozenset[str]]
    ]  #: `stall reason wait`: its own words and only the others' words
    letters: frozenset[str]  #: names of one letter
    complements: tuple[Complement, ...]
    ways: tuple[Ways, ...]  #: of each piece of advice
    order: Ways  #: what comes before and after what in texts that are no advice


def readings(
    texts: Iterable[Quotable],
    statements: Iterable[Statement],
    advice: Iterable[Statement],
    plain: Iterable[str],
    names: frozenset[str],
    words: Vocabulary,
) -> Readings:
    """Read the trusted texts: `texts` that are no advice, `advice`, and all of them as they are written (`plain`)."""
    clauses = [clause for text in texts for clause in text.clauses]
    doers: dict[str, set[str]] = {}
    for clause in clauses:
        for name, word in pairwise(clause):
            if name in names and word not in names and "=" not in word and word not in words.negations:
                doers.setdefault(word, set()).add(plain_code(name))
    statements, plain = tuple(statements), tuple(plain)
    loops = frozenset(line for s in statements for line in looped(s))
    return Readings(
        {word: frozenset(found) for word, found in doers.items()},
        _only_denied(clauses, words),
        frozenset(line for s in statements for line in hottest(s)),
        loops
        - frozenset(n for s in statements for n in lines(s) if n not in looped(s))
        - frozenset(n for s in statements for n in hottest(s)),
        frozenset(member for text in plain for member in members(text)),
        frozenset(product for text in plain for product in products(text)),
        _siblings(statements),
        frozenset(letter for text in plain for letter in _LETTER.findall(text)),
        tuple(complements(statements)),
        tuple(ways(statement, words) for statement in advice),
        Ways(
            frozenset(way for s in statements for way in ordered(ways(s, words))), frozenset(), frozenset(), frozenset()
        ),
    )


def _only_denied(clauses: Iterable[tuple[str, ...]], words: Vocabulary) -> frozenset[str]:
    """The words that are denied wherever they stand: `change` of `arguments that do not change`."""
    denied: set[str] = set()
    free: set[str] = set()
    for clause in clauses:
        for second, before, word in zip(("", "", *clause), ("", *clause), clause, strict=False):
            (denied if before in _NOT or (second in _NOTHING and before in _THEM) else free).add(word)
    telling = (w for w in denied - free if "=" not in w and w not in words.levels)
    return frozenset(w for w in telling if not (words.subjects.at((w,), 0)[0] or words.comparisons.at((w,), 0)[0]))


def lines(statement: Statement) -> frozenset[str]:
    """The lines (`heat.c:12`) that a statement names."""
    return frozenset(t.text for t in statement.tokens if t.kind == "file" and ":" in t.text)


def looped(statement: Statement) -> frozenset[str]:
    """The lines that a statement names as those of a loop: `in the loop at heat.c:10`."""
    return frozenset(
        token.text
        for position, token in enumerate(statement.tokens)
        if token.kind == "file" and ":" in token.text and _LOOP in _before(statement, position)
    )


_LOOP = stem("loop")


def _before(statement: Statement, position: int) -> tuple[str, ...]:
    """The words before a place, up to another line or the clause's beginning."""
    first = max((p + 1 for p in range(position) if statement.tokens[p].kind in ("file", "punctuation")), default=0)
    return statement.stems[max(first, position - _FAR) : position]


def hottest(statement: Statement) -> frozenset[str]:
    """The lines that a statement calls the hottest: `its hottest line is heat.c:12, in the loop at heat.c:10`."""
    position = next((p for p, word in enumerate(statement.stems) if word == _HOTTEST), None)
    if position is None or not {"lin", "line"} & set(statement.stems[position + 1 : position + 3]):
        return frozenset()
    before = statement.tokens[max(0, position - 3) : position]
    subject = next(
        (t for t in before if t.kind == "file" and ":" in t.text and _IS & {one.stem for one in before}), None
    )
    if subject is not None:
        return frozenset({subject.text})  # `heat.c:12 is the hottest line`
    behind = next((t for t in statement.tokens[position:] if t.kind == "file" and ":" in t.text), None)
    return frozenset({behind.text} if behind else ())


_IS = frozenset({"is", "was"})


def products(text: str) -> frozenset[str]:
    """The products of variables in a text, without spaces and brackets around products: `x*x*x*x` for `(x * x)*(x * x)`."""
    found = (_BRACKETS.sub(r"\1", "".join(product.split())) for product in _PRODUCT.findall(text[:2_000]))
    return frozenset(one for one in found if "*" in one and _NAMED.search(one))


_NAMED = re.compile(r"[A-Za-z_]")
_BRACKETS = re.compile(r"(?<![\w\]])\(([\w.*]+)\)")


def members(text: str) -> frozenset[str]:
    """Members of objects and arrays with an index as they are written: `a.cols`, `tile` of `tile[32]`."""
    return frozenset(_MEMBER.findall(text))


def complements(statements: Iterable[Statement]) -> Iterable[Complement]:
    """The shares of trusted texts beside which stands what the others are."""
    for statement in statements:
        for before, segment in zip(statement.segments, statement.segments[1:], strict=False):
            words = set(statement.stems[segment.first : segment.first + 3])
            if not words & _OTHERS or segment.quantities:
                continue
            here, there = (frozenset(statement.stems[one.first : one.last]) - {""} for one in (before, segment))
            for quantity in before.quantities:
                if quantity.dimension == "share":
                    yield Complement(
                        quantity, before.keys - segment.keys, segment.keys - before.keys, here - there, there - here
                    )


_OTHERS = frozenset(map(stem, ("others", "rest", "remainder", "remaining")))


def _siblings(statements: Iterable[Statement]) -> dict[tuple[str, str], tuple[frozenset[str], frozenset[str]]]:
    """The words of trusted texts that begin alike and then name one of a kind: `Stall reason wait: …`, `Stall reason barrier: …`."""
    kinds: dict[tuple[str, ...], dict[str, frozenset[str]]] = {}
    for statement in statements:
        begun = statement.stems[:3]
        if (
            len(begun) == len(set(begun) - {""}) == 3
            and statement.tokens[0].kind == statement.tokens[1].kind == "word"
            and not statement.segments[0].quantities
        ):
            told = frozenset(f"={t.value:g}" if t.kind == "number" else t.stem for t in statement.tokens)
            kinds.setdefault(begun[:2], {})[begun[2]] = told
    return {
        (kind[1], one): (told, frozenset(w for other in those.values() for w in other) - told)
        for kind, those in kinds.items()
        for one, told in those.items()
        if len(those) > 1
    }
