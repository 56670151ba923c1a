"""The words that every renderer uses for the parts of a report."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import ndiff

from chathpc.diagnosis.catalogue import common, ids
from chathpc.diagnosis.phrasing import meaning
from chathpc.profile import numbers
from chathpc.profile.kernel_names import is_launcher, kernel_title
from chathpc.profile.run import run_words
from chathpc.reading.retelling import CATALOGUE
from chathpc.report import (
    ChangeRecord,
    EditRecord,
    EvidenceRecord,
    FindingRecord,
    GainRecord,
    HypothesisRecord,
    PlaceRecord,
    Report,
    StatementRecord,
    UsageRecord,
)

VERDICTS = {
    "bottleneck": "BOTTLENECK",
    "suspected": "SUSPECTED",
    "hot-spot": "HOT SPOT",
    "healthy": "HEALTHY",
    "insufficient-data": "NOT ENOUGH DATA",
}

#: Digits behind the point that say nothing: `80.0 ms`.
_ZEROS = re.compile(r"\.0+(?= )")
#: A word with its brackets, a run of blanks, or a sign.
_TOKEN = re.compile(r"\w+\([^()]{0,24}\)|\w+|\s+|.")
#: A smaller share is not what a finding is about (a leak costs no time).
_WORTH_TELLING = 0.01
#: From this part on a part is the whole.
_ALL = 0.995
#: Confidence (a probability) from which a finding is called so.
_HIGH, _MEDIUM = 0.8, 0.5


def run_line(report: Report) -> list[str]:
    """The run in a few words: title, format, threads, times; without any time the total of the metric that is explained, where it has a unit."""
    profile = report.profile
    words = [profile.title, profile.format, *run_words(profile.run)]
    if report.tree is not None and profile.run.metric is None and report.tree.unit != "count":
        words.append(f"{numbers.quantity(report.tree.total, report.tree.unit)} of {report.tree.metric}")
    return [word for word in words if word]


def place(where: PlaceRecord) -> str:
    """`heat.c:12` (base name), `heat.c`, or nothing."""
    if where.file is None:
        return ""
    base = where.file.rsplit("/", 1)[-1]
    return f"{base}:{where.line}" if where.line else base


def spot(where: PlaceRecord | None) -> tuple[str, str]:
    """Function or kernel, and where it is; empty where unknown."""
    if where is None:
        return "", ""
    name = where.kernel or where.function or ""
    return kernel_title(name) if where.kernel and is_launcher(name) else name, place(where)


def named(where: PlaceRecord) -> str:
    """`gather at mesh.c:31`: function or kernel, and where it is, as far as either is known."""
    return " at ".join(filter(None, spot(where)))


#: What can be won of a finding that has no part of the time: only leaks are of that kind.
MEMORY = "memory, not time"


def gain(finding: FindingRecord) -> str:
    """What could be won, and the cost that this comes from."""
    if not finding.share:
        return MEMORY
    cost = f"{numbers.percent(finding.share)} of the whole"
    if finding.seconds is not None:
        cost = f"{numbers.seconds(finding.seconds)}, {cost}"
    won = _won(finding)
    # Both come from the same share, and without a word the bound, which has two standard errors, looks like a wrong 1 / (1 − cost).
    error = finding.share_error if finding.speedup_bound is not None else None
    more = f", up to {numbers.percent(min(finding.share + 2 * error, 1.0))} with the error of sampling" if error else ""
    return f"{won or 'unknown'}; the cost is {cost}{more}{'' if won else _with_calls(finding)}"


def measured(found: GainRecord) -> str:
    """What repairs gave: `similar fixes gave 1.2x to 1.7x (11 measured cases)`."""
    low, high = numbers.speedup(found.low), numbers.speedup(found.high)
    times = low if low == high else f"{low} to {high}"
    return f"similar fixes gave {times} ({found.cases} measured case{'s' if found.cases != 1 else ''})"


def examined(report: Report) -> list[str]:
    """What was examined, and what was not with what would show it, one line each."""
    if not report.examined.run and not report.examined.skipped:
        return []
    lines = [f"Examined: {_checks(report.examined.run)}."]
    lines += [
        f"Not examined: {each.reason}, {_checks(each.checks)} skipped; {each.remedy}"
        for each in report.examined.skipped
    ]
    return lines


def looked_first(report: Report) -> bool:
    """True where what was not examined matters more than the findings: nothing was measured that is worth removing."""
    return report.verdict != "bottleneck" and bool(report.examined.skipped)


def _checks(names: Sequence[str]) -> str:
    return f"{numbers.count(len(names))} check{'s' if len(names) != 1 else ''}"


def sure(finding: FindingRecord) -> str:
    """How sure the finding is, why, and what speaks against it."""
    level = "high" if finding.confidence >= _HIGH else "medium" if finding.confidence >= _MEDIUM else "low"
    reason = f": {finding.confidence_reason}" if finding.confidence_reason else ""
    against = "; ".join(text.rstrip(".") for text in finding.against) or "nothing found"
    return f"{level} ({round(finding.confidence * 100)} %){reason.rstrip('.')}. Against it: {against}."


def summary(finding: FindingRecord, headline: str) -> str:
    """What happens, unless the headline has said it already."""
    return "" if finding.summary.strip() == headline.strip() else finding.summary


def told(report: Report) -> list[StatementRecord]:
    """The facts in words that are shown below the headline: not dropped, and not the headline itself."""
    kept = (one for one in report.explanation.statements if one.kind == "retold" and one.dropped_because is None)
    return [one for one in kept if one.text.strip() != report.headline.strip()]


def words(statement: StatementRecord) -> str:
    """A fact in its author's words; a model's stand in quotation marks."""
    return statement.text if statement.by == CATALOGUE else f"“{statement.text}”"


def author(report: Report) -> str:
    """Whose words the facts are in, and what they are worth; empty if they are the catalogue's alone."""
    by = {one.by for one in told(report)}
    models = " and ".join(sorted(by - {CATALOGUE}))
    if not models:
        return ""
    return f"quotes are from {models}, a language model, with the numbers and names of the facts"


def readers(report: Report) -> str:
    """Who suspects what the report's hypotheses say, and what that is worth."""
    by = " and ".join(dict.fromkeys(each.by for each in report.suspected))
    return f"by {by}, a language model, from the facts and the source; not measured"


def repeats(hypothesis: HypothesisRecord, finding: FindingRecord) -> bool:
    """Whether a model suspects what was found: the same cause in the same function or kernel."""
    mine, found = hypothesis.where, finding.where
    same = (mine.function, mine.kernel, mine.file) == (found.function, found.kernel, found.file)
    return hypothesis.cause == finding.cause and same


def standing(hypothesis: HypothesisRecord) -> str:
    """How sure its author is of a hypothesis, and how much of the run its place has: `likely; the place has 41.2 % of the run`."""
    status = "" if hypothesis.status == "suspected" else f"{hypothesis.status}, "
    share = "" if hypothesis.share is None else f"; the place takes {numbers.percent(hypothesis.share)} of the run"
    return f"{status}{hypothesis.confidence}{share}"


def mechanism(hypothesis: HypothesisRecord) -> str:
    """What a hypothesis says, with what it cites."""
    cited = f" [{', '.join(hypothesis.cites)}]" if hypothesis.cites else ""
    return f"{reason(hypothesis)}{cited}"


def reason(hypothesis: HypothesisRecord) -> str:
    """What a hypothesis says: in its author's words, else in the catalogue's."""
    return hypothesis.mechanism or (meaning(hypothesis.cause) if hypothesis.cause in ids() else hypothesis.name)


def headline(report: Report) -> str:
    """The sentence that states the verdict, with what the first finding costs where it does not say how much."""
    told = "%" in report.headline or report.verdict not in ("bottleneck", "suspected") or not report.findings
    if told or report.findings[0].share < _WORTH_TELLING:
        return report.headline
    run = report.profile.run
    whose = "rank " if run.ranks > 1 else "thread " if run.threads > 1 else ""
    what = "Cost:" if report.findings[0].where.kernel is None else "The kernel has"
    return f"{report.headline} {what} {numbers.percent(report.findings[0].share)} of the {whose}time."


def mends(report: Report) -> bool:
    """False for a healthy program, of which nothing has to change, and nothing is promised."""
    return report.verdict != "healthy"


def gained(finding: FindingRecord) -> str:
    """What could be won, in a line: at most, and what repairs gave; where neither is known, how much of the time the place has."""
    if not finding.share:
        return MEMORY
    return _won(finding) or f"unknown: it has {numbers.percent(finding.share)} of the time{_with_calls(finding)}"


def _won(finding: FindingRecord) -> str:
    """What could be won at most, and what repairs gave; empty where neither is known."""
    said = [] if finding.speedup_bound is None else [_bounded(finding.speedup_bound)]
    won = "; ".join(said + ([] if finding.typical_gain is None else [measured(finding.typical_gain)]))
    part = won and finding.change is not None and not finding.change.whole
    return f"unknown, as the change is for a part; without all of it: {won}" if part else won


def _with_calls(finding: FindingRecord) -> str:
    """How much more of the time a place has with all that it calls; empty where that is no more."""
    part = 1 - 1 / (finding.speedup_if_free or 1)
    more = part > finding.share * (1 + _WORTH_TELLING)
    return f", {numbers.percent(part)} with all that it calls" if more else ""


def _bounded(bound: float) -> str:
    """Larger bounds say no more than that nearly all of the time is there."""
    small = bound <= common()["largest_bound"].value
    return f"at most {numbers.speedup(bound)} overall" if small else "nearly all of the time could go"


def certainty(finding: FindingRecord) -> str:
    """How sure a cause is, and the first thing that speaks against it."""
    caveat = f"; but: {finding.against[0].rstrip('.')}" if finding.against else ""
    return f"{round(finding.confidence * 100)} %{caveat}"


def is_plain(record: EvidenceRecord) -> bool:
    """True for a part that is the whole, which tells a reader nothing."""
    whole = record.whole
    if whole is None or not whole.of or not whole.value:
        return False
    # A value far above is measured against a standard, such as the sectors of a coalesced request.
    return _ALL * whole.value <= record.value <= whole.value / _ALL


def purpose_of(measurement: str | None) -> str:
    """What it tells, of `command (what it tells)`; empty for none."""
    return (measurement or "").partition(" (")[2].strip().removesuffix(")")


def command_of(measurement: str | None) -> str:
    """The command of `command (what it tells)`; empty for none."""
    return (measurement or "").split(" (", 1)[0].strip()


def diff(edits: Sequence[EditRecord]) -> list[str]:
    """The lines that edits take away and add, each behind its sign; what adds alone stands with the line that it stands at."""
    lines: list[str] = []
    for edit in edits:
        old, new = edit.search.split("\n"), edit.replace.split("\n")
        kept = [line.rstrip() for line in ndiff(old, new) if not line.startswith("?")]
        changed = [at for at, line in enumerate(kept) if line[:1] in "+-" and line[1:].strip()]
        if not changed:
            continue
        alone = len({kept[at][0] for at in changed}) == 1
        first, last = (max(changed[0] - alone, 0), changed[-1] + 1 + alone) if alone else (changed[0], changed[-1] + 1)
        lines += [line for line in kept[first:last] if line[1:].strip()]
    return lines


def proposed(change: ChangeRecord | None) -> tuple[str, list[str]]:
    """Where and how a change is made, untested, and its lines as a diff; nothing without one."""
    if change is None:
        return "", []
    return f"{changed_at(change)}: {change.says} (untested)", diff(change.edits)


def doing(finding: FindingRecord) -> tuple[list[str], list[str]]:
    """What to do about a finding, the change that its source needs in the place of the first piece of advice; and that change as a diff."""
    says, lines = proposed(finding.change)
    return ([says, *finding.advice[1:]] if lines else [*finding.advice]), lines


def changed_at(change: ChangeRecord) -> str:
    """`heat.c:12`, where a change begins, and the lines of what it changes alike."""
    return ", ".join((place(PlaceRecord(file=change.file, line=change.line)), *map(str, change.also)))


def replaced(lines: Sequence[str]) -> str:
    """`schedule(static) → schedule(dynamic, 16)` where one line of a diff takes the place of one; empty for any other."""
    if [line[:1] for line in lines] != ["-", "+"]:
        return ""
    old, new = (_TOKEN.findall(line[1:].strip()) for line in lines)
    before = next(
        (at for at, (mine, its) in enumerate(zip(old, new, strict=False)) if mine != its), min(len(old), len(new))
    )
    shorter = min(len(old), len(new)) - before
    after = next((at for at in range(shorter) if old[-1 - at] != new[-1 - at]), shorter)
    taken, given = ("".join(words[before : len(words) - after]).strip() for words in (old, new))
    return f"{taken} → {given}" if taken and given else ""


def change_lines(hypothesis: HypothesisRecord) -> list[str]:
    """The proposed change line by line, as a diff without its numbers: each file's name, then `-` and `+`."""
    lines = []
    for edit in hypothesis.change:
        lines.append(edit.file)
        pair = (edit.search.split("\n"), edit.replace.split("\n"))
        lines += [line.rstrip() for line in ndiff(*pair) if not line.startswith("?")]
    return lines


def statements(report: Report) -> list[StatementRecord]:
    """What a model said beside its hypotheses, as far as it is printed."""
    return [each for each in report.explanation.statements if each.kind != "retold" and each.dropped_because is None]


def fates(report: Report) -> list[str]:
    """All that models said, hypotheses and statements, each with what became of it."""
    said = [f"{each.id} {each.name}: {mechanism(each)} ({_fate(each)})" for each in report.hypotheses]
    own = (each for each in report.explanation.statements if each.by != CATALOGUE)
    return [*said, *(f"{each.text} ({each.kind}: {each.dropped_because or 'printed'})" for each in own)]


def _fate(hypothesis: HypothesisRecord) -> str:
    why = hypothesis.status if hypothesis.status == "refuted" else f"rated {hypothesis.confidence}"
    return (
        "printed"
        if hypothesis.is_shown
        else f"not printed: {why}, {numbers.percent(hypothesis.share or 0.0)} of the run"
    )


def stages(report: Report) -> str:
    """`load 0.12 s, diagnose 30 ms`."""
    return ", ".join(f"{name} {numbers.seconds(value)}" for name, value in report.timings.items())


def versions(known: Mapping[str, str]) -> str:
    """`chathpc 0.1.0, numpy 2.1`."""
    return ", ".join(f"{name} {version}".strip() for name, version in known.items())


def coverage(report: Report, rows: int) -> str:
    """How much of the tree is shown in `rows` rows, and how much of the time the pruned tree covers."""
    shown, every = numbers.count(rows), numbers.quantity(report.pruning.contexts_before, "contexts")
    return f"{shown} of {every}, {numbers.percent(report.pruning.time_kept_share)} of the time"


def checked(report: Report) -> str:
    """The last line: where the numbers come from, which model spoke, and how much of what it said is not printed."""
    # A citation of what was not shown has no text, and is dropped from a statement that is counted itself.
    own = [each for each in report.explanation.statements if each.by != CATALOGUE and each.text]
    dropped = sum(each.dropped_because is not None for each in own)
    model = report.explanation.model or "none"
    left = f"; {dropped} of its {len(own)} statements dropped" if dropped else ""
    return f"Every number above was computed from the profile. Model: {model}{_paid(report.explanation.usage)}{left}."


def _paid(usage: UsageRecord | None) -> str:
    """What a model's answer took, where it looked things up or its price is known."""
    if usage is None or (usage.cost is None and not usage.calls):
        return ""
    parts = [f"{usage.calls} look-up{'s' if usage.calls != 1 else ''}"] if usage.calls else []
    parts.append(f"{numbers.count(usage.prompt_tokens or 0)} + {numbers.count(usage.completion_tokens or 0)} tokens")
    parts += [] if usage.cost is None else [numbers.money(usage.cost, usage.currency or "")]
    return f", {', '.join(parts)}"


def uncited(report: Report) -> list[str]:
    """Ids of the evidence that no finding rests on, in the order of the report."""
    cited = {identifier for finding in report.findings for identifier in finding.evidence}
    return [evidence.id for evidence in report.evidence if evidence.id not in cited]


def several_tools(report: Report) -> bool:
    """True if the evidence comes from more than one tool, so that each item must say from which."""
    return len({record.tool for record in report.evidence if record.tool}) > 1


def statement(record: EvidenceRecord, several: bool) -> str:
    """What was measured, with its sampling error, and with the tool behind it where there are several."""
    marks = [f"± {_amount(record.error, record.unit)}"] if record.error else []
    marks += [record.tool] if several and record.tool else []
    return f"{record.statement} ({', '.join(marks)})" if marks else record.statement


def _amount(error: float, unit: str) -> str:
    """A standard error in the unit of its value: one digit is all that it bears."""
    if unit == "ratio":
        return f"{numbers.number(error * 100, 1)} %"
    return _ZEROS.sub("", numbers.quantity(numbers.rounded(error, 1), unit))
