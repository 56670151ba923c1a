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

__global__ void step(double *x, double *residual, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    double d = 0.5 * (x[i] - 2.0 / (1.0 + x[i]));
    x[i] -= 0.01 * d;
    if (i == n / 2) *residual = d * d;
  }
}

int main(int argc, char **argv) {
  int steps = (argc > 1 ? std::atoi(argv[1]) : 20000) / 50 * 50, n = argc > 2 ? std::atoi(argv[2]) : 200000;
  std::vector<double> h(n);
  for (int i = 0; i < n; i++) h[i] = 0.1 + 0.001 * (i % 3001);
  double *x, *r, residual = 0.0;
  check(cudaMalloc(&x, n * sizeof *x));
  check(cudaMalloc(&r, sizeof *r));
  check(cudaMemcpy(x, h.data(), n * sizeof *x, cudaMemcpyHostToDevice));
  for (int t = 0; t < steps; t++) {
    step<<<(n + 255) / 256, 256>>>(x, r, n);
    if (t % 50 < 49) continue;
    t += 1;
    check(cudaMemcpy(&residual, r, sizeof residual, cudaMemcpyDeviceToHost));
    if (residual > 1e6) break;
  }
  check(cudaMemcpy(h.data(), x, n * sizeof *x, cudaMemcpyDeviceToHost));
  double sum = 0.0;
  for (double v : h) sum += v;
  std::printf("checksum %.12e %.8e\n", sum, residual);
  return 0;
}
