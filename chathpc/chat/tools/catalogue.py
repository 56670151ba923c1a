"""The catalogue of performance problems: look up one, or find some by words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from chathpc.chat.session import Session
from chathpc.chat.tools.amounts import limit
from chathpc.chat.tools.record import Arguments, Column, Result
from chathpc.errors import UsageError
from chathpc.prompts.untrusted import quote

if TYPE_CHECKING:
    from chathpc.diagnosis.catalogue.entry import Cause

_LONGEST = 1_000


class CatalogueArguments(Arguments):
    """Words, or the id of a problem."""

    words: str = Field(min_length=1, max_length=300, description="An id (omp-load-imbalance) or words (false sharing).")
    limit: int = limit(5)


def catalogue(session: Session, asked: CatalogueArguments) -> Result:
    """What a performance problem is, how it is recognised and what is done about it."""
    from chathpc.diagnosis.catalogue import causes, extended
    from chathpc.diagnosis.catalogue.search import search

    with extended(session.patterns):
        known = causes()
    wanted = "-".join(asked.words.casefold().split())
    exact = next((one for one in known if wanted in (one.id, "-".join(one.title.casefold().split()))), None)
    hits = search([asked.words], known)
    if exact is not None:
        return _entry(exact)
    if not hits:
        raise UsageError(f"The catalogue has nothing about '{quote(asked.words)}'.", hint="Use other words.")
    rows = tuple((hit.cause.id, f"{quote(hit.cause.title)}: {_flat(hit.text)}") for hit in hits[: asked.limit])
    best = hits[0].cause
    text = f"Nearest: {best.title} ({best.id}). {_flat(best.what)}"
    return Result(text, (Column("id"), Column("problem", prose=True)), rows, omitted=len(hits) - len(rows))


def _entry(cause: Cause) -> Result:
    text = f"{cause.title} ({cause.id}): {_flat(cause.what)} {_flat(cause.why)} {_flat(cause.gain)}"
    lines = [f"Do: {_flat(one.do)}" for one in cause.advice]
    lines += [f"Against it: {_flat(one)}" for one in cause.speaks_against]
    lines.append(f"Next: {_flat(cause.next_measurement.command)} ({_flat(cause.next_measurement.tells)})")
    return Result(text, lines=tuple(lines))


def _flat(text: str) -> str:
    return quote(text, longest=_LONGEST)
