#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Frame {
    int width, height;
    std::vector<uint16_t> counts;
    Frame(int w, int h) : width(w), height(h), counts(std::size_t(w) * h) {}
};

struct Limits {
    double low, high;
};

class Calibration {
public:
    Calibration(double gain, double offset, double r, double b, double f)
        : gain_(gain), offset_(offset), r_(r), b_(b), f_(f)
    {
    }
    double kelvin(uint16_t count) const
    {
        double radiance = gain_ * std::pow((count + offset_) / 4096.0, 1.035);
        double t = b_ / std::log(r_ / radiance + f_);
        return t + 0.15 * std::exp(-(t - 290.0) * (t - 290.0) / 800.0);
    }

private:
    double gain_, offset_, r_, b_, f_;
};

class Statistics {
public:
    void add(double t)
    {
        n_++;
        sum_ += t;
        sumsq_ += t * t;
        if (t > max_)
            max_ = t;
    }
    double mean() const { return sum_ / n_; }
    double deviation() const
    {
        double m = mean();
        return std::sqrt(std::fabs(sumsq_ / n_ - m * m));
    }
    double max() const { return max_; }

private:
    long n_ = 0;
    double sum_ = 0.0, sumsq_ = 0.0, max_ = 0.0;
};

static void expose(Frame &f, int number)
{
    uint32_t s = uint32_t(number) * 747796405u + 1u;
    int cx = 100 + number * 13 % 400, cy = 90 + number * 7 % 300;
    for (int y = 0; y < f.height; y++)
        for (int x = 0; x < f.width; x++) {
            s = s * 1664525u + 1013904223u;
            int d = std::abs(x - cx) + std::abs(y - cy);
            int v = 1500 + (y * 2) % 300 + int(s >> 25);
            if (d < 200)
                v += (200 - d) * 9;
            f.counts[std::size_t(y) * f.width + x] = uint16_t(v > 4095 ? 4095 : v);
        }
}

static long measure(const Frame &f, const Calibration &cal, const Limits &lim, Statistics &st)
{
    long hot = 0;
    for (int y = 0; y < f.height; y++) {
        const uint16_t *row = &f.counts[std::size_t(y) * f.width];
        for (int x = 0; x < f.width; x++) {
            double t = cal.kelvin(row[x]);
            if (t < lim.low)
                continue;
            if (t > lim.high)
                hot++;
            st.add(t);
        }
    }
    return hot;
}

int main(int argc, char **argv)
{
    int frames = argc > 1 ? std::atoi(argv[1]) : 60;
    Calibration cal(300.0, 12.0, 16000.0, 1420.0, 1.0);
    Limits lim{285.0, 330.0};
    Frame f(640, 480);
    long hot = 0;
    Statistics all;
    for (int k = 0; k < frames; k++) {
        expose(f, k);
        Statistics st;
        hot += measure(f, cal, lim, st);
        measure(f, cal, lim, all);
        if (k % 15 == 0)
            std::printf("frame %d  mean %.6f  dev %.6f  max %.6f\n", k, st.mean(),
                        st.deviation(), st.max());
    }
    std::printf("hot %ld  mean %.6f  max %.6f\n", hot, all.mean(), all.max());
    return 0;
}
