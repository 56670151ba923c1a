# ruff: noqa: E501
"""Changes of CUDA programs by their texts: what is changed, what is left alone, and that the compiler takes it where there is one."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from chathpc.fix.gates import constructs, text
from tests.fix.recipes.applying import changed

TRANSPOSE = """#include <cstdio>
#define TILE 32
__global__ void transpose(const float *in, float *out, int n) {
  __shared__ float tile[TILE][TILE];
  __shared__ double plain[32][32];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  if (x < n && y < n) tile[threadIdx.y][threadIdx.x] = in[y * n + x];
  plain[threadIdx.x][threadIdx.y] = x;
  __syncthreads();
  if (x < n && y < n) out[x * n + y] = tile[threadIdx.x][threadIdx.y] + plain[threadIdx.x][threadIdx.y];
}
"""
SCALE = """__global__ void scale(float *a, const float *b, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || col >= cols) return;
  a[row * cols + col] = 2.0f * b[row * cols + col];
}
void run(float *a, const float *b, int rows, int cols) {
  const dim3 block(16, 16);
  const dim3 grid((rows + block.x - 1) / block.x,
                  (cols + 15) / 16);
  scale<<<grid, block>>>(a, b, rows, cols);
}
"""
SUMS = """__global__ void total(const int *v, int n, unsigned long long *sum) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (v[i] % 3 == 0) atomicAdd(sum, (unsigned long long)v[i]);
}
__global__ void histogram(const unsigned char *px, unsigned *bins, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    unsigned char p = px[i];
    atomicAdd(&bins[p], 1u);
  }
}
__global__ void classes(const int *v, float *weight, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int k = (v[i] >> 4) & 15;
    atomicAdd(&weight[k], 0.5f);
    atomicAdd(&weight[v[i] % 16], 1.0f);
  }
}
"""
HOST = """#include <cstdio>
#include <cstdlib>
#define CHECK(x) do { if ((x) != cudaSuccess) exit(1); } while (0)
__global__ void square(const float *a, float *t, int n) { int i = threadIdx.x; if (i < n) t[i] = a[i] * a[i]; }
int main() {
  int n = 256;
  size_t bytes = n * sizeof(float);
  float *h = (float *)malloc(bytes), *d;
  float *g = new float[n];
  CHECK(cudaMalloc(&d, bytes));
  CHECK(cudaMemcpy(d, h, bytes, cudaMemcpyHostToDevice));
  for (int s = 0; s < 100; s++) {
    float *tmp;
    CHECK(cudaMalloc((void **)&tmp, bytes));
    square<<<1, 256>>>(d, tmp, n);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(tmp));
  }
  CHECK(cudaMemcpy(g, d, bytes, cudaMemcpyDeviceToHost));
  printf("%g\\n", g[0]);
  cudaFree(d);
  delete[] g;
  free(h);
}
"""
FLOATS = """__device__ float bend(float x) { return 1.0 / (1.0 + x * x) + 2.5e-3 * x; }
__global__ void step(float *u, int n) { int i = threadIdx.x; if (i < n) u[i] = 0.5 * bend(u[i]) + 1.0f; }
"""


@pytest.mark.parametrize(
    ("recipe", "source", "has", "has_not"),
    [
        ("pad-shared-rows", TRANSPOSE, ("tile[TILE][TILE + 1]", "plain[32][33]"), ()),
        ("swap-axes", SCALE, ("row = blockIdx.y * blockDim.y + threadIdx.y", "grid((cols + block.x - 1) / block.x,", "(rows + 15) / 16)"), ()),
        ("sum-by-blocks", SUMS, ("unsigned long long sum_block[1]", "unsigned bins_block[256]", "float weight_block[16]", "if (!(i >= n)) {", "atomicAdd(&weight_block[v[i] % 16]"), ("return",)),
        ("wait-behind-the-loop", HOST, ("  }\n  CHECK(cudaDeviceSynchronize());",), ("tmp, n);\n    CHECK(cudaDeviceSynchronize",)),
        ("keep-device-memory", HOST, ("  float *tmp;\n  CHECK(cudaMalloc((void **)&tmp, bytes));\n  for", "  }\n  CHECK(cudaFree(tmp));"), ("    CHECK(cudaFree",)),
        ("pin-buffers", HOST, ("*h = nullptr, *d;\n  cudaMallocHost((void **)&h, bytes);", "cudaMallocHost((void **)&g, (n) * sizeof(float));", "cudaFreeHost(g)", "cudaFreeHost(h)"), ("malloc(bytes)", "delete")),
        ("single-precision-literals", FLOATS, ("1.0f / (1.0f + x * x) + 2.5e-3f", "0.5f * bend"), ()),
    ],
)  # fmt: skip
def test_a_kernel_or_its_host_is_changed(
    recipe: str, source: str, has: tuple[str, ...], has_not: tuple[str, ...], tmp_path: Path
) -> None:
    new = changed(recipe, source, "cuda")
    assert new is not None
    for part in has:
        assert part in new, new
    for part in has_not:
        assert part not in new, new
    assert constructs.look([text.code("app.cu", source)], [text.code("app.cu", new)], []) == []
    if shutil.which("nvcc") is not None:
        (tmp_path / "app.cu").write_text(new)
        built = subprocess.run(
            ["nvcc", "-c", "-o", "app.o", "app.cu"], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert built.returncode == 0, built.stderr


@pytest.mark.parametrize(
    ("recipe", "source"),
    [
        ("pad-shared-rows", TRANSPOSE.replace("out[x * n", "((float *)tile)[3] = 1; out[x * n").replace("32][32", "31][31")),
        ("pad-shared-rows", TRANSPOSE.replace("TILE][TILE]", "TILE][20]").replace("32][32", "32][20")),
        ("swap-axes", SCALE.replace("int col", "__shared__ float s[16]; const int col")),
        ("swap-axes", SCALE.replace("if (row >= rows || col >= cols) return;", "if (row >= rows) return;")),
        ("swap-axes", SCALE.replace("(cols + 15) / 16", "cols / 16")),
        ("swap-axes", SCALE.replace("row * cols + col", "col * rows + row")),
        ("sum-by-blocks", SUMS.replace("if (v[i] % 3 == 0) atomicAdd", "if (v[i] % 5 == 0) return;\n  if (v[i] % 3 == 0) atomicAdd").split("__global__ void histogram")[0]),
        ("sum-by-blocks", SUMS.replace("atomicAdd(sum, ", "*sum = atomicAdd(sum, ").split("__global__ void histogram")[0]),
        ("sum-by-blocks", "__global__ void f(const int *v, int *bins, int n) { if (threadIdx.x < n) atomicAdd(&bins[v[threadIdx.x]], 1); }"),
        ("sum-by-blocks", "__global__ void f(const int *v, int *next, int *out, int n) { if (threadIdx.x < n) out[atomicAdd(next, 1)] = v[threadIdx.x]; }"),
        ("wait-behind-the-loop", HOST.replace("cudaMalloc(&d, bytes)", "cudaMallocManaged(&d, bytes)")),
        ("wait-behind-the-loop", HOST.replace("<<<1, 256>>>", "<<<1, 256, 0, own>>>").replace("int n =", "cudaStream_t own; int n =")),
        ("wait-behind-the-loop", HOST.replace("float *tmp;", "float *tmp; clock_t begin = clock();")),
        ("keep-device-memory", HOST.replace("bytes));\n    square", "bytes - s));\n    square")),
        ("keep-device-memory", HOST.replace("CHECK(cudaDeviceSynchronize());", "if (s > 5) break;")),
        ("keep-device-memory", HOST.replace("CHECK(cudaDeviceSynchronize());", "d = tmp;").replace("square<<<1, 256>>>(d, tmp, n);", "tmp = d;")),
        ("pin-buffers", HOST.replace("free(h);", "h = (float *)realloc(h, 9); free(h);").replace("delete[] g;", "")),
        ("pin-buffers", HOST.replace("cudaMemcpy", "copied")),
        ("single-precision-literals", FLOATS + "static double f;\n"),
    ],
)  # fmt: skip
def test_what_may_mean_something_else_is_left_alone(recipe: str, source: str) -> None:
    assert changed(recipe, source, "cuda") is None
