// Multi-road cellular traffic (Nagel-Schreckenberg) with travel statistics.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

constexpr int ROADS = 96, LEN = 1500, VMAX = 5, STEPS = 1400;

struct Road {
    std::vector<int8_t> speed;      // -1: empty cell
    std::vector<int8_t> next;
    uint64_t rng;
};

struct Survey {
    std::mutex guard;
    std::vector<long> hist = std::vector<long>(VMAX + 1, 0);
    long moved = 0, crossings = 0;

    __attribute__((noinline)) void observe(int v, bool wrapped)
    {
        std::lock_guard<std::mutex> hold(guard);
        ++hist[v];
        moved += v;
        crossings += wrapped;
    }
};

__attribute__((noinline)) void populate(Road& r, int id)
{
    r.speed.assign(LEN, -1);
    r.next.assign(LEN, -1);
    r.rng = 0x9E3779B97F4A7C15ull * uint64_t(id + 1);
    for (int i = 0; i < LEN; ++i) {
        r.rng ^= r.rng << 13; r.rng ^= r.rng >> 7; r.rng ^= r.rng << 17;
        if (r.rng % 100 < 22) r.speed[i] = int8_t(r.rng % (VMAX + 1));
    }
}

__attribute__((noinline)) int gap_ahead(const Road& r, int i, int limit)
{
    int g = 0;
    while (g < limit) {
        int c = i + g + 1;
        if (c >= LEN) c -= LEN;
        if (r.speed[c] >= 0) break;
        ++g;
    }
    return g;
}

__attribute__((noinline)) void advance(Road& r, Survey& sv, double dawdle)
{
    std::fill(r.next.begin(), r.next.end(), int8_t(-1));
    const uint64_t cut = uint64_t(dawdle * 1024);
    for (int i = 0; i < LEN; ++i) {
        if (r.speed[i] < 0) continue;
        int v = std::min(r.speed[i] + 1, VMAX);
        v = std::min(v, gap_ahead(r, i, v));
        r.rng ^= r.rng << 13; r.rng ^= r.rng >> 7; r.rng ^= r.rng << 17;
        if (v > 0 && (r.rng & 1023) < cut) --v;
        int c = i + v;
        bool wrapped = c >= LEN;
        if (wrapped) c -= LEN;
        r.next[c] = int8_t(v);
        sv.observe(v, wrapped);
    }
    r.speed.swap(r.next);
}

static void drive(std::vector<Road>& roads, Survey& sv, int first, int last)
{
    for (int t = 0; t < STEPS; ++t)
        for (int k = first; k < last; ++k) advance(roads[k], sv, 0.15);
}

int main(int argc, char** argv)
{
    const int nt = argc > 1 ? std::atoi(argv[1]) : 1;
    std::vector<Road> roads(ROADS);
    for (int k = 0; k < ROADS; ++k) populate(roads[k], k);
    Survey sv;
    std::vector<std::thread> crew;
    for (int t = 0; t < nt; ++t)
        crew.emplace_back(drive, std::ref(roads), std::ref(sv), ROADS * t / nt, ROADS * (t + 1) / nt);
    for (auto& th : crew) th.join();
    long cars = std::accumulate(sv.hist.begin(), sv.hist.end(), 0L);
    std::printf("car-steps %ld  mean speed %.4f  flow %.5f\n", cars, double(sv.moved) / cars,
                double(sv.crossings) / (double(ROADS) * STEPS));
    for (int v = 0; v <= VMAX; ++v) std::printf("  v=%d %.4f\n", v, double(sv.hist[v]) / cars);
}
