// Compact U(1) gauge theory on a 4-D periodic lattice: Wilson plaquette action.
#include <cuda_runtime.h>
#include <cstdio>

namespace lattice {
constexpr int LX = 64, LY = 64, LZ = 32, LT = 32;
constexpr int VOL = LX * LY * LZ * LT;

struct Links { float *mu[4]; };

__device__ inline int hop(int s, int dir)
{
    const int x = s & 63, y = (s >> 6) & 63, z = (s >> 12) & 31, t = s >> 17;
    switch (dir) {
        case 0: return (s - x) + ((x + 1) & 63);
        case 1: return s + ((((y + 1) & 63) - y) << 6);
        case 2: return s + ((((z + 1) & 31) - z) << 12);
        default: return s + ((((t + 1) & 31) - t) << 17);
    }
}

__global__ void init_links(Links u)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= VOL) return;
    for (int m = 0; m < 4; ++m) {
        unsigned h = s * 4u + m;
        h = (h ^ (h >> 15)) * 0x2c1b3c6dU; h = (h ^ (h >> 12)) * 0x297a2d39U; h ^= h >> 15;
        u.mu[m][s] = (float)(h & 0xffff) * (1.5f / 65536.0f);
    }
}

__global__ void __launch_bounds__(256) wilson_action(Links u, double *action)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    float th[4]; int nb[4];
#pragma unroll
    for (int m = 0; m < 4; ++m) { th[m] = u.mu[m][s]; nb[m] = hop(s, m); }
    float sum = 0.f;
#pragma unroll
    for (int m = 0; m < 4; ++m)
#pragma unroll
        for (int n = m + 1; n < 4; ++n) {
            float p = th[m] + u.mu[n][nb[m]] - u.mu[m][nb[n]] - th[n];
            sum += 1.f - __cosf(p);
        }
    __shared__ float part[8];
    for (int o = 16; o; o >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, o);
    if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        double tot = 0;
        for (int w = 0; w < 8; ++w) tot += part[w];
        atomicAdd(action, tot);
    }
}
}  // namespace lattice

int main()
{
    using namespace lattice;
    Links u; double *act;
    for (int m = 0; m < 4; ++m) cudaMalloc(&u.mu[m], VOL * sizeof(float));
    cudaMalloc(&act, sizeof(double));
    init_links<<<VOL / 256, 256>>>(u);
    cudaEvent_t t0, t1; cudaEventCreate(&t0); cudaEventCreate(&t1);
    float acc = 0;
    for (int rep = -1; rep < 3; ++rep) {
        cudaMemset(act, 0, sizeof(double));
        cudaEventRecord(t0);
        wilson_action<<<VOL / 256, 256>>>(u, act);
        cudaEventRecord(t1); cudaEventSynchronize(t1);
        float ms = 0; cudaEventElapsedTime(&ms, t0, t1);
        if (rep >= 0) acc += ms;
    }
    double h = 0; cudaMemcpy(&h, act, sizeof h, cudaMemcpyDeviceToHost);
    printf("checksum %.6e\ntime_ms %.4f\n", h, acc / 3);
    return cudaGetLastError() != cudaSuccess;
}
