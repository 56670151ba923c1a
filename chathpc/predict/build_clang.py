"""Builds a CUDA program with clang instead of nvcc: other counts for the same source, since another compiler optimises it.

clang needs the headers of CUDA 12, which it knows, with those of cuRAND, which its own headers include. Device code goes through
NVIDIA's assembler; the host's objects register an empty image, for the interpreter has the cubins.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from chathpc.predict.build import (
    Built,
    Recipe,
    Toolkit,
    Unit,
    _cache,
    _checked,
    _link,
    default_machine,
    machine_objects,
)
from chathpc.predict.build_openmp import Clang

_JOBS = 2
#: Options of nvcc that clang lacks; the first group takes the next word with it.
_WITH_VALUE = re.compile(r"-Xcompiler|-Xptxas|-Xcudafe|-gencode|-arch|-code|-maxrregcount|--options-file|-ccbin")
_OF_NVCC = re.compile(
    r"-arch=.*|-code=.*|-gencode=.*|--generate-code=.*|-lineinfo|--?expt-.*|--extended-lambda|-extended-lambda|-rdc=.*|-dc|-Xcompiler=.*|-Xptxas=.*"
    r"|--?maxrregcount.*|--default-stream.*|-use_fast_math|--use_fast_math|--?ftz=.*|--?prec-.*|--?fmad=.*|-cudart.*|--compiler-options=.*|-w"
)


def build_with_clang(
    recipe: Recipe,
    *,
    work: Path,
    toolkit: Toolkit,
    clang: Clang,
    architecture: str = "sm_86",
    cache: Path | None = None,
) -> Built:
    """Compile and link the program below `work`. `toolkit` has headers of CUDA 12. Errors: BuildError with the compiler's words."""
    work.mkdir(parents=True, exist_ok=True)
    empty = work / "empty.fatbin"
    empty.write_bytes(b"\0" * 64)
    with ThreadPoolExecutor(_JOBS) as pool:
        ours = pool.submit(machine_objects, default_machine(), toolkit, cache or _cache(work))
        numbered = list(enumerate(recipe.units))
        made = list(
            pool.map(lambda one: _compile(one[1], work / str(one[0]), toolkit, clang, architecture, empty), numbered)
        )
    executable, missing = _link(
        [*(one for one, _ in made), *ours.result()], [*recipe.link, "-ldl", "-lpthread", "-lm"], work
    )
    cubins = tuple(cubin for _, cubin in made if cubin is not None)
    return Built(executable, cubins, recipe.units[0].folder, missing)


def _compile(
    unit: Unit, made: Path, toolkit: Toolkit, clang: Clang, architecture: str, empty: Path
) -> tuple[Path, Path | None]:
    """The object of the host, and the cubin if the source is CUDA. Errors: BuildError."""
    program = str(clang.programs / "clang++")
    flags = list(kept(unit.flags))
    if not any(flag.startswith("-O") for flag in flags):
        flags.insert(0, "-O3")
    if not any(flag.startswith("-std") for flag in flags):
        flags.append("-std=gnu++14")
    failure = f"{unit.source.name} does not compile with clang."
    is_cuda = (
        not unit.host and unit.source.suffix not in (".c",) and (unit.source.suffix == ".cu" or "-x" in unit.flags)
    )
    target = made.with_suffix(".o")
    if not is_cuda:
        compiler = str(clang.programs / "clang") if unit.source.suffix == ".c" else program
        host = [flag for flag in flags if not (unit.source.suffix == ".c" and flag.startswith("-std=gnu++"))]
        command = [compiler, "-w", *host, f"-I{toolkit.include}", "-c", str(unit.source), "-o", str(target)]
        _checked(command, unit.folder, failure)
        return target, None
    common = [
        program,
        "-w",
        "-x",
        "cuda",
        f"--cuda-path={toolkit.root}",
        f"--cuda-gpu-arch={architecture}",
        "-Wno-unknown-cuda-version",
    ]
    plain = [flag for at, flag in enumerate(flags) if flag != "-x" and not (at and flags[at - 1] == "-x")]
    ptx, cubin = made.with_suffix(".ptx"), made.with_suffix(".cubin")
    _checked([*common, *plain, "--cuda-device-only", "-S", str(unit.source), "-o", str(ptx)], unit.folder, failure)
    _checked(
        [str(toolkit.tool("ptxas")), "-O3", f"-arch={architecture}", str(ptx), "-o", str(cubin)], unit.folder, failure
    )
    host_only = ["--cuda-host-only", "-Xclang", "-fcuda-include-gpubinary", "-Xclang", str(empty)]
    _checked([*common, *plain, *host_only, "-c", str(unit.source), "-o", str(target)], unit.folder, failure)
    return target, cubin


def kept(flags: Sequence[str]) -> list[str]:
    """The flags of nvcc that clang has too."""
    found: list[str] = []
    skip = False
    for flag in flags:
        if skip:
            skip = False
        elif _WITH_VALUE.fullmatch(flag):
            skip = True
        elif not _OF_NVCC.fullmatch(flag):
            found.append(flag)
    return found
