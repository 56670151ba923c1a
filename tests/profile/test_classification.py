from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.profile.activity import Activity, activity_of_module, activity_of_name
from chathpc.profile.classification import classify, is_of_template_package, template_library
from chathpc.profile.tree import CallTree, NodeKind, Relation
from tests.profile.build import (
    Node,
    call,
    called_code,
    entry,
    gpu_op,
    inlined,
    kernel,
    line,
    loop,
    node,
    placeholder,
    tree_of,
)
from tests.profile.strategies import trees
from tests.profile.test_activity import NAMES

A = Activity
APP = "/opt/app"
LIBC, LIBM, GOMP, MPI = "/lib/libc.so.6", "/lib/libm.so.6", "/usr/lib/libgomp.so.1.0.0", "/usr/lib/libmpi.so.40"
STDCXX, CUDART = "/usr/lib/libstdc++.so.6", "/usr/lib/libcudart.so.12"


def own(name: str, *children: object, at: str = "app.c:1", **facts: object):
    return call(name, *children, at=at, module=APP, **facts)


def program(*children: object) -> CallTree:
    return tree_of(entry("<program root>", own("main", *children)))


def at(tree: CallTree, name: str) -> int:
    """The one function with that name."""
    (node,) = np.flatnonzero(tree.name == tree.names.index(name))
    return int(node)


def kind_of(tree: CallTree, name: str) -> Activity:
    return Activity(int(classify(tree).kind[at(tree, name)]))


@pytest.mark.parametrize(
    "name",
    ["read", "write", "copy", "wait", "sleep", "poll", "select", "join", "memcpy_rows", "open", "futex_update", "exp",
     "mpi_exchange_halo", "mpi_update_", "free_grid", "malloc_matrix", "kmp_search", "fi_solve", "ucs_transform",
     "cuda_solve", "hip_force", "cudaCheckError", "omp_get_work", "tcache_lookup", "nccl_ring"],
)  # fmt: skip
def test_a_function_of_the_program_computes_whatever_its_name(name: str) -> None:
    tree = program(own(name, line("app.c:2")))
    activities = classify(tree)
    assert set(activities.kind.tolist()) == {A.COMPUTE}
    assert set(activities.call.tolist()) == {-1}


@pytest.mark.parametrize(
    "name", ["MPI_Send", "PMPI_Send", "malloc", "je_malloc", "operator new(unsigned long)", "GOMP_barrier"]
)
def test_an_interposed_library_function_stays_that_of_the_library(name: str) -> None:
    tree = program(own(name, at="wrap.c:7"))
    assert kind_of(tree, name) == activity_of_name(name)


@pytest.mark.parametrize(
    ("name", "activity"),
    [
        ("memcpy@plt", A.COPY),
        ("write@plt", A.IO),
        ("exp@plt", A.MATH),
        ("MPI_Send@plt", A.MPI),
        ("free@plt", A.ALLOCATION),
    ],
)
def test_a_linkage_stub_counts_as_the_function_it_jumps_to(name: str, activity: Activity) -> None:
    assert kind_of(program(call(name, module=APP)), name) == activity


@pytest.mark.parametrize("name", ["exp", "__ieee754_pow_fma", "sincosf", "log1p", "erfc", "__exp_finite", "tgammal"])
def test_math_functions_are_known_by_library_or_by_name_without_source(name: str) -> None:
    assert kind_of(program(call(name, module=LIBM)), name) == A.MATH
    assert kind_of(program(call(name, module="/usr/lib/libc.so.6")), name) == A.MATH
    assert kind_of(program(call(name, module=LIBM, at="s_exp.c:40")), name) == A.MATH
    assert kind_of(program(own(name)), name) == A.COMPUTE


@pytest.mark.parametrize("name", ["_ZGVeN8vv_pow_skx", "_ZGVdN4v_exp", "_ZGVbN2v_log_sse4", "_ZGVcN8v_sinf"])
def test_math_functions_for_vectors_are_the_compilers_wherever_their_lines_are(name: str) -> None:
    assert kind_of(program(own(name)), name) == A.MATH
    assert kind_of(program(call(name, at="svml_d_pow8_core_avx512.S:60")), name) == A.MATH
    assert kind_of(program(own("_ZGVbN2v_density")), "_ZGVbN2v_density") == A.COMPUTE


def test_all_below_a_call_belongs_to_it_and_to_the_line_that_makes_it() -> None:
    tree = program(line("app.c:7", call("fwrite", call("memcpy", module=LIBC), module=LIBC)))
    found = classify(tree)
    write, copy, place = at(tree, "fwrite"), at(tree, "memcpy"), 2
    assert found.kind[[write, copy]].tolist() == [A.IO, A.IO]
    assert found.call[[write, copy]].tolist() == [write, write]
    assert found.site[[write, copy]].tolist() == [place, place]
    assert found.caller[[write, copy]].tolist() == [1, 1]
    assert found.of(A.IO).tolist() == [False, False, False, True, True]


@pytest.mark.parametrize("name", ["__intel_ssse3_rep_memcpy", "__libirc_get_feature"])
def test_what_a_compiler_links_into_the_program_is_mpis_below_mpi(name: str) -> None:
    tree = program(call("PMPI_Allgather", call("MPIR_Localcopy", own(name, at=""), module=MPI), module=MPI))
    found = classify(tree)
    assert (found.kind[at(tree, name)], found.call[at(tree, name)]) == (A.MPI, at(tree, "PMPI_Allgather"))
    reduction = program(call("PMPI_Allreduce", own("add_all", own(name, at=""), at=""), module=MPI))
    assert kind_of(reduction, "add_all") == A.COMPUTE


def test_a_library_without_a_meaning_of_its_own_takes_that_of_what_it_calls() -> None:
    tree = program(call("qsort_r", call("malloc", module=LIBC), module=LIBC))
    found = classify(tree)
    assert found.kind[at(tree, "qsort_r")] == A.LIBRARY
    assert found.kind[at(tree, "malloc")] == A.ALLOCATION
    assert found.call[at(tree, "malloc")] == at(tree, "qsort_r")


def test_a_callback_is_the_programs_code_again() -> None:
    compare = own("compare", call("strcpy", module=LIBC))
    tree = program(call("qsort_r", compare, module=LIBC))
    found = classify(tree)
    assert found.kind[at(tree, "compare")] == A.COMPUTE
    assert found.call[at(tree, "compare")] == -1
    assert found.caller[at(tree, "strcpy")] == at(tree, "compare")
    assert found.kind[at(tree, "strcpy")] == A.COPY


def test_what_stands_below_the_start_of_the_program_alone_is_not_the_work_of_its_start() -> None:
    """The caller of a leaf without a frame pointer is left out: here main, which starts beside it."""
    moved = call("__memmove_avx_unaligned_erms", module=LIBC)
    tree = tree_of(entry("heat", call("__libc_start_call_main", own("main"), moved, module=LIBC)))
    assert kind_of(tree, "__memmove_avx_unaligned_erms") == A.COPY


def test_what_a_sort_moves_between_the_programs_comparisons_is_sorting() -> None:
    moved = call("memcpy", module=LIBC)
    tree = program(call("qsort_r", own("compare", at="app.c:7"), moved, module=LIBC))
    assert kind_of(tree, "memcpy") == A.LIBRARY
    assert kind_of(program(call("strdup", moved, module=LIBC)), "memcpy") == A.COPY


def test_a_function_without_a_load_module_is_of_the_library_that_has_its_file() -> None:
    inner = call("msort", line("msort.c:82"))
    tree = program(call("sorted", line("msort.c:44", inner), module=LIBC), line("app.c:9"))
    assert kind_of(tree, "msort") == A.LIBRARY
    assert kind_of(program(call("msort", line("app.c:82"))), "msort") == A.COMPUTE


def test_the_body_of_a_parallel_region_below_the_runtime_is_the_programs_code() -> None:
    body = own("solve._omp_fn.0", line("app.c:9"), call("GOMP_barrier", module=GOMP))
    tree = program(call("GOMP_parallel", body, module=GOMP))
    assert kind_of(tree, "GOMP_parallel") == A.OMP_OVERHEAD
    assert kind_of(tree, "solve._omp_fn.0") == A.COMPUTE
    assert kind_of(tree, "GOMP_barrier") == A.OMP_WAIT


def test_a_task_placeholder_lets_the_regions_code_through() -> None:
    tree = program(
        placeholder("<omp impl task>", own(".omp_outlined.", line("app.c:9"))), placeholder("<omp barrier wait>")
    )
    assert kind_of(tree, "<omp impl task>") == A.COMPUTE
    assert kind_of(tree, ".omp_outlined.") == A.COMPUTE
    assert kind_of(tree, "<omp barrier wait>") == A.OMP_WAIT


def test_system_calls_below_an_openmp_runtime_are_its_waiting() -> None:
    tree = program(call("gomp_team_barrier_wait", call("sched_yield", module=LIBC), module=GOMP))
    assert kind_of(tree, "sched_yield") == A.OMP_WAIT
    tree = program(call("GOMP_critical_start", call("futex_wait", module=LIBC), module=GOMP))
    assert kind_of(tree, "futex_wait") == A.OMP_LOCK


UNNAMED = "<unknown procedure> 0x1f780 [libgomp.so.1.0.0]"


def test_a_runtime_without_names_waits() -> None:
    tree = program(own("work._omp_fn.0", call(UNNAMED, module=GOMP)))
    assert kind_of(tree, UNNAMED) == A.OMP_WAIT


def test_a_runtime_without_names_queues_where_its_caller_also_enters_critical_sections() -> None:
    stripped = call(UNNAMED, module=GOMP)
    tree = program(own("work._omp_fn.0", call("GOMP_critical_start", module=GOMP), stripped))
    assert kind_of(tree, UNNAMED) == A.OMP_LOCK


def test_a_frame_that_perf_cannot_name_queues_where_its_line_also_enters_a_critical_section() -> None:
    def unknown(at: str) -> Node:
        return line(at, call("[unknown]", module=GOMP))

    enters = line("app.c:42", call("GOMP_critical_start", module=GOMP), call("[unknown]", module=GOMP))
    tree = program(own("work._omp_fn.0", enters, unknown("app.c:48")))
    kinds = classify(tree).kind
    assert [kinds[at] for at in np.flatnonzero(tree.named("[unknown]"))] == [A.OMP_LOCK, A.OMP_WAIT]


@pytest.mark.parametrize("name", ["[unknown]", "<unknown procedure> 0x2f780 [libgfortran.so.5]"])
def test_fortrans_library_without_names_reads_and_writes(name: str) -> None:
    library = "/usr/lib/libgfortran.so.5.0.0"
    inner = call("__vfprintf_internal", module=LIBC)
    assert kind_of(program(own("save", call(name, inner, module=library))), "__vfprintf_internal") == A.IO
    # What it computes has names.
    matmul = program(own("save", call("_gfortran_matmul_r8", call(name, module=library), module=library)))
    assert kind_of(matmul, "_gfortran_matmul_r8") == kind_of(matmul, name) == A.LIBRARY
    assert kind_of(program(own("save", call(name, module="/opt/libother.so"))), name) == A.COMPUTE


def test_code_without_symbols_is_known_by_its_module() -> None:
    tree = program(called_code(MPI), called_code("/opt/other"))
    assert [Activity(kind) for kind in classify(tree).kind[2:].tolist()] == [A.MPI, A.COMPUTE]


def test_templates_of_the_standard_library_count_for_the_line_that_uses_them() -> None:
    push = inlined(
        "std::vector<int>::push_back(int&&)",
        line("/usr/include/c++/12/bits/stl_vector.h:1278"),
        at="/usr/include/c++/12/bits/stl_vector.h:1276",
    )
    tree = program(line("app.cpp:30", push))
    found = classify(tree)
    assert template_library(tree).tolist() == [False, False, False, True, True]
    assert found.kind[3:].tolist() == [A.COMPUTE, A.COMPUTE]
    assert found.site[3:].tolist() == [2, 2]
    assert found.caller[3:].tolist() == [1, 1]


def test_threads_that_a_library_runs_for_itself_are_helpers() -> None:
    progress = call(
        "start_thread",
        call("progress_engine", call("poll", module=LIBC), module="/usr/lib/libopen-pal.so.40"),
        module=LIBC,
    )
    tree = tree_of(entry("<program root>", own("main")), entry("<thread root>", progress))
    found = classify(tree)
    # Its beginning and end are no library's.
    assert found.kind[3:].tolist() == [A.LIBRARY, A.HELPER, A.HELPER]
    assert set(found.site[3:].tolist()) == {-1}
    assert set(found.caller[3:].tolist()) == {-1}


def test_a_lock_that_such_a_thread_waits_for_is_not_the_programs() -> None:
    """As perf shows it where lines are known: without load modules, and with what was inlined in the C library."""
    lock = node(
        NodeKind.FUNCTION, Relation.CALL, "___pthread_mutex_lock",
        node(NodeKind.INLINED, Relation.INLINED_CALL, "lll_mutex_lock_optimized", call("__GI___lll_lock_wait", module=LIBC), at="pthread_mutex_lock.c:48"),
    )  # fmt: skip
    progress = call("event_base_loop", lock, module="/usr/lib/libevent_core-2.1.so.7")
    tree = tree_of(
        entry("<program root>", own("main")), entry("<thread root>", call("start_thread", progress, module=LIBC))
    )
    assert set(classify(tree).kind[4:].tolist()) == {A.HELPER}
    of_the_program = tree_of(entry("<program root>", own("main", lock)))
    assert kind_of(of_the_program, "__GI___lll_lock_wait") == A.LOCK


@pytest.mark.parametrize("loader", ["_dl_runtime_resolve_xsavec", "_dl_fixup"])
def test_the_first_call_of_a_librarys_function_waits_for_its_file_and_not_for_the_program(loader: str) -> None:
    def with_waits(above: str) -> int:
        waits = node(NodeKind.PLACEHOLDER, Relation.CALL, "<blocked>")
        inner = call("do_lookup_x", waits, module="/usr/lib/ld-linux-x86-64.so.2")
        return kind_of(
            tree_of(
                entry(
                    "<program root>",
                    own("main", own("solve", call(above, inner, module="/usr/lib/ld-linux-x86-64.so.2"))),
                )
            ),
            "<blocked>",
        )

    assert with_waits(loader) == A.HELPER
    assert with_waits("__GI_qsort_r") == A.BLOCKED


@pytest.mark.parametrize("kernel", ["futex_do_wait", "do_syscall_64"])
def test_an_openmp_worker_that_sleeps_in_the_kernel_waits_for_work(kernel: str) -> None:
    inner = call("futex_wait", call(kernel, module="[kernel.kallsyms]"), module="[kernel.kallsyms]")
    pool = call("[unknown]", call("[unknown]", inner, module=GOMP), module=GOMP)
    tree = tree_of(entry("<thread root>", call("start_thread", pool, module=LIBC)))
    found = classify(tree)
    assert found.kind[at(tree, "futex_wait") :].tolist() == [A.OMP_WAIT] * (len(tree) - at(tree, "futex_wait"))


def test_an_idle_openmp_worker_is_no_helper() -> None:
    idle = call("start_thread", called_code(GOMP), module=LIBC)
    tree = tree_of(entry("<thread root>", idle))
    assert classify(tree).kind.tolist()[-1] != A.HELPER


def test_a_thread_function_of_the_program_below_start_thread_is_its_own_code() -> None:
    tree = tree_of(entry("<thread root>", call("start_thread", own("serve", call("poll", module=LIBC)), module=LIBC)))
    assert kind_of(tree, "serve") == A.COMPUTE
    assert kind_of(tree, "poll") == A.BLOCKED
    assert kind_of(tree, "start_thread") == A.LIBRARY


def test_what_is_inlined_in_the_c_library_is_its_own() -> None:
    """Perf tells no load module for a function whose symbol has another name, nor for what is inlined in it."""
    barrier = node(
        NodeKind.FUNCTION, Relation.CALL, "___pthread_barrier_wait",
        node(NodeKind.INLINED, Relation.INLINED_CALL, "futex_wait_simple", call("futex_wait", module="[kernel.kallsyms]")),
    )  # fmt: skip
    tree = tree_of(entry("<program root>", own("main", own("worker", barrier))))
    found = classify(tree)
    assert {tree.label(int(node)) for node in found.caller[3:]} == {"worker"}
    assert set(found.kind[3:].tolist()) == {A.BLOCKED}


def test_files_of_the_standard_library_are_known_without_their_folders() -> None:
    """As perf tells them: of lines alone, and of functions that have lost their scope."""
    work = own("work", line("app.cc:5"))
    inner = node(
        NodeKind.INLINED, Relation.INLINED_CALL, "__invoke_impl<void, main()::<lambda()> >", line("invoke.h:61", work)
    )
    start = node(NodeKind.FUNCTION, Relation.CALL, "_M_run", line("std_thread.h:210", inner))
    mine = node(NodeKind.FUNCTION, Relation.CALL, "mine", line("list.h:3"))
    tree = tree_of(entry("<thread root>", call("start_thread", start, mine, module=LIBC)))
    found = classify(tree)
    names = {tree.label(node): int(found.caller[node]) == node for node in range(len(tree))}
    assert (names["_M_run"], names["__invoke_impl<void, main()::<lambda()> >"]) == (False, False)
    assert (names["work"], names["mine"]) == (True, True)


def test_a_library_frame_above_which_no_frame_is_known_is_still_a_library() -> None:
    tree = tree_of(loop("app.c:3", call("fwrite", module=LIBC)), own("main"))
    assert classify(tree).call[1] == 1


def test_what_runs_on_the_device_is_neither_computing_nor_waiting_of_the_host() -> None:
    launch = call("cudaLaunchKernel", gpu_op("<gpu kernel>", kernel("saxpy", line("saxpy.cu:4"))), module=CUDART)
    tree = program(line("app.cu:9", launch))
    found = classify(tree)
    assert kind_of(tree, "cudaLaunchKernel") == A.GPU_LAUNCH
    assert found.kind[4:].tolist() == [A.GPU] * 3


def test_an_empty_tree_has_no_activities() -> None:
    assert len(classify(tree_of()).kind) == 0


MANY_NAMES = [name for names in NAMES.values() for name in names] + [
    "start_thread",
    UNNAMED,
    "<omp impl task>",
    "work._omp_fn.0",
]
MANY_MODULES = (APP, LIBC, LIBM, GOMP, MPI, STDCXX, CUDART, "/opt/libhpcrun.so")


@st.composite
def named_trees(draw: st.DrawFn) -> CallTree:
    """Any tree, its frames named after library functions, its modules after libraries."""
    names = tuple(draw(st.lists(st.sampled_from(MANY_NAMES), min_size=6, max_size=6)))
    modules = tuple(draw(st.lists(st.sampled_from(MANY_MODULES), min_size=3, max_size=3)))
    return replace(draw(trees()), names=names, modules=modules)


@given(named_trees())
def test_any_tree_is_classified(tree: CallTree) -> None:
    found = classify(tree)
    nodes = np.arange(len(tree))
    library = found.call >= 0
    for column in (found.call, found.site, found.caller):
        known = column >= 0
        assert np.all(column[known] <= nodes[known])
        assert np.all(tree.end[column[known]] > nodes[known])
    assert np.all(np.isin(found.kind, list(Activity)))
    assert np.all(found.call[found.call[library]] == found.call[library])
    assert np.all(found.call[found.site[found.site >= 0]] == -1)
    assert np.array_equal(found.caller >= 0, found.site >= 0)
    device = np.isin(tree.kind, (NodeKind.GPU_OP, NodeKind.GPU_KERNEL))
    assert np.all(found.kind[device] == A.GPU)
    assert np.all(np.isin(found.kind[~library & ~(tree.nearest(device) >= 0)], A.COMPUTE))


def region(name: str, *children: Node) -> Node:
    return node(NodeKind.REGION, Relation.CALL, name, *children)


def test_regions_named_like_mpi_calls_are_mpi_without_any_module() -> None:
    tree = tree_of(
        region("main", region("MPI_Allreduce"), region("MPI_Init()"), region("PMPI_Waitall(int, void*)")),
        region("MPI_Barrier"),
    )
    assert [Activity(kind).name for kind in classify(tree).kind] == ["COMPUTE", "MPI", "MPI_SETUP", "MPI", "MPI"]


def test_the_c_librarys_own_names_and_openmps_regions_are_known_without_a_load_module() -> None:
    tree = tree_of(
        entry(
            "<program root>",
            call(
                "main",
                call("__GI___libc_read"),
                call("__memmove_avx_unaligned_erms", at="memmove-vec-unaligned-erms.S:664"),
                call("memmove_rows", at="app.c:30"),
                call("__glibc_morecore", at="morecore.c:29"),
                call("read", at="app.c:4"),
                call("!$omp implicit barrier @app.c:9", at="app.c:9"),
                call("!$omp critical @app.c:7", at="app.c:7"),
                at="app.c:1",
            ),
        )
    )
    kinds = {tree.label(number): Activity(kind) for number, kind in enumerate(classify(tree).kind)}
    assert kinds["__GI___libc_read"] == Activity.IO
    assert kinds["read"] == kinds["memmove_rows"] == Activity.COMPUTE
    assert kinds["__memmove_avx_unaligned_erms"] == Activity.COPY
    assert kinds["__glibc_morecore"] == Activity.ALLOCATION
    assert kinds["!$omp implicit barrier @app.c:9"] == Activity.OMP_WAIT
    assert kinds["!$omp critical @app.c:7"] == Activity.OMP_LOCK


LIB, NUMPY = "/usr/lib/python3.11", "/env/lib/python3.11/site-packages/numpy"


def native(name: str, *children: object, module: str = "/lib/libpython3.11.so.1.0"):
    return call(name, *children, module=module)


def of_numpy(name: str, *children: object):
    return native(name, *children, module=f"{NUMPY}/_umath.so")


def of_mpi4py(name: str, *children: object):
    return native(
        name, *children, module="/env/lib/python3.11/site-packages/mpi4py/MPI.openmpi.cpython-311-x86_64-linux-gnu.so"
    )


def locks(name: str = "PyThread_acquire_lock_timed"):
    return native("lock_PyThread_acquire_lock", native(name))


@pytest.mark.parametrize(
    ("called", "named", "activity"),
    [
        (of_numpy("array_add", of_numpy("DOUBLE_add")), "array_add", A.LIBRARY),
        (of_numpy("dispatcher_vectorcall", call("cross", of_numpy("array_multiply"), at=f"{NUMPY}/numeric.py:49")), "cross", A.LIBRARY),
        (native("math_pow", native("pow", module=LIBM)), "math_pow", A.LIBRARY),
        (native("time_sleep", native("clock_nanosleep", module=LIBC)), "clock_nanosleep", A.SLEEP),
        (call("Future.result", call("Condition.wait", locks(), at=f"{LIB}/threading.py:3"), at=f"{LIB}/concurrent/futures/_base.py:451"),
         "Future.result", A.JOIN),
        (call("result", call("wait", locks(), at=f"{LIB}/threading.py:3"), at=f"{LIB}/concurrent/futures/_base.py:451"), "result", A.JOIN),
        (call("Event.wait", call("Condition.wait", locks(), at=f"{LIB}/threading.py:3"), at=f"{LIB}/threading.py:9"), "Event.wait", A.BLOCKED),
        (call("IMapIterator.next", call("Condition.wait", locks(), at=f"{LIB}/threading.py:3"), at=f"{LIB}/multiprocessing/pool.py:9"),
         "IMapIterator.next", A.JOIN),
        (native("pthread_cond_timedwait", module=LIBC), "pthread_cond_timedwait", A.LOCK),
        (native("take_gil", native("pthread_cond_timedwait", module=LIBC)), "take_gil", A.LOCK),
        (native("work", native("pthread_cond_wait", module=LIBC)), "pthread_cond_wait", A.BLOCKED),
        (call("Thread.join", locks(), at=f"{LIB}/threading.py:9"), "Thread.join", A.JOIN),
        (locks(), "lock_PyThread_acquire_lock", A.LOCK),
        (of_mpi4py("Allreduce", call("PMPI_Allreduce", module=MPI)), "PMPI_Allreduce", A.MPI),
        (of_mpi4py("recv", of_mpi4py("MPI_PyMPI_recv", call("PMPI_Mprobe", module=MPI))), "PMPI_Mprobe", A.MPI),
        (of_mpi4py("MPI_bootstrap", call("PMPI_Init_thread", module=MPI)), "MPI_bootstrap", A.MPI_SETUP),
    ],
)  # fmt: skip
def test_packages_of_python_do_what_the_line_that_calls_them_asks_for(
    called: Node, named: str, activity: Activity
) -> None:
    """Their own functions, in Python or not, are no places of the program."""
    tree = tree_of(call("main", called, at="app.py:8"))
    found, inner = classify(tree), len(tree) - 1
    assert (found.kind[inner], tree.names[tree.name[found.call[inner]]]) == (activity, named)
    assert (found.site[1:] == 0).all()


def test_the_interpreter_alone_is_no_library() -> None:
    """To a profiler that does not know Python all is native: there is no line that would have called it."""
    tree = program(
        call(
            "_PyEval_EvalFrameDefault",
            call("PyDict_GetItem", module="/lib/libpython3.11.so.1.0"),
            module="/lib/libpython3.11.so.1.0",
        )
    )
    assert kind_of(tree, "PyDict_GetItem") == A.COMPUTE


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("Eigen::internal::sub_assign_op<double, double>::assignCoeff", True),
        ("void tbb::detail::d1::parallel_for<int>", True),
        ("<core::sync::atomic::AtomicU32>::load", True),
        ("alloc::raw_vec::RawVecInner<A>::non_null", True),
        ("<usize as core::cmp::PartialOrd>::lt", True),
        ("<&std::fs::File as std::io::Write>::write", True),
        ("<T as alloc::slice::<impl [T]>::to_vec_in::ConvertVec>::to_vec", True),
        ("<main::Cell as core::ops::arith::Add>::add", False),
        ("main::Tally::score", False),
        ("myEigen::solve", False),
        ("<f64x4>::sum", False),
    ],
)
def test_functions_of_libraries_that_are_compiled_into_programs(name: str, package: bool) -> None:
    assert is_of_template_package(name) is package


def test_what_a_library_of_templates_does_is_its_callers_and_its_developers_own() -> None:
    used = program(own("solve", own("Eigen::dot", at="Dot.h:5")))
    alone = tree_of(entry("<program root>", own("Eigen::dot", at="Dot.h:5")))
    for tree, expected in ((used, "solve"), (alone, "Eigen::dot")):
        assert int(classify(tree).caller[at(tree, "Eigen::dot")]) == at(tree, expected)


def test_a_library_of_the_system_is_its_callers_and_an_interpreter_is_none() -> None:
    for module, activity in (
        ("/usr/lib/x86_64-linux-gnu/libhdf5.so.103", A.LIBRARY),
        ("/usr/lib64/libtbb.so.12", A.LIBRARY),
        ("/home/you/lib/libmodel.so", None),
        ("/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0", None),
        ("/usr/lib/x86_64-linux-gnu/openmpi/plugin.so", None),
        ("/usr/bin/app", None),
    ):
        assert activity_of_module(module) == activity


def test_rusts_locks_are_locks_whatever_they_call() -> None:
    spin = own("<core::sync::atomic::AtomicU32>::load", at="atomic.rs:3890")
    tree = program(
        own("main::score", own("<std::sys::sync::mutex::futex::Mutex>::lock_contended", spin, at="futex.rs:40"))
    )
    found = classify(tree)
    assert found.kind[at(tree, "<core::sync::atomic::AtomicU32>::load")] == A.LOCK
    assert int(found.caller[at(tree, "<core::sync::atomic::AtomicU32>::load")]) == at(tree, "main::score")


def test_processes_of_python_wait_for_messages_and_do_no_file_operations() -> None:
    pipe = call("os_read", call("read", module=LIBC), module="/usr/lib/libpython3.11.so.1.0")
    package = "/usr/lib/python3.11/multiprocessing/connection.py:378"
    received = call("Connection._recv", pipe, at=package)
    tree = tree_of(entry("<program root>", own("main", call("Connection._recv_bytes", received, at=package))))
    assert kind_of(tree, "read") == A.BLOCKED


def test_a_string_stream_formats_and_a_file_stream_writes() -> None:
    insert = "std::ostream& std::ostream::_M_insert<double>(double)"
    tree = program(
        own(
            "describe",
            line(
                "app.cpp:2",
                call("std::basic_ostringstream<char>::basic_ostringstream()", module=STDCXX),
                call(insert, module=STDCXX),
            ),
        ),
        own(
            "save",
            line("app.cpp:9", call("std::ostream::_M_insert<long>(long)", call("write", module=LIBC), module=STDCXX)),
        ),
    )
    assert kind_of(tree, insert) == A.LIBRARY
    assert (kind_of(tree, "std::ostream::_M_insert<long>(long)"), kind_of(tree, "write")) == (A.IO, A.IO)


def test_gos_runtime_is_no_code_of_the_program() -> None:
    made = call("runtime.growslice", call("runtime.mallocgc", call("runtime.gcStart")))
    tree = tree_of(
        entry(
            "<program root>",
            call("runtime.main", call("main.main", call("main.collect", made, call("runtime.findRunnable")))),
        )
    )
    found = classify(tree)
    assert kind_of(tree, "runtime.findRunnable") == A.LIBRARY
    assert kind_of(tree, "runtime.gcStart") == A.ALLOCATION
    assert int(found.caller[at(tree, "runtime.gcStart")]) == at(tree, "main.collect")
    assert kind_of(tree, "main.main") == A.COMPUTE
    for clone in ("runtime._omp_fn.0", "runtime.part.0", "runtime.lto_priv.1"):  # of a function of C
        assert activity_of_name(clone) is None


@pytest.mark.parametrize(
    ("name", "activity"),
    [
        ("halo::MPI-1", A.MPI), ("step::MPI_ALLREDUCE", A.MPI), ("MPI 2D", A.MPI), ("enforceIC::MPI2DCOMM", A.MPI),
        ("MPIBuffers", A.COMPUTE), ("setup MPI", A.COMPUTE), ("MPI::step", A.COMPUTE),
    ],
)  # fmt: skip
def test_a_region_that_its_author_calls_mpi_is_mpi_and_what_the_program_does_in_it_is_its_own(
    name: str, activity: Activity
) -> None:
    tree = program(region(name, own("pack")))
    assert kind_of(tree, name) == activity
    assert kind_of(tree, "pack") == A.COMPUTE


def test_a_function_with_lines_of_the_program_and_of_a_header_is_the_programs() -> None:
    header = "/usr/include/c++/12/bits/stl_vector.h"
    fill = call("fill", line("app.cpp:4", time=1.0), line(f"{header}:1278", time=2.0), module=APP)
    access = call("at", line(f"{header}:1126", time=1.0), module=APP)
    tree = program(line("app.cpp:9", fill, access))
    labels = [
        tree.function_name(node)
        for node in np.flatnonzero(template_library(tree) & (tree.kind == NodeKind.FUNCTION)).tolist()
    ]
    assert labels == ["at"]
    activities = classify(tree)
    assert activities.caller[at(tree, "fill")] == at(tree, "fill")
