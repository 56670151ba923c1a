"""What single runs of a series tell: which of them are far from the others at their scale, and what the profiler costs."""

from __future__ import annotations

import numpy as np

from chathpc.diagnosis.statistics import MAD_TO_SIGMA, far
from chathpc.profile import numbers
from chathpc.profile.text import clean
from chathpc.profile.tree import FloatArray
from chathpc.scale.loss import Costs
from chathpc.scale.series import Run, Series
from chathpc.scale.thresholds import threshold
from chathpc.scale.words import point


def outliers(series: Series, costs: Costs) -> list[str]:
    """A sentence for each run whose time is far from the other repetitions at its scale: three there at least.

    Far: the modified z-score (B. Iglewicz and D. Hoaglin, 1993) of its relative distance from the median there, against all such
    distances of the series, and more than a share that matters.
    """
    found: list[tuple[int, int, float]] = []
    for at, scale in enumerate(series.points):
        times = costs.elapsed[list(scale.runs)]
        middle = float(np.median(times))
        if len(times) > 2 and middle > 0:
            found += [(run, at, time / middle - 1) for run, time in zip(scale.runs, times.tolist(), strict=True)]
    # The middle one of three has no distance by definition.
    found = [each for each in found if each[2]]
    distances = np.abs([distance for _, _, distance in found])
    chosen = far(distances, times=threshold("outlier") * MAD_TO_SIGMA, least=threshold("min_loss"))
    return [
        f"At {point(series, at)} {_name(series.runs[run])} took {numbers.percent(abs(distance))} {'more' if distance > 0 else 'less'} time than "
        f"the median there{_nodes(series, series.runs[run])}."
        for run, at, distance in (found[each] for each in chosen.tolist())
    ]


def untold(series: Series, costs: Costs) -> str:
    """The profiles that do not show their workers one by one, by name where others do; else empty."""
    names = [_name(series.runs[at]) for at in np.flatnonzero(~costs.told).tolist()]
    if not names or not (costs.workers > 1).any():
        return ""
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _name(run: Run) -> str:
    return clean("/".join(run.path.parts[-2:]))


def _nodes(series: Series, run: Run) -> str:
    """On which nodes it ran, if that tells it from other runs."""
    nodes = [{int(node) for node in each.profile.where.node.tolist() if node >= 0} for each in series.runs]
    own = nodes[series.runs.index(run)]
    if not own or all(each == own for each in nodes):
        return ""
    shown = ", ".join(str(node) for node in sorted(own)[:4])
    return f"; it ran on node{'s' * (len(own) > 1)} {shown}{', …' if len(own) > 4 else ''}"


def overhead(series: Series, costs: Costs) -> str:
    """What the profiler costs, in a sentence; empty where these runs do not tell.

    Known are runs that were measured with and without it, and runs at one scale at different sampling rates r: there the time is
    T (1 + c r), and c is fitted by least squares of relative times, each scale with its own T.
    """
    records = [run.record for run in series.runs]
    shares = [each["overhead"] for each in records if isinstance(each.get("overhead"), int | float)]
    if shares:
        runs = f"{len(shares)} run{'s' * (len(shares) > 1)} with and without it"
        return f"The profiler costs {numbers.percent(float(np.median(np.array(shares, float))))} of the time ({runs})."
    rates = np.array([rate if isinstance(rate := each.get("rate"), int | float) else 0.0 for each in records])
    across, up, scales = [], [], 0
    for scale in series.points:
        chosen = [run for run in scale.runs if rates[run] > 0]
        if len(chosen) > 1 and np.ptp(rates[chosen]) > 0:
            across += (rates[chosen] - rates[chosen].mean()).tolist()
            up += (costs.elapsed[chosen] / costs.elapsed[chosen].mean() - 1).tolist()
            scales += 1
    free = len(across) - scales - 1
    if free < 1:
        return _unlike(series, rates)
    rate, time = np.array(across), np.array(up)
    slope = float(rate @ time / (rate @ rate))
    error = float(np.sqrt(((time - slope * rate) ** 2).sum() / free / (rate @ rate)))
    most = float(rates.max())
    at = f"at {numbers.number(most)} samples a second and thread"
    if error * most > threshold("min_loss"):
        return _unlike(series, rates)  # what differs between runs would hide it
    if slope < threshold("sigma") * error:
        return f"Runs at different sampling rates show no cost of the profiler beyond noise ({numbers.percent(error * most)}) {at}."
    return f"The profiler costs {numbers.percent(slope * most)} ± {numbers.percent(error * most)} of the time {at}, as runs at different rates tell."


def _unlike(series: Series, rates: FloatArray) -> str:
    """That scales were sampled at different rates, whose unknown cost may pass for growth; else empty."""
    usual = [float(np.median(rates[list(scale.runs)])) for scale in series.points]
    low, high = min(usual), max(usual)
    if not low > 0 or high - low < threshold("min_loss") * high:
        return ""
    between = f"{numbers.number(low)} to {numbers.number(high)} samples a second and thread"
    return f"Scales were sampled at {between}: what the profiler costs may pass for growth. Measure all at one rate: --rate {low:.0f}."
