# ruff: noqa: E501
"""Programs of Fortran and with MPI in which a recipe would be wrong, each with the reason."""

from __future__ import annotations

from tests.fix.recipes.near_misses import Miss, f90

_MPI = "#include <mpi.h>\n#include <stdio.h>\n#include <stdlib.h>\nstatic int rank, size;\n"
_MAIN = "int main(int argc, char **argv) { MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank); MPI_Comm_size(MPI_COMM_WORLD, &size); f(9); MPI_Finalize(); }\n"


def mpi(why: str, recipe: str, body: str) -> Miss:
    """A near miss in C with MPI."""
    lines = (
        body.replace("{ ", "{\n").replace("; ", ";\n").replace(" }", "\n}")
    )  # a statement a line, as recipes move lines
    return Miss(why, recipe, "c", _MPI + lines + _MAIN)


LEFT_ALONE = (
    f90("recursive", "fortran-keep-array", 'recursive subroutine s(n, a)\n integer, intent(in) :: n\n real, intent(inout) :: a(n)\n real, allocatable :: w(:), b(:)\n allocate (w(n))\n w = 2\n a = a*w\nend subroutine\n'),
    f90("pure", "fortran-keep-array", 'pure subroutine s(n, a)\n integer, intent(in) :: n\n real, intent(inout) :: a(n)\n real, allocatable :: w(:), b(:)\n allocate (w(n))\n w = 2\n a = a*w\nend subroutine\n'),
    f90("moved to another", "fortran-keep-array", 'subroutine s(n, a)\n integer, intent(in) :: n\n real, intent(inout) :: a(n)\n real, allocatable :: w(:), b(:)\n allocate (w(n))\n w = 2\n a = a*w\n call move_alloc(w, b)\nend subroutine\n'),
    f90("threads", "fortran-keep-array", 'subroutine s(n, a)\n integer, intent(in) :: n\n real, intent(inout) :: a(n)\n real, allocatable :: w(:), b(:)\n allocate (w(n))\n w = 2\n a = a*w\n !$omp parallel\n a = 1\n !$omp end parallel\nend subroutine\n'),
    mpi("counter of the sends is used by the work", "send-early", 'static double e[99], c[99];\nstatic void work(int n) { for (int i = 0; i < n; i++) c[i] += 1; }\nvoid f(int n) { int to = n; if (rank == 0) { work(to); for (to = 1; to < size; to++) MPI_Send(e, 99, MPI_DOUBLE, to, 3, MPI_COMM_WORLD); } else MPI_Recv(e, 99, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }\n'),
    mpi("work tells how many are sent to", "send-early", 'static double e[99];\nstatic int many;\nstatic void work(void) { for (int i = 0; i < 99; i++) many += i == 1; }\nvoid f(int n) { if (rank == 0) { work(); for (int to = 1; to < many; to++) MPI_Send(e, 99, MPI_DOUBLE, to, 3, MPI_COMM_WORLD); } else MPI_Recv(e, 99, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }\n'),
    mpi("work goes between the sends", "send-early", 'static double e[99], c[99];\nstatic void work(int n) { for (int i = 0; i < n; i++) c[i] += 1; }\nvoid f(int n) { if (rank == 0) { for (int to = 1; to < size; to++) { e[0] += 1; MPI_Send(e, 99, MPI_DOUBLE, to, 3, MPI_COMM_WORLD); } } else MPI_Recv(e, 99, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }\n'),
    mpi("what is sent is changed through a pointer", "send-early", 'static double e[99];\nstatic void work(double *p) { for (int i = 0; i < 99; i++) *p += i; }\nvoid f(int n) { if (rank == 0) { work(&e[3]); for (int to = 1; to < size; to++) MPI_Send(e, 99, MPI_DOUBLE, to, 3, MPI_COMM_WORLD); } else MPI_Recv(e, 99, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }\n'),
    mpi("sends in both branches of what the work decides", "send-early", 'static double e[99], c[99];\nstatic void work(void) { for (int i = 0; i < 99; i++) c[i] += 1; }\nvoid f(int n) { if (rank == 0) { work(); if (c[3] > 2) MPI_Send(e, 9, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD); else MPI_Send(e, 99, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD); } else if (rank == 1) MPI_Recv(e, 99, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }\n'),
    mpi("work changes what is sent", "send-early", 'static double e[99], c[99];\nstatic void work(void) { for (int i = 0; i < 99; i++) e[i] += 1; }\nvoid f(int n) { if (rank == 0) { work(); MPI_Send(e, 99, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD); } else if (rank == 1) MPI_Recv(e, 99, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }\n'),
    mpi("work prints", "send-early", 'static double e[99], c[99];\nstatic void work(void) { for (int i = 0; i < 99; i++) printf("%d", i); }\nvoid f(int n) { if (rank == 0) { work(); MPI_Send(e, 99, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD); } else if (rank == 1) MPI_Recv(e, 99, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }\n'),
    mpi("number sent is computed", "send-early", 'static double e[99], c[99];\nstatic void work(void) { for (int i = 0; i < 99; i++) c[i] += 1; }\nvoid f(int n) { if (rank == 0) { n = 3; work(); e[0] = n; MPI_Send(e, 99, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD); } else if (rank == 1) MPI_Recv(e, 99, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }\n'),
    mpi("may return", "send-early", 'static double e[99], c[99];\nstatic void work(void) { for (int i = 0; i < 99; i++) c[i] += 1; }\nvoid f(int n) { if (rank == 0) { for (int i = 0; i < n; i++) if (c[i] > 3) return; MPI_Send(e, 99, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD); } else if (rank == 1) MPI_Recv(e, 99, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }\n'),
    mpi("from anybody", "drop-barriers", 'static double c[99];\nvoid f(int n) { for (int t = 0; t < n; t++) { MPI_Recv(c, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); MPI_Barrier(MPI_COMM_WORLD); } }\n'),
    mpi("all print", "drop-barriers", 'static double c[99];\nvoid f(int n) { for (int t = 0; t < n; t++) { printf("%d", rank); MPI_Barrier(MPI_COMM_WORLD); } }\n'),
    mpi("files", "drop-barriers", 'static double c[99];\nvoid f(int n) { for (int t = 0; t < n; t++) { FILE *o = fopen("x", "a"); fclose(o); MPI_Barrier(MPI_COMM_WORLD); } }\n'),
    mpi("window", "drop-barriers", 'static double c[99];\nvoid f(int n) { for (int t = 0; t < n; t++) { MPI_Win_fence(0, MPI_WIN_NULL); MPI_Barrier(MPI_COMM_WORLD); } }\n'),
)  # fmt: skip
