// Electrostatic potential and field of point charges on a plane of grid points (direct summation).
#include <cmath>
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

using real = float;
struct alignas(16) real4 { real x, y, z, w; };
constexpr int GX = 1024, GY = 1024, ATOMS = 1024, TILE = 128, PX = 4;

__device__ __forceinline__ real inv_sqrt(real v)
{
    real y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(v));
    return y;
}
__device__ __forceinline__ real mad(real a, real b, real c) { return fmaf(a, b, c); }

__global__ void place_atoms(float4 *a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= ATOMS) return;
    unsigned h = (i + 1) * 0x9E3779B9u; h ^= h >> 16; h *= 0x85ebca6bu; h ^= h >> 13;
    a[i] = make_float4((h & 1023) * 0.1f, ((h >> 10) & 1023) * 0.1f, 2.0f + (h >> 24) * 0.05f, (i % 3) + 0.5f);
}

__global__ void __launch_bounds__(128) potential(const float4 *__restrict__ atoms, float4 *__restrict__ out, float h)
{
    __shared__ real4 tile[TILE];
    const int gx = blockIdx.x * 32 + (threadIdx.x & 31), gy = blockIdx.y * 4 + (threadIdx.x >> 5);
    real x[PX], pot[PX], ex[PX], ey[PX], ez[PX];
#pragma unroll
    for (int k = 0; k < PX; ++k) { x[k] = (real)h * (gx + k * (GX / PX)); pot[k] = ex[k] = ey[k] = ez[k] = 0; }
    const real y = (real)h * gy;
    for (int base = 0; base < ATOMS; base += TILE) {
        float4 q = atoms[base + threadIdx.x];
        real4 r; r.x = q.x; r.y = q.y; r.z = q.z; r.w = q.w;
        __syncthreads();
        tile[threadIdx.x] = r;
        __syncthreads();
#pragma unroll 2
        for (int j = 0; j < TILE; ++j) {
            const real ax = tile[j].x, dy = y - tile[j].y, z = tile[j].z, w = tile[j].w;
            const real yz = mad(dy, dy, z * z);
#pragma unroll
            for (int k = 0; k < PX; ++k) {
                const real dx = x[k] - ax, inv = inv_sqrt(mad(dx, dx, yz));
                const real p = w * inv, f = p * (inv * inv);
                pot[k] += p;
                ex[k] = mad(f, dx, ex[k]);
                ey[k] = mad(f, dy, ey[k]);
                ez[k] = mad(f, -z, ez[k]);
            }
        }
    }
#pragma unroll
    for (int k = 0; k < PX; ++k) out[gy * GX + gx + k * (GX / PX)] = make_float4((float)pot[k], (float)ex[k], (float)ey[k], (float)ez[k]);
}

int main()
{
    float4 *atoms, *out;
    cudaMalloc(&atoms, ATOMS * sizeof(float4));
    cudaMalloc(&out, GX * GY * sizeof(float4));
    place_atoms<<<ATOMS / 128, 128>>>(atoms);
    dim3 grid(GX / PX / 32, GY / 4);
    potential<<<grid, 128>>>(atoms, out, 0.1f);
    cudaEvent_t e[2]; for (auto &q : e) cudaEventCreate(&q);
    cudaEventRecord(e[0]);
    for (int i = 0; i < 3; ++i) potential<<<grid, 128>>>(atoms, out, 0.1f);
    cudaEventRecord(e[1]); cudaEventSynchronize(e[1]);
    float ms; cudaEventElapsedTime(&ms, e[0], e[1]);
    std::vector<float4> v(GX * GY);
    if (cudaMemcpy(v.data(), out, v.size() * sizeof(float4), cudaMemcpyDeviceToHost) != cudaSuccess) { printf("failed\n"); return 1; }
    double s = 0; for (float4 f : v) s += (double)f.x + fabs(f.y) + fabs(f.z) + fabs(f.w);
    printf("checksum %.4e\ntime_ms %.4f\n", s, ms / 3);
}
