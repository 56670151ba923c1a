"""Finds functions and files by the names that a person or a model uses for them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from difflib import get_close_matches

from chathpc.diagnosis.facts import readable_function
from chathpc.profile.activity import Activity, activity_of_module, public_name

#: Names that difflib compares with: the ones with most time; comparing with all of a large program would take seconds.
_COMPARED = 2_000
_SUGGESTED = 3
#: Similarity (0..1) from which on a name may be meant; difflib's own default.
_SIMILAR = 0.6
#: Innermost brackets that are taken out of a name one after the other.
_NESTING = 6
_BRACKETS = re.compile(r"<[^<>()]*>|\([^<>()]*\)|\[[^\[\]]*\]")
_LONGEST = 2_000
#: What HPCToolkit calls the functions that it puts around those of the C library.
_STUB = re.compile(r"^hpcrun_(\w+?)(_intercept)?$")


def short_name(name: str) -> str:
    """A function's own name, without scopes, template arguments, parameters, return type and suffixes: `std::f<int>(x)` → `f`."""
    if name.startswith("<"):
        return name
    text = readable_function(name[:_LONGEST])
    for _ in range(_NESTING):
        text, count = _BRACKETS.subn("", text)
        if not count:
            break
    if len(name) > _LONGEST:  # cut off within its template arguments
        text = text.partition("<")[0]
    text = text.split(" const")[0].strip()
    text = text.rsplit("::", 1)[-1]
    if text != name and "(" in name:  # with parameters comes a return type
        text = text.rsplit(" ", 1)[-1]
    return text or name


def of_profiler(name: str) -> bool:
    """Whether a function is in a library of the profiler."""
    return activity_of_module(name.rpartition("[")[2]) == Activity.PROFILER


def called(name: str) -> str:
    """The name by which a program calls a function of a library, or the profiler's stub for it: `hpcrun_malloc_intercept` → `malloc`."""
    return _STUB.sub(r"\1", public_name(name))


class NameIndex:
    """Names, the one with most time first, found by their whole text, in any case, by their short form, or by a part of it."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(dict.fromkeys(names))
        self._exact = set(self.names)
        self._folded, self._short, self._public, self._clones = (defaultdict[str, list[str]](list) for _ in range(4))
        for name in self.names:
            self._folded[name.casefold()].append(name)
            self._short[short_name(name).casefold()].append(name)
            self._public[called(name).casefold()].append(name)
            if (readable := readable_function(name)) != name:
                self._clones[readable].append(name)
        self._text = "\n".join(self._folded)

    def find(self, text: str) -> list[str]:
        """The names that `text` stands for: itself with its outlined bodies and the stub by which it is called, else the same in another
        case, else all with that short form, else the variants that a library has of it (`__sin_fma` of `sin`) with their stub, else MPI's
        function (`allreduce`).
        """
        text = text.strip()
        if text in self._exact:
            return [text, *self._clones.get(text, ()), *({f"{text}@plt"} & self._exact)]
        folded = text.casefold()
        of_mpi = f"p{folded}" if folded.startswith("mpi_") else folded.removeprefix("p")  # its profiling interface
        if not of_mpi.startswith(("mpi_", "pmpi_")):
            of_mpi = folded
        public = self._public.get(folded, [])
        if any(map(of_profiler, public)):  # its stubs stand before the library's function
            return list(public)
        for table, key in (
            (self._folded, folded),
            (self._short, folded),
            (self._short, _bare(folded)),
            (self._public, folded),
            (self._short, of_mpi),
            (self._short, f"mpi_{folded}"),
            (self._short, f"pmpi_{folded}"),
        ):
            if key in table:
                return list(table[key])
        return []

    def containing(self, text: str, most: int = _SUGGESTED) -> list[str]:
        """Up to `most` names that hold `text`, in any case."""
        folded = text.strip().casefold()
        found: list[str] = []
        at = self._text.find(folded) if folded and "\n" not in folded else -1
        while at >= 0 and len(found) < most:
            begin, end = self._text.rfind("\n", 0, at) + 1, self._text.find("\n", at)
            found += self._folded[self._text[begin : end if end >= 0 else None]]
            at = self._text.find(folded, end) if end >= 0 else -1
        return found[:most]

    def nearest(self, text: str, most: int = _SUGGESTED) -> list[str]:
        """Up to `most` names that `text` may be a slip of the pen for, the best first."""
        folded = text.strip().casefold()[:_LONGEST]
        contained = self.containing(folded, most)
        if len(folded) < 3 or len(contained) == most:  # two letters are near to everything
            return contained
        candidates = {
            short_name(name).casefold()[:200]: name for name in sorted(self.names[:_COMPARED], key=len, reverse=True)
        }
        close = get_close_matches(_bare(folded)[:200], candidates, n=most, cutoff=_SIMILAR)
        return list(dict.fromkeys([*contained, *(candidates[one] for one in close)]))[:most]


def _bare(text: str) -> str:
    """`text` without the brackets of a call."""
    return short_name(text.removesuffix("()"))
