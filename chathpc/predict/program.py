"""A program from its sources to launches that were followed: built, disassembled, lowered, run. Its kernels by name.

It runs in a sandbox: it reads a tree that looks like its folder, and what it writes goes nowhere else.
"""

from __future__ import annotations

import itertools
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from chathpc.errors import UsageError
from chathpc.predict import cubin, emulation, lowering
from chathpc.predict.build import Built, build, build_openmp
from chathpc.predict.compilers import BuildError, Toolkit, call, find_clang, find_toolkit
from chathpc.predict.devices import Device
from chathpc.predict.recipe import Recipe, recipe_of_makefile, recipe_of_sources
from chathpc.profile.kernel_names import base_key, kernel_key
from chathpc.profile.machine_code import MachineCode
from chathpc.sandbox import Completed, Limits, Request, Sandbox
from chathpc.sandbox.system import ALL_ADDRESSES

#: Architectures that the interpreter was tested with; kernels for others are compiled for the first, the labels' own.
ARCHITECTURES = ("sm_86", "sm_80", "sm_89")
#: Whatever a program does before, after and beside its kernels: seconds for all of it, and for kernels that nobody asked about.
LONGEST, OTHERS = 200.0, 6.0
_TARGET = re.compile(r"#\s*pragma\s+omp\s[^\n]*\btarget\b")
_REGION = re.compile(r"__omp_offloading_[0-9a-f]+_[0-9a-f]+_(.*)_l(\d+)(_\d+)?")
_SOURCES = (".cu", ".c", ".cc", ".cpp", ".cxx", ".C")
#: Of a run: the largest file and all output (bytes), and files of a folder that are shown to it.
_LARGEST_FILE = 4 << 30
_LARGEST_OUTPUT = 64 << 20
_MOST_FILES = 10_000
_MOST_SHOWN = 1_000
#: Names listed in an error.
_MOST_NAMES = 12


Three = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Program:
    """What is built: a folder with a Makefile (and variables for make), or sources with flags of their compiler."""

    places: tuple[Path, ...]
    flags: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path | None:
        """The folder with the Makefile; None for sources."""
        return self.places[0] if len(self.places) == 1 and self.places[0].is_dir() else None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A program that was built and lowered below `work`. `alone`: it has no main of its own; `tools`: what took part, with versions."""

    built: Built
    lowered: lowering.Lowered
    sources: tuple[Path, ...]
    work: Path
    alone: bool
    tools: Mapping[str, str]
    architecture: str
    kernels: Mapping[str, cubin.Kernel]


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be predicted: a kernel by name (None: the first launch of each), as the program's `arguments` launch it.

    `grid` and `block` choose a launch by its shape, or are that of a kernel without a host program, whose parameters are `values`;
    `occurrence` is which launch of the kernel, from 0; `seconds` how long a launch is interpreted, on a usual processor (work is
    counted; no clock is read). `alone_grid` and `alone_block` are what a kernel without a host program has if nothing else is said.
    """

    kernel: str | None = None
    arguments: tuple[str, ...] | None = None
    grid: Three | None = None
    block: Three | None = None
    shared: int = 0
    values: Mapping[str, str] = field(default_factory=dict)
    occurrence: int = 0
    seconds: float = 3.0
    alone_grid: Three | None = None
    alone_block: Three | None = None


def prepare(program: Program, work: Path, device: Device) -> Prepared:
    """Build the program with what stands in for the runtime. Errors: UsageError, BuildError, ToolkitMissingError, ClangMissingError."""
    toolkit = find_toolkit()
    architecture = device.architecture if device.architecture in ARCHITECTURES else ARCHITECTURES[0]
    recipe, openmp = _recipe(program)
    if openmp:
        clang = find_clang()
        built = build_openmp(recipe, work=work, toolkit=toolkit, clang=clang, architecture=architecture)
        tools = {"clang": _version(clang.programs / "clang"), "ptxas": _version(toolkit.tool("ptxas"))}
    else:
        built = build(recipe, work=work, toolkit=toolkit, architecture=architecture)
        tools = {"nvcc": _version(toolkit.nvcc)}
    return lowered(built, recipe, work, toolkit, tools, architecture)


def lowered(
    built: Built, recipe: Recipe, work: Path, toolkit: Toolkit, tools: Mapping[str, str], architecture: str
) -> Prepared:
    """A program that was built, with its device code disassembled and lowered. Errors: UsageError where it has no kernels, BuildError."""
    with ThreadPoolExecutor(2) as pool:
        modules = [each for each in pool.map(lambda path: _module(path, toolkit), built.cubins) if each[0].kernels]
    code = lowering.lower(modules)
    if not code.kernels:
        raise UsageError(
            "The program has no kernels.",
            hint="Name the sources with __global__ functions (of a template, an instance of it) or target regions.",
        )
    (work / "code").write_bytes(code.data)
    sources = tuple(unit.source for unit in recipe.units)
    kernels = {name: kernel for module, _ in modules for name, kernel in module.kernels.items()}
    return Prepared(built, code, sources, work, _lacks_main(built.executable), tools, architecture, kernels)


def follow(
    prepared: Prepared, arguments: Sequence[str], kernels: Sequence[str], asked: Asked, device: Device, sandbox: Sandbox
) -> tuple[list[emulation.Followed], tuple[str, ...], Completed]:
    """Run the program in the sandbox: launches of `kernels` (mangled names; *: the first of each) that were followed, what its stand-in for the
    runtime lacks, and how it ended.
    """
    work = prepared.work
    (work / "settings").write_text(_settings(kernels, asked, device, prepared.architecture), "utf-8")
    launches = work / "launches"
    launches.unlink(missing_ok=True)
    done = run(
        prepared.built, arguments, work=work, sandbox=sandbox, environment={"CHATHPC_MACHINE": str(work)},
        seconds=LONGEST, sources=prepared.sources,
    )  # fmt: skip
    if not launches.is_file():
        return [], (), done
    found, missing = emulation.read(launches, prepared.lowered, int(device.l2) or 5 << 20)
    return found, missing, done


def run(
    built: Built,
    arguments: Sequence[str],
    *,
    work: Path,
    sandbox: Sandbox,
    environment: Mapping[str, str],
    seconds: float,
    sources: Sequence[Path] = (),
) -> Completed:
    """Run the program below `work`, where a copy of its folder lies whose files are links: what it writes stays in `work`.

    It reads its own folder, and files outside that `arguments` or literals of `sources` name by a path that begins with "../".
    """
    outside = _outside(arguments, sources)
    folder = stage(built.folder, work / "stage", outside)
    shown = [path for path in built.folder.iterdir() if not path.name.startswith(".")][:_MOST_SHOWN]
    command = shlex.join([str(built.executable), *arguments])
    request = Request(
        command=("/bin/sh", "-c", f"cd {shlex.quote(str(folder))} && exec {command}"),
        folder=work,
        readable=tuple(dict.fromkeys(path.resolve() for path in (*shown, *_targets(built.folder, outside)))),
        environment={"LC_ALL": "C", "PATH": "/usr/local/bin:/usr/bin:/bin", **environment},
        limits=Limits(seconds=seconds, memory=ALL_ADDRESSES, file=_LARGEST_FILE, output=_LARGEST_OUTPUT),
    )
    return sandbox.run(request)


def _outside(arguments: Sequence[str], sources: Sequence[Path]) -> tuple[str, ...]:
    """Paths that lead out of the program's folder, as the command line names them and the text of sources and of headers beside them."""
    beside = {header for folder in {path.parent for path in sources} for header in folder.glob("*.[ch]*")}
    texts = (path.read_text("utf-8", errors="replace") for path in sorted({*sources, *beside}) if path.is_file())
    literals = [found for text in texts for found in re.findall(r'"(\.\./[^"\n%]+)"', text)]
    return tuple(name for name in dict.fromkeys((*arguments, *literals)) if name.startswith("../"))


def _targets(folder: Path, names: Sequence[str]) -> list[Path]:
    """What these names mean from `folder`, where it exists."""
    found = (Path(os.path.normpath(folder / name)) for name in names)
    return [path for path in found if path.exists()]


def stage(folder: Path, target: Path, outside: Sequence[str] = ()) -> Path:
    """A tree below `target` that looks like `folder` and what `outside` names from there: own folders, links to the files.

    Hidden files are left out.
    """
    folder = folder.resolve()
    shutil.rmtree(target, ignore_errors=True)
    (target / folder.relative_to("/")).mkdir(parents=True)
    for path in itertools.islice(_files(folder, target), _MOST_FILES):
        _linked(path, target / path.relative_to("/"))
    for named in _targets(folder, outside):
        for path in itertools.islice(_files(named, target), _MOST_FILES) if named.is_dir() else [named]:
            _linked(path, target / path.relative_to("/"))
    return target / folder.relative_to("/")


def _files(folder: Path, without: Path) -> Iterator[Path]:
    """All folders and files below, those that are not hidden, and not those in `without`, which may lie below too."""
    for where, folders, files in os.walk(folder):
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and Path(where, name) != without.resolve()
        )
        yield from (Path(where, name) for name in (*folders, *sorted(files)) if not name.startswith("."))


def _linked(path: Path, made: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        made.mkdir(parents=True, exist_ok=True)
    elif not os.path.lexists(made):
        made.parent.mkdir(parents=True, exist_ok=True)
        made.symlink_to(path.resolve())


def title(mangled: str) -> str:
    """A kernel's name for people: as the source writes it, without parameters; of a target region its function and line."""
    region = _REGION.fullmatch(mangled)
    return f"{kernel_key(region[1])}:{region[2]}" if region else kernel_key(mangled)


def matching(name: str, kernels: Sequence[str]) -> str:
    """The kernel that a user means: a plain, qualified or templated name, a mangled one; of a target region its function or line.

    UsageError where there is none or more than one, with those that there are.
    """
    wanted = kernel_key(name)
    tests = (
        lambda each: each == name or title(each) == wanted,
        lambda each: _without_arguments(title(each)) == wanted,
        lambda each: title(each).endswith(f"::{wanted}"),
        lambda each: _without_arguments(title(each)).endswith(f"::{wanted}"),
        lambda each: _REGION.fullmatch(each) is not None and wanted in title(each).split(":"),
    )
    found = next((list(hits) for test in tests if (hits := tuple(filter(test, kernels)))), [])
    if len(found) == 1:
        return found[0]
    names = listed(found or kernels)
    if found:
        raise UsageError(f"{len(found)} kernels are called {name}.", hint=f"Name one as --kernel: {names}")
    raise UsageError(f"The program has no kernel {name}.", hint=f"It has: {names}")


def listed(kernels: Sequence[str]) -> str:
    """The names of kernels for an error."""
    names = sorted({title(each) for each in kernels})
    more = f", and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(f"'{each}'" for each in names[:_MOST_NAMES]) + more


def _without_arguments(name: str) -> str:
    return name.partition("<")[0] if name.endswith(">") and base_key(name) in name else name


def _recipe(program: Program) -> tuple[Recipe, bool]:
    """Sources with flags, and whether they are for OpenMP offload."""
    if program.folder is not None:
        if not any(
            (program.folder / name).is_file() for name in ("Makefile", "makefile", "GNUmakefile", "Makefile.aomp")
        ):
            raise UsageError(f"{program.folder} has no Makefile.", hint="Name the sources: chathpc predict main.cu …")
        openmp = not any(program.folder.rglob("*.cu")) and any(map(_offloads, _below(program.folder)))
        return recipe_of_makefile(program.folder, program.variables, openmp=openmp), openmp
    for path in program.places:
        if not path.is_file() or path.suffix not in _SOURCES:
            what = "is a folder beside other paths" if path.is_dir() else "is no source file of CUDA, C or C++"
            what = what if path.exists() else "does not exist"
            raise UsageError(f"{path} {what}.", hint="Name sources (.cu, .cpp, .c), or one folder with a Makefile.")
    recipe = recipe_of_sources(program.places, program.flags)
    cuda_sources = any(path.suffix == ".cu" for path in program.places)
    return recipe, not cuda_sources and any(map(_offloads, program.places))


def _below(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.suffix in (*_SOURCES, ".h", ".hpp") and path.is_file()][
        :200
    ]


def _offloads(path: Path) -> bool:
    return _TARGET.search(path.read_text("utf-8", errors="replace")) is not None


def _module(path: Path, toolkit: Toolkit) -> tuple[cubin.Cubin, list[MachineCode]]:
    read = cubin.read(path)
    if not read.kernels:
        return read, []
    text = path.with_suffix(".sass")
    with text.open("wb") as file:
        command = [str(toolkit.tool("nvdisasm")), "-c", "-gi", "-hex", str(path)]
        done = subprocess.run(command, stdout=file, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        raise BuildError("The machine code cannot be disassembled.", done.stderr.decode("utf-8", "replace"))
    return read, list(lowering.disassembled(text))


def _lacks_main(executable: Path) -> bool:
    """Whether main is our own, which is weak (machine/alone.c)."""
    if shutil.which("nm") is None:
        return False
    return re.search(r" W main$", call(["nm", str(executable)], executable.parent).stdout, re.MULTILINE) is not None


def _version(tool: Path) -> str:
    found = re.search(r"\b(?:V|version )(\d+(?:\.\d+)+)", call([str(tool), "--version"], tool.parent).stdout)
    return found[1] if found else ""


def _settings(kernels: Sequence[str], asked: Asked, device: Device, architecture: str) -> str:
    number = re.fullmatch(r"sm_(\d+)(\d)", device.architecture) or re.fullmatch(r"sm_(\d+)(\d)", architecture)
    lines = [f"want {name}" for name in kernels]
    lines += [
        f"{name} {' '.join(map(str, shape))}" for name, shape in (("grid", asked.grid), ("block", asked.block)) if shape
    ]
    facts = {
        "occurrence": asked.occurrence, "seconds": asked.seconds, "other_seconds": max(OTHERS, asked.seconds), "name": device.name,
        "major": number[1] if number else 0, "minor": number[2] if number else 0, "multiprocessors": device.units,
        "clock_khz": round(device.clock / 1e3), "memory_clock_khz": round(device.memory_clock / 1e3), "bus_bits": device.bus,
        "l2_bytes": round(device.l2), "shared_per_block": min(round(device.shared_block), 48 << 10),
        "shared_per_block_optin": round(device.shared_block), "shared_per_multiprocessor": round(device.shared),
        "registers_per_block": device.registers, "threads_per_multiprocessor": device.max_threads,
        "blocks_per_multiprocessor": device.max_blocks, "memory_bytes": round(device.memory),
    }  # fmt: skip
    return (
        "\n".join([*lines, *(f"{name} {value}" for name, value in facts.items() if value not in (0, "0", ""))]) + "\n"
    )
