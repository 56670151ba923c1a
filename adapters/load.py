"""Find the adapter that can read a path, by content, and read it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from chathpc.errors import AdapterError, UsageError
from chathpc.profile.profile import Profile
from chathpc.profile.text import clean


@dataclass(frozen=True, slots=True)
class Adapter:
    """A format that chathpc reads: a module with `recognises(path) -> bool` and `read(path) -> Profile`."""

    name: str
    reads: str
    module: str

    def recognises(self, path: Path) -> bool:
        """True if the content at `path` claims to be of this format; may be damaged all the same."""
        function: Callable[[Path], bool] = import_module(self.module).recognises
        return function(path)

    def read(self, path: Path) -> Profile:
        """Read `path`; AdapterError if it is damaged."""
        function: Callable[[Path], Profile] = import_module(self.module).read
        return function(path)


#: In the order in which they are asked.
ADAPTERS = (
    Adapter(
        "hpctoolkit", "HPCToolkit database folders, format 4 (meta.db, profile.db, …)", "chathpc.adapters.hpctoolkit"
    ),
    Adapter("hpctoolkit-v3", "older HPCToolkit database folders (experiment.xml)", "chathpc.adapters.hpctoolkit_v3"),
)


def load(path: str | Path, *more: str | Path, format: str | None = None) -> Profile:
    """Read the profile at `path`, whatever known format it is in.

    `format` names an adapter and skips detection. AdapterError for anything that cannot be read; UsageError for an
    unknown
    `format` and for several paths, which chathpc cannot join yet.
    """
    if more:
        raise UsageError("Several profiles cannot be joined yet.", hint="Give one path.")
    place = Path(path)
    _look(place)
    if format is not None:
        chosen = next((adapter for adapter in ADAPTERS if adapter.name == format), None)
        if chosen is None:
            known = ", ".join(adapter.name for adapter in ADAPTERS)
            raise UsageError(f"There is no format '{format}'.", hint=f"Known formats: {known}.")
        return chosen.read(place)
    for adapter in ADAPTERS:
        if adapter.recognises(place):
            return adapter.read(place)
    raise AdapterError(f"not a profile that chathpc knows{_contents(place)}", path=place, hint=_hint(place))


def _look(path: Path) -> None:
    """Refuse what cannot be a profile before any adapter opens it."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            if not os.access(path, os.R_OK | os.X_OK):
                raise AdapterError("the folder cannot be read", path=path, hint="Check its permissions.")
            if not any(path.iterdir()):
                raise AdapterError("the folder is empty", path=path, hint="Give the folder that hpcprof wrote.")
        elif not stat.S_ISREG(mode):
            raise AdapterError("neither a file nor a folder", path=path, hint="Give the folder that hpcprof wrote.")
    except FileNotFoundError:
        raise AdapterError("no such file or folder", path=path, hint="Check the path.") from None
    except ValueError:
        raise AdapterError("not a path", path=clean(str(path)), hint="Check the path.") from None
    except OSError as error:
        raise AdapterError(
            error.strerror or "cannot be read", path=path, hint="Check the path and its permissions."
        ) from None


def _contents(path: Path) -> str:
    """A few names of what is in a folder, for the message."""
    if not path.is_dir():
        return ""
    names = sorted(entry.name for entry in path.iterdir())
    shown = ", ".join(clean(name)[:40] for name in names[:4])
    return f" (it holds {shown}{', …' if len(names) > 4 else ''})"


def _hint(path: Path) -> str:
    known = "; ".join(adapter.reads for adapter in ADAPTERS)
    if path.is_file():
        if any(adapter.recognises(path.parent) for adapter in ADAPTERS):
            return f"It is one file of a database: give the folder {path.parent}."
        return f"chathpc knows: {known}."
    if any(entry.suffix == ".hpcrun" for entry in path.iterdir()):
        return f"These are measurements: run 'hpcstruct {path}' and 'hpcprof {path}', then give the database folder."
    for entry in sorted(path.iterdir()):
        if entry.is_dir() and os.access(entry, os.R_OK | os.X_OK) and any(a.recognises(entry) for a in ADAPTERS):
            return f"There is a database in it: give {entry}."
    return f"chathpc knows: {known}."
