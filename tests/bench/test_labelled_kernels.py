"""A labelled launch is built by the compilers that are named, of which the labels' instructions are a matter."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from chathpc.bench.predict.labels import Label
from chathpc.predict.compilers import BuildError, Clang, Toolkit
from tests.bench import labelled_kernels

REGION = Label(
    program="square-omp", kernel="__omp_offloading_1_2_main_l3", signature="", language="OMP", arguments="", grid=(1, 1, 1), block=(128, 1, 1),
    device="GPU", fp32=0, fp64=0, integer=0, bytes=0, seconds=1, compute_bound=False,
)  # fmt: skip


@pytest.mark.parametrize(("language", "builder"), [("OMP", "build_openmp"), ("CUDA", "build_with_clang")])
def test_programs_are_built_by_the_toolkit_and_the_llvm_that_are_named(
    language: str, builder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "src" / "square-omp" / "main.cpp"
    source.parent.mkdir(parents=True)
    source.touch()
    commands = {"square-omp": [f"{source} clang++ -O3 -c {source}"]}
    newest = Toolkit(tmp_path / "cuda-13", tmp_path / "cuda-13" / "bin" / "nvcc")
    given: list[object] = []

    def build(*arguments: object, **options: object) -> None:
        given.extend([*arguments, *options.values()])
        raise BuildError("far enough", "")

    monkeypatch.setattr(labelled_kernels, "find_toolkit", lambda: newest)
    monkeypatch.setattr(labelled_kernels, builder, build)
    compilers = labelled_kernels.Compilers(commands, tmp_path / "cuda-12.6", tmp_path / "llvm-18")
    label = dataclasses.replace(REGION, language=language)
    with pytest.raises(BuildError, match="far enough"):
        labelled_kernels.built_program(label, tmp_path / "src", compilers, tmp_path / "work")
    assert Toolkit(tmp_path / "cuda-12.6", newest.nvcc) in given
    assert Clang(tmp_path / "llvm-18" / "bin", tmp_path / "llvm-18" / "lib") in given
