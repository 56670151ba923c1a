// Decaying two-dimensional turbulence, pseudo-spectral vorticity equation with 2/3 dealiasing.
// usage: main [grid] [steps] [threads]
#include <fftw3.h>
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace flow {

using cplx = std::complex<float>;

template <class T>
struct Release {
    void operator()(T* p) const { fftwf_free(p); }
};
template <class T>
using Buffer = std::unique_ptr<T[], Release<T>>;

template <class T>
Buffer<T> allocate(std::size_t n) {
    return Buffer<T>(static_cast<T*>(fftwf_malloc(n * sizeof(T))));
}

class Fourier {
public:
    explicit Fourier(int n) : n_(n), half_(n / 2 + 1) {
        auto r = allocate<float>(real());
        auto c = allocate<cplx>(modes());
        auto* cc = reinterpret_cast<fftwf_complex*>(c.get());
        forward_ = fftwf_plan_dft_r2c_2d(n, n, r.get(), cc, FFTW_MEASURE);
        backward_ = fftwf_plan_dft_c2r_2d(n, n, cc, r.get(), FFTW_MEASURE);
    }
    ~Fourier() {
        fftwf_destroy_plan(forward_);
        fftwf_destroy_plan(backward_);
    }
    std::size_t real() const { return static_cast<std::size_t>(n_) * n_; }
    std::size_t modes() const { return static_cast<std::size_t>(n_) * half_; }
    int n() const { return n_; }
    int half() const { return half_; }
    void toSpectral(float* in, cplx* out) const { fftwf_execute_dft_r2c(forward_, in, reinterpret_cast<fftwf_complex*>(out)); }
    void toGrid(cplx* in, float* out) const { fftwf_execute_dft_c2r(backward_, reinterpret_cast<fftwf_complex*>(in), out); }

private:
    int n_, half_;
    fftwf_plan forward_, backward_;
};

void onPool(void* (*work)(char*), char* jobs, std::size_t size, int count, void*) {
    tbb::parallel_for(0, count, [=](int i) { work(jobs + size * static_cast<std::size_t>(i)); });
}

template <class Body>
void rows(int n, Body&& body) {
    tbb::parallel_for(tbb::blocked_range<int>(0, n, 32), [&](const tbb::blocked_range<int>& r) {
        for (int j = r.begin(); j != r.end(); ++j) body(j);
    });
}

class Vorticity {
public:
    Vorticity(int n, float nu)
        : fft_(n), nu_(nu), w_(allocate<cplx>(fft_.modes())), stage_(allocate<cplx>(fft_.modes())), a_(allocate<cplx>(fft_.modes())),
          b_(allocate<cplx>(fft_.modes())), u_(allocate<float>(fft_.real())), v_(allocate<float>(fft_.real())),
          z_(allocate<float>(fft_.real())) {
        std::uint32_t s = 99;
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < fft_.half(); ++i) {
                const float k = std::hypot(float(i), float(wave(j)));
                s = s * 1664525u + 1013904223u;
                const float phase = 6.2831853f * float(s >> 8) / 16777216.0f;
                const float amp = k > 0 ? k * k * std::exp(-k * k / 72.0f) : 0.0f;
                w_[at(j, i)] = i == 0 ? cplx(0) : std::polar(0.02f * amp, phase);
            }
    }

    void step(float dt) {
        rows(fft_.n(), [this](int j) { std::copy_n(&w_[at(j, 0)], fft_.half(), &stage_[at(j, 0)]); });
        advance(0.5f * dt);
        advance(dt);
        std::swap(w_, stage_);
    }

    double enstrophy() const { return sum([](float, const cplx& w) { return std::norm(w); }); }
    double energy() const { return sum([](float k2, const cplx& w) { return k2 > 0 ? std::norm(w) / k2 : 0.0f; }); }

private:
    std::size_t at(int j, int i) const { return static_cast<std::size_t>(j) * fft_.half() + i; }
    int wave(int j) const { return j <= fft_.n() / 2 ? j : j - fft_.n(); }

    template <class Density>
    double sum(Density&& density) const {
        double total = 0;
        for (int j = 0; j < fft_.n(); ++j)
            for (int i = 0; i < fft_.half(); ++i)
                total += (i == 0 ? 0.5 : 1.0) * density(float(i * i + wave(j) * wave(j)), w_[at(j, i)]);
        return total;
    }

    // stage <- w + h (N(stage) - nu k^2 stage), in flux form
    void advance(float h) {
        rows(fft_.n(), [this](int j) {
            const float ky = float(wave(j));
            for (int i = 0; i < fft_.half(); ++i) {
                const float kx = float(i), k2 = std::max(1.0f, kx * kx + ky * ky);
                const cplx psi = stage_[at(j, i)] / k2;
                a_[at(j, i)] = cplx(-ky * psi.imag(), ky * psi.real());
                b_[at(j, i)] = cplx(kx * psi.imag(), -kx * psi.real());
            }
        });
        fft_.toGrid(a_.get(), u_.get());
        fft_.toGrid(b_.get(), v_.get());
        rows(fft_.n(), [this](int j) { std::copy_n(&stage_[at(j, 0)], fft_.half(), &a_[at(j, 0)]); });
        fft_.toGrid(a_.get(), z_.get());
        rows(fft_.n(), [this](int j) {
            const std::size_t first = static_cast<std::size_t>(j) * fft_.n();
            for (std::size_t p = first; p < first + fft_.n(); ++p) {
                u_[p] *= z_[p];
                v_[p] *= z_[p];
            }
        });
        fft_.toSpectral(u_.get(), a_.get());
        fft_.toSpectral(v_.get(), b_.get());
        const float norm = 1.0f / float(fft_.real());
        const int cut = fft_.n() / 3;
        rows(fft_.n(), [=](int j) {
            const float ky = float(wave(j));
            for (int i = 0; i < fft_.half(); ++i) {
                const std::size_t m = at(j, i);
                const float kx = float(i), k2 = kx * kx + ky * ky;
                const float keep = i < cut && std::abs(wave(j)) < cut ? 1.0f : 0.0f;
                const cplx flux = (kx * a_[m] + ky * b_[m]) * norm;
                const cplx tendency(flux.imag() - nu_ * k2 * stage_[m].real(), -flux.real() - nu_ * k2 * stage_[m].imag());
                stage_[m] = keep * (w_[m] + h * tendency);
            }
        });
    }

    Fourier fft_;
    float nu_;
    Buffer<cplx> w_, stage_, a_, b_;
    Buffer<float> u_, v_, z_;
};

}  // namespace flow

int main(int argc, char** argv) {
    const int n = argc > 1 ? std::atoi(argv[1]) : 512;
    const int steps = argc > 2 ? std::atoi(argv[2]) : 100;
    const int threads = argc > 3 ? std::atoi(argv[3]) : 2;

    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
    fftwf_init_threads();
    fftwf_threads_set_callback(flow::onPool, nullptr);
    fftwf_plan_with_nthreads(threads);
    {
        flow::Vorticity fluid(n, 5e-5f);
        const double e0 = fluid.energy(), z0 = fluid.enstrophy();
        for (int s = 0; s < steps; ++s) fluid.step(2e-4f);
        std::printf("grid %d, %d steps\n", n, steps);
        std::printf("energy    %.5f of %.5f\n", fluid.energy() / e0, e0);
        std::printf("enstrophy %.5f of %.5f\n", fluid.enstrophy() / z0, z0);
    }
    fftwf_cleanup_threads();
    return 0;
}
