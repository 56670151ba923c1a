#include <immintrin.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

struct Atom {
    float x, y, z, half;
};

class Noise {
    std::uint64_t state_;

public:
    explicit Noise(std::uint64_t seed) : state_(seed) {}
    float operator()(float lo, float hi)
    {
        state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
        return lo + (hi - lo) * static_cast<float>(state_ >> 40) * 0x1p-24f;
    }
};

class Column {
    struct Release {
        void operator()(float* p) const { std::free(p); }
    };
    std::unique_ptr<float[], Release> data_;

public:
    explicit Column(int n) : data_(static_cast<float*>(std::aligned_alloc(64, n * sizeof(float)))) {}
    float* data() { return data_.get(); }
    const float* data() const { return data_.get(); }
    float& operator[](int i) { return data_[i]; }
    float operator[](int i) const { return data_[i]; }
};

struct Surface {
    int count;
    Column x, y, z, phi;
    explicit Surface(int n) : count(n), x(n), y(n), z(n), phi(n) {}
};

struct Lane {
    __m256 x, y, z, sum;

    Lane(const Surface& s, int i)
        : x(_mm256_load_ps(s.x.data() + i)), y(_mm256_load_ps(s.y.data() + i)), z(_mm256_load_ps(s.z.data() + i)),
          sum(_mm256_setzero_ps())
    {
    }

    inline __attribute__((always_inline)) void add(__m256 ax, __m256 ay, __m256 az, __m256 half)
    {
        const __m256 dx = _mm256_sub_ps(ax, x), dy = _mm256_sub_ps(ay, y), dz = _mm256_sub_ps(az, z);
        const __m256 r2 = _mm256_fmadd_ps(dz, dz, _mm256_fmadd_ps(dy, dy, _mm256_mul_ps(dx, dx)));
        const __m256 e = _mm256_rsqrt_ps(r2);
        const __m256 u = _mm256_fnmadd_ps(_mm256_mul_ps(r2, e), e, _mm256_set1_ps(3.0f));
        sum = _mm256_fmadd_ps(half, _mm256_mul_ps(e, u), sum);
    }
};

void potential(const std::vector<Atom>& atoms, Surface& s)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < s.count; i += 24) {
        Lane a(s, i), b(s, i + 8), c(s, i + 16);
        for (const Atom& atom : atoms) {
            const __m256 x = _mm256_set1_ps(atom.x), y = _mm256_set1_ps(atom.y);
            const __m256 z = _mm256_set1_ps(atom.z), h = _mm256_set1_ps(atom.half);
            a.add(x, y, z, h);
            b.add(x, y, z, h);
            c.add(x, y, z, h);
        }
        _mm256_store_ps(s.phi.data() + i, a.sum);
        _mm256_store_ps(s.phi.data() + i + 8, b.sum);
        _mm256_store_ps(s.phi.data() + i + 16, c.sum);
    }
}

Surface shell(int count, float radius)
{
    Surface s(count);
    Noise noise(3);
    for (int i = 0; i < count; ++i) {
        float x, y, z, r2;
        do {
            x = noise(-1.0f, 1.0f);
            y = noise(-1.0f, 1.0f);
            z = noise(-1.0f, 1.0f);
            r2 = x * x + y * y + z * z;
        } while (r2 > 1.0f || r2 < 0.1f);
        const float f = radius / std::sqrt(r2);
        s.x[i] = f * x;
        s.y[i] = f * y;
        s.z[i] = f * z;
    }
    return s;
}

std::vector<Atom> molecule(int count)
{
    std::vector<Atom> atoms(count);
    Noise noise(8);
    for (auto& a : atoms)
        a = {noise(-9.0f, 9.0f), noise(-9.0f, 9.0f), noise(-9.0f, 9.0f), noise(-0.5f, 0.5f)};
    return atoms;
}

void vibrate(std::vector<Atom>& atoms, Noise& noise)
{
    for (auto& a : atoms) {
        a.x += noise(-0.01f, 0.01f);
        a.y += noise(-0.01f, 0.01f);
        a.z += noise(-0.01f, 0.01f);
    }
}

int main(int argc, char** argv)
{
    const int points = 96 * (argc > 1 ? std::atoi(argv[1]) : 3000);
    const int frames = argc > 2 ? std::atoi(argv[2]) : 120;
    auto atoms = molecule(1800);
    Surface surface = shell(points, 20.0f);
    Noise noise(21);
    for (int f = 0; f < frames; ++f) {
        vibrate(atoms, noise);
        potential(atoms, surface);
    }
    double mean = 0.0, square = 0.0;
    for (int i = 0; i < points; ++i) {
        mean += surface.phi[i];
        square += static_cast<double>(surface.phi[i]) * surface.phi[i];
    }
    std::printf("mean %.6f rms %.6f\n", mean / points, std::sqrt(square / points));
}
