// Discrete ordinates transport of neutrons through a slab shield, source
// iteration with linear cells divided among ranks.
#include <mpi.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kAngles = 32;
constexpr int kCells = 12000;

struct Slab {
    int rank, size, first, count;
    std::vector<double> sigT, sigS, flux, source;
};

static double mu(int m) { return (m + 0.5) / kAngles; }

__attribute__((noinline)) void layout(Slab &s) {
    s.first = (int)((long)kCells * s.rank / s.size);
    s.count = (int)((long)kCells * (s.rank + 1) / s.size) - s.first;
    s.sigT.resize(s.count);
    s.sigS.resize(s.count);
    s.flux.assign(s.count, 0.0);
    s.source.assign(s.count, 0.0);
    for (int i = 0; i < s.count; ++i) {
        double x = (s.first + i) / (double)kCells;
        s.sigT[i] = 1.0 + 0.5 * std::sin(40.0 * x);
        s.sigS[i] = 0.6 * s.sigT[i];
    }
}

__attribute__((noinline)) void collisionSource(Slab &s) {
    for (int i = 0; i < s.count; ++i) {
        double x = (s.first + i + 0.5) / kCells, resonance = 0.0;
        for (int g = 0; g < 12; ++g) resonance += std::exp(-0.5 * g - 2.0 * x);
        s.source[i] = 0.5 * (s.sigS[i] * s.flux[i] + 0.1 * resonance);
    }
}

__attribute__((noinline)) void sweep(Slab &s, int direction) {
    double psi[kAngles];
    int from = s.rank - direction, to = s.rank + direction;
    if (from >= 0 && from < s.size)
        MPI_Recv(psi, kAngles, MPI_DOUBLE, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        for (int m = 0; m < kAngles; ++m) psi[m] = direction > 0 ? 1.0 : 0.0;
    const double dx = 20.0 / kCells;
    for (int k = 0; k < s.count; ++k) {
        int i = direction > 0 ? k : s.count - 1 - k;
        double sum = 0.0;
        for (int m = 0; m < kAngles; ++m) {
            double a = 2.0 * mu(m) / dx;
            double mid = (s.source[i] + a * psi[m]) / (a + s.sigT[i]);
            psi[m] = std::fmax(0.0, 2.0 * mid - psi[m]);
            sum += mid;
        }
        s.flux[i] += sum / kAngles;
    }
    if (to >= 0 && to < s.size) MPI_Send(psi, kAngles, MPI_DOUBLE, to, 7, MPI_COMM_WORLD);
}

__attribute__((noinline)) double fluxNorm(const Slab &s) {
    double local = 0.0, total = 0.0;
    for (double f : s.flux) local += f * f;
    MPI_Allreduce(&local, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return std::sqrt(total / kCells);
}

int main(int argc, char **argv) {
    Slab s;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &s.size);
    int iterations = argc > 1 ? std::atoi(argv[1]) : 250;
    layout(s);
    double norm = 0.0;
    for (int it = 0; it < iterations; ++it) {
        collisionSource(s);
        s.flux.assign(s.count, 0.0);
        sweep(s, +1);
        sweep(s, -1);
        norm = fluxNorm(s);
    }
    if (s.rank == 0) std::printf("iterations %d  flux norm %.8f\n", iterations, norm);
    MPI_Finalize();
    return 0;
}
