"""Shallow water on a strip, domain split in x over the ranks.

    mpirun -n P python main.py N STEPS
"""
import sys

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

G, DEPTH, DX, DT = 9.81, 10.0, 1000.0, 20.0


class Block:
    """n rows in y, nloc columns in x and one ghost column on either side."""

    def __init__(self, n):
        self.n = n
        self.nloc = n // size + (1 if rank < n % size else 0)
        self.x0 = sum(n // size + (1 if r < n % size else 0)
                      for r in range(rank))
        self.h = np.zeros((n, self.nloc + 2))
        self.u = np.zeros_like(self.h)
        self.v = np.zeros_like(self.h)
        self.left = (rank - 1) % size
        self.right = (rank + 1) % size

    def bump(self):
        y = np.arange(self.n)[:, None] - self.n / 2
        x = np.arange(self.nloc)[None, :] + self.x0 - self.n / 2
        self.h[:, 1:-1] = np.exp(-(x * x + y * y) / (0.01 * self.n ** 2))


def fill_ghosts(b, a):
    """Periodic neighbours in x."""
    ghost = np.empty(b.n)
    comm.Sendrecv(np.ascontiguousarray(a[:, -2]), dest=b.right, sendtag=0,
                  recvbuf=ghost, source=b.left, recvtag=0)
    a[:, 0] = ghost
    comm.Sendrecv(np.ascontiguousarray(a[:, 1]), dest=b.left, sendtag=1,
                  recvbuf=ghost, source=b.right, recvtag=1)
    a[:, -1] = ghost


def step(b):
    c = DT / (2 * DX)
    fill_ghosts(b, b.h)
    b.u[:, 1:-1] -= G * c * (b.h[:, 2:] - b.h[:, :-2])
    b.v[1:-1] -= G * c * (b.h[2:] - b.h[:-2])
    b.v[0] = b.v[-1] = 0.0
    fill_ghosts(b, b.u)
    div = b.u[:, 2:] - b.u[:, :-2]
    div[1:-1] += b.v[2:, 1:-1] - b.v[:-2, 1:-1]
    b.h[:, 1:-1] -= DEPTH * c * div


def main():
    n, steps = int(sys.argv[1]), int(sys.argv[2])
    b = Block(n)
    b.bump()
    for _ in range(steps):
        step(b)
    inner = b.h[:, 1:-1]
    local = np.array([inner.sum(), (inner ** 2).sum()])
    total = np.zeros(2)
    comm.Reduce(local, total, op=MPI.SUM, root=0)
    if rank == 0:
        print("mass %.8f  variance %.8f" % tuple(total))


if __name__ == "__main__":
    main()
