"""What was followed of a launch, and what that says of the rest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chathpc.predict import emulation
from chathpc.predict.counts import Counts
from chathpc.predict.lowering import Lowered
from chathpc.profile.machine_code import CodeLine, MachineCode

MIB = 1 << 20


def counts(tmp_path: Path, l2_bytes: int, **changed: Any) -> Counts:
    """A product of two matrices of 1024 x 1024: 4096 blocks of eight warps, of which the first half of the loop was followed in all that fit, and
    512 single ones to their end. Instructions: 64 loads of each input, a store, and a hundred others.
    """
    lines = [
        CodeLine(0x10 * at, text)
        for at, text in enumerate(("LDG.E R0, [R2];", "STG.E [R2], R0;", "FFMA R0, R0, R0, R0;"))
    ]
    warps = 512 * 8
    launch: dict[str, Any] = {
        "kernel": "mm", "grid": [64, 64, 1], "block": [16, 16, 1], "dynamic_shared": 0, "occurrence": 0, "registers": 32, "shared": 2048,
        "local": 0, "begun": 864, "finished": 0, "sampled": 512, "served": 4096, "complete": False, "cut": False, "seconds": 3, "faults": 0,
        "unknown": 0, "longest": 229, "skipped": 0, "extrapolated": 0, "parameters": [], "meetings": [0, *[0] * 64],
        "counts": [
            [0, warps * 128, warps * 128 * 32, warps * 128 * 4, warps * 128, warps * 128], [1, warps, warps * 32, warps * 4, warps, warps],
            [2, warps * 100, warps * 3200, 0, 0, 0],
        ],
        # All of the rows at hand, and half of the columns of both, each read for the first time: steps, sectors read and written, distinct ones.
        "memory": [[k * 1e4, k * 1e3, 0, k * 1e3, 0, 0, 0, k * 2e4, 0] for k in range(1, 41)],
        "touched": [1.3e6, 2.2e5, 0, 2.2e5, warps * 4, 0, 0, 2.9e6, warps * 4],
        "allocations": [[4 * MIB, 1.1e5, 0, 0], [4 * MIB, 1.1e5, 0, 0], [4 * MIB, 0, warps * 4, 0]],
    }  # fmt: skip
    (tmp_path / "launches").write_text(json.dumps(launch | changed) + "\n")
    lowered = Lowered(b"", (), (MachineCode("mm", tuple(lines)),), {})
    ((found,), _) = emulation.read(tmp_path / "launches", lowered, l2_bytes)
    return found.counts


def test_of_a_launch_that_was_left_what_is_written_last_is_not_taken_for_read(tmp_path: Path) -> None:
    found = counts(tmp_path, 40 * MIB)
    assert (found.footprint_read, found.footprint_written) == (8 * MIB, 4 * MIB)
    # The L2 cache holds all three: each byte is read once.
    assert found.dram_read.value == pytest.approx(8 * MIB, rel=0.01)
    assert found.dram_read.low <= 8 * MIB <= found.dram_read.high


def test_memory_that_nothing_wrote_is_an_assumption(tmp_path: Path) -> None:
    said = "It reads 4.19 MB of device memory that nothing wrote: zeros are taken."
    assert said in counts(tmp_path, 40 * MIB, unwritten=4 * MIB).assumptions
    assert said not in counts(tmp_path, 40 * MIB).assumptions


def test_a_cache_that_does_not_hold_the_data_loses_part_of_it(tmp_path: Path) -> None:
    small, middle, large = (counts(tmp_path, size * MIB).dram_read.value for size in (1, 8, 40))
    assert small > middle > large


def test_distinct_bytes_are_read_in_any_case(tmp_path: Path) -> None:
    followed = {
        "complete": True,
        "touched": [0, 3e5, 0, 2.5e5, 0, 0, 0, 0, 0],
        "memory": [[5e5, 3e5, 0, 2.5e5, 0, 0, 0, 3e5, 0]],
    }
    assert counts(tmp_path, 40 * MIB, **followed).dram_read.low == 2.5e5 * 32


def test_counts_of_blocks_that_are_alike_are_surer_than_of_those_that_differ(tmp_path: Path) -> None:
    """A warp has 128 + 1 + 100 instructions on average."""
    alike, uneven = (counts(tmp_path, 40 * MIB, longest=longest).operations["fp32"] for longest in (229, 400))
    assert alike.value == uneven.value
    assert alike.high / alike.value == pytest.approx(1.05)
    assert uneven.high / uneven.value == pytest.approx(1.25)
