"""Linear shallow-water waves over a sloping shelf, two or more MPI ranks.

Leapfrog on a staggered (Arakawa C) grid, strips of rows per rank. A Gaussian
uplift starts the wave; gauges near the coast record the surface.

usage: main.py NX NY STEPS
"""
import sys

import numpy as np
from mpi4py import MPI

GRAV = 9.81
DX = 500.0


class Strip:
    """Rows j0..j1 of the global grid with one ghost row on either side."""

    def __init__(self, comm, nx, ny):
        self.comm = comm
        self.rank, self.size = comm.Get_rank(), comm.Get_size()
        base, extra = divmod(ny, self.size)
        self.rows = base + (1 if self.rank < extra else 0)
        self.j0 = self.rank * base + min(self.rank, extra)
        self.nx, self.ny = nx, ny
        self.up = self.rank + 1 if self.rank + 1 < self.size else MPI.PROC_NULL
        self.down = self.rank - 1 if self.rank > 0 else MPI.PROC_NULL

        y, x = self.coords()
        self.depth = 50.0 + 3500.0 * np.clip(y / (ny * DX), 0.0, 1.0) + 0.0 * x
        self.eta = np.exp(-((x - 0.4 * nx * DX) ** 2 + (y - 0.6 * ny * DX) ** 2) / (12 * DX) ** 2)
        self.u = np.zeros((self.rows + 2, nx + 1))
        self.v = np.zeros((self.rows + 2, nx))

    def coords(self):
        y = (np.arange(self.rows + 2) + self.j0 - 0.5) * DX
        x = (np.arange(self.nx) + 0.5) * DX
        return y[:, None], x[None, :]

    def exchange(self, f, tag):
        """Fill the ghost rows of f from the neighbouring strips."""
        comm, n = self.comm, f.shape[1]
        reqs = []
        for i in range(n):
            reqs.append(comm.Irecv(f[0, i:i + 1], source=self.down, tag=tag + 2 * i))
            reqs.append(comm.Irecv(f[-1, i:i + 1], source=self.up, tag=tag + 2 * i + 1))
        for i in range(n):
            reqs.append(comm.Isend(f[-2, i:i + 1], dest=self.up, tag=tag + 2 * i))
            reqs.append(comm.Isend(f[1, i:i + 1], dest=self.down, tag=tag + 2 * i + 1))
        MPI.Request.Waitall(reqs)

    def momentum(self, dt):
        eta = self.eta
        self.u[:, 1:-1] -= GRAV * dt / DX * (eta[:, 1:] - eta[:, :-1])
        # v[j] lives on the face between rows j and j+1
        self.v[:-1] -= GRAV * dt / DX * (eta[1:] - eta[:-1])
        if self.down == MPI.PROC_NULL:
            self.v[0] = 0.0
        if self.up == MPI.PROC_NULL:
            self.v[-2] = 0.0

    def continuity(self, dt):
        h = self.depth
        hu = np.zeros_like(self.u)
        hu[:, 1:-1] = 0.5 * (h[:, 1:] + h[:, :-1]) * self.u[:, 1:-1]
        hv = 0.5 * (h[:-1] + h[1:]) * self.v[:-1]
        self.eta[1:-1] -= dt / DX * (hu[1:-1, 1:] - hu[1:-1, :-1] + hv[1:] - hv[:-1])

    def gauge(self, j, i):
        k = j - self.j0
        return float(self.eta[k + 1, i]) if 0 <= k < self.rows else 0.0

    def energy(self):
        e = 0.5 * GRAV * (self.eta[1:-1] ** 2).sum()
        k = 0.5 * (self.depth[1:-1] * self.v[1:-1] ** 2).sum()
        return np.array([e, k]) * DX * DX


def main():
    nx, ny, steps = (int(a) for a in sys.argv[1:4])
    comm = MPI.COMM_WORLD
    sea = Strip(comm, nx, ny)
    dt = 0.5 * DX / np.sqrt(GRAV * 3600.0)
    stations = [(ny // 20, nx // 4), (ny // 20, nx // 2), (ny // 10, 3 * nx // 4), (ny // 2, nx // 2)]
    record = np.zeros((steps, len(stations)))

    for n in range(steps):
        sea.exchange(sea.eta, tag=0)
        sea.momentum(dt)
        sea.continuity(dt)
        record[n] = [sea.gauge(j, i) for j, i in stations]

    total = np.zeros_like(record)
    comm.Reduce(record, total, root=0)
    energy = np.zeros(2)
    comm.Reduce(sea.energy(), energy, root=0)
    if comm.Get_rank() == 0:
        for s, (j, i) in enumerate(stations):
            k = int(np.argmax(np.abs(total[:, s])))
            print(f"gauge {s} at ({j},{i}): extreme {total[k, s]:+.6f} m after {k * dt:.1f} s")
        print(f"potential {energy[0]:.6e}  kinetic(v) {energy[1]:.6e}")


if __name__ == "__main__":
    main()
