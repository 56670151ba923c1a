"""Time in functions that the program only calls: compilers at run time, a GPU's runtime, whatever a user's own patterns name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial

import numpy as np

from chathpc.diagnosis.catalogue import cause, common, own_causes
from chathpc.diagnosis.catalogue.entry import Cause
from chathpc.diagnosis.catalogue.own import SHARE
from chathpc.diagnosis.draft import Draft, calling_function, part_of, share_here, time_fact
from chathpc.diagnosis.fact import Form
from chathpc.diagnosis.facts import Facts, HotPlace
from chathpc.diagnosis.host_calls import HostCall, classes
from chathpc.profile.activity import GPU_RUNTIME, Activity, base_name
from chathpc.profile.tree import BoolArray, FloatArray, is_one_of


@dataclass(frozen=True, slots=True)
class CalledTime:
    """Time in functions of one kind, the program's function that calls for most of it, and whether a loop is seen around that."""

    entry: Cause
    cost: float
    hot: HotPlace
    in_loop: bool

    @property
    def caller(self) -> str | None:
        """Name of that function."""
        return self.hot.place.function


def called_time(facts: Facts, entry: Cause, weight: FloatArray) -> CalledTime | None:
    """The time `weight` (exclusive, per node) as a possible finding; None where it is not above the `min_share` of the catalogue
    by more than sampling explains, or no function of the program calls for it.
    """
    cost = float(weight.sum())
    if not facts.above(cost / facts.total, entry.threshold("min_share")):
        return None
    hot = facts.hot_place(weight)
    if hot is None:
        return None
    return CalledTime(entry, cost, hot, facts.below_loop(hot.line if hot.line >= 0 else hot.node))


def called_draft(
    facts: Facts,
    time: CalledTime,
    does: str,
    *,
    subject: str,
    form: Form = Form.ONE,
    how: str,
    by: str,
    signs: int,
    against: tuple[str, ...] = (),
    of: str = "",
) -> Draft:
    """The finding: `does` is a sentence about the caller, which gets its share (of `of`); `subject` is all such time;
    `how` and `by` say how that, and the caller's part of it, were computed."""
    return Draft(
        cause=time.entry.id,
        where=time.hot.place,
        summary=f"{does}: {share_here(facts, time.hot.weight, time.cost, of=of)}.",
        cost=time.cost,
        share=time.cost / facts.total,
        evidence=(
            time_fact(facts, time.cost, subject, how, form=form),
            calling_function(facts, time.hot, part_of(facts, time.cost, subject), how=by),
        ),
        signs=signs,
        against=against,
    )


def functions(facts: Facts) -> Iterable[Draft]:
    """Time in and below the functions that an entry of the user names."""
    tree = facts.profile.tree
    for entry in own_causes():
        if not entry.functions:
            continue
        named = tree.where_name(partial(_matches, entry.functions))
        nodes = np.flatnonzero(named).astype(np.int32)
        outermost = tree.outermost(nodes)
        cost = float(facts.inclusive[outermost].sum())
        if not facts.above(cost / facts.total, entry.threshold(SHARE)):
            continue
        inside = np.where(tree.inside(outermost), facts.time, 0.0)
        hot = facts.hot_place(inside)
        if hot is None:
            continue
        sums = np.bincount(tree.name[outermost], weights=facts.inclusive[outermost])
        most = facts.readable(tree.names[int(np.argmax(sums))])
        yield Draft(
            cause=entry.id,
            where=hot.place,
            summary=f"{entry.title}: {most} takes {share_here(facts, float(sums.max()), cost)}.",
            cost=cost,
            share=cost / facts.total,
            threshold=entry.threshold(SHARE),
            evidence=(
                time_fact(
                    facts,
                    cost,
                    f"functions like {most}",
                    f"inclusive time of the outermost functions named like {', '.join(entry.functions)}",
                    form=Form.MANY,
                    where=hot.place,
                ),
            ),
        )


def _matches(patterns: tuple[str, ...], name: str) -> bool:
    return any(fnmatchcase(each, pattern) for pattern in patterns for each in {name, base_name(name)})


#: An interpreter runs the program; it does not compile it.
_INTERPRETER = ("PyEval", "_PyEval")


def just_in_time(facts: Facts) -> Iterable[Draft]:
    """Time in a compiler that the program calls."""
    entry = cause("jit-compilation")
    weight = facts.of(Activity.JIT)
    if not weight.any():
        return
    tree, call = facts.profile.tree, facts.activities.call
    interprets = tree.where_name(lambda name: base_name(name).startswith(_INTERPRETER))
    weight = np.where((call >= 0) & interprets[np.maximum(call, 0)], 0.0, weight)
    time = called_time(facts, entry, weight)
    if time is not None:
        yield called_draft(
            facts,
            time,
            f"{time.caller} compiles code while the program runs",
            subject="compilation at run time",
            how="time in compilers' functions and libraries",
            by="time in compilers by calling function",
            signs=1,
            against=("It may be paid once: a longer run, or a cache of compiled code, would reduce it.",),
        )


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
    inside = facts.activities.of(*GPU_RUNTIME)
    if facts.timeline is not None or not inside.any():
        return
    purpose = _purposes(facts)
    for kind, identifier, does, subject in _KINDS:
        weight = np.where(inside & (purpose == kind), facts.time, 0.0)
        time = called_time(facts, cause(identifier), weight)
        if time is None or (identifier in _IN_LOOPS and not time.in_loop):
            continue
        once = kind == HostCall.SETUP
        draft = called_draft(
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
        # A device that waits for its driver does not wait for the program's own work.
        waits = once and draft.share >= common()["most"].value
        yield replace(draft, replaces=("gpu-idle-host-bound",)) if waits else draft


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
    starts = is_one_of(by_name, (HostCall.SETUP, HostCall.COMPILATION))
    starts |= tree.where_name(lambda name: base_name(name).startswith("pthread_once"))
    return np.where(within(starts), np.uint8(HostCall.SETUP), purpose)
