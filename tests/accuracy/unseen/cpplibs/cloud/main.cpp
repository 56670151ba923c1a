// Reflected sunlight of a scene with a cloud field: photon paths in plane layers,
// independent columns, image rows distributed over a few threads.
// usage: main [columns] [rows] [photons per pixel] [threads]
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <thread>
#include <vector>

struct Rng {
    std::uint64_t s;
    explicit Rng(std::uint64_t seed) : s(seed * 0x9e3779b97f4a7c15ull + 0x1234567ull) { next(); next(); }
    std::uint64_t next() {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        return s * 0x2545f4914f6cdd1dull;
    }
    double uniform() { return (static_cast<double>(next() >> 11) + 0.5) * (1.0 / 9007199254740992.0); }
};

struct Layer {
    double tau;      // optical thickness
    double albedo;   // single scattering albedo
    double g;        // asymmetry
};

using Column = std::array<Layer, 4>;

struct Outcome {
    long reflected = 0;
    long surface = 0;
    long scatterings = 0;
    Outcome& operator+=(const Outcome& o) {
        reflected += o.reflected;
        surface += o.surface;
        scatterings += o.scatterings;
        return *this;
    }
};

class Scene {
public:
    Scene(int nx, int ny) : nx_(nx), ny_(ny), columns_(static_cast<std::size_t>(nx) * ny) {
        for (int j = 0; j < ny; ++j)
            for (int i = 0; i < nx; ++i) {
                const double x = double(i) / nx, y = double(j) / ny;
                const double deck = 1.0 / (1.0 + std::exp((y - 0.55) * 40.0));
                const double ripple = 0.75 + 0.25 * std::sin(23.0 * x + 9.0 * y) * std::cos(17.0 * y - 5.0 * x);
                Column& c = columns_[index(i, j)];
                c[0] = {0.05, 1.0, 0.0};
                c[1] = {0.02 + 24.0 * deck * ripple, 0.9995, 0.85};
                c[2] = {0.10 + 0.05 * x, 0.95, 0.65};
                c[3] = {0.05, 1.0, 0.0};
            }
    }
    int width() const { return nx_; }
    int height() const { return ny_; }
    const Column& at(int i, int j) const { return columns_[index(i, j)]; }
    std::size_t index(int i, int j) const { return static_cast<std::size_t>(j) * nx_ + i; }

private:
    int nx_, ny_;
    std::vector<Column> columns_;
};

double henyeyGreenstein(double g, double xi) {
    if (std::fabs(g) < 1e-6) return 2.0 * xi - 1.0;
    const double f = (1.0 - g * g) / (1.0 - g + 2.0 * g * xi);
    return (1.0 + g * g - f * f) / (2.0 * g);
}

Outcome followPhoton(const Column& column, double mu0, double ground, Rng& rng) {
    Outcome out;
    std::size_t layer = 0;
    double depth = 0.0;
    double mu = mu0;
    for (;;) {
        double free = -std::log(rng.uniform());
        for (;;) {
            const double room = mu > 0 ? (column[layer].tau - depth) / mu : depth / -mu;
            if (free < room) {
                depth += mu * free;
                break;
            }
            free -= room;
            if (mu < 0) {
                if (layer == 0) {
                    ++out.reflected;
                    return out;
                }
                depth = column[--layer].tau;
            } else if (layer + 1 < column.size()) {
                ++layer;
                depth = 0.0;
            } else {
                if (rng.uniform() >= ground) {
                    ++out.surface;
                    return out;
                }
                depth = column[layer].tau;
                mu = -std::sqrt(rng.uniform());
            }
        }
        const Layer& l = column[layer];
        if (rng.uniform() > l.albedo) return out;
        ++out.scatterings;
        const double ct = henyeyGreenstein(l.g, rng.uniform());
        const double st = std::sqrt(std::max(0.0, 1.0 - ct * ct));
        const double cphi = std::cos(2.0 * M_PI * rng.uniform());
        mu = mu * ct + std::sqrt(std::max(0.0, 1.0 - mu * mu)) * st * cphi;
        if (std::fabs(mu) < 1e-9) mu = 1e-9;
    }
}

template <class Pixel>
void renderRows(const Scene& scene, int begin, int end, std::vector<Outcome>& image, Pixel&& pixel) {
    for (int j = begin; j < end; ++j)
        for (int i = 0; i < scene.width(); ++i) image[scene.index(i, j)] = pixel(i, j);
}

std::vector<Outcome> render(const Scene& scene, int photons, int threads) {
    std::vector<Outcome> image(static_cast<std::size_t>(scene.width()) * scene.height());
    auto pixel = [&](int i, int j) {
        Rng rng(scene.index(i, j) + 1);
        Outcome sum;
        for (int p = 0; p < photons; ++p) sum += followPhoton(scene.at(i, j), 0.8, 0.15, rng);
        return sum;
    };
    std::vector<std::thread> crew;
    const int share = (scene.height() + threads - 1) / threads;
    for (int t = 0; t < threads; ++t) {
        const int begin = std::min(scene.height(), t * share);
        const int end = std::min(scene.height(), begin + share);
        crew.emplace_back([&, begin, end] { renderRows(scene, begin, end, image, pixel); });
    }
    for (auto& t : crew) t.join();
    return image;
}

int main(int argc, char** argv) {
    const int nx = argc > 1 ? std::atoi(argv[1]) : 96;
    const int ny = argc > 2 ? std::atoi(argv[2]) : 96;
    const int photons = argc > 3 ? std::atoi(argv[3]) : 100;
    const int threads = argc > 4 ? std::atoi(argv[4]) : 2;

    const Scene scene(nx, ny);
    const auto image = render(scene, photons, threads);
    const Outcome all = std::accumulate(image.begin(), image.end(), Outcome{}, [](Outcome a, const Outcome& b) { return a += b; });
    const double n = double(image.size()) * photons;
    std::printf("scene %d x %d, %d photons per pixel\n", nx, ny, photons);
    std::printf("planetary albedo   %.6f\n", all.reflected / n);
    std::printf("surface absorption %.6f\n", all.surface / n);
    std::printf("scatterings/photon %.6f\n", all.scatterings / n);
    for (int band = 0; band < 4; ++band) {
        long r = 0;
        for (int j = band * ny / 4; j < (band + 1) * ny / 4; ++j)
            for (int i = 0; i < nx; ++i) r += image[scene.index(i, j)].reflected;
        std::printf("  band %d reflectance %.5f\n", band, 4.0 * r / n);
    }
    return 0;
}
