// A walk through memory whose length no counter tells, and a kernel whose loops it sets.
#include <cstdlib>
#include <vector>

__global__ void walk(const unsigned *next, unsigned *steps) {
    unsigned at = threadIdx.x, count = 0;
    while (at != 0xffffffffu) {
        at = next[at];
        count++;
    }
    steps[blockIdx.x * blockDim.x + threadIdx.x] = count;
}

__global__ void turn(const unsigned *steps, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = 1;
    for (unsigned k = 0; k < steps[i] % 1000; k++) x = x * 1.5f + 1;
    out[i] = x;
}

int main(int count, char **arguments) {
    unsigned n = count > 1 ? atoi(arguments[1]) : 64, *next, *steps;
    float *out;
    std::vector<unsigned> chain(n);
    for (unsigned k = 0; k < n; k++) chain[k] = k + 1 < n ? k + 1 : 0xffffffffu;
    cudaMalloc(&next, n * sizeof *next);
    cudaMalloc(&steps, 65536 * sizeof *steps);
    cudaMalloc(&out, 65536 * sizeof *out);
    cudaMemcpy(next, chain.data(), n * sizeof *next, cudaMemcpyHostToDevice);
    walk<<<256, 256>>>(next, steps);
    turn<<<256, 256>>>(steps, out);
    cudaDeviceSynchronize();
    return 0;
}
