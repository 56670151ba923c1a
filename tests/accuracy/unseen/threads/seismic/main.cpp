// Reading side and picking side of a seismic monitoring run: one thread builds the
// next gather (synthetic here), the other detects P onsets by STA/LTA and correlation.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

struct Gather {
    int id;
    int nsamp;
    std::vector<float> trace;   // one after another
};

class Channel {
public:
    explicit Channel(size_t depth) : depth_(depth) {}
    void put(Gather g)
    {
        for (;;) {
            {
                std::lock_guard<std::mutex> lock(m_);
                if (q_.size() < depth_) {
                    q_.push_back(std::move(g));
                    return;
                }
            }
            std::this_thread::sleep_for(2ms);
        }
    }
    std::optional<Gather> get()
    {
        for (;;) {
            {
                std::lock_guard<std::mutex> lock(m_);
                if (!q_.empty()) {
                    Gather g = std::move(q_.front());
                    q_.pop_front();
                    return g;
                }
                if (closed_) return std::nullopt;
            }
            std::this_thread::sleep_for(2ms);
        }
    }
    void close()
    {
        std::lock_guard<std::mutex> lock(m_);
        closed_ = true;
    }

private:
    std::mutex m_;
    std::deque<Gather> q_;
    size_t depth_;
    bool closed_ = false;
};

static std::vector<float> ricker(int n, float f)
{
    std::vector<float> w(n);
    for (int i = 0; i < n; i++) {
        float t = (i - n / 2) * 0.004f, a = float(M_PI) * f * t;
        w[i] = (1 - 2 * a * a) * std::exp(-a * a);
    }
    return w;
}

static Gather build(int id, int ntrace, int nsamp, const std::vector<float> &wavelet)
{
    uint32_t s = 2654435761u * (id + 1);
    const int nw = (int)wavelet.size();
    Gather g{id, nsamp, std::vector<float>((size_t)ntrace * nsamp)};
    std::vector<float> refl(nsamp + nw);
    for (int t = 0; t < ntrace; t++) {
        int onset = 200 + (id * 37 + t * t / 4) % (nsamp - 400);
        for (int i = 0; i < nsamp + nw; i++) {
            s ^= s << 13, s ^= s >> 17, s ^= s << 5;
            refl[i] = (s >> 8) * (0.2f / 16777216.f) - 0.1f;
            if (i >= onset) refl[i] += 1.5f * std::exp(-0.02f * (i - onset)) * (i % 9 == 0);
        }
        float *x = &g.trace[(size_t)t * nsamp];
        for (int k = 0; k < nw; k++)
            for (int i = 0; i < nsamp; i++) x[i] += wavelet[k] * refl[i + k];
    }
    return g;
}

struct Pick {
    int trace = -1, sample = 0;
    float ratio = 0;
};

static Pick detect(const Gather &g, const std::vector<float> &tmpl)
{
    const int ns = g.nsamp, nt = (int)(g.trace.size() / ns), nw = (int)tmpl.size();
    std::vector<float> c(ns);
    Pick best;
    for (int t = 0; t < nt; t++) {
        const float *x = &g.trace[(size_t)t * ns];
        std::fill(c.begin(), c.end(), 0.f);
        for (int k = 0; k < nw; k++)
            for (int i = 0; i < ns - nw; i++) c[i] += tmpl[k] * x[i + k];
        float sta = 0, lta = 0;
        for (int i = 0; i < ns - nw; i++) {
            float e = c[i] * c[i];
            sta += (e - sta) / 16;
            lta += (e - lta) / 256;
            if (i > 150 && sta > best.ratio * lta) best = {t, i, sta / lta};
        }
    }
    return best;
}

int main(int argc, char **argv)
{
    const int ngather = argc > 1 ? std::atoi(argv[1]) : 1000;
    const int ntrace = argc > 2 ? std::atoi(argv[2]) : 24;
    const int nsamp = argc > 3 ? std::atoi(argv[3]) : 2000;
    const auto wavelet = ricker(61, 18.f);

    Channel channel(1);
    std::vector<Pick> picks(ngather);
    std::thread reader([&] {
        for (int i = 0; i < ngather; i++) channel.put(build(i, ntrace, nsamp, wavelet));
        channel.close();
    });
    std::thread picker([&] {
        while (auto g = channel.get()) picks[g->id] = detect(*g, wavelet);
    });
    reader.join();
    picker.join();

    double mean = 0;
    long sum = 0;
    for (const Pick &p : picks) mean += p.ratio, sum += p.sample;
    std::printf("gathers %d  mean STA/LTA %.4f  sum of onsets %ld\n", ngather, mean / ngather, sum);
    for (int i = 0; i < ngather; i += ngather / 8)
        std::printf("gather %5d  trace %3d  sample %5d  ratio %.3f\n", i, picks[i].trace,
                    picks[i].sample, picks[i].ratio);
    return 0;
}
