"""Poisson problem in a periodic-in-y channel by damped Jacobi, slabs of rows
over the ranks; the residual is checked now and then.

    mpirun -n P python main.py N ITERATIONS
"""
import sys

import numpy as np
from mpi4py import MPI

CHECK = 100


def slab(n, rank, size):
    """First row and number of rows of this rank; sizes differ by at most 1."""
    base, extra = divmod(n, size)
    return rank * base + min(rank, extra), base + (rank < extra)


def exchange(comm, a, up, down):
    comm.Sendrecv(a[1], dest=up, sendtag=0,
                  recvbuf=a[-1], source=down, recvtag=0)
    comm.Sendrecv(a[-2], dest=down, sendtag=1,
                  recvbuf=a[0], source=up, recvtag=1)


def main():
    comm = MPI.COMM_WORLD
    rank, size = comm.rank, comm.size
    n, iters = int(sys.argv[1]), int(sys.argv[2])
    first, rows = slab(n, rank, size)
    up = rank - 1 if rank > 0 else MPI.PROC_NULL
    down = rank + 1 if rank < size - 1 else MPI.PROC_NULL

    h = 1.0 / (n + 1)
    x = (first + 1 + np.arange(rows)) * h
    y = np.arange(n) * h
    rhs = h * h * np.sin(np.pi * x)[:, None] * np.cos(2 * np.pi * y)[None, :]

    a = np.zeros((rows + 2, n))
    new = np.empty((rows, n))
    norm = 0.0
    for it in range(1, iters + 1):
        exchange(comm, a, up, down)
        np.add(a[2:], a[:-2], out=new)
        c = a[1:-1]
        new[:, 1:-1] += c[:, 2:]
        new[:, 1:-1] += c[:, :-2]
        new[:, 0] += c[:, 1] + c[:, -1]
        new[:, -1] += c[:, 0] + c[:, -2]
        new += rhs
        new *= 0.25
        if it % CHECK == 0:
            diff = new - c
            norm = comm.allreduce(float(np.vdot(diff, diff)), op=MPI.SUM)
        a[1:-1] = new

    total = comm.reduce(float((a[1:-1] ** 2).sum()), op=MPI.SUM, root=0)
    if rank == 0:
        print("solution norm %.10e  last update %.6e" % (np.sqrt(total), np.sqrt(norm)))


if __name__ == "__main__":
    main()
