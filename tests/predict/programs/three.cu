// Three kernels whose counts are known by hand: a vector update, a matrix product, an integer hash.
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

template <typename Real>
__global__ void gemm(int n, const Real *a, const Real *b, Real *c) {
    const int tile = 16;
    __shared__ Real left[tile][tile], right[tile][tile];
    int row = blockIdx.y * tile + threadIdx.y, column = blockIdx.x * tile + threadIdx.x;
    Real sum = 0;
    for (int k = 0; k < n; k += tile) {
        left[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int j = 0; j < tile; j++) sum += left[threadIdx.y][j] * right[j][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

__global__ void hash(int n, int rounds, unsigned *keys) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned h = keys[i];
    for (int r = 0; r < rounds; r++) {
        h ^= h >> 16;
        h *= 0x7feb352du;
        h ^= h >> 15;
        h *= 0x846ca68bu;
    }
    keys[i] = h;
}

int main(int count, char **arguments) {
    if (count < 3) {
        fprintf(stderr, "usage: %s SIZE ROUNDS\n", arguments[0]);
        return 1;
    }
    int n = atoi(arguments[1]), rounds = atoi(arguments[2]), whole = n * n;
    float *a, *b, *c;
    unsigned *keys;
    cudaMalloc(&a, whole * sizeof *a);
    cudaMalloc(&b, whole * sizeof *b);
    cudaMalloc(&c, whole * sizeof *c);
    cudaMalloc(&keys, whole * sizeof *keys);
    std::vector<float> one(whole, 1.0f);
    cudaMemcpy(a, one.data(), whole * sizeof *a, cudaMemcpyHostToDevice);
    cudaMemcpy(b, one.data(), whole * sizeof *b, cudaMemcpyHostToDevice);
    saxpy<<<(whole + 255) / 256, 256>>>(whole, 2.0f, a, b);
    gemm<float><<<dim3(n / 16, n / 16), dim3(16, 16)>>>(n, a, b, c);
    hash<<<(whole + 255) / 256, 256>>>(whole, rounds, keys);
    cudaMemcpy(one.data(), c, whole * sizeof *c, cudaMemcpyDeviceToHost);
    printf("%g\n", one[0]);
    return 0;
}
