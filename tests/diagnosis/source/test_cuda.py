"""What is read in CUDA: host code between kernels and their launches, and device functions."""

from __future__ import annotations

import pytest

from chathpc.diagnosis.source.text import parsed
from tests.diagnosis.source.programs import Case, case, first_cause

STRIDED, QUADRATIC, RECURSION = "strided-access", "quadratic-algorithm", "redundant-recursion"
STREAM, LATENCY, INVARIANT = "memory-bandwidth", "memory-latency", "loop-invariant-work"
SHARING, CRITICAL, COPIES, CHURN = (
    "omp-false-sharing",
    "omp-critical-contention",
    "redundant-copies",
    "allocation-churn",
)
BUILD, MATH = "unoptimised-build", "expensive-math"

KERNEL = """
__device__ __forceinline__ double weight(double x) { return 1.0 / (1.0 + x * x); }
template <typename T>
__global__ void __launch_bounds__(256) scale(T* __restrict__ a, const T* __restrict__ b, int n) {
  __shared__ T tile[256];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? b[i] : T(0);
  __syncthreads();
  if (i < n) a[i] = tile[threadIdx.x] * weight(b[i]);
}
"""


def host(name: str, cause: str, text: str) -> Case:
    """A case whose host code stands behind a kernel."""
    return case(name, cause, KERNEL + text)


CASES = [
    host("packing a matrix by columns before it is copied", STRIDED, """
void pack(double* staged, const double* m, int rows, int cols, double* dev) {
  for (int c = 0; c < cols; ++c)
    for (int r = 0; r < rows; ++r)
      staged[r * cols + c] = m[r * cols + c] * 0.5; // HOT
  cudaMemcpy(dev, staged, sizeof(double) * rows * cols, cudaMemcpyHostToDevice);
}"""),
    host("packing by rows", STREAM, """
void pack(double* staged, const double* m, int rows, int cols, double* dev) {
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < cols; ++c)
      staged[r * cols + c] = m[r * cols + c] * 0.5; // HOT
  cudaMemcpy(dev, staged, sizeof(double) * rows * cols, cudaMemcpyHostToDevice);
}"""),
    host("a transposition on the host", STRIDED, """
void turn(float* out, const float* in, int n) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      out[j * n + i] = in[i * n + j]; // HOT
  scale<float><<<n / 256, 256>>>(out, in, n);
}"""),
    host("a reference product for checking", STRIDED, """
void check(float* c, const float* a, const float* b, int n) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      float s = 0;
      for (int k = 0; k < n; ++k) s += a[i * n + k] * b[k * n + j]; // HOT
      c[i * n + j] = s;
    }
}"""),
    host("one field of structures in managed memory", STRIDED, """
struct Body { float4 position, velocity; float history[56]; float mass; };
float total(const Body* bodies, int n) {
  float s = 0;
  for (int i = 0; i < n; ++i) s += bodies[i].mass; // HOT
  return s;
}"""),
    host("a small table of coefficients", "", """
__constant__ float coefficients[8][8];
float sum(const float (*t)[8]) {
  float s = 0;
  for (int j = 0; j < 8; ++j)
    for (int i = 0; i < 8; ++i) s += t[i][j] * s * 0.5f + 1.0f; // HOT
  return s;
}"""),
    host("an unrolled sum", "", """
float sum(const float* v, int n) {
  float s = 0;
#pragma unroll
  for (int i = 0; i < n; i += 4) s += v[i] * v[i + 1] * v[i + 2] * v[i + 3] - s * 0.5f * v[i] + s * s; // HOT
  return s;
}"""),
    host("a slab of a field, z innermost", STRIDED, """
void slab(float* out, const float* in, int nx, int ny, int nz) {
  for (int y = 0; y < ny; ++y)
    for (int x = 0; x < nx; ++x)
      for (int z = 0; z < nz; ++z) out[(z * ny + y) * nx + x] = in[(z * ny + y) * nx + x]; // HOT
}"""),
    host("looking a stream up by its name", QUADRATIC, """
struct Named { char name[32]; cudaStream_t stream; };
cudaStream_t find(const Named* all, int n, const char* name) {
  for (int i = 0; i < n; ++i)
    if (strcmp(all[i].name, name) == 0) return all[i].stream; // HOT strcmp
  return 0;
}"""),
    host("looking an allocation up", QUADRATIC, """
struct Pool {
  std::vector<void*> pointers_;
  int index(void* wanted) {
    for (int i = 0; i < (int)pointers_.size(); ++i)
      if (pointers_[i] == wanted) return i; // HOT
    pointers_.push_back(wanted);
    return -1;
  }
};"""),
    host("looking among the devices", "", """
int find(const int* devices, int wanted) {
  for (int i = 0; i < 8; ++i)
    if (devices[i] == wanted) return i; // HOT
  return -1;
}"""),
    host("std::find for every particle", QUADRATIC, """
int hits(const std::vector<int>& ids, const std::vector<int>& chosen) {
  int n = 0;
  for (int id : ids)
    n += std::find(chosen.begin(), chosen.end(), id) != chosen.end(); // HOT
  return n;
}"""),
    host("a set for every particle", "", """
int hits(const std::vector<int>& ids, const std::unordered_set<int>& chosen) {
  int n = 0;
  for (int id : ids) n += chosen.count(id); // HOT
  return n;
}"""),
    host("all pairs on the host compared", QUADRATIC, """
int same(const int* id, int n) {
  int found = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j)
      if (id[i] == id[j]) ++found; // HOT
  return found;
}"""),
    host("all pairs of bodies", "", """
float energy(const float* x, const float* m, int n) {
  float e = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) e += m[i] * m[j] / (1e-3f + (x[i] - x[j]) * (x[i] - x[j])); // HOT
  return e;
}"""),
    host("a queue of batches as a vector", QUADRATIC, """
void drain(std::vector<int>& batches, float* a) {
  while (!batches.empty()) {
    scale<float><<<1, 256>>>(a, a, batches.front());
    batches.erase(batches.begin()); // HOT
  }
}"""),
    host("a device function that calls itself twice", RECURSION, """
__host__ __device__ static long ways(int n) {
  if (n < 3) return n;
  return ways(n - 1) + ways(n - 2) + ways(n - 3); // HOT
}"""),
    host("a tree on the device", "", """
struct Tree { int left, right; float v; };
__host__ __device__ static float sum(const Tree* t, int i) {
  if (i < 0) return 0;
  return t[i].v + sum(t, t[i].left) + sum(t, t[i].right); // HOT
}"""),
    host("a sum by halves", "", """
static float sum(const float* v, int lo, int hi) {
  if (hi - lo == 1) return v[lo];
  return sum(v, lo, (lo + hi) / 2) + sum(v, (lo + hi) / 2, hi); // HOT
}"""),
    host("a staging buffer that is filled", STREAM, """
void stage(float* pinned, const float* v, size_t n, float* dev, cudaStream_t s) {
  for (size_t i = 0; i < n; ++i) pinned[i] = v[i]; // HOT
  cudaMemcpyAsync(dev, pinned, n * sizeof(float), cudaMemcpyHostToDevice, s);
}"""),
    host("a triad on the host", STREAM, """
void reference(float* a, const float* b, const float* c, float q, int n) {
  for (int i = 0; i < n; ++i) a[i] = b[i] + q * c[i]; // HOT
}"""),
    host("a dot product on the host", STREAM, """
double dot(const double* a, const double* b, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) s += a[i] * b[i]; // HOT
  return s;
}"""),
    host("a scan", "", """
void scan(float* v, const float* w, int n) {
  for (int i = 1; i < n; ++i) v[i] = v[i - 1] + w[i]; // HOT
}"""),
    host("a loop with a call that nobody knows", "", """
void fill(float* v, int n) {
  for (int i = 0; i < n; ++i) v[i] = curand_host(i); // HOT
}"""),
    host("a gather on the host", LATENCY, """
float gather(const float* v, const int* order, int n) {
  float s = 0;
  for (int i = 0; i < n; ++i) s += v[order[i]]; // HOT
  return s;
}"""),
    host("a table of few colours", "", """
float colours(const float* table, const uint8_t* pixel, int n) {
  float s = 0;
  for (int i = 0; i < n; ++i) s += table[pixel[i]]; // HOT
  return s;
}"""),
    host("a list of free blocks", LATENCY, """
struct Block { size_t bytes; Block* next; };
size_t free_bytes(const Block* b) {
  size_t s = 0;
  for (; b; b = b->next) s += b->bytes; // HOT
  return s;
}"""),
    host("a search for a free block", "", """
struct Block { size_t bytes; Block* next; };
size_t count(const Block* b) {
  size_t s = 0;
  while (b) { s += work(b, s); b = b->next; } // HOT
  return s;
}"""),
    host("a launch configuration that stays", INVARIANT, """
static int blocks_for(int n, int threads) {
  int best = 1;
  for (int b = 1; b < 4096; b++) if (b * threads < n) best = b;
  return best;
}
void run(int* sizes, int n, int threads, int count) {
  for (int i = 0; i < count; ++i) sizes[i] = blocks_for(n, threads); // HOT blocks_for
}"""),
    host("a launch configuration for each size", "", """
static int blocks_for(int n, int threads) {
  int best = 1;
  for (int b = 1; b < 4096; b++) if (b * threads < n) best = b;
  return best;
}
void run(int* sizes, const int* n, int threads, int count) {
  for (int i = 0; i < count; ++i) sizes[i] = blocks_for(n[i], threads); // HOT blocks_for
}"""),
    host("an exponential that stays", INVARIANT, """
void decay(float* v, double rate, double dt, int n) {
  for (int i = 0; i < n; ++i) v[i] *= exp(-rate * dt); // HOT exp
}"""),
    host("an exponential of each element", MATH, """
void decay(float* v, double dt, int n) {
  for (int i = 0; i < n; ++i) v[i] = exp(-v[i] * dt); // HOT exp
}"""),
    host("a vector by value in front of each launch", COPIES, """
static float mean(std::vector<float> v, int stride) {
  float s = 0;
  for (size_t i = 0; i < v.size(); i += stride * 64) s += v[i];
  return s / v.size();
}
float run(const std::vector<float>& v, float* a, int steps) {
  float s = 0;
  for (int t = 0; t < steps; ++t) {
    s += mean(v, t); // HOT memcpy
    scale<float><<<64, 256>>>(a, a, 64 * 256);
  }
  return s;
}"""),
    host("a range-for that copies", COPIES, """
struct Batch { std::vector<float> data; int id; };
long sizes(const std::vector<Batch>& batches) {
  long n = 0;
  for (auto batch : batches) // HOT
    n += batch.data.size();
  return n;
}"""),
    host("a range-for over references", "", """
struct Batch { std::vector<float> data; int id; };
long sizes(const std::vector<Batch>& batches) {
  long n = 0;
  for (auto& batch : batches) // HOT
    n += batch.data.size() * batch.id;
  return n;
}"""),
    host("host memory in every step", CHURN, """
float run(int steps, int n) {
  float s = 0;
  for (int t = 0; t < steps; ++t) {
    float* h = (float*)malloc(n * sizeof(float)); // HOT malloc
    s += h[0];
    free(h);
  }
  return s;
}"""),
    host("sums of the threads that drive devices", SHARING, """
double sums[16];
void drive(const double* v, int n) {
#pragma omp parallel
  {
    int device = omp_get_thread_num();
    cudaSetDevice(device);
#pragma omp for
    for (int i = 0; i < n; ++i) sums[device] += v[i]; // HOT
  }
}"""),
    host("sums of the threads in lines of their own", "", """
struct __align__(64) Sum { double v; double rest[7]; };
Sum sums[16];
void drive(const double* v, int n) {
#pragma omp parallel
  {
    int device = omp_get_thread_num();
#pragma omp for
    for (int i = 0; i < n; ++i) sums[device].v += v[i] * v[i] * 0.5; // HOT
  }
}"""),
    host("an atomic update on the host", CRITICAL, """
void count(const int* v, long* total, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
#pragma omp atomic
    *total += v[i] & 1; // HOT
  }
}"""),
    host("an index on both sides that is a real call", BUILD, """
__host__ __device__ static inline int at(int x, int y, int n) { return y * n + x; } // HOT
"""),
    host("a kernel's own code", "", """
__global__ void copy(float* a, const float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = b[i]; // HOT
}"""),
    host("a kernel over a grid's stride", "", """
__global__ void axpy(float* a, const float* b, float q, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    a[i] += q * b[i]; // HOT
}"""),
]  # fmt: skip


@pytest.mark.parametrize("one", CASES, ids=lambda one: one.name)
def test_cuda(one: Case) -> None:
    assert first_cause(one.text, "a.cu") == one.cause


def test_kernels_launches_and_device_functions_are_functions() -> None:
    file = parsed("a.cu", KERNEL.encode())
    assert file is not None
    assert file.function_names == ["weight", "scale"]
    kernel = file.functions_named("scale")[0]
    assert [one.name for one in kernel.parameters] == ["a", "b", "n"]
    assert not kernel.broken
