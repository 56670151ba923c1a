/* Ensemble of undamped Duffing oscillators, symplectic Euler, a fixed number of steps. */
#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define PER 8
#define NT (132 * 128)
#define N (NT * PER)
#define STEPS 16384

__global__ void seed(float *x, float *v, float *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        x[i] = 0.5f + (float)(i % 977) / 977.0f;
        v[i] = (float)(i % 101) / 101.0f - 0.5f;
        b[i] = 0.2f + (float)(i % 53) / 106.0f;
    }
}

__global__ void evolve(const float *x0, const float *v0, const float *b0, float *e, float dt)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (int k = 0; k < PER; k++) {
        int i = t + k * NT;
        float x = x0[i], v = v0[i], nb = -b0[i];
#pragma unroll 8
        for (int s = 0; s < STEPS; s++) {
            float f = fmaf(nb, x * x, -1.0f);
            v = fmaf(dt * x, f, v);
            x = fmaf(dt, v, x);
        }
        e[i] = 0.5f * v * v + 0.5f * x * x - 0.25f * nb * x * x * x * x;
    }
}

int main(void)
{
    float *x, *v, *b, *e, *h, ms;
    int r;
    double s = 0;
    cudaEvent_t t0, t1;
    cudaMalloc((void **)&x, N * sizeof(float));
    cudaMalloc((void **)&v, N * sizeof(float));
    cudaMalloc((void **)&b, N * sizeof(float));
    cudaMalloc((void **)&e, N * sizeof(float));
    seed<<<(N + 255) / 256, 256>>>(x, v, b);
    cudaEventCreate(&t0);
    cudaEventCreate(&t1);
    evolve<<<NT / 128, 128>>>(x, v, b, e, 1e-3f);
    cudaEventRecord(t0, 0);
    for (r = 0; r < 3; r++) evolve<<<NT / 128, 128>>>(x, v, b, e, 1e-3f);
    cudaEventRecord(t1, 0);
    cudaEventSynchronize(t1);
    cudaEventElapsedTime(&ms, t0, t1);
    h = (float *)malloc(N * sizeof(float));
    if (cudaMemcpy(h, e, N * sizeof(float), cudaMemcpyDeviceToHost)) return 1;
    for (r = 0; r < N; r++) s += h[r];
    printf("checksum %.6e\ntime_ms %.4f\n", s, ms / 3);
    free(h);
    return 0;
}
