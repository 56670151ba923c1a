#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <thread>
#include <utility>
#include <vector>

typedef double Quad __attribute__((vector_size(32)));

struct Release {
    void operator()(double *p) const { std::free(p); }
};
using Buffer = std::unique_ptr<double[], Release>;

Buffer reserve(std::size_t n)
{
    void *p = std::aligned_alloc(64, (n * sizeof(double) + 63) / 64 * 64);
    if (!p)
        throw std::bad_alloc();
    return Buffer(static_cast<double *>(p));
}

struct Matrix {
    int n;
    Buffer v;
    explicit Matrix(int size) : n(size), v(reserve(std::size_t(size) * size)) {}
    double *row(int i) { return v.get() + std::size_t(i) * n; }
    const double *row(int i) const { return v.get() + std::size_t(i) * n; }
};

template <int MR, int NQ>
void tile(int depth, const double *a, const Quad *b, double *c, std::size_t ldc)
{
    Quad acc[MR][NQ] = {};
    for (int k = 0; k < depth; ++k, a += MR, b += NQ)
        for (int i = 0; i < MR; ++i)
            for (int q = 0; q < NQ; ++q)
                acc[i][q] += a[i] * b[q];
    for (int i = 0; i < MR; ++i)
        for (int q = 0; q < NQ; ++q)
            reinterpret_cast<Quad *>(c + i * ldc)[q] += acc[i][q];
}

class Product {
    static constexpr int mr = 6, nr = 8, mc = 96, kc = 240;

public:
    explicit Product(int width)
        : width_(width), left_(reserve(mc * kc)), right_(reserve(std::size_t(kc) * width))
    {
    }

    void operator()(const Matrix &a, const Matrix &b, Matrix &c, int from)
    {
        for (int i = 0; i < a.n; ++i)
            std::fill_n(c.row(i) + from, width_, 0.0);
        for (int k0 = 0; k0 < a.n; k0 += kc) {
            pack_right(b, k0, from);
            for (int i0 = 0; i0 < a.n; i0 += mc) {
                pack_left(a, i0, k0);
                for (int j = 0; j < width_; j += nr)
                    for (int i = 0; i < mc; i += mr)
                        tile<mr, nr / 4>(kc, left_.get() + i * kc,
                                         reinterpret_cast<const Quad *>(right_.get() + std::size_t(j) * kc),
                                         c.row(i0 + i) + from + j, c.n);
            }
        }
    }

private:
    void pack_left(const Matrix &a, int i0, int k0)
    {
        double *out = left_.get();
        for (int i = 0; i < mc; i += mr)
            for (int k = 0; k < kc; ++k)
                for (int r = 0; r < mr; ++r)
                    *out++ = a.row(i0 + i + r)[k0 + k];
    }

    void pack_right(const Matrix &b, int k0, int from)
    {
        double *out = right_.get();
        for (int j = 0; j < width_; j += nr)
            for (int k = 0; k < kc; ++k, out += nr)
                std::copy_n(b.row(k0 + k) + from + j, nr, out);
    }

    int width_;
    Buffer left_, right_;
};

void fill(Matrix &m, std::uint64_t seed)
{
    std::uint64_t x = seed * 0x9e3779b97f4a7c15ull + 1;
    const double scale = std::sqrt(3.0 / m.n);
    std::generate_n(m.v.get(), std::size_t(m.n) * m.n, [&] {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        return scale * (double(x >> 11) * 0x1.0p-52 - 1.0);
    });
}

double norm(const Matrix &m)
{
    double s = 0.0;
    for (std::size_t i = 0; i < std::size_t(m.n) * m.n; ++i)
        s += m.v[i] * m.v[i];
    return std::sqrt(s / m.n);
}

int main(int argc, char **argv)
{
    const int n = 1920 * (argc > 1 ? std::atoi(argv[1]) : 1);
    const int layers = argc > 2 ? std::atoi(argv[2]) : 8;
    const int crew = 2;
    Matrix even(n), odd(n), x(n), y(n);
    fill(even, 1);
    fill(odd, 2);
    fill(x, 3);
    std::vector<Product> products;
    for (int w = 0; w < crew; ++w)
        products.emplace_back(n / crew);
    for (int layer = 0; layer < layers; ++layer) {
        const Matrix &op = layer % 2 ? odd : even;
        std::vector<std::thread> threads;
        for (int w = 0; w < crew; ++w)
            threads.emplace_back([&, w] { products[w](op, x, y, w * (n / crew)); });
        for (auto &t : threads)
            t.join();
        std::swap(x, y);
        std::printf("layer %d norm %.9f\n", layer + 1, norm(x));
    }
    return 0;
}
