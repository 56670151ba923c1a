// Density matrix of a tight-binding chain by canonical purification of the Hamiltonian.
// usage: main [orbitals] [occupied] [max iterations]
#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

class Matrix {
public:
    explicit Matrix(int n) : n_(n), a_(static_cast<std::size_t>(n) * n, 0.0) {}
    int order() const { return n_; }
    double& operator()(int i, int j) { return a_[static_cast<std::size_t>(j) * n_ + i]; }
    double operator()(int i, int j) const { return a_[static_cast<std::size_t>(j) * n_ + i]; }
    double* data() { return a_.data(); }
    const double* data() const { return a_.data(); }
    std::size_t size() const { return a_.size(); }

private:
    int n_;
    std::vector<double> a_;
};

void multiply(const Matrix& a, const Matrix& b, Matrix& c) {
    const int n = a.order();
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0, a.data(), n, b.data(), n, 0.0, c.data(), n);
}

double trace(const Matrix& a) {
    double t = 0.0;
    for (int i = 0; i < a.order(); ++i) t += a(i, i);
    return t;
}

double traceOfProduct(const Matrix& a, const Matrix& b) {
    return cblas_ddot(static_cast<int>(a.size()), a.data(), 1, b.data(), 1);
}

Matrix hamiltonian(int n) {
    Matrix h(n);
    unsigned seed = 20;
    for (int j = 0; j < n; ++j) {
        seed = seed * 1664525u + 1013904223u;
        h(j, j) = (j & 1 ? 0.9 : -0.9) + 0.3 * (double(seed >> 8) / 16777216.0 - 0.5);
        for (int d = 1; d <= 6; ++d)
            if (j + d < n) h(j + d, j) = h(j, j + d) = -1.0 * std::exp(-1.1 * (d - 1)) * (d & 1 ? 1.0 : 0.2);
    }
    return h;
}

struct Bounds {
    double low, high;
};

Bounds gershgorin(const Matrix& h) {
    Bounds b{1e30, -1e30};
    for (int j = 0; j < h.order(); ++j) {
        double r = -std::fabs(h(j, j));
        for (int i = 0; i < h.order(); ++i) r += std::fabs(h(i, j));
        b.low = std::min(b.low, h(j, j) - r);
        b.high = std::max(b.high, h(j, j) + r);
    }
    return b;
}

Matrix initialGuess(const Matrix& h, int occupied) {
    const int n = h.order();
    const Bounds b = gershgorin(h);
    const double mu = trace(h) / n;
    const double filling = double(occupied) / n;
    const double lambda = std::min(filling / (b.high - mu), (1.0 - filling) / (mu - b.low));
    Matrix p(n);
    for (std::size_t k = 0; k < p.size(); ++k) p.data()[k] = -lambda * h.data()[k];
    for (int i = 0; i < n; ++i) p(i, i) += lambda * mu + filling;
    return p;
}

struct Report {
    int iterations = 0;
    double idempotency = 0.0;
};

// Palser and Manolopoulos' iteration at fixed electron number
Report purify(Matrix& p, int limit, double tolerance) {
    Matrix p2(p.order()), p3(p.order());
    Report r;
    for (r.iterations = 0; r.iterations < limit; ++r.iterations) {
        multiply(p, p, p2);
        multiply(p, p2, p3);
        const double t1 = trace(p), t2 = trace(p2), t3 = trace(p3);
        r.idempotency = (t1 - t2) / p.order();
        if (r.idempotency < tolerance) break;
        const double c = (t2 - t3) / (t1 - t2);
        double a1, a2, a3;
        if (c <= 0.5) {
            a1 = (1.0 - 2.0 * c) / (1.0 - c);
            a2 = (1.0 + c) / (1.0 - c);
            a3 = -1.0 / (1.0 - c);
        } else {
            a1 = 0.0;
            a2 = (1.0 + c) / c;
            a3 = -1.0 / c;
        }
        double* x = p.data();
        const double *y = p2.data(), *z = p3.data();
        for (std::size_t k = 0; k < p.size(); ++k) x[k] = a1 * x[k] + a2 * y[k] + a3 * z[k];
    }
    return r;
}

int main(int argc, char** argv) {
    const int n = argc > 1 ? std::atoi(argv[1]) : 1200;
    const int occupied = argc > 2 ? std::atoi(argv[2]) : n / 2;
    const int limit = argc > 3 ? std::atoi(argv[3]) : 40;

    const Matrix h = hamiltonian(n);
    Matrix p = initialGuess(h, occupied);
    const Report r = purify(p, limit, 1e-10);
    std::printf("orbitals %d, electrons %.6f\n", n, 2.0 * trace(p));
    std::printf("iterations %d, idempotency error %.1e\n", r.iterations, std::fabs(r.idempotency));
    std::printf("band energy %.8f\n", 2.0 * traceOfProduct(p, h));
    std::printf("bond order at centre %.8f\n", 2.0 * p(n / 2, n / 2 + 1));
    return 0;
}
