"""What a program is built of: its sources with their flags, as a Makefile tells them, or as they are named."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chathpc.predict.compilers import BuildError, call

CUDA_SOURCE = ".cu"
HOST_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".c++", ".C")
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
#: How HeCBench calls a Makefile for clang.
_FOR_CLANG = "Makefile.aomp"
_RUNNABLE = re.compile(r"\./[\w./+-]+")


@dataclass(frozen=True, slots=True)
class Unit:
    """One source with its flags, which hold in `folder`; `compiler` is what the Makefile calls for it."""

    source: Path
    flags: tuple[str, ...]
    folder: Path
    compiler: str = ""

    @property
    def host(self) -> str:
        """The host's compiler, where the Makefile calls it itself; empty for NVIDIA's."""
        nvidia = self.source.suffix == CUDA_SOURCE or Path(self.compiler).name.startswith("nvcc")
        return "" if nvidia else self.compiler

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


def recipe_of_makefile(folder: Path, variables: Mapping[str, str] | None = None, *, openmp: bool = False) -> Recipe:
    """The sources and flags by which the Makefile of `folder` builds its first target, as a dry run tells them; with `openmp` its Makefile
    for clang, where it has one.

    `variables` are set on the command line of make. A dry run evaluates $(shell …) of the Makefile: only for folders that the user
    named. Errors: BuildError if there is no make, or no compile command in what it says.
    """
    makefile = _FOR_CLANG if openmp and (folder / _FOR_CLANG).is_file() else ""
    units: dict[Path, Unit] = {}
    link: dict[str, None] = {}
    for where, words in _commands(_dry_run(folder, ("-f", makefile) if makefile else (), variables or {}), folder):
        sources, flags, relocatable = _parted(words)
        if not _compiler(words[0]):
            continue
        kept, linked = _sorted_out(flags, relocatable)
        link |= dict.fromkeys(linked)
        for source in sources:
            path = (where / source).resolve()
            units.setdefault(path, Unit(path, kept, where, words[0]))
    if not units:
        raise BuildError(
            f"{folder}: {makefile or 'make'} names no compiler's command.", "",
            hint="Name the sources: chathpc predict main.cu …",
        )  # fmt: skip
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
        done = call(["make", "-n", "-B", "-w", *targets, *given], folder)
    except NotADirectoryError:
        raise BuildError(f"{folder} is no folder.", "") from None
    except FileNotFoundError:
        if not folder.is_dir():
            raise BuildError(f"There is no folder {folder}.", "") from None
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
        elif word.endswith((CUDA_SOURCE, *HOST_SOURCES)):
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
