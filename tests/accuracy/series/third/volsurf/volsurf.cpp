// Implied volatility surface from a tape of option quotes
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

struct Quote {
    double strike, expiry, price, vol, rank;
};

static double norm_cdf(double x) { return 0.5 * std::erfc(-x * M_SQRT1_2); }

__attribute__((noinline)) double black_call(double spot, double k, double t, double vol) {
    double s = vol * std::sqrt(t);
    double d1 = std::log(spot / k) / s + 0.5 * s;
    return spot * norm_cdf(d1) - k * norm_cdf(d1 - s);
}

__attribute__((noinline)) std::vector<Quote> read_tape(size_t n, double spot) {
    std::mt19937_64 gen(77);
    std::uniform_real_distribution<double> u(0.0, 1.0);
    std::vector<Quote> q(n);
    for (auto &x : q) {
        x.strike = spot * (0.8 + 0.4 * u(gen));
        x.expiry = 0.1 + 1.9 * u(gen);
        double m = std::log(x.strike / spot);
        double v = 0.2 + 0.3 * m * m - 0.05 * m + 0.02 * u(gen);
        x.price = black_call(spot, x.strike, x.expiry, v);
        x.vol = x.rank = 0.0;
    }
    return q;
}

// bisection: 60 halvings between 1% and 200%
__attribute__((noinline)) void invert_quotes(std::vector<Quote> &q, double spot) {
    for (auto &x : q) {
        double lo = 0.01, hi = 2.0;
        for (int it = 0; it < 60; it++) {
            double mid = 0.5 * (lo + hi);
            (black_call(spot, x.strike, x.expiry, mid) < x.price ? lo : hi) = mid;
        }
        x.vol = 0.5 * (lo + hi);
    }
}

__attribute__((noinline)) void order_quotes(std::vector<Quote> &q) {
    std::sort(q.begin(), q.end(), [](const Quote &a, const Quote &b) { return a.strike < b.strike; });
}

__attribute__((noinline)) void rank_vols(std::vector<Quote> &q) {
    std::vector<double> v;
    v.reserve(q.size());
    for (const auto &x : q) v.push_back(x.vol);
    std::sort(v.begin(), v.end());
    for (auto &x : q)
        x.rank = double(std::lower_bound(v.begin(), v.end(), x.vol) - v.begin()) / v.size();
}

__attribute__((noinline)) double smooth_smile(const std::vector<Quote> &q) {
    const size_t W = 25;
    double rough = 0.0;
    for (size_t i = W; i + W < q.size(); i++) {
        double sw = 0.0, sv = 0.0;
        for (size_t j = i - W; j <= i + W; j++) {
            double dt = q[j].expiry - q[i].expiry;
            double w = 1.0 / (1.0 + 4.0 * dt * dt);
            sw += w;
            sv += w * q[j].vol;
        }
        rough += std::fabs(sv / sw - q[i].vol) * q[i].rank;
    }
    return rough / q.size();
}

int main(int argc, char **argv) {
    size_t n = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 10000;
    const double spot = 100.0;
    auto quotes = read_tape(n, spot);
    invert_quotes(quotes, spot);
    order_quotes(quotes);
    rank_vols(quotes);
    double rough = smooth_smile(quotes);
    std::printf("quotes %zu roughness %.8f first %.6f last %.6f\n", n, rough, quotes.front().vol, quotes.back().vol);
    return 0;
}
