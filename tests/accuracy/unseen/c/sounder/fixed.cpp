#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <vector>

template <std::size_t N>
struct Atmosphere {
    std::array<double, N> pressure;
    std::array<double, N> temperature;
    std::array<double, N> humidity;
    double step;
};

using Column = Atmosphere<192>;

class Absorber {
public:
    virtual ~Absorber() = default;
    virtual double at(const Column& air, double height, double wave) const = 0;
};

struct Weights {
    std::size_t lower;
    double upper_part;
};

static Weights locate(const Column& air, double height) {
    const double x = height / air.step;
    const auto k = static_cast<std::size_t>(x);
    const std::size_t last = air.pressure.size() - 2;
    return k > last ? Weights{last, 1.0} : Weights{k, x - static_cast<double>(k)};
}

template <class Table>
static double blend(const Table& t, const Weights& w) {
    return t[w.lower] + w.upper_part * (t[w.lower + 1] - t[w.lower]);
}

class Vapour final : public Absorber {
public:
    explicit Vapour(std::vector<double> lines) : lines_(std::move(lines)) {}
    double at(const Column& air, double height, double wave) const override {
        const Weights w = locate(air, height);
        const double width = 0.02 + 0.1 * blend(air.pressure, w);
        double sum = 0.0;
        for (const double line : lines_) {
            const double d = wave - line;
            sum += width / (d * d + width * width);
        }
        return sum * blend(air.humidity, w);
    }

private:
    std::vector<double> lines_;
};

class Continuum final : public Absorber {
public:
    explicit Continuum(double strength) : strength_(strength) {}
    double at(const Column& air, double height, double wave) const override {
        const Weights w = locate(air, height);
        const double t = blend(air.temperature, w);
        return strength_ * blend(air.pressure, w) * (300.0 / t) / (1.0 + wave);
    }

private:
    double strength_;
};

static Column standard_column() {
    Column c{};
    c.step = 0.25;
    for (std::size_t k = 0; k < c.pressure.size(); ++k) {
        const double z = static_cast<double>(k) * c.step;
        c.pressure[k] = std::exp(-z / 8.0);
        c.temperature[k] = z < 12.0 ? 288.0 - 6.0 * z : 216.0 + 0.5 * (z - 12.0);
        c.humidity[k] = 0.01 * std::exp(-z / 2.0);
    }
    return c;
}

class Sounder {
public:
    Sounder(Column air, std::vector<std::unique_ptr<Absorber>> gases)
        : air_(air), gases_(std::move(gases)) {}

    double depth(double wave, int layers) const {
        double tau = 0.0;
        const double dz = 47.0 / layers;
        for (int l = 0; l < layers; ++l) {
            const double z = (l + 0.5) * dz;
            for (const auto& g : gases_) tau += g->at(air_, z, wave) * dz;
        }
        return tau;
    }

private:
    Column air_;
    std::vector<std::unique_ptr<Absorber>> gases_;
};

int main(int argc, char** argv) {
    const int waves = argc > 1 ? std::atoi(argv[1]) : 8000;
    std::vector<std::unique_ptr<Absorber>> gases;
    gases.push_back(std::make_unique<Vapour>(std::vector<double>{0.8, 1.4, 1.9, 2.7}));
    gases.push_back(std::make_unique<Vapour>(std::vector<double>{0.6, 2.1}));
    gases.push_back(std::make_unique<Continuum>(0.003));
    const Sounder sounder(standard_column(), std::move(gases));
    std::vector<double> tau(waves);
    for (int i = 0; i < waves; ++i) tau[i] = sounder.depth(0.5 + 2.5 * i / waves, 400);
    const double mean = std::accumulate(tau.begin(), tau.end(), 0.0) / waves;
    std::printf("mean depth %.10f\n", mean);
    for (int i = 0; i < waves; i += waves / 8) std::printf("%6d %.10f\n", i, tau[i]);
}
