# Charged particles in a magnetic bottle, Boris push.
# usage: main.py n_particles n_steps
import sys
import numpy as np

B0 = 1.0          # field on the axis at the midplane
L = 8.0           # mirror length
QM = 1.0          # charge / mass
DT = 0.05
E0 = np.array([0.0, 0.002, 0.0])   # weak transverse field


class Particle:
    def __init__(self, x, v):
        self.x = x
        self.v = v


def field(x):
    """Paraxial mirror field, div B = 0."""
    bz = B0 * (1.0 + (x[2] / L) ** 2)
    slope = -B0 * x[2] / L ** 2
    return np.array([slope * x[0], slope * x[1], bz])


def load_particles(n, seed=5):
    rng = np.random.default_rng(seed)
    x = rng.normal(0.0, 0.3, (n, 3))
    v = rng.normal(0.0, 0.5, (n, 3))
    return [Particle(x[i].copy(), v[i].copy()) for i in range(n)]


def push(parts, dt):
    h = 0.5 * QM * dt
    for p in parts:
        vm = p.v + h * E0
        t = h * field(p.x)
        s = 2.0 * t / (1.0 + np.dot(t, t))
        vp = vm + np.cross(vm, t)
        vm = vm + np.cross(vp, s)
        p.v = vm + h * E0
        p.x = p.x + dt * p.v


def diagnostics(parts):
    x = np.array([p.x for p in parts])
    v = np.array([p.v for p in parts])
    energy = 0.5 * (v ** 2).sum()
    trapped = int((np.abs(x[:, 2]) < L).sum())
    return energy, trapped, x.mean(axis=0)


def main():
    n, steps = int(sys.argv[1]), int(sys.argv[2])
    parts = load_particles(n)
    e0, _, _ = diagnostics(parts)
    for k in range(steps):
        push(parts, DT)
    e1, trapped, c = diagnostics(parts)
    print("energy %.8f -> %.8f   trapped %d of %d" % (e0, e1, trapped, n))
    print("centre of mass %.6f %.6f %.6f" % tuple(c))


if __name__ == "__main__":
    main()
