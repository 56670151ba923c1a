"""Builds a program so that its kernels are interpreted: NVIDIA's compiler or clang as always, our stand-in instead of NVIDIA's runtime or driver.

CUDA: the steps are those of nvcc's own separate compilation: an object of each source, a device link where relocatable code was asked for, a
link by the host's compiler. What the program calls and nobody defines is filled with functions that say so when they are called.

OpenMP: clang takes device code through NVIDIA's assembler to SASS and embeds it in the executable, from where it is taken. LLVM's own runtime
maps data and launches regions; what it takes for CUDA's driver is the stand-in.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from chathpc.llm.places import cache_folder
from chathpc.predict.compilers import ABSENT_HEADER, LONGEST, MACHINE, BuildError, Clang, Toolkit, call, checked
from chathpc.predict.recipe import Recipe, Unit

#: Compilers at once.
JOBS = 2
#: Functions of these libraries and of the runtime itself.
_NVIDIA_FUNCTION = re.compile(r"_{0,2}cu[A-Z_a-z]\w*|nv[A-Zm]\w*|nccl[A-Z]\w*|npp\w*")
_UNDEFINED = re.compile(r"undefined reference to [`'\"]([^`'\"]+)['\"]")
#: Names that the headers give functions when streams are one a thread.
_PER_THREAD = re.compile(r"(\w+)_pt[sd][zs]")
#: What the headers of CUB and Thrust say since CUDA 13 to programs that ask for an older C++.
_NEWER_STANDARD = "requires at least C++17"
_OLDER_CPP = re.compile(r"^--?std=(c|gnu)\+\+(98|0[38xX]|1[014xyz])$")
#: Of one source: so many things that it lacks are given to it, one after the other.
_ATTEMPTS = 6
#: cudaErrorNotSupported.
_NOT_SUPPORTED = 801
#: C sources that stand in for the runtime or the driver, and for the device.
CUDA_MACHINE = (MACHINE / "alone.c", MACHINE / "cuda_runtime.c", MACHINE / "interpreter.c")
OPENMP_MACHINE = (MACHINE / "cuda_driver.c", MACHINE / "interpreter.c")
_MACHINE_FLAGS = (
    "-std=gnu11", "-O3", "-march=native", "-fno-math-errno", "-ffp-contract=off", "-fno-strict-aliasing", "-g1", "-Wall",
)  # fmt: skip


#: What other compilers, other devices and this module's own choices are told with; "next" takes the following word with it.
_DECIDED = re.compile(
    r"-f?i?openmp(-targets=.*|-offload-mandatory|-simd)?|-q.*|-mp(=.*)?|-gpu=.*|-Minfo.*|-march=.*|-mcpu=.*|--target=.*"
    r"|--offload-.*|-foffload.*|-fopenmp.*|-f?no-stack-protector|-W.*|-g\d?|-ggdb\d?|-save-temps|-ferror-limit=.*"
    r"|--cuda-.*|--libomptarget-.*|-ffp-model=.*|-xHost|-ipo|-target|-Xopenmp-target.*"
)
#: Where the flags stand in the header of an ELF file of 64 bits.
_ELF_FLAGS = 48
#: How the names of target regions begin.
_REGION = b"__omp_offloading_"
_C_COMPILER = re.compile(r"(\w+-)*(cc|gcc|clang|icx|icc|mpicc|nvc)(-[\d.]+)?")


#: Headers of libraries that the host calls, and how their names begin. Not those with device code, such as curand_kernel.h. Such a library runs on a GPU
#: only, so its work is not done here in any case: where it is not installed, each function that a program names of it says at run time that it
#: was called and succeeds, whatever it is called with, and the program goes on to its own kernels.
_LIBRARIES = {
    r"cublas\w*\.h": "cublas", r"cufft\w*\.h": "cufft", r"curand\.h": "curand", r"cusolver\w*\.h": "cusolver",
    r"cusparse\w*\.h": "cusparse", r"cudnn\w*\.h": "cudnn", r"nccl\.h": "nccl",
}  # fmt: skip
#: Types whose contents the program itself uses.
_KNOWN_TYPES = {
    "cufftReal": "float", "cufftDoubleReal": "double", "cufftComplex": "float2", "cufftDoubleComplex": "double2",
}  # fmt: skip
#: A handle, an enumeration or a status: all convert from and to numbers, and 0 is success in each of the libraries.
_HEAD = """#pragma once
#include <cuda_runtime.h>
extern "C" void machine_missing(const char *name);
#ifndef CHATHPC_IMAGINED
#define CHATHPC_IMAGINED
struct chathpc_imagined {
    long value;
    __host__ __device__ constexpr chathpc_imagined(int number = 0) : value(number) {}
    __host__ __device__ constexpr chathpc_imagined(long number) : value(number) {}
    __host__ __device__ constexpr chathpc_imagined(decltype(nullptr)) : value(0) {}
    __host__ __device__ constexpr operator long() const { return value; }
};
#endif
"""


@dataclass(frozen=True, slots=True)
class Built:
    """A program whose kernels are interpreted: its executable, the device code, and what it calls that nobody does."""

    executable: Path
    cubins: tuple[Path, ...]
    folder: Path
    missing: tuple[str, ...] = ()


def build(
    recipe: Recipe, *, work: Path, toolkit: Toolkit, architecture: str = "sm_86", machine: Sequence[Path] = CUDA_MACHINE,
    cache: Path | None = None,
) -> Built:  # fmt: skip
    """Compile and link a CUDA program below `work`, with `machine` (C sources) in the place of the runtime.

    Errors: BuildError with the compiler's words.
    """
    objects, ours = _objects(
        recipe, work, lambda unit, made: _compile_cuda(unit, made, toolkit, architecture),
        lambda: machine_objects(machine, toolkit, cache or cache_of(work)),
    )  # fmt: skip
    relocatable = [made for made, unit in zip(objects, recipe.units, strict=True) if unit.relocatable]
    link = [*recipe.link, "-ldl", "-lpthread", "-lm"]
    linked: list[Path] = []
    if relocatable:
        linked = [work / "device.o"]
        library = [f"-L{toolkit.library}", "-lcudadevrt"]
        command = [str(toolkit.nvcc), f"-arch={architecture}", "-dlink", *map(str, relocatable), "-o", str(linked[0])]
        checked([*command, *library], work, "The device code does not link.")
        link = [*library, *link]
    executable, missing = link_program([*objects, *linked, *ours], link, work)
    device = [*linked, *(made for made in objects if made not in relocatable)]
    return Built(executable, _cubins(device, work, toolkit), recipe.units[0].folder, missing)


def build_openmp(recipe: Recipe, *, work: Path, toolkit: Toolkit, clang: Clang, architecture: str = "sm_86") -> Built:
    """Compile and link a program with target regions below `work`, with OPENMP_MACHINE in the place of CUDA's driver.

    Errors: BuildError with the compiler's words, also without a target region; ClangMissingError.
    """
    offload = [
        "-fopenmp", "-fopenmp-targets=nvptx64-nvidia-cuda", f"--offload-arch={architecture}", f"--cuda-path={toolkit.root}",
        f"--libomptarget-nvptx-bc-path={clang.device_runtime(architecture)}",
        # clang knows releases of CUDA only up to its own: a newer assembler reads what it writes for the last it knows.
        "-Wno-unknown-cuda-version", "-w",
    ]  # fmt: skip
    objects, ours = _objects(
        recipe, work, lambda unit, made: _compile_openmp(unit, made, clang, offload),
        lambda: machine_objects(OPENMP_MACHINE, toolkit, cache_of(work)),
    )  # fmt: skip
    executable, cubin = work / "program", work / "cubins" / "program.cubin"
    cubin.parent.mkdir(exist_ok=True)
    # LLVM's runtime finds the driver's functions in the program itself.
    exported = ["-no-pie", "-Wl,--export-dynamic-symbol=cu*"]
    command = [str(clang.programs / "clang++"), *offload, *exported, *map(str, (*objects, *ours))]
    command += ["-o", str(executable), *(word for word in recipe.link if not word.startswith("-fopenmp"))]
    command += [f"-Wl,-rpath,{clang.library}", "-lpthread", "-lm", "-ldl"]
    checked(command, recipe.units[0].folder, "The program does not link.")
    cubin.unlink(missing_ok=True)
    chosen = f"--image=file={cubin},kind=openmp,triple=nvptx64-nvidia-cuda,arch={architecture}"
    packager = str(clang.programs / "clang-offload-packager")
    checked([packager, str(executable), chosen], work, "The program's device code is not found.")
    code = cubin.read_bytes() if cubin.is_file() else b""
    if _REGION not in code:
        raise BuildError("The program has no device code: no target region was compiled.", "")
    # LLVM 19 looks for the architecture where it stood in the flags of a cubin's header until CUDA 12.
    at, number = _ELF_FLAGS, int(architecture.removeprefix("sm_"))
    executable.write_bytes(executable.read_bytes().replace(code[: at + 1], code[:at] + bytes([number])))
    return Built(executable, (cubin,), recipe.units[0].folder)


def _objects(
    recipe: Recipe, work: Path, compile_unit: Callable[[Unit, Path], None], machine: Callable[[], tuple[Path, ...]]
) -> tuple[list[Path], tuple[Path, ...]]:
    """An object of each source, and our own that `machine` makes, several at once."""
    work.mkdir(parents=True, exist_ok=True)
    objects = [work / f"{number}.o" for number in range(len(recipe.units))]
    with ThreadPoolExecutor(JOBS) as pool:
        ours = pool.submit(machine)
        list(pool.map(compile_unit, recipe.units, objects))
    return objects, ours.result()


def _compile_cuda(unit: Unit, made: Path, toolkit: Toolkit, architecture: str) -> None:
    """Compile one source. Errors: BuildError."""
    if unit.host:
        command = [unit.host, "-w", *unit.flags, f"-I{toolkit.include}"]
    else:
        real = f"arch={architecture.replace('sm_', 'compute_')},code={architecture}"
        older = ["-include", str(MACHINE / "cuda_older.h")]
        for word in toolkit.older:  # in nvcc's own lists a comma separates, and its -D does not reach the last step
            older += ["-Xcompiler", word.replace(",", r"\,")]
        command = [str(toolkit.nvcc), "-w", "-lineinfo", "-gencode", real, *older, *unit.flags]
    command += ["-c", str(unit.source), "-o", str(made)]
    compiled(command, unit.folder, f"{unit.source.name} does not compile.", made.with_suffix(".imagined"))


def _compile_openmp(unit: Unit, made: Path, clang: Clang, offload: Sequence[str]) -> None:
    """Compile one source for host and device. Errors: BuildError."""
    is_c = unit.source.suffix == ".c" and (not unit.compiler or _C_COMPILER.fullmatch(Path(unit.compiler).name))
    language = [] if unit.source.suffix != ".c" else ["-x", "c" if is_c else "c++"]
    flags = [flag for flag in unit.flags if not _DECIDED.fullmatch(flag)]
    if not any(flag.startswith("-O") for flag in flags):
        flags.insert(0, "-O3")
    command = [str(clang.programs / ("clang" if is_c else "clang++")), *offload, "-gline-tables-only", *flags]
    command += [*language, "-c", str(unit.source), "-o", str(made)]
    checked(command, unit.folder, f"{unit.source.name} does not compile.")


def compiled(command: Sequence[str], folder: Path, failure: str, imagined: Path) -> None:
    """Run a compiler's command, and again with what it lacks: a newer C++, headers of libraries, which are written to `imagined`.

    Errors: BuildError, which begins with `failure`.
    """
    for _ in range(_ATTEMPTS):
        try:
            return checked(command, folder, failure)
        except BuildError as error:
            changed = _remedied(command, error.log, folder, imagined)
            if changed is None:
                raise
            command = changed
    return checked(command, folder, failure)


def _remedied(command: Sequence[str], log: str, folder: Path, imagined: Path) -> list[str] | None:
    """The command with what its `log` asks for; None if that is nothing that can be given."""
    if _NEWER_STANDARD in log:
        newer = [_OLDER_CPP.sub("-std=c++17", word) for word in command]
        return newer if newer != list(command) else None
    absent = ABSENT_HEADER.search(log)
    prefix = absent and library_of(absent[2])
    given = f"-I{imagined}"
    if not absent or not prefix or (given in command and (imagined / absent[2]).is_file()):
        return None
    folders = {folder, (folder / absent[1]).parent}
    texts = [path.read_text("utf-8", errors="replace") for beside in folders for path in sorted(beside.glob("*.[ch]*"))]
    imagined.mkdir(exist_ok=True)
    for name in {absent[2], *(path.name for path in imagined.iterdir() if library_of(path.name) == prefix)}:
        (imagined / name).write_text(imagined_header(prefix, texts), "utf-8")
    return [*(word for word in command if word != given), given]


def library_of(header: str) -> str | None:
    """How the names of the library begin whose header it is; None if it is none that can be done without."""
    return next((prefix for pattern, prefix in _LIBRARIES.items() if re.fullmatch(pattern, header)), None)


def imagined_header(prefix: str, texts: Iterable[str]) -> str:
    """C++ that declares what `texts`, a program's sources, name of the library: types, constants and functions of any arguments."""
    names: dict[str, str] = {}
    for text in texts:
        for found in re.finditer(rf"\b({prefix}[A-Z]|{prefix.upper()}_)\w*(?=(\s*\(|[ \t*&]+[A-Za-z_])?)", text):
            name, then = found[0], (found[2] or "").strip()
            if name.endswith("_t") or name in _KNOWN_TYPES:
                kind = "type"
            elif found[1].isupper() or not then:
                kind = "constant"
            else:
                kind = "function" if then == "(" else "type"
            # A name also stands in comments, and as an argument: what says most about it counts.
            names[name] = max(names.get(name, kind), kind, key=("constant", "type", "function").index)
    guard = f"CHATHPC_IMAGINED_{prefix.upper()}"
    lines = [_HEAD, f"#ifndef {guard}", f"#define {guard}"]  # a library has several headers
    for number, (name, kind) in enumerate(sorted(names.items()), start=1):
        if kind == "type":
            lines.append(f"typedef {_KNOWN_TYPES.get(name, 'chathpc_imagined')} {name};")
        elif kind == "constant":
            lines.append(f"static constexpr int {name} = {0 if name.lower().endswith('success') else number};")
        else:
            lines.append(
                f"template <class... Any> static inline chathpc_imagined {name}(Any &&...)"
                f' {{ machine_missing("{name}"); return 0; }}'
            )
    return "\n".join([*lines, "#endif"]) + "\n"


def link_program(objects: Sequence[Path], options: Sequence[str], work: Path) -> tuple[Path, tuple[str, ...]]:
    """Link the program; functions of NVIDIA's libraries that nobody defines become calls of machine_missing.

    The executable, and the names of such functions. Errors: BuildError, also where a function of the program itself is undefined.
    """
    made = work / "program"
    command = ["g++", *map(str, objects), "-o", str(made), "-Wl,--no-demangle", *options]
    done = call(command, work, LONGEST)
    if not done.returncode:
        return made, ()
    undefined = sorted(set(_UNDEFINED.findall(done.stderr)))
    streams = {name: found[1] for name in undefined if (found := _PER_THREAD.fullmatch(name))}
    missing = tuple(name for name in undefined if name not in streams)
    if not undefined or not all(_NVIDIA_FUNCTION.fullmatch(name) for name in missing):
        raise BuildError("The program does not link.", done.stderr)
    source = work / "missing.cpp"
    source.write_text(_stubs(missing), "utf-8")
    defined = [f"-Wl,--defsym={name}={base}" for name, base in streams.items()]
    checked([*command, str(source), *defined], work, "The program does not link.")
    return made, missing


def _stubs(names: Sequence[str]) -> str:
    """C++ source of functions with these names. Those of the runtime fail, as they would on a device that cannot do it; those of libraries
    say that they succeeded (0 is success in all of them), so that the program goes on to its own kernels.
    """
    text = ['extern "C" void machine_missing(const char *name);']
    for name in names:
        failure = _NOT_SUPPORTED if name.startswith("cuda") else 0
        text.append(f'extern "C" int {name}(void) {{ machine_missing("{name}"); return {failure}; }}')
    return "\n".join(text) + "\n"


def _cubins(objects: Sequence[Path], work: Path, toolkit: Toolkit) -> tuple[Path, ...]:
    """The device code in these objects, a file of each."""
    folder = work / "cubins"
    shutil.rmtree(folder, ignore_errors=True)
    found: list[Path] = []
    for number, made in enumerate(objects):
        own = folder / str(number)
        own.mkdir(parents=True)
        # Fails where an object has no device code: what counts is what it leaves.
        call([str(toolkit.tool("cuobjdump")), "-xelf", "all", str(made)], own, LONGEST)
        found += sorted(own.glob("*.cubin"))
    return tuple(found)


def machine_objects(sources: Sequence[Path], toolkit: Toolkit, cache: Path) -> tuple[Path, ...]:
    """Objects of our own C sources, compiled once and kept in `cache` by what they are made of. Errors: BuildError."""
    headers = sorted({header for source in sources for header in source.parent.glob("*.h")})
    # A home folder is shared by machines whose processors differ: what -march=native means is part of the name.
    asked = (["gcc", "--version"], ["gcc", "-march=native", "-Q", "--help=target"])
    compiler = [call(command, Path("/")).stdout for command in asked]
    digest = hashlib.sha256(repr((_MACHINE_FLAGS, toolkit.older, compiler, str(toolkit.root))).encode())
    for path in (*headers, toolkit.include / "cuda_runtime_api.h", toolkit.include / "driver_types.h"):
        digest.update(path.read_bytes())
    made: list[Path] = []
    for source in sources:
        own = digest.copy()
        own.update(source.read_bytes())
        target = cache / f"{source.stem}-{own.hexdigest()[:24]}.o"
        if not target.is_file():
            cache.mkdir(parents=True, exist_ok=True)
            part = target.with_suffix(f".{os.getpid()}-{threading.get_ident()}.part")
            includes = (f"-I{MACHINE}", f"-I{toolkit.include}")
            command = ["gcc", *_MACHINE_FLAGS, *toolkit.older, *includes, "-c", str(source), "-o", str(part)]
            checked(command, cache, f"{source.name} of chathpc does not compile.")
            part.rename(target)
        made.append(target)
    return tuple(made)


def cache_of(work: Path) -> Path:
    """Where objects of our own sources are kept: the user's cache, `work` where there is none."""
    folder = cache_folder(os.environ)
    return work / "machine" if folder is None else folder / "predict"
