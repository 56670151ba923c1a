"""The claim check: a model's text in, sentences that the evidence supports out.

A sentence is kept if every claim in it has support, repaired if its only faults are numbers that the evidence corrects without
choice, struck otherwise. What cannot be understood is struck: the check can lose a right sentence, but should not pass a wrong one.
Sentences without any claim that can be checked are struck as well; they would only fill the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from chathpc.diagnosis.records import Diagnosis
from chathpc.grounding import advice, conditions, derived, match, relations, repair, sentences, structured
from chathpc.grounding.claims import Statement, group, read
from chathpc.grounding.comparisons import comparisons, is_limit
from chathpc.grounding.facts import Fact, World, normalised, world
from chathpc.grounding.quantities import TOTAL, Quantity
from chathpc.grounding.quotation import quoted, without_lead
from chathpc.grounding.structured import Claimed
from chathpc.grounding.tokens import tokenize
from chathpc.grounding.vocabulary import stem, vocabulary

_WHOLE = frozenset(map(stem, ("program", "application", "run", "execution")))
_LASTS = frozenset(map(stem, ("take", "takes", "lasts", "runs")))
_POINTERS = frozenset(map(stem, ("this", "these", "it", "the", "that", "they")))
Status = Literal["supported", "repaired", "struck"]
Form = Literal["prose", "structured"]
#: With fewer good sentences a text explains nothing; the catalogue's words are better.
LEAST_SENTENCES = 2
#: A model's answer within its budget has a dozen sentences; more are struck unread.
MOST_SENTENCES = 100


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence after the check. `reason` says why it was struck or what was repaired."""

    text: str
    evidence: tuple[str, ...]
    status: Status
    reason: str = ""
    claims: int = 0
    repairs: int = 0


@dataclass(frozen=True, slots=True)
class Statistics:
    """Claims (numbers, names, subjects, causes, directions, advice): checked = supported + repaired + struck.

    All claims of a struck sentence count as struck, of a repaired one only the numbers that were replaced as repaired.
    """

    checked: int = 0
    supported: int = 0
    repaired: int = 0
    struck: int = 0


@dataclass(frozen=True, slots=True)
class GroundedText:
    """The checked text. `sufficient` is False if too little of it is left to stand for an explanation."""

    sentences: tuple[Sentence, ...] = ()
    statistics: Statistics = field(default_factory=Statistics)

    @property
    def sufficient(self) -> bool:
        """At least LEAST_SENTENCES sentences were kept."""
        return sum(sentence.status != "struck" for sentence in self.sentences) >= LEAST_SENTENCES

    @property
    def text(self) -> str:
        """The sentences that were kept, in order."""
        return " ".join(sentence.text for sentence in self.sentences if sentence.status != "struck")


def check(answer: str | Sequence[Claimed], diagnosis: Diagnosis, *, form: Form) -> GroundedText:
    """Check a model's answer against a diagnosis.

    `answer` is text in the prose form, JSON or parsed sentences in the structured one. Never raises for what a model wrote, and takes
    time linear in its length.
    """
    known = world(diagnosis, vocabulary())
    if form == "prose" and isinstance(answer, str):
        texts = [(text, False) for text in sentences.split(answer)]
    else:
        claimed = structured.parse(answer[: sentences.LONGEST_TEXT]) if isinstance(answer, str) else tuple(answer)
        texts = _filled(claimed, diagnosis)
    return _summed(
        [_strike(text, "placeholder") if lost else check_sentence(text, known) for text, lost in texts[:MOST_SENTENCES]]
    )


def _filled(claimed: Sequence[Claimed], diagnosis: Diagnosis) -> list[tuple[str, bool]]:
    by_id = {item.id: item for item in diagnosis.evidence}
    texts = []
    for item in claimed[:MOST_SENTENCES]:
        filled = structured.filled(item.text[: sentences.LONGEST_TEXT], by_id)
        if filled is None or any(id not in by_id for id in item.evidence):
            texts.append((_short(item.text), True))
        else:
            texts += [(text, False) for text in sentences.split(filled, whole=True)]
    return texts


def check_sentence(sentence: str, known: World) -> Sentence:
    """Check one sentence."""
    if len(sentence) > sentences.LONGEST_SENTENCE:
        return _strike(sentence, "too long")
    if sentences.has_controls(sentence):
        return _strike(sentence, "control characters")
    if sentences.foreign(known.without_templates(sentence)):
        return _strike(sentence, "markup or command")
    statement = read(tokenize(sentence, known.words, known.plain_names), known.words)
    count = _count(statement, known)
    said = without_lead(sentence)
    tokens = tokenize(said, known.words, known.plain_names)
    verbatim = known.verbatim.get(normalised(said))
    if verbatim is None:
        verbatim = quoted(tokens, known.words, known.quotable)
    if verbatim is not None:
        return Sentence(sentence, verbatim, "supported", "", max(count, 1))
    if not count:
        return _strike(sentence, "no claim")
    problem = _unsupported_words(statement, known)
    if problem:
        return _strike(sentence, problem, count)
    if advice.is_advice(statement, known):
        problem = advice.supported(statement, known)
        if not problem:
            return Sentence(sentence, _advised(known), "supported", "", count)
        # `Fixing this would make the run 1.35x faster` is no advice but a number.
        if problem not in ("advice", "negation") or not (statement.quantities or "could" in statement.stems):
            return _strike(sentence, problem, count)
    problem = _direction(statement, known)
    if problem:
        return _strike(sentence, problem, count)
    return _with_numbers(sentence, statement, known, count)


def _unsupported_words(statement: Statement, known: World) -> str:
    """What is wrong with a sentence's words whatever it says: a name, a cause or a word that is nowhere in the diagnosis."""
    advising = advice.is_advice(statement, known)
    name = match.names(statement, known, advice=advising)
    if name is not None:
        return f"name {name}"
    if not advising and match.cause(statement, known).problem:
        return "cause"
    word = next(iter(match.unknown_words(statement, known, advice=advising)), None)
    return f"word {word}" if word else ""


def _direction(statement: Statement, known: World) -> str:
    """What is wrong with the relations in a statement: negation, roles, waiting, comparisons, levels, limits, cause and effect."""
    problem = conditions.negation(statement, known) or conditions.prediction(statement, known)
    if problem:
        return problem
    if not all(relations.roles(s, known) and relations.waits(s, statement, known) for s in statement.segments):
        return "subject"
    for test, problem in (
        (comparisons, "comparison"),
        (relations.levels, "level"),
        (relations.limits, "limit"),
        (relations.reasons, "reason"),
    ):
        if not test(statement, known):
            return problem
    return ""


def _with_numbers(sentence: str, statement: Statement, known: World, count: int) -> Sentence:
    used: list[str] = []
    wrong: list[tuple[Quantity, Fact]] = []
    for quantity in statement.quantities:
        completed = _completed(quantity, statement, known)
        if is_limit(quantity, statement, known):
            continue
        support = match.number(completed, known)
        cue = derived.has_cue(quantity, statement)
        found = derived.recomputed(quantity, statement, known) if cue or support.problem else None
        if found is not None:
            used += found.evidence
        elif support.problem and cue:
            return _strike(sentence, "number", count)
        elif support.problem:
            fact = repair.candidate(completed, known)
            if fact is None or wrong:  # two wrong numbers are no slip
                return _strike(sentence, "number", count)
            wrong.append((quantity, fact))
            used += fact.evidence[:1]
        else:
            used += support.evidence[:1]
    for segment in statement.segments:
        support = match.clause(segment, known)
        if support.problem:
            return _strike(sentence, "subject", count)
        used += support.evidence[: 0 if used else 2]
    evidence = tuple(dict.fromkeys(used))
    if not wrong:
        return Sentence(sentence, evidence, "supported", "", count)
    text = repair.replaced(sentence, wrong)
    # The repaired sentence must pass by itself: a number can be right by its own subject and still belong to another one.
    again = check_sentence(text, known)
    if again.status != "supported":
        return _strike(sentence, "number", count)
    return Sentence(text, evidence, "repaired", "number", count, len(wrong))


def _completed(quantity: Quantity, statement: Statement, known: World) -> Quantity:
    """A number in a clause that says nothing of its subject (`The run loses 3.17 s because …`) is about what the next clauses say.

    Where these say nothing either and the sentence points back (`This takes …`), it is about the leading finding.
    """
    from dataclasses import replace

    pointing = statement.stems[:1] and statement.stems[0] in _POINTERS
    if _is_whole(quantity, statement):
        return replace(quantity, own=TOTAL, is_base=True)
    if pointing:  # the noun behind `this` is no subject of its own
        named = frozenset(k for s in statement.segments for m in s.marks if m.position <= 1 for k in m.keys)
        named = frozenset(key for key in named if key.startswith("word:"))
        quantity = replace(quantity, own=quantity.own - named, inherited=quantity.inherited - named)
    if quantity.keys - {"what:cost"} or quantity.names or quantity.inherited_names or quantity.is_base:
        return quantity
    keys = frozenset(key for segment in statement.segments for key in segment.keys)
    names = frozenset(name for segment in statement.segments for name in segment.names)
    if pointing and not names and not {k for k in keys - {"what:cost", "who:total"} if not k.startswith("word:")}:
        keys, names = keys | known.leading.keys, known.leading.names
    return replace(quantity, own=frozenset(), inherited=quantity.inherited | keys, inherited_names=names)


def _is_whole(quantity: Quantity, statement: Statement) -> bool:
    """True for the number of `the program takes 4.18 s`."""
    position = next((i for i, t in enumerate(statement.tokens) if t.start == quantity.start), 0)
    before = [word for word in statement.stems[max(0, position - 3) : position] if word not in ("to", "about")]
    return quantity.dimension == "time" and before[-2:-1] != [] and before[-2] in _WHOLE and before[-1] in _LASTS


def _count(statement: Statement, known: World) -> int:
    """Number of claims: numbers, names, subjects, causes, and words that say how much or compare."""
    stems = statement.stems
    subjects = frozenset(
        k for s in statement.segments for k in s.keys if not k.startswith("in:") or group(s.keys, "who")
    )
    relations = sum(stem in known.words.levels for stem in stems) + len(known.words.comparisons.found(stems))
    causes = len(known.words.phrases.found(stems))
    verdict = known.healthy and "bottleneck" in stems
    return (
        len(statement.quantities)
        + len(statement.names)
        + len(subjects)
        + relations
        + causes
        + len(statement.lines)
        + verdict
    )


def _advised(known: World) -> tuple[str, ...]:
    return next((bundle.evidence[:1] for bundle in known.bundles if bundle.cause), ())


def _strike(text: str, reason: str, claims: int = 0) -> Sentence:
    return Sentence(_short(text), (), "struck", reason, claims)


def _short(text: str) -> str:
    return text if len(text) <= sentences.LONGEST_SENTENCE else text[: sentences.LONGEST_SENTENCE] + "…"


def _summed(checked: Sequence[Sentence]) -> GroundedText:
    total = sum(s.claims for s in checked)
    struck = sum(s.claims for s in checked if s.status == "struck")
    repaired = sum(s.repairs for s in checked)
    return GroundedText(tuple(checked), Statistics(total, total - struck - repaired, repaired, struck))
