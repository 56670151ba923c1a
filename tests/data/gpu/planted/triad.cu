// STREAM triad with 16-byte accesses.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

constexpr int N4 = 16 << 20;   // float4 elements, 256 MB an array

template <class Op>
__global__ void __launch_bounds__(256) transform(const float4 *__restrict__ b, const float4 *__restrict__ c, float4 *__restrict__ a, Op op)
{
    const int i = blockIdx.x * 512 + threadIdx.x;
    const float4 b0 = __ldcs(b + i), b1 = __ldcs(b + i + 256);
    const float4 c0 = __ldcs(c + i), c1 = __ldcs(c + i + 256);
    __stcs(a + i, make_float4(op(b0.x, c0.x), op(b0.y, c0.y), op(b0.z, c0.z), op(b0.w, c0.w)));
    __stcs(a + i + 256, make_float4(op(b1.x, c1.x), op(b1.y, c1.y), op(b1.z, c1.z), op(b1.w, c1.w)));
}

__global__ void init(float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { b[i] = (i % 1000) * 1e-3f; c[i] = (i % 333) * 1e-2f; }
}

struct Triad { float q; __device__ float operator()(float b, float c) const { return fmaf(q, c, b); } };

int main()
{
    float4 *a, *b, *c;
    for (float4 **p : {&a, &b, &c}) cudaMalloc(p, sizeof(float4) * N4);
    init<<<N4 * 4 / 256, 256>>>((float *)b, (float *)c, N4 * 4);
    Triad op{0.4f};
    cudaEvent_t s, e; cudaEventCreate(&s); cudaEventCreate(&e);
    transform<<<N4 / 512, 256>>>(b, c, a, op);
    cudaEventRecord(s);
    for (int r = 0; r < 3; ++r) transform<<<N4 / 512, 256>>>(b, c, a, op);
    cudaEventRecord(e); cudaEventSynchronize(e);
    float ms; cudaEventElapsedTime(&ms, s, e);
    std::vector<float> h(4 << 20);
    if (cudaMemcpy(h.data(), a, h.size() * 4, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
    double t = 0; for (float f : h) t += f;
    printf("checksum %.6e\ntime_ms %.4f\n", t, ms / 3);
}
