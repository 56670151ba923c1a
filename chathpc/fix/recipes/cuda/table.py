"""Recipes for CUDA kernels and the host that starts them, with the causes that they answer."""

from __future__ import annotations

from chathpc.fix.recipes.cuda import block_size, host, kernels
from chathpc.fix.recipes.recipe import DEVICE, Recipe

RECIPES: tuple[Recipe, ...] = (
    Recipe(
        "wait-behind-the-loop",
        "Waits for the device once behind a loop instead of in each iteration.",
        "One stream, no memory that host and device share, and no clock in the loop.",
        ("gpu-sync-overuse", "gpu-idle-host-bound", "gpu-launch-bound"), DEVICE, "exact", host.fewer_waits, 0.8,
    ),
    Recipe(
        "keep-device-memory",
        "Allocates memory of the device once before a loop instead of in each iteration.",
        "The loop frees it in the same block, its size stays the same, and the pointer is used between the two only.",
        ("gpu-allocation-in-loop", "gpu-sync-overuse", "gpu-idle-host-bound"), DEVICE, "exact", host.kept_device_memory, 0.9,
    ),
    Recipe(
        "pin-buffers",
        "Allocates page-locked memory for what is copied to or from the device.",
        "The function allocates and frees it, and keeps no second pointer to it.",
        ("gpu-pageable-copies", "gpu-h2d-copy-bound", "gpu-d2h-copy-bound", "gpu-no-overlap"), DEVICE, "exact", host.pinned_buffers, 0.7,
        everywhere=False,
    ),
    Recipe(
        "pad-shared-rows",
        "Makes the rows of a tile in shared memory one element longer, so that its columns lie in different banks.",
        "Rows of a multiple of 32 elements, of which each is reached by two indices.",
        ("gpu-shared-bank-conflicts", "gpu-barrier-stall", "gpu-kernel-bound"), DEVICE, "exact", kernels.padded_tiles, 0.8,
    ),
    Recipe(
        "swap-axes",
        "Lets neighbouring threads take neighbouring elements: the axes x and y of a kernel change places.",
        "Two axes, both guarded, no shared memory, and a grid that rounds up by the size of the block.",
        ("gpu-uncoalesced-access", "gpu-memory-bandwidth", "gpu-memory-latency", "gpu-kernel-bound"), DEVICE, "exact", kernels.swapped_axes, 0.9,
    ),
    Recipe(
        "sum-by-blocks",
        "Gathers atomic additions in shared memory and adds them once for each block.",
        "The kernel does nothing else with what it adds to, and the number of addresses is known.",
        ("gpu-atomics-contention", "gpu-memory-latency", "gpu-kernel-bound"), DEVICE, "reassociates floating point",
        kernels.sums_of_blocks, 0.9,
    ),
    Recipe(
        "single-precision-literals",
        "Writes literals of kernels in single precision.",
        "The program has no double precision but for these literals, and declares a tolerance.",
        ("gpu-fp64-bound", "gpu-compute-bound", "gpu-kernel-bound"), DEVICE, "rounds differently", kernels.single_literals, 0.8,
        everywhere=False,
    ),
    *block_size.RECIPES,
)  # fmt: skip
