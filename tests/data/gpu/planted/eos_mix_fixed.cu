// Multi-material hydrodynamics: pressure from the material's equation of state (iterative closures).
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdint>
#include <vector>

namespace eos {
constexpr int N = 8 << 20, IT = 48;

struct Cells { float *rho, *e, *p; uint8_t *mat; };

__device__ float ideal(float r, float e) { float p = 0.4f * r * e; for (int i = 0; i < IT; ++i) p = fmaf(0.3f, fmaf(0.4f * r, e, -p), p); return p; }
__device__ float stiffened(float r, float e) { float p = r; for (int i = 0; i < IT; ++i) p = p - 0.2f * (p * p * 0.1f + p - 3.0f * r * e); return p; }
__device__ float vdw(float r, float e) { float p = e; for (int i = 0; i < IT; ++i) p = fmaf(r * 0.25f, fmaf(p, -0.5f, e), p * 0.75f) + 0.01f * r * r; return p; }
__device__ float jwl(float r, float e) { float p = 1.f; for (int i = 0; i < IT; ++i) { float q = r - 0.3f * p; p = fmaf(q * q, 0.05f, e * 0.1f) + 0.5f * p; } return p; }
__device__ float tillotson(float r, float e) { float p = 0.f, m = r - 1.f; for (int i = 0; i < IT; ++i) { p = fmaf(p, 0.6f, 0.2f * m * e); m = fmaf(m, 0.9f, 0.05f * p); } return p; }
__device__ float gruneisen(float r, float e) { float a = r, b = e; for (int i = 0; i < IT; ++i) { float t = fmaf(a, 0.7f, 0.2f * b); b = fmaf(b, 0.8f, 0.1f * a * a); a = fminf(t, 4.f); } return a + b; }
__device__ float murnaghan(float r, float e) { float p = 0.5f; for (int i = 0; i < IT; ++i) { float t = fmaf(p, p, -r); p = fmaf(t, -0.15f, p) + 0.01f * e; } return p; }
__device__ float sesame(float r, float e) { float p = r, s = 0.f; for (int i = 0; i < IT; ++i) { s = fmaxf(s * 0.5f, p - e); p = fmaf(s, -0.25f, p) + 0.02f * r; } return p + s; }

__global__ void fill(Cells c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    int m = i / (N / 8), g = i % (N / 8), id = g * 8 + ((5 * (m - g)) & 7);
    c.mat[i] = (uint8_t)m;
    c.rho[i] = 0.5f + (id % 1021) * (1.f / 1021.f);
    c.e[i] = 0.5f + (id % 509) * (1.f / 509.f);
}

__global__ void pressure(Cells c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    float r = c.rho[i], e = c.e[i], p;
    switch (c.mat[i]) {
        case 0: p = ideal(r, e); break;
        case 1: p = stiffened(r, e); break;
        case 2: p = vdw(r, e); break;
        case 3: p = jwl(r, e); break;
        case 4: p = tillotson(r, e); break;
        case 5: p = gruneisen(r, e); break;
        case 6: p = murnaghan(r, e); break;
        default: p = sesame(r, e); break;
    }
    c.p[i] = p;
}
}

int main()
{
    using namespace eos;
    Cells c;
    cudaMalloc(&c.rho, N * 4ull); cudaMalloc(&c.e, N * 4ull); cudaMalloc(&c.p, N * 4ull); cudaMalloc(&c.mat, N);
    fill<<<N / 256, 256>>>(c);
    pressure<<<N / 256, 256>>>(c);
    cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b);
    cudaEventRecord(a);
    for (int k = 0; k < 3; ++k) pressure<<<N / 256, 256>>>(c);
    cudaEventRecord(b);
    cudaEventSynchronize(b);
    float ms = 0; cudaEventElapsedTime(&ms, a, b);
    std::vector<float> h(N);
    if (cudaMemcpy(h.data(), c.p, N * 4ull, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
    double s = 0; for (float v : h) s += v;
    printf("checksum %.6e\n", s);
    printf("time_ms %.4f\n", ms / 3);
}
