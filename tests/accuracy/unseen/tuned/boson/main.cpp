// Output probabilities of a boson sampler: |perm(U_S)|^2 for random outcomes S.
// Glynn's formula in Gray-code order; eight sign patterns of the first rows run side by side.
#include <algorithm>
#include <cmath>
#include <complex>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

using cd = std::complex<double>;
typedef double vd __attribute__((vector_size(64)));

constexpr int N = 22;       // photons
constexpr int MODES = 96;   // modes of the interferometer

struct Job {
    int id;
    std::vector<int> modes;
    std::vector<cd> a;      // N x N, row major
};

template <class T> class Channel {
    std::mutex m_;
    std::condition_variable filled_, drained_;
    std::deque<T> q_;
    size_t cap_;
    bool closed_ = false;
public:
    explicit Channel(size_t cap) : cap_(cap) {}
    void push(T v) {
        std::unique_lock<std::mutex> l(m_);
        drained_.wait(l, [&] { return q_.size() < cap_; });
        q_.push_back(std::move(v));
        filled_.notify_one();
    }
    bool pop(T &v) {
        std::unique_lock<std::mutex> l(m_);
        filled_.wait(l, [&] { return !q_.empty() || closed_; });
        if (q_.empty()) return false;
        v = std::move(q_.front());
        q_.pop_front();
        drained_.notify_one();
        return true;
    }
    void close() {
        std::lock_guard<std::mutex> l(m_);
        closed_ = true;
        filled_.notify_all();
    }
};

static inline void cmul(vd &xr, vd &xi, vd yr, vd yi) {
    vd t = xr * yr - xi * yi;
    xi = xr * yi + xi * yr;
    xr = t;
}

static cd permanent(const std::vector<cd> &a) {
    alignas(64) vd sr[N], si[N];
    struct Row { double re[N], im[N]; };
    std::vector<Row> twice(2 * (N - 4));
    for (int k = 0; k < N - 4; k++)
        for (int j = 0; j < N; j++) {
            cd v = 2.0 * a[(k + 4) * N + j];
            twice[2 * k].re[j] = -v.real();
            twice[2 * k].im[j] = -v.imag();
            twice[2 * k + 1].re[j] = v.real();
            twice[2 * k + 1].im[j] = v.imag();
        }
    for (int j = 0; j < N; j++)
        for (int l = 0; l < 8; l++) {
            cd s = a[j];
            for (int b = 0; b < 3; b++) s += (l >> b & 1) ? -a[(b + 1) * N + j] : a[(b + 1) * N + j];
            for (int k = 4; k < N; k++) s += a[k * N + j];
            sr[j][l] = s.real();
            si[j][l] = s.imag();
        }
    vd accr = {}, acci = {};
    const unsigned long last = 1ul << (N - 4);
    for (unsigned long g = 1;; g++) {
        vd pr[4], pi[4];
        for (int c = 0; c < 4; c++) pr[c] = sr[c], pi[c] = si[c];
        for (int j = 4; j < N; j++) cmul(pr[j & 3], pi[j & 3], sr[j], si[j]);
        cmul(pr[0], pi[0], pr[1], pi[1]);
        cmul(pr[2], pi[2], pr[3], pi[3]);
        cmul(pr[0], pi[0], pr[2], pi[2]);
        const double sgn = g & 1 ? 1.0 : -1.0;
        accr += sgn * pr[0];
        acci += sgn * pi[0];
        if (g == last) break;
        int k = __builtin_ctzl(g);
        const Row &d = twice[2 * k + ((g >> (k + 1)) & 1)];
        for (int j = 0; j < N; j++) {
            sr[j] += d.re[j];
            si[j] += d.im[j];
        }
    }
    cd sum = 0;
    for (int l = 0; l < 8; l++) sum += (__builtin_popcount(l) & 1 ? -1.0 : 1.0) * cd(accr[l], acci[l]);
    return std::ldexp(1.0, -(N - 1)) * sum;
}

static std::vector<cd> interferometer(std::mt19937_64 &rng) {
    std::normal_distribution<double> g;
    std::vector<cd> u(MODES * MODES);
    for (auto &v : u) v = cd(g(rng), g(rng));
    for (int i = 0; i < MODES; i++) {
        for (int j = 0; j < i; j++) {
            cd d = 0;
            for (int k = 0; k < MODES; k++) d += std::conj(u[j * MODES + k]) * u[i * MODES + k];
            for (int k = 0; k < MODES; k++) u[i * MODES + k] -= d * u[j * MODES + k];
        }
        double n = 0;
        for (int k = 0; k < MODES; k++) n += std::norm(u[i * MODES + k]);
        for (int k = 0; k < MODES; k++) u[i * MODES + k] /= std::sqrt(n);
    }
    return u;
}

int main(int argc, char **argv) {
    int samples = argc > 1 ? std::atoi(argv[1]) : 800;
    int workers = argc > 2 ? std::atoi(argv[2]) : 2;
    std::mt19937_64 rng(20130);
    auto u = interferometer(rng);
    Channel<std::shared_ptr<Job>> todo(4);
    std::map<std::vector<int>, double> prob;
    std::mutex guard;
    std::vector<std::thread> pool;
    for (int w = 0; w < workers; w++)
        pool.emplace_back([&] {
            std::shared_ptr<Job> job;
            while (todo.pop(job)) {
                double p = std::norm(permanent(job->a));
                std::lock_guard<std::mutex> l(guard);
                prob[job->modes] += p;
            }
        });
    for (int s = 0; s < samples; s++) {
        auto job = std::make_shared<Job>();
        job->id = s;
        std::vector<int> all(MODES);
        for (int i = 0; i < MODES; i++) all[i] = i;
        std::shuffle(all.begin(), all.end(), rng);
        job->modes.assign(all.begin(), all.begin() + N);
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) job->a.push_back(u[i * MODES + job->modes[j]]);
        todo.push(job);
    }
    todo.close();
    for (auto &t : pool) t.join();
    double total = 0, best = 0;
    for (auto &e : prob) total += e.second, best = std::max(best, e.second);
    std::printf("%zu outcomes, mean %.6e, largest %.6e\n", prob.size(), total / samples, best);
}
