"""What is read in the code of GPU kernels, and what is not: each fault beside a kernel that only looks like it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from chathpc.diagnosis import catalogue
from chathpc.diagnosis.host_calls import HostCall
from chathpc.diagnosis.source.device_calls import in_loop, pageable
from chathpc.diagnosis.source.kernel_memory import bank_conflicts, uncoalesced
from chathpc.diagnosis.source.kernels import KernelSource, in_file, signs, small_launch
from chathpc.diagnosis.source.lanes import Lanes
from chathpc.diagnosis.source.sign import Sign
from chathpc.diagnosis.source.text import parsed
from tests.diagnosis.source.programs import Case, case

FAR, BANKS, SPLIT = "gpu-uncoalesced-access", "gpu-shared-bank-conflicts", "gpu-divergence"
ATOMIC, BARRIER, DOUBLE, LOCAL = "gpu-atomics-contention", "gpu-barrier-stall", "gpu-fp64-bound", "gpu-register-spill"
INDEX = "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
HIST = "__global__ void k(const int* v, int* total, int n) {\n" + INDEX


def kernel(name: str, cause: str, body: str, head: str = "float* a, const float* b, int n, int m") -> Case:
    return case(name, cause, f"__global__ void k({head}) {{\n{INDEX}{body.strip(chr(10))}\n}}")


CASES = [
    # -- accesses to device memory
    kernel("a row for each thread", FAR, "  float s = 0; for (int j = 0; j < m; ++j) s += b[i * m + j];\n  a[i] = s;"),
    kernel("a column for each thread", "", "  float s = 0; for (int j = 0; j < m; ++j) s += b[j * n + i];\n  a[i] = s;"),
    kernel(
        "a row by a pointer of its own",
        FAR,
        "  const float* row = b + i * m; float s = 0; for (int j = 0; j < m; ++j) s += row[j];\n  a[i] = s;",
    ),
    kernel(
        "the address of a row",
        FAR,
        "  const float* row = &b[i * m]; float s = 0; for (int j = 0; j < m; ++j) s += row[j];\n  a[i] = s;",
    ),
    kernel("a column by a pointer", "", "  const float* c = b + i; float s = 0; for (int j = 0; j < m; ++j) s += c[j * n];\n  a[i] = s;"),
    kernel("neighbours", "", "  if (i < n) a[i] = b[i] * 2.0f;"),
    kernel("neighbours in the other direction", "", "  a[n - 1 - i] = b[i];"),
    kernel("every eighth element", FAR, "  a[i] = b[i * 8];"),
    kernel("every eighth element by a shift", FAR, "  a[i] = b[i << 3];"),
    kernel("every second element", "", "  a[i] = b[i * 2];"),
    kernel("four elements for each thread, all of them", "", "  a[i] = b[4 * i] + b[4 * i + 1] + b[4 * i + 2] + b[4 * i + 3];"),
    kernel("eight elements for each thread in a short loop", "", "  for (int j = 0; j < 8; ++j) a[i] += b[8 * i + j];"),
    kernel("a step that may be one", "", "  a[i * m] += b[i * m];"),
    kernel("a step of the block", FAR, "  a[i] = b[threadIdx.x * blockDim.x + blockIdx.x];"),
    kernel("a grid's stride", "", "  for (int j = i; j < n; j += blockDim.x * gridDim.x) a[j] += b[j];"),
    kernel("a grid's stride by hand", "", "  while (i < n) { a[i] += b[i]; i += blockDim.x * gridDim.x; }"),
    kernel("a chunk for each thread", FAR, "  for (int j = i * m; j < (i + 1) * m; ++j) a[j] += b[j] * b[j];"),
    kernel("a value for all threads", "", "  for (int j = 0; j < m; ++j) a[i] += b[j];"),
    kernel("through another array", "", "  for (int j = 0; j < m; ++j) a[i] += b[idx[j * n + i]];", "float* a, const float* b, const int* idx, int n, int m"),
    kernel("lanes and warps", "", "  int lane = threadIdx.x % 32, warp = i / 32;\n  a[warp * 32 + lane] = b[warp * m + lane];"),
    kernel("lanes and warps by bits", "", """  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  a[warp * m + lane] = b[warp * n + lane];"""),
    kernel("a warp for each row", "", """  int lane = threadIdx.x & 31, row = i >> 5; float s = 0;
  for (int j = lane; j < m; j += 32) s += b[row * m + j];
  a[row] = s;"""),
    kernel("a stencil", "", """  int y = blockIdx.y;
  a[y * m + i] = b[y * m + i - 1] + b[y * m + i + 1] + b[(y - 1) * m + i] + b[(y + 1) * m + i];"""),
    kernel("a clamped index", "", "  a[i] = b[min(i, n - 1)];"),
    kernel("an index that is clamped from row to row", FAR, "  for (int j = 0; j < m; ++j) a[i] += b[min(i, n - 1) * m + j];"),
    case("the fields of a record one by one", FAR, """struct P { float x, y, z, vx, vy, vz, m, q; };
__global__ void k(P* p, float t, int n) {
""" + INDEX + """  if (i < n) p[i].x += t;
}"""),
    case("all fields of a record", "", """struct P { float x, y, z, vx, vy, vz, m, q; };
__global__ void k(P* p, float t, int n) {
""" + INDEX + """  p[i].x += t * p[i].vx;
  p[i].y += t * p[i].vy;
  p[i].z += t * p[i].vz;
}"""),
    case("a vector type", "", "__global__ void k(float4* a, const float4* b, int n) {\n" + INDEX + "  a[i] = b[i];\n}"),
    case("rows of an array", FAR, """__global__ void k(float (*a)[1024], float* b, int n) {
""" + INDEX + """  for (int j = 0; j < n; ++j) b[i] += a[i][j];
}"""),
    case("columns of an array", "", """__global__ void k(float (*a)[1024], float* b, int n) {
""" + INDEX + """  for (int j = 0; j < n; ++j) b[i] += a[j][i];
}"""),
    case("a device function that reads a row", FAR, """__device__ float sum(const float* row, int m) {
  float s = 0;
  for (int j = 0; j < m; ++j) s += row[j];
  return s;
}
__global__ void k(float* a, const float* b, int m) {
""" + INDEX + """  a[i] = sum(b + i * m, m);
}"""),
    case("a device function for an index", "", """__device__ int at(int x, int y, int w) { return y * w + x; }
__global__ void k(float* a, int w) {
""" + INDEX + """  a[at(i, blockIdx.y, w)] += 1;
}"""),
    case("HIP's own name of the thread", FAR, """__global__ void k(float* a, const float* b, int m) {
  int i = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x;
  for (int j = 0; j < m; ++j) a[i] += b[i * m + j];
}"""),
    kernel("increments of a routine of BLAS with an offset", "", "  a[m + i * n] += b[m + i * n];"),
    kernel("increments of a batch", "", "  a[blockIdx.y * m + i * n] += b[blockIdx.y * m + i * n];"),
    kernel("a row in a loop by hand", FAR, "  int j = 0; while (j < m) { a[i] += b[i * m + j]; j += 1; }"),
    kernel("either neighbour", "", "  a[i] = b[n > 3 ? i : i + 1];"),
    kernel("a neighbour or a row", "", "  a[i] = b[n > 3 ? i : i * 64];"),
    kernel("backwards, by sixteen", FAR, "  a[i] = b[-(16 * i) + n];"),
    kernel("a float in an index", "", "  a[i] = b[(int)(1.5 * n) + i];"),
    kernel("blocks of two warps", "", "  int q = threadIdx.x % 64;\n  a[blockIdx.x * 64 + q] = b[blockIdx.x * 64 + q];"),
    kernel("every sixteenth thread", "", "  a[i / 16] = b[i % 16];"),
    kernel("a warp's own length", "", "  int lane = threadIdx.x % warpSize; a[lane] = b[lane + n];"),
    kernel("a step that a thread chooses", "", "  for (int j = 0; j < m; j += i) a[j] += b[j];"),
    case(
        "fields that are arrays",
        "",
        "struct P { float v[4]; float *far; };\n__global__ void k(P* p, int n) {\n" + INDEX + "  P own;\n  own.v[i] += p[i].v[n] + p->v[i];\n}",
    ),
    case(
        "a pointer in a record",
        FAR,
        "struct P { float v[4]; float *far; };\n__global__ void k(P p, int n) {\n" + INDEX + "  for (int j = 0; j < n; ++j) p.far[i * n + j] += 1.0f;\n}",
    ),
    case(
        "memory of the file",
        FAR,
        """__device__ float table[65536];
__constant__ float rates[4096];
__global__ void k(float* a) {
""" + INDEX + """  a[i] = table[i * 32] + rates[i * 32];
}""",
    ),
    case("constants alone", "", "__constant__ float rates[4096];\n__global__ void k(float* a) {\n" + INDEX + "  a[i] = rates[i * 32];\n}"),
    case(
        "a function of a function",
        FAR,
        "__device__ float one(const float* p, int q) { return p[q]; }\n__device__ float two(const float* p, int q) { return one(p + 8 * q, 0); }\n"
        "__global__ void k(float* a, const float* b) {\n" + INDEX + "  a[i] = two(b, i);\n}",
    ),
    # -- shared memory
    kernel("columns of a tile", BANKS, "  __shared__ float t[32][32]; for (int j = 0; j < m; ++j) a[i] += t[threadIdx.x][j];"),
    kernel("columns of a padded tile", "", "  __shared__ float t[32][33]; for (int j = 0; j < m; ++j) a[i] += t[threadIdx.x][j];"),
    kernel("rows of a tile", "", "  __shared__ float t[32][32]; for (int j = 0; j < m; ++j) a[i] += t[j][threadIdx.x];"),
    kernel("one value of a tile", "", "  __shared__ float t[32][32]; for (int j = 0; j < m; ++j) a[i] += t[j][threadIdx.y];"),
    kernel("doubles side by side", "", "  __shared__ double t[256]; for (int j = 0; j < m; ++j) a[i] += t[threadIdx.x];"),
    kernel("every sixteenth word", BANKS, "  __shared__ int t[4096]; for (int j = 0; j < m; ++j) a[i] += t[threadIdx.x * 16];"),
    kernel("every third word", "", "  __shared__ int t[4096]; for (int j = 0; j < m; ++j) a[i] += t[threadIdx.x * 3];"),
    kernel("a tile whose index is swizzled", "", "  __shared__ float t[32][32]; for (int j = 0; j < m; ++j) a[i] += t[threadIdx.x][j ^ threadIdx.x];"),
    kernel("a reduction whose stride doubles", BANKS, """  __shared__ float s[256];
  for (int d = 1; d < blockDim.x; d *= 2) {
    int at = 2 * d * threadIdx.x;
    if (at < blockDim.x) s[at] += s[at + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) a[blockIdx.x] = s[0];"""),
    kernel("a reduction with neighbouring threads", "", """  __shared__ float s[256];
  for (int d = blockDim.x / 2; d > 0; d >>= 1) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) a[blockIdx.x] = s[0];"""),
    kernel("strides that are shifted", BANKS, "  __shared__ float s[256];\n  for (int d = 1; d < n; d <<= 1) s[d * threadIdx.x] += 1.0f;"),
    kernel("strides that are doubled", BANKS, "  __shared__ float s[256];\n  for (int d = 1; d < n; d = d * 2) s[d * threadIdx.x] += 1.0f;"),
    kernel("strides that are tripled", "", "  __shared__ float s[256];\n  for (int d = 1; d < n; d *= 3) s[d * threadIdx.x] += 1.0f;"),
    kernel("strides of two lengths", "", "  __shared__ float s[256];\n  for (int d = 1; d < n; d *= 2) s[(d + m) * threadIdx.x] += 1.0f;"),
    kernel("strides of a product", "", "  __shared__ float s[256];\n  for (int d = 1; d < n; d *= 2) s[d * m * threadIdx.x] += 1.0f;"),
    kernel("characters", "", "  __shared__ char s[256];\n  for (int d = 1; d < n; ++d) s[3 * threadIdx.x] += 1;"),
    # -- lanes that go different ways
    kernel("even and odd threads", SPLIT, """  for (int j = 0; j < m; ++j) {
    if (threadIdx.x % 2 == 0) {
      a[i] = a[i] * 1.5f + sinf(a[i]);
    } else {
      a[i] = cosf(a[i]) * a[i] + 3.0f;
    }
  }"""),
    kernel("even and odd threads by a bit", SPLIT, """  for (int j = 0; j < m; ++j) {
    if (i & 1) {
      a[i] = a[i] * 1.5f + sinf(a[i]);
    } else {
      a[i] = cosf(a[i]) * a[i] + 3.0f;
    }
  }"""),
    kernel("even and odd warps", "", """  for (int j = 0; j < m; ++j) {
    if ((threadIdx.x / 32) % 2 == 0) {
      a[i] = a[i] * 1.5f + sinf(a[i]);
    } else {
      a[i] = cosf(a[i]) * a[i] + 3.0f;
    }
  }"""),
    kernel("even and odd blocks", "", """  for (int j = 0; j < m; ++j) {
    if (blockIdx.x % 2 == 0) {
      a[i] = a[i] * 1.5f + sinf(a[i]);
    } else {
      a[i] = cosf(a[i]) * a[i] + 3.0f;
    }
  }"""),
    kernel("a sign for even and odd threads", "", """  for (int j = 0; j < m; ++j) {
    float s;
    if (threadIdx.x % 2 == 0) s = 1.0f;
    else s = -1.0f;
    a[i] += s;
  }"""),
    kernel("the border of a row", "", """  for (int j = 0; j < m; ++j) {
    if (i % n == 0) {
      a[i] = a[i] * 1.5f + sinf(a[i]);
    } else {
      a[i] = cosf(a[i]) * a[i] + 3.0f;
    }
  }"""),
    kernel("the end of the array", "", "  if (i < n) {\n    for (int j = 0; j < m; ++j) a[i] += b[j * n + i];\n  }"),
    kernel("one thread that adds all up", SPLIT, """  if (threadIdx.x == 0) {
    float s = 0;
    for (int j = 0; j < m; ++j) s += b[j];
    a[blockIdx.x] = s;
  }"""),
    kernel("one thread that writes", "", "  if (threadIdx.x == 0) a[blockIdx.x] = b[blockIdx.x];"),
    kernel(
        "one thread that ends a reduction",
        "",
        "  __shared__ float s[32];\n  int warps = blockDim.x / 32;\n  if (threadIdx.x == 0) {\n    float sum = 0;\n"
        "    for (int w = 0; w < warps; ++w) sum += s[w];\n    a[blockIdx.x] = sum;\n  }",
    ),
    kernel(
        "half of the threads run a loop",
        SPLIT,
        "  if (threadIdx.x & 1) {\n    for (int j = 0; j < m; ++j) a[i] += b[j * n + i];\n  }",
    ),
    kernel(
        "threads that leave a reduction one by one",
        SPLIT,
        "  __shared__ float s[256];\n  for (int d = 1; d < blockDim.x; d *= 2) {\n    if (threadIdx.x % (2 * d) == 0) {\n"
        "      for (int q = 0; q < m; ++q) s[threadIdx.x] += s[threadIdx.x + d] * b[q];\n    }\n    __syncthreads();\n  }",
    ),
    # -- atomics
    case("a counter for all", ATOMIC, HIST + "  for (int j = i; j < n; j += blockDim.x * gridDim.x) atomicAdd(total, v[j]);\n}"),
    case("a counter by its address", ATOMIC, HIST + "  if (i < n) atomicAdd(&total[0], v[i]);\n}"),
    case("a counter by block", "", HIST + "  for (int j = i; j < n; j += 4096) atomicAdd(&total[blockIdx.x], v[j]);\n}"),
    case("a histogram", "", HIST + "  for (int j = i; j < n; j += 4096) atomicAdd(&total[v[j]], 1);\n}"),
    case("a counter after a reduction", "", HIST + """  int s = 0;
  for (int j = i; j < n; j += 4096) s += v[j];
  if (threadIdx.x == 0) atomicAdd(total, s);
}"""),
    case("a place for each thread", "", HIST + "  for (int j = i; j < n; j += 4096) atomicAdd(&total[i], v[j]);\n}"),
    case("a counter where data ask for it", "", HIST + "  for (int j = i; j < n; j += 4096) if (v[j] > 7) atomicAdd(total, 1);\n}"),
    case("a counter of each step", "", HIST + "  for (int j = 0; j < n; ++j) atomicAdd(&total[j], v[j * n + i]);\n}"),
    case("a counter of the device", ATOMIC, """__device__ int done;
__global__ void k(const int* v, int n) {
  for (int j = 0; j < n; ++j) atomicAdd(&done, v[j]);
}"""),
    case("a counter of the block", ATOMIC, """__global__ void k(const int* v, int n) {
  __shared__ int done;
  for (int j = 0; j < n; ++j) atomicAdd(&done, v[j]);
}"""),
    case("a counter by a pointer that moves", "", HIST + "  int* own = total + i;\n  for (int j = 0; j < n; ++j) atomicAdd(own, v[j]);\n}"),
    case("a counter of what is computed", "", HIST + "  for (int j = 0; j < n; ++j) atomicAdd(total + v[j], 1);\n}"),
    # -- barriers
    kernel("a barrier for each element", BARRIER, """  __shared__ float s[256];
  for (int j = 0; j < m; ++j) {
    s[threadIdx.x] += b[j * n + i];
    __syncthreads();
  }
  a[i] = s[threadIdx.x];"""),
    kernel("a barrier for each tile", "", """  __shared__ float s[64]; float sum = 0;
  for (int t = 0; t < m; ++t) {
    s[threadIdx.x] = b[t * n + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 64; ++j) sum += s[j] * s[j];
    __syncthreads();
  }
  a[i] = sum;"""),
    kernel("a barrier for each of few steps", "", """  __shared__ float s[256];
  for (int j = 0; j < 8; ++j) {
    s[threadIdx.x] += b[j * n + i];
    __syncthreads();
  }
  a[i] = s[threadIdx.x];"""),
    kernel("one barrier", "", "  __shared__ float s[256];\n  s[threadIdx.x] = b[i];\n  __syncthreads();\n  a[i] = s[255 - threadIdx.x];"),
    # -- double precision
    kernel("literals that are double", DOUBLE, "  for (int j = 0; j < m; ++j) a[i] = a[i] * 0.1 + b[j * n + i];"),
    kernel("literals that are float", "", "  for (int j = 0; j < m; ++j) a[i] = a[i] * 0.1f + b[j * n + i];"),
    kernel("a half that compilers narrow", "", "  for (int j = 0; j < m; ++j) a[i] = a[i] * 0.5;"),
    kernel("data that are double", "", "  for (int j = 0; j < m; ++j) a[i] = a[i] * 0.1 + b[j * n + i];", "double* a, const double* b, int n, int m"),
    case("a template of either precision", "", """template <typename T> __global__ void k(T* a, float q, int m) {
""" + INDEX + """  for (int j = 0; j < m; ++j) a[i] = a[i] * T(0.1);
}"""),
    kernel("a count of loops", "", "  for (int j = 0; j < m; ++j) a[i] = a[i] * 2 + 1;"),
    # -- arrays of a thread
    kernel("a histogram of each thread", LOCAL, """  float h[64];
  for (int j = 0; j < m; ++j) h[bin[j]] += b[j * n + i];
  a[i] = h[0];""", "float* a, const float* b, const int* bin, int n, int m"),
    kernel("an array that is unrolled", "", """  float h[8];
  for (int j = 0; j < m; ++j) {
    for (int q = 0; q < 8; ++q) h[q] += b[j * n + i] * q;
  }
  a[i] = h[0];"""),
    kernel("a ring of each thread", LOCAL, "  float h[16];\n  for (int j = 0; j < m; ++j) h[j & 15] = b[j * n + i];\n  a[i] = h[0];"),
    # -- text that says nothing
    kernel("text that cannot be parsed", "", "  for (int j = 0; j < m; ++j a[i] += b[i * m + j;"),
    kernel("nothing", "", ""),
]  # fmt: skip


def said(text: str, file: str = "a.cu") -> list[Sign]:
    source = parsed(file, text.encode())
    assert source is not None
    found = in_file(source, 0, "k", ())
    return [] if found is None else [sign for sign in signs(found) if sign.alone]


@pytest.mark.parametrize("one", CASES, ids=lambda one: one.name)
def test_kernels(one: Case) -> None:
    causes = [sign.cause for sign in said(one.text)]
    assert causes[:1] == ([one.cause] if one.cause else []), causes


def test_code_of_hip_in_a_file_of_cpp_is_read_as_such() -> None:
    assert [sign.cause for sign in said(CASES[0].text, "a.cpp")] == [FAR]


@given(
    step=st.integers(-70, 70), offset=st.integers(0, 100), size=st.sampled_from([("float", 4), ("double", 8), ("char", 1), ("float4", 16)])
)  # fmt: skip
@settings(max_examples=150, deadline=None)
def test_uncoalesced_accesses_need_many_sectors(step: int, offset: int, size: tuple[str, int]) -> None:
    """Counted sector by sector over the 32 threads of a warp."""
    kind, size_of = size
    index = f"{step} * i + {offset}" if step >= 0 else f"{offset} - {-step} * i"
    text = f"__global__ void k(float* a, const {kind}* b) {{\n{INDEX}  use(b[{index}]);\n}}\n"
    source = parsed("a.cu", text.encode())
    assert source is not None
    sign = uncoalesced([Lanes(source.everything()[0], source.unit)])
    touched = {(1 << 20) + (step * lane + offset) * size_of + at for lane in range(32) for at in range(size_of)}
    sectors = len({byte // 32 for byte in touched})
    used = len(touched) / (32 * sectors)
    if sign is not None:
        assert used <= 0.3
        assert sectors >= 15
    elif abs(step) > 1:
        assert used > 0.2 or sectors < 20


@given(
    rows=st.integers(1, 80), step=st.integers(0, 40), kind=st.sampled_from([("float", 1), ("double", 2), ("float4", 4)])
)
@settings(max_examples=150, deadline=None)
def test_bank_conflicts_are_those_of_the_banks(rows: int, step: int, kind: tuple[str, int]) -> None:
    """Counted bank by bank; accesses of 8 and 16 bytes are served in halves and quarters of a warp."""
    name, words = kind
    text = f"__global__ void k() {{\n  __shared__ {name} t[64][{rows}];\n  use(t[threadIdx.x * {step}][3]);\n}}\n"
    source = parsed("a.cu", text.encode())
    assert source is not None
    sign = bank_conflicts([Lanes(source.everything()[0], source.unit)])
    worst = 1
    for begin in range(0, 32, 32 // words):
        lanes = range(begin, begin + 32 // words)
        addresses = {lane * step * rows * words + at for lane in lanes for at in range(words)}
        worst = max(worst, max(sum(one % 32 == bank for one in addresses) for bank in range(32)))
    if sign is None:
        assert worst < 4
    else:
        assert f"{worst} threads of a warp conflict in one bank" in sign.says


@pytest.mark.parametrize(
    ("how", "cause"),
    [
        ("k<<<1, 256>>>(a);", "gpu-small-grid"),
        ("k<<<dim3(2, 2), 256>>>(a);", "gpu-small-grid"),
        ("k<<<BLOCKS, 256>>>(a);", "gpu-small-grid"),
        ("int blocks = 4; k<<<blocks, 256>>>(a);", "gpu-small-grid"),
        ("k<<<1, 256>>>(a); k<<<n, 256>>>(a);", ""),
        ("k<<<n / 256, 256>>>(a);", ""),
        ("k<<<n / 32, 32>>>(a);", "gpu-low-occupancy"),
        ("k<<<n, dim3(4, 8)>>>(a);", "gpu-low-occupancy"),
        ("k<<<n, dim3(16, 16)>>>(a);", ""),
        ("hipLaunchKernelGGL(k, dim3(1), dim3(256), 0, 0, a);", "gpu-small-grid"),
        ("hipLaunchKernelGGL(k, dim3(n), dim3(256), 0, 0, a);", ""),
        ("other<<<1, 1>>>(a);", ""),
        ("", ""),
    ],
)
def test_launches_of_few_blocks_or_threads(how: str, cause: str) -> None:
    text = f"#define BLOCKS 6\n__global__ void k(float* a) {{ a[threadIdx.x] = 1; }}\nvoid run(float* a, int n) {{ {how} }}\n"
    source = parsed("a.cu", text.encode())
    assert source is not None
    sign = small_launch(source, "void k(float*)", 8)
    assert (sign.cause if sign is not None else "") == cause


def test_lines_of_a_sign_hold_its_line() -> None:
    for one, other in pairwise(CASES):
        for sign in said(one.text) + said(other.text):
            assert sign.first <= sign.line <= sign.last


def test_of_kernels_of_one_name_that_is_meant_which_holds_the_lines() -> None:
    text = "__global__ void k(float* a) { a[0] = 1; }\nnamespace b {\n__global__ void k(int* a) { a[0] = 1; }\n}\n"
    source = parsed("a.cu", text.encode())
    assert source is not None
    assert in_file(source, 0, "k(float*)", ()) is None
    found = in_file(source, 0, "b::k(int*)", (3,))
    assert found is not None
    assert found.function.first == 3


#: Causes of the catalogue whose example shows what is read in the source.
SHOWN = (FAR, BANKS, SPLIT, ATOMIC, DOUBLE, LOCAL, "gpu-small-grid")
HOST = ("gpu-allocation-in-loop", "gpu-sync-overuse", "gpu-pageable-copies")


def examples(cause: str) -> list[tuple[str, str]]:
    """What the catalogue shows of a cause in CUDA: before and after."""
    text = (Path(catalogue.__file__).parent / f"{cause}.yaml").read_text()
    shown = [each["example"] for each in yaml.safe_load(text)["advice"] if "example" in each]
    return [(each["before"], each["after"]) for each in shown if each["language"] in ("cuda", "hip")]


@pytest.mark.parametrize("cause", SHOWN)
def test_examples_of_the_catalogue_are_recognised_and_their_remedies_are_not(cause: str) -> None:
    def causes(text: str) -> set[str]:
        source = parsed("a.cu", text.encode())
        assert source is not None
        found: set[str] = set()
        for each in source.everything():
            if "global" in each.marks:
                launched = small_launch(source, each.name, 8)
                found |= {sign.cause for sign in signs(KernelSource(0, source, each)) if sign.alone}
                found |= set() if launched is None else {launched.cause}
        return found

    (shown,) = examples(cause)
    assert cause in causes(shown[0])
    assert cause not in causes(shown[1])


@pytest.mark.parametrize("cause", HOST)
def test_examples_of_host_code_are_recognised_and_their_remedies_are_not(cause: str) -> None:
    def causes(text: str) -> set[str]:
        source = parsed("a.cu", text.encode())
        assert source is not None
        found: set[str] = set()
        for each in source.everything():
            for line in range(each.first, each.last + 1):
                told = [pageable(each, line), *(in_loop(each, source.unit, line, kind) for kind in HostCall)]
                found |= {sign.cause for sign in told if sign is not None}
        return found

    (shown,) = examples(cause)
    assert cause in causes(shown[0])
    assert cause not in causes(shown[1])
