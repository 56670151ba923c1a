/* A stand-in for NVIDIA's libcudart: what the host part of a CUDA program calls.
 *
 * Device memory is memory of the process, copies are made at once, and all streams are one. A launch goes to the interpreter
 * (machine.h). It is compiled against the headers of the toolkit that compiles the program, so that records have the layout
 * the program knows; what is not here is caught at the link of the program (chathpc/predict/build.py). Limits and
 * granularities are those of the CUDA C++ Programming Guide, appendix "Compute Capabilities".
 */
#define _GNU_SOURCE
#include <cuda_runtime_api.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "machine.h"

#define DONE(name) AS(done, name)
#define HANDLE(name) AS(handle, name)
/* A function that tells one value. */
#define TELLS(name, place, value, ...)                                                                                      \
    cudaError_t name(__VA_ARGS__) {                                                                                         \
        *(place) = value;                                                                                                   \
        return cudaSuccess;                                                                                                 \
    }
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

enum { WARP = 32, MAX_THREADS = 1024, DEFAULT_SHARED = 48 << 10, CONSTANT = 64 << 10 };

static _Thread_local cudaError_t last_error;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static cudaError_t said(cudaError_t error) {
    if (error != cudaSuccess) last_error = error;
    return error;
}

/* There is nothing to do. */
__attribute__((used)) static cudaError_t done(void) { return cudaSuccess; }

/* Something of the driver's that is only handed on: streams, pools, graphs and their nodes. */
__attribute__((used)) static cudaError_t handle(void *made) {
    *(void **)made = calloc(1, sizeof(uint64_t));
    return cudaSuccess;
}

/* -- Names of the device code, by the address that stands for them in the host's ---------------------------------------- */

struct symbol {
    const void *host;
    const char *name;
    void **managed;       /* the host's pointer to a managed variable */
    size_t bytes;         /* of a variable */
    int opted_in;         /* dynamic shared memory that a kernel was given leave for, in bytes; 0 if none */
    int known;            /* whether `kernel` was asked for */
    struct machine_kernel kernel;
};
static struct symbol *symbols;
static size_t symbol_count;

static struct symbol *find_symbol(const void *host) {
    for (size_t i = symbol_count; i-- > 0;)
        if (symbols[i].host == host) return &symbols[i];
    return NULL;
}

static struct symbol *add_symbol(const void *host, const char *name) {
    if (!(symbol_count & (symbol_count - 1))) symbols = realloc(symbols, (symbol_count ? 2 * symbol_count : 1) * sizeof *symbols);
    if (!symbols) abort();
    symbols[symbol_count] = (struct symbol){.host = host, .name = name};
    return &symbols[symbol_count++];
}

void **__cudaRegisterFatBinary(void *binary) {
    static void *registered;
    return &registered;
}
DONE(__cudaRegisterFatBinaryEnd) DONE(__cudaUnregisterFatBinary)

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int threads, uint3 *thread,
                            uint3 *block, dim3 *block_size, dim3 *grid_size, int *warp) {
    add_symbol(host, name);
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t bytes, int constant,
                       int global) {
    add_symbol(host, name)->bytes = bytes;
}

void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int external, size_t bytes,
                              int constant, int global) {
    struct symbol *added = add_symbol(host, name);
    added->managed = host;
    added->bytes = bytes;
}

/* The compiler calls it before the host first touches a managed variable. */
char __cudaInitModule(void **handle) {
    for (size_t i = 0; i < symbol_count; i++)
        if (symbols[i].managed && !*symbols[i].managed) {
            size_t bytes;
            void *variable = machine_variable(symbols[i].name, &bytes);
            *symbols[i].managed = variable ? variable : calloc(1, symbols[i].bytes);
        }
    return 1;
}

/* Textures and surfaces by reference are gone since CUDA 12; older compilers register them. */
void __cudaRegisterTexture(void) { machine_missing("texture references"); }
void __cudaRegisterSurface(void) { machine_missing("surface references"); }

/* Address of `symbol` + `offset` if `count` bytes are there. The host's shadow of the variable, or for managed ones the address
 * of the pointer to it, stands for it. */
static cudaError_t locate(const void *symbol, size_t offset, size_t count, char **found) {
    struct symbol *known = find_symbol(symbol);
    size_t bytes = 0;
    char *base = known ? machine_variable(known->name, &bytes) : NULL;
    if (!base) return cudaErrorInvalidSymbol;
    if (offset > bytes || count > bytes - offset) return cudaErrorInvalidValue;
    *found = base + offset;
    return cudaSuccess;
}

cudaError_t cudaGetSymbolAddress(void **address, const void *symbol) {
    char *found = NULL;
    cudaError_t error = locate(symbol, 0, 0, &found);
    if (!error) *address = found;
    return said(error);
}

cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol) {
    struct symbol *known = find_symbol(symbol);
    if (!known || !machine_variable(known->name, size)) return said(cudaErrorInvalidSymbol);
    return cudaSuccess;
}

/* -- Memory --------------------------------------------------------------------------------------------------------------- */

static cudaError_t allocate(void **address, size_t bytes, enum machine_space space) {
    if (!address) return said(cudaErrorInvalidValue);
    *address = NULL;
    if (!bytes) return cudaSuccess;
    pthread_mutex_lock(&lock);
    *address = machine_new(bytes, space);
    if (*address) machine_blank(*address, space == MACHINE_DEVICE);
    pthread_mutex_unlock(&lock);
    return said(*address ? cudaSuccess : cudaErrorMemoryAllocation);
}

/* What machine_new gave, or what the program `owned` before. */
static cudaError_t release(void *base, int owned) {
    struct machine_memory found;
    if (!base) return cudaSuccess;
    pthread_mutex_lock(&lock);
    int known = machine_memory_at(base, &found) && found.base == base && owned == !found.ours;
    if (known) machine_freed(base);
    pthread_mutex_unlock(&lock);
    return said(known ? cudaSuccess : cudaErrorInvalidValue);
}

/* The host writes there. */
static void filled(const void *address) {
    pthread_mutex_lock(&lock);
    machine_blank(address, 0);
    pthread_mutex_unlock(&lock);
}

/* Whether memory is known at an address, which is then told. */
static int known_at(const void *address, struct machine_memory *found) {
    pthread_mutex_lock(&lock);
    int known = machine_memory_at(address, found);
    pthread_mutex_unlock(&lock);
    return known;
}

cudaError_t cudaMalloc(void **address, size_t bytes) { return allocate(address, bytes, MACHINE_DEVICE); }
AS(cudaMalloc, cudaMallocAsync) AS(cudaMalloc, cudaMallocFromPoolAsync)
cudaError_t cudaMallocManaged(void **address, size_t bytes, unsigned int flags) {
    return allocate(address, bytes, MACHINE_MANAGED);
}
cudaError_t cudaMallocHost(void **address, size_t bytes) { return allocate(address, bytes, MACHINE_MAPPED); }
cudaError_t cudaFree(void *base) { return release(base, 0); }
AS(cudaMallocHost, cudaHostAlloc) AS(cudaFree, cudaFreeAsync) AS(cudaFree, cudaFreeHost)

cudaError_t cudaHostRegister(void *base, size_t bytes, unsigned int flags) {
    struct machine_memory found;
    if (!base || !bytes) return said(cudaErrorInvalidValue);
    pthread_mutex_lock(&lock);
    int taken = machine_memory_at(base, &found);
    if (!taken) machine_allocated(base, bytes, MACHINE_MAPPED);
    pthread_mutex_unlock(&lock);
    return said(taken ? cudaErrorHostMemoryAlreadyRegistered : cudaSuccess);
}
cudaError_t cudaHostUnregister(void *base) {
    return release(base, 1) ? said(cudaErrorHostMemoryNotRegistered) : cudaSuccess;
}
TELLS(cudaHostGetDevicePointer, device, host, void **device, void *host, unsigned int flags)
TELLS(cudaHostGetFlags, flags, cudaHostAllocMapped, unsigned int *flags, void *host)

/* Rows begin at multiples of 512 bytes, as on devices of compute capability 3.0 and later. */
static size_t pitch_of(size_t width) { return (width + 511) & ~(size_t)511; }

cudaError_t cudaMallocPitch(void **address, size_t *pitch, size_t width, size_t height) {
    *pitch = pitch_of(width);
    return cudaMalloc(address, *pitch * height);
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pitched, struct cudaExtent extent) {
    size_t pitch = pitch_of(extent.width);
    *pitched = (struct cudaPitchedPtr){NULL, pitch, extent.width, extent.height};
    return cudaMalloc(&pitched->ptr, pitch * extent.height * extent.depth);
}

cudaError_t cudaMemGetInfo(size_t *left, size_t *total) {
    if (total) *total = machine_device()->memory_bytes;
    if (left) *left = machine_device()->memory_bytes - machine_device_used();
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *address) {
    static const enum cudaMemoryType types[] = {cudaMemoryTypeDevice, cudaMemoryTypeHost, cudaMemoryTypeManaged};
    struct machine_memory found;
    int known = known_at(address, &found);
    memset(attributes, 0, sizeof *attributes);
    attributes->type = known ? types[found.space] : cudaMemoryTypeUnregistered;
    if (known) attributes->devicePointer = (void *)address;
    if (!known || found.space != MACHINE_DEVICE) attributes->hostPointer = (void *)address;
    return cudaSuccess;
}

/* Whether `count` bytes at `address` may be touched; of memory that is not ours the program knows best. */
static int inside(const void *address, size_t count) {
    struct machine_memory found;
    if (!count) return 1;
    return address && (!known_at(address, &found) || count <= found.bytes - (size_t)((const char *)address - found.base));
}

__attribute__((used)) static cudaError_t copy(void *to, const void *from, size_t count) {
    if (!inside(to, count) || !inside(from, count)) return said(cudaErrorInvalidValue);
    if (count) memmove(to, from, count);
    filled(to);
    return cudaSuccess;
}

/* Zeros are what untouched pages hold: whole pages are given back, so that clearing what no kernel reads costs nothing. */
__attribute__((used)) static cudaError_t fill(void *to, int value, size_t count) {
    enum { PAGE = 4096, WORTH_IT = 1 << 20 };
    if (!inside(to, count)) return said(cudaErrorInvalidValue);
    filled(to);
    struct machine_memory found;
    int ours = known_at(to, &found) && found.ours;
    char *first = (char *)(((uintptr_t)to + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
    char *end = (char *)((uintptr_t)((char *)to + count) & ~(uintptr_t)(PAGE - 1));
    if (ours && !(unsigned char)value && count >= WORTH_IT && !madvise(first, (size_t)(end - first), MADV_DONTNEED)) {
        memset(to, 0, (size_t)(first - (char *)to));
        memset(end, 0, (size_t)((char *)to + count - end));
    } else if (count) {
        memset(to, value, count);
    }
    return cudaSuccess;
}

__attribute__((used)) static cudaError_t copy_rows(char *to, size_t to_pitch, const char *from, size_t from_pitch, size_t width, size_t height) {
    if (width > to_pitch || width > from_pitch) return said(cudaErrorInvalidPitchValue);
    cudaError_t error = cudaSuccess;
    for (size_t row = 0; row < height && !error; row++) error = copy(to + row * to_pitch, from + row * from_pitch, width);
    return error;
}

__attribute__((used)) static cudaError_t fill_rows(char *to, size_t pitch, int value, size_t width, size_t height) {
    if (width == pitch) return fill(to, value, width * height);
    cudaError_t error = cudaSuccess;
    for (size_t row = 0; row < height && !error; row++) error = fill(to + row * pitch, value, width);
    return error;
}

AS(copy, cudaMemcpy) AS(copy, cudaMemcpyAsync)
cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t count) { return copy(to, from, count); }
AS(cudaMemcpyPeer, cudaMemcpyPeerAsync)
AS(copy_rows, cudaMemcpy2D) AS(copy_rows, cudaMemcpy2DAsync)
AS(fill, cudaMemset) AS(fill, cudaMemsetAsync) AS(fill_rows, cudaMemset2D) AS(fill_rows, cudaMemset2DAsync)
cudaError_t cudaMemset3D(struct cudaPitchedPtr to, int value, struct cudaExtent extent) {
    cudaError_t error = cudaSuccess;
    for (size_t layer = 0; layer < extent.depth && !error; layer++)
        error = fill_rows((char *)to.ptr + layer * to.pitch * to.ysize, to.pitch, value, extent.width, extent.height);
    return error;
}
AS(cudaMemset3D, cudaMemset3DAsync)

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t count, size_t offset, enum cudaMemcpyKind kind) {
    char *to = NULL;
    cudaError_t error = locate(symbol, offset, count, &to);
    return error ? said(error) : copy(to, from, count);
}
cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind) {
    char *from = NULL;
    cudaError_t error = locate(symbol, offset, count, &from);
    return error ? said(error) : copy(to, from, count);
}
AS(cudaMemcpyToSymbol, cudaMemcpyToSymbolAsync) AS(cudaMemcpyFromSymbol, cudaMemcpyFromSymbolAsync)

/* Where managed memory lies makes no difference here. */
DONE(cudaMemAdvise) DONE(cudaMemPrefetchAsync) DONE(cudaStreamAttachMemAsync)

/* Pools give what allocations give. */
HANDLE(cudaDeviceGetDefaultMemPool) HANDLE(cudaDeviceGetMemPool) HANDLE(cudaMemPoolCreate)
DONE(cudaDeviceSetMemPool) DONE(cudaMemPoolDestroy) DONE(cudaMemPoolTrimTo) DONE(cudaMemPoolSetAttribute) DONE(cudaMemPoolSetAccess)
TELLS(cudaMemPoolGetAttribute, (uint64_t *)value, 0, cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)

/* -- Arrays, textures and surfaces: stored row by row; kernels do not read them yet --------------------------------------- */

struct cudaArray {
    struct cudaChannelFormatDesc format;
    struct cudaExtent extent; /* elements; a height or depth of 0 means that it has no such dimension */
    unsigned int flags;
    size_t element, pitch;
    char *data;
};

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind kind) {
    return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}

static size_t at_least_one(size_t value) { return value ? value : 1; }

cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *format, struct cudaExtent extent,
                              unsigned int flags) {
    struct cudaArray *made = calloc(1, sizeof *made);
    if (!made) abort();
    made->format = *format;
    made->extent = extent;
    made->flags = flags;
    made->element = (size_t)(format->x + format->y + format->z + format->w) / 8;
    made->pitch = made->element * extent.width;
    void *data = NULL;
    cudaError_t error = cudaMalloc(&data, made->pitch * at_least_one(extent.height) * at_least_one(extent.depth));
    made->data = data;
    *array = made;
    return error;
}
cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *format, size_t width, size_t height,
                            unsigned int flags) {
    return cudaMalloc3DArray(array, format, (struct cudaExtent){width, height, 0}, flags);
}
cudaError_t cudaFreeArray(cudaArray_t array) {
    cudaError_t error = array ? cudaFree(array->data) : cudaSuccess;
    free(array);
    return error;
}
TELLS(cudaGetChannelDesc, format, array->format, struct cudaChannelFormatDesc *format, cudaArray_const_t array)
cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *format, struct cudaExtent *extent, unsigned int *flags,
                             cudaArray_t array) {
    if (format) *format = array->format;
    if (extent) *extent = array->extent;
    if (flags) *flags = array->flags;
    return cudaSuccess;
}

/* Offsets and widths in x are bytes here, and `width` x `height` bytes are copied. */
static char *in_array(cudaArray_const_t array, size_t x, size_t y, size_t z) {
    return array->data + (z * at_least_one(array->extent.height) + y) * array->pitch + x;
}
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                size_t height, enum cudaMemcpyKind kind) {
    return copy_rows(in_array(to, x, y, 0), to->pitch, from, pitch, width, height);
}
AS(cudaMemcpy2DToArray, cudaMemcpy2DToArrayAsync)
cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                  size_t height, enum cudaMemcpyKind kind) {
    return copy_rows(to, pitch, in_array(from, x, y, 0), from->pitch, width, height);
}
cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t count, enum cudaMemcpyKind kind) {
    return copy(in_array(to, x, y, 0), from, count);
}
cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y, size_t count,
                                enum cudaMemcpyKind kind) {
    return copy(to, in_array(from, x, y, 0), count);
}

/* One side of a copy in three dimensions: its first byte, and the bytes between rows and between layers. */
struct side { char *first; size_t row, layer, element; };

static struct side side_of(cudaArray_t array, struct cudaPos at, struct cudaPitchedPtr memory) {
    if (array)
        return (struct side){in_array(array, at.x * array->element, at.y, at.z), array->pitch,
                             array->pitch * at_least_one(array->extent.height), array->element};
    size_t layer = memory.pitch * memory.ysize;
    return (struct side){(char *)memory.ptr + at.x + at.y * memory.pitch + at.z * layer, memory.pitch, layer, 0};
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *wanted) {
    struct side from = side_of(wanted->srcArray, wanted->srcPos, wanted->srcPtr);
    struct side to = side_of(wanted->dstArray, wanted->dstPos, wanted->dstPtr);
    /* The extent counts elements as soon as an array takes part. */
    size_t width = wanted->extent.width * at_least_one(from.element ? from.element : to.element);
    cudaError_t error = cudaSuccess;
    for (size_t z = 0; z < wanted->extent.depth && !error; z++)
        error = copy_rows(to.first + z * to.layer, to.row, from.first + z * from.layer, from.row, width,
                          wanted->extent.height);
    return error;
}
AS(cudaMemcpy3D, cudaMemcpy3DAsync)

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *texture, const struct cudaResourceDesc *resource,
                                    const struct cudaTextureDesc *way, const struct cudaResourceViewDesc *view) {
    machine_missing("cudaCreateTextureObject");
    *texture = 1;
    return cudaSuccess;
}
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *surface, const struct cudaResourceDesc *resource) {
    machine_missing("cudaCreateSurfaceObject");
    *surface = 1;
    return cudaSuccess;
}
DONE(cudaDestroyTextureObject) DONE(cudaDestroySurfaceObject)

/* -- Launches ------------------------------------------------------------------------------------------------------------- */

struct configuration { dim3 grid, block; size_t shared; cudaStream_t stream; };
static _Thread_local struct configuration configurations[64]; /* launches within arguments of launches */
static _Thread_local unsigned int configuration_count;

unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, struct CUstream_st *stream) {
    if (configuration_count == sizeof configurations / sizeof *configurations) return 1;
    configurations[configuration_count++] = (struct configuration){grid, block, shared, stream};
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
    if (!configuration_count) return said(cudaErrorMissingConfiguration);
    struct configuration *top = &configurations[--configuration_count];
    *grid = top->grid;
    *block = top->block;
    *shared = top->shared;
    *(cudaStream_t *)stream = top->stream;
    return cudaSuccess;
}

/* The host's function stands for the kernel; so a handle of a kernel is its address too. */
TELLS(__cudaGetKernel, kernel, (cudaKernel_t)function, cudaKernel_t *kernel, const void *function)
AS(__cudaGetKernel, cudaGetKernel) AS(__cudaGetKernel, cudaGetFuncBySymbol)

static struct symbol *kernel_of(const void *function) {
    struct symbol *found = find_symbol(function);
    if (!found) return NULL;
    if (!found->known) found->known = machine_kernel(found->name, &found->kernel) ? 1 : -1;
    return found->known > 0 ? found : NULL;
}

static uint32_t threads_of(const struct symbol *kernel) {
    return kernel->kernel.max_threads ? kernel->kernel.max_threads : MAX_THREADS;
}

/* Dynamic shared memory that a launch may ask for, in bytes. */
static size_t dynamic_limit(const struct symbol *kernel) {
    if (kernel->opted_in) return (size_t)kernel->opted_in;
    return kernel->kernel.static_shared < DEFAULT_SHARED ? DEFAULT_SHARED - kernel->kernel.static_shared : 0;
}

/* What a real device refuses is refused: programs ask what it can do, and go on otherwise. */
static cudaError_t allowed(const struct symbol *kernel, dim3 grid, dim3 block, size_t shared) {
    uint64_t threads = (uint64_t)block.x * block.y * block.z;
    if (!grid.x || !grid.y || !grid.z || grid.x > 0x7FFFFFFFu || grid.y > 65535 || grid.z > 65535)
        return cudaErrorInvalidConfiguration;
    if (!threads || block.x > MAX_THREADS || block.y > MAX_THREADS || block.z > 64 || threads > MAX_THREADS)
        return cudaErrorInvalidConfiguration;
    if (threads > threads_of(kernel)) return cudaErrorLaunchOutOfResources;
    return shared > dynamic_limit(kernel) ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
                             cudaStream_t stream) {
    struct symbol *kernel = kernel_of(function);
    if (!kernel) return said(cudaErrorInvalidDeviceFunction);
    cudaError_t error = allowed(kernel, grid, block, shared);
    if (error) return said(error);
    uint32_t grid_size[3] = {grid.x, grid.y, grid.z}, block_size[3] = {block.x, block.y, block.z};
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&one_at_a_time);
    int failed = machine_launch(kernel->name, grid_size, block_size, (uint32_t)shared, arguments);
    pthread_mutex_unlock(&one_at_a_time);
    return said(failed ? cudaErrorInvalidDeviceFunction : cudaSuccess);
}
AS(cudaLaunchKernel, __cudaLaunchKernel) AS(cudaLaunchKernel, cudaLaunchCooperativeKernel)
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *how, const void *function, void **arguments) {
    return cudaLaunchKernel(function, how->gridDim, how->blockDim, arguments, how->dynamicSmemBytes, how->stream);
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data) {
    function(data);
    return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *function) {
    struct symbol *kernel = kernel_of(function);
    if (!kernel) return said(cudaErrorInvalidDeviceFunction);
    const struct machine_device *device = machine_device();
    memset(attributes, 0, sizeof *attributes);
    attributes->sharedSizeBytes = kernel->kernel.static_shared;
    attributes->localSizeBytes = kernel->kernel.local;
    attributes->maxThreadsPerBlock = (int)threads_of(kernel);
    attributes->numRegs = (int)kernel->kernel.registers;
    attributes->ptxVersion = attributes->binaryVersion = (int)(10 * device->major + device->minor);
    attributes->maxDynamicSharedSizeBytes = (int)dynamic_limit(kernel);
    attributes->preferredShmemCarveout = -1;
    return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute, int value) {
    struct symbol *kernel = kernel_of(function);
    if (!kernel) return said(cudaErrorInvalidDeviceFunction);
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
    if (value < 0 || (uint32_t)value + kernel->kernel.static_shared > machine_device()->shared_per_block_optin)
        return said(cudaErrorInvalidValue);
    kernel->opted_in = value;
    return cudaSuccess;
}
DONE(cudaFuncSetCacheConfig) DONE(cudaFuncSetSharedMemConfig)
cudaError_t cudaFuncGetName(const char **name, const void *function) {
    struct symbol *found = find_symbol(function);
    if (found) *name = found->name;
    return said(found ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

static uint32_t up_to(uint32_t value, uint32_t unit) { return (value + unit - 1) / unit * unit; }

/* Blocks that a multiprocessor holds at once. Registers are given to warps by 256, warps by four schedulers; shared memory by 128
 * bytes, with 1 KiB a block that the system takes (compute capability 8.x and 9.0; CUDA Occupancy Calculator). */
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads, size_t dynamic) {
    enum { REGISTER_UNIT = 256, SCHEDULERS = 4, SHARED_UNIT = 128, SYSTEM_SHARED = 1 << 10 };
    struct symbol *kernel = kernel_of(function);
    if (!kernel) return said(cudaErrorInvalidDeviceFunction);
    if (threads <= 0 || !blocks) return said(cudaErrorInvalidValue);
    const struct machine_device *device = machine_device();
    uint32_t warps = ((uint32_t)threads + WARP - 1) / WARP;
    uint32_t most = device->blocks_per_multiprocessor, by_warps = device->threads_per_multiprocessor / WARP / warps;
    if (by_warps < most) most = by_warps;
    if (kernel->kernel.registers) {
        uint32_t of_warp = up_to(kernel->kernel.registers * WARP, REGISTER_UNIT);
        uint32_t fitting = device->registers_per_block / of_warp / SCHEDULERS * SCHEDULERS / warps;
        if (fitting < most) most = fitting;
    }
    uint32_t of_block = up_to(kernel->kernel.static_shared + (uint32_t)dynamic, SHARED_UNIT) + SYSTEM_SHARED;
    if (device->shared_per_multiprocessor / of_block < most) most = device->shared_per_multiprocessor / of_block;
    *blocks = (uint32_t)threads > threads_of(kernel) || dynamic > dynamic_limit(kernel) ? 0 : (int)most;
    return cudaSuccess;
}
AS(cudaOccupancyMaxActiveBlocksPerMultiprocessor, cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *function, int blocks, int threads) {
    if (blocks <= 0) return said(cudaErrorInvalidValue);
    *bytes = machine_device()->shared_per_multiprocessor / (uint32_t)blocks - 1024;
    return cudaSuccess;
}

/* -- Streams, events, graphs: all is done as it is asked for -------------------------------------------------------------- */

struct CUevent_st { double milliseconds; };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e3 * (double)time.tv_sec + 1e-6 * (double)time.tv_nsec;
}

HANDLE(cudaStreamCreate) HANDLE(cudaStreamCreateWithFlags) HANDLE(cudaStreamCreateWithPriority)
DONE(cudaStreamDestroy) DONE(cudaStreamSynchronize) DONE(cudaStreamQuery) DONE(cudaStreamWaitEvent) DONE(cudaStreamSetAttribute)
TELLS(cudaStreamGetPriority, priority, 0, cudaStream_t stream, int *priority)
TELLS(cudaStreamGetFlags, flags, 0, cudaStream_t stream, unsigned int *flags)
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void *data, unsigned int flags) {
    function(stream, cudaSuccess, data);
    return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event) {
    *event = calloc(1, sizeof **event);
    return said(*event ? cudaSuccess : cudaErrorMemoryAllocation);
}
AS(cudaEventCreate, cudaEventCreateWithFlags)
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    free(event);
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    if (!event) return said(cudaErrorInvalidResourceHandle);
    event->milliseconds = now();
    return cudaSuccess;
}
AS(cudaEventRecord, cudaEventRecordWithFlags) DONE(cudaEventSynchronize) DONE(cudaEventQuery)

/* The time that the interpreter took, never 0: programs divide by it. */
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end) {
    if (!begin || !end) return said(cudaErrorInvalidResourceHandle);
    double passed = end->milliseconds - begin->milliseconds;
    *milliseconds = passed > 1e-3 ? (float)passed : 1e-3f;
    return cudaSuccess;
}

/* What is captured is done once, while it is captured. */
DONE(cudaStreamBeginCapture) DONE(cudaThreadExchangeStreamCaptureMode)
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) { return handle(graph); }
TELLS(cudaStreamIsCapturing, status, cudaStreamCaptureStatusNone, cudaStream_t stream, enum cudaStreamCaptureStatus *status)
HANDLE(cudaGraphCreate) HANDLE(cudaGraphInstantiate) HANDLE(cudaGraphInstantiateWithFlags) HANDLE(cudaGraphAddEmptyNode)
DONE(cudaGraphUpload) DONE(cudaGraphLaunch) DONE(cudaGraphDestroy) DONE(cudaGraphExecDestroy)
TELLS(cudaGraphGetNodes, count, 0, cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                   const struct cudaKernelNodeParams *what) {
    handle(node);
    return cudaLaunchKernel(what->func, what->gridDim, what->blockDim, what->kernelParams, what->sharedMemBytes, NULL);
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                   const struct cudaMemcpy3DParms *what) {
    handle(node);
    return cudaMemcpy3D(what);
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                     void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    handle(node);
    return copy(to, from, bytes);
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                   const struct cudaMemsetParams *what) {
    handle(node);
    char *to = what->dst;
    filled(to);
    cudaError_t error = cudaSuccess;
    for (size_t row = 0; row < at_least_one(what->height) && !error; row++, to += what->pitch) {
        if (!inside(to, what->width * what->elementSize)) return said(cudaErrorInvalidValue);
        for (size_t i = 0; i < what->width; i++) memcpy(to + i * what->elementSize, &what->value, what->elementSize);
    }
    return error;
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                 const struct cudaHostNodeParams *what) {
    handle(node);
    what->fn(what->userData);
    return cudaSuccess;
}

/* -- The device ----------------------------------------------------------------------------------------------------------- */

TELLS(cudaGetDeviceCount, count, 1, int *count)
TELLS(cudaGetDevice, device, 0, int *device)
cudaError_t cudaSetDevice(int device) { return said(device ? cudaErrorInvalidDevice : cudaSuccess); }
AS(cudaSetDevice, cudaInitDevice) AS(cudaGetDevice, cudaChooseDevice)
DONE(cudaSetDeviceFlags) DONE(cudaSetValidDevices) DONE(cudaDeviceSynchronize) DONE(cudaDeviceReset) DONE(cudaDeviceSetLimit)
DONE(cudaDeviceSetCacheConfig) DONE(cudaDeviceSetSharedMemConfig) DONE(cudaDeviceEnablePeerAccess) DONE(cudaDeviceDisablePeerAccess)
DONE(cudaCtxResetPersistingL2Cache) DONE(cudaProfilerStart) DONE(cudaProfilerStop)
TELLS(cudaGetDeviceFlags, flags, cudaDeviceScheduleAuto, unsigned int *flags)
TELLS(cudaDeviceCanAccessPeer, can, 0, int *can, int device, int other)
TELLS(cudaRuntimeGetVersion, version, CUDART_VERSION, int *version)
AS(cudaRuntimeGetVersion, cudaDriverGetVersion)
cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit) {
    *value = limit == cudaLimitStackSize ? 1 << 10 : limit == cudaLimitPrintfFifoSize ? 1 << 20 : 8 << 20;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char *text, int size, int device) {
    snprintf(text, (size_t)size, "0000:01:00.0");
    return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *found, int number) {
    if (number) return said(cudaErrorInvalidDevice);
    const struct machine_device *device = machine_device();
    memset(found, 0, sizeof *found);
    snprintf(found->name, sizeof found->name, "%s", device->name);
    found->totalGlobalMem = device->memory_bytes;
    found->sharedMemPerBlock = device->shared_per_block;
    found->sharedMemPerBlockOptin = device->shared_per_block_optin;
    found->sharedMemPerMultiprocessor = device->shared_per_multiprocessor;
    found->regsPerBlock = found->regsPerMultiprocessor = (int)device->registers_per_block;
    found->warpSize = WARP;
    found->memPitch = 0x7FFFFFFF;
    found->maxThreadsPerBlock = found->maxThreadsDim[0] = found->maxThreadsDim[1] = MAX_THREADS;
    found->maxThreadsDim[2] = 64;
    found->maxGridSize[0] = 0x7FFFFFFF;
    found->maxGridSize[1] = found->maxGridSize[2] = 65535;
    found->totalConstMem = CONSTANT;
    found->major = (int)device->major;
    found->minor = (int)device->minor;
    found->multiProcessorCount = (int)device->multiprocessors;
    found->maxThreadsPerMultiProcessor = (int)device->threads_per_multiprocessor;
    found->maxBlocksPerMultiProcessor = (int)device->blocks_per_multiprocessor;
    found->memoryBusWidth = (int)device->bus_bits;
    found->l2CacheSize = (int)device->l2_bytes;
    found->textureAlignment = 512;
    found->texturePitchAlignment = WARP;
    found->maxTexture1D = found->maxTexture2D[0] = 131072;
    found->maxTexture2D[1] = 65536;
    found->maxTexture3D[0] = found->maxTexture3D[1] = found->maxTexture3D[2] = 16384;
    found->surfaceAlignment = 512;
    found->canMapHostMemory = found->concurrentKernels = found->unifiedAddressing = 1;
    found->asyncEngineCount = 2;
    found->streamPrioritiesSupported = found->globalL1CacheSupported = found->localL1CacheSupported = 1;
    found->managedMemory = found->concurrentManagedAccess = found->computePreemptionSupported = 1;
    found->canUseHostPointerForRegisteredMem = found->cooperativeLaunch = 1;
    found->pciBusID = 1;
#if CUDART_VERSION >= 12000
    found->reservedSharedMemPerBlock = 1 << 10;
    found->hostRegisterSupported = found->memoryPoolsSupported = 1;
#endif
#if CUDART_VERSION < 13000 || defined(hostNumaMultinodeIpcSupported) /* see cuda_older.h */
    found->clockRate = (int)device->clock_khz;
    found->memoryClockRate = (int)device->memory_clock_khz;
    found->deviceOverlap = 1;
    found->singleToDoublePrecisionPerfRatio = 64;
#endif
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int number) {
    struct cudaDeviceProp all;
    cudaError_t error = cudaGetDeviceProperties(&all, number);
    if (error) return error;
    switch (attribute) {
#define FROM(attribute, from) case cudaDevAttr##attribute: *value = (int)(from); break;
#define OF(attribute, member) FROM(attribute, all.member)
        OF(MaxThreadsPerBlock, maxThreadsPerBlock) OF(WarpSize, warpSize) OF(MultiProcessorCount, multiProcessorCount)
        OF(MaxBlockDimX, maxThreadsDim[0]) OF(MaxBlockDimY, maxThreadsDim[1]) OF(MaxBlockDimZ, maxThreadsDim[2])
        OF(MaxGridDimX, maxGridSize[0]) OF(MaxGridDimY, maxGridSize[1]) OF(MaxGridDimZ, maxGridSize[2])
        OF(MaxSharedMemoryPerBlock, sharedMemPerBlock) OF(MaxSharedMemoryPerBlockOptin, sharedMemPerBlockOptin)
        OF(MaxSharedMemoryPerMultiprocessor, sharedMemPerMultiprocessor) FROM(ReservedSharedMemoryPerBlock, 1 << 10)
        OF(TotalConstantMemory, totalConstMem) OF(MaxPitch, memPitch) OF(L2CacheSize, l2CacheSize) OF(GlobalMemoryBusWidth, memoryBusWidth)
        OF(MaxRegistersPerBlock, regsPerBlock) OF(MaxRegistersPerMultiprocessor, regsPerMultiprocessor)
        OF(MaxThreadsPerMultiProcessor, maxThreadsPerMultiProcessor) OF(MaxBlocksPerMultiprocessor, maxBlocksPerMultiProcessor)
        OF(ComputeCapabilityMajor, major) OF(ComputeCapabilityMinor, minor) OF(AsyncEngineCount, asyncEngineCount)
        OF(TextureAlignment, textureAlignment) OF(TexturePitchAlignment, texturePitchAlignment) OF(MaxTexture1DWidth, maxTexture1D)
        OF(MaxTexture2DWidth, maxTexture2D[0]) OF(MaxTexture2DHeight, maxTexture2D[1]) FROM(SingleToDoublePrecisionPerfRatio, 64)
        FROM(ClockRate, machine_device()->clock_khz) FROM(MemoryClockRate, machine_device()->memory_clock_khz)
        OF(CanMapHostMemory, canMapHostMemory) OF(ConcurrentKernels, concurrentKernels) OF(UnifiedAddressing, unifiedAddressing)
        OF(StreamPrioritiesSupported, streamPrioritiesSupported) OF(GlobalL1CacheSupported, globalL1CacheSupported)
        OF(LocalL1CacheSupported, localL1CacheSupported) OF(ManagedMemory, managedMemory) OF(CooperativeLaunch, cooperativeLaunch)
        OF(ConcurrentManagedAccess, concurrentManagedAccess) OF(ComputePreemptionSupported, computePreemptionSupported)
        OF(CanUseHostPointerForRegisteredMem, canUseHostPointerForRegisteredMem)
        FROM(GpuOverlap, 1) FROM(HostRegisterSupported, 1) FROM(MemoryPoolsSupported, 1)
    default: *value = 0;
    }
    return cudaSuccess;
}

/* -- Errors --------------------------------------------------------------------------------------------------------------- */

cudaError_t cudaGetLastError(void) {
    cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}
cudaError_t cudaPeekAtLastError(void) { return last_error; }

static const struct { cudaError_t error; const char *name, *text; } errors[] = {
#define ERROR(name, text) {cuda##name, "cuda" #name, text},
    ERROR(Success, "no error") ERROR(ErrorInvalidValue, "invalid argument") ERROR(ErrorMemoryAllocation, "out of memory")
    ERROR(ErrorInvalidConfiguration, "invalid configuration argument") ERROR(ErrorInvalidPitchValue, "invalid pitch argument")
    ERROR(ErrorInvalidSymbol, "invalid device symbol") ERROR(ErrorInvalidDeviceFunction, "invalid device function")
    ERROR(ErrorMissingConfiguration, "__global__ function call is not configured") ERROR(ErrorInvalidDevice, "invalid device ordinal")
    ERROR(ErrorInvalidResourceHandle, "invalid resource handle") ERROR(ErrorNotSupported, "operation not supported")
    ERROR(ErrorLaunchOutOfResources, "too many resources requested for launch")
    ERROR(ErrorHostMemoryAlreadyRegistered, "part or all of the requested memory range is already mapped")
    ERROR(ErrorHostMemoryNotRegistered, "pointer does not correspond to a registered memory region")
};

#define TOLD(function, member)                                                                                              \
    const char *function(cudaError_t error) {                                                                               \
        for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)                                                         \
            if (errors[i].error == error) return errors[i].member;                                                          \
        return "unrecognized error code";                                                                                   \
    }
TOLD(cudaGetErrorName, name) TOLD(cudaGetErrorString, text)

/* -- cuRAND's generators on the host: kernels branch on such numbers, so zeros would mislead. Always the same series ------- */

static double uniform(void) { /* in (0, 1], by SplitMix64 (Steele, Lea, Flood 2014) */
    static uint64_t state;
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (double)(((z ^ (z >> 31)) >> 11) + 1) * 0x1p-53;
}

static double normal(double mean, double deviation) { /* Box and Muller 1958 */
    double radius = sqrt(-2 * log(uniform()));
    return mean + deviation * radius * cos(6.283185307179586 * uniform());
}

#define RANDOM(name, type, value, ...)                                                                                      \
    int name(void *generator, type *to, size_t count __VA_ARGS__) {                                                         \
        if (!inside(to, count * sizeof *to)) return 1;                                                                      \
        for (size_t i = 0; i < count; i++) to[i] = (type)(value);                                                           \
        return 0;                                                                                                           \
    }
#define MOMENTS(type) , type mean, type deviation
RANDOM(curandGenerate, uint32_t, 4294967295.0 * uniform())
RANDOM(curandGenerateUniform, float, uniform())
RANDOM(curandGenerateUniformDouble, double, uniform())
RANDOM(curandGenerateNormal, float, normal(mean, deviation), MOMENTS(float))
RANDOM(curandGenerateNormalDouble, double, normal(mean, deviation), MOMENTS(double))
RANDOM(curandGenerateLogNormal, float, exp(normal(mean, deviation)), MOMENTS(float))
RANDOM(curandGenerateLogNormalDouble, double, exp(normal(mean, deviation)), MOMENTS(double))
