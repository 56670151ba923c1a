"""How a conversation begins: the profiles are read, the model is found, a saved conversation is taken up again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from chathpc.chat.asker import CHAT, Asker
from chathpc.chat.conversation import BUDGET, Conversation
from chathpc.chat.intents import match
from chathpc.chat.record import Chat, restore
from chathpc.chat.session import Progress, Session
from chathpc.errors import ModelUnavailableError, UsageError
from chathpc.llm.backend import Backend
from chathpc.profile.profile import Profile
from chathpc.profile.source_text import check_named

if TYPE_CHECKING:
    from chathpc.llm.price import Notice
    from chathpc.llm.settings import Settings


def read(paths: Sequence[Path]) -> Profile:
    """The profile at `paths`, several views of one run joined."""
    from chathpc.adapters.load import load

    return load(*paths)


def read_of_series(paths: Sequence[Path], tell: Progress) -> tuple[tuple[Path, ...], Profile]:
    """The paths if they hold a series of runs, else nothing; and the profile to talk about, of a series the largest run."""
    from chathpc.scale.series import profiles_in, read_series

    if len(paths) == 1 and paths[0].is_dir() and len(profiles_in(paths[0])) > 1:
        series = read_series(paths, progress=tell)
        return tuple(paths), series.largest.profile
    return (), read(paths)


def choose(
    spec: str | None, session: Session, settings: Settings, notice: Notice | None = None
) -> tuple[Backend | None, str]:
    """The first model that can be had of those that `spec` (or the settings) names, None for none, and a note for the user.

    It is behind the guard: names and keys do not leave, what is said is logged, and what would cost too much is not asked.
    UsageError for what is no SPEC, ModelUnavailableError if none can be had.
    """
    from chathpc.llm.spec import choices
    from chathpc.reading.explaining import guard

    notes: list[str] = []
    for choice in choices(spec or "auto", settings):
        if choice.note:
            notes.append(choice.note.replace("\n", " "))
        if choice.backend is not None:
            if choice.serves:
                session.leave_out_found()
            return guard(session.measured, session.diagnosis, choice, settings, notice), " ".join(notes)
        if choice.lack is None:
            return None, " ".join(notes)
    raise ModelUnavailableError(" ".join(notes) or "There is no model.")


def open_conversation(
    paths: Sequence[Path],
    *,
    compared: Sequence[Path] = (),
    llm: str | None = None,
    settings: Settings,
    budget: int | None = None,
    resume: Path | None = None,
    progress: Progress | None = None,
    asker: Asker = CHAT,
    notice: Notice | None = None,
) -> tuple[Conversation, dict[str, list[str]], str]:
    """A conversation that is ready for questions; names and paths of the profiles compared with; a note about the model.

    With `resume` it goes on with a saved one, whose paths are taken where none are given. UsageError if the profile is not the one
    that it was about.
    """
    from chathpc.llm.settings import patterns_of
    from chathpc.llm.spec import alternatives, wanted_spec

    # What is no SPEC, or none for this site, is told before a large profile is read.
    alternatives(wanted_spec(llm, settings))
    tell = progress or (lambda stage: None)
    before: Chat | None = None if resume is None else restore(resume)
    chosen = list(paths) or [Path(text) for text in (before.paths if before is not None else ())]
    if not chosen:
        raise UsageError("No profile given.", hint="chathpc chat PATH..., or --resume FILE.")
    tell("reading the profile")
    check_named(settings.source)
    series, measured = read_of_series(chosen, tell)
    profile = measured.with_sources(settings.source, below=Path())
    if before is not None and before.contexts != len(profile.tree):
        raise UsageError(
            f"{resume} is about a different profile, with {before.contexts:,} contexts; this one has {len(profile.tree):,}.",
            hint="Name its profile, or start over without --resume.",
        )
    others = dict(before.compared) if before is not None else {}
    others |= {str(path): [str(path)] for path in compared}
    loaded = {name: read([Path(text) for text in texts]) for name, texts in others.items()}
    session = Session(
        profile,
        paths=[path.absolute() for path in chosen],
        others=loaded,
        series=series,
        patterns=patterns_of(settings),
        asker=asker,
    )
    session.prepare(tell)
    match("", session)  # builds its index of examples
    limit = budget if budget is not None else before.budget if before is not None else BUDGET
    backend, note = choose(llm, session, settings, notice)
    conversation = Conversation(session, backend, budget=limit, deadline=settings.deadline)
    if before is not None:
        conversation.turns = list(before.turns)
    return conversation, others, note
