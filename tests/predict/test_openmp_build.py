"""Programs with OpenMP target regions are built for the interpreter, on which LLVM's own runtime does what it does elsewhere."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest

from chathpc.predict.build import build_openmp
from chathpc.predict.compilers import (
    BuildError,
    Clang,
    ClangMissingError,
    Toolkit,
    ToolkitMissingError,
    find_clang,
    find_toolkit,
)
from chathpc.predict.cubin import read
from chathpc.predict.lowering import disassembled, lower
from chathpc.predict.recipe import recipe_of_makefile, recipe_of_sources

HERE = Path(__file__).parent
make = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
#: Machine of an ELF file with code for NVIDIA's devices (EM_CUDA of elf.h).
EM_CUDA = 190


@pytest.fixture(scope="module")
def clang() -> Clang:
    try:
        return find_clang()
    except ClangMissingError:
        pytest.skip("there is no clang with OpenMP offload")


@pytest.fixture(scope="module")
def toolkit() -> Toolkit:
    try:
        return find_toolkit()
    except ToolkitMissingError:
        pytest.skip("there is no ptxas")


def test_a_clang_of_another_release_is_not_taken(tmp_path: Path) -> None:
    for name in ("clang", "clang-19"):
        (tmp_path / name).write_text("#!/bin/sh\necho /usr/lib/llvm-14/lib/clang/14\n")
        (tmp_path / name).chmod(0o755)
    with pytest.raises(ClangMissingError, match="clang 19"):
        find_clang({"PATH": str(tmp_path)})


@make
def test_the_makefile_for_clang_is_preferred(tmp_path: Path) -> None:
    (tmp_path / "main.cpp").touch()
    (tmp_path / "Makefile").write_text("main: main.cpp\n\ticpx -fiopenmp -fopenmp-targets=spir64 $< -o $@\n")
    (tmp_path / "Makefile.aomp").write_text(
        "main: main.cpp\n\tclang++ -DN=4 -I../include -O3 -target x86_64-pc-linux-gnu -fopenmp -fopenmp-targets=amdgcn-amd-amdhsa "
        "-Xopenmp-target=amdgcn-amd-amdhsa -march=gfx906 $< -o $@ -lm\n"
    )
    recipe = recipe_of_makefile(tmp_path, openmp=True)
    (unit,) = recipe.units
    assert (unit.host, unit.source) == ("clang++", tmp_path / "main.cpp")
    assert "-lm" in recipe.link


@make
def test_a_makefile_that_calls_no_compiler_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("main:\n\techo none\n")
    with pytest.raises(BuildError, match="no compiler's command"):
        recipe_of_makefile(tmp_path, openmp=True)


@make
def test_a_folder_without_a_makefile_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="There is no folder"):
        recipe_of_makefile(tmp_path / "nowhere", openmp=True)
    with pytest.raises(BuildError, match="make fails"):
        recipe_of_makefile(tmp_path, openmp=True)


def test_flags_for_other_devices_do_not_reach_clang(clang: Clang, toolkit: Toolkit, tmp_path: Path) -> None:
    source = tmp_path / "main.c"
    source.write_text(
        "int main(void) { double sum = 0;\n#pragma omp target teams distribute parallel for reduction(+ : sum)\n"
        "for (int i = 0; i < N; i++) sum += i;\nreturn sum == N * (N - 1) / 2 ? 0 : 1; }\n"
    )
    flags = [
        "-DN=7",
        "-fiopenmp",
        "-fopenmp-targets=spir64",
        "-qnextgen",
        "-march=gfx906",
        "-Xopenmp-target=amdgcn",
        "-target",
    ]
    recipe = recipe_of_sources([source], flags)
    built = build_openmp(recipe, work=tmp_path / "work", toolkit=toolkit, clang=clang)
    assert os.access(built.executable, os.X_OK)
    (cubin,) = built.cubins
    code = cubin.read_bytes()
    assert code[:4] == b"\x7fELF"
    assert struct.unpack_from("<H", code, 18) == (EM_CUDA,)
    assert b"_main_l2" in code


def test_an_error_of_the_compiler_is_told(clang: Clang, toolkit: Toolkit, tmp_path: Path) -> None:
    source = tmp_path / "wrong.cpp"
    source.write_text("int main() { return nothing; }\n")
    with pytest.raises(BuildError, match=r"wrong\.cpp does not compile") as caught:
        build_openmp(recipe_of_sources([source]), work=tmp_path / "work", toolkit=toolkit, clang=clang)
    assert "nothing" in caught.value.log


def test_a_program_without_target_regions_is_an_error(clang: Clang, toolkit: Toolkit, tmp_path: Path) -> None:
    source = tmp_path / "none.cpp"
    source.write_text("int main() { return 0; }\n")
    with pytest.raises(BuildError, match="no device code"):
        build_openmp(recipe_of_sources([source]), work=tmp_path / "work", toolkit=toolkit, clang=clang)


def told(command: list[str], **environment: str) -> str:
    """What a command prints."""
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **environment}, timeout=300
    )
    assert not done.returncode, done.stderr
    return done.stdout


def on_the_host(clang: Clang, source: Path, made: Path) -> str:
    """What a program prints whose target regions are for the host's own processor, which LLVM treats as a device with its own memory."""
    options = ["-w", "-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu", f"-Wl,-rpath,{clang.library}"]
    told([str(clang.programs / "clang++"), *options, str(source), "-o", str(made)])
    return told([str(made)])


def interpreted(source: Path, work: Path, toolkit: Toolkit, clang: Clang) -> tuple[str, list[Any]]:
    """What a program prints whose target regions are interpreted, and its launches."""
    built = build_openmp(recipe_of_sources([source]), work=work, toolkit=toolkit, clang=clang)
    (cubin,) = built.cubins
    listing = work / "listing"
    listing.write_text(told([str(toolkit.tool("nvdisasm")), "-c", str(cubin)]))
    lowered = lower([(read(cubin), list(disassembled(listing)))])
    assert not lowered.unknown
    (work / "code").write_bytes(lowered.data)
    (work / "settings").write_text("want *\nother_seconds 60\n")
    said = told([str(built.executable)], CHATHPC_MACHINE=str(work))
    return said, [json.loads(line) for line in (work / "launches").read_text().splitlines()]


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="LLVM's device that is the host is that of x86-64 here")
@pytest.mark.parametrize("name", ["openmp_mapping.cpp", "openmp_regions.cpp"])
def test_interpreted_machine_code_computes_what_llvm_does(
    name: str, clang: Clang, toolkit: Toolkit, tmp_path: Path
) -> None:
    expected = on_the_host(clang, HERE / name, tmp_path / "llvm")
    assert interpreted(HERE / name, tmp_path, toolkit, clang)[0] == expected


def test_shared_memory_is_not_copied(clang: Clang, toolkit: Toolkit, tmp_path: Path) -> None:
    source = tmp_path / "shared.cpp"
    source.write_text(
        "#include <cstdio>\n#pragma omp requires unified_shared_memory\nint main() { int *a = new int[3]{1, 2, 3};\n"
        '#pragma omp target\na[1] = 5;\n#pragma omp target map(to : a[0 : 3])\na[2] = 6;\nprintf("%d %d\\n", a[1], a[2]); }\n'
    )
    said, launches = interpreted(source, tmp_path, toolkit, clang)
    assert said == "5 6\n"
    assert [each["faults"] for each in launches] == [0, 0]


def test_teams_and_threads_are_those_of_llvm(clang: Clang, toolkit: Toolkit, tmp_path: Path) -> None:
    source = tmp_path / "loops.cpp"
    loop = "#pragma omp target teams distribute parallel for {}\nfor (int i = 0; i < {}; i++) sink[i % 9] = i;\n"
    loops = (("thread_limit(256)", 16_000), ("num_teams(2048)", 8192), ("", 1000), ("", 3200 * 33))
    source.write_text(f"int sink[9];\nint main() {{\n{''.join(loop.format(*each) for each in loops)}}}\n")
    shapes = [(each["grid"][0], each["block"][0]) for each in interpreted(source, tmp_path, toolkit, clang)[1]]
    # The first two as a profiler saw them on an RTX 3080 (nbody-omp, accuracy-omp: labels of ../data/profiles/prediction), the others by hand from
    # the rules of LLVM's plug-in: a short loop has a warp a team, a longer one as many threads as give 3200 teams.
    assert shapes == [(63, 256), (2048, 128), (32, 32), (1650, 64)]
