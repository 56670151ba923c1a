"""What a trace cannot tell, in sentences."""

from __future__ import annotations

from chathpc.adapters.traced.assemble import Assembled
from chathpc.adapters.traced.nesting import DEEPEST
from chathpc.adapters.traced.recording import Recording
from chathpc.profile import numbers

#: Below this part of the host's time the device's window is worth a word.
_SHORT = 0.5
#: Slices that reach beyond their parent by rounding are common; more than this part of all is no rounding.
_CROSSING = 0.05


def device_caveats(recording: Recording, parts: Assembled) -> list[str]:
    """Caveats that follow from how the trace was put together."""
    found = []
    span, host = parts.timeline.end - parts.timeline.begin, parts.host_nanoseconds
    if parts.has_device and host and span < _SHORT * host:
        found.append(
            f"The device's first and last operation lie {numbers.seconds(span * 1e-9)} apart, the host was recorded for "
            f"{numbers.seconds(host * 1e-9)}: shares of the timeline refer to the former."
        )
    if parts.unattributed:
        found.append(
            f"{parts.unattributed:,} of {len(parts.op_node):,} operations of the device cannot be joined to the call that "
            "launched them: it was not recorded."
        )
    if recording.undirected:
        found.append(
            f"{recording.undirected:,} copies have no recorded direction; they count as copies within the device."
        )
    if parts.cut:
        found.append(f"{parts.cut:,} events are nested in more than {DEEPEST} others; they count as part of these.")
    if parts.crossing > _CROSSING * len(recording.start):
        found.append(
            f"{parts.crossing:,} events overlap others of their thread without nesting: such time belongs to the event "
            "that began last."
        )
    return found
