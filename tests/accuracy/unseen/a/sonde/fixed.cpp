#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

struct Level {
    double height, temperature, humidity, east, north;
};

struct Balloon {
    double x, y, z, fill;
    int burst;
};

class Noise {
    std::uint64_t state_;

public:
    explicit Noise(std::uint64_t seed) : state_(seed) {}
    double operator()()
    {
        state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
        return static_cast<double>(state_ >> 11) / 9007199254740992.0;
    }
};

class Atmosphere {
    int across_;
    double spacing_;
    std::vector<std::vector<Level>> columns_;

public:
    Atmosphere(int across, double spacing, int levels) : across_(across), spacing_(spacing)
    {
        Noise noise(77);
        columns_.reserve(static_cast<std::size_t>(across) * across);
        for (int c = 0; c < across * across; ++c) {
            std::vector<Level> column;
            column.reserve(levels);
            double z = 0.0;
            for (int k = 0; k < levels; ++k) {
                const double t = 288.0 - 0.0065 * std::min(z, 11000.0) + noise();
                column.push_back({z, t, 0.8 / (1.0 + z / 2500.0), 25.0 * noise() - 8.0, 16.0 * noise() - 8.0});
                z += 40.0 + 80.0 * noise();
            }
            columns_.push_back(std::move(column));
        }
    }

    const std::vector<Level>& column(double x, double y) const
    {
        const int i = std::clamp(static_cast<int>(x / spacing_), 0, across_ - 1);
        const int j = std::clamp(static_cast<int>(y / spacing_), 0, across_ - 1);
        return columns_[static_cast<std::size_t>(j) * across_ + i];
    }

    double extent() const { return across_ * spacing_; }
};

Level blend(const Level& a, const Level& b, double w)
{
    const auto mix = [w](double p, double q) { return p + w * (q - p); };
    return {mix(a.height, b.height), mix(a.temperature, b.temperature), mix(a.humidity, b.humidity),
            mix(a.east, b.east), mix(a.north, b.north)};
}

Level conditions(const Atmosphere& air, const Balloon& b)
{
    const auto& profile = air.column(b.x, b.y);
    const auto above = std::upper_bound(profile.begin(), profile.end(), b.z,
                                        [](double z, const Level& l) { return z < l.height; });
    if (above == profile.begin())
        return profile.front();
    if (above == profile.end())
        return profile.back();
    const auto below = above - 1;
    return blend(*below, *above, (b.z - below->height) / (above->height - below->height));
}

double ascent(const Level& l, double fill)
{
    const double density = 101325.0 / (287.0 * l.temperature * (1.0 + 0.61 * 0.01 * l.humidity));
    return 4.0 + fill / density;
}

void drift(const Atmosphere& air, Balloon& b, double dt)
{
    const Level here = conditions(air, b);
    Balloon half = b;
    half.x += 0.5 * dt * here.east;
    half.y += 0.5 * dt * here.north;
    half.z += 0.5 * dt * ascent(here, b.fill);
    const Level there = conditions(air, half);
    b.x += dt * there.east;
    b.y += dt * there.north;
    b.z += dt * ascent(there, b.fill);
    if (b.z > 26000.0) {
        b.z = 10.0;
        ++b.burst;
    }
}

std::vector<Balloon> launch(int count, double extent)
{
    Noise noise(5);
    std::vector<Balloon> fleet(count);
    std::generate(fleet.begin(), fleet.end(), [&] {
        return Balloon{extent * noise(), extent * noise(), 2000.0 * noise(), 1.0 + noise(), 0};
    });
    return fleet;
}

int main(int argc, char** argv)
{
    const int count = argc > 1 ? std::atoi(argv[1]) : 2000;
    const int steps = argc > 2 ? std::atoi(argv[2]) : 1000;
    const Atmosphere air(4, 25000.0, 400);
    auto fleet = launch(count, air.extent());
    for (int s = 0; s < steps; ++s)
        for (auto& b : fleet)
            drift(air, b, 10.0);
    const double x = std::accumulate(fleet.begin(), fleet.end(), 0.0, [](double a, const Balloon& b) { return a + b.x; });
    const double z = std::accumulate(fleet.begin(), fleet.end(), 0.0, [](double a, const Balloon& b) { return a + b.z; });
    const int burst = std::accumulate(fleet.begin(), fleet.end(), 0, [](int a, const Balloon& b) { return a + b.burst; });
    std::printf("x %.6f z %.6f burst %d\n", x / count, z / count, burst);
}
