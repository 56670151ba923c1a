// Density matrices of a disordered tight-binding sheet by trace-correcting (SP2) purification.
#include <cblas.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

class SymMatrix {
    int n_;
    std::vector<double> v_;
public:
    explicit SymMatrix(int n) : n_(n), v_(size_t(n) * n) {}
    int size() const { return n_; }
    double *data() { return v_.data(); }
    const double *data() const { return v_.data(); }
    double &operator()(int i, int j) { return v_[size_t(i) * n_ + j]; }
    double operator()(int i, int j) const { return v_[size_t(i) * n_ + j]; }
    double trace() const {
        double t = 0;
        for (int i = 0; i < n_; i++) t += (*this)(i, i);
        return t;
    }
};

static SymMatrix hamiltonian(int nx, int ny, double disorder, unsigned seed) {
    SymMatrix h(nx * ny);
    std::mt19937 rng(seed);
    std::uniform_real_distribution<double> eps(-disorder, disorder);
    auto at = [&](int x, int y) { return ((x + nx) % nx) * ny + (y + ny) % ny; };
    for (int x = 0; x < nx; x++)
        for (int y = 0; y < ny; y++) {
            int i = at(x, y);
            h(i, i) = eps(rng) + ((x + y) % 2 ? 0.6 : -0.6);
            for (int j : {at(x + 1, y), at(x, y + 1)}) h(i, j) = h(j, i) = -1.0;
            for (int j : {at(x + 1, y + 1), at(x + 1, y - 1)}) h(i, j) = h(j, i) = -0.15;
        }
    return h;
}

static void gershgorin(const SymMatrix &h, double &lo, double &hi) {
    lo = 1e30, hi = -1e30;
    for (int i = 0; i < h.size(); i++) {
        double r = 0;
        for (int j = 0; j < h.size(); j++) r += std::fabs(h(i, j));
        r -= std::fabs(h(i, i));
        lo = std::min(lo, h(i, i) - r);
        hi = std::max(hi, h(i, i) + r);
    }
}

// upper triangle of x*x
static void square(const SymMatrix &x, SymMatrix &x2) {
    const int n = x.size();
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasNoTrans, n, n, 1.0, x.data(), n, 0.0, x2.data(), n);
}

// x <- a*x + b*x2 in the upper triangle, then reflect it
static void combine(SymMatrix &x, const SymMatrix &x2, double a, double b) {
    const int n = x.size(), B = 64;
    for (int ib = 0; ib < n; ib += B)
        for (int jb = ib; jb < n; jb += B) {
            const int ie = std::min(ib + B, n), je = std::min(jb + B, n);
            for (int i = ib; i < ie; i++)
                for (int j = std::max(i, jb); j < je; j++) x(i, j) = a * x(i, j) + b * x2(i, j);
            for (int j = jb; j < je; j++)
                for (int i = ib; i < std::min(ie, j); i++) x(j, i) = x(i, j);
        }
}

struct Outcome {
    int iterations;
    double energy, electrons, spread;
};

static Outcome solve(const SymMatrix &h, double ne) {
    const int n = h.size();
    double lo, hi;
    gershgorin(h, lo, hi);
    SymMatrix x(n), x2(n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) x(i, j) = ((i == j ? hi : 0.0) - h(i, j)) / (hi - lo);
    Outcome o{};
    double tr = x.trace();
    for (o.iterations = 0; o.iterations < 100; o.iterations++) {
        square(x, x2);
        double tr2 = x2.trace();
        o.spread = tr - tr2;
        if (std::fabs(o.spread) < 1e-9) break;
        if (std::fabs(tr2 - ne) < std::fabs(2 * tr - tr2 - ne))
            combine(x, x2, 0.0, 1.0);
        else
            combine(x, x2, 2.0, -1.0);
        tr = x.trace();
    }
    o.electrons = tr;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) o.energy += x(i, j) * h(i, j);
    return o;
}

int main(int argc, char **argv) {
    int nx = argc > 1 ? std::atoi(argv[1]) : 40, ny = argc > 2 ? std::atoi(argv[2]) : 32;
    int realisations = argc > 3 ? std::atoi(argv[3]) : 4;
    double mean = 0;
    for (int r = 0; r < realisations; r++) {
        SymMatrix h = hamiltonian(nx, ny, 0.4, 100 + r);
        Outcome o = solve(h, nx * ny / 2);
        std::string line = "realisation " + std::to_string(r) + ": " + std::to_string(o.iterations) + " iterations";
        std::printf("%s  E=%.8f  N=%.6f  spread=%.1e\n", line.c_str(), o.energy, o.electrons, o.spread);
        mean += o.energy / realisations;
    }
    std::printf("mean energy per site %.8f\n", mean / (nx * ny));
}
