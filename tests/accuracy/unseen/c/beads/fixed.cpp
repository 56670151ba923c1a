#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

namespace transport {

class Rng {
public:
    explicit Rng(std::uint64_t seed) : s_(seed * 0x9E3779B97F4A7C15ull + 0x632BE59BD9B4E019ull) {}
    std::uint64_t next() {
        s_ ^= s_ << 13;
        s_ ^= s_ >> 7;
        s_ ^= s_ << 17;
        return s_;
    }
    double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

private:
    std::uint64_t s_;
};

struct Packet {
    int cell;
    int direction;
    std::uint32_t energy;
};

class Tally {
public:
    explicit Tally(std::size_t cells) : deposit_(cells, 0), visits_(cells, 0) {}

    void score(int cell, std::uint32_t energy) {
        deposit_[cell] += energy;
        ++visits_[cell];
    }

    void merge(const Tally& other) {
        std::lock_guard<std::mutex> hold(guard_);
        for (std::size_t i = 0; i < deposit_.size(); ++i) {
            deposit_[i] += other.deposit_[i];
            visits_[i] += other.visits_[i];
        }
    }

    std::size_t size() const { return deposit_.size(); }
    std::uint64_t deposit(std::size_t i) const { return deposit_[i]; }
    std::uint64_t visits(std::size_t i) const { return visits_[i]; }

private:
    std::mutex guard_;
    std::vector<std::uint64_t> deposit_;
    std::vector<std::uint64_t> visits_;
};

struct Slab {
    int cells;
    double absorb;
    double scatter;
};

void track(Packet p, const Slab& slab, Rng& rng, Tally& tally) {
    while (p.energy > 16 && p.cell >= 0 && p.cell < slab.cells) {
        const double u = rng.uniform();
        if (u < slab.absorb) {
            const std::uint32_t loss = p.energy / 4 + 1;
            tally.score(p.cell, loss);
            p.energy -= loss;
        } else if (u < slab.absorb + slab.scatter) {
            tally.score(p.cell, 1);
            p.energy -= 1;
            p.direction = (rng.next() >> 40) & 1 ? 1 : -1;
        }
        p.cell += p.direction;
    }
}

void histories(int first, int last, const Slab& slab, Tally& tally) {
    for (int h = first; h < last; ++h) {
        Rng rng(static_cast<std::uint64_t>(h) + 1);
        for (int warm = 0; warm < 4; ++warm) rng.next();
        Packet p{slab.cells / 2, h % 2 ? 1 : -1, 4096};
        track(p, slab, rng, tally);
    }
}

Tally& simulate(int packets, int workers, const Slab& slab, Tally& tally) {
    std::vector<std::thread> crew;
    for (int w = 0; w < workers; ++w) {
        const int first = static_cast<int>(static_cast<long>(packets) * w / workers);
        const int last = static_cast<int>(static_cast<long>(packets) * (w + 1) / workers);
        crew.emplace_back([first, last, &slab, &tally] {
            Tally own(tally.size());
            histories(first, last, slab, own);
            tally.merge(own);
        });
    }
    for (auto& t : crew) t.join();
    return tally;
}

}

int main(int argc, char** argv) {
    const int packets = argc > 1 ? std::atoi(argv[1]) : 200000;
    const transport::Slab slab{256, 0.15, 0.6};
    transport::Tally tally(static_cast<std::size_t>(slab.cells));
    transport::simulate(packets, 2, slab, tally);
    std::uint64_t total = 0, hits = 0;
    for (std::size_t i = 0; i < tally.size(); ++i) {
        total += tally.deposit(i);
        hits += tally.visits(i);
        if (i % 32 == 0)
            std::printf("%4zu %14llu\n", i, static_cast<unsigned long long>(tally.deposit(i)));
    }
    std::printf("total %llu in %llu hits\n", static_cast<unsigned long long>(total),
                static_cast<unsigned long long>(hits));
}
