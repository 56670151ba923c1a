"""The roofline of a prediction as PNG, for slides and mails; drawn by matplotlib."""

from __future__ import annotations

import io

from chathpc.errors import UsageError
from chathpc.predict.record import KINDS, PredictionRecord
from chathpc.profile import numbers
from chathpc.profile.names import shorten
from chathpc.profile.text import clean
from chathpc.reports.predicted_roofline import COLOURS, MOST, beside, rate
from chathpc.reports.style import Style

#: Width of a roof's label in points.
_LABEL = 100


def render(record: PredictionRecord, style: Style) -> bytes:
    """The picture that predicted_roofline draws. Errors: UsageError without matplotlib."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UsageError("PNG needs matplotlib.", hint="pip install 'chathpc[plot]', or use .svg") from error
    figure = Figure(figsize=(9, 5.5), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    points = [(kernel, roof) for kernel in record.kernels[:MOST] for roof in kernel.roofs if roof.intensity > 0]
    bandwidth = record.device.bandwidth
    across = [each for _, roof in points for each in (roof.intensity, roof.balance)] or [1.0]
    left, right = min(across) / 3, max(across) * 3
    kinds = list(dict.fromkeys(roof.kind for _, roof in points))
    peaks = [record.device.peaks[kind] for kind in kinds]
    for number, (kind, peak) in enumerate(zip(kinds, peaks, strict=True)):
        colour = COLOURS.get(kind, "#7a7a85")
        axes.plot([left, peak / bandwidth], [left * bandwidth, peak], color="#1b1b22", linewidth=1.2)
        axes.plot([peak / bandwidth, right], [peak, peak], color=colour, linewidth=1.2)
        label = f"{KINDS.get(kind, kind)} {numbers.quantity(peak, 'op/s')}"
        away = (-_LABEL * beside(peaks, number), 0)
        axes.annotate(
            label, (right, peak), away, textcoords="offset points", fontsize=8, ha="right", va="bottom", color=colour
        )
    for kernel, roof in points:
        axes.scatter(roof.intensity, rate(kernel, roof), s=30, color=COLOURS.get(roof.kind, "#7a7a85"), zorder=3)
        if roof is kernel.roofs[0]:
            name = clean(shorten(kernel.kernel, 32)).replace("$", r"\$")
            axes.annotate(
                name, (roof.intensity, rate(kernel, roof)), xytext=(6, -3), textcoords="offset points", fontsize=8
            )
    axes.set(xscale="log", yscale="log", xlabel="operations per byte of device memory", ylabel="operations per second")
    title = clean(f"Roofline of {record.program} on {record.device.name}, predicted").replace("$", r"\$")
    axes.set_title(title, loc="left", fontsize=10)
    axes.grid(visible=True, which="major", linewidth=0.4)
    written = io.BytesIO()
    figure.savefig(written, format="png")
    return written.getvalue()
