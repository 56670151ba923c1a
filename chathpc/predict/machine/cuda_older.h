/* What programs written for CUDA 11 and 12 call and the headers of CUDA 13 no longer declare. Every source is compiled with it.
 *
 * The members that cudaDeviceProp lost are declared by a macro that stands for its last named member (chathpc/predict/build.py).
 */
#ifndef CHATHPC_CUDA_OLDER_H
#define CHATHPC_CUDA_OLDER_H

#include <cuda_runtime.h>

#if defined(__cplusplus) && CUDART_VERSION >= 13000

static inline cudaError_t cudaMemAdvise(const void *base, size_t count, enum cudaMemoryAdvise advice, int device) {
    return cudaSuccess;
}
static inline cudaError_t cudaMemPrefetchAsync(const void *base, size_t count, int device, cudaStream_t stream = 0) {
    return cudaSuccess;
}
static inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
static inline cudaError_t cudaThreadExit() { return cudaDeviceReset(); }

#endif
#endif
