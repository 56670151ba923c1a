/* Chained hash table: every query walks its bucket list and sums the payload. */
#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define LOG 25
#define NODES (1u << LOG)
#define LISTS 8
#define DEPTH 64
#define THREADS (132 * 128)

typedef struct { unsigned next; float payload; } node_t;

__global__ void build(node_t *nodes)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    node_t n;
    n.next = (i * 1664525u + 1013904223u) & (NODES - 1);
    n.payload = (float)((i >> 3) & 1023) / 1024.0f;
    nodes[i] = n;
}

__device__ __forceinline__ unsigned bucket(unsigned q) { return (q * 2654435761u) >> (32 - LOG); }

__device__ __forceinline__ node_t get(const node_t *nodes, unsigned i)
{
    uint2 u = __ldg((const uint2 *)(nodes + i));
    node_t n;
    n.next = u.x;
    n.payload = __uint_as_float(u.y);
    return n;
}

__global__ void probe(const node_t *nodes, float *result)
{
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned p[LISTS];
    float s[LISTS];
#pragma unroll
    for (int k = 0; k < LISTS; k++) { p[k] = bucket(t + k * THREADS); s[k] = 0.0f; }
    for (int d = 0; d < DEPTH; d++) {
        node_t n[LISTS];
#pragma unroll
        for (int k = 0; k < LISTS; k++) n[k] = get(nodes, p[k]);
#pragma unroll
        for (int k = 0; k < LISTS; k++) { s[k] += n[k].payload; p[k] = n[k].next; }
    }
#pragma unroll
    for (int k = 0; k < LISTS; k++) result[t + k * THREADS] = s[k];
}

int main(void)
{
    node_t *nodes;
    float *res, *h, ms;
    double sum = 0;
    int i;
    cudaEvent_t e0, e1;
    if (cudaMalloc((void **)&nodes, NODES * sizeof(node_t))) return 1;
    if (cudaMalloc((void **)&res, THREADS * LISTS * sizeof(float))) return 1;
    build<<<NODES / 256, 256>>>(nodes);
    cudaEventCreate(&e0); cudaEventCreate(&e1);
    probe<<<THREADS / 128, 128>>>(nodes, res);
    cudaEventRecord(e0, 0);
    for (i = 0; i < 3; i++) probe<<<THREADS / 128, 128>>>(nodes, res);
    cudaEventRecord(e1, 0);
    cudaEventSynchronize(e1);
    cudaEventElapsedTime(&ms, e0, e1);
    h = (float *)malloc(THREADS * LISTS * sizeof(float));
    if (cudaMemcpy(h, res, THREADS * LISTS * sizeof(float), cudaMemcpyDeviceToHost)) return 1;
    for (i = 0; i < THREADS * LISTS; i++) sum += h[i];
    printf("checksum %.6e\ntime_ms %.4f\n", sum, ms / 3);
    free(h);
    return 0;
}
