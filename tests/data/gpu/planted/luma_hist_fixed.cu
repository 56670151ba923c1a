// Brightness histogram of a large RGBA frame.
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#define CK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { \
    fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); exit(1); } } while (0)

static const int W = 4096, H = 4096, NB = 256;

__device__ __forceinline__ unsigned mix32(unsigned h)
{
    h ^= h >> 16; h *= 0x7feb352dU; h ^= h >> 15; h *= 0x846ca68bU; h ^= h >> 16;
    return h;
}

__global__ void make_frame(uchar4 *img, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned h = mix32(i);
    // night scene: mostly near-black with some lights
    unsigned base = (h & 7u) ? 10u + ((h >> 8) & 3u) : ((h >> 16) & 255u);
    img[i] = make_uchar4(base, base, base, 255);
}

__device__ __forceinline__ int luma(uchar4 p)
{
    return (77 * p.x + 150 * p.y + 29 * p.z) >> 8;
}

__global__ void luma_histogram(const uchar4 *__restrict__ img, int n, unsigned *__restrict__ hist)
{
    __shared__ unsigned local[8][NB];
    for (int k = threadIdx.x; k < 8 * NB; k += blockDim.x) (&local[0][0])[k] = 0;
    __syncthreads();
    unsigned *mine = local[threadIdx.x >> 5];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int b = luma(img[i]);
        atomicAdd(&mine[b], 1u);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < NB; k += blockDim.x) {
        unsigned s = 0;
        for (int w = 0; w < 8; ++w) s += local[w][k];
        if (s) atomicAdd(&hist[k], s);
    }
}

int main()
{
    const int n = W * H;
    uchar4 *img; unsigned *hist;
    CK(cudaMalloc(&img, n * sizeof(uchar4)));
    CK(cudaMalloc(&hist, NB * sizeof(unsigned)));
    make_frame<<<(n + 255) / 256, 256>>>(img, n);
    cudaEvent_t a, b;
    CK(cudaEventCreate(&a)); CK(cudaEventCreate(&b));
    float total = 0;
    for (int r = 0; r < 4; ++r) {
        CK(cudaMemset(hist, 0, NB * sizeof(unsigned)));
        CK(cudaEventRecord(a));
        luma_histogram<<<132 * 8, 256>>>(img, n, hist);
        CK(cudaEventRecord(b)); CK(cudaEventSynchronize(b));
        float ms; CK(cudaEventElapsedTime(&ms, a, b));
        if (r) total += ms;
    }
    std::vector<unsigned> h(NB);
    CK(cudaMemcpy(h.data(), hist, NB * sizeof(unsigned), cudaMemcpyDeviceToHost));
    unsigned long long cs = 0;
    for (int k = 0; k < NB; ++k) cs += (unsigned long long)h[k] * (k + 1);
    printf("checksum %llu\n", cs);
    printf("time_ms %.4f\n", total / 3);
    return 0;
}
