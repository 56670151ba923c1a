#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace seismic {

using Samples = std::vector<double>;

class Trace {
public:
    Trace(std::string station, double rate, Samples data)
        : station_(std::move(station)), rate_(rate), data_(std::move(data))
    {
    }

    const std::string &station() const { return station_; }
    double rate() const { return rate_; }
    std::size_t length() const { return data_.size(); }
    Samples samples() const { return data_; }

private:
    std::string station_;
    double rate_;
    Samples data_;
};

struct Pick {
    std::size_t index = 0;
    double ratio = 0.0;
};

double power(const Trace &trace, std::size_t from, std::size_t count)
{
    const auto &s = trace.samples();
    const auto first = s.begin() + static_cast<std::ptrdiff_t>(from);
    const double sum = std::accumulate(first, first + static_cast<std::ptrdiff_t>(count), 0.0,
                                       [](double a, double x) { return a + x * x; });
    return sum / static_cast<double>(count);
}

class Picker {
public:
    Picker(std::size_t brief, std::size_t extended, std::size_t hop)
        : brief_(brief), extended_(extended), hop_(hop)
    {
    }

    Pick operator()(const Trace &trace) const
    {
        Pick best;
        for (std::size_t at = extended_; at + brief_ < trace.length(); at += hop_) {
            const double ahead = power(trace, at, brief_);
            const double behind = power(trace, at - extended_, extended_);
            const double ratio = ahead / (behind + 1e-12);
            if (ratio > best.ratio)
                best = {at, ratio};
        }
        return best;
    }

private:
    std::size_t brief_, extended_, hop_;
};

Samples synthesise(std::size_t n, std::uint64_t seed)
{
    Samples s(n);
    std::uint64_t x = seed * 0x9e3779b97f4a7c15ull + 12345;
    const std::size_t onset = n / 3 + (seed * 617) % (n / 3);
    for (std::size_t i = 0; i < n; ++i) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        const double noise = static_cast<double>(x >> 11) * 0x1.0p-53 - 0.5;
        const double t = i >= onset ? static_cast<double>(i - onset) : 0.0;
        const double wave = i >= onset ? 3.0 * std::exp(-t / 400.0) * std::sin(t / 9.0) : 0.0;
        s[i] = noise + wave;
    }
    return s;
}

class Network {
public:
    void add(Trace t) { traces_.push_back(std::make_unique<Trace>(std::move(t))); }

    template <class F> void each(F f) const
    {
        for (const auto &t : traces_)
            f(*t);
    }

private:
    std::vector<std::unique_ptr<Trace>> traces_;
};

}

int main(int argc, char **argv)
{
    const std::size_t stations = argc > 1 ? std::stoul(argv[1]) : 20;
    const std::size_t length = argc > 2 ? std::stoul(argv[2]) : 12000;
    seismic::Network net;
    for (std::size_t k = 0; k < stations; ++k)
        net.add({"ST" + std::to_string(k), 100.0, seismic::synthesise(length, k + 1)});
    const seismic::Picker picker(150, 1500, 4);
    std::cout << std::fixed << std::setprecision(6);
    std::size_t shown = 0;
    double total = 0.0;
    net.each([&](const seismic::Trace &t) {
        const auto p = picker(t);
        total += p.ratio;
        if (shown++ < 5)
            std::cout << t.station() << ' ' << static_cast<double>(p.index) / t.rate() << ' ' << p.ratio << '\n';
    });
    std::cout << "mean ratio " << total / static_cast<double>(stations) << '\n';
    return 0;
}
