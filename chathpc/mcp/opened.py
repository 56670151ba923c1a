"""Which profiles the server has open, and which others a client may open."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from chathpc.adapters.load import load, refuse_repeated
from chathpc.chat.asker import CLIENT, OPENING_CLIENT
from chathpc.chat.session import Session
from chathpc.diagnosis.catalogue import extended
from chathpc.errors import AdapterError, UsageError
from chathpc.profile.profile import Profile
from chathpc.profile.source_text import check_named
from chathpc.profile.text import clean

#: Profiles that are kept beside the one that is asked about; the one opened first goes first.
MOST_OTHERS = 8
#: Entries of a folder that are looked at for links before it is opened.
_MOST_ENTRIES = 100_000


class OpenProfiles:
    """The profile that is asked about (`session`), others to compare it with, and the folders that more may come from.

    `paths` are views of one run; each of `compare` is a profile of its own; they are read at once: AdapterError if one cannot be.
    `patterns` is a folder with patterns of the user.
    `source` are folders with source that the profiles do not bring; what is only found by its name is not shown to clients.
    `roots` are the folders below which `open` may read; none means nowhere.
    """

    def __init__(
        self,
        paths: Sequence[Path] = (),
        *,
        compare: Sequence[Path] = (),
        roots: Sequence[Path] = (),
        patterns: Path | None = None,
        source: Sequence[Path] = (),
    ) -> None:
        for root in roots:
            if not root.is_dir():
                raise UsageError(f"{clean(str(root))} is not a folder.", hint="Give a folder to --root.")
        self.roots = tuple(Path(os.path.realpath(root)) for root in roots)
        self.patterns = patterns
        self.source = tuple(source)
        check_named(self.source)
        with extended(patterns):  # a mistake in one is told now, not to the client
            pass
        refuse_repeated([*paths, *compare])
        self._open: dict[str, Profile] = {clean(str(path)): self._load(path) for path in compare}
        self._session: Session | None = None
        if paths:
            self._ask_about(clean(str(paths[0])), self._load(*paths), paths)

    @property
    def session(self) -> Session:
        """The profile that is asked about; UsageError while there is none."""
        if self._session is None:
            raise UsageError("No profile is open.", hint="Call open_profile first.")
        return self._session

    @property
    def title(self) -> str:
        """The title of the profile that is asked about, as its tool recorded it; empty while there is none."""
        return "" if self._session is None else self._session.measured.title

    def open(self, text: str) -> Session:
        """Read the profile at `text`, absolute or relative to a root, and ask about it from now on.

        What was open stays open for comparison. UsageError for a path that does not lie below a root, links followed, and for a
        folder with a link that leads out; AdapterError for what cannot be read.
        """
        path = self._allowed(text)
        name = clean(str(path))
        self._ask_about(name, self._open[name] if name in self._open else self._load(path), (path,))
        return self.session

    def _load(self, *paths: Path) -> Profile:
        return load(*paths, source=self.source).only_shown()

    def _ask_about(self, name: str, profile: Profile, paths: Sequence[Path]) -> None:
        others = {other: one for other, one in self._open.items() if other != name}
        for oldest in list(others)[: max(0, len(others) - MOST_OTHERS)]:
            del others[oldest]
        self._open = {**others, name: profile}
        asker = OPENING_CLIENT if self.roots else CLIENT
        self._session = Session(profile, paths=paths, others=others, patterns=self.patterns, asker=asker)
        # Now rather than with the first question: a call that nobody waits for any more runs to its end.
        self._session.prepare()

    def _allowed(self, text: str) -> Path:
        """The real path behind `text`. Whether something is there is looked at only below a root: the answer tells of nothing else."""
        if not self.roots:
            raise UsageError("No folder was named from which profiles may be opened.", hint="See --root.")
        for root in self.roots:
            try:
                path = Path(os.path.realpath(root / text))
            except (OSError, ValueError):  # a NUL in it, or a name beyond all length
                continue
            if not path.is_relative_to(root):
                continue
            if len(self.roots) == 1 or os.path.exists(path):
                _refuse_links_out(path, self.roots)
                return path
        raise UsageError(
            f"'{clean(text)[:200]}' is nothing below a folder that was named with --root.",
            hint="Give a path in one of these folders.",
        )


def _refuse_links_out(path: Path, roots: Sequence[Path]) -> None:
    """UsageError if something in the folder `path` is a link to a place outside of all `roots`."""
    seen = 0
    for folder, folders, files in os.walk(path):
        for name in (*folders, *files):
            seen += 1
            if seen > _MOST_ENTRIES:
                raise AdapterError(
                    "the folder holds too many files to be a profile", path=path, hint="Name a smaller one."
                )
            entry = os.path.join(folder, name)
            if os.path.islink(entry) and not any(Path(os.path.realpath(entry)).is_relative_to(root) for root in roots):
                raise UsageError(
                    f"{clean(name)[:200]} in it is a link out of the folders that were named with --root.",
                    hint="Name the profile on the command line of 'chathpc mcp' instead.",
                )
