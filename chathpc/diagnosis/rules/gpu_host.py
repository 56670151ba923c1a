"""Calls of a GPU's runtime in the sampled time of the host, told by what they are for. Traces of the device tell more, and come first."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from chathpc.diagnosis.called import called_draft, called_time
from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.draft import Draft
from chathpc.diagnosis.fact import Form
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.host_calls import HostCall, classes
from chathpc.profile.activity import Activity, base_name
from chathpc.profile.tree import BoolArray

_CALLS = (Activity.GPU_LAUNCH, Activity.GPU_SYNC, Activity.GPU_COPY, Activity.GPU_API)
#: What a call is for, the cause where that takes long, what the caller does, and such time in words.
_KINDS = (
    (HostCall.SETUP, "gpu-start-up", "starts the GPU's driver", "starting the GPU's driver"),
    (HostCall.COPY, "gpu-host-copies", "copies between host and device", "calls that copy between host and device"),
    (HostCall.WAIT, "gpu-host-waits", "waits for the device", "waiting for the device"),
    (HostCall.ALLOCATION, "gpu-allocation-in-loop", "allocates and frees memory of the device", "allocating device memory"),
    (HostCall.LAUNCH, "gpu-launch-bound", "launches kernels", "launching kernels"),
)  # fmt: skip
#: Causes that only repetition makes one.
_IN_LOOPS = ("gpu-allocation-in-loop", "gpu-launch-bound")


def host_calls(facts: Facts) -> Iterable[Draft]:
    """Copies, waiting, allocation, launches and the driver's start, each where it takes much of the host's time."""
    inside = facts.activities.of(*_CALLS)
    if facts.timeline is not None or not inside.any():
        return
    purpose = _purposes(facts)
    for kind, identifier, does, subject in _KINDS:
        weight = np.where(inside & (purpose == kind), facts.time, 0.0)
        time = called_time(facts, cause(identifier), weight)
        if time is None or (identifier in _IN_LOOPS and not time.in_loop):
            continue
        once = kind == HostCall.SETUP
        yield called_draft(
            facts,
            time,
            f"{time.caller} {does}",
            subject=subject,
            form=Form.MANY if subject.startswith("calls") else Form.ONE,
            how="host time in calls of the runtime, by name",
            by="the same by calling function",
            signs=2,
            against=("It is paid once: a longer run spends less of its time on it.",)
            if once and not time.in_loop
            else (),
        )


def _purposes(facts: Facts) -> np.ndarray:
    """The HostCall of each node inside a call of the runtime: that of the call, else of the innermost function that tells; whatever
    is done below the start of the driver, or once, belongs to that.
    """
    tree, call = facts.profile.tree, facts.activities.call
    by_name = classes([base_name(name) for name in tree.names])[tree.name]

    def within(frames: BoolArray) -> BoolArray:
        return np.asarray((call >= 0) & (tree.nearest(frames) >= np.maximum(call, 0)))

    purpose = by_name[np.maximum(call, 0)]
    telling = tree.nearest(by_name != HostCall.OTHER)
    unclear = (purpose == HostCall.OTHER) & (telling >= call) & (telling >= 0)
    purpose = np.where(unclear, by_name[np.maximum(telling, 0)], purpose)
    starts = np.isin(by_name, (HostCall.SETUP, HostCall.COMPILATION))
    starts |= tree.where_name(lambda name: base_name(name).startswith("pthread_once"))
    return np.where(within(starts), np.uint8(HostCall.SETUP), purpose)


RULES = (host_calls,)
