"""Who is blamed for the stalls of real kernels: nearly every wait for memory must find the instruction whose result is missing.

A mistake in parsing or in the flow leaves stalled instructions without a cause, so the part that finds one measures both.
"""

from __future__ import annotations

import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from chathpc.adapters.load import load
from chathpc.diagnosis.device import kernels
from chathpc.diagnosis.diagnose import diagnose
from chathpc.diagnosis.sass.blame import Link, blame
from chathpc.diagnosis.sass.flow import program
from chathpc.profile.profile import Profile
from chathpc.profile.tree import NodeKind

REPOSITORY = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("CHATHPC_TEST_DATA", REPOSITORY.parent / "shared" / "data")) / "profiles" / "ncu"

REPORTS = (
    "cutlass_smallgrid_a100_full", "indexspaces_julia_a40_full", "mistic_ilp_smallblocks_a100_full", "mistic_node2_a100_full",
    "mistic_node_a100_full", "sglang_h800_full", "speedyscan_rtx3070",
)  # fmt: skip


@cache
def profile_of(name: str) -> Profile:
    path = DATA / f"{name}.ncu-rep"
    if not path.exists():
        pytest.skip(f"needs ncu/{name}.ncu-rep (CHATHPC_TEST_DATA, or ../shared/data)")
    if find_spec("ncu_report") is None:
        pytest.skip("needs ncu-report, NVIDIA's reader")
    return load(path)


def linked(profile: Profile, reason: str) -> dict[Link, float]:
    """Samples of a stall reason by why somebody was blamed; the total must be what the report holds."""
    metric = f"gpu.stall.{reason}"
    found = dict.fromkeys(Link, 0.0)
    if not profile.has(metric):
        return found
    tree, column = profile.tree, profile.exclusive(metric)
    assert tree.offset is not None
    codes = {code.kernel: code for code in profile.code}
    everything = 0.0
    for kernel in kernels(profile):
        if kernel.name not in codes:
            continue
        code = codes[kernel.name]
        index = {line.offset: i for i, line in enumerate(code.lines)}
        stalled: dict[int, float] = {}
        for node in kernel.nodes[tree.kind[kernel.nodes] == NodeKind.INSTRUCTION].tolist():
            value = column.at(node)
            if value:
                at = index[int(tree.offset[node])]
                stalled[at] = stalled.get(at, 0.0) + value
        for each in blame(program(code), stalled, reason):
            found[each.link] += each.samples
        everything += sum(stalled.values())
    assert everything == pytest.approx(profile.total(metric))
    assert sum(found.values()) == pytest.approx(everything)
    return found


@pytest.mark.parametrize("name", REPORTS)
def test_waits_for_memory_find_what_they_wait_for(name: str) -> None:
    found = linked(profile_of(name), "memory")
    total = sum(found.values())
    if not total:
        pytest.skip("the report has no samples of waiting for memory")
    assert found[Link.ITSELF] <= max(0.01 * total, 20)


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize(("reason", "part"), [("short-scoreboard", 0.05), ("barrier", 0.0), ("drain", 0.0)])
def test_other_waits_find_what_they_wait_for(name: str, reason: str, part: float) -> None:
    found = linked(profile_of(name), reason)
    assert found[Link.ITSELF] <= max(part * sum(found.values()), 20)


def test_the_load_that_is_blamed_is_the_one_that_nvidias_rule_names() -> None:
    # UncoalescedGlobalAccess of this report names +0x6b0, the load that the differences of coordinates wait for.
    diagnosis = diagnose(profile_of("mistic_node_a100_full"))
    said = [item.statement for item in diagnosis.evidence]
    assert any("Waiting for the load from global memory at +0x6b0 (LDG.E.64 R22, [R22.64])" in each for each in said)
    assert any("uncoalesced" in each.lower() and "+0x6b0" in each for each in said)


def test_warps_at_the_barrier_wait_for_those_that_look_back() -> None:
    # The kernel is a scan with decoupled look-back: one warp polls the state of earlier blocks while the others wait.
    diagnosis = diagnose(profile_of("speedyscan_rtx3070"))
    said = [item.statement for item in diagnosis.evidence]
    assert any("Waiting for the barrier at +0xa90" in each for each in said)
    assert any("where the warps are that the others wait for" in each for each in said)
