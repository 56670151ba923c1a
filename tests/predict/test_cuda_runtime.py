"""The stand-in for NVIDIA's runtime, called by small C++ programs as the compiler's code calls it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from chathpc.predict.build import machine_objects
from chathpc.predict.compilers import MACHINE, Toolkit, ToolkitMissingError, find_toolkit

LOGGING = Path(__file__).parent / "logging_machine.c"
#: What nvcc's code does on its own: it registers a kernel by the address of a function of the host.
HEAD = """
#include <cstdio>
#include <cstring>
#include <climits>
#include <initializer_list>
#include <cuda_runtime_api.h>
extern "C" void __cudaRegisterFunction(void **, const char *, char *, const char *, int, uint3 *, uint3 *, dim3 *, dim3 *, int *);
extern "C" void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
extern "C" unsigned __cudaPushCallConfiguration(dim3, dim3, size_t, CUstream_st *);
extern "C" cudaError_t __cudaPopCallConfiguration(dim3 *, dim3 *, size_t *, void *);
static char stubs[4096], shadow[64];
static const void *kernel(const char *name) {
    static int count;
    char *stub = stubs + count++;
    __cudaRegisterFunction(0, stub, 0, name, -1, 0, 0, 0, 0, 0);
    return stub;
}
static void say(cudaError_t error) { printf("%s\\n", cudaGetErrorName(error)); }
"""


@pytest.fixture(scope="module")
def toolkit() -> Toolkit:
    try:
        return find_toolkit()
    except ToolkitMissingError:
        pytest.skip("NVIDIA's headers are not there")


@pytest.fixture(scope="module")
def objects(toolkit: Toolkit, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    return machine_objects((MACHINE / "cuda_runtime.c", LOGGING), toolkit, tmp_path_factory.mktemp("objects") / "kept")


def said(tmp_path: Path, toolkit: Toolkit, objects: tuple[Path, ...], body: str, head: str = "") -> list[str]:
    """The lines that a program with this main prints."""
    source, program = tmp_path / "main.cpp", tmp_path / "main"
    source.write_text(f"{HEAD}{head}\nint main() {{\n{body}\n}}\n")
    command = [
        "g++",
        "-w",
        f"-I{toolkit.include}",
        str(source),
        *map(str, objects),
        "-o",
        str(program),
        "-lpthread",
        "-lm",
    ]
    subprocess.run(command, check=True)
    return subprocess.run([str(program)], check=True, capture_output=True, text=True, timeout=60).stdout.splitlines()


@pytest.mark.proprietary
def test_blocks_of_a_multiprocessor_are_those_of_nvidias_calculator(
    tmp_path: Path, toolkit: Toolkit, objects: tuple[Path, ...]
) -> None:
    lines = said(
        tmp_path,
        toolkit,
        objects,
        """
        cudaDeviceProp device; cudaGetDeviceProperties(&device, 0);
        cudaOccDeviceProp properties = device; cudaOccDeviceState state; state.cacheConfig = CACHE_PREFER_SHARED;
        state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
        int compared = 0, registers[] = {8, 32, 33, 40, 64, 65, 128, 255}, shared[] = {0, 100, 4096, 10000, 30000, 49152};
        for (int r : registers) for (int s : shared) {
            static char names[100][32]; static int count;
            char *name = names[count++]; sprintf(name, "k_%d_%d_0", r, s);
            const void *function = kernel(name);
            cudaFuncAttributes attributes; cudaFuncGetAttributes(&attributes, function);
            cudaOccFuncAttributes wanted = attributes; wanted.shmemLimitConfig = FUNC_SHMEM_LIMIT_DEFAULT;
            for (int threads = 32; threads <= 1024; threads += 32) for (int dynamic : {0, 1000, 20000}) {
                int ours; cudaOccResult theirs;
                if (dynamic + s > 49152) continue;
                cudaOccMaxActiveBlocksPerMultiprocessor(&theirs, &properties, &wanted, &state, threads, dynamic);
                cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ours, function, threads, dynamic);
                compared++;
                if (ours != theirs.activeBlocksPerMultiprocessor)
                    printf("%d registers %d + %d shared %d threads: %d, not %d\\n", r, s, dynamic, threads, ours, theirs.activeBlocksPerMultiprocessor);
            }
        }
        printf("%d compared\\n", compared);
        """,
        head="#include <cuda_occupancy.h>",
    )
    assert lines == [f"{8 * 32 * (5 * 2 + 3 + 0 + 2)} compared"]


@pytest.mark.proprietary
def test_memory_is_zero_lazily_given_and_no_more_than_the_device_has(
    tmp_path: Path, toolkit: Toolkit, objects: tuple[Path, ...]
) -> None:
    lines = said(
        tmp_path,
        toolkit,
        objects,
        """
        char *large, *more, *host = new char[3 << 20];
        say(cudaMalloc((void **)&large, (size_t)9 << 30));
        say(cudaMalloc((void **)&more, (size_t)2 << 30));
        say(cudaPeekAtLastError()); say(cudaGetLastError()); say(cudaGetLastError());
        printf("%d %d\\n", large[5000000000], more == nullptr);
        cudaMemset(large, 7, 3 << 20); cudaMemset(large + 1, 0, (3 << 20) - 2);
        cudaMemcpy(host, large, 3 << 20, cudaMemcpyDeviceToHost);
        int sum = 0; for (int i = 0; i < 3 << 20; i++) sum += host[i];
        printf("%d\\n", sum);
        say(cudaMemcpy(large + ((size_t)9 << 30) - 4, host, 8, cudaMemcpyHostToDevice));
        cudaPointerAttributes what; cudaPointerGetAttributes(&what, large + 10); printf("%d ", what.type);
        cudaPointerGetAttributes(&what, host); printf("%d\\n", what.type);
        say(cudaHostRegister(host, 3 << 20, 0)); say(cudaFree(host)); say(cudaHostUnregister(host));
        say(cudaFree(large)); say(cudaFree(large)); say(cudaFree(0));
        """,
    )
    assert lines == [
        f"allocated {9 << 30} 0",
        "cudaSuccess",
        "cudaErrorMemoryAllocation",
        "cudaErrorMemoryAllocation",
        "cudaErrorMemoryAllocation",
        "cudaSuccess",
        "0 1",
        "14",
        "cudaErrorInvalidValue",
        "2 0",
        f"allocated {3 << 20} 1",
        "cudaSuccess",
        "cudaErrorInvalidValue",
        "freed",
        "cudaSuccess",
        "freed",
        "cudaSuccess",
        "cudaErrorInvalidValue",
        "cudaSuccess",
    ]


@pytest.mark.proprietary
def test_what_a_device_refuses_is_refused(tmp_path: Path, toolkit: Toolkit, objects: tuple[Path, ...]) -> None:
    lines = said(
        tmp_path,
        toolkit,
        objects,
        """
        const void *two = kernel("two"), *small = kernel("k_32_0_256"), *unknown = kernel("unknown");
        int a = 5; double b = 2.5; void *arguments[] = {&a, &b};
        say(cudaLaunchKernel(two, dim3(2, 3), dim3(32, 4), arguments, 16, 0));
        say(cudaLaunchKernel(two, dim3(1), dim3(1025), arguments, 0, 0));
        say(cudaLaunchKernel(two, dim3(0), dim3(1), arguments, 0, 0));
        say(cudaLaunchKernel(two, dim3(1, 70000), dim3(1), arguments, 0, 0));
        say(cudaLaunchKernel(two, dim3(1), dim3(1), arguments, 50000, 0));
        say(cudaFuncSetAttribute(two, cudaFuncAttributeMaxDynamicSharedMemorySize, 110000));
        say(cudaFuncSetAttribute(two, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
        say(cudaLaunchKernel(two, dim3(1), dim3(1), arguments, 50000, 0));
        say(cudaLaunchKernel(small, dim3(1), dim3(512), 0, 0, 0));
        say(cudaLaunchKernel(unknown, dim3(1), dim3(1), 0, 0, 0));
        say(cudaLaunchKernel(shadow, dim3(1), dim3(1), 0, 0, 0));
        """,
    )
    assert lines == [
        "launch two 2,3,1 32,4,1 16 (5, 2.5)",
        "cudaSuccess",
        "cudaErrorInvalidConfiguration",
        "cudaErrorInvalidConfiguration",
        "cudaErrorInvalidConfiguration",
        "cudaErrorInvalidValue",
        "cudaErrorInvalidValue",
        "cudaSuccess",
        "launch two 1,1,1 1,1,1 50000 (5, 2.5)",
        "cudaSuccess",
        "cudaErrorLaunchOutOfResources",
        "cudaErrorInvalidDeviceFunction",
        "cudaErrorInvalidDeviceFunction",
    ]


@pytest.mark.proprietary
def test_variables_arrays_and_pitched_memory_are_copied(
    tmp_path: Path, toolkit: Toolkit, objects: tuple[Path, ...]
) -> None:
    lines = said(
        tmp_path,
        toolkit,
        objects,
        """
        __cudaRegisterVar(0, shadow, 0, "a_variable", 0, 64, 1, 0);
        int value = 42, back = 0; size_t size;
        say(cudaMemcpyToSymbol(shadow, &value, 4, 60, cudaMemcpyHostToDevice));
        say(cudaMemcpyToSymbol(shadow, &value, 4, 61, cudaMemcpyHostToDevice));
        say(cudaMemcpyFromSymbol(&back, shadow, 4, 60, cudaMemcpyDeviceToHost));
        cudaGetSymbolSize(&size, shadow); printf("%d %zu\\n", back, size);
        say(cudaMemcpyToSymbol(&value, &value, 4, 0, cudaMemcpyHostToDevice));
        char rows[2][3] = {{1, 2, 3}, {4, 5, 6}}, seen[2][3]; char *pitched; size_t pitch;
        cudaMallocPitch((void **)&pitched, &pitch, 3, 2);
        cudaMemcpy2D(pitched, pitch, rows, 3, 3, 2, cudaMemcpyHostToDevice);
        printf("%zu %d\\n", pitch, pitched[pitch + 2]);
        cudaArray_t array; cudaChannelFormatDesc bytes = cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindUnsigned);
        cudaMallocArray(&array, &bytes, 3, 2, 0);
        cudaMemcpy2DToArray(array, 0, 0, rows, 3, 3, 2, cudaMemcpyHostToDevice);
        cudaMemcpy3DParms wanted = {}; wanted.srcArray = array; wanted.dstPtr.ptr = seen; wanted.dstPtr.pitch = 3;
        wanted.dstPtr.ysize = 2; wanted.extent.width = 3; wanted.extent.height = 2; wanted.extent.depth = 1;
        cudaMemcpy3D(&wanted); printf("%d\\n", memcmp(seen, rows, 6));
        cudaEvent_t begin, end; cudaEventCreate(&begin); cudaEventCreate(&end); cudaEventRecord(begin, 0);
        cudaEventRecord(end, 0); float passed; cudaEventElapsedTime(&passed, begin, end); printf("%d\\n", passed > 0);
        """,
    )
    assert lines == [
        "cudaSuccess",
        "cudaErrorInvalidValue",
        "cudaSuccess",
        "42 64",
        "cudaErrorInvalidSymbol",
        "allocated 1024 0",
        "512 6",
        "allocated 6 0",
        "0",
        "1",
    ]


@pytest.mark.proprietary
def test_a_launch_within_the_arguments_of_another_has_its_own_configuration(
    tmp_path: Path, toolkit: Toolkit, objects: tuple[Path, ...]
) -> None:
    lines = said(
        tmp_path,
        toolkit,
        objects,
        """
        dim3 grid, block; size_t shared; cudaStream_t stream;
        __cudaPushCallConfiguration(1, 2, 3, 0); __cudaPushCallConfiguration(4, 5, 6, 0);
        for (int i = 0; i < 2; i++) {
            __cudaPopCallConfiguration(&grid, &block, &shared, &stream);
            printf("%u %u %zu\\n", grid.x, block.x, shared);
        }
        say(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
        """,
    )
    assert lines == ["4 5 6", "1 2 3", "cudaErrorMissingConfiguration"]


@pytest.mark.proprietary
def test_random_numbers_of_the_host_have_the_moments_that_were_asked_for(
    tmp_path: Path, toolkit: Toolkit, objects: tuple[Path, ...]
) -> None:
    lines = said(
        tmp_path,
        toolkit,
        objects,
        """
        enum { COUNT = 100000 }; float *to; cudaMalloc((void **)&to, COUNT * sizeof(float));
        printf("%d %d\\n", curandGenerateUniform(0, to, COUNT), curandGenerateUniform(0, to, COUNT + 1));
        double sum = 0, low = 9, high = -9; for (int i = 0; i < COUNT; i++) {
            sum += to[i]; low = to[i] < low ? to[i] : low; high = to[i] > high ? to[i] : high;
        }
        printf("%d %d %d\\n", low > 0 && low < 1e-3, high <= 1 && high > 0.999, sum / COUNT > 0.497 && sum / COUNT < 0.503);
        curandGenerateNormal(0, to, COUNT, 3, 2); sum = 0; double squares = 0;
        for (int i = 0; i < COUNT; i++) { sum += to[i]; squares += to[i] * to[i]; }
        printf("%.1f %.1f\\n", sum / COUNT, squares / COUNT - sum / COUNT * sum / COUNT);
        """,
        head='extern "C" int curandGenerateUniform(void *, float *, size_t); extern "C" int curandGenerateNormal(void *, float *, size_t, float, float);',
    )
    assert lines == [f"allocated {400000} 0", "0 1", "1 1 1", "3.0 4.0"]
