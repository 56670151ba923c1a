"""Block sizes are changed only where the source sets them in one place and nothing else depends on the number."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from chathpc.diagnosis.source.text import parsed
from chathpc.fix.project import Project, Run
from chathpc.fix.recipes.analysis.edits import applied
from chathpc.fix.recipes.analysis.program import Spot, program
from chathpc.fix.recipes.cuda.block_size import RECIPES, SIZES, block_of
from chathpc.fix.recipes.recipe import Context
from chathpc.fix.recipes.table import recipes

KERNEL = """__global__ void scale(double *v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) v[i] *= 2;
}
"""
LITERAL = KERNEL + "void run(double *d, int n) { scale<<<(n + 255) / 256, 256>>>(d, n); }\n"
NAMED = (
    "#define BLOCK 256\n" + KERNEL + "void run(double *d, int n) { scale<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d, n); }\n"
)
VARIABLE = (
    "constexpr int TPB = 128;\n"
    + KERNEL
    + "void run(double *d, int n) { int g = (n + TPB - 1) / TPB; scale<<<g, TPB>>>(d, n); }\n"
)
SHARED = NAMED.replace("int i =", "__shared__ double s[BLOCK]; int i =")


def changes(text: str, recipe: str) -> list[str]:
    """The texts that a recipe makes of a file."""
    whole = program({"x.cu": text})
    context = Context(whole, Project(Path(), "make", Run("run", "./app"), ("*.cu",)))
    (procedure,) = [one for one in whole.procedures if one.model.name == "scale"]
    spot = Spot(procedure, procedure.model.first, 1.0, None, "gpu-low-occupancy")
    (chosen,) = [one for one in RECIPES if one.name == recipe]
    found = []
    for change in chosen.find(context, spot):
        new = applied(text.encode(), change.edits["x.cu"])
        assert new is not None
        found.append(new.decode())
    return found


@pytest.mark.parametrize("size", [one for one in SIZES if one != 256])
@pytest.mark.parametrize("text", [LITERAL, NAMED, SHARED])
def test_the_size_is_changed_wherever_it_stands(text: str, size: int) -> None:
    (new,) = changes(text, f"block-size-{size}")
    assert new == text.replace("255", str(size - 1)).replace("256", str(size))
    source = parsed("x.cu", new.encode())
    assert source is not None
    assert block_of(source, "scale") == size


def test_the_grid_may_be_a_variable() -> None:
    assert changes(VARIABLE, "block-size-512") == [VARIABLE.replace("128", "512")]


@pytest.mark.parametrize(
    "text",
    [
        LITERAL.replace("(n + 255) / 256", "(n + 256 - 1) / 256"),  # not written as it is looked for
        LITERAL.replace("(n + 255) / 256", "n / 256"),
        LITERAL.replace("(n + 255) / 256", "40"),
        LITERAL.replace("int i =", "__shared__ double s[256]; int i ="),
        LITERAL.replace("*= 2", "*= 256"),
        LITERAL + "void more(double *d) { scale<<<4, 64>>>(d, 9); }\n",
        LITERAL.replace("(n + 255) / 256, 256", "(n + 255) / 256, threads()"),
        LITERAL.replace("__global__ void", "__global__ void __launch_bounds__(256)"),
        NAMED + "int size = BLOCK * 4;\n",  # the number means something else too
        NAMED + "#undef BLOCK\n#define BLOCK 256\n",
        NAMED.replace("(n + BLOCK - 1) / BLOCK, BLOCK", "n, BLOCK"),  # a block a row: other threads, other work
        NAMED.replace("*= 2", "*= 256"),
        NAMED.replace("#define BLOCK 256", "#define BLOCK (2 * 128)"),
        KERNEL,
        KERNEL.replace("__global__", "static") + "void run() {}\n",
    ],
)
def test_nothing_is_changed_where_something_else_depends_on_the_size(text: str) -> None:
    assert changes(text, "block-size-64") == []


@pytest.mark.parametrize("text", [LITERAL, NAMED])
def test_launch_bounds_say_the_size_of_all_launches(text: str) -> None:
    (new,) = changes(text, "launch-bounds")
    assert new == text.replace("void scale", "void __launch_bounds__(256) scale")
    assert changes(new, "launch-bounds") == []


def test_launch_bounds_need_one_size() -> None:
    assert changes(LITERAL + "void more(double *d) { scale<<<4, 64>>>(d, 9); }\n", "launch-bounds") == []
    assert changes(LITERAL.replace(", 256>>>", ", 2048>>>"), "launch-bounds") == []


def test_they_are_among_all_recipes() -> None:
    assert set(RECIPES) <= set(recipes())
    assert len({one.name for one in recipes()}) == len(recipes())


@pytest.mark.proprietary
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
@pytest.mark.parametrize("recipe", ["block-size-128", "launch-bounds"])
def test_nvcc_compiles_what_is_made(tmp_path: Path, recipe: str) -> None:
    (new,) = changes(SHARED, recipe)
    (tmp_path / "x.cu").write_text(new)
    subprocess.run(["nvcc", "-cubin", "-arch=sm_90", "-o", "x.cubin", "x.cu"], cwd=tmp_path, check=True, timeout=120)
