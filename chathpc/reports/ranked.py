"""Devices ranked for a profile: the verdict, the devices, the kernels on the fastest, what does not carry over, notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from chathpc.predict.ranking import MovedKernelRecord, RankedDeviceRecord, RankingRecord
from chathpc.predict.record import KINDS, limit
from chathpc.profile import numbers
from chathpc.profile.kernel_names import kernel_title
from chathpc.reports.blocks import Blocks, Rows, Said, named
from chathpc.reports.predicted import ranged

#: Devices and kernels of the first screen; lines of what does not carry over.
_DEVICES, _KERNELS, _LACKING = 10, 6, 3
#: Share of the run below which kernels are not what it is about.
_FEW = 0.1
#: Limits in a table.
_SHORT = {"memory": "memory", "l2": "L2", "l1": "L1, shared", "issue": "issue", "latency": "waiting", "": ""}
DEVICES = ("device", "time", "speedup", "limited by")
_RIGHT = "time speedup launches operations bytes measured there"
KERNELS = ("kernel", "launches", "operations", "bytes", "measured", "there", "limited by")


def build(page: Blocks, record: RankingRecord) -> None:
    """The whole answer; on a terminal about a screen long, with -v every device and kernel, and these on each device."""
    every, whole = page.style.verbose, page.whole
    page.head(head(record))
    word, said = headline(record)
    page.verdict(word, "bold green", said)
    page.blank()
    shown = record.devices if whole else _first(record)
    _table(page, DEVICES, device_rows(record, shown))
    for each in record.devices if every else others(record)[:1]:
        page.heading(f"Kernels on {each.device.name}")
        _table(page, KERNELS, kernel_rows(record.kernels if whole else record.kernels[:_KERNELS], each))
    page.blank()
    lost = list(lacking(shown))
    page.notes(lost if whole else lost[:_LACKING], "Not there")
    page.notes(record.notes)
    left = len(record.devices) - len(shown), max(len(record.kernels) - _KERNELS, 0)
    if not whole and any(left):
        page.paragraph(f"{left[0]} more devices, {left[1]} more kernels: -v", indent=0)


def _table(page: Blocks, header: Sequence[str], rows: Rows) -> None:
    """Columns in which nothing is known are left out."""
    kept = [at for at in range(len(header)) if any(row[at] for row in rows)]
    page.table([header[at] for at in kept], [[row[at] for at in kept] for row in rows], right=_RIGHT)


def _first(record: RankingRecord) -> list[RankedDeviceRecord]:
    """The fastest devices, and that of the profile."""
    own = record.measured_on.key
    return [each for at, each in enumerate(record.devices) if at < _DEVICES or each.device.key == own]


def others(record: RankingRecord) -> list[RankedDeviceRecord]:
    """All but the device of the profile."""
    return [each for each in record.devices if each.device.key != record.measured_on.key]


def head(record: RankingRecord) -> list[str]:
    """What was measured, in a line."""
    launches, several = sum(each.launches for each in record.kernels), len(record.kernels) > 1
    on = record.measured_on.name
    where = f"{record.likened}, taken to be like {on}" if record.likened else on
    kernels = f"{len(record.kernels)} kernel{'s' if several else ''}, launched {launches:,.0f}x, {numbers.seconds(record.seconds)}"
    return [record.profile, f"measured on {where} (*)", kernels, "times on other devices are predicted"]


def headline(record: RankingRecord) -> tuple[str, str]:
    """The verdict as a word and a sentence."""
    first, share = record.devices[0], record.seconds / (record.seconds + record.other)
    if share < _FEW:
        return "HOST", f"No GPU changes much: kernels take {numbers.percent(share)} of the run."
    if first.device.key == record.measured_on.key:
        return "FASTEST", f"{first.device.name}, on which it was measured: no other of these is faster."
    told = f"{ranged(first.seconds, numbers.seconds)}, {ranged(first.speedup, _times)} as fast as {record.measured_on.name}"
    if first.speedup.low < 1:
        return "UNSURE", f"Whether any of these is faster is not known. The first, {first.device.name}: {told}."
    most = f"; most of it for {limit(first.limiter)}" if first.limiter else ""
    return "FASTEST", f"{first.device.name}: {told}{most}."


def device_rows(record: RankingRecord, shown: Iterable[RankedDeviceRecord]) -> list[tuple[str, ...]]:
    """Cells of the table of devices."""
    return [
        (
            f"{each.device.key}{' *' if each.device.key == record.measured_on.key else ''}", ranged(each.seconds, numbers.seconds),
            ranged(each.speedup, _times), _limit(each.limiter),
        )
        for each in shown
    ]  # fmt: skip


def kernel_rows(kernels: Iterable[MovedKernelRecord], there: RankedDeviceRecord) -> list[tuple[Said, ...]]:
    """Cells of the table of kernels on a device."""
    return [
        (
            named(kernel_title(each.kernel)), f"{each.launches:,.0f}", _operations(each), numbers.size(each.bytes) if each.bytes else "",
            numbers.seconds(each.seconds), numbers.seconds(each.on[there.device.key].seconds.value), _limit(each.on[there.device.key].limiter),
        )
        for each in kernels
    ]  # fmt: skip


def lacking(shown: Iterable[RankedDeviceRecord]) -> Iterator[str]:
    """What does not carry over, devices of the same sentence together."""
    by_text: dict[str, list[str]] = {}
    for each in shown:
        for text in each.lacking:
            by_text.setdefault(text, []).append(each.device.key)
    return (f"{', '.join(keys)}: {text}." for text, keys in by_text.items())


def _operations(each: MovedKernelRecord) -> str:
    """Those of the class with most of them."""
    most = max(each.operations, key=lambda kind: each.operations[kind], default="")
    return f"{numbers.count(float(round(each.operations[most])))} {KINDS.get(most, most)}" if most else ""


def _limit(name: str) -> str:
    return _SHORT[name] if name in _SHORT else KINDS.get(name, name)


def _times(value: float) -> str:
    return f"{numbers.number(value, 2)}x"
