#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

struct Pulse {
    double time;
    float charge;
    std::uint16_t channel;
};

class Stream {
public:
    Stream(std::size_t n, std::uint64_t seed, double rate) : state_(seed) {
        pulses_.reserve(n);
        double t = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
            t += 2.0 * uniform() / rate;
            pulses_.push_back({t, static_cast<float>(1.0 + 9.0 * uniform()),
                               static_cast<std::uint16_t>(uniform() * 64.0)});
        }
    }

    auto begin() const { return pulses_.begin(); }
    auto end() const { return pulses_.end(); }
    std::size_t size() const { return pulses_.size(); }

    auto not_before(double t) const {
        return std::lower_bound(pulses_.begin(), pulses_.end(), t,
                                [](const Pulse& p, double x) { return p.time < x; });
    }

private:
    double uniform() {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return static_cast<double>(state_ >> 11) * 0x1.0p-53;
    }

    std::uint64_t state_;
    std::vector<Pulse> pulses_;
};

struct Coincidence {
    double dt;
    double weight;
    int pair;
};

class Matcher {
public:
    Matcher(const Stream& probe, double window) : probe_(probe), window_(window) {}

    template <class Sink>
    void each(const Stream& trigger, Sink&& sink) const {
        for (const auto& p : trigger) {
            const double lo = p.time - window_;
            const double hi = p.time + window_;
            for (auto it = probe_.not_before(lo); it != probe_.end() && it->time < hi; ++it) {
                sink(Coincidence{it->time - p.time,
                                 static_cast<double>(p.charge) * it->charge,
                                 p.channel * 64 + it->channel});
            }
        }
    }

private:
    const Stream& probe_;
    double window_;
};

class Correlogram {
public:
    Correlogram(int bins, double window)
        : counts_(bins, 0), weights_(bins, 0.0), pairs_(64 * 64, 0), window_(window) {}

    void add(const Coincidence& c) {
        const double x = (c.dt + window_) / (2.0 * window_);
        const int b = std::clamp(static_cast<int>(x * counts_.size()), 0,
                                 static_cast<int>(counts_.size()) - 1);
        ++counts_[b];
        weights_[b] += c.weight;
        ++pairs_[c.pair];
    }

    void print() const {
        const auto total = std::accumulate(counts_.begin(), counts_.end(), 0L);
        const auto top = std::max_element(pairs_.begin(), pairs_.end());
        std::printf("coincidences %ld  busiest pair %ld (%ld)\n", total,
                    static_cast<long>(top - pairs_.begin()), *top);
        for (std::size_t b = 0; b < counts_.size(); b += 16)
            std::printf("%4zu %8ld %14.4f\n", b, counts_[b], weights_[b]);
    }

private:
    std::vector<long> counts_;
    std::vector<double> weights_;
    std::vector<long> pairs_;
    double window_;
};

int main(int argc, char** argv) {
    const std::size_t n = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 50000;
    const double window = 20.0;
    const Stream left(n, 88172645463325252ull, 2.0);
    const Stream right(n, 1181783497276652981ull, 2.0);
    Correlogram graph(128, window);
    Matcher matcher(right, window);
    matcher.each(left, [&graph](const Coincidence& c) { graph.add(c); });
    graph.print();
}
