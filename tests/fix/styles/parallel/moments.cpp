#include <omp.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

class Moments {
 public:
  explicit Moments(int workers)
      : workers_(workers), sum_(new double[workers]()), sq_(new double[workers]()) {}

  void absorb(const double *first, const double *last) {
    const double *p;
#pragma omp parallel for num_threads(workers_)
    for (p = first; p < last; ++p) {
      int id = omp_get_thread_num();
      sum_[id] += *p;
      sq_[id] += *p * *p;
    }
  }

  double mean(double n) const { return collect(sum_.get()) / n; }
  double variance(double n) const {
    double m = mean(n);
    return collect(sq_.get()) / n - m * m;
  }

 private:
  double collect(const double *a) const {
    double s = 0.0;
    for (int k = 0; k < workers_; ++k) s += a[k];
    return s;
  }

  int workers_;
  std::unique_ptr<double[]> sum_, sq_;
};

static std::vector<double> readings(std::size_t n) {
  std::vector<double> v(n);
  unsigned s = 5u;
  for (auto &x : v) {
    s = s * 22695477u + 1u;
    x = (s >> 16) * 0.001 - 32.0;
  }
  return v;
}

int main(int argc, char **argv) {
  std::size_t n = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 4000000;
  int rounds = argc > 2 ? std::atoi(argv[2]) : 60;
  auto v = readings(n);
  Moments m(omp_get_max_threads());
  for (int r = 0; r < rounds; ++r) m.absorb(v.data(), v.data() + v.size());
  double total = static_cast<double>(n) * rounds;
  std::printf("checksum %.8e %.8e\n", m.mean(total), m.variance(total));
  return 0;
}
