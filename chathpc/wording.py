"""The explanation in words: a model's, as far as the evidence supports it, else the catalogue's."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.diagnosis.records import Diagnosis, Verdict
from chathpc.errors import BudgetSpentError, ModelUnavailableError
from chathpc.narrative import narrate
from chathpc.profile.profile import Profile
from chathpc.report import ClaimStatistics, ExplanationRecord, SentenceRecord, UsageRecord
from chathpc.translation import language_code

if TYPE_CHECKING:
    from chathpc.grounding.check import GroundedText
    from chathpc.llm.asking import Notice
    from chathpc.llm.backend import Backend
    from chathpc.llm.settings import Settings
    from chathpc.llm.spec import Choice, Lack
    from chathpc.prompts.build import Audience, Prompt
    from chathpc.pruners.prune import PruningResult


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads the explanation, and in which language (ISO 639-1)."""

    audience: Audience = "expert"
    language: str = "en"


#: Places whose source goes into a structured prompt, and lines around each.
_EXCERPTS = 3
_EXCERPT_CONTEXT = 4


def explain_in_words(
    profile: Profile,
    diagnosis: Diagnosis,
    pruning: PruningResult,
    *,
    llm: str,
    base_url: str | None = None,
    audience: Audience | None = None,
    language: str | None = None,
    notice: Notice | None = None,
) -> ExplanationRecord:
    """The explanation of `diagnosis` by the first of the models that `llm` names which can, checked against the evidence.

    Where none can be had, answers in time or says enough that holds, the catalogue's words take their place; `note` and `lack` say
    why. `audience` and `language` are those of the settings if null; only a model translates, and what it translates is compared
    with the English sentence. `notice` is told what a question to a model on another machine needs. UsageError if `llm` names no
    model at all.
    """
    from chathpc.llm.settings import load_settings
    from chathpc.llm.spec import choices

    settings = load_settings({"base_url": base_url, "audience": audience, "language": language})
    reader = Reader(settings.audience, language_code(settings.language))
    last = from_catalogue(diagnosis, reader)
    if llm.strip() == "none":
        return last if reader.language == "en" else _translated(last, reader, None, settings, None)
    notes: list[str] = []
    usable: Choice | None = None
    for choice in choices(llm, settings):
        if choice.backend is None:
            last = from_catalogue(diagnosis, reader, note=choice.note, lack=choice.lack)
        elif diagnosis.verdict == Verdict.INSUFFICIENT:
            usable = choice
            last = from_catalogue(diagnosis, reader, note="There is too little data for a model to word.")
        else:
            try:
                last = _by_model(profile, diagnosis, pruning, choice, settings, reader, notice)
                usable = choice
            except ModelUnavailableError as error:
                last = from_catalogue(diagnosis, reader, note=str(error), lack="unavailable")
            except BudgetSpentError as error:
                last = from_catalogue(diagnosis, reader, note=str(error), lack="budget")
        if last.note:
            notes.append(last.note.replace("\n", " "))
        if last.model is not None or diagnosis.verdict == Verdict.INSUFFICIENT:
            break
    last = last.model_copy(update={"note": " ".join(notes) or None})
    return last if reader.language == "en" else _translated(last, reader, usable, settings, notice)


def _translated(
    told: ExplanationRecord, reader: Reader, choice: Choice | None, settings: Settings, notice: Notice | None
) -> ExplanationRecord:
    """`told` with the translations that the model made well; the note says how many sentences stay in English, if any do."""
    from chathpc.llm.asking import ask
    from chathpc.translation import question, translations

    kept = [sentence for sentence in told.sentences if sentence.status != "struck"]
    found: list[str | None] = [None] * len(kept)
    if choice is not None and kept:
        texts = [sentence.text for sentence in kept]
        try:
            answer = ask(choice, question(texts, reader.language, deadline=settings.deadline), settings, notice=notice)
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


def _by_model(
    profile: Profile,
    diagnosis: Diagnosis,
    pruning: PruningResult,
    choice: Choice,
    settings: Settings,
    reader: Reader,
    notice: Notice | None,
) -> ExplanationRecord:
    from chathpc.grounding import structured
    from chathpc.grounding.check import check
    from chathpc.llm.asking import ask
    from chathpc.llm.backend import Request

    backend = choice.backend
    if backend is None:
        raise ValueError("there is no back end to ask")
    prompt = _prompt(profile, diagnosis, pruning, backend, reader.audience, choice.prompt_tokens)
    answer = ask(
        choice,
        Request(
            system=prompt.system,
            user=prompt.user,
            max_tokens=prompt.max_tokens,
            json_schema=prompt.json_schema,
            deadline=settings.deadline,
        ),
        settings,
        problem=structured.problem if backend.form == "structured" else None,
        notice=notice,
    )
    usage = UsageRecord(
        tries=answer.tries,
        prompt_tokens=answer.prompt_tokens,
        completion_tokens=answer.completion_tokens,
        cost=answer.cost,
        currency=None if answer.cost is None else settings.currency,
    )
    grounded = check(answer.text, diagnosis, form=backend.form)
    if not grounded.sufficient:
        struck = grounded.statistics.struck
        note = f"{backend.label} said too little that the evidence supports ({struck} claims struck); the words are the catalogue's."
        told = from_catalogue(diagnosis, reader, note=note, statistics=_statistics(grounded), lack="unsupported")
        return told.model_copy(update={"usage": usage})
    kept = [sentence for sentence in grounded.sentences if sentence.status != "struck"]
    return ExplanationRecord(
        text=" ".join(sentence.text for sentence in kept),
        sentences=[
            SentenceRecord(text=sentence.text, evidence=list(sentence.evidence), status=sentence.status)
            for sentence in grounded.sentences
        ],
        model=backend.label,
        audience=reader.audience,
        language=reader.language,
        claims=_statistics(grounded),
        note=choice.note or None,
        usage=usage,
    )


def _prompt(
    profile: Profile,
    diagnosis: Diagnosis,
    pruning: PruningResult,
    backend: Backend,
    audience: Audience,
    most_tokens: int | None,
) -> Prompt:
    from chathpc.prompts.build import build_prose, build_structured

    marker = secrets.token_hex(4)
    if backend.form == "prose":
        return build_prose(diagnosis, marker=marker, audience=audience, most_tokens=most_tokens)
    from chathpc.pruners.outline import render_outline

    tree = "" if pruning.metric is None else render_outline(pruning.pruned, pruning.metric)
    excerpts = [
        excerpt
        for finding in diagnosis.findings[:_EXCERPTS]
        if finding.where.node >= 0
        and (excerpt := profile.source(finding.where.node, context=_EXCERPT_CONTEXT)) is not None
    ]
    return build_structured(
        diagnosis, outline=tree, excerpts=excerpts, marker=marker, audience=audience, most_tokens=most_tokens
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
        sentences=[
            SentenceRecord(text=sentence.text, evidence=list(sentence.evidence), status="catalogue")
            for sentence in sentences
        ],
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
