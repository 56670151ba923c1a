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

enum { BINS = 64 };

__global__ void count(const unsigned *v, int n, unsigned long long *bins) {
  __shared__ unsigned mine[BINS];
  for (int b = threadIdx.x; b < BINS; b += blockDim.x) mine[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&mine[(v[i] >> 8) % 7], 1u);
  __syncthreads();
  for (int b = threadIdx.x; b < BINS; b += blockDim.x)
    if (mine[b]) atomicAdd(&bins[b], (unsigned long long)mine[b]);
}

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 40000000, rounds = argc > 2 ? std::atoi(argv[2]) : 12;
  unsigned s = argc > 3 ? (unsigned)std::strtoul(argv[3], nullptr, 10) : 1u;
  std::vector<unsigned> h(n);
  for (unsigned &v : h) v = s = s * 1664525u + 1013904223u;
  unsigned *d;
  unsigned long long *bins, out[BINS];
  check(cudaMalloc(&d, n * sizeof *d));
  check(cudaMalloc(&bins, sizeof out));
  check(cudaMemset(bins, 0, sizeof out));
  check(cudaMemcpy(d, h.data(), n * sizeof *d, cudaMemcpyHostToDevice));
  for (int r = 0; r < rounds; r++) count<<<1024, 256>>>(d, n, bins);
  check(cudaGetLastError());
  check(cudaMemcpy(out, bins, sizeof out, cudaMemcpyDeviceToHost));
  unsigned long long f = 17;
  for (unsigned long long b : out) f = f * 131 + b;
  std::printf("checksum %llu\n", f);
  return 0;
}
