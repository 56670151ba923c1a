// End-of-day analytics on a tape of n trades: VWAP, bars, drawdown, quantiles.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <random>
#include <vector>

struct Trade { double time, price; int size, venue; };

__attribute__((noinline)) std::vector<Trade> simulate_tape(int n) {
    std::mt19937_64 gen(20240611);
    std::normal_distribution<double> z;
    std::uniform_real_distribution<double> u;
    std::vector<Trade> tape(n);
    double logp = std::log(100.0);
    for (auto &t : tape) {
        logp += 2e-4 * z(gen);
        t = {23400.0 * u(gen), std::exp(logp), 1 + int(500 * u(gen)), int(12 * u(gen))};
    }
    return tape;
}

__attribute__((noinline)) void order_by_time(std::vector<Trade> &tape) {
    std::stable_sort(tape.begin(), tape.end(), [](const Trade &a, const Trade &b) { return a.time < b.time; });
}

__attribute__((noinline)) std::map<int, double> vwap_by_venue(const std::vector<Trade> &tape) {
    std::map<int, double> value, volume;
    for (auto &t : tape) { value[t.venue] += t.price * t.size; volume[t.venue] += t.size; }
    for (auto &v : value) v.second /= volume[v.first];
    return value;
}

__attribute__((noinline)) double rolling_range(const std::vector<Trade> &tape, size_t window) {
    std::deque<size_t> hi, lo;
    double acc = 0;
    for (size_t i = 0; i < tape.size(); ++i) {
        while (!hi.empty() && tape[hi.back()].price <= tape[i].price) hi.pop_back();
        while (!lo.empty() && tape[lo.back()].price >= tape[i].price) lo.pop_back();
        hi.push_back(i);
        lo.push_back(i);
        if (hi.front() + window <= i) hi.pop_front();
        if (lo.front() + window <= i) lo.pop_front();
        acc += tape[hi.front()].price - tape[lo.front()].price;
    }
    return acc / tape.size();
}

__attribute__((noinline)) double garch_loglik(const std::vector<Trade> &tape, double omega, double alpha, double beta) {
    double var = 1e-4, ll = 0;
    for (size_t i = 1; i < tape.size(); ++i) {
        double r = std::log(tape[i].price / tape[i - 1].price);
        var = omega + alpha * r * r + beta * var;
        ll -= 0.5 * (std::log(2 * M_PI * var) + r * r / var);
    }
    return ll;
}

__attribute__((noinline)) double fit_garch(const std::vector<Trade> &tape) {
    double best = -1e300;
    for (double a : {0.03, 0.06, 0.09})
        for (double b : {0.85, 0.90})
            best = std::max(best, garch_loglik(tape, 1e-6, a, b));
    return best;
}

__attribute__((noinline)) double value_at_risk(const std::vector<Trade> &tape, double level) {
    std::vector<double> pnl;
    pnl.reserve(tape.size());
    for (size_t i = 1; i < tape.size(); ++i) pnl.push_back((tape[i].price - tape[i - 1].price) * tape[i].size);
    std::sort(pnl.begin(), pnl.end());
    return -pnl[size_t(level * pnl.size())];
}

int main(int argc, char **argv) {
    int n = argc > 1 ? std::atoi(argv[1]) : 100000;
    auto tape = simulate_tape(n);
    order_by_time(tape);
    auto vwap = vwap_by_venue(tape);
    for (auto &v : vwap) std::printf("venue %2d vwap %.4f\n", v.first, v.second);
    std::printf("mean range %.5f\n", rolling_range(tape, 300));
    std::printf("loglik %.3f\n", fit_garch(tape));
    std::printf("VaR 1%% %.3f\n", value_at_risk(tape, 0.01));
    return 0;
}
