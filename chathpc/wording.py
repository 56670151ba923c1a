"""The explanation in words: a model's, as far as the evidence supports it, else the catalogue's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from chathpc import narrative
from chathpc.asked import guard, reading_question, reading_request, request, shown_to
from chathpc.diagnosis.records import Diagnosis, Verdict
from chathpc.errors import BudgetSpentError, ModelUnavailableError
from chathpc.narrative import left_out, narrate
from chathpc.profile.profile import Profile
from chathpc.profile_queries import ProfileQueries
from chathpc.report import (
    ClaimRecord,
    ClaimStatistics,
    ExplanationRecord,
    HypothesisRecord,
    SentenceRecord,
    UsageRecord,
)
from chathpc.translation import language_code

if TYPE_CHECKING:
    from chathpc.grounding.check import GroundedText
    from chathpc.grounding.judgement import Sentence
    from chathpc.llm.asking import Answer
    from chathpc.llm.backend import Request
    from chathpc.llm.purse import Notice
    from chathpc.llm.settings import Settings
    from chathpc.llm.spec import Choice, Lack
    from chathpc.prompts.loader import Audience
    from chathpc.pruners.prune import PruningResult
    from chathpc.reading.question import Question


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads the explanation, and in which language (ISO 639-1)."""

    audience: Audience = "expert"
    language: str = "en"


def explain_in_words(
    profile: Profile,
    diagnosis: Diagnosis,
    pruning: PruningResult,
    *,
    llm: str,
    settings: Settings,
    notice: Notice | None = None,
) -> tuple[ExplanationRecord, tuple[HypothesisRecord, ...]]:
    """The explanation of `diagnosis`, and what is suspected, by the first of the models that `llm` names which can.

    Where none can be had, answers in time or says enough that holds, the catalogue's words take their place; `note` and `lack` say
    why. Only a model translates, and what it translates is compared with the English sentence. `notice` is told what a question to a
    model on another machine needs. UsageError if `llm` names no model at all.
    """
    reader = Reader(settings.audience, language_code(settings.language))
    last = from_catalogue(diagnosis, reader)
    if llm.strip() == "none":
        return (last if reader.language == "en" else _translated(last, reader, None, settings)), ()
    from chathpc.llm.spec import choices

    notes: list[str] = []
    read: tuple[HypothesisRecord, ...] = ()
    usable: Choice | None = None
    for choice in choices(llm, settings):
        if choice.backend is None:
            last = from_catalogue(diagnosis, reader, note=choice.note, lack=choice.lack)
        else:
            seen, shown = shown_to(choice, profile, diagnosis)
            backend = guard(seen, shown, choice, settings, notice)
            asked = replace(choice, backend=backend)
            if diagnosis.verdict == Verdict.INSUFFICIENT:
                usable = asked
                notes.append("There is too little data for a model to word.")
                break
            try:
                if backend.form == "structured":
                    question = reading_question(seen, shown, pruning, backend, settings, choice.prompt_tokens)
                    last, read = _by_reader(seen, diagnosis, asked, question, settings, reader)
                else:
                    sent = request(seen, shown, pruning, backend, settings, choice.prompt_tokens)
                    last = _by_model(seen, shown, asked, sent, settings, reader)
                usable = asked
            except ModelUnavailableError as error:
                last = from_catalogue(diagnosis, reader, note=str(error), lack="unavailable")
            except BudgetSpentError as error:
                last = from_catalogue(diagnosis, reader, note=str(error), lack="budget")
        if last.note:
            notes.append(last.note.replace("\n", " "))
        if last.model is not None:
            break
        if choice.serves and shown is not diagnosis:
            usable = None  # the catalogue's words are of all findings, also of those that no server may see
    last = last.model_copy(update={"note": " ".join(notes) or None})
    return (last if reader.language == "en" else _translated(last, reader, usable, settings)), read


def _by_reader(
    profile: Profile, diagnosis: Diagnosis, choice: Choice, question: Question, settings: Settings, reader: Reader
) -> tuple[ExplanationRecord, tuple[HypothesisRecord, ...]]:
    """The catalogue's words, and beside them what a model that reads said under its name."""
    from chathpc.diagnosis.facts import Facts
    from chathpc.llm.asking import ask
    from chathpc.reading.answer import problem, read
    from chathpc.reading.look import CALLS, Looking

    backend = choice.backend
    if backend is None:
        raise ValueError("there is no back end to ask")
    looking = Looking(question, Facts(profile))
    asked = reading_request(question, settings)
    answer = ask(choice, asked, problem=problem, look_up=looking, most_calls=CALLS)
    found = read(answer.text, looking.question, backend.label)
    told = from_catalogue(diagnosis, reader, note=choice.note or None)
    wrong = problem(answer.text)
    if wrong:
        late = f" within {settings.deadline:g} s" if answer.finish == "deadline" else ""
        told = told.model_copy(
            update={
                "note": f"{backend.label} gave no answer that can be used{late}: {wrong}.",
                "lack": "budget" if late else "unsupported",
            }
        )
    usage = _usage(answer, settings)
    return told.model_copy(
        update={"model": None if wrong else backend.label, "statements": list(found.statements), "usage": usage}
    ), found.hypotheses


def _usage(answer: Answer, settings: Settings) -> UsageRecord:
    return UsageRecord(
        tries=answer.tries,
        calls=answer.calls,
        prompt_tokens=answer.prompt_tokens,
        completion_tokens=answer.completion_tokens,
        cost=answer.cost,
        currency=None if answer.cost is None else settings.currency,
    )


def _by_model(
    profile: Profile,
    diagnosis: Diagnosis,
    choice: Choice,
    question: Request,
    settings: Settings,
    reader: Reader,
) -> ExplanationRecord:
    from chathpc.grounding.check import check
    from chathpc.llm.asking import ask
    from chathpc.prompts.untrusted import unmarked

    backend = choice.backend
    if backend is None:
        raise ValueError("there is no back end to ask")
    answer = ask(choice, question)
    usage = _usage(answer, settings)
    grounded = check(unmarked(answer.text), diagnosis, form=backend.form, queries=ProfileQueries(profile))
    if not grounded.sufficient:
        struck = grounded.statistics.struck
        late = f" within {question.deadline:g} s" if answer.finish == "deadline" else ""
        note = f"{backend.label} said too little{late} that the evidence supports ({struck} claims struck); the words are the catalogue's."
        lack: Lack = "budget" if late else "unsupported"
        told = from_catalogue(diagnosis, reader, note=note, statistics=_statistics(grounded), lack=lack)
        refused = [_sentence(sentence) for sentence in grounded.sentences]
        return told.model_copy(update={"usage": usage, "refused": refused})
    sentences = _completed([_sentence(sentence) for sentence in grounded.sentences], diagnosis, reader.audience)
    return ExplanationRecord(
        text=" ".join(_kept(sentences)),
        sentences=sentences,
        model=backend.label,
        audience=reader.audience,
        language=reader.language,
        claims=_statistics(grounded),
        note=choice.note or None,
        usage=usage,
    )


def _completed(said: list[SentenceRecord], diagnosis: Diagnosis, audience: Audience) -> list[SentenceRecord]:
    """A model's sentences between the catalogue's on what they leave out, by the facts that they cite."""
    cited = {identifier for one in said if one.status != "struck" for identifier in one.evidence}
    before, after = left_out(diagnosis, cited, audience)
    return [*map(_of_catalogue, before), *said, *map(_of_catalogue, after)]


def _kept(said: list[SentenceRecord]) -> list[str]:
    return [sentence.text for sentence in said if sentence.status != "struck"]


def _of_catalogue(sentence: narrative.Sentence) -> SentenceRecord:
    return SentenceRecord(text=sentence.text, evidence=list(sentence.evidence), status="catalogue")


def _sentence(sentence: Sentence) -> SentenceRecord:
    return SentenceRecord(
        text=sentence.text,
        evidence=list(sentence.evidence),
        status=sentence.status,
        reason=sentence.reason or None,
        claims=[
            ClaimRecord(
                kind=claim.kind,
                text=claim.text,
                status=claim.status,
                evidence=list(claim.evidence),
                query=claim.query or None,
            )
            for claim in sentence.details
        ],
    )


def _translated(
    told: ExplanationRecord, reader: Reader, choice: Choice | None, settings: Settings
) -> ExplanationRecord:
    """`told` with the translations that the model made well; the note says how many sentences stay in English, if any do."""
    from chathpc.translation import question, translations

    kept = [sentence for sentence in told.sentences if sentence.status != "struck"]
    found: list[str | None] = [None] * len(kept)
    if choice is not None and kept:
        from chathpc.llm.asking import ask

        texts = [sentence.text for sentence in kept]
        try:
            answer = ask(choice, question(texts, reader.language, deadline=settings.deadline))
            found = translations(answer.text, texts)
        except (ModelUnavailableError, BudgetSpentError):
            pass  # the English sentences stand
    by_sentence = {id(sentence): text for sentence, text in zip(kept, found, strict=True)}
    left = found.count(None)
    note = f"{left} of {len(kept)} sentences stay in English: only a model translates, and numbers and names must stay the same."
    notes = [told.note, note if left else None]
    return told.model_copy(
        update={
            "sentences": [
                sentence.model_copy(update={"translation": by_sentence.get(id(sentence))})
                for sentence in told.sentences
            ],
            "note": " ".join(one for one in notes if one) or None,
        }
    )


def from_catalogue(
    diagnosis: Diagnosis,
    reader: Reader | None = None,
    *,
    note: str | None = None,
    statistics: ClaimStatistics | None = None,
    lack: Lack | None = None,
) -> ExplanationRecord:
    """The explanation put together from the catalogue; `note` and `lack` say why there is no model's."""
    reader = reader or Reader()
    sentences = narrate(diagnosis, reader.audience)
    return ExplanationRecord(
        text=" ".join(sentence.text for sentence in sentences),
        sentences=[_of_catalogue(sentence) for sentence in sentences],
        model=None,
        audience=reader.audience,
        language=reader.language,
        claims=statistics or ClaimStatistics(),
        note=note or None,
        lack=lack,
    )


def _statistics(grounded: GroundedText) -> ClaimStatistics:
    found = grounded.statistics
    return ClaimStatistics(
        checked=found.checked, supported=found.supported, repaired=found.repaired, struck=found.struck
    )
