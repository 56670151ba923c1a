// Gene-gene correlation matrix of an expression study, summarised as a degree
// distribution of the co-expression network at a given threshold.
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

typedef float vec __attribute__((vector_size(64)));
constexpr int kVec = 16, kRows = 8, kCols = 2 * kVec;   // register block
constexpr int kTile = 256;                              // genes per tile edge

struct alignas(64) Line {
    float v[kVec];
};

// Standardised profiles, in panels of kCols genes: panel[p][sample][gene]
class Profiles {
public:
    Profiles(int genes, int samples)
        : genes_(genes), samples_(samples), data_((size_t)genes * samples / kVec)
    {
        std::vector<float> z(samples), factor((size_t)20 * samples);
        for (float &f : factor) f = noise();
        for (int g = 0; g < genes; g++) {
            float load = 0.9f * (g % 101) / 100.0f, mean = 0, var = 0;
            const float *f = &factor[(size_t)(g % 20) * samples];
            for (int s = 0; s < samples; s++) mean += z[s] = load * f[s] + noise();
            mean /= samples;
            for (float &x : z) x -= mean, var += x * x;
            for (int s = 0; s < samples; s++) at(g / kCols, s)[g % kCols] = z[s] / std::sqrt(var);
        }
    }
    float *at(int panel, int sample)
    {
        return data_[((size_t)panel * samples_ + sample) * (kCols / kVec)].v;
    }
    const float *at(int panel, int sample) const { return const_cast<Profiles *>(this)->at(panel, sample); }
    int genes() const { return genes_; }
    int samples() const { return samples_; }

private:
    float noise()
    {
        float s = 0;
        for (int i = 0; i < 4; i++) {
            state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
            s += (float)(state_ >> 40) / 16777216.0f - 0.5f;
        }
        return s;
    }
    int genes_, samples_;
    uint64_t state_ = 31;
    std::vector<Line> data_;
};

// correlations of kRows genes of panel a, from r0 on, with the kCols genes of panel b
static inline void block(const float *a, const float *b, int samples, vec acc[kRows][2])
{
    for (int r = 0; r < kRows; r++) acc[r][0] = acc[r][1] = vec{};
    for (int s = 0; s < samples; s++, a += kCols, b += kCols) {
        vec b0 = *(const vec *)b, b1 = *(const vec *)(b + kVec);
        for (int r = 0; r < kRows; r++) {
            acc[r][0] += a[r] * b0;
            acc[r][1] += a[r] * b1;
        }
    }
}

static void tile(const Profiles &x, int ti, int tj, float cut, std::vector<int> &degree)
{
    const int per = kTile / kCols, n = x.samples();
    const vec limit = vec{} + cut * cut;
    for (int pj = tj * per; pj < (tj + 1) * per; pj++)
        for (int pi = ti * per; pi < (ti + 1) * per; pi++) {
            if (pi > pj) continue;
            for (int r0 = 0; r0 < kCols; r0 += kRows) {
                vec acc[kRows][2];
                block(x.at(pi, 0) + r0, x.at(pj, 0), n, acc);
                for (int r = 0; r < kRows; r++)
                    for (int h = 0; h < 2; h++) {
                        auto over = acc[r][h] * acc[r][h] > limit;
                        for (int v = 0; v < kVec; v++) {
                            int gi = pi * kCols + r0 + r, gj = pj * kCols + h * kVec + v;
                            int hit = (over[v] & 1) & (gi < gj);
                            degree[gi] += hit;
                            degree[gj] += hit;
                        }
                    }
            }
        }
}

int main(int argc, char **argv)
{
    const int tiles = argc > 1 ? std::atoi(argv[1]) : 16;
    const int samples = argc > 2 ? std::atoi(argv[2]) : 400;
    const int nthreads = argc > 3 ? std::atoi(argv[3]) : 2;
    const float cut = argc > 4 ? std::atof(argv[4]) : 0.3f;
    const Profiles x(tiles * kTile, samples);

    std::vector<std::vector<int>> degree(nthreads, std::vector<int>(x.genes()));
    std::atomic<int> next{0};
    std::vector<std::thread> team;
    for (int t = 0; t < nthreads; t++)
        team.emplace_back([&, t] {
            for (int k; (k = next++) < tiles * (tiles + 1) / 2;) {
                int j = (int)((std::sqrt(8.0 * k + 1) - 1) / 2);
                tile(x, k - j * (j + 1) / 2, j, cut, degree[t]);
            }
        });
    for (auto &t : team) t.join();

    long edges = 0;
    std::vector<int> hist(12);
    for (int g = 0; g < x.genes(); g++) {
        int d = 0;
        for (auto &part : degree) d += part[g];
        edges += d;
        int b = 0;
        while (d > 0 && b < 11) d /= 2, b++;
        hist[b]++;
    }
    std::printf("genes %d  samples %d  edges %ld\n", x.genes(), samples, edges / 2);
    for (int b = 0; b < 12; b++) std::printf("degree < %5d : %6d genes\n", 1 << b, hist[b]);
    return 0;
}
