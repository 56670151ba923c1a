"""The compiler's flags: another level of optimisation, and the instructions of this machine."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chathpc.fix.project import Project

_LEVEL = re.compile(r"(?:(?<=\s)|\A)-O(?:\d{1,3}|[gsz]|fast|max)?(?=\s|\Z)")
_LOW = frozenset({"", "-O0", "-O1", "-Og", "-O"})
#: The highest there is: GCC and Clang take numbers above 3 for 3, others know -O4.
_HIGH = re.compile(r"-O(?:[3-9]|\d{2,3}|fast|max)")


def level(flags: str) -> str:
    """The level that is in force: the last one wins; empty without one, which is -O0."""
    found = _LEVEL.findall(flags)
    return found[-1] if found else ""


def with_level(flags: str, wanted: str) -> str:
    """The flags with another level in the place of the old one."""
    if not level(flags):
        return f"{wanted} {flags}".strip()
    kept = _LEVEL.sub(wanted, flags, count=1)
    first = kept.index(wanted) + len(wanted)
    return kept[:first] + re.sub(r"\s+(?=\s|\Z)", "", _LEVEL.sub("", kept[first:]))


def other_flags(project: Project, *, may_round: bool, native: bool = True) -> Iterator[tuple[str, str, float]]:
    """Flags to try, what they are in words, and how promising they are.

    Wider instructions of the machine may fuse products and sums (FMA), which rounds once instead of twice: without a declared
    tolerance that is turned off.
    """
    if project.flags is None:
        return
    flags = project.flags.value
    now = level(flags)
    told = not native or re.search(r"-march=|-mcpu=|-xHost", flags) is not None
    if now in _LOW:
        yield with_level(flags, "-O2"), f"Build with -O2 instead of {now or 'no optimisation'}", 0.9
    high = _HIGH.fullmatch(now) is not None
    if not high or not told:
        wanted = flags if high else with_level(flags, "-O3")
        wanted += "" if told else " -march=native" + ("" if may_round else " -ffp-contract=off")
        did = " ".join(each for each in ("" if high else "-O3", "" if told else "-march=native") if each)
        yield (
            wanted,
            f"Build with {did}" + ("" if high else f" instead of {now or 'no optimisation'}"),
            0.95 if now in _LOW else 0.12,
        )
