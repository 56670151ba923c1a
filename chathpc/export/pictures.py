"""Pictures as PNG, for papers, slides and mails: the flame graph, the balance of threads and ranks, the roofline. Drawn by matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from chathpc.diagnosis.command import filled
from chathpc.diagnosis.diagnose import diagnose
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.gpu_tools import counters, vendor_of
from chathpc.errors import UsageError
from chathpc.profile import numbers
from chathpc.profile.names import shorten
from chathpc.view import pictures
from chathpc.view.draw import view_of
from chathpc.view.pictures import Mark, Roof
from chathpc.view.records import Group, View

if TYPE_CHECKING:
    from chathpc.profile.profile import Profile

#: Colours of the page (reports/html/page.css), by what the time was spent on.
_COLOURS: dict[Group, str] = {
    "own": "#f2b97c",
    "math": "#e8d27a",
    "library": "#c9c2b4",
    "memory": "#d9a38f",
    "io": "#b5cf8f",
    "mpi": "#8fb4e0",
    "openmp": "#e8a3d6",
    "wait": "#b9a4dd",
    "gpu": "#a3d48a",
    "runtime": "#9fd0cf",
    "other": "#dcdce2",
}
_BAR, _MEAN = "#2d5fc4", "#b3261e"
#: Inches.
_WIDTH, _ROW = 12.0, 0.24
#: Narrower parts of a flame graph are not drawn; characters that fit in its whole width.
_NARROWEST, _CHARACTERS = 0.001, 150
#: Threads or ranks that get a name of their own at the axis.
_NAMED = 24
#: Kernels that are named.
_LABELS = 8


def flame(profile: Profile, metric: str | None) -> bytes:
    """The pruned call tree as an icicle: width is the inclusive value of `metric` (default: the time), colour what it was spent on."""
    view = _view(profile)
    tree = view.tree
    chosen = metric or (view.metrics[0].id if view.metrics else None)
    if tree is None or chosen is None or chosen not in tree.values:
        known = ", ".join(one.id for one in view.metrics) or "none"
        raise UsageError(f"No call tree of {chosen or 'any metric'} to draw.", hint=f"Metrics of the tree: {known}.")
    depth, left, inclusive = icicle(tree.parent, tree.values[chosen])
    whole = inclusive[0]
    shown = [node for node, value in enumerate(inclusive) if whole > 0 and value >= _NARROWEST * whole]
    rows = max((depth[node] for node in shown), default=0) + 1
    figure, axes = pictures.figure_of(_WIDTH, max(rows * _ROW + 1.2, 2.5))
    for node in shown:
        width = inclusive[node] / whole
        colour = _COLOURS["other" if node == 0 else view.groups[tree.group[node - 1]]]
        axes.barh(
            -depth[node], width, left=left[node] / whole, height=0.94, color=colour, edgecolor="white", linewidth=0.6
        )
        room = int(width * _CHARACTERS) - 1
        if room >= 4:
            name = "the whole run" if node == 0 else view.names[tree.name[node - 1]]
            axes.text(
                left[node] / whole + 0.003,
                -depth[node],
                shorten(name, room),
                va="center",
                fontsize=7,
                color=pictures.INK,
                clip_on=True,
            )
    title = next((one.title for one in view.metrics if one.id == chosen), chosen)
    unit = next((one.unit for one in view.metrics if one.id == chosen), "")
    axes.set(xlim=(0, 1), ylim=(0.5 - rows, 0.5))
    axes.set_title(f"{profile.title}: {title}, {numbers.quantity(whole, unit)}", loc="left", fontsize=10)
    axes.axis("off")
    return pictures.png(figure)


def icicle(above: Sequence[int], values: Sequence[float]) -> tuple[list[int], list[float], list[float]]:
    """Depth, left edge and width of each node of a forest in preorder (parents, −1 for none; exclusive values), behind the run as a whole."""
    parent = [-1, *(each + 1 for each in above)]
    width, depth = [0.0, *values], [0] * len(parent)
    for node in range(len(parent) - 1, 0, -1):
        width[parent[node]] += width[node]
    left, used = [0.0] * len(parent), [0.0] * len(parent)
    for node in range(1, len(parent)):
        outer = parent[node]
        depth[node], left[node] = depth[outer] + 1, left[outer] + used[outer]
        used[outer] += width[node]
    return depth, left, width


def imbalance(profile: Profile, metric: str | None) -> bytes:
    """Time of each thread or rank in the place of the first finding, with the mean. `metric` has to be the time."""
    view = _view(profile)
    drawn = view.threads
    if drawn is not None and metric not in (None, drawn.metric):
        raise UsageError("The balance is that of the time.", hint="Use it without --metric.")
    if drawn is None:
        raise UsageError(
            "Nothing to compare: the profile has no time of several threads or ranks.",
            hint="Measure with more than one thread or rank.",
        )
    chosen = min(1, len(drawn.places) - 1)  # the places of findings come first, behind the whole program
    values = drawn.values[chosen]
    mean = sum(values) / len(values)
    unit = profile.metrics[drawn.metric].unit.value
    figure, axes = pictures.figure_of(_WIDTH, 4.0)
    axes.bar(range(len(values)), values, color=_BAR)
    axes.axhline(mean, color=_MEAN, linewidth=1, linestyle="--")
    axes.text(
        1.005,
        mean,
        f"mean {numbers.quantity(mean, unit)}",
        transform=axes.get_yaxis_transform(),
        color=_MEAN,
        fontsize=8,
        va="center",
    )
    names = [_location(rank, thread) for rank, thread in zip(drawn.rank, drawn.thread, strict=True)]
    step = -(-len(names) // _NAMED)
    axes.set_xticks(range(0, len(names), step), names[::step], fontsize=7, rotation=45 if len(names) > 8 else 0)
    axes.set_ylabel(f"time ({unit})")
    place = "the whole program" if chosen == 0 else shorten(view.names[drawn.places[chosen]], 60)
    most = max(values) / mean if mean else 1.0
    axes.set_title(
        f"{profile.title}: time in {place}; the busiest has {numbers.number(most)}x the mean", loc="left", fontsize=10
    )
    return pictures.png(figure)


def roofline(profile: Profile, metric: str | None) -> bytes:
    """Kernels by operations per second over operations per byte of device memory traffic, under the roofs of their device."""
    view = _view(profile)
    if metric is not None:
        raise UsageError("A roofline is of no single metric.", hint="Use it without --metric.")
    if not view.roofline:
        on_gpu = profile.where.is_gpu.any() or vendor_of(profile) is not None
        raise UsageError(
            "No roofline to draw: no counters of operations and memory traffic of kernels on a GPU.",
            hint=f"Collect them: {filled(profile, counters(profile))}" if on_gpu else "",
        )
    roofs = {
        each.precision: Roof(each.precision, each.peak_rate, each.peak_bandwidth)
        for each in reversed(view.roofline)
        if each.peak_rate is not None and each.peak_bandwidth is not None
    }
    marks = [
        Mark(view.names[each.name] if at < _LABELS else "", each.intensity, each.rate, _COLOURS["gpu"])
        for at, each in enumerate(view.roofline)
    ]
    return pictures.roofline(f"{profile.title}: roofline", list(roofs.values()), marks)


def _location(rank: int, thread: int) -> str:
    parts = [f"rank {rank}"] if rank >= 0 else []
    return " ".join([*parts, *([f"thread {thread}"] if thread >= 0 and (rank < 0 or thread > 0) else [])]) or "program"


def _view(profile: Profile) -> View:
    facts = Facts(profile)
    return view_of(profile, facts, diagnose(profile, facts))
