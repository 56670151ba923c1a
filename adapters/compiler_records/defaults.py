"""What compilers do without an option -O, as their manuals say; None where no manual decides it.

| compiler | without -O | source |
|---|---|---|
| GCC, Clang, flang | not optimised | GCC manual, "Options that control optimization"; Clang command guide |
| Intel icx, icpx, ifx and icc, icpc, ifort | -O2, but -O0 with -g | Intel compilers, developer guides, option O |
| hipcc | -O3 | hipcc(1) |
| nvcc | host code as by the host's compiler; device code -O3 | NVIDIA CUDA compiler driver, --optimize, --dopt, ptxas -O |
| MPI's wrappers | as the compiler inside them, to which they add no level | Open MPI mpicc(1), MPICH mpicc(1) |
| crayftn, craycc, NVIDIA's HPC compilers, AMD's, Arm's | not known here | |

`cc`, `CC` and `ftn` are wrappers of whatever programming environment is loaded on a Cray, so without a path of the system's own
nothing is known of them.
"""

from __future__ import annotations

import re

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
