"""`chathpc fix`."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING

import click

from chathpc.commands.fix_options import agent_options, ended_by_term, trial_options
from chathpc.commands.options import PLACE, PROFILE, base_url_option, confidential_option, quiet_option
from chathpc.commands.output import answer, check_output, output_options, style_for
from chathpc.commands.progress import Progress
from chathpc.commands.streams import complain
from chathpc.errors import BudgetSpentError, UsageError
from chathpc.fix.strategies import NAMES
from chathpc.reports import FORMATS

if TYPE_CHECKING:
    from chathpc.fix.agent.briefing import Guidance
    from chathpc.fix.outcome import Outcome
    from chathpc.fix.project import Allowed
    from chathpc.fix.report import FixReport
    from chathpc.report import Report


#: Characters of a commit's first line that all tools show.
_SUBJECT = 72


@click.command("fix")
@click.argument("folder", metavar="[FOLDER]", default=".", type=PLACE)
@click.option("--init", is_flag=True, help="Write an initial chathpc.yaml for FOLDER, for review, and stop.")
@click.option(
    "--strategy",
    "strategies",
    metavar="NAME",
    multiple=True,
    help=f"Who proposes changes, repeatable: {', '.join(NAMES)}. Default: recipes, and with --llm also agent, or advice if the model calls no tools.",
)
@click.option(
    "--llm", metavar="SPEC", help="Model of the other strategies: none (default), local[:MODEL], openai:MODEL, auto."
)
@base_url_option
@confidential_option(": user names (default); none. With all it is sent nothing.")
@agent_options
@click.option(
    "--report",
    "told",
    metavar="FILE",
    type=PLACE,
    help="Try what the hypotheses of this report propose, and give them to the agent.",
)
@click.option(
    "--hypothesis", "ids", metavar="ID", multiple=True, help="With --report: only this one, such as H1; repeatable."
)
@click.option("--profile", metavar="PATH", type=PROFILE, help="Profile of the unmodified program.")
@trial_options(1800.0, "in all")
@click.option(
    "--candidates",
    metavar="N",
    type=click.IntRange(1, 1000),
    default=24,
    show_default=True,
    help="Maximum number of changes to try.",
)
@click.option(
    "--allow",
    "allowed",
    type=click.Choice(["durability"]),
    multiple=True,
    help="What a change may give up: durability, if files need only be durable once the run ends.",
)
@click.option("--apply", "applied", is_flag=True, help="Change the files in FOLDER, after a yes on the terminal.")
@click.option("--yes", is_flag=True, help="With --apply: do not ask.")
@click.option("--branch", metavar="NAME", help="Commit the change on a new branch; the checkout is not touched.")
@click.option("--patch", metavar="FILE", type=PLACE, help="Where the patch goes. Default: in --work.")
@click.option("--resume/--fresh", default=True, help="Resume an earlier call (default), or start over.")
@click.option("--work", metavar="DIR", type=PLACE, help="Where copies are built. Default: next to FOLDER.")
@output_options(FORMATS)
@quiet_option
@click.option("-v", "--verbose", is_flag=True, help="Show the whole patch and every change that was tried.")
def command(
    folder: Path,
    init: bool,
    strategies: tuple[str, ...],
    llm: str | None,
    base_url: str | None,
    confidential: str | None,
    guidance: Guidance,
    critic: str | None,
    turns: int,
    tokens: int,
    told: Path | None,
    ids: tuple[str, ...],
    profile: Path | None,
    rounds: int,
    time_limit: float,
    candidates: int,
    allowed: tuple[Allowed, ...],
    applied: bool,
    yes: bool,
    branch: str | None,
    patch: Path | None,
    no_sandbox: bool,
    resume: bool,
    work: Path | None,
    form: str,
    output: str | None,
    quiet: bool,
    verbose: bool,
) -> int:
    """Find changes that make a program faster, and prove that they do.

    FOLDER holds the program and a chathpc.yaml that says how it is built, run and checked. Changes are tried in copies, in a
    sandbox: each must build, give the same answers, leave nothing undone, be faster beyond noise, and take away what the profile
    showed. The files in FOLDER change only with --apply and a yes.

    For example: chathpc fix --init my-program

    Then: chathpc fix my-program

    Exits with 0 if there is an improvement or nothing to improve, 6 if no change was proposed or passed, or only one that gives
    something up, 5 if a limit was reached before.
    """
    if init:
        return _init(folder)
    if yes and not applied:
        raise click.UsageError("--yes is the answer to the question that --apply asks.")
    if ids and told is None:
        raise click.UsageError("--hypothesis chooses from the report that --report names.")
    check_output(output, (folder,) if profile is None else (folder, profile))
    style = style_for(output, verbose=verbose)
    if branch is not None:
        from chathpc.fix.patch import head_for

        head_for(folder, branch)
    with Progress(quiet=quiet) as progress, ended_by_term():
        from chathpc.fix.agent import Bounds, Manner
        from chathpc.fix.loop import Budget, fix
        from chathpc.fix.project_file import read
        from chathpc.fix.result import exit_code, report
        from chathpc.fix.strategies import NO_MODEL, notes_of, proposers, usual, without_model
        from chathpc.fix.suspected import named_hypotheses, read_report, with_changes
        from chathpc.reports import fix_renderers
        from chathpc.sandbox import choose

        report_before = None if told is None else read_report(told)
        named = strategies or (() if report_before is not None and without_model(llm) else usual(llm))
        hypotheses = () if report_before is None else named_hypotheses(report_before, ids)
        settings = {"base_url": base_url, "confidential": confidential}
        manner = Manner(guidance, critic, Bounds(turns, tokens), hypotheses)
        asked = proposers(tuple(dict.fromkeys(named)), llm, progress, manner, settings)
        if hypotheses:
            asked = (*with_changes(hypotheses, alone=not asked), *asked)
        project = read(folder)
        outcome = fix(
            replace(project, allow=tuple(dict.fromkeys((*project.allow, *allowed)))),
            asked,
            sandbox=choose(allow_none=no_sandbox),
            work=work,
            budget=Budget(rounds=rounds, candidates=candidates, seconds=time_limit),
            profile=profile,
            fresh=not resume,
            progress=progress,
        )
        unasked = (NO_MODEL,) if llm is not None and without_model(llm) else ()
        outcome = replace(outcome, remarks=(*outcome.remarks, *notes_of(asked), *unasked))
        progress("writing the report")
        found = report(outcome)
        text = fix_renderers()[form](found, style)
    answer(text, output)
    if told is not None and report_before is not None:
        _tell_decided(told, report_before, outcome)
    _may_apply(outcome, applied=applied, branch=branch)
    if outcome.interrupted and (applied or branch is not None):
        raise BudgetSpentError("Stopped early; nothing was applied.", hint="The same command resumes it.")
    if outcome.accepted:
        _kept(outcome, found, patch, branch, applied, yes)
    return exit_code(outcome)


def _tell_decided(told: Path, report: Report, outcome: Outcome) -> None:
    """Write the report with what became of its hypotheses beside it."""
    from chathpc.fix.suspected import decided
    from chathpc.reports.write import write_atomically

    after = decided(report, outcome.attempts)
    target = told.with_name(f"{told.stem}.tried.json")
    write_atomically(target, after.to_json() + "\n")
    became = ", ".join(f"{each.id} {each.status}" for each in after.hypotheses)
    complain(f"Hypotheses: {became}. Updated report: {target}")


def _may_apply(outcome: Outcome, *, applied: bool, branch: str | None) -> None:
    """UsageError where a change is to be applied that depends on its user's word."""
    if outcome.conditional and (applied or branch is not None):
        raise UsageError(
            "The change trades something away, so it was not applied.",
            hint="If you can do without it, use --allow durability.",
        )


def _init(folder: Path) -> int:
    """Write a first description of the project."""
    from chathpc.fix.project_file import FILE
    from chathpc.fix.suggest import suggest
    from chathpc.reports.write import write_atomically

    text, remarks = suggest(folder)
    write_atomically(folder / FILE, text)
    complain(f"Wrote {folder / FILE}. Review it before running anything: it lists the commands that will run.")
    for remark in remarks:
        complain(remark)
    return 0


def _kept(outcome: Outcome, found: FixReport, patch: Path | None, branch: str | None, applied: bool, yes: bool) -> None:
    """The patch file always; a branch and the files themselves if they were asked for."""
    from chathpc.fix.patch import apply, commit
    from chathpc.reports.write import write_atomically

    before, after = outcome.originals, outcome.last.files
    if found.patch:
        target = patch or outcome.work / "change.patch"
        write_atomically(target, found.patch)
        complain(f"The patch: {target}", f"Apply it: patch -p1 -d {outcome.project.root} < {target}")
    if branch is not None:
        if not found.patch:
            raise UsageError("Only compiler flags have changed; there is nothing to commit.")
        made = commit(outcome.project.root, branch, before, after, _message(found))
        complain(f"Committed as {made[:12]} on the branch {branch}.")
    if applied and found.patch:
        if not yes and not _said_yes(
            len([path for path in after if before.get(path) != after[path]]), outcome.project.root
        ):
            complain("No changes made.")
            return
        changed = apply(outcome.project.root, before, after)
        complain(f"Changed: {', '.join(changed)}.")


def _message(found: FixReport) -> str:
    """What the commit says: how much faster, and where, in the first line."""
    places = ", ".join(dict.fromkeys(each.title.partition(": ")[0] for each in found.taken))
    faster = "Faster" if found.speedup is None else f"{found.speedup.estimate:.2f}x faster"
    return f"{shorten(f'{faster}: {places}', _SUBJECT, placeholder='…')}\n\n{found.headline}\n\n{found.diagnosis}\n"


def _said_yes(count: int, root: Path) -> bool:
    """Whether a person at the terminal says yes; no terminal, the end of input and anything else mean no."""
    if sys.stdin is None or not sys.stdin.isatty() or sys.stderr is None:
        return False
    sys.stderr.write(f"Change {count} file{'s' if count != 1 else ''} in {root}? Type yes: ")
    sys.stderr.flush()
    try:
        return sys.stdin.readline().strip().lower() == "yes"
    except (OSError, ValueError):
        return False
