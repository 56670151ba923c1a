"""Races between messages that a change brings: told by its text, for they seldom show on one machine.

Requests that nothing waits for (MPI 4.1, section 3.7.3: until then the buffer of a send must not be changed and that of a receive not be
read), and messages taken from whoever sends first, where the original named the sender.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from chathpc.fix.gates.text import Code, code

_STARTS = re.compile(
    r"\bMPI_(?:I(?!nit\b|s_|nfo_|ntercomm_)[a-z]\w*|[A-Z]\w*_init|R(?:put|get)\w*)\s*\(", re.IGNORECASE
)
_ENDS = re.compile(r"\bMPI_(?:Wait|Test)(?:all|any|some)?\s*\(", re.IGNORECASE)
#: Those that wait for several: how many, then the requests. The others have the request in the first place.
_OF_SEVERAL = ("all", "any", "some")
#: Calls that are named like those that start something, and take no request.
_OTHERS = frozenset({"mpi_iprobe", "mpi_improbe", "mpi_initialized", "mpi_session_init"})
_WILDCARDS = ("MPI_ANY_SOURCE", "MPI_ANY_TAG")
_NAME = re.compile(r"[A-Za-z_]\w*")
#: A request that a function fills in for its caller, in C and C++; handed on without taking its address.
_FOR_CALLER = re.compile(r"\bMPI_Request\s*\*\s*(?:restrict\s+|const\s+)?([A-Za-z_]\w*)\s*(?=[,)])")
_OWN_CALL = re.compile(r"\b(?!MPI_|if\b|for\b|while\b|switch\b)[A-Za-z_]\w*\s*\(([^(){};]{1,400})\)")
#: A call with more characters between its brackets is none that somebody wrote.
_LONGEST = 4000


def message_races(original: Mapping[str, str], changed: Mapping[str, str]) -> list[str]:
    """Sentences about races between messages that the changed files have and the original ones lack."""
    before = [code(path, text) for path, text in original.items()]
    after = [code(path, text) for path, text in changed.items()]
    known = set(_forgotten(before))
    found = [
        f"no call waits for the request {name} of {call}"
        for name, call in _forgotten(after)
        if (name, call) not in known
    ]
    for word in _WILDCARDS:
        if _count(after, word) > _count(before, word):
            found.append(f"{word} receives from any source, unlike the original")
    return found


def _count(codes: list[Code], word: str) -> int:
    return sum(one.words[word.lower() if one.fortran else word] for one in codes)


def _forgotten(codes: list[Code]) -> Iterator[tuple[str, str]]:
    """Names of requests that no call of the files waits for, with the call that starts each."""
    waited = {
        name
        for one in codes
        for arguments, call in _calls(one, _ENDS)
        for part in (arguments[1:2] if call.lower().endswith(_OF_SEVERAL) else arguments[:1])
        for name in _names(part, one)
    }
    for one in codes:
        given = set(_FOR_CALLER.findall(one.plain)) if not one.fortran and _takes_one(one, waited) else set()
        for arguments, call in _calls(one, _STARTS):
            if call.lower() in _OTHERS or len(arguments) < 2:
                continue
            # The request is the last argument, before Fortran's error, which may be left out (mpi_f08).
            names = [name for part in arguments[-2 if one.fortran else -1 :] for name in _names(part, one)]
            handed_on = "&" not in arguments[-1] and not given.isdisjoint(names)
            if names and waited.isdisjoint(names) and not handed_on:
                yield names[0], call


def _takes_one(one: Code, waited: set[str]) -> bool:
    """Whether a request that is waited for is given to a function that is not MPI's, which may start it."""
    return any(waited & set(_NAME.findall(arguments)) for arguments in _OWN_CALL.findall(one.plain))


def _names(argument: str, one: Code) -> list[str]:
    return _NAME.findall(argument.lower() if one.fortran else argument)


def _calls(one: Code, what: re.Pattern[str]) -> Iterator[tuple[list[str], str]]:
    """The arguments of each call, and its name."""
    for match in what.finditer(one.plain):
        depth, start, parts = 1, match.end(), []
        for at in range(match.end(), min(len(one.plain), match.end() + _LONGEST)):
            character = one.plain[at]
            if character in "([{":
                depth += 1
            elif character in ")]}":
                depth -= 1
            if (character == "," and depth == 1) or depth == 0:
                parts.append(one.plain[start:at])
                start = at + 1
            if depth == 0:
                yield parts, match[0].rstrip("( \t\n")
                break
