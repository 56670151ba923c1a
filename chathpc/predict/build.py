"""Builds a CUDA program so that its kernels are interpreted: NVIDIA's compiler as always, our stand-in instead of its runtime.

The steps are those of nvcc's own separate compilation: an object of each source, a device link where relocatable code was asked for, a
link by the host's compiler. What the program calls and nobody defines is filled with functions that say so when they are called.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from chathpc.errors import ChathpcError
from chathpc.llm.places import cache_folder
from chathpc.predict.absent import imagined_header, library_of
from chathpc.sandbox import Completed, Limits, Request, Sandbox
from chathpc.sandbox.limits import ALL_ADDRESSES

#: What is linked in the place of NVIDIA's runtime.
MACHINE = Path(__file__).parent / "machine"
#: Of the user's program: no more than this long for one source (seconds); heavy templates take a minute.
_COMPILE_SECONDS = 600.0
_MAKE_SECONDS = 60.0
#: Compilers at once.
_JOBS = 2
_CUDA_SOURCE = ".cu"
_HOST_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".c++", ".C")
#: Options of nvcc and of host compilers whose value may be the next word.
_WITH_VALUE = re.compile(
    r"-(-?(std|x|I|D|U|L|l|o|t|rdc|cudart|threads|include|default-stream|maxrregcount|diag-suppress)|isystem|arch|code|gencode|ccbin|odir"
    r"|M[FTQ]|X(compiler|ptxas|linker|cudafe|archive|nvlink)|-(output-file|output-directory|include-path|define-macro|undefine-macro"
    r"|pre-include|gpu-architecture|gpu-code|generate-code|compiler-options|ptxas-options|linker-options|library-path|library"
    r"|compiler-bindir|relocatable-device-code))"
)
#: Options that this module decides itself: outputs, steps, architecture, runtime, the host's compiler.
_DECIDED = re.compile(
    r"-c|-dc|-dw|-dlink|--device-c|--device-link|--compile|-ptx|-cubin|-fatbin|-lineinfo|--generate-line-info|-keep|--keep|-Werror.*|-M+[DPG]?"
    r"|(-o|--output-file|-arch|--gpu-architecture|-code|--gpu-code|-gencode|--generate-code|-cudart|--cudart|-ccbin|--compiler-bindir"
    r"|-odir|--output-directory|-t|--threads|-MF|-MT|-MQ)([=].*)?"
)
#: Libraries of NVIDIA's toolkit and driver.
_NVIDIA_LIBRARY = re.compile(r"cu[a-z].*|nv.*|nccl.*|npp.*|cudart.*")
#: Functions of these libraries and of the runtime itself.
_NVIDIA_FUNCTION = re.compile(r"_{0,2}cu[A-Z_a-z]\w*|nv[A-Zm]\w*|nccl[A-Z]\w*|npp\w*")
_UNDEFINED = re.compile(r"undefined reference to [`'\"]([^`'\"]+)['\"]")
#: Names that the headers give functions when streams are one a thread.
_PER_THREAD = re.compile(r"(\w+)_pt[sd][zs]")
#: The last int of cudaDeviceProp that has a name in CUDA 13, and what was there until CUDA 12 (Runtime API, release notes of 13.0).
_LAST_MEMBER = "hostNumaMultinodeIpcSupported"
_LOST_MEMBERS = (
    "clockRate,deviceOverlap,kernelExecTimeoutEnabled,computeMode,maxTexture1DLinear,memoryClockRate"
    ",singleToDoublePrecisionPerfRatio,cooperativeMultiDeviceLaunch"
)
#: What nvcc's preprocessor and clang say: the file that includes, and the header.
_ABSENT_HEADER = re.compile(
    r"^([^\s:]+):\d+:\d+: fatal error: '?([^':\s]+)'?(?:: No such file| file not found)", re.MULTILINE
)
#: Packages of the Python index that bring headers which the compiler alone does not.
_PACKAGES = {
    "nvidia-cublas": "cublas",
    "nvidia-cufft": "cufft",
    "nvidia-curand": "curand",
    "nvidia-cusolver": "cusolver",
    "nvidia-cusparse": "cusparse",
    "nvidia-nvjitlink": "nvJitLink",
    "nvidia-nvtx": "nvtx|nvToolsExt",
    "nvidia-cuda-profiler-api": "cuda_?[pP]rofiler",
    "nvidia-cuda-cccl": "cub/|thrust/|cuda/",
    "nvidia-nccl-cu13": "nccl",
}
#: What the headers of CUB and Thrust say since CUDA 13 to programs that ask for an older C++.
_NEWER_STANDARD = "requires at least C++17"
_OLDER_CPP = re.compile(r"^--?std=(c|gnu)\+\+(98|0[38xX]|1[014xyz])$")
#: Of one source: so many things that it lacks are given to it, one after the other.
_ATTEMPTS = 6
#: cudaErrorNotSupported.
_NOT_SUPPORTED = 801
_MACHINE_FLAGS = (
    "-std=gnu11",
    "-O3",
    "-march=native",
    "-fno-math-errno",
    "-ffp-contract=off",
    "-fno-strict-aliasing",
    "-g1",
    "-Wall",
)
#: Of a run: the largest file and all output (bytes), and files of a folder that are shown to it.
_LARGEST_FILE = 4 << 30
_LARGEST_OUTPUT = 64 << 20
_MOST_FILES = 10_000
_MOST_SHOWN = 1_000
_RUNNABLE = re.compile(r"\./[\w./+-]+")


class ToolkitMissingError(ChathpcError):
    """NVIDIA's compiler is not there."""


class BuildError(ChathpcError):
    """The program does not compile or link; `log` is what the compiler said."""

    def __init__(self, message: str, log: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.log = log


@dataclass(frozen=True, slots=True)
class Toolkit:
    """Where NVIDIA's compiler lies: the folder that holds bin and include, and its programs."""

    root: Path
    nvcc: Path

    @property
    def include(self) -> Path:
        """Folder of the headers."""
        return self.root / "include"

    @property
    def library(self) -> Path:
        """Folder of libcudadevrt.a, which device code that launches kernels is linked with."""
        found = (self.root / name for name in ("lib", "lib64"))
        return next((path for path in found if (path / "libcudadevrt.a").is_file()), self.root / "lib64")

    @property
    def older(self) -> tuple[str, ...]:
        """The definition that gives cudaDeviceProp the members back that CUDA 13 took from it: programs print and even use them."""
        text = (self.include / "driver_types.h").read_text("utf-8", errors="replace")
        if _LAST_MEMBER not in text or re.search(r"\bint\s+clockRate;", text):
            return ()
        return (f"-D{_LAST_MEMBER}={_LAST_MEMBER},{_LOST_MEMBERS}",)

    def tool(self, name: str) -> Path:
        """The program of that name, such as ptxas, cuobjdump or nvdisasm. Errors: ToolkitMissingError."""
        path = self.root / "bin" / name
        if not path.is_file():
            raise ToolkitMissingError(f"{name} is not beside {self.nvcc}.", hint=_REMEDY)
        return path


_REMEDY = "pip install 'chathpc[predict]'"


def find_toolkit(environ: Mapping[str, str] = os.environ, path: Sequence[str] = ()) -> Toolkit:
    """NVIDIA's compiler: the package of this Python environment, else the one that CUDA_HOME names, else nvcc on the PATH.

    `path` is where Python looks for packages (None given: sys.path). Errors: ToolkitMissingError with what to install.
    """
    folders = [Path(entry) / "nvidia" / "cu13" for entry in path or sys.path]
    folders += [Path(environ[name]) for name in ("CUDA_HOME", "CUDA_PATH") if environ.get(name)]
    for folder in folders:
        if (folder / "bin" / "nvcc").is_file() and (folder / "include" / "cuda_runtime_api.h").is_file():
            return Toolkit(folder.resolve(), folder.resolve() / "bin" / "nvcc")
    named = shutil.which("nvcc", path=environ.get("PATH"))
    if named is not None:
        # The one on the PATH may be a script that starts another; what it would do tells where that lies.
        done = _call([named, "-dryrun", "-c", "-x", "cu", "none.cu"], Path("/"), _MAKE_SECONDS)
        told = re.search(r"^#\$ TOP=(.+)$", done.stderr, re.MULTILINE)
        root = Path(told[1]) if told else Path(named).resolve().parent.parent
        if (root / "include" / "cuda_runtime_api.h").is_file():
            return Toolkit(root.resolve(), root.resolve() / "bin" / "nvcc")
    raise ToolkitMissingError("NVIDIA's compiler nvcc was not found.", hint=_REMEDY)


# -- What is to be compiled ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Unit:
    """One source with its flags, which hold in `folder`; `host` is the host's compiler where the Makefile calls it itself."""

    source: Path
    flags: tuple[str, ...]
    folder: Path
    host: str = ""

    @property
    def relocatable(self) -> bool:
        """Whether its device code is linked with that of other sources."""
        return bool({"-rdc=true", "--relocatable-device-code=true"} & set(self.flags))


@dataclass(frozen=True, slots=True)
class Recipe:
    """Sources of a program, and the options of its link that are not NVIDIA's."""

    units: tuple[Unit, ...]
    link: tuple[str, ...] = ()


def recipe_of_sources(sources: Sequence[Path], flags: Sequence[str] = ()) -> Recipe:
    """These sources, each with `flags` beside -O3, which holds if they say nothing else."""
    chosen = tuple(flags) if any(flag.startswith("-O") for flag in flags) else ("-O3", *flags)
    kept, link = _sorted_out(chosen, relocatable=False)
    return Recipe(tuple(Unit(source.resolve(), kept, source.resolve().parent) for source in sources), link)


def recipe_of_makefile(folder: Path, variables: Mapping[str, str] | None = None) -> Recipe:
    """The sources and flags by which the Makefile of `folder` builds its first target, as a dry run of make tells them.

    `variables` are set on the command line of make. A dry run evaluates $(shell …) of the Makefile: only for folders that the user
    named. Errors: BuildError if there is no make, or no compile command in what it says.
    """
    units: dict[Path, Unit] = {}
    link: dict[str, None] = {}
    for where, words in _commands(_dry_run(folder, (), variables or {}), folder):
        sources, flags, relocatable = _parted(words)
        if not _compiler(words[0]):
            continue
        kept, linked = _sorted_out(flags, relocatable)
        link |= dict.fromkeys(linked)
        host = "" if Path(words[0]).name.startswith("nvcc") else words[0]
        for source in sources:
            path = (where / source).resolve()
            units.setdefault(path, Unit(path, kept, where, "" if path.suffix == _CUDA_SOURCE else host))
    if not units:
        raise BuildError(
            f"{folder}: make names no compiler's command.", "", hint="Name the sources: chathpc predict main.cu …"
        )
    return Recipe(tuple(units.values()), tuple(link))


def arguments_of_makefile(folder: Path) -> tuple[tuple[str, ...], ...]:
    """The arguments of each run that `make run` would start; empty if the Makefile has no such target."""
    try:
        said = _dry_run(folder, ("run",), {})
    except BuildError:
        return ()
    return tuple(
        tuple(words[at + 1 :])
        for _, words in _commands(said, folder)
        for at in [next((at for at, word in enumerate(words) if _RUNNABLE.fullmatch(word)), None)]
        if at is not None and not _compiler(words[0])
    )


def _dry_run(folder: Path, targets: tuple[str, ...], variables: Mapping[str, str]) -> str:
    given = [f"{name}={value}" for name, value in variables.items()]
    try:
        done = _call(["make", "-n", "-B", "-w", *targets, *given], folder, _MAKE_SECONDS)
    except FileNotFoundError:
        raise BuildError("There is no make.", "", hint="Install make, or name the sources.") from None
    if done.returncode:
        raise BuildError(f"{folder}: make fails.", done.stderr)
    return done.stdout


def _commands(said: str, folder: Path) -> Iterator[tuple[Path, list[str]]]:
    """Each simple command that make prints, with the folder in which it runs."""
    entered = [folder]
    for line in said.replace("\\\n", " ").splitlines():
        moved = re.fullmatch(r"make(?:\[\d+\])?: (Entering|Leaving) directory [`'](.*)'", line)
        if moved:
            entered = [*entered, Path(moved[2])] if moved[1] == "Entering" else entered[:-1]
            continue
        lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|<>")
        lexer.whitespace_split = True
        try:
            words = list(lexer)
        except ValueError:  # an open quotation: not a compiler's command that could be used
            continue
        where = entered[-1] if entered else folder
        for ends, group in itertools.groupby(words, key=lambda word: not set(word) - set(";&|<>")):
            command = list(group)
            if ends:
                continue
            if command[0] == "cd" and len(command) == 2:
                where = where / command[1]
            elif command:
                yield where, command


def _compiler(word: str) -> bool:
    return bool(
        re.fullmatch(
            r"nvcc|(\w+-)*(g\+\+|gcc|cc|c\+\+|clang|clang\+\+|icpx|icx|mpicc|mpicxx|mpic\+\+)(-[\d.]+)?",
            Path(word).name,
        )
    )


def _parted(words: Sequence[str]) -> tuple[list[str], list[str], bool]:
    """Sources and options of a compiler's command, and whether it asks for relocatable device code."""
    sources: list[str] = []
    flags: list[str] = []
    rest = iter(words[1:])
    for word in rest:
        if _WITH_VALUE.fullmatch(word):
            flags += [word, next(rest, "")]
        elif word.startswith("-"):
            flags.append(word)
        elif word.endswith((_CUDA_SOURCE, *_HOST_SOURCES)):
            sources.append(word)
    return sources, flags, bool({"-dc", "--device-c", "-dw"} & set(flags))


def _sorted_out(flags: Sequence[str], relocatable: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of the options those that hold for compiling, and those for the link."""
    kept: list[str] = ["-rdc=true"] if relocatable else []
    link: list[str] = []
    rest = iter(flags)
    for flag in rest:
        words = [flag, *itertools.islice(rest, 1 if _WITH_VALUE.fullmatch(flag) else 0)]
        joined = "".join(words) if flag in ("-l", "-L", "-rdc", "--relocatable-device-code") else flag
        if flag in ("-rdc", "--relocatable-device-code"):
            kept.append(f"-rdc={words[-1]}")
        elif joined.startswith("-l") and not joined.startswith("-lineinfo"):
            link += [joined] if not _NVIDIA_LIBRARY.fullmatch(joined[2:]) else []
        elif joined.startswith("-L"):
            link.append(joined)
        elif not _DECIDED.fullmatch(flag):
            kept += words
            if "-fopenmp" in words[-1]:
                link.append("-fopenmp")
    return tuple(kept), tuple(link)


# -- Compiling and linking -----------------------------------------------------------------------------------------


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
    with ThreadPoolExecutor(_JOBS) as pool:
        objects = list(
            pool.map(
                lambda each: _object(each[1], work / f"{each[0]}.o", toolkit, architecture),
                enumerate(recipe.units),
            )
        )
    ours = machine_objects(machine or default_machine(), toolkit, cache or _cache(work))
    relocatable = [made for made, unit in zip(objects, recipe.units, strict=True) if unit.relocatable]
    link = [*recipe.link, "-ldl", "-lpthread", "-lm"]
    linked: list[Path] = []
    if relocatable:
        linked = [_device_link(relocatable, work, toolkit, architecture)]
        link = [f"-L{toolkit.library}", "-lcudadevrt", *link]
    executable, missing = _link([*objects, *linked, *ours], link, work)
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
            return _checked(command, folder, failure)
        except BuildError as error:
            changed = _remedied(command, error.log, folder, imagined)
            if changed is None:
                raise
            command = changed
    return _checked(command, folder, failure)


def _remedied(command: Sequence[str], log: str, folder: Path, imagined: Path) -> list[str] | None:
    """The command with what its `log` asks for; None if that is nothing that can be given."""
    if _NEWER_STANDARD in log:
        newer = [_OLDER_CPP.sub("-std=c++17", word) for word in command]
        return newer if newer != list(command) else None
    absent = _ABSENT_HEADER.search(log)
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
    _checked([*command, f"-L{toolkit.library}", "-lcudadevrt"], work, "The device code does not link.")
    return made


def _link(objects: Sequence[Path], options: Sequence[str], work: Path) -> tuple[Path, tuple[str, ...]]:
    """Link the program; functions of NVIDIA's libraries that nobody defines become calls of machine_missing.

    The executable, and the names of such functions. Errors: BuildError, also where a function of the program itself is undefined.
    """
    made = work / "program"
    command = ["g++", *map(str, objects), "-o", str(made), "-Wl,--no-demangle", *options]
    done = _call(command, work, _COMPILE_SECONDS)
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
    _checked([*command, str(source), *defined], work, "The program does not link.")
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
        _call([str(toolkit.tool("cuobjdump")), "-xelf", "all", str(made)], own, _COMPILE_SECONDS)
        found += sorted(own.glob("*.cubin"))
    return tuple(found)


def machine_objects(sources: Sequence[Path], toolkit: Toolkit, cache: Path) -> tuple[Path, ...]:
    """Objects of our own C sources, compiled once and kept in `cache` by what they are made of. Errors: BuildError."""
    headers = sorted({header for source in sources for header in source.parent.glob("*.h")})
    # A home folder is shared by machines whose processors differ: what -march=native means is part of the name.
    asked = (["gcc", "--version"], ["gcc", "-march=native", "-Q", "--help=target"])
    compiler = [_call(command, Path("/"), _MAKE_SECONDS).stdout for command in asked]
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
            part = target.with_suffix(f".{os.getpid()}.part")
            includes = (f"-I{MACHINE}", f"-I{toolkit.include}")
            command = ["gcc", *_MACHINE_FLAGS, *toolkit.older, *includes, "-c", str(source), "-o", str(part)]
            _checked(command, cache, f"{source.name} of chathpc does not compile.")
            part.rename(target)
        made.append(target)
    return tuple(made)


def _cache(work: Path) -> Path:
    folder = cache_folder(os.environ)
    return work / "machine" if folder is None else folder / "predict"


def _call(command: Sequence[str], folder: Path, seconds: float) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=seconds,
        env={**os.environ, "LC_ALL": "C"},
        check=False,
    )


def _checked(command: Sequence[str], folder: Path, failure: str) -> None:
    try:
        done = _call(command, folder, _COMPILE_SECONDS)
    except FileNotFoundError:
        raise BuildError(f"{failure} There is no {command[0]}.", "", hint="Install a C++ compiler.") from None
    except subprocess.TimeoutExpired:
        raise BuildError(f"{failure} It took longer than {_COMPILE_SECONDS:.0f} s.", "") from None
    if done.returncode:
        log = done.stdout + done.stderr
        first = next(
            (line for line in log.splitlines() if re.search(r"\b(error|fatal|undefined reference)\b", line)), ""
        )
        absent = _ABSENT_HEADER.search(log)
        package = next((name for name, header in _PACKAGES.items() if absent and re.match(header, absent[2])), "")
        raise BuildError(f"{failure} {first}".strip(), log, hint=f"pip install {package}" if package else "")


# -- Running -------------------------------------------------------------------------------------------------------


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
