// Monte Carlo Potts model of grain coarsening in a polycrystalline sheet,
// with collection of the boundary energy spectrum.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

constexpr int kSide = 384;
constexpr int kBins = 64;

struct Sheet {
    std::vector<int> spin = std::vector<int>(kSide * kSide);
    std::vector<double> angle = std::vector<double>(64);
};

struct Spectrum {
    std::mutex guard;
    double bin[kBins] = {};
    long samples = 0;
};

static inline unsigned hash32(unsigned x) {
    x ^= x >> 16; x *= 0x7feb352du;
    x ^= x >> 15; x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

__attribute__((noinline)) void seedGrains(Sheet &s) {
    for (int q = 0; q < 64; ++q) s.angle[q] = 1.0471975512 * q / 64.0;
    for (int k = 0; k < kSide * kSide; ++k) {
        int bx = (k % kSide) / 6, by = k / kSide / 6;
        s.spin[k] = hash32(bx * 977u + by * 131u) & 63;
    }
}

__attribute__((noinline)) double boundaryEnergy(const Sheet &s, int x, int y, int q) {
    double e = 0.0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {
            if (!dx && !dy) continue;
            int nx = (x + dx + kSide) % kSide, ny = (y + dy + kSide) % kSide;
            double m = std::fabs(s.angle[q] - s.angle[s.spin[ny * kSide + nx]]) / 0.26;
            if (m > 1e-9) e += m < 1.0 ? m * (1.0 - std::log(m)) : 1.0;
        }
    return e;
}

__attribute__((noinline)) void addSample(Spectrum &sp, double energy) {
    std::lock_guard<std::mutex> hold(sp.guard);
    for (int b = 0; b < kBins; ++b) {
        double d = energy - 8.0 * (b + 0.5) / kBins;
        sp.bin[b] += std::exp(-0.5 * d * d / 0.09);
    }
    sp.samples++;
}

__attribute__((noinline)) void coarsenRows(const Sheet &now, Sheet &next, Spectrum &sp, int y0,
                                           int y1, unsigned sweep) {
    for (int y = y0; y < y1; ++y)
        for (int x = 0; x < kSide; ++x) {
            int k = y * kSide + x;
            unsigned r = hash32(k * 2654435761u + sweep);
            int q = now.spin[k];
            int nx = (x + (int)(r % 3) - 1 + kSide) % kSide;
            int ny = (y + (int)(r / 3 % 3) - 1 + kSide) % kSide;
            int trial = now.spin[ny * kSide + nx];
            double before = boundaryEnergy(now, x, y, q);
            double after = boundaryEnergy(now, x, y, trial);
            next.spin[k] = after <= before ? trial : q;
            addSample(sp, std::fmin(before, after));
        }
}

int main(int argc, char **argv) {
    int nthreads = argc > 1 ? std::atoi(argv[1]) : 1;
    int sweeps = argc > 2 ? std::atoi(argv[2]) : 14;
    Sheet a, b;
    Spectrum sp;
    seedGrains(a);
    b = a;
    for (int s = 0; s < sweeps; ++s) {
        std::vector<std::thread> team;
        for (int t = 0; t < nthreads; ++t)
            team.emplace_back(coarsenRows, std::cref(a), std::ref(b), std::ref(sp),
                              kSide * t / nthreads, kSide * (t + 1) / nthreads, 7919u * s);
        for (auto &t : team) t.join();
        std::swap(a.spin, b.spin);
    }
    double sum = 0.0;
    for (double v : sp.bin) sum += v;
    std::printf("samples %ld  spectrum norm %.4f  low bin %.5f\n", sp.samples, sum / sp.samples,
                sp.bin[0] / sp.samples);
    return 0;
}
