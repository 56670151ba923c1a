"""A sentence parted into clauses: where each begins and ends, and the word that joins it to the one before."""

from __future__ import annotations

from collections.abc import Sequence

from chathpc.grounding.language.quantities import DETERMINERS
from chathpc.grounding.language.tokens import Token
from chathpc.grounding.language.vocabulary import Vocabulary, stem

SEPARATORS = frozenset(",;:–—=×")
_CONJUNCTIONS = frozenset(
    map(
        stem,
        (
            "while",
            "whereas",
            "but",
            "and",
            "which",
            "where",
            "when",
            "if",
            "although",
            "though",
            "versus",
            "vs",
            "against",
        ),
    )
)


def bounds(
    tokens: Sequence[Token], stems: Sequence[str], words: Vocabulary, numbers: frozenset[int] = frozenset()
) -> list[tuple[int, int, str]]:
    """First and last word of each clause, and how it is joined: reason, result, or the conjunction.

    `numbers` are the positions of words that are part of a number: `two and a half times` is one.
    """
    bounds, first, joint, position = [], 0, "", 0
    while position < len(tokens):
        reason, _ = words.reasons.at(stems, position)
        if reason and stems[position] in _COMES and position and stems[position - 1] in words.negations:
            reason = 0  # `4 % do not come from conflicts`: the number is of what it denies
        result, _ = words.results.at(stems, position)
        length = reason or result
        parts = tokens[position].text in SEPARATORS or stems[position] in _CONJUNCTIONS
        if not length and _begins_relative(tokens, stems, position):
            length = 1
        if not length and parts and not _joins_nouns(tokens, stems, position, words):
            length = 0 if position in numbers or _joins_numbers(tokens, stems, position, words) else 1
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
    return _joined(bounds, tokens, stems, words, numbers)


_COMES = frozenset(map(stem, ("come", "stem", "arise", "result")))


def _joined(
    bounds: list[tuple[int, int, str]],
    tokens: Sequence[Token],
    stems: Sequence[str],
    words: Vocabulary,
    numbers: frozenset[int],
) -> list[tuple[int, int, str]]:
    """The clauses with items of a list put together: `waits, barriers and collectives`, `f, g and h take 3 s`."""
    joined: list[tuple[int, int, str]] = []
    for first, last, joint in bounds:
        before = joined[-1] if joined else None
        if before is not None and joint in _LISTING:
            item = _is_item(tokens, stems, first, last, words)
            is_open = _is_item(tokens, stems, before[0], before[1], words, limit=_LONGEST_LIST)
            parts = [p for p in numbers if stems[p] in words.fractions]
            item = item and not any(first <= p < last for p in parts)
            is_open = is_open and not any(before[0] <= p < before[1] for p in parts)
            if (item or is_open) and not _is_opening(stems, before) and not _is_apposed(stems, first):
                joined[-1] = (before[0], last, before[2])
                continue
        joined.append((first, last, joint))
    return joined


_LISTING = frozenset({",", "and", "or", "–", "—"})
#: What says where the most of a clause before the comma is: `…, mostly in f`.
_APPOSED = frozenset(
    map(stem, ("mostly", "mainly", "primarily", "chiefly", "predominantly", "largely", "especially", "notably", "particularly"))
)  # fmt: skip
_WHERE = frozenset({"in", "at", "by", "from", "inside", "below", "within"})


def _is_apposed(stems: Sequence[str], first: int) -> bool:
    behind = stems[first + 1] if first + 1 < len(stems) else ""
    return stems[first] in _APPOSED and behind in _WHERE


_LONGEST_ITEM, _LONGEST_LIST = 4, 12
#: A clause has one of these; an item of a list does not.
_FINITE = frozenset(
    map(
        stem,
        ("is", "are", "was", "were", "has", "have", "had", "take", "spend", "spent", "wait", "compute", "run", "go", "do", "does", "make", "work",
         "need", "use", "account", "cost", "add", "lose", "cause", "waiting", "computing", "calls", "allocates", "can", "could", "would", "should"),
    )
)  # fmt: skip


def _is_item(
    tokens: Sequence[Token], stems: Sequence[str], first: int, last: int, words: Vocabulary, limit: int = _LONGEST_ITEM
) -> bool:
    """True for words that only name things: no number, no verb."""
    if last - first > limit or any(t.kind == "number" for t in tokens[first:last]):
        return False
    return not any(
        (word in _FINITE or (word in words.verbs and first < p)) and not (p == 0 and _is_gerund(tokens[p]))
        for p, word in enumerate(stems[first:last], first)
    )


def _is_gerund(token: Token) -> bool:
    return token.kind == "word" and token.text.lower().endswith("ing")


def _is_opening(stems: Sequence[str], bound: tuple[int, int, str]) -> bool:
    """True for an opening before a comma that is no part of a list: `Together, …`, `In this case, …`."""
    return bound[0] == 0 and stems[0] in _OPENING


_OPENING = frozenset(
    map(stem, ("together", "overall", "in", "to", "of", "this", "however", "without", "with", "currently", "meanwhile"))
)


def _begins_relative(tokens: Sequence[Token], stems: Sequence[str], position: int) -> bool:
    """True for the `that` of `3.2 s that the threads could work`, the `with` of `in 12 calls with a mean of 512 bytes`, and `97 % leaves little to win`."""
    if position and tokens[position - 1].kind == "number" and stems[position] in _LEAVES:
        return bool(_LITTLE & set(stems[position + 1 : position + 3]))
    if stems[position] == "that":
        return position > 0 and tokens[position - 1].kind == "number"
    if stems[position] != "with" or (position and tokens[position - 1].kind in ("code", "file")):
        return False  # `f with 17.2 %, g with 16.8 %`
    before, after = tokens[max(0, position - 4) : position], tokens[position + 1 : position + 7]
    return any(t.kind == "number" for t in before) and any(t.kind == "number" for t in after)


#: What is said behind these is not what the number before them is of.
_LEAVES, _LITTLE = (
    frozenset(map(stem, ("leaves", "leave", "there"))),
    frozenset(map(stem, ("little", "nothing", "no", "hardly", "few"))),
)


def _joins_numbers(tokens: Sequence[Token], stems: Sequence[str], position: int, words: Vocabulary) -> bool:
    """True for the `and` of `between 415 ms and 553 ms`, and for the `but` of `nothing but copies`."""
    if stems[position] == "but":
        return position > 0 and stems[position - 1] in _ALL_BUT
    if stems[position] != "and" or not 0 < position < len(tokens) - 1:
        return False
    sides = (tokens[position - 1], tokens[position + 1])
    return all(t.kind == "number" for t in sides) and "between" in stems[max(0, position - 4) : position]


_ALL_BUT = frozenset(map(stem, ("nothing", "anything", "everything", "all", "none", "nobody")))


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
