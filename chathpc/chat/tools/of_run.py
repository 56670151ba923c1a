"""The run as a whole: how many ranks and threads, how long, measured with what; what was examined; whether it would scale."""

from __future__ import annotations

import shlex

from pydantic import Field

from chathpc.chat.session import Session
from chathpc.chat.tools.record import MOST_ROWS, Arguments, FactList, NoArguments, Result, escaped, origin, prose
from chathpc.diagnosis.command import APP, program_of
from chathpc.diagnosis.fact import Form, Kind, Quantity
from chathpc.diagnosis.timeline_words import counted
from chathpc.profile import numbers
from chathpc.profile.metric import NO_CORE
from chathpc.profile.profile import COMMAND
from chathpc.profile.run import RunFacts, run_facts
from chathpc.prompts.untrusted import quote


def of_run(session: Session, about: str) -> Result:
    """How many ranks and threads a run has (size), how long it took (time), or what it was measured with (tool)."""
    profile = session.measured
    run = run_facts(profile, session.facts.samples if session.facts.has_host_time else None)
    facts = FactList(quote(origin(profile)))
    tell = {"size": _size, "time": _time, "tool": _tool}[about]
    return Result(tell(session, run, facts), facts=facts.all())


def _size(session: Session, run: RunFacts, facts: FactList) -> str:
    words = run.shape
    ranks = "ranks" if run.ranked else "processes"
    for what, value in (("nodes", run.nodes), (ranks, run.ranks), ("threads", run.threads), ("GPUs", run.gpus)):
        if value:
            facts.count("the run", value, what)
    text = f"The run had {words or 'one thread'}."
    if run.ranks <= 1:
        text += (
            " It was one process; no MPI ranks were recorded." if run.threads > 1 else " No MPI ranks were recorded."
        )
    elif run.threads == 1:
        text += " Each rank has one thread of the program."
    helpers = session.measured.helpers.sentence
    return f"{text} {helpers}" if helpers else text


def _time(session: Session, run: RunFacts, facts: FactList) -> str:
    parts = []
    if run.wall_seconds is not None:
        parts.append(f"The run took {numbers.seconds(run.wall_seconds)} of wall-clock time.")
        facts.add(Kind.VALUE, "the wall-clock time of the run", run.wall_seconds, "s", form=Form.ONE)
    else:
        parts.append("The profile does not record the run's wall-clock time.")
    if run.total is not None and run.unit is not None and run.metric is not None:
        several = run.threads > 1 or run.ranks > 1
        over = f" over all {'threads' if run.threads > 1 else 'ranks'}" if several else ""
        each = "" if run.mean is None else f", {numbers.seconds(run.mean)} per rank on average"
        parts.append(f"Summed{over}, {run.metric} is {numbers.quantity(run.total, run.unit.value)}{each}.")
        facts.add(Kind.VALUE, f"{run.metric} of the run{over}", run.total, run.unit.value, metric=run.metric)
        if run.mean is not None:
            facts.add(Kind.VALUE, f"{run.metric} of a rank on average", run.mean, "s", form=Form.ONE, metric=run.metric)
    lacked = session.measured.total(NO_CORE) if NO_CORE in session.measured.metrics else 0.0
    if lacked > 0:
        parts.append(
            f"Beside that, threads that could run had no core for {numbers.seconds(lacked)}: other programs or threads had it."
        )
        facts.add(
            Kind.VALUE, "the time that threads could run and had no core", lacked, "s", form=Form.ONE, metric=NO_CORE
        )
    return " ".join(parts) + session.unseen


def _tool(session: Session, run: RunFacts, facts: FactList) -> str:
    profile = session.measured
    text = f"{quote(profile.title)} was measured with {quote(profile.format)}"
    if run.collected:
        text += f": {run.collected}{f' with {quote(run.event)}' if run.event else ''}"
    if run.samples is not None:
        text += f", {numbers.count(run.samples)} samples"
        facts.count("the run", run.samples, "samples")
        if run.total and run.unit is not None and run.unit.value == "s":
            period = run.total / run.samples
            text += f", one per {numbers.quantity(period, 's')} of {run.metric}"
            facts.add(Kind.VALUE, "the time between samples", period, "s", form=Form.ONE, metric=run.metric)
    files = ", ".join(dict.fromkeys(quote(source.path.name) for source in profile.sources[:3]))
    return f"{text}. It was read from {files}." if files else f"{text}."


def examined(session: Session, asked: NoArguments) -> Result:
    """The checks that ran, and those that could not with what would make them possible."""
    from chathpc.diagnosis.catalogue import causes

    found = session.diagnosis.examined
    facts = FactList("the diagnosis")
    facts.count("the diagnosis", len(found.run), "checks")
    count = len(session.diagnosis.findings)
    facts.count("the diagnosis", count, "findings")
    text = f"{counted(len(found.run), 'check')} ran; {counted(count, 'finding')} resulted."
    names = dict.fromkeys(quote(name).replace("-", " ") for name in found.run)
    lines = [f"Examined: {', '.join(names)}."] if names else []
    problems = {cause.id for cause in causes()}
    for each in found.skipped[:MOST_ROWS]:
        # What the source shows of a problem is examined beside what was measured of it.
        where = " in the source" if problems.issuperset(each.checks) else ""
        skipped = ", ".join(quote(name).replace("-", " ") for name in each.checks)
        lines.append(f"Not examined{where} ({skipped}): {prose(each.reason)}.")
        lines.append(f"    {prose(each.remedy)}")
    lines += [f"Bear in mind: {prose(caveat)}" for caveat in session.caveats[:MOST_ROWS]]
    return Result(text, facts=facts.all(), lines=tuple(lines))


class ScalingArguments(Arguments):
    """The scale that is asked about."""

    parameter: str = Field(
        default="",
        max_length=100,
        description="What it counts, such as ranks, threads or n; empty: what the runs vary.",
    )
    at: float = Field(default=0.0, ge=0.0, description="Value of the parameter; 0: four times the largest of the runs.")


def scaling(session: Session, asked: NoArguments) -> Result:
    """What one run tells of more ranks or threads, and which measurement would tell the rest."""
    profile = session.measured
    run = run_facts(profile)
    known = [escaped(one) for one in session.diagnosis.evidence if one.kind == Kind.EFFICIENCY]
    unit = "ranks" if run.ranks > 1 else "threads"
    if len(session.others) == 1 and (told := _between(session, run)):
        return told
    text = f"One run cannot show how the program scales: that takes runs with at least two different numbers of {unit}."
    if known:
        text += f" What this run has: {' '.join(one.statement for one in known)}"
        text += f" More {unit} will not recover what is already lost at this size."
    elif run.ranks <= 1 and run.threads <= 1:
        text += " This run has one thread, so nothing is known about waiting or imbalance."
    else:
        text += " This profile does not show its parallel efficiency either."
    return Result(text, facts=tuple(known), lines=tuple(_to_measure(session, run)))


def _between(session: Session, run: RunFacts) -> Result | None:
    """The parallel efficiency from the run that was loaded for comparison to this one; None where they had as many ranks and threads."""
    before = run_facts(session.before(next(iter(session.others))).measured)
    first, last = (max(each.ranks, 1) * max(each.threads, 1) for each in (before, run))
    if first == last or not before.wall_seconds or not run.wall_seconds:
        return None
    speedup = before.wall_seconds / run.wall_seconds
    facts = FactList("the wall-clock times of both runs")
    times = f"{numbers.seconds(before.wall_seconds)} to {numbers.seconds(run.wall_seconds)}"
    text = f"From {before.shape or 'one thread'} to {run.shape or 'one thread'} the time went from {times}."
    kinds = (
        ("of the same size, the parallel efficiency", speedup * first / last),
        ("that grew with the run, it", speedup),
    )
    for what, efficiency in kinds:
        text += f" For a problem {what} is {numbers.percent(efficiency)}."
        facts.value(f"parallel efficiency for a problem {what.partition(',')[0]}", efficiency, "ratio", form=Form.ONE)
    return Result(text, facts=facts.all(), lines=("More runs tell where it is lost:", "    chathpc scale FIRST SECOND"))


def _to_measure(session: Session, run: RunFacts) -> list[str]:
    """How to run the program on its number of ranks or threads and on twice as many; without a command where it is not known."""
    profile, ranked = session.measured, run.ranks > 1
    count = run.ranks if ranked else max(run.threads, 1)
    program, unit = program_of(profile), "ranks" if ranked else "threads"
    again = "    chathpc scale FIRST SECOND"
    numbered = f"on {numbers.count(count)} and on {numbers.count(2 * count)} {unit}"
    if program.words[0] == APP:
        return [f"Measure the same problem {numbered} as this run was measured, and compare:", again]
    tool = "hpcrun -e REALTIME -t" if profile.format.startswith("HPCToolkit") else "chathpc measure --"
    words = prose(shlex.join(program.words))
    known = COMMAND in profile.run
    launchers = [
        [str(many) if word == str(count) else word for word in program.launcher] for many in (count, 2 * count)
    ]
    if ranked and launchers[0] == launchers[1]:  # how so many ranks are started is not known
        return [
            f"Measure the same problem {numbered}, started as this run was, and compare:",
            f"    {tool} {words}",
            again,
        ]
    starts = []
    for many, launcher in zip((count, 2 * count), launchers, strict=True):
        before, after = (shlex.join(launcher), "") if ranked else ("", f"OMP_NUM_THREADS={many}")
        parts = (after, before, tool) if tool.startswith("hpcrun") else (after, tool, before)
        starts.append(f"    {' '.join(filter(None, (*parts, words)))}")
    own = "" if known else ", with the program's own arguments"
    times = "twice" if known or not ranked else numbered
    return [f"Measure the same problem {times}{own}, and compare:", *starts, again]


def at_scale(session: Session, asked: ScalingArguments) -> Result:
    """What `chathpc scale` says: where time is lost, the time at the scale that is asked about, the run that would tell more."""
    from chathpc.diagnosis.records import Place
    from chathpc.reports.scaled import findings, outlook_sentences, target_words
    from chathpc.scale.words import at_value

    found = session.scaled(asked.parameter, asked.at)
    facts = FactList("chathpc scale: laws fitted to the runs of the series")
    whole = Quantity(of="the time" if found.kind == "problem size" else "all workers' time")
    if found.loss is not None:
        facts.add(Kind.SHARE, "the loss at the largest scale", max(found.loss, 0.0), "ratio", whole=whole)
    for point in found.points:
        facts.add(Kind.VALUE, f"the time at {quote(at_value(found.parameter, point.value))}", point.elapsed, found.unit)
    for finding in found.findings:
        where = Place(function=finding.where.function or finding.name, path=tuple(finding.where.path))
        facts.add(Kind.SHARE, "its loss at the largest scale", finding.share, "ratio", whole=whole, where=where)
        if finding.loss == "growth" and finding.law is not None:
            subject, exponent = f"the exponent of its growth with {found.parameter}", finding.law.growth.value
            facts.add(Kind.VALUE, subject, exponent, "", where=where)
    for each in found.predictions:
        at = quote(target_words(each))
        if (time := each.elapsed) is not None:
            for what, value in (("time predicted", time.value), ("least time", time.low), ("most time", time.high)):
                facts.add(Kind.VALUE, f"the {what} for {at}", value, found.unit)
        for place in each.ranked:
            where = Place(function=place.name)
            facts.add(Kind.VALUE, f"its cost predicted for {at}", place.cost.value, found.unit, where=where)
    said = [prose(sentence) for sentence in outlook_sentences(found)]
    lost = [
        f"{share.strip()} in {quote(finding.name)}: {prose(sentence)}" for finding, share, sentence in findings(found)
    ]
    return Result(prose(found.headline), facts=facts.all(), lines=(*said, *lost), complete=True)
