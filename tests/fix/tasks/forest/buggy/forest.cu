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

__device__ double leafy(double v) {
  for (int k = 1; k < 24; k++) v += 1e-3 * sin(v * k);
  return v;
}

__device__ double bare(double v) {
  for (int k = 1; k < 24; k++) v += 1e-3 * exp(-v * k);
  return v;
}

__global__ void grow(double *v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int even = (n + 1) / 2, padded = (even + 31) / 32 * 32;
  if (i < even) {
    v[2 * i] = bare(v[2 * i]);
  } else if (i >= padded && 2 * (i - padded) + 1 < n) {
    i = 2 * (i - padded) + 1;
    v[i] = leafy(v[i]);
  }
}

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 4000000, years = argc > 2 ? std::atoi(argv[2]) : 30;
  std::vector<double> h(n);
  for (int i = 0; i < n; i++) h[i] = 0.2 + 1e-4 * (i % 5003);
  double *d;
  check(cudaMalloc(&d, n * sizeof *d));
  check(cudaMemcpy(d, h.data(), n * sizeof *d, cudaMemcpyHostToDevice));
  for (int t = 0; t < years; t++) grow<<<n / 256, 256>>>(d, n);
  check(cudaGetLastError());
  check(cudaMemcpy(h.data(), d, n * sizeof *d, cudaMemcpyDeviceToHost));
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += h[i] * (1 + i % 3);
  std::printf("checksum %.12e\n", sum);
  return 0;
}
