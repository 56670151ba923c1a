// Particle-in-cell style push of beam particles in a nonlinear focusing field.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

constexpr int NP = 6 * 1000 * 1024;

struct Particle {
    float x;
    int   cell;
    float history[6];
    float v;
    float auxiliary[7];
    float charge;
    float spin[7];
    float weight;
    float polarisation[7];
};

__global__ void load_beam(Particle *p)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= NP) return;
    Particle q = {};
    q.x = (i % 1000) * 1e-3f - 0.5f; q.v = (i % 77) * 1e-3f;
    q.charge = 1.f + (i % 3); q.weight = 0.5f + (i % 5) * 0.1f;
    p[i] = q;
}

__global__ void push(Particle *p, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= NP) return;
    float x = p[i].x, v = p[i].v;
    float f = p[i].charge * p[i].weight * (0.3f * x * x * x - x);
    v += f * dt;
    x += v * dt;
    p[i].v = v;
    p[i].x = x;
}

__global__ void export_x(const Particle *p, float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < NP) x[i] = p[i].x;
}

int main()
{
    Particle *p; float *x;
    cudaMalloc(&p, sizeof(Particle) * (size_t)NP);
    cudaMalloc(&x, sizeof(float) * NP);
    load_beam<<<(NP + 255) / 256, 256>>>(p);
    push<<<(NP + 255) / 256, 256>>>(p, 0.01f);
    cudaEvent_t e0, e1; cudaEventCreate(&e0); cudaEventCreate(&e1);
    cudaEventRecord(e0);
    for (int r = 0; r < 3; ++r) push<<<(NP + 255) / 256, 256>>>(p, 0.01f);
    cudaEventRecord(e1); cudaEventSynchronize(e1);
    float ms; cudaEventElapsedTime(&ms, e0, e1);
    export_x<<<(NP + 255) / 256, 256>>>(p, x);
    std::vector<float> h(NP);
    if (cudaMemcpy(h.data(), x, sizeof(float) * NP, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
    double s = 0; for (float f : h) s += f * f;
    printf("checksum %.6e\ntime_ms %.4f\n", s, ms / 3);
}
