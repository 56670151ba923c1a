// Energy deposition of a proton beam in a voxel phantom, condensed steps.
// usage: main [primaries] [threads]
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

namespace dose {

using Energy = std::int64_t;  // eV

struct Vec3 {
    double x, y, z;
};

class Generator {
public:
    explicit Generator(std::uint64_t history) : state_(history * 6364136223846793005ull + 1442695040888963407ull) {}
    std::uint32_t bits() {
        const std::uint64_t old = state_;
        state_ = old * 6364136223846793005ull + 1442695040888963407ull;
        const auto x = static_cast<std::uint32_t>(((old >> 18) ^ old) >> 27);
        const auto r = static_cast<std::uint32_t>(old >> 59);
        return (x >> r) | (x << ((32 - r) & 31));
    }
    double flat() { return bits() * (1.0 / 4294967296.0); }
    double centred() { return flat() + flat() + flat() - 1.5; }

private:
    std::uint64_t state_;
};

class Tally {
public:
    Tally(int n, double voxel) : n_(n), inverse_(1.0 / voxel), grid_(static_cast<std::size_t>(n) * n * n, 0) {}

    bool score(const Vec3& p, Energy e) {
        const double x = p.x * inverse_ + 0.5 * n_, y = p.y * inverse_ + 0.5 * n_, z = p.z * inverse_;
        if (x < 0 || y < 0 || z < 0 || x >= n_ - 1 || y >= n_ - 1 || z >= n_ - 1) return false;
        const int ix = static_cast<int>(x), iy = static_cast<int>(y), iz = static_cast<int>(z);
        Energy* base = grid_.data() + (static_cast<std::size_t>(iz) * n_ + iy) * n_ + ix;
        const double fx = x - ix, fy = y - iy, fz = z - iz;
        for (int k = 0; k < 8; ++k) {
            const double w = (k & 1 ? fx : 1 - fx) * (k & 2 ? fy : 1 - fy) * (k & 4 ? fz : 1 - fz);
            base[(k & 1) + ((k >> 1) & 1) * n_ + (k >> 2) * n_ * n_] += static_cast<Energy>(w * double(e));
        }
        total_ += e;
        return true;
    }

    void absorb(const Tally& other) {
        std::lock_guard<std::mutex> guard(mutex_);
        for (std::size_t i = 0; i < grid_.size(); ++i) grid_[i] += other.grid_[i];
        total_ += other.total_;
    }

    int cells() const { return n_; }
    double voxel() const { return 1.0 / inverse_; }
    Energy total() const { return total_; }

    std::vector<Energy> depthCurve() const {
        std::vector<Energy> curve(static_cast<std::size_t>(n_), 0);
        for (int z = 0; z < n_; ++z)
            for (int k = 0; k < n_ * n_; ++k) curve[z] += grid_[static_cast<std::size_t>(z) * n_ * n_ + k];
        return curve;
    }

private:
    int n_;
    double inverse_;
    std::vector<Energy> grid_;
    Energy total_ = 0;
    std::mutex mutex_;
};

// stopping power of water, MeV/cm, for kinetic energy in MeV
inline double stopping(double e) {
    return 260.0 / (1.0 + std::sqrt(e) * std::sqrt(std::sqrt(e)));
}

template <class Score>
void transport(std::uint64_t history, double energy, Score&& score) {
    Generator rng(history);
    Vec3 p{0.4 * rng.centred(), 0.4 * rng.centred(), 0.0};
    double sx = 0.0, sy = 0.0;
    const double step = 0.05;
    while (energy > 0.5) {
        const double s = stopping(energy);
        double loss = s * step * (1.0 + 0.25 * rng.centred());
        if (loss > energy) loss = energy;
        const double kick = 0.02 / energy * 5.0;
        sx += kick * rng.centred();
        sy += kick * rng.centred();
        p.x += sx * step;
        p.y += sy * step;
        p.z += step;
        energy -= loss;
        if (!score(p, static_cast<Energy>(loss * 1.0e6))) return;
    }
    score(p, static_cast<Energy>(energy * 1.0e6));
}

class Beam {
public:
    Beam(long primaries, double energy) : primaries_(primaries), energy_(energy) {}

    void irradiate(Tally& tally, int threads) const {
        std::atomic<long> batch{0};
        auto worker = [&] {
            Tally own(tally.cells(), tally.voxel());
            for (long first = batch.fetch_add(kBatch); first < primaries_; first = batch.fetch_add(kBatch))
                shoot(first, std::min(primaries_, first + kBatch), own);
            tally.absorb(own);
        };
        std::vector<std::thread> pool;
        for (int t = 0; t < threads; ++t) pool.emplace_back(worker);
        for (auto& t : pool) t.join();
    }

private:
    static constexpr long kBatch = 250;

    void shoot(long first, long last, Tally& tally) const {
        for (long h = first; h < last; ++h)
            transport(static_cast<std::uint64_t>(h), energy_, [&tally](const Vec3& p, Energy e) { return tally.score(p, e); });
    }

    long primaries_;
    double energy_;
};

}  // namespace dose

int main(int argc, char** argv) {
    const long primaries = argc > 1 ? std::atol(argv[1]) : 50000;
    const int threads = argc > 2 ? std::atoi(argv[2]) : 2;

    dose::Tally tally(64, 0.35);
    dose::Beam(primaries, 150.0).irradiate(tally, threads);

    const auto curve = tally.depthCurve();
    int peak = 0;
    for (int z = 1; z < static_cast<int>(curve.size()); ++z)
        if (curve[z] > curve[peak]) peak = z;
    std::printf("primaries %ld, absorbed %.6f MeV each\n", primaries, 1e-6 * double(tally.total()) / double(primaries));
    std::printf("peak in layer %d at %.2f cm, peak to entrance %.4f\n", peak, (peak + 0.5) * 0.35,
                double(curve[peak]) / double(curve[0]));
    for (int z = 0; z < 64; z += 8) std::printf("%6.2f cm  %lld\n", z * 0.35, static_cast<long long>(curve[z]));
    return 0;
}
