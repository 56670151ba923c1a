// Pairwise dependence of daily returns of a universe of stocks
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <thread>
#include <vector>

using Series = std::vector<double>;

struct Market {
    int assets, days;
    std::vector<Series> ret;
    Series mean, sd;
    std::vector<Series> dep;
};

static void run_blocks(int nthreads, int count, const std::function<void(int, int)> &body) {
    std::vector<std::thread> pool;
    for (int t = 0; t < nthreads; t++)
        pool.emplace_back(body, (int)((long)count * t / nthreads), (int)((long)count * (t + 1) / nthreads));
    for (auto &th : pool) th.join();
}

// GARCH(1,1) paths with a common factor
__attribute__((noinline)) void simulate_returns(Market &m, int first, int last) {
    for (int a = first; a < last; a++) {
        std::mt19937_64 gen(1000 + a);
        std::normal_distribution<double> z(0.0, 1.0);
        double var = 1e-4, prev = 0.0;
        for (int d = 0; d < m.days; d++) {
            var = 2e-6 + 0.08 * prev * prev + 0.9 * var;
            prev = std::sqrt(var) * (0.8 * z(gen) + 0.6 * std::sin(0.7 * d * d));
            m.ret[a][d] = prev;
        }
    }
}

__attribute__((noinline)) void moments(Market &m, int first, int last) {
    for (int a = first; a < last; a++) {
        double s = 0, q = 0;
        for (double r : m.ret[a]) { s += r; q += r * r; }
        m.mean[a] = s / m.days;
        m.sd[a] = std::sqrt(q / m.days - m.mean[a] * m.mean[a]);
        for (double &r : m.ret[a]) r = (r - m.mean[a]) / m.sd[a];
    }
}

// exponentially weighted correlation, both tails damped
__attribute__((noinline)) double pair_dependence(const Series &x, const Series &y) {
    double num = 0, ax = 0, ay = 0;
    for (size_t d = 0; d < x.size(); d++) {
        double w = 1.0 / (1.0 + 0.1 * std::fabs(x[d] * y[d]));
        num = 0.998 * num + w * x[d] * y[d];
        ax = 0.998 * ax + w * x[d] * x[d];
        ay = 0.998 * ay + w * y[d] * y[d];
    }
    return num / std::sqrt(ax * ay);
}

__attribute__((noinline)) void dependence_rows(Market &m, int first, int last) {
    for (int i = first; i < last; i++)
        for (int j = 0; j < i; j++)
            m.dep[i][j] = pair_dependence(m.ret[i], m.ret[j]);
}

__attribute__((noinline)) double average_dependence(const Market &m) {
    double s = 0;
    for (int i = 1; i < m.assets; i++)
        for (int j = 0; j < i; j++) s += m.dep[i][j];
    return 2.0 * s / ((double)m.assets * (m.assets - 1));
}

int main(int argc, char **argv) {
    int nthreads = argc > 1 ? std::max(1, std::atoi(argv[1])) : 1;
    Market m;
    m.assets = argc > 2 ? std::atoi(argv[2]) : 1200;
    m.days = 500;
    m.ret.assign(m.assets, Series(m.days));
    m.mean.resize(m.assets);
    m.sd.resize(m.assets);
    m.dep.assign(m.assets, Series(m.assets, 1.0));
    run_blocks(nthreads, m.assets, [&](int a, int b) { simulate_returns(m, a, b); });
    run_blocks(nthreads, m.assets, [&](int a, int b) { moments(m, a, b); });
    run_blocks(nthreads, m.assets, [&](int a, int b) { dependence_rows(m, a, b); });
    std::printf("assets %d average dependence %.8f\n", m.assets, average_dependence(m));
    return 0;
}
