"""Which causes a model's text names."""

from __future__ import annotations

from chathpc.bench.outcome import Words
from chathpc.grounding.language.sentences import split
from chathpc.grounding.language.tokens import tokenize
from chathpc.grounding.language.vocabulary import vocabulary
from chathpc.report import ExplanationRecord

#: A denial so many words before the name of a cause takes it back: "no sign of load imbalance".
_DENIED_WITHIN = 4
#: No phrase reaches over these.
_SEPARATORS = frozenset(",;:()")


def causes_named(text: str) -> tuple[str, ...]:
    """Ids of the causes that `text` names, sorted: by the phrases that the claim check knows them by.

    One phrase can name several causes ("load imbalance" is one of OpenMP, of MPI and of GPUs). What is denied is not named.
    """
    words = vocabulary()
    found: set[str] = set()
    for sentence in split(text, whole=True):
        tokens = tokenize(sentence, words)
        said = [token.stem for token in tokens if token.kind != "punctuation" or token.text in _SEPARATORS]
        for position, causes in words.phrases.found(said):
            if not words.negations & set(said[max(0, position - _DENIED_WITHIN) : position]):
                found |= causes
    return tuple(sorted(found))


def words_of(explanation: ExplanationRecord) -> Words | None:
    """What a model's explanation is scored by; None where no model was asked or none answered."""
    own = [sentence for sentence in explanation.sentences if sentence.status != "catalogue"]
    claims = explanation.claims
    if not own and not claims.checked:
        return None
    kept = [sentence.text for sentence in own if sentence.status != "struck"]
    return Words(
        model=explanation.model,
        note=explanation.note,
        named=causes_named(" ".join(sentence.text for sentence in own)),
        kept=causes_named(" ".join(kept)),
        checked=claims.checked,
        repaired=claims.repaired,
        struck=claims.struck,
    )
