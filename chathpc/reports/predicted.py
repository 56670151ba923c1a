"""A prediction: the verdict, then operations, bytes, time, hottest lines, what would change it, what was assumed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import floor, inf

from rich.text import Text

from chathpc.predict.record import KINDS, BytesRecord, KernelRecord, PredictionRecord, RangeRecord, likely, limit
from chathpc.profile import numbers
from chathpc.reports import wording
from chathpc.reports.blocks import INDENT, LABEL, Blocks, named
from chathpc.reports.page import Page

#: Parts of the time and classes of operations that are shown beside the roofs; lines; kernels of a program in its table.
_PARTS, _LINES, _KERNELS = 4, 4, 20
#: Smaller parts of the longest limit are not told.
_SMALL = 0.05
_SECTOR = 32


def build(page: Blocks, record: PredictionRecord) -> None:
    """The whole prediction; on a terminal of several kernels a table and the first, with -v all."""
    several, on_terminal = len(record.kernels) > 1, isinstance(page, Page)
    compiled = f"compiled{'' if on_terminal else f' for {record.compiled_for}'} by {wording.versions(record.tools)}"
    page.head([record.program, record.device.name, compiled, "predicted, nothing was measured"])
    if several:
        # On a terminal without bounds, for which names of kernels would be cut until they are alike.
        rows = [
            (named(name), time.partition(" (")[0] if on_terminal else time, *rest)
            for name, time, *rest in overview_rows(record)
        ]
        page.table(OVERVIEW, rows, right="time likely")
        page.blank()
    for kernel in record.kernels if page.whole else record.kernels[:1]:
        _kernel(page, kernel)
    if several and not page.whole:
        page.blank()
        page.paragraph("The others in full: -v, or --kernel NAME.", indent=0)


def facts(kernel: KernelRecord) -> Iterator[tuple[str, str]]:
    """Labelled sentences of a kernel: launch, bytes, time; for every renderer."""
    launch, time, found = kernel.launch, kernel.time, kernel.bytes
    held = f", {launch.registers} registers a thread, {numbers.size(launch.shared)} of shared memory a block"
    yield "Launch", f"grid {_shape(launch.grid)}, block {_shape(launch.block)}{held if time.blocks else ''}"
    others = [
        f"{KINDS[name]} {numbers.count(_whole(each.value))}"
        for name, each in kernel.operations.items()
        if name in ("special", "conversion") and each.value
    ]
    if others:
        yield "Also", " · ".join(others)
    moved = ranged(_sum(found.memory_read, found.memory_written), numbers.size)
    read, written = (numbers.size(_whole(each.value)) for each in (found.memory_read, found.memory_written))
    yield "Memory", (
        f"{moved} to and from device memory ({read} read, {written} written) · "
        f"distinct: {numbers.size(found.footprint_read)} read, {numbers.size(found.footprint_written)} written"
    )  # fmt: skip
    accesses = [_access(name, found) for name in sorted(found.requests) if not name.startswith("constant")]
    if accesses:
        yield "Requested", " · ".join(accesses)
    least = _SMALL * max(time.parts.values(), default=0.0)
    parts = sorted((name for name in time.parts if time.parts[name] >= least), key=lambda name: -time.parts[name])
    told = " · ".join(f"{limit(name)} {numbers.seconds(time.parts[name])}" for name in parts[:_PARTS])
    yield "Time", f"{ranged(time.seconds, numbers.seconds)}; alone would take: {told}"
    if not time.blocks:
        return
    whole = floor(time.waves)
    rest = time.waves - whole
    tail = f", the last {numbers.percent(rest)} full" if rest > 0.005 and whole else ""
    yield (
        "Occupancy",
        (
            f"{numbers.percent(time.occupancy)}: {_several(time.blocks, 'block')} ({_several(time.warps, 'warp')}) on a multiprocessor, "
            f"limited by {time.occupancy_limiter}; "
            f"{numbers.number(time.waves)} waves{tail}"
        ),
    )


def roof_rows(kernel: KernelRecord) -> list[tuple[str, ...]]:
    """Cells of the table of roofs; where no bytes move there is no intensity."""
    moved = kernel.bytes.memory_read.value + kernel.bytes.memory_written.value
    return [
        (
            KINDS.get(roof.kind, roof.kind), _counted(roof.operations), numbers.number(roof.intensity) if moved else "", numbers.number(roof.balance),
            f"{numbers.number(roof.intensity / roof.balance)}x" if roof.balance and moved else "", numbers.percent(roof.of_peak),
        )
        for roof in kernel.roofs
    ]  # fmt: skip


def _counted(found: RangeRecord) -> str:
    return f"{'at least ' if found.high is None else ''}{numbers.count(_whole(found.value))}"


#: Intensity and balance point are operations per byte of device memory.
ROOFS = ("operations", "count", "intensity", "balance", "ratio", "of-peak")


def overview_rows(record: PredictionRecord) -> list[tuple[str, ...]]:
    """Cells of the table of all kernels."""
    return [
        (each.kernel, ranged(each.time.seconds, numbers.seconds), each.bound, likely(each.probability), limit(each.time.limiter))
        for each in record.kernels[:_KERNELS]
    ]  # fmt: skip


OVERVIEW = ("kernel", "time", "roofline", "likely", "takes longest")


def _kernel(page: Blocks, kernel: KernelRecord) -> None:
    page.blank()
    if not isinstance(page, Page):
        page.heading(kernel.kernel)
    page.verdict(limit(kernel.time.limiter), "bold green", kernel.headline)
    page.blank()
    page.table(ROOFS, roof_rows(kernel), right=ROOFS[1:], indent=INDENT)
    page.blank()
    for label, text in facts(kernel):
        page.paragraph(text, label=label)
    if isinstance(page, Page):
        _hottest(page, kernel)
    elif kernel.lines:
        places = [
            (numbers.percent_cell(each.share), named(f"{each.file}:{each.line}"), named(each.text))
            for each in kernel.lines
        ]
        page.table(("share", "line", "source"), places, right="share")
    page.notes(kernel.change, "Changes")
    page.notes(kernel.assumptions, "Assumed")


def _hottest(page: Page, kernel: KernelRecord) -> None:
    for number, hot in enumerate(kernel.lines[:_LINES]):
        first = Text(" " * INDENT + ("Executed" if number == 0 else "").ljust(LABEL), style="bold")
        where = f"{numbers.percent_cell(hot.share):>7} {hot.file}:{hot.line}"
        room = page.style.width - first.cell_len - len(where) - 2
        source = page.style.name(hot.text)
        if len(source) > room:
            source = source[: max(room - 1, 0)].rstrip() + page.style.fit("…")
        page.row(Text.assemble(first, page.style.fit(where), "  ", (source, "cyan")))


def _access(name: str, found: BytesRecord) -> str:
    requested, sectors = found.requested.get(name, 0.0), found.sectors.get(name, 0.0)
    said = f"{name} {numbers.size(requested)}"
    if name.startswith(("global", "local")) and sectors and requested:
        used = min(requested / (_SECTOR * sectors), 1.0)
        return f"{said} in {numbers.number(sectors / found.requests[name])} sectors a request ({numbers.percent(used)} used)"
    if name.startswith("shared") and sectors:
        return f"{said} in {numbers.number(sectors / found.requests[name])} passes a request"
    return said


def ranged(found: RangeRecord, write: Callable[[float], str]) -> str:
    """A value with its bounds."""
    return numbers.ranged(found.value, found.low, inf if found.high is None else found.high, write)


def _sum(left: RangeRecord, right: RangeRecord) -> RangeRecord:
    high = None if left.high is None or right.high is None else left.high + right.high
    return RangeRecord(value=left.value + right.value, low=left.low + right.low, high=high)


def _shape(sizes: tuple[int, int, int]) -> str:
    """`32 x 32`: dimensions of 1 at the end are not told."""
    kept = sizes[: max((at for at, each in enumerate(sizes, 1) if each > 1), default=1)]
    return " x ".join(f"{each:,}" for each in kept)


def _several(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _whole(value: float) -> float:
    return float(round(value))
