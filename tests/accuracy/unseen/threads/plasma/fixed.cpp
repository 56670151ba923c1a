// One-dimensional electrostatic particle-in-cell: two-stream instability.
// Quadratic (TSC) weighting, periodic box, field from Gauss's law on the grid.
// Charge is summed in integer quanta so that runs can be compared bit by bit.
#include <barrier>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

constexpr double kQuantum = 1048576.0;
constexpr int kNx = 32, kNv = 64;

struct Node {
    int64_t charge, current;
};

struct Plasma {
    int ncell, np;
    double length, dt;
    std::vector<double> x, v, e;
    std::vector<Node> rho;
    std::vector<double> field_energy, peak_current;
    std::vector<int64_t> fxv;  // phase-space density f(x, v), time average

    Plasma(int cells, int particles)
        : ncell(cells), np(particles), length(32.0), dt(0.05), x(np), v(np), e(cells), rho(cells), fxv(kNx * kNv)
    {
        uint64_t s = 4242;
        auto rnd = [&s] {
            s ^= s << 13, s ^= s >> 7, s ^= s << 17;
            return (double)(s >> 11) / 9007199254740992.0;
        };
        for (int p = 0; p < np; p++) {
            x[p] = length * rnd();
            v[p] = (p & 1 ? 1.8 : -1.8) + 0.2 * (rnd() + rnd() + rnd() - 1.5);
        }
    }
};

static inline int wrap(int i, int n) { return i < 0 ? i + n : i >= n ? i - n : i; }

static inline void weights(double s, int &c, double w[3])
{
    c = (int)(s + 0.5);
    double d = s - c;
    w[0] = 0.5 * (0.5 - d) * (0.5 - d);
    w[1] = 0.75 - d * d;
    w[2] = 0.5 * (0.5 + d) * (0.5 + d);
}

static void push(Plasma &pl, int first, int last)
{
    const double scale = pl.ncell / pl.length;
    for (int p = first; p < last; p++) {
        double w[3];
        int c;
        weights(pl.x[p] * scale, c, w);
        double ef = w[0] * pl.e[wrap(c - 1, pl.ncell)] + w[1] * pl.e[wrap(c, pl.ncell)] +
                    w[2] * pl.e[wrap(c + 1, pl.ncell)];
        pl.v[p] -= pl.dt * ef;
        double xn = pl.x[p] + pl.dt * pl.v[p];
        if (xn < 0) xn += pl.length;
        if (xn >= pl.length) xn -= pl.length;
        pl.x[p] = xn;
    }
}

static void deposit(const Plasma &pl, int first, int last, Node *rho, int64_t *fxv)
{
    const double scale = pl.ncell / pl.length;
    for (int p = first; p < last; p++) {
        double w[3];
        int c;
        weights(pl.x[p] * scale, c, w);
        for (int k = 0; k < 3; k++) {
            Node &n = rho[wrap(c + k - 1, pl.ncell)];
            n.charge += (int64_t)(w[k] * kQuantum);
            n.current += (int64_t)(w[k] * pl.v[p] * kQuantum);
        }
        // f(x, v): area weighting to the four neighbouring nodes
        double a = pl.x[p] * (kNx / pl.length), b = (pl.v[p] + 4.0) * (kNv / 8.0);
        int i = (int)a, j = (int)b;
        if (b < 0 || j + 1 >= kNv) continue;
        double fa = a - i, fb = b - j;
        int64_t *lo = fxv + i * kNv + j, *hi = fxv + (i + 1 == kNx ? 0 : i + 1) * kNv + j;
        lo[0] += (int64_t)((1 - fa) * (1 - fb) * 1024.0);
        lo[1] += (int64_t)((1 - fa) * fb * 1024.0);
        hi[0] += (int64_t)(fa * (1 - fb) * 1024.0);
        hi[1] += (int64_t)(fa * fb * 1024.0);
    }
}

static void solve_field(Plasma &pl)
{
    const double dx = pl.length / pl.ncell, mean = (double)pl.np / pl.ncell;
    double acc = 0, avg = 0, w = 0;
    for (int i = 0; i < pl.ncell; i++) {
        acc += dx * (1.0 - pl.rho[i].charge / (kQuantum * mean));
        pl.e[i] = acc;
        avg += acc;
    }
    avg /= pl.ncell;
    double peak = 0;
    for (const Node &n : pl.rho) peak = std::fmax(peak, std::fabs(n.current / (kQuantum * mean)));
    pl.peak_current.push_back(peak);
    for (double &e : pl.e) {
        e -= avg;
        w += 0.5 * e * e * dx;
    }
    pl.field_energy.push_back(w);
}

int main(int argc, char **argv)
{
    const int np = argc > 1 ? std::atoi(argv[1]) : 200000;
    const int steps = argc > 2 ? std::atoi(argv[2]) : 300;
    const int nthreads = argc > 3 ? std::atoi(argv[3]) : 2;
    Plasma pl(256, np);
    std::barrier sync(nthreads);
    std::vector<std::vector<Node>> part_rho(nthreads);
    std::vector<std::vector<int64_t>> part_fxv(nthreads, std::vector<int64_t>(kNx * kNv));

    auto body = [&](int id) {
        const int first = (long)np * id / nthreads, last = (long)np * (id + 1) / nthreads;
        for (int s = 0; s < steps; s++) {
            std::vector<Node> &rho = part_rho[id];
            rho.assign(pl.ncell, Node{});
            deposit(pl, first, last, rho.data(), part_fxv[id].data());
            sync.arrive_and_wait();
            if (id == 0) {
                pl.rho.assign(pl.ncell, Node{});
                for (int t = 0; t < nthreads; t++)
                    for (int i = 0; i < pl.ncell; i++) {
                        pl.rho[i].charge += part_rho[t][i].charge;
                        pl.rho[i].current += part_rho[t][i].current;
                    }
                solve_field(pl);
            }
            sync.arrive_and_wait();
            push(pl, first, last);
            sync.arrive_and_wait();
        }
    };
    {
        std::vector<std::jthread> team;
        for (int t = 0; t < nthreads; t++) team.emplace_back(body, t);
    }

    for (auto &part : part_fxv)
        for (int i = 0; i < kNx * kNv; i++) pl.fxv[i] += part[i];
    for (int s = 0; s < steps; s += steps / 10)
        std::printf("t = %6.2f  field energy %.10e  peak current %.6f\n", s * pl.dt, pl.field_energy[s],
                    pl.peak_current[s]);
    for (int b = 8; b < kNv - 8; b += 4)
        std::printf("v = %5.2f  f = %lld\n", b * 8.0 / kNv - 4.0, (long long)pl.fxv[kNx / 2 * kNv + b]);
    return 0;
}
