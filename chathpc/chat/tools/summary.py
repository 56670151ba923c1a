"""What the diagnosis says: the profile in a few words, findings, evidence, and what was not measured; and the metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Literal

import numpy as np
from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from chathpc.chat.session import Session
from chathpc.chat.tools.catalogue import concerns, known, to_check
from chathpc.chat.tools.measured import readings
from chathpc.chat.tools.of_run import of_run
from chathpc.chat.tools.record import (
    MOST_ROWS,
    SHARE,
    Arguments,
    Column,
    FactList,
    NoArguments,
    Result,
    escaped,
    limit,
    origin,
    prose,
    source_of,
)
from chathpc.diagnosis.command import needs_counters
from chathpc.diagnosis.fact import Fact, Form, Kind
from chathpc.diagnosis.phrasing import gain_sentence
from chathpc.diagnosis.records import Finding
from chathpc.diagnosis.timeline_words import counted
from chathpc.errors import UsageError
from chathpc.profile import numbers
from chathpc.profile.languages import Language, language_of
from chathpc.profile.metric import TIME, Aggregation, Metric
from chathpc.profile.run import NO_COUNTERS, run_facts, run_words
from chathpc.prompts.untrusted import quote
from chathpc.reports.wording import doing, gain

#: Findings whose gain is told at once.
_GAINS = 3
#: How an answer begins that a problem was not found.
ABSENT = "No finding of"


class SummaryArguments(Arguments):
    """What of the run."""

    about: Literal["all", "size", "time", "tool"] = Field(
        default="all", description="size: ranks and threads; time: how long it ran; tool: how it was measured."
    )


def summary(session: Session, asked: SummaryArguments) -> Result:
    """What was measured, and the verdict of the diagnosis in one sentence; or one thing about the run."""
    if asked.about != "all":
        return of_run(session, asked.about)
    profile = session.measured
    title = quote(profile.title)
    run = run_facts(profile, session.facts.samples if session.facts.has_host_time else None)
    words = "; ".join(run_words(run))
    text = f"{title}: {quote(profile.format)}; {words}; {numbers.count(len(profile.tree))} contexts."
    facts = FactList(quote(origin(profile)))
    facts.add(Kind.COUNT, title, len(profile.tree), "contexts")
    if profile.time is not None:
        unit, own = profile.time.unit.value, session.total(profile.time)
        time = profile.time.id
        facts.add(Kind.VALUE, f"{time} of the run over all threads", own, unit, metric=time)
        longest = _longest(session, profile.time)
        if longest is not None:
            text += f" One thread has {numbers.quantity(longest, unit)} of it at most."
            facts.add(Kind.VALUE, "the longest time of one thread", longest, unit, form=Form.ONE, metric=time)
        if run.wall_seconds is not None:
            facts.add(Kind.VALUE, "the wall-clock time of the run", run.wall_seconds, "s", form=Form.ONE)
        if run.samples is not None:
            facts.count("the run", run.samples, "samples")
        if profile.helpers.sentence:
            text += f" {profile.helpers.sentence}"
            excluded = profile.helpers.time
            facts.add(Kind.VALUE, "the time of helper threads, excluded", excluded, unit, form=Form.ONE, metric=time)
    headline = prose(session.diagnosis.headline)
    evidence = of_findings(session, session.diagnosis.findings[:1])
    return Result(f"{text} {headline}", facts=(*facts.all(), *evidence))


def _longest(session: Session, time: Metric) -> float | None:
    """The largest time of one thread of the program, which is near to how long the run took; None for one thread."""
    if not session.facts.has_host_time or session.facts.thread_count < 2:
        return None
    rows = session.facts.locations
    return float(np.nanmax(session.measured.location_totals(time.id)[rows]))


class FindingArguments(Arguments):
    """Findings."""

    number: int = Field(default=0, ge=0, le=1_000, description="One finding in full; 0: all of them in a table.")
    words: str = Field(
        default="", max_length=300, description="A performance problem (false sharing): whether it was found."
    )
    # Models are told the gain with each finding.
    part: Literal["all", "fix", "confidence"] | SkipJsonSchema[Literal["gain"]] = Field(
        default="all", description="Of one finding: what to change, or its confidence and what contradicts it."
    )
    limit: int = limit()


def findings(session: Session, asked: FindingArguments) -> Result:
    """What costs time and why: the diagnosis' findings, the most worthwhile first, with advice."""
    found = session.diagnosis.findings
    headline = prose(session.diagnosis.headline)
    if not found and not asked.words and asked.number <= 1:  # whoever asks for the fix asks what there is
        return Result(headline)
    if asked.number > len(found):
        there = f"There are {len(found)}." if found else headline
        raise UsageError(f"There is no finding {asked.number}.", hint=there)
    if asked.part == "gain":
        return _gains(session, asked.number)
    if found and (asked.number or asked.part != "all"):
        number = max(asked.number, 1)
        how = {"all": _in_full, "fix": fix, "confidence": confidence}[asked.part]
        return replace(how(session, number, found[number - 1]), facts=of_findings(session, [found[number - 1]]))
    if asked.words:
        return _whether(session, asked.words)
    rows = tuple(
        (
            number,
            one.share,
            one.seconds,
            quote(one.where.function or one.where.kernel or "the run"),
            quote(one.where.short),
            quote(one.title),
        )
        for number, one in enumerate(found[: asked.limit], 1)
    )
    columns = (
        Column("#", "count"), Column("share", SHARE), Column("cost", "s"), Column("in"), Column("place"), Column("finding", prose=True),
    )  # fmt: skip
    evidence = of_findings(session, found[: asked.limit])
    return Result(headline, columns, rows, evidence, omitted=len(found) - len(rows))


def _whether(session: Session, words: str) -> Result:
    """Whether a problem was found; if not, what is near to it or else was found, and what would show that problem."""
    from chathpc.diagnosis.catalogue.search import about

    causes = known(session)
    near, named = about(words, causes), about(words, causes, keywords=False)
    if not near:
        raise UsageError(
            f"The catalogue has no problem '{quote(words)}'.", hint=session.asker.see("findings", "what was found")
        )
    here = [tuple(one for one in group if concerns(session, one)) for group in (named, near)]
    meant = here[0] or here[1] or named or near
    numbered = list(enumerate(session.diagnosis.findings, 1))
    found = [(number, one) for number, one in numbered if one.cause in {cause.id for cause in meant}]
    if found:
        first = _in_full(session, *found[0])
        others = [f"Also {_line(number, one)}" for number, one in found[1:]]
        evidence = of_findings(session, [one for _, one in found])
        return replace(first, text=" ".join((f"Found: {first.text}", *others)), facts=evidence)
    titles = dict.fromkeys(f"'{quote(one.title)}'" for one in meant)
    shown = readings(session, [id for one in meant for id in one.metrics])
    text = f"{shown.text} {ABSENT} {' or '.join(list(titles)[:_NAMED])}.".lstrip()
    by_counters = any(id.startswith("cpu.") and id != TIME for id in session.additive)
    if not any(here):
        text += " This profile cannot show it."
    elif not shown.text and not by_counters and all(needs_counters(one.next_measurement.command) for one in meant):
        text += " Nothing that was measured could tell."
    # A check is named by the first words of its cause.
    unseen = [
        each
        for each in session.diagnosis.examined.skipped
        if all(one.id.replace("-", " ").startswith(each.checks) for one in meant)
    ]
    text += "".join(f" That was not examined ({quote(each.reason)})." for each in unseen)
    in_source = [each for each in session.diagnosis.examined.skipped if any(one.id in each.checks for one in meant)]
    text += "".join(f" Its signs in the source were not examined ({quote(each.reason)})." for each in in_source)
    beside = [(number, one) for number, one in numbered if one.cause in {cause.id for cause in near}]
    told = beside or numbered[:1]
    text += f" Related: {_line(*beside[0])}" if beside else f" Found instead: {prose(session.diagnosis.headline)}"
    lines = dict.fromkeys(f"To check: {to_check(session, one)}" for one in meant[:_NAMED] if any(here))
    counted = NO_COUNTERS not in session.measured.run or any(
        needs_counters(one.next_measurement.command) for one in meant[:_NAMED]
    )
    lacking = [
        f"Not collected: {quote(what)}: {prose(how)}"
        for what, how in list(session.diagnosis.not_collected.items())[:_NAMED]
        if counted or not needs_counters(how)  # what this machine cannot count is told where the problem needs it
    ]
    lines |= dict.fromkeys(lacking)
    facts = (*shown.facts, *of_findings(session, [one for _, one in told]))
    return Result(text, facts=facts, lines=tuple(lines), complete=True)


def _line(number: int, one: Finding) -> str:
    return f"{number}. {quote(one.title)}: {prose(one.summary)}"


#: Problems that are named where words mean several.
_NAMED = 2


def _in_full(session: Session, number: int, one: Finding) -> Result:
    parts = [_line(number, one)]
    won = gain_sentence(one)
    if won is not None:
        parts.append(won)
    parts += [f"Against it: {prose(text)}" for text in one.against]
    parts.append(f"Confidence {numbers.percent(one.confidence)}: {prose(one.confidence_reason).rstrip('.')}.")
    lines = [f"Do: {prose(text)}" for text in one.advice]
    if one.next_measurement:
        lines.append(f"Next: {prose(one.next_measurement)}")
    return Result(" ".join(parts), lines=tuple(lines))


def fix(session: Session, number: int, one: Finding) -> Result:
    """What to change for a finding: where, what, and how to try it."""
    won, where = gain_sentence(one), one.where
    place = " at ".join(quote(part) for part in (where.function or where.kernel or "", where.short) if part)
    text = f"{number}. {quote(one.title)}{f', in {place}' if place else ''}."
    text += f" {won}" if won else ""
    excerpt = session.measured.read_source(where.file, where.line, 0) if where.file and where.line else None
    code = [f"Code: {prose(line.strip())}" for line in (excerpt.lines if excerpt else ())]
    advice, diff = doing(session.report.findings[number - 1])
    changes = [f"{'Change' if not at else 'or'}: {prose(text)}" for at, text in enumerate(advice)]
    changes[1:1] = [f"    {line[:1]} {prose(line[1:])}" for line in diff]
    to_try = [f"To check: {prose(one.next_measurement)}"] if one.next_measurement else []
    shell = (
        "Or let chathpc try: chathpc fix FOLDER    (the source folder; changes are built, checked and timed in a copy)"
    )
    tried = [] if language_of(where.file or "") == Language.PYTHON else [shell]  # which it does not change
    return Result(text, lines=(*code, *changes, *to_try, *tried))


def _gains(session: Session, number: int) -> Result:
    """What repairs could win, of one finding or of the first ones of which it is known, as the report says it."""
    found = list(enumerate(session.report.findings, 1))
    known = [(at, one) for at, one in found if one.speedup_bound is not None or one.typical_gain is not None]
    told = found[number - 1 : number] if number else (known or found)[:_GAINS]
    said = [f"{at}. {quote(one.title)}: {prose(gain(one))}." for at, one in told]
    said += [f"The gains of {len(told)} findings do not add up."] if len(told) > 1 else []
    return Result(" ".join(said), facts=of_findings(session, [session.diagnosis.findings[at - 1] for at, _ in told]))


def confidence(session: Session, number: int, one: Finding) -> Result:
    """How sure a finding is, why, and what speaks against it."""
    how = (
        "inferred from the source or machine code; only its time was measured"
        if one.status == "derived"
        else "measured"
    )
    text = f"Finding {number}, {quote(one.title)}: {numbers.percent(one.confidence)} confidence ({how})."
    reason = prose(one.confidence_reason).rstrip(".")
    text += f" Based on {reason}." if reason else ""
    against = [prose(each) for each in one.against]
    text += f" Against it: {' '.join(against)}" if against else " Nothing was found that contradicts it."
    lines = [f"{item.id}: {item.statement}" for item in of_findings(session, [one])]
    if one.next_measurement:
        lines.append(f"To confirm: {prose(one.next_measurement)}")
    return Result(text, lines=tuple(lines))


def of_findings(session: Session, chosen: Sequence[Finding]) -> tuple[Fact, ...]:
    """The evidence behind findings, as it stands in an answer."""
    wanted = {id for one in chosen for id in one.evidence}
    return tuple(escaped(item) for item in session.diagnosis.evidence if item.id in wanted)


class EvidenceArguments(Arguments):
    """Evidence by id."""

    id: str = Field(default="", max_length=40, description="E1, E2, …; empty: all.")
    limit: int = limit(20)


def evidence(session: Session, asked: EvidenceArguments) -> Result:
    """Measured facts behind the findings: statement, value, and how it was computed."""
    items = session.diagnosis.evidence
    if not asked.id:
        rows = tuple((item.id, prose(item.statement)) for item in items[: asked.limit])
        text = f"{len(items)} facts." if items else "The diagnosis found nothing, so there are no facts."
        return Result(
            text,
            (Column("id"), Column("fact", prose=True)),
            rows,
            tuple(map(escaped, items[: asked.limit])),
            omitted=len(items) - len(rows),
        )
    wanted = asked.id.strip().strip("[]").upper()
    item = next((one for one in items if one.id == wanted), None)
    if item is None:
        near = get_close_matches(wanted, [one.id for one in items], n=3, cutoff=0.3)
        raise UsageError(
            f"There is no evidence {quote(asked.id)}.", hint=f"Nearest: {', '.join(near)}." if near else ""
        )
    error = "" if item.error is None else f" ± {numbers.quantity(item.error, item.unit)}"
    text = f"{item.id}: {prose(item.statement)} Value: {numbers.quantity(item.value, item.unit)}{error}. "
    place = "" if item.where is None or not item.where.short else f" Place: {quote(item.where.short)}."
    return Result(f"{text}Source: {prose(item.source)}.{place}", facts=(escaped(item),))


def missing(session: Session, asked: NoArguments) -> Result:
    """What the profile cannot tell, and the command that would measure it."""
    lacking = session.diagnosis.not_collected
    lines = []
    for what, how in list(lacking.items())[:MOST_ROWS]:
        lines += [f"{quote(what)}:", f"    {prose(how)}"]
    lines += [f"Bear in mind: {prose(text)}" for text in session.caveats[:MOST_ROWS]]
    text = "Not collected, and what would show it." if lacking else "Nothing is known to be missing."
    return Result(text, lines=tuple(lines))


class MetricArguments(Arguments):
    """Metrics."""

    search: str = Field(default="", max_length=200, description="Only metrics with this in their id or name.")
    limit: int = limit(30)


def metrics(session: Session, asked: MetricArguments) -> Result:
    """What was measured: metrics with their unit, total and the tool's name for them."""
    wanted = asked.search.strip().casefold()
    chosen = [
        metric
        for metric in session.measured.metrics.values()
        if (not metric.hidden or (wanted and metric.has_values))
        and (wanted in metric.id.casefold() or wanted in metric.source_name.casefold())
    ]
    if not chosen:
        near = get_close_matches(wanted, session.measured.metrics, n=3, cutoff=0.3)
        lacking = [
            f"{what}: {how}" for what, how in session.diagnosis.not_collected.items() if wanted in what.casefold()
        ]
        hint = f"Not collected: {lacking[0]}" if lacking else f"Nearest: {', '.join(near)}." if near else ""
        raise UsageError(f"No metric has '{quote(asked.search)}' in its name.", hint=hint)
    facts = []
    rows = []
    for metric in chosen[: asked.limit]:
        adds_up = metric.has_values and metric.aggregation != Aggregation.DERIVED
        total = session.measured.total(metric.id) if adds_up else None
        if total is not None:
            one = FactList(source_of(session, metric, "total of the run"), metric)
            one.value(f"{metric.id} of the run", total)
            facts += one.items
        written = (
            "no values"
            if not metric.has_values
            else "ratio of others"
            if total is None
            else numbers.quantity(total, metric.unit.value)
        )
        rows.append(
            (quote(metric.id), quote(metric.source_name), metric.unit.value, written, quote(metric.description))
        )
    columns = (
        Column("metric"),
        Column("name in the source"),
        Column("unit"),
        Column("total"),
        Column("meaning", prose=True),
    )
    return Result(
        f"{counted(len(chosen), 'metric')}.",
        columns,
        tuple(rows),
        tuple(facts),
        omitted=len(chosen) - len(rows),
    )
