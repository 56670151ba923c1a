"""A series: the verdict, the efficiencies of the runs, where the loss is and why, what comes at larger scales."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from rich.text import Text

from chathpc.profile import numbers
from chathpc.reports import wording
from chathpc.reports.blocks import INDENT, Blocks, Piece, between, named, plain
from chathpc.reports.page import Page
from chathpc.reports.spread import cell, sentences
from chathpc.scale.record import (
    CrossingRecord,
    FindingRecord,
    NextRunRecord,
    PointRecord,
    PredictionRecord,
    RangeRecord,
    Scaling,
)
from chathpc.scale.words import at_value, value

VERDICTS = {"scales": ("SCALES", "bold green"), "loses": ("LOSES", "bold red"), "grows": ("GROWS", "bold red"),
            "cannot-tell": ("CANNOT TELL", "bold yellow")}  # fmt: skip
#: Rows of the matrix: what they are called, and where they stand in the tree of factors.
_ROWS = (
    ("global efficiency", "overall", 0),
    ("parallel efficiency", "parallel", 1),
    ("load balance", "balance", 2),
    ("between ranks", "balance_ranks", 3),
    ("between threads", "balance_threads", 3),
    ("communication", "communication", 2),
    ("in MPI", "mpi", 3),
    ("calls for devices", "offload", 3),
    ("of threads", "threads", 3),
    ("serialisation", "serialisation", 3),
    ("transfer", "transfer", 3),
    ("computation scaling", "computation", 1),
    ("instructions", "instructions", 2),
    ("instructions per cycle", "ipc", 2),
    ("clock rate", "frequency", 2),
    ("devices", "devices", 0),
    ("balance of kernels", "device_balance", 1),
    ("copies", "device_copies", 1),
    ("use", "device_use", 1),
)
_FINDINGS, _RANKED, _COLUMNS = 3, 3, 8


def build(page: Blocks, record: Scaling) -> None:
    """The whole answer; on a terminal -v names more findings and places."""
    page.head(head(record))
    page.verdict(*VERDICTS[record.verdict], record.headline)
    page.blank()
    if not isinstance(page, Page):
        page.heading(table_title(record))
    page.table(("", *columns(record)), matrix(record), right=columns(record), indent=INDENT)
    _findings(page, record)
    for number, sentence in enumerate(workers(record)):
        if number == 0:
            page.heading("Ranks and threads", f"at {at_value(record.parameter, record.points[-1].value)}")
        page.paragraph(sentence)
    page.heading("At larger scales", "from laws fitted to these runs, 80 % intervals")
    for about, rest in outlook(record, _RANKED * 2 if page.style.verbose else _RANKED):
        page.paragraph([(about, "strong"), " ", *rest])
    page.blank()
    page.notes(record.notes)


def head(record: Scaling) -> list[str]:
    """What was measured, at which scales, and what was scaled."""
    fewest, most = (extreme(point.repetitions for point in record.points) for extreme in (min, max))
    runs = "" if most == 1 else f", {fewest}{f' to {most}' if most > fewest else ''} runs each"
    fixed = "".join(f", {name} = {value(each)}" for name, each in record.fixed.items())
    kind = {"unknown": "unknown kind of scaling"}.get(record.kind, f"{record.kind} scaling")
    kind = "problem size" if record.kind == "problem size" else f"{kind} ({record.kind_reason})"
    values = ", ".join(value(point.value) for point in record.points)
    return [record.title, ", ".join(record.formats), f"{record.parameter} {values}{fixed}{runs}", kind]


def columns(record: Scaling) -> list[str]:
    """Headings of the matrix: the scales, of many the first and the last ones."""
    return [
        f"{record.parameter} {value(point.value)}" if at == 0 else value(point.value)
        for at, point in enumerate(_shown(record))
    ]


def matrix(record: Scaling) -> list[tuple[str, ...]]:
    """Rows of the matrix: times, speed-up, and the efficiencies that are known, factors below their product."""
    points = _shown(record)
    summed = record.verdict == "cannot-tell"
    several = any(point.workers > 1 for point in points)
    name = "time of all" if summed else f"time of the busiest {record.worker}" if several else "time"
    if record.unit != "s":
        name = f"{name}, {record.unit}" if record.unit else record.metric or "cost"
    rows = [(name, *(cell(point.elapsed, record.unit) for point in points))]
    grows = summed or record.kind == "problem size"
    factors = (numbers.speedup(1 / point.speedup if grows else point.speedup) for point in points)
    rows.append(("growth" if grows else "speed-up", *factors))
    if summed:
        return rows
    for name, attribute, depth in _ROWS:
        if not several and "device" not in attribute:
            continue
        shares = [getattr(point, attribute) for point in points]
        if any(share is not None for share in shares):
            rows.append(("  " * depth + name, *("" if share is None else f"{share * 100:.0f} %" for share in shares)))
    return rows


def table_title(record: Scaling) -> str:
    """What the matrix is of."""
    return "Efficiencies" if any(text.endswith("%") for row in matrix(record) for text in row) else "Times"


def findings(record: Scaling) -> list[tuple[FindingRecord, str, str]]:
    """Each finding with its share and the sentences about it."""
    return [(each, numbers.percent_cell(each.share), _sentence(record, each)) for each in record.findings]


def outlook(record: Scaling, ranked: int = _RANKED) -> Iterator[tuple[str, list[Piece]]]:
    """Sentences about larger scales, each in two parts: what it is about, and the rest."""
    measured = [_measured(record, each) for each in record.predictions]
    for each, told in zip(record.predictions, measured, strict=True):
        yield f"At {target_words(each)}:", [told] if told else _prediction(record, each, ranked)
    if record.next_run is not None and record.next_run.question and not measured[0]:
        yield "Next run:", [next_run(record, record.next_run)]
    crossing = record.crossing
    # Where it may be within the interval, nobody knows whether there is one.
    if crossing is not None and not crossing.refusal and (crossing.value is not None or crossing.low is None):
        yield "Waiting", [_crossing(record, crossing)]


def outlook_sentences(record: Scaling, ranked: int = _RANKED) -> list[str]:
    """The same as whole sentences."""
    return [f"{about} {plain(rest)}" for about, rest in outlook(record, ranked)]


def workers(record: Scaling) -> list[str]:
    """Groups of ranks and threads of the largest run, and those that stand out, if there are any."""
    if record.spread is None or (len(record.spread.groups) < 2 and not record.spread.all_odd):
        return []
    return list(sentences(record.spread, _FINDINGS))


def target_words(found: PredictionRecord) -> str:
    """`64 ranks and n = 8,000`."""
    return " and ".join(at_value(name, number) for name, number in found.at.items())


def next_run(record: Scaling, found: NextRunRecord) -> str:
    """Which run tells most for its price, and about what, or makes an extrapolation possible."""
    target = target_words(record.predictions[0])
    about, decides = f"{found.question} at {target}", found.purpose == "decide"
    known = f"{found.answer}, {numbers.percent(found.certainty)} certain"
    if found.at is None and decides:
        return f"none is worth its price. It is known {about}: {known}."
    if found.at is None:
        return "none is likely to change that."
    price = numbers.quantity(found.core_hours * 3600, "s") if found.core_hours < 1 else f"{found.core_hours:,.0f} h"
    cost = f", {price} of core time" if found.core_hours else ""
    times = "once" if found.repetitions == 1 else f"{found.repetitions} times"
    if found.at == record.predictions[0].at[record.parameter]:
        return f"{target} itself, {times}{cost}: nothing cheaper would probably do."
    gain = {
        "decide": f"it tells most for its price about {about} (now: {known}).",
        "extrapolate": f"{target} can then probably be extrapolated.",
        "approach": f"the first of several runs before {target} can be extrapolated.",
    }
    return f"{at_value(record.parameter, found.at)}, {times}{cost}: {gain[found.purpose]}"


# -- parts -----------------------------------------------------------------------------------------------------


def _findings(page: Blocks, record: Scaling) -> None:
    if not record.findings:
        return
    last = at_value(record.parameter, record.points[-1].value)
    what = "of the whole" if record.loss is None else f"of all {record.worker}s' time"
    if record.kind == "problem size":
        what = "of the time beyond growth in proportion"
    page.heading("Where the loss is", f"at {last}, share {what}")
    shown = findings(record)[: None if page.whole else _FINDINGS]
    if isinstance(page, Page):
        _ranked(page, record, shown)
    else:
        rows = [
            (share, named(finding.name), named(wording.place(finding.where)), sentence)
            for finding, share, sentence in shown
        ]
        page.table(("share", "what", "where", "why"), rows, right="share")
    if record.hot_path and page.whole:
        steps = [[*named(step.name), f" ({numbers.percent(max(step.loss, 0.0))})"] for step in record.hot_path]
        # A place may lose more than the one above it, since others below that cost less than they should.
        grows = any(below.loss > above.loss for above, below in pairwise(record.hot_path))
        more = ". What grows downwards is made up for by other places." if grows else ""
        page.paragraph([*between(steps, " › "), more], label="Hot path")


def _ranked(page: Page, record: Scaling, shown: Sequence[tuple[FindingRecord, str, str]]) -> None:
    for number, (finding, share, sentence) in enumerate(shown, 1):
        place = page.style.shorten(wording.place(finding.where), 40)
        where = f"  {place}" if place else ""
        name = page.style.shorten(finding.name, page.style.width - 16 - len(where))
        page.row(Text.assemble((f"{number:>2}. {share:>7}  ", "bold"), (name, "cyan"), (page.style.fit(where), "dim")))
        page.paragraph(sentence, indent=INDENT + 11)
        if finding.advice and (page.style.verbose or number == 1):
            page.paragraph(finding.advice, label="Advice", indent=INDENT + 11)
    if len(record.findings) > len(shown):
        page.paragraph(f"{len(record.findings) - len(shown)} more: -v", indent=INDENT + 11, style="dim")


def _sentence(record: Scaling, finding: FindingRecord) -> str:
    cells = [cell(each, record.unit) for each in finding.costs]
    costs = " → ".join(cells if len(cells) <= 5 else [*cells[:2], "…", *cells[-2:]])
    unit = "" if record.unit == "s" else f" {record.unit}"
    # A law without the parameter is the mean of the costs.
    found = finding.law.text if finding.law is not None and finding.law.curve else ""
    law = f" ({found})" if record.parameter in found else ""
    why = finding.why[0].upper() + finding.why[1:]
    # Each worker computes as long in the mean; how unevenly, and how long others wait, the busiest one tells.
    who = f"Per {record.worker}" if finding.loss == "computing" else f"Busiest {record.worker}"
    return f"{why}. {'Per run' if record.kind == 'problem size' else who}: {costs}{unit}{law}."


def _prediction(record: Scaling, found: PredictionRecord, ranked: int) -> list[Piece]:
    if found.elapsed is None:
        return [f"cannot be extrapolated from these runs: {found.refusal}."]

    def time(number: float) -> str:
        return numbers.quantity(number, record.unit)

    said = _ranged(found.elapsed, time)
    if found.efficiency is not None:
        said += f", efficiency {_ranged(found.efficiency, numbers.percent)}"
    whole = found.elapsed.value
    shown = [each for each in found.ranked[:ranked] if each.cost.value > 0.05 * whole]
    parts: list[list[Piece]] = [[*named(each.name), f" {_ranged(each.cost, time)}"] for each in shown]
    rest = whole - sum(each.cost.value for each in shown)
    most = "Most of it" if rest < whole / 2 else "Largest places"
    if shown and rest > shown[-1].cost.value:
        parts.append([f"elsewhere {time(rest)}"])
    return [said, *([f". {most}: ", *between(parts, "; ")] if parts else []), "."]


def _measured(record: Scaling, found: PredictionRecord) -> str:
    """What was measured at a target; empty where it is no point of the series."""
    at = {**record.fixed, **found.at}
    for point in record.points:
        if at == {**record.fixed, record.parameter: point.value}:
            efficiency = "" if point.overall is None else f", global efficiency {numbers.percent(point.overall)}"
            return f"{numbers.quantity(point.elapsed, record.unit)}{efficiency}, from these runs."
    return ""


def _crossing(record: Scaling, found: CrossingRecord) -> str:
    if found.value is None:
        return "does not overtake computing up to 1,024 times the largest scale."
    high = "beyond" if found.high is None else value(round(found.high))
    around = "" if found.low is None else f" ({value(round(found.low))} to {high})"
    scale = f"{at_value(record.parameter, round(found.value))}{around}"
    seen = found.value <= record.points[-1].value
    return f"overtakes computing at {scale}." if seen else f"overtakes computing at about {scale}; not measured."


def _ranged(found: RangeRecord, write: Callable[[float], str]) -> str:
    return numbers.ranged(found.value, found.low, found.high, write)


def _shown(record: Scaling) -> list[PointRecord]:
    points = record.points
    return points if len(points) <= _COLUMNS else [*points[: _COLUMNS // 2], *points[-_COLUMNS // 2 :]]
