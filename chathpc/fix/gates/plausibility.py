"""The fifth gate: no change gains more than there was to gain at the place that it is meant to mend."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from chathpc.comparison.function_names import common_key
from chathpc.diagnosis.catalogue import common
from chathpc.diagnosis.facts import plain_name
from chathpc.diagnosis.records import Diagnosis, Finding
from chathpc.fix.records import Figure, GateResult, Speedup, Verdict
from chathpc.fix.thresholds import threshold
from chathpc.profile import numbers
from chathpc.profile.profile import Profile
from chathpc.profile.text import clean

#: The main program, from which everything is called.
_MAIN = frozenset({"main", "MAIN__"})


@dataclass(frozen=True, slots=True)
class Lost:
    """A function that has less time than before, beyond noise: its name, seconds and the part of the time before."""

    function: str
    seconds: float
    share: float


def bound(finding: Finding) -> float:
    """The speed-up if all of the finding's time vanished, with its error (Amdahl's law): nothing can gain more there."""
    share = min(1.0, finding.share + common()["bound_sigma"].value * (finding.share_error or 0.0))
    return 1 / max(1 - share, 1 / threshold("most_speedup"))


def judge(
    speedup: Speedup,
    finding: Finding | None,
    lost: Iterable[Lost] | None,
    named: Collection[str],
    own: Collection[str],
    *,
    flags_alone: bool = False,
    room: float | None = None,
) -> GateResult:
    """Whether the gain is plausible.

    `lost` are the functions that lost time (None if that was not measured), `named` those that findings are about or that are
    called from there, `own` those of the program. Above the bound of its finding a change passes if all that lost time is named by some
    finding: it mended more than one. A change without finding (of the build) has no bound but that of `most_speedup`. `room` are the
    seconds over all threads that the changed program can have taken (None if that is not known): what no finding names is still to be
    done, and has to fit in there. Where the changed program left no profile, `lost` is all that there was.
    """
    limit = threshold("most_speedup") if finding is None else bound(finding)

    def told(said: str, passed: bool = False, **more: Figure) -> GateResult:
        predicted = None if finding is None else finding.speedup_bound
        figures = {"bound": limit, "low": speedup.low, "predicted": predicted, **more}
        return GateResult("plausibility", passed, said, None if passed else Verdict.IMPLAUSIBLE, figures)

    if speedup.low <= limit * threshold("bound_error"):
        of = "that is the plausible maximum" if finding is None else f"'{clean(finding.title)}' can give"
        of = of if finding is None else f"that {of}"
        stands = "is not above" if speedup.low <= limit else "exceeds, within error,"
        return told(
            f"The lower end of the interval, {_times(speedup.low)}, {stands} the {_times(limit)} {of}.", passed=True
        )
    if flags_alone:
        return told("The compiler alone achieves it.", passed=True)
    above = f"{_times(speedup.low)} or more exceeds the {_times(limit)} that the finding can give"
    if lost is None:
        return told(f"{above}, unexplained.")
    known = {common_key(name) for name in named}
    others = [each for each in lost if each.function in own and common_key(each.function) not in known]
    seconds, names = sum(each.seconds for each in others), [each.function for each in others]
    if room is not None and seconds > room:
        said = ", ".join(map(clean, names[:3]))
        return told(
            f"{above}: it takes {numbers.quantity(room, 's')} at most over all threads, and work that no finding names took "
            f"{numbers.quantity(seconds, 's')}: {said}.",
            elsewhere=names,
            room=room,
        )
    if sum(each.share for each in others) > threshold("elsewhere"):
        said = ", ".join(f"{clean(each.function)} ({each.share:.0%} of the time)" for each in others[:3])
        return told(f"{above}: work disappeared that no finding names: {said}.", elsewhere=names)
    return told(f"{above}; findings named all the time that disappeared.", passed=True)


def own_functions(names: Iterable[str], sources: Mapping[str, str]) -> set[str]:
    """Those of some names in a profile that the program's files define (path → text)."""
    from chathpc.diagnosis.source.text import parsed

    files = (parsed(path, text.encode("utf-8", "surrogateescape")) for path, text in sources.items())
    defined = {name for file in files if file is not None for name in file.function_names}
    return {name for name in names if plain_name(name) in defined}


def named_functions(profile: Profile, diagnosis: Diagnosis, claims: Iterable[str] = ()) -> set[str]:
    """Functions that findings are about or the author of a change claims, and what is only called from there."""
    claimed = {plain_name(name) for name in claims} - _MAIN
    places = {name for each in diagnosis.findings for name in _places(each)}
    places |= {name for name in profile.tree.function_labels[1] if plain_name(name) in claimed}
    return places | only_below(profile, places)


def only_below(profile: Profile, places: Iterable[str]) -> set[str]:
    """Functions that are called from one of `places` alone, with itself. Everything is called from the main program, which says nothing."""
    tree = profile.tree
    label, texts = tree.function_labels
    found: set[str] = set()
    wanted = {common_key(name) for name in set(places) - _MAIN}
    for place in (number for number, text in enumerate(texts) if wanted and common_key(text) in wanted):
        inside = np.zeros(len(tree) + 1, dtype=np.int64)
        at = np.flatnonzero(label == place)
        np.add.at(inside, at, 1)
        np.add.at(inside, tree.end[at], -1)
        below = np.cumsum(inside[:-1]) > 0
        everywhere = set(np.unique(label[~below]).tolist())
        found |= {texts[number] for number in np.unique(label[below]).tolist() if number not in everywhere}
    return found


def _places(finding: Finding) -> set[str]:
    """The function that a finding is about; of one in the main program, about which that says nothing, also those that were inlined on
    the way to its place.
    """
    name, path = finding.where.function, finding.where.path
    if not name:
        return set()
    first = next((at for at, each in enumerate(path) if each in _MAIN), len(path))
    return {name, *path[first + 1 :]} if name in _MAIN else {name}


def _times(ratio: float) -> str:
    return f"{numbers.number(ratio, 3)}x"
