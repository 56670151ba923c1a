#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <vector>

struct Drifter {
    double x, y;
    double u, v;
    uint32_t release;
    uint32_t depth;
};

using Swarm = std::list<Drifter>;

struct Box {
    double x0, x1, y0, y1;
};

static uint64_t word(uint64_t &s)
{
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    return s;
}

static double real(uint64_t &s)
{
    return double(word(s) >> 11) / 9007199254740992.0;
}

static Drifter launch(uint64_t &s, uint32_t n, uint32_t count)
{
    Drifter d;
    d.x = 100.0 * real(s);
    d.y = 100.0 * real(s);
    d.u = real(s) - 0.5;
    d.v = real(s) - 0.5;
    d.release = uint32_t((uint64_t(n) * 2654435761ULL) % count);
    d.depth = uint32_t(word(s) % 40);
    return d;
}

static bool earlier(const Drifter &a, const Drifter &b)
{
    return a.release < b.release;
}

static Swarm release_all(uint32_t count)
{
    uint64_t s = 0x853c49e6748fea9bULL;
    Swarm swarm;
    for (uint32_t i = 0; i < count; i++)
        swarm.push_back(launch(s, i, count));
    swarm.sort(earlier);
    return swarm;
}

static void advect(Swarm &swarm, double dt)
{
    for (Drifter &d : swarm) {
        d.x += d.u * dt;
        d.y += d.v * dt;
        if (d.x < 0.0 || d.x > 100.0)
            d.u = -d.u;
        if (d.y < 0.0 || d.y > 100.0)
            d.v = -d.v;
    }
}

static long inside(const Swarm &swarm, const Box &b)
{
    long n = 0;
    for (const Drifter &d : swarm)
        n += d.x >= b.x0 && d.x < b.x1 && d.y >= b.y0 && d.y < b.y1;
    return n;
}

static double first_mean(const Swarm &swarm, int how_many)
{
    double sum = 0.0;
    int n = 0;
    for (const Drifter &d : swarm) {
        sum += d.x + d.y;
        if (++n == how_many)
            break;
    }
    return sum / n;
}

static std::vector<long> depth_profile(const Swarm &swarm)
{
    std::vector<long> bins(4, 0);
    for (const Drifter &d : swarm)
        bins[d.depth / 10]++;
    return bins;
}

int main(int argc, char **argv)
{
    uint32_t count = argc > 1 ? uint32_t(std::atoi(argv[1])) : 700000u;
    int steps = argc > 2 ? std::atoi(argv[2]) : 12;
    Swarm swarm = release_all(count);
    Box bay{20.0, 45.0, 30.0, 60.0};
    for (int t = 0; t < steps; t++) {
        advect(swarm, 0.5);
        if (t % 4 == 3)
            std::printf("t %.1f  in bay %ld  early mean %.8f\n", 0.5 * (t + 1),
                        inside(swarm, bay), first_mean(swarm, 1000));
    }
    std::vector<long> bins = depth_profile(swarm);
    for (std::size_t k = 0; k < bins.size(); k++)
        std::printf("depth %zu0 m: %ld\n", k, bins[k]);
    return 0;
}
