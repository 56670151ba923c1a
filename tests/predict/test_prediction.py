"""Programs of ours, predicted: counts that follow from their source by hand, kernels by name, kernels without a host program."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from chathpc.errors import UsageError
from chathpc.predict.alone import Parameter, described, parameters, refuse_impossible
from chathpc.predict.compilers import ToolkitMissingError, find_toolkit
from chathpc.predict.counts import Range
from chathpc.predict.cubin import Kernel
from chathpc.predict.devices import device
from chathpc.predict.open_values import Gap, OpenValue
from chathpc.predict.prediction import NotLaunchedError, Prediction, predict
from chathpc.predict.program import Asked, Program, matching, title
from chathpc.predict.record import PredictionRecord, record
from chathpc.sandbox import choose

PROGRAMS = Path(__file__).parent / "programs"
SAXPY = "__global__ void saxpy(int n, float a, const float *x, float *y) {\n"
ALONE = (
    SAXPY + "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) y[i] = a * x[i] + y[i];\n}\n"
    "template <typename T> __global__ void scale(T *x, T by) { x[threadIdx.x] *= by; }\n"
    "template __global__ void scale<float>(float *, float);\ntemplate __global__ void scale<double>(double *, double);\n"
)
RTX3080 = device("rtx3080")
#: Threads of the programs below, and the side of its matrices.
SIDE, ROUNDS = 128, 8


@pytest.fixture(scope="module")
def toolkit() -> None:
    try:
        find_toolkit()
    except ToolkitMissingError:
        pytest.skip("NVIDIA's compiler is not there")


def predicted(work: Path, program: Program, asked: Asked, **more: object) -> tuple[Prediction, ...]:
    return predict(program, asked, device=RTX3080, work=work, sandbox=choose(), **more)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def three(toolkit: None, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Prediction]:
    program = Program((PROGRAMS / "three.cu",))
    asked = Asked(arguments=(str(SIDE), str(ROUNDS)), seconds=60)
    return {each.kernel: each for each in predicted(tmp_path_factory.mktemp("three"), program, asked)}


@pytest.mark.proprietary
def test_all_kernels_of_a_program_are_predicted_the_longest_first(three: dict[str, Prediction]) -> None:
    assert set(three) == {"saxpy", "gemm<float>", "hash"}
    times = [each.time.seconds.value for each in three.values()]
    assert times == sorted(times, reverse=True)
    assert all(each.counts.emulated == 1 for each in three.values())


@pytest.mark.proprietary
def test_counts_are_those_of_the_source(three: dict[str, Prediction]) -> None:
    threads = SIDE * SIDE
    saxpy, gemm, hashed = three["saxpy"], three["gemm<float>"], three["hash"]
    assert saxpy.counts.total("fp32") == 2 * threads
    assert gemm.counts.total("fp32") == 2 * SIDE**3
    # Each round has two shifts, two exclusive ors and two products at least; no more than one more for each of them.
    assert 6 * ROUNDS * threads <= hashed.counts.total("integer") <= 12 * ROUNDS * threads
    assert saxpy.counts.requested["global load"] == 8 * threads
    assert saxpy.counts.footprint_read == 8 * threads
    assert saxpy.counts.sectors["global load"] == 8 * threads / 32
    assert gemm.counts.requested["global load"] == 2 * 4 * SIDE**3 / 16


@pytest.mark.proprietary
def test_launch_class_and_lines_are_told(three: dict[str, Prediction]) -> None:
    gemm, saxpy = three["gemm<float>"], three["saxpy"]
    assert (gemm.launch.grid, gemm.launch.block, gemm.launch.shared) == ((8, 8, 1), (16, 16, 1), 2048)
    assert (saxpy.roofline.bound, three["hash"].roofline.roofs[0].kind) == ("bandwidth", "integer")
    first = gemm.lines[0]
    assert first.file == "three.cu"
    assert "sum +=" in first.text
    assert 0.3 < first.share < 1


@pytest.mark.proprietary
def test_a_prediction_is_the_same_after_it_was_written(three: dict[str, Prediction]) -> None:
    found = record("three.cu", list(three.values()))
    assert PredictionRecord.model_validate_json(found.model_dump_json(by_alias=True)) == found
    assert [each.kernel for each in found.kernels] == list(three)


@pytest.mark.proprietary
def test_a_launch_of_which_a_part_is_followed_is_predicted_alike_each_time(toolkit: None, tmp_path: Path) -> None:
    asked = Asked("hash", arguments=("2048", "64"), seconds=0.3)
    first, second = (predicted(tmp_path / name, Program((PROGRAMS / "three.cu",)), asked) for name in "ab")
    assert 0 < first[0].counts.emulated < 1
    assert first == second


@pytest.mark.proprietary
def test_a_program_that_ends_early_says_what_it_said(toolkit: None, tmp_path: Path) -> None:
    with pytest.raises(NotLaunchedError) as raised:
        predicted(tmp_path, Program((PROGRAMS / "three.cu",)), Asked("gemm"))
    assert (
        raised.value.message
        == "The program ended with status 1 without launching gemm. It said: usage: program SIZE ROUNDS"
    )
    assert "--args" in raised.value.hint


@pytest.mark.proprietary
def test_a_kernel_without_a_main_is_launched_as_described(toolkit: None, tmp_path: Path) -> None:
    source = tmp_path / "alone.cu"
    source.write_text(ALONE)
    asked_about: list[Gap] = []

    def estimate(gap: Gap, source: Sequence[tuple[int, str]]) -> OpenValue:
        asked_about.append(gap)
        return OpenValue(gap, Range(4096, 4096, 4096), "as many as there are threads", "a model")

    asked = Asked("saxpy", grid=(16, 1, 1), block=(256, 1, 1), values={"x": "n:iota", "a": "2.5"})
    (found,) = predicted(tmp_path / "work", Program((source,)), asked, estimate=estimate)
    assert [(gap.name, gap.line) for gap in asked_about] == [("n", 1)]
    assert found.counts.total("fp32") == 2 * 4096
    assert found.assumptions[0].startswith("n at alone.cu:1 is taken as 4096 elements")
    assert found.assumptions[1] == "y was not given: a buffer of 256 MiB of zeros."


SHAPES = """
__global__ void set(float *x) { x[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
__global__ void add(float *x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
int main() {
    float *x;
    cudaMalloc(&x, 4096);
    for (int blocks = 8; blocks > 1; blocks /= 2) set<<<blocks, 64>>>(x), add<<<blocks, 128>>>(x);
    add<<<4, 32>>>(x);
    return 0;
}
"""


@pytest.mark.proprietary
@pytest.mark.parametrize(
    ("asked", "launches"),
    [
        (Asked("add", grid=(4, 1, 1)), [("add", 4, 128, 1)]),
        (Asked("add", block=(32, 1, 1)), [("add", 4, 32, 3)]),
        (Asked("add", grid=(4, 1, 1), occurrence=2), [("add", 4, 32, 3)]),
        (Asked(), [("add", 8, 128, 0), ("set", 8, 64, 0)]),
        (Asked(grid=(4, 1, 1)), [("add", 4, 128, 1), ("set", 4, 64, 1)]),
        (Asked(block=(64, 1, 1)), [("set", 8, 64, 0)]),
        (Asked(occurrence=2), [("add", 2, 128, 2), ("set", 2, 64, 2)]),
    ],
)
def test_the_first_launch_of_the_shape_that_was_asked_for_is_predicted(
    toolkit: None, tmp_path: Path, asked: Asked, launches: list[tuple[str, int, int, int]]
) -> None:
    source = tmp_path / "shapes.cu"
    source.write_text(SHAPES)
    found = predicted(tmp_path / "work", Program((source,)), asked)
    assert (
        sorted((each.kernel, each.launch.grid[0], each.launch.block[0], each.launch.occurrence) for each in found)
        == launches
    )


@pytest.mark.proprietary
def test_a_shape_that_no_launch_has_is_told_as_it_was_asked(toolkit: None, tmp_path: Path) -> None:
    source = tmp_path / "shapes.cu"
    source.write_text(SHAPES)
    with pytest.raises(NotLaunchedError) as raised:
        predicted(tmp_path / "work", Program((source,)), Asked("set", grid=(5, 1, 1)))
    assert raised.value.message == "The program ended without launching set with grid 5 x 1 x 1."


@pytest.mark.parametrize(
    ("grid", "block", "shared", "said"),
    [
        ((1, 1, 1), (2048, 1, 1), 0, "1,024 threads"),
        ((1, 1, 1), (1, 1, 65), 0, "64 along z"),
        ((1, 70000, 1), (32, 1, 1), 0, "65,535 blocks"),
        ((1, 1, 1), (32, 1, 1), 101377, "101,376 bytes"),
    ],
)
def test_a_launch_that_the_driver_refuses_is_refused(
    grid: tuple[int, int, int], block: tuple[int, int, int], shared: int, said: str
) -> None:
    with pytest.raises(UsageError) as raised:
        refuse_impossible(grid, block, shared, RTX3080)
    assert said in raised.value.message
    refuse_impossible((2**31 - 1, 65535, 65535), (32, 32, 1), 101376, RTX3080)


STRIDED = "__global__ void strided(const float *v, float *out, int s) {\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    out[i] = v[i * s];\n}\n"


@pytest.mark.proprietary
def test_what_would_take_less_is_told_for_unused_sectors_and_idle_multiprocessors(
    toolkit: None, tmp_path: Path
) -> None:
    source = tmp_path / "strided.cu"
    source.write_text(STRIDED)
    changes = []
    for blocks in (4096, 4):
        asked = Asked(grid=(blocks, 1, 1), block=(256, 1, 1), values={"s": "8", "v": "8*1048576"})
        found = predicted(tmp_path / str(blocks), Program((source,)), asked)
        changes.append(record("strided.cu", found).kernels[0].change)
    # Of each sector of 32 bytes that is read 4 are used, of those that are written all: 8 bytes of 32 + 4.
    assert "more than 22.2 % of the sectors" in changes[0][0]
    assert any("Of 68 multiprocessors 64 have no block" in each for each in changes[1])


def test_kernels_are_found_by_every_name_that_users_give_them() -> None:
    kernels = (
        "_Z4gemmIfEviPKT_S2_PS0_",
        "_Z4gemmIdEviPKT_S2_PS0_",
        "_ZN2ns5saxpyEi",
        "__omp_offloading_fd01_2e0df6_main_l42",
    )
    assert [title(each) for each in kernels] == ["gemm<float>", "gemm<double>", "ns::saxpy", "main:42"]
    assert matching("gemm<double>", kernels) == kernels[1]
    assert matching("saxpy", kernels) == matching("ns::saxpy", kernels) == matching(kernels[2], kernels) == kernels[2]
    assert matching("main", kernels) == matching("main:42", kernels) == matching("42", kernels) == kernels[3]


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("gemm", "2 kernels are called gemm.", "Name one as --kernel: 'gemm<double>', 'gemm<float>'"),
        ("axpy", "The program has no kernel axpy.", "It has: 'gemm<double>', 'gemm<float>'"),
    ],
)
def test_a_name_of_none_or_several_kernels_is_refused(name: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as raised:
        matching(name, ("_Z4gemmIfEviPKT_S2_PS0_", "_Z4gemmIdEviPKT_S2_PS0_"))
    assert (raised.value.message, raised.value.hint) == (message, hint)


def test_parameters_have_the_names_of_the_source_and_the_types_of_the_instance(tmp_path: Path) -> None:
    source = tmp_path / "alone.cu"
    source.write_text(ALONE)
    kernel = Kernel("_Z5scaleIdEvPT_S0_", ((0, 8), (8, 8)), 0x160, 8, 0, 0, 0)
    pytest.importorskip("tree_sitter_cuda")
    found = parameters(kernel.name, kernel, [source])
    assert found == (
        Parameter("x", "double", True, 8, "alone.cu", 5),
        Parameter("by", "double", False, 8, "alone.cu", 5),
    )
    assert [each.name for each in parameters(kernel.name, kernel, [])] == ["p0", "p1"]


N, X = Parameter("n", "int", False, 4), Parameter("x", "float", True, 8)


def lines(**given: str) -> list[str]:
    return described("_Z1kiPf", (N, X), given, (2, 1, 1), (64, 1, 1)).text.splitlines()


def test_values_are_written_as_the_kernel_reads_them() -> None:
    assert lines(n="1<<10", x="n*n:random") == [
        "kernel _Z1kiPf", "grid 2 1 1", "block 64 1 1", "shared 0", "value 00040000", f"buffer {4 << 20} 4 f random 1",
    ]  # fmt: skip
    assert lines(n="-1", x="4")[-2:] == ["value ffffffff", "buffer 16 4 f zero 1"]
    assert lines()[-2] == "value 80000000"
    told = described("_Z1k4Pair", (Parameter("by", "Pair", False, 16),), {}, (2, 1, 1), (64, 1, 1))
    assert told.text.splitlines()[-1] == f"value {'00' * 16}"
    assert told.assumptions == ("by was not given: 16 bytes of zeros.",)


@pytest.mark.parametrize(
    "given",
    [
        {"m": "1"},
        {"n": "x"},
        {"n": "1.5"},
        {"n": "().__class__"},
        {"x": "0"},
        {"x": "8:ones"},
        {"n": "9**9"},
        {"x": "1<<60"},
    ],
)
def test_values_that_cannot_be_are_refused(given: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        lines(**given)
