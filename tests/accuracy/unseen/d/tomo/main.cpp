// Muon radiography of a volcano edifice: forward model of the opacity seen from
// several detector sites, smoothed by the detector response, misfit per model.
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <utility>

class Image {
public:
    Image(int w, int h) : w_(w), h_(h), px_(new float[std::size_t(w) * h]) {}
    int width() const { return w_; }
    int height() const { return h_; }
    float *row(int y) { return px_.get() + std::size_t(y) * w_; }
    const float *row(int y) const { return px_.get() + std::size_t(y) * w_; }

private:
    int w_, h_;
    std::unique_ptr<float[]> px_;
};

struct Edifice {
    float summit, radius, conduit, density;
};

struct Site {
    float x, elevation, dip;
};

class Radiograph {
public:
    Radiograph(int w, int h) : w_(w), h_(h), blurred_(w, h) {}

    double misfit(const Edifice &e, const Site &s)
    {
        Image sky(w_, h_);
        project(e, s, sky);
        smear(sky, blurred_);
        return compare(blurred_, e.density);
    }

private:
    void project(const Edifice &e, const Site &s, Image &sky) const
    {
        const float inv = 1.0f / float(w_);
        for (int y = 0; y < h_; ++y) {
            float *p = sky.row(y);
            const float z = s.elevation + s.dip * float(y) / float(h_);
            const float half = e.radius * (1.0f - z / e.summit);
            const float core = e.conduit * e.density * 0.5f;
            for (int x = 0; x < w_; ++x) {
                const float a = float(x) * inv - s.x;
                const float chord = half - a * a;
                const float path = chord > 0.0f ? chord * e.density : 0.0f;
                p[x] = path + (a * a < 0.01f ? core : 0.0f);
            }
        }
    }

    void smear(const Image &in, Image &out) const
    {
        for (int y = 0; y < h_; ++y) {
            const float *p = in.row(y);
            float *q = out.row(y);
            q[0] = p[0];
            q[w_ - 1] = p[w_ - 1];
            for (int x = 1; x < w_ - 1; ++x)
                q[x] = 0.25f * p[x - 1] + 0.5f * p[x] + 0.25f * p[x + 1];
        }
    }

    double compare(const Image &m, float target) const
    {
        double total = 0.0;
        for (int y = 0; y < h_; y += 2) {
            const float *p = m.row(y);
            float r[8] = {};
            for (int x = 0; x + 8 <= w_; x += 8)
                for (int k = 0; k < 8; ++k) {
                    const float d = p[x + k] - 0.3f * target;
                    r[k] += d * d;
                }
            for (float v : r)
                total += v;
        }
        return total / (double(w_) * h_);
    }

    int w_, h_;
    Image blurred_;
};

int main()
{
    const int w = 4096, h = 2304;
    const Site sites[] = {{0.45f, 0.10f, 0.60f}, {0.52f, 0.15f, 0.70f}, {0.60f, 0.05f, 0.75f}};
    Radiograph detector(w, h);
    double best = 1e30;
    Edifice chosen{};
    for (int c = 0; c < 8; ++c) {
        double local = 1e30;
        for (int d = 0; d < 10; ++d) {
            Edifice e{1.2f, 0.30f, 0.05f * float(c), 1.6f + 0.1f * float(d)};
            double sum = 0.0;
            for (const Site &s : sites)
                sum += detector.misfit(e, s);
            local = sum < local ? sum : local;
            if (sum < best) {
                best = sum;
                chosen = e;
            }
        }
        std::printf("conduit %.2f  misfit %.8f\n", 0.05 * c, local);
    }
    std::printf("best: conduit %.2f density %.2f misfit %.8f\n", chosen.conduit, chosen.density, best);
}
