"""The roofline of a prediction: one point for each class of operations of each kernel under the roofs of its device.

A picture as SVG, or as PNG by matplotlib; a page with it and the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from html import escape
from math import ceil, floor, log10

from chathpc.predict.record import KINDS, KernelRecord, PredictionRecord, RoofRecord
from chathpc.profile import numbers
from chathpc.profile.names import shorten
from chathpc.profile.text import clean
from chathpc.reports import prediction_renderers
from chathpc.reports.fragments import document
from chathpc.reports.style import WIDEST, Style
from chathpc.view.pictures import Mark, Roof, roofline

#: Pixels: the picture, and its margins left, right, top, bottom.
_WIDTH, _HEIGHT = 760, 480
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 24, 44, 52
#: Colours that differ for readers with any colour vision (Okabe and Ito 2008), on light and dark ground.
_COLOURS = {"fp32": "#0072b2", "fp64": "#d55e00", "integer": "#009e73", "fp16": "#cc79a7", "tensor": "#e69f00"}
#: Labels of roofs are that wide (pixels), and would touch if one's peak is less than so many times the other's.
_LABEL, _NEAR = 150, 2.0
_STYLE = (
    ":root{color-scheme:light dark}body{font-family:system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem}"
    "svg{max-width:100%;height:auto}pre{overflow:auto;font-size:.85rem}"
)
#: Kernels that are drawn.
_MOST = 12


def svg(record: PredictionRecord, style: Style) -> str:
    """A file of SVG that needs nothing else."""
    kernels = [each for each in record.kernels if each.roofs][:_MOST]
    kinds = list(dict.fromkeys(roof.kind for each in kernels for roof in each.roofs))
    frame = _Frame(record, kernels, kinds)
    parts = [*frame.grid(), *frame.roofs(), *(mark for each in kernels for mark in frame.points(each))]
    title = escape(_title(record))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" role="img" '
        f'aria-label="{title}" font-family="system-ui, sans-serif" font-size="12">\n'
        "<style>.g{stroke:#dcdce2}.r{fill:none;stroke-width:1.5}.t{fill:#1b1b22}.b{stroke:#1b1b22;fill:none;stroke-width:1.5}"
        "@media(prefers-color-scheme:dark){.g{stroke:#3a3a44}.t{fill:#ececf1}.b{stroke:#ececf1}}</style>\n"
        f'<text class="t" x="{_LEFT}" y="22" font-size="14" font-weight="600">{title}</text>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def png(record: PredictionRecord, style: Style) -> bytes:
    """The same picture, for slides and mails. Errors: UsageError without matplotlib."""
    kernels = record.kernels[:_MOST]
    kinds = dict.fromkeys(roof.kind for each in kernels for roof in each.roofs if roof.intensity > 0)
    peaks, bandwidth = record.device.peaks, record.device.bandwidth
    roofs = [Roof(KINDS.get(kind, kind), peaks[kind], bandwidth, _colour(kind)) for kind in kinds]
    marks = [
        Mark(each.kernel if roof is each.roofs[0] else "", roof.intensity, _rate(each, roof), _colour(roof.kind))
        for each in kernels
        for roof in each.roofs
        if roof.intensity > 0
    ]
    return roofline(_title(record), roofs, marks)


def page(record: PredictionRecord, style: Style) -> str:
    """The page; all kernels in full."""
    told = prediction_renderers()["text"](
        record, replace(style, width=WIDEST, colour=False, encoding="utf-8", verbose=True)
    )
    title = clean(f"{record.program} on {record.device.name}, predicted")
    return document(title, _STYLE, f"<h1>{escape(title)}</h1>\n{svg(record, style)}<pre>{escape(told)}</pre>")


def _title(record: PredictionRecord) -> str:
    return clean(f"Roofline of {record.program} on {record.device.name}, predicted")


class _Frame:
    """Axes: operations per byte along x, operations per second along y, both logarithmic, whole decades."""

    def __init__(self, record: PredictionRecord, kernels: list[KernelRecord], kinds: list[str]) -> None:
        self.device = record.device
        self.kinds = [kind for kind in kinds or record.device.peaks if kind in record.device.peaks]
        across = [
            each for kernel in kernels for roof in kernel.roofs for each in (roof.intensity, roof.balance) if each > 0
        ]
        up = [self.device.peaks[kind] for kind in self.kinds] + [
            _rate(kernel, roof) for kernel in kernels for roof in kernel.roofs
        ]
        self.x0, self.x1 = _decades(across or [1.0])
        self.y0, self.y1 = _decades([each for each in up if each > 0] or [1.0])

    def x(self, value: float) -> float:
        """Pixels of an intensity."""
        part = (log10(value) - self.x0) / (self.x1 - self.x0)
        return round(_LEFT + min(max(part, 0.0), 1.0) * (_WIDTH - _LEFT - _RIGHT), 1)

    def y(self, value: float) -> float:
        """Pixels of a rate."""
        part = (log10(value) - self.y0) / (self.y1 - self.y0)
        return round(_HEIGHT - _BOTTOM - min(max(part, 0.0), 1.0) * (_HEIGHT - _TOP - _BOTTOM), 1)

    def grid(self) -> Iterator[str]:
        """Lines and numbers of the decades, and what the axes are."""
        for exponent in range(self.x0, self.x1 + 1):
            at = self.x(10.0**exponent)
            yield f'<path class="g" d="M{at} {_TOP}V{_HEIGHT - _BOTTOM}"/>'
            yield f'<text class="t" x="{at}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle">{numbers.number(10.0**exponent)}</text>'
        for exponent in range(self.y0, self.y1 + 1):
            at = self.y(10.0**exponent)
            yield f'<path class="g" d="M{_LEFT} {at}H{_WIDTH - _RIGHT}"/>'
            yield f'<text class="t" x="{_LEFT - 8}" y="{at + 4}" text-anchor="end">{numbers.count(10.0**exponent)}</text>'
        yield f'<text class="t" x="8" y="{_TOP - 10}">operations per second</text>'
        middle = (_LEFT + _WIDTH - _RIGHT) / 2
        yield f'<text class="t" x="{middle}" y="{_HEIGHT - 12}" text-anchor="middle">operations per byte of device memory</text>'

    def roofs(self) -> Iterator[str]:
        """The memory's slope up to each class's peak."""
        peaks = [self.device.peaks[kind] for kind in self.kinds]
        for number, (kind, peak) in enumerate(zip(self.kinds, peaks, strict=True)):
            ridge = peak / self.device.bandwidth
            start = max(10.0**self.x0, 10.0**self.y0 / self.device.bandwidth)
            yield f'<path class="b" d="M{self.x(start)} {self.y(start * self.device.bandwidth)}L{self.x(ridge)} {self.y(peak)}"/>'
            yield f'<path class="r" stroke="{_colour(kind)}" d="M{self.x(ridge)} {self.y(peak)}H{_WIDTH - _RIGHT}"/>'
            label = escape(f"{KINDS.get(kind, kind)} {numbers.quantity(peak, 'op/s')}")
            at = _WIDTH - _RIGHT - _LABEL * _beside(peaks, number)
            yield f'<text x="{at}" y="{self.y(peak) - 5}" text-anchor="end" fill="{_colour(kind)}">{label}</text>'

    def points(self, kernel: KernelRecord) -> Iterator[str]:
        """A kernel's point for each class, its range of rates, and its name at the first."""
        time = kernel.time.seconds
        for number, roof in enumerate(kernel.roofs):
            operations = roof.operations.value
            if operations <= 0 or roof.intensity <= 0:
                continue
            x, colour = self.x(roof.intensity), _colour(roof.kind)
            told = escape(
                clean(f"{kernel.kernel}: {KINDS.get(roof.kind, roof.kind)}, {numbers.number(roof.intensity)} per byte")
            )
            yield f'<path stroke="{colour}" d="M{x} {self.y(operations / time.high) if time.high else _HEIGHT - _BOTTOM}V{self.y(operations / time.low)}"/>'
            yield f'<circle cx="{x}" cy="{self.y(_rate(kernel, roof))}" r="5" fill="{colour}"><title>{told}</title></circle>'
            if number == 0:
                name = escape(clean(shorten(kernel.kernel, 32)))
                # On the side where there is room.
                side = f'x="{x + 9}"' if x < _WIDTH / 2 else f'x="{x - 9}" text-anchor="end"'
                yield f'<text class="t" {side} y="{self.y(_rate(kernel, roof)) + 4}">{name}</text>'


def _rate(kernel: KernelRecord, roof: RoofRecord) -> float:
    """Predicted operations of a class per second."""
    return roof.operations.value / kernel.time.seconds.value


def _beside(peaks: list[float], number: int) -> int:
    """How many labels of roofs before this one stand at its height."""
    return sum(max(each, peaks[number]) < _NEAR * min(each, peaks[number]) for each in peaks[:number])


def _colour(kind: str) -> str:
    return _COLOURS.get(kind, "#7a7a85")


def _decades(values: list[float]) -> tuple[int, int]:
    low, high = floor(log10(min(values)) - 0.3), ceil(log10(max(values)) + 0.3)
    return low, max(high, low + 2)
