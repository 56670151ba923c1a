"""Programs with OpenMP target regions are built for the interpreter, and their mapping is that of LLVM's own runtime."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from chathpc.predict.build import OPENMP_MACHINE, build_openmp
from chathpc.predict.compilers import (
    MACHINE,
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
STAND_IN = (MACHINE / "openmp_target.c", HERE / "host_machine.c")
make = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
#: Machine of an ELF file with code for NVIDIA's devices (EM_CUDA of elf.h).
EM_CUDA = 190
GENERIC, SPMD = "1", "2"


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
    built = build_openmp(recipe, work=tmp_path / "work", toolkit=toolkit, clang=clang, machine=STAND_IN)
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
        build_openmp(
            recipe_of_sources([source]), work=tmp_path / "work", toolkit=toolkit, clang=clang, machine=STAND_IN
        )
    assert "nothing" in caught.value.log


def test_a_program_without_target_regions_is_an_error(clang: Clang, toolkit: Toolkit, tmp_path: Path) -> None:
    source = tmp_path / "none.cpp"
    source.write_text("int main() { return 0; }\n")
    with pytest.raises(BuildError, match="no device code"):
        build_openmp(
            recipe_of_sources([source]), work=tmp_path / "work", toolkit=toolkit, clang=clang, machine=STAND_IN
        )


def test_the_machine_for_openmp_has_nothing_of_cuda() -> None:
    assert MACHINE / "openmp_target.c" in OPENMP_MACHINE
    assert not [path for path in OPENMP_MACHINE if "cuda" in path.name]


def told(command: list[str], **environment: str) -> str:
    """What a command prints."""
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **environment}, timeout=300
    )
    assert not done.returncode, done.stderr
    return done.stdout


def on_the_host(clang: Clang, source: Path, made: Path, *ours: str) -> str:
    """What a program prints whose target regions are for the host's own processor, which LLVM treats as a device with its own memory."""
    target = "x86_64-pc-linux-gnu"
    command = [
        str(clang.programs / "clang++"),
        "-w",
        "-fopenmp",
        f"-fopenmp-targets={target}",
        f"-Wl,-rpath,{clang.library}",
    ]
    told([*command, *ours, str(source), "-o", str(made), "-ldl"])
    image = made.with_suffix(".so")
    told(
        [str(clang.programs / "clang-offload-packager"), str(made), f"--image=file={image},kind=openmp,triple={target}"]
    )
    return told([str(made)], IMAGE=str(image))


def instead(tmp_path: Path) -> list[str]:
    """Options that link our stand-in in the place of LLVM's runtime."""
    (tmp_path / "libomptarget.a").write_bytes(b"!<arch>\n")
    objects = [str(tmp_path / f"{source.stem}.o") for source in STAND_IN]
    for source, made in zip(STAND_IN, objects, strict=True):
        told(["gcc", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{MACHINE}", "-c", str(source), "-o", made])
    return [f"-L{tmp_path}", *objects]


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="LLVM's device that is the host is that of x86-64 here")
def test_mapping_is_that_of_llvm(clang: Clang, tmp_path: Path) -> None:
    source = HERE / "openmp_mapping.cpp"
    expected = on_the_host(clang, source, tmp_path / "llvm")
    assert on_the_host(clang, source, tmp_path / "ours", *instead(tmp_path)) == expected
    assert len(expected.splitlines()) > 35


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="LLVM's device that is the host is that of x86-64 here")
@pytest.mark.parametrize("name", ["openmp_mapping.cpp", "openmp_regions.cpp"])
def test_interpreted_machine_code_computes_what_llvm_does(
    name: str, clang: Clang, toolkit: Toolkit, tmp_path: Path
) -> None:
    built = build_openmp(recipe_of_sources([HERE / name]), work=tmp_path, toolkit=toolkit, clang=clang)
    (cubin,) = built.cubins
    listing = tmp_path / "listing"
    listing.write_text(told([str(toolkit.tool("nvdisasm")), "-c", str(cubin)]))
    lowered = lower([(read(cubin), list(disassembled(listing)))])
    assert not lowered.unknown
    (tmp_path / "code").write_bytes(lowered.data)
    (tmp_path / "settings").write_text("other_seconds 60\n")
    expected = on_the_host(clang, HERE / name, tmp_path / "llvm")
    assert told([str(built.executable)], CHATHPC_MACHINE=str(tmp_path)) == expected


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="LLVM's device that is the host is that of x86-64 here")
def test_shared_memory_is_not_copied(clang: Clang, tmp_path: Path) -> None:
    source = tmp_path / "shared.cpp"
    source.write_text(
        "#include <cstdio>\n#pragma omp requires unified_shared_memory\nint main() { int *a = new int[3]{1, 2, 3};\n"
        '#pragma omp target\na[1] = 5;\n#pragma omp target map(to : a[0 : 3])\na[2] = 6;\nprintf("%d %d\\n", a[1], a[2]); }\n'
    )
    assert on_the_host(clang, source, tmp_path / "ours", *instead(tmp_path)) == "5 6\n"


@pytest.fixture(scope="module")
def shape(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("shape")
    made = folder / "shape"
    objects = [f"-I{MACHINE}", str(HERE / "openmp_shape.c"), str(HERE / "host_machine.c"), "-ldl"]
    told(["gcc", "-w", *objects, "-o", str(made)])
    return str(made)


@pytest.mark.parametrize(
    ("mode", "most", "limit", "teams", "trips", "expected"),
    [
        # As a profiler saw them on an RTX 3080, programs built with LLVM (the labels of ../data/profiles/prediction).
        (SPMD, 256, 256, 0, 16_000, "63 256"),  # nbody-omp
        (SPMD, 256, 256, 0, 10_000_000, "3200 256"),  # swish-omp
        (SPMD, 128, 0, 0, 5120 * 2560, "3200 128"),  # ising-omp
        (SPMD, 128, 0, 2048, 8192, "2048 128"),  # accuracy-omp
        (GENERIC, 128, 0, 1, 0, "1 128"),  # kernelLaunch-omp
        # By hand from the rules of LLVM's plug-in: a short loop has a warp a team, a longer one as many threads as give 3200 teams.
        (SPMD, 128, 0, 0, 1000, "32 32"),
        (SPMD, 128, 0, 0, 3200 * 33, "1650 64"),
        (SPMD, 128, 0, 0, 0, "3200 128"),
        (GENERIC, 1024, 64, 0, 500, "500 96"),
        (GENERIC, 1024, 1024, 0, 9000, "3200 1024"),
    ],
)
def test_teams_and_threads_are_those_of_llvm(
    shape: str, mode: str, most: int, limit: int, teams: int, trips: int, expected: str
) -> None:
    assert told([shape, mode, str(most), str(limit), str(teams), str(trips)]) == f"{expected}\n"
