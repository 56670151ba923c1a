"""More recipes for threads, OpenMP and CUDA, with the causes that they answer."""

from __future__ import annotations

from chathpc.fix.recipes import (
    cuda_host,
    cuda_kernels,
    fortran_openmp,
    fortran_own_elements,
    narrowing,
    openmp_outer,
    openmp_schedules,
    openmp_tasks,
    openmp_teams,
    openmp_waits,
    own_elements,
    sharing,
)
from chathpc.fix.recipes.recipe import Recipe

_HOST = ("c", "c++")
_FORTRAN = ("fortran",)
_DEVICE = ("cuda",)
_COMPUTE = ("hot-compute", "not-vectorised")

RECIPES: tuple[Recipe, ...] = (
    Recipe(
        "schedule-static",
        "Deals out the iterations of an OpenMP loop beforehand where they were handed out one by one.",
        "By its text every iteration does the same work; no `ordered`, and nothing asks for the number of the thread.",
        ("omp-fine-grained-regions", "omp-barrier-wait", "omp-critical-contention", "lock-contention", "omp-false-sharing"), _HOST,
        "reassociates floating point", openmp_schedules.static_schedule, 0.9,
    ),
    Recipe(
        "schedule-larger-pieces",
        "Hands out the iterations of an OpenMP loop 64 at a time where they were handed out one by one.",
        "There may be more than 4,096 of them; no `ordered`, and nothing asks for the number of the thread.",
        ("omp-fine-grained-regions", "omp-barrier-wait", "omp-critical-contention", "lock-contention"), _HOST, "reassociates floating point",
        openmp_schedules.larger_pieces, 0.7,
    ),
    Recipe(
        "fortran-schedule-static",
        "Deals out the iterations of an OpenMP loop beforehand where they were handed out one by one.",
        "By its text every iteration does the same work; no `ordered`, and nothing asks for the number of the thread.",
        ("omp-fine-grained-regions", "omp-barrier-wait", "omp-critical-contention", "lock-contention", "omp-false-sharing"), _FORTRAN,
        "reassociates floating point", fortran_openmp.static_schedule, 0.9,
    ),
    Recipe(
        "fortran-collapse-loops",
        "Shares the iterations of two nested loops among threads (`collapse(2)`).",
        "The inner bounds do not depend on the outer loop, and no two iterations touch the same memory, one of them writing.",
        ("omp-load-imbalance", "omp-barrier-wait", "omp-serial-fraction"), _FORTRAN, "reassociates floating point",
        fortran_openmp.collapsed, 0.6,
    ),
    Recipe(
        "narrow-section",
        "Computes before a critical section or a lock what needs no protection.",
        "The statements at its beginning write only what is the thread's own, and nothing that they read is changed by any thread.",
        ("omp-critical-contention", "lock-contention", "omp-barrier-wait", "blocking-wait"), _HOST, "exact", narrowing.narrowed, 0.8,
    ),
    Recipe(
        "task-cut-off",
        "Makes OpenMP tasks in the first levels of a recursion only; below them it goes on without.",
        "Every task is one call of the function itself, and there are no other directives in it but `taskwait`.",
        ("hot-compute", "omp-fine-grained-regions", "omp-barrier-wait", "lock-contention", "omp-critical-contention", "deep-recursion"),
        _HOST, "exact", openmp_tasks.cut_off, 0.9,
    ),
    Recipe(
        "fewer-barriers",
        "Leaves out barriers where threads have just waited, and lets them go on behind loops that nothing before the next barrier depends on.",
        "Nothing up to the next barrier touches what the loop writes, or writes what it touches.",
        ("omp-barrier-wait", "omp-load-imbalance", "omp-fine-grained-regions"), _HOST, "exact", openmp_waits.fewer_barriers, 0.7, everywhere=False,
    ),
    Recipe(
        "share-single-work",
        "Shares a loop among the threads of a region that was left to one of them (`single`, `master`).",
        "Its iterations are proved independent but for sums, and all threads come by it.",
        ("omp-serial-fraction", "omp-barrier-wait", "omp-load-imbalance", *_COMPUTE), _HOST, "reassociates floating point",
        openmp_waits.shared_work, 0.95,
    ),
    Recipe(
        "default-threads",
        "Leaves the number of threads to the environment where the source asks for more than there are cores, or for regions in regions.",
        "Nothing in the program asks for the number of a thread or of all threads.",
        ("oversubscription", "omp-fine-grained-regions", "omp-barrier-wait"), _HOST, "reassociates floating point",
        openmp_teams.default_threads, 0.9, everywhere=False,
    ),
    Recipe(
        "parallel-outer-loop",
        "Shares the outer loop among threads instead of opening a parallel region in each of its iterations.",
        "Iterations of the outer loop are proved independent, and the directives in it do nothing else.",
        ("omp-fine-grained-regions", "omp-barrier-wait", "omp-serial-fraction", "oversubscription"), _HOST, "reassociates floating point",
        openmp_outer.outer_loops, 0.95,
    ),
    Recipe(
        "fortran-parallel-outer-loop",
        "Shares the outer loop among threads instead of opening a parallel region in each of its iterations.",
        "Iterations of the outer loop are proved independent, and the directives in it do nothing else.",
        ("omp-fine-grained-regions", "omp-barrier-wait", "omp-serial-fraction", "oversubscription"), _FORTRAN, "reassociates floating point",
        fortran_openmp.outer_loops, 0.95,
    ),
    Recipe(
        "pad-elements",
        "Puts room between the numbers of different threads that lie side by side in an array.",
        "The array is indexed by the thread, and nothing is done with it but reading and writing its elements.",
        ("omp-false-sharing", "lock-contention"), _HOST, "exact", sharing.padded_elements, 0.75,
    ),
    Recipe(
        "keep-in-variable",
        "Keeps an element or a member that a loop adds to in a variable of the thread's own as long as the loop runs.",
        "The loop always means the same element, and nothing else in it may be that memory.",
        ("omp-false-sharing", "hot-compute", "lock-contention"), _HOST, "exact", own_elements.kept_in_variables, 0.85,
    ),
    Recipe(
        "fortran-keep-in-variable",
        "Keeps an array's element that is chosen by the thread's number in a variable of its own as long as a loop runs.",
        "The loop always means the same element, calls nothing that is not known, and stands in a parallel region.",
        ("omp-false-sharing", "hot-compute", "lock-contention"), _FORTRAN, "exact", fortran_own_elements.kept_in_variables, 0.85,
    ),
    Recipe(
        "wait-behind-the-loop",
        "Waits for the device once behind a loop instead of in each iteration.",
        "One stream, no memory that host and device share, and no clock in the loop.",
        ("gpu-sync-overuse", "gpu-idle-host-bound", "gpu-launch-bound"), _DEVICE, "exact", cuda_host.fewer_waits, 0.8,
    ),
    Recipe(
        "keep-device-memory",
        "Allocates memory of the device once before a loop instead of in each iteration.",
        "The loop frees it in the same block, its size stays the same, and the pointer is used between the two only.",
        ("gpu-allocation-in-loop", "gpu-sync-overuse", "gpu-idle-host-bound"), _DEVICE, "exact", cuda_host.kept_device_memory, 0.9,
    ),
    Recipe(
        "pin-buffers",
        "Allocates page-locked memory for what is copied to or from the device.",
        "The function allocates and frees it, and keeps no second pointer to it.",
        ("gpu-pageable-copies", "gpu-h2d-copy-bound", "gpu-d2h-copy-bound", "gpu-no-overlap"), _DEVICE, "exact", cuda_host.pinned_buffers, 0.7,
        everywhere=False,
    ),
    Recipe(
        "pad-shared-rows",
        "Makes the rows of a tile in shared memory one element longer, so that its columns lie in different banks.",
        "Rows of a multiple of 32 elements, of which each is reached by two indices.",
        ("gpu-shared-bank-conflicts", "gpu-barrier-stall", "gpu-kernel-bound"), _DEVICE, "exact", cuda_kernels.padded_tiles, 0.8,
    ),
    Recipe(
        "swap-axes",
        "Lets neighbouring threads take neighbouring elements: the axes x and y of a kernel change places.",
        "Two axes, both guarded, no shared memory, and a grid that rounds up by the size of the block.",
        ("gpu-uncoalesced-access", "gpu-memory-bandwidth", "gpu-memory-latency", "gpu-kernel-bound"), _DEVICE, "exact", cuda_kernels.swapped_axes, 0.9,
    ),
    Recipe(
        "sum-by-blocks",
        "Gathers atomic additions in shared memory and adds them once for each block.",
        "The kernel does nothing else with what it adds to, and the number of addresses is known.",
        ("gpu-atomics-contention", "gpu-memory-latency", "gpu-kernel-bound"), _DEVICE, "reassociates floating point",
        cuda_kernels.sums_of_blocks, 0.9,
    ),
    Recipe(
        "single-precision-literals",
        "Writes literals of kernels in single precision.",
        "The program has no double precision but for these literals, and declares a tolerance.",
        ("gpu-fp64-bound", "gpu-compute-bound", "gpu-kernel-bound"), _DEVICE, "rounds differently", cuda_kernels.single_literals, 0.8,
        everywhere=False,
    ),
)  # fmt: skip
