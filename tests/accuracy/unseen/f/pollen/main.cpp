// Lagrangian dispersal of tree pollen from a set of stands over a landscape.
// Counts how many grain-seconds each ground cell receives.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

struct Rng {
    uint32_t a, b;
    explicit Rng(uint32_t id) : a(id * 747796405u + 2891336453u), b(id ^ 0x9e3779b9u) {
        for (int i = 0; i < 4; ++i) next();
    }
    uint32_t next() {
        b ^= b << 13; b ^= b >> 17; b ^= b << 5;
        a = a * 1664525u + 1013904223u;
        return a ^ b;
    }
    float sym() { return (int32_t)next() * 4.656613e-10f; }
    float normal() { return 1.2247f * (sym() + sym()); }
};

class GroundGrid {
public:
    GroundGrid(int n, float cell) : n_(n), inv_(1.0f / cell), cnt_(size_t(n) * n, 0), lost_(0), seen_(0) {}

    void expose(float x, float y, unsigned amount) {
        const int i = int(x * inv_), j = int(y * inv_);
        const bool inside = x >= 0 && y >= 0 && i < n_ && j < n_;
        uint64_t &slot = inside ? cnt_[size_t(j) * n_ + i] : lost_;
        #pragma omp critical
        {
            slot += amount;
            seen_ += 1;
        }
    }

    uint64_t lost() const { return lost_; }
    uint64_t seen() const { return seen_; }
    int size() const { return n_; }
    uint64_t at(int i, int j) const { return cnt_[size_t(j) * n_ + i]; }

private:
    int n_;
    float inv_;
    std::vector<uint64_t> cnt_;
    uint64_t lost_, seen_;
};

struct Stand { float x, y, height; };

struct Wind {
    float u0, v0, shear, gust;
    void at(float z, float &u, float &v) const {
        const float f = 1.0f + shear * z / (z + 10.0f);
        u = u0 * f;
        v = v0 * f;
    }
};

static void fly(const Stand &st, const Wind &w, uint32_t id, float dt, GroundGrid &g) {
    Rng r(id);
    float x = st.x + 8.0f * r.sym();
    float y = st.y + 8.0f * r.sym();
    float z = st.height * (0.6f + 0.4f * std::fabs(r.sym()));
    const float settle = 0.03f + 0.008f * r.sym();
    float tu = 0, tv = 0, tw = 0;
    for (int s = 0; s < 400 && z > 0; ++s) {
        float u, v;
        w.at(z, u, v);
        tu = 0.9f * tu + w.gust * r.normal();
        tv = 0.9f * tv + w.gust * r.normal();
        tw = 0.8f * tw + 0.4f * w.gust * r.normal();
        x += (u + tu) * dt;
        y += (v + tv) * dt;
        z += (tw - settle) * dt;
        if (z > 120.0f) z = 240.0f - z;
        g.expose(x, y, z < 2.0f ? 3u : 1u);
    }
}

int main() {
    std::vector<Stand> stands;
    Rng place(77);
    for (int i = 0; i < 40; ++i) {
        Stand s;
        s.x = 400.0f + 380.0f * place.sym();
        s.y = 1000.0f + 900.0f * place.sym();
        s.height = 14.0f + 6.0f * place.sym();
        stands.push_back(s);
    }
    const Wind wind = {2.1f, 0.3f, 0.8f, 0.5f};
    GroundGrid ground(512, 4.0f);
    const int grains = 16000;
    const long total = long(stands.size()) * grains;

    #pragma omp parallel for schedule(dynamic, 64)
    for (long k = 0; k < total; ++k)
        fly(stands[k % stands.size()], wind, uint32_t(k), 0.5f, ground);

    uint64_t sum = 0, top = 0;
    int ti = 0, tj = 0;
    for (int j = 0; j < ground.size(); ++j)
        for (int i = 0; i < ground.size(); ++i) {
            const uint64_t c = ground.at(i, j);
            sum += c;
            if (c > top) { top = c; ti = i; tj = j; }
        }
    double mx = 0, my = 0;
    for (int j = 0; j < ground.size(); ++j)
        for (int i = 0; i < ground.size(); ++i) {
            mx += double(ground.at(i, j)) * i;
            my += double(ground.at(i, j)) * j;
        }
    std::printf("exposure %llu in %llu visits, outside %llu\n", (unsigned long long)sum, (unsigned long long)ground.seen(), (unsigned long long)ground.lost());
    std::printf("peak cell (%d,%d) %llu, centre (%.4f, %.4f)\n", ti, tj, (unsigned long long)top, mx / sum, my / sum);
    return 0;
}
