// Attention forward, one query per thread, keys and values staged through shared memory.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

namespace attn {
constexpr int HEADS = 48, SEQ = 1024, D = 64, TILE = 32, THREADS = 128;

__global__ void randomize(float *p, int n, unsigned salt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned h = (i ^ salt) * 0x27d4eb2du; h ^= h >> 15; h *= 0x2545f491u; h ^= h >> 16;
    p[i] = (h & 0xffff) * (1.f / 65536.f) - 0.5f;
}

__global__ void __launch_bounds__(1024, 2) forward(const float *__restrict__ Q, const float *__restrict__ K,
                                                  const float *__restrict__ V, float *__restrict__ O)
{
    __shared__ float4 ks[TILE][D / 4], vs[TILE][D / 4];
    const int head = blockIdx.y, row = blockIdx.x * THREADS + threadIdx.x;
    const size_t base = (size_t)head * SEQ * D;
    float q[D], acc[D];
#pragma unroll
    for (int d = 0; d < D; ++d) { q[d] = 0.125f * Q[base + (size_t)d * SEQ + row]; acc[d] = 0.f; }   // Q is d-major
    float m = -1e30f, l = 0.f;
    for (int k0 = 0; k0 < SEQ; k0 += TILE) {
        __syncthreads();
        for (int e = threadIdx.x; e < TILE * D / 4; e += THREADS) {
            (&ks[0][0])[e] = reinterpret_cast<const float4 *>(K + base + (size_t)k0 * D)[e];
            (&vs[0][0])[e] = reinterpret_cast<const float4 *>(V + base + (size_t)k0 * D)[e];
        }
        __syncthreads();
#pragma unroll 1
        for (int j = 0; j < TILE; ++j) {
            float s0 = 0.f, s1 = 0.f, s2 = 0.f, s3 = 0.f;
#pragma unroll
            for (int d = 0; d < D / 4; ++d) {
                const float4 k = ks[j][d];
                s0 = fmaf(q[4 * d], k.x, s0); s1 = fmaf(q[4 * d + 1], k.y, s1);
                s2 = fmaf(q[4 * d + 2], k.z, s2); s3 = fmaf(q[4 * d + 3], k.w, s3);
            }
            const float s = (s0 + s1) + (s2 + s3);
            const float mn = fmaxf(m, s), corr = __expf(m - mn), p = __expf(s - mn);
            l = l * corr + p;
            m = mn;
#pragma unroll
            for (int d = 0; d < D / 4; ++d) {
                const float4 v = vs[j][d];
                acc[4 * d] = acc[4 * d] * corr + p * v.x; acc[4 * d + 1] = acc[4 * d + 1] * corr + p * v.y;
                acc[4 * d + 2] = acc[4 * d + 2] * corr + p * v.z; acc[4 * d + 3] = acc[4 * d + 3] * corr + p * v.w;
            }
        }
    }
    const float inv = 1.f / l;
#pragma unroll
    for (int d = 0; d < D; ++d) O[base + (size_t)d * SEQ + row] = acc[d] * inv;
}
}

int main()
{
    using namespace attn;
    const int n = HEADS * SEQ * D;
    float *q, *k, *v, *o;
    for (float **p : {&q, &k, &v, &o}) cudaMalloc(p, n * sizeof(float));
    randomize<<<n / 256, 256>>>(q, n, 1u); randomize<<<n / 256, 256>>>(k, n, 77u); randomize<<<n / 256, 256>>>(v, n, 991u);
    dim3 grid(SEQ / THREADS, HEADS);
    forward<<<grid, THREADS>>>(q, k, v, o);
    cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b);
    cudaEventRecord(a);
    for (int r = 0; r < 3; ++r) forward<<<grid, THREADS>>>(q, k, v, o);
    cudaEventRecord(b); cudaEventSynchronize(b);
    float ms; cudaEventElapsedTime(&ms, a, b);
    std::vector<float> h(n);
    if (cudaMemcpy(h.data(), o, n * sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
    double s = 0; for (int i = 0; i < n; ++i) s += (h[i] + 1.0) * (i % 3 + 1);
    printf("checksum %.6e\ntime_ms %.4f\n", s, ms / 3);
}
