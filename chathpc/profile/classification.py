"""What each node of a host call tree is doing: computing, or being in some runtime, for which reason and through which
call.

A call path is a row of frames of the program's own code, then frames of libraries: `main → solve → MPI_Allreduce →
opal_progress → …`. The outermost library frame below the program's code, the *public call*, says what the program asked
for, and everything below it is that library's business, until it calls back into the program's code (an OpenMP region,
a comparison function).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chathpc.profile.activity import (
    BLOCKED,
    DIRECTIVE,
    GPU_RUNTIME,
    KERNEL,
    MAY_BLOCK,
    OPENMP,
    STARTERS,
    THREAD_STARTERS,
    Activity,
    activity_of_module,
    activity_of_name,
    base_name,
    is_binding,
    is_for_vectors,
    is_fortran_library,
    is_inner,
    is_interface,
    is_librarys_alone,
    is_math,
    is_of_c_library,
    is_outlined,
    is_system_call,
    python_wait,
)
from chathpc.profile.names import scopes_of
from chathpc.profile.source_text import is_of_system
from chathpc.profile.tree import BoolArray, CallTree, IntArray, NodeKind, Relation, is_one_of

Frames = NDArray[np.uint8]

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
#: Activities whose names are a library's even in a file that is not known for one: a PLT stub or an interposed allocator belongs to
#: the program's file.
_BY_NAME = (
    *OPENMP,
    Activity.MPI,
    Activity.MPI_SETUP,
    *GPU_RUNTIME,
    Activity.ALLOCATION,
    Activity.PAGE_FAULT,
)
#: What stands for work of a device.
DEVICE = (NodeKind.GPU_OP, NodeKind.GPU_KERNEL)
_FRAME_KINDS = (
    NodeKind.FUNCTION,
    NodeKind.INLINED,
    NodeKind.ENTRY,
    NodeKind.PLACEHOLDER,
    NodeKind.REGION,
    *DEVICE,
)
#: Placeholders that hold a region's own code.
_TRANSPARENT = ("<omp impl", "<omp expl", "<omp work", "<omp region", "<program root", "<thread root")
#: Waits for a condition of the C library.
_CONDITION = re.compile(r"pthread_cond_(timed|clock)?wait")
_SETS = re.compile(r"mem_?set|bzero")
#: How HPCToolkit, and how it and perf call functions of stripped libraries.
_UNKNOWN = ("<unknown procedure>", "<unknown function>")
_UNNAMED = (*_UNKNOWN, "[unknown]")
_USER = 255  # own code: no activity from name or module


@dataclass(frozen=True, slots=True, eq=False)
class Activities:
    """What every node does.

    `kind[i]` is an Activity; `call[i]` the node of the public call that node i is part of (−1 in the program's code).
    `site[i]` is the closest node of the program's own code at or above i (for a library call the line that makes it; for
    code of the C++ standard library's templates the line that uses it), `caller[i]` the function that holds it; −1 if
    there is none: a library's own thread.
    """

    kind: Frames
    call: IntArray
    site: IntArray
    caller: IntArray

    def of(self, *activities: Activity) -> BoolArray:
        """True for nodes with one of the given activities."""
        return is_one_of(self.kind, activities)

    def called_by_openmp(self, tree: CallTree) -> BoolArray:
        """True for functions of the program that the OpenMP runtime calls: the bodies of regions, whose names not every profiler leaves as
        the compiler made them (perf says of those of C++ no more than the function that they come from).
        """
        above = np.maximum(tree.parent, 0)
        runtime = (self.call >= 0) & self.of(*OPENMP)
        return np.asarray((tree.kind == NodeKind.FUNCTION) & (self.call < 0) & (tree.parent >= 0) & runtime[above])


def classify(tree: CallTree) -> Activities:
    """The activity of every node of `tree`.

    Names of frames are looked at once per distinct name and module, nodes in vectorised steps.
    """
    is_frame, outside = _is_frame(tree), ~_has_file(tree)
    of_python = of_python_libraries(tree, outside)
    frame = _frames(tree, outside, of_python)
    package = tree.where_name(is_of_template_package)
    _close(tree, is_frame, frame, package)
    frames_above = tree.nearest(is_frame)[np.where(tree.parent >= 0, tree.parent, 0)]
    call = _public_calls(tree, is_frame, is_frame & (frame == _USER), frames_above)
    in_library = call >= 0
    kind = np.full(len(tree), Activity.COMPUTE, dtype=np.uint8)
    kind[in_library] = frame[call[in_library]]
    # A library frame without a meaning of its own takes that of the first frame below it that has one (qsort → malloc), which what
    # that one calls does not change: a thread of libgomp's that sleeps in a futex waits for work.
    telling = is_frame & in_library & ~is_one_of(frame, (_USER, Activity.LIBRARY, Activity.PROFILER))
    first = _first_of_call(tree, call, telling)
    vague = in_library & (first >= 0) & is_one_of(kind, (Activity.LIBRARY, Activity.PROFILER))
    kind[vague] = frame[np.maximum(first, 0)][vague]
    # What a function of the C library moves between calls of the program's (qsort's comparisons) is part of its own work.
    back = call[frames_above[is_frame & ~in_library & (frames_above >= 0)]]
    own = np.isin(tree.name, tree.name[back[back >= 0]]) & ((tree.module < 0) | tree.where_module(is_of_c_library))
    own &= ~tree.named(*STARTERS)
    kind[in_library & own[np.maximum(call, 0)] & (kind == Activity.COPY)] = Activity.LIBRARY
    # Packages of Python hand on what they are asked for: the call is that of the library which does it (mpi4py's Allreduce: MPI_Allreduce),
    # else of the first function of Python (numpy.cross behind NumPy's dispatcher).
    packages = in_library & of_python[np.maximum(call, 0)]
    if packages.any():
        for better in (first, _first_of_call(tree, call, is_frame & packages & (tree.file >= 0))):
            handed = packages & (better >= 0)
            call[handed] = better[handed]
            packages &= ~handed
    # What of libgfortran has no name reads or writes: the functions by which it computes (matmul, pack, …) are called by theirs.
    kind[in_library & _is_unnamed_fortran(tree)[np.maximum(call, 0)]] = Activity.IO
    # Memory that is only set has no other cost; that of a copy is the copy's, whose target would not be there without it.
    setting = tree.where_name(lambda name: bool(_SETS.search(name)))[np.maximum(call, 0)] & (kind == Activity.COPY)
    kind[setting & (tree.nearest(is_frame & (frame == Activity.PAGE_FAULT)) >= 0)] = Activity.PAGE_FAULT
    _refine_openmp(tree, kind, call, frame, tree.nearest(is_frame))
    site, caller = _sites(tree, in_library, _starters(tree, is_frame, frames_above), package)
    # A flat profile has no callers at all: there a call that stands alone is the program's.
    at = np.maximum(call, 0)
    alone = in_library & (tree.parent[at] < 0) & (tree.module[at] < 0) & (tree.file[at] < 0)
    alone &= is_one_of(tree.kind[at], (NodeKind.FUNCTION, NodeKind.REGION))
    orphan = in_library & (caller < 0) & ~alone & is_one_of(kind, _OF_HELPERS)
    # What the C library and the kernel alone do with a thread is its beginning and its end.
    around = (kind == Activity.LIBRARY) & (tree.nearest(tree.named(*THREAD_STARTERS)) >= 0) & _in_c_library(tree)
    kind[orphan & ~around] = Activity.HELPER
    _format(tree, kind, call, frame, caller)
    found = Activities(kind=kind, call=call, site=site, caller=caller)
    _refine_behind(tree, found)
    device = is_one_of(tree.kind, DEVICE)
    if device.any():
        kind[tree.nearest(device) >= 0] = Activity.GPU
    return found


def _format(tree: CallTree, kind: Frames, call: IntArray, frame: Frames, caller: IntArray) -> None:
    """Tell, in place, that streams of C++ only format in functions that use string streams, as far as nothing is written below."""
    strings = tree.where_name(lambda name: "stringstream" in name or "stringbuf" in name)
    functions = np.unique(caller[strings & (caller >= 0)])
    if not len(functions):
        return
    labels, _ = tree.function_labels
    same = np.isin(labels[np.maximum(caller, 0)], labels[functions]) & (caller >= 0)
    stream = tree.where_name(lambda name: "stream" in name)[np.maximum(call, 0)] & (call >= 0)
    written = tree.nearest((frame == Activity.IO) & ~tree.where_name(lambda name: "stream" in name)) >= 0
    kind[same & stream & ~written & (kind == Activity.IO)] = Activity.LIBRARY


def _in_c_library(tree: CallTree) -> BoolArray:
    """True for nodes that have no function above them of another load module than the C and C++ library's and the kernel's."""
    other = tree.where_module(lambda path: not is_of_c_library(path))
    return np.asarray(tree.nearest(other) < 0)


def _first_of_call(tree: CallTree, call: IntArray, marked: BoolArray) -> IntArray:
    """For each node the outermost marked one of its public call at or above it; −1 without one."""
    above = tree.nearest(marked)[np.maximum(tree.parent, 0)]
    outermost = marked & ((tree.parent < 0) | (above < 0) | (call[np.maximum(above, 0)] != call))
    first = tree.nearest(outermost)
    return np.where((first >= 0) & (call[np.maximum(first, 0)] == call), first, np.int32(-1)).astype(np.int32)


def _close(tree: CallTree, is_frame: BoolArray, frame: Frames, package: BoolArray) -> None:
    """Tell, in place, that what the kernel, the runtime of a GPU and MPI call is none of the program, whatever it is called; a function with
    source lines may be one that the runtime was given to call back.
    """
    device = is_one_of(tree.kind, DEVICE)
    # What perf says is inlined in a function of the C library has no load module.
    holder = np.maximum(tree.nearest(tree.kind == NodeKind.FUNCTION), 0)
    of_c = tree.where_name(lambda name: _C_LIBRARY.fullmatch(name) is not None)[holder]
    frame[(tree.kind == NodeKind.INLINED) & of_c & (frame == _USER)] = Activity.LIBRARY
    for closed, inside in (
        (frame == Activity.PAGE_FAULT, frame == _USER),
        # Rust compiles its locks, and the atomics in them, into the program.
        (frame == Activity.LOCK, (frame == _USER) & package),
        # Compilers link their own copies of what the C library has into the program, and MPI calls those; a reduction is the program's.
        (is_one_of(frame, (Activity.MPI, Activity.MPI_SETUP)), (frame == _USER) & ~_has_file(tree) & of_c),
        (is_one_of(frame, GPU_RUNTIME), (frame == _USER) & ~_has_file(tree) & (tree.nearest(device) < 0)),
    ):
        if (closed & is_frame).any():
            frame[(tree.nearest(closed & is_frame) >= 0) & inside & is_frame] = Activity.LIBRARY


def template_library(tree: CallTree) -> BoolArray:
    """True for functions of the C++ standard library that were compiled into the program from its headers."""
    in_headers = tree.where_file(in_standard_headers)
    found = np.asarray(in_headers | tree.where_name(is_of_standard_templates))
    # Some profilers tell files of lines alone: a function with lines of other files has those of headers by inlining.
    lines = np.flatnonzero((tree.kind == NodeKind.LINE) & (tree.file >= 0) & (tree.parent >= 0))
    lines = lines[is_one_of(tree.kind[tree.parent[lines]], (NodeKind.FUNCTION, NodeKind.INLINED))]
    above, labels = tree.parent[lines], tree.function_labels[0]
    others = np.isin(labels[above], labels[above[~in_headers[lines]]])
    found[above[in_headers[lines] & ~others & (tree.file[above] < 0)]] = True
    return found


def in_standard_headers(path: str) -> bool:
    """True for the C++ standard library's headers."""
    if "/" not in path:
        return _STANDARD_FILES.fullmatch(path) is not None
    return any(part in path for part in _STANDARD_HEADERS)


def is_of_standard_templates(name: str) -> bool:
    """True for the names of the C++ standard library's functions, and of the compilers' for single instructions."""
    return name.startswith(_STANDARD_NAMES)


def is_one_liner(name: str) -> bool:
    """True for functions of the C++ standard library that any optimising compiler inlines: access to elements that lie in a row, steps of
    iterators, function objects. Others stay functions at -O3, whatever they cost (vector's _M_realloc_insert, sort's __introsort_loop, map's operator[]).
    """
    if "std::" not in name and "__gnu_cxx::" not in name:
        return False
    *outer, own = scopes_of(name)
    if not outer or not outer[0].endswith(("std", "__gnu_cxx")):
        return False
    return any(holder.match(outer[-1]) and member.match(own) for holder, member in _ONE_LINERS)


def is_of_template_package(name: str) -> bool:
    """True for functions that a program compiles from the headers or sources of a library: of C++ by their namespace, of Rust's libraries by
    the crate of the function or of the type that a function is for.
    """
    return _PACKAGES.match(name) is not None


#: Classes and namespaces of C++ (how the last scope ends that a function's name has), and functions of one expression in them.
_ONE_LINERS = (
    (re.compile(r"(vector|array|span|initializer_list|unique_ptr)<"), re.compile(r"(operator(\[\]|->|\*)|size|begin|end|data|get)(?!\w)")),
    (re.compile(r"(?!\w*(regex|stream|directory))\w*iter(ator)?(<|$)"), re.compile(r"(operator(?![=\w])|base(?!\w))")),
    (re.compile(r"(?!\w*(distribution|engine|generator))\w+(<|$)"), re.compile(r"operator\(\)")),
    (re.compile(r"(.* )?(std|__gnu_cxx)$"), re.compile(r"(abs|min|max|forward|addressof|__addressof)(?!\w)")),
)  # fmt: skip
#: Names that C reserves for its library (C17 7.1.3), procedures of Fortran's modules apart.
_C_LIBRARY = re.compile(r"__(?!\w*_MOD_)\w+")
#: Namespaces of libraries that are mostly templates, and what may stand before them in a name; crates that come with the compiler, and types
#: that have no crate: those of the language, and parameters that stand for any.
_PACKAGES = re.compile(
    r"(?:(?:void|bool|int|long|double|float|auto) )?(?:Eigen|tbb|oneapi|boost|Kokkos|RAJA|camp|thrust|cub|sycl|fmt)::"
    r"|<*&?(?:mut )?(?:[A-Z]\w* as )?(?:core|alloc|std|hashbrown|rayon|rayon_core)::"
    r"|<+&?(?:mut )?(?:[iu](?:8|16|32|64|128|size)|f32|f64|bool|char|str|\[)(?![\w:])"
)
#: Folders of the C++ standard library's headers, and how its functions' names begin.
_STANDARD_HEADERS = (
    "/include/c++/",
    "/bits/stl_",
    "/c++/v1/",
    "/ext/new_allocator",
    "/ext/aligned_buffer",
    "/bits/char_traits",
)
#: The same of GNU's library without their folders, as perf tells them, of names that nobody else gives a file.
_STANDARD_FILES = re.compile(
    r"stl_(algo|algobase|bvector|construct|deque|function|heap|iterator(_base_(funcs|types))?|list|map|multimap|multiset|numeric|pair|queue|set|tempbuf"
    r"|tree|uninitialized|vector)\.h|std_(abs|function|mutex|thread)\.h|invoke\.h|new_allocator\.h|alloc_traits\.h|ptr_traits\.h|char_traits\.h"
    r"|(shared|unique)_ptr(_base|_atomic)?\.h|basic_string\.(h|tcc)|hashtable(_policy)?\.h|atomic_(base|wait)\.h|(vector|deque|list|random)\.tcc"
    r"|functional|future|thread|mutex|condition_variable|tuple|atomic|barrier|numeric|algorithm|shared_mutex|stop_token"
)
_STANDARD_NAMES = ("std::", "__gnu_cxx::", "void std::", "bool std::", "__gthread_", "_mm_", "_mm256_", "_mm512_")


def _is_unnamed_fortran(tree: CallTree) -> BoolArray:
    """True for functions of GNU Fortran's library of which only the load module is known."""
    library = tree.where_module(is_fortran_library)
    return np.asarray(library & tree.where_name(lambda name: name.startswith(_UNNAMED)))


def _has_file(tree: CallTree) -> BoolArray:
    """True for nodes whose source file is a real path, which the program's own functions have when compiled with -g."""
    return tree.where_file(lambda path: not path.startswith(("[", "<")))


def _code(activity: Activity | None) -> int:
    return _USER if activity is None else int(activity)


def _frames(tree: CallTree, outside: BoolArray, of_python: BoolArray) -> Frames:
    """What each node stands for by its own name and module; _USER for the program's own code. `outside`: nodes without a source file."""
    by_module = np.array([_code(activity_of_module(path)) for path in tree.modules] + [_USER], np.uint8)[tree.module]
    by_name = np.array([_code(activity_of_name(name)) for name in tree.names] + [_USER], np.uint8)[tree.name]
    by_module = _by_files(tree, by_module)
    placeholder = is_one_of(tree.kind, (NodeKind.PLACEHOLDER, *DEVICE))
    # A name decides where it can be trusted: in libraries, and for placeholders; a program's own `read` or `copy` is
    # not libc's. Regions of instrumentation have no load modules, and perf leaves them out where lines are shown.
    trusted = (by_module != _USER) | placeholder
    trusted |= is_one_of(by_name, _BY_NAME) & (outside | tree.where_name(is_interface))
    trusted |= tree.where_name(is_librarys_alone)
    trusted |= _ends_in_files(tree, by_module, by_name, outside)
    trusted |= of_python & outside
    math = tree.where_name(is_math)
    trusted |= outside & (math | tree.where_name(lambda name: name.endswith("@plt")))
    frame = np.where(trusted & (by_name != _USER), by_name, by_module)
    # The dynamic loader's and the C library's inner functions, whatever they do.
    frame[outside & (frame == _USER) & tree.where_name(is_inner)] = Activity.LIBRARY
    frame[math & (outside | (by_module == Activity.MATH) | tree.where_name(is_for_vectors))] = Activity.MATH
    # What a loop of Python pays is its own steps, not the function of libm at the end of each; mpi4py hands on to MPI.
    frame[of_python & (frame == Activity.MATH)] = Activity.LIBRARY
    frame[(frame == _USER) & (tree.kind == NodeKind.REGION) & tree.where_name(_is_region_of_mpi)] = Activity.MPI
    waits = python_waits(tree)
    frame[waits != _USER] = waits[waits != _USER]
    frame[interpreter_waits(tree)] = Activity.LOCK
    frame[_of_mpi4py(tree) & (frame != Activity.MPI_SETUP)] = Activity.LIBRARY
    frame[(frame == _USER) & of_python] = Activity.LIBRARY
    frame[placeholder & tree.where_name(lambda name: name.startswith(_TRANSPARENT))] = _USER
    frame[(frame == _USER) & (by_module == _USER) & (tree.nearest(tree.where_name(is_system_call)) >= 0)] = (
        Activity.LIBRARY
    )
    # System libraries that only pass control on (start_thread, qsort, __libc_start_main) count as the program's code at
    # the top of a thread, where nothing of the program has been seen yet.
    frame[tree.kind == NodeKind.ENTRY] = _USER
    return frame


def _is_region_of_mpi(name: str) -> bool:
    """True for a region that its author says is of MPI: `halo::MPI-1`, `MPI 2D`; `MPIBuffers` may do anything."""
    return re.match(r"MPI(?![A-Za-z])", name.rpartition("::")[2]) is not None


def _by_files(tree: CallTree, by_module: Frames) -> Frames:
    """`by_module` with functions of no load module, which perf leaves out of some, taken for those of the library that has their source file."""
    lines = np.flatnonzero((tree.kind == NodeKind.LINE) & (tree.file >= 0) & (tree.parent >= 0))
    above, file = tree.parent[lines], tree.file[lines]
    known = tree.module[above] >= 0
    of_file = np.full(len(tree.files), _USER, np.uint8)
    of_file[file[known]] = by_module[above[known]]
    of_file[file[known & (by_module[above] == _USER)]] = _USER
    found = by_module.copy()
    found[above[~known]] = of_file[file[~known]]
    return found


def python_waits(tree: CallTree) -> Frames:
    """What functions of Python's library wait for; _USER for all others."""
    found = np.full(len(tree), _USER, dtype=np.uint8)
    named = np.flatnonzero((tree.kind == NodeKind.FUNCTION) & (tree.name >= 0) & is_python(tree))
    pairs, which = np.unique(np.stack((tree.name[named], tree.file[named])), axis=1, return_inverse=True)
    kinds = [_code(python_wait(tree.names[name], tree.files[file])) for name, file in pairs.T.tolist()]
    found[named] = np.array(kinds, dtype=np.uint8)[which.ravel()] if kinds else _USER
    return found


def interpreter_waits(tree: CallTree) -> BoolArray:
    """True where a thread waits for the lock of Python's interpreter: in take_gil, or in a condition right below a function of Python, which
    can call no function of the system itself; samplers leave out the interpreter's own functions between them.
    """
    taken, python = tree.where_name(lambda name: "take_gil" in name and base_name(name) == "take_gil"), is_python(tree)
    if not python.any():
        return taken
    condition = tree.where_name(lambda name: _CONDITION.match(base_name(name)) is not None)
    above = tree.function[np.maximum(tree.parent, 0)]
    return np.asarray(taken | (condition & (tree.parent >= 0) & (above >= 0) & python[np.maximum(above, 0)]))


def is_python(tree: CallTree) -> BoolArray:
    """True for nodes in source files of Python."""
    return tree.where_file(lambda path: path.endswith(".py") or path.startswith("<frozen "))


def of_python_libraries(tree: CallTree, outside: BoolArray | None = None) -> BoolArray:
    """True for functions of Python's own modules and of installed packages, and for native ones that Python calls: those without source, and
    those whose source was built elsewhere (below the program's folder, chathpc measure writes relative paths).
    """
    python = is_python(tree)
    if not python.any():
        return np.zeros(len(tree), dtype=bool)
    outside = ~_has_file(tree) if outside is None else outside
    installed = tree.where_file(in_python_libraries)
    elsewhere = tree.where_file(lambda path: path.startswith("/"))
    return np.asarray(installed | ((outside | elsewhere) & ~python & (tree.nearest(python) >= 0)))


def _of_mpi4py(tree: CallTree) -> BoolArray:
    return tree.where_module(lambda path: _MPI4PY.search(path) is not None)


def in_python_libraries(path: str) -> bool:
    """True for files of Python's own modules, of installed packages, and of the interpreter's source."""
    return _INSTALLED.search(path) is not None


#: The load module of mpi4py, whose functions are called like MPI's and like the system's (recv).
_MPI4PY = re.compile(r"(^|/)MPI\.[\w.-]+\.so$")
#: Where Python keeps its modules and packages, and how distributions name the folder of its source.
_INSTALLED = re.compile(r"(^|/)(python\d[\d.]*|site-packages|dist-packages|Python-\d[\w.]*)/|^<frozen ")


def _ends_in_files(tree: CallTree, by_module: Frames, by_name: Frames, outside: BoolArray) -> BoolArray:
    """True for functions on files by their names, in a tree that tells neither load modules nor files (collapsed stacks), where a path ends
    in them or in the kernel: no code of the program is called below `write`.
    """
    # Collapsed stacks tell the load modules of places without names.
    named = tree.where_name(lambda name: ".so" not in name)
    if (by_module != _USER)[named].any() or not outside.all():
        return np.zeros(len(tree), dtype=bool)
    kernel = tree.nearest(tree.where_name(is_system_call)) >= 0
    found = (by_name == Activity.IO) | kernel
    other = _is_frame(tree) & ~found & ~tree.where_name(is_inner)
    return np.asarray(found & (tree.inclusive(other.astype(np.float64)) == 0))


def _is_frame(tree: CallTree) -> BoolArray:
    """True for nodes that stand for a function or something like it, not for a part of one."""
    found = is_one_of(tree.kind, _FRAME_KINDS)
    return np.asarray(found | ((tree.kind == NodeKind.INSTRUCTION) & (tree.relation != Relation.LEXICAL)))


def _public_calls(tree: CallTree, is_frame: BoolArray, own_code: BoolArray, frames_above: IntArray) -> IntArray:
    """The node of the public call that each node is part of, −1 in the program's code."""
    called = (tree.parent < 0) | (frames_above < 0) | own_code[np.maximum(frames_above, 0)]
    starts = is_frame & ~own_code & called
    anchor = tree.nearest(own_code | starts)
    in_library = (anchor >= 0) & starts[np.maximum(anchor, 0)]
    return np.where(in_library, anchor, np.int32(-1)).astype(np.int32)


def _sites(tree: CallTree, in_library: BoolArray, starters: BoolArray, package: BoolArray) -> tuple[IntArray, IntArray]:
    """The closest node of the program's own code at or above each node, and the function that holds it."""
    function = np.maximum(tree.function, 0)
    program = ~in_library & (tree.kind != NodeKind.ENTRY) & (tree.kind != NodeKind.PLACEHOLDER)
    # The region of a directive is a part of the function around it.
    program &= ~(tree.where_name(lambda name: name.startswith(DIRECTIVE)) & (tree.kind == NodeKind.REGION))
    program &= ~template_library(tree)[function] & ~starters[function]
    of_package = package[function] & program
    site = tree.nearest(program & ~of_package)
    if of_package.any():  # who develops such a library has no other code
        site = np.where(site < 0, tree.nearest(program), site)
    if starters.any():
        site[tree.nearest(starters) > site] = -1
    return site, np.where(site >= 0, tree.function[np.maximum(site, 0)], np.int32(-1)).astype(np.int32)


def _starters(tree: CallTree, is_frame: BoolArray, above: IntArray) -> BoolArray:
    """True for the frames at the top of a stack that only start the program or a thread: a `clone` further down is the program's own."""
    named = is_frame & tree.named(*STARTERS)
    found = np.zeros(len(tree), dtype=bool)
    top = (above < 0) | ((tree.kind == NodeKind.REGION) & (tree.parent < 0))[np.maximum(above, 0)]
    # These names are the C library's alone: below the command that collapsed stacks begin with as well.
    top |= tree.named(*(name for name in STARTERS if name.startswith("__libc_")))
    for _ in range(4):
        step = named & (top | found[np.maximum(above, 0)])
        if np.array_equal(step, found):
            break
        found = step
    return found


def _refine_behind(tree: CallTree, found: Activities) -> None:
    """Tell why threads blocked, or ran in the kernel, somewhere behind a sample, in place: for what the library does in which the
    sample is; and what blocks in the body of a parallel region waits for the other threads. Where the loader looks for a function
    that is called the first time, it waits for the library's file.
    """
    kind, call, caller = found.kind, found.call, found.caller
    blocked, kernel = tree.named(BLOCKED), tree.named(KERNEL)
    if not blocked.any() and not kernel.any():
        return
    around = kind[np.maximum(tree.parent, 0)]
    # Right below the process: nobody knows where.
    nowhere = (caller < 0) | (tree.parent[np.maximum(tree.parent, 0)] < 0)
    binding = tree.where_name(is_binding)[np.maximum(call, 0)] & (call >= 0)
    alone = np.where(nowhere | binding, Activity.HELPER, Activity.BLOCKED)
    kind[blocked] = np.where(is_one_of(around, MAY_BLOCK), around, alone)[blocked]
    kind[kernel] = np.where(is_one_of(around, (*MAY_BLOCK, Activity.ALLOCATION)), around, Activity.LIBRARY)[kernel]
    bodies = tree.where_name(is_outlined) | found.called_by_openmp(tree)
    region = bodies[np.maximum(caller, 0)] & (caller >= 0)
    kind[blocked & (kind == Activity.BLOCKED) & region] = Activity.OMP_WAIT


def _refine_openmp(tree: CallTree, kind: Frames, call: IntArray, frame: Frames, nearest_frame: IntArray) -> None:
    """Tell waiting, locks and overhead of an OpenMP runtime apart, in place.

    The innermost frame with a telling name decides. A stripped runtime shows as procedures without names: they wait
    (the runtime hardly does anything else for long), for a lock if their caller also calls the runtime's lock
    functions.
    """
    inside = is_one_of(kind, OPENMP)
    if not inside.any():
        return
    telling = is_one_of(frame, (Activity.OMP_LOCK, Activity.OMP_WAIT))
    unnamed = tree.where_name(lambda name: name.startswith(_UNKNOWN), nameless=True)
    named_lock = telling & (frame == Activity.OMP_LOCK) & (nearest_frame == np.arange(len(tree)))
    lock_at = tree.nearest(named_lock)
    locked = inside & (lock_at >= 0) & (call <= lock_at)
    kind[inside] = frame[np.maximum(nearest_frame, 0)][inside]
    other = inside & ~is_one_of(kind, OPENMP)  # sched_yield, futex, syscall, memset below the runtime
    kind[other] = Activity.OMP_WAIT
    kind[locked] = Activity.OMP_LOCK
    # Unnamed procedures called directly by code that also enters critical sections. perf's `[unknown]` may also be the end of a
    # barrier, which the function calls that holds the region: of these only those of the same line.
    starts = np.flatnonzero(call == np.arange(len(tree)))
    above = np.maximum(tree.parent[starts], 0)
    caller, line, locks = tree.name[tree.function[above]], tree.line[above], named_lock[starts]
    same_caller = unnamed[starts] & np.isin(caller, caller[locks])
    at = (caller.astype(np.int64) << 32) + line
    same_line = tree.named("[unknown]")[starts] & (line > 0) & np.isin(at, at[locks])
    suspicious = starts[inside[starts] & (caller >= 0) & (same_caller | same_line)]
    chosen = np.zeros(len(tree) + 1, dtype=bool)
    chosen[suspicious] = True
    kind[chosen[np.where(call >= 0, call, len(tree))]] = Activity.OMP_LOCK


# -- source files that no program's author wrote ------------------------------------------------------------------
#
# Headers of compilers, packages and template libraries, whose code is compiled into the program where it is used.

_HEADER = r"[^/]+\.(?:h|hh|hpp|hxx|cuh|inl|ipp)$"
_LIBRARY = re.compile(
    # packages of Python and Julia, whose own library is recorded by names alone
    r"(?:^|/)(?:site-packages|dist-packages|\.julia/packages)/|^(?:\./)?\w+\.jl$"
    # the toolkits of GPUs
    r"|(?:^|/)(?:targets/[^/]+|(?:cuda|rocm|oneapi)[-/]v?\d[^/]*|(?:usr/local|opt)/(?:cuda|rocm)|hpc_sdk/.+)/include/"
    # libraries of templates, wherever they were put
    rf"|(?:^|/)(?:include|cccl|cub|thrust|libcudacxx)/(?:.+/)?(?:cub|thrust|cuda|cutlass|cute|cooperative_groups|RAJA|camp|rocprim|hipcub)/(?:.+/)?{_HEADER}"
    rf"|(?:^|/)Eigen/src/(?:.+/)?{_HEADER}|(?:^|/)(?:Kokkos_\w+|cooperative_groups)\.(?:h|hpp)$"
)


def is_library_source(path: str) -> bool:
    """True for files of libraries, by the folder that they lie in."""
    path = path.replace("\\", "/")
    return is_of_system(path) or in_standard_headers(path) or _LIBRARY.search(path) is not None
