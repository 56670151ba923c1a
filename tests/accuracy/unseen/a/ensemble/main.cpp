#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <vector>
#include <omp.h>

template <class T>
class Grid {
public:
    Grid(int rows, int cols) : cols_(cols), data_(static_cast<std::size_t>(rows) * cols) {}
    T* row(int r) { return data_.data() + static_cast<std::size_t>(r) * cols_; }
    const T* row(int r) const { return data_.data() + static_cast<std::size_t>(r) * cols_; }

private:
    int cols_;
    std::vector<T> data_;
};

class Ensemble {
public:
    Ensemble(int members, int sites)
        : members_(members), sites_(sites), state_(sites, members), cov_(sites, sites), scratch_(members, 3 * sites)
    {
        std::uint32_t seed = 4711u;
        for (int s = 0; s < sites; ++s)
            for (int m = 0; m < members; ++m) {
                seed = seed * 1664525u + 1013904223u;
                state_.row(s)[m] = 8.0 + ((seed >> 8) / 16777216.0 - 0.5);
            }
    }

    void cycle(int steps, double dt)
    {
#pragma omp parallel
        {
#pragma omp for schedule(static)
            for (int m = 0; m < members_; ++m)
                forecast(m, steps, dt);
#pragma omp single
            for (int s = 0; s < sites_; ++s)
                covariance(s);
#pragma omp for schedule(static)
            for (int s = 0; s < sites_; ++s)
                relax(s);
        }
    }

    double trace() const
    {
        double sum = 0.0;
        for (int s = 0; s < sites_; ++s)
            sum += cov_.row(s)[s];
        return sum;
    }
    double coupling(int distance) const
    {
        double sum = 0.0;
        for (int s = 0; s < sites_; ++s)
            sum += cov_.row(s)[(s + distance) % sites_];
        return sum / sites_;
    }

private:
    void forecast(int m, int steps, double dt)
    {
        double* x = scratch_.row(m);
        double* d = x + sites_;
        for (int s = 0; s < sites_; ++s)
            x[s] = state_.row(s)[m];
        for (int k = 0; k < steps; ++k) {
            for (int s = 0; s < sites_; ++s) {
                const int p1 = s + 1 == sites_ ? 0 : s + 1;
                const int m1 = s == 0 ? sites_ - 1 : s - 1;
                const int m2 = s < 2 ? s + sites_ - 2 : s - 2;
                d[s] = (x[p1] - x[m2]) * x[m1] - x[s] + 8.0;
            }
            for (int s = 0; s < sites_; ++s)
                x[s] += dt * d[s];
        }
        for (int s = 0; s < sites_; ++s)
            state_.row(s)[m] = x[s];
    }

    double mean(int s) const
    {
        double sum = 0.0;
        for (int m = 0; m < members_; ++m)
            sum += state_.row(s)[m];
        return sum / members_;
    }

    void covariance(int s)
    {
        const double* a = state_.row(s);
        const double centre = mean(s);
        for (int t = 0; t < sites_; ++t) {
            const double* b = state_.row(t);
            double sum = 0.0;
            for (int m = 0; m < members_; ++m)
                sum += (a[m] - centre) * b[m];
            cov_.row(s)[t] = sum / (members_ - 1);
        }
    }

    void relax(int s)
    {
        const double centre = mean(s);
        const double factor = std::min(1.0, std::sqrt(4.0 / std::max(cov_.row(s)[s], 1e-9)));
        for (int m = 0; m < members_; ++m)
            state_.row(s)[m] = centre + factor * (state_.row(s)[m] - centre);
    }

    int members_;
    int sites_;
    Grid<double> state_;
    Grid<double> cov_;
    Grid<double> scratch_;
};

int main(int argc, char** argv)
{
    const int members = argc > 1 ? std::atoi(argv[1]) : 256;
    const int sites = argc > 2 ? std::atoi(argv[2]) : 960;
    const int cycles = argc > 3 ? std::atoi(argv[3]) : 8;
    Ensemble ensemble(members, sites);
    std::cout << std::setprecision(10);
    for (int c = 1; c <= cycles; ++c) {
        ensemble.cycle(60, 0.001);
        if (c % 2 == 0)
            std::cout << "cycle " << c << " trace " << ensemble.trace() << " coupling " << ensemble.coupling(1) << '\n';
    }
    return 0;
}
