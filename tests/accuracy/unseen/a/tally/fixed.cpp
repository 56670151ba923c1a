#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <vector>
#include <omp.h>

class Stream {
public:
    explicit Stream(std::uint64_t id) : state_(id * 0x9E3779B97F4A7C15ULL + 0xD1B54A32D192ED03ULL) { next(); }
    double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

private:
    std::uint64_t next()
    {
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        return state_ * 0x2545F4914F6CDD1DULL;
    }
    std::uint64_t state_;
};

struct Slab {
    double thickness;
    double scatter;
    double absorb;
};

class Detector {
public:
    Detector(int bins, double depth) : scale_(bins / depth), count_(static_cast<std::size_t>(bins), 0) {}

    void track(double from, double to, double weight)
    {
        const auto first = static_cast<std::size_t>(std::max(0.0, std::min(from, to) * scale_));
        const auto last = static_cast<std::size_t>(std::max(0.0, std::max(from, to) * scale_));
        const auto quanta = static_cast<std::int64_t>(weight * 1e6);
        for (std::size_t bin = first; bin <= last && bin < count_.size(); ++bin)
            record(bin, quanta);
    }
    void record(std::size_t bin, std::int64_t quanta)
    {
        if (bin < count_.size())
            count_[bin] += quanta;
    }
    void merge(const Detector& other)
    {
#pragma omp critical(detector)
        for (std::size_t b = 0; b < count_.size(); ++b)
            count_[b] += other.count_[b];
    }
    std::int64_t operator[](std::size_t b) const { return count_[b]; }
    std::size_t bins() const { return count_.size(); }
    std::int64_t total() const { return std::accumulate(count_.begin(), count_.end(), std::int64_t{0}); }

private:
    double scale_;
    std::vector<std::int64_t> count_;
};

class Transport {
public:
    explicit Transport(const Slab& slab) : slab_(slab), sigma_(slab.scatter + slab.absorb) {}

    void follow(std::uint64_t id, Detector& detector) const
    {
        Stream random(id);
        double z = 0.0;
        double mu = 1.0;
        double weight = 1.0;
        while (weight > 0.01) {
            const double start = z;
            z += mu * -std::log(1.0 - random.uniform()) / sigma_;
            detector.track(start, z, weight);
            if (z < 0.0 || z >= slab_.thickness)
                return;
            weight *= slab_.scatter / sigma_;
            mu = 2.0 * random.uniform() - 1.0;
        }
    }

private:
    Slab slab_;
    double sigma_;
};

Detector simulate(const Slab& slab, std::int64_t photons, int bins)
{
    const Transport transport(slab);
    Detector detector(bins, slab.thickness);
#pragma omp parallel
    {
        Detector mine(bins, slab.thickness);
#pragma omp for schedule(dynamic, 1000)
        for (std::int64_t p = 0; p < photons; ++p)
            transport.follow(static_cast<std::uint64_t>(p) + 1, mine);
        detector.merge(mine);
    }
    return detector;
}

double mean_depth(const Detector& d, double thickness)
{
    double sum = 0.0;
    for (std::size_t b = 0; b < d.bins(); ++b)
        sum += (static_cast<double>(b) + 0.5) * static_cast<double>(d[b]);
    return sum / static_cast<double>(d.total()) * thickness / static_cast<double>(d.bins());
}

int main(int argc, char** argv)
{
    const std::int64_t photons = argc > 1 ? std::atoll(argv[1]) : 400000;
    const int bins = argc > 2 ? std::atoi(argv[2]) : 256;
    const Slab slab{4.0, 3.0, 0.3};
    const Detector d = simulate(slab, photons, bins);
    std::cout << "fluence " << d.total() << " mean depth " << mean_depth(d, slab.thickness) << '\n';
    for (std::size_t b = 0; b < d.bins(); b += 32)
        std::cout << "bin " << b << ' ' << d[b] << '\n';
    return 0;
}
