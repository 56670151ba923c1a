"""The facts of a diagnosis that matter most, told in the catalogue's words; and what a small model makes of them: one sentence a fact, with the
fact's own numbers and names, else the fact as code tells it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.fact import Fact, Form, composition, statistics, topic
from chathpc.diagnosis.phrasing import as_clause, gain_sentence, meaning
from chathpc.diagnosis.records import Diagnosis, Finding, Verdict
from chathpc.prompts.untrusted import quote
from chathpc.reading.wording import Amount, content_words, number_words, unprintable
from chathpc.report import StatementRecord

if TYPE_CHECKING:
    from chathpc.prompts.loader import Audience


#: Who signs what no model wrote.
CATALOGUE = "the catalogue"
#: Part of a sentence's content words that must be the fact's for it to be the same fact in other words. Our choice: of ten words that say
#: something three may be new, and one of fewer.
LEAST_OF_THE_FACT = 0.7
_LONGEST, _MOST_SENTENCES = 600, 40
_LONGEST_NOTE = 120
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[A-Z`\"'(])|\s*\n\s*")
_NUMBERED = re.compile(r"(?:\A|(?<=\n)|(?<=[.!?)] ))\s*(?:[-*•]|\(?\d{1,2}[.):])\s+")
_EMPHASIS = re.compile(r"\*\*|__(?=\w)|(?<=\w)__|[`\"“”]")
_UNIT = r"%|[nmuµ]?s\b|min\b|h\b|[kKMGT]?i?B\b|bytes\b|x\b|×"
_NUMBER = re.compile(rf"(?<![\w.])[-+−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?(?:\s?(?:{_UNIT}))?")
_PERCENT = re.compile(r"\bper ?cent\b", re.IGNORECASE)
_NAME = re.compile(r"[^\s\"'`,;!?]*(?:_|::|\w\(|[a-z][A-Z]|[A-Za-z]\d|\w[./:]\w)[^\s\"'`,;!?]*")
_DENIALS = frozenset(
    ["no", "not", "never", "none", "nobody", "nothing", "neither", "nor", "without", "cannot", "hardly", "barely"]
)
#: Plain words in a name: `unsigned long f`, `main thread`, `loop at heat.c:12`.
_MOST_WORDS = 3
_BRACKETS = re.compile(r"<[^<>]*>|\([^()]*\)|\[[^\[\]]*\]")
_ENDINGS = ".,;:!?()[]\"'"


@dataclass(frozen=True, slots=True)
class Told:
    """A fact as code tells it, and the ids of the evidence that it rests on; one that is not `offered` no model is asked to retell."""

    text: str
    cites: tuple[str, ...] = ()
    offered: bool = True


def speaks(name: str) -> bool:
    """Whether a name has more plain words, outside of brackets, than names of functions have (`unsigned long f`): whoever chose it would
    have it said as a fact.
    """
    for _ in range(4):  # templates of templates
        name = _BRACKETS.sub(" ", name)
    return sum(word.strip(_ENDINGS).isalpha() for word in name.split()) > _MOST_WORDS


def amounts(facts: Iterable[Fact]) -> dict[str, Amount]:
    """What stands behind the number of each fact, by the fact's id; no names that are long, or that speak."""
    found = {}
    for fact in facts:
        where, subject = fact.where, topic(fact)
        names = [] if where is None else [where.function or "", where.kernel or ""]
        names += [subject] if fact.form == Form.NAME else []
        texts = [quote(each) for each in (subject, composition(fact))]
        names += [part.label for part in fact.parts if part.of_program]
        spoken = any(map(speaks, names))
        of, made = ("" if spoken or len(each) > _LONGEST_NOTE else each for each in texts)
        found[fact.id] = Amount(of, made, statistics(fact))
    return found


def retold(sentence: str, fact: str) -> str:
    """Why `sentence` does not tell `fact` again, in a clause; empty if it does."""
    said, known = _plain(sentence), _plain(fact)
    if not said or len(said) > _LONGEST:
        return "it says nothing" if not said else f"it has more than {_LONGEST} characters"
    foreign = unprintable(sentence)
    if foreign:
        return foreign
    strange = next((name for name in _names(said) if name not in known), None)
    if strange is not None:
        return f"{strange} is not in the fact"
    numbers, left = _numbers(said), iter(_numbers(known))
    extra = next(
        (number for number in numbers if number not in left), None
    )  # `in` goes on from the last one: the order counts
    if extra is not None:
        return f"{extra} is not in the fact, or not at that place"
    if _denials(said) != _denials(known):
        return "it denies what the fact says, or says what the fact denies"
    if any(letter.isalpha() and letter > "\x7f" and letter not in known for letter in said):
        return "it has letters that the fact does not have"
    words, stems = content_words(said), set(content_words(known))
    new = sum(word not in stems for word in words)
    if new > max(1, (1 - LEAST_OF_THE_FACT) * len(words)) or 2 * new >= len(words):
        return "most of its words are not the fact's"
    return ""


def sentences(text: str) -> list[str]:
    """The sentences of an answer, without numbers or bullets before them."""
    found = (each.strip() for each in _SENTENCE_END.split(_NUMBERED.sub("\n", text)))
    return [each for each in found if each][:_MOST_SENTENCES]


def retelling(answer: str, facts: Sequence[Told], by: str) -> list[StatementRecord]:
    """Each fact in the first sentence of `answer` that tells it, signed by the model, else as it stands; then the sentences that tell none."""
    left = sentences(answer)
    told: list[StatementRecord] = []
    for fact in facts:
        own = next((each for each in left if fact.offered and not retold(each, fact.text)), None)
        if own is not None:
            left.remove(own)
        told.append(statement(own or fact.text, fact.cites, CATALOGUE if own is None else by))
    return [*told, *(statement(each[:_LONGEST], (), by, _why_not(each, facts)) for each in left)]


def statement(text: str, cites: Sequence[str], by: str, wrong: str = "") -> StatementRecord:
    """A fact told by somebody."""
    return StatementRecord(kind="retold", text=text, cites=list(cites), by=by, dropped_because=wrong or None)


def _why_not(sentence: str, facts: Sequence[Told]) -> str:
    """Why a sentence tells none of the facts: what is wrong with it as the nearest of them."""
    words = set(content_words(_plain(sentence)))
    nearest = max(facts, key=lambda fact: len(words & set(content_words(_plain(fact.text)))), default=None)
    return (
        "there is no fact"
        if nearest is None
        else retold(sentence, nearest.text) or "another sentence already states its fact"
    )


def _plain(text: str) -> str:
    """A text without emphasis and quotation marks, compatible characters as one, and the percent sign for the word."""
    return " ".join(_PERCENT.sub("%", _EMPHASIS.sub("", unicodedata.normalize("NFKC", text))).split())


def _numbers(text: str) -> list[str]:
    """The numbers with their units in their order, in digits, then in words from three up."""
    found = [
        each[0].replace(",", "").replace(" ", "").replace("−", "-").rstrip(".").lower()
        for each in _NUMBER.finditer(text)
    ]
    others = [letter for letter in text if unicodedata.numeric(letter, None) is not None and not letter.isdecimal()]
    return [*found, *others, *number_words(text)]


def _names(text: str) -> list[str]:
    return [name for each in _NAME.findall(text) if (name := each.strip(_ENDINGS)) and not name[0].isdigit()]


def _denials(text: str) -> int:
    words = text.lower().replace("’", "'").split()
    return sum(word.strip(_ENDINGS) in _DENIALS or word.strip(_ENDINGS).endswith("n't") for word in words)


#: Findings after the first that are worth a sentence, by cost × headroom.
_WORTH_MENTIONING = 0.05
_MENTIONED = 3

ADVICE = "What to do first:"


def narrate(diagnosis: Diagnosis, audience: Audience = "expert") -> tuple[Told, ...]:
    """The diagnosis told in a few sentences, most important first; every number comes from the evidence.

    A newcomer is told at length what it means and why it costs time, a manager only what it costs, what could be won and what to do.
    """
    if diagnosis.verdict == Verdict.INSUFFICIENT:
        told = [Told(diagnosis.headline)]
    elif diagnosis.blames:
        told = _bottleneck(diagnosis, audience)
    else:
        told = _healthy(diagnosis)[: 1 if audience == "manager" else None]
    speaking = [name for name in _names_of(diagnosis) if speaks(name)]
    return tuple(replace(one, offered=not any(name in one.text for name in speaking)) for one in told)


def _names_of(diagnosis: Diagnosis) -> set[str]:
    places = [*(each.where for each in diagnosis.findings), *(each.where for each in diagnosis.evidence if each.where)]
    return {name for place in places for name in (place.function, place.kernel, *place.path) if name}


def _bottleneck(diagnosis: Diagnosis, audience: Audience) -> list[Told]:
    first, *others = diagnosis.findings
    entry = cause(first.cause)
    told = [Told(first.summary, first.evidence)]
    # Else the summary says what its source does, or the title what the cause is here.
    stated = "told-by-summary" in entry.traits
    if audience == "expert" and first.origin != "source" and _is_as_known(first) and not stated:
        told.append(Told(meaning(first.cause)))
    elif audience == "newcomer":
        told += [Told(" ".join(text.split())) for text in (entry.what, entry.why)]
    won = gain_sentence(first)
    if won is not None:
        told.append(Told(won, first.evidence))
    if first.advice:
        told.append(Told(f"{ADVICE} {as_clause(first.advice[0])}"))
    if audience == "manager":
        return told
    if first.against:
        told.append(Told(f"What speaks against it: {as_clause(first.against[0])}"))
    for at, other in enumerate([one for one in others if one.weight >= _WORTH_MENTIONING][: _MENTIONED - 1]):
        told.append(Told(f"{'And' if at else 'Besides that'}: {as_clause(other.summary)}", other.evidence))
    return told


def _is_as_known(finding: Finding) -> bool:
    """True if what a finding is called is what the catalogue calls its cause, which may say "most of"."""
    return finding.title.replace(" much of ", " most of ") == cause(finding.cause).title


def _healthy(diagnosis: Diagnosis) -> list[Told]:
    hot = next((finding for finding in diagnosis.findings if cause(finding.cause).where_only), None)
    told = [Told(diagnosis.headline, () if hot is None else hot.evidence)]
    if hot is not None and "told-by-summary" not in cause(hot.cause).traits:
        told.append(Told(meaning(hot.cause)))
    elif hot is not None and diagnosis.verdict == Verdict.HEALTHY:  # else the headline has the same numbers
        told.append(Told(hot.summary, hot.evidence))
    if hot is not None and hot.cause == "gpu-kernel-bound" and hot.next_measurement:
        told.append(Told(f"To see more, collect the kernel's counters: {hot.next_measurement}"))
    elif diagnosis.not_collected:
        lacking, command = next(iter(diagnosis.not_collected.items()))
        told.append(Told(f"To see more, collect {lacking}: {command}"))
    return told
