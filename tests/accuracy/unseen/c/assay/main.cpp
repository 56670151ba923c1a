#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

struct Curve {
    double start = 0.0;
    double step = 1.0;
    std::vector<double> sigma;

    double at(double energy) const
    {
        const double s = (energy - start) / step;
        const auto last = static_cast<double>(sigma.size() - 2);
        const double c = std::clamp(s, 0.0, last);
        const auto k = static_cast<std::size_t>(c);
        const double f = c - static_cast<double>(k);
        return sigma[k] + f * (sigma[k + 1] - sigma[k]);
    }
};

class Library {
public:
    void add(Curve c)
    {
        std::lock_guard<std::mutex> hold(guard_);
        curves_.push_back(std::move(c));
    }

    double sigma(std::size_t nuclide, double energy) const
    {
        std::lock_guard<std::mutex> hold(guard_);
        return curves_[nuclide].at(energy);
    }

    std::size_t size() const { return curves_.size(); }

private:
    mutable std::mutex guard_;
    std::vector<Curve> curves_;
};

class Dice {
public:
    explicit Dice(std::uint64_t seed) : s_(seed * 0x9e3779b97f4a7c15ull + 1) {}
    double operator()()
    {
        s_ ^= s_ << 13;
        s_ ^= s_ >> 7;
        s_ ^= s_ << 17;
        return static_cast<double>(s_ >> 11) * 0x1.0p-53;
    }

private:
    std::uint64_t s_;
};

struct Mixture {
    std::vector<double> density;
};

double macroscopic(const Library &lib, const Mixture &mix, double energy)
{
    double total = 0.0;
    for (std::size_t n = 0; n < mix.density.size(); ++n)
        total += mix.density[n] * lib.sigma(n, energy);
    return total;
}

double history(const Library &lib, const Mixture &mix, std::uint64_t id)
{
    Dice dice(id + 1);
    double energy = 2.0;
    double weight = 1.0;
    double score = 0.0;
    for (int bounce = 0; bounce < 25; ++bounce) {
        const double total = macroscopic(lib, mix, energy);
        const double absorbed = 0.05 + 0.1 * dice();
        score += weight * absorbed / (1.0 + total);
        weight *= 1.0 - absorbed;
        energy *= 0.55 + 0.45 * dice();
    }
    return score;
}

void fill(Library &lib, std::size_t nuclides)
{
    for (std::size_t n = 0; n < nuclides; ++n) {
        Curve c;
        c.step = 2.0 / 512.0;
        c.sigma.resize(514);
        Dice d(n + 77);
        std::generate(c.sigma.begin(), c.sigma.end(), [&] { return 0.5 + d(); });
        lib.add(std::move(c));
    }
}

std::vector<double> simulate(const Library &lib, const Mixture &mix, std::size_t count, unsigned workers)
{
    std::vector<double> scores(count);
    std::vector<std::thread> crew;
    for (unsigned w = 0; w < workers; ++w)
        crew.emplace_back([&, w] {
            const std::size_t lo = count * w / workers;
            const std::size_t hi = count * (w + 1) / workers;
            for (std::size_t i = lo; i < hi; ++i)
                scores[i] = history(lib, mix, i);
        });
    for (auto &t : crew)
        t.join();
    return scores;
}

int main(int argc, char **argv)
{
    const std::size_t count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 20000;
    Library lib;
    fill(lib, 12);
    Mixture mix;
    for (std::size_t n = 0; n < lib.size(); ++n)
        mix.density.push_back(0.1 + 0.02 * static_cast<double>(n));
    const auto scores = simulate(lib, mix, count, 2);
    const double sum = std::accumulate(scores.begin(), scores.end(), 0.0);
    std::printf("histories %zu mean score %.12f\n", count, sum / static_cast<double>(count));
    return 0;
}
