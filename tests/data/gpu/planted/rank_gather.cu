// One PageRank-like gather: y[v] = sum over in-edges of x[src]; a block per vertex, CSR, power-law graph.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

constexpr int V = 65536, HUBS = 4, DEG = 256, HUBDEG = 8 << 20;

struct Graph { int *begin; int *src; };

__global__ void make_edges(int *src, long n)
{
    long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned h = (unsigned)i * 0x9E3779B1u; h ^= h >> 15; h *= 0x85EBCA77u; h ^= h >> 13;
    src[i] = h % V;
}

__global__ void make_rank(float *x)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < V) x[v] = 1.0f / (1 + (v % 1000));
}

template <int BLOCK>
__device__ float reduce_block(float v)
{
    __shared__ float sh[BLOCK / 32];
    for (int o = 16; o; o /= 2) v += __shfl_down_sync(~0u, v, o);
    if (threadIdx.x % 32 == 0) sh[threadIdx.x / 32] = v;
    __syncthreads();
    float r = 0;
    if (threadIdx.x == 0) for (int w = 0; w < BLOCK / 32; ++w) r += sh[w];
    return r;
}

template <int BLOCK>
__global__ void gather(Graph g, const float *__restrict__ x, float *__restrict__ y)
{
    const int v = blockIdx.x;
    const int lo = g.begin[v], hi = g.begin[v + 1];
    float s = 0;
    for (int e = lo + threadIdx.x; e < hi; e += BLOCK) s += x[g.src[e]];
    s = reduce_block<BLOCK>(s);
    if (threadIdx.x == 0) y[v] = s;
}

int main()
{
    std::vector<int> begin(V + 1);
    for (int v = 0; v < V; ++v) begin[v + 1] = begin[v] + (v < V - HUBS ? DEG : HUBDEG);
    const long E = begin[V];
    Graph g; float *x, *y;
    cudaMalloc(&g.src, E * sizeof(int));
    cudaMalloc(&x, V * sizeof(float)); cudaMalloc(&y, V * sizeof(float));
    cudaMalloc(&g.begin, (V + 1) * sizeof(int));
    cudaMemcpy(g.begin, begin.data(), (V + 1) * sizeof(int), cudaMemcpyHostToDevice);
    const int blocks = V;
    make_edges<<<(E + 255) / 256, 256>>>(g.src, E);
    make_rank<<<V / 256, 256>>>(x);
    cudaEvent_t e0, e1; cudaEventCreate(&e0); cudaEventCreate(&e1);
    double total = 0;
    for (int r = 0; r < 4; ++r) {
        cudaMemset(y, 0, V * sizeof(float));
        cudaEventRecord(e0);
        gather<256><<<blocks, 256>>>(g, x, y);
        cudaEventRecord(e1); cudaEventSynchronize(e1);
        float ms; cudaEventElapsedTime(&ms, e0, e1);
        if (r) total += ms;
    }
    std::vector<float> h(V);
    if (cudaMemcpy(h.data(), y, V * sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
    double s = 0; for (float f : h) s += f;
    printf("checksum %.4e\ntime_ms %.4f\n", s, total / 3);
}
