// Network of Izhikevich neurons with random sparse coupling.
// usage: main [neurons] [milliseconds] [fan-in]
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace cortex {

inline std::uint64_t mix(std::uint64_t z) {
    z += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

inline float uniform(std::uint64_t key) {
    return static_cast<float>(mix(key) >> 40) * (1.0f / 16777216.0f);
}

struct Cell {
    float a, b, c, d;
    float v, u;
    float drive;
};

struct Synapse {
    std::uint32_t source;
    float weight;
};

class Network {
public:
    Network(std::size_t n, std::size_t fanIn)
        : cells_(n), offset_(n + 1), fired_(n, 0), next_(n, 0), spikes_(n, 0) {
        const std::size_t excitatory = n * 4 / 5;
        synapses_.reserve(n * fanIn);
        for (std::size_t i = 0; i < n; ++i) {
            const float r = uniform(i * 7919 + 1);
            Cell& c = cells_[i];
            if (i < excitatory) {
                c = {0.02f, 0.2f, -65.0f + 15.0f * r * r, 8.0f - 6.0f * r * r, -65.0f, 0.0f, 5.0f};
            } else {
                c = {0.02f + 0.08f * r, 0.25f - 0.05f * r, -65.0f, 2.0f, -65.0f, 0.0f, 2.0f};
            }
            c.u = c.b * c.v;
            offset_[i] = static_cast<std::uint32_t>(synapses_.size());
            for (std::size_t k = 0; k < fanIn; ++k) {
                const auto src = static_cast<std::uint32_t>(mix(i * 1000003 + k) % n);
                const float w = uniform(i * 524287 + k * 31 + 5);
                synapses_.push_back({src, src < excitatory ? 12.0f * w : -24.0f * w});
            }
        }
        offset_[n] = static_cast<std::uint32_t>(synapses_.size());
    }

    std::size_t size() const { return cells_.size(); }

    void advance(std::uint64_t ms) {
        tbb::parallel_for(tbb::blocked_range<std::size_t>(0, cells_.size(), 500),
                          [this, ms](const tbb::blocked_range<std::size_t>& r) {
                              for (std::size_t i = r.begin(); i != r.end(); ++i) integrate(i, ms);
                          });
        std::swap(fired_, next_);
    }

    long firedNow() const {
        return tbb::parallel_reduce(
            tbb::blocked_range<std::size_t>(0, fired_.size(), 4096), 0L,
            [this](const tbb::blocked_range<std::size_t>& r, long acc) {
                for (std::size_t i = r.begin(); i != r.end(); ++i) acc += fired_[i];
                return acc;
            },
            [](long x, long y) { return x + y; });
    }

    double meanPotential() const {
        double s = 0;
        for (const auto& c : cells_) s += c.v;
        return s / static_cast<double>(cells_.size());
    }

    std::uint64_t checksum() const {
        std::uint64_t h = 0;
        for (std::size_t i = 0; i < spikes_.size(); ++i) h = mix(h ^ (spikes_[i] + i));
        return h;
    }

private:
    float synapticCurrent(std::size_t i) const {
        float sum = 0.0f;
        for (std::uint32_t k = offset_[i]; k < offset_[i + 1]; ++k) {
            const Synapse& s = synapses_[k];
            sum += s.weight * static_cast<float>(fired_[s.source]);
        }
        return sum;
    }

    void integrate(std::size_t i, std::uint64_t ms) {
        Cell& c = cells_[i];
        const std::uint64_t key = ms * cells_.size() + i;
        const float noise = uniform(key) + uniform(key ^ 0xabcdef0123ull) +
                            uniform(key ^ 0x5555000055ull) - 1.5f;
        const float current = c.drive * 2.0f * noise + synapticCurrent(i);
        for (int half = 0; half < 2; ++half)
            c.v += 0.5f * (0.04f * c.v * c.v + 5.0f * c.v + 140.0f - c.u + current);
        c.u += c.a * (c.b * c.v - c.u);
        const bool spike = c.v >= 30.0f;
        if (spike) {
            c.v = c.c;
            c.u += c.d;
            ++spikes_[i];
        }
        next_[i] = spike ? 1 : 0;
    }

    std::vector<Cell> cells_;
    std::vector<std::uint32_t> offset_;
    std::vector<Synapse> synapses_;
    std::vector<std::uint8_t> fired_, next_;
    std::vector<std::uint32_t> spikes_;
};

}  // namespace cortex

int main(int argc, char** argv) {
    const std::size_t n = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 4000;
    const std::uint64_t duration = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1000;
    const std::size_t fanIn = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 16;

    cortex::Network net(n, fanIn);
    long total = 0, peak = 0;
    for (std::uint64_t ms = 0; ms < duration; ++ms) {
        net.advance(ms);
        const long now = net.firedNow();
        total += now;
        if (now > peak) peak = now;
    }
    std::printf("neurons %zu, simulated %llu ms\n", net.size(), (unsigned long long)duration);
    std::printf("mean rate %.4f Hz, largest volley %ld\n",
                1000.0 * double(total) / (double(n) * double(duration)), peak);
    std::printf("mean potential %.5f mV, signature %016llx\n", net.meanPotential(),
                (unsigned long long)net.checksum());
    return 0;
}
