"""What an adapter is: the record that an entry point of the group `chathpc.adapters` names, built in or of a third party."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from chathpc.adapters.glance import Glance

if TYPE_CHECKING:
    from chathpc.profile.profile import Profile

#: Entry-point group in which adapters are found.
GROUP = "chathpc.adapters"


def reader(module: str) -> Callable[[Path], Profile]:
    """The function `read` of a module that is imported when the first profile is read: most formats are only looked for."""

    def read(path: Path) -> Profile:
        profile: Profile = import_module(module).read(path)
        return profile

    return read


@dataclass(frozen=True, slots=True)
class Adapter:
    """A format that chathpc reads.

    `reads` says in one line what files it takes. `recognises` tells by content whether a path claims to be of this
    format; what it claims may be damaged all the same. `read` returns the profile or raises AdapterError. `needs`
    says what is missing on this machine to read all of the format, as words for a person; empty if nothing is.
    Adapters are asked in the order of `order`, those of a specific format before those of a general one.
    """

    name: str
    reads: str
    recognises: Callable[[Glance], bool]
    read: Callable[[Path], Profile]
    order: int = 50
    needs: Callable[[], str] = str
