"""What each node of a host call tree is doing: computing, or being in some runtime, for which reason and through which
call.

A call path is a row of frames of the program's own code, then frames of libraries: `main → solve → MPI_Allreduce →
opal_progress → …`.
The outermost library frame below the program's code, the *public call*, says what the program asked for, and everything
below it is that library's business, until it calls back into the program's code (an OpenMP region, a comparison
function).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from chathpc.profile.tree import BoolArray, CallTree, IntArray, NodeKind, Relation


class Activity(IntEnum):
    """What the time of a node was spent on."""

    COMPUTE = 0  #: the program's own code, and libraries that compute for it
    MATH = 1  #: libm and its kin: exp, pow, sin, …
    COPY = 2  #: memcpy, memmove, memset, string copies
    ALLOCATION = 3  #: malloc, free, new, delete
    IO = 4  #: read, write, fsync, open and the buffered layer above them
    MPI = 5  #: in an MPI call that the program made
    MPI_SETUP = 6  #: in MPI_Init or MPI_Finalize
    OMP_WAIT = 7  #: at a barrier, or idle between parallel regions
    OMP_LOCK = 8  #: waiting for, or handing over, a critical section, atomic lock or OpenMP lock
    OMP_OVERHEAD = 9  #: forking, scheduling and other work of the OpenMP runtime
    LOCK = 10  #: waiting for a mutex or spin lock
    SLEEP = 11  #: sleeping for a time that the program chose
    BLOCKED = 12  #: waiting for an event: condition, semaphore, poll, select
    JOIN = 13  #: waiting for a thread or process to end
    GPU_LAUNCH = 14
    GPU_SYNC = 15
    GPU_COPY = 16
    GPU_API = 17  #: other calls of the GPU runtime: allocation, modules, contexts
    JIT = 18  #: compiling or interpreting
    HELPER = 19  #: threads that a library runs for itself and that only wait
    PROFILER = 20
    GPU = 21  #: on the device
    LIBRARY = 22  #: in a system library for none of the reasons above
    PAGE_FAULT = 23  #: in the kernel, which supplies a page that the program touches


#: The places of a thread that blocked, or ran in the kernel, somewhere behind its last sample.
BLOCKED, KERNEL = "<blocked>", "<kernel>"

#: Name of a frame (without library suffix, versions and leading underscores) → activity. First match wins.
_NAMES: tuple[tuple[Activity, str], ...] = (
    # Built-in functions of Python, as its profilers name them.
    (Activity.SLEEP, r"<built-in method time\.sleep>"),
    (Activity.LOCK, r"<method 'acquire' of '_(thread|multiprocessing)\.\w+' objects>|lock\.acquire$"),
    (
        Activity.BLOCKED,
        r"<built-in method select\.|<method 'poll' of 'select\.|<method '(recv|accept|connect)\w*' of '_socket\.",
    ),
    (Activity.JOIN, r"<built-in method (posix|nt)\.wait"),
    (
        Activity.IO,
        r"<method '(read|write|flush|readinto|readline|close)\w*' of '_io\.|<built-in method (posix|nt|_?io)\."
        r"(read|write|open|stat|lstat|fsync|listdir|scandir|unlink|replace|mkdir)\w*>",
    ),
    (Activity.MPI_SETUP, r"p?mpi_(init|finalize|init_thread)(_f08)?_*(\(.*\))?$"),
    # Inside Open MPI and MPICH: MPI_Finalize may jump there and leave no frame of its own.
    (Activity.MPI_SETUP, r"(ompi_mpi|mpir|mpii|internal)_(init|finalize|init_thread)$"),
    (Activity.MPI, r"p?mpix?_(?!file_)[a-z]"),
    (
        Activity.MPI,
        r"(ompi|opal|orte|prte|pmix|mca|mpir|mpid|mpidi|mpidu|mpl|ucp|ucs|uct|fi|psm2?|libfabric|nccl|rccl)_[a-z]",
    ),
    (
        Activity.OMP_LOCK,
        r"gomp_(critical|atomic|mutex|ordered)|omp_(set|unset|test)(_nest)?_lock|kmpc_(end_)?(critical|ordered|set_lock|unset_lock|atomic_start|atomic_end)"
        r"|kmp_acquire|kmp_release_(queuing|tas|ticket|futex|drdpa)|<omp mutex wait>|<omp ordered"
        r"|(?i:!\$omp (critical|ordered|atomic) ?(@|$)|openmp_critical)",
    ),
    (
        Activity.OMP_WAIT,
        r"gomp_(team_)?barrier|gomp_team_end|gomp_thread_pool_(idle)|kmp_(.*)?(barrier|wait|join_call|suspend|fork_barrier)|kmpc_barrier"
        r"|<omp (barrier|task|idle|mutex).*>|<omp idle>|kmp_(launch_worker|launch_thread)"
        # Regions of Score-P, TAU and OMPT tools.
        r"|(?i:!\$omp (implicit )?barrier|openmp_(\w+_)?barrier|omp_?(implicit_|explicit_)?barrier)",
    ),
    # What a parallel region of Score-P spends itself is starting and joining its threads; the work stands in the loop below.
    (Activity.OMP_OVERHEAD, r"gomp_|goacc_|kmp|omp_(get|set|in)_|<omp overhead>|(?i:!\$omp parallel ?(@|$))"),
    (
        Activity.ALLOCATION,
        r"(libc_|hpcrun_|je_|tc_|mi_|tbb_?|scalable_|rtc_)?(malloc|calloc|realloc|free|cfree|memalign|posix_memalign|aligned_alloc|valloc|pvalloc)($|[^a-z])"
        r"|_?mid_memalign|int_(malloc|free|realloc|memalign)|operator (new|delete)|sysmalloc|unlink_chunk|malloc_consolidate|tcache_|arena_get|alloc_perturb"
        r"|libc_(malloc|free|calloc|realloc|memalign)|hpcrun_(malloc|free|calloc|realloc|memalign)_intercept|systrim|(default|glibc)_morecore|(m|s)?brk$|munmap|mmap(64)?$|mremap|madvise"
        r"|std::allocator<.*>::(de)?allocate|gnu_cxx::new_allocator",
    ),
    (
        Activity.PAGE_FAULT,
        r"(asm_|exc_|do_|do_sync_)*page_fault$|do_(user|kern)_addr_fault$|handle_mm_fault$|do_translation_fault$",
    ),
    # Text that is put together or taken apart in memory is no input or output, though stdio does it.
    (Activity.COMPUTE, r"v?a?sn?printf(_chk|_internal)?$|(isoc\d+_)?v?sscanf$"),
    (
        Activity.IO,
        r"(hpcrun_|libc_|new_|GI_|IO_new_|IO_)*(p?(read|write)(v|64|v64)?|f(read|write|puts|gets|putc|getc|printf|scanf|flush|sync|datasync|open|close|open64|seek|tell)(_unlocked)?"
        r"|fdatasync|sync_file_range|sync|syncfs|open(at)?(64)?|close|lseek(64)?|creat|(f|l)?stat(at)?(64)?|access|unlink(at)?|rename|mkdir|readdir(64)?|getdents(64)?|sendfile(64)?"
        r"|vf?printf(_internal)?|v?sn?printf(_internal)?|v?printf|fputs|puts|getline|getdelim|doallocbuf|file_(write|read|xsputn|xsgetn|overflow|underflow|doallocate|sync|seekoff)|do_write|do_flush|flush_all)$"
        r"|std::(basic_)?(filebuf|ofstream|ifstream|fstream|ostream|istream)|std::ostream|_?gfortran_(st_|transfer_|flush)|H5F|H5D|p?mpi_file_",
    ),
    (
        Activity.LOCK,
        r"(pthread_)?(mutex|spin|rwlock_(rd|wr|timed))_?(timed|clock|trylock|lock|wrlock|rdlock)|lll_(lock|unlock|mutex|futex)_?|pthread_rwlock|std::mutex::lock"
        r"|pthread_mutex_|tas_|acquire_lock|caml_master_lock|pthread_spin",
    ),
    (Activity.SLEEP, r"(clock_)?nanosleep|usleep|sleep$|std::this_thread::sleep|thrd_sleep"),
    (
        Activity.JOIN,
        r"(pthread_)?(timed|clock|try)?join|std::thread::join|wait(pid|4|id|3)?$|pthread_(timed|clock)?join_(ex|common|np)|thrd_join",
    ),
    (Activity.BLOCKED, rf"{BLOCKED}$"),
    (Activity.LIBRARY, rf"{KERNEL}$"),
    (
        Activity.BLOCKED,
        r"(e?p?poll(_p?wait2?)?|p?select|pselect64|futex.*|pthread_cond_.*|sem_(timed|clock)?wait.*|new_sem_wait.*|pthread_barrier_wait|(sig)(timed)?wait(info)?|pause"
        r"|accept4?|recv(from|msg|mmsg)?|connect|msgrcv|mq_(timed)?receive|io_getevents|eventfd_read|sched_yield|std::condition_variable.*|syscall)$"
        r"|futex_|pthread_cond_|cnd_wait",
    ),
    (
        Activity.COPY,
        r"(rep_)?mem(p?cpy|move|set|ccpy)|wmem(cpy|set)|bzero|bcopy|str(n?cpy|n?dup|cat)|stpcpy|libc_mem|std::(__)?copy|process_vm_(readv|writev)|copy_file_range",
    ),
    (
        Activity.GPU_LAUNCH,
        r"(?i:(cu|cuda|hip)_?(launch|module_?launch|graph_?launch|extmodulelaunch))|zeCommandListAppendLaunchKernel|clEnqueueNDRange|(cuda|hip)(Push|Pop)CallConfiguration",
    ),
    (
        Activity.GPU_SYNC,
        r"(cuda|hip)(Device|Stream|Event|Thread)Synchronize|cu(Ctx|Stream|Event)Synchronize|(cuda|hip)(Stream|Event)(Query|WaitEvent)|cu(Stream|Event)Query|zeFence|zeCommandQueueSync|zeEventHostSync|clFinish|clWaitFor",
    ),
    (
        Activity.GPU_COPY,
        r"(?i:(cuda|hip|cu)_?mem(cpy|set|prefetch))|zeCommandListAppendMemoryCopy|clEnqueue(Read|Write|Copy)",
    ),
    (
        Activity.GPU_API,
        r"(cuda|hip|cublas|cudnn|rocblas|miopen|hsa|roctracer)[A-Z_]|cu[A-Z][a-z]+[A-Z]|ze[A-Z]|cl[A-Z][a-z]+[A-Z]|omp_target|tgt_",
    ),
    (Activity.PROFILER, r"hpcrun_|hpctoolkit_|papi_|cupti|hpcfnbounds|monitor_"),
    (Activity.JIT, r"llvm::|orc::|PyEval_|_PyEval|julia_jit|jl_compile|nvrtc|nvJitLink"),
)

#: Base name of a load module → activity of all its frames that have no name of their own in the table above.
_MODULES: tuple[tuple[Activity, str], ...] = (
    (
        Activity.MPI,
        r"libp?mpi|mca_|libopen-(pal|rte)|libpmix|libprrte|liborte|libuc[pstm]|libfabric|libpsm|libinfinipath|libibverbs|librdmacm|lib(mlx[45]|efa|cxi|hfi1verbs|portals)\b|libevent|libhwloc|libpmi|orted$|prted$|hydra_|mpiexec|mpirun|libmpich|libmvapich",
    ),
    (Activity.OMP_WAIT, r"libgomp|libomp|libiomp|libkmp|libnvomp|libatomp"),
    (Activity.JIT, r"libLLVM|libclang-cpp|libgccjit|libnvrtc|libnvJitLink|libnvptxcompiler|libcling"),
    (Activity.MATH, r"libm[.-]|libmvec|libimf|libsvml|libquadmath"),
    (Activity.GPU_API, r"libcuda|libcudart|libamdhip|libhsa|libnv|libze_|libOpenCL|libcublas|libcudnn|librocblas"),
    (
        Activity.PROFILER,
        r"libhpcrun|libmonitor|libpapi|libpfm|libToolsInjection|libcupti|libnvperf|librocprofiler|libroctracer",
    ),
    (
        Activity.LIBRARY,
        r"libc[.-]|ld-linux|ld-|libpthread|librt[.-]|libdl[.-]|libstdc\+\+|libgcc_s|linux-vdso|\[vdso\]|libgfortran|libz[.-]|libresolv|libnss|libc\+\+|vmlinux|\[kernel",
    ),
)

#: libm functions as they appear when a file of libm was compiled with debug information.
_MATH = (
    r"(ieee754_)?(w_)?(exp|exp2|expm1|exp10|log|log2|log10|log1p|pow|sin|cos|tan|sincos|asin|acos|atan|atan2|sinh|cosh|tanh|asinh|acosh|atanh"
    r"|sqrt|cbrt|hypot|erf|erfc|tgamma|lgamma|fmod|remainder|floor|ceil|round|trunc|rint|nearbyint|fma|ldexp|frexp|modf|scalbn)(f|l|f128)?(_(fma4?|sse[0-9]*|avx[0-9]*|finite|ifunc|compat))*(@plt)?$"
)

#: What Nsight Systems calls the functions that it puts around those of the C library: `NSYS_OSRT_pthread_mutex_lock_1`.
_WRAPPER = re.compile(r"NSYS_OSRT_(\w+?)(_\d+)?$")
_ADDRESS_SUFFIX = re.compile(r" \[[^\]]*\]$")
_VERSION_SUFFIX = re.compile(r"@.*$|\.(constprop|isra|part|cold|localalias)\.?\d*$")


def base_name(name: str) -> str:
    """A frame's name without library suffix, symbol version and the underscores of internal aliases: `__GI___poll
    [libc.so.6]` → `poll`.
    """
    stem = _VERSION_SUFFIX.sub("", _ADDRESS_SUFFIX.sub("", name))
    if (wrapper := _WRAPPER.match(stem)) is not None:
        stem = wrapper[1]
    if stem.startswith("__GI_"):
        stem = stem[len("__GI_") :]
    return stem.lstrip("_") or stem


def _combined(table: tuple[tuple[Activity, str], ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<a{index}>{pattern})" for index, (_, pattern) in enumerate(table)))


_NAME_PATTERN = _combined(_NAMES)
_MODULE_PATTERN = _combined(_MODULES)
_MATH_PATTERN = re.compile(_MATH)
_OMP_MODULE = re.compile(r"libgomp|libomp|libiomp|libkmp")
#: What a thread may be blocked for; others compute until something else stops them.
_MAY_BLOCK = (
    Activity.IO,
    Activity.MPI,
    Activity.MPI_SETUP,
    Activity.OMP_WAIT,
    Activity.OMP_LOCK,
    Activity.OMP_OVERHEAD,
    Activity.LOCK,
    Activity.SLEEP,
    Activity.JOIN,
    Activity.GPU_SYNC,
    Activity.GPU_COPY,
    Activity.GPU_API,
    Activity.HELPER,
)
#: What threads without any code of the program do for the library that started them.
_OF_HELPERS = (
    Activity.MPI,
    Activity.BLOCKED,
    Activity.SLEEP,
    Activity.LOCK,
    Activity.GPU_API,
    Activity.LIBRARY,
    Activity.IO,
)
_OMP_FAMILY = (Activity.OMP_WAIT, Activity.OMP_LOCK, Activity.OMP_OVERHEAD)
_CASELESS = ("MPI_", "PMPI_", "MPIX_", "MPIR_", "MPID_", "MPIDI_", "MPIDU_", "MPL_", "GOMP_", "GOACC_", "mpi_", "pmpi_")
_UNKNOWN = ("<unknown procedure>", "<unknown function>")
#: Names that nobody gives to a function of another meaning: these are the library's even where the program brings its own
#: copy with source lines (an interposed allocator, a static MPI). `mpi_exchange`, `free_grid` or `kmp_search` are not.
_INTERFACE = re.compile(
    r"P?MPI_[A-Z]|GOMP_|GOACC_|(je_|tc_|mi_)?(malloc|calloc|realloc|free|cfree|memalign|posix_memalign|aligned_alloc)$"
    r"|operator (new|delete)|!\$omp "
)

#: `__fprintf`, `_IO_new_file_write`, glibc's `lll_mutex_lock_optimized`; procedures of Fortran modules (`__solver_MOD_step`) are the program's.
_RESERVED = re.compile(r"(___?(?!\w*_MOD_)|_IO_|lll_)[A-Za-z]")
_INNER = re.compile(r"__GI_|_IO_[a-z]|_*dl_[a-z]|_*dl(open|sym|close|error)(_|$)")
#: Where the dynamic loader comes in when a function of a library is called the first time.
_BINDING = re.compile(r"_dl_runtime_resolve|_dl_fixup$")
#: Names of two interfaces whose prefix is theirs alone.
_STANDARD = re.compile(r"P?MPI_[A-Z]|H5[A-Z]{1,2}[a-z]")


def activity_of_name(name: str) -> Activity | None:
    """The activity that a frame's name stands for, None for names that say nothing (the program's own functions)."""
    stem = base_name(name)
    match = _NAME_PATTERN.match(stem.lower() if stem.startswith(_CASELESS) else stem)
    if match is not None and match.lastgroup is not None:
        return _NAMES[int(_group(match)[1:])][0]
    return None


def _group(match: re.Match[str]) -> str:
    """Name of the alternative that matched; inner groups of a pattern do not count."""
    return next(name for name, text in match.groupdict().items() if text is not None)


def activity_of_module(path: str) -> Activity | None:
    """The activity of code in a load module that is known for one thing; None for programs and other libraries."""
    match = _MODULE_PATTERN.match(path.rsplit("/", 1)[-1])
    return None if match is None else _MODULES[int(_group(match)[1:])][0]


@dataclass(frozen=True, slots=True, eq=False)
class Activities:
    """What every node does.

    `kind[i]` is an Activity; `call[i]` the node of the public call that node i is part of (−1 in the program's code).
    `site[i]` is the closest node of the program's own code at or above i (for a library call the line that makes it; for
    code of the C++ standard library's templates the line that uses it), `caller[i]` the function that holds it; −1 if
    there is none: a library's own thread.
    """

    kind: NDArray[np.uint8]
    call: IntArray
    site: IntArray
    caller: IntArray

    def of(self, *activities: Activity) -> BoolArray:
        """True for nodes with one of the given activities."""
        return np.isin(self.kind, activities)


#: How instrumentation of OpenMP (OPARI2: Score-P, TAU) begins the names of regions: `!$omp for @relax.c:40`.
DIRECTIVE = "!$omp "

_USER = 255  # own code: no activity from name or module


def classify(tree: CallTree) -> Activities:
    """The activity of every node of `tree`.

    Names of frames are looked at once per distinct name and module, nodes in vectorised steps.
    """
    n = len(tree)
    module_table = np.array([_code(activity_of_module(path)) for path in tree.modules] + [_USER], dtype=np.uint8)
    names = tree.names
    name_table = np.array([_code(activity_of_name(name)) for name in names] + [_USER], dtype=np.uint8)
    by_module = module_table[tree.module]
    own = name_table[tree.name]
    # A name decides where it can be trusted: in libraries, and for placeholders; a program's own `read` or `copy` is
    # not libc's.
    library = by_module != _USER
    # A PLT stub or an interposed allocator belongs to the program's file and is still the library's function.
    unambiguous = np.isin(
        own,
        (
            Activity.MPI,
            Activity.MPI_SETUP,
            *_OMP_FAMILY,
            Activity.ALLOCATION,
            Activity.PAGE_FAULT,
            Activity.GPU_LAUNCH,
            Activity.GPU_SYNC,
            Activity.GPU_COPY,
            Activity.GPU_API,
        ),
    )
    placeholder = np.isin(tree.kind, (NodeKind.PLACEHOLDER, NodeKind.GPU_OP, NodeKind.GPU_KERNEL))
    stub_table = np.array([name.endswith("@plt") or _is_math(name) for name in names] + [False])
    stub = stub_table[tree.name]
    outside = ~_has_file(tree)
    interface_table = np.array([bool(_INTERFACE.match(base_name(name))) for name in names] + [False])
    unambiguous &= outside | interface_table[tree.name]
    # Regions of instrumentation have no load modules: MPI's and HDF5's own input and output goes by its name.
    standard_table = np.array([bool(_STANDARD.match(base_name(name))) for name in names] + [False])
    # So do names that C reserves for the library (C17 7.1.3), whose load module perf leaves out where lines are shown.
    internal_table = np.array([bool(_RESERVED.match(name)) for name in names] + [False])
    unambiguous |= standard_table[tree.name] | internal_table[tree.name]
    trusted = (library | placeholder | unambiguous | (stub & outside)) & (own != _USER)
    math_table = np.array([_is_math(name) for name in names] + [False])
    frame = np.where(trusted, own, by_module)
    # The dynamic loader's and the C library's inner functions, whatever they do.
    inner = np.array([bool(_INNER.match(name)) for name in names] + [False])[tree.name] & outside
    frame[inner & (frame == _USER)] = Activity.LIBRARY
    frame[math_table[tree.name] & (outside | (by_module == Activity.MATH))] = Activity.MATH
    # Transparent placeholders hold the region's own code.
    transparent_names = [
        i
        for i, name in enumerate(names)
        if name.startswith(("<omp impl", "<omp expl", "<omp work", "<omp region", "<program root", "<thread root"))
    ]
    frame[np.isin(tree.name, transparent_names) & placeholder] = _USER
    # System libraries that only pass control on (start_thread, qsort, __libc_start_main) count as the program's code at
    # the
    # top of a thread, where nothing of the program has been seen yet.
    frame[tree.kind == NodeKind.ENTRY] = _USER

    is_frame = np.isin(
        tree.kind,
        (
            NodeKind.FUNCTION,
            NodeKind.INLINED,
            NodeKind.ENTRY,
            NodeKind.PLACEHOLDER,
            NodeKind.GPU_OP,
            NodeKind.GPU_KERNEL,
            NodeKind.REGION,
        ),
    )
    is_frame |= (tree.kind == NodeKind.INSTRUCTION) & (tree.relation != Relation.LEXICAL)
    handler = is_frame & (frame == Activity.PAGE_FAULT)
    if handler.any():  # the kernel calls nothing of the program, whatever its functions are called
        frame[(tree.nearest(handler) >= 0) & (frame == _USER)] = Activity.LIBRARY
    own_code = is_frame & (frame == _USER)
    above = np.where(tree.parent >= 0, tree.parent, 0)
    frames_above = tree.nearest(is_frame)[above]
    starts = is_frame & ~own_code & ((tree.parent < 0) | (frames_above < 0) | own_code[np.maximum(frames_above, 0)])
    anchor = tree.nearest(own_code | starts)
    in_library = (anchor >= 0) & starts[np.maximum(anchor, 0)]
    call = np.where(in_library, anchor, np.int32(-1)).astype(np.int32)
    kind = np.full(n, Activity.COMPUTE, dtype=np.uint8)
    kind[in_library] = frame[call[in_library]]
    # A library frame without a meaning of its own takes that of the first frame below it that has one (qsort → malloc).
    nearest_frame = tree.nearest(is_frame)
    vague = in_library & np.isin(kind, (Activity.LIBRARY, Activity.PROFILER))
    deeper = frame[np.maximum(nearest_frame, 0)]
    kind[vague & ~np.isin(deeper, (_USER, Activity.LIBRARY))] = deeper[
        vague & ~np.isin(deeper, (_USER, Activity.LIBRARY))
    ]
    _refine_openmp(tree, kind, call, frame, nearest_frame)
    program = ~in_library & (tree.kind != NodeKind.ENTRY) & (tree.kind != NodeKind.PLACEHOLDER)
    directive_table = np.array([name.startswith(DIRECTIVE) for name in names] + [False])
    program &= ~(directive_table[tree.name] & (tree.kind == NodeKind.REGION))  # a part of the function around it
    program &= ~template_library(tree)[np.maximum(tree.function, 0)]
    starters = _starters(tree, is_frame, frames_above)
    program &= ~starters[np.maximum(tree.function, 0)]
    site = tree.nearest(program)
    if starters.any():
        site[tree.nearest(starters) > site] = -1
    caller = np.where(site >= 0, tree.function[np.maximum(site, 0)], np.int32(-1)).astype(np.int32)
    # A flat profile has no callers at all: there a call that stands alone is the program's.
    alone = in_library & (tree.parent[np.maximum(call, 0)] < 0) & (tree.module[np.maximum(call, 0)] < 0)
    alone &= np.isin(tree.kind[np.maximum(call, 0)], (NodeKind.FUNCTION, NodeKind.REGION))
    orphan = in_library & (caller < 0) & ~alone & ~np.isin(kind, (*_OMP_FAMILY, Activity.GPU))
    kind[orphan & np.isin(kind, _OF_HELPERS)] = Activity.HELPER
    _refine_behind(tree, kind, call, caller)
    device = np.isin(tree.kind, (NodeKind.GPU_OP, NodeKind.GPU_KERNEL))
    if device.any():
        kind[tree.nearest(device) >= 0] = Activity.GPU
    return Activities(kind=kind, call=call, site=site, caller=caller)


def is_outlined(name: str) -> bool:
    """True for the body of an OpenMP region that the compiler made a function of its own."""
    return "._omp_fn." in name or ".omp_outlined" in name


#: What stands above `main` and above the first function of a thread.
STARTERS = frozenset(
    {
        "_start",
        "__libc_start_main",
        "__libc_start_main_impl",
        "__libc_start_call_main",
        "clone",
        "__clone",
        "clone3",
        "__clone3",
        "start_thread",
    }
)


def _starters(tree: CallTree, is_frame: BoolArray, above: IntArray) -> BoolArray:
    """True for the frames at the top of a stack that only start the program or a thread: a `clone` further down is the program's own."""
    named = is_frame & tree.named(*STARTERS)
    found = np.zeros(len(tree), dtype=bool)
    top = (above < 0) | ((tree.kind == NodeKind.REGION) & (tree.parent < 0))[np.maximum(above, 0)]
    for _ in range(4):
        step = named & (top | found[np.maximum(above, 0)])
        if np.array_equal(step, found):
            break
        found = step
    return found


#: Folders of the C++ standard library's headers.
_STANDARD_HEADERS = (
    "/include/c++/",
    "/bits/stl_",
    "/c++/v1/",
    "/ext/new_allocator",
    "/ext/aligned_buffer",
    "/bits/char_traits",
)


def template_library(tree: CallTree) -> BoolArray:
    """True for functions of the C++ standard library that were compiled into the program from its headers."""
    files = np.array([any(part in path for part in _STANDARD_HEADERS) for path in tree.files] + [False])
    names = np.array(
        [name.startswith(("std::", "__gnu_cxx::", "void std::", "bool std::")) for name in tree.names] + [False]
    )
    return np.asarray(files[tree.file] | names[tree.name])


def _code(activity: Activity | None) -> int:
    return _USER if activity is None else int(activity)


def _is_math(name: str) -> bool:
    return bool(_MATH_PATTERN.match(base_name(name)))


def _has_file(tree: CallTree) -> BoolArray:
    """True for nodes whose source file is a real path, which the program's own functions have when compiled with -g."""
    table = np.array([not path.startswith(("[", "<")) for path in tree.files] + [False])
    return np.asarray(table[tree.file])


def _refine_behind(tree: CallTree, kind: NDArray[np.uint8], call: IntArray, caller: IntArray) -> None:
    """Tell why threads blocked, or ran in the kernel, somewhere behind a sample, in place: for what the library does in which the
    sample is; and what blocks in the body of a parallel region waits for the other threads. Where the loader looks for a function
    that is called the first time, it waits for the library's file.
    """
    blocked, kernel = tree.named(BLOCKED), tree.named(KERNEL)
    if not blocked.any() and not kernel.any():
        return
    around = kind[np.maximum(tree.parent, 0)]
    # Right below the process: nobody knows where.
    nowhere = (caller < 0) | (tree.parent[np.maximum(tree.parent, 0)] < 0)
    binding = np.array([bool(_BINDING.match(name)) for name in tree.names] + [False])[tree.name[np.maximum(call, 0)]]
    alone = np.where(nowhere | (binding & (call >= 0)), Activity.HELPER, Activity.BLOCKED)
    kind[blocked] = np.where(np.isin(around, _MAY_BLOCK), around, alone)[blocked]
    kind[kernel] = np.where(np.isin(around, (*_MAY_BLOCK, Activity.ALLOCATION)), around, Activity.LIBRARY)[kernel]
    region = np.array([is_outlined(name) for name in tree.names] + [False])[tree.name[np.maximum(caller, 0)]]
    kind[blocked & (kind == Activity.BLOCKED) & region & (caller >= 0)] = Activity.OMP_WAIT


def _refine_openmp(
    tree: CallTree, kind: NDArray[np.uint8], call: IntArray, frame: NDArray[np.uint8], nearest_frame: IntArray
) -> None:
    """Tell waiting, locks and overhead of an OpenMP runtime apart, in place.

    The innermost frame with a telling name decides. A stripped runtime shows as procedures without names: they wait
    (the runtime hardly does anything else for long), for a lock if their caller also calls the runtime's lock
    functions.
    """
    inside = np.isin(kind, _OMP_FAMILY)
    if not inside.any():
        return
    telling = np.isin(frame, (Activity.OMP_LOCK, Activity.OMP_WAIT))
    unnamed_table = np.array([name.startswith(_UNKNOWN) for name in tree.names] + [True])
    unnamed = unnamed_table[tree.name]
    named_lock = telling & (frame == Activity.OMP_LOCK) & (nearest_frame == np.arange(len(tree)))
    lock_at = tree.nearest(named_lock)
    locked = inside & (lock_at >= 0) & (call <= lock_at)
    kind[inside] = frame[np.maximum(nearest_frame, 0)][inside]
    other = inside & ~np.isin(kind, _OMP_FAMILY)  # sched_yield, futex, syscall, memset below the runtime
    kind[other] = Activity.OMP_WAIT
    kind[locked] = Activity.OMP_LOCK
    # Unnamed procedures called directly by code that also enters critical sections.
    owner = tree.function
    starts = np.flatnonzero(call == np.arange(len(tree)))
    callers = owner[np.maximum(tree.parent[starts], 0)]
    lock_callers = np.unique(tree.name[callers[named_lock[starts]]])
    suspicious = starts[
        unnamed[starts] & inside[starts] & np.isin(tree.name[callers], lock_callers) & (tree.name[callers] >= 0)
    ]
    chosen = np.zeros(len(tree) + 1, dtype=bool)
    chosen[suspicious] = True
    kind[chosen[np.where(call >= 0, call, len(tree))]] = Activity.OMP_LOCK
