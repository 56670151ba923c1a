#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static void check(cudaError_t e) {
  if (e != cudaSuccess) {
    std::fprintf(stderr, "%s\n", cudaGetErrorString(e));
    std::exit(1);
  }
}

__global__ void filter(float *v, int n, float f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) v[i] = v[i] * f + 0.5f / (1.0f + v[i] * v[i]);
}

int main(int argc, char **argv) {
  int batches = argc > 1 ? std::atoi(argv[1]) : 24, n = argc > 2 ? std::atoi(argv[2]) : 8000000;
  unsigned s = argc > 3 ? (unsigned)std::strtoul(argv[3], nullptr, 10) : 1u;
  size_t bytes = n * sizeof(float);
  float *d, *h;
  check(cudaMallocHost(&h, bytes));
  check(cudaMalloc(&d, bytes));
  double sum = 0.0;
  for (int i = 0; i < n; i++) {
    s = s * 1664525u + 1013904223u;
    h[i] = (s >> 8) / 16777216.0f;
  }
  for (int b = 0; b < batches; b++) {
    check(cudaMemcpy(d, h, bytes, cudaMemcpyHostToDevice));
    filter<<<(n + 255) / 256, 256>>>(d, n, 0.5f + 0.01f * b);
    check(cudaMemcpyAsync(h, d, bytes / 2, cudaMemcpyDeviceToHost));
    sum += h[b % n] + h[n - 1 - b % n];
  }
  for (int i = 0; i < n; i++) sum += h[i];
  std::printf("checksum %.10e\n", sum);
  check(cudaFree(d));
  check(cudaFreeHost(h));
  return 0;
}
