#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

using Row = std::vector<double>;

struct Tissue {
  Row volt, m, h, n, input, drive;
  std::vector<int> pause;
  std::vector<int> fired;
  long spikes = 0;

  Tissue(int count, unsigned long seed)
      : volt(count), m(count, 0.05), h(count, 0.6), n(count, 0.32), input(count, 0.0), drive(count), pause(count, 0) {
    std::mt19937_64 gen(seed);
    for (int i = 0; i < count; i++) {
      volt[i] = -65.0 + 8.0 * (double)(gen() >> 12) / 4503599627370496.0;
      drive[i] = 5.0 + 9.0 * (double)(gen() >> 12) / 4503599627370496.0;
    }
  }
  int count() const { return (int)volt.size(); }
};

static double approach(double now, double a, double b, double dt) {
  double rate = a + b;
  return a / rate + (now - a / rate) * std::exp(-dt * rate);
}

static double ratio(double u, double scale) {
  double q = u / scale;
  return std::fabs(q) < 1e-7 ? scale : u / (1.0 - std::exp(-q));
}

static void open_channels(Tissue &t, double dt) {
  t.fired.clear();
  for (int i = 0; i < t.count(); i++) {
    double u = t.volt[i];
    t.m[i] = approach(t.m[i], 0.1 * ratio(u + 40.0, 10.0), 4.0 * std::exp(-(u + 65.0) / 18.0), dt);
    t.h[i] = approach(t.h[i], 0.07 * std::exp(-(u + 65.0) / 20.0), 1.0 / (1.0 + std::exp(-(u + 35.0) / 10.0)), dt);
    t.n[i] = approach(t.n[i], 0.01 * ratio(u + 55.0, 10.0), 0.125 * std::exp(-(u + 65.0) / 80.0), dt);
    if (t.pause[i] > 0) {
      t.pause[i]--;
    } else if (u > 0.0) {
      t.fired.push_back(i);
      t.pause[i] = 75;
    }
  }
}

static void spread(Tissue &t) {
  long size = t.count();
  for (int from : t.fired)
    for (long k = 1; k <= 6; k++) t.input[(from * 7L + k * k * 31L) % size] += 0.4 / (double)k;
  t.spikes += (long)t.fired.size();
}

static void charge(Tissue &t, double dt) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < t.count(); i++) {
    double u = t.volt[i], m = t.m[i], n2 = t.n[i] * t.n[i];
    double current = t.drive[i] + t.input[i] - 120.0 * m * m * m * t.h[i] * (u - 50.0) - 36.0 * n2 * n2 * (u + 77.0) -
                     0.3 * (u + 54.4);
    t.volt[i] = u + dt * current;
    t.input[i] *= 0.97;
  }
}

static double mean(const Row &r) {
  double s = 0.0;
#pragma omp parallel for reduction(+ : s) schedule(static)
  for (size_t i = 0; i < r.size(); i++) s += r[i];
  return s / (double)r.size();
}

int main(int argc, char **argv) {
  int count = argc > 1 ? std::atoi(argv[1]) : 9000;
  int steps = argc > 2 ? std::atoi(argv[2]) : 2500;
  Tissue t(count, argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 3);
  const double dt = 0.025;
  double trace = 0.0;
  for (int s = 0; s < steps; s++) {
    open_channels(t, dt);
    spread(t);
    charge(t, dt);
    if (s % 10 == 0) trace += mean(t.volt);
  }
  std::printf("spikes %ld\n", t.spikes);
  std::printf("checksum %.10e %.10e %.10e\n", trace, mean(t.volt), mean(t.m) + mean(t.h) + mean(t.n));
  return 0;
}
