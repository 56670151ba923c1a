"""How a conversation begins: the profiles are read, the model is found, a saved conversation is taken up again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from chathpc.chat import saved
from chathpc.chat.conversation import BUDGET, Conversation
from chathpc.chat.record import Chat
from chathpc.chat.session import Progress, Session
from chathpc.errors import UsageError
from chathpc.llm.backend import Backend
from chathpc.profile.profile import Profile


def read(paths: Sequence[Path]) -> Profile:
    """The profile at `paths`, several views of one run joined."""
    from chathpc.adapters.load import load

    return load(*paths)


def choose(spec: str | None, base_url: str | None = None) -> tuple[Backend | None, str]:
    """The model that `spec` (or the settings) names, None for none, and a note for the user.

    UsageError or ModelUnavailableError for one that cannot be had.
    """
    from chathpc.llm.settings import load_settings
    from chathpc.llm.spec import resolve

    choice = resolve(spec or "auto", load_settings({"base_url": base_url}))
    return choice.backend, choice.note


def open_conversation(
    paths: Sequence[Path],
    *,
    compared: Sequence[Path] = (),
    llm: str | None = None,
    base_url: str | None = None,
    patterns: Path | None = None,
    budget: int | None = None,
    resume: Path | None = None,
    progress: Progress | None = None,
) -> tuple[Conversation, dict[str, list[str]], str]:
    """A conversation that is ready for questions; names and paths of the profiles compared with; a note about the model.

    With `resume` it goes on with a saved one, whose paths are taken where none are given. UsageError if the profile is not the one
    that it was about.
    """
    from chathpc.llm.settings import load_settings, patterns_folder

    tell = progress or (lambda stage: None)
    before: Chat | None = None if resume is None else saved.restore(resume)
    chosen = list(paths) or [Path(text) for text in (before.paths if before is not None else ())]
    if not chosen:
        raise UsageError("No profile is named.", hint="chathpc chat PATH..., or --resume FILE.")
    backend, note = choose(llm, base_url)
    tell("reading the profile")
    profile = read(chosen)
    if before is not None and before.contexts != len(profile.tree):
        raise UsageError(
            f"{resume} is about another profile, of {before.contexts:,} contexts; this one has {len(profile.tree):,}.",
            hint="Give the profile that it was about, or begin anew without --resume.",
        )
    others = dict(before.compared) if before is not None else {}
    others |= {str(path): [str(path)] for path in compared}
    loaded = {name: read([Path(text) for text in texts]) for name, texts in others.items()}
    session = Session(
        profile, paths=[path.absolute() for path in chosen], others=loaded, patterns=patterns_folder(patterns)
    )
    session.prepare(tell)
    limit = budget if budget is not None else before.budget if before is not None else BUDGET
    deadline = load_settings({"base_url": base_url}).deadline
    conversation = Conversation(session, backend, budget=limit, deadline=deadline)
    if before is not None:
        conversation.turns = list(before.turns)
    return conversation, others, note
