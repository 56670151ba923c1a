"""What a recipe would change at the place of a finding, for a report: a proposal that nothing has tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.records import Diagnosis, Finding
from chathpc.fix.project import Project, Run
from chathpc.fix.recipes.analysis.expansion import changes
from chathpc.fix.recipes.analysis.program import Program, Spot, program
from chathpc.fix.recipes.proposer import edited
from chathpc.fix.recipes.recipe import Change, Context
from chathpc.fix.recipes.spots import spots
from chathpc.fix.recipes.table import RECIPES
from chathpc.profile.profile import Profile
from chathpc.report import ChangeRecord, EditRecord

#: Findings that get a change, and bytes of source that are looked at: a report must not wait.
_FINDINGS, _LARGEST = 3, 400_000
_WHOLE = 10**7


def exact_changes(profile: Profile, diagnosis: Diagnosis) -> Mapping[int, ChangeRecord]:
    """The most promising change for each of the first findings, by its number; none without source, or where no recipe applies."""
    found: dict[int, ChangeRecord] = {}
    for at, finding in enumerate(diagnosis.findings[:_FINDINGS]):
        file = finding.where.file
        excerpt = profile.read_source(file, 1, _WHOLE) if file and not cause(finding.cause).where_only else None
        if file is None or excerpt is None:
            continue
        text = "\n".join(excerpt.lines) + "\n"
        if len(text) > _LARGEST:
            continue
        known = program({file: text})
        change = next(_applying(known, diagnosis, finding), None)
        new = None if change is None else edited(known, [change])
        if change is not None and new:
            found[at] = ChangeRecord(file=file, line=change.line, says=change.did, edits=_edits(text, new, file))
    return found


def _applying(known: Program, diagnosis: Diagnosis, finding: Finding) -> Iterator[Change]:
    """Changes by recipes for the finding's cause, in the function that holds its place or at a function that this line calls."""
    context = Context(known, Project(Path(), "", Run("", ""), ("*",)))
    for spot in spots(known, diagnosis):
        if spot.finding is not finding or not _is_at(spot, finding, known):
            continue
        fitting = [one for one in RECIPES if finding.cause in one.causes and spot.source.language in one.languages]
        for recipe in sorted(fitting, key=lambda one: -one.promise):
            yield from sorted(changes(recipe, context, spot), key=lambda change: abs(change.line - spot.line))


def _is_at(spot: Spot, finding: Finding, known: Program) -> bool:
    line, model = finding.where.line or 0, spot.procedure.model
    if model.first <= line <= model.last:
        return True
    calls = known.calls.get(model.name, [])
    return any(call.start_point[0] + 1 <= line <= call.end_point[0] + 1 for _, call in calls)


def _edits(old: str, new: Mapping[str, str], file: str) -> list[EditRecord]:
    """The change as whole lines that stand once in the file."""
    from difflib import SequenceMatcher

    mine, its = old.split("\n"), new[file].split("\n")
    found = []
    for tag, first, last, begin, end in SequenceMatcher(None, mine, its, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        before, after = first, last + (first == last and last < len(mine))
        while before == after or old.count("\n".join(mine[before:after])) != 1:
            if before == 0 and after == len(mine):
                break
            before, after = (before - 1, after) if before else (before, after + 1)
        found.append(
            EditRecord(
                file=file,
                search="\n".join(mine[before:after]),
                replace="\n".join([*mine[before:first], *its[begin:end], *mine[last:after]]),
            )
        )
    return found
