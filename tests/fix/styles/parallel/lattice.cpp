#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

struct Contract {
  double spot, strike, vol, years;
  int steps;
};

class Book {
 public:
  explicit Book(int n) {
    for (int i = 0; i < n; ++i) {
      double years = 0.1 + 3.0 * i / n;
      items_.push_back({90.0 + i % 21, 100.0, 0.15 + 0.01 * (i % 9), years,
                        20 + static_cast<int>(years * 250)});
    }
  }

  std::vector<double> value(double rate) const {
    std::vector<double> out(items_.size());
    const int n = static_cast<int>(items_.size());
#pragma omp parallel for
    for (int i = 0; i < n; ++i) out[i] = price(items_[i], rate);
    return out;
  }

 private:
  static double price(const Contract &c, double rate) {
    const double dt = c.years / c.steps;
    const double up = std::exp(c.vol * std::sqrt(dt));
    const double grow = std::exp(rate * dt);
    const double p = (grow - 1.0 / up) / (up - 1.0 / up);
    std::vector<double> v(c.steps + 1);
    double s = c.spot * std::pow(up, -c.steps);
    for (auto &x : v) {
      x = std::max(0.0, c.strike - s);
      s *= up * up;
    }
    for (int k = c.steps; k > 0; --k) {
      double q = c.spot * std::pow(up, 1 - k);
      for (int j = 0; j < k; ++j) {
        double hold = (p * v[j + 1] + (1.0 - p) * v[j]) / grow;
        v[j] = std::max(hold, c.strike - q);
        q *= up * up;
      }
    }
    return v[0];
  }

  std::vector<Contract> items_;
};

int main(int argc, char **argv) {
  Book book(argc > 1 ? std::atoi(argv[1]) : 4000);
  int rounds = argc > 2 ? std::atoi(argv[2]) : 3;
  double total = 0.0;
  for (int r = 0; r < rounds; ++r) {
    auto v = book.value(0.01 + 0.005 * r);
    total = std::accumulate(v.begin(), v.end(), total);
  }
  std::printf("checksum %.8e\n", total);
}
