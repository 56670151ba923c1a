"""Code of the host is followed exactly, and times of OpenCL kernels on pocl are predicted as well as is claimed."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from chathpc.errors import ChathpcError
from chathpc.predict import host_code, host_time, opencl
from chathpc.predict.host_code import Core, Follower, Seen, longest_chain, names
from tests.bench import opencl as bench
from tests.bench.opencl import program
from tests.predict.opencl import launches

CORE = Core("native", 6.0, (9.0, 50.0, 130.0, 7.0, 400.0))
SMALL = ((32 << 10, 8), (512 << 10, 8), (16 << 20, 16))


def _has(name: str) -> bool:
    try:
        return bool(host_code.tool(name, host_code.LLVM))
    except ChathpcError:
        return False


needs_clang = pytest.mark.skipif(not _has("clang"), reason="clang is not installed")
needs_mca = pytest.mark.skipif(not (_has("clang") and _has("llvm-mca")), reason="LLVM's tools are not installed")
needs_pocl = pytest.mark.skipif(
    not (
        _has("llc")
        and _has("llvm-mca")
        and list(Path("/etc/OpenCL/vendors").glob("pocl*"))
        and Path("/usr/include/CL/cl.h").exists()
    ),
    reason="pocl, the headers of OpenCL or LLVM's tools are not installed",
)


def _followed(tmp_path: Path, source: str, call: str) -> tuple[host_code.Traced, Seen]:
    """What `call` of the functions in `source` does, when `double data[4096]` is their memory."""
    (tmp_path / "part.c").write_text(source)
    compiler = host_code.tool("clang", host_code.LLVM[::-1])
    assembly = host_code.run([compiler, "-O1", "-S", "-fPIC", "-fno-vectorize", "-o", "-", str(tmp_path / "part.c")])
    code = host_code.traced(assembly)
    library = host_code.build(code, tmp_path, compiler)

    def work() -> Seen:
        follower = Follower(library, code, SMALL)
        data = np.zeros(4096 + 512)
        start = -(-data.ctypes.data // 4096) * 4096
        follower.buffer(start, 4096 * 8)
        function, *numbers = call.split()
        getattr(follower.library, function)(ctypes.c_void_p(start), *(ctypes.c_long(int(n)) for n in numbers))
        return follower.seen()

    return code, host_code.apart(work, 60)


@needs_clang
def test_a_loop_is_counted_to_the_last_access_and_line(tmp_path: Path) -> None:
    source = "void f(double *v, long n) { for (long i = 0; i < n; i++) v[i] = v[i] * 2 + i; }"
    code, seen = _followed(tmp_path, source, "f 4000")
    assert max(seen.counts) == 4000
    assert seen.accesses == 8000  # each value is read and written
    assert host_code.count(code, seen, "mulsd") + host_code.count(code, seen, "addsd") in (8000, 4000)
    assert seen.footprint[0] == (500, 500)  # 4000 values of 8 bytes in lines of 64
    assert sum(seen.lines[3]) == 500  # each comes from memory once
    assert seen.mispredicted <= 3


@needs_clang
def test_caches_keep_what_fits_and_no_more(tmp_path: Path) -> None:
    source = "double f(double *v, long n, long step) { double s = 0; for (long t = 0; t < 10; t++) for (long i = 0; i < n; i += step) s += v[i]; return s; }"
    _, fits = _followed(tmp_path, source, "f 3072 8")  # 384 lines, 24 KB
    assert sum(fits.lines[0]) == 9 * 384
    _, conflicts = _followed(tmp_path, source, "f 4096 512")  # 8 lines of one set: as many as it has ways
    assert sum(conflicts.lines[0]) == 9 * 8


@needs_clang
def test_a_branch_that_nobody_foresees_is_mispredicted_half_the_time(tmp_path: Path) -> None:
    source = """
    long f(double *v, long n, long random) {
        unsigned long state = 1; long odd = 0;
        for (long i = 0; i < n; i++) {
            state = state * 6364136223846793005ul + 1442695040888963407ul;
            if (random ? state >> 63 : i % 3 == 0) { odd++; __asm__ volatile(""); }
        }
        return odd;
    }"""
    _, random = _followed(tmp_path, source, "f 20000 1")
    assert 0.4 < random.mispredicted / 20000 < 0.6
    _, regular = _followed(tmp_path, source, "f 20000 0")
    assert regular.mispredicted < 200


def test_flags_and_registers_are_left_alone() -> None:
    code = host_code.traced(
        "\t.text\nf:\n\tcmpl\t%esi, %edi\n\tjle\t.LBB0_1\n\tmovl\t(%rdi,%rcx,4), %eax\n.LBB0_1:\n\tretq\n"
    )
    assert [len(b.instructions) for b in code.blocks] == [2, 1, 1]
    (site,) = code.sites
    assert (site.block, site.place, site.bytes, site.load, site.store) == (1, 0, 4, True, False)
    own = {"movq", "movw", "leaq"}  # none of which sets a flag
    assert {line.split()[0] for line in code.assembly.splitlines() if "trace_" in line} <= own


def test_the_longest_chain_waits_for_each_load() -> None:
    chase = [("movq\t(%rax), %rax", 50.0)] * 10
    apart = [(f"movq\t{8 * k}(%rbx), %rcx", 50.0) for k in range(10)]
    assert longest_chain(chase) == 10 * (50 + host_code.LOAD)
    assert longest_chain(apart) == 50 + host_code.LOAD
    sums = [("vaddsd\t(%rdi), %xmm0, %xmm0", 0.0)] * 10
    assert longest_chain(sums) == host_code.LOAD + 10 * 3  # the loads do not wait for each other
    assert longest_chain(
        [*sums, ("vxorps\t%xmm0, %xmm0, %xmm0", 0.0), ("vaddsd\t%xmm0, %xmm1, %xmm0", 0.0)]
    ) == longest_chain(sums)


def test_registers_have_one_name_each() -> None:
    assert names("%eax") == names("%rax") == names("%al") == {"ax"}
    assert names("%r9d") == {"r9"}
    assert names("%ymm3") == names("%xmm3") == {"3"}
    assert names("8(%rsp)") == {"sp", "8(%rsp)"}
    assert names("(%rsi,%r10,4)") == {"si", "r10"}


@needs_mca
def test_a_chain_of_additions_takes_the_latency_of_each(tmp_path: Path) -> None:
    source = "double f(double *v, long n) { double s = 1; for (long i = 0; i < n; i++) { s += v[i & 7]; } v[0] = s; return s; }"
    code, seen = _followed(tmp_path, source, "f 30000")
    # Whatever processor the test runs on: LLVM's model of Zen 3, on which an addition takes three cycles.
    assert host_code.core_cycles(code, seen, replace(CORE, cpu="znver3")) / 30000 == pytest.approx(3, rel=0.15)


def test_pocl_hands_out_half_of_what_is_left() -> None:
    assert host_time.largest_share(1, 2) == 1
    assert host_time.largest_share(2, 2) == 0.5
    assert host_time.largest_share(3, 2) == pytest.approx(2 / 3)
    assert host_time.largest_share(10_000, 2) == pytest.approx(0.5, abs=0.02)


def test_samples_of_groups_are_spread_and_whole_where_there_are_few() -> None:
    assert opencl.sample(10, 20) == [range(10)]
    runs = opencl.sample(1000, 80)
    assert len(runs) == 8
    assert runs[0].start == 0
    assert runs[-1].stop == 1000
    assert all(len(r) == 10 for r in runs)


@pytest.mark.parametrize(
    ("instruction", "size", "load", "store"),
    [
        ("vmovups\t%ymm10, 32(%r8,%rdx) {%k2}", 32, False, True),
        ("vmovups\t(%rsi,%rdx), %zmm6 {%k1} {z}", 64, True, False),
        ("vaddps\t(%rax){1to16}, %zmm0, %zmm1", 4, True, False),
        ("vmulpd\t8(%rax){1to4}, %ymm0, %ymm1 {%k3}", 8, True, False),
        ("vgatherdps\t(%rax,%zmm1,4), %zmm0 {%k1}", 64, True, False),
        ("addq\t%rax, (%rdi)", 8, True, True),
    ],
)
def test_accesses_are_known_with_masks_and_broadcasts(instruction: str, size: int, load: bool, store: bool) -> None:
    (site,) = host_code.traced(f"\t.text\nf:\n\t{instruction}\n\tretq\n").sites
    assert (site.bytes, site.load, site.store) == (size, load, store)


@needs_pocl
def test_a_launch_is_followed_in_the_code_of_pocls_compiler() -> None:
    case = next(c for c in launches.cases() if c.name == "triad-64x128")
    work = opencl.work(case.launch, SMALL, CORE)
    assert work.followed == 1
    assert work.footprint == (1536, 512)  # three arrays of 8192 floats, one of them written
    assert work.atomics == 0
    assert 8192 / 16 * 3 < work.instructions < 8192 * 6  # vectors of up to sixteen, or not


@needs_pocl
def test_data_decide_how_often_a_loop_runs() -> None:
    case = next(c for c in launches.cases() if c.launch.kernel == "csr_product")
    values = case.launch.arguments[1]
    assert isinstance(values, np.ndarray)
    work = opencl.work(case.launch, SMALL, CORE)
    assert work.instructions > 5 * values.size  # a value is loaded, gathered, multiplied, added and counted


@needs_pocl
def test_a_kernel_that_is_not_there_is_said() -> None:
    launch = opencl.NDRange(launches.HERE / "stream.cl", "nothing", (64,), (64,), ())
    with pytest.raises(ChathpcError, match="nothing"):
        opencl.work(launch, SMALL, CORE)


@needs_mca
def test_a_program_in_c_is_followed_from_main(tmp_path: Path) -> None:
    source = Path(__file__).parent / "loops" / "product.c"
    work = program([source], ["40"], SMALL, CORE)
    assert work.instructions > 40**3 * 3
    assert work.followed == 1
    assert shutil.which("valgrind") is None or work.instructions == pytest.approx(_valgrind(source, tmp_path), rel=0.1)


def _valgrind(source: Path, folder: Path) -> float:
    """Instructions of `main` by another tool."""
    host_code.run(
        [host_code.tool("clang", host_code.LLVM[::-1]), "-O2", "-fPIC", "-g", "-o", str(folder / "a"), str(source)]
    )
    out = folder / "out"
    command = [
        "valgrind",
        "--tool=callgrind",
        f"--callgrind-out-file={out}",
        "--toggle-collect=main",
        str(folder / "a"),
        "40",
    ]
    subprocess.run(command, capture_output=True, check=True, timeout=100)
    return float(next(line.split()[1] for line in out.read_text().splitlines() if line.startswith("totals:")))


def test_times_of_kernels_that_were_not_fitted_are_as_good_as_claimed() -> None:
    """The constants are those of the other kernels; these were written when the model was finished."""
    host = host_time.host(bench.MACHINE.read_text(), bench.CPU, bench.CACHES)
    fresh = [s for s in bench.samples() if s.kernel in launches.FRESH]
    truth = np.array([s.seconds for s in fresh])
    predicted = np.array([bench.predict(s, host, host_time.FITTED) for s in fresh])
    assert len({s.kernel for s in fresh}) == len(launches.FRESH)
    assert np.mean(np.abs(predicted / truth - 1)) <= 0.35
    assert np.corrcoef(bench.ranks(predicted), bench.ranks(truth))[0, 1] >= 0.93
