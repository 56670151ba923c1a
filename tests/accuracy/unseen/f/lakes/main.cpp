// Depression hierarchy of a digital elevation model: cells are flooded from
// the lowest upwards, closed depressions meet at saddles, and the depth of the
// shallower one at that moment is booked as its storage depth.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

namespace terrain {

class Noise {
public:
    explicit Noise(std::uint64_t seed) : s_(seed * 2654435761ull + 12345) {}
    double operator()() {
        s_ ^= s_ << 13;
        s_ ^= s_ >> 7;
        s_ ^= s_ << 17;
        return static_cast<double>(s_ >> 11) * (1.0 / 9007199254740992.0);
    }

private:
    std::uint64_t s_;
};

struct Dem {
    int nx, ny;
    std::vector<double> z;
    double &at(int x, int y) { return z[static_cast<std::size_t>(y) * nx + x]; }
};

Dem synthesize(int nx, int ny, std::uint64_t seed) {
    Dem d{nx, ny, std::vector<double>(static_cast<std::size_t>(nx) * ny)};
    Noise rnd(seed);
    for (auto &v : d.z) v = rnd();
    std::vector<double> t(d.z.size());
    for (int pass = 0; pass < 3; ++pass) {
        for (int y = 0; y < ny; ++y)
            for (int x = 0; x < nx; ++x) {
                double s = 0;
                int c = 0;
                for (int dy = -1; dy <= 1; ++dy)
                    for (int dx = -1; dx <= 1; ++dx) {
                        int xx = x + dx, yy = y + dy;
                        if (xx < 0 || yy < 0 || xx >= nx || yy >= ny) continue;
                        s += d.at(xx, yy);
                        ++c;
                    }
                t[static_cast<std::size_t>(y) * nx + x] = s / c;
            }
        d.z.swap(t);
    }
    for (int y = 0; y < ny; ++y)
        for (int x = 0; x < nx; ++x)
            d.at(x, y) += 0.04 * std::sin(0.05 * x) * std::cos(0.07 * y);
    return d;
}

} // namespace terrain

class Depressions {
public:
    Depressions(const terrain::Dem &dem)
        : dem_(dem), basin_(dem.z.size(), -1), cells_(dem.z.size()),
          floor_(dem.z.size()) {}

    void flood() {
        std::vector<int> order(dem_.z.size());
        std::iota(order.begin(), order.end(), 0);
        std::sort(order.begin(), order.end(), [this](int a, int b) {
            return dem_.z[a] < dem_.z[b] || (dem_.z[a] == dem_.z[b] && a < b);
        });
        for (int c : order) wet(c);
    }

    const std::vector<double> &depths() const { return depths_; }

private:
    void wet(int c) {
        basin_[c] = c;
        cells_[c].push_back(c);
        floor_[c] = dem_.z[c];
        const int x = c % dem_.nx, y = c / dem_.nx;
        if (x > 0) meet(c, c - 1);
        if (x + 1 < dem_.nx) meet(c, c + 1);
        if (y > 0) meet(c, c - dem_.nx);
        if (y + 1 < dem_.ny) meet(c, c + dem_.nx);
    }

    void meet(int c, int other) {
        if (basin_[other] < 0) return;
        int a = basin_[c], b = basin_[other];
        if (a == b) return;
        const double level = dem_.z[c];
        const double depth = level - std::max(floor_[a], floor_[b]);
        if (depth > 0) depths_.push_back(depth);
        absorb(a, b);
    }

    void absorb(int into, int from) {
        floor_[into] = std::min(floor_[into], floor_[from]);
        auto &dst = cells_[into];
        auto &src = cells_[from];
        for (int c : src) basin_[c] = into;
        dst.insert(dst.end(), src.begin(), src.end());
        src.clear();
        src.shrink_to_fit();
    }

    const terrain::Dem &dem_;
    std::vector<int> basin_;
    std::vector<std::vector<int>> cells_;
    std::vector<double> floor_;
    std::vector<double> depths_;
};

int main() {
    const int nx = 288, ny = 256, sheets = 3;
    for (int s = 1; s <= sheets; ++s) {
        terrain::Dem dem = terrain::synthesize(nx, ny, 1000 + s);
        Depressions dep(dem);
        dep.flood();
        std::vector<double> d = dep.depths();
        std::sort(d.begin(), d.end());
        double total = std::accumulate(d.begin(), d.end(), 0.0);
        std::printf("sheet %d: %zu depressions, total depth %.6f, median %.6f, deepest %.6f\n",
                    s, d.size(), total, d[d.size() / 2], d.back());
    }
    return 0;
}
