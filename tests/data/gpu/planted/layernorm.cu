// Residual add + layer normalisation + affine, fused; a warp owns a row of 1024 and keeps it in registers.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

namespace ln {
constexpr int ROWS = 48 * 1024, COLS = 1024, WARPS = 8, V = COLS / 4 / 32;

__global__ void init(float *x, float *r, float *g, float *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = ((i * 2654435761u) >> 20) * (1.f / 4096.f);
    r[i] = (i % 97) * 0.01f;
    if (i < COLS) { g[i] = 1.f + i * 1e-4f; b[i] = 0.1f - i * 1e-5f; }
}

__device__ __forceinline__ float all_sum(float v)
{
#pragma unroll
    for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
    return v;
}

__global__ void __launch_bounds__(WARPS * 32) add_norm(const float4 *__restrict__ x, const float4 *__restrict__ res,
                                                       const float4 *__restrict__ g, const float4 *__restrict__ b, float4 *__restrict__ y)
{
    const int lane = threadIdx.x & 31, row = blockIdx.x * WARPS + (threadIdx.x >> 5);
    const size_t o = (size_t)row * (COLS / 4) + lane;
    float4 v[V];
    float s = 0.f;
#pragma unroll
    for (int k = 0; k < V; ++k) {
        const float4 p = __ldcs(x + o + k * 32), q = __ldcs(res + o + k * 32);
        v[k] = make_float4(p.x + q.x, p.y + q.y, p.z + q.z, p.w + q.w);
        s += (v[k].x + v[k].y) + (v[k].z + v[k].w);
    }
    const float mean = all_sum(s) * (1.f / COLS);
    float ss = 0.f;
#pragma unroll
    for (int k = 0; k < V; ++k) {
        v[k].x -= mean; v[k].y -= mean; v[k].z -= mean; v[k].w -= mean;
        ss += v[k].x * v[k].x + v[k].y * v[k].y + v[k].z * v[k].z + v[k].w * v[k].w;
    }
    const float inv = rsqrtf(all_sum(ss) * (1.f / COLS) + 1e-5f);
#pragma unroll
    for (int k = 0; k < V; ++k) {
        const float4 gg = __ldg(g + lane + k * 32), bb = __ldg(b + lane + k * 32);
        __stcs(y + o + k * 32, make_float4(v[k].x * inv * gg.x + bb.x, v[k].y * inv * gg.y + bb.y,
                                           v[k].z * inv * gg.z + bb.z, v[k].w * inv * gg.w + bb.w));
    }
}
}

int main()
{
    using namespace ln;
    float *x, *r, *g, *b, *y;
    const size_t bytes = sizeof(float) * (size_t)ROWS * COLS;
    for (float **p : {&x, &r, &y}) cudaMalloc(p, bytes);
    for (float **p : {&g, &b}) cudaMalloc(p, sizeof(float) * COLS);
    init<<<ROWS * COLS / 256, 256>>>(x, r, g, b);
    auto go = [&] { add_norm<<<ROWS / WARPS, WARPS * 32>>>((float4 *)x, (float4 *)r, (float4 *)g, (float4 *)b, (float4 *)y); };
    cudaEvent_t s, e; cudaEventCreate(&s); cudaEventCreate(&e);
    go();
    cudaEventRecord(s);
    for (int k = 0; k < 3; ++k) go();
    cudaEventRecord(e); cudaEventSynchronize(e);
    float ms; cudaEventElapsedTime(&ms, s, e);
    std::vector<float> h(4 << 20);
    if (cudaMemcpy(h.data(), y, h.size() * 4, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
    double t = 0; for (size_t i = 0; i < h.size(); ++i) t += h[i] * double(i % 11);
    printf("checksum %.5e\ntime_ms %.4f\n", t, ms / 3);
}
