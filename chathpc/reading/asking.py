"""What a model is asked about a diagnosis, and what of it leaves the machine."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from chathpc.diagnosis.records import Diagnosis, Verdict
from chathpc.diagnosis.source.sign import DERIVED
from chathpc.errors import UsageError
from chathpc.profile.profile import Profile
from chathpc.profile.source_text import Provenance

if TYPE_CHECKING:
    from chathpc.llm.backend import Request
    from chathpc.llm.guard import GuardedBackend
    from chathpc.llm.purse import Notice
    from chathpc.llm.settings import Settings
    from chathpc.llm.spec import Choice
    from chathpc.pruners.prune import PruningResult
    from chathpc.reading.question import Question


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What a model would be sent: the bytes, the model's label, and what is replaced in them (none, default, all)."""

    body: bytes
    label: str
    confidential: str


def outgoing(
    profile: Profile, diagnosis: Diagnosis, pruning: PruningResult, *, llm: str, settings: Settings
) -> Outgoing:
    """What `explain_in_words` would send first, byte for byte; no model is called, no key is needed, nothing is logged.

    Raises UsageError where nothing would be sent.
    """
    from chathpc.llm.keys import ENVIRONMENT_KEY
    from chathpc.llm.spec import choices

    environ = {**os.environ, ENVIRONMENT_KEY: os.environ.get(ENVIRONMENT_KEY) or "none"}
    found = list(choices(llm, settings, environ))
    choice = next((one for one in found if one.backend is not None), found[0])
    if choice.backend is None:
        why = choice.note.splitlines()[0].rstrip(".") if choice.note else "--llm none"
        raise UsageError(f"There is no prompt: {why}.", hint="Name a model: --llm openai:MODEL --show-prompt.")
    if diagnosis.verdict == Verdict.INSUFFICIENT:
        raise UsageError("There is no prompt: there is too little data for a model to word.")
    profile, diagnosis = shown_to(choice, profile, diagnosis)
    backend = guard(profile, diagnosis, choice, settings)
    sent = request(profile, diagnosis, pruning, backend, settings, choice.prompt_tokens)
    return Outgoing(backend.outgoing(sent), backend.label, backend.mode)


def guard(
    profile: Profile,
    diagnosis: Diagnosis,
    choice: Choice,
    settings: Settings,
    notice: Notice | None = None,
) -> GuardedBackend:
    """The back end of `choice`, which there must be, behind what keeps names, keys and too much money from leaving, and the log.

    `notice` is told what a request to another machine needs.
    """
    from chathpc.llm.guard import guarded
    from chathpc.privacy.names import placeholders_for

    return guarded(choice, settings, lambda mode: placeholders_for(profile, diagnosis, mode), notice)


def request(
    profile: Profile,
    diagnosis: Diagnosis,
    pruning: PruningResult,
    backend: GuardedBackend,
    settings: Settings,
    most_tokens: int | None,
) -> Request:
    """The question in the form that fits the model, for the audience that is set; `most_tokens` bounds the prompt if given."""
    from chathpc.llm.backend import Request

    if backend.form == "structured":
        return reading_request(reading_question(profile, diagnosis, pruning, backend, settings, most_tokens), settings)
    from chathpc.prompts.build import build_prose
    from chathpc.reading.narrative import narrate

    offered = [fact.text for fact in narrate(diagnosis, settings.audience) if fact.offered]
    prompt = build_prose(offered, audience=settings.audience, most_tokens=most_tokens)
    return Request(
        system=prompt.system,
        user=prompt.user,
        max_tokens=prompt.max_tokens,
        json_schema=prompt.json_schema,
        deadline=settings.deadline,
    )


def reading_question(
    profile: Profile,
    diagnosis: Diagnosis,
    pruning: PruningResult,
    backend: GuardedBackend,
    settings: Settings,
    most_tokens: int | None,
) -> Question:
    """What a model that reads is asked; source as far as it may leave."""
    from chathpc.diagnosis.facts import Facts
    from chathpc.pruners.outline import render_outline
    from chathpc.reading.question import question

    tree = "" if pruning.metric is None else render_outline(pruning.pruned, pruning.metric)
    source = backend.mode != "all"  # source text is the user's as a whole
    return question(
        profile, Facts(profile), diagnosis, tree, audience=settings.audience, source=source, most_tokens=most_tokens
    )


def reading_request(asked: Question, settings: Settings) -> Request:
    """The question as a request, with the tools that a model which calls any is offered."""
    from chathpc.llm.backend import Request
    from chathpc.reading.look import TOOLS

    return Request(
        system=asked.system,
        user=asked.user,
        max_tokens=asked.max_tokens,
        json_schema=asked.schema,
        deadline=settings.deadline,
        tools=TOOLS,
    )


def shown_to(choice: Choice, profile: Profile, diagnosis: Diagnosis) -> tuple[Profile, Diagnosis]:
    """What the model of `choice` may be shown; behind a server nothing of source that was only found, nor what rests on it."""
    if not choice.serves:
        return profile, diagnosis
    if not keeps_source(choice, profile):
        return profile.only_shown(), diagnosis
    origin = profile.sources_found
    hidden = {
        item.id
        for item in diagnosis.evidence
        if item.source.endswith(DERIVED)
        and (item.where is None or origin.get(item.where.file or "", Provenance.FOUND) == Provenance.FOUND)
    }
    left = tuple(finding for finding in diagnosis.findings if not hidden & set(finding.evidence))
    told = next((finding for finding in diagnosis.findings if finding.summary in diagnosis.headline), None)
    unseen = told is not None and told not in left
    return profile.only_shown(), replace(
        diagnosis,
        headline=f"What {told.where.short} costs depends on source that is not shown."
        if told and unseen
        else diagnosis.headline,
        findings=left,
        evidence=tuple(item for item in diagnosis.evidence if item.id not in hidden),
    )


def keeps_source(choice: Choice, profile: Profile) -> bool:
    """True if source that was read for the diagnosis is not shown to the model of `choice`, as it was only found."""
    return choice.serves and Provenance.FOUND in profile.sources_found.values()
