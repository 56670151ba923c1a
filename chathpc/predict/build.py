"""Builds a CUDA program so that its kernels are interpreted: NVIDIA's compiler as always, our stand-in instead of its runtime.

The steps are those of nvcc's own separate compilation: an object of each source, a device link where relocatable code was asked for, a
link by the host's compiler. What the program calls and nobody defines is filled with functions that say so when they are called.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from chathpc.llm.places import cache_folder
from chathpc.predict.absent import imagined_header, library_of
from chathpc.predict.compilers import ABSENT_HEADER, LONGEST, MACHINE, BuildError, Toolkit, call, checked
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
_MACHINE_FLAGS = (
    "-std=gnu11", "-O3", "-march=native", "-fno-math-errno", "-ffp-contract=off", "-fno-strict-aliasing", "-g1", "-Wall",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Built:
    """A program whose kernels are interpreted: its executable, the device code, and what it calls that nobody does."""

    executable: Path
    cubins: tuple[Path, ...]
    folder: Path
    missing: tuple[str, ...] = ()


def build(
    recipe: Recipe,
    *,
    work: Path,
    toolkit: Toolkit,
    architecture: str = "sm_86",
    machine: Sequence[Path] | None = None,
    cache: Path | None = None,
) -> Built:
    """Compile and link the program below `work`, with `machine` (C sources; None: all that CUDA needs) in the place of the runtime.

    Errors: BuildError with the compiler's words.
    """
    work.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(JOBS) as pool:
        objects = list(
            pool.map(
                lambda each: _object(each[1], work / f"{each[0]}.o", toolkit, architecture),
                enumerate(recipe.units),
            )
        )
    ours = machine_objects(machine or default_machine(), toolkit, cache or cache_of(work))
    relocatable = [made for made, unit in zip(objects, recipe.units, strict=True) if unit.relocatable]
    link = [*recipe.link, "-ldl", "-lpthread", "-lm"]
    linked: list[Path] = []
    if relocatable:
        linked = [_device_link(relocatable, work, toolkit, architecture)]
        link = [f"-L{toolkit.library}", "-lcudadevrt", *link]
    executable, missing = link_program([*objects, *linked, *ours], link, work)
    device = [*linked, *(made for made in objects if made not in relocatable)]
    return Built(executable, _cubins(device, work, toolkit), recipe.units[0].folder, missing)


def default_machine() -> tuple[Path, ...]:
    """The C sources that stand in for the runtime of CUDA and for the device."""
    return (MACHINE / "alone.c", MACHINE / "cuda_runtime.c", MACHINE / "interpreter.c")


def _object(unit: Unit, made: Path, toolkit: Toolkit, architecture: str) -> Path:
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
    return made


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


def _device_link(objects: Sequence[Path], work: Path, toolkit: Toolkit, architecture: str) -> Path:
    """Link relocatable device code. Errors: BuildError."""
    made = work / "device.o"
    command = [str(toolkit.nvcc), f"-arch={architecture}", "-dlink", *map(str, objects), "-o", str(made)]
    checked([*command, f"-L{toolkit.library}", "-lcudadevrt"], work, "The device code does not link.")
    return made


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
