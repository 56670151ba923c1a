"""Pictures as PNG, drawn by matplotlib; the roofline, of kernels that were measured or predicted."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from chathpc.errors import UsageError
from chathpc.profile import numbers
from chathpc.profile.names import shorten_apart
from chathpc.profile.text import clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

INK = "#1b1b22"
#: Dots an inch.
_DOTS = 120
#: Characters of a kernel's name.
_NAME = 40
#: A roofline goes so many times beyond what is in it.
_BEYOND = 4
#: So many times as far to the right as a slope stands what it is of.
_BESIDE = 1.25
#: Points from a mark to its name: to the right and the left, above and below, then further away.
_AWAY = tuple((x, y) for y in (4, -10, 14, -20, 24, -30) for x in (6, -6))


class Roof(NamedTuple):
    """What bounds one class of operations: operations and bytes a second."""

    label: str
    peak: float
    bandwidth: float
    colour: str = INK


class Mark(NamedTuple):
    """A kernel: operations per byte and per second; its name is empty where it is not to be told."""

    name: str
    intensity: float
    rate: float
    colour: str


def figure_of(width: float, height: float) -> tuple[Figure, Axes]:
    """An empty picture of so many inches. Errors: UsageError without matplotlib."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UsageError("Pictures need matplotlib.", hint="pip install 'chathpc[plot]'") from error
    figure = Figure(figsize=(width, height), dpi=_DOTS, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots()


def png(figure: Figure) -> bytes:
    """The picture as a file."""
    file = io.BytesIO()
    figure.savefig(file, format="png", metadata={"Software": None})
    return file.getvalue()


def roofline(title: str, roofs: Sequence[Roof], marks: Sequence[Mark]) -> bytes:
    """The marks under the roofs: a memory's slope up to the peak of each class."""
    figure, axes = figure_of(12.0, 5.5)
    across = [each.intensity for each in marks] + [each.peak / each.bandwidth for each in roofs]
    left, right = min(across) / _BEYOND, max(across) * _BEYOND
    for mark in marks:
        axes.scatter(mark.intensity, mark.rate, s=30, color=mark.colour, edgecolor=INK, linewidth=0.6, zorder=3)
    told = []
    for roof in roofs:
        ridge = roof.peak / roof.bandwidth
        axes.plot([left, ridge], [left * roof.bandwidth, roof.peak], color=INK, linewidth=1.2)
        axes.plot([ridge, right], [roof.peak, roof.peak], color=roof.colour, linewidth=1.2)
        told.append((f"{roof.label} {numbers.quantity(roof.peak, 'op/s')}", right, roof.peak))
    for bandwidth in dict.fromkeys(each.bandwidth for each in roofs):
        told.append((f"device memory {numbers.size(bandwidth)}/s", _BESIDE * left, left * bandwidth))
    named = [each for each in marks if each.name]
    names = shorten_apart([clean(each.name) for each in named], _NAME)
    told += [(name, each.intensity, each.rate) for name, each in zip(names, named, strict=True)]
    axes.set(xscale="log", yscale="log", ylabel="operations per second")
    axes.set_xlabel("operations per byte of device memory traffic")
    axes.set_title(_plain(clean(title)), loc="left", fontsize=10)
    axes.grid(visible=True, which="major", linewidth=0.4)
    _write(figure, axes, told)
    return png(figure)


def _write(figure: Figure, axes: Axes, told: Iterable[tuple[str, float, float]]) -> None:
    """Words at their places, each where it is upon no other and inside the axes; those for which there is no room are left out."""
    figure.draw_without_rendering()
    inside = axes.get_window_extent()
    taken: list[Bbox] = []
    for words, x, y in told:
        for away in _AWAY:
            side = "left" if away[0] > 0 else "right"
            text = axes.annotate(
                _plain(words), (x, y), away, textcoords="offset points", fontsize=7, ha=side, annotation_clip=False
            )
            box = text.get_window_extent()
            fits = inside.x0 < box.x0 and box.x1 < inside.x1 and inside.y0 < box.y0 and box.y1 < inside.y1
            if fits and not box.count_overlaps(taken):
                taken.append(box)
                break
            text.remove()


def _plain(text: str) -> str:
    """Text in which no dollar begins mathematics."""
    return text.replace("$", r"\$")
