#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <memory>
#include <vector>
#include <omp.h>

using Lane = double __attribute__((vector_size(32)));
constexpr int tile_rows = 4;
constexpr int tile_cols = 8;
constexpr int panel_depth = 256;
constexpr int panel_rows = 96;

class Matrix {
public:
    explicit Matrix(int n) : n_(n), data_(static_cast<double*>(std::aligned_alloc(64, bytes(n))), std::free)
    {
        std::fill(data_.get(), data_.get() + static_cast<std::size_t>(n) * n, 0.0);
    }
    int size() const { return n_; }
    double* row(int i) { return data_.get() + static_cast<std::size_t>(i) * n_; }
    const double* row(int i) const { return data_.get() + static_cast<std::size_t>(i) * n_; }

private:
    static std::size_t bytes(int n) { return (static_cast<std::size_t>(n) * n * sizeof(double) + 63) / 64 * 64; }
    int n_;
    std::unique_ptr<double[], decltype(&std::free)> data_;
};

void pack_rows(const Matrix& a, int i0, int k0, int rows, int depth, double* out)
{
    for (int i = 0; i < rows; i += tile_rows)
        for (int k = 0; k < depth; ++k)
            for (int r = 0; r < tile_rows; ++r)
                *out++ = a.row(i0 + i + r)[k0 + k];
}

void pack_columns(const Matrix& b, int k0, int j, int depth, double* out)
{
    for (int k = 0; k < depth; ++k)
        for (int c = 0; c < tile_cols; ++c)
            *out++ = b.row(k0 + k)[j + c];
}

__attribute__((target("avx2,fma"))) void kernel(const double* a, const double* b, int depth, double* c, int stride)
{
    Lane sum[tile_rows][2] = {};
    for (int k = 0; k < depth; ++k) {
        const Lane b0 = *reinterpret_cast<const Lane*>(b);
        const Lane b1 = *reinterpret_cast<const Lane*>(b + 4);
#pragma GCC unroll 4
        for (int r = 0; r < tile_rows; ++r) {
            sum[r][0] += a[r] * b0;
            sum[r][1] += a[r] * b1;
        }
        a += tile_rows;
        b += tile_cols;
    }
#pragma GCC unroll 4
    for (int r = 0; r < tile_rows; ++r) {
        Lane* out = reinterpret_cast<Lane*>(c + static_cast<std::size_t>(r) * stride);
        out[0] += sum[r][0];
        out[1] += sum[r][1];
    }
}

void multiply(const Matrix& a, const Matrix& b, Matrix& c)
{
    const int n = a.size();
    std::unique_ptr<double[], decltype(&std::free)> columns(
        static_cast<double*>(std::aligned_alloc(64, sizeof(double) * panel_depth * n)), std::free);
#pragma omp parallel
    {
        std::unique_ptr<double[], decltype(&std::free)> rows(
            static_cast<double*>(std::aligned_alloc(64, sizeof(double) * panel_depth * panel_rows)), std::free);
        for (int k0 = 0; k0 < n; k0 += panel_depth) {
            const int depth = std::min(panel_depth, n - k0);
#pragma omp for schedule(static)
            for (int j = 0; j < n; j += tile_cols)
                pack_columns(b, k0, j, depth, columns.get() + static_cast<std::size_t>(j) * depth);
#pragma omp for schedule(dynamic, 1)
            for (int i0 = 0; i0 < n; i0 += panel_rows) {
                const int height = std::min(panel_rows, n - i0);
                pack_rows(a, i0, k0, height, depth, rows.get());
                for (int j = 0; j < n; j += tile_cols)
                    for (int i = 0; i < height; i += tile_rows)
                        kernel(rows.get() + static_cast<std::size_t>(i) * depth,
                               columns.get() + static_cast<std::size_t>(j) * depth, depth, c.row(i0 + i) + j, n);
            }
        }
    }
}

void fill(Matrix& m, std::uint32_t seed)
{
    for (int i = 0; i < m.size(); ++i)
        for (int j = 0; j < m.size(); ++j) {
            seed = seed * 1664525u + 1013904223u;
            m.row(i)[j] = static_cast<double>(seed >> 24) - 128.0;
        }
}

int main(int argc, char** argv)
{
    const int n = (argc > 1 ? std::atoi(argv[1]) : 1536) / tile_cols * tile_cols;
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 8;
    Matrix a(n), b(n), c(n);
    fill(a, 1u);
    fill(b, 2u);
    for (int r = 0; r < rounds; ++r)
        multiply(a, b, c);
    double trace = 0.0;
    for (int i = 0; i < n; ++i)
        trace += c.row(i)[i];
    std::cout << std::setprecision(17) << "trace " << trace << " corner " << c.row(n - 1)[0] << '\n';
    return 0;
}
