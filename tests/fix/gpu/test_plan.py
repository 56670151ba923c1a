"""Signatures, launch facts and the plans made of them; what is not told is refused with the line to write."""

from __future__ import annotations

import json

import numpy as np
import pytest

from chathpc.fix.gpu.plan import LaunchFacts, Plan, launch_facts, plan
from chathpc.fix.gpu.signature import Refusal, Signature, signature
from chathpc.fix.project import Kernel, KernelArgument

SCALE = """
__global__ void scale(const double* __restrict__ a, double *out, double f, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = f * a[i]; // out[n] is not touched
}
"""
FACTS = LaunchFacts(40, 256)


def made(text: str, name: str = "scale") -> Signature:
    found = signature("scale.cu", text, name)
    assert isinstance(found, Signature), found
    return found


def planned(text: str, declared: Kernel, facts: LaunchFacts | Refusal = FACTS) -> Plan | Refusal:
    return plan(declared, made(text, declared.name), facts, 1e-9, 0.0)


def kernel(*arguments: KernelArgument, **more: object) -> Kernel:
    return Kernel("scale", "scale.cu", arguments, **more)  # type: ignore[arg-type]


def test_parameters_are_as_declared() -> None:
    a, out, f, n = made(SCALE).parameters
    assert (a.dtype, a.pointer, a.const) == ("float64", True, True)
    assert (out.dtype, out.pointer, out.const) == ("float64", True, False)
    assert (f.dtype, f.pointer) == ("float64", False)
    assert (n.dtype, n.pointer) == ("int32", False)


@pytest.mark.parametrize(
    ("written", "dtype", "lanes"),
    [
        ("unsigned long long *p", "uint64", 1), ("size_t *p", "uint64", 1), ("unsigned *p", "uint32", 1), ("std::int16_t *p", "int16", 1),
        ("float4 *p", "float32", 4), ("const float2 *__restrict__ p", "float32", 2), ("unsigned char p[]", "uint8", 1), ("bool *p", "uint8", 1),
        ("long *p", "int64", 1), ("float const *p", "float32", 1),
    ],
)  # fmt: skip
def test_types_have_their_size_in_cuda(written: str, dtype: str, lanes: int) -> None:
    (one,) = made(f"__global__ void scale({written}) {{ p[0] = p[1]; }}").parameters
    assert (one.dtype, one.lanes, one.pointer) == (dtype, lanes, True)
    size = {"int16": 2, "uint8": 1, "int32": 4, "uint32": 4, "int64": 8, "uint64": 8, "float32": 4, "float64": 8}[dtype]
    assert np.dtype(dtype).itemsize == size


@pytest.mark.parametrize(
    ("written", "const"),
    [("const double *p", True), ("double const *p", True), ("double *const p", False), ("double *p", False)],
)
def test_const_is_of_what_is_pointed_to(written: str, const: bool) -> None:
    assert made(f"__global__ void scale({written}) {{ p[0]; }}").parameters[0].const is const


@pytest.mark.parametrize(
    ("body", "reads", "writes"),
    [
        ("p[i] = 1;", False, True),
        ("p[i] += 1;", True, True),
        ("q[i] = p[i];", True, False),
        ("p[i] == 3;", True, False),
        ("p[i]++;", True, True),
        ("atomicAdd(&p[i], 1);", True, True),
        ("f(p);", True, True),
        ("p[q[i]] = 0;", False, True),
        ("p[i].x = 0;", False, True),
        ("/* p[i] */ q[i] = 1;", False, False),
        ("*p = 1;", True, True),
    ],
)
def test_what_may_be_written_is_told_rather_too_often(body: str, reads: bool, writes: bool) -> None:
    found = made(f"__global__ void scale(int *p, int *q, int i) {{ {body} }}")
    assert ("p" in found.reads, "p" in found.writes) == (reads, writes)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("__global__ void scale(double **p) {}", "pointer to pointers"),
        ("__global__ void scale(double &p) {}", "is a reference"),
        ("struct S { int a; }; __global__ void scale(S s) {}", "has the type S, for which no values can be generated"),
        ("template <typename T> __global__ void scale(T *p) {}", "has the type T"),
        ("__global__ void scale(float4 f) {}", "a vector by value"),
        ("__global__ void other(int n) {}", "There is no kernel scale in scale.cu"),
        ("void scale(int n) {}", "There is no kernel scale in scale.cu"),
        ("__global__ void scale(int n) { int a = ; }", "could not be parsed"),
        ("x" * 500_000, "cannot be read as CUDA source"),
        ("", "There is no kernel scale"),
    ],
)
def test_what_is_not_understood_is_refused(text: str, said: str) -> None:
    found = signature("scale.cu", text, "scale")
    assert isinstance(found, Refusal)
    assert said in found.statement


def test_sizes_are_derived_from_the_launch_and_the_source() -> None:
    found = planned(SCALE, kernel(KernelArgument("f", 2.5)))
    assert isinstance(found, Plan)
    assert (found.grid, found.block) == ((40, 1, 1), (256, 1, 1))
    a, out, f, n = found.arguments
    # 40 blocks of 256 threads; a third of the last block has nothing to do, so that the bound is needed.
    assert n.value == 40 * 256 - 85
    assert -(-int(n.value) // 256) == 40
    assert (a.elements, out.elements, f.value) == (n.value, n.value, 2.5)
    assert (a.role, out.role) == ("in", "out")


def test_a_declared_bound_decides_the_arrays() -> None:
    found = planned(SCALE, kernel(KernelArgument("f", 1), KernelArgument("n", 10_000)))
    assert isinstance(found, Plan)
    assert [one.elements for one in found.arguments] == [10_000, 10_000, 0, 0]


def test_declared_arguments_win() -> None:
    found = planned(
        SCALE,
        kernel(
            KernelArgument("a", elements=77, low=-1, high=1), KernelArgument("out", elements=88, role="inout"),
            KernelArgument("f", 1), KernelArgument("n", 5), grid=(1,), block=(32, 2), relative=0.5,
        ),
        Refusal("no profile"),
    )  # fmt: skip
    assert isinstance(found, Plan)
    assert (found.grid, found.block, found.relative) == ((1, 1, 1), (32, 2, 1), 0.5)
    assert [(one.elements, one.role, one.low) for one in found.arguments[:2]] == [(77, "in", -1), (88, "inout", 0.0)]


def test_a_plan_goes_through_json() -> None:
    found = planned(SCALE, kernel(KernelArgument("f", 2.5)))
    assert isinstance(found, Plan)
    assert Plan.of(json.loads(json.dumps(found.data()))) == found


def test_single_precision_has_a_tolerance_of_its_own() -> None:
    found = planned(SCALE.replace("double", "float"), kernel(KernelArgument("f", 1)))
    assert isinstance(found, Plan)
    assert found.relative == 16 * 2.0**-24


@pytest.mark.parametrize(
    ("text", "declared", "facts", "statement", "hint"),
    [
        (SCALE, kernel(), FACTS, "Unknown value of f of scale.", "{name: f, value: 1.0}"),
        (SCALE.replace("a[i];", "a[2 * i];"), kernel(KernelArgument("f", 1)), FACTS,
         "Unknown number of elements: a of scale has.", "{name: a, elements: "),
        (SCALE.replace("if (i >= n) return;", "for (; i < n; i += gridDim.x) {}"), kernel(KernelArgument("f", 1)), FACTS,
         "Unknown number of elements: a", "elements"),
        (SCALE, kernel(KernelArgument("g", 1)), FACTS, "has no argument g", "a, out, f, n"),
        (SCALE, kernel(KernelArgument("a", 1)), FACTS, "a of scale is an array", "elements"),
        (SCALE, kernel(KernelArgument("f", elements=3)), FACTS, "f of scale is a number", "value"),
        (SCALE, kernel(KernelArgument("f", 1), KernelArgument("n", 2.5)), FACTS, "2.5 of n is not of type int", ""),
        (SCALE, kernel(KernelArgument("f", 1), KernelArgument("n", 2**31)), FACTS, "of n is not of type int", ""),
        (SCALE, kernel(), Refusal("There is no profile."), "There is no profile.", ""),
        (SCALE, kernel(grid=(3,)), FACTS, "Only one of grid and block", "both"),
        (SCALE, kernel(KernelArgument("f", 1), grid=(1,), block=(1024, 2)), FACTS, "larger than 1024", ""),
        (SCALE.replace("threadIdx.x;", "threadIdx.x; int j = threadIdx.y;"), kernel(), FACTS, "more than one dimension", "block: [32, 8]"),
        (SCALE.replace("int i", "extern __shared__ double s[]; int i"), kernel(), FACTS, "dynamic shared memory",
         "shared: 2048"),
        (SCALE.replace("out[i] =", "double x ="), kernel(KernelArgument("f", 1), KernelArgument("out", elements=5)), FACTS,
         "does not write to any of its arguments", ""),
        (SCALE, kernel(KernelArgument("f", 1), KernelArgument("a", elements=1 << 33)), FACTS, "larger than 4 GiB", ""),
    ],
)  # fmt: skip
def test_what_nothing_tells_is_refused_with_what_to_write(
    text: str, declared: Kernel, facts: LaunchFacts | Refusal, statement: str, hint: str
) -> None:
    found = planned(text, declared, facts)
    assert isinstance(found, Refusal)
    assert statement in found.statement
    assert hint in found.hint


@pytest.mark.parametrize(
    "index",
    [
        "threadIdx.x + blockIdx.x * blockDim.x",
        "blockDim.x*blockIdx.x+threadIdx.x",
        "threadIdx.x+blockDim.x * blockIdx.x",
    ],
)
def test_the_index_may_be_written_in_each_order(index: str) -> None:
    found = planned(SCALE.replace("blockIdx.x * blockDim.x + threadIdx.x", index), kernel(KernelArgument("f", 1)))
    assert isinstance(found, Plan)


def test_an_index_that_is_changed_tells_nothing() -> None:
    found = planned(SCALE.replace("if (i >= n)", "i *= 2; if (i >= n)"), kernel(KernelArgument("f", 1)))
    assert isinstance(found, Refusal)


class _Table:
    """A profile that has nothing but a table of kernels."""

    def __init__(self, **columns: object) -> None:
        import pandas as pd

        self.kernels = pd.DataFrame(columns)


def facts(**columns: object) -> LaunchFacts | Refusal:
    return launch_facts(_Table(**columns), "scale")  # type: ignore[arg-type]  # it has what is asked of a profile


def test_facts_are_those_of_the_table() -> None:
    found = facts(
        **{"name": ["scale(double const*, double*, double, int)", "other"], "launches": [12.0, 1.0], "gpu.kernel.blocks": [40.0, 1.0],
           "gpu.kernel.threads-per-block": [256.0, 32.0], "gpu.kernel.registers": [18.0, float("nan")],
           "gpu.kernel.shared-memory-per-block": [2048.0, 0.0]}
    )  # fmt: skip
    assert isinstance(found, LaunchFacts)
    assert (found.blocks, found.threads) == (40, 256)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"name": ["other"]}, "The profile has no kernel scale."),
        ({"name": ["a::scale", "b::scale"]}, "The profile has 2 kernels called scale"),
        ({"name": ["scale"]}, "lacks the launch configuration of scale"),
        ({"name": ["scale"], "gpu.kernel.blocks": [10.5], "gpu.kernel.threads-per-block": [64.0]}, "was launched with varying sizes (10.5 blocks"),
        ({"name": ["scale"], "gpu.kernel.blocks": [float("nan")], "gpu.kernel.threads-per-block": [64.0]}, "lacks the launch configuration"),
        ({"name": ["scale"], "gpu.kernel.blocks": [0.0], "gpu.kernel.threads-per-block": [64.0]}, "varying sizes"),
    ],
)  # fmt: skip
def test_launches_that_differ_or_are_not_told_are_refused(columns: dict[str, list[object]], said: str) -> None:
    found = facts(**columns)
    assert isinstance(found, Refusal)
    assert said in found.statement
