"""The roofline of a prediction as a picture (SVG): one point for each class of operations of each kernel under the roofs of its device."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from math import ceil, floor, log10

from chathpc.predict.record import KINDS, KernelRecord, PredictionRecord, RoofRecord
from chathpc.profile import numbers
from chathpc.profile.names import shorten
from chathpc.profile.text import clean
from chathpc.reports.style import Style

#: Pixels: the picture, and its margins left, right, top, bottom.
_WIDTH, _HEIGHT = 760, 480
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 20, 44, 52
#: Colours that differ for readers with any colour vision (Okabe and Ito 2008), on light and dark ground.
COLOURS = {"fp32": "#0072b2", "fp64": "#d55e00", "integer": "#009e73", "fp16": "#cc79a7", "tensor": "#e69f00"}
#: Labels of roofs are that wide (pixels), and would touch if one's peak is less than so many times the other's.
_LABEL, _NEAR = 150, 2.0
#: Kernels that are drawn.
MOST = 12


def render(record: PredictionRecord, style: Style) -> str:
    """A file of SVG that needs nothing else."""
    kernels = [each for each in record.kernels if each.roofs][:MOST]
    kinds = list(dict.fromkeys(roof.kind for each in kernels for roof in each.roofs))
    frame = _Frame(record, kernels, kinds)
    parts = [*frame.grid(), *frame.roofs(), *(mark for each in kernels for mark in frame.points(each))]
    title = escape(clean(f"Roofline of {record.program} on {record.device.name}, predicted"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" role="img" '
        f'aria-label="{title}" font-family="system-ui, sans-serif" font-size="12">\n'
        "<style>.g{stroke:#dcdce2}.r{fill:none;stroke-width:1.5}.t{fill:#1b1b22}.b{stroke:#1b1b22;fill:none;stroke-width:1.5}"
        "@media(prefers-color-scheme:dark){.g{stroke:#3a3a44}.t{fill:#ececf1}.b{stroke:#ececf1}}</style>\n"
        f'<text class="t" x="{_LEFT}" y="22" font-size="14" font-weight="600">{title}</text>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


class _Frame:
    """Axes: operations per byte along x, operations per second along y, both logarithmic, whole decades."""

    def __init__(self, record: PredictionRecord, kernels: list[KernelRecord], kinds: list[str]) -> None:
        self.device = record.device
        self.kinds = [kind for kind in kinds or record.device.peaks if kind in record.device.peaks]
        across = [
            each for kernel in kernels for roof in kernel.roofs for each in (roof.intensity, roof.balance) if each > 0
        ]
        up = [self.device.peaks[kind] for kind in self.kinds] + [
            rate(kernel, roof) for kernel in kernels for roof in kernel.roofs
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
        yield f'<text class="t" x="8" y="{_TOP - 6}">operations per second</text>'
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
            at = _WIDTH - _RIGHT - _LABEL * beside(peaks, number)
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
            yield f'<circle cx="{x}" cy="{self.y(rate(kernel, roof))}" r="5" fill="{colour}"><title>{told}</title></circle>'
            if number == 0:
                name = escape(clean(shorten(kernel.kernel, 32)))
                yield f'<text class="t" x="{x + 9}" y="{self.y(rate(kernel, roof)) + 4}">{name}</text>'


def rate(kernel: KernelRecord, roof: RoofRecord) -> float:
    """Predicted operations of a class per second."""
    return roof.operations.value / kernel.time.seconds.value


def beside(peaks: list[float], number: int) -> int:
    """How many labels of roofs before this one stand at its height."""
    return sum(max(each, peaks[number]) < _NEAR * min(each, peaks[number]) for each in peaks[:number])


def _colour(kind: str) -> str:
    return COLOURS.get(kind, "#7a7a85")


def _decades(values: list[float]) -> tuple[int, int]:
    low, high = floor(log10(min(values)) - 0.3), ceil(log10(max(values)) + 0.3)
    return low, max(high, low + 2)
