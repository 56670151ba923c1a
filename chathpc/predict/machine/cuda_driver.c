/* A stand-in for CUDA's driver (libcuda), as far as LLVM's own runtime of OpenMP offload (libomptarget, its plug-in for CUDA) calls it: one
 * device, whose memory is memory of this process apart from the host's own, as on a GPU. Target regions go to machine_launch.
 *
 * What is mapped, by how many teams and threads a region is run, and what the device is told is decided there, as always.
 */
#define _GNU_SOURCE
#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

#undef cuEventDestroy /* the plug-in calls the first version of it */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define DONE(name) AS(done, name)
#define HANDLE(name) AS(handle, name)
/* A function that tells one value. */
#define TELLS(name, place, value, ...)                                                                                      \
    CUresult name(__VA_ARGS__) {                                                                                            \
        *(place) = value;                                                                                                   \
        return CUDA_SUCCESS;                                                                                                \
    }

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* threads of the host may use the device at once, the interpreter is for one */

/* There is nothing to do. */
__attribute__((used)) static CUresult done(void) { return CUDA_SUCCESS; }

/* Something of the driver's that is only handed on: contexts, modules, streams, events. */
__attribute__((used)) static CUresult handle(void **made) {
    static char any;
    *made = &any;
    return CUDA_SUCCESS;
}

/* The plug-in looks for the driver by its name; it is in this program. */
void *dlopen(const char *path, int mode) {
    static void *(*real)(const char *, int);
    if (!real) real = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    return real(path && strstr(path, "libcuda.so") ? NULL : path, mode);
}

/* Tasks of `nowait` regions run in the thread that meets them, so that the order is the same each time; what is freed is not kept for later;
 * and no region goes to the host because the device refuses it. */
__attribute__((constructor(101))) static void settings(void) {
    setenv("LIBOMP_USE_HIDDEN_HELPER_TASK", "0", 1);
    setenv("LIBOMPTARGET_MEMORY_MANAGER_THRESHOLD", "0", 1);
    setenv("OMP_TARGET_OFFLOAD", "MANDATORY", 1);
}

/* -- The device ----------------------------------------------------------------------------------------------------------- */

DONE(cuInit) DONE(cuCtxSetCurrent) DONE(cuCtxSetLimit) DONE(cuCtxEnablePeerAccess)
DONE(cuDevicePrimaryCtxSetFlags) DONE(cuDevicePrimaryCtxRelease) HANDLE(cuDevicePrimaryCtxRetain)
TELLS(cuDriverGetVersion, version, CUDA_VERSION, int *version)
TELLS(cuDeviceGetCount, count, 1, int *count)
TELLS(cuDeviceGet, device, 0, CUdevice *device, int number)
TELLS(cuCtxGetDevice, device, 0, CUdevice *device)
TELLS(cuCtxGetLimit, value, 0, size_t *value, CUlimit limit)
TELLS(cuDeviceCanAccessPeer, can, 0, int *can, CUdevice device, CUdevice other)
TELLS(cuDeviceTotalMem, bytes, machine_device()->memory_bytes, size_t *bytes, CUdevice device)
TELLS(cuGetErrorString, text, error == CUDA_ERROR_OUT_OF_MEMORY ? "out of memory" : "not found", CUresult error, const char **text)
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active) {
    *flags = CU_CTX_SCHED_BLOCKING_SYNC;
    *active = 1;
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
    snprintf(name, (size_t)length, "%s", machine_device()->name);
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice number) {
    const struct machine_device *device = machine_device();
    switch (attribute) {
#define IS(attribute, from) case CU_DEVICE_ATTRIBUTE_##attribute: *value = (int)(from); break;
        IS(COMPUTE_CAPABILITY_MAJOR, device->major) IS(COMPUTE_CAPABILITY_MINOR, device->minor) IS(WARP_SIZE, 32)
        IS(MULTIPROCESSOR_COUNT, device->multiprocessors) IS(MAX_THREADS_PER_MULTIPROCESSOR, device->threads_per_multiprocessor)
        IS(MAX_GRID_DIM_X, 0x7fffffff) IS(MAX_BLOCK_DIM_X, 1024) IS(MAX_THREADS_PER_BLOCK, 1024) IS(CLOCK_RATE, device->clock_khz)
    default: *value = 0;
    }
    return CUDA_SUCCESS;
}

/* -- Memory: all is done as it is asked for -------------------------------------------------------------------------------- */

static CUresult allocate(CUdeviceptr *address, size_t bytes, enum machine_space space) {
    pthread_mutex_lock(&lock);
    *address = (CUdeviceptr)machine_new(bytes, space);
    pthread_mutex_unlock(&lock);
    return *address ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes) { return allocate(address, bytes, MACHINE_DEVICE); }
CUresult cuMemAllocHost(void **address, size_t bytes) { return allocate((CUdeviceptr *)address, bytes, MACHINE_MAPPED); }
CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned int flags) { return allocate(address, bytes, MACHINE_MANAGED); }
CUresult cuMemFree(CUdeviceptr address) {
    pthread_mutex_lock(&lock);
    machine_freed((void *)address);
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}
AS(cuMemAlloc, cuMemAllocAsync) AS(cuMemFree, cuMemFreeHost) AS(cuMemFree, cuMemFreeAsync)

__attribute__((used)) static CUresult copy(void *to, const void *from, size_t bytes) {
    memmove(to, from, bytes);
    return CUDA_SUCCESS;
}
AS(copy, cuMemcpyDtoH) AS(copy, cuMemcpyHtoD) AS(copy, cuMemcpyDtoHAsync) AS(copy, cuMemcpyHtoDAsync) AS(copy, cuMemcpyDtoDAsync)
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext there, CUdeviceptr from, CUcontext here, size_t bytes, CUstream stream) {
    return copy((void *)to, (const void *)from, bytes);
}

HANDLE(cuStreamCreate) DONE(cuStreamDestroy) DONE(cuStreamSynchronize) DONE(cuStreamQuery) DONE(cuStreamWaitEvent)
HANDLE(cuEventCreate) DONE(cuEventDestroy) DONE(cuEventRecord) DONE(cuEventSynchronize)

/* -- Target regions: a kernel's handle is its name ------------------------------------------------------------------------ */

HANDLE(cuModuleLoadDataEx) DONE(cuModuleUnload)
CUresult cuModuleGetGlobal(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name) {
    size_t size = 0;
    void *found = machine_variable(name, &size);
    if (address) *address = (CUdeviceptr)found;
    if (bytes) *bytes = size;
    return found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    *function = (CUfunction)strdup(name);
    return machine_kernel(name, &(struct machine_kernel){0}) ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
    struct machine_kernel kernel = {0};
    machine_kernel((const char *)function, &kernel);
    *value = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK && kernel.max_threads ? (int)kernel.max_threads : 1024;
    return CUDA_SUCCESS;
}

/* What a program requires of the device stands among what it has for it (offload/include/Shared/APITypes.h of llvm-project). */
struct entry {
    void *address;
    char *name;
    size_t size;
    int32_t flags, data;
};
enum { ENTRY_REQUIRES = 0x10, REQUIRES_SHARED_MEMORY = 0x8 };
extern const struct entry __start_omp_offloading_entries[] __attribute__((weak)), __stop_omp_offloading_entries[] __attribute__((weak));

static int shares_memory(void) {
    const struct entry *one = __start_omp_offloading_entries;
    while (one < __stop_omp_offloading_entries && !(one->flags & ENTRY_REQUIRES && one->data & REQUIRES_SHARED_MEMORY)) one++;
    return one < __stop_omp_offloading_entries;
}

/* Where host and device share memory, a kernel may touch all that the host may write now. */
static void share_memory(void) {
    static void *shared[4096];
    static size_t count;
    while (count) machine_freed(shared[--count]);
    FILE *maps = fopen("/proc/self/maps", "r");
    unsigned long begin, end;
    char rights[8];
    struct machine_memory found;
    while (maps && count < sizeof shared / sizeof *shared && fscanf(maps, "%lx-%lx %7s%*[^\n]", &begin, &end, rights) == 3)
        if (rights[0] == 'r' && rights[1] == 'w' && !machine_memory_at((void *)begin, &found))
            machine_allocated(shared[count++] = (void *)begin, end - begin, MACHINE_MANAGED);
    if (maps) fclose(maps);
}

/* The plug-in hands parameters over in one buffer, in which each has eight bytes. */
CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x,
                        unsigned int block_y, unsigned int block_z, unsigned int shared, CUstream stream, void **arguments, void **extra) {
    enum { MOST_BYTES = 4096 };
    const uint32_t grid[3] = {grid_x, grid_y, grid_z}, block[3] = {block_x, block_y, block_z};
    void *places[MOST_BYTES / 8];
    for (size_t k = 0; k < MOST_BYTES / 8; k++) places[k] = (char *)extra[1] + 8 * k;
    pthread_mutex_lock(&lock);
    if (shares_memory()) share_memory();
    int missing = machine_launch((const char *)function, grid, block, shared, places);
    pthread_mutex_unlock(&lock);
    return missing ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}
