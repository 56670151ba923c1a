"""What the names of functions and load modules tell of what the time in them is spent on."""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache


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
    LIBRARY = 22  #: in a library of the system, or a package of Python, for none of the reasons above
    PAGE_FAULT = 23  #: in the kernel, which supplies a page that the program touches


#: In the OpenMP runtime, in it but for its locks, and in that of GPUs.
OPENMP = (Activity.OMP_WAIT, Activity.OMP_LOCK, Activity.OMP_OVERHEAD)
OMP_WAITING = (Activity.OMP_WAIT, Activity.OMP_OVERHEAD)
GPU_RUNTIME = (Activity.GPU_LAUNCH, Activity.GPU_SYNC, Activity.GPU_COPY, Activity.GPU_API)
#: What a thread may be blocked for; others compute until something else stops them.
MAY_BLOCK = (
    *OPENMP, Activity.MPI, Activity.MPI_SETUP, Activity.GPU_SYNC, Activity.GPU_COPY, Activity.GPU_API, Activity.IO,
    Activity.LOCK, Activity.SLEEP, Activity.JOIN, Activity.HELPER,
)  # fmt: skip
#: Each activity as a reader is told it.
ACTIVITY_WORDS = {
    Activity.COMPUTE: "computing",
    Activity.MATH: "math library",
    Activity.COPY: "copying memory",
    Activity.ALLOCATION: "memory allocation",
    Activity.IO: "input and output",
    Activity.MPI: "MPI",
    Activity.MPI_SETUP: "starting and ending MPI",
    Activity.OMP_WAIT: "waiting in OpenMP",
    Activity.OMP_LOCK: "OpenMP locks",
    Activity.OMP_OVERHEAD: "OpenMP overhead",
    Activity.LOCK: "locks",
    Activity.SLEEP: "sleeping",
    Activity.BLOCKED: "waiting for events",
    Activity.JOIN: "waiting for threads to end",
    Activity.GPU_LAUNCH: "launching GPU work",
    Activity.GPU_SYNC: "waiting for the GPU",
    Activity.GPU_COPY: "copying to and from the GPU",
    Activity.GPU_API: "other calls of the GPU runtime",
    Activity.JIT: "compiling at run time",
    Activity.HELPER: "threads of libraries",
    Activity.PROFILER: "the profiler",
    Activity.GPU: "on the GPU",
    Activity.LIBRARY: "libraries",
    Activity.PAGE_FAULT: "page faults",
}


#: The places of a thread that blocked, or ran in the kernel, somewhere behind its last sample.
BLOCKED, KERNEL = "<blocked>", "<kernel>"

#: How instrumentation of OpenMP (OPARI2: Score-P, TAU) begins the names of regions: `!$omp for @relax.c:40`.
DIRECTIVE = "!$omp "

#: The functions with which a thread begins that is not the process's first, and what stands above `main` as well.
THREAD_STARTERS = frozenset({"clone", "__clone", "clone3", "__clone3", "start_thread"})
STARTERS = THREAD_STARTERS | {"_start", "__libc_start_main", "__libc_start_main_impl", "__libc_start_call_main"}

#: Functions on files in the libraries of Go, Java, Rust and Python, whose names tell whose they are.
_FILES = (
    r"os\.(\(\*File\)\.|(Open|Create|Read|Write|Stat|Remove)(File)?$)"
    r"|java[./]io[./](File|RandomAccessFile)\w*\.|sun[./]nio[./]ch[./]File\w*\.|<?std::fs::"
    r"|io\.(FileIO|Buffered\w+|TextIOWrapper)\.(read|write|flush|close)\w*|os\.(read|write|open|fsync|fdatasync|sync)$"
)

#: Rust's locks, and what waits for a condition.
_RUST_LOCKS, _RUST_WAITS = r"<?std::sys::(\w+::)*(mutex|rwlock)::", r"<?std::sys::(\w+::)*condvar::"
#: How processes of Python's multiprocessing wait for each other's messages.
_MESSAGES = r"SemLock\.(__enter__|acquire)$|_?Connection(Base)?\._?(recv|poll)\w*$"
#: What Go's libraries call for files as for sockets, and its runtime; compilers of C append other words to a function `runtime`.
_GO = r"internal/poll\.|syscall\.|runtime\.(?!lto_priv|llvm)[a-zA-Z(]"

#: Where functions of Python's library wait, by module and name, however their class is told: for a thread or process that the program
#: started (its end, or its result), or for an event.
_PYTHON_WAITS: tuple[tuple[Activity, str, str], ...] = (
    (Activity.JOIN, "concurrent/futures/_base.py", r"result|exception|wait|as_completed"),
    (Activity.JOIN, "multiprocessing/pool.py", r"get|wait|next"),
    (Activity.JOIN, "multiprocessing/process.py", r"join"),
    (Activity.JOIN, "threading.py", r"join|_wait_for_tstate_lock"),
    (Activity.BLOCKED, "threading.py", r"wait"),
    (Activity.BLOCKED, "queue.py", r"get|put"),
    (Activity.BLOCKED, "multiprocessing/queues.py", r"get|put"),
)

#: Name of a frame (without library suffix, versions and leading underscores) → activity. First match wins.
_NAMES: tuple[tuple[Activity, str], ...] = (
    # Built-in functions of Python, as its profilers name them.
    (Activity.SLEEP, r"<built-in method time\.sleep>"),
    (Activity.LOCK, r"<method 'acquire' of '_(thread|multiprocessing)\.\w+' objects>|lock\.acquire$"),
    # Python's threading tells what is waited for; a lock that the program takes itself is one.
    (Activity.JOIN, r"Thread\.(join|_wait_for_tstate_lock)$"),
    (
        Activity.BLOCKED,
        rf"(Condition|Event|Barrier|(Bounded)?Semaphore|(Simple|Lifo|Priority|Joinable)?Queue)\.(wait|acquire|get|put)$|blas_thread_server$|{_MESSAGES}",
    ),
    (Activity.LOCK, r"(lock_)?PyThread_acquire_lock|take_gil"),
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
    # mpi4py starts MPI where it is imported.
    (Activity.MPI_SETUP, r"p?mpi_(init|finalize|init_thread)(_f08)?_*(\(.*\))?$|mpi_bootstrap$"),
    # Inside Open MPI and MPICH: MPI_Finalize may jump there and leave no frame of its own.
    (Activity.MPI_SETUP, r"(ompi(_mpi)?|mpir|mpii|internal)_(init|finalize|init_thread)(_f)?$"),
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
        r"|std::allocator<.*>::(de)?allocate|gnu_cxx::new_allocator|runtime\.mallocgc$",
    ),
    (
        Activity.PAGE_FAULT,
        r"(asm_|exc_|do_|do_sync_)*page_fault$|do_(user|kern)_addr_fault$|handle_mm_fault$|do_translation_fault$",
    ),
    # Text that is put together or taken apart in memory is no input or output, though stdio does it.
    (Activity.COMPUTE, r"v?a?sn?printf(_chk|_internal)?$|(isoc\d+_)?v?sscanf$"),
    (
        Activity.IO,
        r"(hpcrun_|libc_|new_|GI_|IO_new_|IO_|((x64_|ia32_|arm64_|do_|k)?sys|vfs)_)*(p?(read|write)(v|64|v64)?|f(read|write|puts|gets|putc|getc|printf|scanf|flush|sync|datasync|open|close|open64|seek|tell)(_unlocked)?"
        r"|fdatasync|sync_file_range|sync|syncfs|open(at)?(64)?|close|lseek(64)?|creat|(f|l)?stat(at)?(64)?|access|unlink(at)?|rename|mkdir|readdir(64)?|getdents(64)?|sendfile(64)?"
        r"|vf?printf(_internal)?|v?sn?printf(_internal)?|v?printf|fputs|puts|getline|getdelim|doallocbuf|file_(write|read|xsputn|xsgetn|overflow|underflow|doallocate|sync|seekoff)|do_write|do_flush|flush_all)$"
        r"|std::(basic_)?(filebuf|ofstream|ifstream|fstream|ostream|istream)|std::ostream|_?gfortran_(st_|transfer_|flush)|H5F|H5D|p?mpi_file_"
        # The libraries of Go, Java, Rust and Python.
        rf"|{_FILES}",
    ),
    (Activity.LOCK, _RUST_LOCKS),
    (Activity.BLOCKED, _RUST_WAITS),
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
    (Activity.LIBRARY, rf"{KERNEL}$|{_GO}|(pthread|thrd)_create"),
    (
        Activity.BLOCKED,
        r"(e?p?poll(_p?wait2?)?|p?select|pselect64|futex.*|pthread_cond_.*|sem_(timed|clock)?wait.*|new_sem_wait.*|pthread_barrier_wait|(sig)(timed)?wait(info)?|pause"
        r"|accept4?|recv(from|msg|mmsg)?|connect|msgrcv|mq_(timed)?receive|io_getevents|eventfd_read|sched_yield|std::condition_variable.*|syscall)$"
        r"|futex_|pthread_cond_|cnd_wait",
    ),
    (
        Activity.COPY,
        r"(intel_\w+_|rep_)?mem(p?cpy|move|set|ccpy)|wmem(cpy|set)|bzero|bcopy|str(n?cpy|n?dup|cat)|stpcpy|libc_mem|std::(__)?copy|process_vm_(readv|writev)|copy_file_range",
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
        r"(cuda|hip|cublas|cudnn|rocblas|miopen|hsa|roctracer)[A-Z_]|cudart(\d+$|::)|cu[A-Z][a-z]+[A-Z]|cuInit$|ze[A-Z]|cl[A-Z][a-z]+[A-Z]"
        r"|omp_target|tgt_|pgi_uacc_|(ur|pi)(Enqueue|Queue|Event|USM|Program|Kernel|Context|Device|Adapter|Platform)[A-Z]\w*$",
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
    (
        Activity.JIT,
        r"libLLVM|libclang-cpp|libgccjit|libnvrtc|libnvJitLink|libnvptxcompiler|libcling|libnvidia-ptxjit|libamd_comgr|libhiprtc",
    ),
    (Activity.MATH, r"libm[.-]|libmvec|libimf|libsvml|libquadmath|libnvcpumath"),
    (
        Activity.GPU_API,
        r"libcuda|libcudart|libamdhip|libhsa|libnv(?!c[.-]|f[.-]|cpumath|perf)|libze_|libOpenCL|libcublas|libcudnn|librocblas|libdrm|libacc(host|device)"
        r"|libsycl|libur_|libpi_|libomptarget",
    ),
    (
        Activity.PROFILER,
        r"libhpcrun|libmonitor|libpapi|libpfm|libToolsInjection|libcupti|libnvperf|librocprofiler|libroctracer",
    ),
    (
        Activity.LIBRARY,
        r"libc[.-]|ld-linux|ld-|libpthread|librt[.-]|libdl[.-]|libstdc\+\+|libgcc_s|linux-vdso|\[vdso\]|libgfortran|libz[.-]|libresolv|libnss|libc\+\+|libnv[cf][.-]|[\[<]?(vmlinux|kernel)",
    ),
)

#: Where Python keeps its own modules.
_PYTHON = re.compile(r"(^|/)python\d[\d.]*/[a-z_/]+\.py$")

#: Libraries of the system's packages (Filesystem Hierarchy Standard 3.0, 4.6); not plug-ins, and not the interpreters, which run a program.
_INSTALLED = re.compile(
    r"/(?:usr/)?lib(?:32|64)?/(?:[\w-]+-linux-gnu/)?lib(?!python|julia|jvm|perl|ruby|R\.so)[^/]+\.so[.\d]*$"
)

#: How names of functions for vectors begin, underscores apart (x86-64 vector function ABI, 2.6: `_ZGVdN4vv_pow`).
VECTOR_ABI = re.compile(r"ZGV[a-e][MN]\d+[vlu]\w*?_")
#: libm functions as they appear when a file of libm was compiled with debug information.
_MATH = (
    rf"({VECTOR_ABI.pattern})?(ieee754_)?(w_)?(exp|exp2|expm1|exp10|log|log2|log10|log1p|pow|sin|cos|tan|sincos|asin|acos|atan|atan2|sinh|cosh|tanh|asinh|acosh|atanh"
    r"|sqrt|cbrt|hypot|erf|erfc|tgamma|lgamma|fmod|remainder|floor|ceil|round|trunc|rint|nearbyint|fma|ldexp|frexp|modf|scalbn)(f|l|f128)?(_(fma4?|sse[0-9]*|avx[0-9]*|skx|knl|finite|ifunc|compat))*(@plt)?$"
)

#: What Nsight Systems calls the functions that it puts around those of the C library: `NSYS_OSRT_pthread_mutex_lock_1`.
_WRAPPER = re.compile(r"NSYS_OSRT_(\w+?)(_\d+)?$")
_ADDRESS_SUFFIX = re.compile(r" \[[^\]]*\]$")
_VERSION_SUFFIX = re.compile(r"@.*$|\.(constprop|isra|part|cold|localalias)\.?\d*$")


@lru_cache(maxsize=8192)  # the rules ask for the same names again and again
def base_name(name: str) -> str:
    """A frame's name without library suffix, symbol version and the underscores of internal aliases: `__GI___poll
    [libc.so.6]` → `poll`.
    """
    # Looking for what a suffix must have is cheap; the patterns are not, for names of megabytes.
    stem = _ADDRESS_SUFFIX.sub("", name) if "]" in name else name
    if "@" in stem or "." in stem:
        stem = _VERSION_SUFFIX.sub("", stem)
    if (wrapper := _WRAPPER.match(stem)) is not None:
        stem = wrapper[1]
    if stem.startswith("__GI_"):
        stem = stem[len("__GI_") :]
    return stem.lstrip("_") or stem


#: What libm and libc append to the names of a function's versions for processors.
_VERSIONS = re.compile(r"(_(fma4?|finite|evex|avx(2|512)?|sse\w*|unaligned|erms|rtm|generic|movbe))+$")


def public_name(name: str) -> str:
    """The name by which a program calls a function of libm or libc: `__ieee754_pow_fma` → `pow`, `__GI___libc_malloc` → `malloc`."""
    return _VERSIONS.sub("", base_name(name).removeprefix("ieee754_").removeprefix("libc_").removeprefix("w_"))


def _combined(table: tuple[tuple[Activity, str], ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<a{index}>{pattern})" for index, (_, pattern) in enumerate(table)))


_NAME_PATTERN = _combined(_NAMES)
_MODULE_PATTERN = _combined(_MODULES)
_MATH_PATTERN = re.compile(_MATH)
_CASELESS = ("MPI_", "PMPI_", "MPIX_", "MPIR_", "MPID_", "MPIDI_", "MPIDU_", "MPL_", "GOMP_", "GOACC_", "mpi_", "pmpi_")


def activity_of_name(name: str) -> Activity | None:
    """The activity that a frame's name stands for, None for names that say nothing (the program's own functions)."""
    stem = base_name(name)
    match = _NAME_PATTERN.match(stem.lower() if stem.startswith(_CASELESS) else stem)
    return None if match is None else _matched(_NAMES, match)


def python_wait(name: str, file: str) -> Activity | None:
    """What a function of Python's library waits for; None for one that does something else, or is not of that library."""
    plain = name.rpartition(".")[2]
    for kind, module, names in _PYTHON_WAITS:
        if file.endswith(module) and re.fullmatch(names, plain) and (file == module or _PYTHON.search(file)):
            return kind
    return None


def _matched(table: tuple[tuple[Activity, str], ...], match: re.Match[str]) -> Activity:
    """The activity of the alternative that matched: of all groups the outermost is closed last."""
    return table[int(str(match.lastgroup)[1:])][0]


def activity_of(name: str, module: str) -> Activity | None:
    """The activity that a frame's name stands for, else that of its load module."""
    found = activity_of_name(name)
    return activity_of_module(module) if found is None else found


def activity_of_module(path: str) -> Activity | None:
    """The activity of code in a load module that is known for one thing, or that the system's packages brought; None for programs and their
    own libraries.
    """
    match = _MODULE_PATTERN.match(path.rsplit("/", 1)[-1])
    if match is not None:
        return _matched(_MODULES, match)
    return Activity.LIBRARY if _INSTALLED.match(path) else None


#: Names that nobody gives to a function of another meaning: these are the library's even where the program brings its own
#: copy with source lines (an interposed allocator, a static MPI). `mpi_exchange`, `free_grid` or `kmp_search` are not.
_INTERFACE = re.compile(
    r"P?MPI_[A-Z]|GOMP_|GOACC_|(je_|tc_|mi_)?(malloc|calloc|realloc|free|cfree|memalign|posix_memalign|aligned_alloc)$"
    r"|operator (new|delete)|!\$omp |cudart::"
)
#: `__fprintf`, `_IO_new_file_write`, glibc's `lll_mutex_lock_optimized`; procedures of Fortran modules (`__solver_MOD_step`) are the program's.
_RESERVED = re.compile(r"(___?(?!\w*_MOD_)|_IO_|lll_)[A-Za-z]")
_INNER = re.compile(r"__GI_|_IO_[a-z]|_*dl_[a-z]|_*dl(open|sym|close|error)(_|$)")
_BINDING = re.compile(r"_dl_runtime_resolve|_dl_fixup$")
_SYSTEM = re.compile(r"[\[<]?(vmlinux|kernel|vdso)|ld-|ld\.so|linux-vdso|libdl[.-]")
_C_RUNTIME = re.compile(rf"{_SYSTEM.pattern}|lib(c|pthread)[.-]|libstdc\+\+|libc\+\+|libgcc_s|//anon$")
_STANDARD = re.compile(
    rf"P?MPI_[A-Z]|blas_thread_server$|take_gil$|Thread\.(join|_wait_for)|Condition\.wait$|H5[A-Z]{{1,2}}[a-z]|{_FILES}|{_GO}|{_RUST_LOCKS}|{_RUST_WAITS}|{_MESSAGES}"
)
#: Where a thread enters the kernel by a system call: x86-64, Arm, POWER.
_SYSTEM_CALL = re.compile(
    r"entry_SYSCALL|do_syscall_64|el0t?(_64)?_(svc|sync)|system_call(_exception|_common)?$|(internal/|runtime/)+syscall\.Syscall"
)


def is_math(name: str) -> bool:
    """True for a function of libm, whatever version of it."""
    return bool(_MATH_PATTERN.match(base_name(name)))


def is_for_vectors(name: str) -> bool:
    """True for a function that nobody calls but the compiler, for several values at once: mathematical ones are libmvec's."""
    return "ZGV" in name and bool(VECTOR_ABI.match(base_name(name)))


def is_interface(name: str) -> bool:
    """True for the name of a library's function that no program gives to a function of another meaning."""
    return bool(_INTERFACE.match(base_name(name)))


def is_librarys_alone(name: str) -> bool:
    """True for the prefixes of MPI and HDF5, functions on files of other languages, and for names that C reserves for the library (C17 7.1.3)."""
    return bool(_STANDARD.match(base_name(name)) or _RESERVED.match(name))


def is_system_call(name: str) -> bool:
    """True where a thread enters the kernel by a system call; all below is the kernel's."""
    return bool(_SYSTEM_CALL.match(base_name(name)))


def is_inner(name: str) -> bool:
    """True for what the C library and the dynamic loader call themselves, whatever it does."""
    return bool(_INNER.match(name))


def is_binding(name: str) -> bool:
    """True where the dynamic loader comes in when a function of a library is called the first time."""
    return bool(_BINDING.match(name))


def is_system(path: str) -> bool:
    """True for the load modules of the kernel and of the dynamic loader."""
    return bool(_SYSTEM.match(path.rsplit("/", 1)[-1]))


def is_of_c_library(path: str) -> bool:
    """True for the load modules of the C and C++ library, of the kernel and of the dynamic loader."""
    return bool(_C_RUNTIME.match(path.rsplit("/", 1)[-1]))


def is_fortran_library(path: str) -> bool:
    """True for the load module of GNU Fortran's library."""
    return path.rsplit("/", 1)[-1].startswith("libgfortran")


def is_outlined(name: str) -> bool:
    """True for the body of an OpenMP region that the compiler made a function of its own."""
    return "._omp_fn." in name or ".omp_outlined" in name
