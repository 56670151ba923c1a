// Microgravity over a cave system: vertical attraction of many small cavities
// (point masses) at survey stations, and a depth scan of the anomaly.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

struct Masses {
    std::vector<float> x, y, z, gm;
    explicit Masses(std::size_t n) : x(n), y(n), z(n), gm(n) {}
    std::size_t size() const { return x.size(); }
};

struct Stations {
    std::vector<float> x, y, gz;
    explicit Stations(std::size_t n) : x(n), y(n), gz(n) {}
    std::size_t size() const { return x.size(); }
};

class Lcg {
public:
    explicit Lcg(std::uint64_t s) : s_(s) {}
    float next()
    {
        s_ = s_ * 6364136223846793005ULL + 1442695040888963407ULL;
        return float(s_ >> 40) * (1.0f / 16777216.0f);
    }

private:
    std::uint64_t s_;
};

static Masses cave(std::size_t n, float depth)
{
    Masses m(n);
    Lcg r(2024);
    float px = 500.0f, py = 500.0f, heading = 0.3f;
    for (std::size_t i = 0; i < n; ++i) {
        heading += 0.4f * (r.next() - 0.5f);
        px += 2.0f * std::cos(heading);
        py += 2.0f * std::sin(heading);
        if (px < 0 || px > 1000 || py < 0 || py > 1000)
            heading += 2.0f;
        m.x[i] = px;
        m.y[i] = py;
        m.z[i] = depth + 4.0f * r.next();
        m.gm[i] = -1.5f * (0.5f + r.next());
    }
    return m;
}

static Stations survey(std::size_t nx, std::size_t ny)
{
    Stations s(nx * ny);
    for (std::size_t j = 0; j < ny; ++j)
        for (std::size_t i = 0; i < nx; ++i) {
            s.x[j * nx + i] = 1000.0f * float(i) / float(nx);
            s.y[j * nx + i] = 1000.0f * float(j) / float(ny);
        }
    return s;
}

constexpr std::size_t kStations = 64;
constexpr std::size_t kMasses = 512;

static void attract(const Masses &m, Stations &s)
{
    const float *mx = m.x.data(), *my = m.y.data(), *mz = m.z.data(), *gm = m.gm.data();
    const std::size_t ns = s.size(), nm = m.size();
#pragma omp parallel for schedule(dynamic, 4)
    for (std::size_t b = 0; b < ns; b += kStations) {
        float acc[kStations] = {}, sx[kStations] = {}, sy[kStations] = {};
        const std::size_t len = std::min(kStations, ns - b);
        std::copy_n(s.x.data() + b, len, sx);
        std::copy_n(s.y.data() + b, len, sy);
        for (std::size_t c = 0; c < nm; c += kMasses) {
            const std::size_t end = std::min(nm, c + kMasses);
            for (std::size_t k = c; k < end; ++k) {
                const float x = mx[k], y = my[k], z = mz[k], w = gm[k] * mz[k], zz = z * z;
#pragma omp simd
                for (std::size_t i = 0; i < kStations; ++i) {
                    const float dx = sx[i] - x, dy = sy[i] - y;
                    const float r2 = dx * dx + dy * dy + zz;
                    const float inv = 1.0f / std::sqrt(r2);
                    acc[i] += w * inv * inv * inv;
                }
            }
        }
        std::copy_n(acc, len, s.gz.data() + b);
    }
}

int main()
{
    Stations s = survey(320, 256);
    for (int d = 0; d < 12; ++d) {
        const float depth = 8.0f + 3.0f * float(d);
        const Masses m = cave(40000, depth);
        attract(m, s);
        double mean = 0.0;
        float low = 0.0f;
        for (float g : s.gz) {
            mean += g;
            low = std::min(low, g);
        }
        std::printf("depth %5.1f m  mean %.3f  minimum %.2f\n", depth, mean / double(s.size()), low);
    }
}
