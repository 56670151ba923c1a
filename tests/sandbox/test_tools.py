"""Compilers, OpenMP, MPI and perf work inside, as root and as an ordinary user."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from chathpc.sandbox import Limits, Request, Sandbox
from tests.sandbox.test_escapes import ORDINARY, ROOT, WORKING, Caller, caller

__all__ = ["caller"]

HELLO = {
    "gcc": ("a.c", '#include <stdio.h>\nint main(void) { puts("hello"); }'),
    "g++": ("a.cpp", '#include <iostream>\nint main() { std::cout << "hello\\n"; }'),
    "gfortran": ("a.f90", 'program a\nwrite (*, "(a)") "hello"\nend program'),
}
SPIN = "#include <stdio.h>\nint main(void) { volatile double x = 1; for (long i = 0; i < 300000000; i++) x *= 1.0000001; return x < 0; }"
THREADS = """#include <stdio.h>
int main(void) { long s = 0;
#pragma omp parallel for reduction(+ : s)
for (long i = 1; i <= 1000000; i++) s += i;
printf("%ld\\n", s); }
"""
RANKS = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int c, char **v) { int r, n, s; static char b[4 << 20]; MPI_Init(&c, &v); MPI_Comm_rank(MPI_COMM_WORLD, &r);
MPI_Comm_size(MPI_COMM_WORLD, &n); MPI_Bcast(b, sizeof b, MPI_CHAR, 0, MPI_COMM_WORLD);
MPI_Allreduce(&r, &s, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); if (r == 0) printf("%d %d\\n", n, s); MPI_Finalize(); }
"""


def _needs(*programs: str) -> None:
    for program in programs:
        if shutil.which(program, path="/usr/local/bin:/usr/bin:/bin") is None:
            pytest.skip(f"there is no {program} here")


@pytest.mark.parametrize("compiler", HELLO)
def test_compilers_work(sandbox: Sandbox, folder: Path, compiler: str) -> None:
    _needs(compiler)
    name, source = HELLO[compiler]
    (folder / name).write_text(source)
    done = sandbox.run(Request(("/bin/sh", "-c", f"{compiler} -O2 -g {name} && ./a.out"), folder))
    assert done.stdout == b"hello\n", done.stderr


def test_openmp_works(sandbox: Sandbox, folder: Path) -> None:
    _needs("gcc")
    (folder / "a.c").write_text(THREADS)
    done = sandbox.run(
        Request(
            ("/bin/sh", "-c", "gcc -fopenmp a.c && ./a.out"),
            folder,
            environment={"OMP_NUM_THREADS": "4", "OMP_PROC_BIND": "true"},
        )
    )
    assert done.stdout == b"500000500000\n", done.stderr


def test_sanitizers_work(sandbox: Sandbox, folder: Path) -> None:
    _needs("gcc")
    (folder / "a.c").write_text(
        "#include <stdlib.h>\nint main(int c, char **v) { int *p = malloc(4 * c); return p[c + 1]; }"
    )
    # AddressSanitizer reserves 20 TiB of addresses and never touches them.
    done = sandbox.run(
        Request(("/bin/sh", "-c", "gcc -fsanitize=address a.c && ./a.out"), folder, limits=Limits(memory=1 << 62))
    )
    assert b"heap-buffer-overflow" in done.stderr


@pytest.fixture(params=[pytest.param(0, marks=pytest.mark.privileged, id="root"), pytest.param(ORDINARY, id="user")])
def uid(request: pytest.FixtureRequest, folder: Path) -> int:
    found = int(request.param)
    if found == 0 and not ROOT:
        pytest.skip("the tests are run by an ordinary user")
    if ROOT:
        os.chown(folder, found, found)
    return found


def _asked(caller: Caller, folder: Path, uid: int, shell: str) -> tuple[bytes, bytes]:
    job = {"sandbox": "bubblewrap", "uid": uid, "command": ["/bin/sh", "-c", shell], "folder": str(folder)}
    found = caller.ask(job | {"limits": {"seconds": 90.0}})
    assert "error" not in found
    return found["stdout"], found["stderr"]


def test_perf_records_in_bubblewrap(caller: Caller, folder: Path, uid: int) -> None:
    _needs("perf", "gcc")
    if "bubblewrap" not in WORKING:
        pytest.skip("bubblewrap does not work here")
    (folder / "a.c").write_text(SPIN)
    shell = (
        "gcc -O1 -g a.c && perf record -e cpu-clock -g -o p.data ./a.out && perf script -i p.data | grep -c cpu-clock"
    )
    out, error = _asked(caller, folder, uid, shell)
    assert int(out.split()[-1]) > 50, error


def test_mpi_runs_two_ranks_in_bubblewrap(caller: Caller, folder: Path, uid: int) -> None:
    _needs("mpirun", "mpicc")
    if "bubblewrap" not in WORKING:
        pytest.skip("bubblewrap does not work here")
    (folder / "a.c").write_text(RANKS)
    out, error = _asked(caller, folder, uid, "mpicc a.c && mpirun -n 2 ./a.out")
    assert out == b"2 1\n", error
