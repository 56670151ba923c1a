"""The catalogue of performance problems and the glossary of terms: look up one, or find some by words."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from chathpc.chat.session import Session
from chathpc.chat.tools.measured import in_short, readings
from chathpc.chat.tools.record import Arguments, Column, Result, limit
from chathpc.diagnosis.command import filled, needs_counters, program_of
from chathpc.diagnosis.gpu_tools import counters
from chathpc.errors import UsageError
from chathpc.packaged import table
from chathpc.profile import numbers
from chathpc.profile.run import PEAK_MEMORY, positive
from chathpc.prompts.untrusted import quote

if TYPE_CHECKING:
    from chathpc.diagnosis.catalogue.entry import Cause
    from chathpc.diagnosis.records import Finding

_LONGEST = 1_000
#: The family of causes of a programming model, by the start of a term that means all of them.
_FAMILIES = ("gpu", "mpi", "omp", "io")


class CatalogueArguments(Arguments):
    """Words, or the id of a problem."""

    words: str = Field(
        min_length=1,
        max_length=300,
        description="An id (omp-load-imbalance), words (false sharing) or a term (roofline).",
    )
    part: Literal["all", "advice"] = Field(
        default="all", description="advice: what to do about a problem, before all else."
    )
    limit: int = limit(5)


@cache
def glossary() -> Mapping[str, Mapping[str, Any]]:
    """Each name of a term, in small letters → its entry: the term, what it is, its other names, what measures it."""
    entries = table("chathpc.chat", "glossary.yaml")
    return {name.casefold(): entry for entry in entries for name in (entry["term"], *entry["also"])}


def topics(session: Session) -> tuple[str, ...]:
    """What a question can be about: terms of the glossary, ids and titles of the catalogue, and keywords of what concerns the profile."""
    found: dict[str, None] = dict.fromkeys(glossary())
    for cause in known(session):
        plain = cause.id.replace("-", " ")
        short = plain.partition(" ")[2] if plain.partition(" ")[0] in _FAMILIES else plain
        bears = concerns(session, cause)  # a histogram on the host has no atomics of a GPU
        keywords = [one for one in cause.keywords if bears or " " in one]
        found |= dict.fromkeys((plain, short, cause.title.casefold(), *(one.casefold() for one in keywords)))
    return tuple(found)


def is_problem(session: Session, words: str) -> bool:
    """Whether the catalogue has a problem of that name."""
    from chathpc.diagnosis.catalogue.search import about

    return bool(about(words, known(session)))


def catalogue(session: Session, asked: CatalogueArguments) -> Result:
    """What a performance problem is, how it is recognised and what is done about it; or what a term means."""
    from chathpc.diagnosis.catalogue.search import about, search

    causes = known(session)
    wanted = " ".join(asked.words.casefold().replace("-", " ").split())
    names = {name.replace("-", " "): told for name, told in glossary().items()}
    term = names.get(wanted) or names.get(wanted.removesuffix("s"))
    exact = [one for one in causes if wanted in (one.id.replace("-", " "), one.title.casefold().replace("-", " "))]
    meant = about(wanted, causes, keywords=False) or about(wanted, causes)
    if not any(concerns(session, one) for one in meant):
        meant = tuple(one for one in about(wanted, causes) if concerns(session, one)) or meant
    near = exact or _nearest_first(session, meant)
    if near and asked.part == "advice":
        return _advice(session, near[0])
    if term is not None and not exact:
        titled = [one for one in about(wanted, causes, keywords=False) if concerns(session, one)][:2]
        also = f" In the catalogue: {', '.join(f'{one.title} ({one.id})' for one in titled)}." if titled else ""
        here = in_short(session, wanted) or _to_measure(session, term)
        name = f"{term['term'][:1].upper()}{term['term'][1:]}"
        return Result(f"{here}{' ' if here else ''}{name}: {term['is']}{also}")
    if near:
        others = [f"{one.title} ({one.id})" for one in near[1 : asked.limit] if concerns(session, one)]
        return _entry(session, near[0], others)
    hits = search([asked.words], causes)
    if not hits:
        raise UsageError(
            f"Neither catalogue nor glossary has anything about '{quote(asked.words)}'.", hint="Use other words."
        )
    rows = tuple((hit.cause.id, f"{quote(hit.cause.title)}: {_flat(hit.text)}") for hit in hits[: asked.limit])
    best = hits[0].cause
    text = f"Nearest: {best.title} ({best.id}). {_flat(best.what)}"
    return Result(text, (Column("id"), Column("problem", prose=True)), rows, omitted=len(hits) - len(rows))


def _to_measure(session: Session, term: Mapping[str, Any]) -> str:
    """That a quantity was not measured, and what would; nothing for a term that is no quantity."""
    if "by" not in term:
        return ""
    names = [name.casefold() for name in (term["term"], *term["also"])]
    lacking = session.diagnosis.not_collected.items()
    how = next((how for what, how in lacking if any(name in what.casefold() for name in names)), None)
    if term["term"] == "memory use" and (held := positive(session.measured.run.get(PEAK_MEMORY, ""))):
        return f"A process held {numbers.size(held)} at most."
    # Counters count an interpreter too, where `filled` would name a tool for its lines.
    program = program_of(session.measured)
    if session.of_devices and needs_counters(term["by"]):  # perf counts no kernels
        how = filled(session.measured, counters(session.measured))
    how = how or (program.put(term["by"]) if program.script else filled(session.measured, term["by"]))
    return f"Not measured in this run; to measure it: {_flat(how)}."


def known(session: Session) -> tuple[Cause, ...]:
    """The problems of the catalogue, and the user's own."""
    from chathpc.diagnosis.catalogue import causes, extended

    with extended(session.patterns):
        return tuple(causes())


def _found(session: Session, cause: Cause) -> tuple[int, Finding | None]:
    """The first finding of a problem, with its number; none if it was not found."""
    numbered = enumerate(session.diagnosis.findings, 1)
    return next(((number, one) for number, one in numbered if one.cause == cause.id), (0, None))


def _nearest_first(session: Session, meant: tuple[Cause, ...]) -> list[Cause]:
    """Of several problems with the same words those that were found first, then those of the program's way to be parallel."""
    found = [one.cause for one in session.diagnosis.findings]
    return sorted(
        meant,
        key=lambda one: (found.index(one.id) if one.id in found else len(found), not concerns(session, one)),
    )


def concerns(session: Session, cause: Cause) -> bool:
    """Whether the profile has anything of the kind of program that a problem is about."""
    shape = session.measured.counts
    families = {"mpi": shape.ranks > 1, "openmp": shape.threads > 1, "host": not session.of_devices}
    measured = any(one.id.startswith("gpu.") for one in session.measured.metrics.values() if one.has_values)
    gpu = measured or bool(session.measured.devices) or shape.streams > 0
    families |= dict.fromkeys(("gpu-system", "gpu-kernel"), gpu)
    return families.get(cause.family, False)


def _entry(session: Session, cause: Cause, others: list[str]) -> Result:
    """What was found of a problem in this run, and then what it is."""
    number, found = _found(session, cause)
    text = f"{cause.title} ({cause.id}): {_flat(cause.what)} {_flat(cause.why)} {_flat(cause.gain)}"
    shown = Result()  # a finding has its own evidence
    if found is not None:
        text = f"Found here, as finding {number}: {_flat(found.summary)} {text}"
    else:
        shown = readings(session, cause.metrics)
        text = f"{shown.text} {text}{_not_here(session, cause)}".lstrip()
    text += f" Related: {', '.join(others)}." if others else ""
    lines = [f"Do: {_flat(one)}" for one in _to_do(session, cause)]
    lines += [f"Against it: {_flat(one)}" for one in (cause.speaks_against if found is None else found.against)]
    lines.append(f"Next: {to_check(session, cause)}")
    return Result(text, facts=shown.facts, lines=tuple(lines))


def _advice(session: Session, cause: Cause) -> Result:
    """What to do about a problem, and whether this run has it."""
    number, found = _found(session, cause)
    here = f" This run has it: finding {number}." if found is not None else _not_here(session, cause)
    lines = [f"Do: {_flat(one)}" for one in _to_do(session, cause)]
    lines.append(f"To check: {_flat(cause.next_measurement.command)} ({_flat(cause.next_measurement.tells)})")
    return Result(f"{cause.title} ({cause.id}): {_flat(cause.what)}{here}", lines=tuple(lines))


def _not_here(session: Session, cause: Cause) -> str:
    return " It was not found in this run." if concerns(session, cause) else " This profile cannot show it."


def _to_do(session: Session, cause: Cause) -> tuple[str, ...]:
    """What the finding of a problem advises, else the catalogue for programs of this language and kind, else all that it does."""
    from chathpc.diagnosis.diagnose import models_of

    found = _found(session, cause)[1]
    if found is not None:
        return found.advice
    return cause.advice_for(*models_of(session.facts)) or tuple(one.do for one in cause.advice)


def to_check(session: Session, cause: Cause) -> str:
    """What to measure for a problem, with the program of the profile, and what that tells."""
    from chathpc.diagnosis.gpu_tools import fitted

    found = _found(session, cause)[1]
    told = found and found.next_measurement
    return _flat(told or filled(session.measured, fitted(session.measured, cause.next_measurement)))


def _flat(text: str) -> str:
    return quote(text, longest=_LONGEST)
