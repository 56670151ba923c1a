#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

struct Profile {
  std::vector<double> depth;
  std::vector<double> temp;
};

static Profile cast_down(int n) {
  Profile p;
  double z = 0.0;
  for (int i = 0; i < n; i++) {
    p.depth.push_back(z);
    p.temp.push_back(4.0 + 18.0 * std::exp(-z / 250.0) + 0.05 * std::sin(0.2 * z));
    z += 0.5 + 0.001 * (i % 400);
  }
  return p;
}

static double sample(Profile p, double z) {
  auto it = std::upper_bound(p.depth.begin(), p.depth.end(), z);
  if (it == p.depth.begin()) return p.temp.front();
  if (it == p.depth.end()) return p.temp.back();
  size_t k = it - p.depth.begin();
  double w = (z - p.depth[k - 1]) / (p.depth[k] - p.depth[k - 1]);
  return (1.0 - w) * p.temp[k - 1] + w * p.temp[k];
}

static std::pair<double, double> integrate(const Profile &p, double lo, double hi, int n) {
  double h = (hi - lo) / n;
  double heat = 0.0, grad = 0.0, last = sample(p, lo);
  for (int i = 1; i <= n; i++) {
    double t = sample(p, lo + i * h);
    heat += 0.5 * h * (t + last);
    grad = std::max(grad, std::fabs(t - last) / h);
    last = t;
  }
  return {heat, grad};
}

int main(int argc, char **argv) {
  int levels = argc > 1 ? std::atoi(argv[1]) : 3000;
  int points = argc > 2 ? std::atoi(argv[2]) : 30000;
  Profile p = cast_down(levels);
  double bottom = p.depth.back();
  double sum = 0.0, top = 0.0;
  for (int layer = 0; layer < 20; layer++) {
    auto [heat, grad] = integrate(p, bottom * layer / 20, bottom * (layer + 1) / 20, points);
    sum += heat;
    top = std::max(top, grad);
  }
  std::printf("checksum %.8e %.6e\n", sum, top);
  return 0;
}
