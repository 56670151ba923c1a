#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace nebula {

struct Axis {
  double lo, hi;
  std::size_t bins;
  double inverse_width() const { return (bins - 1) / (hi - lo); }
  double energy(std::size_t k) const { return lo + k / inverse_width(); }
};

struct Species {
  std::string name;
  double threshold;
  double abundance;
  std::vector<double> sigma;
};

struct Cell {
  double density;
  double column;
  double dilution;
};

class GaussLegendre {
 public:
  explicit GaussLegendre(int n) : x_(n), w_(n) {
    for (int i = 0; i < n; ++i) {
      double z = std::cos(M_PI * (i + 0.75) / (n + 0.5));
      double dp = 1.0;
      for (int it = 0; it < 50; ++it) {
        double p0 = 1.0, p1 = z;
        for (int k = 2; k <= n; ++k) {
          const double p2 = ((2 * k - 1) * z * p1 - (k - 1) * p0) / k;
          p0 = p1;
          p1 = p2;
        }
        dp = n * (z * p1 - p0) / (z * z - 1.0);
        const double step = p1 / dp;
        z -= step;
        if (std::fabs(step) < 1e-15) break;
      }
      x_[i] = z;
      w_[i] = 2.0 / ((1.0 - z * z) * dp * dp);
    }
  }

  double integrate(double a, double b, const std::function<double(double)>& f) const {
    const double half = 0.5 * (b - a), mid = 0.5 * (a + b);
    double sum = 0.0;
    for (std::size_t i = 0; i < x_.size(); ++i) sum += w_[i] * f(mid + half * x_[i]);
    return half * sum;
  }

 private:
  std::vector<double> x_, w_;
};

Species make_species(const std::string& name, double threshold, double abundance, double peak,
                     const Axis& axis) {
  Species s{name, threshold, abundance, std::vector<double>(axis.bins, 0.0)};
  for (std::size_t k = 0; k < axis.bins; ++k) {
    const double e = axis.energy(k);
    if (e < threshold) continue;
    const double r = threshold / e;
    s.sigma[k] = peak * r * r * (1.3 * r - 0.3 * r * r + 0.05 * std::sin(4.0 * e));
  }
  return s;
}

std::vector<Cell> make_cells(std::size_t n) {
  std::vector<Cell> cells(n);
  std::uint64_t state = 88172645463325252ull;
  auto next = [&state] {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 11) * 0x1.0p-53;
  };
  for (auto& c : cells) {
    c.density = 10.0 + 90.0 * next();
    c.column = 3.0 * next();
    c.dilution = 0.01 + next();
  }
  return cells;
}

class Radiation {
 public:
  Radiation(Axis axis, double star) : axis_(axis), star_(star), rule_(32) {}

  double ionisation(const Species& s, const Cell& c) const {
    const auto& sigma = s.sigma;
    const double scale = axis_.inverse_width();
    const double depth = c.column;
    const auto rate = [&](double e) {
      const double pos = (e - axis_.lo) * scale;
      const std::size_t k = std::min(static_cast<std::size_t>(pos), sigma.size() - 2);
      const double cross = sigma[k] + (pos - k) * (sigma[k + 1] - sigma[k]);
      return cross * e * e * std::exp(-e / star_ - depth * cross);
    };
    return c.dilution * rule_.integrate(s.threshold, axis_.hi, rate);
  }

 private:
  Axis axis_;
  double star_;
  GaussLegendre rule_;
};

}

int main(int argc, char** argv) {
  using namespace nebula;
  const std::size_t ncell = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 100000;
  const Axis axis{10.0, 140.0, 4096};
  const std::vector<Species> gas = {
      make_species("H0", 13.6, 1.0, 6.3, axis), make_species("He0", 24.6, 0.085, 7.4, axis),
      make_species("He+", 54.4, 0.085, 1.6, axis), make_species("O+", 35.1, 5e-4, 2.9, axis)};
  const auto cells = make_cells(ncell);
  const Radiation field(axis, 8.5);

  std::vector<double> total(gas.size(), 0.0);
  std::vector<double> peak(gas.size(), 0.0);
  for (const auto& c : cells) {
    for (std::size_t i = 0; i < gas.size(); ++i) {
      const double rate = gas[i].abundance * c.density * field.ionisation(gas[i], c);
      total[i] += rate;
      peak[i] = std::max(peak[i], rate);
    }
  }
  for (std::size_t i = 0; i < gas.size(); ++i)
    std::printf("%-4s mean %.8e peak %.8e\n", gas[i].name.c_str(), total[i] / ncell, peak[i]);
  return 0;
}
