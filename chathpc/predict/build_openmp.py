"""Builds a program with OpenMP target regions so that they are interpreted: clang as always, our stand-in instead of libomptarget.

clang takes device code through NVIDIA's assembler to SASS and embeds it in the executable, from where it is taken. The regions' entry points,
their parameters and the way that they ask for threads are those of LLVM 19, which the stand-in is written for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from chathpc.predict.build import JOBS, Built, cache_of, machine_objects
from chathpc.predict.compilers import MACHINE, BuildError, Clang, Toolkit, checked
from chathpc.predict.recipe import Recipe, Unit, recipe_of_makefile

#: Makefiles for a device, the likeliest for clang first.
_MAKEFILES = ("Makefile.aomp", "Makefile", "makefile")
#: What other compilers, other devices and this module's own choices are told with; "next" takes the following word with it.
_DECIDED = re.compile(
    r"-f?i?openmp(-targets=.*|-offload-mandatory|-simd)?|-q.*|-mp(=.*)?|-gpu=.*|-Minfo.*|-march=.*|-mcpu=.*|--target=.*"
    r"|--offload-.*|-foffload.*|-fopenmp.*|-f?no-stack-protector|-W.*|-g\d?|-ggdb\d?|-save-temps|-ferror-limit=.*"
    r"|--cuda-.*|--libomptarget-.*|-ffp-model=.*|-xHost|-ipo|-target|-Xopenmp-target.*"
)
#: How the names of target regions begin.
_REGION = b"__omp_offloading_"
_C_COMPILER = re.compile(r"(\w+-)*(cc|gcc|clang|icx|icc|mpicc|nvc)(-[\d.]+)?")


def openmp_recipe_of_makefile(folder: Path, variables: Mapping[str, str] | None = None) -> Recipe:
    """As recipe_of_makefile, of the folder's Makefile for clang, else of its first. Errors: BuildError, also where there is none."""
    name = next((name for name in _MAKEFILES if (folder / name).is_file()), "")
    if not name:
        raise BuildError(f"{folder} has no Makefile.", "", hint="Name the sources: chathpc predict main.cpp …")
    return recipe_of_makefile(folder, variables, name)


def openmp_machine() -> tuple[Path, ...]:
    """The C sources that stand in for LLVM's runtime of OpenMP offload and for the device."""
    return (MACHINE / "interpreter.c", MACHINE / "openmp_target.c")


def build_openmp(
    recipe: Recipe,
    *,
    work: Path,
    toolkit: Toolkit,
    clang: Clang,
    architecture: str = "sm_86",
    machine: Sequence[Path] | None = None,
) -> Built:
    """Compile and link the program below `work`, with `machine` (C sources; None: all that OpenMP needs) in the place of libomptarget.

    Errors: BuildError with the compiler's words, ClangMissingError.
    """
    work.mkdir(parents=True, exist_ok=True)
    offload = _offload(clang, toolkit, architecture)
    with ThreadPoolExecutor(JOBS) as pool:
        ours = pool.submit(machine_objects, machine or openmp_machine(), toolkit, cache_of(work))
        numbered = list(enumerate(recipe.units))
        objects = list(pool.map(lambda unit: _object(unit[1], work / f"{unit[0]}.o", clang, offload), numbered))
    executable = _link([*objects, *ours.result()], recipe, work, clang, offload)
    return Built(executable, _cubins(executable, work, clang, architecture), recipe.units[0].folder)


def _offload(clang: Clang, toolkit: Toolkit, architecture: str) -> tuple[str, ...]:
    """Options by which clang compiles target regions for the architecture with NVIDIA's assembler and linker of the toolkit."""
    return (
        "-fopenmp",
        "-fopenmp-targets=nvptx64-nvidia-cuda",
        f"--offload-arch={architecture}",
        f"--cuda-path={toolkit.root}",
        f"--libomptarget-nvptx-bc-path={clang.device_runtime(architecture)}",
        # clang knows releases of CUDA only up to its own: a newer assembler reads what it writes for the last it knows.
        "-Wno-unknown-cuda-version",
        "-w",
    )


def _object(unit: Unit, made: Path, clang: Clang, offload: Sequence[str]) -> Path:
    """Compile one source for host and device. Errors: BuildError."""
    is_c = unit.source.suffix == ".c" and (not unit.compiler or _C_COMPILER.fullmatch(Path(unit.compiler).name))
    language = [] if unit.source.suffix != ".c" else ["-x", "c" if is_c else "c++"]
    flags = list(_kept(unit.flags))
    if not any(flag.startswith("-O") for flag in flags):
        flags.insert(0, "-O3")
    command = [str(clang.programs / ("clang" if is_c else "clang++")), *offload, "-gline-tables-only", *flags]
    command += [*language, "-c", str(unit.source), "-o", str(made)]
    checked(command, unit.folder, f"{unit.source.name} does not compile.")
    return made


def _kept(flags: Sequence[str]) -> Iterator[str]:
    """The flags that say what the program is: not those for other compilers and devices, nor those that this module decides."""
    return (flag for flag in flags if not _DECIDED.fullmatch(flag))


def _link(objects: Sequence[Path], recipe: Recipe, work: Path, clang: Clang, offload: Sequence[str]) -> Path:
    """Link host and device code. Errors: BuildError."""
    # clang asks for libomptarget by itself: an empty one satisfies it, since our objects define what the program calls of it.
    hidden = work / "instead"
    hidden.mkdir(exist_ok=True)
    (hidden / "libomptarget.a").write_bytes(b"!<arch>\n")
    made = work / "program"
    link = [word for word in recipe.link if not word.startswith("-fopenmp")]
    command = [str(clang.programs / "clang++"), *offload, "-no-pie", f"-L{hidden}", *map(str, objects), "-o", str(made)]
    command += [*link, f"-Wl,-rpath,{clang.library}", "-lpthread", "-lm", "-ldl"]
    checked(command, recipe.units[0].folder, "The program does not link.")
    return made


def _cubins(executable: Path, work: Path, clang: Clang, architecture: str) -> tuple[Path, ...]:
    """The device code that the executable holds. Errors: BuildError if there is none."""
    made = work / "cubins" / "program.cubin"
    made.parent.mkdir(exist_ok=True)
    made.unlink(missing_ok=True)
    chosen = f"--image=file={made},kind=openmp,triple=nvptx64-nvidia-cuda,arch={architecture}"
    checked(
        [str(clang.programs / "clang-offload-packager"), str(executable), chosen],
        work,
        "The program's device code is not found.",
    )
    if not made.is_file() or _REGION not in made.read_bytes():
        raise BuildError("The program has no device code: no target region was compiled.", "")
    return (made,)
