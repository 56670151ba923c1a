// Ensemble forecast of soil moisture: sample covariance of the state over
// many members, C = X X^T / (m - 1), lower triangle by tiles.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace enkf {

typedef double v4 __attribute__((vector_size(32)));
typedef double v4u __attribute__((vector_size(32), aligned(8)));

constexpr int MR = 6, NR = 8;           // register block
constexpr int TILE = 96;                // rows and columns of a tile
constexpr int DEPTH = 256;              // members taken at a time

struct Free {
    void operator()(double* p) const { std::free(p); }
};
using Buffer = std::unique_ptr<double[], Free>;

Buffer buffer(std::size_t n)
{
    return Buffer(static_cast<double*>(std::aligned_alloc(64, (n * sizeof(double) + 63) / 64 * 64)));
}

// Panels of W rows each: panel p, member k, row r at [(p * depth + k) * W + r].
template <int W>
void pack(const double* x, std::size_t ld, int rows, int depth, double* out)
{
    for (int p = 0; p < rows; p += W)
        for (int k = 0; k < depth; ++k)
            for (int r = 0; r < W; ++r)
                *out++ = x[static_cast<std::size_t>(p + r) * ld + k];
}

inline void kernel(int depth, const double* __restrict a, const double* __restrict b, double* c,
                   std::size_t ld)
{
    v4 s[MR][2] = {};
    for (int k = 0; k < depth; ++k) {
        v4 b0 = *reinterpret_cast<const v4*>(b), b1 = *reinterpret_cast<const v4*>(b + 4);
#pragma GCC unroll 6
        for (int r = 0; r < MR; ++r) {
            v4 ar = { a[r], a[r], a[r], a[r] };
            s[r][0] += ar * b0;
            s[r][1] += ar * b1;
        }
        a += MR;
        b += NR;
    }
#pragma GCC unroll 6
    for (int r = 0; r < MR; ++r) {
        v4u* to = reinterpret_cast<v4u*>(c + r * ld);
        to[0] += s[r][0];
        to[1] += s[r][1];
    }
}

class Covariance {
public:
    Covariance(int state, int members)
        : n_(state), m_(members), c_(buffer(static_cast<std::size_t>(state) * state))
    {
        for (int i = 0; i < n_; i += TILE)
            for (int j = 0; j <= i; j += TILE)
                tiles_.push_back({ i, j });
    }

    void compute(const double* x)
    {
#pragma omp parallel
        {
            Buffer a = buffer(TILE * DEPTH), b = buffer(TILE * DEPTH);
#pragma omp for schedule(dynamic, 1)
            for (std::size_t t = 0; t < tiles_.size(); ++t)
                tile(x, tiles_[t].i, tiles_[t].j, a.get(), b.get());
        }
    }

    double at(int i, int j) const { return c_[static_cast<std::size_t>(i) * n_ + j] / (m_ - 1); }

private:
    struct Corner {
        int i, j;
    };

    void tile(const double* x, int i0, int j0, double* a, double* b)
    {
        double* c = c_.get() + static_cast<std::size_t>(i0) * n_ + j0;
        for (int r = 0; r < TILE; ++r)
            std::fill_n(c + static_cast<std::size_t>(r) * n_, TILE, 0.0);
        for (int k0 = 0; k0 < m_; k0 += DEPTH) {
            int depth = std::min(DEPTH, m_ - k0);
            pack<MR>(x + static_cast<std::size_t>(i0) * m_ + k0, m_, TILE, depth, a);
            pack<NR>(x + static_cast<std::size_t>(j0) * m_ + k0, m_, TILE, depth, b);
            for (int j = 0; j < TILE; j += NR)
                for (int i = 0; i < TILE; i += MR)
                    kernel(depth, a + i * depth, b + j * depth,
                           c + static_cast<std::size_t>(i) * n_ + j, n_);
        }
    }

    int n_, m_;
    Buffer c_;
    std::vector<Corner> tiles_;
};

void drawMembers(double* x, int state, int members)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < state; ++i) {
        double* row = x + static_cast<std::size_t>(i) * members;
        double sum = 0.0;
        for (int k = 0; k < members; ++k) {
            std::uint64_t h = (static_cast<std::uint64_t>(i / 8) << 32 | static_cast<std::uint64_t>(k)) * 0x9E3779B97F4A7C15ull;
            h ^= h >> 29;
            h *= 0xBF58476D1CE4E5B9ull;
            double common = static_cast<double>(h >> 40) / 16777216.0 - 0.5;
            h = (h ^ static_cast<std::uint64_t>(i)) * 0x94D049BB133111EBull;
            row[k] = common + 0.3 * (static_cast<double>(h >> 40) / 16777216.0 - 0.5);
            sum += row[k];
        }
        for (int k = 0; k < members; ++k)
            row[k] -= sum / members;
    }
}

} // namespace enkf

int main(int argc, char** argv)
{
    const int state = 54 * enkf::TILE;
    const int members = argc > 1 ? std::atoi(argv[1]) : 8192;
    auto x = enkf::buffer(static_cast<std::size_t>(state) * members);
    enkf::drawMembers(x.get(), state, members);

    enkf::Covariance cov(state, members);
    cov.compute(x.get());

    double trace = 0.0, near = 0.0, far = 0.0;
    for (int i = 0; i < state; ++i) {
        trace += cov.at(i, i);
        if (i % 8)
            near += cov.at(i, i - 1);
        if (i >= 1000)
            far += std::fabs(cov.at(i, i - 1000));
    }
    std::printf("state %d members %d\n", state, members);
    std::printf("variance %.10f  neighbours %.10f  distant %.3e\n", trace / state,
                near / (state - state / 8), far / (state - 1000));
    return 0;
}
