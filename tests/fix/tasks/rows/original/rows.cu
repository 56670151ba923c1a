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

enum { WIDTH = 256 };

__global__ void scale(double *row, double f) {
  int i = threadIdx.x;
  row[i] = row[i] * f + 0.01 * i;
}

int main(int argc, char **argv) {
  int rows = argc > 1 ? std::atoi(argv[1]) : 4000, steps = argc > 2 ? std::atoi(argv[2]) : 40;
  std::vector<double> h((size_t)rows * WIDTH);
  for (size_t k = 0; k < h.size(); k++) h[k] = 1.0 + 0.001 * (k % 97);
  double *d;
  check(cudaMalloc(&d, h.size() * sizeof *d));
  check(cudaMemcpy(d, h.data(), h.size() * sizeof *d, cudaMemcpyHostToDevice));
  for (int t = 0; t < steps; t++)
    for (int r = 0; r < rows; r++) scale<<<1, WIDTH>>>(d + (size_t)r * WIDTH, 1.0 - 1e-4 * (r % 7));
  check(cudaGetLastError());
  check(cudaMemcpy(h.data(), d, h.size() * sizeof *d, cudaMemcpyDeviceToHost));
  double sum = 0.0;
  for (double v : h) sum += v;
  std::printf("checksum %.12e\n", sum);
  return 0;
}
