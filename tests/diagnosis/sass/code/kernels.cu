// Small kernels whose stalls have a known cause, for the tests of def-use chains over SASS.
// Compiled by nvcc 13.0 with -lineinfo -cubin for sm_75, sm_80, sm_90 and sm_100, and disassembled by nvdisasm -c -g (sm_75, sm_100),
// nvdisasm -c -g -hex (sm_80) and cuobjdump -sass (sm_90).

// The load of x waits for the load of its index; the addition waits for x.
extern "C" __global__ void gather(const float *x, const int *index, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int j = index[i];
    float value = x[j];
    y[i] = value + 1.0f;
}

// Sum of a block in shared memory: each round waits at a barrier, and for shared memory.
extern "C" __global__ void block_sum(const float *x, float *sums) {
    __shared__ float part[256];
    int t = threadIdx.x;
    part[t] = x[blockIdx.x * 256 + t];
    __syncthreads();
    for (int half = 128; half > 0; half >>= 1) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = part[0];
}

// A chain of multiplications: each waits for the one before.
extern "C" __global__ void chain(double *x, int rounds) {
    double v = x[threadIdx.x];
#pragma unroll 4
    for (int k = 0; k < rounds; ++k) v = v * v + 0.5;
    x[threadIdx.x] = v;
}

// A value from one of two loads, chosen by a branch, then a reciprocal root from the special function unit.
extern "C" __global__ void either(const float4 *a, const float2 *b, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s;
    if (n & 1 << (i & 31)) {
        float4 v = a[i];
        s = v.x * v.y + v.z * v.w;
    } else {
        float2 v = b[i];
        s = v.x * v.y;
    }
    y[i] = rsqrtf(s);
}
