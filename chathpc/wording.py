"""The explanation in words: a model's, as far as the evidence supports it, else the catalogue's."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.diagnosis.records import Diagnosis, Verdict
from chathpc.errors import BudgetSpentError, ModelUnavailableError, UsageError
from chathpc.narrative import narrate
from chathpc.profile.profile import Profile
from chathpc.report import ClaimStatistics, ExplanationRecord, SentenceRecord

if TYPE_CHECKING:
    from chathpc.grounding.check import GroundedText
    from chathpc.llm.backend import Backend, Request
    from chathpc.llm.guard import GuardedBackend
    from chathpc.llm.settings import Settings
    from chathpc.prompts.build import Prompt
    from chathpc.pruners.prune import PruningResult

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
    confidential: str | None = None,
) -> ExplanationRecord:
    """The explanation of `diagnosis` by the model that `llm` names, checked against the evidence.

    Without a model, or where it cannot be used or says too little that holds, the catalogue's words take its place and
    `note` says why. UsageError if `llm` names no model at all.
    """
    if llm.strip() == "none":
        return from_catalogue(diagnosis)
    from chathpc.llm.settings import load_settings
    from chathpc.llm.spec import resolve

    settings = load_settings({"base_url": base_url, "confidential": confidential})
    try:
        choice = resolve(llm, settings)
        if choice.backend is None:
            return from_catalogue(diagnosis, note=choice.note or None)
        if diagnosis.verdict == Verdict.INSUFFICIENT:
            return from_catalogue(diagnosis, note="There is too little data for a model to word.")
        backend = _guarded(profile, diagnosis, choice.backend, settings)
        return _by_model(profile, diagnosis, pruning, backend, settings.deadline)
    except (ModelUnavailableError, BudgetSpentError) as error:
        return from_catalogue(diagnosis, note=str(error).replace("\n", " "))


def _by_model(
    profile: Profile, diagnosis: Diagnosis, pruning: PruningResult, backend: GuardedBackend, deadline: float
) -> ExplanationRecord:
    from chathpc.grounding.check import check
    from chathpc.prompts.untrusted import unmarked

    completion = backend.complete(_request(profile, diagnosis, pruning, backend, deadline))
    grounded = check(unmarked(completion.text), diagnosis, form=backend.form)
    if not grounded.sufficient:
        struck = grounded.statistics.struck
        note = f"{backend.label} said too little that the evidence supports ({struck} claims struck); the words are the catalogue's."
        return from_catalogue(diagnosis, note=note, statistics=_statistics(grounded))
    kept = [sentence for sentence in grounded.sentences if sentence.status != "struck"]
    return ExplanationRecord(
        text=" ".join(sentence.text for sentence in kept),
        sentences=[
            SentenceRecord(text=sentence.text, evidence=list(sentence.evidence), status=sentence.status)
            for sentence in grounded.sentences
        ],
        model=backend.label,
        claims=_statistics(grounded),
    )


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What a model would be sent: the bytes, the model's label, and what is replaced in them (none, default, all)."""

    body: bytes
    label: str
    confidential: str


def outgoing(
    profile: Profile,
    diagnosis: Diagnosis,
    pruning: PruningResult,
    *,
    llm: str,
    base_url: str | None = None,
    confidential: str | None = None,
) -> Outgoing:
    """What `explain_in_words` would send first, byte for byte; no model is called, no key is needed, nothing is logged.

    Raises UsageError where nothing would be sent.
    """
    from chathpc.llm.keys import ENVIRONMENT_KEY
    from chathpc.llm.settings import load_settings
    from chathpc.llm.spec import resolve

    settings = load_settings({"base_url": base_url, "confidential": confidential})
    environ = {**os.environ, ENVIRONMENT_KEY: os.environ.get(ENVIRONMENT_KEY) or "none"}
    choice = resolve(llm, settings, environ)
    if choice.backend is None:
        why = choice.note or "--llm none"
        raise UsageError(f"There is no prompt: {why}.", hint="Name a model: --llm openai:MODEL --show-prompt.")
    if diagnosis.verdict == Verdict.INSUFFICIENT:
        raise UsageError("There is no prompt: there is too little data for a model to word.")
    backend = _guarded(profile, diagnosis, choice.backend, settings)
    request = _request(profile, diagnosis, pruning, backend, settings.deadline)
    return Outgoing(backend.outgoing(request), backend.label, backend.mode)


def _guarded(profile: Profile, diagnosis: Diagnosis, backend: Backend, settings: Settings) -> GuardedBackend:
    from chathpc.llm.guard import guarded
    from chathpc.privacy.names import placeholders_for

    return guarded(backend, settings, lambda mode: placeholders_for(profile, diagnosis, mode))


def _request(
    profile: Profile, diagnosis: Diagnosis, pruning: PruningResult, backend: GuardedBackend, deadline: float
) -> Request:
    from chathpc.llm.backend import Request

    prompt = _prompt(profile, diagnosis, pruning, backend)
    return Request(
        system=prompt.system,
        user=prompt.user,
        max_tokens=prompt.max_tokens,
        json_schema=prompt.json_schema,
        deadline=deadline,
    )


def _prompt(profile: Profile, diagnosis: Diagnosis, pruning: PruningResult, backend: GuardedBackend) -> Prompt:
    from chathpc.prompts.build import build_prose, build_structured

    if backend.form == "prose":
        return build_prose(diagnosis)
    from chathpc.pruners.outline import render_outline

    tree = "" if pruning.metric is None else render_outline(pruning.pruned, pruning.metric)
    excerpts = [
        excerpt
        for finding in diagnosis.findings[:_EXCERPTS]
        if finding.where.node >= 0
        and backend.mode != "all"  # source text is the user's as a whole
        and (excerpt := profile.source(finding.where.node, context=_EXCERPT_CONTEXT)) is not None
    ]
    return build_structured(diagnosis, outline=tree, excerpts=excerpts)


def from_catalogue(
    diagnosis: Diagnosis, *, note: str | None = None, statistics: ClaimStatistics | None = None
) -> ExplanationRecord:
    """The explanation put together from the catalogue; `note` says why there is no model's."""
    sentences = narrate(diagnosis)
    return ExplanationRecord(
        text=" ".join(sentence.text for sentence in sentences),
        sentences=[
            SentenceRecord(text=sentence.text, evidence=list(sentence.evidence), status="catalogue")
            for sentence in sentences
        ],
        model=None,
        claims=statistics or ClaimStatistics(),
        note=note,
    )


def _statistics(grounded: GroundedText) -> ClaimStatistics:
    found = grounded.statistics
    return ClaimStatistics(
        checked=found.checked, supported=found.supported, repaired=found.repaired, struck=found.struck
    )
