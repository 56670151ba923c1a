"""Files and folders that are a part of something which is read as a whole: what that is, and where."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from chathpc.adapters.glance import Glance

#: Folders above a part that are looked at.
_ABOVE = 4


@dataclass(frozen=True, slots=True)
class _Whole:
    """What a person calls it, the adapter that reads its folder, paths of its parts in the folder, and the file to give, if not the folder.

    `alone`: names that no other tool gives its files, so that a part is known without the rest as well.
    """

    noun: str
    adapter: str
    parts: re.Pattern[str]
    give: str = ""
    alone: re.Pattern[str] = re.compile("(?!)")


_WHOLES = (
    _Whole("an OTF2 archive", "otf2", re.compile(r"traces(?:/.*)?|\w+\.(?:def|evt|snap|marker|thumb)|scorep\.\w+|MANIFEST\.md"), "traces.otf2",
           re.compile(r"traces\.(?:def|marker)|\d{1,18}\.(?:def|evt|snap)")),
    _Whole("a Score-P measurement", "score-p", re.compile(r"traces(?:/.*)?|(?:scorep|scout|trace|remap)\.\w+|MANIFEST\.md")),
    _Whole("an HPCToolkit database", "hpctoolkit", re.compile(r"(?:\w+\.db|FORMATS\.md|(?:metrics|src|figures)(?:/.*)?)")),
    _Whole("an HPCToolkit database", "hpctoolkit-v3", re.compile(r"experiment.*|.*\.(?:metric-db|mdb|mt|megatrace|db)|src(?:/.*)?")),
    _Whole("a TAU profile", "tau", re.compile(r"(?:MULTI__.*/)?profile\..*|(?:tautrace|events)\..*")),
    _Whole("a workload of rocprof-compute", "rocprof", re.compile(r"\w+\.(?:csv|pdf|yaml|txt)|perfmon(?:/.*)?")),
    _Whole("a Neutrino trace", "neutrino", re.compile(r"\w+\.(?:toml|log)|(?:result|kernel)(?:/.*)?")),
)  # fmt: skip


def whole_of(path: Path) -> tuple[str, str] | None:
    """What holds `path` as a part (a phrase: "a part of an OTF2 archive"), and what to do (a sentence); None if that is not known."""
    from chathpc.adapters.registry import built_in

    adapters = {adapter.name: adapter for adapter in built_in().adapters}
    place = path.absolute()
    for folder in place.parents[:_ABOVE]:
        inside = place.relative_to(folder).as_posix()
        for whole in _WHOLES:
            if whole.parts.fullmatch(inside) and adapters[whole.adapter].recognises(Glance(folder)):
                return f"a part of {whole.noun}", f"Give {_as_given(folder / whole.give, path)}."
    for whole in _WHOLES:
        if whole.alone.fullmatch(path.name):
            return (
                f"a part of {whole.noun}",
                f"Give {whole.give} of the archive, keeping all its parts in place.",
            )
    return None


def _as_given(whole: Path, path: Path) -> Path:
    """The path of the whole, from the working folder if `path` was given so."""
    return whole if path.is_absolute() or not whole.is_relative_to(Path.cwd()) else whole.relative_to(Path.cwd())
