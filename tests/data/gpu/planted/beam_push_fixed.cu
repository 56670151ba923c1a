// Particle-in-cell style push of beam particles in a nonlinear focusing field.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

constexpr int NP = 6 * 1000 * 1024;

struct Beam { float *x, *v, *charge, *weight; };

__global__ void load_beam(Beam p)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= NP) return;
    p.x[i] = (i % 1000) * 1e-3f - 0.5f; p.v[i] = (i % 77) * 1e-3f;
    p.charge[i] = 1.f + (i % 3); p.weight[i] = 0.5f + (i % 5) * 0.1f;
}

__global__ void push(Beam p, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= NP) return;
    float x = p.x[i], v = p.v[i];
    float f = p.charge[i] * p.weight[i] * (0.3f * x * x * x - x);
    v += f * dt;
    x += v * dt;
    p.v[i] = v;
    p.x[i] = x;
}


int main()
{
    Beam p;
    for (float **f : {&p.x, &p.v, &p.charge, &p.weight}) cudaMalloc(f, sizeof(float) * NP);
    load_beam<<<(NP + 255) / 256, 256>>>(p);
    push<<<(NP + 255) / 256, 256>>>(p, 0.01f);
    cudaEvent_t e0, e1; cudaEventCreate(&e0); cudaEventCreate(&e1);
    cudaEventRecord(e0);
    for (int r = 0; r < 3; ++r) push<<<(NP + 255) / 256, 256>>>(p, 0.01f);
    cudaEventRecord(e1); cudaEventSynchronize(e1);
    float ms; cudaEventElapsedTime(&ms, e0, e1);
    const float *x = p.x;
    std::vector<float> h(NP);
    if (cudaMemcpy(h.data(), x, sizeof(float) * NP, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
    double s = 0; for (float f : h) s += f * f;
    printf("checksum %.6e\ntime_ms %.4f\n", s, ms / 3);
}
