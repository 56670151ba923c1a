"""Whether a sentence says what trusted texts say in their own words: whole clauses of them, with other filling words and units.

Small models copy more than they word. A clause that was copied whole keeps its subject, so its numbers and negations need no further
check; half a clause does not (`the idlest thread works 4.78 s` is made of words of the evidence as well).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from chathpc.grounding.language.tokens import Token
from chathpc.grounding.language.vocabulary import Vocabulary, stem

#: Openings of a sentence that claim nothing.
_LEAD = re.compile(
    r"(?:(?:to|in order to) (?:improve|address|fix|solve|resolve|mitigate|speed up|optimi[sz]e|increase)"
    r"(?: (?:the|this|these|it|overall|its|your))*(?: (?:performance|issues?|problems?|bottlenecks?|program|code|run|speed))*"
    r"(?: of the (?:program|code|run))?,? |(?:the|my|our|first)? ?(?:advice|recommendation|solution|suggestion) is to "
    r"|the best (?:approach|way|option|fix) is to "
    r"|it is (?:recommended|advised|advisable|suggested) to |(?:we|you|one) (?:should|could|can|may) "
    r"|(?:additionally|furthermore|moreover|also|overall|in addition|in summary|in this case|therefore|thus|hence|however|finally"
    r"|as a result|consequently|in conclusion|meanwhile),? )+",
    re.IGNORECASE,
)
_GLUE_WORDS = """the a an this that these those which who is are was were be been being and while whereas but of for with there only just also
 in at on out so has have had its by to over as ever"""
_GLUE = frozenset(map(stem, _GLUE_WORDS.split()))
_ENDS = frozenset(",;:()–—")
_NOT = "not"
#: A comparison has two sides and a word between them.
_LEAST_PHRASE = 3
#: A clause with one of these leans on the clause before it.
_ANAPHORA = frozenset({"it", "them", "they", "rest", "other", "others", "meanwhile"})


@dataclass(frozen=True, slots=True)
class Quotable:
    """A trusted sentence as clauses of words without the filling ones, and the evidence that it is from."""

    clauses: tuple[tuple[str, ...], ...]
    evidence: tuple[str, ...]


def without_lead(sentence: str) -> str:
    """The sentence without an opening that claims nothing (`To improve performance, …`)."""
    found = _LEAD.match(sentence)
    return sentence[found.end() :] if found and found.end() < len(sentence) - 2 else sentence


def quotable(tokens: Sequence[Token], words: Vocabulary, evidence: tuple[str, ...]) -> Quotable:
    """A trusted sentence, to be quoted from."""
    clauses: list[tuple[str, ...]] = []
    current: list[str] = []
    for token in tokens:
        if token.text in _ENDS:
            clauses.append(tuple(current))
            current = []
        else:
            current += content(token, words)
    clauses.append(tuple(current))
    return Quotable(tuple(filter(None, clauses)), evidence)


def quoted(tokens: Sequence[Token], words: Vocabulary, texts: Iterable[Quotable]) -> tuple[str, ...] | None:
    """The evidence of a sentence that is made of whole clauses of trusted texts, in their order; None if it is not."""
    said = [word for token in tokens for word in content(token, words)]
    if not said:
        return None
    texts = [text for text in texts if text.clauses]
    by_first: dict[str, list[Quotable]] = {}
    for text in texts:
        by_first.setdefault(text.clauses[0][0], []).append(text)
    position = 0
    used: list[str] = []
    while position < len(said):
        best, source = 0, None
        for text in by_first.get(said[position], ()):
            length = _run(said, position, text.clauses)
            if length > best:
                best, source = length, text
        if source is None:
            return None
        used += source.evidence
        position += best
    return tuple(dict.fromkeys(used))


def _run(said: Sequence[str], start: int, clauses: Sequence[tuple[str, ...]]) -> int:
    """How many words from `start` are the first clause and whole later ones of a text."""
    position, left_out = start, False
    for number, clause in enumerate(clauses):
        if tuple(said[position : position + len(clause)]) == clause and not (left_out and _ANAPHORA & set(clause)):
            position += len(clause)
        elif number == 0:
            return 0
        else:
            left_out = True
    return position - start


def content(token: Token, words: Vocabulary) -> Iterable[str]:
    """The word, name or number of a token for comparison; nothing for a filling word."""
    if token.kind == "number":
        dimension, factor = words.units[token.unit] if token.unit else ("bare", 1.0)
        yield f"{dimension}={token.value * factor:.6g}"
    elif token.kind in ("code", "file"):
        yield token.text
    elif token.kind == "word" and token.stem not in _GLUE:
        yield token.stem
    elif token.kind == "punctuation" and token.text in "+*/=^<>×":
        yield token.text


def pairs(texts: Iterable[Quotable], words: Vocabulary) -> frozenset[tuple[str, str]]:
    """Each two words of trusted texts that stand beside each other; all negations are one word."""
    return frozenset(
        pair for text in texts for clause in text.clauses for pair in pairwise(_plain(word, words) for word in clause)
    )


def denied(texts: Iterable[Quotable], words: Vocabulary) -> frozenset[tuple[str, str]]:
    """The pairs of words that stand behind a negation wherever they stand together."""
    behind: set[tuple[str, str]] = set()
    free: set[tuple[str, str]] = set()
    for text in texts:
        for clause in text.clauses:
            for index, pair in enumerate(pairwise(clause)):
                (behind if index and clause[index - 1] in words.negations else free).add(pair)
    return frozenset(behind - free)


def pairs_at(tokens: Sequence[Token], position: int, words: Vocabulary) -> Iterable[tuple[str, str]]:
    """The word at `position` with the one before it and the one behind it, filling words left out."""
    own = _plain(tokens[position].stem, words)
    before = next((w for t in reversed(tokens[:position]) for w in content(t, words)), None)
    after = next((w for t in tokens[position + 1 :] for w in content(t, words)), None)
    if after is not None:
        yield own, _plain(after, words)
    if before is not None and own != _NOT and before not in words.neutral:
        yield _plain(before, words), own


def is_phrase(tokens: Sequence[Token], first: int, last: int, words: Vocabulary, texts: Iterable[Quotable]) -> bool:
    """True if the words `first:last` and the one behind them stand so in a trusted text: `more ranks than cores`."""
    said = [w for t in tokens[first:last] for w in content(t, words)]
    said += next(([w] for t in tokens[last:] for w in content(t, words)), [])
    if len(said) < _LEAST_PHRASE:
        return False
    return any(
        list(clause[i : i + len(said)]) == said for text in texts for clause in text.clauses for i in range(len(clause))
    )


def _plain(word: str, words: Vocabulary) -> str:
    return _NOT if word in words.negations else word
