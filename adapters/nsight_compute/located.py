"""Values that Nsight Compute gives per machine instruction: PC samples by stall reason, and counts of accesses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from chathpc.adapters.nsight_compute.facts import SECTORS, WAVEFRONTS
from chathpc.adapters.nsight_compute.launch import Launch
from chathpc.profile.metric import Aggregation, Metric, Unit
from chathpc.profile.stalls import STALLS, names_in_samples, sampled

SAMPLES = "smsp__pcsamp_sample_count"
_STALLED = "smsp__pcsamp_warps_issue_stalled_"

#: A warp that issues does not stall.
_ISSUES = "selected"
#: Stall reason in NVIDIA's names → its own.
_REASONS = {name: reason for reason in STALLS if reason != _ISSUES for name in names_in_samples(reason)}

#: id → (names, the first that is there counts; unit; description).
_COUNTS: dict[str, tuple[tuple[str, ...], str]] = {
    "gpu.instructions.executed": (("inst_executed", "smsp__inst_executed"), "instructions executed by warps"),
    "gpu.instructions.threads": (
        ("thread_inst_executed_true", "thread_inst_executed"),
        "instructions executed by threads that were not predicated off",
    ),
    "gpu.l2.sectors": (SECTORS, "L2 sectors that global accesses touch"),
    "gpu.shared.wavefronts": (WAVEFRONTS, "wavefronts of shared memory accesses"),
}  # fmt: skip
#: id → (names of the excess; all of; ideal; description).
_EXCESS = {
    "gpu.l2.sectors.excessive": ("gpu.l2.sectors", "L2 sectors of global accesses beyond what coalesced ones would need"),
    "gpu.shared.wavefronts.excessive": (
        "gpu.shared.wavefronts",
        "wavefronts of shared memory accesses beyond what conflict-free ones would need",
    ),
}  # fmt: skip

LOCATED: frozenset[str] = frozenset(
    name
    for names, _ in _COUNTS.values()
    for base in names
    for name in (base, f"{base}_ideal", f"derived__{base}_excessive")
) | {SAMPLES}
LOCATED_PATTERN = re.escape(_STALLED) + r"(?!\w+_not_issued$)\w+"

#: Cycles between two samples of one multiprocessor's part; the counts here are samples, so a count of 1 is one sample.
PERIOD = "gpu.samples.period"


def located_values(launch: Launch) -> Iterator[tuple[str, Mapping[int, float]]]:
    """(id, offset → value) for everything that is measured per instruction; zeros are left out."""
    samples = launch.located.get(SAMPLES)
    if samples is not None:
        yield "gpu.instructions", samples
        issued = launch.located.get(_STALLED + _ISSUES, {})
        yield "gpu.stall.any", {at: value - issued.get(at, 0.0) for at, value in samples.items()}
    for name, values in launch.located.items():
        reason = name.removeprefix(_STALLED)
        if reason != name and reason in _REASONS:
            yield sampled(_REASONS[reason])[0], values
    for identifier, (names, _) in _COUNTS.items():
        found = next((launch.located[name] for name in names if name in launch.located), None)
        if found is not None:
            yield identifier, found
    for identifier, (base, _) in _EXCESS.items():
        excess = _excess(launch, _COUNTS[base][0])
        if excess is not None:
            yield identifier, excess


def _excess(launch: Launch, names: tuple[str, ...]) -> Mapping[int, float] | None:
    for name in names:
        ready = launch.located.get(f"derived__{name}_excessive")
        if ready is not None:
            return ready
        total, ideal = launch.located.get(name), launch.located.get(f"{name}_ideal")
        if total is not None and ideal is not None:
            return {at: max(value - ideal.get(at, 0.0), 0.0) for at, value in total.items()}
    return None


def located_metrics() -> dict[str, Metric]:
    """The metrics of everything that `located_values` may give."""
    found = {
        "gpu.instructions": Metric("gpu.instructions", Unit.SAMPLES, "samples of warps (PC sampling)", SAMPLES),
        "gpu.stall.any": Metric("gpu.stall.any", Unit.SAMPLES, "samples of warps that did not issue", f"{SAMPLES} - {_STALLED}selected"),
        PERIOD: Metric(PERIOD, Unit.SAMPLES, "what one sample counts for", "1", aggregation=Aggregation.MAX, hidden=True),
    }  # fmt: skip
    for name, reason in _REASONS.items():
        (identifier,) = sampled(reason)
        if identifier not in found:
            found[identifier] = Metric(
                identifier, Unit.SAMPLES, f"GPU stalls: waiting for {STALLS[reason].words}", _STALLED + name
            )
    for identifier, (names, words) in _COUNTS.items():
        found[identifier] = Metric(identifier, Unit.COUNT, words, f"{names[0]} (per instruction)")
    for identifier, (base, words) in _EXCESS.items():
        found[identifier] = Metric(
            identifier, Unit.COUNT, words, f"derived__{_COUNTS[base][0][0]}_excessive (per instruction)"
        )
    return found
