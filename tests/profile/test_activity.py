from __future__ import annotations

import pytest

from chathpc.profile.activity import Activity, activity_of_module, activity_of_name, base_name

A = Activity

NAMES: dict[Activity | None, tuple[str, ...]] = {
    A.MPI_SETUP: (
        "ompi_init_f", "ompi_finalize_f", "MPI_Init", "PMPI_Init_thread [libmpi.so.40]", "MPI_Finalize",
                   "mpi_init_", "pmpi_finalize_f08_", "ompi_mpi_finalize", "MPIR_Init_thread"),
    A.MPI: (
        "MPI_Send", "PMPI_Allreduce [libmpi.so.40.30.4]", "PMPI_Waitall_f08 [libmpi_mpifh.so.40]", "mpi_allreduce_",
        "pmpi_barrier__", "MPIX_Comm_shrink", "MPI_Initialized", "ompi_request_default_wait", "opal_progress",
        "mca_pml_ob1_send [mca_pml_ob1.so]", "MPIR_Allreduce_impl", "MPIDI_CH3I_Progress", "ucp_worker_progress",
        "fi_cq_read", "psm2_mq_ipeek", "nccl_group_end",
    ),
    A.OMP_LOCK: (
        "GOMP_critical_start", "gomp_mutex_lock_slow", "GOMP_atomic_start", "omp_set_lock", "omp_unset_nest_lock",
        "__kmpc_critical", "__kmpc_end_critical", "__kmp_acquire_queuing_lock", "<omp mutex wait>", "__kmpc_ordered",
    ),
    A.OMP_WAIT: (
        "gomp_team_barrier_wait_end", "gomp_barrier_wait", "gomp_team_end", "GOMP_barrier", "__kmp_fork_barrier",
        "__kmpc_barrier", "__kmp_join_call", "__kmp_suspend_64", "<omp barrier wait>", "<omp idle>", "<omp task wait>",
        "__kmp_launch_worker",
    ),
    A.OMP_OVERHEAD: ("GOMP_parallel", "gomp_thread_start", "__kmpc_fork_call", "__kmpc_for_static_init_4",
                     "omp_get_num_threads", "<omp overhead>", "GOACC_parallel_keyed"),
    A.ALLOCATION: (
        "malloc", "__libc_malloc", "__GI___libc_malloc [libc.so.6]", "_int_free [libc.so.6]", "_int_malloc", "cfree",
        "_mid_memalign.constprop.0 [libc.so.6]", "unlink_chunk.isra.0", "malloc_consolidate", "tcache_put", "calloc",
        "realloc@plt", "free@@GLIBC_2.2.5", "posix_memalign", "operator new(unsigned long)", "operator delete(void*)",
        "je_malloc", "tc_malloc", "mi_free", "scalable_malloc", "hpcrun_malloc_intercept [libhpcrun.so]", "sysmalloc",
        "__default_morecore", "sbrk", "brk", "mmap64", "__munmap", "madvise", "mremap",
    ),
    A.IO: (
        "read", "__GI___libc_write [libc.so.6]", "write@plt", "pread64", "pwritev", "fread", "fwrite", "fprintf",
        "_IO_fwrite [libc.so.6]", "_IO_new_file_write", "_IO_file_xsputn", "__GI__IO_fflush", "fsync", "__GI_fdatasync",
        "open64", "openat", "close", "lseek", "hpcrun_write", "getline", "puts", "fgets_unlocked",
        "std::basic_filebuf<char>::overflow", "std::ostream::write(char const*, long)", "_gfortran_st_write",
        "_gfortran_transfer_real_write", "MPI_File_write_all", "PMPI_File_read_at [libmpi.so.40]", "mpi_file_open_",
        "H5Fopen", "H5Dwrite", "__vfprintf_internal [libc.so.6]",
    ),
    A.LOCK: ("pthread_mutex_lock", "__GI___pthread_mutex_lock", "pthread_spin_lock", "__lll_lock_wait",
             "pthread_rwlock_wrlock", "std::mutex::lock()", "__pthread_mutex_unlock_usercnt"),
    A.SLEEP: ("usleep", "sleep", "__GI___clock_nanosleep", "clock_nanosleep@@GLIBC_2.17 [libc.so.6]", "nanosleep",
              "std::this_thread::sleep_for<long, std::ratio<1l, 1l> >"),
    A.JOIN: ("pthread_join", "__pthread_timedjoin_ex", "pthread_clockjoin_ex", "std::thread::join()", "waitpid", "wait4",
             "thrd_join", "__GI___wait4"),
    A.BLOCKED: (
        "Connection._recv", "_ConnectionBase.recv_bytes", "SemLock.__enter__",
        "poll", "__GI___poll [libc.so.6]", "epoll_wait", "select", "pselect64", "futex_wait", "pthread_cond_wait",
        "__futex_abstimed_wait_common64", "sem_wait", "__new_sem_wait_slow64.constprop.0", "pthread_barrier_wait",
        "sigtimedwait", "pause", "accept4", "recvmsg", "connect", "sched_yield", "__GI___sched_yield", "syscall",
        "std::condition_variable::wait(std::unique_lock<std::mutex>&)", "cnd_wait",
    ),
    A.COPY: (
        "memcpy", "__memmove_avx_unaligned_erms", "__mempcpy_chk_avx512_unaligned_erms", "memset", "wmemset",
        "__memset_chk_avx512_unaligned_erms", "strncpy", "strdup", "bzero", "stpcpy", "std::copy<int*>",
        "process_vm_readv", "copy_file_range",
    ),
    A.GPU_LAUNCH: ("cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cuGraphLaunch", "cudaGraphLaunch",
                   "hipLaunchKernel", "hipModuleLaunchKernel", "hipExtModuleLaunchKernel", "__cudaPushCallConfiguration",
                   "zeCommandListAppendLaunchKernel", "clEnqueueNDRangeKernel"),
    A.GPU_SYNC: ("cudaDeviceSynchronize", "cudaStreamSynchronize", "hipEventSynchronize", "cuCtxSynchronize",
                 "cudaEventQuery", "zeCommandQueueSynchronize", "clFinish", "clWaitForEvents"),
    A.GPU_COPY: ("cudaMemcpy", "cudaMemcpyAsync", "cudaMemset", "cuMemcpyHtoD_v2", "hipMemcpy", "hipMemcpyWithStream",
                 "cudaMemPrefetchAsync", "zeCommandListAppendMemoryCopy", "clEnqueueReadBuffer"),
    A.GPU_API: ("cudaMalloc", "cudaFree", "hipMalloc", "cuModuleLoadData", "cublasDgemm_v2", "zeInit", "clBuildProgram",
                "omp_target_alloc", "__tgt_target_kernel"),
    A.PROFILER: ("hpcrun_sample_callpath", "papi_read", "cuptiActivityFlushAll", "monitor_main"),
    A.PAGE_FAULT: ("asm_exc_page_fault", "exc_page_fault", "do_user_addr_fault", "handle_mm_fault", "do_page_fault",
                   "__do_page_fault", "page_fault", "do_translation_fault"),
    A.JIT: ("llvm::orc::LLJIT::lookup", "_PyEval_EvalFrameDefault", "PyEval_EvalCode", "nvrtcCompileProgram"),
    None: (
        "main", "solve", "copy_grid", "reader", "read_input", "write_output", "waiting", "fib", "λ", "sleepy", "poller",
        "exp", "pow", "grid::copy(int)", "MAIN__", "start_thread", "qsort_r", "<unknown procedure> 0x1f780 [libx.so]",
        "lockstep", "mutexes", "allocate", "std::vector<int>::push_back(int&&)", "mpirun", "opening", "h5", "open_mesh",
        "", "closest", "rank", "launch", "synchronize",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "activity"), [(name, kind) for kind, names in NAMES.items() for name in names])
def test_a_name_says_what_its_frame_does(name: str, activity: Activity | None) -> None:
    assert activity_of_name(name) == activity


@pytest.mark.parametrize(
    ("path", "activity"),
    [
        ("/usr/lib/libmpi.so.40.30.4", A.MPI),
        ("/usr/lib/openmpi/mca_btl_vader.so", A.MPI),
        ("libopen-pal.so.40", A.MPI),
        ("/opt/mpich/lib/libmpich.so.12", A.MPI),
        ("/usr/lib/libucp.so.0", A.MPI),
        ("/usr/lib/libinfinipath.so.4.0", A.MPI),
        ("/usr/lib/libibverbs/libefa-rdmav34.so", A.MPI),
        ("/opt/libefactory.so", None),
        ("/usr/lib/libgomp.so.1.0.0", A.OMP_WAIT),
        ("/usr/lib/llvm/libomp.so.5", A.OMP_WAIT),
        ("/opt/intel/libiomp5.so", A.OMP_WAIT),
        ("/lib/libm.so.6", A.MATH),
        ("/lib/libm-2.31.so", A.MATH),
        ("/opt/intel/libsvml.so", A.MATH),
        ("/usr/lib/libcuda.so.1", A.GPU_API),
        ("/opt/rocm/lib/libamdhip64.so.5", A.GPU_API),
        ("/usr/lib/libze_loader.so.1", A.GPU_API),
        ("/opt/hpctoolkit/libhpcrun.so", A.PROFILER),
        ("/lib/libc.so.6", A.LIBRARY),
        ("/lib64/ld-linux-x86-64.so.2", A.LIBRARY),
        ("libstdc++.so.6", A.LIBRARY),
        ("/usr/lib/libgfortran.so.5", A.LIBRARY),
        ("[vdso]", A.LIBRARY),
        ("/opt/app", None),
        ("/opt/libmesh.so", None),
        ("/opt/libmpy/app", None),
        ("", None),
        ("/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1", A.JIT),
        ("/usr/local/cuda/lib64/libnvrtc.so.12", A.JIT),
    ],
)
def test_a_module_says_what_its_code_is_for(path: str, activity: Activity | None) -> None:
    assert activity_of_module(path) == activity


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("__GI___poll [libc.so.6]", "poll"),
        ("pow@@GLIBC_2.29 [libm.so.6]", "pow"),
        ("memcpy@plt", "memcpy"),
        ("unlink_chunk.isra.0", "unlink_chunk"),
        ("_mid_memalign.constprop.0 [libc.so.6]", "mid_memalign"),
        ("main", "main"),
        ("___", "___"),
        ("", ""),
    ],
)
def test_a_base_name_has_no_suffixes_and_no_underscores_in_front(name: str, base: str) -> None:
    assert base_name(name) == base


def test_functions_that_nsight_systems_wraps_are_what_they_wrap() -> None:
    assert activity_of_name("NSYS_OSRT_pthread_mutex_lock_1") == Activity.LOCK
