"""A first chathpc.yaml for a folder: what its build files and sources tell, with comments for what they do not.

Everything is read, nothing is run: a Makefile is code, and whose it is is not known.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from chathpc.errors import UsageError
from chathpc.fix import globs
from chathpc.fix.cmake_lists import FLAGS, cmake
from chathpc.fix.cmake_lists import NAME as CMAKE
from chathpc.fix.makefile import NAMES as MAKEFILES
from chathpc.fix.makefile import makefile
from chathpc.fix.project_file import ALWAYS_PROTECTED, BY_HAND, FILE, KEY, PROTECTED, describes_project
from chathpc.fix.source_facts import Source, in_order, sources
from chathpc.profile.languages import Language

_LARGEST = 1 << 20
_BUILD_FOLDER = "build-chathpc"
#: Where files lie that belong to no program of this folder.
_ELSEWHERE = (*ALWAYS_PROTECTED, "build*/**", "chathpc-measure-*/**", "**/CMakeFiles/**")
_COMPILERS = {
    Language.C: ("gcc", "mpicc"),
    Language.CPP: ("g++", "mpicxx"),
    Language.FORTRAN: ("gfortran", "mpifort"),
    Language.CUDA: ("nvcc", "nvcc -ccbin mpicxx"),
}
_VARIABLES = {Language.C: "CFLAGS", Language.CPP: "CXXFLAGS", Language.FORTRAN: "FFLAGS", Language.CUDA: "NVCCFLAGS"}
#: An argument that is a size, or a count.
_NUMBER = re.compile(r"(?<=\s)\d+(?!\S)")
_IGNORED_TIMES = r"(?i)\b(time|seconds|elapsed|wall|GB/s|MB/s|[MG]FLOP)"


@dataclass(slots=True)
class _Found:
    """What was found out about the folder."""

    build: str = ""
    flags: tuple[str, str] | None = None
    run: str = "./app"
    launcher: str = ""
    units: list[Source] = field(default_factory=list)
    openmp: bool = False
    mpi: bool = False
    gpu: bool = False
    remarks: list[str] = field(default_factory=list)

    @property
    def no_arguments(self) -> str:
        return f"`run` has no arguments: the program should run for a few seconds as {self.run}."


def suggest(folder: Path) -> tuple[str, tuple[str, ...]]:
    """(text of a chathpc.yaml for `folder`, remarks on what to look at). An existing file's text stays as it is, in front.

    UsageError if there is no source that can be built, or the file describes a project already: that is never replaced.
    """
    root = folder.resolve()
    if not root.is_dir():
        raise UsageError(f"{folder} is not a folder.", hint="Name the folder with the program's sources.")
    before = _existing(root, folder)
    every = sources(root, globs.chosen(root, ["*"], _ELSEWHERE))
    units = [one for one in every if one.unit]
    if not units:
        raise UsageError(
            f"{folder}: no C, C++, Fortran or CUDA source found.",
            hint=BY_HAND if any(root.glob("*.py")) else "Name the folder with the program's sources.",
        )
    found = _Found(
        units=units,
        openmp=any(one.openmp for one in every),
        mpi=any(one.mpi for one in every),
        gpu=any(one.language is Language.CUDA for one in units),
    )
    name = next((name for name in MAKEFILES if (root / name).is_file()), None)
    if name is not None:
        _from_makefile(found, _text(root / name))
    elif (root / CMAKE).is_file():
        _from_cmake(found, root)
    else:
        _from_sources(found, root)
    text = before + _written(found, every, root)
    _check_whole(before, text, folder)
    return text, tuple(found.remarks)


def _existing(root: Path, folder: Path) -> str:
    """The text that is there already, ready to be added to."""
    if describes_project(root):
        raise UsageError(
            f"{folder / FILE}: already describes a project; not changed.",
            hint=f"Change it there, or remove its key '{KEY}' first.",
        )
    if not (root / FILE).exists():
        return ""
    text = _text(root / FILE)
    return text if not text else text.rstrip("\n") + "\n\n"


def _check_whole(before: str, text: str, folder: Path) -> None:
    """What was there must mean the same afterwards: a file in braces, or one that ends in the middle of a text, cannot be added to."""
    import yaml

    try:
        old = yaml.safe_load(before) or {}
        new = yaml.safe_load(text)
        kept = isinstance(old, dict) and {key: value for key, value in new.items() if key != KEY} == old
    except (yaml.YAMLError, ValueError, AttributeError):
        kept = False
    if not kept:
        raise UsageError(
            f"{folder / FILE}: cannot be extended.",
            hint="Write its settings as lines of the form 'key: value'.",
        )


def _from_makefile(found: _Found, text: str) -> None:
    make = makefile(text)
    program, target = make.program()
    commands = make.compilers()
    found.openmp |= bool(re.search(r"-f?q?openmp\b|-mp\b", commands))
    found.mpi |= bool(re.search(r"\bmpi(?:cc|cxx|c\+\+|CC|fort|f90|f77|icc|icpc)\b", commands))
    found.flags = make.flags(_VARIABLES[_main_language(found.units)])
    handed = "" if found.flags is None else f' {found.flags[0]}="${found.flags[0]}"'
    # -B: what lies there may have been built with other flags, which make does not notice.
    made = f"{' ' + target if target else ''}{handed}"
    found.build = f"make clean && make{made}" if make.remakes_itself and make.cleans else f"make -B{made}"
    if found.flags is None:
        found.remarks.append(
            "No variable of the Makefile holds the compiler flags: `flags` is omitted, so they cannot be changed."
        )
    elif not re.search(r"-O", found.flags[1]):
        found.remarks.append(f"{found.flags[0]} does not optimise: check that `flags` is what you build with.")
    if make.uncertain:
        found.remarks.append(
            "The Makefile has includes or conditionals that were not followed: check `build` and `flags`."
        )
    if not program:
        found.remarks.append("The program that the Makefile builds is unknown: write it into `run`.")
    said = make.run(program)
    found.run = said or f"./{program or 'app'}"
    _split_run(found)
    found.remarks.append(
        f"`run` is what the Makefile runs: {found.run}. It should take a few seconds; write larger arguments if it does not."
        if said
        else found.no_arguments
    )


def _from_cmake(found: _Found, root: Path) -> None:
    lists = cmake(root)
    found.openmp |= lists.openmp
    found.mpi |= lists.mpi
    found.gpu |= "CUDA" in lists.languages
    variable = _VARIABLES[_main_language(found.units)]
    kind = lists.build_type.lower()
    found.flags = (variable, FLAGS.get(kind, FLAGS["release"]))
    if kind not in FLAGS:
        found.remarks.append("No CMAKE_BUILD_TYPE is set: `flags` are those of Release; write what you build with.")
    handed = " ".join(f'-DCMAKE_{language}_FLAGS="${variable}"' for language in lists.languages)
    found.build = f"cmake -S . -B {_BUILD_FOLDER} -DCMAKE_BUILD_TYPE=None {handed} && cmake --build {_BUILD_FOLDER} -j {len(os.sched_getaffinity(0))}"
    if len(lists.programs) != 1:
        what = f"{len(lists.programs)} programs ({', '.join(lists.programs[:5])})" if lists.programs else "no program"
        found.remarks.append(f"{CMAKE} names {what}: check `run`.")
    found.run = f"./{_BUILD_FOLDER}/{lists.programs[0] if lists.programs else 'app'}"
    found.remarks.append(found.no_arguments)


def _from_sources(found: _Found, root: Path) -> None:
    mains = [one for one in found.units if one.main]
    if not mains:
        raise UsageError(
            f"{root}: there is no Makefile, no {CMAKE}, and no source has a main program.",
            hint=f"Write {FILE} yourself; see docs/project.md.",
        )
    main = mains[0]
    if len(mains) > 1:
        found.remarks.append(
            f"{len(mains)} sources have a main program ({', '.join(one.path for one in mains[:5])}): {main.path} was taken."
        )
    included = {name for one in found.units for name in one.includes}
    others = [one for one in found.units if not one.main and one.path.rpartition("/")[2] not in included]
    found.units = in_order([main, *others])
    language = _main_language(found.units, link=True)
    compiler = _COMPILERS[language][found.mpi]
    variable = _VARIABLES[language]
    value = "-O2 -g" + (" -lineinfo" if language is Language.CUDA else "")
    if found.openmp:
        value += " -Xcompiler -fopenmp" if language is Language.CUDA else " -fopenmp"
    kinds = {one.language for one in found.units}
    libraries = [
        *(["-lstdc++"] if Language.CPP in kinds and language in (Language.C, Language.FORTRAN) else []),
        *(["-lm"] if any(one.math for one in found.units) else []),
        *(["-pthread"] if any(one.threads for one in found.units) and language is not Language.CUDA else []),
    ]
    program = re.sub(r"[^\w.-]", "-", Path(main.path).stem)
    files = [shlex.quote(one.path) for one in found.units]
    found.build = " ".join([compiler, f"${variable}", "-o", program, *files, *libraries])
    found.flags = (variable, value)
    found.run = f"./{program}"
    found.remarks += [
        f"There is no build file: `build` compiles {len(files)} source{'s' * (len(files) > 1)} at once; check it and the flags.",
        found.no_arguments,
    ]


def _split_run(found: _Found) -> None:
    """Take a launcher off the command that a recipe runs."""
    launched = re.match(r"(?P<launcher>(?:mpirun|mpiexec|srun)\s.*?)\s+(?P<run>\./.*)", found.run)
    if launched:
        found.launcher, found.run, found.mpi = launched["launcher"], launched["run"], True


def _main_language(units: list[Source], *, link: bool = False) -> Language:
    """That of most files; to link: of CUDA and Fortran the one that is there, gcc for C with C++ (it goes by the files' endings)."""
    counted = Counter(one.language for one in units)
    if link:
        for language in (Language.CUDA, Language.FORTRAN):
            if counted[language]:
                return language
        if counted[Language.C]:
            return Language.C
    return counted.most_common(1)[0][0]


def _written(found: _Found, every: list[Source], root: Path) -> str:
    """The lines of the key `project`."""
    cores = len(os.sched_getaffinity(0))
    units = {one.path for one in found.units}
    endings = sorted({f"*{Path(one.path).suffix}" for one in every})
    mains = [one.path for one in found.units if one.main] or sorted(units)[:1]
    protect = [pattern for pattern in PROTECTED if not any(globs.matches(path, [pattern]) for path in mains)]
    there = [pattern for pattern in protect if globs.chosen(root, [pattern], ALWAYS_PROTECTED)]
    there += [one for one in protect if one.startswith(("test", "check", "verify", "timer")) and one not in there]
    rows = [
        "# How this program is built, run and checked (docs/project.md). Commands are run in a sandbox, in copies of this folder.",
        f"{KEY}:",
        f"  build: {_scalar(found.build)}",
    ]
    if found.flags is not None:
        variable, value = found.flags
        rows += [
            "  # The variable that passes the compiler flags to `build`, and your current flags.",
            f"  flags: {{variable: {variable}, value: {_quoted(value)}}}",
        ]
    smaller = _NUMBER.sub(lambda number: str(max(int(number[0]) // 2, 1)), found.run)
    smaller += "" if smaller != found.run else " 100"
    rows += [
        "  # The run to time and profile: a few seconds long, with the arguments that matter to you.",
        f"  run: {_scalar(found.run)}",
        "  # Smaller runs whose output is checked too; {seed} becomes a fresh number, if the program takes a seed.",
        f"  # inputs: [{_quoted(smaller)}, {{name: fresh, run: {_quoted(smaller + ' {seed}')}}}]",
        "  # Files that a change may touch; a pattern without / applies to every folder.",
        f"  edit: [{', '.join(_quoted(one) for one in endings)}]",
        "  # Files that are never touched, whatever `edit` says: build files, tests, checkers, timers.",
        f"  protect: [{', '.join(_quoted(one) for one in there)}]",
    ]
    ignore = f", ignore: [{_quoted(_IGNORED_TIMES)}]" if any(one.times for one in every) else ""
    timed = (
        "  # Lines with times differ from run to run and are not compared: `ignore` lists regular expressions for them."
    )
    rows += [
        "  # What is compared: outputs (stdout, stderr or files) must agree with the original's within a tolerance.",
        *([timed] if ignore else []),
        f"  check: {{outputs: [stdout], relative: 1.0e-9{ignore}}}",
        "  # Your own checker rejects by a non-zero exit status: check: {command: ./verify result.dat}",
    ]
    if found.openmp:
        rows += [
            "  # Thread counts to check with: one, and the number of cores.",
            f"  threads: [1, {max(2, cores)}]",
        ]
    if found.mpi:
        launcher = found.launcher or (
            "srun -n 2" if shutil.which("srun") and not shutil.which("mpirun") else "mpirun -n 2"
        )
        rows += ["  # Prefix of the run's command; under Slurm: srun -n 2", f"  launcher: {_scalar(launcher)}"]
    if found.gpu:
        rows += ["  # The program needs a GPU.", "  gpu: true"]
    rows += [
        "  # Profiler: auto picks the best available; hpctoolkit, perf, nsys, ncu.",
        "  profile: {tool: auto}",
        "  # Limits of each build and run.",
        "  limits: {seconds: 10 min, memory: 16 GiB}",
    ]
    return "\n".join(rows) + "\n"


def _scalar(text: str) -> str:
    """The text as YAML, without quotes where it needs none."""
    import yaml

    try:
        if yaml.safe_load(f"key: {text}") == {"key": text}:
            return text
    except yaml.YAMLError:
        pass
    return _quoted(text)


def _quoted(text: str) -> str:
    """In single quotes, where YAML knows no escapes but the quote itself."""
    return "'" + " ".join(text.split()).replace("'", "''") + "'"


def _text(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            return stream.read(_LARGEST).decode("utf-8", "replace")
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}.", hint="Check its permissions.") from error
