#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

class ContactMatrix {
public:
    explicit ContactMatrix(int groups) : n_(groups), cell_(reserve(std::size_t(groups) * groups))
    {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < n_; ++i)
            fill(i);
    }

    int groups() const { return n_; }

    void infect(const float* __restrict x, float* __restrict y) const
    {
#pragma omp parallel for schedule(static)
        for (int b = 0; b < n_ / 4; ++b)
            four(b * 4, x, y);
    }

private:
    struct Release {
        void operator()(float* p) const { std::free(p); }
    };

    static float* reserve(std::size_t count)
    {
        const std::size_t page = std::size_t(1) << 21;
        const std::size_t bytes = (count * sizeof(float) + page - 1) / page * page;
        void* p = std::aligned_alloc(page, bytes);
        if (!p)
            throw std::bad_alloc();
        madvise(p, bytes, MADV_HUGEPAGE);
        return static_cast<float*>(p);
    }

    void fill(int i)
    {
        float* __restrict row = cell_.get() + std::size_t(i) * n_;
        const std::uint32_t seed = std::uint32_t(i) * 2654435761u;
        for (int j = 0; j < n_; ++j) {
            std::uint32_t h = seed + std::uint32_t(j) * 0x9e3779b1u;
            h ^= h >> 15;
            h *= 0x2c1b3c6du;
            h ^= h >> 13;
            row[j] = float(std::int32_t(h >> 9)) * (1.0f / 8388608.0f);
        }
    }

    void four(int i, const float* __restrict x, float* __restrict y) const
    {
        const float* __restrict a = cell_.get() + std::size_t(i) * n_;
        const float* __restrict b = a + n_;
        const float* __restrict c = b + n_;
        const float* __restrict d = c + n_;
        float sa = 0, sb = 0, sc = 0, sd = 0;
#pragma omp simd reduction(+ : sa, sb, sc, sd)
        for (int j = 0; j < n_; ++j) {
            sa += a[j] * x[j];
            sb += b[j] * x[j];
            sc += c[j] * x[j];
            sd += d[j] * x[j];
        }
        y[i] = sa;
        y[i + 1] = sb;
        y[i + 2] = sc;
        y[i + 3] = sd;
    }

    int n_;
    std::unique_ptr<float[], Release> cell_;
};

static float total(const std::vector<float>& v)
{
    float s = 0;
#pragma omp simd reduction(+ : s)
    for (std::size_t i = 0; i < v.size(); ++i)
        s += v[i];
    return s;
}

static float normalise(std::vector<float>& v)
{
    const float s = total(v);
    const float f = 1.0f / s;
    for (float& e : v)
        e *= f;
    return s;
}

int main(int argc, char** argv)
{
    const int groups = (argc > 1 ? std::atoi(argv[1]) : 8192) / 4 * 4;
    const int generations = argc > 2 ? std::atoi(argv[2]) : 240;
    const ContactMatrix contacts(groups);
    std::vector<float> now(groups, 1.0f / groups), next(groups);
    float growth = 0;
    for (int g = 0; g < generations; ++g) {
        contacts.infect(now.data(), next.data());
        growth = normalise(next);
        now.swap(next);
    }
    const auto peak = std::max_element(now.begin(), now.end());
    std::printf("growth %.3f\n", growth);
    std::printf("group  %ld\n", long(peak - now.begin()));
    std::printf("share  %.6e\n", *peak);
    return 0;
}
