"""Salt transport through a layered sediment, implicit finite volumes.

Steady groundwater flow carries brine from a leaking cavern; decay and
sorption are linear. Backward Euler in time, upwind in space.
"""
import sys

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

DEPTH = 60.0
LENGTH = 180.0


def permeability(nz, nx):
    layer = np.array([1.0, 0.2, 3.0, 0.05, 0.8])
    k = layer[(np.arange(nz) * layer.size) // nz]
    lens = np.ones((nz, nx))
    lens[nz // 3: nz // 2, nx // 4: nx // 2] = 2.5
    return k[:, None] * lens


def transport_operator(perm, hx, hz, disp=0.6, decay=2e-3):
    nz, nx = perm.shape
    idx = np.arange(nz * nx).reshape(nz, nx)
    rows, cols, vals = [], [], []

    def couple(a, b, d, q):
        """Face between cells a and b with conductance d, flux q from a to b."""
        up = np.maximum(q, 0.0)
        down = np.minimum(q, 0.0)
        for r, c, v in ((a, a, d + up), (a, b, -d + down), (b, b, d - down), (b, a, -d - up)):
            rows.append(r.ravel())
            cols.append(c.ravel())
            vals.append(np.broadcast_to(v, r.shape).ravel())

    kx = 2.0 / (1.0 / perm[:, 1:] + 1.0 / perm[:, :-1])
    couple(idx[:, :-1], idx[:, 1:], disp * kx * hz / hx, 0.35 * kx * hz)
    kz = 2.0 / (1.0 / perm[1:, :] + 1.0 / perm[:-1, :])
    couple(idx[:-1, :], idx[1:, :], disp * kz * hx / hz, 0.05 * kz * hx)

    n = nz * nx
    A = sparse.coo_matrix((np.concatenate(vals), (np.concatenate(rows), np.concatenate(cols))), shape=(n, n))
    outflow = np.zeros((nz, nx))
    outflow[:, -1] = 0.35 * perm[:, -1] * hz
    outflow[-1, :] += 0.05 * perm[-1, :] * hx
    return (A + sparse.diags(outflow.ravel() + decay * hx * hz)).tocsc()


class SedimentModel:
    def __init__(self, nz, nx, dt):
        self.hx = LENGTH / nx
        self.hz = DEPTH / nz
        self.dt = dt
        self.shape = (nz, nx)
        self.perm = permeability(nz, nx)
        self.volume = self.hx * self.hz
        A = transport_operator(self.perm, self.hx, self.hz)
        self.M = (sparse.identity(nz * nx, format="csc") * self.volume + dt * A).tocsc()
        self.lu = splu(self.M)
        self.source_cell = (nz // 4) * nx + nx // 8
        self.c = np.zeros(nz * nx)

    def leak(self, t):
        return 4.0 * np.exp(-t / 40.0) * (1.0 + 0.3 * np.sin(0.4 * t))

    def advance(self, t):
        b = self.volume * self.c
        b[self.source_cell] += self.dt * self.leak(t)
        self.c = self.lu.solve(b)

    def probes(self):
        f = self.c.reshape(self.shape)
        nz, nx = self.shape
        return f[nz // 4, nx // 2], f[nz // 2, nx // 2], f[nz // 2, -2]


def main():
    nz = int(sys.argv[1]) if len(sys.argv) > 1 else 80
    nx = int(sys.argv[2]) if len(sys.argv) > 2 else 160
    nsteps = int(sys.argv[3]) if len(sys.argv) > 3 else 60
    model = SedimentModel(nz, nx, dt=0.5)
    for n in range(nsteps):
        model.advance((n + 1) * model.dt)
        if (n + 1) % (nsteps // 5) == 0:
            a, b, c = model.probes()
            mass = model.c.sum() * model.volume
            print(f"t={(n + 1) * model.dt:7.2f}  mass={mass:.6f}  wells {a:.6e} {b:.6e} {c:.6e}")


if __name__ == "__main__":
    main()
