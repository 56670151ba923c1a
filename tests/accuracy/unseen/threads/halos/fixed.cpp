// Gravitational binding of dark-matter haloes from a small friends-of-friends catalogue.
// For every halo: total potential energy, kinetic energy, most bound particle.
// Units: G = 1, particle mass = 1, softening eps.
#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

class Pool {
public:
    explicit Pool(int n)
    {
        for (int i = 0; i < n; i++)
            threads_.emplace_back([this] { serve(); });
    }
    ~Pool()
    {
        {
            std::lock_guard<std::mutex> g(m_);
            closing_ = true;
        }
        more_.notify_all();
    }
    void submit(std::function<void()> f)
    {
        {
            std::lock_guard<std::mutex> g(m_);
            jobs_.push_back(std::move(f));
            open_++;
        }
        more_.notify_one();
    }
    void wait()
    {
        std::unique_lock<std::mutex> g(m_);
        idle_.wait(g, [this] { return open_ == 0; });
    }

private:
    void serve()
    {
        std::unique_lock<std::mutex> g(m_);
        for (;;) {
            more_.wait(g, [this] { return closing_ || !jobs_.empty(); });
            if (jobs_.empty()) return;
            auto f = std::move(jobs_.front());
            jobs_.pop_front();
            g.unlock();
            f();
            g.lock();
            if (--open_ == 0) idle_.notify_all();
        }
    }
    std::mutex m_;
    std::condition_variable more_, idle_;
    std::deque<std::function<void()>> jobs_;
    int open_ = 0;
    bool closing_ = false;
    std::vector<std::jthread> threads_;
};

struct Halo {
    std::vector<float> x, y, z, v2, phi;
    int size() const { return (int)x.size(); }
};

// Hernquist sphere with n particles, scale length a.
static Halo sample_halo(int n, double a, std::mt19937_64 &rng)
{
    std::uniform_real_distribution<double> u(0.0, 1.0);
    Halo h;
    for (int i = 0; i < n; i++) {
        double q = std::sqrt(0.95 * u(rng)), r = a * q / (1 - q);
        double ct = 2 * u(rng) - 1, st = std::sqrt(1 - ct * ct), ph = 2 * M_PI * u(rng);
        h.x.push_back(r * st * std::cos(ph));
        h.y.push_back(r * st * std::sin(ph));
        h.z.push_back(r * ct);
        h.v2.push_back(0.6 * u(rng) * n / (r + a));
    }
    h.phi.assign(n, 0.f);
    return h;
}

static void potential(Halo &h, float eps, int first, int last)
{
    const int n = h.size();
    const float *x = h.x.data(), *y = h.y.data(), *z = h.z.data();
    for (int i = first; i < last; i++) {
        const float xi = x[i], yi = y[i], zi = z[i];
        float p = 0;
        for (int j = 0; j < n; j++) {
            float dx = x[j] - xi, dy = y[j] - yi, dz = z[j] - zi;
            p += 1.0f / std::sqrt(dx * dx + dy * dy + dz * dz + eps * eps);
        }
        h.phi[i] = -(p - 1.0f / eps);
    }
}

static void report(const Halo &h)
{
    double w = 0, k = 0;
    int centre = 0, bound = 0;
    for (int i = 0; i < h.size(); i++) {
        w += 0.5 * h.phi[i];
        k += 0.5 * h.v2[i];
        bound += 0.5 * h.v2[i] + h.phi[i] < 0;
        if (h.phi[i] < h.phi[centre]) centre = i;
    }
    std::printf("%8d %8d %14.6e %14.6e %8d\n", h.size(), bound, w, k, centre);
}

int main(int argc, char **argv)
{
    const int nhalo = argc > 1 ? std::atoi(argv[1]) : 200;
    const int nmax = argc > 2 ? std::atoi(argv[2]) : 60000;
    const int workers = argc > 3 ? std::atoi(argv[3]) : 2;
    const float eps = 0.02f;

    // catalogue in the order of the group finder's file: mass ascending, n(rank) ~ rank^-1.4
    std::mt19937_64 rng(77);
    std::vector<Halo> cat;
    for (int r = nhalo; r >= 1; r--) {
        int n = 30 + (int)(nmax * std::pow(r, -1.4));
        cat.push_back(sample_halo(n, std::cbrt((double)n) * 0.05, rng));
    }

    {
        Pool pool(workers);
        for (Halo &h : cat)
            for (int i = 0; i < h.size(); i += 1024)
                pool.submit([&h, eps, i] { potential(h, eps, i, std::min(i + 1024, h.size())); });
        pool.wait();
    }

    std::printf("       N    bound              W              K   centre\n");
    for (int i = nhalo - 1; i >= 0 && i >= nhalo - 8; i--) report(cat[i]);
    return 0;
}
