"""Generated databases of HPCToolkit with the times of GPU kernels and nothing else measured of them, and with their source: the
fault is in the text, and so is what only looks like it.

Labels follow from the CUDA C++ Programming Guide (warps, coalescing, banks, local memory) and the Best Practices Guide.
"""

from __future__ import annotations

from pathlib import Path

from tests.accuracy.draw import Draw
from tests.accuracy.recipes import Truth, place, recipe, truth
from tests.synthetic.hpctoolkit_v4 import Database, Location, Metric, entry, function, line, write

KERNEL, FORM = "gpu-kernel", "HPCToolkit"
TIMES = ("REALTIME (sec)", "GPUOP (sec)", "GKER (sec)", "GXCOPY (sec)", "GKER:COUNT")
RUNTIME = "/usr/local/cuda/lib64/libcudart.so.12"
INDEX = "  int i = blockIdx.x * blockDim.x + threadIdx.x;"


def database(
    draw: Draw, folder: Path, body: str, *, blocks: str = "(n + 255) / 256", before: str = ""
) -> tuple[str, str, float]:
    """A program whose long kernel has this body (a line with `// FAULT` among them), and a short kernel beside it, which is sound.
    The kernel, its file, and its part of the device's time.
    """
    name, other, file, host = draw.names.word(), draw.names.word(), draw.names.file(".cu"), draw.names.file(".cpp")
    part = draw.real(0.7, 0.95)
    seconds = draw.steps(4, 12) * 0.5
    text = (
        f"#include <cuda_runtime.h>\n{before}\n__global__ void {name}(float* a, const float* b, const int* idx, int n, int m)\n{{\n{INDEX}\n{body}\n}}\n\n"
        f"__global__ void {other}(float* a, const float* b, int n)\n{{\n{INDEX}\n  if (i < n)\n    a[i] = b[i] * 2.0f;\n}}\n\n"
        f"void run(float* a, const float* b, const int* idx, int n, int m)\n{{\n  {name}<<<{blocks}, 256>>>(a, b, idx, n, m);\n"
        f"  {other}<<<(n + 255) / 256, 256>>>(a, b, n);\n}}\n"
    )
    kernels = []
    for number, (each, time) in enumerate(((name, seconds * part), (other, seconds * (1 - part)))):
        values = {"GKER (sec)": {1: time}, "GPUOP (sec)": {1: time}, "GKER:COUNT": {1: 50.0 * draw.repeat}}
        first = next(n for n, one in enumerate(text.split("\n"), 1) if f"__global__ void {each}(" in one)
        node = function(
            f"{each}(float*, float const*, int)", file=file, line=first, module="app.gpubin", samples=values
        )
        kernels.append(
            line(host, 30 + number, function("cudaLaunchKernel [libcudart.so.12]", function("<gpu kernel>", node, module=None), module=RUNTIME))
        )  # fmt: skip
    written = Database(
        [entry(function("main", *kernels, file=host, line=20))],
        [Location(thread=0, rank=0), Location(thread=None, rank=0, gpu_context=1, gpu_stream=7)],
        [Metric(each) for each in TIMES], title="app",
    )  # fmt: skip
    write(folder / "database", written)
    (folder / "database" / "src").mkdir()
    (folder / "database" / "src" / file).write_text(text)
    return f"{name}(float*, float const*, int)", file, part


def told(
    draw: Draw,
    folder: Path,
    cause: str,
    body: str,
    why: str,
    *also: str,
    before: str = "",
    blocks: str = "(n + 255) / 256",
) -> Truth:
    kernel, file, part = database(draw, folder, body, before=before, blocks=blocks)
    return truth(cause, FORM, ["database"], part, why, acceptable=also, where=place(file=file, kernel=kernel))


def sound(draw: Draw, folder: Path, body: str, why: str, before: str = "") -> Truth:
    _, _, part = database(draw, folder, body, before=before)
    return truth("healthy", FORM, ["database"], part, why)


def loop(draw: Draw, inside: str, variable: str = "j") -> str:
    """A loop over m, in one of two forms."""
    if draw.chance(0.5):
        return f"  for (int {variable} = 0; {variable} < m; ++{variable}) {{\n    {inside}\n  }}"
    return f"  int {variable} = 0;\n  for ({variable} = 0; {variable} < m; {variable} += 1)\n    {inside}"


@recipe("gpu-uncoalesced-access", KERNEL, 4)
def t_rows(draw: Draw, folder: Path) -> Truth:
    reads = ("b[i * m + j]", "b[m * i + j]", "b[j + i * m]", "b[(i + 1) * m + j]")
    body = f"  float s = 0.0f;\n{loop(draw, f's += {draw.choice(*reads)};')}\n  a[i] = s;"
    return told(
        draw, folder, "gpu-uncoalesced-access", body, "each thread walks along a row of its own: 32 sectors a request"
    )


@recipe("gpu-uncoalesced-access", KERNEL, 2)
def t_records(draw: Draw, folder: Path) -> Truth:
    fields = draw.whole(8, 24)
    record = f"struct Item {{ float v[{fields}]; }};\n"
    step = 2 ** draw.whole(3, 6)
    body = f"  a[i] = b[i * {step}] * 0.25f + 1.0f;"
    return told(
        draw, folder, "gpu-uncoalesced-access", body, "neighbouring threads are a sector or more apart", before=record
    )


@recipe("gpu-shared-bank-conflicts", KERNEL, 2)
def t_banks(draw: Draw, folder: Path) -> Truth:
    size = int(draw.choice("32", "64", "16"))
    body = (
        f"  __shared__ float tile[64][{size}];\n  tile[threadIdx.y][threadIdx.x] = b[i];\n  __syncthreads();\n  float s = 0.0f;\n"
        f"{loop(draw, f'for (int q = 0; q < {size}; ++q) s += tile[threadIdx.x][q];')}\n  a[i] = s;"
    )
    return told(
        draw, folder, "gpu-shared-bank-conflicts", body, "threads of a warp read one column of a tile without padding"
    )


@recipe("gpu-divergence", KERNEL, 2)
def t_parity(draw: Draw, folder: Path) -> Truth:
    test = draw.choice("threadIdx.x % 2 == 0", "i & 1", "i % 4 < 2", "(threadIdx.x & 3) == 0")
    inside = f"if ({test}) {{\n      a[i] = sinf(a[i]) * 0.5f + a[i] * a[i];\n    }} else {{\n      a[i] = cosf(a[i]) - a[i] * 1.5f + 2.0f;\n    }}"
    return told(
        draw, folder, "gpu-divergence", loop(draw, inside), "neighbouring threads go different ways, both with work"
    )


@recipe("gpu-atomics-contention", KERNEL, 2)
def t_counter(draw: Draw, folder: Path) -> Truth:
    target = draw.choice("&a[0]", "a", "&a[1]")
    body = loop(draw, f"atomicAdd({target}, b[j * n + i]);")
    return told(draw, folder, "gpu-atomics-contention", body, "all threads add to one address in each iteration")


@recipe("gpu-barrier-stall", KERNEL, 2)
def t_barriers(draw: Draw, folder: Path) -> Truth:
    body = (
        "  __shared__ float s[256];\n  s[threadIdx.x] = 0.0f;\n"
        f"  for (int j = 0; j < m; ++j) {{\n    s[threadIdx.x] += b[j * n + i] * {draw.whole(2, 9)}.0f;\n    __syncthreads();\n  }}\n  a[i] = s[threadIdx.x];"
    )
    return told(draw, folder, "gpu-barrier-stall", body, "a barrier for each element")


@recipe("gpu-fp64-bound", KERNEL, 2)
def t_literals(draw: Draw, folder: Path) -> Truth:
    number = draw.choice("0.1", "3.14159265358979", "1e-3", "0.333333333")
    body = loop(draw, f"a[i] = a[i] * {number} + b[j * n + i] * (1.0 - {number});")
    return told(
        draw, folder, "gpu-fp64-bound", body, "literals without f make the arithmetic of floats double precision"
    )


@recipe("gpu-register-spill", KERNEL, 2)
def t_local(draw: Draw, folder: Path) -> Truth:
    size = 2 ** draw.whole(4, 7)
    index = draw.choice("idx[j]", f"j & {size - 1}", f"(j * 7) % {size}")
    body = f"  float own[{size}];\n{loop(draw, f'own[{index}] += b[j * n + i];')}\n  a[i] = own[0] + own[1];"
    return told(
        draw, folder, "gpu-register-spill", body, "an array of each thread with a computed index lies in local memory"
    )


@recipe("gpu-small-grid", KERNEL, 2)
def t_blocks(draw: Draw, folder: Path) -> Truth:
    count = draw.whole(1, 6)
    body = "  for (int j = i; j < n; j += blockDim.x * gridDim.x)\n    a[j] = b[j] * 2.0f;"
    return told(
        draw, folder, "gpu-small-grid", body, "fewer blocks than any device has multiprocessors", blocks=str(count)
    )


#: Sums of each thread, and the sum over a warp, in its first thread.
STRIDE_LOOP = "  float s = 0.0f;\n  for (int j = i; j < n; j += gridDim.x * blockDim.x)\n    s += b[j];\n"
LANE_LOOP = "  int lane = threadIdx.x & 31, row = i >> 5;\n  float s = 0.0f;\n  for (int j = lane; j < m; j += 32)\n    s += b[row * m + j];\n"
WARP_SUM = "  for (int d = 16; d > 0; d /= 2)\n    s += __shfl_down_sync(~0u, s, d);\n"


@recipe("healthy", KERNEL, 8)
def t_sound(draw: Draw, folder: Path) -> Truth:
    """Kernels that look like the faults above: columns, padded tiles, borders, sums by block, literals of floats, unrolled arrays."""
    bodies = (
        f"  float s = 0.0f;\n{loop(draw, 's += b[j * n + i];')}\n  a[i] = s;",
        "  __shared__ float tile[32][33];\n  tile[threadIdx.y][threadIdx.x] = b[i];\n  __syncthreads();\n  a[i] = tile[threadIdx.x][threadIdx.y];",
        "  for (int j = 0; j < m; ++j) {\n    if (i < n - 1) {\n      a[i] = a[i] * 1.5f + b[j * n + i];\n    }\n  }",
        f"{STRIDE_LOOP}{WARP_SUM}  if (threadIdx.x % 32 == 0)\n    atomicAdd(a, s);",
        loop(draw, "a[i] = a[i] * 0.1f + b[j * n + i];"),
        "  float own[4];\n  for (int q = 0; q < 4; ++q)\n    own[q] = b[q * n + i];\n  for (int q = 0; q < 4; ++q)\n    a[q * n + i] = own[q] * 2.0f;",
        f"{LANE_LOOP}{WARP_SUM}  if (lane == 0)\n    a[row] = s;",
        "  if ((threadIdx.x / 32) % 2 == 0) {\n    a[i] = sinf(b[i]) + b[i] * b[i] * 3.0f;\n  } else {\n    a[i] = cosf(b[i]) - b[i] * 1.5f;\n  }",
    )  # fmt: skip
    return sound(
        draw, folder, bodies[draw.whole(0, len(bodies) - 1)], "accesses, branches and sums as the guides recommend them"
    )
