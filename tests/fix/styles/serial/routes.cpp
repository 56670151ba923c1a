#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace geo {

struct Port {
  std::string code;
  double lat;
  double lon;
};

double arc(const Port &a, const Port &b) {
  double c = std::sin(a.lat) * std::sin(b.lat) + std::cos(a.lat) * std::cos(b.lat) * std::cos(a.lon - b.lon);
  return 6371.0 * std::acos(std::min(1.0, std::max(-1.0, c)));
}

std::vector<Port> survey(int n) {
  std::vector<Port> v;
  v.reserve(n);
  unsigned s = 9001;
  auto next = [&s] {
    s = s * 1103515245u + 12345u;
    return (s >> 8) / 16777216.0;
  };
  for (int i = 0; i < n; i++) {
    double la = std::asin(2.0 * next() - 1.0);
    double lo = 6.283185307 * next();
    v.push_back({"P" + std::to_string(i), la, lo});
  }
  return v;
}

}

static std::vector<double> reach(const std::vector<geo::Port> &ports) {
  std::vector<double> best(ports.size(), 1e9);
  for (size_t i = 0; i < ports.size(); i++)
    for (size_t j = 0; j < i; j++) {
      double d = geo::arc(ports[i], ports[j]);
      if (d < best[i]) best[i] = d;
      if (d < best[j]) best[j] = d;
    }
  return best;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 8000;
  auto ports = geo::survey(n);
  auto best = reach(ports);
  double sum = 0.0, top = 0.0;
  for (double b : best) {
    sum += b;
    top = std::max(top, b);
  }
  std::printf("checksum %.7e %.6f\n", sum, top);
  return 0;
}
