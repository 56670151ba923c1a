// Small-angle scattering form factor of a rough cylinder:
// |F(q)|^2 averaged over orientation by adaptive Simpson quadrature.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_group.h>
#include <vector>

struct Cylinder {
    double radius, half_length, rough;
};

// Bessel J1, rational and asymptotic fits
static double bessel_j1(double x)
{
    double ax = std::fabs(x);
    if (ax < 8.0) {
        double y = x * x;
        double p = x * (72362614232.0 + y * (-7895059235.0 + y * (242396853.1 +
                   y * (-2972611.439 + y * (15704.48260 + y * (-30.16036606))))));
        double q = 144725228442.0 + y * (2300535178.0 + y * (18583304.74 +
                   y * (99447.43394 + y * (376.9991397 + y))));
        return p / q;
    }
    double z = 8.0 / ax, y = z * z, xx = ax - 2.356194491;
    double p = 1.0 + y * (0.183105e-2 + y * (-0.3516396496e-4 + y * 0.2457520174e-5));
    double q = 0.04687499995 + y * (-0.2002690873e-3 + y * 0.8449199096e-5);
    double r = std::sqrt(0.636619772 / ax) * (std::cos(xx) * p - z * std::sin(xx) * q);
    return x < 0 ? -r : r;
}

class Average {
public:
    Average(const Cylinder &c, double q, double tol) : c_(c), q_(q), tol_(tol), damping_(std::exp(-q * q * c.rough * c.rough)) {}

    double run() const
    {
        double a = 0.0, b = 1.0, m = 0.5;
        double fa = intensity(a), fb = intensity(b), fm = intensity(m);
        return refine({a, b, fa, fm, fb, (b - a) / 6 * (fa + 4 * fm + fb)}, tol_, 0);
    }

private:
    struct Panel {
        double a, b, fa, fm, fb, s;
    };

    // mu: cosine between the axis and q
    double intensity(double mu) const
    {
        double x = q_ * c_.radius * std::sqrt(1 - mu * mu), y = q_ * c_.half_length * mu;
        double radial = x > 1e-6 ? 2 * bessel_j1(x) / x : 1.0;
        double axial = y > 1e-6 ? std::sin(y) / y : 1.0;
        double f = radial * axial;
        return f * f * damping_;
    }

    double refine(const Panel &p, double tol, int depth) const
    {
        double m = 0.5 * (p.a + p.b);
        double fl = intensity(0.5 * (p.a + m)), fr = intensity(0.5 * (m + p.b));
        double sl = (m - p.a) / 6 * (p.fa + 4 * fl + p.fm);
        double sr = (p.b - m) / 6 * (p.fm + 4 * fr + p.fb);
        double err = sl + sr - p.s;
        if (depth > 40 || (depth > 4 && std::fabs(err) < 15 * tol)) return sl + sr + err / 15;
        double left, right;
        Panel lo{p.a, m, p.fa, fl, p.fm, sl}, hi{m, p.b, p.fm, fr, p.fb, sr};
        tbb::task_group g;
        g.run([&] { left = refine(lo, 0.5 * tol, depth + 1); });
        g.run([&] { right = refine(hi, 0.5 * tol, depth + 1); });
        g.wait();
        return left + right;
    }

    const Cylinder c_;
    const double q_, tol_, damping_;
};

int main(int argc, char **argv)
{
    const int nq = argc > 1 ? std::atoi(argv[1]) : 40;
    const double tol = argc > 2 ? std::atof(argv[2]) : 1e-10;
    const int threads = argc > 3 ? std::atoi(argv[3]) : 2;
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);

    const Cylinder c{2.0, 900.0, 0.15};
    std::vector<double> q(nq), iq(nq);
    for (int i = 0; i < nq; i++) {
        q[i] = 0.05 * std::pow(60.0, (double)i / (nq - 1));
        iq[i] = Average(c, q[i], tol).run();
    }
    double invariant = 0;
    for (int i = 1; i < nq; i++)
        invariant += 0.5 * (q[i] - q[i - 1]) * (q[i] * q[i] * iq[i] + q[i - 1] * q[i - 1] * iq[i - 1]);
    for (int i = 0; i < nq; i += (nq + 9) / 10) std::printf("q = %8.5f   P(q) = %.10e\n", q[i], iq[i]);
    std::printf("invariant %.10e\n", invariant);
    return 0;
}
