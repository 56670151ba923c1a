// A sum over the threads of a block, in the folder of a library: it stands for any template library that is inlined into kernels.
#pragma once

__device__ __forceinline__ float warp_sum(float value) {
    for (int by = 16; by > 0; by /= 2) value += __shfl_down_sync(~0u, value, by);
    return value;
}

__device__ __forceinline__ float block_sum(float value) {
    __shared__ float part[32];
    float sum = warp_sum(value);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    return warp_sum(threadIdx.x < 32 ? part[threadIdx.x] : 0.0f);
}
