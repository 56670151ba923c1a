#include <omp.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Material {
    double sigma;
    double scatter;
    double thickness;
};

class Detector {
public:
    explicit Detector(int bins) : dose_(bins, 0), crossings_(bins, 0)
    {
        omp_init_lock(&guard_);
    }
    ~Detector() { omp_destroy_lock(&guard_); }
    int bins() const { return int(dose_.size()); }
    void deposit(int bin, long amount)
    {
        dose_[bin] += amount;
        crossings_[bin]++;
    }
    void merge(const Detector &other)
    {
        omp_set_lock(&guard_);
        for (int b = 0; b < bins(); b++) {
            dose_[b] += other.dose_[b];
            crossings_[b] += other.crossings_[b];
        }
        omp_unset_lock(&guard_);
    }
    long dose(int bin) const { return dose_[bin]; }
    long crossings(int bin) const { return crossings_[bin]; }

private:
    std::vector<long> dose_;
    std::vector<long> crossings_;
    omp_lock_t guard_;
};

class Stream {
public:
    explicit Stream(uint64_t n) : s_(n * 0x9e3779b97f4a7c15ULL + 1)
    {
        real();
        real();
    }
    double real()
    {
        s_ ^= s_ << 13;
        s_ ^= s_ >> 7;
        s_ ^= s_ << 17;
        return double(s_ >> 11) / 9007199254740992.0;
    }

private:
    uint64_t s_;
};

static int bin_of(const Material &m, int bins, double x)
{
    int b = int(x / m.thickness * bins);
    return b < 0 ? 0 : b >= bins ? bins - 1 : b;
}

static int follow(const Material &m, Detector &det, uint64_t number)
{
    Stream rng(number);
    double x = 0.0, mu = 1.0;
    long energy = 100000;
    while (energy > 500) {
        x += mu * (0.1 + 1.8 * rng.real()) / m.sigma;
        if (x < 0.0)
            return -1;
        if (x > m.thickness)
            return 1;
        long lost = energy / 16;
        det.deposit(bin_of(m, det.bins(), x), lost);
        energy -= lost;
        if (rng.real() > m.scatter)
            return 0;
        mu = 2.0 * rng.real() - 1.0;
    }
    return 0;
}

static void transport(const Material &m, Detector &det, long histories, long out[3])
{
    long back = 0, stopped = 0, through = 0;
#pragma omp parallel reduction(+ : back, stopped, through)
    {
        Detector mine(det.bins());
#pragma omp for schedule(dynamic, 1000)
        for (long h = 0; h < histories; h++) {
            int fate = follow(m, mine, uint64_t(h) + 1);
            back += fate < 0;
            stopped += fate == 0;
            through += fate > 0;
        }
        det.merge(mine);
    }
    out[0] = back;
    out[1] = stopped;
    out[2] = through;
}

int main(int argc, char **argv)
{
    long histories = argc > 1 ? std::atol(argv[1]) : 400000;
    Material lead{0.9, 0.97, 12.0};
    Detector det(24);
    long out[3];
    transport(lead, det, histories, out);
    std::printf("back %ld stopped %ld through %ld\n", out[0], out[1], out[2]);
    for (int b = 0; b < det.bins(); b += 4)
        std::printf("bin %2d  dose %ld  crossings %ld\n", b, det.dose(b), det.crossings(b));
    return 0;
}
