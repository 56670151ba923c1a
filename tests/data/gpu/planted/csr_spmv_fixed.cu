/* y = A x, A sparse in CSR, banded with scattered columns. */
#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define ROWS (1 << 20)
#define NNZ_ROW 64
#define BAND 256

typedef struct { int n; int *ptr; int *col; float *val; } csr_t;

__global__ void csr_make(csr_t A, float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int r = i / NNZ_ROW, k = i % NNZ_ROW;
    int c = r - BAND / 2 + k * (BAND / NNZ_ROW) + ((r * 7 + k * 13) & 3);
    A.col[i] = c < 0 ? c + A.n : (c >= A.n ? c - A.n : c);
    A.val[i] = (float)((r + k * 3) % 19 + 1) * 0.01f;
    if (k == 0) {
        A.ptr[r] = i;
        x[r] = 0.5f + (float)(r % 257) / 257.0f;
    }
    if (i == 0) A.ptr[A.n] = A.n * NNZ_ROW;
}

__global__ void spmv(csr_t A, const float *__restrict__ x, float *__restrict__ y)
{
    int r = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (r < A.n) {
        float s = 0.0f;
        for (int k = A.ptr[r] + lane; k < A.ptr[r + 1]; k += 32)
            s += A.val[k] * x[A.col[k]];
        for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(0xffffffffu, s, o);
        if (lane == 0) y[r] = s;
    }
}

int main(void)
{
    csr_t A;
    float *x, *y, *h, ms;
    double s = 0;
    int i;
    cudaEvent_t t0, t1;
    A.n = ROWS;
    cudaMalloc((void **)&A.ptr, (ROWS + 1) * sizeof(int));
    cudaMalloc((void **)&A.col, (size_t)ROWS * NNZ_ROW * sizeof(int));
    cudaMalloc((void **)&A.val, (size_t)ROWS * NNZ_ROW * sizeof(float));
    cudaMalloc((void **)&x, ROWS * sizeof(float));
    cudaMalloc((void **)&y, ROWS * sizeof(float));
    csr_make<<<ROWS / 256 * NNZ_ROW, 256>>>(A, x);
    cudaEventCreate(&t0); cudaEventCreate(&t1);
    spmv<<<ROWS / 8, 256>>>(A, x, y);
    cudaEventRecord(t0, 0);
    for (i = 0; i < 3; i++)
        spmv<<<ROWS / 8, 256>>>(A, x, y);
    cudaEventRecord(t1, 0);
    cudaEventSynchronize(t1);
    cudaEventElapsedTime(&ms, t0, t1);
    h = (float *)malloc(ROWS * sizeof(float));
    if (cudaMemcpy(h, y, ROWS * sizeof(float), cudaMemcpyDeviceToHost)) return 1;
    for (i = 0; i < ROWS; i++) s += h[i];
    printf("checksum %.6e\ntime_ms %.4f\n", s, ms / 3);
    free(h);
    return 0;
}
