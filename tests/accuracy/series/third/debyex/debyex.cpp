// Powder diffraction pattern of a relaxed nanoparticle by the Debye formula.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Atom { double x, y, z; };

static constexpr double kLattice = 4.078;   // gold, Angstrom

__attribute__((noinline)) std::vector<Atom> carveSphere(double radius) {
    static const double basis[4][3] = {{0, 0, 0}, {.5, .5, 0}, {.5, 0, .5}, {0, .5, .5}};
    std::vector<Atom> atoms;
    int m = (int)(radius / kLattice) + 1;
    for (int i = -m; i <= m; ++i)
        for (int j = -m; j <= m; ++j)
            for (int k = -m; k <= m; ++k)
                for (auto &b : basis) {
                    Atom a{(i + b[0]) * kLattice, (j + b[1]) * kLattice, (k + b[2]) * kLattice};
                    if (a.x * a.x + a.y * a.y + a.z * a.z <= radius * radius) atoms.push_back(a);
                }
    return atoms;
}

__attribute__((noinline)) void relaxSurface(std::vector<Atom> &atoms, double radius) {
    for (auto &a : atoms) {
        double r = std::sqrt(a.x * a.x + a.y * a.y + a.z * a.z);
        double s = 1.0 - 0.015 * std::exp((r - radius) / 2.0);
        a.x *= s; a.y *= s; a.z *= s;
    }
}

__attribute__((noinline)) double debyeSum(const std::vector<Atom> &atoms, double q) {
    size_t n = atoms.size();
    double sum = 0.0;
    for (size_t i = 0; i < n; ++i) {
        double part = 0.0;
        for (size_t j = i + 1; j < n; ++j) {
            double dx = atoms[i].x - atoms[j].x, dy = atoms[i].y - atoms[j].y,
                   dz = atoms[i].z - atoms[j].z;
            double qr = q * std::sqrt(dx * dx + dy * dy + dz * dz);
            part += std::sin(qr) / qr;
        }
        sum += part;
    }
    return 1.0 + 2.0 * sum / n;
}

__attribute__((noinline)) double formFactor(double q) {
    static const double a[4] = {16.882, 18.591, 25.558, 5.860};
    static const double b[4] = {0.461, 8.622, 1.483, 36.396};
    double s2 = q * q / (16.0 * M_PI * M_PI), f = 12.066;
    for (int k = 0; k < 4; ++k) f += a[k] * std::exp(-b[k] * s2);
    return f;
}

int main(int argc, char **argv) {
    double radius = argc > 1 ? std::atof(argv[1]) : 17.0;
    const int nq = 64;
    std::vector<double> pattern(nq);
    auto atoms = carveSphere(radius);
    relaxSurface(atoms, radius);
#pragma omp parallel for schedule(static, 1)
    for (int k = 0; k < nq; ++k) {
        double q = 1.5 + 0.07 * k;
        double f = formFactor(q);
        pattern[k] = f * f * debyeSum(atoms, q);
    }
    int top = 0;
    for (int k = 1; k < nq; ++k)
        if (pattern[k] > pattern[top]) top = k;
    std::printf("atoms %zu  strongest line at q = %.3f 1/A, intensity %.2f\n", atoms.size(),
                1.5 + 0.07 * top, pattern[top]);
    return 0;
}
