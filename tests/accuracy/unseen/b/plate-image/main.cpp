#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Frame {
    int width, height;
    std::vector<float> px;
    Frame(int w, int h, float v = 0.0f) : width(w), height(h), px(std::size_t(w) * h, v) {}
    std::size_t size() const { return px.size(); }
};

class Detector {
public:
    Detector(float knee, float slope, float curve, float tail)
        : knee_(knee), slope_(slope), curve_(curve), tail_(tail)
    {
    }

    __attribute__((target("avx2")))
    float linear(float raw, float dark, float flat) const
    {
        const float s = (raw - dark) * flat;
        const float d = s - knee_;
        const float over = 0.5f * (d + std::fabs(d));
        const float r = s + over * (slope_ + over * curve_);
        return 0.5f * (r + std::fabs(r)) - tail_ * r * r;
    }

    Detector warmed(float kelvin) const
    {
        return Detector(knee_ - 0.5f * kelvin, slope_ + 0.001f * kelvin, curve_, tail_);
    }

private:
    float knee_, slope_, curve_, tail_;
};

static std::uint32_t grain(std::uint32_t v)
{
    v ^= v >> 16;
    v *= 0x7feb352du;
    v ^= v >> 15;
    v *= 0x846ca68bu;
    return v ^ (v >> 16);
}

static Frame expose(int w, int h, std::uint32_t seed, float level, float scatter)
{
    Frame f(w, h);
    for (std::size_t i = 0; i < f.size(); ++i) {
        const float u = float(grain(std::uint32_t(i) * 2654435761u + seed) >> 8) * (1.0f / 16777216.0f);
        f.px[i] = level + scatter * u;
    }
    return f;
}

template <class Response>
static void reduce(const Frame& raw, const Frame& dark, const Frame& flat, Frame& out, Response response)
{
    const std::size_t n = out.size();
    const float* r = raw.px.data();
    const float* d = dark.px.data();
    const float* g = flat.px.data();
    float* o = out.px.data();
    for (std::size_t i = 0; i < n; ++i)
        o[i] = response.linear(r[i], d[i], g[i]);
}

static void pile(const Frame& in, Frame& stack)
{
    const std::size_t n = stack.size();
    const float* a = in.px.data();
    float* s = stack.px.data();
    for (std::size_t i = 0; i < n; ++i)
        s[i] += a[i];
}

static void report(const Frame& stack, int exposures)
{
    double sum = 0, high = 0;
    for (float v : stack.px) {
        sum += v;
        high = std::max(high, double(v));
    }
    std::printf("mean %.6f\npeak %.6f\n", sum / stack.size() / exposures, high / exposures);
}

int main(int argc, char** argv)
{
    const int width = argc > 1 ? std::atoi(argv[1]) : 1024;
    const int height = argc > 2 ? std::atoi(argv[2]) : 512;
    const int exposures = argc > 3 ? std::atoi(argv[3]) : 1000;
    const Frame dark = expose(width, height, 17u, 90.0f, 20.0f);
    const Frame flat = expose(width, height, 29u, 0.9f, 0.2f);
    std::vector<Frame> night;
    for (std::uint32_t k = 0; k < 8; ++k)
        night.push_back(expose(width, height, 1000u + 77u * k, 100.0f, 50000.0f));
    const Detector base(30000.0f, 0.02f, 1.0e-6f, 1.0e-7f);
    Frame out(width, height), stack(width, height);
    for (int e = 0; e < exposures; ++e) {
        reduce(night[e % night.size()], dark, flat, out, base.warmed(0.01f * e));
        pile(out, stack);
    }
    report(stack, exposures);
    return 0;
}
