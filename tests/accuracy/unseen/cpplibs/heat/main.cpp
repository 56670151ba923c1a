// Heat conduction in a heterogeneous block, explicit scheme.
// usage: main [edge cells] [steps]
#include <tbb/blocked_range2d.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/partitioner.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>

namespace heat {

struct AlignedDelete {
    void operator()(float* p) const { ::operator delete[](p, std::align_val_t(64)); }
};

class Volume {
public:
    explicit Volume(int n) : n_(n), row_((n + 2 + 15) / 16 * 16), cells_(new (std::align_val_t(64)) float[count()]) {}
    int n() const { return n_; }
    float* line(int j, int k) { return cells_.get() + (static_cast<std::size_t>(k) * (n_ + 2) + j) * row_; }
    const float* line(int j, int k) const { return cells_.get() + (static_cast<std::size_t>(k) * (n_ + 2) + j) * row_; }
    void swap(Volume& o) { cells_.swap(o.cells_); }
    std::size_t row() const { return row_; }

private:
    std::size_t count() const { return row_ * static_cast<std::size_t>(n_ + 2) * static_cast<std::size_t>(n_ + 2); }
    int n_;
    std::size_t row_;
    std::unique_ptr<float[], AlignedDelete> cells_;
};

using Range = tbb::blocked_range2d<int>;

class Conduction {
public:
    explicit Conduction(int n) : now_(n), next_(n), alpha_(n) {
        overLines(0, n + 2, [this, n](int j, int k) {
            float *a = now_.line(j, k), *b = next_.line(j, k), *c = alpha_.line(j, k);
            for (std::size_t i = 0; i < now_.row(); ++i) {
                const bool layer = ((k * 8) / (n + 2)) & 1;
                const bool hot = k == 0;
                a[i] = b[i] = hot ? 100.0f : 20.0f;
                c[i] = layer ? 0.14f : 0.05f;
            }
        });
    }

    void step() {
        overLines(1, now_.n() + 1, [this](int j, int k) {
            update(next_.line(j, k), now_.line(j, k), now_.line(j - 1, k), now_.line(j + 1, k), now_.line(j, k - 1), now_.line(j, k + 1),
                   alpha_.line(j, k), now_.n());
        });
        now_.swap(next_);
    }

    double mean() const {
        const int n = now_.n();
        const double s = tbb::parallel_deterministic_reduce(
            tbb::blocked_range<int>(1, n + 1, 8), 0.0,
            [&](const tbb::blocked_range<int>& r, double acc) {
                for (int k = r.begin(); k != r.end(); ++k)
                    for (int j = 1; j <= n; ++j) {
                        const float* t = now_.line(j, k);
                        for (int i = 1; i <= n; ++i) acc += t[i];
                    }
                return acc;
            },
            [](double a, double b) { return a + b; });
        return s / (double(n) * n * n);
    }

    float probe(int depth) const { return now_.line(now_.n() / 2, depth)[now_.n() / 2]; }

private:
    template <class Body>
    void overLines(int first, int last, Body&& body) {
        tbb::parallel_for(
            Range(first, last, 4, first, last, 32),
            [&](const Range& r) {
                for (int k = r.rows().begin(); k != r.rows().end(); ++k)
                    for (int j = r.cols().begin(); j != r.cols().end(); ++j) body(j, k);
            },
            affinity_);
    }

    static void update(float* __restrict out, const float* c, const float* s, const float* n, const float* b, const float* t,
                       const float* a, int len) {
        for (int i = 1; i <= len; ++i)
            out[i] = c[i] + a[i] * (c[i - 1] + c[i + 1] + s[i] + n[i] + b[i] + t[i] - 6.0f * c[i]);
    }

    Volume now_, next_, alpha_;
    tbb::affinity_partitioner affinity_;
};

}  // namespace heat

int main(int argc, char** argv) {
    const int n = argc > 1 ? std::atoi(argv[1]) : 448;
    const int steps = argc > 2 ? std::atoi(argv[2]) : 60;

    heat::Conduction block(n);
    for (int s = 0; s < steps; ++s) block.step();
    std::printf("%d^3 cells, %d steps, mean %.6f\n", n, steps, block.mean());
    for (int d = 1; d <= 16; d *= 2) std::printf("  depth %2d  %.4f\n", d, block.probe(d));
    return 0;
}
