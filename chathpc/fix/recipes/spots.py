"""From the places of a diagnosis to functions of the source."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chathpc.diagnosis.fact import Kind
from chathpc.diagnosis.facts import plain_name
from chathpc.diagnosis.records import Diagnosis, Finding, Place
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot, is_same_file
from chathpc.profile.profile import Profile
from chathpc.profile.tree import CallTree

#: A caller, or a function further out on the path, is tried with so much of the weight of the place itself.
_CALLER = 0.6
#: A function that the place calls, for each level.
_CALLED = 0.8
_EVIDENCE = 0.05
_ELSEWHERE = 0.01
_MOST = 24


def spots(program: Program, diagnosis: Diagnosis, profile: Profile | None = None) -> tuple[Spot, ...]:
    """Functions to look at, the most worthwhile first: those that findings name, their callers, those that evidence names, all others in
    which the profile, where it is given, has time.
    """
    found: dict[tuple[int, str], Spot] = {}

    def note(procedure: Procedure, line: int, weight: float, finding: Finding | None, cause: str) -> None:
        key = id(procedure), cause
        if key not in found or found[key].weight < weight:
            found[key] = Spot(procedure, line, weight, finding, cause)

    read = {fact.id: fact.where for fact in diagnosis.evidence if fact.kind == Kind.SOURCE and fact.where is not None}
    for finding in diagnosis.findings:
        # What was read in the source stands where the fault is; the place of the cost may be lines away.
        places = (*(read[each] for each in finding.evidence if each in read), finding.where)
        weight = max(finding.weight, 0.25 * finding.share, 1e-3)
        named = _named(finding.where, program)
        for at, procedure in enumerate(named):
            note(procedure, _line(procedure, places), weight * _CALLER**at, finding, finding.cause)
            if at == 0:  # what is put into its caller by the compiler is charged to the caller
                for depth, callee in _called(procedure, program):
                    note(callee, _line(callee, places), weight * _CALLED**depth, finding, finding.cause)
            for caller, call in program.calls.get(procedure.model.name, []):
                if caller is not procedure:
                    note(caller, call.start_point[0] + 1, weight * _CALLER ** (at + 1), finding, finding.cause)
    leading = diagnosis.findings[0] if diagnosis.findings else None
    for evidence in diagnosis.evidence:
        if leading is not None and evidence.where is not None:
            for procedure in _named(evidence.where, program)[:1]:
                note(procedure, evidence.where.line or procedure.model.first, _EVIDENCE, leading, "hot-compute")
    if leading is not None:
        known = {each for each, _ in found}
        others = [procedure for procedure in program.procedures if id(procedure) not in known]
        for procedure in others if profile is None else _seen(others, profile.tree):
            note(procedure, procedure.model.first, _ELSEWHERE, leading, "hot-compute")
    return tuple(sorted(found.values(), key=lambda spot: -spot.weight)[: _MOST * 2])


def _seen(procedures: Sequence[Procedure], tree: CallTree) -> list[Procedure]:
    """Those that a profile has itself or a line of, as of one that was put into its callers; all where it tells no lines."""
    lines = {*zip(tree.file.tolist(), tree.line.tolist(), strict=True)}
    places = [Place(file=tree.files[file], line=line) for file, line in lines if file >= 0 and line > 0]
    names = {plain_name(name) for name in tree.names}
    return [
        each
        for each in procedures
        if not places or plain_name(each.model.name) in names or any(_is_in(place, each) for place in places)
    ]


def _called(procedure: Procedure, program: Program) -> list[tuple[int, Procedure]]:
    """Functions that a function calls, with those that these call, and how far each is away."""
    found: list[tuple[int, Procedure]] = []
    level = [procedure]
    for depth in range(1, 4):
        following: list[Procedure] = []
        for one in level:
            for each in program.callees(one):
                if each is not procedure and all(each is not known for _, known in found):
                    found.append((depth, each))
                    following.append(each)
        level = following
    return found[:_MOST]


def _line(procedure: Procedure, places: Iterable[Place]) -> int:
    """The line of the first place that lies in the function, else its first."""
    return next((place.line for place in places if place.line and _is_in(place, procedure)), procedure.model.first)


def _is_in(place: Place, procedure: Procedure) -> bool:
    """Whether the function holds the place's line; a place without a file may be in any."""
    same = not place.file or is_same_file(place.file, procedure.source.path)
    return same and place.line is not None and _holds(procedure, place.line)


def _holds(procedure: Procedure, line: int) -> bool:
    return procedure.model.first <= line <= procedure.model.last


def _named(where: Place, program: Program) -> list[Procedure]:
    """Functions of the program that a place names, the innermost first: by file and line, by name, by the path to it."""
    found: list[Procedure] = []
    if where.file and where.line:
        found += [one for one in program.procedures if _is_in(where, one)][-1:]
    for name in (where.function, *reversed(where.path)):
        for one in program.named(plain_name(name)) if name else []:
            if one not in found:
                found.append(one)
    return found[:4]
