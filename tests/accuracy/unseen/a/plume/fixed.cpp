#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <vector>

struct Source {
    double x, y;
    double height;
    double rate;
};

struct Weather {
    double speed;
    double cos_dir;
    double sin_dir;
    int stability;
};

class Dispersion {
public:
    explicit Dispersion(int stability)
    {
        static constexpr std::array<std::array<double, 4>, 3> table{{
            {0.22, 0.94, 0.20, 0.97}, {0.11, 0.92, 0.08, 0.89}, {0.06, 0.90, 0.03, 0.81}}};
        const auto& row = table[static_cast<std::size_t>(stability)];
        ay_ = row[0];
        by_ = row[1];
        az_ = row[2];
        bz_ = row[3];
    }
    double lateral(double distance) const { return ay_ * std::pow(distance, by_); }
    double vertical(double distance) const { return az_ * std::pow(distance, bz_); }

private:
    double ay_, by_, az_, bz_;
};

class Model {
public:
    Model(const Weather& weather, double reach) : weather_(weather), dispersion_(weather.stability), reach_(reach) {}

    double concentration(const Source& s, double x, double y) const
    {
        const double dx = x - s.x;
        const double dy = y - s.y;
        const double along = dx * weather_.cos_dir + dy * weather_.sin_dir;
        const double across = dy * weather_.cos_dir - dx * weather_.sin_dir;
        if (along <= 1.0 || along > reach_ || std::fabs(across) > 0.25 * reach_)
            return 0.0;
        const double distance = std::max(std::fabs(along), 1.0);
        const double sy = dispersion_.lateral(distance);
        const double sz = dispersion_.vertical(distance);
        const double spread = std::exp(-0.5 * across * across / (sy * sy));
        const double lift = 2.0 * std::exp(-0.5 * s.height * s.height / (sz * sz));
        return s.rate / (2.0 * M_PI * weather_.speed * sy * sz) * spread * lift;
    }

private:
    Weather weather_;
    Dispersion dispersion_;
    double reach_;
};

class Map {
public:
    Map(int cells, double width) : cells_(cells), step_(width / cells), value_(static_cast<std::size_t>(cells) * cells) {}
    void accumulate(const Model& model, const std::vector<Source>& sources, double share)
    {
        for (int j = 0; j < cells_; ++j) {
            for (int i = 0; i < cells_; ++i) {
                double sum = 0.0;
                for (const auto& s : sources)
                    sum += model.concentration(s, (i + 0.5) * step_, (j + 0.5) * step_);
                value_[static_cast<std::size_t>(j) * cells_ + i] += share * sum;
            }
        }
    }
    double peak() const { return *std::max_element(value_.begin(), value_.end()); }
    double mean() const
    {
        double sum = 0.0;
        for (double v : value_)
            sum += v;
        return sum / static_cast<double>(value_.size());
    }

private:
    int cells_;
    double step_;
    std::vector<double> value_;
};

std::vector<Source> industrial_area(int n, double width)
{
    std::vector<Source> sources;
    std::uint32_t state = 7u;
    auto uniform = [&state] {
        state = state * 1664525u + 1013904223u;
        return (state >> 8) / 16777216.0;
    };
    for (int k = 0; k < n; ++k) {
        const double x = uniform() * width;
        const double y = uniform() * width;
        const double h = 20.0 + 60.0 * uniform();
        sources.push_back({x, y, h, 1.0 + 9.0 * uniform()});
    }
    return sources;
}

int main(int argc, char** argv)
{
    const int cells = argc > 1 ? std::atoi(argv[1]) : 160;
    const int stacks = argc > 2 ? std::atoi(argv[2]) : 40;
    const int directions = argc > 3 ? std::atoi(argv[3]) : 24;
    const double width = 20000.0;
    const auto sources = industrial_area(stacks, width);
    Map map(cells, width);
    for (int d = 0; d < directions; ++d) {
        const double angle = 2.0 * M_PI * d / directions;
        const Weather weather{2.0 + d % 5, std::cos(angle), std::sin(angle), d % 3};
        map.accumulate(Model(weather, 6000.0), sources, 1.0 / directions);
    }
    std::cout << std::scientific << std::setprecision(8) << "mean " << map.mean() << " peak " << map.peak() << '\n';
    return 0;
}
