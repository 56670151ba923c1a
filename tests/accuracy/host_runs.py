"""Generated profiles of programs without a device: where a sampling profiler finds the time of a program with a known fault."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from tests.accuracy.call_trees import Part, share, walk, write_hpctoolkit, write_perf
from tests.accuracy.draw import Draw
from tests.accuracy.recipes import Truth, place, recipe, truth
from tests.synthetic import collapsed

HOST, IO = "host", "io"
HPCTOOLKIT, PERF, COLLAPSED = "HPCToolkit", "Linux perf", "collapsed stacks"


def stacks(folder: Path, root: Part) -> list[str]:
    """Collapsed stacks of samples, 250 a second."""
    found: list[tuple[tuple[str, ...], float]] = []

    def add(part: Part, above: tuple[str, ...]) -> None:
        path = (*above, part.name)
        count = round(250 * sum(part.own))
        if count:
            found.append((path, count))
        for each in part.below:
            add(each, path)

    add(root, ())
    (folder / "stacks.txt").write_text(collapsed.write(found))
    return ["stacks.txt"]


def recorded(draw: Draw, folder: Path, root: Part, *forms: str) -> tuple[str, list[str]]:
    """The program as one of the profilers writes it."""
    form = draw.choice(*forms)
    if form == HPCTOOLKIT:
        return form, write_hpctoolkit(folder, root)
    return form, write_perf(folder, root) if form == PERF else stacks(folder, root)


def around(draw: Draw, seconds: float, file: str, *hot: Part) -> Part:
    """main with the hot parts and innocent functions that share the rest of `seconds` among them."""
    rest = seconds - sum(sum(part.own) for one in hot for part in walk(one))
    count = draw.whole(4, 7)
    weights = [draw.real(0.6, 1.4) for _ in range(count)]
    more = [
        Part(draw.names.function(), [rest * w / sum(weights)], (), file, 100 + 15 * n, 301 + n)
        for n, w in enumerate(weights)
    ]
    return Part("main", [0.0], (*hot, *more), file, 290)


def split(draw: Draw, seconds: float, names: Sequence[str], role: str, at: int) -> list[Part]:
    """Library functions that share a time among them, the first more than the last."""
    weights = [draw.real(0.7, 1.3) / (n + 1) for n in range(len(names))]
    return [
        Part(name, [seconds * w / sum(weights)], (), role=role, at=at + n % 2)
        for n, (name, w) in enumerate(zip(names, weights, strict=True))
    ]


def in_library(*names: str) -> Callable[[Part], bool]:
    """Chooses the parts with these names."""
    return lambda part: part.name in names


ALL = (HPCTOOLKIT, PERF, COLLAPSED)
MATH = ("pow", "exp", "log", "sin", "cos", "atan2")
HEAP = ("malloc", "_int_malloc", "free", "_int_free")
WHOLE = (12, 40)  #: seconds of a run


@recipe("expensive-math", HOST, 2)
def transcendental(draw: Draw, folder: Path) -> Truth:
    seconds, file, name = draw.steps(*WHOLE) * 1.0, draw.names.file(), draw.names.function()
    used = draw.random.sample(MATH, 2)
    part = seconds * draw.real(0.35, 0.65)
    hot = Part(name, [seconds * 0.08], split(draw, part, used, "libm", 46), file, 40, 298)
    root = around(draw, seconds, file, hot)
    form, profiles = recorded(draw, folder, root, *ALL)
    why = f"{' and '.join(used)} are called for each element in {name}"
    return truth("expensive-math", form, profiles, share(root, in_library(*used)), why, where=place(name, file=file),
                 functions=(name, "main"))  # fmt: skip


@recipe("allocation-churn", HOST, 2)
def small_objects(draw: Draw, folder: Path) -> Truth:
    seconds, file, name = draw.steps(*WHOLE) * 1.0, draw.names.file(".cpp"), draw.names.function()
    part = seconds * draw.real(0.3, 0.6)
    hot = Part(name, [seconds * 0.1], split(draw, part, HEAP, "libc", 46), file, 40, 298)
    root = around(draw, seconds, file, hot)
    form, profiles = recorded(draw, folder, root, *ALL)
    why = f"{name} allocates and frees short-lived objects"
    return truth("allocation-churn", form, profiles, share(root, in_library(*HEAP)), why, where=place(name, file=file),
                 functions=(name, "main"))  # fmt: skip


@recipe("redundant-copies", HOST, 2)
def copied_arrays(draw: Draw, folder: Path) -> Truth:
    seconds, file, name = draw.steps(*WHOLE) * 1.0, draw.names.file(".cpp"), draw.names.function()
    part = seconds * draw.real(0.35, 0.65)
    hot = Part(
        name, [seconds * 0.05], [Part("__memmove_avx_unaligned_erms", [part], (), role="libc", at=46)], file, 40, 298
    )
    root = around(draw, seconds, file, hot)
    form, profiles = recorded(draw, folder, root, *ALL)
    why = f"{name} gets large arrays by value, which copies them at each call"
    return truth("redundant-copies", form, profiles, share(root, lambda p: "memmove" in p.name), why,
                 where=place(name, file=file), functions=(name, "main"))  # fmt: skip


@recipe("page-faults", HOST, 2)
def fresh_memory(draw: Draw, folder: Path) -> Truth:
    seconds, file, name = draw.steps(*WHOLE) * 1.0, draw.names.file(), draw.names.function()
    part = seconds * draw.real(0.4, 0.65)
    frames = ("asm_exc_page_fault", "exc_page_fault", "do_user_addr_fault", "handle_mm_fault", "clear_page_erms")
    inner = Part(frames[-1], [part * 0.6], (), role="kernel")
    for number, frame in enumerate(reversed(frames[:-1])):
        inner = Part(frame, [part * 0.1], (inner,), role="kernel", at=46 if number == 3 else 0)
    hot = Part(name, [seconds * 0.08], (inner,), file, 40, 298)
    root = around(draw, seconds, file, hot)
    form, profiles = recorded(draw, folder, root, PERF, COLLAPSED)
    why = f"{name} touches freshly mapped memory in each call; the kernel clears and maps its pages"
    return truth("page-faults", form, profiles, share(root, lambda p: p.role == "kernel"), why,
                 where=place(name, file=file), acceptable=("allocation-churn",), functions=(name, "main"))  # fmt: skip


@recipe("memory-leak", HOST, 2)
def never_freed(draw: Draw, folder: Path) -> Truth:
    seconds, file, name = draw.steps(*WHOLE) * 1.0, draw.names.file(), draw.names.function()
    allocated = draw.real(2e8, 4e9) * draw.repeat
    lost = allocated * draw.real(0.5, 1.0)
    fine = draw.real(1e8, 2e9) * draw.repeat
    key = ("Bytes Allocated", "Bytes Freed", "Bytes Leaked")
    leak = {key[0]: [allocated], key[1]: [allocated - lost], key[2]: [lost]}
    good = {key[0]: [fine], key[1]: [fine], key[2]: [0.0]}
    grown = Part(
        name, [seconds * 0.05], (Part("malloc", [seconds * 0.001], (), role="libc", at=46, more=leak),), file, 40, 298
    )
    kept = Part(draw.names.function(), [seconds * 0.05], (Part("malloc", [seconds * 0.001], (), role="libc", at=76, more=good),),
                file, 70, 299)  # fmt: skip
    root = around(draw, seconds, file, grown, kept)
    profiles = write_hpctoolkit(folder, root, metrics=key)
    why = f"{lost / 1e6:,.0f} MB of what {name} allocates are never freed"
    return truth(
        "memory-leak", HPCTOOLKIT, profiles, 0.001, why, where=place(name, file=file), functions=(name, "main")
    )


@recipe("memory-latency", HOST, 2)
def missed_caches(draw: Draw, folder: Path) -> Truth:
    seconds, file, name = draw.steps(*WHOLE) * 1.0, draw.names.file(), draw.names.function()
    part, clock, line = seconds * draw.real(0.5, 0.75), 3e9, 64
    cycles = part * clock
    instructions, misses = cycles * draw.real(0.05, 0.12), part / draw.real(80e-9, 110e-9)
    events = {"cycles": [cycles], "instructions": [instructions], "cache-misses": [misses]}
    hot = Part(name, [part], (), file, 40, 298, more=events)
    root = around(draw, seconds, file, hot)
    for each in root.below[1:]:
        own = sum(each.own) * clock
        each.more = {"cycles": [own], "instructions": [own * draw.near(1.6, 0.2)], "cache-misses": [own * 2e-5]}
    profiles = write_perf(folder, root)
    why = (
        f"one miss of the last cache each 100 ns ({misses / part * line / 1e9:.1f} GB/s, far from any memory's limit) and less than "
        f"0.12 instructions a cycle in {name}: each load waits for the one before"
    )
    return truth("memory-latency", PERF, profiles, part / seconds, why, where=place(name, file=file),
                 acceptable=("strided-access",), functions=(name,))  # fmt: skip


@recipe("lock-contention", HOST, 2)
def one_mutex(draw: Draw, folder: Path) -> Truth:
    threads, seconds, file, name = draw.width(4, 8), draw.steps(4, 12) * 1.0, draw.names.file(), draw.names.function()
    own = [draw.near(seconds, 0.03) for _ in range(threads)]
    wait = [draw.near(seconds * 0.9, 0.15) for _ in range(threads)]
    below = (Part("__lll_lock_wait", wait, (), role="libc"),)
    lock = Part("pthread_mutex_lock", [0.05 * seconds] * threads, below, role="libc", at=46)
    root = Part(name, own, (lock,), file, 40)
    start = Part("start_thread", [0.0] * threads, (root,), role="libc")
    if draw.chance(0.5):
        nothing = Part("main", [0.05] + [0.0] * (threads - 1), (), file, 88)
        form, profiles = HPCTOOLKIT, write_hpctoolkit(folder, nothing, threads=(start,))
    else:
        form, profiles = PERF, write_perf(folder, start)
    why = f"all threads take the same mutex in {name} and wait for it as long as they work"
    return truth("lock-contention", form, profiles, share(start, in_library("pthread_mutex_lock", "__lll_lock_wait")), why,
                 where=place(name, file=file), functions=(name,))  # fmt: skip


@recipe("blocking-wait", HOST, 2)
def sleeps(draw: Draw, folder: Path) -> Truth:
    seconds, file, name = draw.steps(*WHOLE) * 1.0, draw.names.file(), draw.names.function()
    part, call = seconds * draw.real(0.35, 0.7), draw.choice("clock_nanosleep", "poll", "usleep")
    hot = Part(name, [seconds * 0.02], (Part(call, [part], (), role="libc", at=46),), file, 40, 298)
    root = around(draw, seconds, file, hot)
    profiles = write_hpctoolkit(folder, root)
    why = f"{name} waits in {call} for a fixed time again and again; a wall clock timer sees it"
    return truth("blocking-wait", HPCTOOLKIT, profiles, share(root, in_library(call)), why, where=place(name, file=file),
                 functions=(name, "main"))  # fmt: skip


@recipe("deep-recursion", HOST, 2)
def degenerate_tree(draw: Draw, folder: Path) -> Truth:
    seconds, file, name = draw.steps(*WHOLE) * 1.0, draw.names.file(), draw.names.function()
    depth = draw.whole(150, 300)
    each = seconds * draw.real(0.6, 0.8) / depth
    inner = Part(name, [each], (), file, 40, 47)
    for _ in range(depth - 1):
        inner = Part(name, [each], (inner,), file, 40, 47)
    inner.at = 298
    root = around(draw, seconds, file, inner)
    form, profiles = recorded(draw, folder, root, HPCTOOLKIT, COLLAPSED)
    why = f"{name} calls itself {depth} levels deep, one call a level: a list is walked by recursion"
    return truth("deep-recursion", form, profiles, share(root, in_library(name)), why, where=place(name, file=file),
                 acceptable=("redundant-recursion", "quadratic-algorithm"), functions=(name,))  # fmt: skip


@recipe("jit-compilation", HOST, 2)
def compiler_inside(draw: Draw, folder: Path) -> Truth:
    seconds, file, name = draw.steps(*WHOLE) * 1.0, draw.names.file(".cpp"), draw.names.function()
    passes = ("llvm::FPPassManager::runOnFunction(llvm::Function&)", "llvm::SelectionDAGISel::runOnMachineFunction(llvm::MachineFunction&)",
              "llvm::MachineFunctionPass::runOnFunction(llvm::Function&)", "llvm::InstCombinePass::run(llvm::Function&)")  # fmt: skip
    part = seconds * draw.real(0.35, 0.65)
    inside = split(draw, part, passes, "llvm", 46)
    hot = Part(name, [seconds * 0.01], inside, file, 40, 298)
    root = around(draw, seconds, file, hot)
    form, profiles = recorded(draw, folder, root, HPCTOOLKIT, PERF)
    why = f"{name} compiles its expressions with LLVM while the program runs"
    return truth("jit-compilation", form, profiles, share(root, lambda p: p.role == "llvm"), why,
                 where=place(name, file=file), functions=(name, "main"))  # fmt: skip


@recipe("unoptimised-build", HOST, 2)
def accessors(draw: Draw, folder: Path) -> Truth:
    seconds, file, name = draw.steps(*WHOLE) * 1.0, draw.names.file(".cpp"), draw.names.function()
    ones = ("std::vector<double, std::allocator<double> >::operator[](unsigned long)",
            "std::vector<double, std::allocator<double> >::size() const",
            "__gnu_cxx::__normal_iterator<double*, std::vector<double, std::allocator<double> > >::operator++()",
            "__gnu_cxx::__normal_iterator<double*, std::vector<double, std::allocator<double> > >::operator*() const")  # fmt: skip
    part = seconds * draw.real(0.4, 0.6)
    weights = [draw.real(0.7, 1.3) for _ in ones]
    small = [
        Part(one, [part * w / sum(weights)], (), "stl_vector.h", 1000 + 40 * n, 46)
        for n, (one, w) in enumerate(zip(ones, weights, strict=True))
    ]
    hot = Part(name, [seconds * 0.2], small, file, 40, 298)
    root = around(draw, seconds, file, hot)
    form, profiles = recorded(draw, folder, root, HPCTOOLKIT, PERF)
    why = "operator[], size and iterators of std::vector are real calls with time of their own: compiled without optimisation"
    return truth("unoptimised-build", form, profiles, share(root, lambda p: p.file == "stl_vector.h"), why,
                 where=place(name, file=file), functions=(name, "main", *ones))  # fmt: skip


@recipe("io-bound", IO, 2)
def forced_to_disk(draw: Draw, folder: Path) -> Truth:
    seconds, file, name = draw.steps(*WHOLE) * 1.0, draw.names.file(), draw.names.function()
    part = seconds * draw.real(0.4, 0.7)
    calls = (Part("write", [part * 0.1], (), role="libc", at=46), Part("fsync", [part * 0.9], (), role="libc", at=47))
    hot = Part(name, [seconds * 0.01], calls, file, 40, 298)
    root = around(draw, seconds, file, hot)
    profiles = write_hpctoolkit(folder, root)
    why = f"{name} forces each record to the device (fsync)"
    return truth("io-bound", HPCTOOLKIT, profiles, share(root, in_library("write", "fsync")), why,
                 where=place(name, file=file), acceptable=("io-small-requests",), functions=(name, "main"))  # fmt: skip


@recipe("io-small-requests", IO, 2)
def tiny_writes(draw: Draw, folder: Path) -> Truth:
    seconds, file, name = draw.steps(*WHOLE) * 1.0, draw.names.file(), draw.names.function()
    part, call = seconds * draw.real(0.35, 0.65), draw.choice("write", "read")
    size = draw.random.choice((8, 16, 64))
    volume = {f"IO Bytes {'Written' if call == 'write' else 'Read'}": [float(round(part / 0.6e-6) * size)]}
    hot = Part(name, [seconds * 0.05], (Part(call, [part], (), role="libc", at=46, more=volume),), file, 40, 298)
    root = around(draw, seconds, file, hot)
    profiles = write_hpctoolkit(folder, root, metrics=tuple(volume))
    why = f"{size} bytes a call of {call}, 0.6 µs each: some ten megabytes a second where the system reaches gigabytes"
    return truth("io-small-requests", HPCTOOLKIT, profiles, share(root, in_library(call)), why,
                 where=place(name, file=file), acceptable=("io-bound",), functions=(name, "main"))  # fmt: skip


@recipe("io-metadata-bound", IO, 2)
def many_files(draw: Draw, folder: Path) -> Truth:
    seconds, file, name = draw.steps(*WHOLE) * 1.0, draw.names.file(), draw.names.function()
    part = seconds * draw.real(0.4, 0.65)
    calls = split(draw, part, ("open64", "close", "fstat64"), "libc", 46)
    hot = Part(name, [seconds * 0.03], (*calls, Part("read", [part * 0.05], (), role="libc", at=49)), file, 40, 298)
    root = around(draw, seconds, file, hot)
    form, profiles = recorded(draw, folder, root, *ALL)
    why = f"{name} opens, looks at and closes a file for each item and reads little of it"
    return truth("io-metadata-bound", form, profiles, share(root, in_library("open64", "close", "fstat64")), why,
                 where=place(name, file=file), acceptable=("io-bound",), functions=(name, "main"))  # fmt: skip


# -- nothing wrong, and two faults -------------------------------------------------------------------------------


@recipe("healthy", HOST, 3)
def flat_profile(draw: Draw, folder: Path) -> Truth:
    seconds, file = draw.steps(*WHOLE) * 1.0, draw.names.file()
    math = Part(
        draw.names.function(),
        [seconds * 0.06],
        (Part("exp", [seconds * 0.015], (), role="libm", at=46),),
        file,
        40,
        298,
    )
    heap = Part(
        draw.names.function(),
        [seconds * 0.05],
        (Part("malloc", [seconds * 0.01], (), role="libc", at=76),),
        file,
        70,
        299,
    )
    root = around(draw, seconds, file, math, heap)
    form, profiles = recorded(draw, folder, root, *ALL)
    why = "the time is spread over functions that compute; one or two percent are in the libraries"
    return truth("healthy", form, profiles, 0.97, why, acceptable=("hot-compute",))


@recipe("two-faults", HOST, 2)
def math_and_heap(draw: Draw, folder: Path) -> Truth:
    seconds, file, names = (
        draw.steps(*WHOLE) * 1.0,
        draw.names.file(".cpp"),
        (draw.names.function(), draw.names.function()),
    )
    part = seconds * draw.real(0.38, 0.5)
    used = draw.random.sample(MATH, 2)
    first = Part(names[0], [seconds * 0.05], split(draw, part, used, "libm", 46), file, 40, 298)
    heap = split(draw, part * draw.real(0.4, 0.55), HEAP, "libc", 76)
    other = Part(names[1], [seconds * 0.03], heap, file, 70, 299)
    root = around(draw, seconds, file, first, other)
    form, profiles = recorded(draw, folder, root, *ALL)
    why = f"{' and '.join(used)} for each element in {names[0]}, and short-lived objects in {names[1]}"
    return truth("expensive-math", form, profiles, share(root, in_library(*used)), why, where=place(names[0], file=file),
                 functions=(names[0], "main"),
                 second=("allocation-churn", share(root, in_library(*HEAP)), place(names[1], file=file)))  # fmt: skip


@recipe("two-faults", HOST, 2)
def copies_and_waits(draw: Draw, folder: Path) -> Truth:
    seconds, file, names = (
        draw.steps(*WHOLE) * 1.0,
        draw.names.file(".cpp"),
        (draw.names.function(), draw.names.function()),
    )
    part = seconds * draw.real(0.38, 0.5)
    copied = Part("__memmove_avx_unaligned_erms", [part], (), role="libc", at=46)
    slept = Part("clock_nanosleep", [part * draw.real(0.4, 0.55)], (), role="libc", at=76)
    first = Part(names[0], [seconds * 0.05], (copied,), file, 40, 298)
    other = Part(names[1], [seconds * 0.03], (slept,), file, 70, 299)
    root = around(draw, seconds, file, first, other)
    profiles = write_hpctoolkit(folder, root)
    why = f"{names[0]} copies large arrays, and {names[1]} sleeps for a fixed time again and again"
    return truth("redundant-copies", HPCTOOLKIT, profiles, share(root, lambda p: p is copied), why,
                 where=place(names[0], file=file), functions=(names[0], "main"),
                 second=("blocking-wait", share(root, lambda p: p is slept), place(names[1], file=file)))  # fmt: skip
