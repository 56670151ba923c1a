"""How files were compiled: command lines in a build's log, and the producer that debug information names."""

from __future__ import annotations

import re

from chathpc.profile.compiler import CompiledUnit
from chathpc.profile.languages import COMPILED
from chathpc.profile.text import clean

_COMPILER = re.compile(
    r"(?:^|[\s;&|(]|/)(?P<name>(?:[\w.-]{1,40}-)?(?:gcc|g\+\+|cc|c\+\+|CC|gfortran|ftn|clang|clang\+\+|flang|icx|icpx|ifx|icc|icpc|ifort"
    r"|nvc|nvc\+\+|nvfortran|pgcc|pgfortran|mpicc|mpicxx|mpic\+\+|mpiCC|mpif77|mpif90|mpifort|mpiicc|mpiicpc|mpiifort|mpiicx|mpiicpx|mpiifx|nvcc|hipcc"
    r"|amdclang|amdclang\+\+|armclang|armflang|craycc|crayCC|crayftn)(?:-\d{1,3}|\.openmpi|\.mpich)?)(?=\s)"
)
_SOURCE = re.compile(
    rf"(?<=[\s'\"=])(?P<file>[^\s'\"=]{{1,400}}\.(?i:{'|'.join(map(re.escape, sorted(COMPILED)))}))(?=['\"\s]|$)"
)
_LEVEL = re.compile(
    r"(?<=\s)-(?:O(?P<level>\d{1,3}|fast|s|z|g|max)?|(?P<device>G|-device-debug))(?=\s|$)|(?<=\s)-(?P<fast>fast)(?=\s|$)"
)
#: Floating-point arithmetic in another order, and the processor, unless it is the one that compilers take unasked.
_FLAGS = re.compile(
    r"(?<=\s)(?:-m(?:arch|cpu)=(?!(?:x86-64|armv8-a)(?:\s|$))[\w.+-]{1,60}|-xHost|-ffast-math|-fassociative-math)(?=\s|$)"
)
_STEP = re.compile(r"(?<=\s)-(?:c|o|dc|dw)(?=\s)")
_PRODUCER = re.compile(
    r"DW_AT_producer\s*(?::|\()\s*(?:\((?:indirect|alt|strp)[^)]{0,80}\):? ?)?\"?"
    r"(?P<text>GNU [^\"\n]{1,2000}|[\w ()]{0,40}clang version[^\"\n]{1,2000})"
)
_NAME = re.compile(
    r"DW_AT_name\s*(?::|\()\s*(?:\((?:indirect|alt|strp)[^)]{0,80}\):? ?)?\"?(?P<file>[^\s\"()][^\"()\n]{0,400}?)\s*\"?\)?$"
)
#: Longer lines are looked at up to here; the options stand in front of long lists of objects.
_LOOKED = 20_000


def unit_of(line: str) -> CompiledUnit | None:
    """How a line says that a file was compiled; None for a line that compiles nothing.

    What compilers do without -O is told by `defaults.optimises`. Of nvcc that is about host code: device code is optimised unless -G
    is given.
    """
    line = line[:_LOOKED]
    if "DW_AT_producer" in line:
        return _of_producer(line)
    if "." not in line or " " not in line.strip():
        return None
    compiler = _COMPILER.search(line[:2000])
    if compiler is None or not _STEP.search(line):
        return None
    source = _SOURCE.search(line, compiler.end())
    if source is None or line.lstrip().startswith("#"):
        return None
    name = compiler["name"]
    rest = line[compiler.end() :]
    options, optimised = _level(rest)
    if not options:
        optimised = optimises(name, line[: compiler.start("name")], rest)
    return CompiledUnit(clean(source["file"]), clean(name), optimised, options, "the command line", _flags(rest))


def is_source(file: str) -> bool:
    """True for the name of a source file that is compiled by itself, not a header."""
    return _SOURCE.fullmatch(f" {file}", 1) is not None


def named_by(line: str) -> str:
    """The source file that a line of debug information names; empty for other lines."""
    found = _NAME.search(line[:_LOOKED]) if "DW_AT_name" in line else None
    return clean(found["file"]) if found is not None else ""


def _of_producer(line: str) -> CompiledUnit | None:
    found = _PRODUCER.search(line)
    if found is None:
        return None
    text = found["text"]
    options, optimised = _level(f" {text}")
    name = " ".join(text.split()[:3])
    if not options and ("clang" in text or " -" not in text):
        return None  # no options are recorded: by Clang without -grecord-command-line, by GCC with -gno-record-gcc-switches
    return CompiledUnit("", clean(name)[:60], optimised, options, "the producer in its debug information", _flags(text))


def _flags(options: str) -> str:
    return clean(" ".join(_FLAGS.findall(options)))


def _level(options: str) -> tuple[str, bool | None]:
    """The last option for optimisation, and whether it optimises for speed: -O0 and none do not, -Og hardly."""
    found = ""
    device = False
    for match in _LEVEL.finditer(options):
        if match["device"] is not None:
            device = True
        else:
            found = match[0]
    if device:
        return "-G", False
    return found, found not in ("", "-O0", "-Og")


# -- what compilers do without an option -O, as their manuals say; None where no manual decides it ----------------
#
# | compiler | without -O | source |
# |---|---|---|
# | GCC, Clang, flang | not optimised | GCC manual, "Options that control optimization"; Clang command guide |
# | Intel icx, icpx, ifx and icc, icpc, ifort | -O2, but -O0 with -g | Intel compilers, developer guides, option O |
# | hipcc | -O3 | hipcc(1) |
# | nvcc | host code as by the host's compiler; device code -O3 | NVIDIA CUDA compiler driver, --optimize, --dopt, ptxas -O |
# | MPI's wrappers | as the compiler inside them, to which they add no level | Open MPI mpicc(1), MPICH mpicc(1) |
# | crayftn, craycc, NVIDIA's HPC compilers, AMD's, Arm's | not known here | |
#
# `cc`, `CC` and `ftn` are wrappers of whatever programming environment is loaded on a Cray, so without a path of the system's own
# nothing is known of them.

_VERSION = r"(?:-\d{1,3})?$"
_NOT_OPTIMISING = re.compile(rf"(?:^|-)(?:gcc|g\+\+|gfortran|clang|clang\+\+|flang|flang-new){_VERSION}")
_INTEL = re.compile(rf"^(?:icx|icpx|ifx|icc|icpc|ifort|mpiicc|mpiicpc|mpiifort|mpiicx|mpiicpx|mpiifx){_VERSION}")
_MPI = re.compile(r"^mpi(?:cc|cxx|c\+\+|CC|f77|f90|fort)(?:\.(?:openmpi|mpich))?$")
#: Options that only compilers have which are not GCC or Clang: Intel's, NVIDIA's, Cray's.
_OTHERS = re.compile(
    r"\s-(?:qopenmp|qopt|xHost|xCORE|ax[A-Z]|ipo|fp-model|M[a-z]|mp\b|acc\b|gpu=|h\s?[a-z]|e\s[mZ]|fast\b)"
)
_DEBUG = re.compile(r"\s-g(?:\s|$|[1-3]\b|gdb|dwarf)")
#: Options of nvcc that hand others on to the host's compiler.
_HANDED_ON = re.compile(r"\s(?:-Xcompiler|--compiler-options|-ccbin|--compiler-bindir)")


def optimises(name: str, before: str, options: str) -> bool | None:
    """Whether a compiler optimises host code without an option -O; `before` is what stands before its name in the command."""
    if _NOT_OPTIMISING.search(name):
        return False
    if name in ("cc", "c++"):  # the system's own: GCC or Clang
        return False if before.endswith(("/usr/bin/", "/usr/local/bin/", "/bin/")) else None
    if _INTEL.match(name):
        return _DEBUG.search(options) is None
    if name == "hipcc":
        return True
    if name == "nvcc":
        return None if _HANDED_ON.search(options) else False
    if _MPI.match(name):
        return None if _OTHERS.search(options) else False
    return None
