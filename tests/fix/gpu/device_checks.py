"""Everything that needs a GPU, in one command: python -m tests.fix.gpu.device_checks [-o FOLDER] [--no-sandbox]

Prints a table (check, outcome, what was found, seconds) and exits with 1 if a check failed. In FOLDER (default: device-checks) it leaves
the table (table.txt), all figures (figures.json), and small reports of our own kernels by ncu (*.ncu-rep) and nsys (*.nsys-rep) where these
tools are there: they are to be copied to tests/data. It needs the extra `gpu`, nvcc, and for some checks compute-sanitizer, ncu, nsys.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

import numpy as np

from chathpc.errors import ChathpcError
from chathpc.fix.gpu import gate
from chathpc.fix.gpu.device import Device, driver
from chathpc.fix.project import Flags, Kernel, KernelArgument, Project, Run
from chathpc.fix.records import Verdict
from chathpc.fix.runner import Runner
from chathpc.fix.workspace import Workspace
from chathpc.sandbox import Limits, Request, Sandbox, bubblewrap, choose
from chathpc.sandbox.bubblewrap import Bubblewrap
from chathpc.sandbox.landlock import Landlock
from chathpc.sandbox.supervised import Plain

N = 1 << 22
ORIGINAL = """#include <cstdio>
#include <cuda_runtime.h>
#define BLOCK 256

// Strided: neighbours in a warp read elements that lie 33 apart.
__global__ void smooth(const double *a, double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  long long j = (33LL * i) % n;
  double s = 0.0;
  for (int k = 0; k < 8; k++) s += a[(j + 33LL * k) % n] * (1.0 + k);
  out[i] = s;
}

// The sum of each block, through shared memory.
__global__ void sums(const double *a, double *out, int n) {
  __shared__ double part[BLOCK];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i < n ? a[i] : 0.0;
  __syncthreads();
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

int main(int argc, char **argv) {
  int n = 1 << 22;
  double *a, *out;
  if (cudaMalloc(&a, n * sizeof *a) || cudaMalloc(&out, n * sizeof *out)) return 1;
  cudaMemset(a, 0, n * sizeof *a);
  for (int t = 0; t < 20; t++) {
    smooth<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(a, out, n);
    sums<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(a, out, n);
  }
  if (cudaDeviceSynchronize()) return 1;
  std::printf("done\\n");
  return 0;
}
"""
#: Says how far a program with a GPU gets.
PROBE = """#include <cstdio>
#include <cuda_runtime.h>
int main() {
  void *p;
  cudaError_t e = cudaMalloc(&p, 1 << 20);
  if (!e) e = cudaMemset(p, 0, 1 << 20);
  if (!e) e = cudaDeviceSynchronize();
  std::puts(cudaGetErrorName(e));
  return e;
}
"""
BLOCKS = (N + 255) // 256
#: n is a little less than the threads: the bound is needed.
SMOOTH = Kernel(
    "smooth", "app.cu", (KernelArgument("n", N - 85), KernelArgument("a", elements=N - 85)), (BLOCKS,), (256,)
)
SUMS = Kernel(
    "sums", "app.cu", (KernelArgument("n", N - 85), KernelArgument("a", elements=N - 85), KernelArgument("out", elements=BLOCKS)),
    (BLOCKS,), (256,),
)  # fmt: skip
#: name, kernel, what is replaced by what, the verdict (None: nothing against it), and words of the statement.
CHANGES: tuple[tuple[str, Kernel, str, str, Verdict | None, str], ...] = (
    ("honest: products without a remainder", SMOOTH, "a[(j + 33LL * k) % n]", "a[(j + 33LL * k) < n ? j + 33LL * k : (j + 33LL * k) % n]", None, "agrees"),
    ("writes nothing", SMOOTH, "  out[i] = s;\n", "  if (s == -1.2345) out[i] = s;\n", Verdict.WRONG_ANSWER, "unwritten"),
    ("skips half", SMOOTH, "if (i >= n) return;", "if (i >= n / 2) return;", Verdict.WRONG_ANSWER, "unwritten"),
    ("writes behind the end", SMOOTH, "  out[i] = s;\n", "  out[i] = s;\n  if (i == n - 1) out[n] = s;\n", Verdict.WRONG_ANSWER, "behind the end of out"),
    ("writes before the start", SMOOTH, "  out[i] = s;\n", "  out[i] = s;\n  if (i == 0) out[-1] = s;\n", Verdict.WRONG_ANSWER, "before the start of out"),
    ("drops the bound", SMOOTH, "  if (i >= n) return;\n", "", Verdict.WRONG_ANSWER, "behind the end of out"),
    ("single precision", SMOOTH, "double s = 0.0;", "float s = 0.0f;", Verdict.WRONG_ANSWER, "another value"),
    ("relies on earlier contents", SMOOTH, "  out[i] = s;\n", "  out[i] += s;\n", Verdict.WRONG_ANSWER, "out"),
    ("changes its input", SMOOTH, "  out[i] = s;\n", "  out[i] = s;\n  if (i == 7) ((double *)a)[i] = s;\n", Verdict.WRONG_ANSWER, "a"),
    ("faults", SMOOTH, "  out[i] = s;\n", "  out[i] = s;\n  if (i == 7) ((volatile double *)8)[0] = s;\n", Verdict.WRONG_ANSWER, "fails"),
    ("keeps its answer", SMOOTH, "__global__ void smooth", "__device__ double kept[1 << 22];\n__global__ void smooth", Verdict.CHEATED, "kept"),
    ("does not end", SMOOTH,
      "  out[i] = s;\n", "  out[i] = s;\n  while (i == 0 && ((volatile double *)out)[0] == s) {}\n", Verdict.WRONG_ANSWER, "does not end"),
    ("blocks of 128 threads", SMOOTH, "#define BLOCK 256", "#define BLOCK 128", None, "agrees"),
    ("no barrier", SUMS, "  __syncthreads();\n  for", "  for", Verdict.WRONG_ANSWER, ""),
    ("no barrier in the loop", SUMS, "    __syncthreads();\n  }", "  }", Verdict.WRONG_ANSWER, ""),
    ("the same sums", SUMS, "half /= 2", "half >>= 1", None, "agrees"),
)  # fmt: skip


class _Asked:
    """What the command line says."""

    no_sandbox = False


@dataclass(frozen=True, slots=True)
class Check:
    """One check: run in a fresh folder it says ok, failed or skipped, and what was found."""

    name: str
    run: Callable[[Path], tuple[str, str]]


def _runner(folder: Path, kernel: Kernel) -> Runner:
    root = folder / "project"
    root.mkdir(parents=True)
    (root / "app.cu").write_text(ORIGINAL, "utf-8")
    project = Project(
        root, "nvcc -O2 -lineinfo -o app app.cu", Run("run", "./app"), ("*.cu",), flags=Flags("NVCCFLAGS", "-O2"), gpu=True, kernels=(kernel,),
    )  # fmt: skip
    project = replace(project, limits=replace(project.limits, seconds=120.0))
    space = Workspace(folder / "work")
    space.prepare(root)
    return Runner(project, choose(_Asked.no_sandbox), space)


def _changed(old: str, new: str) -> str:
    if ORIGINAL.count(old) < 1:
        raise AssertionError(old)
    return ORIGINAL.replace(old, new)


def _change(
    kernel: Kernel, old: str, new: str, verdict: Verdict | None, words: str
) -> Callable[[Path], tuple[str, str]]:
    def run(folder: Path) -> tuple[str, str]:
        files = {"app.cu": _changed(old, new)}
        (found,) = gate.judge(
            _runner(folder, kernel),
            None,
            {"app.cu": ORIGINAL},
            files,
            np.random.default_rng(),
            seconds=10.0 if verdict is None else 0.0,
        )
        right = found.verdict == verdict and not found.refused and words in found.statement
        return "ok" if right else "failed", found.statement

    return run


def _device(folder: Path) -> tuple[str, str]:
    device = Device(driver())
    try:
        memory = device.allocate(4096)
        content = np.arange(4096, dtype=np.uint32).view(np.uint8)[:4096]
        device.upload(int(memory), content)
        same = np.array_equal(device.download(int(memory), 4096), content)
        device.fill(int(memory) + 16, 0xFF, 16)
        filled = device.download(int(memory), 48)
        right = same and bool((filled[16:32] == 0xFF).all()) and np.array_equal(filled[32:], content[32:48])
        return "ok" if right else "failed", device.arch
    finally:
        device.close()


def _sandboxes(folder: Path) -> tuple[str, str]:
    """Every sandbox shows the device; of one that does not, which of its walls hides it (each left out once)."""
    (folder / "probe.cu").write_text(PROBE, "utf-8")
    subprocess.run(["nvcc", "-arch=native", "-o", "probe", "probe.cu"], cwd=folder, check=True, timeout=300)

    def gets(sandbox: Sandbox) -> str:
        try:
            done = sandbox.run(
                Request(("./probe",), folder, environment=dict(os.environ), gpu=True, limits=Limits(60.0))
            )
        except ChathpcError as error:
            return error.message
        return (done.stdout + done.stderr[-100:]).decode("utf-8", "replace").strip() or f"{done.status} {done.code}"

    found = {sandbox.name: gets(sandbox) for sandbox in (Plain(), Landlock(), Bubblewrap())}
    said = [f"{name}: {text}" for name, text in found.items()]
    if found["bubblewrap"] != "cudaSuccess":
        said += [f"without {wall}: {gets(_Without(wall))}" for wall in _Without.WALLS]
        with patch.object(bubblewrap, "filter_program", lambda: b""):
            said.append(f"without seccomp: {gets(Bubblewrap())}")
        with patch.object(bubblewrap, "resource_limits", lambda request: ()):
            said.append(f"without limits: {gets(Bubblewrap())}")
    return "ok" if set(found.values()) == {"cudaSuccess"} else "failed", "; ".join(said)


class _Without(Bubblewrap):
    """Bubblewrap without one of its walls: options that are left out, or a folder of the machine in the place of its own."""

    WALLS: Mapping[str, tuple[str, ...]] = {
        "ipc": ("--unshare-ipc",), "net": ("--unshare-net",), "uts": ("--unshare-uts", "--hostname", "sandbox"), "cgroup": ("--unshare-cgroup-try",),
        "pid": ("--unshare-pid", "--as-pid-1"), "cap": ("--cap-drop", "ALL"), "userns": ("--disable-userns",),
        "user": ("--unshare-user", "--disable-userns"), "/dev": (), "/proc": (), "/sys": (), "/run": (), "/etc": (),
    }  # fmt: skip

    def __init__(self, wall: str) -> None:
        super().__init__()
        self._wall = wall

    def _options(self, request: Request) -> Iterator[str]:
        yield from (option for option in super()._options(request) if option not in self.WALLS[self._wall])
        if self._wall.startswith("/"):
            yield from ("--dev-bind", self._wall, self._wall)


def _same_is_not_faster(folder: Path) -> tuple[str, str]:
    files = {"app.cu": ORIGINAL + "// the same\n"}
    (found,) = gate.judge(
        _runner(folder, SMOOTH), None, {"app.cu": ORIGINAL}, files, np.random.default_rng(), seconds=20.0
    )
    return "ok" if (found.timing or {}).get("outcome") == "inconclusive" else "failed", found.statement


def _tool(tool: Literal["nsys", "ncu"]) -> Callable[[Path], tuple[str, str]]:
    """The program under ncu or nsys by chathpc.measure, read again, its launch facts as they were."""

    def run(folder: Path) -> tuple[str, str]:
        from chathpc.adapters.load import load
        from chathpc.fix.gpu.plan import LaunchFacts, launch_facts
        from chathpc.measure import measure

        if shutil.which(tool) is None:
            return "skipped", f"{tool} is not there"
        _build(folder)
        found = measure(
            ("./app",), folder, runner=choose(_Asked.no_sandbox).run, tool=tool, gpu=True, environment=dict(os.environ), output=folder / tool,
            kernel="smooth" if tool == "ncu" else None, launches=2,
        )  # fmt: skip
        facts = launch_facts(load(found.path), "smooth")
        right = isinstance(facts, LaunchFacts) and (facts.blocks, facts.threads) == (BLOCKS, 256)
        return "ok" if right else "failed", str(facts)

    return run


def _build(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "app.cu").write_text(ORIGINAL, "utf-8")
    subprocess.run(
        ["nvcc", "-O2", "-lineinfo", "-arch=native", "-o", "app", "app.cu"], cwd=folder, check=True, timeout=300
    )


def _loop(folder: Path) -> tuple[str, str]:
    """The whole fix loop on a program with a GPU, re-profiled by nsys."""
    from chathpc.fix.loop import Budget, fix
    from chathpc.fix.strategies import proposers

    if shutil.which("nsys") is None:
        return "skipped", "nsys is not there"
    made = _runner(folder, SMOOTH)
    outcome = fix(
        replace(made.project, profile=replace(made.project.profile, tool="nsys")), proposers(["recipes"]), sandbox=choose(_Asked.no_sandbox),
        work=folder / "loop", budget=Budget(rounds=1, candidates=4, seconds=240.0, timing=20.0), baselines=False,
    )  # fmt: skip
    said = "; ".join(f"{one.candidate.title}: {one.verdict}" for one in outcome.attempts) or "no change was proposed"
    return "ok", f"{outcome.first.diagnosis.verdict}; {said}"


CHECKS: tuple[Check, ...] = (
    Check("the device answers", _device),
    Check("sandboxes show the device", _sandboxes),
    *(Check(name, _change(kernel, old, new, verdict, words)) for name, kernel, old, new, verdict, words in CHANGES),
    Check("the same kernel is not faster", _same_is_not_faster),
    Check("nsys: launch facts", _tool("nsys")),
    Check("ncu: launch facts", _tool("ncu")),
    Check("the loop, re-profiled by nsys", _loop),
)


def record(folder: Path) -> list[str]:
    """Leave small reports of ncu and nsys of our own kernels; what was recorded, or why not."""
    said = []
    _build(folder / "build")
    commands = {
        "ncu": [
            "ncu",
            "--set",
            "full",
            "--import-source",
            "yes",
            "--launch-count",
            "2",
            "-f",
            "-o",
            str(folder / "smooth"),
        ],
        "nsys": [
            "nsys",
            "profile",
            "--trace=cuda",
            "--sample=none",
            "--cpuctxsw=none",
            "--force-overwrite=true",
            "-o",
            str(folder / "smooth"),
        ],
    }
    for tool, command in commands.items():
        if shutil.which(tool) is None:
            said.append(f"{tool} is not there")
            continue
        done = subprocess.run([*command, "./app"], cwd=folder / "build", capture_output=True, timeout=600)
        made = [one for one in sorted(folder.glob("smooth.*-rep")) if one.suffix == f".{tool}-rep"]
        said += [f"{one.name}: {one.stat().st_size:,} bytes" for one in made] or [
            f"{tool} left nothing: {done.stdout.decode('utf-8', 'replace').strip()[-200:]}"
        ]
    shutil.rmtree(folder / "build")
    return said


def main(words: Sequence[str]) -> int:
    """Run all checks, or those whose name has a word."""
    parser = argparse.ArgumentParser(prog="python -m tests.fix.gpu.device_checks", description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=Path("device-checks"))
    parser.add_argument("words", nargs="*", help="only checks with one of these words in their name")
    parser.add_argument("--no-sandbox", action="store_true", help="run without one, as chathpc fix --no-sandbox does")
    asked = parser.parse_args(words)
    _Asked.no_sandbox = asked.no_sandbox
    try:
        driver()
    except ChathpcError as error:
        print(error.message, file=sys.stderr)
        return 1
    asked.output.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    for check in CHECKS:
        if asked.words and not any(word in check.name for word in asked.words):
            continue
        folder = (asked.output / "runs" / str(len(rows))).resolve()
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        begin = time.monotonic()
        try:
            outcome, said = check.run(folder)
        except (ChathpcError, OSError, ImportError, subprocess.SubprocessError, AssertionError, ValueError) as error:
            outcome, said = "failed", f"{type(error).__name__}: {error}"
        rows.append(
            {"check": check.name, "outcome": outcome, "found": said, "seconds": round(time.monotonic() - begin, 2)}
        )
        print(f"{rows[-1]['outcome']:8}{rows[-1]['seconds']:8.1f} s  {check.name:40}{said}", flush=True)
    recorded = record(asked.output) if shutil.which("nvcc") else ["nvcc is not available"]
    print("\n".join(f"recorded  {one}" for one in recorded))
    table = "\n".join(f"{row['outcome']:8}{row['seconds']:8.1f} s  {row['check']:40}{row['found']}" for row in rows)
    (asked.output / "table.txt").write_text(table + "\n", "utf-8")
    (asked.output / "figures.json").write_text(
        json.dumps({"checks": rows, "recorded": recorded}, indent=2) + "\n", "utf-8"
    )
    return 1 if any(row["outcome"] == "failed" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
