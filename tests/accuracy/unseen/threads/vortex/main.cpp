// Roll-up of a vortex sheet: two-dimensional vortex blobs, direct Biot-Savart sum,
// second-order Runge-Kutta in time.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <vector>

struct Blobs {
    std::vector<float> x, y, g;   // place and circulation
    explicit Blobs(int n) : x(n), y(n), g(n) {}
    int size() const { return (int)x.size(); }
};

struct Velocity {
    std::vector<float> u, v;
    explicit Velocity(int n) : u(n), v(n) {}
};

// elliptically loaded wing: strength of the sheet ~ x / sqrt(1 - x^2)
static Blobs wing_sheet(int n)
{
    Blobs b(n);
    for (int i = 0; i < n; i++) {
        double th = M_PI * (i + 0.5) / n;
        b.x[i] = (float)-std::cos(th);
        b.y[i] = 0.0f;
        b.g[i] = (float)(-std::cos(th) * M_PI / n);
    }
    return b;
}

// four targets share each load of a source
static void four(const Blobs &b, Velocity &w, int i, float d2)
{
    const float *x = b.x.data(), *y = b.y.data(), *g = b.g.data();
    const int n = b.size();
    float u0 = 0, u1 = 0, u2 = 0, u3 = 0, v0 = 0, v1 = 0, v2 = 0, v3 = 0;
    const float x0 = x[i], x1 = x[i + 1], x2 = x[i + 2], x3 = x[i + 3];
    const float y0 = y[i], y1 = y[i + 1], y2 = y[i + 2], y3 = y[i + 3];
    for (int j = 0; j < n; j++) {
        float xs = x[j], ys = y[j], gs = g[j];
        float dx0 = x0 - xs, dy0 = y0 - ys, k0 = gs / (dx0 * dx0 + dy0 * dy0 + d2);
        float dx1 = x1 - xs, dy1 = y1 - ys, k1 = gs / (dx1 * dx1 + dy1 * dy1 + d2);
        float dx2 = x2 - xs, dy2 = y2 - ys, k2 = gs / (dx2 * dx2 + dy2 * dy2 + d2);
        float dx3 = x3 - xs, dy3 = y3 - ys, k3 = gs / (dx3 * dx3 + dy3 * dy3 + d2);
        u0 -= dy0 * k0, v0 += dx0 * k0;
        u1 -= dy1 * k1, v1 += dx1 * k1;
        u2 -= dy2 * k2, v2 += dx2 * k2;
        u3 -= dy3 * k3, v3 += dx3 * k3;
    }
    const float c = (float)(0.5 / M_PI);
    w.u[i] = c * u0, w.u[i + 1] = c * u1, w.u[i + 2] = c * u2, w.u[i + 3] = c * u3;
    w.v[i] = c * v0, w.v[i + 1] = c * v1, w.v[i + 2] = c * v2, w.v[i + 3] = c * v3;
}

static void biot_savart(const Blobs &b, Velocity &w, float delta)
{
    tbb::parallel_for(tbb::blocked_range<int>(0, b.size() / 4, 32), [&](const tbb::blocked_range<int> &r) {
        for (int k = r.begin(); k < r.end(); k++) four(b, w, 4 * k, delta * delta);
    });
}

static void shift(const Blobs &from, const Velocity &w, float dt, Blobs &to)
{
    for (int i = 0; i < from.size(); i++) {
        to.x[i] = from.x[i] + dt * w.u[i];
        to.y[i] = from.y[i] + dt * w.v[i];
    }
}

int main(int argc, char **argv)
{
    const int n = (argc > 1 ? std::atoi(argv[1]) : 8000) / 4 * 4;
    const int steps = argc > 2 ? std::atoi(argv[2]) : 100;
    const int threads = argc > 3 ? std::atoi(argv[3]) : 2;
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    const float dt = 0.01f, delta = 0.05f;

    Blobs b = wing_sheet(n), mid = b;
    Velocity w(n);
    for (int s = 0; s < steps; s++) {
        biot_savart(b, w, delta);
        shift(b, w, 0.5f * dt, mid);
        biot_savart(mid, w, delta);
        shift(b, w, dt, b);
    }

    double px = 0, py = 0, g = 0, tip = 0;
    for (int i = 0; i < n; i++) {
        px += b.g[i] * b.y[i];
        py += b.g[i] * b.x[i];
        g += b.g[i];
        tip = std::fmax(tip, std::fabs(b.x[i]));
    }
    std::printf("blobs %d  t = %.3f\n", n, steps * dt);
    std::printf("circulation %.4f  impulse %.4f %.4f\n", std::fabs(g), px, py);
    std::printf("widest point %.4f  centre %.4f  tip at (%.3f, %.3f)\n", tip, b.y[n / 2], b.x[n - 1], b.y[n - 1]);
    return 0;
}
