// Build a magnitude-ordered earthquake catalogue from synthetic station traces.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define NOINLINE __attribute__((noinline))

struct Event {
    double origin;
    float  lat, lon, depth;
    float  ml;
    float  misfit[10];
};

struct Rng {
    uint64_t s;
    explicit Rng(uint64_t seed) : s(seed * 0x9E3779B97F4A7C15ull + 1) {}
    double u() {
        s ^= s << 13; s ^= s >> 7; s ^= s << 17;
        return (s >> 11) * (1.0 / 9007199254740992.0);
    }
};

NOINLINE void synth_trace(std::vector<float>& tr, Rng& rng, double amp)
{
    const size_t onset = tr.size() / 4 + size_t(rng.u() * 20);
    for (size_t i = 0; i < tr.size(); ++i) {
        double v = 0.05 * (rng.u() - 0.5);
        if (i >= onset) {
            double t = 0.01 * double(i - onset);
            v += amp * std::exp(-3.0 * t) * std::sin(38.0 * t);
        }
        tr[i] = float(v);
    }
}

NOINLINE int sta_lta(const std::vector<float>& tr, double& peak)
{
    double sta = 0.0, lta = 1e-3;
    int pick = -1;
    peak = 0.0;
    for (size_t i = 0; i < tr.size(); ++i) {
        double e = double(tr[i]) * tr[i];
        sta += (e - sta) / 5.0;
        lta += (e - lta) / 60.0;
        if (pick < 0 && sta / lta > 4.0) pick = int(i);
        peak = std::max(peak, std::fabs(double(tr[i])));
    }
    return pick;
}

NOINLINE Event locate(int pick, double peak, Rng& rng)
{
    const double sx[10] = {0, 1, 2, 3, 4, 0, 1, 2, 3, 4};
    const double sy[10] = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4};
    double x = 4 * rng.u(), y = 4 * rng.u(), z = 8 + 4 * rng.u();
    Event ev{};
    for (int it = 0; it < 8; ++it) {
        double gx = 0, gy = 0;
        for (int k = 0; k < 10; ++k) {
            double d = std::sqrt((x - sx[k]) * (x - sx[k]) + (y - sy[k]) * (y - sy[k]) + z * z);
            double r = d / 6.1 - 0.01 * pick;
            gx += r * (x - sx[k]) / d;
            gy += r * (y - sy[k]) / d;
            ev.misfit[k] = float(r);
        }
        x -= 0.2 * gx; y -= 0.2 * gy;
    }
    ev.origin = pick * 0.01; ev.lat = float(x); ev.lon = float(y); ev.depth = float(z);
    ev.ml = float(std::log10(peak * 1e4 + 1.0) + 1e-3 * rng.u());
    return ev;
}

NOINLINE void add_to_catalogue(std::vector<Event>& cat, const Event& ev)
{
    auto pos = std::upper_bound(cat.begin(), cat.end(), ev,
                                [](const Event& a, const Event& b) { return a.ml > b.ml; });
    cat.insert(pos, ev);
}

NOINLINE double b_value(const std::vector<Event>& cat)
{
    double s = 0.0;
    for (const auto& e : cat) s += e.ml;
    return 0.4343 / (s / cat.size() - cat.back().ml + 0.05);
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? std::atoi(argv[1]) : 4000;
    Rng rng(7);
    std::vector<float> trace(500);
    std::vector<Event> cat;
    cat.reserve(n);
    for (int i = 0; i < n; ++i) {
        double peak, amp = std::pow(10.0, 2.0 * rng.u() - 0.6);
        synth_trace(trace, rng, amp);
        int p = sta_lta(trace, peak);
        add_to_catalogue(cat, locate(p, peak, rng));
    }
    std::printf("events %zu  largest %.2f  b %.3f\n", cat.size(), cat.front().ml, b_value(cat));
}
