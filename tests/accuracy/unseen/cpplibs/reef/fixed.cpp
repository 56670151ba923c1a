// Dispersal of coral larvae in a tidal eddy field and the settlement density it leaves on a coastal grid.
// usage: main [larvae] [steps]
#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <execution>
#include <numeric>
#include <vector>

namespace reef {

struct Larva {
    float x, y;
    float competence;
    std::uint32_t stream;
};

inline float jitter(std::uint32_t& s) {
    s ^= s << 13;
    s ^= s >> 17;
    s ^= s << 5;
    return static_cast<float>(s >> 8) * (2.0f / 16777216.0f) - 1.0f;
}

class Current {
public:
    explicit Current(int n) : n_(n), u_(n * n), v_(n * n) {
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i) {
                const double x = 2.0 * M_PI * i / n, y = 2.0 * M_PI * j / n;
                u_[j * n + i] = static_cast<float>(0.4 * std::sin(2 * y) * std::cos(x) + 0.15 * std::cos(3 * x + y));
                v_[j * n + i] = static_cast<float>(-0.4 * std::cos(2 * y) * std::sin(x) + 0.15 * std::sin(2 * x - 3 * y));
            }
    }
    void at(float x, float y, float& u, float& v) const {
        const int i = static_cast<int>(x * n_) & (n_ - 1), j = static_cast<int>(y * n_) & (n_ - 1);
        u = u_[j * n_ + i];
        v = v_[j * n_ + i];
    }

private:
    int n_;
    std::vector<float> u_, v_;
};

class Density {
public:
    Density(int n, int radius) : n_(n), radius_(radius), cells_(static_cast<std::size_t>(n) * n, 0.0) {}

    void spread(const Larva& l) {
        const float gx = l.x * n_, gy = l.y * n_;
        const int ci = static_cast<int>(gx), cj = static_cast<int>(gy);
        const float h = 1.0f / static_cast<float>(radius_ * radius_);
        for (int j = cj - radius_; j <= cj + radius_; ++j) {
            if (j < 0 || j >= n_) continue;
            const float dy = gy - (j + 0.5f);
            double* row = &cells_[static_cast<std::size_t>(j) * n_];
            const int first = std::max(0, ci - radius_), last = std::min(n_ - 1, ci + radius_);
            for (int i = first; i <= last; ++i) {
                const float dx = gx - (i + 0.5f);
                const float q = std::max(0.0f, 1.0f - (dx * dx + dy * dy) * h);
                row[i] += l.competence * q * q;
            }
        }
    }

    Density& operator+=(const Density& o) {
        std::transform(cells_.begin(), cells_.end(), o.cells_.begin(), cells_.begin(), std::plus<>());
        return *this;
    }
    int size() const { return n_; }
    int radius() const { return radius_; }
    double total() const { return std::accumulate(cells_.begin(), cells_.end(), 0.0); }
    double highest() const { return *std::max_element(cells_.begin(), cells_.end()); }
    double share(double level) const {
        return double(std::count_if(cells_.begin(), cells_.end(), [=](double c) { return c > level; })) / double(cells_.size());
    }

private:
    int n_, radius_;
    std::vector<double> cells_;
};

class Model {
public:
    Model(std::size_t larvae, int grid) : current_(256), density_(grid, 4), larvae_(larvae) {
        std::uint32_t s = 2463534242u;
        for (auto& l : larvae_) {
            l.x = 0.3f + 0.1f * jitter(s);
            l.y = 0.6f + 0.1f * jitter(s);
            l.competence = 0.0f;
            l.stream = s | 1u;
        }
    }

    void step(float dt) {
        drift(dt);
        settle();
    }

    const Density& density() const { return density_; }
    const std::vector<Larva>& larvae() const { return larvae_; }

private:
    void drift(float dt) {
        std::for_each(std::execution::par, larvae_.begin(), larvae_.end(), [this, dt](Larva& l) {
            float u, v, um, vm;
            current_.at(l.x, l.y, u, v);
            current_.at(wrap(l.x + 0.5f * dt * u), wrap(l.y + 0.5f * dt * v), um, vm);
            l.x = wrap(l.x + dt * um + 0.004f * jitter(l.stream));
            l.y = wrap(l.y + dt * vm + 0.004f * jitter(l.stream));
            l.competence += (1.0f - l.competence) * 0.05f;
        });
    }

    void settle() {
        tbb::enumerable_thread_specific<Density> part(Density(density_.size(), density_.radius()));
        tbb::parallel_for(tbb::blocked_range<std::size_t>(0, larvae_.size(), 2048), [&](const tbb::blocked_range<std::size_t>& r) {
            Density& mine = part.local();
            for (std::size_t i = r.begin(); i != r.end(); ++i) mine.spread(larvae_[i]);
        });
        part.combine_each([this](const Density& d) { density_ += d; });
    }

    static float wrap(float x) {
        x -= std::floor(x);
        return x < 1.0f ? x : 0.0f;
    }

    Current current_;
    Density density_;
    std::vector<Larva> larvae_;
};

}  // namespace reef

int main(int argc, char** argv) {
    const std::size_t larvae = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 100000;
    const int steps = argc > 2 ? std::atoi(argv[2]) : 200;

    reef::Model model(larvae, 192);
    for (int s = 0; s < steps; ++s) model.step(0.02f);

    double cx = 0, cy = 0;
    for (const auto& l : model.larvae()) {
        cx += l.x;
        cy += l.y;
    }
    const double total = model.density().total();
    std::printf("%zu larvae, %d steps\n", larvae, steps);
    std::printf("centre %.6f %.6f\n", cx / double(larvae), cy / double(larvae));
    std::printf("density sum %.8g, maximum %.8g\n", total, model.density().highest());
    std::printf("area above mean %.5f\n", model.density().share(total / (192.0 * 192.0)));
    return 0;
}
