// Spatial SEIR epidemic among farms: pairwise kernel, daily steps.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

enum Status : unsigned char { Susceptible, Exposed, Infectious, Removed };
struct Farm { double x, y; double herd; Status st; int since; };

__attribute__((noinline)) std::vector<Farm> settle(int n) {
    std::mt19937 gen(97);
    std::uniform_real_distribution<double> u(0, 60);
    std::lognormal_distribution<double> herd(3.5, 0.8);
    std::vector<Farm> f(n);
    for (auto &a : f) a = {u(gen), u(gen), herd(gen), Susceptible, 0};
    for (int k = 0; k < 12; ++k) f[(k * 7919) % n].st = Infectious;
    return f;
}

static double kernel(double d2) { return 1.0 / (1.0 + std::pow(d2 / 2.5, 1.35)); }

// contact strength of farm pairs, summed once for each farm
__attribute__((noinline)) void contact_rows(const std::vector<Farm> &f, std::vector<double> &out, int lo, int hi) {
    for (int i = lo; i < hi; ++i)
        for (int j = 0; j < i; ++j) {
            double dx = f[i].x - f[j].x, dy = f[i].y - f[j].y;
            double k = kernel(dx * dx + dy * dy) * std::sqrt(f[i].herd * f[j].herd);
            out[i] += k;
            out[j] += k;
        }
}

__attribute__((noinline)) void pressure_rows(const std::vector<Farm> &f, const std::vector<int> &sick,
                                             std::vector<double> &force, int lo, int hi) {
    for (int i = lo; i < hi; ++i) {
        double s = 0;
        for (int j : sick) {
            double dx = f[i].x - f[j].x, dy = f[i].y - f[j].y;
            s += f[j].herd * kernel(dx * dx + dy * dy);
        }
        force[i] = s;
    }
}

template <class Work> void share(int n, int nthreads, Work work) {
    std::vector<std::thread> pool;
    for (int t = 0; t < nthreads; ++t)
        pool.emplace_back(work, t, int(long(n) * t / nthreads), int(long(n) * (t + 1) / nthreads));
    for (auto &p : pool) p.join();
}

__attribute__((noinline)) int advance(std::vector<Farm> &f, const std::vector<double> &force,
                                      const std::vector<double> &contact, std::mt19937 &gen) {
    std::uniform_real_distribution<double> u(0, 1);
    int active = 0;
    for (size_t i = 0; i < f.size(); ++i) {
        Farm &a = f[i];
        ++a.since;
        if (a.st == Susceptible && u(gen) < 1 - std::exp(-2e-4 * force[i] * (1 + 1e-5 * contact[i]))) { a.st = Exposed; a.since = 0; }
        else if (a.st == Exposed && a.since > 4) { a.st = Infectious; a.since = 0; }
        else if (a.st == Infectious && a.since > 6) { a.st = Removed; a.since = 0; }
        active += a.st == Exposed || a.st == Infectious;
    }
    return active;
}

int main(int argc, char **argv) {
    int nthreads = argc > 1 ? std::max(1, std::atoi(argv[1])) : 1, n = 10000;
    auto farms = settle(n);
    std::vector<std::vector<double>> part(nthreads, std::vector<double>(n));
    share(n, nthreads, [&](int t, int lo, int hi) { contact_rows(farms, part[t], lo, hi); });
    std::vector<double> contact(n), force(n);
    for (auto &p : part)
        for (int i = 0; i < n; ++i) contact[i] += p[i];
    std::mt19937 gen(5);
    int active = 0, day = 0;
    for (; day < 18; ++day) {
        std::vector<int> sick;
        for (int i = 0; i < n; ++i) if (farms[i].st == Infectious) sick.push_back(i);
        share(n, nthreads, [&](int, int lo, int hi) { pressure_rows(farms, sick, force, lo, hi); });
        active = advance(farms, force, contact, gen);
    }
    long removed = std::count_if(farms.begin(), farms.end(), [](const Farm &a) { return a.st == Removed; });
    std::printf("day %d active %d removed %ld contact %.6e\n", day, active, removed, contact[n / 2]);
    return 0;
}
