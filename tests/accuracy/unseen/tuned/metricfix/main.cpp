// Metric closure of a noisy dissimilarity matrix: every distance becomes the length of the shortest
// chain of measured dissimilarities (tiled Floyd-Warshall).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

typedef float vf __attribute__((vector_size(64)));
constexpr int T = 64;              // tile edge
constexpr int W = 16;              // floats in a vector

struct alignas(64) Tile {
    float a[T][T];
};

class Tiled {
    int nt_;
    std::vector<std::unique_ptr<Tile>> t_;
public:
    explicit Tiled(int n) : nt_((n + T - 1) / T), t_(size_t(nt_) * nt_) {
        for (auto &p : t_) p = std::make_unique<Tile>();
    }
    int tiles() const { return nt_; }
    Tile &tile(int i, int j) { return *t_[size_t(i) * nt_ + j]; }
    float &at(int i, int j) { return tile(i / T, j / T).a[i % T][j % T]; }
};

static inline vf vmin(vf x, vf y) { return x < y ? x : y; }
static inline vf &vec(float *p) { return *reinterpret_cast<vf *>(p); }
static inline const vf &vec(const float *p) { return *reinterpret_cast<const vf *>(p); }

// c = min(c, a (+) b), the three tiles distinct
static void relax(Tile &c, const Tile &a, const Tile &b) {
    constexpr int R = 8, C = 2;
    for (int j = 0; j < T; j += C * W)
        for (int i = 0; i < T; i += R) {
            vf s[R][C];
            for (int r = 0; r < R; r++)
                for (int q = 0; q < C; q++) s[r][q] = vec(&c.a[i + r][j + q * W]);
            for (int k = 0; k < T; k++) {
                vf b0 = vec(&b.a[k][j]), b1 = vec(&b.a[k][j + W]);
                for (int r = 0; r < R; r++) {
                    float x = a.a[i + r][k];
                    s[r][0] = vmin(s[r][0], b0 + x);
                    s[r][1] = vmin(s[r][1], b1 + x);
                }
            }
            for (int r = 0; r < R; r++)
                for (int q = 0; q < C; q++) vec(&c.a[i + r][j + q * W]) = s[r][q];
        }
}

// the same when c is one of the operands: the order of k matters
static void relax_inplace(Tile &c, const Tile &a, const Tile &b) {
    for (int k = 0; k < T; k++)
        for (int i = 0; i < T; i++) {
            float x = a.a[i][k];
            for (int j = 0; j < T; j += W) vec(&c.a[i][j]) = vmin(vec(&c.a[i][j]), vec(&b.a[k][j]) + x);
        }
}

static void closure(Tiled &d) {
    const int n = d.tiles();
    for (int k = 0; k < n; k++) {
        Tile &p = d.tile(k, k);
        relax_inplace(p, p, p);
        for (int j = 0; j < n; j++)
            if (j != k) {
                relax_inplace(d.tile(k, j), p, d.tile(k, j));
                relax_inplace(d.tile(j, k), d.tile(j, k), p);
            }
        for (int i = 0; i < n; i++) {
            if (i == k) continue;
            const Tile &a = d.tile(i, k);
            for (int j = 0; j < n; j++)
                if (j != k) relax(d.tile(i, j), a, d.tile(k, j));
        }
    }
}

int main(int argc, char **argv) {
    int n = argc > 1 ? std::atoi(argv[1]) : 5120;
    std::mt19937 rng(77);
    std::uniform_real_distribution<float> u(0.f, 1.f);
    std::vector<float> x(n), y(n), z(n);
    for (int i = 0; i < n; i++) x[i] = u(rng), y[i] = u(rng), z[i] = u(rng);
    Tiled d(n);
    const int m = d.tiles() * T;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            float v = i == j ? 0.f : 1e30f;
            if (i != j && i < n && j < n) {
                float r = std::sqrt((x[i] - x[j]) * (x[i] - x[j]) + (y[i] - y[j]) * (y[i] - y[j]) + (z[i] - z[j]) * (z[i] - z[j]));
                v = r * (1.f + 0.6f * u(rng)) + 0.05f;
            }
            d.at(i, j) = v;
        }
    double before = 0, after = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) before += d.at(i, j);
    closure(d);
    float far = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            after += d.at(i, j);
            far = std::max(far, d.at(i, j));
        }
    std::printf("mean %.6f -> %.6f, diameter %.5f\n", before / n / n, after / n / n, far);
}
