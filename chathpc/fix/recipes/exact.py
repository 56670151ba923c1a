"""What a recipe would change at the place of a finding, for a report: a proposal that nothing has tried."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
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
_CALL = re.compile(rb"([\w:]+)\(.*\)", re.DOTALL)


def exact_changes(profile: Profile, diagnosis: Diagnosis) -> Mapping[int, ChangeRecord]:
    """The most promising change for each of the first findings, by its number, each once, at all places that it is for; none without
    source, or where no recipe applies."""
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
    from chathpc.fix.recipes.proposer import compatible
    from chathpc.fix.recipes.recipe import edited

    programs = {file: program({file: text}) for file, text in texts.items() if text}
    found: dict[int, ChangeRecord] = {}
    for at, finding, file in asked:
        if file not in programs:
            continue
        changes = compatible(next(_applying(programs[file], diagnosis, finding), ()))
        new = edited(programs[file], changes)
        if changes and new:
            record = _record(programs[file], file, changes, _edits(texts[file], new, file))
            if record not in found.values():
                found[at] = record
    return found


def _text(profile: Profile, file: str) -> str:
    """A file of the program as a whole; empty if it is not there, or too large."""
    excerpt = profile.read_source(file, 1, _WHOLE)
    text = "" if excerpt is None else "\n".join(excerpt.lines) + "\n"
    return text if len(text) <= _LARGEST else ""


def _record(known: Program, file: str, changes: Sequence[Change], edits: list[EditRecord]) -> ChangeRecord:
    first, *more = changes
    left = _left(known, file, changes)
    also = sorted({each.line for each in more} - {first.line})
    says = f"{first.did}; likewise {len(more)} more" if more else first.did
    says += f"; other calls of {left} stay" if left else ""
    return ChangeRecord(file=file, line=first.line, also=also, says=says, whole=not left, edits=edits)


def _left(known: Program, file: str, changes: Sequence[Change]) -> str:
    """The function of which a change takes the place of some calls and leaves others beside them; empty where there is none."""
    source = known.sources[file]
    edits = [edit for change in changes for edit in change.edits.get(file, ())]
    for name in {found[1] for each in edits if (found := _CALL.fullmatch(source.text[each.start : each.end]))}:
        for one in source.procedures:
            calls = [
                found.start()
                for found in re.finditer(rb"(?<![\w:])%s\(" % name, source.text)
                if one.node.start_byte <= found.start() < one.node.end_byte
            ]
            stay = [at for at in calls if not any(each.start <= at < each.end for each in edits)]
            if 0 < len(stay) < len(calls):
                return name.decode()
    return ""


def _applying(known: Program, diagnosis: Diagnosis, finding: Finding) -> Iterator[Sequence[Change]]:
    """What each recipe for the finding's cause changes in the function that holds its place or at a function that this line calls, the
    nearest first."""
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
            found = sorted(changes(recipe, context, spot), key=lambda change: abs(change.line - spot.line))
            if found:
                yield found


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
