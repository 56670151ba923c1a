// Self-avoiding lattice chains by biased growth, independent batches on several threads.
// usage: main [chains] [length] [threads]
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

struct Site {
    int x, y, z;
};

constexpr Site kMoves[6] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};

struct Accumulator {
    std::uint64_t stream = 0;
    std::uint64_t attempts = 0;
    std::uint64_t contacts = 0;
    std::uint64_t spread = 0;
    std::uint64_t finished = 0;

    unsigned draw() {
        stream = stream * 6364136223846793005ull + 1442695040888963407ull;
        return static_cast<unsigned>(stream >> 33);
    }
    Accumulator& operator+=(const Accumulator& o) {
        attempts += o.attempts;
        contacts += o.contacts;
        spread += o.spread;
        finished += o.finished;
        return *this;
    }
};

class Occupancy {
public:
    static constexpr int kBits = 5;
    static constexpr int kSide = 1 << kBits;
    Occupancy() : mark_(static_cast<std::size_t>(kSide) * kSide * kSide, 0) {}
    void fresh() { ++epoch_; }
    bool taken(const Site& s) const { return mark_[index(s)] == epoch_; }
    void take(const Site& s) { mark_[index(s)] = epoch_; }

private:
    static std::size_t index(const Site& s) {
        constexpr unsigned mask = kSide - 1;
        return ((static_cast<std::size_t>(s.x & mask) << kBits | (s.y & mask)) << kBits) | (s.z & mask);
    }
    std::vector<std::uint64_t> mark_;
    std::uint64_t epoch_ = 0;
};

inline Site operator+(const Site& a, const Site& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }

class Ensemble {
public:
    Ensemble(int threads, long chains, int length)
        : tally_(static_cast<std::size_t>(threads)), chains_(chains), length_(length) {
        for (std::size_t t = 0; t < tally_.size(); ++t) tally_[t].stream = 0x853c49e6748fea9bull + t * 0xda3e39cb94b95bdbull;
    }

    void sample() {
        std::vector<std::thread> crew;
        for (std::size_t t = 0; t < tally_.size(); ++t)
            crew.emplace_back([this, t] {
                const long begin = chains_ * long(t) / long(tally_.size());
                const long end = chains_ * long(t + 1) / long(tally_.size());
                run(t, end - begin);
            });
        for (auto& c : crew) c.join();
    }

    Accumulator total() const {
        Accumulator sum;
        for (const auto& a : tally_) sum += a;
        return sum;
    }

private:
    void run(std::size_t t, long count) {
        Occupancy lattice;
        for (long i = 0; i < count; ++i) grow(lattice, tally_[t]);
    }

    void grow(Occupancy& lattice, Accumulator& acc) const {
        lattice.fresh();
        Site head{0, 0, 0};
        lattice.take(head);
        int trapped = 0;
        for (int n = 1; n < length_;) {
            ++acc.attempts;
            const Site next = head + kMoves[(static_cast<std::uint64_t>(acc.draw()) * 6) >> 31];
            if (lattice.taken(next)) {
                ++acc.contacts;
                if (++trapped > 24) return;
                continue;
            }
            trapped = 0;
            lattice.take(next);
            head = next;
            ++n;
        }
        acc.spread += static_cast<std::uint64_t>(head.x * head.x + head.y * head.y + head.z * head.z);
        ++acc.finished;
    }

    std::vector<Accumulator> tally_;
    long chains_;
    int length_;
};

int main(int argc, char** argv) {
    const long chains = argc > 1 ? std::atol(argv[1]) : 400000;
    const int length = argc > 2 ? std::atoi(argv[2]) : 200;
    const int threads = argc > 3 ? std::atoi(argv[3]) : 2;

    Ensemble ensemble(threads, chains, length);
    ensemble.sample();
    const Accumulator all = ensemble.total();
    const double mean = double(all.spread) / double(all.finished);
    std::printf("chains %ld of %d sites, %llu finished\n", chains, length, (unsigned long long)all.finished);
    std::printf("trials per site %.6f\n", double(all.attempts) / (double(chains) * length));
    std::printf("rejected %.6f\n", double(all.contacts) / double(all.attempts));
    std::printf("end-to-end %.5f, exponent %.5f\n", std::sqrt(mean), 0.5 * std::log(mean) / std::log(double(length - 1)));
    return 0;
}
