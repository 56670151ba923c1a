// Heat conduction with freezing in the soil columns of a land-surface model.
// Each column: implicit step on a stretched vertical grid, apparent heat capacity,
// surface temperature from a diurnal and a seasonal wave.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

constexpr int kLayers = 32;

struct Column {
    double t[kLayers];
    double cond, porosity, mean, phase;
    double frost_depth;
};

struct Grid {
    double dz[kLayers], gap[kLayers];
    Grid()
    {
        for (int k = 0; k < kLayers; k++) dz[k] = 0.01 * std::pow(1.13, k);
        gap[0] = 0.5 * dz[0];
        for (int k = 1; k < kLayers; k++) gap[k] = 0.5 * (dz[k] + dz[k - 1]);
    }
};

static double heat_capacity(const Column &c, double t)
{
    const double width = 0.5, latent = 3.34e8;
    double a = t / width;
    double cap = 2.0e6;
    if (a > -1 && a < 1) cap += c.porosity * latent / width * 0.75 * (1 - a * a);
    return cap;
}

static void advance(Column &c, const Grid &g, double t_surface, double dt)
{
    double cp[kLayers], dp[kLayers];
    double up = c.cond / g.gap[0];
    for (int k = 0; k < kLayers; k++) {
        double down = k + 1 < kLayers ? c.cond / g.gap[k + 1] : 0.0;
        double cap = heat_capacity(c, c.t[k]) * g.dz[k] / dt;
        double a = -up, b = cap + up + down, r = cap * c.t[k];
        if (k == 0) {
            r += up * t_surface;
            cp[0] = -down / b;
            dp[0] = r / b;
        } else {
            double m = 1.0 / (b - a * cp[k - 1]);
            cp[k] = -down * m;
            dp[k] = (r - a * dp[k - 1]) * m;
        }
        up = down;
    }
    c.t[kLayers - 1] = dp[kLayers - 1];
    for (int k = kLayers - 2; k >= 0; k--) c.t[k] = dp[k] - cp[k] * c.t[k + 1];
    double depth = 0;
    for (int k = 0; k < kLayers && c.t[k] < 0; k++) depth += g.dz[k];
    if (depth > c.frost_depth) c.frost_depth = depth;
}

struct Forcing {
    double season, day;
    explicit Forcing(double hours)
        : season(std::cos(2 * M_PI * hours / 8766.0)), day(std::cos(2 * M_PI * hours / 24.0)) {}
    double at(const Column &c) const { return c.mean - 14.0 * season - 5.0 * day * c.phase; }
};

int main(int argc, char **argv)
{
    const int ncol = argc > 1 ? std::atoi(argv[1]) : 48;
    const int years = argc > 2 ? std::atoi(argv[2]) : 5;
    const int nthreads = argc > 3 ? std::atoi(argv[3]) : 2;
    const double hours_per_step = 1.0;
    const long steps = (long)(years * 8766.0 / hours_per_step);

    const Grid grid;
    std::vector<Column> land(ncol);
    for (int i = 0; i < ncol; i++) {
        Column &c = land[i];
        c.cond = 1.0 + 0.02 * (i % 37);
        c.porosity = 0.2 + 0.005 * (i % 41);
        c.mean = 8.0 - 0.2 * (i % 50);
        c.phase = 0.6 + 0.01 * (i % 29);
        c.frost_depth = 0;
        for (double &t : c.t) t = c.mean;
    }

    for (long s = 0; s < steps; s++) {
        const Forcing f(s * hours_per_step);
        std::vector<std::thread> team;
        for (int t = 0; t < nthreads; t++)
            team.emplace_back([&, t] {
                for (int i = ncol * t / nthreads; i < ncol * (t + 1) / nthreads; i++)
                    advance(land[i], grid, f.at(land[i]), 3600.0 * hours_per_step);
            });
        for (auto &th : team) th.join();
    }

    std::printf("column   T(surface)   T(bottom)   frost depth\n");
    for (int i = 0; i < ncol; i += ncol / 8)
        std::printf("%6d %12.5f %11.5f %13.4f\n", i, land[i].t[0], land[i].t[kLayers - 1],
                    land[i].frost_depth);
    return 0;
}
