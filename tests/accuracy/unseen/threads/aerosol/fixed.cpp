// Sulphate chemistry and growth of aerosol in the columns of a latitude-longitude grid.
// Gas phase: SO2 + OH -> H2SO4 -> particles; OH and O3 by photolysis.
// Rosenbrock (ROS2) with step-size control in each cell; five minutes per step of the host model.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <vector>

constexpr int kSpecies = 4;   // SO2, H2SO4, OH, particle mass

struct Cell {
    double c[kSpecies];
    int substeps;
};

struct Rates {
    double source_oh, loss_oh, oxidation, condensation, emission;
};

static Rates rates_at(double sun, double lat)
{
    Rates k;
    k.source_oh = 3.0e-1 * sun + 1e-6;
    k.loss_oh = 40.0 * (0.01 + sun);
    k.oxidation = 2.0;
    k.condensation = 0.8;
    k.emission = 1e-3 * (1 + std::cos(2 * lat));
    return k;
}

static void derivative(const Rates &k, const double *c, double *f)
{
    double ox = k.oxidation * c[0] * c[2], cond = k.condensation * c[1] * std::cbrt(c[3] * c[3]);
    f[0] = k.emission - ox;
    f[1] = ox - cond;
    f[2] = k.source_oh - k.loss_oh * c[2] * (1 + c[2]) - ox;
    f[3] = cond - 0.01 * c[3];
}

// (1 - gamma h J) x = r, with J kept to the diagonal and the SO2-OH coupling
static void solve(const Rates &k, const double *c, double gh, const double *r, double *x)
{
    double j00 = -k.oxidation * c[2], j02 = -k.oxidation * c[0];
    double j20 = -k.oxidation * c[2], j22 = -k.loss_oh * (1 + 2 * c[2]) - k.oxidation * c[0];
    double a = 1 - gh * j00, b = -gh * j02, d = -gh * j20, e = 1 - gh * j22, det = a * e - b * d;
    x[0] = (r[0] * e - b * r[2]) / det;
    x[2] = (a * r[2] - d * r[0]) / det;
    x[1] = r[1] / (1 + gh * k.condensation * std::cbrt(c[3] * c[3]));
    x[3] = r[3] / (1 + gh * 0.01);
}

static void integrate(Cell &cell, const Rates &k, double span, double tol)
{
    const double gamma = 1.0 + 1.0 / std::sqrt(2.0);
    double t = 0, h = span;
    double f[kSpecies], k1[kSpecies], k2[kSpecies], y[kSpecies], r[kSpecies];
    while (t < span) {
        h = std::min(h, span - t);
        derivative(k, cell.c, f);
        solve(k, cell.c, gamma * h, f, k1);
        for (int s = 0; s < kSpecies; s++) y[s] = std::max(1e-12, cell.c[s] + h * k1[s]);
        derivative(k, y, f);
        for (int s = 0; s < kSpecies; s++) r[s] = f[s] - 2 * k1[s];
        solve(k, cell.c, gamma * h, r, k2);
        double err = 0;
        for (int s = 0; s < kSpecies; s++)
            err = std::max(err, std::fabs(0.5 * h * (k1[s] + k2[s])) / (tol * (1e-3 + std::fabs(cell.c[s]))));
        cell.substeps++;
        if (err <= 1.0 || h < 1e-6 * span) {
            for (int s = 0; s < kSpecies; s++)
                cell.c[s] = std::max(1e-12, cell.c[s] + h * (1.5 * k1[s] + 0.5 * k2[s]));
            t += h;
        }
        h *= std::clamp(0.9 / std::sqrt(err + 1e-10), 0.2, 3.0);
    }
}

int main(int argc, char **argv)
{
    const int nlon = argc > 1 ? std::atoi(argv[1]) : 96;
    const int nlat = argc > 2 ? std::atoi(argv[2]) : 48;
    const int steps = argc > 3 ? std::atoi(argv[3]) : 6;
    const int threads = argc > 4 ? std::atoi(argv[4]) : 2;
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);

    // equinox, start at 06 UTC; cells stored by meridian, eastward from Greenwich
    std::vector<Cell> grid((size_t)nlon * nlat, Cell{{0.05, 1e-4, 1e-5, 0.02}, 0});
    for (int step = 0; step < steps; step++) {
        const double utc = 6.0 + step / 12.0;
        auto meridians = [&](const tbb::blocked_range<int> &range) {
            for (int i = range.begin(); i < range.end(); i++) {
                const double local = utc + 24.0 * (i + 0.5) / nlon;
                for (int j = 0; j < nlat; j++) {
                    double lat = (-90.0 + 180.0 * (j + 0.5) / nlat) * M_PI / 180;
                    double sun = std::cos(lat) * -std::cos(local * M_PI / 12);
                    double tol = sun > 0 ? 1e-6 : 1e-4;
                    integrate(grid[(size_t)i * nlat + j], rates_at(std::max(0.0, sun), lat), 0.3, tol);
                }
            }
        };
        tbb::parallel_for(tbb::blocked_range<int>(0, nlon, 2), meridians, tbb::simple_partitioner());
    }

    double total[kSpecies] = {};
    for (const Cell &c : grid)
        for (int s = 0; s < kSpecies; s++) total[s] += c.c[s] / grid.size();
    std::printf("mean  SO2 %.6e  H2SO4 %.6e  OH %.6e  particles %.6e\n", total[0], total[1], total[2], total[3]);
    for (int i = 0; i < nlon; i += std::max(1, nlon / 12)) {
        const Cell *c = &grid[(size_t)i * nlat];
        double p = 0;
        long n = 0;
        for (int j = 0; j < nlat; j++) p += c[j].c[3], n += c[j].substeps;
        std::printf("lon %6.1f  particles %.6e  substeps %.2f\n", 360.0 * (i + 0.5) / nlon, p / nlat,
                    (double)n / nlat / steps);
    }
    return 0;
}
