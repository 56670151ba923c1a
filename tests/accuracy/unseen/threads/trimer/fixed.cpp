// Axilrod-Teller three-body dispersion energy of a cluster of rare-gas atoms.
// Reduced units: nu = 1, lengths in sigma.
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

struct Cluster {
    std::vector<double> x, y, z;
    int size() const { return (int)x.size(); }
};

static double uniform(unsigned long long &s)
{
    s = s * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(s >> 11) / 9007199254740992.0;
}

// fcc lattice sites inside a cube, shaken a little
static Cluster make_cluster(int n, double a, double shake)
{
    static const double base[4][3] = {{0, 0, 0}, {.5, .5, 0}, {.5, 0, .5}, {0, .5, .5}};
    Cluster c;
    unsigned long long seed = 20011;
    int cells = (int)std::ceil(std::cbrt(n / 4.0));
    for (int i = 0; i < cells; i++)
        for (int j = 0; j < cells; j++)
            for (int k = 0; k < cells; k++)
                for (auto &b : base) {
                    if (c.size() == n) return c;
                    c.x.push_back(a * (i + b[0]) + shake * (uniform(seed) - .5));
                    c.y.push_back(a * (j + b[1]) + shake * (uniform(seed) - .5));
                    c.z.push_back(a * (k + b[2]) + shake * (uniform(seed) - .5));
                }
    return c;
}

// Distances of atom i to all later atoms, and the powers r^-3, r^-5.
struct Row {
    std::vector<double> d2, u, w;
    explicit Row(int n) : d2(n), u(n), w(n) {}
    void fill(const Cluster &c, int i)
    {
        const int n = c.size();
        for (int k = i + 1; k < n; k++) {
            double dx = c.x[k] - c.x[i], dy = c.y[k] - c.y[i], dz = c.z[k] - c.z[i];
            double r2 = dx * dx + dy * dy + dz * dz, q = 1.0 / r2;
            d2[k] = r2;
            u[k] = q * std::sqrt(q);
            w[k] = u[k] * q;
        }
    }
};

// Energy of all triples i < j < k with the given i.
static double energy_of(const Cluster &c, Row &row, int i)
{
    const int n = c.size();
    const double *x = c.x.data(), *y = c.y.data(), *z = c.z.data();
    const double *d2 = row.d2.data(), *u = row.u.data(), *w = row.w.data();
    row.fill(c, i);
    double e = 0;
    for (int j = i + 1; j < n; j++) {
        const double xj = x[j], yj = y[j], zj = z[j], a = d2[j], uj = u[j], wj = w[j];
        double s1 = 0, s2 = 0;
        for (int k = j + 1; k < n; k++) {
            double dx = x[k] - xj, dy = y[k] - yj, dz = z[k] - zj;
            double b = dx * dx + dy * dy + dz * dz, q = 1.0 / b;
            double ujk = q * std::sqrt(q);
            double g = d2[k];
            s1 += u[k] * ujk;
            s2 += w[k] * ujk * q * (a + g - b) * (a + b - g) * (g + b - a);
        }
        e += uj * s1 + 0.375 * wj * s2;
    }
    return e;
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? std::atoi(argv[1]) : 1000;
    const int nthreads = argc > 2 ? std::atoi(argv[2]) : 2;
    const Cluster c = make_cluster(n, 1.55, 0.1);
    std::vector<double> e3(n);

    std::atomic<int> next{0};
    auto work = [&] {
        Row row(n);
        for (int i; (i = next.fetch_add(1)) < n;)
            e3[i] = energy_of(c, row, i);
    };
    std::vector<std::thread> team;
    for (int t = 0; t < nthreads; t++)
        team.emplace_back(work);
    for (auto &t : team) t.join();

    double total = 0;
    for (double e : e3) total += e;
    std::printf("atoms %d  E3 = %.8f  E3/N = %.8f\n", n, total, total / n);
    std::printf("share of the first atom %.8f, of atom %d %.8f\n", e3[0], n / 2, e3[n / 2]);
    return 0;
}
