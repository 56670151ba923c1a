#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace {

typedef double Lane __attribute__((vector_size(32)));

constexpr int MR = 6;
constexpr int NR = 8;
constexpr int KC = 240;
constexpr int MC = 72;

struct Aligned {
  explicit Aligned(std::size_t n)
      : data(static_cast<double*>(::operator new[](n * sizeof(double), std::align_val_t(64)))) {}
  ~Aligned() { ::operator delete[](data, std::align_val_t(64)); }
  Aligned(const Aligned&) = delete;
  Aligned& operator=(const Aligned&) = delete;
  double* data;
};

struct Matrix {
  explicit Matrix(int order) : n(order), store(static_cast<std::size_t>(order) * order) {}
  double* row(int i) { return store.data + static_cast<std::size_t>(i) * n; }
  const double* row(int i) const { return store.data + static_cast<std::size_t>(i) * n; }
  int n;
  Aligned store;
};

class Propagator {
 public:
  explicit Propagator(const Matrix& t) : n_(t.n), panels_(static_cast<std::size_t>(t.n) * t.n) {
#pragma omp parallel for collapse(2) schedule(static)
    for (int k0 = 0; k0 < n_; k0 += KC)
      for (int j0 = 0; j0 < n_; j0 += NR) {
        double* out = panel(k0, j0);
        for (int k = 0; k < KC; ++k)
          for (int j = 0; j < NR; ++j) *out++ = t.row(k0 + k)[j0 + j];
      }
  }

  void apply(const Matrix& p, Matrix& next) const {
#pragma omp parallel
    {
      Aligned strip(static_cast<std::size_t>(MC) * KC);
#pragma omp for schedule(static)
      for (int i0 = 0; i0 < n_; i0 += MC)
        for (int k0 = 0; k0 < n_; k0 += KC) {
          pack(p, i0, k0, strip.data);
          for (int j0 = 0; j0 < n_; j0 += NR)
            for (int i = 0; i < MC; i += MR)
              tile(strip.data + i * KC, panel(k0, j0), next.row(i0 + i) + j0, k0 == 0);
        }
    }
  }

 private:
  double* panel(int k0, int j0) const {
    return panels_.data + static_cast<std::size_t>(k0) * n_ + static_cast<std::size_t>(j0) * KC;
  }

  static void pack(const Matrix& p, int i0, int k0, double* out) {
    for (int i = 0; i < MC; i += MR)
      for (int k = 0; k < KC; ++k)
        for (int r = 0; r < MR; ++r) *out++ = p.row(i0 + i + r)[k0 + k];
  }

  void tile(const double* a, const double* b, double* c, bool fresh) const {
    Lane acc[MR][2] = {};
    for (int k = 0; k < KC; ++k, a += MR, b += NR) {
      const Lane b0 = *reinterpret_cast<const Lane*>(b);
      const Lane b1 = *reinterpret_cast<const Lane*>(b + 4);
#pragma GCC unroll 6
      for (int r = 0; r < MR; ++r) {
        acc[r][0] += a[r] * b0;
        acc[r][1] += a[r] * b1;
      }
    }
#pragma GCC unroll 6
    for (int r = 0; r < MR; ++r) {
      Lane* out = reinterpret_cast<Lane*>(c + static_cast<std::size_t>(r) * n_);
      out[0] = fresh ? acc[r][0] : out[0] + acc[r][0];
      out[1] = fresh ? acc[r][1] : out[1] + acc[r][1];
    }
  }

  int n_;
  Aligned panels_;
};

void transition_counts(Matrix& t) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < t.n; ++i) {
    double* row = t.row(i);
    double sum = 0.0;
    for (int j = 0; j < t.n; ++j) {
      const std::uint32_t h = (i * 2654435761u) ^ (j * 2246822519u);
      const int d = std::abs(i - j);
      row[j] = ((h >> 12) & 1023) * 1e-6 + 1.0 / (1.0 + d * d);
      sum += row[j];
    }
    for (int j = 0; j < t.n; ++j) row[j] /= sum;
  }
}

void report(int lag, const Matrix& p) {
  double stay = 0.0, widest = 0.0;
  for (int i = 0; i < p.n; ++i) {
    stay += p.row(i)[i];
    widest = std::max(widest, *std::max_element(p.row(i), p.row(i) + p.n));
  }
  std::printf("lag %3d stay %.10f widest %.10f\n", lag, stay / p.n, widest);
}

}

int main(int argc, char** argv) {
  const int blocks = argc > 1 ? std::atoi(argv[1]) : 2;
  const int lags = argc > 2 ? std::atoi(argv[2]) : 30;
  const int n = blocks * 720;
  Matrix t(n), p(n), q(n);
  transition_counts(t);
  const Propagator step(t);
  step.apply(t, p);
  Matrix* now = &p;
  Matrix* next = &q;
  for (int lag = 3; lag <= lags; ++lag) {
    step.apply(*now, *next);
    std::swap(now, next);
    if (lag % 10 == 0) report(lag, *now);
  }
  return 0;
}
