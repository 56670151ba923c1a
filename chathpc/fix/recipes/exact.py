"""What a recipe would change at the place of a finding, for a report: a proposal that nothing has tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.records import Diagnosis, Finding
from chathpc.profile.profile import Profile
from chathpc.report import ChangeRecord, EditRecord

if TYPE_CHECKING:
    from chathpc.fix.recipes.analysis.program import Program, Spot
    from chathpc.fix.recipes.recipe import Change

#: Findings that get a change, and bytes of source that are looked at: a report must not wait.
_FINDINGS, _LARGEST = 3, 400_000
_WHOLE = 10**7


def exact_changes(profile: Profile, diagnosis: Diagnosis) -> Mapping[int, ChangeRecord]:
    """The most promising change for each of the first findings, by its number, each once; none without source, or where no
    recipe applies."""
    asked = [
        (at, finding, finding.where.file)
        for at, finding in enumerate(diagnosis.findings[:_FINDINGS])
        if finding.where.file and not cause(finding.cause).where_only
    ]
    texts = {file: _text(profile, file) for _, _, file in asked}
    if not any(texts.values()):
        return {}
    # Long to load, which a profile without source need not wait for.
    from chathpc.fix.recipes.analysis.program import program
    from chathpc.fix.recipes.recipe import edited

    programs = {file: program({file: text}) for file, text in texts.items() if text}
    found: dict[int, ChangeRecord] = {}
    for at, finding, file in asked:
        if file not in programs:
            continue
        change = next(_applying(programs[file], diagnosis, finding), None)
        new = None if change is None else edited(programs[file], [change])
        if change is not None and new:
            edits = _edits(texts[file], new, file)
            record = ChangeRecord(file=file, line=change.line, says=change.did, edits=edits)
            if record not in found.values():
                found[at] = record
    return found


def _text(profile: Profile, file: str) -> str:
    """A file of the program as a whole; empty if it is not there, or too large."""
    excerpt = profile.read_source(file, 1, _WHOLE)
    text = "" if excerpt is None else "\n".join(excerpt.lines) + "\n"
    return text if len(text) <= _LARGEST else ""


def _applying(known: Program, diagnosis: Diagnosis, finding: Finding) -> Iterator[Change]:
    """Changes by recipes for the finding's cause, in the function that holds its place or at a function that this line calls."""
    from chathpc.fix.project import Project, Run
    from chathpc.fix.recipes.analysis.expansion import changes
    from chathpc.fix.recipes.recipe import Context
    from chathpc.fix.recipes.spots import spots
    from chathpc.fix.recipes.table import answering

    context = Context(known, Project(Path(), "", Run("", ""), ("*",)))
    for spot in spots(known, diagnosis):
        if spot.finding is not finding or not _is_at(spot, finding, known):
            continue
        fitting = answering(finding.cause, spot.source.language)
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
