#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

struct Rng {
  uint64_t s;
  double uniform() {
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    return (double)(s >> 11) * (1.0 / 9007199254740992.0);
  }
};

struct Option {
  double spot, strike, rate, vol, years;
};

static double gaussian(Rng &r) {
  double u, v, q;
  do {
    u = 2.0 * r.uniform() - 1.0;
    v = 2.0 * r.uniform() - 1.0;
    q = u * u + v * v;
  } while (q >= 1.0 || q == 0.0);
  return u * std::sqrt(-2.0 * std::log(q) / q);
}

static double path(const Option &o, Rng &r, int steps, double drift, double sigma) {
  double x = 0.0, mean = 0.0;
  for (int k = 0; k < steps; k++) {
    x += drift + sigma * gaussian(r);
    mean += x;
  }
  return o.spot * std::exp(mean / steps);
}

static double price(const Option &o, int paths, int steps, uint64_t seed) {
  Rng r{seed};
  double dt = o.years / steps, sum = 0.0;
  double drift = (o.rate - 0.5 * o.vol * o.vol) * dt, sigma = o.vol * std::sqrt(dt);
  for (int p = 0; p < paths; p++) {
    double s = path(o, r, steps, drift, sigma);
    if (s > o.strike) sum += s - o.strike;
  }
  return std::exp(-o.rate * o.years) * sum / paths;
}

int main(int argc, char **argv) {
  int paths = argc > 1 ? std::atoi(argv[1]) : 60000;
  unsigned long seed = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 0ul;
  double s = 0.0;
  for (int k = 0; k < 12; k++) {
    Option o{100.0, 90.0 + 2.0 * k, 0.03, 0.2 + 0.01 * k, 1.0};
    s += price(o, paths, 200, 88172645463325252ULL + k + 4096ULL * seed);
  }
  std::printf("checksum %.11e\n", s);
  return 0;
}
