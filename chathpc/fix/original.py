"""The beginning of a session: the original, as it was when the work began, builds, runs and agrees with itself."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

from chathpc.errors import ChathpcError, UsageError
from chathpc.fix import globs
from chathpc.fix.gates.build import first_error
from chathpc.fix.gates.effects import WITHOUT_STRACE
from chathpc.fix.gates.examination import Reference
from chathpc.fix.history import Past
from chathpc.fix.outputs import compare
from chathpc.fix.project import Project
from chathpc.fix.runner import Built, Case
from chathpc.fix.session import Session, State
from chathpc.fix.workspace import entries, listing, tree_hash
from chathpc.profile import numbers
from chathpc.profile.text import clean

#: Source files that a proposer is shown are no larger (bytes), and are so many in all.
_LARGEST_SOURCE, _ALL_SOURCES = 2 << 20, 32 << 20
#: Changed files that are named.
_SHOWN = 3


def begin(session: Session) -> None:
    """Read what earlier sessions did, and the sources; UsageError if that was another project, ChathpcError if its files have changed since."""
    session.begun = session.clock()
    space = session.runner.workspace
    session.past = Past.of(session.ledger.events)
    if session.ledger.dropped:
        session.remarks.append(
            f"The last line of the ledger was truncated ({session.ledger.dropped} bytes); that step is repeated."
        )
    session.paths = tuple(path for path, _ in entries(space.original))
    session.originals = _sources(session.project, space.original)
    identity = {"tree": tree_hash(space.original), "project": _fingerprint(session.project)}
    known = session.past.begun
    if known is None:
        session.ledger.append(
            "begin", {"schema": "chathpc-ledger/1", **identity, "sandbox": session.runner.sandbox.name}
        )
    elif any(known.get(name) != value for name, value in identity.items()):
        raise UsageError(
            f"The work in {space.root} was started with a different chathpc.yaml.", hint="Start over with --fresh."
        )
    else:
        session.ledger.append("resume", {"sandbox": session.runner.sandbox.name})
        if not session.past.ended:
            spent, limit = (numbers.seconds(round(each)) for each in (session.past.seconds, session.budget.seconds))
            session.progress(f"resuming the search: {spent} of the time limit of {limit} are spent (--time-limit)")
    if tree_hash(session.project.root) != identity["tree"]:
        changed = {each.path for each in {*listing(session.project.root)} ^ {*listing(space.original)}}
        # What the user's own build has made since is no source.
        changed -= session.runner.makes(sorted(changed - {*session.originals}), session.originals)
        if changed:
            shown = ", ".join(map(clean, sorted(changed)[:_SHOWN])) + (", …" if len(changed) > _SHOWN else "")
            raise ChathpcError(
                f"Files in {session.project.root} have changed since the work started: {shown}.",
                hint="Start over with --fresh.",
            )


def first_state(session: Session, profile: Path | None) -> State:
    """The original, built and profiled (or with the `profile` that is given); ChathpcError if it does not build or run.

    UsageError if nothing could be compared with it.
    """
    session.progress("building the original")
    built = session.runner.build({}, None)
    if not built.completed.succeeded:
        said = first_error(built.completed.said)
        raise ChathpcError(
            f"The unmodified program does not build with '{clean(session.project.build)}': {said}",
            hint="Correct 'build' in chathpc.yaml.",
        )
    session.reference = Reference(session.runner, built)
    if "original" not in session.past.measured:
        _agrees_with_itself(session, built)
        seconds = session.original.run(session.original.timed()).seconds
        known = {"what": "original", "seconds": seconds, "traced": session.runner.traces}
        session.ledger.append("measured", known)
        session.past.measured["original"] = known
    if not session.past.measured["original"].get("traced", True):
        session.remarks.append(WITHOUT_STRACE)
    return session.state({}, None, built, None, given=profile)


def _agrees_with_itself(session: Session, built: Built) -> None:
    """Nothing can be compared with a program that says something else each time."""
    project, runner = session.project, session.runner
    for run in session.original.declared:
        session.progress(f"running the original: {clean(run.name)}")
        case = Case.usual(run)
        ran = session.original.run(case)
        if not ran.completed.succeeded:
            said = clean(ran.completed.last_words)[:200]
            raise ChathpcError(
                f"The unmodified program fails with '{clean(case.command)}' ({ran.completed.ending}){': ' + said if said else ''}.",
                hint="Correct 'run' and 'inputs' in chathpc.yaml.",
            )
        again = session.original.twice(case)[0]
        if again.completed.status != "exited":  # being watched may take too long
            again = runner.run(built, case)
        found = compare(ran.outputs, again.outputs, project.check)
        if not found.same:
            raise UsageError(
                f"Two runs of the unmodified program differ: {found.statement}.",
                hint="Name lines that differ each time under check.ignore in chathpc.yaml, or allow for a tolerance.",
            )
        if not any(ran.outputs.contents.values()):
            raise UsageError(
                "The program produces no output to compare.",
                hint="Name the files that it writes under check.outputs in chathpc.yaml.",
            )
        done = runner.check_command(built, ran)
        if done is not None and not done.succeeded:
            raise UsageError(
                f"The check '{clean(str(project.check.command))}' rejects the unmodified program.",
                hint="Correct check.command in chathpc.yaml.",
            )


def _sources(project: Project, root: Path) -> dict[str, str]:
    """The text files that may be edited."""
    found, size = {}, 0
    for path in globs.chosen(root, project.edit, project.protect):
        content = (root / path).read_bytes()
        size += len(content)
        if len(content) <= _LARGEST_SOURCE and size <= _ALL_SOURCES and b"\0" not in content:
            found[path] = content.decode("utf-8", "surrogateescape")
    return found


def _fingerprint(project: Project) -> str:
    """A hash of everything that the project declares, but for what may be given up: that changes no trial."""
    declared = repr(replace(project, root=Path("."), allow=()))
    return hashlib.sha256(json.dumps(declared, ensure_ascii=True).encode()).hexdigest()
