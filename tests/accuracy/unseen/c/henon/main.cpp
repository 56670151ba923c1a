#include <immintrin.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace henon {

using Real4 = double __attribute__((vector_size(32)));
using Int4 = std::int64_t __attribute__((vector_size(32)));

constexpr int kGroups = 3;
constexpr int kLanes = 4 * kGroups;
constexpr int kBurst = 400;
constexpr double kDissipation = 0.3;

struct Point {
    double parameter;
    double exponent;
    double position;
};

template <int G>
struct Bundle {
    std::array<Real4, G> a, x, xp, w, wp;
    std::array<Int4, G> power;
};

template <int G>
Bundle<G> prepare(const Point* p) {
    Bundle<G> s{};
    for (int g = 0; g < G; ++g)
        for (int l = 0; l < 4; ++l) {
            const double a = p[4 * g + l].parameter;
            s.a[g][l] = a;
            s.x[g][l] = 0.1 * a;
            s.xp[g][l] = 0.1 * a;
            s.w[g][l] = 1.0;
            s.wp[g][l] = 0.5;
        }
    return s;
}

struct Orbit {
    Real4 a, x, xp, w, wp;
    template <int G>
    Orbit(const Bundle<G>& s, int g) : a(s.a[g]), x(s.x[g]), xp(s.xp[g]), w(s.w[g]), wp(s.wp[g]) {}
    void forth() {
        wp = _mm256_fnmadd_pd(x, w, kDissipation / 4.0 * wp);
        xp = _mm256_fnmadd_pd(x, x, kDissipation * xp + a);
    }
    void back() {
        w = _mm256_fnmadd_pd(xp, wp, kDissipation / 4.0 * w);
        x = _mm256_fnmadd_pd(xp, xp, kDissipation * x + a);
    }
    template <int G>
    void store(Bundle<G>& s, int g) const {
        s.x[g] = x;
        s.xp[g] = xp;
        s.w[g] = w;
        s.wp[g] = wp;
    }
};

void burst(Bundle<3>& s, int steps) {
    Orbit p(s, 0), q(s, 1), r(s, 2);
    for (int k = 0; k < steps; k += 2) {
        p.forth();
        q.forth();
        r.forth();
        p.back();
        q.back();
        r.back();
    }
    p.store(s, 0);
    q.store(s, 1);
    r.store(s, 2);
}

template <int G>
void rescale(Bundle<G>& s) {
    for (int g = 0; g < G; ++g) {
        const Real4 m = s.w[g] * s.w[g] > s.wp[g] * s.wp[g] ? s.w[g] : s.wp[g];
        const Int4 e = ((reinterpret_cast<const Int4&>(m) >> 52) & 0x7ff) - 1023;
        const Int4 f = (1023 - e) << 52;
        const Real4 scale = reinterpret_cast<const Real4&>(f);
        s.w[g] *= scale;
        s.wp[g] *= scale;
        s.power[g] += e;
    }
}

template <int G>
void follow(Point* p, int bursts) {
    Bundle<G> s = prepare<G>(p);
    for (int b = 0; b < 4; ++b) {
        burst(s, kBurst);
        rescale(s);
    }
    s.power = {};
    for (int b = 0; b < bursts; ++b) {
        burst(s, kBurst);
        rescale(s);
    }
    const double steps = static_cast<double>(bursts) * kBurst;
    for (int g = 0; g < G; ++g)
        for (int l = 0; l < 4; ++l) {
            const double bits = static_cast<double>(s.power[g][l]) / steps;
            p[4 * g + l].exponent = (1.0 + bits) * std::log(2.0);
            p[4 * g + l].position = s.x[g][l] / s.a[g][l];
        }
}

void scan(std::vector<Point>& points, int bursts, int workers) {
    const int blocks = static_cast<int>(points.size()) / kLanes;
    std::vector<std::thread> crew;
    for (int t = 0; t < workers; ++t)
        crew.emplace_back([&points, bursts, first = blocks * t / workers,
                           last = blocks * (t + 1) / workers] {
            for (int b = first; b < last; ++b)
                follow<kGroups>(points.data() + b * kLanes, bursts);
        });
    for (auto& t : crew) t.join();
}

}

int main(int argc, char** argv) {
    const int bursts = argc > 1 ? std::atoi(argv[1]) : 5000;
    std::vector<henon::Point> points(henon::kLanes * 1000);
    for (std::size_t i = 0; i < points.size(); ++i)
        points[i].parameter = 1.0 + 0.4 * static_cast<double>(i) / static_cast<double>(points.size());
    henon::scan(points, bursts, 2);
    int chaotic = 0;
    for (const auto& p : points) chaotic += p.exponent > 0.0;
    std::printf("chaotic %d of %zu\n", chaotic, points.size());
    for (std::size_t i = 0; i < points.size(); i += 1500)
        std::printf("%.6f %10.6f %10.6f\n", points[i].parameter, points[i].exponent, points[i].position);
}
