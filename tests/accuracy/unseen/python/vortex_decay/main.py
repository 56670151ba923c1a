# Decaying two-dimensional turbulence, pseudo-spectral, RK2 with an
# integrating factor and the 2/3 rule.
#
#   python main.py N STEPS
import sys
import numpy as np

NU = 5e-4
DT = 5e-3


class Solver:
    def __init__(self, n):
        self.n = n
        kx = np.fft.rfftfreq(n, 1.0 / n)[None, :]
        ky = np.fft.fftfreq(n, 1.0 / n)[:, None]
        k2 = kx * kx + ky * ky
        self.ikx, self.iky = 1j * kx, 1j * ky
        inv = np.where(k2 > 0, 1.0 / np.where(k2 > 0, k2, 1.0), 0.0)
        # velocity from vorticity: u = d psi/dy, v = -d psi/dx
        self.to_u, self.to_v = self.iky * inv, -self.ikx * inv
        self.visc = np.exp(-NU * k2 * DT)
        keep = (np.abs(kx) < n / 3) & (np.abs(ky) < n / 3)
        self.ikx_d = self.ikx * keep
        self.iky_d = self.iky * keep

    def rhs(self, w):
        shape = (self.n, self.n)
        u = np.fft.irfft2(self.to_u * w, s=shape)
        v = np.fft.irfft2(self.to_v * w, s=shape)
        z = np.fft.irfft2(w, s=shape)
        u *= z
        v *= z
        out = self.ikx_d * np.fft.rfft2(u)
        out += self.iky_d * np.fft.rfft2(v)
        return np.negative(out, out=out)

    def step(self, w):
        a = self.rhs(w)
        b = self.rhs(self.visc * (w + DT * a))
        return self.visc * (w + 0.5 * DT * a) + 0.5 * DT * b


def initial(n):
    rng = np.random.default_rng(99)
    x = 2 * np.pi * np.arange(n) / n
    z = np.zeros((n, n))
    for _ in range(24):
        cx, cy = rng.uniform(0, 2 * np.pi, 2)
        dx = np.sin(0.5 * (x - cx)) ** 2
        dy = np.sin(0.5 * (x - cy)) ** 2
        z += rng.choice((-4.0, 4.0)) * np.exp(-30.0 * (dx[None, :] + dy[:, None]))
    z -= z.mean()
    return np.fft.rfft2(z)


def main():
    n, steps = int(sys.argv[1]), int(sys.argv[2])
    solver = Solver(n)
    w = initial(n)
    for _ in range(steps):
        w = solver.step(w)
    z = np.fft.irfft2(w, s=(n, n))
    print("enstrophy %.10f  max vorticity %.8f"
          % (0.5 * np.mean(z * z), np.abs(z).max()))


if __name__ == "__main__":
    main()
