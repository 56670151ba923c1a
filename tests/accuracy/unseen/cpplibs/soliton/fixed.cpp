// Split-step solution of the nonlinear Schroedinger equation for pulses in a fibre.
// usage: main [grid points] [steps]
#include <fftw3.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

using cplx = std::complex<double>;
using Field = std::vector<cplx>;

struct Fibre {
    double beta2 = -1.0;
    double gamma = 1.0;
    double loss = 0.0005;
};

class Spectral {
public:
    Spectral(std::size_t n, double window) : n_(n), omega_(n), forward_(plan(FFTW_FORWARD)), backward_(plan(FFTW_BACKWARD)) {
        const double dw = 2.0 * M_PI / window;
        for (std::size_t k = 0; k < n; ++k)
            omega_[k] = dw * (k < n / 2 ? double(k) : double(k) - double(n));
    }

    ~Spectral() {
        fftw_destroy_plan(forward_);
        fftw_destroy_plan(backward_);
    }

    std::size_t size() const { return n_; }
    double omega(std::size_t k) const { return omega_[k]; }

    void forward(Field& f) const { transform(f, forward_); }

    void backward(Field& f) const {
        transform(f, backward_);
        const double scale = 1.0 / double(n_);
        for (auto& z : f) z *= scale;
    }

private:
    void transform(Field& f, fftw_plan plan) const {
        auto* data = reinterpret_cast<fftw_complex*>(f.data());
        fftw_execute_dft(plan, data, data);
    }

    fftw_plan plan(int direction) const {
        Field sample(n_);
        auto* data = reinterpret_cast<fftw_complex*>(sample.data());
        return fftw_plan_dft_1d(static_cast<int>(n_), data, data, direction, FFTW_ESTIMATE);
    }

    std::size_t n_;
    std::vector<double> omega_;
    fftw_plan forward_, backward_;
};

template <class Transform>
class SplitStep {
public:
    SplitStep(const Transform& t, const Fibre& fibre, double dz) : transform_(t), fibre_(fibre), dz_(dz), linear_(t.size()) {
        for (std::size_t k = 0; k < t.size(); ++k) {
            const double w = t.omega(k);
            linear_[k] = std::exp(cplx(-0.5 * fibre.loss, 0.5 * fibre.beta2 * w * w) * dz);
        }
    }

    void operator()(Field& a) const {
        kerr(a, 0.5 * dz_);
        transform_.forward(a);
        disperse(a);
        transform_.backward(a);
        kerr(a, 0.5 * dz_);
    }

private:
    // the phase of a half step is small, a short series is enough
    void kerr(Field& a, double h) const {
        const double g = fibre_.gamma * h;
        for (auto& z : a) {
            const double re = z.real(), im = z.imag();
            const double p = g * (re * re + im * im);
            const double p2 = p * p;
            const double c = 1.0 - 0.5 * p2 * (1.0 - p2 / 12.0);
            const double s = p * (1.0 - p2 / 6.0 * (1.0 - p2 / 20.0));
            z = cplx(re * c - im * s, re * s + im * c);
        }
    }

    void disperse(Field& a) const {
        for (std::size_t k = 0; k < a.size(); ++k) {
            const double re = a[k].real(), im = a[k].imag();
            const double lr = linear_[k].real(), li = linear_[k].imag();
            a[k] = cplx(re * lr - im * li, re * li + im * lr);
        }
    }

    const Transform& transform_;
    Fibre fibre_;
    double dz_;
    std::vector<cplx> linear_;
};

Field launch(std::size_t n, double window) {
    Field a(n);
    for (std::size_t i = 0; i < n; ++i) {
        const double t = window * (double(i) / double(n) - 0.5);
        const cplx left = std::polar(1.0 / std::cosh(t + 6.0), 0.8 * t);
        const cplx right = std::polar(1.2 / std::cosh(1.2 * (t - 6.0)), -0.6 * t);
        a[i] = left + right;
    }
    return a;
}

double energy(const Field& a, double dt) {
    return dt * std::accumulate(a.begin(), a.end(), 0.0, [](double s, const cplx& z) { return s + std::norm(z); });
}

int main(int argc, char** argv) {
    const std::size_t n = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 512;
    const int steps = argc > 2 ? std::atoi(argv[2]) : 40000;
    const double window = 50.0, dz = 0.001;

    const Spectral spectral(n, window);
    const SplitStep<Spectral> step(spectral, Fibre{}, dz);
    Field a = launch(n, window);
    const double e0 = energy(a, window / double(n));
    const int report = std::max(1, steps / 5);
    std::printf("    z       energy/e0   peak power  at t\n");
    for (int s = 1; s <= steps; ++s) {
        step(a);
        if (s % report == 0) {
            const auto top = std::max_element(a.begin(), a.end(), [](const cplx& x, const cplx& y) { return std::norm(x) < std::norm(y); });
            std::printf("%8.3f  %10.7f  %10.6f  %8.3f\n", s * dz, energy(a, window / double(n)) / e0, std::norm(*top),
                        window * (double(top - a.begin()) / double(n) - 0.5));
        }
    }
    return 0;
}
