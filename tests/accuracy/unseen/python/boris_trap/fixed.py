# Charged particles in a magnetic bottle, Boris push.
# usage: main.py n_particles n_steps
import sys
import numpy as np

B0 = 1.0          # field on the axis at the midplane
L = 8.0           # mirror length
QM = 1.0          # charge / mass
DT = 0.05
E0 = np.array([0.0, 0.002, 0.0])   # weak transverse field


def field(x):
    """Paraxial mirror field, div B = 0."""
    b = np.empty_like(x)
    z = x[:, 2]
    slope = -B0 * z / L ** 2
    b[:, 0] = slope * x[:, 0]
    b[:, 1] = slope * x[:, 1]
    b[:, 2] = B0 * (1.0 + (z / L) ** 2)
    return b


def load_particles(n, seed=5):
    rng = np.random.default_rng(seed)
    x = rng.normal(0.0, 0.3, (n, 3))
    v = rng.normal(0.0, 0.5, (n, 3))
    return x, v


def push(x, v, dt):
    h = 0.5 * QM * dt
    vm = v + h * E0
    t = h * field(x)
    s = 2.0 * t / (1.0 + (t * t).sum(axis=1, keepdims=True))
    vp = vm + np.cross(vm, t)
    vm = vm + np.cross(vp, s)
    v[:] = vm + h * E0
    x += dt * v


def diagnostics(x, v):
    energy = 0.5 * (v ** 2).sum()
    trapped = int((np.abs(x[:, 2]) < L).sum())
    return energy, trapped, x.mean(axis=0)


def main():
    n, steps = int(sys.argv[1]), int(sys.argv[2])
    x, v = load_particles(n)
    e0, _, _ = diagnostics(x, v)
    for k in range(steps):
        push(x, v, DT)
    e1, trapped, c = diagnostics(x, v)
    print("energy %.8f -> %.8f   trapped %d of %d" % (e0, e1, trapped, n))
    print("centre of mass %.6f %.6f %.6f" % tuple(c))


if __name__ == "__main__":
    main()
