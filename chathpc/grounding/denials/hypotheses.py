"""What only would be: other machines and other numbers of ranks, which no profile knows of, and what trusted texts say would be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chathpc.grounding.evidence.facts import World
from chathpc.grounding.language.claims import Statement
from chathpc.grounding.language.quotation import Quotable
from chathpc.grounding.language.vocabulary import stem

_WOULD = frozenset(map(stem, ("would", "could", "will", "might", "should", "if", "may", "can")))
#: What a run is made on; another number or kind of it is another run.
_MACHINE = frozenset(
    map(stem, ("rank", "thread", "process", "node", "core", "socket", "gpu", "device", "machine", "multiprocessor", "processor", "cpu", "system"))
)  # fmt: skip
_OTHER = frozenset(
    map(stem, ("more", "fewer", "less", "another", "different", "newer", "faster", "slower", "bigger", "larger", "smaller", "other",
               "additional", "second", "single"))
)  # fmt: skip
_BETWEEN = 3


def other_runs(statement: Statement, world: World) -> bool:
    """False if a sentence foretells another run: `with four ranks it would take longer`, `on a device with more multiprocessors`."""
    stems = statement.stems
    if not _WOULD & set(stems):
        return True
    known = {f.quantity.value for f in world.facts if f.quantity.dimension == "count"}
    known |= {value for value in world.advice_numbers if value > _FEW}
    counted = {q.start: q.value for q in statement.quantities if q.dimension == "count" and q.value not in known}
    for position, word in enumerate(stems):
        if word not in _MACHINE:
            continue
        before = range(max(0, position - _BETWEEN), position)
        told = [stems[p] for p in before if stems[p] in _OTHER]
        if any((one, word) in world.advised_pairs for one in told):
            continue
        foreseen = bool(told) and _opens(stems, position)
        if foreseen or any(statement.tokens[p].start in counted for p in before):
            return False
    return True


def _opens(stems: Sequence[str], position: int) -> bool:
    """True for the noun of `with more ranks`, `on a faster device`, `using another node`: the condition of what would be."""
    return bool(_CONDITIONS & set(stems[max(0, position - _BETWEEN - 1) : position]))


#: A number of ranks or devices that advice names in passing is not as large as a block of threads.
_FEW = 16
_CONDITIONS = frozenset(map(stem, ("with", "on", "using", "if", "had", "adding", "for")))


def hypothetical(texts: Iterable[Quotable]) -> frozenset[str]:
    """The words that stand only in clauses of what would be: `the loop over j would step to neighbours`."""
    would: set[str] = set()
    fact: set[str] = set()
    for text in texts:
        for clause in text.clauses:
            (would if _CERTAIN & set(clause) else fact).update(clause)
    return frozenset(would - fact)


_CERTAIN = frozenset({"would"})


def only_hypothetical(statement: Statement, world: World) -> bool:
    """True if a sentence tells as a fact what trusted texts say only would be."""
    stems = set(statement.stems)
    if stems & (_WOULD | world.words.negations | _RATHER):
        return False
    return bool(stems & (world.hypothetical - world.words.neutral - world.words.beside))


_RATHER = frozenset(map(stem, ("instead", "rather", "without", "potential", "possible")))
